//! Removes invalid values from arguments.

use serde_json::{Map, Value};

use super::{Violation, ViolationKind};

/// True if one of the two places is the other or contains it.
pub(super) fn is_within(path: &str, other: &str) -> bool {
    let (outer, inner) = if path.len() < other.len() { (path, other) } else { (other, path) };
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Removes the offending values, and containers that become empty. A violation of the arguments as a whole (`""`)
/// removes nothing.
pub(super) fn prune(arguments: &mut Map<String, Value>, violations: &[Violation]) {
    let mut paths: Vec<Vec<String>> = violations
        .iter()
        .filter(|violation| violation.kind != ViolationKind::Missing && !violation.path.is_empty())
        .map(|violation| {
            violation.path.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
        })
        .collect();
    // From the back, so that an item's index stays valid after a later one is removed.
    paths.sort_by(|left, right| compare_paths(right, left));
    paths.dedup();
    for path in &paths {
        if let Some((first, rest)) = path.split_first()
            && let Some(value) = arguments.get_mut(first)
            && (rest.is_empty() || remove(value, rest))
        {
            arguments.shift_remove(first);
        }
    }
}

/// Removes what is at `path`; true if `value` becomes empty and should be removed too.
fn remove(value: &mut Value, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match value {
        Value::Object(members) => {
            if members.get_mut(first).is_some_and(|member| remove(member, rest)) {
                members.shift_remove(first);
                return members.is_empty();
            }
            false
        }
        Value::Array(items) => {
            let Ok(index) = first.parse::<usize>() else { return false };
            if items.get_mut(index).is_some_and(|item| remove(item, rest)) {
                items.remove(index);
                return items.is_empty();
            }
            false
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn compare_paths(left: &[String], right: &[String]) -> std::cmp::Ordering {
    for (left, right) in left.iter().zip(right) {
        let order = match (left.parse::<usize>(), right.parse::<usize>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            _ => left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
}
