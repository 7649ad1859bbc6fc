//! One thing to ask a model server, and how its answer is read.

use crate::{
    assist::{brief::Brief, error::AskError, exchange::Exchange},
    call::{Violation, ViolationKind},
    llm::{ChatReply, ChatRequest},
};

/// See [the module](self).
pub(crate) trait ModelTask {
    type Answer;

    /// As traces call it: `call`, `detect` or `fill`.
    const STAGE: &'static str;

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError>;

    /// Pure.
    fn parse(&self, brief: &Brief<'_>, reply: &ChatReply) -> Parsed<Self::Answer>;

    /// Of two answers with something wrong in them the one that is worth more is kept, the later one of two equal ones.
    fn worth(_answer: &Self::Answer) -> (usize, usize) {
        (0, 0)
    }
}

/// A reply as a [`ModelTask`] understands it.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    /// `None` if nothing could be made of the reply.
    pub answer: Option<T>,
    /// What the model should put right; empty if it can do no better.
    pub complaints: Vec<Violation>,
    /// For the trace: everything that was wrong, also what is no use to complain about.
    pub found: Vec<Violation>,
    pub repairs: Vec<&'static str>,
}

impl<T> Parsed<T> {
    pub(crate) fn settled(answer: T, repairs: Vec<&'static str>) -> Self {
        Self { answer: Some(answer), complaints: Vec::new(), found: Vec::new(), repairs }
    }

    /// Nothing could be made out; `expected` says what would have been right.
    pub(crate) fn unreadable(expected: impl Into<String>) -> Self {
        let violation = Violation::new(ViolationKind::Type, String::new(), None, expected.into());
        Self { answer: None, complaints: vec![violation.clone()], found: vec![violation], repairs: Vec::new() }
    }
}
