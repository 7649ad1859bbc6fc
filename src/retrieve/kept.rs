//! Vectors that are computed once and kept in a file, by their text.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use super::{
    BuildError,
    build::{BATCH, embed_patiently, off_thread},
    store::{Store, VectorKey},
};
use crate::embed::{Embedder, Purpose};

/// The vectors of a file, and which of them are still used. Reading and writing block.
pub struct VectorCache {
    store: Option<Store>,
    known: HashMap<VectorKey, Vec<f32>>,
    used: HashSet<VectorKey>,
    has_new: bool,
}

impl VectorCache {
    /// The vectors of the file at `path`, if they have this identity; without a path none, and none are kept.
    #[must_use]
    pub fn open(path: Option<&Path>, identity: &str, dimensions: usize) -> Self {
        let store = path.map(|path| Store::new(path, identity, dimensions));
        let known = store.as_ref().map(Store::load).unwrap_or_default();
        Self { store, known, used: HashSet::new(), has_new: false }
    }

    pub fn get(&mut self, text: &str) -> Option<Vec<f32>> {
        let key = VectorKey::new(Purpose::Symmetric, text);
        let found = self.known.get(&key).cloned()?;
        self.used.insert(key);
        Some(found)
    }

    pub fn put(&mut self, text: &str, vector: Vec<f32>) {
        let key = VectorKey::new(Purpose::Symmetric, text);
        self.known.insert(key, vector);
        self.used.insert(key);
        self.has_new = true;
    }

    /// Saves the vectors that were used or added since opening; others leave the file. A failure is only logged.
    pub fn save(mut self) {
        let before = self.known.len();
        self.known.retain(|key, _| self.used.contains(key));
        if let Some(store) = self.store.filter(|_| self.has_new || self.known.len() < before) {
            store.save(&self.known);
        }
    }
}

/// The vectors of texts, in order; embeds those that the file at `path` does not contain.
///
/// # Errors
/// If the embedder fails or breaks its contract.
pub async fn vectors_of(
    texts: Vec<String>,
    embedder: &dyn Embedder,
    path: Option<&Path>,
) -> Result<Vec<Vec<f32>>, BuildError> {
    let (path, identity, dimensions) =
        (path.map(Path::to_owned), embedder.identity().to_owned(), embedder.dimensions());
    let (mut kept, mut vectors, texts) = off_thread(move || {
        let mut kept = VectorCache::open(path.as_deref(), &identity, dimensions);
        let vectors: HashMap<String, Vec<f32>> =
            texts.iter().filter_map(|text| Some((text.clone(), kept.get(text)?))).collect();
        (kept, vectors, texts)
    })
    .await?;
    let mut missing: Vec<String> = texts.iter().filter(|text| !vectors.contains_key(*text)).cloned().collect();
    missing.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    missing.dedup();
    for batch in missing.chunks(BATCH) {
        let made = embed_patiently(embedder, batch.to_vec(), Purpose::Symmetric).await?;
        if made.len() != batch.len() {
            return Err(BuildError::Count { asked: batch.len(), got: made.len() });
        }
        for (text, vector) in batch.iter().zip(made) {
            if vector.len() != dimensions || !vector.iter().all(|value| value.is_finite()) {
                return Err(BuildError::Vector { expected: dimensions, got: vector.len() });
            }
            kept.put(text, vector.clone());
            vectors.insert(text.clone(), vector);
        }
    }
    off_thread(move || kept.save()).await?;
    Ok(texts.iter().map(|text| vectors.get(text).cloned().unwrap_or_default()).collect())
}
