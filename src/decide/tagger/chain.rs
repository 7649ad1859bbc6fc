//! A linear-chain conditional random field: the probability of a sequence of labels, given the observations of each
//! word.
//!
//! The crate `crfs` does the same, but it learns from a file into a file, gives no probability of a span, and starts
//! from zero for each exemplar that an author adds.

use super::labels::{LABELS_OF_SLOT, WordLabel};
use crate::linear::add_scaled;

/// Rows of weights that observations are hashed into. Two observations that share a row differ in their other
/// observations.
pub(super) const ROWS: usize = 1 << 15;
/// Passes over the sentences: for a new model, and for one that already knows most sentences.
const PASSES: usize = 8;
const PASSES_MORE: usize = 2;
/// The step of `AdaGrad`.
const RATE: f32 = 0.2;
/// The share of observations of a value's own words that is hidden in each pass: a value that was never shown must be
/// found by the words around it.
const HIDDEN: f32 = 0.3;

/// The observations of a word, as rows of weights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WordObservations {
    /// Observations that identify the word itself.
    pub(super) own: Vec<u32>,
    /// Observations of its neighbours and of its spelling.
    pub(super) others: Vec<u32>,
}

impl WordObservations {
    pub(super) fn rows(&self, is_hidden: bool) -> Vec<u32> {
        let own = if is_hidden { &[][..] } else { &self.own };
        own.iter().chain(&self.others).copied().collect()
    }
}

/// A sentence with the label of each word.
pub(super) struct Lesson {
    pub(super) words: Vec<WordObservations>,
    pub(super) labels: Vec<WordLabel>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chain {
    labels: usize,
    /// The weight of each label for each row.
    weights: Vec<f32>,
    /// The weight of each label after each label; the beginning of the sentence comes first.
    moves: Vec<f32>,
}

/// The probabilities of all sequences for one sentence, summed up from both sides. Those of each word are scaled to a
/// sum of 1.
pub(super) struct Lattice<'a> {
    chain: &'a Chain,
    /// By word and label: the weight of the label at this word alone, up to a factor.
    here: Vec<f32>,
    /// The weight of everything up to this word, including it; and of everything behind it.
    before: Vec<f32>,
    behind: Vec<f32>,
    scales: Vec<f32>,
    moves: Vec<f32>,
}

impl Chain {
    pub(super) fn new(slots: usize) -> Self {
        let labels = 1 + LABELS_OF_SLOT * slots;
        Self { labels, weights: vec![0.0; ROWS * labels], moves: vec![0.0; (labels + 1) * labels] }
    }

    /// Learns from the lessons, in a fixed order. `goes_on` is true if most of them were learned before.
    pub(super) fn learn(&mut self, lessons: &[Lesson], goes_on: bool) {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut squares, mut of_moves) = (vec![1e-2_f32; self.weights.len()], vec![1e-2_f32; self.moves.len()]);
        let mut order: Vec<usize> = (0..lessons.len()).collect();
        for _ in 0..if goes_on { PASSES_MORE } else { PASSES } {
            random.shuffle(&mut order);
            for Lesson { words, labels } in order.iter().map(|at| &lessons[*at]) {
                let mut seen = |(word, label): (&WordObservations, &WordLabel)| {
                    let is_hidden = *label != WordLabel::NONE && random.f32() < HIDDEN;
                    word.rows(is_hidden)
                };
                let words: Vec<Vec<u32>> = words.iter().zip(labels).map(&mut seen).collect();
                self.step(&words, labels, (&mut squares, &mut of_moves));
            }
        }
    }

    /// A step towards the labels of one sentence.
    fn step(&mut self, words: &[Vec<u32>], labels: &[WordLabel], (squares, of_moves): (&mut [f32], &mut [f32])) {
        let count = self.labels;
        let lattice = self.lattice(words);
        let mut wanted: Vec<f32> = lattice.probabilities().iter().map(|value| -value).collect();
        let mut wanted_moves: Vec<f32> = lattice.moves_between().iter().map(|value| -value).collect();
        let mut from = count;
        for (word, label) in labels.iter().enumerate() {
            wanted[word * count + label.0] += 1.0;
            wanted_moves[from * count + label.0] += 1.0;
            from = label.0;
        }
        for (rows, gradient) in words.iter().zip(wanted.chunks_exact(count)) {
            for row in rows {
                let at = *row as usize * count;
                ascend(&mut self.weights[at..at + count], &mut squares[at..at + count], gradient);
            }
        }
        ascend(&mut self.moves, of_moves, &wanted_moves);
    }

    pub(super) fn lattice(&self, words: &[Vec<u32>]) -> Lattice<'_> {
        let count = self.labels;
        let mut here = vec![0.0_f32; words.len() * count];
        for (rows, sums) in words.iter().zip(here.chunks_exact_mut(count)) {
            for row in rows {
                let at = *row as usize * count;
                add_scaled(sums, 1.0, &self.weights[at..at + count]);
            }
            let most = sums.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            sums.iter_mut().for_each(|sum| *sum = (*sum - most).exp());
        }
        let of_move = |(at, weight): (usize, &f32)| {
            let (from, to) = (at / count, WordLabel(at % count));
            let from = (from < count).then_some(WordLabel(from));
            if to.may_follow(from) { weight.exp() } else { 0.0 }
        };
        let moves: Vec<f32> = self.moves.iter().enumerate().map(of_move).collect();
        let mut lattice = Lattice {
            chain: self,
            before: here.clone(),
            behind: vec![1.0; here.len()],
            here,
            scales: Vec::new(),
            moves,
        };
        lattice.sum_up(words.len());
        lattice
    }
}

/// A step of `AdaGrad` up the gradient.
fn ascend(weights: &mut [f32], squares: &mut [f32], gradient: &[f32]) {
    for ((weight, square), gradient) in weights.iter_mut().zip(squares).zip(gradient) {
        *square += gradient * gradient;
        *weight += RATE * gradient / square.sqrt();
    }
}

impl Lattice<'_> {
    fn sum_up(&mut self, words: usize) {
        let count = self.chain.labels;
        for word in 0..words {
            let mut sums = vec![0.0_f32; count];
            if word == 0 {
                sums.copy_from_slice(&self.moves[count * count..]);
            } else {
                let known = &self.before[(word - 1) * count..word * count];
                for (from, value) in known.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                    add_scaled(&mut sums, *value, &self.moves[from * count..(from + 1) * count]);
                }
            }
            let own = &mut self.before[word * count..(word + 1) * count];
            own.iter_mut().zip(&sums).for_each(|(own, sum)| *own *= sum);
            let scale = own.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            own.iter_mut().for_each(|own| *own /= scale);
            self.scales.push(scale);
        }
        for word in (1..words).rev() {
            let next = self.weighed(word);
            for from in 0..count {
                self.behind[(word - 1) * count + from] =
                    crate::linear::dot(&self.moves[from * count..(from + 1) * count], &next);
            }
        }
    }

    /// The weight of each label of this word together with everything behind it, scaled like `before`.
    fn weighed(&self, word: usize) -> Vec<f32> {
        let own = word * self.chain.labels..(word + 1) * self.chain.labels;
        let scale = self.scales[word];
        self.here[own.clone()].iter().zip(&self.behind[own]).map(|(here, behind)| here * behind / scale).collect()
    }

    /// The probability of each label of each word.
    fn probabilities(&self) -> Vec<f32> {
        self.before.iter().zip(&self.behind).map(|(before, behind)| before * behind).collect()
    }

    /// The expected number of times that each label follows each; the beginning of the sentence is last.
    fn moves_between(&self) -> Vec<f32> {
        let count = self.chain.labels;
        let mut found = vec![0.0_f32; self.moves.len()];
        for word in 0..self.scales.len() {
            let next = self.weighed(word);
            let froms = if word == 0 { count..count + 1 } else { 0..count };
            for from in froms {
                let value = if word == 0 { 1.0 } else { self.before[(word - 1) * count + from] };
                if value > 0.0 {
                    for (to, next) in next.iter().enumerate() {
                        found[from * count + to] += value * self.moves[from * count + to] * next;
                    }
                }
            }
        }
        found
    }

    /// The probability that a value of the slot begins with this word.
    pub(super) fn begins(&self, slot: usize, word: usize) -> f32 {
        let at = word * self.chain.labels + WordLabel::begins(slot).0;
        self.before[at] * self.behind[at]
    }

    /// The probability of exactly these labels.
    pub(super) fn of_labels(&self, labels: &[WordLabel]) -> f32 {
        let count = self.chain.labels;
        let mut from = count;
        let steps = labels.iter().enumerate().map(|(word, label)| {
            let step = self.moves[from * count + label.0] * self.here[word * count + label.0] / self.scales[word];
            from = label.0;
            step
        });
        steps.product()
    }

    /// The probability that the words `first..=last`, and no more, are a value of the slot.
    pub(super) fn of_span(&self, slot: usize, first: usize, last: usize) -> f32 {
        let count = self.chain.labels;
        let (begins, goes_on) = (WordLabel::begins(slot), WordLabel::goes_on(slot));
        let mut value = self.before[first * count + begins.0];
        let mut label = begins;
        for word in first + 1..=last {
            value *= self.moves[label.0 * count + goes_on.0] * self.here[word * count + goes_on.0] / self.scales[word];
            label = goes_on;
        }
        if last + 1 == self.scales.len() {
            return value;
        }
        let next = self.weighed(last + 1);
        let moves = &self.moves[label.0 * count..(label.0 + 1) * count];
        let ends: f32 = (0..count).filter(|to| *to != goes_on.0).map(|to| moves[to] * next[to]).sum();
        value * ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(words: &[u32], labels: &[usize]) -> Lesson {
        let word = |row: &u32| WordObservations { own: vec![*row], others: Vec::new() };
        Lesson {
            words: words.iter().map(word).collect(),
            labels: labels.iter().map(|label| WordLabel(*label)).collect(),
        }
    }

    /// "Play 7 8", "play 9": the words behind 1 ("play") are a value.
    fn taught() -> Chain {
        let mut chain = Chain::new(1);
        let lessons = [lesson(&[1, 7, 8], &[0, 1, 2]), lesson(&[1, 9], &[0, 1]), lesson(&[2, 9], &[0, 0])];
        chain.learn(&lessons, false);
        chain
    }

    #[test]
    fn the_probabilities_of_a_word_sum_to_one() {
        let chain = taught();
        let lattice = chain.lattice(&[vec![1], vec![7], vec![8], vec![3]]);
        for own in lattice.probabilities().chunks_exact(3) {
            assert!((own.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{own:?}");
        }
        let moves = lattice.moves_between();
        assert!((moves.iter().sum::<f32>() - 4.0).abs() < 1e-3, "{moves:?}");
    }

    #[test]
    fn the_probabilities_of_spans_are_those_of_their_sequences() {
        let chain = taught();
        let lattice = chain.lattice(&[vec![1], vec![7], vec![8]]);
        let begins = lattice.probabilities()[3 + 1];
        let spans = lattice.of_span(0, 1, 1) + lattice.of_span(0, 1, 2);
        assert!((begins - spans).abs() < 1e-4, "{begins} {spans}");
        let labels = [WordLabel::NONE, WordLabel::begins(0), WordLabel::goes_on(0)];
        assert!((lattice.of_labels(&labels) - lattice.of_span(0, 1, 2)).abs() < 0.3 * lattice.of_span(0, 1, 2));
        assert!(lattice.of_span(0, 1, 2) > 0.6, "{}", lattice.of_span(0, 1, 2));
        let alone = chain.lattice(&[vec![1]]);
        assert!(alone.of_span(0, 0, 0) < 0.3);
    }
}
