//! Which candidate is meant, if one is. The evidence is what retrieval found and what the module's own exemplars teach.

use crate::{
    decide::{
        features::RankingInput,
        head::{Head, log_softmax},
        model::DecisionModel,
    },
    module::{FunctionId, Module},
    probability::LEAST_LOG_PROBABILITY,
    retrieve::{Candidate, LearnedSignals},
};

/// Up to this many functions are all looked at; with more, those that retrieval and learning rank best.
pub(crate) const ALL: usize = 48;

/// What was learned about one text.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    found: crate::decide::head::LogProbabilities,
    functions: usize,
}

impl Learned {
    pub(crate) fn new(head: &Head, functions: usize, vector: &[f32], text: &str) -> Self {
        Self { found: head.log_probabilities(vector, text), functions }
    }

    /// The functions that are likeliest by what was learned, best first.
    pub(crate) fn best(&self, count: usize) -> Vec<FunctionId> {
        let both = |index: usize| self.at(index).map_or(0.0, |signals| signals.vectors + signals.ngrams);
        if self.at(0).is_none() {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.functions).collect();
        order.sort_by(|one, other| both(*other).total_cmp(&both(*one)));
        order.into_iter().take(count).map(FunctionId::from_index).collect()
    }

    fn at(&self, index: usize) -> Option<LearnedSignals> {
        let of = |values: &[f32], index: usize| values.get(index).map(|value| value.max(LEAST_LOG_PROBABILITY));
        let (vectors, ngrams) = (of(&self.found.vectors, index), of(&self.found.ngrams, index));
        vectors.or(ngrams)?;
        let none = |values: &[f32]| of(values, self.functions).unwrap_or_default();
        Some(LearnedSignals {
            vectors: vectors.unwrap_or_default(),
            ngrams: ngrams.unwrap_or_default(),
            vectors_none: none(&self.found.vectors),
            ngrams_none: none(&self.found.ngrams),
        })
    }
}

/// Gives each candidate its share, and puts the likeliest first.
pub(crate) fn rank(
    model: &DecisionModel,
    (module, head): (&Module, &Head),
    learned: &Learned,
    candidates: &mut [Candidate],
) {
    let mut odds: Vec<f32> = Vec::with_capacity(candidates.len());
    for candidate in candidates.iter_mut() {
        candidate.learned = learned.at(candidate.function.index());
        odds.push(model.rank(&RankingInput::new(candidate, head.own(), module)));
    }
    if !odds.is_empty() {
        log_softmax(&mut odds);
    }
    for (candidate, odds) in candidates.iter_mut().zip(odds) {
        // A candidate that a negative exemplar rules out is not meant.
        candidate.share = if candidate.score > 0.0 { odds.exp() } else { 0.0 };
    }
    candidates.sort_by(|one, other| {
        other
            .share
            .total_cmp(&one.share)
            .then_with(|| other.score.total_cmp(&one.score))
            .then_with(|| one.function.cmp(&other.function))
    });
}
