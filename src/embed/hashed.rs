//! Vectors without a model: each word and each character trigram votes for a few dimensions chosen by its hash.

use futures::future::BoxFuture;

use super::{EmbedError, Embedder, HashedOptions, Purpose, unit};
use crate::text::{fnv1a, fold};

/// Texts with common words or parts of words are near each other; meaning is not considered.
///
/// The same on every machine and in every version with the same [`identity`](Embedder::identity).
#[derive(Debug, Clone)]
pub struct Hashed {
    dimensions: usize,
    identity: String,
}

impl Hashed {
    #[must_use]
    pub fn new(options: &HashedOptions) -> Self {
        let dimensions = options.dimensions.clamp(8, 65_536);
        Self { dimensions, identity: format!("hashed-1-{dimensions}") }
    }

    /// The vector of one text, of length 1.
    #[must_use]
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        // Every text has a direction, even the empty one.
        self.vote(&mut vector, "", 0.01);
        let folded = fold(text);
        let mut padded = String::new();
        for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            self.vote(&mut vector, word, 1.0);
            padded.clear();
            padded.extend([" ", word, " "]);
            let ends: Vec<usize> = padded.char_indices().map(|(at, _)| at).chain([padded.len()]).collect();
            for window in ends.windows(4) {
                self.vote(&mut vector, &padded[window[0]..window[3]], 0.4);
            }
        }
        unit(vector).unwrap_or_else(|| {
            // Votes may cancel out exactly.
            let mut vector = vec![0.0; self.dimensions];
            vector[0] = 1.0;
            vector
        })
    }

    fn vote(&self, vector: &mut [f32], feature: &str, weight: f32) {
        let hash = mixed(feature);
        // Signs make collisions cancel out on average.
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        let dimension = (hash & 0xffff_ffff) as usize % self.dimensions;
        vector[dimension] += sign * weight;
    }
}

impl Embedder for Hashed {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn works_here(&self) -> bool {
        true
    }

    fn embed(&self, texts: Vec<String>, _: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move { Ok(texts.iter().map(|text| self.vector(text)).collect()) })
    }
}

/// FNV-1a with a final mix: without it the high bits of short words hardly differ.
fn mixed(text: &str) -> u64 {
    let hash = fnv1a(text.bytes());
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashed() -> Hashed {
        Hashed::new(&HashedOptions::default())
    }

    fn cosine(a: &str, b: &str) -> f32 {
        hashed().vector(a).iter().zip(hashed().vector(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn words_in_common_bring_texts_near() {
        let near = cosine("book a table for two", "I want to book a table");
        let far = cosine("book a table for two", "what's the weather like");
        assert!(near > far + 0.3, "{near} {far}");
        assert!(cosine("Zürich", "zurich") > 0.999);
        assert!(cosine("booking", "booked") > 0.2);
    }

    #[test]
    fn vectors_do_not_change_between_versions() {
        let vector = Hashed::new(&HashedOptions { dimensions: 8 }).vector("hello world");
        let rounded: Vec<i32> = vector.iter().map(|x| (x * 1000.0).round() as i32).collect();
        assert_eq!(rounded, [0, -263, -7, -263, -657, 657, 0, 0]);
    }

    proptest! {
        #[test]
        fn any_text_has_a_unit_vector(text in "\\PC{0,80}", dimensions in 0usize..600) {
            let vector = Hashed::new(&HashedOptions { dimensions }).vector(&text);
            let norm: f32 = vector.iter().map(|x| x * x).sum();
            prop_assert!((norm - 1.0).abs() < 1e-3);
        }
    }
}
