//! How well a module is understood: labelled cases through the same turn that serves, and what came of them.
//!
//! Cases run one after the other, so that the latencies are those of a turn that has the machine to itself.

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
pub use compare::{Counts, Finding, Understood, Verdict};
pub use curve::Curve;
pub use dialogue::{Dialogue, Dialogues};
pub use observation::Observation;
pub use parts::{ExpectedFunction, Place, Problem};
pub use score::Scores;

use crate::{
    decide::confidence::Calibration,
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{Outcome, TurnError, TurnRequest, Understander},
};
use answer::understood;
use cases::Task;
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
    /// Neither: the turn ended in an error.
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

    /// What a case may expect.
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
    /// Instead of what the module and the server say.
    pub strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read; now if absent.
    pub now: Option<jiff::Zoned>,
    /// Choose among all functions, also where a case names those that are `given`: harder, and what retrieval is for.
    pub pooled: bool,
    /// Note what each decision rested on: [`Evaluation::features`].
    pub features: bool,
}

/// Everything that an evaluation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    pub module: String,
    pub module_version: String,
    /// The one that was asked for; `None`: the module's or the server's.
    pub strategy: Option<StrategyName>,
    pub scores: Scores,
    /// How sure the module's own answers are.
    pub calibration: Calibration,
    /// Most frequent first.
    pub confusions: Vec<Confusion>,
    /// Most errors first.
    pub slots: Vec<SlotCounts>,
    /// Every case that was run, in the order of the files: what two evaluations are compared by.
    pub answers: Vec<CaseResult>,
    /// In the order of the files.
    pub wrong: Vec<WrongCase>,
    /// Cases of several turns.
    pub dialogues: Dialogues,
    /// Cases of several turns that were not run: a curve has no use for them.
    pub skipped_dialogues: usize,
    pub problems: Vec<Problem>,
    /// A line of JSON for each case, where asked for; see [`features`].
    #[serde(skip)]
    pub features: Vec<String>,
}

/// Cases that meant one thing and were taken for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Function names joined by ` + `, or [`NONE`].
    pub expected: String,
    pub got: String,
    pub count: usize,
}

/// How confusions name "no function", a question which of several was meant, and a failed turn.
pub const NONE: &str = "(none)";
pub const TIE: &str = "(tie)";
pub const FAILED: &str = "(failed)";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotCounts {
    pub function: String,
    pub slot: String,
    #[serde(flatten)]
    pub counts: Counts,
}

/// What one case came to, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    pub utterance: String,
    pub right: bool,
    pub function_right: bool,
    pub wrong_call: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// A case whose answer is not wholly right, with what came instead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongCase {
    pub place: Place,
    pub utterance: String,
    pub expected: String,
    pub got: String,
    pub outcome: OutcomeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<OutcomeKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What was understood, by function.
    pub arguments: Vec<Map<String, Value>>,
    /// Values that are not right.
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Told how far it is: cases done, and in all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Send + Sync);

/// Runs every case through [`Understander::turn`], one after the other, then every dialogue through
/// [`Understander::converse`].
///
/// A case that names an unknown function is a problem and is not run. A turn that the model server fails is a wrong
/// answer.
///
/// # Errors
/// Where no case could do better: no model server for the strategy, or the embedding fails.
pub async fn evaluate(
    understander: &Understander,
    snapshot: &Snapshot,
    cases: Cases,
    options: &EvalOptions,
    progress: Progress<'_>,
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
        let (hindrance, odd) = dialogue::known(&snapshot.module, dialogue);
        let is_run = hindrance.is_none();
        let problem = |message| Problem { place: dialogue.place.clone(), message };
        tally.problems.extend(odd.into_iter().chain(hindrance).map(problem));
        if is_run {
            dialogue::run(understander, snapshot, dialogue, options, &mut dialogues).await?;
            #[cfg(feature = "ablation")]
            ablated::dialogue((understander, snapshot), dialogue, options).await?;
        }
    }
    progress(all, all);
    let calibration = snapshot.calibration.get();
    Ok(Evaluation { calibration, ..tally.finish(options.strategy, 0, dialogues) })
}

/// Lazy parts of the process are no part of a turn.
async fn warm_up(understander: &Understander, snapshot: &Snapshot, case: &Case) {
    let request = TurnRequest { utterance: case.utterance.clone(), ..TurnRequest::default() };
    let _ = understander.retrieve(snapshot, &request, 1).await;
}
