//! The alternatives that were weighed against each other, with the numbers used.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{name_of, probability, rounded};
use crate::{decide::features::Features, module::Module, understand::Alternative};

/// The utterance read as a request for one function.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AlternativeBody {
    pub function: String,
    /// Probability that this function is meant, and nothing else, 0 to 1.
    pub meant: f64,
    /// Probability that the whole answer is right, the function and every value, 0 to 1.
    pub right: f64,
    /// What both probabilities rest on, by name; a feature that is 0 is left out.
    pub features: BTreeMap<&'static str, f64>,
}

pub(super) fn alternative(module: &Module, alternative: &Alternative) -> AlternativeBody {
    let features = Features::NAMES.into_iter().zip(alternative.features.values());
    AlternativeBody {
        function: name_of(module, alternative.function),
        meant: probability(alternative.meant),
        right: probability(alternative.right),
        features: features
            .filter(|(_, value)| *value != 0.0)
            .map(|(name, value)| (name, rounded(f64::from(value), 1e3)))
            .collect(),
    }
}
