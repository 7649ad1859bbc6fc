//! Patterns that an author wrote: regular expressions on the utterance as it came, case and boundaries as written.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::RecognizeError;
use crate::{module::PatternSpec, text::Utterance};

/// Memory that one compiled pattern, and its cache, may take.
const PROGRAM_BYTES: usize = 1 << 20;
/// How much of an utterance patterns see, in bytes. One search is linear, but finding *all* matches of a pattern that
/// looks far ahead before it gives up takes the square of this.
const SEARCHED_BYTES: usize = 16 << 10;

/// The patterns of one recognizer.
#[derive(Debug)]
pub(super) struct Patterns {
    /// Each with the number of its group `value`, if it has one.
    patterns: Vec<(Regex, Option<usize>)>,
}

impl Patterns {
    pub(super) fn compile(name: &str, spec: &PatternSpec) -> Result<Self, RecognizeError> {
        let patterns = spec.patterns.iter().enumerate().map(|(index, pattern)| {
            let regex =
                RegexBuilder::new(pattern).size_limit(PROGRAM_BYTES).dfa_size_limit(PROGRAM_BYTES).build().map_err(
                    |source| RecognizeError::Pattern { recognizer: name.to_owned(), index, source: Box::new(source) },
                )?;
            let value = regex.capture_names().position(|group| group == Some("value"));
            Ok((regex, value))
        });
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// What the patterns match, in bytes of the text; a group `value` narrows a match to itself. Empty matches are none.
    pub(super) fn matches(&self, utterance: &Utterance) -> Vec<Range<usize>> {
        let text = utterance.text();
        let text = &text[..text.floor_char_boundary(SEARCHED_BYTES)];
        let mut found = Vec::new();
        for (regex, value) in &self.patterns {
            match value {
                None => found.extend(regex.find_iter(text).map(|found| found.range())),
                Some(group) => found.extend(
                    regex
                        .captures_iter(text)
                        .filter_map(|groups| groups.get(*group).or_else(|| groups.get(0)))
                        .map(|found| found.range()),
                ),
            }
        }
        found.retain(|range| !range.is_empty());
        found
    }
}
