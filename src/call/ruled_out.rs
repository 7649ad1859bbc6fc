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
    let name = telling_words(label, languages);
    let words = folded(utterance);
    let is_said = |counts: &dyn Fn(Span) -> bool| {
        name.iter().all(|part| words.iter().any(|(span, word)| counts(*span) && kin(word, part)))
    };
    if name.is_empty() || is_said(&|span| !negated.iter().any(|one| one.scope.overlaps(span))) {
        return None;
    }
    negated.iter().map(|one| one.scope).find(|scope| is_said(&|span| scope.contains(span)))
}

/// The place of a flag's name, if all its words are said outside of `others`, and it has a word that the function's own
/// name does not have: "including human impact" for a slot `include_human_impact`.
#[must_use]
pub fn flag_said(
    utterance: &Utterance,
    (label, function): (&str, &str),
    others: &[Span],
    languages: [&Language; 2],
) -> Option<Span> {
    let name = telling_words(label, languages);
    let own = name_words(function);
    if name.iter().all(|part| own.iter().any(|word| kin(&fold(word), part))) {
        return None;
    }
    let free = folded(utterance).into_iter().filter(|(span, _)| !others.iter().any(|other| other.overlaps(*span)));
    let free: Vec<(Span, String)> = free.collect();
    let said = name.iter().map(|part| free.iter().find(|(_, word)| kin(word, part)).map(|(span, _)| *span));
    let said: Vec<Span> = said.collect::<Option<_>>()?;
    Some(Span::new(said.iter().map(|span| span.start).min()?, said.iter().map(|span| span.end).max()?))
}

/// The words of a flag's name that say which flag it is: without "include", "is", unless it has no others.
fn telling_words(label: &str, languages: [&Language; 2]) -> Vec<String> {
    let mut name: Vec<String> = name_words(label).iter().map(|word| fold(word)).collect();
    let is_empty = |word: &String| {
        languages.iter().any(|language| language.words.names.flags.iter().any(|empty| kin(word, empty)))
    };
    if !name.iter().all(is_empty) {
        name.retain(|word| !is_empty(word));
    }
    name
}

fn folded(utterance: &Utterance) -> Vec<(Span, String)> {
    utterance.words().iter().map(|word| (*word, fold(utterance.slice(*word)))).collect()
}
