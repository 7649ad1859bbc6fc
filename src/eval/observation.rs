//! The result of one case, and which parts of it are right.

use std::collections::BTreeMap;

use super::{OutcomeKind, compare::MatchCounts};
use crate::{
    module::{FunctionId, SlotGroup},
    understand::Timings,
};

/// The input of the metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Empty means out of scope.
    pub expected: Vec<FunctionId>,
    /// Empty if nothing was decided: no match, a tie, a failure.
    pub decided: Vec<FunctionId>,
    /// The function that would be chosen if one had to be.
    pub best_guess: Option<FunctionId>,
    /// Best first.
    pub candidates: Vec<FunctionId>,
    pub outcome: OutcomeKind,
    pub expected_outcome: Option<OutcomeKind>,
    /// Probability that the answer is right, 0 to 1; `None` if the turn failed.
    pub confidence: Option<f64>,
    /// Probability that any function was meant, 0 to 1; `None` if the turn failed.
    pub in_scope_belief: Option<f64>,
    /// `None` if the case gives no arguments.
    pub slots: Option<MatchCounts>,
    pub slots_by_group: BTreeMap<SlotGroup, MatchCounts>,
    /// A call was made, or a confirmation was asked for.
    pub is_proposed: bool,
    /// The kind of utterance, as its author names it.
    pub kind: Option<String>,
    /// Tokens that a model server read and wrote.
    pub tokens: u64,
    /// `None` if the turn failed.
    pub timings: Option<Timings>,
}

impl Observation {
    /// A call of no function where none was expected, as a starting point for tests.
    #[cfg(test)]
    pub(super) fn call() -> Self {
        Self {
            expected: Vec::new(),
            decided: Vec::new(),
            best_guess: None,
            candidates: Vec::new(),
            outcome: OutcomeKind::Call,
            expected_outcome: None,
            confidence: None,
            in_scope_belief: None,
            slots: None,
            slots_by_group: BTreeMap::new(),
            is_proposed: false,
            kind: None,
            tokens: 0,
            timings: None,
        }
    }

    #[must_use]
    pub fn is_in_scope(&self) -> bool {
        !self.expected.is_empty()
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.outcome == OutcomeKind::NoMatch
    }

    /// The right functions, or rightly none.
    #[must_use]
    pub fn is_function_right(&self) -> bool {
        if !self.is_in_scope() {
            return self.is_rejected();
        }
        let sorted = |functions: &[FunctionId]| {
            let mut sorted = functions.to_vec();
            sorted.sort_unstable();
            sorted
        };
        sorted(&self.decided) == sorted(&self.expected)
    }

    /// The call would be right, although a question may have been due first.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        self.is_function_right() && self.slots.is_none_or(|slots| slots.errors() == 0)
    }

    /// The call, or the proposed call, is right.
    #[must_use]
    pub fn is_proposal_right(&self) -> bool {
        if self.outcome == OutcomeKind::Call { self.is_right() } else { self.is_understood() }
    }

    /// The whole answer is right.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.is_understood() && self.expected_outcome.is_none_or(|expected| expected == self.outcome)
    }
}
