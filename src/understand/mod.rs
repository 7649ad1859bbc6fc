//! One turn, from utterance to outcome: the recipe that every route and command shares.
//!
//! | file | holds |
//! |---|---|
//! | `mod` | the recipe of a turn that stands alone |
//! | `analysis` | what is known of an utterance before anything is decided |
//! | `deciding` | who decides: the local strategy, or a model server |
//! | `converse` | the recipe of a turn of a conversation |
//! | `front` | words of a model server where no function is meant |
//! | `told` | what is said of the results of calls |
//! | `acted` | what becomes of a turn after we made its calls |
//! | `cores` | where the work is done that waits for nothing |
//! | `wording` | a question in the words of a model server |
//! | `yes_no` | what a reply says to a yes-or-no question |
//! | `replay` | a conversation that only its messages tell of |
//! | `request`, `options`, `error`, `outcome`, `view` | what goes in and what comes out |
//!
//! Leaves never call each other; what one finds passes through here as a value, so that the [`Trace`] is complete by
//! construction.

use std::{sync::Arc, time::Instant};

mod acted;
pub(crate) mod analysis;
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
        history::Said,
        ledger::{Attempt, BudgetOverrides},
        strategy::{DecidedBy, best_strategy},
    },
    decide::{
        expected::{Asked, Expected, Hint},
        outcome::{Alternative, Frame},
    },
    dialogue::{
        outcome::{Outcome, Question},
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
    assist::{ask::Decided, history::Heard, ledger::Ledger},
    decide::{outcome as decide, situation::Requests},
    dialogue::question,
    embed::SharedEmbedder,
    llm::{Server, Usage},
    module::Module,
    recognize::acts::Moves,
    snapshot::Snapshot,
    telemetry::milliseconds,
};
use analysis::Analysed;
use cores::Cores;

/// Holds what turns share; cheap to clone.
#[derive(Clone)]
pub struct Understander {
    pub(crate) options: Arc<UnderstandOptions>,
    embedder: SharedEmbedder,
    /// The preferred one first.
    pub(crate) servers: Arc<[Server]>,
    cores: Cores,
}

impl Understander {
    /// `servers` are model servers, the preferred one first; the next is asked where one fails.
    #[must_use]
    pub fn new(options: UnderstandOptions, embedder: SharedEmbedder, servers: Vec<Server>) -> Self {
        Self { options: options.into(), embedder, servers: servers.into(), cores: Cores::new() }
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
        let mut ledger = self.ledger(snapshot, request);
        let mut turn = match request.in_order() {
            None => self.turn_with(snapshot, request, &mut ledger).await?,
            Some((own, all)) => match self.turn_with(snapshot, &own, &mut ledger).await? {
                Turn { outcome: Outcome::NoMatch, .. } => self.turn_with(snapshot, &all, &mut ledger).await?,
                turn => turn,
            },
        };
        turn.settle(started, ledger);
        Ok(turn)
    }

    /// The same with what is left of a request's ledger, which counts what the turn spends.
    pub(crate) async fn turn_with(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        ledger: &mut Ledger,
    ) -> Result<Turn, TurnError> {
        let heard = Heard::new(&request.history);
        let Analysed { analysis, mut took } = self.analyse(snapshot, request).await?;
        let clock = Instant::now();
        let whole = self.situation(snapshot, request, &heard.earlier, &analysis);
        let requests = self.cores.free(request).await.run(|| Requests::find(&whole));
        let situation = whole.with(&requests);
        took.retrieve += milliseconds(clock);
        let trace = Trace::new(&situation, took);
        let brief = self.brief(snapshot, request, situation, &heard.before);
        let decided = self.decide(self.strategy(snapshot, request), request, &brief, ledger).await?;
        Ok(concluded(&snapshot.module, request.language.as_deref(), &analysis.acts, trace, decided))
    }

    /// What the whole of a request may spend, from now on.
    pub(crate) fn ledger(&self, snapshot: &Snapshot, request: &TurnRequest) -> Ledger {
        let now = tokio::time::Instant::now();
        Ledger::new(self.options.allowance(), &snapshot.module.settings.llm, request.budget, now)
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
}

/// The turn that a decision makes, in words.
fn concluded(module: &Module, language: Option<&str>, acts: &Moves, mut trace: Trace, decided: Decided) -> Turn {
    let Decided { decision, by: decided_by, decide_ms } = decided;
    let decide::Decision { outcome, confidence, frames, notes, alternatives } = decision;
    let outcome = match outcome {
        decide::Outcome::Call(calls) => Outcome::Call(calls),
        decide::Outcome::Ask(about) => Outcome::Ask(question::worded(module, language, about, &frames)),
        decide::Outcome::NoMatch => Outcome::NoMatch,
    };
    trace.timings.decide = decide_ms;
    trace.notes.extend(notes);
    trace.alternatives = alternatives;
    if trace.is_doubtful {
        trace.notes.push("the utterance may ask for more than one thing".to_owned());
    }
    let remark = matches!(outcome, Outcome::NoMatch).then(|| question::Voice::new(module, language).remark(acts, ""));
    Turn {
        outcome,
        confidence,
        decided_by,
        frames,
        trace,
        usage: Usage::default(),
        pending: None,
        remark,
        deeds: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
