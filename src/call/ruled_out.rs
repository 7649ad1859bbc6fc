//! What an utterance rules out: values ("no onions"), and flags by their own name ("no sauce").

use super::words::kin;
use crate::{
    language::Language,
    module::SlotId,
    text::{Span, Utterance, fold, name_words},
};

/// A part of the utterance that rules something out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuledOut {
    /// The negating words: "no".
    pub cue: Span,
    /// What they rule out: "onions".
    pub scope: Span,
    /// Slots for things to leave out: for them it counts as said.
    pub said_for: Vec<SlotId>,
}

/// The place of a flag's name, if all its words are ruled out and not said elsewhere.
#[must_use]
pub fn flag_within(
    utterance: &Utterance,
    label: &str,
    negated: &[&RuledOut],
    languages: [&Language; 2],
) -> Option<Span> {
    let mut name: Vec<String> = name_words(label).iter().map(|word| fold(word)).collect();
    let is_empty = |word: &String| {
        languages.iter().any(|language| language.words.names.flags.iter().any(|empty| kin(word, empty)))
    };
    if !name.iter().all(is_empty) {
        name.retain(|word| !is_empty(word));
    }
    let words: Vec<(Span, String)> =
        utterance.words().iter().map(|word| (*word, fold(utterance.slice(*word)))).collect();
    let is_said = |counts: &dyn Fn(Span) -> bool| {
        name.iter().all(|part| words.iter().any(|(span, word)| counts(*span) && kin(word, part)))
    };
    if name.is_empty() || is_said(&|span| !negated.iter().any(|one| one.scope.overlaps(span))) {
        return None;
    }
    negated.iter().map(|one| one.scope).find(|scope| is_said(&|span| scope.contains(span)))
}
