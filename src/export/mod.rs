//! Makes training records from a module: its exemplars, filled with values of its recognizers.
//!
//! The same module, seed and embedding model give the same records, in the same order.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{
    embed::{EmbedError, Embedder, Purpose},
    module::{Exemplar, FunctionId, Module, OwnerMode},
    sample::{SampleError, Sampler},
};

mod calls;
mod near;
mod pairs;

/// Sentences made from an exemplar with slots, each with other values.
const VARIANTS: usize = 3;

/// Number of texts that are embedded together.
const BATCH: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportKind {
    /// Chat-format function calling, one conversation a line.
    Calls,
    /// Anchor, positive and negative sentences, one triplet a line.
    Pairs,
}

impl ExportKind {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Pairs => "pairs",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct ExportOptions {
    pub kind: ExportKind,
    pub seed: u64,
    /// For `calls`: wrong functions offered besides the right one. For `pairs`: negatives of each anchor.
    pub negatives: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("the module has no exemplars: nothing can be learned from it")]
    NoExemplars,
}

/// The records, and how many exemplars gave none.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// One JSON object each.
    pub records: Vec<Value>,
    /// Exemplars that could not become sentences: a slot has no values, or its words are not found again.
    pub unsaid: usize,
}

/// A sentence for a function.
#[derive(Debug, Clone)]
struct TrainingSentence {
    function: FunctionId,
    text: String,
    arguments: Map<String, Value>,
    /// The sentence looks like a request for the function but is not one.
    is_negative: bool,
}

/// Makes the records.
///
/// # Errors
/// If the module has no exemplars, or the embedding model fails.
pub async fn export(
    module: &Module,
    embedder: &dyn Embedder,
    options: &ExportOptions,
) -> Result<Exported, ExportError> {
    let sampler = Sampler::new(module)?;
    let mut random = fastrand::Rng::with_seed(options.seed);
    let (lines, unsaid) = lines(module, &sampler, &mut random);
    if lines.is_empty() {
        return Err(ExportError::NoExemplars);
    }
    let vectors = embed(&lines, embedder).await?;
    let near = near::SentenceVectors::new(module.functions.len(), &lines, vectors);
    let records = match options.kind {
        ExportKind::Calls => calls::records(module, &sampler, &lines, &near, options.negatives, &mut random),
        ExportKind::Pairs => pairs::records(module, &lines, &near, options.negatives, &mut random),
    };
    Ok(Exported { records, unsaid })
}

/// Every sentence once for each function, in the order of the module.
fn lines(module: &Module, sampler: &Sampler<'_>, random: &mut fastrand::Rng) -> (Vec<TrainingSentence>, usize) {
    let (mut lines, mut unsaid) = (Vec::new(), 0);
    for id in module.function_ids() {
        let mut seen = HashSet::new();
        for exemplar in module.function(id).exemplars.iter().filter(|exemplar| !is_answer(exemplar)) {
            let mut was_said = false;
            for variant in 0..VARIANTS {
                let Some((sentence, arguments)) = sampler.say(id, exemplar, variant, random) else { continue };
                was_said = true;
                if seen.insert(sentence.text.clone()) {
                    let is_negative = exemplar.mode == OwnerMode::Negative;
                    lines.push(TrainingSentence { function: id, text: sentence.text, arguments, is_negative });
                }
            }
            unsaid += usize::from(!was_said);
        }
    }
    (lines, unsaid)
}

/// True if the exemplar answers a question: such a text does not ask for the function.
fn is_answer(exemplar: &Exemplar) -> bool {
    exemplar.context_slot.is_some()
}

async fn embed(lines: &[TrainingSentence], embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors = Vec::with_capacity(lines.len());
    for some in lines.chunks(BATCH) {
        let texts = some.iter().map(|line| line.text.clone()).collect();
        vectors.extend(embedder.embed(texts, Purpose::Symmetric).await?);
    }
    Ok(vectors)
}
