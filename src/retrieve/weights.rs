//! What words and vectors count in a score. `models/decision/README.md` says where each number was chosen.

use std::sync::LazyLock;

use serde::Deserialize;

/// The bundled ones.
const FILE: &str = include_str!("../../models/decision/retrieval.json");

static BUNDLED: LazyLock<Weights> =
    LazyLock::new(|| serde_json::from_str(FILE).expect("a test reads the bundled weights"));

/// The weights that are part of the program.
pub(super) fn weights() -> &'static Weights {
    &BUNDLED
}

/// Scores, cosines and normalised BM25 are of 0 to 1.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weights {
    /// Share of BM25 in an exemplar's score; the rest is dense.
    pub(super) lexical_of_exemplar: f32,
    /// Share of BM25 in a description's score.
    pub(super) lexical_of_description: f32,
    /// What both shares grow to in a language of which the embedder sees nothing but letters; on the way there they
    /// grow straight.
    pub(super) lexical_where_blind: f32,
    /// How much further the scores of sentences about other things reach above their median there: words that happen to
    /// be shared are a larger part of them.
    pub(super) reach_where_blind: f32,
    /// The clarity (see [`super::Background::clarity`]) from which on the embedder counts in full.
    pub(super) clear: f32,
    /// The clarity up to which it does not count at all.
    pub(super) blind: f32,
    /// Share of the description in the score of a function that also has exemplars.
    pub(super) description: f32,
    /// A right description is less near than right exemplars are. A function without exemplars is lifted by this share
    /// of what it lacks to 1, so that it can stand beside functions that have them; at most doubled, as nothing stays
    /// nothing.
    pub(super) lift: f32,
    /// How much nearer than its nearest negative exemplar a function's nearest positive one must be to keep its full
    /// score.
    pub(super) clearance: f32,
    /// How soon repetition of a term stops counting: k1 of BM25.
    pub(super) repetition: f32,
    /// How much longer documents are held back: b of BM25.
    pub(super) length: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_file_has_every_weight_and_no_other() {
        let read: Result<Weights, _> = serde_json::from_str(FILE);
        assert!(read.is_ok(), "{read:?}");
        let odd = FILE.replacen("\"lift\"", "\"lifts\"", 1);
        assert!(serde_json::from_str::<Weights>(&odd).unwrap_err().to_string().contains("`lifts`"));
    }
}
