//! Ways to let a model server decide which function is meant, and with which arguments. One file each, behind one
//! trait.

use futures::future::BoxFuture;
use serde::Serialize;

use crate::{
    assist::{error::AskError, exchange::Exchange},
    decide::outcome::Decision,
    llm::{Capabilities, Support},
    module::settings::StrategyName,
};

mod staged;
mod structured;
mod tools;

use staged::Staged;
use structured::Structured;
use tools::Tools;

/// See [the module](self).
pub(crate) trait Strategy: Sync {
    fn decided_by(&self) -> DecidedBy;

    fn decide<'a>(&'a self, exchange: &'a mut Exchange<'_>) -> BoxFuture<'a, Result<Decision, AskError>>;
}

/// The strategy with this name. A name that fixes no way of asking means native function calling.
pub(crate) fn named(name: StrategyName) -> &'static dyn Strategy {
    match name {
        StrategyName::Structured => &Structured,
        StrategyName::Staged => &Staged,
        StrategyName::Tools | StrategyName::Auto | StrategyName::Local => &Tools,
    }
}

/// The strategy that a server does best, by its known capabilities; native function calling if none are known yet.
#[must_use]
pub fn best_strategy(found: Option<Capabilities>) -> StrategyName {
    let Some(found) = found else { return StrategyName::Tools };
    match (found.tools, found.strict, found.json_schema) {
        (Support::Kept, Support::Kept, _) => StrategyName::Tools,
        (_, _, Support::Kept) => StrategyName::Structured,
        (Support::Kept, _, _) => StrategyName::Tools,
        // The server forces no format and makes no calls: ask for little at a time.
        _ => StrategyName::Staged,
    }
}

/// Which party decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Local,
    /// The model server, with native function calling.
    Tools,
    /// The model server, with an answer that fits a JSON Schema.
    Structured,
    /// The model server, first for the function and then for its arguments.
    Staged,
    /// No function is meant, and the model server wrote the text.
    Front,
}

impl DecidedBy {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Tools => "tools",
            Self::Structured => "structured",
            Self::Staged => "staged",
            Self::Front => "front",
        }
    }
}
