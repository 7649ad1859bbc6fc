//! Cached vectors, for builds that read the same utterance many times: see [`crate::ablation`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;

use super::{EmbedError, Embedded, Embedder, LIVE_TEXTS, Purpose, Reader, SharedEmbedder};

/// Caches vectors for requests. Texts of an index are not cached, as it is built once.
pub(super) struct CachingEmbedder {
    inner: SharedEmbedder,
    known: Mutex<HashMap<(String, Purpose), Embedded>>,
}

impl CachingEmbedder {
    pub(super) fn new(inner: SharedEmbedder) -> Self {
        Self { inner, known: Mutex::default() }
    }
}

impl Embedder for CachingEmbedder {
    fn identity(&self) -> &str {
        self.inner.identity()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        if texts.len() > LIVE_TEXTS {
            return self.inner.embed(texts, purpose);
        }
        let embedded = self.embed_words(texts, purpose);
        Box::pin(async { Ok(embedded.await?.into_iter().map(|one| one.vector).collect()) })
    }

    fn embed_words(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Embedded>, EmbedError>> {
        if texts.len() > LIVE_TEXTS {
            return self.inner.embed_words(texts, purpose);
        }
        Box::pin(async move {
            let keys: Vec<(String, Purpose)> = texts.iter().map(|text| (text.clone(), purpose)).collect();
            let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let all: Option<Vec<Embedded>> = keys.iter().map(|key| lock().get(key).cloned()).collect();
            if let Some(all) = all {
                return Ok(all);
            }
            let made = self.inner.embed_words(texts, purpose).await?;
            lock().extend(keys.into_iter().zip(made.iter().cloned()));
            Ok(made)
        })
    }

    fn works_here(&self) -> bool {
        self.inner.works_here()
    }

    fn reader(&self) -> Option<Arc<Reader>> {
        self.inner.reader()
    }
}
