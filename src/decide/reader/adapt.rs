//! What a module's own exemplars teach the reader: for each slot, a small correction to the slot's vector.
//!
//! A slot's correction is a logistic regression on the reader's features of spans, starting from the reader's own
//! scores; `models/reader/README.md` has the recipe. It uses no random numbers, so learning a module always gives the
//! same result.

use super::{FunctionLabels, span_feature, touched};
use crate::{
    embed::{EmbedError, MOST_LABELS, Reader, SpanVectors, WordStates},
    exemplars::Sentence,
    linear::{add_scaled, dot},
    probability::{MOST_ODDS, logistic},
    text::{Span, Utterance},
};

/// Steps of Adam, their size, and the weight of the squared correction.
const STEPS: i32 = 60;
const RATE: f32 = 0.05;
const DECAY: f32 = 0.5;

/// A vector that is added to a slot's vector, and a number that is added to its bias.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Correction(pub(crate) Vec<f32>);

/// The reader's vectors of a sentence, with the words that fill slots: the first and the last.
struct Lesson {
    read: SpanVectors,
    /// For each filled slot, its row among the labels of `read`, and its first and last word.
    filled: Vec<(usize, usize, usize)>,
}

impl Correction {
    pub(crate) fn apply(&self, read: &mut SpanVectors, row: usize) {
        let Some((bias, vector)) = self.0.split_last() else { return };
        if vector.len() == read.labels.width() {
            add_scaled(read.labels.row_mut(row), 1.0, vector);
            read.biases[row] += bias;
        }
    }
}

/// The correction of each slot of a function, from sentences that mean it.
///
/// # Errors
/// If the reader fails.
pub(crate) fn adapt<'a>(
    reader: &Reader,
    labels: &FunctionLabels,
    sentences: impl Iterator<Item = (&'a Sentence, &'a WordStates)>,
) -> Result<Vec<Correction>, EmbedError> {
    let mut parts: Vec<Vec<Lesson>> = labels.slots.chunks(MOST_LABELS - 1).map(|_| Vec::new()).collect();
    for (sentence, words) in sentences.filter(|(_, words)| !words.spans().is_empty()) {
        let filled = filled(sentence, words.spans());
        for (number, (read, lessons)) in labels.read(reader, words, &[])?.into_iter().zip(&mut parts).enumerate() {
            let rows = number * (MOST_LABELS - 1)..(number + 1) * (MOST_LABELS - 1);
            let here = filled.iter().filter(|(slot, ..)| rows.contains(slot));
            let filled = here.map(|(slot, first, last)| (slot - rows.start + 1, *first, *last)).collect();
            lessons.push(Lesson { read, filled });
        }
    }
    let width = reader.width() + 1;
    let of_part = |(lessons, slots): (&Vec<Lesson>, usize)| {
        (1..=slots).map(|row| Examples::of(lessons, row).fit(width)).collect::<Vec<_>>()
    };
    Ok(parts.iter().zip(labels.slots.chunks(MOST_LABELS - 1).map(<[_]>::len)).flat_map(of_part).collect())
}

/// The index of each slot that is filled, with the first and the last word of its value.
pub(crate) fn filled(sentence: &Sentence, words: &[Span]) -> Vec<(usize, usize, usize)> {
    let utterance = Utterance::new(&sentence.text);
    let words_of = |(slot, bytes): &(crate::module::SlotId, std::ops::Range<usize>)| {
        let (first, last) = touched(words, utterance.span_of_bytes(bytes.clone()))?;
        Some((slot.index(), first, last))
    };
    sentence.slots.iter().filter_map(words_of).collect()
}

/// Spans of all lessons for one slot.
#[derive(Default)]
struct Examples {
    /// Each span's features, with a 1 for the bias behind them.
    features: Vec<Vec<f32>>,
    /// The reader's own scores.
    scores: Vec<f32>,
    is_filled: Vec<bool>,
}

impl Examples {
    fn of(lessons: &[Lesson], row: usize) -> Self {
        let mut examples = Self::default();
        for Lesson { read, filled } in lessons {
            for first in 0..read.starts.len() {
                for last in first..read.starts.len().min(first + read.widths.len()) {
                    let mut feature = vec![0.0; read.widths.width()];
                    span_feature(read, first, last, &mut feature);
                    let score = dot(&feature, read.labels.row(row)) + read.biases[row];
                    let is_filled = filled.contains(&(row, first, last));
                    // A span that fills nothing and scores lower is already rejected well enough.
                    if is_filled || score > -MOST_ODDS {
                        examples.push(feature, score, is_filled);
                    }
                }
            }
        }
        examples
    }

    fn push(&mut self, mut feature: Vec<f32>, score: f32, is_filled: bool) {
        feature.push(1.0);
        self.features.push(feature);
        self.scores.push(score);
        self.is_filled.push(is_filled);
    }

    /// `width` numbers; zeros if there is nothing to learn from.
    fn fit(&self, width: usize) -> Correction {
        let mut correction = vec![0.0_f32; width];
        let (mut mean, mut square) = (vec![0.0_f32; width], vec![0.0_f32; width]);
        let steps = if self.features.is_empty() { 0 } else { STEPS };
        for step in 1..=steps {
            let mut gradient: Vec<f32> = correction.iter().map(|value| 2.0 * DECAY * value).collect();
            for ((feature, score), is_filled) in self.features.iter().zip(&self.scores).zip(&self.is_filled) {
                let wanted = if *is_filled { 1.0 } else { 0.0 };
                let error = logistic(score + dot(feature, &correction)) - wanted;
                add_scaled(&mut gradient, error, feature);
            }
            let [of_mean, of_square] = [0.9_f32, 0.99].map(|kept| 1.0 - kept.powi(step));
            for (((value, mean), square), gradient) in
                correction.iter_mut().zip(&mut mean).zip(&mut square).zip(&gradient)
            {
                *mean = 0.9 * *mean + 0.1 * gradient;
                *square = 0.99 * *square + 0.01 * gradient * gradient;
                *value -= RATE * (*mean / of_mean) / ((*square / of_square).sqrt() + 1e-8);
            }
        }
        Correction(correction)
    }
}
