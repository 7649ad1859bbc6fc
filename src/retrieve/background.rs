//! General sentences: the yardstick for "out of scope".
//!
//! Scores of two modules are not comparable as they are: among 150 functions something is near to any sentence, among
//! five hardly anything. So each module is measured once, when it is built, against sentences that have nothing to do
//! with any module ([`TEXTS`]). Some may happen to be in a module's scope, so the median is used and not the maximum.

use std::{collections::HashMap, path::Path};

use super::{
    BuildError, Index, Query,
    store::{Store, VectorKey},
};
use crate::{
    embed::{Embedder, Purpose},
    text::tag,
};

/// The sentences by the language of the modules that they measure, one per line; the first entry serves all other
/// languages.
///
/// A module in a language that shares no letters with English would find nothing in English sentences, and so would
/// accept everything said in its own language.
const TEXTS: [(&str, &str); 2] = [("en", include_str!("background.txt")), ("ja", include_str!("background.ja.txt"))];

/// The sentences of one language with their vectors.
#[derive(Debug, Clone)]
pub struct Background {
    sentences: Vec<BackgroundSentence>,
    clarity: f32,
}

#[derive(Debug, Clone)]
struct BackgroundSentence {
    text: &'static str,
    symmetric: Vec<f32>,
    asymmetric: Vec<f32>,
}

impl Background {
    /// The language of the sentences that measure modules with this BCP 47 tag.
    #[must_use]
    pub fn language(tag: &str) -> &'static str {
        let wanted = tag::language(tag);
        TEXTS.iter().map(|(language, _)| *language).find(|known| *known == wanted).unwrap_or("en")
    }

    /// The sentences for a language returned by [`Self::language`]. Embeds those that the file at `store` does not
    /// contain. If the file cannot be written, only the next start takes longer.
    ///
    /// # Errors
    /// If the embedder fails.
    pub async fn load(language: &str, embedder: &dyn Embedder, store: Option<&Path>) -> Result<Self, BuildError> {
        let own = texts(language);
        let store = store.map(|path| Store::new(path, embedder.identity(), embedder.dimensions()));
        let mut vectors = store.as_ref().map(Store::load).unwrap_or_default();
        let before = vectors.len();
        let symmetric = embed(own, embedder, Purpose::Symmetric, &mut vectors).await?;
        let asymmetric = if embedder.is_symmetric() {
            symmetric.clone()
        } else {
            embed(own, embedder, Purpose::Query, &mut vectors).await?
        };
        let clarity = if own == TEXTS[0].1 {
            1.0
        } else {
            let english = embed(TEXTS[0].1, embedder, Purpose::Symmetric, &mut vectors).await?;
            clarity(&symmetric, &english)
        };
        if let Some(store) = store.filter(|_| vectors.len() > before) {
            store.save(&vectors);
        }
        let sentences = own
            .lines()
            .zip(symmetric.into_iter().zip(asymmetric))
            .map(|(text, (symmetric, asymmetric))| BackgroundSentence { text, symmetric, asymmetric })
            .collect();
        Ok(Self { sentences, clarity })
    }

    /// The sentences with their vectors, embedded as exemplars.
    pub fn sentences(&self) -> impl Iterator<Item = (&'static str, &[f32])> {
        self.sentences.iter().map(|sentence| (sentence.text, sentence.symmetric.as_slice()))
    }

    /// How well the embedder distinguishes unlike sentences of this language, relative to English: 0 if all look the
    /// same, 1 if at least as well. A model that never learned a language sees little but its letters.
    #[must_use]
    pub const fn clarity(&self) -> f32 {
        self.clarity
    }
}

/// The sentences in the language of a BCP 47 tag, if there are any.
pub(super) fn sentences_in(tag: &str) -> Option<impl Iterator<Item = &'static str>> {
    let wanted = tag::language(tag);
    TEXTS.iter().find(|(known, _)| *known == wanted).map(|(_, texts)| texts.lines())
}

fn texts(language: &str) -> &'static str {
    TEXTS.iter().find(|(known, _)| *known == language).map_or(TEXTS[0].1, |(_, texts)| texts)
}

/// The mean distance between any two of these sentences, relative to English ones.
fn clarity(vectors: &[Vec<f32>], english: &[Vec<f32>]) -> f32 {
    let (own, usual) = (1.0 - mean_cosine(vectors), 1.0 - mean_cosine(english));
    if usual > f32::EPSILON { (own / usual).clamp(0.0, 1.0) } else { 1.0 }
}

/// Over all pairs of unit vectors.
#[expect(clippy::cast_precision_loss, reason = "some sixty sentences")]
fn mean_cosine(vectors: &[Vec<f32>]) -> f32 {
    let mut total = 0.0;
    for (at, one) in vectors.iter().enumerate() {
        total += vectors[..at].iter().map(|other| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>()).sum::<f32>();
    }
    let pairs = vectors.len() * vectors.len().saturating_sub(1) / 2;
    total / pairs.max(1) as f32
}

async fn embed(
    texts: &str,
    embedder: &dyn Embedder,
    purpose: Purpose,
    vectors: &mut HashMap<VectorKey, Vec<f32>>,
) -> Result<Vec<Vec<f32>>, BuildError> {
    let missing: Vec<String> =
        texts.lines().filter(|text| !vectors.contains_key(&VectorKey::new(purpose, text))).map(str::to_owned).collect();
    if !missing.is_empty() {
        let made = embedder.embed(missing.clone(), purpose).await.map_err(BuildError::Embed)?;
        vectors.extend(missing.iter().zip(made).map(|(text, vector)| (VectorKey::new(purpose, text), vector)));
    }
    Ok(texts.lines().map(|text| vectors.get(&VectorKey::new(purpose, text)).cloned().unwrap_or_default()).collect())
}

impl Index {
    /// The typical score of the best function for out-of-scope sentences, 0 to 1: the median over the background,
    /// raised a little where words count most.
    #[must_use]
    pub fn usual_score(&self, background: &Background) -> f32 {
        let mut scores: Vec<f32> = background
            .sentences
            .iter()
            .map(|sentence| {
                let query =
                    Query { text: sentence.text, asymmetric: &sentence.asymmetric, symmetric: &sentence.symmetric };
                self.search(&query, 1, None).first().map_or(0.0, |candidate| candidate.score)
            })
            .collect();
        scores.sort_by(f32::total_cmp);
        scores.get(scores.len() / 2).copied().unwrap_or_default() + self.shares.reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_measured_with_its_own_sentences_or_english_ones() {
        assert_eq!(["ja-JP", "JA", "en", "de", ""].map(Background::language), ["ja", "ja", "en", "en", "en"]);
        for (language, texts) in TEXTS {
            assert_eq!(texts.lines().count(), 64, "{language}");
        }
        assert!(sentences_in("de").is_none() && sentences_in("ja").is_some());
    }

    #[test]
    fn sentences_that_all_look_alike_are_unclear() {
        let apart = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        let alike = vec![vec![1.0, 0.0], vec![0.8, 0.6]];
        assert!((clarity(&apart, &apart) - 1.0).abs() < 1e-6);
        assert!((clarity(&alike, &apart) - 0.2).abs() < 1e-6);
        assert!((clarity(&apart, &[]) - 1.0).abs() < 1e-6, "nothing to compare with");
    }
}
