//! How far a call that a model server proposes is believed: it is evidence besides the local reading, not the last
//! word.

use crate::{
    assist::brief::Brief,
    call::{SlotValue, kin},
    decide::{
        bars::bars,
        calibration, local,
        outcome::{Frame, Outcome},
        scope::is_meant_by_score,
        vocabulary::own_words,
    },
    module::FunctionId,
    text::fold,
};

/// The probability from which on the local reading supports a function, and the same for a function with a value that
/// was said.
const SEEN: f32 = 0.1;
const SEEN_WITH_VALUE: f32 = 0.02;

/// What happens to a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// The person's words support it, too: it is called.
    Called,
    /// The person is asked whether it is meant.
    Put,
    /// No word of the person supports it.
    Missing,
}

/// What supports the proposal besides the model server.
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

/// True unless the local reading is that nothing fits.
fn sees_something(brief: &Brief<'_>) -> bool {
    local::decide(brief).outcome != Outcome::NoMatch
}

/// The probability that the function is meant, given the local reading, the values, and a model server of this
/// standing.
pub(crate) fn confidence(brief: &Brief<'_>, function: FunctionId, slots: &[SlotValue], standing: f32) -> f32 {
    calibration::proposed(brief.retrieved(function), said(slots), standing)
}

/// True if the function is already known: the client named it, or the person was asked about it.
pub(crate) fn is_settled(brief: &Brief<'_>, function: FunctionId) -> bool {
    let is_expected = brief.expected.functions().contains(&function);
    is_expected || brief.is_meant || brief.is_demanded || brief.given.is_some()
}

fn is_sure(brief: &Brief<'_>, frame: &Frame) -> bool {
    let seen = if said(&frame.slots) > 0 { SEEN_WITH_VALUE } else { SEEN };
    brief.retrieved(frame.function) >= seen && calibration::is_called(frame.confidence, brief.sure(frame.function))
}

/// Number of values that stand in the utterance.
pub(crate) fn said(slots: &[SlotValue]) -> usize {
    slots.iter().filter(|slot| slot.span.is_some()).count()
}

/// True if one of the function's values was said, if retrieval scores it higher than utterances outside the module
/// usually score, or if a meaningful word belongs to it.
fn has_word(brief: &Brief<'_>, frame: &Frame) -> bool {
    let function = frame.function;
    let knowledge = brief.knowledge;
    let parts = std::iter::once(&brief.analysis.whole).chain(brief.parts());
    let found = parts.flat_map(|part| &part.candidates).filter(|candidate| candidate.function == function);
    let is_found = || is_meant_by_score(knowledge, found.map(|one| one.score).fold(0.0, f32::max));
    // Digits and punctuation alone resemble every function that takes such a value.
    let is_worded = brief.utterance().text().chars().any(char::is_alphabetic);
    if said(&frame.slots) > 0 || is_worded && is_found() {
        return true;
    }
    let own: Vec<String> = own_words(&knowledge.module, function).iter().map(|word| fold(word)).collect();
    let means = |word: &&str| knowledge.vocabulary.weight(word) >= bars().left_over;
    let is_own = |word: &str| knowledge.vocabulary.has(function, word) || own.iter().any(|own| kin(own, word));
    brief.utterance().folded_words().filter(means).any(is_own)
}
