//! A turn for callers that take arguments as objects: the calls, and everything else as in a [`ChatCompletion`]'s
//! `uptake`.
//!
//! [`ChatCompletion`]: super::ChatCompletion

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Uptake, name_of, uptake};
use crate::{
    module::Module,
    understand::{Outcome, Turn},
};

/// What an utterance was understood as.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Understanding {
    /// The module's name.
    pub module: String,
    /// Valid and complete; empty unless the outcome is `call`.
    pub calls: Vec<CallBody>,
    pub uptake: Uptake,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CallBody {
    pub name: String,
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub arguments: Map<String, Value>,
}

impl Understanding {
    /// `module` must be the one that `turn` came from, since the turn's ids point into it.
    #[must_use]
    pub fn new(module: &Module, turn: &Turn) -> Self {
        let calls = match &turn.outcome {
            Outcome::Call(calls) => &calls[..],
            _ => &[],
        };
        let calls = calls
            .iter()
            .map(|call| CallBody { name: name_of(module, call.function()), arguments: call.arguments().clone() });
        Self { module: module.name.to_string(), calls: calls.collect(), uptake: uptake(module, turn) }
    }
}
