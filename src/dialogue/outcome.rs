//! The result of a turn, in words.

use crate::{call::Call, conversation::Pending, module::FunctionId};

/// "No valid call" is an outcome too; an error is a failure of Uptake or of the model server.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Valid and complete; never empty.
    Call(Vec<Call>),
    /// Called by Uptake: `text` reports the result, and asks the next question if something else is open.
    Done {
        text: String,
        calls: Vec<Call>,
    },
    Ask(Question),
    /// Out of scope.
    NoMatch,
    /// The person took it back; `text` says so, and asks the next question if something else is open.
    Cancelled {
        text: String,
        functions: Vec<FunctionId>,
    },
    /// A human should take over.
    Handoff {
        text: String,
        reason: HandoffReason,
        /// The function of the form that is open or was; `None` if there is none.
        function: Option<FunctionId>,
        /// What was asked.
        path: String,
    },
}

/// Why a human should take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffReason {
    /// The person asked for a human. What is open stays open.
    Asked,
    /// The same question was asked too often in vain. Its form is closed.
    Tries,
}

impl HandoffReason {
    /// The name in `uptake.handoff`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Tries => "tries",
        }
    }
}

impl Outcome {
    /// The name in `uptake.outcome`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Call(_) => "call",
            Self::Done { .. } => "done",
            Self::Ask(_) => "ask",
            Self::NoMatch => "no_match",
            Self::Cancelled { .. } => "cancelled",
            Self::Handoff { .. } => "handoff",
        }
    }
}

/// A question to the person, and its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub text: String,
    pub about: Pending,
}
