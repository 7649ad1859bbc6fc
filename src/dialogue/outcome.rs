//! What a turn comes to, in words.

use crate::{call::Call, conversation::Pending, module::FunctionId};

/// No valid call is an outcome too; an error is a failure of ours or of the model server.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Valid and complete; never empty.
    Call(Vec<Call>),
    /// Called by us: `text` says what came of it, and asks on where something else is open.
    Done {
        text: String,
        calls: Vec<Call>,
    },
    Ask(Question),
    /// Out of scope.
    NoMatch,
    /// The person took it back; `text` says so, and asks on where something else is open.
    Cancelled {
        text: String,
        functions: Vec<FunctionId>,
    },
    /// A person should take over.
    Handoff {
        text: String,
        reason: HandoffReason,
        /// The function that is open, or was; `None` if none is.
        function: Option<FunctionId>,
        /// What was asked.
        path: String,
    },
}

/// Why a person should take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffReason {
    /// The person asked for one. What is open stays open.
    Asked,
    /// The same was asked too often in vain. Its form is closed.
    Tries,
}

impl HandoffReason {
    /// As `uptake.handoff` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Tries => "tries",
        }
    }
}

impl Outcome {
    /// As `uptake.outcome` spells it.
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

/// What we ask, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub text: String,
    pub about: Pending,
}
