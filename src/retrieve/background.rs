//! What people say about other things: the yardstick for "out of scope".
//!
//! Scores of two modules cannot be compared as they are: among 150 functions something is near to any sentence, among
//! five hardly anything. So each module is measured once, when it is built, against sentences that have nothing to do
//! with any module ([`TEXTS`]). Some may happen to be in a module's scope, which is why the median counts and not the
//! highest.

use std::{collections::HashMap, path::Path};

use super::{
    BuildError, Index, Query,
    store::{Key, Store},
};
use crate::embed::{Embedder, Purpose};

/// One sentence a line.
const TEXTS: &str = include_str!("background.txt");

/// The sentences with their vectors.
#[derive(Debug, Clone)]
pub struct Background {
    sentences: Vec<Sentence>,
}

#[derive(Debug, Clone)]
struct Sentence {
    text: &'static str,
    symmetric: Vec<f32>,
    asymmetric: Vec<f32>,
}

impl Background {
    /// Embeds what the file at `store` does not hold already. A file that cannot be written costs time at the next
    /// start, nothing else.
    ///
    /// # Errors
    /// If the embedder fails.
    pub async fn load(embedder: &dyn Embedder, store: Option<&Path>) -> Result<Self, BuildError> {
        let store = store.map(|path| Store::new(path, embedder.identity(), embedder.dimensions()));
        let mut vectors = store.as_ref().map(Store::load).unwrap_or_default();
        let before = vectors.len();
        let symmetric = embed(embedder, Purpose::Symmetric, &mut vectors).await?;
        let asymmetric = if embedder.is_symmetric() {
            symmetric.clone()
        } else {
            embed(embedder, Purpose::Query, &mut vectors).await?
        };
        if let Some(store) = store.filter(|_| vectors.len() > before) {
            store.save(&vectors);
        }
        let sentences = TEXTS
            .lines()
            .zip(symmetric.into_iter().zip(asymmetric))
            .map(|(text, (symmetric, asymmetric))| Sentence { text, symmetric, asymmetric })
            .collect();
        Ok(Self { sentences })
    }
}

async fn embed(
    embedder: &dyn Embedder,
    purpose: Purpose,
    vectors: &mut HashMap<Key, Vec<f32>>,
) -> Result<Vec<Vec<f32>>, BuildError> {
    let missing: Vec<String> =
        TEXTS.lines().filter(|text| !vectors.contains_key(&Key::new(purpose, text))).map(str::to_owned).collect();
    if !missing.is_empty() {
        let made = embedder.embed(missing.clone(), purpose).await.map_err(BuildError::Embed)?;
        vectors.extend(missing.iter().zip(made).map(|(text, vector)| (Key::new(purpose, text), vector)));
    }
    Ok(TEXTS.lines().map(|text| vectors.get(&Key::new(purpose, text)).cloned().unwrap_or_default()).collect())
}

impl Index {
    /// The score that the best function usually gets for what is none of its business, 0 to 1: the median over the
    /// background.
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
        scores.get(scores.len() / 2).copied().unwrap_or_default()
    }
}
