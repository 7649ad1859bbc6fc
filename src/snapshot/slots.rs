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
        sentences::{Fillings, Sentence, Shown},
        typical,
    },
    embed::{EmbedError, Embedded, Embedder, Purpose, Reader},
    module::{Function, Module, Piece},
    retrieve::{BuildError, Kept, vectors_of},
};

/// Tries to embed while the model is busy, and how long between two.
const TRIES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

/// A function that is to be learned from its sentences.
struct Pupil {
    labels: FunctionLabels,
    sentences: Vec<Sentence>,
}

impl Snapshots {
    /// The reader for this module; `None` where the embedder has none. `store` is the module's file of vectors, beside which
    /// what is made here is kept.
    pub(super) async fn slots(
        &self,
        module: &Module,
        store: Option<&Path>,
        before: Option<&SlotReader>,
    ) -> Result<Option<SlotReader>, PrepareError> {
        let embedder = &*self.shared.embedder;
        let Some(reader) = embedder.reader() else { return Ok(None) };
        let failed = |error| not_indexed(&module.name, error);
        let beside = |what: &str| store.map(|store| store.with_extension(what));
        let mut functions = labels(module, embedder, beside("labels.vectors").as_deref()).await.map_err(failed)?;
        let taught = (0..functions.len()).filter(|index| shows_slots(&module.functions[*index]));
        let taught: Vec<usize> = taught.collect();
        if !taught.is_empty() {
            let store = self.shared.options.index.join("typical.vectors");
            let typical = vectors_of(typical::labels(), embedder, Some(&store)).await.map_err(failed)?;
            let shown = Shown::new(module);
            let pupils = taught.into_iter().map(|index| {
                let mut labels = functions[index].clone();
                let function = &module.functions[index];
                let like: Vec<Vec<&str>> = labels.slots.iter().map(|slot| typical::values(slot, &typical)).collect();
                let sentences = Fillings::new(module, &shown, function, &like).sentences();
                labels.learned_from = content(reader.identity(), function, &sentences);
                (index, Pupil { labels, sentences })
            });
            let pupils: Vec<(usize, Pupil)> = pupils.collect();
            let learned = self.learn(&reader, pupils, beside("slots.vectors"), before).await.map_err(failed)?;
            learned.into_iter().for_each(|(index, labels)| functions[index] = labels);
        }
        Ok(Some(SlotReader { reader, functions }))
    }

    /// Fits what is not known from the version before, nor from the file at `path`.
    async fn learn(
        &self,
        reader: &Arc<Reader>,
        pupils: Vec<(usize, Pupil)>,
        path: Option<PathBuf>,
        before: Option<&SlotReader>,
    ) -> Result<Vec<(usize, FunctionLabels)>, BuildError> {
        let mut kept = Kept::open(path.as_deref(), reader.identity(), reader.width() + 1);
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
        tokio::task::spawn_blocking(move || kept.save())
            .await
            .map_err(|error| BuildError::Interrupted(error.to_string()))?;
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
        Ok(fitted.await.map_err(|error| BuildError::Interrupted(error.to_string()))??)
    }
}

/// Users come first: a build waits while the model is busy.
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

fn shows_slots(function: &Function) -> bool {
    let mut pieces = function.exemplars.iter().flat_map(|exemplar| &exemplar.pieces);
    pieces.any(|piece| matches!(piece, Piece::Slot { slot: Some(_), .. }))
}

/// Stands for everything that a function is learned from.
fn content(reader: &str, function: &Function, sentences: &[Sentence]) -> [u8; blake3::OUT_LEN] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{reader} {:?} {sentences:?}", LabelTexts::new(function)).as_bytes());
    *hasher.finalize().as_bytes()
}

fn hex(hash: &[u8; blake3::OUT_LEN]) -> blake3::Hash {
    blake3::Hash::from_bytes(*hash)
}
