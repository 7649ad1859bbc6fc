//! What one request may spend on model servers, and what it has spent: each question is counted here, once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    assist::error::AskError,
    call::Violation,
    llm::{self, ChatReply, ChatRequest, LlmError, Message, Usage},
    module::settings::LlmOverrides,
    shares::Owner,
};

/// Greatest number of times that a wrong answer is sent back, whatever a module says.
const MOST_RETRIES: u32 = 10;

/// What the service allows a request whose module says nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub retries: u32,
    pub deadline_ms: u64,
    pub tokens: u64,
}

/// Limits that a request may lower. `None`: the limit of the module and the service applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetOverrides {
    /// Times that a wrong answer is sent back with what was wrong.
    pub retries: Option<u32>,
    /// Milliseconds, retries included.
    pub deadline_ms: Option<u64>,
    /// Tokens, prompts and answers together.
    pub tokens: Option<u64>,
}

/// One round trip to a model server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// The model and the server's host.
    pub server: String,
    /// What was asked for: `call`, `detect`, `fill`, `yes_no` or `wording`.
    pub stage: &'static str,
    /// As the server counted; where it does not count, estimated from the length of the text.
    pub usage: Usage,
    /// The answer was kept, or came to another turn that asked the same: it cost nothing, and `usage` is zero.
    pub cached: bool,
    /// Names of the repairs that its answer needed.
    pub repairs: Vec<&'static str>,
    pub violations: Vec<Violation>,
    /// Why the attempt gave no answer, if it gave none: `timeout`, `connect` ...; never the server's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<&'static str>,
    /// What was sent and what came back, as JSON, if it is recorded.
    #[serde(skip)]
    pub exchange: Option<Box<Exchange>>,
}

/// The content of one round trip.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// `messages`, `tools` and `response_format`, as the server gets them.
    pub request: Value,
    /// The `message` of the reply; `None` if none came.
    pub reply: Option<Value>,
}

/// See [the module](self).
#[derive(Debug)]
pub struct Ledger {
    /// Number of wrong answers that may still be sent back.
    retries: u32,
    deadline: Instant,
    /// True if the request has less time than the service allows.
    is_hurried: bool,
    /// Tokens that the request may use in all.
    tokens: u64,
    attempts: Vec<Attempt>,
    usage: Usage,
    llm_ms: f64,
    /// Whose request it is.
    owner: Owner,
    /// True if the content of each round trip is kept.
    keeps_words: bool,
}

impl Ledger {
    /// The module's values replace the service's (its deadline only if it is shorter); the request can only lower the
    /// result.
    #[must_use]
    pub fn new(server: Allowance, module: &LlmOverrides, request: BudgetOverrides, started: Instant) -> Self {
        let least = |allowed: u64, asked: Option<u64>| asked.map_or(allowed, |asked| asked.min(allowed));
        let retries = module.retries.unwrap_or(server.retries).min(MOST_RETRIES);
        // A module may ask for less time, but only the operator decides how long a client may wait.
        let allowed = least(server.deadline_ms, module.deadline_ms);
        let milliseconds = least(allowed, request.deadline_ms);
        Self {
            retries: request.retries.map_or(retries, |asked| asked.min(retries)),
            deadline: started + Duration::from_millis(milliseconds),
            is_hurried: milliseconds < allowed,
            tokens: least(module.tokens.unwrap_or(server.tokens), request.tokens),
            attempts: Vec::new(),
            usage: Usage::default(),
            llm_ms: 0.0,
            owner: Owner::Process,
            keeps_words: false,
        }
    }

    /// The same ledger for a request of this owner.
    #[must_use]
    pub fn of(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Keeps the content of each round trip if `keeps_words`.
    #[must_use]
    pub fn keeping_words(self, keeps_words: bool) -> Self {
        Self { keeps_words, ..self }
    }

    #[must_use]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// True if the request allowed itself less time than the service allows.
    #[must_use]
    pub const fn is_hurried(&self) -> bool {
        self.is_hurried
    }

    /// True once the time is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// All round trips, in the order in which they ended.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    #[must_use]
    pub fn into_attempts(self) -> Vec<Attempt> {
        self.attempts
    }

    /// Milliseconds spent waiting for model servers.
    #[must_use]
    pub const fn llm_ms(&self) -> f64 {
        self.llm_ms
    }

    /// Checks that enough tokens are left to send these requests for the first time.
    ///
    /// # Errors
    /// [`AskError::OverBudget`] if not.
    pub(crate) fn afford(&self, requests: &[ChatRequest]) -> Result<(), AskError> {
        let needed = requests.iter().map(estimate).fold(self.usage.total_tokens, u64::saturating_add);
        if needed > self.tokens { Err(AskError::OverBudget { needed, allowed: self.tokens }) } else { Ok(()) }
    }

    /// True if a retry, time and tokens are left to send this request again; then it is counted as one retry.
    pub(crate) fn may_retry(&mut self, request: &ChatRequest) -> bool {
        let may = self.retries > 0 && !self.is_over() && self.afford(std::slice::from_ref(request)).is_ok();
        self.retries -= u32::from(may);
        may
    }

    /// Adds time that was spent only on waiting for a model server.
    pub(crate) fn waited(&mut self, milliseconds: f64) {
        self.llm_ms += milliseconds;
    }

    /// Counts one round trip; returns the number under which [`Self::note`] finds it.
    pub(crate) fn count(
        &mut self,
        server: String,
        stage: &'static str,
        request: &ChatRequest,
        reply: &Result<ChatReply, LlmError>,
    ) -> usize {
        let usage = reply.as_ref().map(|reply| counted(request, reply)).unwrap_or_default();
        self.usage += usage;
        self.attempts.push(Attempt {
            server,
            stage,
            usage,
            cached: reply.as_ref().is_ok_and(|reply| reply.cached),
            repairs: Vec::new(),
            violations: Vec::new(),
            failure: reply.as_ref().err().map(LlmError::kind),
            exchange: self.keeps_words.then(|| {
                let (request, reply) = (llm::shown(request), reply.as_ref().ok().map(llm::shown_reply));
                Box::new(Exchange { request, reply })
            }),
        });
        self.attempts.len() - 1
    }

    /// Adds to an attempt what its answer turned out to be.
    pub(crate) fn note(&mut self, attempt: usize, repairs: Vec<&'static str>, violations: Vec<Violation>) {
        let Some(attempt) = self.attempts.get_mut(attempt) else { return };
        for repair in repairs {
            if !attempt.repairs.contains(&repair) {
                attempt.repairs.push(repair);
            }
        }
        attempt.violations.extend(violations);
    }
}

/// What a reply cost. For servers that do not count, an estimate is the best there is.
fn counted(request: &ChatRequest, reply: &ChatReply) -> Usage {
    if reply.usage != Usage::default() || reply.cached {
        return reply.usage;
    }
    let said = reply.content.as_ref().map_or(0, String::len)
        + reply.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>();
    let (prompt_tokens, completion_tokens) = (estimate(request), tokens(said));
    Usage { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

/// About how many tokens a request takes.
fn estimate(request: &ChatRequest) -> u64 {
    let message = |message: &Message| match message {
        Message::System(text) | Message::User(text) | Message::Tool { content: text, .. } => text.len(),
        Message::Assistant { content, tool_calls } => {
            content.as_ref().map_or(0, String::len)
                + tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
        }
    };
    let said: usize = request.messages.iter().map(message).sum();
    let shown: usize =
        request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + written(&tool.parameters)).sum();
    let schema = request.response_schema.as_ref().map_or(0, |(_, schema)| written(schema));
    tokens(said + shown + schema)
}

/// Bytes of a schema in the form in which it is sent.
fn written(schema: &serde_json::Value) -> usize {
    serde_json::to_vec(schema).map_or(0, |json| json.len())
}

/// Four bytes are about one token, in English and in JSON.
const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use crate::assist::ledger::*;

    const SERVER: Allowance = Allowance { retries: 2, deadline_ms: 1_000, tokens: 500 };

    #[test]
    fn a_module_chooses_and_a_request_only_lowers() {
        let now = Instant::now();
        let ledger = |module: LlmOverrides, request: BudgetOverrides| {
            let ledger = Ledger::new(SERVER, &module, request, now);
            (ledger.retries, (ledger.deadline - now).as_millis(), ledger.tokens)
        };
        assert_eq!(ledger(LlmOverrides::default(), BudgetOverrides::default()), (2, 1_000, 500));
        let module =
            LlmOverrides { retries: Some(99), deadline_ms: Some(9_000), tokens: Some(900), ..LlmOverrides::default() };
        assert_eq!(ledger(module.clone(), BudgetOverrides::default()), (10, 1_000, 900));
        let more = BudgetOverrides { retries: Some(20), deadline_ms: Some(20_000), tokens: Some(2_000) };
        assert_eq!(ledger(module.clone(), more), (10, 1_000, 900));
        let less = BudgetOverrides { retries: Some(0), deadline_ms: Some(10), tokens: Some(1) };
        assert_eq!(ledger(module, less), (0, 10, 1));
    }

    #[test]
    fn what_was_spent_is_no_longer_there() {
        let mut ledger = Ledger::new(SERVER, &LlmOverrides::default(), BudgetOverrides::default(), Instant::now());
        let request = ChatRequest::new(vec![Message::User("x".repeat(400))], ledger.deadline());
        let usage = Usage { prompt_tokens: 300, completion_tokens: 50, total_tokens: 350 };
        let reply = Ok(ChatReply { usage, ..ChatReply::default() });
        assert!(ledger.afford(std::slice::from_ref(&request)).is_ok());
        let attempt = ledger.count("s".to_owned(), "call", &request, &reply);
        ledger.note(attempt, vec!["a", "a"], Vec::new());
        assert_eq!((ledger.usage(), ledger.attempts()[0].repairs.as_slice()), (usage, ["a"].as_slice()));
        // 500 has room for 100 more, but not for 200 more.
        assert!(ledger.may_retry(&request));
        ledger.count("s".to_owned(), "call", &request, &Ok(ChatReply::default()));
        assert_eq!(ledger.usage().total_tokens, 450, "what is not counted is estimated");
        assert!(!ledger.may_retry(&request) && ledger.afford(&[request]).is_err());
        assert_eq!(ledger.retries, 1);
    }
}
