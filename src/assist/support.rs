//! How far a call that a model server proposes is believed: it is evidence beside the local reading, not the last word.

use crate::{
    assist::brief::Brief,
    call::{SlotValue, kin},
    decide::{
        bars::bars,
        calibration, local,
        outcome::{Frame, Outcome},
        vocabulary::own_words,
    },
    module::FunctionId,
    text::fold,
};

/// The probability from which on the local reading sees a function, and the same where a value was said for it.
const SEEN: f32 = 0.1;
const SEEN_WITH_VALUE: f32 = 0.02;

/// What becomes of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// The words speak for it, too.
    Called,
    /// The person is asked whether it is meant.
    Put,
    /// No word of the person speaks for it.
    Missing,
}

/// What speaks for the proposal beside the model server.
pub(crate) fn of(brief: &Brief<'_>, frame: &Frame) -> Support {
    if is_settled(brief, frame.function) {
        Support::Called
    } else if brief.knowledge.module.function(frame.function).acts() && !has_word(brief, frame) {
        Support::Missing
    } else if is_sure(brief, frame) && (said(&frame.slots) > 0 || sees_something(brief)) {
        Support::Called
    } else {
        Support::Put
    }
}

/// True unless the local reading comes to "nothing fits".
fn sees_something(brief: &Brief<'_>) -> bool {
    local::decide(brief).outcome != Outcome::NoMatch
}

/// The probability that the function is meant, which the local reading, a model server of this standing and the values
/// speak for.
pub(crate) fn confidence(brief: &Brief<'_>, function: FunctionId, slots: &[SlotValue], standing: f32) -> f32 {
    calibration::proposed(brief.retrieved(function), said(slots), standing)
}

/// The function is known: the client names it, or it was asked about.
pub(crate) fn is_settled(brief: &Brief<'_>, function: FunctionId) -> bool {
    let is_expected = brief.expected.functions().contains(&function);
    is_expected || brief.is_meant || brief.is_demanded || brief.given.is_some()
}

fn is_sure(brief: &Brief<'_>, frame: &Frame) -> bool {
    let seen = if said(&frame.slots) > 0 { SEEN_WITH_VALUE } else { SEEN };
    brief.retrieved(frame.function) >= seen && calibration::is_called(frame.confidence, brief.sure(frame.function))
}

/// Values that stand in the utterance.
pub(crate) fn said(slots: &[SlotValue]) -> usize {
    slots.iter().filter(|slot| slot.span.is_some()).count()
}

/// True if a value of it was said, if it is found better than what is none of the module's business, or if a word that
/// means something is its own.
fn has_word(brief: &Brief<'_>, frame: &Frame) -> bool {
    let function = frame.function;
    let knowledge = brief.knowledge;
    let parts = std::iter::once(&brief.analysis.whole).chain(brief.parts());
    let found = parts.flat_map(|part| &part.candidates).filter(|candidate| candidate.function == function);
    let is_found = || found.map(|one| one.score).fold(0.0, f32::max) - knowledge.usual_score >= bars().above_usual;
    // Digits and marks alone are near to whatever takes such a value.
    let is_worded = brief.utterance().text().chars().any(char::is_alphabetic);
    if said(&frame.slots) > 0 || is_worded && is_found() {
        return true;
    }
    let own: Vec<String> = own_words(&knowledge.module, function).iter().map(|word| fold(word)).collect();
    let means = |word: &&str| knowledge.vocabulary.weight(word) >= bars().left_over;
    let is_own = |word: &str| knowledge.vocabulary.has(function, word) || own.iter().any(|own| kin(own, word));
    brief.utterance().folded_words().filter(means).any(is_own)
}
