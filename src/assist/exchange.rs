//! A conversation with one model server about one utterance: ask, read, judge, and ask again with what was wrong, until
//! the answer is right or the turn's budget is spent.
//!
//! What the strategies differ in is a [`Form`]: what is asked, and how the answer is read.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use futures::future::join_all;
use serde_json::{Map, Value};

use crate::{
    assist::{
        brief::Brief,
        guard,
        judge::{self, Judged},
        prompt,
    },
    call::{Call, Violation, ViolationKind},
    decide::{
        calibration as belief, local,
        outcome::{About, Decision, Frame, Outcome},
    },
    llm::{Capabilities, ChatReply, ChatRequest, LlmError, Message, Server, ToolCall, Usage},
    module::{FunctionId, settings::StrategyName},
    understand::{Attempt, DecidedBy, TurnError, milliseconds},
};

/// Characters of a model's own words that are sent back to it.
const LONGEST_QUOTE: usize = 2_000;
/// A model server that names a function which retrieval finds this unlikely, while it finds another one this likely, is
/// asked about rather than believed: so far apart, one of the two was misled by the words.
const UNLIKELY: f32 = 0.02;
const LIKELY: f32 = 0.9;

/// What was spent on model servers.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    pub attempts: Vec<Attempt>,
    pub usage: Usage,
    /// Milliseconds of waiting.
    pub llm_ms: f64,
    /// Answers that were sent back with what was wrong.
    retries: u32,
}

impl Spent {
    pub(crate) fn add(&mut self, other: Self) {
        self.attempts.extend(other.attempts);
        self.usage += other.usage;
        self.llm_ms += other.llm_ms;
    }
}

/// A decision, with who made it and what it cost.
#[derive(Debug)]
pub(crate) struct Decided {
    pub decision: Decision,
    pub decided_by: DecidedBy,
    pub spent: Spent,
    /// Milliseconds of our own work.
    pub decide_ms: f64,
}

/// See [the module](self).
pub(crate) struct Exchange<'a> {
    pub(crate) brief: &'a Brief<'a>,
    server: &'a Server,
    model: Option<&'a str>,
    strategy: StrategyName,
    clock: Instant,
    spent: Mutex<Spent>,
}

/// One thing to ask, and how its answer is read.
pub(crate) trait Form {
    type Answer;

    /// As traces call it: `call`, `detect` or `fill`.
    const STAGE: &'static str;

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, TurnError>;

    /// Pure.
    fn read(&self, exchange: &Exchange<'_>, reply: &ChatReply) -> Read<Self::Answer>;

    /// Of two answers with something wrong in them the one that is worth more is kept, the later one of two equal ones.
    fn worth(_answer: &Self::Answer) -> (usize, usize) {
        (0, 0)
    }
}

/// A reply as a [`Form`] reads it.
#[derive(Debug)]
pub(crate) struct Read<T> {
    /// `None` if nothing could be made of the reply.
    pub answer: Option<T>,
    /// What the model should put right; empty if it can do no better.
    pub complaints: Vec<Violation>,
    /// For the trace: everything that was wrong, also what is no use to complain about, and what was repaired.
    pub told: Vec<Violation>,
    pub repairs: Vec<&'static str>,
}

impl<T> Read<T> {
    pub(crate) fn settled(answer: T, repairs: Vec<&'static str>) -> Self {
        Self { answer: Some(answer), complaints: Vec::new(), told: Vec::new(), repairs }
    }

    /// Nothing could be made out; `expected` says what would have been right.
    pub(crate) fn unreadable(expected: impl Into<String>) -> Self {
        let violation = Violation {
            kind: ViolationKind::Type,
            path: String::new(),
            found: None,
            expected: expected.into(),
            readings: Vec::new(),
        };
        Self { answer: None, complaints: vec![violation.clone()], told: vec![violation], repairs: Vec::new() }
    }
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(
        brief: &'a Brief<'a>,
        server: &'a Server,
        model: Option<&'a str>,
        strategy: StrategyName,
    ) -> Self {
        Self { brief, server, model, strategy, clock: Instant::now(), spent: Mutex::default() }
    }

    pub(crate) fn spent(self) -> Spent {
        self.spent.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The decision with everything that was spent, here and on servers before.
    pub(crate) fn decided(self, decision: Decision, mut before: Spent) -> Decided {
        let took = milliseconds(self.clock);
        let decided_by = match self.strategy {
            StrategyName::Structured => DecidedBy::Structured,
            StrategyName::Staged => DecidedBy::Staged,
            StrategyName::Auto | StrategyName::Local | StrategyName::Tools => DecidedBy::Tools,
        };
        let spent = self.spent();
        let decide_ms = (took - spent.llm_ms).max(0.0);
        before.add(spent);
        Decided { decision, decided_by, spent: before, decide_ms }
    }

    /// What the server is known to do.
    pub(crate) fn capabilities(&self) -> Option<Capabilities> {
        self.server.capabilities(self.model)
    }

    /// A request with the module's settings and the turn's deadline.
    pub(crate) fn request(&self, messages: Vec<Message>) -> ChatRequest {
        let settings = &self.brief.snapshot.module.settings.llm;
        ChatRequest {
            model: self.model.map(str::to_owned),
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            scope: Some(self.brief.snapshot.module.version.as_str().into()),
            ..ChatRequest::new(messages, self.brief.budget.deadline)
        }
    }

    /// Asks all at the same time; an answer for each, in their order. The waiting counts once.
    pub(crate) async fn ask_all(
        &self,
        stage: &'static str,
        requests: Vec<ChatRequest>,
    ) -> Vec<Result<(usize, ChatReply), LlmError>> {
        let waited = Instant::now();
        let replies = join_all(requests.iter().map(|request| self.server.chat().complete(request.clone()))).await;
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.llm_ms += milliseconds(waited);
        let mut all = Vec::with_capacity(replies.len());
        for (mut reply, request) in replies.into_iter().zip(&requests) {
            if let Ok(reply) = &mut reply
                && reply.usage == Usage::default()
                && !reply.cached
            {
                let said = reply.content.as_ref().map_or(0, String::len)
                    + reply.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>();
                let (prompt, completion) = (estimate(request), tokens(said));
                reply.usage =
                    Usage { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
            }
            let usage = reply.as_ref().map(|reply| reply.usage).unwrap_or_default();
            spent.usage += usage;
            spent.attempts.push(Attempt {
                server: self.server.describe(),
                stage,
                usage,
                cached: reply.as_ref().is_ok_and(|reply| reply.cached),
                repairs: Vec::new(),
                violations: Vec::new(),
                failure: reply.as_ref().err().map(LlmError::kind),
            });
            let index = spent.attempts.len() - 1;
            all.push(reply.map(|reply| (index, reply)));
        }
        all
    }

    pub(crate) async fn ask(&self, stage: &'static str, request: ChatRequest) -> Result<(usize, ChatReply), LlmError> {
        // One request, one answer.
        self.ask_all(stage, vec![request]).await.pop().unwrap_or(Err(LlmError::Timeout))
    }

    /// Adds to the trace what became of an attempt's answer.
    pub(crate) fn note(&self, attempt: usize, repairs: Vec<&'static str>, violations: Vec<Violation>) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(attempt) = spent.attempts.get_mut(attempt) {
            for repair in repairs {
                if !attempt.repairs.contains(&repair) {
                    attempt.repairs.push(repair);
                }
            }
            attempt.violations.extend(violations);
        }
    }

    /// Whether tokens are left to ask these for the first time.
    ///
    /// # Errors
    /// [`TurnError::OverBudget`] if not.
    pub(crate) fn afford(&self, requests: &[ChatRequest]) -> Result<(), TurnError> {
        let allowed = self.brief.budget.tokens;
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner).usage.total_tokens;
        let needed = requests.iter().map(estimate).fold(spent, u64::saturating_add);
        if needed > allowed { Err(TurnError::OverBudget { needed, allowed }) } else { Ok(()) }
    }

    /// Whether a retry, time and tokens are left to ask this again; counts it as one retry.
    pub(crate) fn may_retry(&self, request: &ChatRequest) -> bool {
        let budget = &self.brief.budget;
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let affordable = spent.usage.total_tokens.saturating_add(estimate(request)) <= budget.tokens;
        let may = spent.retries < budget.retries && affordable && !budget.is_over();
        spent.retries += u32::from(may);
        may
    }

    /// The loop that all strategies share: the first answer that nothing is wrong with, else the best one.
    ///
    /// # Errors
    /// If no reply came, or nothing could be made of any.
    pub(crate) async fn converse<F: Form>(&self, form: &F) -> Result<F::Answer, TurnError> {
        let mut request = form.request(self)?;
        self.afford(std::slice::from_ref(&request))?;
        let mut best: Option<F::Answer> = None;
        loop {
            let (index, reply) = match self.ask(F::STAGE, request.clone()).await {
                Ok(answer) => answer,
                // What was understood before the server failed is still worth something.
                Err(error) => return best.ok_or_else(|| error.into()),
            };
            let Read { answer, complaints, told, repairs } = form.read(self, &reply);
            self.note(index, repairs, told);
            if let Some(answer) = answer
                && best.as_ref().is_none_or(|best| F::worth(&answer) >= F::worth(best))
            {
                best = Some(answer);
            }
            if complaints.is_empty() {
                break;
            }
            self.answer_back(&mut request, reply, &complaints)?;
            if !self.may_retry(&request) {
                break;
            }
        }
        best.ok_or_else(|| LlmError::Malformed("no reply held a usable answer".to_owned()).into())
    }

    /// Adds the model's own answer and what was wrong with it, so that no request is ever sent twice.
    pub(crate) fn answer_back(
        &self,
        request: &mut ChatRequest,
        reply: ChatReply,
        violations: &[Violation],
    ) -> Result<(), TurnError> {
        let complaint = prompt::retry(&self.brief.snapshot.module, violations)?;
        let mut messages = request.messages.to_vec();
        let calls: Vec<ToolCall> = reply.tool_calls;
        if calls.is_empty() || request.tools.is_empty() {
            let said = reply.content.or_else(|| calls.into_iter().next().map(|call| call.arguments));
            let said = said.unwrap_or_default().chars().take(LONGEST_QUOTE).collect();
            messages.push(Message::Assistant { content: Some(said), tool_calls: Vec::new() });
            messages.push(Message::User(complaint));
            request.messages = messages.into();
            return Ok(());
        }
        let place = messages.len();
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .enumerate()
            .map(|(index, mut call)| {
                if call.id.is_empty() {
                    call.id = format!("call_{place}_{index}");
                }
                // A server that reads the arguments back must find JSON there, whatever the model wrote.
                if serde_json::from_str::<Map<String, Value>>(&call.arguments).is_err() {
                    call.arguments = "{}".to_owned();
                }
                call
            })
            .collect();
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        messages.push(Message::Assistant { content: None, tool_calls: calls });
        // Each call must have its answer, or servers refuse the conversation.
        messages.extend(ids.into_iter().map(|id| Message::Tool { id, content: complaint.clone() }));
        request.messages = messages.into();
        Ok(())
    }

    pub(crate) fn nothing(&self) -> Decision {
        if self.brief.is_demanded {
            let mut decision = local::decide(self.brief);
            let note = "the model server chose no function, and the client wants one: decided locally";
            decision.notes.push(note.to_owned());
            return decision;
        }
        let confidence = belief::confirmed(1.0 - self.brief.scope());
        Decision {
            outcome: Outcome::NoMatch,
            confidence,
            frames: Vec::new(),
            notes: Vec::new(),
            alternatives: Vec::new(),
        }
    }

    /// A call if everything is valid and complete, else the next question; of no calls at all, that nothing fits.
    pub(crate) fn verdict(&self, judged: Vec<Judged>) -> Decision {
        if judged.is_empty() {
            return self.nothing();
        }
        let judged = judge::in_order(self.brief, judged);
        let confidence = judged.iter().map(|one| one.frame.confidence).product();
        let doubted = judged.iter().find_map(|one| self.doubt(&one.frame));
        let (frames, calls): (Vec<Frame>, Vec<Option<Call>>) =
            judged.into_iter().map(|one| (one.frame, one.call)).unzip();
        if let Some((functions, note)) = doubted {
            let outcome = Outcome::Ask(About::Tie { functions });
            return Decision { outcome, confidence, frames, notes: vec![note.to_owned()], alternatives: Vec::new() };
        }
        let refused = frames.iter().find_map(|frame| Some((frame.function, self.brief.refusal(frame.function)?)));
        if let Some((function, note)) = refused {
            let outcome = Outcome::Ask(About::Tie { functions: vec![function] });
            return Decision { outcome, confidence, frames, notes: vec![note], alternatives: Vec::new() };
        }
        let outcome = match calls.into_iter().collect::<Option<Vec<Call>>>() {
            Some(calls) if !calls.is_empty() => Outcome::Call(calls),
            _ => match frames.iter().find_map(Frame::asks) {
                Some(about) => Outcome::Ask(about),
                // What is no call always lacks something, and for that there is a question.
                None => Outcome::NoMatch,
            },
        };
        Decision { outcome, confidence, frames, notes: Vec::new(), alternatives: Vec::new() }
    }

    /// The functions to ask about, and why, if a model's choice is one that retrieval all but rules out, or one that a
    /// text speaking to the model may have brought about.
    fn doubt(&self, frame: &Frame) -> Option<(Vec<FunctionId>, &'static str)> {
        let (brief, chosen) = (self.brief, frame.function);
        let best = brief.candidates().first()?.function;
        let mut functions = vec![best, chosen];
        functions.dedup();
        if guard::distrusts(brief, chosen, brief.utterance().slice(frame.segment)) {
            return Some((functions, "a text speaks to the model, and retrieval alone does not choose the same"));
        }
        if brief.segments.len() > 1 || brief.retrieved(chosen) > UNLIKELY {
            return None;
        }
        let note = "the model server chose what retrieval finds very unlikely";
        (brief.retrieved(best) >= LIKELY).then_some((functions, note))
    }
}

/// About how many tokens a request takes: servers that do not count leave us nothing better.
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

/// Bytes of a schema as it is sent.
fn written(schema: &Value) -> usize {
    serde_json::to_vec(schema).map_or(0, |json| json.len())
}

/// Four bytes are about one token, in English and in JSON.
const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
