//! Words that make a number a limit: "at most 300" fills a highest price, not a lowest one.

use crate::{
    ablation,
    decide::vocabulary::words_of,
    language::{Language, limits::Limit},
    module::Slot,
    text::{Span, Utterance},
};

/// True of a slot whose name speaks of a limit.
pub(crate) fn is_limit(code: &str, slot: &Slot) -> bool {
    let mut limits = Language::and_english(code).into_iter().flat_map(|language| &language.words.limits);
    let name = words_of(slot.label());
    slot.kind.is_number() && limits.any(|limit| name.iter().any(|word| limit.names.contains(word)))
}

/// The words beside the number that make it the kind of limit in the slot's name, in the language of this code.
pub(crate) fn of_slot((utterance, code): (&Utterance, &str), slot: &Slot, number: Span) -> Option<Span> {
    let (limit, words) = said(utterance, code, number)?;
    let is_its = words_of(slot.label()).iter().any(|word| limit.names.contains(word));
    ablation::holds("limits.of_slot", is_its).then_some(words)
}

/// The words that make the number a limit of any kind.
pub(crate) fn words_beside(utterance: &Utterance, code: &str, number: Span) -> Option<Span> {
    said(utterance, code, number).map(|(_, words)| words)
}

/// The limit that stands right beside the number, with its words. Of several phrases, the longest counts: "not more
/// than" contains "more than".
fn said(utterance: &Utterance, code: &str, number: Span) -> Option<(&'static Limit, Span)> {
    let limits = Language::and_english(code).into_iter().flat_map(|language| &language.words.limits);
    let said = limits.flat_map(|limit| phrases_of(limit, utterance, number).map(move |words| (limit, words)));
    said.max_by_key(|(_, words)| words.len())
}

/// The phrases that make the value at `span` this limit.
pub(crate) fn phrases_of<'a>(
    limit: &'a Limit,
    utterance: &'a Utterance,
    span: Span,
) -> impl Iterator<Item = Span> + use<'a> {
    let words = utterance.words();
    let (end, next) =
        (words.partition_point(|word| word.end <= span.start), words.partition_point(|word| word.start < span.end));
    let before = limit.before.iter().filter_map(move |phrase| at(utterance, end.checked_sub(phrase.len())?, phrase));
    let behind = limit.behind.iter().filter_map(move |phrase| at(utterance, next, phrase));
    before.chain(behind)
}

/// The words of the phrase, if it begins at the word `from`.
fn at(utterance: &Utterance, from: usize, phrase: &[String]) -> Option<Span> {
    let words = utterance.words().get(from..from + phrase.len())?;
    let is_said = phrase.iter().enumerate().all(|(at, wanted)| utterance.folded_word(from + at) == Some(wanted));
    let (first, last) = (words.first()?, words.last()?);
    is_said.then(|| Span::new(first.start, last.end))
}
