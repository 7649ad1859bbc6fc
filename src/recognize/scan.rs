//! The input of every built-in grammar: the utterance's [`Senses`] with its numbers.
//!
//! Made once a turn and shared by all built-ins. Grammars look a bounded number of tokens ahead, so that reading an
//! utterance takes linear time.

use std::ops::Deref;

use super::{
    certainty::Certainty,
    lexicon::{DayPart, Lexicon, Sense},
    number::{self, Number},
    senses::{Senses, TokenReading},
};
use crate::text::Utterance;

#[derive(Debug)]
pub(super) struct Scan<'a> {
    senses: Senses<'a>,
    /// The number that begins at each token; the numbers do not overlap.
    pub(super) numbers: Vec<Option<Number>>,
    /// The part of the day that the whole utterance is about ("dinner", "wake me"), if there is one.
    pub(super) about: Option<DayPart>,
}

impl<'a> Deref for Scan<'a> {
    type Target = Senses<'a>;

    fn deref(&self) -> &Senses<'a> {
        &self.senses
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(utterance: &'a Utterance, lexicon: &'a Lexicon) -> Self {
        let senses = Senses::new(utterance, lexicon);
        Self { numbers: number::numbers(&senses), about: part_of_all(&senses), senses }
    }

    /// A whole cardinal number, and the token after it: digits without separators, or words.
    pub(super) fn cardinal(&self, token: usize) -> Option<(i64, usize)> {
        let number = self.numbers.get(token)?.as_ref()?;
        if number.ordinal || number.start != token || number.code {
            return None;
        }
        Some((number.integer?, number.end))
    }
}

/// The part of the day that words suggest, if they all agree.
fn part_of_all(senses: &Senses<'_>) -> Option<DayPart> {
    let suggested = senses.find(|token| {
        let (part, end) = senses.pick(token, |sense| match sense {
            Sense::Suggests(part) => Some(part),
            _ => None,
        })?;
        Some(TokenReading::new(token, end, part, Certainty::WrittenOut))
    });
    let first = suggested.first()?.value;
    suggested.iter().all(|found| found.value == first).then_some(first)
}
