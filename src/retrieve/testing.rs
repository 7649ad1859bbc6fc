//! A fake embedder and random vectors, for the tests of this layer.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;

use crate::embed::{EmbedError, Embedder, Purpose};

/// Bags of hashed words and letter triples: texts that share words are near. Counts what it embeds.
pub(crate) struct Hashed {
    pub(crate) identity: String,
    pub(crate) embedded: AtomicUsize,
    /// How many calls are first refused as busy.
    pub(crate) busy: AtomicUsize,
}

pub(crate) const DIMENSIONS: usize = 48;

impl Hashed {
    pub(crate) fn new(identity: &str) -> Self {
        Self { identity: identity.to_owned(), embedded: AtomicUsize::new(0), busy: AtomicUsize::new(0) }
    }

    pub(crate) fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; DIMENSIONS];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let letters: Vec<char> = word.chars().collect();
            let pieces = letters.windows(3).map(|piece| piece.iter().collect::<String>()).chain([word.to_owned()]);
            for piece in pieces {
                let hash = blake3::hash(piece.as_bytes());
                let at = usize::from(hash.as_bytes()[0]) % DIMENSIONS;
                vector[at] += if hash.as_bytes()[1] & 1 == 0 { 1.0 } else { -1.0 };
            }
        }
        vector
    }
}

impl Embedder for Hashed {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn embed(&self, texts: Vec<String>, _purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            if self.busy.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                return Err(EmbedError::Busy);
            }
            self.embedded.fetch_add(texts.len(), Ordering::SeqCst);
            Ok(texts.iter().map(|text| Self::vector(text)).collect())
        })
    }
}

/// `count` unit vectors, one after the other; the same for the same seed.
pub(crate) fn random_rows(count: usize, dimensions: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    (0..count)
        .flat_map(|_| super::vector::unit((0..dimensions).map(|_| next()).collect()).expect("it has a direction"))
        .collect()
}
