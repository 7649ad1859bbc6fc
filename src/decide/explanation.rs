//! The evidence of a reading beyond its features, for people who want to know why. Made only on request.

use crate::{
    decide::{
        candidates::SlotProposal, features::measure, model::DecisionModel, outcome::Alternative, reading,
        situation::Situation,
    },
    module::FunctionId,
    text::Span,
};

/// The most readings that are explained.
const MOST: usize = 3;

/// The utterance as a request for one function: what might fill its slots, and which words are left.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    pub function: FunctionId,
    /// Likeliest first.
    pub proposals: Vec<SlotProposal>,
    /// Words that neither a value nor a word of the function explains, with the weight of each.
    pub left_over: Vec<(Span, f32)>,
    /// The terms of the log-odds that the whole answer is right, largest first: the name of a feature, and what it
    /// adds. Empty if nothing was weighed.
    pub parts: Vec<(&'static str, f32)>,
}

/// The explanations of the first few of these functions, each once.
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
