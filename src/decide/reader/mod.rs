//! Which words fill which slot of a function, by the reader: a network that was trained over many modules and knows a
//! slot only by its name and description. A module's own exemplars sharpen it (`adapt`). They are turned into sentences
//! (`sentences`) with values that people say for similar slots (`typical`).

pub(crate) mod adapt;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::{
    embed::{EmbedError, LabelKind, LabelVector, MOST_LABELS, Reader, SpanVectors, WordStates},
    linear::{add_scaled, dot},
    module::{Function, FunctionId, PathStep, Slot, SlotId, SlotPath},
    text::Span,
};
use adapt::Correction;

/// How many choices of a slot its label names.
const CHOICES: usize = 8;

/// The reader with what it must know about one module. Made when the module is prepared.
#[derive(Debug)]
pub struct SlotReader {
    pub(crate) reader: Arc<Reader>,
    /// The labels of each function, by its index.
    pub(crate) functions: Vec<FunctionLabels>,
}

/// The reader's input for a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct FunctionLabels {
    pub function: Arc<[f32]>,
    /// The label vector of each slot, by its index.
    pub slots: Vec<Arc<[f32]>>,
    /// What the function's exemplars teach about each slot; empty if it has none.
    pub corrections: Arc<[Correction]>,
    /// A hash of everything that the corrections were learned from.
    pub learned_from: [u8; blake3::OUT_LEN],
}

/// The texts whose vectors describe a function and its slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelTexts {
    pub function: String,
    pub slots: Vec<String>,
}

/// The results so far, by function and by the slots that were asked for.
type ScoreCache = HashMap<(FunctionId, Vec<SlotId>), Arc<SpanScores>>;

/// The words of an utterance, or of a part of it, as the reader sees them, with the results so far.
pub(crate) struct ReaderWords {
    states: WordStates,
    read: Mutex<ScoreCache>,
}

/// How well each run of words fills each slot of one function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpanScores {
    words: Vec<Span>,
    /// The most words of a span.
    longest: usize,
    /// By slot: the score of words `first..=last` is at `first * longest + last - first`.
    scores: Vec<Vec<f32>>,
}

/// A span that may fill a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SpanScore {
    pub slot: SlotId,
    pub span: Span,
    /// Log-odds that exactly these words fill the slot.
    pub score: f32,
}

impl LabelTexts {
    pub(crate) fn new(function: &Function) -> Self {
        Self {
            function: label(&plain_name(&function.name), &function.description, &[]),
            slots: function.slots.iter().map(slot_label).collect(),
        }
    }
}

fn slot_label(slot: &Slot) -> String {
    label(&path_name(&slot.path), &slot.description, &slot.choices)
}

/// "name: description (choice, choice)", the form of label that the reader was trained with.
fn label(name: &str, description: &str, choices: &[Value]) -> String {
    let mut text = name.to_owned();
    if !description.trim().is_empty() {
        text.push_str(": ");
        text.push_str(description.trim());
    }
    if !choices.is_empty() {
        let shown = |choice: &Value| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
        let shown: Vec<String> = choices.iter().take(CHOICES).map(shown).collect();
        text.push_str(&format!(" ({})", shown.join(", ")));
    }
    text
}

fn path_name(path: &SlotPath) -> String {
    let keys = path.0.iter().filter_map(|step| match step {
        PathStep::Key(key) => Some(plain_name(key)),
        PathStep::Each => None,
    });
    keys.collect::<Vec<_>>().join(" ")
}

/// `pickup_date`, `pickup-date` and `pickupDate` as "pickup date".
fn plain_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for character in name.chars() {
        let starts = character.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        let is_gap = matches!(character, '_' | '-' | '.') || character.is_whitespace();
        if (starts || is_gap) && !plain.ends_with(' ') {
            plain.push(' ');
        }
        if !is_gap {
            plain.extend(character.to_lowercase());
        }
        before = character;
    }
    plain.trim().to_owned()
}

impl SlotReader {
    /// How well the words fill the slots of a function; `asked` are the slots that were just asked for. `None` for a
    /// function without slots, for an empty text, and (with a line in the log) if the reader fails.
    pub(crate) fn read(&self, function: FunctionId, words: &ReaderWords, asked: &[SlotId]) -> Option<Arc<SpanScores>> {
        let labels = self.functions.get(function.index()).filter(|labels| !labels.slots.is_empty())?;
        if words.states.spans().is_empty() {
            return None;
        }
        let key = (function, asked.to_vec());
        if let Some(known) = words.lock().get(&key) {
            return Some(Arc::clone(known));
        }
        match labels.read(&self.reader, &words.states, asked) {
            Ok(parts) => {
                let scores = Arc::new(SpanScores::new(words.states.spans(), labels, parts));
                words.lock().insert(key, Arc::clone(&scores));
                Some(scores)
            }
            Err(error) => {
                tracing::warn!(%error, "slots are found without the reader");
                None
            }
        }
    }
}

impl FunctionLabels {
    /// Reads the slots in batches of as many as the reader takes at once.
    pub(crate) fn read(
        &self,
        reader: &Reader,
        words: &WordStates,
        asked: &[SlotId],
    ) -> Result<Vec<SpanVectors>, EmbedError> {
        let function = LabelVector { vector: &self.function, kind: LabelKind::Function };
        let of_slot = |(index, vector): (usize, &'_ Arc<[f32]>)| {
            let is_asked = asked.contains(&SlotId::from_index(index));
            (Arc::clone(vector), if is_asked { LabelKind::Asked } else { LabelKind::Slot })
        };
        let slots: Vec<(Arc<[f32]>, LabelKind)> = self.slots.iter().enumerate().map(of_slot).collect();
        let parts = slots.chunks(MOST_LABELS - 1).map(|part| {
            let part = part.iter().map(|(vector, kind)| LabelVector { vector, kind: *kind });
            reader.read(words, &std::iter::once(function).chain(part).collect::<Vec<_>>())
        });
        parts.collect()
    }
}

impl ReaderWords {
    /// `place` maps a span of the embedded text to the utterance.
    pub(crate) fn new(states: WordStates, place: impl Fn(Span) -> Span) -> Self {
        Self { states: states.at(place), read: Mutex::default() }
    }

    /// A poisoned lock is usable: no operation leaves the table half changed.
    fn lock(&self) -> std::sync::MutexGuard<'_, ScoreCache> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ReaderWords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Words").field("spans", &self.states.spans()).finish_non_exhaustive()
    }
}

impl SpanScores {
    fn new(words: &[Span], labels: &FunctionLabels, parts: Vec<SpanVectors>) -> Self {
        let longest = parts.first().map_or(0, |part| part.widths.len());
        let mut scores = Vec::with_capacity(labels.slots.len());
        for mut part in parts {
            let corrections = labels.corrections.get(scores.len()..).unwrap_or_default();
            for (row, correction) in corrections.iter().enumerate().take(part.labels.len() - 1) {
                correction.apply(&mut part, row + 1);
            }
            scores.extend(table(&part, words.len()));
        }
        Self { words: words.to_vec(), longest, scores }
    }

    /// Log-odds that the slot is filled by exactly the words that `span` touches; `None` if it touches none, or too
    /// many.
    pub(crate) fn score(&self, slot: SlotId, span: Span) -> Option<f32> {
        let (first, last) = touched(&self.words, span)?;
        (last - first < self.longest).then(|| self.scores[slot.index()][first * self.longest + last - first])
    }

    /// The best score of the slot for any words that share one with `span`, and the logarithm of all their odds
    /// together; `None` if it touches none.
    pub(crate) fn around(&self, slot: SlotId, span: Span) -> Option<(f32, f32)> {
        let (from, to) = touched(&self.words, span)?;
        let scores = &self.scores[slot.index()];
        let ahead = from.saturating_sub(self.longest.saturating_sub(1));
        let (mut best, mut odds) = (f32::NEG_INFINITY, 0.0_f32);
        for first in ahead..=to {
            for last in first.max(from)..self.words.len().min(first + self.longest) {
                let score = scores[first * self.longest + last - first];
                best = best.max(score);
                odds += score.exp();
            }
        }
        Some((best, odds.ln()))
    }

    /// Every span that scores at least `bar` for a slot.
    pub(crate) fn above(&self, bar: f32) -> impl Iterator<Item = SpanScore> + '_ {
        self.scores.iter().enumerate().flat_map(move |(slot, scores)| {
            scores.iter().enumerate().filter(move |(_, score)| **score >= bar).map(move |(at, score)| {
                let (first, length) = (at / self.longest, at % self.longest);
                let span = Span::new(self.words[first].start, self.words[first + length].end);
                SpanScore { slot: SlotId::from_index(slot), span, score: *score }
            })
        })
    }
}

/// The first and the last word that a span touches.
pub(crate) fn touched(words: &[Span], span: Span) -> Option<(usize, usize)> {
    let first = words.partition_point(|word| word.end <= span.start);
    let behind = words.partition_point(|word| word.start < span.end);
    (first < behind).then(|| (first, behind - 1))
}

/// The scores of each label except the first, as [`SpanScores`] keeps them; minus infinity where there is no span.
fn table(part: &SpanVectors, words: usize) -> Vec<Vec<f32>> {
    let longest = part.widths.len();
    let mut scores = vec![vec![f32::NEG_INFINITY; words * longest]; part.labels.len().saturating_sub(1)];
    let mut feature = vec![0.0; part.widths.width()];
    for first in 0..words {
        for last in first..words.min(first + longest) {
            span_feature(part, first, last, &mut feature);
            for (row, scores) in scores.iter_mut().enumerate() {
                scores[first * longest + last - first] = dot(&feature, part.labels.row(row + 1)) + part.biases[row + 1];
            }
        }
    }
    scores
}

/// The features of the words `first..=last`, whatever slot they may fill.
pub(crate) fn span_feature(part: &SpanVectors, first: usize, last: usize, feature: &mut [f32]) {
    let (start, end, width) = (part.starts.row(first), part.ends.row(last), part.widths.row(last - first));
    feature.copy_from_slice(start);
    add_scaled(feature, 1.0, end);
    add_scaled(feature, 1.0, width);
    feature.iter_mut().for_each(|value| *value = value.max(0.0));
}

#[cfg(test)]
mod tests;
