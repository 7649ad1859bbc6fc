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
    let words: Vec<(Span, &str)> = words(utterance).collect();
    let is_said = |counts: &dyn Fn(Span) -> bool| {
        name.iter().all(|part| words.iter().any(|(span, word)| counts(*span) && kin(word, part)))
    };
    if name.is_empty() || is_said(&|span| !negated.iter().any(|one| one.scope.overlaps(span))) {
        return None;
    }
    negated.iter().map(|one| one.scope).find(|scope| is_said(&|span| scope.contains(span)))
}

/// The place of a flag's name, if all its words are said outside of `taken`, and it has a word that the function's own
/// name does not have: "including human impact" for a slot `include_human_impact`.
#[must_use]
pub fn flag_said(
    utterance: &Utterance,
    (label, function): (&str, &str),
    taken: &[Span],
    languages: [&Language; 2],
) -> Option<Span> {
    let name = telling_words(label, languages);
    let own = name_words(function);
    if name.iter().all(|part| own.iter().any(|word| kin(&fold(word), part))) {
        return None;
    }
    let free = words(utterance).filter(|(span, _)| !taken.iter().any(|other| other.overlaps(*span)));
    let free: Vec<(Span, &str)> = free.collect();
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

fn words(utterance: &Utterance) -> impl Iterator<Item = (Span, &str)> {
    utterance.words().iter().copied().zip(utterance.folded_words())
}

#[cfg(test)]
mod tests {
    use crate::call::ruled_out::*;

    #[test]
    fn a_flag_is_said_by_all_telling_words_of_its_name() {
        for (text, label, function, taken, is_said) in [
            ("the growth including human impact", "include_human_impact", "forecast", None, true),
            ("the growth with impact", "include_human_impact", "forecast", None, false),
            ("the growth without human impact", "include_human_impact", "forecast", Some(Span::new(19, 31)), false),
            ("open an account", "open", "open_account", None, false),
        ] {
            let languages = Language::and_english("en");
            let found = flag_said(&Utterance::new(text), (label, function), taken.as_slice(), languages);
            assert_eq!(found.is_some(), is_said, "{text}");
        }
    }
}
