//! What is stored of a session: its state, calls that no client was told of, and calls in progress.

use serde::{Deserialize, Serialize};

use crate::{
    act::Plan,
    answer::ObservedCall,
    conversation::State,
    http::{ApiError, Failure, Fault},
    module::{Module, ModuleName},
    understand::{Outcome, Turn},
};

/// Most remembered calls of observed utterances.
const REMEMBERED_CALLS: usize = 8;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub state: State,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ObservedCall>,
    /// Calls of the last turn, until their results are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

impl Record {
    pub(super) fn new(module: &ModuleName) -> Self {
        Self { state: State::new(module), calls: Vec::new(), plan: None }
    }

    /// # Errors
    /// If the store returns something that was not stored by us.
    pub(super) fn parse(data: &[u8]) -> Result<Self, ApiError> {
        // The parser's message would reveal a position and a word of the stored data.
        serde_json::from_slice(data).map_err(|error| {
            ApiError::logged(
                Failure::SessionUnreadable,
                &format!("{:?} at column {}", error.classify(), error.column()),
            )
        })
    }

    /// The record for a turn with `module`: the stored one, or a new one.
    ///
    /// # Errors
    /// If the session belongs to another module, or cannot be read.
    pub(super) fn of(data: Option<&[u8]>, module: &Module) -> Result<Self, ApiError> {
        let Some(data) = data else { return Ok(Self::new(&module.name)) };
        let Self { state, calls, plan } = Self::parse(data)?;
        let state = state.adopted(module).map_err(|error| match error {
            crate::conversation::state::StateError::OtherModule { found, wanted } => {
                let message = format!("the session is of the module `{found}`, and the request of `{wanted}`");
                ApiError::fault(Fault::InvalidValue, message).about("session_id")
            }
            error @ crate::conversation::state::StateError::Format(_) => {
                ApiError::logged(Failure::SessionUnreadable, &error)
            }
        })?;
        Ok(Self { state, calls, plan })
    }

    /// Remembers the calls of a turn whose answer no client receives.
    pub(super) fn note_calls(&mut self, module: &Module, turn: &Turn) {
        let Outcome::Call(calls) = &turn.outcome else { return };
        self.calls.extend(calls.iter().map(|call| ObservedCall {
            turn: self.state.turn,
            name: module.function(call.function()).name.clone(),
            arguments: call.arguments().clone(),
        }));
        let over = self.calls.len().saturating_sub(REMEMBERED_CALLS);
        self.calls.drain(..over);
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record is strings, numbers, lists and maps with text as keys")
    }
}
