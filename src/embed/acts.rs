//! Dialogue acts of an utterance, by itself and beside an open form, from its sentence vector and its words: linear
//! models that belong to the reader's encoder.
//!
//! `models/reader/README.md` describes the training data.

mod ngrams;

use std::collections::HashSet;

use serde::Deserialize;

use crate::{linear::dot, probability::MOST_ODDS};

/// A classifier of dialogue acts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeechActs {
    acts: Vec<String>,
    /// One row per act.
    weights: Vec<Vec<f32>>,
    biases: Vec<f32>,
    /// Weights of words and characters, in addition to the vector.
    #[serde(default)]
    ngrams: Option<NgramWeights>,
}

/// Weights of the buckets that n-grams are hashed to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NgramWeights {
    /// A weight is its stored number times this scale.
    scale: f32,
    /// One row per act.
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

/// Log-odds of acts beside an open form, against a request for something else, -8 to 8.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TurnOdds {
    /// It gives values for the form.
    pub tells: f32,
    /// It declines to give what was asked for.
    pub declines: f32,
    /// It does not affect the form.
    pub nothing: f32,
}

/// A file with such a model, and the act that its odds are against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ActsFile {
    pub name: &'static str,
    against: &'static str,
}

/// Acts of an utterance by itself: `request`, `question` ...
pub(super) const ACTS: ActsFile = ActsFile { name: "acts.json", against: "request" };
/// Acts beside an open form: `tells`, `declines` ...
pub(super) const TURNS: ActsFile = ActsFile { name: "turns.json", against: "elsewhere" };
/// The same for the reply to a confirmation: `consents`, or something else.
pub(super) const CONSENTS: ActsFile = ActsFile { name: "consents.json", against: "else" };

/// How people agree to what was read out to them, in whatever words.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consents {
    odds: SpeechActs,
    /// The words of those who agree, in small letters.
    words: HashSet<String>,
}

impl Consents {
    /// # Errors
    /// If the text is not such a model for vectors of this length.
    pub(super) fn parse(text: &str, dimensions: usize) -> Result<Self, String> {
        let consents: Self = serde_json::from_str(text).map_err(|error| format!("{}: {error}", CONSENTS.name))?;
        consents.odds.check(CONSENTS, dimensions)?;
        Ok(consents)
    }

    /// Log-odds that a reply agrees and says nothing else, -8 to 8; even if the vector has another length.
    #[must_use]
    pub fn odds(&self, text: &str, vector: &[f32]) -> f32 {
        let [odds] = self.odds.against(CONSENTS, ["consents"], text, vector);
        odds
    }

    /// True if people who agree say each word of the text. A number is none of them.
    #[must_use]
    pub fn know(&self, text: &str) -> bool {
        ngrams::words(text).iter().all(|word| self.words.contains(word))
    }
}

impl SpeechActs {
    /// # Errors
    /// If the text is not such a model for vectors of this length.
    pub(super) fn parse(text: &str, ActsFile { name, against }: ActsFile, dimensions: usize) -> Result<Self, String> {
        let acts: Self = serde_json::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        acts.check(ActsFile { name, against }, dimensions)?;
        Ok(acts)
    }

    fn check(&self, ActsFile { name, against }: ActsFile, dimensions: usize) -> Result<(), String> {
        let fits = self.weights.iter().all(|row| row.len() == dimensions);
        if !fits || self.weights.len() != self.acts.len() || self.biases.len() != self.acts.len() {
            return Err(format!("{name} does not fit vectors of {dimensions} dimensions"));
        }
        if let Some(ngrams) = &self.ngrams {
            let width = ngrams.weights.first().map_or(0, Vec::len);
            let is_even = ngrams.weights.iter().all(|row| row.len() == width);
            if !width.is_power_of_two() || !is_even || ngrams.weights.len() != self.acts.len() {
                return Err(format!("{name} must have a power of two of n-gram weights, as many for each act"));
            }
        }
        if !self.acts.iter().any(|act| act == against) {
            return Err(format!("{name} has no act `{against}`"));
        }
        Ok(())
    }

    /// The odds for a text and its sentence vector; even odds if the vector has another length.
    #[must_use]
    pub fn odds(&self, text: &str, vector: &[f32]) -> ActOdds {
        let [question, other, reply, decline] =
            self.against(ACTS, ["question", "other", "reply", "decline"], text, vector);
        ActOdds { question, other, reply, decline }
    }

    /// The same beside an open form.
    #[must_use]
    pub fn turn_odds(&self, text: &str, vector: &[f32]) -> TurnOdds {
        let [tells, declines, nothing] = self.against(TURNS, ["tells", "declines", "nothing"], text, vector);
        TurnOdds { tells, declines, nothing }
    }

    fn against<const N: usize>(&self, file: ActsFile, acts: [&str; N], text: &str, vector: &[f32]) -> [f32; N] {
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
        let Some(base) = logit(file.against) else { return [0.0; N] };
        acts.map(|name| logit(name).map_or(0.0, |it| (it - base).clamp(-MOST_ODDS, MOST_ODDS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"acts": ["request", "question"], "weights": [[1, 0], [0, 1]], "biases": [0, 0.5]}"#;

    #[test]
    fn odds_are_against_a_request() {
        let acts = SpeechActs::parse(TEXT, ACTS, 2).unwrap();
        let odds = acts.odds("is it on?", &[1.0, 0.0]);
        assert!((odds.question + 0.5).abs() < 1e-6 && odds.other == 0.0);
        assert_eq!(acts.odds("is it on?", &[1.0]), ActOdds::default());
    }

    #[test]
    fn odds_beside_a_form_are_against_another_request() {
        let turns = TEXT.replace("request", "elsewhere").replace("question", "tells");
        let odds = SpeechActs::parse(&turns, TURNS, 2).unwrap().turn_odds("at nine", &[0.0, 1.0]);
        assert!((odds.tells - 1.5).abs() < 1e-6 && odds.nothing == 0.0);
    }

    #[test]
    fn words_count_beside_the_vector() {
        let ngrams = r#", "ngrams": {"scale": 0.5, "weights": [[0, 0], [2, 2]]}}"#;
        let acts = SpeechActs::parse(&TEXT.replace('}', ngrams), ACTS, 2).unwrap();
        assert!(acts.odds("is it on?", &[1.0, 0.0]).question > 0.0);
        assert_eq!(acts.odds("", &[1.0, 0.0]).question, -0.5);
    }

    #[test]
    fn those_who_agree_are_known_by_their_words() {
        let odds = TEXT.replace("request", "else").replace("question", "consents");
        let consents = Consents::parse(&format!(r#"{{"odds": {odds}, "words": ["fire", "away", "、"]}}"#), 2).unwrap();
        assert!((consents.odds("Fire away!", &[0.0, 1.0]) - 1.5).abs() < 1e-6);
        assert!(
            consents.know("Fire away") && consents.know("") && !consents.know("fire Anna") && !consents.know("fire 4")
        );
        assert!(Consents::parse(&format!(r#"{{"odds": {TEXT}, "words": []}}"#), 2).unwrap_err().contains("`else`"));
    }

    #[test]
    fn a_model_of_another_encoder_is_named() {
        assert!(SpeechActs::parse(TEXT, ACTS, 3).unwrap_err().contains("3 dimensions"));
        assert!(SpeechActs::parse(&TEXT.replace("request", "order"), ACTS, 2).unwrap_err().contains("`request`"));
        let uneven = TEXT.replace('}', r#", "ngrams": {"scale": 1, "weights": [[0, 0], [0]]}}"#);
        assert!(SpeechActs::parse(&uneven, ACTS, 2).unwrap_err().contains("n-gram"));
    }
}
