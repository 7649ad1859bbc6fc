//! How much a client may send, and what of it becomes hints.

use std::collections::BTreeMap;

use super::super::{ApiError, Fault};
use crate::understand::Hint;

/// Items of a list, labels of a map, and values of all labels together.
const MOST_ITEMS: usize = 256;
const MOST_VALUES: usize = 1_024;
/// Characters of a name, a label or a value.
const LONGEST_NAME: usize = 1_000;

/// Spans by slot label, as a client's own recognizers found them.
pub(super) type Candidates = BTreeMap<String, Option<Vec<String>>>;

/// Checks how many there are.
pub(super) fn count(field: &str, items: usize) -> Result<(), ApiError> {
    if items <= MOST_ITEMS {
        return Ok(());
    }
    let message = format!("`{field}` has {items} items; the limit is {MOST_ITEMS}");
    Err(ApiError::fault(Fault::InvalidValue, message).about(field.to_owned()))
}

/// Checks how long a name is.
pub(super) fn name(field: &str, name: &str) -> Result<(), ApiError> {
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return Ok(());
    }
    let message = format!("`{field}` has {length} characters; the limit is {LONGEST_NAME}");
    Err(ApiError::fault(Fault::InvalidValue, message).about(field.to_owned()))
}

/// What the client's recognizers found; none where they saw nothing.
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
