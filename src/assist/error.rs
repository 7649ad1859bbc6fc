//! Why a model server was of no help.

use crate::{assist::template::PromptError, llm::LlmError};

/// See [the module](self).
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("no model server is configured")]
    NoServer,
    /// A template of the module could not be rendered.
    #[error("{0}")]
    Prompt(String),
    /// Nothing was asked: the first question alone would take more tokens than the request may use.
    #[error("a question to the model server takes about {needed} tokens, and the turn's budget is {allowed}")]
    OverBudget { needed: u64, allowed: u64 },
    #[error(transparent)]
    Llm(#[from] LlmError),
}

impl AskError {
    /// The reason, without any text of the server's; `None` for an error that the module's author must fix.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Llm(error) => Some(format!("the model server failed ({})", error.kind())),
            Self::OverBudget { .. } => Some(self.to_string()),
            Self::NoServer => Some("no model server is configured".to_owned()),
            Self::Prompt(_) => None,
        }
    }
}

impl From<PromptError> for AskError {
    fn from(error: PromptError) -> Self {
        Self::Prompt(error.to_string())
    }
}
