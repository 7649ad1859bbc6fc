//! Measures what a model server can do, by asking it.
//!
//! In each question the conversation asks for one thing and the request for another, so that only a server that
//! enforces the request answers correctly, with any model. A status of 200 proves nothing: many servers accept unknown
//! fields and ignore them. Only whether a tool is called without being forced depends on the model; that is asked in
//! several ways, and one call is enough.
//!
//! A call that the model writes as text counts as a call, since replies are read that way too.

use std::time::Instant as Clock;

use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::{ChatModel, ChatReply, ChatRequest, LlmError, ToolChoice, Usage};

mod question;

use question::{ASKED, CALLS, NOTE, OTHER, PLAIN_TOKENS, Riddle, writes_call};

/// Token limit for answers, all of which are short.
const SHORT: u32 = 160;
/// Token limit for models that used up the short one on thinking.
const LONG: u32 = 1_024;

/// How a server supports one ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Requested, and done.
    Kept,
    /// Accepted but not done: as good as absent.
    Ignored,
    /// Answered with an error.
    Refused,
}

impl Support {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
        }
    }
}

/// What a server can do for one model, as measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Calls a tool when the conversation plainly asks for it.
    pub tools: Support,
    /// Arguments of a `strict` tool match its schema, even if the conversation asks for something else.
    pub strict: Support,
    /// Calls the tool that `tool_choice` names.
    pub named_choice: Support,
    /// The answer matches `response_format: json_schema`, even if the conversation asks for something else.
    pub json_schema: Support,
}

/// The result of measuring one ability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub support: Support,
    /// What was observed, in a few words; a refusal is quoted.
    pub seen: String,
}

impl Finding {
    fn new(support: Support, seen: impl Into<String>) -> Self {
        Self { support, seen: seen.into() }
    }
}

/// The identity of the answering model, as far as the server reveals it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Identity {
    pub model: Option<String>,
    pub fingerprint: Option<String>,
}

impl Identity {
    pub(super) fn of(reply: &ChatReply) -> Self {
        Self { model: reply.model.clone(), fingerprint: reply.fingerprint.clone() }
    }

    pub(super) const fn is_silent(&self) -> bool {
        self.model.is_none() && self.fingerprint.is_none()
    }
}

/// All results of one probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeReport {
    pub tools: Finding,
    pub strict: Finding,
    pub named_choice: Finding,
    pub json_schema: Finding,
    /// Time of a plain completion of at most 8 tokens, in milliseconds.
    pub plain_ms: f64,
    /// Whether the server counts tokens.
    pub counts_tokens: bool,
    /// Whether an answer that `max_tokens` cut says so; `None` if the model ended by itself.
    pub tells_cut: Option<bool>,
    /// Whether several calls come where only one was wanted; `None` where no tool is called.
    pub extra_calls: Option<bool>,
    /// Every identity that answered: more than one behind a gateway.
    pub identities: Vec<Identity>,
    /// The cost of the probe itself.
    pub requests: usize,
    pub usage: Usage,
}

impl ProbeReport {
    #[must_use]
    pub const fn capabilities(&self) -> Capabilities {
        Capabilities {
            tools: self.tools.support,
            strict: self.strict.support,
            named_choice: self.named_choice.support,
            json_schema: self.json_schema.support,
        }
    }
}

/// Measures what a server can do for this model (`None` means the configured one), with about ten small requests, one
/// after the other.
///
/// # Errors
/// If the server cannot be reached, refuses access, is too busy or too slow, or answers a plain question with an error
/// or an invalid reply: that says nothing about its abilities.
pub async fn probe(chat: &dyn ChatModel, model: Option<&str>, deadline: Instant) -> Result<ProbeReport, LlmError> {
    let mut probe = Probe { chat, model, deadline, seen: Vec::new(), usage: Usage::default(), requests: 0 };
    // This comes first, since a server that fails here has no abilities; it also loads the model.
    let long = probe.send(question::long(PLAIN_TOKENS, deadline)).await?;
    let mut tells_cut = says_cut(&long, PLAIN_TOKENS);
    if tells_cut == Some(false) {
        // The model may have ended by itself exactly at the limit.
        let fewer = PLAIN_TOKENS - 3;
        tells_cut = says_cut(&probe.send(question::long(fewer, deadline)).await?, fewer);
    }
    let clock = Clock::now();
    probe.is_alive().await?;
    let plain_ms = (clock.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
    let named_choice = probe.named_choice().await?;
    let tools = probe.tools().await?;
    let strict = probe.strict(named_choice.support, tools.support).await?;
    let json_schema = probe.json_schema().await?;
    let extra_calls = if tools.support == Support::Kept { probe.extra_calls().await? } else { None };
    Ok(ProbeReport {
        tools,
        strict,
        named_choice,
        json_schema,
        plain_ms,
        counts_tokens: long.usage != Usage::default(),
        tells_cut,
        extra_calls,
        identities: probe.seen,
        requests: probe.requests,
        usage: probe.usage,
    })
}

struct Probe<'a> {
    chat: &'a dyn ChatModel,
    model: Option<&'a str>,
    deadline: Instant,
    seen: Vec<Identity>,
    usage: Usage,
    requests: usize,
}

impl Probe<'_> {
    async fn named_choice(&mut self) -> Result<Finding, LlmError> {
        let request = question::call(CALLS[0], ToolChoice::Named(OTHER.to_owned()), self.deadline);
        let reply = match self.ask(request).await? {
            Ok(reply) => reply,
            Err(finding) => return Ok(finding),
        };
        Ok(match reply.tool_calls.first() {
            Some(call) if call.name == OTHER => {
                Finding::new(Support::Kept, "the named tool is called where another is asked for")
            }
            Some(_) => Finding::new(Support::Ignored, "another tool than the named one is called"),
            None => Finding::new(Support::Ignored, "no tool is called"),
        })
    }

    async fn tools(&mut self) -> Result<Finding, LlmError> {
        for (index, words) in CALLS.into_iter().enumerate() {
            let reply = match self.ask(question::call(words, ToolChoice::Auto, self.deadline)).await? {
                Ok(reply) => reply,
                Err(finding) => return Ok(finding),
            };
            let called = reply.tool_calls.iter().any(|call| call.name == ASKED);
            if called || writes_call(said(&reply), ASKED) {
                let how = if called { "is called" } else { "is called in text" };
                let seen = format!("the tool that is asked for {how} (try {} of {})", index + 1, CALLS.len());
                return Ok(Finding::new(Support::Kept, seen));
            }
        }
        Ok(Finding::new(Support::Ignored, "the tool that is asked for is not called"))
    }

    /// Tries each tool choice that the server accepts: some servers enforce arguments only for a named tool. `required`
    /// is tried only if neither gives a call, for models that do not call without being forced.
    async fn strict(&mut self, named: Support, auto: Support) -> Result<Finding, LlmError> {
        let mut kept = false;
        for (choice, support) in [
            (ToolChoice::Named(NOTE.to_owned()), named),
            (ToolChoice::Auto, auto),
            (ToolChoice::Required, if auto == Support::Refused { named } else { auto }),
        ] {
            // The server refuses this choice even without `strict`, so it says nothing about `strict`.
            if support == Support::Refused || (kept && choice == ToolChoice::Required) {
                continue;
            }
            let riddle = Riddle::draw();
            let reply = match self.ask(question::strict(&riddle, choice.clone(), self.deadline)).await? {
                Ok(reply) => reply,
                // Whether the server accepts `required` was not measured before.
                Err(_) if choice == ToolChoice::Required => continue,
                Err(finding) => return Ok(finding),
            };
            let Some(call) = reply.tool_calls.first() else {
                // This proves nothing, except where `strict` keeps a model that otherwise calls from ending.
                if reply.cut && choice != ToolChoice::Required && support == Support::Kept {
                    let seen = format!("the answer comes to no end (tool_choice: {})", name(&choice));
                    return Ok(Finding::new(Support::Ignored, seen));
                }
                continue;
            };
            // What follows the first call does not matter.
            if !riddle.fits(&call.arguments, reply.cut) {
                let seen = format!("arguments do not fit the schema (tool_choice: {})", name(&choice));
                return Ok(Finding::new(Support::Ignored, seen));
            }
            kept = true;
        }
        if kept {
            return Ok(Finding::new(Support::Kept, "arguments fit the schema where something else is asked for"));
        }
        if (named, auto) == (Support::Refused, Support::Refused) {
            return Ok(Finding::new(Support::Refused, "tools are refused"));
        }
        Ok(Finding::new(Support::Ignored, "no tool is called"))
    }

    /// Twice: a model that sees the schema in its prompt may match it once by chance.
    async fn json_schema(&mut self) -> Result<Finding, LlmError> {
        for words in [
            "Write one short sentence about the sea, in plain words. No JSON.",
            "Answer with the single word hello in plain text, and nothing else.",
        ] {
            let riddle = Riddle::draw();
            let reply = match self.ask(question::schema(words, &riddle, self.deadline)).await? {
                Ok(reply) => reply,
                Err(finding) => return Ok(finding),
            };
            if !riddle.fits(said(&reply), reply.cut) {
                return Ok(Finding::new(Support::Ignored, "the answer does not fit the schema"));
            }
        }
        Ok(Finding::new(Support::Kept, "the answer fits the schema where plain words are asked for"))
    }

    async fn extra_calls(&mut self) -> Result<Option<bool>, LlmError> {
        let words = "Ring the bell and open the door: call both ring_bell and open_door, both now.";
        let reply = self.ask(question::call(words, ToolChoice::Auto, self.deadline)).await?;
        Ok(reply.ok().map(|reply| reply.tool_calls.len() > 1))
    }

    async fn is_alive(&mut self) -> Result<(), LlmError> {
        self.send(question::short(self.deadline)).await.map(drop)
    }

    /// Sends a question about an ability; returns a finding in place of a reply if the server refuses it.
    async fn ask(&mut self, request: ChatRequest) -> Result<Result<ChatReply, Finding>, LlmError> {
        let short = ChatRequest { max_tokens: Some(SHORT), is_test: true, ..request };
        let long = ChatRequest { max_tokens: Some(LONG), ..short.clone() };
        let error = match self.send(short).await {
            Ok(reply) if !stopped_thinking(&reply) => return Ok(Ok(reply)),
            Ok(_) => match self.send(long).await {
                Ok(reply) => return Ok(Ok(reply)),
                Err(error) => error,
            },
            Err(error) => error,
        };
        match error {
            // Not about this question, or only temporary.
            LlmError::Status { status: 401 | 402 | 403 | 407 | 408 | 409 | 425 | 429, .. } => Err(error),
            LlmError::Status { status, message, .. } if status >= 400 => {
                // A server that fails on this question only, and stays alive, refuses it in its own way.
                if status >= 500 {
                    self.is_alive().await?;
                }
                Ok(Err(Finding::new(Support::Refused, format!("{status}: {message}"))))
            }
            LlmError::Malformed(what) => {
                Ok(Err(Finding::new(Support::Ignored, format!("the answer could not be read: {what}"))))
            }
            other => Err(other),
        }
    }

    async fn send(&mut self, request: ChatRequest) -> Result<ChatReply, LlmError> {
        let request = ChatRequest { model: self.model.map(str::to_owned), ..request };
        self.requests += 1;
        let reply = timeout_at(self.deadline, self.chat.complete(request)).await.unwrap_or(Err(LlmError::Timeout))?;
        self.usage += reply.usage;
        let identity = Identity::of(&reply);
        if !identity.is_silent() && !self.seen.contains(&identity) {
            self.seen.push(identity);
        }
        Ok(reply)
    }
}

fn said(reply: &ChatReply) -> &str {
    reply.content.as_deref().unwrap_or_default()
}

/// True if the reply was cut before anything was said.
fn stopped_thinking(reply: &ChatReply) -> bool {
    reply.cut && reply.tool_calls.is_empty() && reply.content.is_none()
}

fn says_cut(reply: &ChatReply, limit: u32) -> Option<bool> {
    // Without a token count, assume at least one token per word.
    let words = reply.content.as_deref().unwrap_or_default().split_whitespace().count() as u64;
    let took_all = reply.usage.completion_tokens.max(words) >= u64::from(limit);
    (reply.cut || took_all).then_some(reply.cut)
}

const fn name(choice: &ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::None => "none",
        ToolChoice::Required => "required",
        ToolChoice::Named(_) => "named",
    }
}
