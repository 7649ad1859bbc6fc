//! Talks to a model server behind one trait. The server's text is never trusted.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{shares::Owner, text::foreign::Foreign};

pub mod breaker;
mod cache;
mod coalesce;
mod dialect;
mod keep;
mod listener;
pub mod openai;
pub mod options;
pub mod probe;
pub mod retry;
mod said;
pub mod scripted;
mod server;
mod sse;
pub mod standing;
mod stream;
pub mod strict;
mod wire;
mod wording;
pub mod written;

pub use listener::Listener;
pub use options::{BreakerOptions, CacheOptions, FallbackOptions, LlmOptions, Secret, SetupError};
pub use probe::{Capabilities, Support};
pub use server::Server;
pub use wire::{reply as read_reply, shown, shown_reply};

/// One request for a chat completion, in the terms of the protocol but without its JSON. Cheap to clone: each layer
/// that may send it again keeps a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// `None` means the configured model.
    pub model: Option<String>,
    pub messages: Arc<[Message]>,
    pub tools: Arc<[Tool]>,
    pub tool_choice: ToolChoice,
    /// Whether the reply may have several calls.
    pub parallel: bool,
    /// A JSON Schema that the whole reply must fit (`response_format: json_schema`), with its name.
    pub response_schema: Option<(String, Arc<Value>)>,
    pub temperature: Option<f32>,
    pub max_tokens: Option<u32>,
    /// What the answer depends on beside the prompt, such as the version of a module: requests that differ in it never
    /// share an answer.
    pub scope: Option<Arc<str>>,
    /// The owner of the request. Answers are not shared between owners, because response times would reveal what others
    /// asked.
    pub owner: Owner,
    /// The caller allows less time than usual: a timeout then says nothing about the server.
    pub is_hurried: bool,
    /// A question that may well break a healthy server: its error does not count against the server.
    pub is_test: bool,
    /// Receives the text while it is being written; such an answer is not shared.
    pub listener: Option<Listener>,
    /// Deadline for the answer, including retries.
    pub deadline: tokio::time::Instant,
}

impl ChatRequest {
    /// Plain messages to the configured model; everything else as the server is configured.
    #[must_use]
    pub fn new(messages: Vec<Message>, deadline: tokio::time::Instant) -> Self {
        Self {
            model: None,
            messages: messages.into(),
            tools: Arc::default(),
            tool_choice: ToolChoice::Auto,
            parallel: false,
            response_schema: None,
            temperature: None,
            max_tokens: None,
            scope: None,
            owner: Owner::Process,
            is_hurried: false,
            is_test: false,
            listener: None,
            deadline,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System(String),
    User(String),
    Assistant {
        content: Option<String>,
        tool_calls: Vec<ToolCall>,
    },
    /// The answer to the tool call with this id.
    Tool {
        id: String,
        content: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub parameters: Arc<Value>,
    pub strict: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Named(String),
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// Should be a JSON object; may be any text.
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
    /// The server's `system_fingerprint`: if it changes, the server may behave differently.
    pub fingerprint: Option<String>,
    /// Another request caused the reply, and its tokens are counted there; `usage` is zero.
    pub cached: bool,
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

/// The configured model servers, the preferred one first, then the fallbacks in order; empty if none is configured.
/// Each has its own retries, limit of concurrent requests, circuit breaker and cache.
///
/// # Errors
/// If an address, a key or a header cannot be used; for a fallback, with its index.
pub fn connect(options: &LlmOptions) -> Result<Vec<Server>, SetupError> {
    if options.base_url.is_none() {
        return if options.fallbacks.is_empty() { Ok(Vec::new()) } else { Err(SetupError::OnlyFallbacks) };
    }
    let count = options.fallbacks.len();
    let mut servers = vec![server(options, count > 0)?];
    for (index, fallback) in options.fallbacks.iter().enumerate() {
        let made = server(&options.of_fallback(fallback), index + 1 < count);
        servers.push(made.map_err(|error| error.of_fallback(index))?);
    }
    Ok(servers)
}

/// Builds the layers, from the outside in: cache, retries, circuit breaker, and a single attempt. If another server can
/// stand in, a timeout is not retried: that would use up the other server's time.
fn server(options: &LlmOptions, is_backed: bool) -> Result<Server, SetupError> {
    let model = openai::OpenAi::new(options)?;
    let wording = model.wording();
    let tries = breaker::Breaker::new(model, options.breaker);
    let retrying = retry::Retrying::new(tries, retry::Policy { after_timeout: !is_backed, ..options.into() });
    Ok(Server::new(Arc::new(cache::Cached::new(retrying, wording, options.cache))).probing(options.probe))
}

/// Why there is no reply. `Display` is for our log; the client only learns the variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    #[error("the model server cannot be reached: {0}")]
    Connect(Foreign),
    #[error("the model server did not answer in time")]
    Timeout,
    #[error("the model server answered {status}: {message}")]
    Status { status: u16, message: Foreign, retry_after: Option<Duration> },
    #[error("the model server's answer could not be read: {0}")]
    Malformed(Foreign),
    /// Nothing was sent: too many requests are waiting.
    #[error("too many requests wait for the model server")]
    Overloaded,
    /// Nothing was sent: the server failed so often that the circuit breaker is open.
    #[error("the model server failed repeatedly and is left alone for {}s", .0.as_secs_f32().ceil())]
    Unavailable(Duration),
}

impl LlmError {
    /// The same error with the server's text transformed by `put`.
    #[must_use]
    pub(crate) fn told(self, put: impl FnOnce(Foreign) -> Foreign) -> Self {
        match self {
            Self::Connect(text) => Self::Connect(put(text)),
            Self::Malformed(text) => Self::Malformed(put(text)),
            Self::Status { status, message, retry_after } => {
                Self::Status { status, message: put(message), retry_after }
            }
            other @ (Self::Timeout | Self::Overloaded | Self::Unavailable(_)) => other,
        }
    }

    /// The variant's name, for traces and metrics; never the server's text.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Timeout => "timeout",
            Self::Status { .. } => "status",
            Self::Malformed(_) => "malformed",
            Self::Overloaded => "overloaded",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(written: &str) -> LlmOptions {
        serde_json::from_str(written).expect("options")
    }

    #[test]
    fn servers_come_in_their_order() {
        let described = |written: &str| {
            connect(&options(written)).map(|servers| servers.iter().map(Server::describe).collect::<Vec<_>>())
        };
        assert_eq!(described("{}").expect("none"), Vec::<String>::new());
        let written = r#"{"base_url": "http://a:1", "model": "big",
            "fallbacks": [{"base_url": "http://b:2/v1", "model": "small"}, {"base_url": "http://c:3"}]}"#;
        assert_eq!(described(written).expect("three"), ["big at a:1", "small at b:2", "default at c:3"]);
    }

    #[test]
    fn a_fallback_that_cannot_be_used_is_named() {
        for (fallback, problem) in [
            (r#"{"base_url": "b:2"}"#, "`llm.fallbacks[1].base_url` is not an address of a model server: "),
            (r#"{"base_url": "http://b", "api_key": "sk\n"}"#, "`llm.fallbacks[1].api_key` has characters"),
            (r#"{"base_url": "http://b", "headers": {"a b": "c"}}"#, "`llm.fallbacks[1].headers.a b` has characters"),
            (r#"{"base_url": "http://b", "api_key_file": "/none/such"}"#, "`llm.fallbacks[1].api_key_file` /none/such"),
        ] {
            let written =
                format!(r#"{{"base_url": "http://a", "fallbacks": [{{"base_url": "http://b"}}, {fallback}]}}"#);
            let error = connect(&options(&written)).map(|servers| servers.len()).expect_err(fallback).to_string();
            assert!(error.starts_with(problem), "{error}");
        }
        let error = connect(&options(r#"{"fallbacks": [{"base_url": "http://b"}]}"#)).map(|servers| servers.len());
        assert!(matches!(error, Err(SetupError::OnlyFallbacks)));
    }
}
