//! BM25 over a few thousand short texts, in memory, with tantivy's inverted index.
//!
//! The query's terms are made here, so nothing that a person types is query syntax. And scores are summed term by term
//! over the postings instead of by tantivy's scorers: pooling per function needs the score of every matching document,
//! for which a top-k collector is the wrong tool, and walking each list once is several times faster.

use std::collections::HashSet;

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::{
    InvertedIndexReader, Term,
    schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{PreTokenizedString, Token},
};
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    background, fuse, values,
    weights::{Weights, weights},
};
use crate::{
    language::facts::is_unspaced_language,
    text::{fold, is_unspaced, script::is_han, tag},
};

/// Most characters of a query that are used, so that a pasted book costs no more than a page.
const QUERY_CHARS: usize = 8192;
/// Most distinct terms of a query that are looked up; an utterance has far fewer.
const QUERY_TERMS: usize = 512;
/// Longer "words" are ignored; tantivy refuses them at 65,530 bytes.
const TERM_BYTES: usize = 256;
/// tantivy's minimum for an index writer.
const ARENA_BYTES: usize = 15_000_000;

/// Why the lexical index could not be built.
#[derive(Debug, thiserror::Error)]
#[error("the lexical index could not be built: {0}")]
pub struct LexicalError(#[from] tantivy::TantivyError);

/// Turns text into terms: words, folded and stemmed by language; in scripts without spaces pairs of characters, and
/// single Han characters.
pub struct Analyzer {
    stemmer: Option<Stemmer>,
}

impl Analyzer {
    /// `language` is a BCP 47 tag; a language without a stemmer is only folded.
    #[must_use]
    pub fn new(language: &str) -> Self {
        let algorithm = match tag::language(language).as_str() {
            "ar" => Some(Algorithm::Arabic),
            "da" => Some(Algorithm::Danish),
            "nl" => Some(Algorithm::Dutch),
            "en" => Some(Algorithm::English),
            "fi" => Some(Algorithm::Finnish),
            "fr" => Some(Algorithm::French),
            "de" => Some(Algorithm::German),
            "el" => Some(Algorithm::Greek),
            "hu" => Some(Algorithm::Hungarian),
            "it" => Some(Algorithm::Italian),
            "nb" | "nn" | "no" => Some(Algorithm::Norwegian),
            "pt" => Some(Algorithm::Portuguese),
            "ro" => Some(Algorithm::Romanian),
            "ru" => Some(Algorithm::Russian),
            "es" => Some(Algorithm::Spanish),
            "sv" => Some(Algorithm::Swedish),
            "ta" => Some(Algorithm::Tamil),
            "tr" => Some(Algorithm::Turkish),
            _ => None,
        };
        Self { stemmer: algorithm.map(Stemmer::create) }
    }

    /// The terms of `text`, in order, with repetitions.
    pub fn terms(&self, text: &str, mut take: impl FnMut(String)) {
        // Composed first, so that a syllable or a voiced kana is one character; folding, which decomposes, comes last.
        let text: String = text.nfkc().flat_map(char::to_lowercase).map(straight).collect();
        for word in text.unicode_words() {
            for word in word.split('_').filter(|word| !word.is_empty() && word.len() <= TERM_BYTES) {
                if !word.chars().any(is_unspaced) {
                    self.take_word(word, &mut take);
                }
            }
        }
        take_characters(&text, &mut take);
        text.chars().filter(|character| values::is_placeholder(*character)).for_each(|kind| take(kind.to_string()));
    }

    fn take_word(&self, word: &str, take: &mut impl FnMut(String)) {
        // Stemmers need accents, so the stem is folded and not the word.
        match &self.stemmer {
            Some(stemmer) => take(fold(&stemmer.stem(word))),
            None => take(fold(word)),
        }
    }
}

/// Each pair of neighbours in a run of unspaced script, and each character that means something by itself: Han, or one
/// that stands alone. Pairs cross word boundaries, which are only guesses in these scripts.
///
/// Kana, Thai and Hangul are letters: counted one by one, they made up half of the terms of a sentence and added
/// nothing (99.3 against 100 % AUROC of in and out of scope in the module `delivery`).
fn take_characters(text: &str, take: &mut impl FnMut(String)) {
    let characters: Vec<char> = text.chars().collect();
    for (at, &character) in characters.iter().enumerate().filter(|(_, character)| is_unspaced(**character)) {
        let before = at.checked_sub(1).map(|before| characters[before]).filter(|before| is_unspaced(*before));
        let is_alone = before.is_none() && !characters.get(at + 1).is_some_and(|next| is_unspaced(*next));
        if is_alone || is_han(character) {
            take(character.to_string());
        }
        if let Some(before) = before {
            take([before, character].iter().collect());
        }
    }
}

const fn straight(character: char) -> char {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{02BC}' => '\'',
        other => other,
    }
}

/// The inverted index of some texts.
pub(super) struct Lexical {
    analyzer: Analyzer,
    /// `None` if no text had a term.
    postings: Option<(std::sync::Arc<InvertedIndexReader>, Field)>,
    /// `k1 * (1 - b + b * length / mean length)` of each document, and of each text that is only counted.
    norms: Vec<f32>,
    /// Number of documents that can be found.
    documents: usize,
    /// Texts with at least one term.
    counted: usize,
}

impl Lexical {
    /// Document `i` is the `i`-th text; an empty one is never found and does not count. Where characters are terms,
    /// some dozens of exemplars do not show which terms are common, so the background sentences are counted too.
    ///
    /// # Errors
    /// If tantivy fails.
    pub(super) fn build<'a>(texts: impl Iterator<Item = &'a str>, language: &str) -> Result<Self, LexicalError> {
        let common = if is_unspaced_language(language) { background::sentences_in(language) } else { None };
        let analyzer = Analyzer::new(language);
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqs);
        let field = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        // One segment, filled in order: the document's number is its position, and no merge is needed.
        let directory = tantivy::directory::RamDirectory::create();
        let mut writer =
            tantivy::Index::builder().schema(schema.build()).single_segment_index_writer(directory, ARENA_BYTES)?;
        let mut lengths = Vec::new();
        let mut documents = 0;
        let texts =
            texts.inspect(|_| documents += 1).chain(common.into_iter().flatten().map(|text| -> &'a str { text }));
        for text in texts {
            let mut tokens = Vec::new();
            analyzer.terms(text, |text| tokens.push(Token { position: tokens.len(), text, ..Token::default() }));
            lengths.push(tokens.len());
            let mut document = tantivy::TantivyDocument::new();
            document.add_pre_tokenized_text(field, PreTokenizedString { text: String::new(), tokens });
            writer.add_document(document)?;
        }
        let counted = lengths.iter().filter(|&&length| length > 0).count();
        let postings = if counted == 0 {
            None
        } else {
            let reader = writer.finalize()?.reader()?;
            let searcher = reader.searcher();
            Some((searcher.segment_reader(0).inverted_index(field)?, field))
        };
        Ok(Self { analyzer, postings, norms: norms(&lengths, counted), documents, counted })
    }

    /// The distinct terms of a query, for every index of the same language.
    #[must_use]
    pub(super) fn query(&self, text: &str) -> Vec<String> {
        let end = text.char_indices().nth(QUERY_CHARS).map_or(text.len(), |(at, _)| at);
        let mut terms = HashSet::new();
        self.analyzer.terms(&text[..end], |term| {
            if terms.len() < QUERY_TERMS {
                terms.insert(term);
            }
        });
        // Sorted, so that the same query always has the same scores to the last bit.
        let mut terms: Vec<String> = terms.into_iter().collect();
        terms.sort_unstable();
        terms
    }

    /// The score of every document for the terms of [`Self::query`], 0 to 1 ([`fuse::lexical_scale`]); empty if no
    /// document matches.
    ///
    /// Unreadable postings count as no match; this does not happen, since the index is in memory.
    #[must_use]
    pub(super) fn scores(&self, query: &[String]) -> Vec<f32> {
        let Some((postings, field)) = &self.postings else { return Vec::new() };
        let mut scores = Vec::new();
        let mut of_itself = 0.0;
        let k1 = weights().repetition;
        for term in query {
            let term = Term::from_field_text(*field, term);
            let found = postings.read_block_postings(&term, IndexRecordOption::WithFreqs).ok().flatten();
            let Some(mut found) = found else {
                of_itself += self.inverse_frequency(0);
                continue;
            };
            let weight = self.inverse_frequency(found.doc_freq());
            of_itself += weight;
            if scores.is_empty() {
                scores = vec![0.0; self.norms.len()];
            }
            while found.block_len() > 0 {
                for (&document, &frequency) in found.docs().iter().zip(found.freqs()) {
                    let document = document as usize;
                    #[expect(clippy::cast_precision_loss, reason = "how often a word stands in a sentence")]
                    let frequency = frequency as f32;
                    scores[document] += weight * (k1 + 1.0) * frequency / (frequency + self.norms[document]);
                }
                found.advance();
            }
        }
        scores.truncate(self.documents);
        let best = scores.iter().copied().fold(0.0, f32::max);
        let scale = fuse::lexical_scale(best, of_itself);
        scores.iter_mut().for_each(|score| *score = (*score * scale).min(1.0));
        scores
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of documents, far below 2^24 in what is served")]
    fn inverse_frequency(&self, documents: u32) -> f32 {
        let (all, with) = (self.counted as f32, documents as f32);
        ((all - with + 0.5) / (with + 0.5)).ln_1p()
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of sentences")]
fn norms(lengths: &[usize], counted: usize) -> Vec<f32> {
    let mean = (lengths.iter().sum::<usize>() as f32 / counted.max(1) as f32).max(1.0);
    let Weights { repetition: k1, length: b, .. } = *weights();
    lengths.iter().map(|&length| k1 * (1.0 - b + b * length as f32 / mean)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(language: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Analyzer::new(language).terms(text, |term| found.push(term));
        found
    }

    #[test]
    fn words_are_folded_and_stemmed_by_language() {
        assert_eq!(terms("en", "What’s the RUNNING_order, José?"), ["what", "the", "run", "order", "jose"]);
        assert_eq!(terms("en-GB", "flights"), terms("en", "Flight"));
        assert_eq!(terms("de", "Häuser"), terms("de", "Hauser"));
        assert_eq!(terms("xx", "flights"), ["flights"]);
        assert_eq!(terms("", "Ünïted"), ["united"]);
    }

    #[test]
    fn unspaced_scripts_give_characters_and_pairs() {
        assert_eq!(terms("ja", "東京 へ"), ["東", "京", "東京", "へ"]);
        assert_eq!(terms("ja", "ガム と"), ["ガム", "と"]);
        assert_eq!(terms("ja", "荷物を"), ["荷", "物", "荷物", "物を"]);
        assert_eq!(terms("ko", "한국"), ["한국"]);
        assert_eq!(terms("zh", "订 pizza"), ["pizza", "订"]);
        assert_eq!(terms("th", "ไป"), ["ไป"]);
    }

    #[test]
    fn the_text_with_the_rarer_word_wins_and_scores_are_normalised() {
        let index = Lexical::build(["play some jazz", "play some rock", "", "play"].into_iter(), "en").expect("built");
        let scores = index.scores(&index.query("please play jazz!"));
        assert_eq!(scores.len(), 4);
        assert!(scores[0] > scores[1] && scores[1] > 0.0 && scores[2] == 0.0);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        let known = index.scores(&index.query("play jazz"));
        assert!(known[0] > scores[0], "a word that is nowhere costs");
        assert!(index.scores(&index.query("xyzzy")).is_empty());
        assert!(index.scores(&index.query("")).is_empty());
    }

    #[test]
    fn a_very_long_query_is_looked_at_in_part() {
        let index = Lexical::build(["play some jazz"].into_iter(), "en").expect("built");
        assert!(index.scores(&index.query(&format!("jazz {}", "é ".repeat(500_000))))[0] > 0.0);
        assert!(index.scores(&index.query(&format!("{} jazz", "é ".repeat(500_000)))).is_empty());
    }

    #[test]
    fn an_index_of_nothing_finds_nothing() {
        for texts in [vec![], vec!["", "?!"]] {
            let index = Lexical::build(texts.into_iter(), "en").expect("built");
            assert!(index.scores(&index.query("anything")).is_empty());
        }
    }

    /// A straightforward BM25.
    fn oracle(texts: &[String], query: &str) -> Vec<f32> {
        let documents: Vec<Vec<String>> = texts.iter().map(|text| terms("en", text)).collect();
        let counted: Vec<&Vec<String>> = documents.iter().filter(|document| !document.is_empty()).collect();
        let mean = counted.iter().map(|document| document.len()).sum::<usize>() as f32 / counted.len().max(1) as f32;
        let query: std::collections::BTreeSet<String> = terms("en", query).into_iter().collect();
        let inverse = |term: &String| {
            let with = documents.iter().filter(|document| document.contains(term)).count() as f32;
            (1.0 + (counted.len() as f32 - with + 0.5) / (with + 0.5)).ln()
        };
        let raw: Vec<f32> = documents
            .iter()
            .map(|document| {
                let score = |term: &String| {
                    let frequency = document.iter().filter(|other| *other == term).count() as f32;
                    let norm = 1.2 * (0.25 + 0.75 * document.len() as f32 / mean);
                    inverse(term) * 2.2 * frequency / (frequency + norm)
                };
                if document.is_empty() { 0.0 } else { query.iter().map(score).sum() }
            })
            .collect();
        let best = raw.iter().copied().fold(0.0, f32::max);
        let of_itself: f32 = query.iter().map(inverse).sum();
        raw.iter().map(|score| if best > 0.0 { (score / (best * of_itself).sqrt()).min(1.0) } else { 0.0 }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn scores_are_those_of_plain_bm25(texts in prop::collection::vec("[a-e]{0,2}( [a-e]{1,2}){0,6}", 1..200), query in "[a-f]{1,2}( [a-f]{1,2}){0,5}") {
            let index = Lexical::build(texts.iter().map(String::as_str), "en").expect("built");
            let mut scores = index.scores(&index.query(&query));
            if scores.is_empty() {
                scores = vec![0.0; texts.len()];
            }
            for (score, expected) in scores.iter().zip(oracle(&texts, &query)) {
                prop_assert!((score - expected).abs() < 1e-4, "{score} {expected}");
            }
        }

        #[test]
        fn no_text_breaks_it(texts in prop::collection::vec("\\PC{0,20}", 0..5), query in any::<String>()) {
            let index = Lexical::build(texts.iter().map(String::as_str), "tr").expect("built");
            let scores = index.scores(&index.query(&query));
            prop_assert!(scores.is_empty() || scores.len() == texts.len());
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        }
    }
}
