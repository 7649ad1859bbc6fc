//! Multinomial logistic regression on dense or sparse rows, fitted by L-BFGS.

use crate::linear::{add_scaled, dot};

/// Pairs of steps and gradients that L-BFGS remembers.
const MEMORY: usize = 6;
/// A step is halved at most so often before the fit ends.
const HALVINGS: usize = 12;
/// The fit ends where the objective falls by less than this share.
const CONVERGED: f64 = 1e-5;
/// Sufficient decrease of a step (Armijo), as a share of what the gradient promises.
const DECREASE: f64 = 1e-4;

/// A row of inputs: all of them, or those that are not 0 with their places.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row<'a> {
    Dense(&'a [f32]),
    Sparse(&'a [(u32, f32)]),
}

/// Rows of one width.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rows {
    /// One after the other.
    Dense { width: usize, values: Vec<f32> },
    /// `ends` are where the entries of each row end.
    Sparse { width: usize, entries: Vec<(u32, f32)>, ends: Vec<usize> },
}

impl Rows {
    pub(crate) const fn dense(width: usize) -> Self {
        Self::Dense { width, values: Vec::new() }
    }

    pub(crate) const fn sparse(width: usize) -> Self {
        Self::Sparse { width, entries: Vec::new(), ends: Vec::new() }
    }

    /// Without rows, of the same form.
    pub(crate) const fn emptied(&self) -> Self {
        match self {
            Self::Dense { width, .. } => Self::dense(*width),
            Self::Sparse { width, .. } => Self::sparse(*width),
        }
    }

    pub(crate) fn push(&mut self, row: Row<'_>) {
        match (self, row) {
            (Self::Dense { values, width }, Row::Dense(row)) => {
                debug_assert_eq!(row.len(), *width, "rows are of one length");
                values.extend_from_slice(row);
            }
            (Self::Sparse { entries, ends, .. }, Row::Sparse(row)) => {
                entries.extend_from_slice(row);
                ends.push(entries.len());
            }
            _ => debug_assert!(false, "rows are of one form"),
        }
    }

    pub(crate) const fn width(&self) -> usize {
        match self {
            Self::Dense { width, .. } | Self::Sparse { width, .. } => *width,
        }
    }

    /// Values that may differ from 0.
    pub(crate) const fn filled(&self) -> usize {
        match self {
            Self::Dense { values, .. } => values.len(),
            Self::Sparse { entries, .. } => entries.len(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dense { width, values } => values.len().checked_div(*width).unwrap_or_default(),
            Self::Sparse { ends, .. } => ends.len(),
        }
    }

    pub(crate) fn row(&self, index: usize) -> Row<'_> {
        match self {
            Self::Dense { width, values } => Row::Dense(&values[index * width..(index + 1) * width]),
            Self::Sparse { entries, ends, .. } => {
                let start = index.checked_sub(1).map_or(0, |before| ends[before]);
                Row::Sparse(&entries[start..ends[index]])
            }
        }
    }

    /// Adds `factor` times the product of all rows with `weights`, by input and class, to `result`, by row and class.
    fn times(&self, factor: f32, weights: &[f32], classes: usize, result: &mut [f32]) {
        match self {
            Self::Dense { width, values } => {
                multiply((self.len(), *width, classes), factor, (values, false), weights, result);
            }
            Self::Sparse { .. } => {
                for (index, sums) in result.chunks_exact_mut(classes).enumerate() {
                    self.row(index).times(factor, weights, sums);
                }
            }
        }
    }

    /// Adds `factor` times the product of all rows, transposed, with `residuals`, by row and class, to `result`, by
    /// input and class.
    fn transposed_times(&self, factor: f32, residuals: &[f32], classes: usize, result: &mut [f32]) {
        match self {
            Self::Dense { width, values } => {
                multiply((*width, self.len(), classes), factor, (values, true), residuals, result);
            }
            Self::Sparse { .. } => {
                for (index, residuals) in residuals.chunks_exact(classes).enumerate() {
                    let Row::Sparse(row) = self.row(index) else { continue };
                    for (place, value) in row {
                        let sums = &mut result[*place as usize * classes..][..classes];
                        add_scaled(sums, value * factor, residuals);
                    }
                }
            }
        }
    }
}

impl Row<'_> {
    pub(crate) fn fits(self, width: usize) -> bool {
        match self {
            Self::Dense(values) => values.len() == width,
            Self::Sparse(entries) => entries.iter().all(|(place, _)| (*place as usize) < width),
        }
    }

    /// Adds `factor` times its product with `weights`, by input and class, to `sums`, by class.
    fn times(self, factor: f32, weights: &[f32], sums: &mut [f32]) {
        let classes = sums.len();
        let mut add = |value: f32, weights: &[f32]| add_scaled(sums, value * factor, weights);
        match self {
            Self::Dense(values) => {
                values.iter().zip(weights.chunks_exact(classes)).for_each(|(value, weights)| add(*value, weights));
            }
            Self::Sparse(entries) => {
                entries.iter().for_each(|(place, value)| add(*value, &weights[*place as usize * classes..][..classes]));
            }
        }
    }
}

/// How a fit is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// What the rows are multiplied with: the larger, the less the weights are held back.
    pub(crate) scale: f32,
    /// Weight of the squared weights against the mean loss of an example, times the number of examples.
    pub(crate) ridge: f32,
    pub(crate) iterations: usize,
}

/// Weights by input and class, then one bias for each class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Regression {
    classes: usize,
    width: usize,
    scale: f32,
    weights: Vec<f32>,
}

impl Regression {
    /// Fits the classes `labels` to `rows`; starts from `start` where that has the same shape.
    pub(crate) fn fit(rows: &Rows, labels: &[usize], classes: usize, how: Fit, start: Option<&Self>) -> Self {
        let width = rows.width();
        let fresh = Self { classes, width, scale: how.scale, weights: vec![0.0; (width + 1) * classes] };
        let mut model = start.filter(|known| known.fits(classes, width)).cloned().unwrap_or(fresh);
        if rows.len() == 0 || classes < 2 {
            return model;
        }
        let mut problem = Problem::new(rows, labels, classes, how);
        minimize(&mut model.weights, how.iterations, |weights, gradient| problem.evaluate(weights, gradient));
        model
    }

    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    const fn fits(&self, classes: usize, width: usize) -> bool {
        self.classes == classes && self.width == width
    }

    /// The log-probability of each class.
    pub(crate) fn log_probabilities(&self, row: Row<'_>) -> Vec<f32> {
        let (weights, biases) = self.weights.split_at(self.width * self.classes);
        let mut logits = biases.to_vec();
        row.times(self.scale, weights, &mut logits);
        log_softmax(&mut logits);
        logits
    }
}

/// The mean loss and its gradient.
struct Problem<'a> {
    rows: &'a Rows,
    labels: &'a [usize],
    classes: usize,
    how: Fit,
    /// By row and class: logits, then what they are off by.
    residuals: Vec<f32>,
}

impl<'a> Problem<'a> {
    fn new(rows: &'a Rows, labels: &'a [usize], classes: usize, how: Fit) -> Self {
        Self { rows, labels, classes, how, residuals: vec![0.0; rows.len() * classes] }
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 examples")]
    fn evaluate(&mut self, weights: &[f32], gradient: &mut [f32]) -> f64 {
        let (count, width, classes) = (self.rows.len(), self.rows.width(), self.classes);
        let split = width * classes;
        let biases = &weights[split..];
        self.residuals.chunks_exact_mut(classes).for_each(|row| row.copy_from_slice(biases));
        let scale = self.how.scale;
        self.rows.times(scale, &weights[..split], classes, &mut self.residuals);
        let mut loss = 0.0;
        for (row, label) in self.residuals.chunks_exact_mut(classes).zip(self.labels) {
            log_softmax(row);
            loss -= f64::from(row[*label]);
            row.iter_mut().for_each(|value| *value = value.exp());
            row[*label] -= 1.0;
        }
        let share = 1.0 / count as f32;
        let ridge = self.how.ridge * share;
        let squares = product(&weights[..split], &weights[..split]);
        gradient[..split].fill(0.0);
        add_scaled(&mut gradient[..split], ridge, &weights[..split]);
        self.rows.transposed_times(scale * share, &self.residuals, classes, gradient);
        gradient[split..].fill(0.0);
        for row in self.residuals.chunks_exact(classes) {
            add_scaled(&mut gradient[split..], share, row);
        }
        loss / count as f64 + 0.5 * f64::from(ridge) * squares
    }
}

/// Adds `factor * left * right` to `result`; `left` has `rows` rows of `inner` values, or is that transposed.
fn multiply(
    (rows, inner, columns): (usize, usize, usize),
    factor: f32,
    (left, is_transposed): (&[f32], bool),
    right: &[f32],
    result: &mut [f32],
) {
    let left_shape = if is_transposed { (inner, rows) } else { (rows, inner) };
    let left = ndarray::ArrayView2::from_shape(left_shape, left);
    let right = ndarray::ArrayView2::from_shape((inner, columns), right);
    let result = ndarray::ArrayViewMut2::from_shape((rows, columns), &mut result[..rows * columns]);
    if let (Ok(left), Ok(right), Ok(mut result)) = (left, right, result) {
        let left = if is_transposed { left.reversed_axes() } else { left };
        ndarray::linalg::general_mat_mul(factor, &left, &right, 1.0, &mut result);
    }
}

pub(crate) fn log_softmax(logits: &mut [f32]) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = logits.iter().map(|logit| (logit - highest).exp()).sum();
    let shift = highest + total.ln();
    logits.iter_mut().for_each(|logit| *logit -= shift);
}

/// Limited-memory BFGS with backtracking. `evaluate` gives the objective and writes its gradient.
fn minimize(at: &mut [f32], iterations: usize, mut evaluate: impl FnMut(&[f32], &mut [f32]) -> f64) {
    let mut slope = vec![0.0; at.len()];
    let mut value = evaluate(at, &mut slope);
    let mut history: Vec<Pair> = Vec::new();
    let (mut next, mut next_slope) = (at.to_vec(), slope.clone());
    for _ in 0..iterations {
        let direction = descent(&slope, &history);
        let promise = product(&direction, &slope);
        if promise >= 0.0 {
            break;
        }
        let mut step = if history.is_empty() { (1.0 / product(&slope, &slope).sqrt()).min(1.0) } else { 1.0 };
        let mut reached = f64::INFINITY;
        for _ in 0..HALVINGS {
            next.copy_from_slice(at);
            add_scaled(&mut next, step as f32, &direction);
            reached = evaluate(&next, &mut next_slope);
            if reached <= value + DECREASE * step * promise {
                break;
            }
            step /= 2.0;
        }
        if !reached.is_finite() || reached >= value {
            break;
        }
        let pair = Pair::new(at, &next, &slope, &next_slope);
        if pair.curvature > f64::EPSILON {
            if history.len() == MEMORY {
                history.remove(0);
            }
            history.push(pair);
        }
        at.copy_from_slice(&next);
        slope.copy_from_slice(&next_slope);
        let gain = value - reached;
        value = reached;
        if gain < CONVERGED * value.abs() {
            break;
        }
    }
}

/// A step that was taken, and by how much it changed the gradient.
struct Pair {
    step: Vec<f32>,
    change: Vec<f32>,
    curvature: f64,
}

impl Pair {
    fn new(at: &[f32], next: &[f32], slope: &[f32], next_slope: &[f32]) -> Self {
        let minus = |one: &[f32], other: &[f32]| {
            let mut difference = one.to_vec();
            add_scaled(&mut difference, -1.0, other);
            difference
        };
        let (step, change) = (minus(next, at), minus(next_slope, slope));
        let curvature = product(&step, &change);
        Self { step, change, curvature }
    }
}

/// Where the objective falls, by the two-loop recursion.
#[expect(clippy::cast_possible_truncation, reason = "weights are of single precision")]
fn descent(slope: &[f32], history: &[Pair]) -> Vec<f32> {
    let mut direction: Vec<f32> = slope.iter().map(|value| -value).collect();
    let mut factors = Vec::with_capacity(history.len());
    for pair in history.iter().rev() {
        let factor = product(&pair.step, &direction) / pair.curvature;
        add_scaled(&mut direction, -factor as f32, &pair.change);
        factors.push(factor);
    }
    if let Some(last) = history.last() {
        let scale = (last.curvature / product(&last.change, &last.change)) as f32;
        direction.iter_mut().for_each(|value| *value *= scale);
    }
    for (pair, factor) in history.iter().zip(factors.into_iter().rev()) {
        let back = product(&pair.change, &direction) / pair.curvature;
        add_scaled(&mut direction, (factor - back) as f32, &pair.step);
    }
    direction
}

/// Blocks of single precision, summed in double: fast and exact enough.
fn product(one: &[f32], other: &[f32]) -> f64 {
    one.chunks(256).zip(other.chunks(256)).map(|(one, other)| f64::from(dot(one, other))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three classes around three corners, a little noise beside.
    fn corners() -> (Rows, Vec<usize>) {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut rows, mut labels) = (Rows::dense(3), Vec::new());
        for index in 0..60 {
            let mut row = [0.0; 3].map(|_: f32| random.f32() * 0.3);
            row[index % 3] += 1.0;
            rows.push(Row::Dense(&row));
            labels.push(index % 3);
        }
        (rows, labels)
    }

    const HOW: Fit = Fit { scale: 2.0, ridge: 0.1, iterations: 50 };

    #[test]
    fn classes_are_told_apart_and_probabilities_sum_to_one() {
        let (rows, labels) = corners();
        let model = Regression::fit(&rows, &labels, 3, HOW, None);
        for (index, label) in labels.iter().enumerate() {
            let found = model.log_probabilities(rows.row(index));
            assert!((found.iter().map(|value| value.exp()).sum::<f32>() - 1.0).abs() < 1e-4);
            assert!(found[*label] > -0.3, "{found:?}");
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_objective() {
        let (rows, labels) = corners();
        let mut problem = Problem::new(&rows, &labels, 3, HOW);
        let weights: Vec<f32> = (0..12_u8).map(|index| f32::from(index) * 0.1 - 0.5).collect();
        let mut gradient = vec![0.0; 12];
        problem.evaluate(&weights, &mut gradient);
        for index in 0..12 {
            let mut shifted = |by: f32| {
                let mut weights = weights.clone();
                weights[index] += by;
                problem.evaluate(&weights, &mut [0.0; 12])
            };
            let measured = (shifted(0.01) - shifted(-0.01)) / 0.02;
            assert!((measured - f64::from(gradient[index])).abs() < 1e-3, "{index}: {measured} {}", gradient[index]);
        }
    }

    #[test]
    fn sparse_rows_are_learned_from_as_dense_ones() {
        let (rows, labels) = corners();
        let mut sparse = Rows::sparse(3);
        for index in 0..rows.len() {
            let Row::Dense(row) = rows.row(index) else { panic!("they are dense") };
            sparse.push(Row::Sparse(&[(2, row[2]), (0, row[0]), (1, row[1])]));
        }
        let [one, other] = [&rows, &sparse].map(|rows| Regression::fit(rows, &labels, 3, HOW, None));
        for index in 0..rows.len() {
            let found = [one.log_probabilities(rows.row(index)), other.log_probabilities(sparse.row(index))];
            assert!(found[0].iter().zip(&found[1]).all(|(a, b)| (a - b).abs() < 1e-2), "{found:?}");
        }
    }

    #[test]
    fn a_fit_that_starts_where_another_ended_needs_few_steps() {
        let (rows, labels) = corners();
        let whole = Regression::fit(&rows, &labels, 3, HOW, None);
        let again = Regression::fit(&rows, &labels, 3, Fit { iterations: 2, ..HOW }, Some(&whole));
        let apart = |index: usize| {
            let [one, other] = [&whole, &again].map(|model| model.log_probabilities(rows.row(index)));
            one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        assert!((0..rows.len()).all(|index| apart(index) < 0.05));
    }
}
