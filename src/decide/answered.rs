//! Whether an utterance is only the answer to what was asked.

use crate::{
    ablation,
    decide::{
        asked::{core, is_answer_word, is_short, names},
        bars::bars,
        reading::Reading,
        scope::scope_by_score,
        situation::Situation,
        vocabulary::own_words,
    },
    module::SlotId,
    recognize::{Mention, reply as yes_no},
    retrieve::Candidate,
    text::Span,
};

/// How many words an answer may have beside its values ("make it five").
const BESIDE: usize = 1;

/// The reading of the whole utterance as an answer for an expected function; `None` if the utterance says anything
/// else.
///
/// It must give a value of an expected slot (of any slot, if only a function is expected) that a recognizer knows.
/// Beside values it may have only words of the function's own exemplars and slots, and empty words. A slot of free text
/// is answered by a few words that probably mean no function.
pub(crate) fn answered<'a>(situation: &Situation<'a>) -> Option<Reading<'a>> {
    let module = &situation.knowledge.module;
    situation.expected.functions().iter().find_map(|function| {
        let own = situation.candidates().iter().find(|candidate| candidate.function == *function)?;
        let slots = situation.expected.slots_of(*function);
        let reading = Reading::new(situation, *function);
        let answers = reading.spans_of(&slots);
        let knows = |span: &Span| {
            let is_hint = |label: &str| module.function(*function).slot_labelled(label).is_some();
            situation.mentions().iter().any(|mention: &Mention| span.contains(mention.span))
                || situation
                    .hints
                    .iter()
                    .any(|hint| is_hint(&hint.label) && hint.spans(situation.utterance()).contains(span))
        };
        let is_known = answers.iter().any(knows);
        let is_free = || {
            !slots.is_empty()
                && !answers.is_empty()
                && is_short(situation, *function, &slots)
                && (is_new(situation) || names(situation, *function, &slots))
        };
        if !is_known && !ablation::holds("answered.free", is_free())
            || ablation::holds("answered.asks_otherwise", asks_otherwise(situation, own, &reading))
        {
            return None;
        }
        (!leaves_words(situation, &reading)).then_some(reading)
    })
}

/// True if a word says something but belongs to no value and is not one of the function's own words.
pub(crate) fn leaves_words(situation: &Situation<'_>, reading: &Reading<'_>) -> bool {
    let module = &situation.knowledge.module;
    let covered = reading.account(situation);
    let own = own_words(module, reading.function);
    let core = core(situation, reading.function, &situation.expected.slots_of(reading.function));
    let is_plain = |word: &Span| {
        let folded = situation.utterance().folded_in(*word);
        !core.overlaps(*word)
            || is_answer_word(situation, *word)
            || covered.iter().any(|span| span.overlaps(*word))
            || situation.negations().iter().any(|one| one.cue.overlaps(*word))
            || yes_no::says_nothing(module.language(), &folded)
            || own.contains(&folded)
    };
    !situation.utterance().words().iter().all(is_plain)
}

/// True if a slot that was asked for has no value. If no slot was asked for: if a required slot has no value.
pub(crate) fn lacks_values(situation: &Situation<'_>, reading: &Reading<'_>) -> bool {
    let definition = situation.knowledge.module.function(reading.function);
    let expected = situation.expected.slots_of(reading.function);
    let is_empty = |slot: &SlotId| reading.spans_of(&[*slot]).is_empty();
    if expected.is_empty() {
        return definition.slot_ids().any(|slot| definition.slot(slot).required && is_empty(&slot));
    }
    expected.iter().any(is_empty)
}

/// Another function is clearly meant, by more than one word beside the values.
fn asks_otherwise(situation: &Situation<'_>, own: &Candidate, reading: &Reading<'_>) -> bool {
    let covered = reading.account(situation);
    let core = core(situation, reading.function, &situation.expected.slots_of(reading.function));
    let says = |word: &&Span| {
        let text = situation.utterance().slice(**word);
        core.overlaps(**word)
            && !covered.iter().any(|span| span.overlaps(**word))
            && !yes_no::says_nothing(situation.knowledge.module.language(), text)
    };
    let leads = situation.candidates().first().is_some_and(|best| best.score - own.score >= bars().clearly);
    leads
        && scope_by_score(situation) >= bars().otherwise
        && situation.utterance().words().iter().filter(says).count() > BESIDE
}

/// No function is likely meant.
fn is_new(situation: &Situation<'_>) -> bool {
    scope_by_score(situation) < bars().otherwise
}
