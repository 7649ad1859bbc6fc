//! A module's own exemplars as cases: each is understood by a module that has not seen it.
//!
//! A fifth is left out at a time, so that a module with thousands of exemplars is built five times and not thousands of
//! times.

use super::{
    Case, CaseLocation, CaseProgress, Dialogues, EvalOptions, Evaluation, ExpectedFunction,
    round_trip::{RoundTripError, SentenceForm, SpokenTemplates, moment},
    tally::Tally,
};
use crate::{
    module::{Module, settings::StrategyName},
    snapshot::{PrepareError, Snapshot, Snapshots},
    understand::Understander,
};

const FOLDS: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum LeaveOneOutError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    RoundTrip(#[from] RoundTripError),
}

/// Runs every exemplar that is a request by itself, with values in its slots, through a module without it, locally.
///
/// A function's only exemplar is left out too, so that only its description remains.
///
/// # Errors
/// If the module cannot be built, or the embedding fails.
pub async fn leave_one_out(
    snapshots: &Snapshots,
    understander: &Understander,
    snapshot: &Snapshot,
    (seed, features): (u64, bool),
    progress: CaseProgress<'_>,
) -> Result<Evaluation, LeaveOneOutError> {
    let module = &snapshot.module;
    let said = SpokenTemplates::new(module, seed).map_err(RoundTripError::from)?;
    let cases = cases(module, said);
    let now = moment(module);
    let options = EvalOptions { strategy: Some(StrategyName::Local), now: Some(now), pooled: false, features };
    let mut tally = Tally::new(module);
    for fold in 0..FOLDS {
        let without = snapshots.build_apart(without(module, fold)).await?;
        for (at, (_, case)) in cases.iter().enumerate().filter(|(_, (position, _))| position % FOLDS == fold) {
            progress(at, cases.len());
            if let Some(task) = tally.resolve(case) {
                tally.run(understander, &without, case, &task, &options).await.map_err(RoundTripError::from)?;
            }
        }
    }
    progress(cases.len(), cases.len());
    Ok(tally.finish(options.strategy, 0, Dialogues::default()))
}

/// Each with the position of its exemplar in the function.
fn cases(module: &Module, mut said: SpokenTemplates<'_>) -> Vec<(usize, Case)> {
    let mut cases = Vec::new();
    for id in module.function_ids() {
        let function = module.function(id);
        for (position, exemplar) in function.exemplars.iter().enumerate() {
            let Some(filled) = said.say(id, exemplar, SentenceForm::Plain) else { continue };
            let case = Case {
                place: CaseLocation { file: function.name.as_str().into(), line: position + 1 },
                utterance: filled.text,
                functions: vec![ExpectedFunction { name: function.name.clone(), arguments: Some(filled.arguments) }],
                given: None,
                outcome: None,
                kind: None,
                now: None,
                state: None,
            };
            cases.push((position, case));
        }
    }
    cases
}

/// The module without the exemplars in this fold.
fn without(module: &Module, fold: usize) -> Module {
    module.without(|_, exemplar, _| exemplar.index() % FOLDS == fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exemplar_is_left_out_once() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("modules/weather");
        let name = crate::module::ModuleName::new("weather").unwrap();
        let module = crate::module::load(&root, name, &crate::module::Limits::default()).unwrap();
        let all: usize = module.functions.iter().map(|function| function.exemplars.len()).sum();
        let folds: Vec<Module> = (0..FOLDS).map(|fold| without(&module, fold)).collect();
        let kept = |fold: &Module| fold.functions.iter().map(|function| function.exemplars.len()).sum::<usize>();
        assert_eq!(folds.iter().map(|fold| all - kept(fold)).sum::<usize>(), all);
        let cases = cases(&module, SpokenTemplates::new(&module, 1).unwrap());
        assert_eq!(cases.len(), all);
        for (position, case) in cases {
            let fold = &folds[position % FOLDS];
            let function = fold.functions.iter().find(|function| *function.name == *case.place.file).unwrap();
            let own = &module.functions.iter().find(|own| own.name == function.name).unwrap().exemplars[position];
            assert!(function.exemplars.iter().all(|left| left.template != own.template), "{}", case.utterance);
        }
    }
}
