//! From evidence to the probability that a span fills a slot.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::Evidence;
use crate::{
    decide::filling::FillingRule,
    learned,
    probability::{EVEN, log_odds, logistic},
};

/// Fitted over the modules that the reader was trained on; the file says by which command.
static BUNDLED: LazyLock<SlotModel> =
    LazyLock::new(|| SlotModel::parse(learned::text!("reader/slots.json")).expect("a test reads the bundled model"));

/// How the evidence is weighed: one judge for utterances that the reader has read, one for use without a reader.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SlotModel {
    read: Judge,
    unread: Judge,
    /// How often a rule is right.
    rules: BTreeMap<FillingRule, f32>,
}

/// Three logistic regressions: for what recognizers found, for free text, and for the free text of a template that
/// matches word for word.
#[derive(Debug, Clone, PartialEq)]
struct Judge {
    found: Weights,
    free: Weights,
    said: Weights,
    /// Below these probabilities a slot stays empty; the second one applies to free text.
    least: f32,
    least_free: f32,
}

#[derive(Debug, Clone, PartialEq)]
struct Weights {
    bias: f32,
    /// In the order of [`Evidence::NAMES`].
    weights: [f32; Evidence::NAMES.len()],
}

#[derive(Deserialize)]
struct SlotModelFile {
    read: JudgeFile,
    unread: JudgeFile,
    rules: BTreeMap<FillingRule, f32>,
}

#[derive(Deserialize)]
struct JudgeFile {
    found: NamedWeights,
    free: NamedWeights,
    said: NamedWeights,
    least: f32,
    least_free: f32,
}

#[derive(Deserialize)]
struct NamedWeights {
    bias: f32,
    weights: BTreeMap<String, f32>,
}

impl SlotModel {
    pub(crate) fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// # Errors
    /// If the text is not such a model, or knows a number that [`Evidence`] does not have.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let SlotModelFile { read, unread, rules } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { read: Judge::new(&read)?, unread: Judge::new(&unread)?, rules })
    }

    /// The share of a rule's fillings that are right.
    pub(super) fn share_right(&self, rule: FillingRule) -> f32 {
        self.rules.get(&rule).copied().unwrap_or(EVEN)
    }

    fn judge(&self, evidence: &Evidence) -> &Judge {
        if evidence.is_read() { &self.read } else { &self.unread }
    }

    /// The probability that exactly this span fills the slot.
    pub(crate) fn probability(&self, evidence: &Evidence) -> f32 {
        let judge = self.judge(evidence);
        evidence.with_tagger(if evidence.is_free() { &judge.free } else { &judge.found }.odds(evidence))
    }

    /// The same where a template that matches word for word has the slot in place of this span.
    pub(super) fn probability_as_said(&self, evidence: &Evidence) -> f32 {
        evidence.with_tagger(self.judge(evidence).said.odds(evidence))
    }

    /// The probability below which a span with this evidence fills nothing.
    pub(crate) fn least(&self, evidence: &Evidence) -> f32 {
        let judge = self.judge(evidence);
        // The tagger's probabilities are calibrated: they need no bar of their own beyond even odds.
        logistic(
            log_odds(if evidence.is_free() { judge.least_free } else { judge.least }) * (1.0 - evidence.tagged_share),
        )
    }
}

impl Judge {
    fn new(JudgeFile { found, free, said, least, least_free }: &JudgeFile) -> Result<Self, String> {
        let [found, free, said] = [found, free, said].map(Weights::new);
        Ok(Self { found: found?, free: free?, said: said?, least: *least, least_free: *least_free })
    }
}

impl Weights {
    /// A number without a named weight weighs nothing.
    fn new(NamedWeights { bias, weights }: &NamedWeights) -> Result<Self, String> {
        let unknown = weights.keys().find(|name| !Evidence::NAMES.contains(&name.as_str()));
        if let Some(name) = unknown {
            return Err(format!("there is no evidence `{name}`"));
        }
        let weights = Evidence::NAMES.map(|name| weights.get(name).copied().unwrap_or_default());
        Ok(Self { bias: *bias, weights })
    }

    /// Log-odds.
    fn odds(&self, evidence: &Evidence) -> f32 {
        let score: f32 = self.weights.iter().zip(evidence.values()).map(|(weight, value)| weight * value).sum();
        self.bias + score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_model_knows_the_evidence() {
        let model = SlotModel::parse(learned::text!("reader/slots.json")).unwrap();
        for judge in [model.read, model.unread] {
            assert!((0.05..0.8).contains(&judge.least) && (0.05..0.8).contains(&judge.least_free));
            let all = [&judge.found, &judge.free, &judge.said];
            assert!(all.iter().all(|one| one.weights.iter().all(|weight| weight.is_finite())));
        }
    }

    #[test]
    fn evidence_that_nobody_has_is_an_error() {
        let none = r#"{"bias": 0, "weights": {}}"#;
        let odd = r#"{"bias": 0, "weights": {"raeder": 1}}"#;
        let part = |free: &str| {
            format!(r#"{{"least": 0.5, "least_free": 0.5, "found": {none}, "free": {free}, "said": {none}}}"#)
        };
        let text = format!(r#"{{"read": {}, "unread": {}, "rules": {{}}}}"#, part(none), part(odd));
        assert_eq!(SlotModel::parse(&text).unwrap_err(), "there is no evidence `raeder`");
    }
}
