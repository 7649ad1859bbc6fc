//! Words that make a number a limit: "at most 300" fills a highest price, and no lowest one.

use crate::{
    decide::{situation::Situation, vocabulary::words_of},
    language::{Language, words::Limit},
    module::Slot,
    text::Span,
};

/// True if the words beside the number make it the limit that the slot's name speaks of.
pub(crate) fn is_limit_of(situation: &Situation<'_>, slot: &Slot, number: Span) -> bool {
    let name = words_of(slot.label());
    said(situation, number).any(|(limit, _)| name.iter().any(|word| limit.names.contains(word)))
}

/// The words that make the number a limit, of whatever slot.
pub(crate) fn words_beside<'a>(situation: &'a Situation<'_>, number: Span) -> impl Iterator<Item = Span> + 'a {
    said(situation, number).map(|(_, words)| words)
}

/// Each limit that stands right beside the number, with the words that say so.
fn said<'a>(situation: &'a Situation<'_>, number: Span) -> impl Iterator<Item = (&'static Limit, Span)> + 'a {
    let languages = Language::and_english(situation.knowledge.module.language());
    languages.into_iter().flat_map(|language| &language.words.limits).filter_map(move |limit| {
        let before = limit.before.iter().filter_map(|phrase| ending_at(situation, number, phrase));
        let behind = limit.behind.iter().filter_map(|phrase| beginning_at(situation, number, phrase));
        before.chain(behind).max_by_key(|words| words.len()).map(|words| (limit, words))
    })
}

/// The phrase right before the number.
fn ending_at(situation: &Situation<'_>, number: Span, phrase: &[String]) -> Option<Span> {
    let words = situation.utterance().words();
    let end = words.partition_point(|word| word.end <= number.start);
    said_at(situation, end.checked_sub(phrase.len())?, phrase)
}

/// The phrase right behind the number.
fn beginning_at(situation: &Situation<'_>, number: Span, phrase: &[String]) -> Option<Span> {
    said_at(situation, situation.utterance().words().partition_point(|word| word.start < number.end), phrase)
}

fn said_at(situation: &Situation<'_>, from: usize, phrase: &[String]) -> Option<Span> {
    let utterance = situation.utterance();
    let at = from..from + phrase.len();
    let (words, folded) = (utterance.words().get(at.clone())?, utterance.folded_words().skip(at.start));
    let is_said = folded.zip(phrase).all(|(word, wanted)| word == wanted);
    let (first, last) = (words.first()?, words.last()?);
    is_said.then(|| Span::new(first.start, last.end))
}
