//! Flags that are ruled out by their own name: "no sauce".

use super::{RuledOut, words::kin};
use crate::{
    language::Language,
    text::{Span, Utterance, fold, name_words},
};

/// Where all words of a flag's name are ruled out, unless they are said elsewhere too.
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
