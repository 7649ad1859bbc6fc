//! What a head was fitted to, and how much of that an earlier head was fitted to as well.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use rustc_hash::FxHashMap;

use super::{Example, solver::Duals};

/// A fit continues from another as long as at most one sentence in this many came or went since a fit started from
/// zero.
const FEW: usize = 20;

/// The sentences of a fit and the duals that it found for them.
#[derive(Debug, Clone)]
pub(super) struct Taught {
    language: String,
    functions: Vec<String>,
    /// A hash of each sentence's text and function.
    sentences: Vec<u64>,
    /// How many sentences came or went since a fit started from zero.
    pub(super) changed: usize,
    /// By vectors, and by n-grams; `None` where nothing was fitted.
    pub(super) duals: [Option<Duals>; 2],
}

/// Where the sentences and the classes of a fit are in an earlier one.
pub(super) struct Since {
    pub(super) rows: Vec<Option<usize>>,
    pub(super) classes: Vec<Option<usize>>,
    /// See [`Taught::changed`].
    pub(super) changed: usize,
}

impl Taught {
    pub(super) fn new(examples: &[Example<'_>], functions: &[&str], language: &str) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let sentence = |example: &Example<'_>| {
            let function = example.sentence.function.map(|function| functions[function.index()]);
            hasher.hash_one((function, &example.sentence.text, example.vector.len()))
        };
        Self {
            language: language.to_owned(),
            functions: functions.iter().map(|&name| name.to_owned()).collect(),
            sentences: examples.iter().map(sentence).collect(),
            changed: 0,
            duals: [None, None],
        }
    }

    /// `None` if too much is new.
    pub(super) fn since(&self, before: &Self) -> Option<Since> {
        let mut known: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for (row, sentence) in before.sentences.iter().enumerate() {
            known.entry(*sentence).or_default().push(row);
        }
        let rows: Vec<Option<usize>> =
            self.sentences.iter().map(|sentence| known.get_mut(sentence).and_then(Vec::pop)).collect();
        let came = rows.iter().filter(|row| row.is_none()).count();
        let went = before.sentences.len() + came - rows.len();
        let changed = before.changed + came + went;
        if changed * FEW > rows.len() || self.language != before.language {
            return None;
        }
        let places: FxHashMap<&str, usize> = before.functions.iter().map(String::as_str).zip(0..).collect();
        let nothing = Some(before.functions.len());
        let classes = self.functions.iter().map(|name| places.get(name.as_str()).copied()).chain([nothing]).collect();
        Some(Since { rows, classes, changed })
    }
}
