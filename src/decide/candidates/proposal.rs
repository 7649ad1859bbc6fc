//! Words that may fill a slot, in the form that is shown to people.

use super::Evidence;
use crate::{
    module::{RecognizerId, SlotId},
    text::Span,
};

/// Words that may fill a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlotProposal {
    pub slot: SlotId,
    pub span: Span,
    /// What found it; `None` for free text.
    pub recognizer: Option<RecognizerId>,
    /// The probability that exactly these words fill the slot, 0 to 1.
    pub probability: f32,
    /// The probability below which they fill nothing.
    pub least: f32,
    pub evidence: Evidence,
}
