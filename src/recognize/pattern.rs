//! Patterns that an author wrote: regular expressions on the utterance as it came, case and boundaries as written.
//!
//! Two things help patterns that were written for other scripts. They see full-width letters and digits in their usual
//! width. And `\b` also holds where a script without spaces meets letters or digits of another: "番号はAB123456です" has
//! `\b[A-Z]{2}\d{6}\b`.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::RecognizeError;
use crate::{
    module::PatternSpec,
    text::{Utterance, is_unspaced},
};

/// Memory that one compiled program of a pattern, and its cache, may take. A module's checks hold the whole to
/// `modules.limits.pattern_bytes`.
const PROGRAM_BYTES: usize = 2 << 20;
const CACHE_BYTES: usize = 1 << 20;
/// How much of an utterance patterns see, in bytes. One search is linear, but finding *all* matches of a pattern that
/// looks far ahead before it gives up takes the square of this.
const SEARCHED_BYTES: usize = 16 << 10;

/// What patterns look at.
pub(super) struct Haystack<'u> {
    text: &'u str,
    /// The text with a break wherever a script without spaces meets another's letters or digits, if it does.
    apart: Option<Apart>,
}

struct Apart {
    text: String,
    /// Where each break stands in `text`.
    breaks: Vec<usize>,
}

/// Shows nothing and is no letter.
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
    /// It asks where words begin and end.
    has_bounds: bool,
}

impl Patterns {
    pub(super) fn compile(name: &str, spec: &PatternSpec) -> Result<Self, RecognizeError> {
        let patterns = spec.patterns.iter().enumerate().map(|(index, pattern)| {
            let regex =
                RegexBuilder::new(pattern).size_limit(PROGRAM_BYTES).dfa_size_limit(CACHE_BYTES).build().map_err(
                    |source| RecognizeError::Pattern { recognizer: name.to_owned(), index, source: Box::new(source) },
                )?;
            let value = regex.capture_names().position(|group| group == Some("value"));
            Ok(Pattern { regex, value, has_bounds: pattern.contains(r"\b") })
        });
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// What the patterns match, in bytes of the text; a group `value` narrows a match to itself. Empty matches are
    /// none.
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
