//! The basis of readings, for people who want to know why.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{name_of, pair, probability, rounded};
use crate::{
    decide::candidates::Evidence,
    module::Module,
    text::Span,
    understand::{Explanation, SlotProposal},
};

/// The utterance read as a request for one function: what might fill its slots, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ExplanationBody {
    pub function: String,
    /// What might fill slots, likeliest first.
    pub proposals: Vec<ProposalBody>,
    /// Words for which neither a value nor a word of the function accounts.
    pub left_over: Vec<LeftOverBody>,
    /// What makes the log-odds that the whole answer is right, most first; `bias` is what is there without any evidence.
    /// Empty where nothing was weighed.
    pub parts: Vec<PartBody>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProposalBody {
    /// The slot's path.
    pub slot: String,
    /// In Unicode scalar values, end exclusive.
    pub span: [usize; 2],
    /// What found it; null for free text.
    #[schema(required = true)]
    pub recognizer: Option<String>,
    /// That exactly these words fill the slot, 0 to 1.
    pub probability: f64,
    /// From this probability on they may.
    pub least: f64,
    /// What the probability rests on, by name; what is 0 is left out.
    pub features: BTreeMap<&'static str, f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeftOverBody {
    /// In Unicode scalar values, end exclusive.
    pub span: [usize; 2],
    /// How much the word tells, more for rare ones.
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PartBody {
    pub feature: String,
    /// In log-odds; what is below 0 speaks against it.
    pub adds: f64,
}

pub(super) fn explanation(module: &Module, explanation: &Explanation) -> ExplanationBody {
    let function = module.function(explanation.function);
    let proposal = |one: &SlotProposal| ProposalBody {
        slot: function.slot(one.slot).path.to_string(),
        span: pair(one.span),
        recognizer: one.recognizer.map(|id| module.recognizer(id).name.clone()),
        probability: probability(one.probability),
        least: probability(one.least),
        features: features(&one.evidence),
    };
    let left_over = |(span, weight): &(Span, f32)| LeftOverBody { span: pair(*span), weight: thousandths(*weight) };
    let part = |(name, adds): &(&str, f32)| PartBody { feature: (*name).to_owned(), adds: thousandths(*adds) };
    ExplanationBody {
        function: name_of(module, explanation.function),
        proposals: explanation.proposals.iter().map(proposal).collect(),
        left_over: explanation.left_over.iter().map(left_over).collect(),
        parts: explanation.parts.iter().map(part).collect(),
    }
}

fn features(evidence: &Evidence) -> BTreeMap<&'static str, f64> {
    let named = Evidence::NAMES.into_iter().zip(evidence.values());
    named.filter(|(_, value)| *value != 0.0).map(|(name, value)| (name, thousandths(value))).collect()
}

fn thousandths(value: f32) -> f64 {
    rounded(f64::from(value), 1e3)
}
