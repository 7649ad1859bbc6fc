//! The most probable cut of an utterance into words and slot values, and the posterior of each piece.
//!
//! A node is (position, last symbol); an edge reads one plain word, or a whole value of a slot. Between two positions
//! the last symbol can only be the word there or one of the slots, so a position has few nodes.

use crate::{
    decide::align::{
        Anchor, Filling,
        model::{Aligner, Model, Symbol, Token},
    },
    module::{FunctionId, SlotId},
    text::{Span, Utterance},
};

/// A value of a slot over words `from..to`.
struct Segment {
    slot: SlotId,
    from: usize,
    to: usize,
    anchor: Option<usize>,
    /// Log probability of these words as this slot's value.
    fit: f32,
}

/// Scores of the nodes at one position: after a plain word, and after each slot.
#[derive(Clone)]
struct Column {
    plain: f32,
    slots: Vec<f32>,
}

const IMPOSSIBLE: f32 = f32::NEG_INFINITY;

/// Log probability of the values that are not considered.
const HOPELESS: f32 = -60.0;

/// From this score on, what a recognizer found is what it says, and as free text of another slot less likely by so many nats.
const SURELY: f32 = 0.9;
const CLAIMED: f32 = -5.0;

/// Nats by which a value is likelier where its slot was just asked for: about ten times.
const EXPECTED: f32 = 2.3;
/// Log probability that such a value opens the answer, and that it ends it: people answer in one word.
const BARE: f32 = -1.2;

/// The most probable cut as fillings, and every filling with its posterior, however unlikely.
#[derive(Default)]
pub(crate) struct Decoded {
    pub best: Vec<Filling>,
    pub all: Vec<Filling>,
}

pub(crate) fn decode(
    aligner: &Aligner,
    function: FunctionId,
    utterance: &Utterance,
    words: &[Token],
    anchors: &[Anchor],
    expected: &[SlotId],
) -> Decoded {
    let model = aligner.model(function);
    let mut segments = segments(aligner, model, utterance, words, anchors);
    for segment in segments.iter_mut().filter(|segment| expected.contains(&segment.slot)) {
        segment.fit += EXPECTED;
    }
    if segments.is_empty() {
        return Decoded::default();
    }
    Lattice { expected, ..Lattice::new(aligner, model, words, segments) }.fillings(utterance)
}

/// Every value that could be read, sorted by where it starts.
fn segments(
    aligner: &Aligner,
    model: &Model,
    utterance: &Utterance,
    words: &[Token],
    anchors: &[Anchor],
) -> Vec<Segment> {
    let spans = utterance.words();
    let mut segments = Vec::new();
    for (index, anchor) in anchors.iter().enumerate() {
        let from = spans.partition_point(|word| word.end <= anchor.span.start);
        let to = spans.partition_point(|word| word.start < anchor.span.end);
        if from < to {
            let fit = aligner.anchored(model, anchor.slot, anchor.score, words, from, to);
            segments.push(Segment { slot: anchor.slot, from, to, anchor: Some(index), fit });
        }
    }
    let claims = Claims::new(model, words, anchors, &segments);
    for (index, slot) in model.slots.iter().enumerate() {
        if !slot.open {
            continue;
        }
        let name = SlotId::from_index(index);
        aligner.free(slot, words, |from, to, fit| {
            let fit = if claims.hold(name, from, to) { fit + CLAIMED } else { fit };
            // What is this unlikely changes no sum; leaving it out keeps the lattice small.
            if fit > HOPELESS {
                segments.push(Segment { slot: name, from, to, anchor: None, fit });
            }
        });
    }
    segments.sort_by_key(|segment| segment.from);
    segments
}

/// What recognizers surely found for a slot: it is hardly free text of another one, nor is it so with small words around.
struct Claims {
    /// By its first word: the slot, and the word behind the last.
    starting: Vec<Vec<(SlotId, usize)>>,
    carriers: Vec<bool>,
}

impl Claims {
    /// Numbers, and yes and no, stand in many a longer text, and are titles by themselves.
    fn new(model: &Model, words: &[Token], anchors: &[Anchor], found: &[Segment]) -> Self {
        let mut starting = vec![Vec::new(); words.len()];
        for segment in found {
            let is_sure = segment.anchor.is_some_and(|anchor| anchors[anchor].score >= SURELY);
            if is_sure && !model.slots[segment.slot.index()].is_common {
                starting[segment.from].push((segment.slot, segment.to));
            }
        }
        Self { starting, carriers: words.iter().map(|word| word.carrier).collect() }
    }

    fn hold(&self, slot: SlotId, from: usize, to: usize) -> bool {
        let first = (from..to).find(|word| !self.carriers[*word] || !self.starting[*word].is_empty());
        let claimed = first.into_iter().flat_map(|first| &self.starting[first]);
        claimed
            .filter(|(other, end)| *other != slot && *end <= to)
            .any(|(_, end)| self.carriers[*end..to].iter().all(|is_carrier| *is_carrier))
    }
}

struct Lattice<'a> {
    aligner: &'a Aligner,
    model: &'a Model,
    words: &'a [Token],
    segments: Vec<Segment>,
    /// Index into `segments` of the first that starts at or after each word.
    starting: Vec<usize>,
    /// Slots that some segment fills: only their nodes can be reached.
    slots: Vec<SlotId>,
    expected: &'a [SlotId],
}

impl<'a> Lattice<'a> {
    fn new(aligner: &'a Aligner, model: &'a Model, words: &'a [Token], segments: Vec<Segment>) -> Self {
        #[cfg(test)]
        crate::text::work::add(words.len() + segments.len());
        let starting = (0..=words.len()).map(|word| segments.partition_point(|segment| segment.from < word)).collect();
        let mut slots: Vec<SlotId> = segments.iter().map(|segment| segment.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        Self { aligner, model, words, segments, starting, slots, expected: &[] }
    }

    fn starting_at(&self, word: usize) -> std::ops::Range<usize> {
        self.starting[word]..self.starting.get(word + 1).copied().unwrap_or(self.segments.len())
    }

    /// The symbol of the plain node at `position`.
    fn plain_symbol(&self, position: usize) -> Symbol {
        if position == 0 { Symbol::Start } else { self.words[position - 1].symbol }
    }

    fn slot_position(&self, slot: SlotId) -> usize {
        self.slots.binary_search(&slot).expect("`slots` holds the slot of every segment")
    }

    /// Log probability of `next` after each node of a column: the plain one first, then the slots.
    fn transitions(&self, position: usize, next: Symbol, carrier: bool) -> impl Iterator<Item = f32> + '_ {
        let unigram = self.aligner.unigram(self.model, next, carrier);
        let plain = self.model.follows(self.plain_symbol(position), next, unigram);
        // "Rossi", "it is for Rossi please": nothing but function words around it.
        let is_led = position.checked_sub(1).is_none_or(|before| self.words[before].carrier);
        let opens = is_led && matches!(next, Symbol::Slot(slot) if self.expected.contains(&slot));
        let plain = if opens { plain.max(BARE) } else { plain };
        let slots = self.slots.iter().map(move |slot| {
            let previous = Symbol::Slot(*slot);
            if previous == next {
                return IMPOSSIBLE;
            }
            let follows = self.model.follows(previous, next, unigram);
            let is_over = self.words.get(position).is_none_or(|word| carrier && word.symbol == next);
            let closes = is_over && self.expected.contains(slot);
            if closes { follows.max(BARE) } else { follows }
        });
        std::iter::once(plain).chain(slots)
    }

    fn fillings(&self, utterance: &Utterance) -> Decoded {
        let end = self.words.len();
        let empty = Column { plain: IMPOSSIBLE, slots: vec![IMPOSSIBLE; self.slots.len()] };
        let mut sum = vec![empty.clone(); end + 1];
        let mut best = vec![empty; end + 1];
        // Where the best path into a node came from: a segment's index for slots; the node before, for both.
        let mut best_segment = vec![vec![usize::MAX; self.slots.len()]; end + 1];
        let mut node_before_plain = vec![0_usize; end + 1];
        let mut node_before_segment = vec![0_usize; self.segments.len()];
        // Log probability of reaching the start of each segment and entering its slot, over all ways to get there.
        let mut entering = vec![IMPOSSIBLE; self.segments.len()];
        sum[0].plain = 0.0;
        best[0].plain = 0.0;

        for position in 0..end {
            let word = &self.words[position];
            let steps: Vec<f32> = self.transitions(position, word.symbol, word.carrier).collect();
            let (total, (from, highest)) = self.enter(&sum[position], &best[position], &steps);
            sum[position + 1].plain = add(sum[position + 1].plain, total);
            if highest > best[position + 1].plain {
                best[position + 1].plain = highest;
                node_before_plain[position + 1] = from;
            }
            let mut entered: Vec<Option<(f32, (usize, f32))>> = vec![None; self.slots.len()];
            for index in self.starting_at(position) {
                let segment = &self.segments[index];
                let slot = self.slot_position(segment.slot);
                let (total, (from, highest)) = *entered[slot].get_or_insert_with(|| {
                    let steps: Vec<f32> = self.transitions(position, Symbol::Slot(segment.slot), false).collect();
                    self.enter(&sum[position], &best[position], &steps)
                });
                entering[index] = total;
                node_before_segment[index] = from;
                let reached = &mut sum[segment.to].slots[slot];
                *reached = add(*reached, total + segment.fit);
                if highest + segment.fit > best[segment.to].slots[slot] {
                    best[segment.to].slots[slot] = highest + segment.fit;
                    best_segment[segment.to][slot] = index;
                }
            }
        }

        let last: Vec<f32> = self.transitions(end, Symbol::End, false).collect();
        let (total, (mut node, _)) = self.enter(&sum[end], &best[end], &last);
        let leaving = self.backward(&last);

        let spans = utterance.words();
        let filling = |index: usize| {
            let segment = &self.segments[index];
            let behind = leaving[segment.to].slots[self.slot_position(segment.slot)];
            Filling {
                slot: segment.slot,
                span: Span::new(spans[segment.from].start, spans[segment.to - 1].end),
                anchor: segment.anchor,
                confidence: (entering[index] + segment.fit + behind - total).exp().clamp(0.0, 1.0),
            }
        };
        let mut best_path = Vec::new();
        let mut position = end;
        while position > 0 {
            if node == 0 {
                node = node_before_plain[position];
                position -= 1;
                continue;
            }
            let index = best_segment[position][node - 1];
            best_path.push(filling(index));
            node = node_before_segment[index];
            position = self.segments[index].from;
        }
        best_path.reverse();
        Decoded { best: best_path, all: (0..self.segments.len()).map(filling).collect() }
    }

    /// Over all nodes of a column, each with its step: the summed log probability, and the best node with its score.
    fn enter(&self, sum: &Column, best: &Column, steps: &[f32]) -> (f32, (usize, f32)) {
        let mut total = sum.plain + steps[0];
        let mut highest = (0, best.plain + steps[0]);
        for (index, step) in steps[1..].iter().enumerate() {
            if sum.slots[index] > IMPOSSIBLE && *step > IMPOSSIBLE {
                total = add(total, sum.slots[index] + step);
                let score = best.slots[index] + step;
                if score > highest.1 {
                    highest = (index + 1, score);
                }
            }
        }
        (total, highest)
    }

    /// For each node, the log probability of everything after it.
    fn backward(&self, last: &[f32]) -> Vec<Column> {
        let end = self.words.len();
        let empty = Column { plain: IMPOSSIBLE, slots: vec![IMPOSSIBLE; self.slots.len()] };
        let mut after = vec![empty; end + 1];
        after[end] = Column { plain: last[0], slots: last[1..].to_vec() };
        for position in (0..end).rev() {
            let word = &self.words[position];
            let plain = after[position + 1].plain;
            let mut column: Vec<f32> =
                self.transitions(position, word.symbol, word.carrier).map(|step| step + plain).collect();
            // What lies behind each slot that can start here, over all its segments.
            let mut behind = vec![IMPOSSIBLE; self.slots.len()];
            for index in self.starting_at(position) {
                let segment = &self.segments[index];
                let slot = self.slot_position(segment.slot);
                behind[slot] = add(behind[slot], segment.fit + after[segment.to].slots[slot]);
            }
            for (slot, weight) in behind.iter().enumerate().filter(|(_, weight)| **weight > IMPOSSIBLE) {
                let steps = self.transitions(position, Symbol::Slot(self.slots[slot]), false);
                for (node, step) in column.iter_mut().zip(steps) {
                    *node = add(*node, step + weight);
                }
            }
            after[position] = Column { plain: column[0], slots: column[1..].to_vec() };
        }
        after
    }
}

/// `ln(exp(a) + exp(b))`.
fn add(a: f32, b: f32) -> f32 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == IMPOSSIBLE { high } else { high + (low - high).exp().ln_1p() }
}
