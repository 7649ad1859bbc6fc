//! One turn, from utterance to outcome: the recipe that every route and command shares.
//!
//! | file | holds |
//! |---|---|
//! | `mod` | the recipe of a single turn |
//! | `analysis` | what is known of an utterance before a decision |
//! | `deciding` | who decides: the local strategy, or a model server |
//! | `converse` | the recipe of a turn of a conversation |
//! | `front` | a model server's text if no function is meant |
//! | `calibrate` | how sure a module's answers are, by its own exemplars |
//! | `told` | replies about the results of calls |
//! | `acted` | a turn after its calls were made here |
//! | `cores` | runs the computing stages of turns |
//! | `wording` | a question in the words of a model server |
//! | `yes_no` | what a reply says to a yes-or-no question |
//! | `replay` | a conversation that exists only in its messages |
//! | `request`, `options`, `error`, `outcome`, `view` | inputs and outputs |
//!
//! Leaves never call each other; their results pass through here as values, so that the [`Trace`] is complete by
//! construction.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

mod acted;
pub(crate) mod analysis;
mod calibrate;
mod converse;
mod cores;
mod deciding;
mod error;
mod front;
mod options;
pub mod outcome;
mod replay;
pub mod request;
mod told;
pub(crate) mod view;
mod wording;
mod yes_no;

pub use crate::{
    assist::{
        history::HistoryMessage,
        ledger::{Attempt, BudgetOverrides},
        strategy::{DecidedBy, best_strategy},
    },
    decide::{
        candidates::SlotProposal,
        expected::{AskedItem, Expected, Hint},
        explanation::Explanation,
        outcome::{Alternative, Frame},
    },
    dialogue::{
        outcome::{HandoffReason, Outcome, Question},
        result::CallResult,
    },
};
pub use acted::{acted, interrupted, own_calls};
pub use converse::Conversed;
pub use error::TurnError;
pub use front::Front;
pub use options::{StagedOptions, UnderstandOptions};
pub use outcome::{Segment, Timings, Trace, Turn};
pub use replay::{Replays, catch_up};
pub use request::{Demand, TurnRequest};
pub use told::{told, understood};
pub use view::{is_sensitive, open_frames, summary};
pub use yes_no::Answered;

use crate::{
    assist::{ask::Decided, history::EarlierMessages, ledger::Ledger},
    decide::{
        explanation::explain,
        outcome as decide,
        situation::{Requests, Situation},
        state_question::put_if_asked,
    },
    dialogue::question,
    embed::SharedEmbedder,
    llm::{Server, Usage},
    module::{Module, settings::StrategyName},
    recognize::acts::{Courtesy, Moves},
    shares::Owner,
    snapshot::Snapshot,
    telemetry::milliseconds,
    text::fuel::Fuel,
};
use analysis::Analysed;
use cores::CoreShares;

/// Note for a text that ran out of fuel.
pub(crate) const CUT_SHORT: &str = "the text is too long to be read whole within its budget: nothing is called unasked";

/// Time limit for the work of a request, including waiting: longer than clients wait for any answer.
const MOST_TIME: Duration = Duration::from_secs(30);

/// From this many bytes on, input is large: reading more keeps a thread busy for a millisecond or longer.
const LARGE: usize = 32 << 10;

/// Holds what turns share; cheap to clone.
#[derive(Clone)]
pub struct Understander {
    pub(crate) options: Arc<UnderstandOptions>,
    embedder: SharedEmbedder,
    /// The preferred one first.
    pub(crate) servers: Arc<[Server]>,
    cores: CoreShares,
    /// The remaining fuel of the request in progress; unlimited between requests.
    fuel: Fuel,
}

impl Understander {
    /// `servers` are model servers, the preferred one first; the next is asked if one fails.
    #[must_use]
    pub fn new(options: UnderstandOptions, embedder: SharedEmbedder, servers: Vec<Server>) -> Self {
        Self {
            options: options.into(),
            embedder,
            servers: servers.into(),
            cores: CoreShares::new(),
            fuel: Fuel::default(),
        }
    }

    /// The same with these model servers in place of its own.
    #[must_use]
    pub fn with_servers(&self, servers: Vec<Server>) -> Self {
        Self { servers: servers.into(), ..self.clone() }
    }

    /// Understands a single utterance, given the earlier messages. For a conversation see [`Self::converse`].
    ///
    /// # Errors
    /// See [`TurnError`]; an utterance that means no function is an [`Outcome`], not an error.
    pub async fn turn(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Turn, TurnError> {
        self.fueled().turn_on(snapshot, request).await
    }

    async fn turn_on(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Turn, TurnError> {
        let started = Instant::now();
        let mut ledger = self.ledger(snapshot, request);
        let mut turn = match request.in_order() {
            None => self.turn_with(snapshot, request, &mut ledger).await?,
            Some((own, all)) => match self.turn_with(snapshot, &own, &mut ledger).await? {
                Turn { outcome: Outcome::NoMatch, .. } => self.turn_with(snapshot, &all, &mut ledger).await?,
                turn => turn,
            },
        };
        self.is_waited_for()?;
        turn.settle(started, ledger);
        Ok(turn)
    }

    /// # Errors
    /// If the client has left: unfinished work for it is not kept.
    fn is_waited_for(&self) -> Result<(), TurnError> {
        if self.fuel.is_for_nobody() { Err(TurnError::Left) } else { Ok(()) }
    }

    /// The same with the request's ledger, which counts what the turn spends.
    pub(crate) async fn turn_with(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        ledger: &mut Ledger,
    ) -> Result<Turn, TurnError> {
        let heard = EarlierMessages::new(&request.history);
        let Analysed { analysis, mut took } = self.analyse(snapshot, request).await?;
        let clock = Instant::now();
        let whole = self.situation(snapshot, request, &heard.earlier, &analysis);
        let requests = self.cores.free(request).await.run(|| self.fuel.burn(|| Requests::find(&whole)));
        let situation = whole.with(&requests);
        took.retrieve += milliseconds(clock);
        let mut trace = Trace::new(&situation, took);
        let brief = self.brief(snapshot, request, situation, &heard.before);
        // A text that is too long to be read here is not sent to a model server either.
        let is_cut = self.fuel.is_out();
        let strategy = if is_cut { StrategyName::Local } else { self.strategy(snapshot, request) };
        let mut decided = self.decide(strategy, request, &brief, ledger).await?;
        if decided.by != DecidedBy::Local {
            decided.decision = put_if_asked(&brief, decided.decision);
        }
        if self.fuel.is_out() {
            decided.decision.doubt();
            decided.decision.notes.push(CUT_SHORT.to_owned());
        }
        let Decided { decision, .. } = &decided;
        trace.explanations = self.explained(request, &situation, &decision.frames, &decision.alternatives).await;
        Ok(concluded(&snapshot.module, request.language.as_deref(), &analysis.acts, trace, decided))
    }

    /// The basis of the readings, if the request wants it: of those that became something, then of those that were
    /// weighed, or else of the best candidates.
    pub(crate) async fn explained(
        &self,
        request: &TurnRequest,
        situation: &Situation<'_>,
        frames: &[Frame],
        alternatives: &[Alternative],
    ) -> Vec<Explanation> {
        if !request.explain || self.fuel.is_out() {
            return Vec::new();
        }
        let weighed = frames.iter().map(|frame| frame.function).chain(alternatives.iter().map(|one| one.function));
        let functions = weighed.chain(situation.candidates().iter().map(|candidate| candidate.function));
        self.cores.free(request).await.run(|| self.fuel.burn(|| explain(situation, functions, alternatives)))
    }

    /// A copy for a request, with the fuel that it may burn; unchanged if it already works for one.
    pub(crate) fn fueled(&self) -> Self {
        let until = || Instant::now().checked_add(MOST_TIME);
        let fuel = if self.fuel.is_limited() { self.fuel.clone() } else { Fuel::new(self.options.max_steps, until()) };
        Self { fuel, ..self.clone() }
    }

    pub(crate) fn is_out_of_fuel(&self) -> bool {
        self.fuel.is_out()
    }

    /// Computing for this owner outside turns: large input waits for a core, as stages of turns do.
    pub async fn working<T>(&self, owner: &Owner, bytes: usize, work: impl FnOnce() -> T) -> T {
        if bytes < LARGE { work() } else { self.cores.work(owner, bytes, work).await }
    }

    /// What the whole request may spend from now on.
    pub(crate) fn ledger(&self, snapshot: &Snapshot, request: &TurnRequest) -> Ledger {
        let now = tokio::time::Instant::now();
        let ledger = Ledger::new(self.options.allowance(), &snapshot.module.settings.llm, request.budget, now);
        ledger.of(request.owner.clone()).keeping_words(request.explain)
    }

    /// The functions that the utterance may mean, best first, at most `limit`; nothing is decided.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub async fn retrieve(&self, snapshot: &Snapshot, request: &TurnRequest, limit: usize) -> Result<Trace, TurnError> {
        let started = Instant::now();
        let fueled = self.fueled();
        let request = TurnRequest { single: true, ..request.clone() };
        let Analysed { analysis, took } = fueled.analyse_with(snapshot, &request, limit).await?;
        let mut trace = Trace::new(&self.situation(snapshot, &request, &[], &analysis), took);
        trace.timings.total = milliseconds(started);
        Ok(trace)
    }
}

/// The turn that results from a decision, in words.
fn concluded(module: &Module, language: Option<&str>, acts: &Moves, mut trace: Trace, decided: Decided) -> Turn {
    let Decided { decision, by: decided_by, decide_ms } = decided;
    let decide::Decision { outcome, confidence, frames, notes, alternatives } = decision;
    let outcome = match outcome {
        decide::Outcome::Call(calls) => Outcome::Call(calls),
        decide::Outcome::Ask(about) => Outcome::Ask(question::worded(module, language, about, &frames)),
        decide::Outcome::NoMatch => Outcome::NoMatch,
    };
    let voice = question::Voice::new(module, language);
    let is_asked_for = acts.courtesy == Some(Courtesy::Person) && outcome == Outcome::NoMatch;
    let outcome = if is_asked_for { handed_over(&voice) } else { outcome };
    trace.timings.decide = decide_ms;
    trace.notes.extend(notes);
    trace.alternatives = alternatives;
    if trace.is_doubtful {
        trace.notes.push("the utterance may ask for more than one thing".to_owned());
    }
    let remark = matches!(outcome, Outcome::NoMatch).then(|| voice.remark(acts, "", 1));
    Turn {
        outcome,
        confidence,
        decided_by,
        frames,
        trace,
        usage: Usage::default(),
        pending: None,
        remark,
        is_answered: false,
        deeds: Vec::new(),
    }
}

/// A human takes over, as requested, if nothing is open.
fn handed_over(voice: &question::Voice<'_>) -> Outcome {
    let (reason, function, path) = (HandoffReason::Asked, None, String::new());
    Outcome::Handoff { text: voice.hand_over(None, serde_json::Map::new()), reason, function, path }
}

#[cfg(test)]
mod tests;
