//! An embedder that remembers: people say the same things in thousands of dialogues, and most of a turn is the embedding.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use uptake::embed::{EmbedError, Embedded, Embedder, Purpose, Reader, SharedEmbedder};

/// Texts that are remembered; then it begins anew. Some 20 kB each.
const MOST: usize = 20_000;

pub(super) struct Remembered {
    embedder: SharedEmbedder,
    known: Mutex<HashMap<(String, Purpose), Embedded>>,
}

impl Remembered {
    pub(super) fn over(embedder: SharedEmbedder) -> SharedEmbedder {
        Arc::new(Self { embedder, known: Mutex::default() })
    }

    fn known(&self, texts: &[String], purpose: Purpose) -> Option<Vec<Embedded>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        texts.iter().map(|text| known.get(&(text.clone(), purpose)).cloned()).collect()
    }

    fn remember(&self, texts: Vec<String>, purpose: Purpose, made: &[Embedded]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MOST {
            known.clear();
        }
        known.extend(texts.into_iter().map(|text| (text, purpose)).zip(made.iter().cloned()));
    }
}

impl Embedder for Remembered {
    fn identity(&self) -> &str {
        self.embedder.identity()
    }

    fn dimensions(&self) -> usize {
        self.embedder.dimensions()
    }

    fn is_symmetric(&self) -> bool {
        self.embedder.is_symmetric()
    }

    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        self.embedder.embed(texts, purpose)
    }

    fn embed_words(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Embedded>, EmbedError>> {
        Box::pin(async move {
            if let Some(known) = self.known(&texts, purpose) {
                return Ok(known);
            }
            let made = self.embedder.embed_words(texts.clone(), purpose).await?;
            self.remember(texts, purpose, &made);
            Ok(made)
        })
    }

    fn works_here(&self) -> bool {
        self.embedder.works_here()
    }

    fn reader(&self) -> Option<Arc<Reader>> {
        self.embedder.reader()
    }
}
