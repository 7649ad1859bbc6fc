//! From evidence to the probability that a span fills a slot.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::Evidence;

/// Fitted over the modules that the reader was trained on; the file says by which command.
static BUNDLED: LazyLock<SlotModel> = LazyLock::new(|| {
    SlotModel::parse(include_str!("../../../models/reader/slots.json")).expect("a test reads the bundled model")
});

/// Two logistic regressions: one for what recognizers found, one for free text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SlotModel {
    found: Weights,
    free: Weights,
    /// Below this probability a slot stays empty.
    pub least: f32,
}

#[derive(Debug, Clone, PartialEq)]
struct Weights {
    bias: f32,
    /// In the order of [`Evidence::NAMES`].
    weights: [f32; Evidence::NAMES.len()],
}

#[derive(Deserialize)]
struct File {
    found: Named,
    free: Named,
    least: f32,
}

#[derive(Deserialize)]
struct Named {
    bias: f32,
    weights: BTreeMap<String, f32>,
}

impl SlotModel {
    pub(crate) fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// # Errors
    /// If the text is no such model, or knows a number that [`Evidence`] does not have.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let File { found, free, least } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { found: Weights::new(&found)?, free: Weights::new(&free)?, least })
    }

    /// The probability that exactly this span fills the slot.
    pub(crate) fn probability(&self, evidence: &Evidence) -> f32 {
        let model = if evidence.is_free() { &self.free } else { &self.found };
        let score: f32 = model.weights.iter().zip(evidence.values()).map(|(weight, value)| weight * value).sum();
        1.0 / (1.0 + (-(model.bias + score)).exp())
    }
}

impl Weights {
    /// What is not named weighs nothing.
    fn new(Named { bias, weights }: &Named) -> Result<Self, String> {
        let unknown = weights.keys().find(|name| !Evidence::NAMES.contains(&name.as_str()));
        if let Some(name) = unknown {
            return Err(format!("there is no evidence `{name}`"));
        }
        let weights = Evidence::NAMES.map(|name| weights.get(name).copied().unwrap_or_default());
        Ok(Self { bias: *bias, weights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_model_knows_the_evidence() {
        let model = SlotModel::parse(include_str!("../../../models/reader/slots.json")).unwrap();
        assert!((0.05..0.8).contains(&model.least));
        assert!(model.free.weights.iter().chain(&model.found.weights).all(|weight| weight.is_finite()));
    }

    #[test]
    fn evidence_that_nobody_has_is_an_error() {
        let text =
            r#"{"least": 0.5, "found": {"bias": 0, "weights": {}}, "free": {"bias": 0, "weights": {"raeder": 1}}}"#;
        assert_eq!(SlotModel::parse(text).unwrap_err(), "there is no evidence `raeder`");
    }
}
