//! How well a module is understood: labelled cases run through the same turn as in production, and their results.
//!
//! Cases run one after the other, so that latencies are those of a turn that has the machine to itself.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "ablation")]
mod ablated;
mod answer;
pub mod cases;
pub mod compare;
pub mod curve;
pub mod dialogue;
pub mod features;
pub mod html;
pub mod leave_one_out;
pub mod lint;
mod observation;
pub mod oracle;
pub mod paired;
mod parts;
pub mod report;
pub mod risk;
pub mod round_trip;
pub mod score;
mod share;
mod tally;
#[cfg(test)]
mod testing;

pub use cases::{Case, Cases};
pub use compare::{Finding, MatchCounts, MatchOutcome, Understood};
pub use curve::Curve;
pub use dialogue::{Dialogue, Dialogues};
pub use observation::Observation;
pub use parts::{CaseLocation, ExpectedFunction, Problem};
pub use score::Scores;

use crate::{
    decide::confidence::Calibration,
    module::{Module, settings::StrategyName},
    snapshot::Snapshot,
    understand::{Outcome, TurnError, TurnRequest, Understander},
};
use answer::understood;
use cases::ResolvedCase;
use tally::{Tally, function_named};

/// How a turn ended, as cases and reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    Call,
    Ask,
    NoMatch,
    Cancelled,
    Handoff,
    /// The turn ended in an error.
    Failed,
}

impl OutcomeKind {
    pub const ALL: [Self; 6] = [Self::Call, Self::Ask, Self::NoMatch, Self::Cancelled, Self::Handoff, Self::Failed];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Ask => "ask",
            Self::NoMatch => "no_match",
            Self::Cancelled => "cancelled",
            Self::Handoff => "handoff",
            Self::Failed => "failed",
        }
    }

    /// The outcomes that a case may expect.
    fn expected(value: &Value) -> Option<Self> {
        [Self::Call, Self::Ask, Self::NoMatch, Self::Cancelled, Self::Handoff]
            .into_iter()
            .find(|outcome| value.as_str() == Some(outcome.name()))
    }

    const fn of(outcome: &Outcome) -> Self {
        match outcome {
            // The call was right, whoever made it.
            Outcome::Call(_) | Outcome::Done { .. } => Self::Call,
            Outcome::Ask(_) => Self::Ask,
            Outcome::NoMatch => Self::NoMatch,
            Outcome::Cancelled { .. } => Self::Cancelled,
            Outcome::Handoff { .. } => Self::Handoff,
        }
    }
}

/// How the cases are run.
#[derive(Debug, Clone, Default)]
pub struct EvalOptions {
    /// Overrides the strategy of the module and the server.
    pub strategy: Option<StrategyName>,
    /// The reference moment for words like "tomorrow"; now if absent.
    pub now: Option<jiff::Zoned>,
    /// Choose among all functions even if a case limits them by `given`: harder, and the task of retrieval.
    pub pooled: bool,
    /// Record the inputs of each decision: [`Evaluation::features`].
    pub features: bool,
}

/// The results of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    pub module: String,
    pub module_version: String,
    /// The requested strategy; `None` means the module's or the server's.
    pub strategy: Option<StrategyName>,
    pub scores: Scores,
    /// How sure the module's own answers are.
    pub calibration: Calibration,
    /// Most frequent first.
    pub confusions: Vec<Confusion>,
    /// Most errors first.
    pub slots: Vec<SlotCounts>,
    /// Every case that was run, in the order of the files, for comparing two evaluations.
    pub answers: Vec<CaseResult>,
    /// In the order of the files.
    pub wrong: Vec<WrongCase>,
    /// Cases of several turns.
    pub dialogues: Dialogues,
    /// Dialogues that were not run: a curve does not use them.
    pub skipped_dialogues: usize,
    pub problems: Vec<Problem>,
    /// A line of JSON for each case, if requested; see [`features`].
    #[serde(skip)]
    pub features: Vec<String>,
}

/// Cases that meant one thing and were understood as another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Function names joined by ` + `, or [`NONE`].
    pub expected: String,
    pub got: String,
    pub count: usize,
}

/// Names in confusions for "no function", a tie, and a failed turn.
pub const NONE: &str = "(none)";
pub const TIE: &str = "(tie)";
pub const FAILED: &str = "(failed)";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotCounts {
    pub function: String,
    pub slot: String,
    #[serde(flatten)]
    pub counts: MatchCounts,
}

/// The result of one case, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    pub utterance: String,
    pub right: bool,
    pub function_right: bool,
    pub wrong_call: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// A case whose answer is not wholly right, with the actual answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongCase {
    pub place: CaseLocation,
    pub utterance: String,
    pub expected: String,
    pub got: String,
    pub outcome: OutcomeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<OutcomeKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The understood arguments, by function.
    pub arguments: Vec<Map<String, Value>>,
    /// Wrong values.
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How many cases and dialogues can be run, and every problem of their lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Usable {
    pub cases: usize,
    pub dialogues: usize,
    pub problems: Vec<Problem>,
}

impl Usable {
    #[must_use]
    pub fn of(module: &Module, cases: Cases) -> Self {
        let mut tally = Tally::new(module);
        tally.problems = cases.problems;
        let usable = cases.cases.iter().filter(|case| tally.resolve(case).is_some()).count();
        let dialogues = cases.dialogues.iter().filter(|dialogue| tally.knows(dialogue)).count();
        Self { cases: usable, dialogues, problems: tally.problems }
    }
}

/// Receives the numbers of finished cases and of all cases.
pub type CaseProgress<'a> = &'a (dyn Fn(usize, usize) + Send + Sync);

/// Runs every case through [`Understander::turn`], one after the other, then every dialogue through
/// [`Understander::converse`].
///
/// A case that names an unknown function is a problem and is not run. A turn in which the model server fails counts as
/// wrong.
///
/// # Errors
/// If every case would fail: no model server for the strategy, or the embedding fails.
pub async fn evaluate(
    understander: &Understander,
    snapshot: &Snapshot,
    cases: Cases,
    options: &EvalOptions,
    progress: CaseProgress<'_>,
) -> Result<Evaluation, TurnError> {
    let mut tally = Tally::new(&snapshot.module);
    tally.problems = cases.problems;
    let all = cases.cases.len() + cases.dialogues.len();
    if let Some(first) = cases.cases.first() {
        warm_up(understander, snapshot, first).await;
    }
    #[cfg(feature = "ablation")]
    crate::ablation::take_fired();
    for (index, case) in cases.cases.iter().enumerate() {
        progress(index, all);
        if let Some(task) = tally.resolve(case) {
            tally.run(understander, snapshot, case, &task, options).await?;
            #[cfg(feature = "ablation")]
            ablated::case((understander, snapshot), (case, &task), options, &tally).await?;
        }
    }
    let mut dialogues = Dialogues::default();
    for (index, dialogue) in cases.dialogues.iter().enumerate() {
        progress(cases.cases.len() + index, all);
        if tally.knows(dialogue) {
            dialogue::run(understander, snapshot, dialogue, options, &mut dialogues).await?;
            #[cfg(feature = "ablation")]
            ablated::dialogue((understander, snapshot), dialogue, options).await?;
        }
    }
    progress(all, all);
    let calibration = snapshot.calibration.get();
    Ok(Evaluation { calibration, ..tally.finish(options.strategy, 0, dialogues) })
}

/// Initialises lazy parts of the process, which must not count as part of a turn.
async fn warm_up(understander: &Understander, snapshot: &Snapshot, case: &Case) {
    let request = TurnRequest { utterance: case.utterance.clone(), ..TurnRequest::default() };
    let _ = understander.retrieve(snapshot, &request, 1).await;
}
