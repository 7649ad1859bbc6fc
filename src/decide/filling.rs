//! A slot with words of the utterance: what may fill it, and what does.

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
    /// What says so, where it is not the evidence.
    pub rule: Option<Rule>,
    /// The probability that just this span fills the slot, 0 to 1. By a rule, of which the slot model knows how often it
    /// is right, it is 1, or less where the rule leaves open which of several spans it is.
    pub confidence: f32,
}

/// A value for a slot, and where it was said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub slot: SlotId,
    pub span: Span,
    pub value: Value,
}

/// What says that words fill a slot beside their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// They are all of an answer; a number that is; a part of it between commas; an item of it.
    Answer,
    Number,
    Part,
    /// Of all words of an answer they are likeliest to be the value, with the probability of that.
    Chosen,
    Item,
    /// A word leads to them that leads to the slot in a template.
    Led,
    /// Words join them to another value as a template does.
    Joined,
    /// They stand beside the slot's own name.
    Named,
    /// A template is said word for word; the same where another slot's free text stands beside.
    Template,
    Beside,
    /// The name of a flag is ruled out: "no sauce".
    Denied,
    /// They are a part of an address that is written in one line.
    Address,
    /// They stand between quotation marks, behind a slot's name and a colon, or are written in a form of their own.
    Quoted,
}

impl Filling {
    pub(crate) const fn by(rule: Rule, slot: SlotId, span: Span) -> Self {
        Self { slot, span, anchor: None, rule: Some(rule), confidence: 1.0 }
    }

    /// What a recognizer found, a template has there, or a form of writing tells.
    pub(crate) const fn is_exact(&self) -> bool {
        self.anchor.is_some() || matches!(self.rule, Some(Rule::Template | Rule::Beside | Rule::Quoted | Rule::Address))
    }
}

/// True of a slot that free text may fill: of no kind that a recognizer alone can read.
pub(crate) fn is_open(module: &Module, slot: &Slot) -> bool {
    let is_list = |id| matches!(module.recognizer(id).kind, RecognizerKind::List(_));
    matches!(slot.kind, SlotKind::String | SlotKind::Any)
        && slot.choices.is_empty()
        && slot.recognizers.iter().all(|id| is_list(*id))
}
