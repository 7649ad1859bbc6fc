//! A slot with words of the utterance that may fill it, or that do.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    module::{Module, RecognizerKind, Slot, SlotId, SlotKind},
    text::Span,
};

/// A span that could be the value of a slot, because one of the slot's recognizers found it there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    pub slot: SlotId,
    pub span: Span,
    /// 0 to 1, as the recognizer scored it.
    pub score: f32,
}

/// A slot and the span that fills it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filling {
    pub slot: SlotId,
    pub span: Span,
    /// Which of the anchors it is; `None` for free text.
    pub anchor: Option<usize>,
    /// The rule that filled the slot, if it was not the evidence.
    pub rule: Option<FillingRule>,
    /// The probability that exactly this span fills the slot, 0 to 1. For a rule it is 1, or less if the rule leaves
    /// open which of several spans fills the slot; the slot model knows how often each rule is right.
    pub confidence: f32,
}

/// A value for a slot, and where it was said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpannedValue {
    pub slot: SlotId,
    pub span: Span,
    pub value: Value,
}

/// A rule by which words fill a slot, beside their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillingRule {
    /// The words are a whole answer.
    Answer,
    /// A preposition leads to them.
    Part,
    /// Of all words of an answer, these are the likeliest value; the filling has the probability of that.
    Chosen,
    /// The word before them leads to the slot in a template.
    Led,
    /// They are joined to another value as in a template.
    Joined,
    /// They stand beside the slot's own name.
    Named,
    /// They stand in a template that matches word for word; the same where another slot's free text stands beside them.
    Template,
    Beside,
    /// The name of a flag is ruled out: "no sauce".
    Denied,
    /// They are a part of an address that is written in one line.
    Address,
    /// They stand between quotation marks, follow a slot's name and a colon, or are written in a recognizable form.
    Quoted,
}

impl Filling {
    pub(crate) const fn by(rule: FillingRule, slot: SlotId, span: Span) -> Self {
        Self { slot, span, anchor: None, rule: Some(rule), confidence: 1.0 }
    }

    /// True of what a recognizer found, of what a template has there, and of what its written form shows.
    pub(crate) const fn is_exact(&self) -> bool {
        self.anchor.is_some()
            || matches!(
                self.rule,
                Some(FillingRule::Template | FillingRule::Beside | FillingRule::Quoted | FillingRule::Address)
            )
    }
}

/// True of a slot that free text may fill: only a recognizer can read the other kinds.
pub(crate) fn is_open(module: &Module, slot: &Slot) -> bool {
    let is_list = |id| matches!(module.recognizer(id).kind, RecognizerKind::List(_));
    matches!(slot.kind, SlotKind::String | SlotKind::Any)
        && slot.choices.is_empty()
        && slot.recognizers.iter().all(|id| is_list(*id))
}
