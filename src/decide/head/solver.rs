//! Multinomial logistic regression by dual coordinate ascent (Yu, Huang and Lin, 2011).
//!
//! Each row has a dual for each class. When the fit is done, the duals of a row are its label minus the model's
//! probabilities. The weights are the sum of the rows, each times its duals, divided by the ridge. A visit solves the
//! duals of one row while those of all others stay fixed. So a fit can continue from the duals of another: removed rows
//! leave nothing behind, new rows start at 0, and only rows that are thus out of balance are solved again. The
//! objective has one optimum, wherever a fit starts.

use super::{
    regression::{Fit, Regression},
    rows::Rows,
};
use crate::linear::{add_scaled, vectorized};

/// A row is in balance if no dual is off by more than this: a probability may differ from the optimum's by this much.
const TOLERANCE: f32 = 0.003;
/// A fit is done when a sweep over all rows finds fewer than one in this many out of balance.
const FEW: usize = 100;
/// The number of sweeps over the rows that were out of balance, between two sweeps over all rows.
const AMONG_CHANGED: usize = 3;
/// The most Newton steps of a visit, and how far a logit moves in one: further away, the curvature is different.
const STEPS: usize = 20;
const REACH: f32 = 2.0;
/// The input of the bias, which every row has beside its own values. The bias is regularized like any weight, which
/// hardly affects it.
const BIAS: f32 = 1.0;
/// Duals lie between -1 and 1 and are kept in 16 bits: steps a hundred times finer than the tolerance.
const STEP: f32 = 1.0 / 32_767.0;
/// How many rows have their duals converted to floats at once.
const BLOCK: usize = 256;

/// The duals by row and class.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Duals {
    classes: usize,
    values: Vec<i16>,
}

impl Duals {
    pub(super) fn zero(rows: usize, classes: usize) -> Self {
        Self { classes, values: vec![0; rows * classes] }
    }

    /// The duals for other rows and classes, each given with its place among these; one without a place starts at 0.
    pub(super) fn carried(&self, rows: &[Option<usize>], classes: &[Option<usize>]) -> Self {
        let mut carried = Self::zero(rows.len(), classes.len());
        let is_same = classes.len() == self.classes && (0..).zip(classes).all(|(at, from)| *from == Some(at));
        for (values, row) in carried.values.chunks_exact_mut(classes.len()).zip(rows) {
            let Some(row) = row else { continue };
            let known = &self.values[row * self.classes..][..self.classes];
            if is_same {
                values.copy_from_slice(known);
            } else {
                values.iter_mut().zip(classes).for_each(|(value, from)| *value = from.map_or(0, |from| known[from]));
            }
        }
        carried
    }

    /// The duals without these rows.
    pub(super) fn without(&self, is_out: impl Fn(usize) -> bool) -> Self {
        let mut fewer = self.clone();
        for (row, values) in fewer.values.chunks_exact_mut(self.classes).enumerate() {
            if is_out(row) {
                values.fill(0);
            }
        }
        fewer
    }
}

/// Rows with their classes and duals, and the weights that result from them.
pub(super) struct Solver<'a> {
    rows: &'a Rows,
    labels: &'a [usize],
    how: Fit,
    classes: usize,
    duals: Duals,
    model: Regression,
    /// How much a row's own duals move its logits.
    pulls: Vec<f32>,
    /// The working values of the visited row, by class.
    at: Visit,
    random: fastrand::Rng,
    /// How many rows were looked at, and how many were solved.
    pub(super) visited: usize,
    pub(super) solved: usize,
}

/// The working values of a visit, by class.
struct Visit {
    logits: Vec<f32>,
    probabilities: Vec<f32>,
    /// The logits without the effect of the row's own duals, plus the full effect of its label.
    target: Vec<f32>,
}

impl<'a> Solver<'a> {
    /// Continues from `duals`.
    pub(super) fn new(rows: &'a Rows, labels: &'a [usize], how: Fit, duals: Duals) -> Self {
        let classes = duals.classes;
        let pull = |row: usize| (BIAS * BIAS + how.scale * how.scale * rows.row(row).squares()) / how.ridge;
        let none = || vec![0.0; classes];
        let mut solver = Self {
            rows,
            labels,
            how,
            classes,
            model: Regression::zero(classes, rows.width(), how.scale),
            pulls: (0..rows.len()).map(pull).collect(),
            at: Visit { logits: none(), probabilities: none(), target: none() },
            random: fastrand::Rng::with_seed(0),
            visited: 0,
            solved: 0,
            duals,
        };
        solver.weigh();
        solver
    }

    pub(super) fn done(self) -> (Regression, Duals) {
        (self.model, self.duals)
    }

    /// Computes the weights from the duals.
    fn weigh(&mut self) {
        let (classes, split) = (self.classes, self.rows.width() * self.classes);
        let mut floats = Vec::with_capacity(BLOCK * classes);
        for (block, values) in self.duals.values.chunks(BLOCK * classes).enumerate() {
            if values.iter().all(|value| *value == 0) {
                continue;
            }
            floats.clear();
            floats.extend(values.iter().map(|value| f32::from(*value) * STEP));
            let (weights, biases) = self.model.weights_mut().split_at_mut(split);
            let factor = 1.0 / self.how.ridge;
            self.rows.add_product(block * BLOCK, factor * self.how.scale, &floats, classes, weights);
            floats.chunks_exact(classes).for_each(|duals| add_scaled(biases, factor * BIAS, duals));
        }
    }

    /// Visits `among` until they are in balance, in at most this many sweeps over all of them.
    pub(super) fn settle(&mut self, mut among: Vec<usize>, sweeps: usize) {
        for _ in 0..sweeps {
            let mut changed = self.sweep(&mut among);
            let found = changed.len();
            for _ in 0..AMONG_CHANGED {
                changed = self.sweep(&mut changed);
            }
            if found * FEW <= among.len() {
                break;
            }
        }
    }

    /// Visits each row once, and returns those that were out of balance.
    fn sweep(&mut self, among: &mut [usize]) -> Vec<usize> {
        // In random but reproducible order: neighbours of one class are much alike.
        self.random.shuffle(among);
        self.visited += among.len();
        let mut changed = Vec::new();
        // A counted loop, since what an iterator calls is not inlined here and would not be vectorized.
        vectorized(
            #[inline(always)]
            || {
                for row in among.iter() {
                    if self.visit(*row) {
                        changed.push(*row);
                    }
                }
            },
        );
        self.solved += changed.len();
        changed
    }

    /// Solves a row's duals if they are out of balance.
    #[inline(always)]
    fn visit(&mut self, index: usize) -> bool {
        let (row, label, pull) = (self.rows.row(index), self.labels[index], self.pulls[index]);
        let duals = &mut self.duals.values[index * self.classes..][..self.classes];
        let (weights, biases) = self.model.weights_mut().split_at_mut(self.rows.width() * self.classes);
        self.at.logits.copy_from_slice(biases);
        row.add_times(self.how.scale, weights, &mut self.at.logits);
        softmax(&self.at.logits, &mut self.at.probabilities);
        if self.at.is_balanced(label, duals) {
            return false;
        }
        self.at.solve(label, pull, duals);
        let change = &mut self.at.target;
        for (class, (dual, change)) in duals.iter_mut().zip(change.iter_mut()).enumerate() {
            let solved = wanted(class, label) - self.at.probabilities[class];
            let next = kept(solved);
            *change = (f32::from(next) - f32::from(*dual)) * STEP;
            *dual = next;
        }
        row.add_to(self.how.scale / self.how.ridge, change, weights);
        add_scaled(biases, BIAS / self.how.ridge, change);
        true
    }
}

impl Visit {
    #[inline(always)]
    fn is_balanced(&self, label: usize, duals: &[i16]) -> bool {
        let mut farthest = 0.0_f32;
        for (class, probability) in self.probabilities.iter().enumerate() {
            farthest = farthest.max((f32::from(duals[class]) * STEP + probability - wanted(class, label)).abs());
        }
        farthest < TOLERANCE
    }

    /// Newton's method for the logits at which the duals are the label minus the probabilities; it leaves those
    /// probabilities in place. The curvature is diagonal plus one product, so a step takes a few passes over the
    /// classes.
    #[inline(always)]
    fn solve(&mut self, label: usize, pull: f32, duals: &[i16]) {
        for (target, (logit, dual)) in self.target.iter_mut().zip(self.logits.iter().zip(duals)) {
            *target = logit - pull * f32::from(*dual) * STEP;
        }
        self.target[label] += pull;
        for _ in 0..STEPS {
            let (mut slope_sum, mut share, mut farthest) = (0.0_f32, 0.0_f32, 0.0_f32);
            for (class, probability) in self.probabilities.iter().enumerate() {
                let slope = (self.logits[class] - self.target[class]) / pull + probability;
                farthest = farthest.max(slope.abs());
                let weighted = probability * pull / (1.0 + pull * probability);
                slope_sum += weighted * slope;
                share += weighted * probability;
            }
            if farthest < TOLERANCE / 10.0 {
                return;
            }
            let common = slope_sum / (1.0 - share).max(f32::EPSILON);
            let mut longest = 0.0_f32;
            for (class, step) in self.probabilities.iter_mut().enumerate() {
                let slope = (self.logits[class] - self.target[class]) / pull + *step;
                *step = pull / (1.0 + pull * *step) * (slope + *step * common);
                longest = longest.max(step.abs());
            }
            add_scaled(&mut self.logits, -(REACH / longest).min(1.0), &self.probabilities);
            softmax(&self.logits, &mut self.probabilities);
        }
    }
}

#[inline(always)]
fn wanted(class: usize, label: usize) -> f32 {
    if class == label { 1.0 } else { 0.0 }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a dual lies between -1 and 1, and a float's cast saturates")]
fn kept(dual: f32) -> i16 {
    (dual / STEP).round() as i16
}

#[inline(always)]
fn softmax(logits: &[f32], probabilities: &mut [f32]) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut total = 0.0;
    for (probability, logit) in probabilities.iter_mut().zip(logits) {
        *probability = (logit - highest).exp();
        total += *probability;
    }
    let share = 1.0 / total;
    probabilities.iter_mut().for_each(|probability| *probability *= share);
}

#[cfg(test)]
mod tests {
    use super::{super::rows::Row, *};

    const HOW: Fit = Fit { scale: 2.0, ridge: 0.1 };
    const SWEEPS: usize = 50;

    /// The number of inputs of a row: as in sentences, most identify the row and not its class.
    const WIDTH: usize = 24;

    /// Rows of three classes around three corners, with noise.
    fn corners(count: usize) -> (Rows, Vec<usize>) {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut rows, mut labels) = (Rows::dense(WIDTH), Vec::new());
        for index in 0..count {
            let mut row = [0.0; WIDTH].map(|_: f32| random.f32() * 0.6 - 0.3);
            row[index % 3] += 1.0;
            rows.push(Row::Dense(&row));
            labels.push(index % 3);
        }
        (rows, labels)
    }

    fn settled<'a>(rows: &'a Rows, labels: &'a [usize], duals: Duals) -> Solver<'a> {
        let mut solver = Solver::new(rows, labels, HOW, duals);
        solver.settle((0..rows.len()).collect(), SWEEPS);
        solver
    }

    fn fitted(rows: &Rows, labels: &[usize]) -> (Regression, Duals) {
        settled(rows, labels, Duals::zero(rows.len(), 3)).done()
    }

    fn farthest(one: &[f32], other: &[f32]) -> f32 {
        one.iter().zip(other).map(|(a, b)| (a.exp() - b.exp()).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn classes_are_told_apart_and_probabilities_sum_to_one() {
        let (rows, labels) = corners(60);
        let (model, _) = fitted(&rows, &labels);
        for (index, label) in labels.iter().enumerate() {
            let found = model.log_probabilities(rows.row(index));
            assert!((found.iter().map(|value| value.exp()).sum::<f32>() - 1.0).abs() < 1e-4);
            assert!(found[*label] > -0.7, "{found:?}");
        }
    }

    /// The slope of the objective is the cost of the weights minus the pull of the rows.
    #[test]
    fn the_objective_is_flat_where_a_fit_ends() {
        let (rows, labels) = corners(60);
        let (mut model, _) = fitted(&rows, &labels);
        let found: Vec<Vec<f32>> = (0..60).map(|index| model.log_probabilities(rows.row(index))).collect();
        let weights = model.weights_mut();
        for place in 0..WIDTH {
            for class in 0..3 {
                let pull = |index: usize| {
                    let Row::Dense(row) = rows.row(index) else { panic!("they are dense") };
                    HOW.scale * row[place] * (wanted(class, labels[index]) - found[index][class].exp())
                };
                let slope = HOW.ridge * weights[place * 3 + class] - (0..60).map(pull).sum::<f32>();
                assert!(slope.abs() < 0.2, "{place} {class}: {slope}, of a pull up to {}", 60.0 * HOW.scale);
            }
        }
    }

    #[test]
    fn sparse_rows_are_learned_from_as_dense_ones() {
        let (rows, labels) = corners(60);
        let mut sparse = Rows::sparse(WIDTH);
        for index in 0..rows.len() {
            let Row::Dense(row) = rows.row(index) else { panic!("they are dense") };
            let mut entries: Vec<(u32, f32)> = (0..).zip(row.iter().copied()).collect();
            // Two entries of one place count as their sum.
            let last = entries.len() - 1;
            entries[last].1 -= 0.5;
            entries.push((entries[last].0, 0.5));
            sparse.push(Row::Sparse(&entries));
        }
        let (one, other) = (fitted(&rows, &labels).0, fitted(&sparse, &labels).0);
        for index in 0..rows.len() {
            let found = [one.log_probabilities(rows.row(index)), other.log_probabilities(sparse.row(index))];
            assert!(farthest(&found[0], &found[1]) < 0.01, "{found:?}");
        }
    }

    #[test]
    fn a_fit_that_goes_on_solves_fewer_rows_and_ends_where_another_does() {
        let (most, labels) = corners(200);
        let before = fitted(&most, &labels).1;
        // The last row is new, and two are gone.
        let (mut rows, mut kept, mut labels_kept) = (Rows::dense(WIDTH), Vec::new(), Vec::new());
        for index in (0..200).filter(|index| ![10, 100].contains(index)) {
            rows.push(most.row(index));
            kept.push(Some(index));
            labels_kept.push(labels[index]);
        }
        let mut new = [0.1; WIDTH];
        new[1] = 0.5;
        rows.push(Row::Dense(&new));
        kept.push(None);
        labels_kept.push(0);
        let carried = before.carried(&kept, &[Some(0), Some(1), Some(2)]);
        let on = settled(&rows, &labels_kept, carried);
        let anew = settled(&rows, &labels_kept, Duals::zero(rows.len(), 3));
        // With few inputs, each row moves all others.
        assert!(on.solved * 3 < anew.solved * 2, "{} against {}", on.solved, anew.solved);
        let (on, anew) = (on.done().0, anew.done().0);
        for index in 0..rows.len() {
            let [one, other] = [&on, &anew].map(|model| model.log_probabilities(rows.row(index)));
            assert!(farthest(&one, &other) < 0.03, "{index}: {one:?} {other:?}");
        }
    }

    #[test]
    fn duals_follow_their_rows_and_classes() {
        let duals = Duals { classes: 2, values: vec![1, -1, 2, -2] };
        let carried = duals.carried(&[Some(1), None, Some(0)], &[Some(1), None, Some(0)]);
        assert_eq!(carried.values, [-2, 0, 2, 0, 0, 0, -1, 0, 1]);
        assert_eq!(duals.carried(&[Some(1)], &[Some(0), Some(1)]).values, [2, -2]);
        assert_eq!(duals.without(|row| row == 0).values, [0, 0, 2, -2]);
    }
}
