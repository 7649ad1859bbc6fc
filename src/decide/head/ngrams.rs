//! Sentences as hashed TF-IDF vectors of their words, pairs of words, and characters within words.
//!
//! Each n-gram is hashed to a place and a sign. Where two n-grams share a place, products of two vectors stay the same
//! on average. A place does not change when the module gets another sentence.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::{language::facts::is_unspaced_language, text::fold};

/// The most characters of an n-gram within a word; the word's own borders count.
const LONGEST: usize = 4;
/// How many characters of a text are read: a far longer utterance says nothing more about its function.
const READ: usize = 1_000;

/// How rare each n-gram is among the sentences of a module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ngrams {
    rarity: FxHashMap<u64, f32>,
    /// The rarity of an n-gram that was never seen, and of one that occurs in a single sentence.
    unseen: f32,
    once: f32,
    is_unspaced: bool,
    /// The number of places of a vector.
    width: usize,
}

/// The n-grams of a text with their counts: n-grams of words, and n-grams of characters.
struct NgramCounts {
    words: Vec<(u64, f32)>,
    characters: Vec<(u64, f32)>,
}

impl NgramCounts {
    /// Each n-gram once.
    fn ngrams(self) -> impl Iterator<Item = u64> {
        self.words.into_iter().chain(self.characters).map(|(ngram, _)| ngram)
    }
}

impl Ngrams {
    /// Learns how rare n-grams are from `texts` in a language (BCP 47). There are about as many places as n-grams, at
    /// most `widest`.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 sentences")]
    pub(crate) fn new<'t>(texts: impl Iterator<Item = &'t str>, language: &str, widest: usize) -> Self {
        let is_unspaced = is_unspaced_language(language);
        let mut known = Self { is_unspaced, ..Self::default() };
        let (mut counts, mut all) = (FxHashMap::<u64, u32>::default(), 0_usize);
        for text in texts {
            known.count(text).ngrams().for_each(|ngram| *counts.entry(ngram).or_default() += 1);
            all += 1;
        }
        let rarity = |count: u32| ((1.0 + all as f32) / (1.0 + count as f32)).ln() + 1.0;
        known.rarity = counts.into_iter().map(|(ngram, count)| (ngram, rarity(count))).collect();
        (known.unseen, known.once) = (rarity(0), rarity(1));
        known.width = known.rarity.len().next_power_of_two().min(widest);
        known
    }

    /// Adds the n-grams of a few more texts as if each occurred once; all others keep their rarity.
    pub(crate) fn with<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Self {
        let mut more = self.clone();
        for text in texts {
            for ngram in self.count(text).ngrams() {
                more.rarity.entry(ngram).or_insert(self.once);
            }
        }
        more
    }

    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The text as a vector, with the places that are not 0. The words and the characters each have length 1. N-grams
    /// that occur in no sentence have no place.
    pub(crate) fn vector(&self, text: &str) -> Vec<(u32, f32)> {
        let mut vector: Vec<(u32, f32)> = Vec::new();
        let NgramCounts { words, characters } = self.count(text);
        for block in [words, characters] {
            let weighted: Vec<(u64, f32, bool)> = block
                .into_iter()
                .map(|(ngram, count)| {
                    let rarity = self.rarity.get(&ngram);
                    (ngram, (1.0 + count.ln()) * rarity.copied().unwrap_or(self.unseen), rarity.is_some())
                })
                .collect();
            let known = weighted.iter().filter(|(.., is_known)| *is_known);
            let length = known.clone().map(|(_, weight, _)| weight * weight).sum::<f32>().sqrt();
            for (ngram, weight, _) in known {
                let place = (ngram >> 8) as usize % self.width;
                let sign = if ngram >> 63 == 0 { 1.0 } else { -1.0 };
                vector.push((u32::try_from(place).unwrap_or_default(), sign * weight / length.max(f32::EPSILON)));
            }
        }
        // A fixed order makes sums the same in each run.
        vector.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        vector
    }

    fn count(&self, text: &str) -> NgramCounts {
        let text: String = fold(text).chars().take(READ).collect();
        let (mut words, mut runs): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let tokens: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|token| !token.is_empty()).collect();
        for (index, token) in tokens.iter().enumerate() {
            words.push(hashed(&(1_u8, token)));
            if let Some(next) = tokens.get(index + 1) {
                words.push(hashed(&(2_u8, token, next)));
            }
            let mut characters: Vec<char> = token.chars().collect();
            if !self.is_unspaced {
                characters.insert(0, ' ');
                characters.push(' ');
            }
            for length in 1..=LONGEST.min(characters.len()) {
                runs.extend(characters.windows(length).map(|run| hashed(&(3_u8, run))));
            }
        }
        NgramCounts { words: counts(words), characters: counts(runs) }
    }
}

/// Each n-gram with its count.
#[expect(clippy::cast_precision_loss, reason = "as many as a text has characters")]
fn counts(mut ngrams: Vec<u64>) -> Vec<(u64, f32)> {
    ngrams.sort_unstable();
    ngrams.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as f32)).collect()
}

fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    // The product mixes upwards; this mixes the high bits down too.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &[(u32, f32)], other: &[(u32, f32)]) -> f32 {
        let dense = |entries: &[(u32, f32)]| {
            let mut dense = vec![0.0_f32; 2_048];
            entries.iter().for_each(|(place, value)| dense[*place as usize] += value);
            dense
        };
        let (one, other) = (dense(one), dense(other));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt().max(f32::EPSILON)
    }

    #[test]
    fn a_typing_error_changes_little_and_another_sentence_much() {
        let texts = ["cancel my order please", "where is my parcel", "I want to return a shirt", "change the address"];
        let ngrams = Ngrams::new(texts.into_iter(), "en", 2_048);
        let [right, typo, other] =
            ["cancel my order", "cancle my oder", "change the address"].map(|text| ngrams.vector(text));
        assert!(cosine(&right, &typo) > cosine(&right, &other) + 0.2);
    }

    #[test]
    fn japanese_is_read_by_its_characters() {
        let texts = ["注文をキャンセルしたい", "荷物はどこですか"];
        let ngrams = Ngrams::new(texts.into_iter(), "ja", 2_048);
        let [said, own, other] = ["注文キャンセルして", texts[0], texts[1]].map(|text| ngrams.vector(text));
        assert!(cosine(&said, &own) > cosine(&said, &other) + 0.2);
    }

    #[test]
    fn what_was_never_seen_lies_nowhere() {
        let ngrams = Ngrams::new(["abc"].into_iter(), "en", 2_048);
        assert!(ngrams.vector("").is_empty() && ngrams.vector("xyz").len() <= 1);
    }
}
