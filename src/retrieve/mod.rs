//! From an utterance to the few functions it may mean: descriptions and exemplars, lexical and dense, fused.
//!
//! [`documents()`] makes the searchable parts of a module, [`Index::build`] embeds and indexes them once,
//! [`Index::search`] answers from memory in a fraction of a millisecond.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tokio::task::JoinError;

use crate::{
    embed::EmbedError,
    module::{ExemplarId, FunctionId, OwnerMode},
};

mod background;
mod build;
mod documents;
mod fuse;
mod graph;
mod kept;
mod lexical;
mod search;
mod store;
#[cfg(test)]
pub(crate) mod testing;
pub mod values;
mod vector;
mod weights;

pub use background::Background;
pub use documents::documents;
pub use fuse::{DescriptionSignals, ExemplarSignals};
pub use kept::{VectorCache, vectors_of};
pub use lexical::{Analyzer, LexicalError};

use fuse::Shares;
use graph::Graph;
use lexical::Lexical;
use vector::{Coded, Vectors};

/// One searchable item: a function's description, or one of its exemplars.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexDocument {
    pub function: FunctionId,
    pub source: DocumentSource,
    /// The text for BM25; empty if only its vector is searched.
    pub lexical: String,
    /// The texts for the embedder (`Purpose::Passage` for a description, `Purpose::Symmetric` for an exemplar); the
    /// document's vector is the mean of theirs.
    pub dense: Vec<String>,
}

/// Everything of a module that is embedded.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    pub documents: Vec<IndexDocument>,
    /// Texts that are not searched, embedded like exemplars.
    pub sentences: Vec<String>,
}

impl From<Vec<IndexDocument>> for Corpus {
    fn from(documents: Vec<IndexDocument>) -> Self {
        Self { documents, sentences: Vec::new() }
    }
}

/// An index, its report, and the unit vectors of the corpus's sentences.
pub struct Indexed {
    pub index: Index,
    pub report: IndexReport,
    pub sentences: Vec<Vec<f32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentSource {
    Description,
    Exemplar { id: ExemplarId, mode: OwnerMode },
}

/// A query.
///
/// A vector with the wrong dimension, or with values that are not finite, finds nothing; then only words are searched.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The utterance embedded to find descriptions.
    pub asymmetric: &'a [f32],
    /// The utterance embedded to find exemplars.
    pub symmetric: &'a [f32],
}

/// A document that was found, with its scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    #[serde(flatten)]
    pub source: DocumentSource,
    /// Cosine, -1 to 1.
    pub dense: f32,
    /// BM25 divided by the geometric mean of the best BM25 of this query and the query's own, 0 to 1; 0 if no word
    /// matched.
    pub lexical: f32,
    /// The fusion of the two, 0 to 1.
    pub score: f32,
}

/// A function that the utterance may mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    pub function: FunctionId,
    /// Fused over all evidence, 0 to 1; comparable between functions and between queries. 0 if a negative exemplar is
    /// as near as the nearest positive one.
    pub score: f32,
    /// Signals of its exemplars; `None` if it has none (not counting negative ones).
    pub exemplars: Option<ExemplarSignals>,
    /// Signals of its description.
    pub description: Option<DescriptionSignals>,
    /// Signals learned from the module's own exemplars; `None` if nothing was learned.
    pub learned: Option<LearnedSignals>,
    /// Probability that this function is meant if one of the module's is, 0 to 1.
    pub share: f32,
    /// Score of its nearest negative exemplar, if it has one; already included in the score above.
    pub negative: Option<f32>,
    /// Best first; a few per function.
    pub evidence: Vec<Evidence>,
}

/// Log-probabilities of a function, learned from a module's own exemplars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LearnedSignals {
    /// From the embedder's vectors.
    pub vectors: f32,
    /// From words and characters.
    pub ngrams: f32,
    /// The same for "no function is meant".
    pub vectors_none: f32,
    pub ngrams_none: f32,
}

/// How an index is built and searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrieveOptions {
    /// From this many exemplars on, a graph (HNSW) finds the nearest ones instead of a pass over all.
    ///
    /// Measured with 384 dimensions on one core, dense part of a search: 20,000 exemplars 0.16 ms by either, 50,000
    /// 0.25 ms by the graph against 0.55, 100,000 0.29 against 1.14. But building the graph keeps two cores busy for
    /// 33 s and 62 s at the last two, once per change of the exemplars.
    pub hnsw_from: usize,
    /// Exemplars that the graph keeps in view: more are slower and miss less.
    pub hnsw_effort: usize,
    /// Documents shown as evidence per candidate.
    pub evidence: usize,
}

impl Default for RetrieveOptions {
    fn default() -> Self {
        Self { hnsw_from: 50_000, hnsw_effort: 256, evidence: 5 }
    }
}

/// The report of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IndexReport {
    /// Distinct texts that were embedded now.
    pub embedded: usize,
    /// Distinct texts whose vectors were already kept.
    pub reused: usize,
    pub documents: usize,
    /// True if exemplars are searched through a graph.
    pub hnsw: bool,
}

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("the embedder gave {got} vectors for {asked} texts")]
    Count { asked: usize, got: usize },
    #[error("the embedder gave a vector of {got} dimensions instead of {expected}, or one that is not finite")]
    Vector { expected: usize, got: usize },
    #[error(transparent)]
    Lexical(#[from] LexicalError),
    #[error("indexing was interrupted: {0}")]
    Interrupted(String),
    /// The process ends.
    #[error("indexing was stopped")]
    Stopped,
}

impl From<JoinError> for BuildError {
    fn from(error: JoinError) -> Self {
        if error.is_cancelled() { Self::Stopped } else { Self::Interrupted(error.to_string()) }
    }
}

/// All searchable items of a module, in memory. Immutable.
pub struct Index {
    descriptions: Shelf,
    exemplars: Shelf,
    /// One row per function: the direction of its positive exemplars' mean; zeros if it has none.
    centroids: Vectors,
    /// For each function, whether it has a negative exemplar.
    has_negative: Vec<bool>,
    graph: Option<Graph>,
    functions: usize,
    shares: Shares,
    options: RetrieveOptions,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Index")
            .field("functions", &self.functions)
            .field("descriptions", &self.descriptions.sources.len())
            .field("exemplars", &self.exemplars.sources.len())
            .field("hnsw", &self.graph.is_some())
            .finish_non_exhaustive()
    }
}

/// Documents of one kind, grouped by function.
struct Shelf {
    /// Rows of function `i` are `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    sources: Vec<DocumentSource>,
    vectors: Vectors,
    lexical: Lexical,
}

impl Shelf {
    fn rows(&self, function: usize) -> Range<usize> {
        self.starts[function]..self.starts[function + 1]
    }

    fn approximate(&self, query: Option<&Coded<'_>>, rows: Range<usize>) -> Vec<f32> {
        let mut cosines = vec![0.0; rows.len()];
        if let Some(query) = query {
            self.vectors.approximate(query, rows, &mut cosines);
        }
        cosines
    }
}

impl Index {
    /// Gives words more weight if the embedder distinguishes texts of this language less well.
    pub fn adapt(&mut self, background: &Background) {
        self.shares = Shares::with_clarity(background.clarity());
    }

    /// The number of functions in the index.
    #[must_use]
    pub const fn functions(&self) -> usize {
        self.functions
    }

    /// The unit vector of a document, as [`crate::embed::Purpose::Symmetric`] for an exemplar and
    /// [`crate::embed::Purpose::Passage`] for the full description.
    #[must_use]
    pub fn vector_of(&self, function: FunctionId, source: DocumentSource) -> Option<&[f32]> {
        let shelf = if source == DocumentSource::Description { &self.descriptions } else { &self.exemplars };
        if function.index() >= self.functions {
            return None;
        }
        let rows = shelf.rows(function.index());
        let at = shelf.sources[rows.clone()].binary_search_by_key(&order(source), |&source| order(source));
        // Of several descriptions the full one comes first.
        let at = if source == DocumentSource::Description { at.map(|_| 0) } else { at };
        at.ok().map(|at| shelf.vectors.row(rows.start + at))
    }
}

const fn is_negative(source: DocumentSource) -> bool {
    matches!(source, DocumentSource::Exemplar { mode: OwnerMode::Negative, .. })
}

/// The order of a document within its function.
const fn order(source: DocumentSource) -> usize {
    match source {
        DocumentSource::Description => 0,
        DocumentSource::Exemplar { id, .. } => id.index(),
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::atomic::Ordering};

    use proptest::prelude::*;

    use super::{
        fuse::Signals,
        testing::{DIMENSIONS, Hashed, random_rows},
        *,
    };
    use crate::embed::{Embedder, Purpose};

    fn described(function: usize, text: &str) -> IndexDocument {
        let function = FunctionId::from_index(function);
        IndexDocument {
            function,
            source: DocumentSource::Description,
            lexical: text.to_owned(),
            dense: vec![text.to_owned()],
        }
    }

    fn shown(function: usize, id: usize, text: &str) -> IndexDocument {
        shown_as(function, id, text, OwnerMode::Normal)
    }

    fn shown_as(function: usize, id: usize, text: &str, mode: OwnerMode) -> IndexDocument {
        let source = DocumentSource::Exemplar { id: ExemplarId::from_index(id), mode };
        IndexDocument {
            function: FunctionId::from_index(function),
            source,
            lexical: text.to_owned(),
            dense: vec![text.to_owned()],
        }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
    }

    fn build_with(
        documents: Vec<IndexDocument>,
        embedder: &Hashed,
        store: Option<&Path>,
        options: &RetrieveOptions,
    ) -> (Index, IndexReport) {
        let build = Index::build(documents, 0, "en", embedder, store, options, &|_, _| {});
        let Indexed { index, report, .. } = block_on(build).expect("built");
        (index, report)
    }

    fn build(documents: Vec<IndexDocument>) -> Index {
        build_with(documents, &Hashed::new("test"), None, &RetrieveOptions::default()).0
    }

    fn search(index: &Index, text: &str, limit: usize) -> Vec<Candidate> {
        let vector = vector::unit(Hashed::vector(text)).unwrap_or_default();
        index.search(&Query { text, asymmetric: &vector, symmetric: &vector }, limit, None)
    }

    fn music_and_weather() -> Vec<IndexDocument> {
        vec![
            described(0, "play music"),
            shown(0, 0, "play some jazz"),
            shown(0, 1, "put on a song by Nina Simone"),
            described(1, "get weather. The forecast for a city"),
            described(2, "order food"),
            shown(2, 0, "i want two pizzas"),
            shown_as(2, 1, "i want to know what a pizza costs", OwnerMode::Negative),
        ]
    }

    /// Identical to an index that never had them, except for BM25, which counts words in all of them.
    #[test]
    fn silent_exemplars_do_not_speak() {
        let index = build(music_and_weather());
        let text = "i want to know what a pizza costs";
        let vector = vector::unit(Hashed::vector(text)).unwrap_or_default();
        let query = Query { text, asymmetric: &vector, symmetric: &vector };
        let id =
            |function: usize, exemplar: usize| (FunctionId::from_index(function), ExemplarId::from_index(exemplar));
        let search = |silent: &[(FunctionId, ExemplarId)]| index.search_without(&query, 3, None, silent);
        let of = |found: &[Candidate], function: usize| {
            found.iter().find(|one| one.function.index() == function).cloned().expect("all are found")
        };
        assert_eq!(search(&[]), index.search(&query, 3, None));
        let spoken = of(&search(&[]), 2);
        assert!(spoken.score == 0.0 && spoken.negative.is_some());
        let without_negative = of(&search(&[id(2, 1)]), 2);
        assert!(without_negative.score > 0.0 && without_negative.negative.is_none());
        let silenced = of(&search(&[id(2, 0), id(2, 1), id(9, 0), id(0, 9)]), 2);
        assert!(silenced.exemplars.is_none(), "it lives by its description: {silenced:?}");
        assert!(silenced.evidence.iter().all(|found| found.source == DocumentSource::Description));
        // Other functions are unchanged.
        assert_eq!(of(&search(&[id(2, 0)]), 0), of(&search(&[]), 0));
        // A function's remaining exemplars score as in an index of them alone.
        let mut fewer = music_and_weather();
        fewer.retain(|document| document.dense != ["play some jazz"]);
        let alone = build(fewer).search(&query, 3, None);
        let (left, built) = (of(&search(&[id(0, 0)]), 0).exemplars, of(&alone, 0).exemplars);
        let dense = |signals: Option<ExemplarSignals>| signals.map(|signals| (signals.dense, signals.centroid));
        assert_eq!(dense(left), dense(built));
    }

    #[test]
    fn the_function_that_is_meant_comes_first_with_its_evidence() {
        let index = build(music_and_weather());
        let found = search(&index, "play a jazz song", 3);
        assert_eq!(found[0].function.index(), 0);
        assert_eq!(found.len(), 3);
        assert!(found.is_sorted_by(|one, other| one.score >= other.score));
        assert_eq!(found[0].evidence.len(), 3);
        assert!(found[0].evidence[0].score >= found[0].evidence[1].score);
        assert!(matches!(found[0].evidence[0].source, DocumentSource::Exemplar { id, .. } if id.index() == 0));
        assert!(found[0].exemplars.is_some() && found[0].negative.is_none());

        let found = search(&index, "weather forecast", 1);
        assert_eq!((found.len(), found[0].function.index()), (1, 1));
        assert!(found[0].exemplars.is_none());
    }

    #[test]
    fn a_negative_exemplar_takes_the_function_out() {
        let index = build(music_and_weather());
        let meant = search(&index, "i want two pizzas please", 3);
        assert!(meant[0].function.index() == 2 && meant[0].score > 0.3);
        let not_meant = search(&index, "what does a pizza cost, i want to know", 3);
        let order = not_meant.iter().find(|candidate| candidate.function.index() == 2).expect("one of three");
        assert!(order.score == 0.0 && order.negative.is_some_and(|negative| negative > 0.3));
    }

    #[test]
    fn only_those_among_are_found() {
        let index = build(music_and_weather());
        let vector = vector::unit(Hashed::vector("play jazz")).expect("words");
        let query = Query { text: "play jazz", asymmetric: &vector, symmetric: &vector };
        let among = [FunctionId::from_index(2), FunctionId::from_index(1), FunctionId::from_index(99)];
        let found = index.search(&query, 10, Some(&among));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|candidate| candidate.function.index() != 0));
        assert!(index.search(&query, 10, Some(&[])).is_empty());
        assert!(index.search(&query, 0, None).is_empty());
    }

    #[test]
    fn without_usable_vectors_the_words_still_find() {
        let index = build(music_and_weather());
        let broken = [f32::NAN; DIMENSIONS];
        for vector in [&[][..], &[1.0][..], &broken[..]] {
            let found = index.search(&Query { text: "jazz", asymmetric: vector, symmetric: vector }, 3, None);
            assert_eq!(found[0].function.index(), 0);
            assert!(found.iter().all(|candidate| candidate.score.is_finite()));
        }
    }

    #[test]
    fn an_index_of_nothing_finds_nothing() {
        let index = build(Vec::new());
        assert!(search(&index, "anything", 5).is_empty());
        let Indexed { index, .. } = block_on(Index::build(
            vec![],
            2,
            "en",
            &Hashed::new("test"),
            None,
            &RetrieveOptions::default(),
            &|_, _| {},
        ))
        .expect("built");
        let found = search(&index, "anything", 5);
        assert!(found.len() == 2 && found.iter().all(|candidate| candidate.score == 0.0));
    }

    #[test]
    fn vectors_are_at_hand() {
        let index = build(music_and_weather());
        let exemplar = DocumentSource::Exemplar { id: ExemplarId::from_index(1), mode: OwnerMode::Normal };
        let vector = index.vector_of(FunctionId::from_index(0), exemplar).expect("there");
        assert_eq!(Some(vector), vector::unit(Hashed::vector("put on a song by Nina Simone")).as_deref());
        assert!(index.vector_of(FunctionId::from_index(1), DocumentSource::Description).is_some());
        assert!(index.vector_of(FunctionId::from_index(1), exemplar).is_none());
        assert!(index.vector_of(FunctionId::from_index(9), exemplar).is_none());
    }

    #[test]
    fn a_restart_embeds_nothing_and_a_change_only_what_changed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("module.vectors");
        let options = RetrieveOptions::default();
        let embedder = Hashed::new("one");
        let (_, first) = build_with(music_and_weather(), &embedder, Some(&path), &options);
        assert_eq!((first.embedded, first.reused, first.documents), (7, 0, 7));

        let (_, again) = build_with(music_and_weather(), &embedder, Some(&path), &options);
        assert_eq!((again.embedded, again.reused), (0, 7));
        assert_eq!(embedder.embedded.load(Ordering::SeqCst), 7);

        let mut changed = music_and_weather();
        changed[1] = shown(0, 0, "play some blues");
        let (_, report) = build_with(changed, &embedder, Some(&path), &options);
        assert_eq!((report.embedded, report.reused), (1, 6));
        let (_, back) = build_with(music_and_weather(), &embedder, Some(&path), &options);
        assert_eq!(back.embedded, 1, "what is not used any more is not kept");

        let (_, foreign) = build_with(music_and_weather(), &Hashed::new("other"), Some(&path), &options);
        assert_eq!(foreign.reused, 0);
    }

    #[test]
    fn equal_texts_are_embedded_once_and_progress_reaches_the_end() {
        let documents: Vec<IndexDocument> = (0..100).map(|at| shown(at, 0, &format!("say {}", at % 40))).collect();
        let embedder = Hashed::new("test");
        let told = std::sync::Mutex::new(Vec::new());
        let progress = |done, all| told.lock().expect("not poisoned").push((done, all));
        let options = RetrieveOptions::default();
        let build = Index::build(documents, 100, "en", &embedder, None, &options, &progress);
        let report = block_on(build).expect("built").report;
        assert_eq!(report.embedded, 40);
        assert_eq!(*told.lock().expect("not poisoned"), [(0, 40), (32, 40), (40, 40)]);
    }

    #[test]
    fn a_busy_model_is_waited_for() {
        let embedder = Hashed::new("test");
        embedder.busy.store(2, Ordering::SeqCst);
        let (_, report) = build_with(music_and_weather(), &embedder, None, &RetrieveOptions::default());
        assert_eq!(report.embedded, 7);
    }

    #[test]
    fn an_embedder_that_breaks_its_contract_is_an_error() {
        struct Broken(Vec<Vec<f32>>);
        impl Embedder for Broken {
            fn identity(&self) -> &str {
                "broken"
            }
            fn dimensions(&self) -> usize {
                2
            }
            fn is_symmetric(&self) -> bool {
                true
            }
            fn embed(
                &self,
                _: Vec<String>,
                _: Purpose,
            ) -> futures::future::BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
                Box::pin(async { Ok(self.0.clone()) })
            }
        }
        let options = RetrieveOptions::default();
        for given in [vec![], vec![vec![1.0]], vec![vec![1.0, f32::NAN]], vec![vec![1.0, 0.0]; 2]] {
            let embedder = Broken(given);
            let built =
                block_on(Index::build(vec![described(0, "text")], 1, "en", &embedder, None, &options, &|_, _| {}));
            assert!(matches!(built, Err(BuildError::Count { .. } | BuildError::Vector { .. })));
        }
        let null = Broken(vec![vec![0.0, 0.0]]);
        let built = block_on(Index::build(vec![described(0, "?")], 1, "en", &null, None, &options, &|_, _| {}));
        assert!(built.is_ok(), "a text without direction is only never found");
    }

    fn many(functions: usize, each: usize) -> Vec<IndexDocument> {
        const WORDS: [&str; 12] =
            ["play", "jazz", "city", "rain", "order", "pizza", "send", "money", "find", "train", "call", "home"];
        let word = |number: usize| WORDS[number % WORDS.len()];
        let mut documents = Vec::new();
        for function in 0..functions {
            documents.push(described(function, &format!("{} {} {function}", word(function), word(function / 12))));
            for id in 0..each {
                let number = function * 31 + id * 7;
                documents.push(shown(
                    function,
                    id,
                    &format!("{} the {} x{number} {}", word(number), word(id), word(function)),
                ));
            }
        }
        documents
    }

    #[test]
    fn a_graph_is_kept_rebuilt_when_torn_and_finds_what_the_pass_over_all_finds() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("module.vectors");
        let graphs = RetrieveOptions { hnsw_from: 300, ..RetrieveOptions::default() };
        let (plain, _) = build_with(many(60, 10), &Hashed::new("test"), None, &RetrieveOptions::default());
        let graph_file = directory.path().join("module.vectors.graph");
        let mut kept = Vec::new();
        for damage in [false, false, true] {
            if damage {
                std::fs::write(&graph_file, b"UPTKGRF1 and nothing more").expect("written");
            }
            let (index, report) = build_with(many(60, 10), &Hashed::new("test"), Some(&path), &graphs);
            assert!(report.hnsw && index.graph.is_some());
            let bytes = std::fs::read(&graph_file).expect("kept");
            if kept.is_empty() {
                kept = bytes;
            } else if !damage {
                assert_eq!(bytes, kept, "not built again");
            }
            let mut same = 0;
            for text in
                ["play the jazz x3", "send money home", "a train to the city", "order pizza", "rain in the city"]
            {
                let best = |index| search(index, text, 3).first().map(|best| best.function);
                same += usize::from(best(&index) == best(&plain));
            }
            assert!(same >= 4, "{same} of 5");
        }
        let few = [FunctionId::from_index(3), FunctionId::from_index(5)];
        let (index, _) = build_with(many(60, 10), &Hashed::new("test"), Some(&path), &graphs);
        let vector = vector::unit(Hashed::vector("pizza")).expect("words");
        let query = Query { text: "pizza", asymmetric: &vector, symmetric: &vector };
        assert_eq!(index.search(&query, 9, Some(&few)), plain.search(&query, 9, Some(&few)));
    }

    /// The score of a function by floats, document by document.
    fn oracle(index: &Index, query: &Query<'_>, function: usize) -> f32 {
        let terms = index.exemplars.lexical.query(query.text);
        let words = index.exemplars.lexical.scores(&terms);
        let described_words = index.descriptions.lexical.scores(&terms);
        let cosine =
            |one: &[f32], other: &[f32]| -> f32 { one.iter().zip(other).map(|(one, other)| one * other).sum() };
        let best = |mut values: Vec<f32>| {
            values.sort_by(|one, other| other.total_cmp(one));
            values.truncate(3);
            (!values.is_empty()).then(|| values.iter().sum::<f32>() / values.len() as f32)
        };
        let split = |negative: bool| -> Vec<usize> {
            index
                .exemplars
                .rows(function)
                .filter(|&row| is_negative(index.exemplars.sources[row]) == negative)
                .collect()
        };
        let dense = |row: usize| cosine(index.exemplars.vectors.row(row), query.symmetric);
        let word = |row: usize| words.get(row).copied().unwrap_or_default();
        let nearest = |rows: Vec<usize>| {
            rows.into_iter().map(|row| index.shares.exemplar_score(dense(row), word(row))).reduce(f32::max)
        };
        let described = index.descriptions.rows(function);
        Signals {
            exemplars: best(split(false).into_iter().map(dense).collect()).map(|mean| ExemplarSignals {
                dense: mean,
                centroid: cosine(index.centroids.row(function), query.symmetric),
                lexical: best(split(false).into_iter().map(word).collect()).unwrap_or_default(),
            }),
            description: described
                .clone()
                .map(|row| cosine(index.descriptions.vectors.row(row), query.asymmetric))
                .reduce(f32::max)
                .map(|dense| DescriptionSignals {
                    dense,
                    lexical: described
                        .map(|row| described_words.get(row).copied().unwrap_or_default())
                        .fold(0.0, f32::max),
                }),
            nearest_positive: nearest(split(false)),
            nearest_negative: nearest(split(true)),
        }
        .score(index.shares)
    }

    fn document() -> impl Strategy<Value = (usize, bool, u8, String)> {
        (0..12_usize, prop::bool::weighted(0.25), 0..8_u8, "[a-h]{1,3}( [a-h]{1,3}){0,3}")
    }

    fn to_documents(drawn: &[(usize, bool, u8, String)]) -> Vec<IndexDocument> {
        let as_document = |(at, (function, is_description, mode, text)): (usize, &(usize, bool, u8, String))| match mode
        {
            _ if *is_description => described(*function, text),
            0 => shown_as(*function, at, text, OwnerMode::Negative),
            1 => shown_as(*function, at, text, OwnerMode::Extended),
            _ => shown(*function, at, text),
        };
        drawn.iter().enumerate().map(as_document).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_best_are_those_of_brute_force(
            drawn in prop::collection::vec(document(), 1..80), text in "[a-h]{1,3}( [a-h]{1,3}){0,3}",
            seed in any::<u64>(), limit in 1..6_usize,
        ) {
            let index = build(to_documents(&drawn));
            let vectors = random_rows(2, DIMENSIONS, seed);
            let own = vector::unit(Hashed::vector(&text));
            prop_assume!(own.is_some(), "the votes of the words can cancel each other");
            let own = own.unwrap_or_default();
            for (asymmetric, symmetric) in [(&vectors[..DIMENSIONS], &vectors[DIMENSIONS..]), (&own[..], &own[..])] {
                let query = Query { text: &text, asymmetric, symmetric };
                let mut expected: Vec<f32> = (0..index.functions()).map(|function| oracle(&index, &query, function)).collect();
                let found = index.search(&query, limit, None);
                for candidate in &found {
                    prop_assert!((candidate.score - expected[candidate.function.index()]).abs() < 1e-4);
                }
                expected.sort_by(|one, other| other.total_cmp(one));
                prop_assert_eq!(found.len(), limit.min(expected.len()));
                for (candidate, expected) in found.iter().zip(expected) {
                    prop_assert!((candidate.score - expected).abs() < 1e-4, "{} {expected}", candidate.score);
                }
            }
        }

        #[test]
        fn the_order_of_the_documents_is_nothing(
            drawn in prop::collection::vec(document(), 1..40), text in "[a-h]{1,3}( [a-h]{1,3}){0,3}", seed in any::<u64>(),
        ) {
            let documents = to_documents(&drawn);
            // Descriptions of one function keep their order: the first is the full form.
            let mut mixed: Vec<IndexDocument> = documents.clone();
            mixed.sort_by_key(|document| match document.source {
                DocumentSource::Description => 0,
                DocumentSource::Exemplar { id, .. } => 1 + (id.index() as u64 + 1).wrapping_mul(seed | 1) % 1_000_003,
            });
            prop_assert_eq!(search(&build(documents), &text, 20), search(&build(mixed), &text, 20));
        }
    }
}
