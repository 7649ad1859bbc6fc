//! Text to unit vectors, behind one trait.

mod acts;
mod fast;
mod hashed;
#[cfg(feature = "ablation")]
mod kept;
mod options;
mod queue;
mod reader;
mod remote;
mod runtime;
mod words;

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::text::foreign::Foreign;

pub use self::{
    acts::{ActOdds, Consents, SpeechActs, TurnOdds},
    hashed::Hashed,
    options::{
        DirectoryOptions, EmbedOptions, EmbedderKind, FastembedOptions, HashedOptions, Pooling, Prefixes,
        ReaderOptions, RemoteOptions,
    },
    reader::{LabelKind, LabelVector, MOST_LABELS, Reader, Rows, SpanVectors},
    words::{WordStates, words},
};

/// What a text is embedded for: models trained with prefixes use different ones for queries and passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An utterance that searches descriptions (asymmetric).
    Query,
    /// A description to be found (asymmetric).
    Passage,
    /// An utterance or exemplar that is compared with others of its kind.
    Symmetric,
}

/// Makes vectors of length 1, all with the same dimension.
pub trait Embedder: Send + Sync + 'static {
    /// Names the model and everything that changes its vectors (weights, quantisation, pooling, prefixes):
    /// vectors of two embedders may be compared only if their identities are equal.
    fn identity(&self) -> &str;

    fn dimensions(&self) -> usize;

    /// True if [`Purpose::Query`] and [`Purpose::Symmetric`] give the same vector, so that one embedding serves both.
    fn is_symmetric(&self) -> bool;

    /// One vector per text, in order. A call with at most [`LIVE_TEXTS`] texts goes ahead of longer ones.
    ///
    /// Dropping the future withdraws texts that were not started.
    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>>;

    /// The same, plus the word states from the same pass if there is a [`Reader`] for them.
    fn embed_words(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Embedded>, EmbedError>> {
        let vectors = self.embed(texts, purpose);
        Box::pin(async { Ok(vectors.await?.into_iter().map(|vector| Embedded { vector, words: None }).collect()) })
    }

    /// Whether this machine does the work, and not a server.
    fn works_here(&self) -> bool {
        false
    }

    /// The reader that finds slots from word states; `None` if none was trained for this model.
    fn reader(&self) -> Option<Arc<Reader>> {
        None
    }
}

/// A text's vector, and its word states if the embedder provides them.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub vector: Vec<f32>,
    pub words: Option<WordStates>,
}

pub type SharedEmbedder = Arc<dyn Embedder>;

/// Calls with at most this many texts (an utterance, its segments) count as live; a longer one is an index build, which
/// gives way between texts or small batches.
pub const LIVE_TEXTS: usize = 8;

/// Why there is no vector. The texts are for our log; a remote server's text never reaches a client.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model could not be loaded: {0}")]
    Load(String),
    #[error("the ONNX Runtime library could not be loaded: {0}")]
    Runtime(String),
    #[error("embedding failed: {0}")]
    Inference(String),
    #[error("the embedding server failed: {0}")]
    Remote(Foreign),
    #[error("too many texts wait for the embedding model")]
    Busy,
}

/// Makes the embedder that `options` describe, ready to embed: a local model is loaded and has embedded its first text.
///
/// # Errors
/// [`EmbedError::Load`] for unusable options or model files, [`EmbedError::Runtime`] for a missing or unsuitable ONNX
/// Runtime, [`EmbedError::Remote`] if a server had to be asked for its dimensions and did not answer.
pub async fn open(options: &EmbedOptions) -> Result<SharedEmbedder, EmbedError> {
    let opened: SharedEmbedder = match options.kind {
        EmbedderKind::Bundled => Arc::new(fast::open(fast::ModelSpec::bundled(), options).await?),
        EmbedderKind::Fastembed => Arc::new(fast::open(fast::ModelSpec::listed(&options.fastembed)?, options).await?),
        EmbedderKind::Directory => {
            Arc::new(fast::open(fast::ModelSpec::directory(&options.directory)?, options).await?)
        }
        EmbedderKind::Remote => Arc::new(remote::open(&options.remote, options.queue).await?),
        EmbedderKind::Hashed => Arc::new(Hashed::new(&options.hashed)),
    };
    #[cfg(feature = "ablation")]
    let opened: SharedEmbedder = Arc::new(kept::CachingEmbedder::new(opened));
    Ok(opened)
}

/// Scales to length 1; `None` if that is impossible (zero length, or a number that is not finite).
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if !norm.is_finite() || norm <= f64::from(f32::MIN_POSITIVE) {
        return None;
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    Some(vector)
}

/// The error with its causes, on one line: the outermost text often says only what was tried.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_no_direction_has_no_unit_vector() {
        assert_eq!(unit(vec![0.0; 3]), None);
        assert_eq!(unit(vec![]), None);
        assert_eq!(unit(vec![1.0, f32::NAN]), None);
        assert_eq!(unit(vec![1.0, f32::INFINITY]), None);
    }

    proptest! {
        #[test]
        fn unit_vectors_have_length_one(vector in proptest::collection::vec(-1e30f32..1e30, 1..50)) {
            if let Some(unit) = unit(vector) {
                let norm = unit.iter().map(|x| x * x).sum::<f32>().sqrt();
                prop_assert!((norm - 1.0).abs() < 1e-4);
            }
        }
    }

    #[tokio::test]
    async fn the_kind_chooses() {
        let options = EmbedOptions { kind: EmbedderKind::Hashed, ..EmbedOptions::default() };
        assert!(open(&options).await.unwrap().identity().starts_with("hashed"));
    }
}
