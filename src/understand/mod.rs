//! One turn, from utterance to outcome: the recipe that every route and command shares.
//!
//! Leaves never call each other; what one finds passes through here as a value, so that the [`Trace`] is complete by
//! construction.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use serde::{Deserialize, Serialize};

pub(crate) mod analysis;
mod converse;
pub(crate) mod ledger;
pub mod outcome;
mod replay;
pub mod request;
pub(crate) mod view;
mod wording;

pub use crate::{
    assist::history::Said,
    decide::expected::{Asked, Expected, Hint},
};
pub use converse::Conversed;
pub use ledger::BudgetOverrides;
pub use outcome::{About, Alternative, Attempt, DecidedBy, Frame, Outcome, Question, Segment, Timings, Trace, Turn};
pub use replay::{Replays, catch_up};
pub use view::{is_sensitive, open_frames, summary};

use crate::{
    assist::{
        brief::{Brief, Extent},
        exchange::{Decided, Exchange, Spent},
        history::{Heard, Line},
        staged::Staged,
        structured::Structured,
        tools::Tools,
        yes_no::Replied,
    },
    decide::{
        analysis::Analysis,
        calibration as belief, local, outcome as decide,
        segments::Requests,
        situation::{Situation, Thresholds},
    },
    dialogue::question,
    embed::{EmbedError, SharedEmbedder},
    llm::{self, Capabilities, LlmError, Server, Support},
    module::{
        FunctionId, Module,
        settings::{Ask, Detect, Fill, StrategyName},
    },
    recognize::reply as yes_no,
    snapshot::Snapshot,
    text::{self, Span},
};
use analysis::Analysed;
use ledger::Budget;

/// How the server understands where a module does not say otherwise.
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

/// How the strategy `staged` goes about its stages.
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
            sure: 0.75,
            in_scope: 0.35,
            candidates: 8,
            shots: 6,
            max_utterance: 8_000,
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

/// One utterance to understand.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    pub utterance: String,
    pub strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read; now, in the module's time zone, if absent.
    pub now: Option<jiff::Zoned>,
    /// Only these functions may be chosen; all if `None`.
    pub among: Option<Vec<FunctionId>>,
    /// What this turn may spend on a model server; never more than server and module allow.
    pub budget: BudgetOverrides,
    /// The function is known, and only its slots are to be found; then nothing is out of scope.
    pub given: Option<FunctionId>,
    /// What was just asked for, if the utterance may be an answer.
    pub expected: Expected,
    /// What somebody else's recognizers found.
    pub hints: Vec<Hint>,
    /// The conversation before, oldest first.
    pub history: Vec<Said>,
    /// What the client's developer tells a model server, behind the module's own instructions.
    pub instructions: Option<String>,
    pub demand: Demand,
    /// The utterance is about one thing: it is not taken apart into several requests.
    pub single: bool,
    /// BCP 47 language in which questions are worded; the module's if `None`.
    pub language: Option<String>,
}

/// Whether there must be a call. What was not said is asked for all the same: nothing is ever made up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Demand {
    /// If something is meant.
    #[default]
    Auto,
    /// Something is meant: where it is not clear what, that is a question.
    Required,
    /// This function is meant, and no other.
    Function(FunctionId),
}

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
    Llm(#[from] LlmError),
}

impl TurnError {
    /// Why no model server was of help, without a word of its own; `None` if something else is wrong.
    pub(crate) fn why_not(&self) -> Option<String> {
        match self {
            Self::Llm(error) => Some(format!("the model server failed ({})", error.kind())),
            Self::OverBudget { .. } => Some(self.to_string()),
            _ => None,
        }
    }
}

/// What was replied to a yes-or-no question, and what it cost to find out.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub reply: yes_no::Reply,
    /// No model server had a say.
    pub is_local: bool,
    pub attempts: Vec<Attempt>,
    pub usage: llm::Usage,
}

impl Answered {
    /// Read without a model server.
    pub(crate) const fn local(reply: yes_no::Reply) -> Self {
        let usage = llm::Usage { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
        Self { reply, is_local: true, attempts: Vec::new(), usage }
    }
}

/// How sure a model server's answer is that the local one does not share.
const WITNESSED: f32 = 0.75;

/// Holds what turns share; cheap to clone.
#[derive(Clone)]
pub struct Understander {
    pub(crate) options: Arc<UnderstandOptions>,
    embedder: SharedEmbedder,
    /// The preferred one first.
    pub(crate) servers: Arc<[Server]>,
}

impl Understander {
    /// `servers` are model servers, the preferred one first; the next is asked where one fails.
    #[must_use]
    pub fn new(options: UnderstandOptions, embedder: SharedEmbedder, servers: Vec<Server>) -> Self {
        Self { options: options.into(), embedder, servers: servers.into() }
    }

    /// The same with these model servers in place of its own.
    #[must_use]
    pub fn with_servers(&self, servers: Vec<Server>) -> Self {
        Self { servers: servers.into(), ..self.clone() }
    }

    /// Understands one utterance by itself, after what was said before it. What a conversation makes of it is
    /// [`Self::converse`]'s.
    ///
    /// # Errors
    /// See [`TurnError`]; an utterance that means no function is an [`Outcome`], not an error.
    pub async fn turn(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Turn, TurnError> {
        let started = Instant::now();
        let heard = Heard::new(&request.history);
        let Analysed { analysis, mut took } = self.analyse(snapshot, request).await?;
        let clock = Instant::now();
        let whole = self.situation(snapshot, request, &heard.earlier, &analysis);
        let requests = Requests::find(&whole);
        let situation = whole.with(&requests);
        took.retrieve += milliseconds(clock);
        let trace = Trace::new(&situation, took);
        let budget = Budget::new(&self.options, &snapshot.module.settings.llm, request.budget, started.into());
        let brief = self.brief(snapshot, request, situation, &heard.before, budget);
        let decided = self.decide(self.strategy(snapshot, request), &brief).await?;
        let mut turn = concluded(&snapshot.module, request.language.as_deref(), trace, decided);
        turn.trace.timings.total = milliseconds(started);
        Ok(turn)
    }

    /// Who decides: as the request, else the module, else the server says.
    pub(crate) fn strategy(&self, snapshot: &Snapshot, request: &TurnRequest) -> StrategyName {
        request.strategy.or(snapshot.module.settings.strategy).unwrap_or(self.options.strategy)
    }

    /// The functions that the utterance may mean, best first, at most `limit`; nothing is decided.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub async fn retrieve(&self, snapshot: &Snapshot, request: &TurnRequest, limit: usize) -> Result<Trace, TurnError> {
        let started = Instant::now();
        let request = TurnRequest { single: true, ..request.clone() };
        let Analysed { analysis, took } = self.analyse_with(snapshot, &request, limit).await?;
        let mut trace = Trace::new(&self.situation(snapshot, &request, &[], &analysis), took);
        trace.timings.total = milliseconds(started);
        Ok(trace)
    }

    /// What `reply` says to a yes-or-no question: read locally, and by a model server where that leaves doubt, if one is
    /// configured and the strategy lets it be asked. The local answer stands if none answers.
    ///
    /// # Errors
    /// See [`TurnError`], of which what has to do with model servers is none here, but for prompts that do not render.
    pub async fn yes_no(
        &self,
        snapshot: &Snapshot,
        question: Option<&str>,
        reply: &str,
        strategy: Option<StrategyName>,
        budget: BudgetOverrides,
    ) -> Result<Answered, TurnError> {
        let request = TurnRequest { utterance: reply.to_owned(), budget, ..TurnRequest::default() };
        let analysis = self.recognize(snapshot, &request)?;
        let settings = &snapshot.module.settings;
        let read = yes_no::read(snapshot.module.language(), question, analysis.utterance.text());
        let mut answered = Answered::local(read);
        let is_sure = read.confidence >= settings.thresholds.sure.unwrap_or(self.options.sure);
        let is_local = strategy.or(settings.strategy).unwrap_or(self.options.strategy) == StrategyName::Local;
        // Without the question there is nothing to tell a model.
        let Some(question) = question.filter(|_| !is_sure && !is_local) else { return Ok(answered) };
        let situation = self.situation(snapshot, &request, &[], &analysis);
        let budget = Budget::new(&self.options, &settings.llm, request.budget, tokio::time::Instant::now());
        let brief = self.brief(snapshot, &request, situation, &[], budget);
        for (index, server) in self.servers.iter().enumerate() {
            let model = settings.llm.model.as_deref().filter(|_| index == 0);
            let exchange = Exchange::new(&brief, server, model, StrategyName::Staged);
            let said = Replied { question }.ask(&exchange).await;
            let spent = exchange.spent();
            answered.attempts.extend(spent.attempts);
            answered.usage += spent.usage;
            match said {
                Ok(answer) => {
                    let confidence = if answer == read.answer { belief::confirmed(read.confidence) } else { WITNESSED };
                    let whole = Some(Span::new(0, analysis.utterance.len()));
                    let rest = if answer == yes_no::YesNo::Irrelevant { whole } else { read.rest };
                    answered.reply = yes_no::Reply { answer, confidence, rest };
                    answered.is_local = false;
                    break;
                }
                Err(TurnError::Llm(error)) => {
                    tracing::warn!(server = %server.describe(), %error, "the model server was no help");
                }
                Err(TurnError::OverBudget { .. }) => break,
                Err(error) => return Err(error),
            }
            if brief.budget.is_over() {
                break;
            }
        }
        Ok(answered)
    }

    /// Who decides: the named strategy; for `auto` the local one if it is sure, else a model server by the strategy that
    /// it can do best, else the local one after all.
    async fn decide(&self, named: StrategyName, brief: &Brief<'_>) -> Result<Decided, TurnError> {
        match named {
            StrategyName::Local => Ok(locally(brief)),
            StrategyName::Auto => self.auto(brief).await,
            asked @ (StrategyName::Tools | StrategyName::Structured | StrategyName::Staged) => {
                self.ask(Some(asked), brief).await.map_err(|(error, _)| error)
            }
        }
    }

    async fn auto(&self, brief: &Brief<'_>) -> Result<Decided, TurnError> {
        let mut local = locally(brief);
        let (confidence, sure) = (local.decision.confidence, brief.thresholds.sure);
        if confidence >= sure {
            local.decision.notes.push(format!("decided locally: confidence {confidence:.2} reaches {sure:.2}"));
            return Ok(local);
        }
        if self.servers.is_empty() {
            local.decision.notes.push("decided locally: no model server is configured".to_owned());
            return Ok(local);
        }
        match self.ask(None, brief).await {
            Ok(mut decided) => {
                let why = format!("asked the model server: local confidence {confidence:.2} is under {sure:.2}");
                decided.decision.notes.insert(0, why);
                decided.decide_ms += local.decide_ms;
                Ok(decided)
            }
            Err((error, spent)) => {
                // A prompt that does not render is the author's to mend; answering around it would hide it.
                let Some(why) = error.why_not() else { return Err(error) };
                local.decision.notes.push(format!("decided locally: {why}"));
                local.spent = spent;
                Ok(local)
            }
        }
    }

    /// Asks the servers in turn until one answers, by the strategy that was named or else by the one that it does best.
    /// With the error comes what was spent.
    pub(crate) async fn ask(
        &self,
        named: Option<StrategyName>,
        brief: &Brief<'_>,
    ) -> Result<Decided, (TurnError, Spent)> {
        let mut spent = Spent::default();
        let mut failed = TurnError::NoModelServer(named.map_or("auto", StrategyName::name));
        for (index, server) in self.servers.iter().enumerate() {
            // A module names a model of the first server; the others have their own.
            let model = brief.snapshot.module.settings.llm.model.as_deref().filter(|_| index == 0);
            let strategy = match brief.given {
                // Of one function, one small question.
                Some(_) => StrategyName::Staged,
                None => named.unwrap_or_else(|| best_strategy(server.capabilities(model))),
            };
            let exchange = Exchange::new(brief, server, model, strategy);
            let decided = match strategy {
                StrategyName::Structured => Structured.decide(&exchange).await,
                StrategyName::Staged => Staged.decide(&exchange).await,
                StrategyName::Tools | StrategyName::Auto | StrategyName::Local => Tools.decide(&exchange).await,
            };
            match decided {
                Ok(verdict) => return Ok(exchange.decided(verdict, spent)),
                Err(error) => {
                    let is_ours = match &error {
                        TurnError::Llm(error) => {
                            tracing::warn!(server = %server.describe(), %error, "the model server was no help");
                            false
                        }
                        _ => true,
                    };
                    spent.add(exchange.spent());
                    failed = error;
                    if is_ours || brief.budget.is_over() {
                        break;
                    }
                }
            }
        }
        Err((failed, spent))
    }

    /// The utterance as one request.
    pub(crate) fn situation<'a>(
        &self,
        snapshot: &'a Snapshot,
        request: &'a TurnRequest,
        earlier: &'a [&'a str],
        analysis: &'a Analysis,
    ) -> Situation<'a> {
        let own = snapshot.module.settings.thresholds;
        Situation {
            knowledge: snapshot,
            analysis,
            segments: std::slice::from_ref(&analysis.whole),
            is_doubtful: false,
            thresholds: Thresholds {
                sure: own.sure.unwrap_or(self.options.sure),
                in_scope: own.in_scope.unwrap_or(self.options.in_scope),
            },
            earlier,
            is_meant: matches!(request.demand, Demand::Function(_)),
            is_demanded: request.demand != Demand::Auto,
            given: request.given,
            expected: &request.expected,
            hints: &request.hints,
        }
    }

    /// What a model server may be told of it.
    pub(crate) fn brief<'a>(
        &self,
        snapshot: &'a Snapshot,
        request: &TurnRequest,
        situation: Situation<'a>,
        before: &'a [Line],
        budget: Budget,
    ) -> Brief<'a> {
        let (own, options) = (&snapshot.module.settings, &self.options);
        let extent = Extent {
            candidates: own.llm.candidates.unwrap_or(options.candidates),
            shots: own.llm.shots.unwrap_or(options.shots),
            detect: own.staged.detect.unwrap_or(options.staged.detect),
            fill: own.staged.fill.unwrap_or(options.staged.fill),
        };
        let instructions = instructions(snapshot, request);
        Brief { situation, snapshot, before, instructions, extent, budget, is_explained: OnceLock::new() }
    }
}

/// Decides without a model server.
fn locally(brief: &Brief<'_>) -> Decided {
    let clock = Instant::now();
    let decision = local::decide(brief);
    Decided { decision, decided_by: DecidedBy::Local, spent: Spent::default(), decide_ms: milliseconds(clock) }
}

/// The turn that a decision makes, in words.
fn concluded(module: &Module, language: Option<&str>, mut trace: Trace, decided: Decided) -> Turn {
    let Decided { decision, decided_by, spent, decide_ms } = decided;
    let decide::Decision { outcome, confidence, frames, notes, alternatives } = decision;
    let outcome = match outcome {
        decide::Outcome::Call(calls) => Outcome::Call(calls),
        decide::Outcome::Ask(about) => Outcome::Ask(question::worded(module, language, about, &frames)),
        decide::Outcome::NoMatch => Outcome::NoMatch,
    };
    trace.timings.decide = decide_ms;
    trace.timings.llm = spent.llm_ms;
    trace.attempts = spent.attempts;
    trace.notes = notes;
    trace.alternatives = alternatives;
    if trace.is_doubtful {
        trace.notes.push("the utterance may ask for more than one thing".to_owned());
    }
    Turn { outcome, confidence, decided_by, frames, trace, usage: spent.usage, pending: None }
}

/// The module's, then the client's.
fn instructions(snapshot: &Snapshot, request: &TurnRequest) -> Option<String> {
    let parts = [snapshot.module.settings.instructions.as_deref(), request.instructions.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !text::is_blank(part)).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The strategy that a server does best, by what was found; native function calling where nothing is known yet.
#[must_use]
pub fn best_strategy(found: Option<Capabilities>) -> StrategyName {
    let Some(found) = found else { return StrategyName::Tools };
    match (found.tools, found.strict, found.json_schema) {
        (Support::Kept, Support::Kept, _) => StrategyName::Tools,
        (_, _, Support::Kept) => StrategyName::Structured,
        (Support::Kept, _, _) => StrategyName::Tools,
        // Nothing is forced and nothing is called: ask for little at a time.
        _ => StrategyName::Staged,
    }
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
