//! The round trip: every template of a module, filled with slot values, must be understood as itself.
//!
//! | file | holds |
//! |---|---|
//! | `values` | what a person may say for a slot, and its value; the words are in `values.toml` |
//! | `fill` | a template with values, in one of the forms in which people say it |
//! | `report` | the results in lines |

use std::collections::BTreeMap;

use jiff::{
    Zoned,
    civil::{DateTime, date},
    tz::TimeZone,
};
use serde::Serialize;

mod fill;
pub mod report;
mod values;

pub use fill::SentenceForm;
pub use values::ValuesError;

use super::{
    Case, CaseLocation, CaseProgress, EvalOptions, ExpectedFunction, Scores, WrongCase, score, tally::Tally, warm_up,
};
use crate::{
    module::{Exemplar, FunctionId, Module, settings::StrategyName},
    recognize::Context,
    snapshot::Snapshot,
    understand::{TurnError, Understander, request},
};

/// How the round trip is run.
#[derive(Debug, Clone, Copy)]
pub struct RoundTripOptions {
    /// The same seed fills the same templates with the same values.
    pub seed: u64,
    /// How often each template is filled in each form.
    pub fillings: usize,
}

impl Default for RoundTripOptions {
    fn default() -> Self {
        Self { seed: 1, fillings: 2 }
    }
}

/// The reference moment for filled templates; dates in `values.toml` lie around it.
const NOW: DateTime = date(2026, 3, 2).at(9, 0, 0, 0);

#[derive(Debug, thiserror::Error)]
pub enum RoundTripError {
    #[error(transparent)]
    Values(#[from] ValuesError),
    #[error(transparent)]
    Turn(#[from] TurnError),
}

/// The results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundTrip {
    pub module: String,
    pub seed: u64,
    pub templates: usize,
    /// For all sentences; `by_kind` is by [`SentenceForm`].
    pub scores: Scores,
    /// Templates that are not understood in every form, the worst first.
    pub failures: Vec<TemplateFailure>,
    /// Templates with a slot without known values.
    pub unfilled: Vec<FunctionTemplate>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionTemplate {
    pub function: String,
    pub template: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TemplateFailure {
    #[serde(flatten)]
    pub template: FunctionTemplate,
    pub sentences: usize,
    pub wrong: Vec<WrongCase>,
}

/// The reference moment for the module's filled templates.
#[must_use]
pub fn moment(module: &Module) -> Zoned {
    let zone = request::time_zone(module, "UTC");
    NOW.to_zoned(zone).unwrap_or_else(|_| jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC))
}

/// The templates of a module as people say them.
pub(super) struct SpokenTemplates<'m> {
    module: &'m Module,
    values: values::Values<'m>,
    random: fastrand::Rng,
}

impl<'m> SpokenTemplates<'m> {
    pub(super) fn new(module: &'m Module, seed: u64) -> Result<Self, ValuesError> {
        let values = values::Values::new(module, Context { now: moment(module) })?;
        Ok(Self { module, values, random: fastrand::Rng::with_seed(seed) })
    }

    /// The template in this form. `None` if it is not a request by itself, has no such form, or no value is known for
    /// one of its slots.
    pub(super) fn say(&mut self, id: FunctionId, exemplar: &Exemplar, form: SentenceForm) -> Option<fill::Filled> {
        fill::speaks(exemplar).then(|| fill::fill(self.module, &self.values, id, exemplar, form, &mut self.random))?
    }
}

/// Fills each template of the module and runs it through a turn, locally.
///
/// # Errors
/// If the module does not compile, or the embedding fails.
pub async fn round_trip(
    understander: &Understander,
    snapshot: &Snapshot,
    options: RoundTripOptions,
    progress: CaseProgress<'_>,
) -> Result<RoundTrip, RoundTripError> {
    let module = &snapshot.module;
    let mut said = SpokenTemplates::new(module, options.seed)?;
    let run =
        EvalOptions { strategy: Some(StrategyName::Local), now: Some(moment(module)), pooled: false, features: false };
    let templates: Vec<_> = module
        .function_ids()
        .flat_map(|id| module.function(id).exemplars.iter().map(move |exemplar| (id, exemplar)))
        .filter(|(_, exemplar)| fill::speaks(exemplar))
        .collect();
    let mut tally = Tally::new(module);
    let (mut failures, mut unfilled) = (Vec::new(), Vec::new());
    for (index, (id, exemplar)) in templates.iter().enumerate() {
        progress(index, templates.len());
        let function = module.function(*id).name.clone();
        let template = FunctionTemplate { function: function.clone(), template: exemplar.template.clone() };
        let (ran, missed) = (tally.observations.len(), tally.wrong.len());
        for form in SentenceForm::ALL.into_iter().flat_map(|form| std::iter::repeat_n(form, options.fillings)) {
            let Some(filled) = said.say(*id, exemplar, form) else { continue };
            let case = Case {
                place: CaseLocation { file: function.as_str().into(), line: index + 1 },
                utterance: filled.text,
                functions: vec![ExpectedFunction { name: function.clone(), arguments: Some(filled.arguments) }],
                given: None,
                outcome: None,
                kind: Some(form.name().to_owned()),
                now: None,
                state: None,
            };
            if index == 0 && tally.observations.is_empty() {
                warm_up(understander, snapshot, &case).await;
            }
            if let Some(task) = tally.resolve(&case) {
                tally.run(understander, snapshot, &case, &task, &run).await?;
            }
        }
        let sentences = tally.observations.len() - ran;
        if sentences == 0 {
            unfilled.push(template);
        } else if tally.wrong.len() > missed {
            failures.push(TemplateFailure { template, sentences, wrong: tally.wrong[missed..].to_vec() });
        }
    }
    progress(templates.len(), templates.len());
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.wrong.len()));
    Ok(RoundTrip {
        module: module.name.to_string(),
        seed: options.seed,
        templates: templates.len(),
        scores: score::score(&tally.observations),
        failures,
        unfilled,
    })
}

/// For each form, the number of sentences and the share that is wholly right.
#[must_use]
pub fn forms(found: &RoundTrip) -> BTreeMap<&str, (usize, Option<f64>)> {
    found.scores.by_kind.iter().map(|(form, scores)| (form.as_str(), (scores.cases, scores.right))).collect()
}
