//! Why there is no answer.

use crate::{assist::error::AskError, embed::EmbedError, llm::LlmError, module::settings::StrategyName};

/// A failure of ours or of the model server. What a person said is never the cause, except for its length.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error("the utterance is empty")]
    EmptyUtterance,
    #[error("the utterance has {length} characters; the limit is {limit}")]
    LongUtterance { length: usize, limit: usize },
    #[error("strategy `{0}` needs a model server, and none is configured")]
    NoModelServer(&'static str),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A template of the module does not render.
    #[error("{0}")]
    Prompt(String),
    /// Nothing was asked: the first question alone would take more than the turn may use.
    #[error("a question to the model server takes about {needed} tokens, and the turn's budget is {allowed}")]
    OverBudget { needed: u64, allowed: u64 },
    #[error("the model server failed and nothing local could answer: {0}")]
    Llm(LlmError),
    /// Nobody waits for the answer any more, so that there is none.
    #[error("whoever asked has left")]
    Left,
}

impl TurnError {
    /// What it is for a turn that a model server was of no help; it was asked by this strategy.
    pub(crate) fn of_asking(error: AskError, strategy: StrategyName) -> Self {
        match error {
            AskError::NoServer => Self::NoModelServer(strategy.name()),
            AskError::Prompt(why) => Self::Prompt(why),
            AskError::OverBudget { needed, allowed } => Self::OverBudget { needed, allowed },
            AskError::Llm(error) => Self::Llm(error),
        }
    }
}
