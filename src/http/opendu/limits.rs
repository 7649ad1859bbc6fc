//! Limits on what a client may send, and the hints made from it.

use std::collections::BTreeMap;

use super::super::{ApiError, Fault};
use crate::understand::Hint;

/// Most items in a list and labels in a map, and most values of all labels together.
const MOST_ITEMS: usize = 256;
const MOST_VALUES: usize = 1_024;
/// Longest name, label or value, in characters.
const LONGEST_NAME: usize = 1_000;

/// Spans by slot label, as the client's own recognizers found them.
pub(super) type Candidates = BTreeMap<String, Option<Vec<String>>>;

/// Checks the number of items.
pub(super) fn count(field: &str, items: usize) -> Result<(), ApiError> {
    if items <= MOST_ITEMS {
        return Ok(());
    }
    let message = format!("`{field}` has {items} items; the limit is {MOST_ITEMS}");
    Err(ApiError::fault(Fault::InvalidValue, message).about(field.to_owned()))
}

/// Checks the length of a name.
pub(super) fn name(field: &str, name: &str) -> Result<(), ApiError> {
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return Ok(());
    }
    let message = format!("`{field}` has {length} characters; the limit is {LONGEST_NAME}");
    Err(ApiError::fault(Fault::InvalidValue, message).about(field.to_owned()))
}

/// Hints from the client's recognizers; none where they found nothing.
pub(super) fn hints(candidates: Option<Candidates>) -> Result<Vec<Hint>, ApiError> {
    let candidates = candidates.unwrap_or_default();
    count("candidates", candidates.len())?;
    let mut hints = Vec::new();
    for (label, values) in candidates {
        name("candidates", &label)?;
        for text in values.unwrap_or_default() {
            name("candidates", &text)?;
            hints.push(Hint { label: label.clone(), text });
        }
    }
    if hints.len() > MOST_VALUES {
        let message = format!("`candidates` has {} values; the limit is {MOST_VALUES}", hints.len());
        return Err(ApiError::fault(Fault::InvalidValue, message).about("candidates"));
    }
    Ok(hints)
}
