//! The decision model: what evidence is worth, learned over many modules and shipped as a small file.
//!
//! `models/decision/README.md` says what it was fitted on and by which command.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::{Deserialize, Serialize};

use crate::{
    decide::features::{BesideInput, Features, RankingInput},
    learned,
    probability::logistic,
};

/// Weights over the candidates of one utterance, over what retrieval knows about the best of them, and over everything
/// that is known about an alternative.
#[derive(Debug, Clone)]
pub struct DecisionModel {
    /// Which function, if one is meant: a softmax over the candidates.
    ranking: Vec<f32>,
    scope: Logistic,
    score: Logistic,
    /// One judge for modules with learned exemplars, one for functions that are only described.
    learned: Judge,
    described: Judge,
    beside: FormEffects<Logistic>,
    pub thresholds: FittedThresholds,
}

/// A value for each thing that an utterance may do while a form is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormEffects<T> {
    /// It gives values for the form.
    pub tells: T,
    /// It declines to say what was asked for.
    pub declines: T,
    /// It asks for something else.
    pub elsewhere: T,
    /// It does none of these: a remark, or a question that nothing answers.
    pub nothing: T,
}

/// Probabilities from which on something is done, chosen on modules that the weights were not fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct FittedThresholds {
    /// From here on, a call is made without a question.
    pub sure: f32,
    /// The same for functions that are only described: too little is known about them to demand as much.
    pub described: f32,
    /// From here on, a reading is worth a question; below it, nothing is meant.
    pub in_scope: f32,
}

/// How likely it is that any function is meant, that one function is, and that a whole answer is right.
#[derive(Debug, Clone)]
struct Judge {
    anything: Logistic,
    function: Logistic,
    whole: Logistic,
}

#[derive(Debug, Clone, Default)]
struct Logistic {
    bias: f32,
    terms: Vec<Term>,
}

/// The weight of one feature and its bounds: a value beyond the range that was seen in fitting counts as the bound.
#[derive(Debug, Clone, Copy, Default)]
struct Term {
    weight: f32,
    low: f32,
    high: f32,
}

/// The shape of the file: weights by name, with the standardization already folded in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenModel {
    #[expect(dead_code, reason = "for who reads the file")]
    command: String,
    ranking: BTreeMap<String, f32>,
    scope: WrittenLogistic,
    score: WrittenLogistic,
    learned: WrittenJudge,
    described: WrittenJudge,
    beside: FormEffects<WrittenLogistic>,
    thresholds: FittedThresholds,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenJudge {
    anything: WrittenLogistic,
    function: WrittenLogistic,
    whole: WrittenLogistic,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLogistic {
    bias: f32,
    /// Weight, low, high.
    weights: BTreeMap<String, [f32; 3]>,
}

impl DecisionModel {
    /// The model that is part of the program.
    ///
    /// # Panics
    /// Never: a test reads the file.
    #[must_use]
    pub fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<DecisionModel> = OnceLock::new();
        BUNDLED.get_or_init(|| Self::parse(Self::text()).expect("the bundled model is read by a test"))
    }

    /// The text of the bundled file.
    #[must_use]
    pub fn text() -> &'static str {
        learned::text!("decision/model.json")
    }

    /// Reads a file of this shape. A feature that the file does not name has weight 0.
    ///
    /// # Errors
    /// If the text does not have this shape, or names a feature that does not exist.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written: WrittenModel = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let regression = |written: WrittenLogistic| Logistic::read(&Features::NAMES, &written);
        let judge = |written: WrittenJudge| {
            let [anything, function, whole] = [written.anything, written.function, written.whole].map(regression);
            Ok::<_, String>(Judge { anything: anything?, function: function?, whole: whole? })
        };
        let beside = |written: WrittenLogistic| Logistic::read(&BesideInput::NAMES, &written);
        Ok(Self {
            ranking: in_order(&RankingInput::NAMES, &written.ranking)?,
            scope: regression(written.scope)?,
            score: regression(written.score)?,
            learned: judge(written.learned)?,
            described: judge(written.described)?,
            beside: FormEffects {
                tells: beside(written.beside.tells)?,
                declines: beside(written.beside.declines)?,
                elsewhere: beside(written.beside.elsewhere)?,
                nothing: beside(written.beside.nothing)?,
            },
            thresholds: written.thresholds,
        })
    }

    /// The log-odds of a candidate against others of the same utterance.
    #[must_use]
    pub fn rank(&self, input: &RankingInput) -> f32 {
        self.ranking.iter().zip(input.values()).map(|(weight, value)| weight * value).sum()
    }

    /// The probability that anything is meant, by what retrieval knows about the best candidate.
    #[must_use]
    pub fn scope(&self, features: &Features) -> f32 {
        self.scope.probability(features)
    }

    /// The probability that anything is meant, only by how far the best score lies above the usual score of sentences
    /// about other things.
    #[must_use]
    pub fn scope_by_score(&self, above_usual: f32) -> f32 {
        self.score.probability(&Features { above_usual, ..Features::default() })
    }

    /// The probability that anything is meant, by everything that is known about the likeliest alternative. For
    /// functions that are only described, its slots do not count.
    #[must_use]
    pub fn anything(&self, features: &Features) -> f32 {
        self.judge(features).anything.probability(features)
    }

    /// The probability that this function is meant, and nothing else.
    #[must_use]
    pub fn function(&self, features: &Features) -> f32 {
        self.judge(features).function.probability(features)
    }

    /// The probability that this whole answer is right: the function, and every value.
    #[must_use]
    pub fn whole(&self, features: &Features) -> f32 {
        self.judge(features).whole.probability(features)
    }

    /// The terms of the log-odds of [`Self::whole`]: the name of each feature with what it adds; the constant term is
    /// `bias`.
    #[must_use]
    pub fn parts_of_whole(&self, features: &Features) -> Vec<(&'static str, f32)> {
        let whole = &self.judge(features).whole;
        let parts = whole.terms.iter().zip(features.values()).map(|(term, value)| term.of(value));
        std::iter::once(("bias", whole.bias)).chain(Features::NAMES.into_iter().zip(parts)).collect()
    }

    /// What an utterance does while a form is open: the probability of each thing that is `possible`, 0 for the others.
    #[must_use]
    pub fn beside(&self, input: &BesideInput, possible: FormEffects<bool>) -> FormEffects<f32> {
        let values = input.values();
        let share = |it: &Logistic, is_possible: bool| if is_possible { it.log_odds(&values).exp() } else { 0.0 };
        let tells = share(&self.beside.tells, possible.tells);
        let declines = share(&self.beside.declines, possible.declines);
        let elsewhere = share(&self.beside.elsewhere, possible.elsewhere);
        let nothing = share(&self.beside.nothing, possible.nothing);
        let all = (tells + declines + elsewhere + nothing).max(f32::MIN_POSITIVE);
        FormEffects { tells: tells / all, declines: declines / all, elsewhere: elsewhere / all, nothing: nothing / all }
    }

    /// Exemplars that are too many to learn from are evidence all the same.
    const fn judge(&self, features: &Features) -> &Judge {
        if features.unlearned > 0.0 && features.exemplars == 0.0 { &self.described } else { &self.learned }
    }
}

impl Term {
    fn of(self, value: f32) -> f32 {
        self.weight * value.max(self.low).min(self.high)
    }
}

impl Logistic {
    /// The terms are in the order of `names`.
    fn read(names: &[&str], written: &WrittenLogistic) -> Result<Self, String> {
        let terms = in_order(names, &written.weights)?.into_iter();
        let terms = terms.map(|[weight, low, high]| Term { weight, low, high }).collect();
        Ok(Self { bias: written.bias, terms })
    }

    fn log_odds(&self, values: &[f32]) -> f32 {
        let counted = self.terms.iter().zip(values).map(|(term, value)| term.of(*value));
        self.bias + counted.sum::<f32>()
    }

    fn probability(&self, features: &Features) -> f32 {
        logistic(self.log_odds(&features.values()))
    }
}

fn in_order<T: Copy + Default>(names: &[&str], weights: &BTreeMap<String, T>) -> Result<Vec<T>, String> {
    if let Some(odd) = weights.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("there is no feature `{odd}`"));
    }
    Ok(names.iter().map(|name| weights.get(*name).copied().unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_file_is_a_model() {
        let model = DecisionModel::parse(DecisionModel::text()).unwrap();
        assert!(model.thresholds.in_scope <= model.thresholds.sure);
        assert!(model.ranking.iter().any(|weight| *weight != 0.0));
    }

    #[test]
    fn only_what_is_possible_has_a_share() {
        let model = DecisionModel::bundled();
        for value in [-1e6, -1.0, 0.0, 1.0, 1e6] {
            let input = BesideInput::all(value);
            let all = model.beside(&input, FormEffects { tells: true, declines: true, elsewhere: true, nothing: true });
            assert!((all.tells + all.declines + all.elsewhere + all.nothing - 1.0).abs() < 1e-5);
            let none = model.beside(&input, FormEffects { nothing: true, ..FormEffects::default() });
            assert_eq!(none, FormEffects { nothing: 1.0, ..FormEffects::default() });
        }
    }

    #[test]
    fn a_feature_that_does_not_exist_is_named() {
        let text = DecisionModel::text().replacen("\"vectors\"", "\"vektors\"", 1);
        assert_eq!(DecisionModel::parse(&text).unwrap_err(), "there is no feature `vektors`");
    }

    #[test]
    fn the_parts_make_the_whole() {
        let model = DecisionModel::bundled();
        for value in [-2.0, 0.0, 0.5, 3.0] {
            let features = Features::all(value);
            let sum: f32 = model.parts_of_whole(&features).iter().map(|(_, adds)| adds).sum();
            assert!((logistic(sum) - model.whole(&features)).abs() < 1e-3, "{value}");
        }
    }

    #[test]
    fn probabilities_lie_between_0_and_1() {
        let model = DecisionModel::bundled();
        for value in [-1e6, -1.0, 0.0, 1.0, 1e6] {
            let features = Features::all(value);
            assert!(model.rank(&RankingInput::all(value)).is_finite());
            let all =
                [model.scope(&features), model.anything(&features), model.function(&features), model.whole(&features)];
            for found in all {
                assert!((0.0..=1.0).contains(&found));
            }
        }
    }
}
