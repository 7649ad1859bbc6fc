//! An answer about a text is a text: a number in it is part of it ("PO Box 12" is not a size).

use crate::{
    ablation,
    decide::{asked, candidates::FoundSpan, filling, limits, situation::Situation, vocabulary::words_of},
    module::{Builtin, Function, RecognizerKind, SlotId, SlotKind},
    recognize::{Mention, reply},
    text::Span,
};

/// Takes from other slots the numbers that belong to the text that was asked for.
pub(super) fn keep_whole(
    situation: &Situation<'_>,
    function: &Function,
    asked: &[SlotId],
    found: &mut Vec<FoundSpan<'_>>,
) {
    let &[slot] = asked else { return };
    let own = function.slot(slot);
    if own.kind != SlotKind::String
        || own.path.is_repeated()
        || !filling::is_open(&situation.knowledge.module, own)
        || found.iter().any(|(anchor, _)| anchor.slot == slot)
    {
        return;
    }
    let is_number = |(anchor, mention): &FoundSpan<'_>| {
        function.slot(anchor.slot).kind.is_number() && mention.is_some_and(|mention| is_plain(situation, mention))
    };
    let numbers: Vec<Span> = found.iter().filter(|one| is_number(one)).map(|(anchor, _)| anchor.span).collect();
    let others: Vec<Span> =
        found.iter().map(|(anchor, _)| anchor.span).filter(|span| !numbers.contains(span)).collect();
    let belongs = |span: Span| {
        ablation::holds("texts.number_within", is_within(situation, function, slot, (span, &others))) //
    };
    let own: Vec<Span> = numbers.iter().copied().filter(|span| belongs(*span)).collect();
    found.retain(|one| !is_number(one) || !own.contains(&one.0.span));
}

/// A number without a unit, a currency or a sign.
fn is_plain(situation: &Situation<'_>, mention: &Mention) -> bool {
    let recognizer = situation.knowledge.module.recognizer(mention.recognizer);
    matches!(recognizer.kind, RecognizerKind::Builtin(Builtin::Integer | Builtin::Number))
        && situation.utterance().slice(mention.span).chars().all(|c| c.is_ascii_digit())
        && !asked::has_unit(situation, mention.span)
}

/// True if meaningful words stand right beside the number that are not another slot's name and in which nothing else
/// was found. The words together must also fill the slot more probably than the words without the number.
fn is_within(situation: &Situation<'_>, function: &Function, slot: SlotId, (number, others): (Span, &[Span])) -> bool {
    let (utterance, code) = situation.said();
    let words = utterance.words();
    if limits::words_beside(utterance, code, number).is_some() {
        return false;
    }
    let names = function.slot_ids().filter(|other| *other != slot);
    let names: Vec<String> = names.flat_map(|other| words_of(function.slot(other).label())).collect();
    let is_text = |word: Span| {
        let said = utterance.folded_in(word);
        !reply::says_nothing(code, &said)
            && !names.contains(&said)
            && !others.iter().any(|other| other.overlaps(word))
            && utterance.slice(word).contains(char::is_alphabetic)
    };
    let is_joined = |before: Span, behind: Span| {
        let gap = utterance.slice(Span::new(before.end, behind.start));
        gap.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '.' | '/' | '#'))
    };
    let at = words.partition_point(|word| word.end <= number.start);
    let mut first = at;
    while first > 0 && is_joined(words[first - 1], words[first]) && is_text(words[first - 1]) {
        first -= 1;
    }
    let mut behind = words.partition_point(|word| word.start < number.end);
    let end = behind;
    while words.get(behind).is_some_and(|word| is_joined(words[behind - 1], *word) && is_text(*word)) {
        behind += 1;
    }
    let span = |from: usize, to: usize| Span::new(words[from].start, words[to - 1].end);
    let (whole, rest) = match (at > first, behind > end) {
        (true, true) => return true,
        (true, false) => (span(first, end), span(first, at)),
        (false, true) => (span(at, behind), span(end, behind)),
        (false, false) => return false,
    };
    let Some(id) = situation.knowledge.module.function_named(&function.name) else { return false };
    let scores = situation.span_scores(id, &[slot]);
    let score = |span: Span| scores.as_ref().and_then(|scores| scores.score(slot, span));
    match (score(whole), score(rest)) {
        (Some(whole), Some(rest)) => whole >= rest,
        _ => utterance.slice(rest).starts_with(char::is_uppercase),
    }
}
