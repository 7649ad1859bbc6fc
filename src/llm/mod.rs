//! Speaks to a model server, behind one trait. What it says is text that nobody trusts.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

pub mod openai;
pub mod options;
pub mod retry;
pub mod scripted;
pub mod strict;
mod wire;

pub use options::{LlmOptions, Secret, SetupError};

/// One request for a chat completion, in the terms of the protocol but without its JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// `None`: the configured model.
    pub model: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub tool_choice: ToolChoice,
    /// A JSON Schema that the whole reply must fit (`response_format: json_schema`), with its name.
    pub response_schema: Option<(String, Value)>,
    pub temperature: Option<f32>,
    pub max_tokens: Option<u32>,
    /// The moment by which an answer must be there, retries included.
    pub deadline: tokio::time::Instant,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System(String),
    User(String),
    Assistant {
        content: Option<String>,
        tool_calls: Vec<ToolCall>,
    },
    /// The answer to the tool call of this id.
    Tool {
        id: String,
        content: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub parameters: Value,
    pub strict: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Named(String),
}

/// A call in the model's own words.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// Meant to be a JSON object; may be anything.
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatReply {
    pub content: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    /// True if the reply was cut by `max_tokens`.
    pub cut: bool,
    pub usage: Usage,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub total_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.total_tokens += other.total_tokens;
    }
}

/// Anything that completes a chat.
pub trait ChatModel: Send + Sync + 'static {
    /// For traces: the model's name and the server's host, never a key.
    fn describe(&self) -> String;

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>>;
}

pub type SharedChatModel = Arc<dyn ChatModel>;

/// The configured model server, with retries and a limit of concurrent requests; `None` if none is configured.
///
/// # Errors
/// If the address, the key or a header cannot be used.
pub fn connect(options: &LlmOptions) -> Result<Option<SharedChatModel>, SetupError> {
    if options.base_url.is_none() {
        return Ok(None);
    }
    let model = openai::OpenAi::new(options)?;
    Ok(Some(Arc::new(retry::Retrying::new(model, options.into()))))
}

/// Why there is no reply. `Display` is for our log; the client is told the variant alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    #[error("the model server cannot be reached: {0}")]
    Connect(String),
    #[error("the model server did not answer in time")]
    Timeout,
    #[error("the model server answered {status}: {message}")]
    Status { status: u16, message: String, retry_after: Option<Duration> },
    #[error("the model server's answer could not be read: {0}")]
    Malformed(String),
    /// Nothing was sent: too many requests wait already.
    #[error("too many requests wait for the model server")]
    Overloaded,
}

impl LlmError {
    /// The variant's name, for traces and metrics: never the server's own text.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Timeout => "timeout",
            Self::Status { .. } => "status",
            Self::Malformed(_) => "malformed",
            Self::Overloaded => "overloaded",
        }
    }
}
