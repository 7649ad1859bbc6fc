//! Why there is no answer.

use crate::{assist::error::AskError, embed::EmbedError, llm::LlmError, module::settings::StrategyName};

/// A failure of ours or of the model server. The utterance is never the cause, except by its length.
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
    /// Nothing was sent: the first request alone would exceed the turn's token budget.
    #[error("a question to the model server takes about {needed} tokens, and the turn's budget is {allowed}")]
    OverBudget { needed: u64, allowed: u64 },
    #[error("the model server failed and nothing local could answer: {0}")]
    Llm(LlmError),
    /// The client has left, so there is no answer.
    #[error("whoever asked has left")]
    Left,
}

impl TurnError {
    /// The turn's error for a failed model server, which was asked by this strategy.
    pub(crate) fn of_asking(error: AskError, strategy: StrategyName) -> Self {
        match error {
            AskError::NoServer => Self::NoModelServer(strategy.name()),
            AskError::Prompt(why) => Self::Prompt(why),
            AskError::OverBudget { needed, allowed } => Self::OverBudget { needed, allowed },
            AskError::Llm(error) => Self::Llm(error),
        }
    }
}
