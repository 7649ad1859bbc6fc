//! The inputs of decisions together with the right answers: training data for a decision model.

use serde::Serialize;
use serde_json::json;

use super::{Case, MatchOutcome, answer::understood, cases::ResolvedCase, compare};
use crate::{
    conversation::State,
    decide::{
        features::{BesideInput, Features, RankingInput},
        knowledge::Knowledge,
        model::FormEffects,
    },
    module::FunctionId,
    understand::{Alternative, Turn},
};

/// The names of the values in the following lines.
#[must_use]
pub fn header() -> String {
    let beside = BesideInput::NAMES.to_vec();
    json!({"ranking": RankingInput::NAMES.to_vec(), "features": Features::NAMES.to_vec(), "beside": beside}).to_string()
}

/// An utterance beside an open form.
#[derive(Serialize)]
struct BesideLine<'a> {
    utterance: &'a str,
    kind: Option<&'a str>,
    expected: Vec<&'a str>,
    /// The function of the open form.
    open: &'a str,
    beside: FormEffects<bool>,
    values: Vec<f32>,
}

/// A case in a conversation and its inputs, as one line; `None` if nothing was weighed.
pub(super) fn beside(knowledge: &Knowledge, case: &Case, state: &State, turn: &Turn) -> Option<String> {
    let weighed = turn.trace.beside?;
    let (open, _) = state.active(&knowledge.module)?;
    let line = BesideLine {
        utterance: &case.utterance,
        kind: case.kind.as_deref(),
        expected: case.functions.iter().map(|function| function.name.as_str()).collect(),
        open: &knowledge.module.function(open).name,
        beside: weighed.possible,
        values: weighed.input.values().to_vec(),
    };
    Some(json!(line).to_string())
}

/// One case.
#[derive(Serialize)]
struct CaseLine<'a> {
    utterance: &'a str,
    kind: Option<&'a str>,
    /// Empty means out of scope.
    expected: Vec<&'a str>,
    /// Parts that were each taken for a request.
    segments: usize,
    outcome: &'static str,
    candidates: Vec<CandidateLine<'a>>,
    alternatives: Vec<AlternativeLine<'a>>,
}

#[derive(Serialize)]
struct CandidateLine<'a> {
    function: &'a str,
    is_right: bool,
    values: Vec<f32>,
}

#[derive(Serialize)]
struct AlternativeLine<'a> {
    function: &'a str,
    is_function_right: bool,
    is_wholly_right: bool,
    is_call: bool,
    values: Vec<f32>,
}

/// A case and its inputs, as one line.
pub(super) fn line(knowledge: &Knowledge, case: &Case, task: &ResolvedCase<'_>, turn: &Turn) -> String {
    let name = |id: FunctionId| knowledge.module.function(id).name.as_str();
    let expected: Vec<FunctionId> = task.functions.iter().map(|(id, _)| *id).collect();
    let own = knowledge.head.own();
    let candidates = turn.trace.segments.first().map_or(&[][..], |whole| &whole.candidates);
    let line = CaseLine {
        utterance: &case.utterance,
        kind: case.kind.as_deref(),
        expected: expected.iter().map(|id| name(*id)).collect(),
        segments: turn.trace.segments.len(),
        outcome: turn.outcome.name(),
        candidates: candidates
            .iter()
            .map(|candidate| CandidateLine {
                function: name(candidate.function),
                is_right: expected.contains(&candidate.function),
                values: RankingInput::new(candidate, own, &knowledge.module).values().to_vec(),
            })
            .collect(),
        alternatives: turn
            .trace
            .alternatives
            .iter()
            .map(|alternative| AlternativeLine {
                function: name(alternative.function),
                is_function_right: expected == [alternative.function],
                is_wholly_right: is_wholly_right(knowledge, task, alternative),
                is_call: alternative.features.complete > 0.0,
                values: alternative.features.values().to_vec(),
            })
            .collect(),
    };
    json!(line).to_string()
}

/// The function and exactly the values that the case names.
fn is_wholly_right(knowledge: &Knowledge, task: &ResolvedCase<'_>, alternative: &Alternative) -> bool {
    let [(expected, arguments)] = task.functions[..] else { return false };
    let function = knowledge.module.function(alternative.function);
    let are_right = |arguments| {
        let (findings, _) = compare::compare(function, arguments, &understood(&alternative.frame.slots));
        findings.iter().all(|finding| finding.verdict == MatchOutcome::Right)
    };
    expected == alternative.function && arguments.is_none_or(are_right)
}
