//! What an utterance does, as its sentence vector tells: a linear model that belongs to the reader's encoder.
//!
//! `models/reader/README.md` says what it was fitted on.

use serde::Deserialize;

/// Odds beyond these say no more.
const MOST: f32 = 8.0;

/// What tells acts apart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeechActs {
    acts: Vec<String>,
    /// A row for each act.
    weights: Vec<Vec<f32>>,
    biases: Vec<f32>,
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
        if !acts.acts.iter().any(|name| name == "request") {
            return Err("acts.json has no act `request`".to_owned());
        }
        Ok(acts)
    }

    /// Of a sentence vector; even odds where it has another length.
    #[must_use]
    pub fn odds(&self, vector: &[f32]) -> ActOdds {
        let logit = |name: &str| {
            let at = self.acts.iter().position(|act| act == name)?;
            let row = self.weights.get(at).filter(|row| row.len() == vector.len())?;
            Some(row.iter().zip(vector).map(|(weight, value)| weight * value).sum::<f32>() + self.biases[at])
        };
        let Some(request) = logit("request") else { return ActOdds::default() };
        let against = |name: &str| logit(name).map_or(0.0, |it| (it - request).clamp(-MOST, MOST));
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
        let odds = acts.odds(&[1.0, 0.0]);
        assert!((odds.question + 0.5).abs() < 1e-6 && odds.other == 0.0);
        assert_eq!(acts.odds(&[1.0]), ActOdds::default());
    }

    #[test]
    fn a_model_of_another_encoder_is_named() {
        assert!(SpeechActs::parse(TEXT, 3).unwrap_err().contains("3 dimensions"));
        assert!(SpeechActs::parse(&TEXT.replace("request", "order"), 2).unwrap_err().contains("`request`"));
    }
}
