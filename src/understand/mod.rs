//! One turn, from utterance to outcome: the recipe that every route and command shares.
//!
//! Leaves never call each other; what one finds passes through here as a value, so that the [`Trace`] is complete by
//! construction.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
    time::Instant,
};

use serde::{Deserialize, Serialize};

pub(crate) mod ledger;
pub mod outcome;
mod replay;
pub mod request;
pub(crate) mod view;

pub use crate::{
    assist::history::Said,
    decide::expected::{Asked, Expected, Hint},
    dialogue::converse::Conversed,
};
pub use ledger::BudgetOverrides;
pub use outcome::{About, Attempt, DecidedBy, Frame, Outcome, Question, Segment, Timings, Trace, Turn};
pub use replay::{Replays, catch_up};
pub use view::{is_sensitive, open_frames, summary};

use crate::{
    assist::{
        exchange::{Exchange, Spent},
        guard,
        history::Heard,
        situation::{Brief, Decision, Situation},
        staged::Staged,
        structured::Structured,
        tools::Tools,
        yes_no::Replied,
    },
    decide::{
        calibration as belief,
        clauses::{self, Clause},
        local::Local,
        segments::{self as segment, Part},
    },
    embed::{EmbedError, Purpose, SharedEmbedder},
    llm::{self, Capabilities, LlmError, Server, Support},
    module::{
        FunctionId,
        settings::{Ask, Detect, Fill, StrategyName},
    },
    recognize::{Context, reply as yes_no},
    retrieve::{Query, values},
    snapshot::Snapshot,
    text::{self, Span, Utterance},
};
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
        let heard = Heard::new(&request.history);
        let seen = self.perceive(snapshot, request, &heard).await?;
        let decision =
            self.decide(self.strategy(snapshot, request), &self.situation(snapshot, request, &heard, &seen)).await?;
        Ok(seen.concluded(decision))
    }

    /// Recognizes, embeds and retrieves: everything that is known before anything is decided.
    pub(crate) async fn perceive(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        heard: &Heard<'_>,
    ) -> Result<Perceived, TurnError> {
        let mut seen = self.listen(snapshot, request)?;
        self.recognize(snapshot, &seen.utterance, &seen.now, &mut seen.trace);
        let language = snapshot.module.settings.language.as_deref().unwrap_or("en");
        // A text that speaks to the model must not be cut into one part that does and another that looks harmless.
        let is_one = request.single || request.given.is_some() || guard::is_command(seen.utterance.text());
        let clauses =
            if is_one { Vec::new() } else { clauses::clauses(&seen.utterance, language, &seen.trace.mentions) };
        let among = among(request);
        let pool = Pool { functions: among.as_deref(), expected: &request.expected };
        let parts =
            self.search(snapshot, pool, &seen.utterance, &clauses, self.options.candidates, &mut seen.trace).await?;
        if !parts.is_empty() {
            let clock = Instant::now();
            let segment = |part: &Part| Segment { span: part.span, candidates: part.candidates.clone() };
            seen.trace.clauses = parts.iter().map(segment).collect();
            let requests = segment::requests(&self.situation(snapshot, request, heard, &seen), parts);
            seen.trace.take_up(requests);
            seen.trace.is_doubtful = seen.trace.segments.len() == 1
                && segment::is_doubtful(&self.situation(snapshot, request, heard, &seen));
            seen.trace.timings.retrieve += milliseconds(clock);
        }
        Ok(seen)
    }

    /// An utterance of which nothing is known yet.
    pub(crate) fn listen(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Perceived, TurnError> {
        let started = Instant::now();
        Ok(Perceived {
            started,
            utterance: self.read(&request.utterance)?,
            now: self.now(snapshot, request),
            instructions: instructions(snapshot, request),
            budget: Budget::new(&self.options, &snapshot.module.settings.llm, request.budget, started.into()),
            trace: Trace::default(),
        })
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
        let mut trace = Trace::default();
        let utterance = self.read(&request.utterance)?;
        let now = self.now(snapshot, request);
        self.recognize(snapshot, &utterance, &now, &mut trace);
        let pool = Pool { functions: request.among.as_deref(), expected: &request.expected };
        self.search(snapshot, pool, &utterance, &[], limit, &mut trace).await?;
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
        let seen = self.listen(snapshot, &request)?;
        let settings = &snapshot.module.settings;
        let language = settings.language.as_deref().unwrap_or("en");
        let read = yes_no::read(language, question, seen.utterance.text());
        let mut answered = Answered::local(read);
        let is_sure = read.confidence >= settings.thresholds.sure.unwrap_or(self.options.sure);
        let is_local = strategy.or(settings.strategy).unwrap_or(self.options.strategy) == StrategyName::Local;
        // Without the question there is nothing to tell a model.
        let Some(question) = question.filter(|_| !is_sure && !is_local) else { return Ok(answered) };
        let heard = Heard::new(&request.history);
        let situation = self.situation(snapshot, &request, &heard, &seen);
        for (index, server) in self.servers.iter().enumerate() {
            let model = settings.llm.model.as_deref().filter(|_| index == 0);
            let exchange = Exchange::new(&situation, server, model, StrategyName::Staged);
            let said = Replied { question }.ask(&exchange).await;
            let spent = exchange.spent();
            answered.attempts.extend(spent.attempts);
            answered.usage += spent.usage;
            match said {
                Ok(answer) => {
                    let confidence = if answer == read.answer { belief::confirmed(read.confidence) } else { WITNESSED };
                    let whole = Some(Span::new(0, seen.utterance.len()));
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
            if situation.budget.is_over() {
                break;
            }
        }
        Ok(answered)
    }

    /// Who decides: the named strategy; for `auto` the local one if it is sure, else a model server by the strategy that
    /// it can do best, else the local one after all.
    async fn decide(&self, named: StrategyName, situation: &Situation<'_>) -> Result<Decision, TurnError> {
        match named {
            StrategyName::Local => Ok(Local.decide(situation)),
            StrategyName::Auto => self.auto(situation).await,
            asked @ (StrategyName::Tools | StrategyName::Structured | StrategyName::Staged) => {
                self.ask(Some(asked), situation).await.map_err(|(error, _)| error)
            }
        }
    }

    async fn auto(&self, situation: &Situation<'_>) -> Result<Decision, TurnError> {
        let mut local = Local.decide(situation);
        let sure = situation.sure();
        if local.confidence >= sure {
            local.notes.push(format!("decided locally: confidence {:.2} reaches {sure:.2}", local.confidence));
            return Ok(local);
        }
        if self.servers.is_empty() {
            local.notes.push("decided locally: no model server is configured".to_owned());
            return Ok(local);
        }
        match self.ask(None, situation).await {
            Ok(mut decision) => {
                let why =
                    format!("asked the model server: local confidence {:.2} is under {sure:.2}", local.confidence);
                decision.notes.insert(0, why);
                decision.decide_ms += local.decide_ms;
                Ok(decision)
            }
            Err((error, spent)) => {
                // A prompt that does not render is the author's to mend; answering around it would hide it.
                let Some(why) = error.why_not() else { return Err(error) };
                local.notes.push(format!("decided locally: {why}"));
                local.llm_ms = spent.llm_ms;
                local.usage = spent.usage;
                local.attempts = spent.attempts;
                Ok(local)
            }
        }
    }

    /// Asks the servers in turn until one answers, by the strategy that was named or else by the one that it does best.
    /// With the error comes what was spent.
    pub(crate) async fn ask(
        &self,
        named: Option<StrategyName>,
        situation: &Situation<'_>,
    ) -> Result<Decision, (TurnError, Spent)> {
        let mut spent = Spent::default();
        let mut failed = TurnError::NoModelServer(named.map_or("auto", StrategyName::name));
        for (index, server) in self.servers.iter().enumerate() {
            // A module names a model of the first server; the others have their own.
            let model = situation.snapshot.module.settings.llm.model.as_deref().filter(|_| index == 0);
            let strategy = match situation.given {
                // Of one function, one small question.
                Some(_) => StrategyName::Staged,
                None => named.unwrap_or_else(|| best_strategy(server.capabilities(model))),
            };
            let exchange = Exchange::new(situation, server, model, strategy);
            let decided = match strategy {
                StrategyName::Structured => Structured.decide(&exchange).await,
                StrategyName::Staged => Staged.decide(&exchange).await,
                StrategyName::Tools | StrategyName::Auto | StrategyName::Local => Tools.decide(&exchange).await,
            };
            match decided {
                Ok(verdict) => return Ok(exchange.decision(verdict, spent)),
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
                    if is_ours || situation.budget.is_over() {
                        break;
                    }
                }
            }
        }
        Err((failed, spent))
    }

    pub(crate) fn read(&self, said: &str) -> Result<Utterance, TurnError> {
        // Counted on what came, so that spans stay those of the client's own string.
        let length = said.chars().count();
        if length > self.options.max_utterance {
            return Err(TurnError::LongUtterance { length, limit: self.options.max_utterance });
        }
        // Control characters separate words as spaces do, one for one, so that spans stay.
        let text: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text::is_blank(&text) {
            return Err(TurnError::EmptyUtterance);
        }
        Ok(Utterance::new(&text))
    }

    pub(crate) fn now(&self, snapshot: &Snapshot, request: &TurnRequest) -> jiff::Zoned {
        request.now.clone().unwrap_or_else(|| {
            let zone = snapshot.module.settings.time_zone.as_deref().unwrap_or(&self.options.time_zone);
            let now = jiff::Timestamp::now();
            // Zone names are checked when the configuration and the module are loaded.
            now.in_tz(zone).unwrap_or_else(|_| now.to_zoned(jiff::tz::TimeZone::UTC))
        })
    }

    fn recognize(&self, snapshot: &Snapshot, utterance: &Utterance, now: &jiff::Zoned, trace: &mut Trace) {
        let clock = Instant::now();
        trace.mentions = snapshot.recognizers.recognize(utterance, &Context { now: now.clone() });
        trace.negations = snapshot.recognizers.negations(utterance, &trace.mentions);
        trace.timings.recognize = milliseconds(clock);
    }

    /// Embeds and retrieves: the candidates of the whole utterance, and of its clauses if there are several.
    async fn search(
        &self,
        snapshot: &Snapshot,
        Pool { functions: among, expected }: Pool<'_>,
        utterance: &Utterance,
        clauses: &[Clause],
        limit: usize,
        trace: &mut Trace,
    ) -> Result<Vec<Part>, TurnError> {
        let clock = Instant::now();
        let clauses = if clauses.len() > 1 { clauses } else { &[] };
        // All at once: a batch costs less than its texts one by one.
        let texts: Vec<&str> = std::iter::once(utterance.text())
            .chain(clauses.iter().map(|clause| utterance.slice(clause.span)))
            .collect();
        let symmetric = self.embed(&texts, Purpose::Symmetric).await?;
        let asymmetric =
            if self.embedder.is_symmetric() { None } else { Some(self.embed(&texts, Purpose::Query).await?) };
        trace.timings.embed = milliseconds(clock);

        let clock = Instant::now();
        let silent = expected.silent(&snapshot.module);
        let spans = std::iter::once(Span::new(0, utterance.len())).chain(clauses.iter().map(|clause| clause.span));
        let language = snapshot.module.settings.language.as_deref().unwrap_or("en");
        let words: Vec<Cow<'_, str>> =
            spans.map(|span| values::of_utterance(language, utterance, span, &trace.mentions)).collect();
        let mut found = words.iter().enumerate().map(|(index, text)| {
            let symmetric = &symmetric[index];
            let asymmetric = asymmetric.as_ref().map_or(symmetric, |vectors| &vectors[index]);
            let query = Query { text, asymmetric, symmetric };
            let search =
                |limit, among: Option<&[FunctionId]>| snapshot.index.search_without(&query, limit, among, &silent);
            let mut candidates = search(limit, among);
            // What was asked about is looked at, however little the words say of it.
            let unseen = expected.unseen(&candidates, among);
            candidates.extend(search(unseen.len(), Some(&unseen)));
            expected.prefer(&snapshot.module, &mut candidates);
            candidates
        });
        trace.candidates = found.next().unwrap_or_default();
        let parts = clauses.iter().zip(found);
        let parts = parts.map(|(&Clause { span, joined }, candidates)| Part { span, joined, candidates }).collect();
        let whole = Span::new(0, utterance.len());
        trace.segments = vec![Segment { span: whole, candidates: trace.candidates.clone() }];
        trace.timings.retrieve = milliseconds(clock);
        Ok(parts)
    }

    pub(crate) fn situation<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        request: &'a TurnRequest,
        heard: &'a Heard<'a>,
        seen: &'a Perceived,
    ) -> Situation<'a> {
        let brief = Brief {
            heard,
            language: request.language.as_deref(),
            is_meant: matches!(request.demand, Demand::Function(_)),
            is_demanded: request.demand != Demand::Auto,
            instructions: seen.instructions.as_deref(),
        };
        Situation {
            snapshot,
            utterance: &seen.utterance,
            brief,
            now: &seen.now,
            mentions: &seen.trace.mentions,
            negations: &seen.trace.negations,
            candidates: &seen.trace.candidates,
            segments: &seen.trace.segments,
            clauses: &seen.trace.clauses,
            is_doubtful: seen.trace.is_doubtful,
            options: &self.options,
            budget: seen.budget,
            is_explained: OnceLock::new(),
            given: request.given,
            expected: &request.expected,
            hints: &request.hints,
        }
    }

    /// One vector for each text.
    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.embedder.embed(texts.iter().map(|text| (*text).to_owned()).collect(), purpose).await?;
        if vectors.len() == texts.len() {
            return Ok(vectors);
        }
        Err(EmbedError::Inference(format!("{} vectors came back for {} texts", vectors.len(), texts.len())))
    }
}

/// What is known of an utterance before anything is decided.
pub(crate) struct Perceived {
    pub(crate) started: Instant,
    pub(crate) utterance: Utterance,
    pub(crate) now: jiff::Zoned,
    /// The module's and the client's.
    pub(crate) instructions: Option<String>,
    pub(crate) budget: Budget,
    pub(crate) trace: Trace,
}

impl Perceived {
    /// The turn that a decision makes of it.
    fn concluded(self, decision: Decision) -> Turn {
        let Self { started, mut trace, .. } = self;
        let Decision { outcome, confidence, decided_by, frames, attempts, notes, usage, decide_ms, llm_ms } = decision;
        trace.timings.decide = decide_ms;
        trace.timings.llm = llm_ms;
        trace.timings.total = milliseconds(started);
        trace.attempts = attempts;
        trace.notes = notes;
        if trace.is_doubtful {
            trace.notes.push("the utterance may ask for more than one thing".to_owned());
        }
        Turn { outcome, confidence, decided_by, frames, trace, usage, pending: None }
    }
}

/// What is looked through for what may be meant.
#[derive(Clone, Copy)]
struct Pool<'a> {
    /// All if `None`.
    functions: Option<&'a [FunctionId]>,
    expected: &'a Expected,
}

/// The functions that may be chosen: those of the client, and of them the one that it demands.
fn among(request: &TurnRequest) -> Option<Vec<FunctionId>> {
    match (request.demand, request.given) {
        (Demand::Function(function), _) | (_, Some(function)) => Some(vec![function]),
        _ => request.among.clone(),
    }
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

impl Trace {
    /// Several requests take the place of the whole utterance as one; none at all leave it as it is.
    fn take_up(&mut self, requests: Vec<Segment>) {
        if requests.is_empty() {
            return;
        }
        for candidate in requests.iter().flat_map(|request| request.candidates.iter()) {
            if !self.candidates.iter().any(|known| known.function == candidate.function) {
                self.candidates.push(candidate.clone());
            }
        }
        self.segments = requests;
    }
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
