//! Builds an index: embeds unknown texts, then puts everything on its shelf.

use std::{collections::HashMap, path::Path, time::Duration};

use super::{
    BuildError, Corpus, DocumentSource, Index, IndexDocument, IndexReport, Indexed, RetrieveOptions, Shelf,
    fuse::Shares,
    graph::Graph,
    is_negative,
    lexical::{Lexical, LexicalError},
    order,
    store::{Store, VectorKey},
    vector::{self, Vectors},
};
use crate::embed::{EmbedError, Embedder, Purpose};

/// Texts embedded at once: few, so that an utterance that arrives in between does not wait long for the model.
pub(super) const BATCH: usize = 32;
/// Longer builds save in between, so that little work is lost if one is killed.
const SAVE_EVERY: Duration = Duration::from_secs(30);
/// How long a build waits for a busy model before it gives up, and how long between two attempts.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// A text to be embedded, with its key.
struct KeyedText {
    key: VectorKey,
    purpose: Purpose,
    text: String,
}

impl Index {
    /// Embeds what `store` does not contain yet, and indexes everything.
    ///
    /// `functions` is the module's number of functions; `language` a BCP 47 tag (for stemming); `store` the file for
    /// the vectors (a graph is kept beside it), `None` to keep nothing; `progress` receives the numbers of embedded
    /// texts and of all texts to embed. Must run within a tokio runtime; heavy computing is done off its threads.
    ///
    /// # Errors
    /// If the embedder fails or breaks its contract. A store that cannot be read or written is only logged.
    pub async fn build(
        corpus: impl Into<Corpus>,
        functions: usize,
        language: &str,
        embedder: &dyn Embedder,
        store: Option<&Path>,
        options: &RetrieveOptions,
        progress: &(dyn Fn(usize, usize) + Send + Sync),
    ) -> Result<Indexed, BuildError> {
        let Corpus { mut documents, sentences } = corpus.into();
        documents.sort_by_key(|document| (is_exemplar(document), document.function, order(document.source)));
        let dimensions = embedder.dimensions();
        let store = store.map(|path| Store::new(path, embedder.identity(), dimensions));

        let (store, mut kept) = off_thread(move || {
            let kept = store.as_ref().map(Store::load).unwrap_or_default();
            (store, kept)
        })
        .await?;
        let wanted = wanted(&documents, &sentences);
        let before = kept.len();
        let mut vectors: HashMap<VectorKey, Vec<f32>> = HashMap::with_capacity(wanted.len());
        let mut missing = Vec::new();
        for wanted in wanted {
            match kept.remove(&wanted.key) {
                Some(vector) => {
                    vectors.insert(wanted.key, vector);
                }
                None => missing.push(wanted),
            }
        }
        drop(kept);
        let report = IndexReport {
            embedded: missing.len(),
            reused: vectors.len(),
            documents: documents.len(),
            hnsw: documents.iter().filter(|document| is_exemplar(document)).count() >= options.hnsw_from.max(1),
        };
        // Unused vectors leave the file as well.
        let changed = !missing.is_empty() || before != vectors.len();
        embed(missing, embedder, store.as_ref(), &mut vectors, progress).await?;

        let (language, options, identity) = (language.to_owned(), options.clone(), embedder.identity().to_owned());
        let (index, sentences) = off_thread(move || {
            let of = |text: &String| vectors.get(&VectorKey::new(Purpose::Symmetric, text)).cloned();
            let sentences = sentences.iter().map(|text| of(text).unwrap_or_else(|| vec![0.0; dimensions])).collect();
            let (language, store) = (language.as_str(), store.as_ref());
            // A slow disk delays the end of this step, not its work.
            let index = std::thread::scope(|scope| {
                if changed && let Some(store) = store {
                    scope.spawn(|| store.save(&vectors));
                }
                Self::assemble(&documents, functions, language, dimensions, &identity, &vectors, store, options)
            })?;
            Ok::<_, BuildError>((index, sentences))
        })
        .await??;
        Ok(Indexed { index, report, sentences })
    }

    #[expect(clippy::too_many_arguments, reason = "the last step of `build`, apart only because it may block")]
    fn assemble(
        documents: &[IndexDocument],
        functions: usize,
        language: &str,
        dimensions: usize,
        identity: &str,
        vectors: &HashMap<VectorKey, Vec<f32>>,
        store: Option<&Store>,
        options: RetrieveOptions,
    ) -> Result<Self, BuildError> {
        let last = documents.iter().map(|document| document.function.index() + 1).max();
        let functions = functions.max(last.unwrap_or(0));
        let split = documents.partition_point(|document| !is_exemplar(document));
        let (described, shown) = documents.split_at(split);
        let vector_of = |document: &IndexDocument| mean(keys(document).filter_map(|key| vectors.get(&key)), dimensions);
        let descriptions = Shelf::build(described, functions, language, dimensions, vector_of)?;
        let exemplars = Shelf::build(shown, functions, language, dimensions, vector_of)?;
        let has_negative: Vec<bool> = (0..functions)
            .map(|function| exemplars.sources[exemplars.rows(function)].iter().any(|&source| is_negative(source)))
            .collect();
        let centroids = centroids(&exemplars, functions);

        let graph = if exemplars.vectors.len() >= options.hnsw_from.max(1) {
            let content = content(shown, identity, dimensions);
            let kept = store.and_then(|store| store.load_graph(&content));
            match kept.and_then(|bytes| Graph::from_bytes(&bytes, exemplars.vectors.len())) {
                Some(graph) => Some(graph),
                None => {
                    let graph = Graph::build(&exemplars.vectors);
                    if let (Some(graph), Some(store)) = (&graph, store) {
                        store.save_graph(&content, &graph.to_bytes());
                    }
                    graph
                }
            }
        } else {
            if let Some(store) = store {
                store.forget_graph();
            }
            None
        };
        let shares = Shares::default();
        Ok(Self { descriptions, exemplars, centroids, has_negative, graph, functions, shares, options })
    }
}

impl Shelf {
    fn build(
        documents: &[IndexDocument],
        functions: usize,
        language: &str,
        dimensions: usize,
        vector_of: impl Fn(&IndexDocument) -> Vec<f32>,
    ) -> Result<Self, LexicalError> {
        let mut starts = vec![0; functions + 1];
        for document in documents {
            starts[document.function.index() + 1] += 1;
        }
        for function in 0..functions {
            starts[function + 1] += starts[function];
        }
        let mut floats = Vec::with_capacity(documents.len() * dimensions);
        documents.iter().for_each(|document| floats.extend(vector_of(document)));
        Ok(Self {
            starts,
            sources: documents.iter().map(|document| document.source).collect(),
            vectors: Vectors::new(dimensions, floats),
            lexical: Lexical::build(documents.iter().map(|document| document.lexical.as_str()), language)?,
        })
    }
}

/// The direction of the mean of each function's positive exemplars.
fn centroids(exemplars: &Shelf, functions: usize) -> Vectors {
    let dimensions = exemplars.vectors.dimensions();
    let mut floats = Vec::with_capacity(functions * dimensions);
    for function in 0..functions {
        floats.extend_from_slice(mean_direction(exemplars, exemplars.rows(function)).row(0));
    }
    Vectors::new(dimensions, floats)
}

/// The direction of the mean of these rows without negative exemplars, as one row; zeros if there is none.
pub(super) fn mean_direction(exemplars: &Shelf, rows: impl Iterator<Item = usize>) -> Vectors {
    let dimensions = exemplars.vectors.dimensions();
    let mut sum = vec![0.0_f64; dimensions];
    for row in rows.filter(|&row| !is_negative(exemplars.sources[row])) {
        for (sum, &value) in sum.iter_mut().zip(exemplars.vectors.row(row)) {
            *sum += f64::from(value);
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector")]
    let floats = sum.iter().map(|value| if length > 1e-9 { (value / length) as f32 } else { 0.0 });
    Vectors::new(dimensions, floats.collect())
}

/// A hash of a graph's rows and of how the graph is made.
fn content(documents: &[IndexDocument], identity: &str, dimensions: usize) -> [u8; blake3::OUT_LEN] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(dimensions as u64).to_le_bytes());
    hasher.update(blake3::hash(identity.as_bytes()).as_bytes());
    for document in documents {
        hasher.update(&(document.dense.len() as u64).to_le_bytes());
        for key in keys(document) {
            hasher.update(key.bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

const fn is_exemplar(document: &IndexDocument) -> bool {
    matches!(document.source, DocumentSource::Exemplar { .. })
}

const fn purpose(source: DocumentSource) -> Purpose {
    match source {
        DocumentSource::Description => Purpose::Passage,
        DocumentSource::Exemplar { .. } => Purpose::Symmetric,
    }
}

fn keys(document: &IndexDocument) -> impl Iterator<Item = VectorKey> {
    document.dense.iter().map(|text| VectorKey::new(purpose(document.source), text))
}

/// The direction of the mean; zeros if it has none.
fn mean<'v>(vectors: impl Iterator<Item = &'v Vec<f32>>, dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0; dimensions];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    vector::unit(sum).unwrap_or_else(|| vec![0.0; dimensions])
}

/// The texts to embed, without duplicates.
fn wanted(documents: &[IndexDocument], sentences: &[String]) -> Vec<KeyedText> {
    let mut seen = std::collections::HashSet::with_capacity(documents.len());
    let said = documents.iter().flat_map(|document| document.dense.iter().map(|text| (purpose(document.source), text)));
    let all = said.chain(sentences.iter().map(|text| (Purpose::Symmetric, text)));
    let keyed =
        all.map(|(purpose, text)| KeyedText { key: VectorKey::new(purpose, text), purpose, text: text.clone() });
    keyed.filter(|wanted| seen.insert(wanted.key)).collect()
}

/// Embeds `missing` into `vectors`.
async fn embed(
    mut missing: Vec<KeyedText>,
    embedder: &dyn Embedder,
    store: Option<&Store>,
    vectors: &mut HashMap<VectorKey, Vec<f32>>,
    progress: &(dyn Fn(usize, usize) + Send + Sync),
) -> Result<(), BuildError> {
    let (all, expected) = (missing.len(), embedder.dimensions());
    if all == 0 {
        return Ok(());
    }
    // Texts of similar length share a batch, so that there is little padding.
    missing.sort_by_key(|wanted| (wanted.purpose as u8, wanted.text.len()));
    let mut saved = std::time::Instant::now();
    progress(0, all);
    let mut done = 0;
    for batch in missing.chunk_by(|one, other| one.purpose == other.purpose).flat_map(|same| same.chunks(BATCH)) {
        let texts: Vec<String> = batch.iter().map(|wanted| wanted.text.clone()).collect();
        let embedded = embed_patiently(embedder, texts, batch[0].purpose).await?;
        if embedded.len() != batch.len() {
            return Err(BuildError::Count { asked: batch.len(), got: embedded.len() });
        }
        for (wanted, vector) in batch.iter().zip(embedded) {
            let got = vector.len();
            if got != expected || !vector.iter().all(|value| value.is_finite()) {
                return Err(BuildError::Vector { expected, got });
            }
            // A text without any known token may have no direction; then it is never near.
            vectors.insert(wanted.key, vector::unit(vector).unwrap_or_else(|| vec![0.0; expected]));
        }
        done += batch.len();
        progress(done, all);
        if let Some(store) = store
            && saved.elapsed() > SAVE_EVERY
        {
            store.save(vectors);
            saved = std::time::Instant::now();
        }
    }
    Ok(())
}

/// Utterances come first: a build waits while the model is busy.
pub(super) async fn embed_patiently(
    embedder: &dyn Embedder,
    texts: Vec<String>,
    purpose: Purpose,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        match embedder.embed(texts.clone(), purpose).await {
            Err(EmbedError::Busy) if std::time::Instant::now() < until => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
}

pub(super) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, BuildError> {
    Ok(tokio::task::spawn_blocking(work).await?)
}
