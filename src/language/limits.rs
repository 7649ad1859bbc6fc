//! Words that make a value a limit, and words that name slots of limits.

use serde::Deserialize;

use crate::text::{Utterance, fold};

/// Phrases that make a value a limit of one kind: the highest or the lowest number, the first or the last day.
#[derive(Debug, Deserialize)]
#[serde(from = "Bounds")]
pub struct Limit {
    /// Words in names of slots that take this limit: "max".
    pub names: Vec<String>,
    /// Phrases right before the value, each as its words: "at most".
    pub before: Vec<Vec<String>>,
    /// Phrases right behind the value: "or less".
    pub behind: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    names: Vec<String>,
    before: Vec<String>,
    behind: Vec<String>,
}

impl From<Bounds> for Limit {
    fn from(Bounds { names, before, behind }: Bounds) -> Self {
        let words = |phrase: &String| Utterance::new(phrase).folded_words().map(str::to_owned).collect();
        let phrases = |all: &[String]| all.iter().map(words).collect();
        Self {
            names: names.iter().map(|name| fold(name)).collect(),
            before: phrases(&before),
            behind: phrases(&behind),
        }
    }
}
