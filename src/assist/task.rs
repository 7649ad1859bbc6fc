//! One question for a model server, and how its answer is read.

use crate::{
    assist::{brief::Brief, error::AskError, exchange::Exchange},
    call::{Violation, ViolationKind},
    llm::{ChatReply, ChatRequest},
};

/// See [the module](self).
pub(crate) trait ModelTask {
    type Answer;

    /// The name in traces: `call`, `detect` or `fill`.
    const STAGE: &'static str;

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError>;

    /// Pure.
    fn parse(&self, brief: &Brief<'_>, reply: &ChatReply) -> Parsed<Self::Answer>;

    /// Of two answers with faults, the one that is worth more is kept; of two equal ones, the later one.
    fn worth(_answer: &Self::Answer) -> (usize, usize) {
        (0, 0)
    }
}

/// A reply as a [`ModelTask`] understands it.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    /// `None` if the reply could not be read.
    pub answer: Option<T>,
    /// What the model should correct; empty if it cannot do better.
    pub complaints: Vec<Violation>,
    /// For the trace: everything that was wrong, also faults that the model cannot correct.
    pub found: Vec<Violation>,
    pub repairs: Vec<&'static str>,
}

impl<T> Parsed<T> {
    pub(crate) fn settled(answer: T, repairs: Vec<&'static str>) -> Self {
        Self { answer: Some(answer), complaints: Vec::new(), found: Vec::new(), repairs }
    }

    /// The reply could not be read; `expected` says what would have been right.
    pub(crate) fn unreadable(expected: impl Into<String>) -> Self {
        let violation = Violation::new(ViolationKind::Type, String::new(), None, expected.into());
        Self { answer: None, complaints: vec![violation.clone()], found: vec![violation], repairs: Vec::new() }
    }
}
