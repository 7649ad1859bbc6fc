//! Rules for a function that is only described: no exemplar shows how its values are said.

use crate::{
    ablation,
    decide::{
        asked,
        candidates::{FoundSpan, quotations},
        filling::{Filling, FillingRule},
        reader::SpanScores,
        situation::Situation,
    },
    language::{Language, facts::is_unspaced_language, negation::NegationRole},
    module::{Function, FunctionEffect, FunctionId, SlotId},
    probability::EVEN,
    recognize::reply,
    text::Span,
};

/// How much higher the reader's log-odds must be for numbers in another order than that of the schema.
const ORDER: f32 = 2.0;
/// The most words behind a preposition.
const LED: usize = 4;
/// Letters of a code for the region of a town: "ME" of "Portland, ME".
const REGION: usize = 2;

/// A quotation is a value without the words that introduce it. Words that only repeat what the function does fill none
/// of its slots. Numbers that nothing else assigns to slots stand in the order of the schema.
pub(super) fn settle(
    situation: &Situation<'_>,
    function: &Function,
    found: &[FoundSpan<'_>],
    scores: Option<&SpanScores>,
    fillings: &mut Vec<Filling>,
) {
    let utterance = situation.utterance();
    let id = situation.knowledge.module.function_named(&function.name);
    let is_own = |word: Span| is_own(situation, id, word);
    let words = |span: Span| utterance.words().iter().copied().filter(move |word| word.overlaps(span));
    let quotations = quotations(utterance.text());
    for filling in fillings.iter_mut().filter(|one| one.anchor.is_none()) {
        let mut within = quotations.iter().filter(|quotation| filling.span.contains(**quotation));
        let rest = |quotation: Span| words(filling.span).filter(move |word| !quotation.overlaps(*word));
        if let (Some(quotation), None) = (within.next(), within.next())
            && rest(*quotation).all(is_own)
        {
            (filling.span, filling.rule) = (*quotation, Some(FillingRule::Quoted));
        }
    }
    fillings.retain(|one| {
        let is_guessed = one.anchor.is_none() && one.rule.is_none();
        !(is_guessed && words(one.span).all(is_own))
    });
    in_order(situation, function, found, scores, fillings);
}

/// True of an empty word, and of a word of the function's own.
fn is_own(situation: &Situation<'_>, id: Option<FunctionId>, word: Span) -> bool {
    let (utterance, language) = situation.said();
    let said = utterance.folded_in(word);
    let vocabulary = &situation.knowledge.vocabulary;
    id.is_some_and(|id| vocabulary.has(id, &said)) || reply::says_nothing(language, &said)
}

/// "¿Qué tiempo hace en Sevilla?": free words behind a preposition are the value of the only free-text slot that is
/// still empty. A town also keeps the code of its region: "Portland, ME".
pub(super) fn add_led(situation: &Situation<'_>, id: FunctionId, asked: &[SlotId], fillings: &mut Vec<Filling>) {
    let function = situation.knowledge.module.function(id);
    if let Some(led) = ablation::found("described.led", led(situation, (id, function), asked, fillings)) {
        fillings.retain(|one| one.slot != led.slot);
        fillings.push(led);
    }
    for at in 0..fillings.len() {
        let whole = with_region(situation, fillings, at);
        fillings[at].span = ablation::made("described.with_region", fillings[at].span, whole);
    }
    fillings.sort_by_key(|one| one.span);
}

fn led(
    situation: &Situation<'_>,
    (id, function): (FunctionId, &Function),
    asked: &[SlotId],
    fillings: &[Filling],
) -> Option<Filling> {
    let (utterance, code) = situation.said();
    // What the reader doubts is free to be led to.
    let doubts = |one: &Filling| one.anchor.is_none() && one.rule.is_none() && one.confidence < EVEN;
    let is_filled = |slot: SlotId| fillings.iter().any(|one| one.slot == slot && !doubts(one));
    let is_text = |slot: SlotId| {
        let slot = function.slot(slot);
        slot.takes_any_words() && !slot.path.is_repeated()
    };
    // If a free-text slot was asked for, the answer itself fills it; after a question for another kind of slot, a
    // preposition may still lead to a value.
    if is_unspaced_language(code) || asked.iter().any(|slot| is_filled(*slot) || is_text(*slot)) {
        return None;
    }
    let is_alone = function.slots.len() == 1;
    let is_open = |slot: &SlotId| is_text(*slot) && !is_filled(*slot) && (function.slot(*slot).required || is_alone);
    let mut open = function.slot_ids().filter(is_open);
    let slot = open.next().filter(|_| open.next().is_none())?;
    let moments = situation.knowledge.validator.reader().moments_said(utterance);
    let is_free = |word: Span| {
        fillings.iter().all(|one| !one.span.overlaps(word) || doubts(one) && one.slot == slot)
            && moments.iter().all(|moment| !moment.overlaps(word))
            && !situation.mentions().iter().any(|one| one.is_likely() && one.span.overlaps(word))
            && !is_own(situation, Some(id), word)
    };
    let runs = led_runs(situation, &is_free);
    let [span] = runs[..] else { return None };
    let is_name = |word: &Span| utterance.slice(*word).starts_with(char::is_uppercase);
    let mut words = utterance.words().iter().filter(|word| span.contains(**word));
    let is_cased = utterance.words().iter().skip(1).any(is_name) || function.effect.effect == FunctionEffect::Acts;
    (!is_cased || words.any(is_name)).then(|| Filling::by(FillingRule::Part, slot, span))
}

/// The words behind each preposition that are free and written side by side: a name, or one word ("right now" of "in
/// Oslo right now" is not part of it).
fn led_runs(situation: &Situation<'_>, is_free: &dyn Fn(Span) -> bool) -> Vec<Span> {
    let (utterance, code) = situation.said();
    let language = Language::or_english(code);
    let words = utterance.words();
    let is_role = |word: Span, role: NegationRole| language.negation.is(&utterance.folded_in(word), role);
    let is_joined = |at: usize| {
        let gap = utterance.slice(Span::new(words[at - 1].end, words[at].start));
        gap.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '\'' | '’'))
    };
    let is_name = |at: usize| utterance.slice(words[at]).starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    let goes_on = |at: usize| at < words.len() && is_joined(at) && is_free(words[at]);
    // "Rio de Janeiro"
    let is_part = |at: usize| is_name(at) || goes_on(at + 1) && is_name(at + 1);
    let mut runs = Vec::new();
    for lead in (0..words.len()).filter(|at| is_role(words[*at], NegationRole::Lead)) {
        let mut first = lead + 1;
        while first < words.len() && is_joined(first) && is_role(words[first], NegationRole::Article) {
            first += 1;
        }
        let mut end = first;
        while goes_on(end) && (end == first || is_name(first) && is_part(end)) {
            end += 1;
        }
        let is_cut = end > first && !is_name(first) && goes_on(end);
        if !is_cut && (1..=LED).contains(&(end - first)) {
            runs.push(Span::new(words[first].start, words[end - 1].end));
        }
    }
    runs
}

/// The span with the two capital letters behind a comma that name the town's region, if no other filling covers them.
fn with_region(situation: &Situation<'_>, fillings: &[Filling], at: usize) -> Span {
    let (utterance, one) = (situation.utterance(), &fillings[at]);
    let words = utterance.words();
    let behind = words.partition_point(|word| word.start < one.span.end);
    let Some(next) = words.get(behind).filter(|_| one.anchor.is_none()) else { return one.span };
    let (text, gap) = (utterance.slice(*next), utterance.slice(Span::new(one.span.end, next.start)));
    let is_code = text.chars().count() == REGION && text.chars().all(|c| c.is_ascii_uppercase());
    let is_last = words.get(behind + 1).is_none_or(|after| {
        !utterance.slice(Span::new(next.end, after.start)).trim().is_empty() || !is_upper(utterance.slice(*after))
    });
    let is_free = fillings.iter().all(|other| !other.span.overlaps(*next));
    let is_name = is_upper(utterance.slice(one.span));
    if gap == ", " && is_code && is_last && is_free && is_name { Span::new(one.span.start, next.end) } else { one.span }
}

fn is_upper(text: &str) -> bool {
    text.starts_with(char::is_uppercase)
}

/// "The coefficients 2, 3 and -4".
fn in_order(
    situation: &Situation<'_>,
    function: &Function,
    found: &[FoundSpan<'_>],
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
