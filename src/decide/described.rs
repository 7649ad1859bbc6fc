//! A function that is only described: nothing shows how its values are said.

use crate::{
    decide::{
        asked,
        candidates::{Found, quotations},
        filling::{Filling, Rule},
        reader::SpanScores,
        situation::Situation,
    },
    module::{Function, SlotId},
    recognize::reply,
    text::Span,
};

/// What the reader's log-odds must speak more for numbers in another order than for that of the schema.
const ORDER: f32 = 2.0;

/// A quotation is a value without the words that introduce it. What says nothing but what the function does fills none of
/// its slots, and numbers that nothing tells apart stand in the order of the schema.
pub(super) fn settle(
    situation: &Situation<'_>,
    function: &Function,
    found: &[Found<'_>],
    scores: Option<&SpanScores>,
    fillings: &mut Vec<Filling>,
) {
    let utterance = situation.utterance();
    let language = situation.knowledge.module.language();
    let id = situation.knowledge.module.function_named(&function.name);
    let is_own = |word: Span| {
        let said = utterance.folded_in(word);
        id.is_some_and(|id| situation.knowledge.vocabulary.has(id, &said)) || reply::says_nothing(language, &said)
    };
    let words = |span: Span| utterance.words().iter().copied().filter(move |word| word.overlaps(span));
    let quotations = quotations(utterance.text());
    for filling in fillings.iter_mut().filter(|one| one.anchor.is_none()) {
        let mut within = quotations.iter().filter(|quotation| filling.span.contains(**quotation));
        let rest = |quotation: Span| words(filling.span).filter(move |word| !quotation.overlaps(*word));
        if let (Some(quotation), None) = (within.next(), within.next())
            && rest(*quotation).all(is_own)
        {
            (filling.span, filling.rule) = (*quotation, Some(Rule::Quoted));
        }
    }
    fillings.retain(|one| {
        let is_guessed = one.anchor.is_none() && one.rule.is_none();
        !(is_guessed && words(one.span).all(is_own))
    });
    in_order(situation, function, found, scores, fillings);
}

/// "The coefficients 2, 3 and -4".
fn in_order(
    situation: &Situation<'_>,
    function: &Function,
    found: &[Found<'_>],
    scores: Option<&SpanScores>,
    fillings: &mut [Filling],
) {
    let recognizer = |one: &Filling| one.anchor.and_then(|at| found[at].1).map(|mention| mention.recognizer);
    let is_told = |one: &Filling| {
        let rivals: Vec<SlotId> =
            found.iter().filter(|(anchor, _)| anchor.span == one.span).map(|(anchor, _)| anchor.slot).collect();
        asked::is_named_before(situation, function, one.slot, &rivals, one.span)
            || asked::is_named_behind(situation, function, one.slot, &rivals, one.span)
            || asked::is_told_beside(situation, function, one.slot, one.span)
    };
    let is_free = |one: &Filling| {
        let slot = function.slot(one.slot);
        one.rule.is_none() && slot.kind.is_number() && !slot.path.is_repeated() && !is_told(one)
    };
    let mut free: Vec<usize> = (0..fillings.len()).filter(|at| is_free(&fillings[*at])).collect();
    free.sort_by_key(|at| fillings[*at].span);
    let kinds: Vec<_> = free.iter().map(|at| recognizer(&fillings[*at])).collect();
    for kind in kinds
        .iter()
        .enumerate()
        .filter(|(at, kind)| kind.is_some() && !kinds[..*at].contains(*kind))
        .map(|(_, kind)| kind)
    {
        let own: Vec<usize> = free.iter().zip(&kinds).filter(|(_, one)| *one == kind).map(|(at, _)| *at).collect();
        let before: Vec<SlotId> = own.iter().map(|at| fillings[*at].slot).collect();
        let mut slots = before.clone();
        slots.sort_unstable();
        let anchor = |slot: SlotId, span: Span| {
            found.iter().position(|(anchor, mention)| {
                anchor.slot == slot && anchor.span == span && mention.map(|mention| mention.recognizer) == *kind
            })
        };
        let spans: Vec<Span> = own.iter().map(|at| fillings[*at].span).collect();
        let places: Option<Vec<usize>> = slots.iter().zip(&spans).map(|(slot, span)| anchor(*slot, *span)).collect();
        let odds = |slots: &[SlotId]| -> f32 {
            let of = |(slot, span): (&SlotId, &Span)| {
                scores.and_then(|scores| scores.score(*slot, *span)).unwrap_or_default()
            };
            slots.iter().zip(&spans).map(of).sum()
        };
        if let Some(places) = places
            && slots != before
            && odds(&before) - odds(&slots) < ORDER
        {
            for ((at, slot), place) in own.iter().zip(slots).zip(places) {
                (fillings[*at].slot, fillings[*at].anchor) = (slot, Some(place));
            }
        }
    }
}
