//! What a reading rests on beyond its features, for people who want to know why. Made only where somebody asks for it.

use crate::{
    decide::{
        candidates::SlotProposal, features::measure, model::DecisionModel, outcome::Alternative, reading,
        situation::Situation,
    },
    module::FunctionId,
    text::Span,
};

/// Readings that are explained, at most.
const MOST: usize = 3;

/// The utterance as a request for one function: what might fill its slots, and what is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    pub function: FunctionId,
    /// Likeliest first.
    pub proposals: Vec<SlotProposal>,
    /// Words for which neither a value nor a word of the function accounts, and what each weighs.
    pub left_over: Vec<(Span, f32)>,
    /// What makes the log-odds that the whole answer is right, most weight first: the name of a feature, and what it adds.
    /// Empty where nothing was weighed.
    pub parts: Vec<(&'static str, f32)>,
}

/// The readings for these functions, the first few of them, each once.
pub(crate) fn explain(
    situation: &Situation<'_>,
    functions: impl Iterator<Item = FunctionId>,
    alternatives: &[Alternative],
) -> Vec<Explanation> {
    let mut explained: Vec<Explanation> = Vec::new();
    for function in functions {
        if explained.len() == MOST {
            break;
        }
        if explained.iter().any(|known| known.function == function) {
            continue;
        }
        let mut proposals = reading::proposals(situation, function);
        proposals.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.span.cmp(&b.span)));
        let covered = reading::covered(situation, function);
        let weighed = alternatives.iter().find(|alternative| alternative.function == function);
        let mut parts = weighed.map(|one| DecisionModel::bundled().parts_of_whole(&one.features)).unwrap_or_default();
        parts.retain(|(_, adds)| *adds != 0.0);
        parts.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        let left_over = measure::left_over(situation, function, &covered);
        explained.push(Explanation { function, proposals, left_over, parts });
    }
    explained
}
