//! Rows of inputs, dense or sparse, and their products with weights.

use crate::linear::{add_scaled, add_scaled_four, vectorized};

/// A row of inputs: all of them, or the nonzero ones with their places.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row<'a> {
    Dense(&'a [f32]),
    Sparse(&'a [(u32, f32)]),
}

/// Rows of one width.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rows {
    /// The values of all rows, one row after the other.
    Dense { width: usize, values: Vec<f32> },
    /// `ends` holds where the entries of each row end; the entries of a row are sorted by their places.
    Sparse { width: usize, entries: Vec<(u32, f32)>, ends: Vec<usize> },
}

impl Rows {
    pub(crate) const fn dense(width: usize) -> Self {
        Self::Dense { width, values: Vec::new() }
    }

    pub(crate) const fn sparse(width: usize) -> Self {
        Self::Sparse { width, entries: Vec::new(), ends: Vec::new() }
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

    /// The number of values that may differ from 0.
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

    /// Adds `factor` times the product of the rows from `first` on, transposed, with `duals`, by row and class, to
    /// `weights`, by input and class.
    pub(super) fn add_product(&self, first: usize, factor: f32, duals: &[f32], classes: usize, weights: &mut [f32]) {
        match self {
            Self::Dense { width, values } => {
                let count = duals.len() / classes;
                let values = &values[first * width..][..count * width];
                multiply((*width, count, classes), factor, values, duals, weights);
            }
            Self::Sparse { .. } => vectorized(
                #[inline(always)]
                || {
                    for (at, duals) in duals.chunks_exact(classes).enumerate() {
                        self.row(first + at).add_to(factor, duals, weights);
                    }
                },
            ),
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
    #[inline(always)]
    pub(super) fn add_times(self, factor: f32, weights: &[f32], sums: &mut [f32]) {
        let classes = sums.len();
        let of = |place: usize| &weights[place * classes..][..classes];
        match self {
            Self::Dense(values) => {
                let (fours, rest) = values.as_chunks::<4>();
                for (at, [one, two, three, four]) in fours.iter().enumerate() {
                    let factors = [factor * one, factor * two, factor * three, factor * four];
                    let at = 4 * at;
                    add_scaled_four(sums, factors, [of(at), of(at + 1), of(at + 2), of(at + 3)]);
                }
                for (at, value) in (values.len() - rest.len()..).zip(rest) {
                    add_scaled(sums, factor * value, of(at));
                }
            }
            Self::Sparse(entries) => {
                let (fours, rest) = entries.as_chunks::<4>();
                for [one, two, three, four] in fours {
                    let factors = [factor * one.1, factor * two.1, factor * three.1, factor * four.1];
                    let places = [of(one.0 as usize), of(two.0 as usize), of(three.0 as usize), of(four.0 as usize)];
                    add_scaled_four(sums, factors, places);
                }
                for (place, value) in rest {
                    add_scaled(sums, factor * value, of(*place as usize));
                }
            }
        }
    }

    /// Adds `factor` times itself times `change`, by class, to `weights`, by input and class.
    #[inline(always)]
    pub(super) fn add_to(self, factor: f32, change: &[f32], weights: &mut [f32]) {
        let classes = change.len();
        match self {
            Self::Dense(values) => {
                for (weights, value) in weights.chunks_exact_mut(classes).zip(values) {
                    add_scaled(weights, factor * value, change);
                }
            }
            Self::Sparse(entries) => {
                for (place, value) in entries {
                    add_scaled(&mut weights[*place as usize * classes..][..classes], factor * value, change);
                }
            }
        }
    }

    /// The sum of its squares; entries of one place count as their sum.
    pub(super) fn squares(self) -> f32 {
        match self {
            Self::Dense(values) => values.iter().map(|value| value * value).sum(),
            Self::Sparse(entries) => {
                let same_place = entries.chunk_by(|one, other| one.0 == other.0);
                same_place.map(|same| same.iter().map(|(_, value)| value).sum::<f32>().powi(2)).sum()
            }
        }
    }
}

/// Adds `factor * left * right` to `result`; `left` has `inner` rows of `rows` values and is transposed.
fn multiply(
    (rows, inner, columns): (usize, usize, usize),
    factor: f32,
    left: &[f32],
    right: &[f32],
    result: &mut [f32],
) {
    let left = ndarray::ArrayView2::from_shape((inner, rows), left);
    let right = ndarray::ArrayView2::from_shape((inner, columns), right);
    let result = ndarray::ArrayViewMut2::from_shape((rows, columns), result);
    if let (Ok(left), Ok(right), Ok(mut result)) = (left, right, result) {
        ndarray::linalg::general_mat_mul(factor, &left.reversed_axes(), &right, 1.0, &mut result);
    }
}
