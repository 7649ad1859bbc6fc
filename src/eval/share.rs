//! Shares of a whole, and their wording in reports.

/// 0 to 1; `None` if the whole is 0.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(super) fn plural(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
