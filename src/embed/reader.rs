//! The reader: a small network on the states that the embedding model computes anyway. It scores how well each run of
//! words fills each slot. `models/reader/README.md` describes its form; `decide::reader` interprets its scores.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ort::{
    inputs,
    session::{Session, SessionOutputs},
    value::TensorRef,
};

use super::{
    EmbedError, WordStates,
    acts::{ACTS, ActsFile, CONSENTS, Consents, SpeechActs, TURNS},
    causes,
    runtime::LoadedRuntime,
};
use crate::learned;

/// Most labels that the network was trained with: the function's and those of its slots.
pub const MOST_LABELS: usize = 24;

/// The kind of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelKind {
    Slot,
    /// A slot that was just asked for.
    Asked,
    Function,
}

/// The name and description of a slot or of a function, as a sentence vector.
#[derive(Debug, Clone, Copy)]
pub struct LabelVector<'a> {
    pub vector: &'a [f32],
    pub kind: LabelKind,
}

/// Rows of equal width.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    width: usize,
    values: Vec<f32>,
}

impl Rows {
    #[must_use]
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..(index + 1) * self.width]
    }

    pub fn row_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.values[index * self.width..(index + 1) * self.width]
    }

    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or_default()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// The network's output for an utterance and its labels. The score of label `m` for the words `i` to `j` is `labels[m]
/// · max(0, starts[i] + ends[j] + widths[j - i]) + biases[m]`; its sigmoid is a probability.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanVectors {
    /// One row per word.
    pub starts: Rows,
    pub ends: Rows,
    /// Row `n` is for spans of `n + 1` words.
    pub widths: Rows,
    /// One row per label.
    pub labels: Rows,
    pub biases: Vec<f32>,
}

/// The location of the reader's files.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReaderFiles {
    Bundled,
    Directory(PathBuf),
}

/// The network, with the classifiers of dialogue acts.
pub struct Reader {
    session: Mutex<Session>,
    /// `None` if a directory has no `acts.json`, no `turns.json`, or no `consents.json`.
    acts: Option<SpeechActs>,
    turns: Option<SpeechActs>,
    consents: Option<Consents>,
    identity: String,
    width: usize,
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reader").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Reader {
    /// Loads the reader for the model with this identity and number of dimensions.
    pub(super) fn load(
        files: &ReaderFiles,
        encoder: (&str, usize),
        runtime: &LoadedRuntime,
    ) -> Result<Self, EmbedError> {
        let failed = |path: &Path, error| EmbedError::Load(format!("cannot read {}: {error}", path.display()));
        match files {
            // Trained on the states of the bundled model.
            ReaderFiles::Bundled => {
                let (acts, turns) = (learned::text!("reader/acts.json"), learned::text!("reader/turns.json"));
                let acts = [Some(acts), Some(turns), Some(learned::text!("reader/consents.json"))];
                Self::of_bytes(learned::bytes!("reader/head.onnx"), acts, encoder, runtime)
            }
            ReaderFiles::Directory(directory) => {
                let head = directory.join("head.onnx");
                let bytes = std::fs::read(&head).map_err(|error| failed(&head, error))?;
                let text = |ActsFile { name, .. }| {
                    let path = directory.join(name);
                    match std::fs::read_to_string(&path) {
                        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                        read => read.map(Some).map_err(|error| failed(&path, error)),
                    }
                };
                let (acts, turns, consents) = (text(ACTS)?, text(TURNS)?, text(CONSENTS)?);
                Self::of_bytes(&bytes, [acts.as_deref(), turns.as_deref(), consents.as_deref()], encoder, runtime)
            }
        }
    }

    fn of_bytes(
        bytes: &[u8],
        [acts, turns, consents]: [Option<&str>; 3],
        (encoder, dimensions): (&str, usize),
        runtime: &LoadedRuntime,
    ) -> Result<Self, EmbedError> {
        let parsed = |text: Option<&str>, file| {
            text.map(|text| SpeechActs::parse(text, file, dimensions)).transpose().map_err(EmbedError::Load)
        };
        let (acts, turns) = (parsed(acts, ACTS)?, parsed(turns, TURNS)?);
        let consents = consents.map(|text| Consents::parse(text, dimensions)).transpose().map_err(EmbedError::Load)?;
        let open = || Session::builder(&runtime.environment)?.with_intra_threads(1)?.commit_from_memory(bytes);
        let session =
            open().map_err(|error: ort::Error| EmbedError::Load(format!("the reader: {}", causes(&error))))?;
        let has = |name: &str| session.inputs().iter().any(|input| input.name() == name);
        if !["words", "labels", "kinds"].into_iter().all(has) {
            return Err(EmbedError::Load("the reader is not of the form that models/reader/README.md has".into()));
        }
        let identity = format!("{encoder}/{}", &blake3::hash(bytes).to_hex()[..16]);
        let mut reader = Self { session: Mutex::new(session), acts, turns, consents, identity, width: 0 };
        // A first pass with one word and one label, which also pays its extra cost.
        let one = vec![0.0; dimensions];
        let first = reader.run([1, 1, dimensions], &one, &one, &[LabelKind::Function as i64]);
        let first = first.map_err(|error| EmbedError::Load(format!("the reader: {}", causes(&error))))?;
        reader.width = first.labels.width();
        Ok(reader)
    }

    /// The classifier of an utterance's act.
    #[must_use]
    pub const fn acts(&self) -> Option<&SpeechActs> {
        self.acts.as_ref()
    }

    /// The classifier of an utterance's act beside an open form.
    #[must_use]
    pub const fn turns(&self) -> Option<&SpeechActs> {
        self.turns.as_ref()
    }

    /// How people agree to what was read out.
    #[must_use]
    pub const fn consents(&self) -> Option<&Consents> {
        self.consents.as_ref()
    }

    /// The length of span and label vectors.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Identifies the network and the model whose states it reads.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Reads the words of one utterance for up to [`MOST_LABELS`] labels. Takes some hundred microseconds.
    ///
    /// # Errors
    /// [`EmbedError::Inference`] if the runtime fails, or if a vector does not have the model's dimensions.
    pub fn read(&self, words: &WordStates, labels: &[LabelVector<'_>]) -> Result<SpanVectors, EmbedError> {
        let (count, dimensions) = (words.spans().len(), words.dimensions());
        if count == 0 || labels.is_empty() || labels.iter().any(|label| label.vector.len() != dimensions) {
            return Err(EmbedError::Inference("the reader has no words, no labels, or labels of another model".into()));
        }
        let vectors: Vec<f32> = labels.iter().flat_map(|label| label.vector.iter().copied()).collect();
        let kinds: Vec<i64> = labels.iter().map(|label| label.kind as i64).collect();
        self.run([count, labels.len(), dimensions], words.values(), &vectors, &kinds)
            .map_err(|error| EmbedError::Inference(format!("the reader: {}", causes(&error))))
    }

    fn run(
        &self,
        [words, labels, dimensions]: [usize; 3],
        states: &[f32],
        vectors: &[f32],
        kinds: &[i64],
    ) -> Result<SpanVectors, ort::Error> {
        let inputs = inputs![
            "words" => TensorRef::from_array_view(([1, words, dimensions], states))?,
            "labels" => TensorRef::from_array_view(([1, labels, dimensions], vectors))?,
            "kinds" => TensorRef::from_array_view(([1, labels], kinds))?,
        ];
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs)?;
        Ok(SpanVectors {
            starts: rows(&outputs, "starts")?,
            ends: rows(&outputs, "ends")?,
            widths: rows(&outputs, "widths")?,
            labels: rows(&outputs, "slots")?,
            biases: rows(&outputs, "biases")?.values,
        })
    }
}

fn rows(outputs: &SessionOutputs<'_>, name: &str) -> Result<Rows, ort::Error> {
    let output = outputs.get(name).ok_or_else(|| ort::Error::new(format!("there is no output `{name}`")))?;
    let (shape, values) = output.try_extract_tensor::<f32>()?;
    let width = shape.last().and_then(|width| usize::try_from(*width).ok()).unwrap_or_default();
    Ok(Rows { width, values: values.to_vec() })
}
