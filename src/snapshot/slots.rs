//! Prepares the reader for a module: the vectors of its labels, and what its exemplars teach.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{PrepareError, Snapshots, not_indexed};
use crate::{
    decide::reader::{
        FunctionLabels, LabelTexts, SlotReader,
        adapt::{self, Correction},
    },
    embed::{EmbedError, Embedded, Embedder, Purpose, Reader},
    exemplars::{self, Sentence, Sentences, typical},
    module::{ExemplarId, Function, FunctionId, Module, OwnerMode},
    retrieve::{BuildError, VectorCache, vectors_of},
};

/// How often embedding is tried while the model is busy, and the pause between two tries.
const TRIES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

/// A function that is to be learned from its sentences.
struct Pupil {
    labels: FunctionLabels,
    sentences: Vec<Sentence>,
}

impl Snapshots {
    /// The label vectors of every function; none if they are not needed.
    pub(super) async fn labels(
        &self,
        module: &Module,
        store: Option<&Path>,
    ) -> Result<Vec<FunctionLabels>, PrepareError> {
        let embedder = &*self.shared.embedder;
        if embedder.reader().is_none() && !exemplars::lack_values(module) {
            return Ok(Vec::new());
        }
        let beside = store.map(|store| store.with_extension("labels.vectors"));
        labels(module, embedder, beside.as_deref()).await.map_err(|error| not_indexed(&module.name, error))
    }

    /// The module's exemplars as they are said.
    pub(super) async fn said(&self, module: &Module, labels: &[FunctionLabels]) -> Result<Sentences, PrepareError> {
        if !exemplars::lack_values(module) {
            return Ok(Sentences::new(module, &[]));
        }
        let store = self.shared.options.index.join("typical.vectors");
        let vectors = vectors_of(typical::labels(), &*self.shared.embedder, Some(&store)).await;
        let vectors = vectors.map_err(|error| not_indexed(&module.name, error))?;
        let of = |labels: &FunctionLabels| labels.slots.iter().map(|slot| typical::values(slot, &vectors)).collect();
        let typical: Vec<Vec<Vec<&str>>> = labels.iter().map(of).collect();
        Ok(Sentences::new(module, &typical))
    }

    /// The reader for this module; `None` if the embedder has none. `store` is the module's file of vectors; the
    /// results are kept in files beside it.
    pub(super) async fn slots(
        &self,
        module: &Module,
        (mut functions, said): (Vec<FunctionLabels>, &Sentences),
        store: Option<&Path>,
        before: Option<&SlotReader>,
    ) -> Result<Option<SlotReader>, PrepareError> {
        let Some(reader) = self.shared.embedder.reader() else { return Ok(None) };
        let pupil = |(id, labels): (FunctionId, &FunctionLabels)| {
            let (function, sentences) = (module.function(id), lessons(module, id, said));
            let learned_from = content(reader.identity(), function, &sentences);
            let labels = FunctionLabels { learned_from, ..labels.clone() };
            (!sentences.is_empty()).then_some((id.index(), Pupil { labels, sentences }))
        };
        let pupils: Vec<(usize, Pupil)> = module.function_ids().zip(&functions).filter_map(pupil).collect();
        let beside = store.map(|store| store.with_extension("slots.vectors"));
        let learned = self.learn(&reader, pupils, beside, before).await;
        let learned = learned.map_err(|error| not_indexed(&module.name, error))?;
        learned.into_iter().for_each(|(index, labels)| functions[index] = labels);
        Ok(Some(SlotReader { reader, functions }))
    }

    /// Fits the functions that are known neither from the version before nor from the file at `path`.
    async fn learn(
        &self,
        reader: &Arc<Reader>,
        pupils: Vec<(usize, Pupil)>,
        path: Option<PathBuf>,
        before: Option<&SlotReader>,
    ) -> Result<Vec<(usize, FunctionLabels)>, BuildError> {
        let mut kept = VectorCache::open(path.as_deref(), reader.identity(), reader.width() + 1);
        let mut learned = Vec::with_capacity(pupils.len());
        for (index, Pupil { mut labels, sentences }) in pupils {
            let same = before.and_then(|before| {
                before.functions.iter().find(|one| one.learned_from == labels.learned_from).map(|one| &one.corrections)
            });
            let names: Vec<String> =
                (0..labels.slots.len()).map(|slot| format!("{}/{slot}", hex(&labels.learned_from))).collect();
            let known: Option<Vec<Correction>> = match same {
                Some(corrections) => Some(corrections.to_vec()),
                None => names.iter().map(|name| kept.get(name).map(Correction)).collect(),
            };
            let corrections = match known {
                Some(known) => known,
                None => self.fit(reader, &labels, sentences).await?,
            };
            for (name, correction) in names.iter().zip(&corrections) {
                kept.put(name, correction.0.clone());
            }
            labels.corrections = corrections.into();
            learned.push((index, labels));
        }
        tokio::task::spawn_blocking(move || kept.save()).await?;
        Ok(learned)
    }

    /// What the sentences teach about each slot.
    async fn fit(
        &self,
        reader: &Arc<Reader>,
        labels: &FunctionLabels,
        sentences: Vec<Sentence>,
    ) -> Result<Vec<Correction>, BuildError> {
        let texts = sentences.iter().map(|sentence| sentence.text.clone()).collect();
        let read = patiently(&*self.shared.embedder, texts).await?;
        let (reader, labels) = (Arc::clone(reader), labels.clone());
        let fitted = tokio::task::spawn_blocking(move || {
            let states = sentences.iter().zip(&read).filter_map(|(one, read)| Some((one, read.words.as_ref()?)));
            adapt::adapt(&reader, &labels, states)
        });
        Ok(fitted.await??)
    }
}

/// Requests come first: a build waits while the model is busy.
async fn patiently(embedder: &dyn Embedder, texts: Vec<String>) -> Result<Vec<Embedded>, EmbedError> {
    for _ in 0..TRIES {
        match embedder.embed_words(texts.clone(), Purpose::Symmetric).await {
            Err(EmbedError::Busy) => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
    Err(EmbedError::Busy)
}

/// The label vectors of every function.
async fn labels(
    module: &Module,
    embedder: &dyn Embedder,
    store: Option<&Path>,
) -> Result<Vec<FunctionLabels>, BuildError> {
    let texts: Vec<LabelTexts> = module.functions.iter().map(LabelTexts::new).collect();
    let all = texts.iter().flat_map(|one| std::iter::once(&one.function).chain(&one.slots)).cloned().collect();
    let mut vectors = vectors_of(all, embedder, store).await?.into_iter().map(Arc::<[f32]>::from);
    let mut next = || vectors.next().unwrap_or_default();
    let of = |texts: &LabelTexts| FunctionLabels {
        function: next(),
        slots: texts.slots.iter().map(|_| next()).collect(),
        ..FunctionLabels::default()
    };
    Ok(texts.iter().map(of).collect())
}

/// The most sentences of one function from which its slots are learned.
const MOST_LESSONS: usize = 64;

/// The sentences that mean the function, with their slots marked; the first sentence of each exemplar comes first. None
/// if no sentence has a slot.
fn lessons(module: &Module, id: FunctionId, said: &Sentences) -> Vec<Sentence> {
    let exemplars = module.function(id).exemplars.iter().enumerate();
    let positive = exemplars.filter(|(_, exemplar)| exemplar.mode != OwnerMode::Negative);
    let mut marked: Vec<(usize, &Sentence)> = positive
        .flat_map(|(index, _)| said.of(id, ExemplarId::from_index(index)).iter().enumerate())
        .filter_map(|(variant, one)| one.is_marked.then_some((variant, &one.sentence)))
        .collect();
    if marked.iter().all(|(_, sentence)| sentence.slots.is_empty()) {
        return Vec::new();
    }
    marked.sort_by_key(|(variant, _)| *variant);
    let mut lessons: Vec<Sentence> = Vec::new();
    for (_, sentence) in marked {
        if lessons.len() < MOST_LESSONS && !lessons.contains(sentence) {
            lessons.push(sentence.clone());
        }
    }
    lessons
}

/// A hash of everything that a function is learned from.
fn content(reader: &str, function: &Function, sentences: &[Sentence]) -> [u8; blake3::OUT_LEN] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{reader} {:?} {sentences:?}", LabelTexts::new(function)).as_bytes());
    *hasher.finalize().as_bytes()
}

fn hex(hash: &[u8; blake3::OUT_LEN]) -> blake3::Hash {
    blake3::Hash::from_bytes(*hash)
}
