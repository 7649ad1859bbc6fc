//! Patterns that an author wrote: regular expressions on the utterance as it came, with case and boundaries as written.
//!
//! Two things help patterns that were written for other scripts. They see full-width letters and digits in their usual
//! width. And `\b` also holds where a script without spaces meets letters or digits of another: "番号はAB123456です" has
//! `\b[A-Z]{2}\d{6}\b`.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use super::RecognizeError;
use crate::{
    module::PatternSpec,
    text::{Utterance, is_unspaced},
};

/// Memory that one compiled program of a pattern, and its cache, may take. A module's checks limit the total to
/// `modules.limits.pattern_bytes`.
const PROGRAM_BYTES: usize = 2 << 20;
const CACHE_BYTES: usize = 1 << 20;
/// How many bytes of an utterance patterns see. One search is linear, but finding *all* matches of a pattern that looks
/// far ahead before it gives up takes time quadratic in this number.
const SEARCHED_BYTES: usize = 16 << 10;

/// The text that patterns are matched against.
pub(super) struct Haystack<'u> {
    text: &'u str,
    /// The text with a break wherever a script without spaces meets letters or digits of another; `None` if it has no
    /// such place.
    apart: Option<Apart>,
}

struct Apart {
    text: String,
    /// Where each break stands in `text`.
    breaks: Vec<usize>,
}

/// An invisible character that is not a letter.
const BREAK: char = '\u{200B}';

impl<'u> Haystack<'u> {
    pub(super) fn new(utterance: &'u Utterance) -> Self {
        let text = utterance.text();
        let text = &text[..text.floor_char_boundary(SEARCHED_BYTES)];
        Self { text, apart: Apart::of(text) }
    }
}

impl Apart {
    fn of(text: &str) -> Option<Self> {
        let mut before: Option<char> = None;
        let (mut apart, mut breaks) = (String::new(), Vec::new());
        for character in text.chars() {
            let meets = before.is_some_and(|before| {
                before.is_alphanumeric() && character.is_alphanumeric() && is_unspaced(before) != is_unspaced(character)
            });
            if meets {
                breaks.push(apart.len());
                apart.push(BREAK);
            }
            apart.push(character);
            before = Some(character);
        }
        (!breaks.is_empty()).then_some(Self { text: apart, breaks })
    }

    /// The bytes of the text that a range of `self.text` stands for.
    fn original(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| at - BREAK.len_utf8() * self.breaks.partition_point(|one| *one < at);
        place(range.start)..place(range.end)
    }
}

/// The patterns of one recognizer.
#[derive(Debug)]
pub(super) struct Patterns {
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    regex: Regex,
    /// The number of its group `value`, if it has one.
    value: Option<usize>,
    /// It contains an assertion about the borders of words.
    has_bounds: bool,
    /// What the group `value` matches, without the required context.
    bare: Option<Regex>,
}

impl Patterns {
    pub(super) fn compile(name: &str, spec: &PatternSpec) -> Result<Self, RecognizeError> {
        let patterns = spec.patterns.iter().enumerate().map(|(index, pattern)| {
            let regex =
                RegexBuilder::new(pattern).size_limit(PROGRAM_BYTES).dfa_size_limit(CACHE_BYTES).build().map_err(
                    |source| RecognizeError::Pattern { recognizer: name.to_owned(), index, source: Box::new(source) },
                )?;
            let value = regex.capture_names().position(|group| group == Some("value"));
            let bare = value.and_then(|_| bare(pattern));
            Ok(Pattern { regex, value, has_bounds: pattern.contains(r"\b"), bare })
        });
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// The matches of the patterns, in bytes of the text; a group `value` narrows a match to itself. Empty matches are
    /// dropped.
    pub(super) fn matches(&self, haystack: &Haystack<'_>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for pattern in &self.patterns {
            found.extend(pattern.find(haystack.text));
            if let Some(apart) = haystack.apart.as_ref().filter(|_| pattern.has_bounds) {
                found.extend(pattern.find(&apart.text).into_iter().map(|range| apart.original(range)));
            }
        }
        found.retain(|range| !range.is_empty());
        found
    }

    /// Text outside of `matched` that has the form of a value, without the required context: 30045 of
    /// `RC(?P<value>\d{5})`. A word without a digit does not count, since words have any form.
    pub(super) fn bare(&self, haystack: &Haystack<'_>, matched: &[Range<usize>]) -> Vec<Range<usize>> {
        if self.patterns.iter().all(|pattern| pattern.bare.is_none()) {
            return Vec::new();
        }
        let mut is_taken = vec![false; haystack.text.len()];
        matched.iter().for_each(|range| is_taken[range.clone()].fill(true));
        let forms = || self.patterns.iter().filter_map(|pattern| pattern.bare.as_ref());
        let in_text = forms().flat_map(|form| form.find_iter(haystack.text).map(|found| found.range()));
        let apart = haystack.apart.iter().flat_map(|apart| {
            forms().flat_map(|form| form.find_iter(&apart.text).map(|found| apart.original(found.range())))
        });
        let has_digit = |range: &Range<usize>| haystack.text[range.clone()].contains(|c: char| c.is_ascii_digit());
        let is_new = |range: &Range<usize>| !is_taken[range.clone()].contains(&true);
        let mut bare: Vec<Range<usize>> =
            in_text.chain(apart).filter(|range| has_digit(range) && is_new(range)).collect();
        bare.sort_unstable_by_key(|range| (range.start, range.end));
        bare.dedup();
        bare
    }
}

/// A regex for the group `value` of a pattern alone, between the borders of words.
fn bare(pattern: &str) -> Option<Regex> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    let own = value_group(&parsed).filter(|own| **own != parsed)?;
    let form = format!(r"\b(?:{own})\b");
    RegexBuilder::new(&form).size_limit(PROGRAM_BYTES).dfa_size_limit(CACHE_BYTES).build().ok()
}

/// The content of the group `value`.
pub(crate) fn value_group(hir: &Hir) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Capture(capture) if capture.name.as_deref() == Some("value") => Some(&capture.sub),
        HirKind::Capture(capture) => value_group(&capture.sub),
        HirKind::Repetition(repetition) => value_group(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().find_map(value_group),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => None,
    }
}

impl Pattern {
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        match self.value {
            None => self.regex.find_iter(text).map(|found| found.range()).collect(),
            Some(group) => self
                .regex
                .captures_iter(text)
                .filter_map(|groups| groups.get(group).or_else(|| groups.get(0)))
                .map(|found| found.range())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matches of the patterns, and the texts that only have the form of a value.
    fn found(pattern: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let patterns =
            Patterns::compile("test", &PatternSpec { patterns: vec![pattern.to_owned()] }).expect("it compiles");
        let utterance = Utterance::new(text);
        let haystack = Haystack::new(&utterance);
        let said = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|range| text[range].to_owned()).collect();
        let matched = patterns.matches(&haystack);
        let bare = patterns.bare(&haystack, &matched);
        (said(matched), said(bare))
    }

    #[test]
    fn a_value_has_its_form_without_what_stands_around_it() {
        let one = |text: &str| vec![text.to_owned()];
        let contract = r"(?i)\bRC[ -]?(?P<value>\d{5})\b";
        assert_eq!(found(contract, "extend 30045"), (vec![], one("30045")));
        assert_eq!(found(contract, "extend RC 30045"), (one("30045"), vec![]));
        assert_eq!(found(contract, "extend 3004512"), (vec![], vec![]));
        assert_eq!(found(contract, "30045の予約"), (vec![], one("30045")));
        // A pattern that is only its value has no other form, and words do not count.
        assert_eq!(found(r"\d{5}", "extend 30045"), (one("30045"), vec![]));
        assert_eq!(found(r"name is (?P<value>\w+)", "call Ann"), (vec![], vec![]));
    }
}
