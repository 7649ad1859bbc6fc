//! What an utterance does, as its sentence vector and its words tell: a linear model that belongs to the reader's
//! encoder.
//!
//! `models/reader/README.md` says what it was fitted on.

mod ngrams;

use serde::Deserialize;

use crate::{linear::dot, probability::MOST_ODDS};

/// What tells acts apart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeechActs {
    acts: Vec<String>,
    /// A row for each act.
    weights: Vec<Vec<f32>>,
    biases: Vec<f32>,
    /// What words and characters tell beside the vector.
    #[serde(default)]
    ngrams: Option<NgramWeights>,
}

/// Weights of the places that n-grams fall into.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NgramWeights {
    /// A weight is as many times this.
    scale: f32,
    /// A row for each act.
    weights: Vec<Vec<i8>>,
}

/// Log-odds of each act against a request, -8 to 8.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ActOdds {
    /// It asks about a state, a rule or the past.
    pub question: f32,
    /// It has nothing to do with any module.
    pub other: f32,
    /// It answers a question, or declines to.
    pub reply: f32,
    pub decline: f32,
}

impl ActOdds {
    /// The probability that it asks about a state, a rule or the past.
    #[must_use]
    pub fn asks(&self) -> f32 {
        let all = [self.question, self.other, self.reply, self.decline].map(f32::exp);
        all[0] / (1.0 + all.iter().sum::<f32>())
    }
}

impl SpeechActs {
    /// # Errors
    /// If the text is no such model for vectors of this length.
    pub(super) fn parse(text: &str, dimensions: usize) -> Result<Self, String> {
        let acts: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let fits = acts.weights.iter().all(|row| row.len() == dimensions);
        if !fits || acts.weights.len() != acts.acts.len() || acts.biases.len() != acts.acts.len() {
            return Err(format!("acts.json does not fit vectors of {dimensions} dimensions"));
        }
        if let Some(ngrams) = &acts.ngrams {
            let width = ngrams.weights.first().map_or(0, Vec::len);
            let is_even = ngrams.weights.iter().all(|row| row.len() == width);
            if !width.is_power_of_two() || !is_even || ngrams.weights.len() != acts.acts.len() {
                return Err("acts.json must have a power of two of n-gram weights, as many for each act".to_owned());
            }
        }
        if !acts.acts.iter().any(|name| name == "request") {
            return Err("acts.json has no act `request`".to_owned());
        }
        Ok(acts)
    }

    /// Of a text and its sentence vector; even odds where the vector has another length.
    #[must_use]
    pub fn odds(&self, text: &str, vector: &[f32]) -> ActOdds {
        let places =
            self.ngrams.as_ref().map(|ngrams| ngrams::places(text, ngrams.weights.first().map_or(1, Vec::len)));
        let logit = |name: &str| {
            let at = self.acts.iter().position(|act| act == name)?;
            let row = self.weights.get(at).filter(|row| row.len() == vector.len())?;
            let of_words = self.ngrams.as_ref().zip(places.as_ref()).map(|(ngrams, places)| {
                let weighted = places.iter().map(|(place, share)| share * f32::from(ngrams.weights[at][*place]));
                ngrams.scale * weighted.sum::<f32>()
            });
            Some(dot(row, vector) + of_words.unwrap_or_default() + self.biases[at])
        };
        let Some(request) = logit("request") else { return ActOdds::default() };
        let against = |name: &str| logit(name).map_or(0.0, |it| (it - request).clamp(-MOST_ODDS, MOST_ODDS));
        ActOdds {
            question: against("question"),
            other: against("other"),
            reply: against("reply"),
            decline: against("decline"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"acts": ["request", "question"], "weights": [[1, 0], [0, 1]], "biases": [0, 0.5]}"#;

    #[test]
    fn odds_are_against_a_request() {
        let acts = SpeechActs::parse(TEXT, 2).unwrap();
        let odds = acts.odds("is it on?", &[1.0, 0.0]);
        assert!((odds.question + 0.5).abs() < 1e-6 && odds.other == 0.0);
        assert_eq!(acts.odds("is it on?", &[1.0]), ActOdds::default());
    }

    #[test]
    fn words_count_beside_the_vector() {
        let ngrams = r#", "ngrams": {"scale": 0.5, "weights": [[0, 0], [2, 2]]}}"#;
        let acts = SpeechActs::parse(&TEXT.replace('}', ngrams), 2).unwrap();
        assert!(acts.odds("is it on?", &[1.0, 0.0]).question > 0.0);
        assert_eq!(acts.odds("", &[1.0, 0.0]).question, -0.5);
    }

    #[test]
    fn a_model_of_another_encoder_is_named() {
        assert!(SpeechActs::parse(TEXT, 3).unwrap_err().contains("3 dimensions"));
        assert!(SpeechActs::parse(&TEXT.replace("request", "order"), 2).unwrap_err().contains("`request`"));
        let uneven = TEXT.replace('}', r#", "ngrams": {"scale": 1, "weights": [[0, 0], [0]]}}"#);
        assert!(SpeechActs::parse(&uneven, 2).unwrap_err().contains("n-gram"));
    }
}
