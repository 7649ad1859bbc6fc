//! What an utterance says of the slots that were just asked for, before it is read as a whole.

use crate::{
    decide::{
        align::Filling,
        carrier as around,
        situation::Situation,
        vocabulary::{own_words, words_of},
    },
    language::{Language, facts::is_unspaced_language},
    module::{Function, FunctionId, Module, RecognizerId, RecognizerKind, Slot, SlotId, SlotKind},
    recognize::{
        Mention,
        reply::{self as yes_no, YesNo},
    },
    text::{Span, Utterance, fold},
};

/// Words of an answer that is free text, at most.
const SHORT: usize = 5;
/// Words of a whole utterance that is one value, at most, and how sure it is.
const LONG: usize = 12;
const WHOLE: f32 = 0.6;
/// The same of a number where one was asked for.
const NUMBER: f32 = 0.95;
/// Words before a value that may name its slot.
const BEFORE: usize = 12;

/// The whole utterance, but for empty talk around it, as the value of the only slot that was asked for: where that may be
/// any words, no recognizer found anything, and what alignment makes of the words leaves some unaccounted for.
pub(crate) fn whole_answer(
    situation: &Situation<'_>,
    function: FunctionId,
    awaited: &[SlotId],
    fillings: &[Filling],
) -> Option<Filling> {
    let module = &situation.knowledge.module;
    let &[slot] = awaited else { return None };
    let definition = module.function(function).slot(slot);
    let is_list = |id: &RecognizerId| matches!(module.recognizer(*id).kind, RecognizerKind::List(_));
    let core = core(situation, function, awaited);
    // A number alone is said of a slot of numbers, whatever its recognizers want around it.
    let is_number = || situation.utterance().slice(core).trim().parse::<f64>().is_ok();
    let is_open = match definition.kind {
        SlotKind::String | SlotKind::Any => definition.choices.is_empty() && definition.recognizers.iter().all(is_list),
        SlotKind::Integer | SlotKind::Number => is_number(),
        SlotKind::Boolean => false,
    };
    let words = situation.utterance().words();
    let says_nothing = |word: &Span| yes_no::says_nothing(language(module), situation.utterance().slice(*word));
    let own = own_words(module, function);
    let words: Vec<Span> = words.iter().filter(|word| core.overlaps(**word)).copied().collect();
    // Without spaces, what any slot could be is taken for one that nobody asked for all too easily.
    let is_other = |filling: &Filling| is_unspaced_language(language(module)) && filling.slot != slot;
    let is_unaccounted = |word: &&Span| {
        let is_filled = fillings.iter().any(|filling| filling.span.overlaps(**word) && !is_other(filling));
        !is_filled && !says_nothing(word) && !own.contains(&fold(situation.utterance().slice(**word)))
    };
    if matches!(definition.kind, SlotKind::Integer | SlotKind::Number) && is_number() {
        return Some(Filling { slot, span: core, anchor: None, confidence: NUMBER });
    }
    if !is_open
        || around::words_in(situation.utterance(), core) > LONG
        || !words.iter().any(|word| is_unaccounted(&word))
    {
        return None;
    }
    let first = words.iter().find(|word| !says_nothing(word))?;
    let last = words.iter().rev().find(|word| !says_nothing(word))?;
    Some(Filling { slot, span: Span::new(first.start, last.end), anchor: None, confidence: WHOLE })
}

/// True of words that fill a slot which was asked for and say nothing: "uh".
pub(crate) fn is_empty_talk(situation: &Situation<'_>, awaited: &[SlotId], filling: &Filling) -> bool {
    let says_nothing =
        |word: &Span| yes_no::says_nothing(language(&situation.knowledge.module), situation.utterance().slice(*word));
    awaited.contains(&filling.slot)
        && situation.utterance().words().iter().filter(|word| filling.span.contains(**word)).all(says_nothing)
}

/// True of the yes or no before what else is said: "Yes. I wear a nine".
pub(crate) fn is_answer_word(situation: &Situation<'_>, word: Span) -> bool {
    let reply = situation.analysis.reply;
    matches!(reply.answer, YesNo::Affirmative | YesNo::Negative)
        && reply.rest.is_some_and(|rest| word.end <= rest.start)
}

pub(crate) fn is_short(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> bool {
    around::words_in(situation.utterance(), core(situation, function, slots)) <= SHORT
}

/// The part of the utterance that is not only said around an answer for these slots.
pub(crate) fn core(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> Span {
    core_of(situation.utterance(), situation, function, slots)
}

fn core_of(utterance: &Utterance, situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> Span {
    let module = &situation.knowledge.module;
    let definition = module.function(function);
    let names = slots.iter().flat_map(|slot| {
        let slot = definition.slot(*slot);
        std::iter::once(slot.description.as_str())
            .chain(slot.question.as_ref().and_then(|own| own.in_language(language(module))))
    });
    around::core(language(module), utterance, &names.collect::<Vec<_>>())
}

/// One of the slots is named: "the name is Rossi".
pub(crate) fn names(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> bool {
    let definition = situation.knowledge.module.function(function);
    let said: Vec<String> =
        situation.utterance().words().iter().map(|word| fold(situation.utterance().slice(*word))).collect();
    slots.iter().any(|slot| words_of(definition.slot(*slot).label()).iter().any(|word| said.contains(word)))
}

/// The slots of the function that were asked for; none if the utterance is a yes, a no or a question in return, which
/// are no values.
pub(crate) fn awaited(situation: &Situation<'_>, function: FunctionId) -> Vec<SlotId> {
    let slots = situation.expected.slots_of(function);
    if slots.is_empty() {
        return slots;
    }
    let reply = yes_no::read(language(&situation.knowledge.module), None, situation.utterance().text().trim());
    let is_value = reply.answer == YesNo::Irrelevant && reply.confidence < yes_no::QUITE_SURE;
    if !is_value || is_polite_question(language(&situation.knowledge.module), situation.utterance().text()) {
        return Vec::new();
    }
    slots.into_iter().filter(|slot| !is_said_of_others(situation, function, *slot)).collect()
}

/// True of a yes or a no alone, and of a question in return: no words of it are a value.
pub(crate) fn is_no_value(situation: &Situation<'_>) -> bool {
    let text = situation.utterance().text().trim();
    let reply = yes_no::read(language(&situation.knowledge.module), None, text);
    let is_reply = match reply.answer {
        YesNo::Irrelevant => reply.confidence >= yes_no::QUITE_SURE,
        YesNo::Affirmative | YesNo::Negative | YesNo::Indifferent => reply.rest.is_none(),
    };
    is_reply || is_polite_question(language(&situation.knowledge.module), text)
}

/// True of a question whose words say that it is one, with or without a question mark.
pub(crate) fn is_polite_question(language: &str, text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '。' | '？' | '?'));
    let endings = Language::of(language).map_or(&[][..], |language| &language.words.question_endings);
    endings.iter().any(|ending| text.ends_with(ending))
}

/// True of a slot whose recognizers found nothing, where all that was said was found by those of other slots: "42" is no
/// kind of shoe.
fn is_said_of_others(situation: &Situation<'_>, function: FunctionId, slot: SlotId) -> bool {
    let definition = situation.knowledge.module.function(function);
    let finds = |slot: &Slot, mention: &Mention| slot.recognizers.contains(&mention.recognizer);
    let own = definition.slot(slot);
    let is_number = || {
        matches!(own.kind, SlotKind::Integer | SlotKind::Number)
            && situation.utterance().slice(core(situation, function, &[slot])).trim().parse::<f64>().is_ok()
    };
    if own.recognizers.is_empty() || is_number() || situation.mentions().iter().any(|mention| finds(own, mention)) {
        return false;
    }
    let language = language(&situation.knowledge.module);
    let is_other = |word: &Span| {
        let mut mentions = situation.mentions().iter().filter(|mention| mention.span.contains(*word));
        mentions.any(|mention| definition.slots.iter().any(|slot| finds(slot, mention)))
    };
    let mut words = situation
        .utterance()
        .words()
        .iter()
        .filter(|word| !yes_no::says_nothing(language, situation.utterance().slice(**word)));
    words.all(is_other)
}

/// True if the words right before `span` are the slot's name, or the part of it that tells it from its rivals, with
/// nothing but empty words between: "the size is 9", "from the joint account".
pub(crate) fn is_named_before(
    situation: &Situation<'_>,
    function: &Function,
    slot: SlotId,
    rivals: &[SlotId],
    span: Span,
) -> bool {
    let name = words_of(function.slot(slot).label());
    let others: Vec<String> = rivals
        .iter()
        .filter(|rival| **rival != slot)
        .flat_map(|rival| words_of(function.slot(*rival).label()))
        .collect();
    let own: Vec<String> = name.iter().filter(|word| !others.contains(word)).cloned().collect();
    let language = language(&situation.knowledge.module);
    let words = situation.utterance().words();
    let end = words.partition_point(|word| word.end <= span.start);
    let near = &words[end.saturating_sub(BEFORE)..end];
    let mut before: Vec<String> = near.iter().map(|word| fold(situation.utterance().slice(*word))).collect();
    while before.last().is_some_and(|word| !name.contains(word) && yes_no::says_nothing(language, word)) {
        before.pop();
    }
    !name.is_empty() && (before.ends_with(&name) || !own.is_empty() && before.ends_with(&own))
}

fn language(module: &Module) -> &str {
    module.settings.language.as_deref().unwrap_or("en")
}
