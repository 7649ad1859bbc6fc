//! The weights of words and vectors in a score. `models/decision/README.md` says where each number was chosen.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::learned;

/// The bundled weights.
fn file() -> &'static str {
    learned::text!("decision/retrieval.json")
}

static BUNDLED: LazyLock<Weights> =
    LazyLock::new(|| serde_json::from_str(file()).expect("a test reads the bundled weights"));

/// The weights that are part of the program.
pub(super) fn weights() -> &'static Weights {
    &BUNDLED
}

/// Scores, cosines and normalised BM25 are in 0 to 1.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weights {
    /// Share of BM25 in an exemplar's score; the rest is dense.
    pub(super) lexical_of_exemplar: f32,
    /// Share of BM25 in a description's score.
    pub(super) lexical_of_description: f32,
    /// The value that both shares reach in a language of which the embedder sees nothing but letters; linear in
    /// between.
    pub(super) lexical_where_blind: f32,
    /// How much further background scores reach above their median there: accidentally shared words are a larger part
    /// of them.
    pub(super) reach_where_blind: f32,
    /// The clarity (see [`super::Background::clarity`]) from which on the embedder counts fully.
    pub(super) clear: f32,
    /// The clarity up to which it does not count.
    pub(super) blind: f32,
    /// Share of the description in the score of a function that also has exemplars.
    pub(super) description: f32,
    /// Right descriptions are less near than right exemplars. A function without exemplars is raised by this share of
    /// its distance to 1, so that it can compete with functions that have them; at most doubled, so that zero stays
    /// zero.
    pub(super) lift: f32,
    /// How much nearer than its nearest negative exemplar a function's nearest positive one must be to keep its full
    /// score.
    pub(super) clearance: f32,
    /// How soon repetitions of a term stop counting: k1 of BM25.
    pub(super) repetition: f32,
    /// How strongly longer documents are penalised: b of BM25.
    pub(super) length: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_file_has_every_weight_and_no_other() {
        let read: Result<Weights, _> = serde_json::from_str(file());
        assert!(read.is_ok(), "{read:?}");
        let odd = file().replacen("\"lift\"", "\"lifts\"", 1);
        assert!(serde_json::from_str::<Weights>(&odd).unwrap_err().to_string().contains("`lifts`"));
    }
}
