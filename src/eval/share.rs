//! How much of a whole.

/// 0 to 1; `None` of nothing.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
