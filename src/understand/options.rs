//! Defaults for how the server understands, for modules that do not set their own.

use serde::{Deserialize, Serialize};

use crate::{
    assist::ledger::Allowance,
    decide::model::DecisionModel,
    module::settings::{Ask, Detect, Fill, StrategyName},
};

/// Defaults for how the server understands, for modules that do not set their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnderstandOptions {
    pub strategy: StrategyName,
    /// From this confidence on, `auto` decides without the model server (0 to 1).
    pub sure: f32,
    /// Below this confidence an utterance is out of scope (0 to 1).
    pub in_scope: f32,
    /// Candidates that are considered, and shown to a model server.
    pub candidates: usize,
    /// Exemplars that a model server is shown as few-shot turns.
    pub shots: usize,
    /// Longest utterance, in characters.
    pub max_utterance: usize,
    /// Steps of work that one request may take, earlier messages included: characters, words and values that are looked
    /// at. What is longer is read as far as that goes, and nothing is called of it unasked.
    pub max_steps: u64,
    /// IANA name; `UTC` unless set.
    pub time_zone: String,
    /// Times that a wrong answer of the model server is sent back with what was wrong.
    pub retries: u32,
    /// Milliseconds that one turn may take with a model server, retries included.
    pub deadline_ms: u64,
    /// Tokens that one turn may use, prompts and answers together: no further question is asked past it.
    pub tokens: u64,
    pub staged: StagedOptions,
    /// How much is asked for at once.
    pub ask: Ask,
    /// Questions in a row about the same thing that may bring nothing valid; after them a person takes over.
    pub tries: u32,
}

/// How the strategy `staged` runs its stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StagedOptions {
    pub detect: Detect,
    pub fill: Fill,
}

impl Default for UnderstandOptions {
    fn default() -> Self {
        Self {
            strategy: StrategyName::Auto,
            sure: DecisionModel::bundled().thresholds.sure,
            in_scope: DecisionModel::bundled().thresholds.in_scope,
            candidates: 8,
            shots: 6,
            max_utterance: 8_000,
            max_steps: 20_000_000,
            time_zone: "UTC".to_owned(),
            retries: 2,
            deadline_ms: 20_000,
            tokens: 32_000,
            staged: StagedOptions::default(),
            ask: Ask::One,
            tries: 3,
        }
    }
}

impl UnderstandOptions {
    /// What a request may spend on model servers.
    pub(crate) const fn allowance(&self) -> Allowance {
        Allowance { retries: self.retries, deadline_ms: self.deadline_ms, tokens: self.tokens }
    }
}
