//! A loaded model: texts in, vectors and word states out.

use fastembed::{OutputKey, Pooling, SingleBatchOutput, TextEmbedding};

use crate::embed::{
    EmbedError, Embedded,
    words::{Tokens, WordStates},
};

/// The output that fastembed takes a text's vector from, in fastembed's order.
const OUTPUTS: &[OutputKey] = &[
    OutputKey::OnlyOne,
    OutputKey::ByName("text_embeds"),
    OutputKey::ByName("last_hidden_state"),
    OutputKey::ByName("sentence_embedding"),
];

/// A loaded model, with settings that its session does not have.
pub(super) struct LoadedModel {
    pub(super) model: TextEmbedding,
    /// Whether to embed each text by itself.
    pub(super) alone: bool,
    /// How states become a vector; `None` for a model of fastembed's list, which knows its own output.
    pub(super) pooling: Option<Pooling>,
}

impl LoadedModel {
    /// `prefix` is put before each text, and is not part of its words.
    pub(super) fn embed(
        &mut self,
        texts: &[String],
        prefix: &str,
        wants_words: bool,
    ) -> Result<Vec<Embedded>, EmbedError> {
        let step = if self.alone { 1 } else { texts.len().max(1) };
        let mut embedded = Vec::with_capacity(texts.len());
        for texts in texts.chunks(step) {
            let prefixed: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
            match self.pooling.clone() {
                Some(pooling) => embedded.extend(self.pass(texts, &prefixed, prefix, &pooling, wants_words)?),
                None => {
                    let vectors = self.model.embed(&prefixed, None).map_err(failed)?;
                    embedded.extend(vectors.into_iter().map(|vector| Embedded { vector, words: None }));
                }
            }
        }
        let is_finite = |one: &Embedded| {
            let states = one.words.as_ref().map_or(&[][..], WordStates::values);
            one.vector.iter().chain(states).all(|x| x.is_finite())
        };
        if embedded.len() != texts.len() || !embedded.iter().all(is_finite) {
            return Err(EmbedError::Inference("the model gave no finite vector for each text".into()));
        }
        Ok(embedded)
    }

    /// One pass of the model.
    fn pass(
        &mut self,
        texts: &[String],
        prefixed: &[String],
        prefix: &str,
        pooling: &Pooling,
        wants_words: bool,
    ) -> Result<Vec<Embedded>, EmbedError> {
        let passed = self.model.transform(prefixed, Some(prefixed.len().max(1))).map_err(failed)?.into_raw();
        let mut embedded = Vec::with_capacity(texts.len());
        for batch in &passed {
            let vectors = batch.select_and_pool_output(&OUTPUTS, Some(pooling.clone())).map_err(failed)?;
            embedded.extend(
                vectors
                    .rows()
                    .into_iter()
                    .map(|row| Embedded { vector: unit(row.as_slice().unwrap_or(&[])), words: None }),
            );
        }
        // All texts were one batch.
        if let (true, [batch]) = (wants_words, &passed[..]) {
            let words = self.words(batch, texts, prefixed, prefix)?;
            embedded.iter_mut().zip(words).for_each(|(one, words)| one.words = Some(words));
        }
        Ok(embedded)
    }

    /// The word states of each text; none if the model gives no states.
    fn words(
        &self,
        batch: &SingleBatchOutput,
        texts: &[String],
        prefixed: &[String],
        prefix: &str,
    ) -> Result<Vec<WordStates>, EmbedError> {
        let Some((_, output)) = batch.outputs.iter().find(|(name, _)| name == "last_hidden_state") else {
            return Ok(Vec::new());
        };
        let (shape, states) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let [_, tokens, dimensions] = shape[..] else { return Ok(Vec::new()) };
        let (tokens, dimensions) = (usize::try_from(tokens).unwrap_or(0), usize::try_from(dimensions).unwrap_or(0));
        let inputs = prefixed.iter().map(String::as_str).collect::<Vec<_>>();
        let encodings = self.model.tokenizer.encode_batch_char_offsets(inputs, true).map_err(failed)?;
        let ahead = prefix.chars().count();
        let rows = states.chunks_exact((tokens * dimensions).max(1));
        let read = encodings.iter().zip(texts).zip(rows).map(|((encoding, text), states)| {
            let places = encoding.get_offsets().iter();
            let places: Vec<(usize, usize)> =
                places.map(|(start, end)| (start.saturating_sub(ahead), end.saturating_sub(ahead))).collect();
            let is_cut = !encoding.get_overflowing().is_empty();
            WordStates::pool(text, &Tokens { places: &places, states, dimensions, is_cut })
        });
        Ok(read.collect())
    }
}

/// Normalised to length 1, identical to fastembed to the last bit.
fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / (length + 1e-12)).collect()
}

fn failed(error: impl std::fmt::Display) -> EmbedError {
    EmbedError::Inference(error.to_string())
}
