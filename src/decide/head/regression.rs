//! Multinomial logistic regression: the fitted model.

use super::rows::Row;
use crate::linear::vectorized;

/// How a model is fitted: the objective is the loss of every row, plus the squares of the weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// The factor of the rows: the larger, the weaker the regularization.
    pub(crate) scale: f32,
    /// Half of it is the cost of a squared weight, relative to the loss of a row.
    pub(crate) ridge: f32,
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
    /// A model that gives every class the same probability.
    pub(super) fn zero(classes: usize, width: usize, scale: f32) -> Self {
        Self { classes, width, scale, weights: vec![0.0; (width + 1) * classes] }
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f32] {
        &mut self.weights
    }

    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The log-probability of each class.
    pub(crate) fn log_probabilities(&self, row: Row<'_>) -> Vec<f32> {
        let (weights, biases) = self.weights.split_at(self.width * self.classes);
        let mut logits = biases.to_vec();
        vectorized(
            #[inline(always)]
            || row.add_times(self.scale, weights, &mut logits),
        );
        log_softmax(&mut logits);
        logits
    }
}

pub(crate) fn log_softmax(logits: &mut [f32]) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = logits.iter().map(|logit| (logit - highest).exp()).sum();
    let shift = highest + total.ln();
    logits.iter_mut().for_each(|logit| *logit -= shift);
}
