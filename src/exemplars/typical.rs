//! Typical values for kinds of slots: used in templates if the module gives no values of its own.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{learned, linear::dot};

/// Number of similar slots whose values are used, nearest first.
const NEAREST: usize = 3;

/// Slots of the modules that the reader was trained on.
static SLOTS: LazyLock<Vec<TypicalSlot>> = LazyLock::new(|| {
    serde_json::from_str(learned::text!("reader/values.json")).expect("a test reads the bundled values")
});

/// A slot's label, as the reader uses it, and values that were said for it.
#[derive(Debug, Deserialize)]
struct TypicalSlot {
    label: String,
    values: Vec<String>,
}

/// The labels of all slots with known values.
pub(crate) fn labels() -> Vec<String> {
    SLOTS.iter().map(|slot| slot.label.clone()).collect()
}

/// Values for a slot with the label vector `slot`; `labels` are the vectors of [`labels`].
pub(crate) fn values(slot: &[f32], labels: &[Vec<f32>]) -> Vec<&'static str> {
    let mut near: Vec<(f32, &TypicalSlot)> =
        SLOTS.iter().zip(labels).map(|(typical, label)| (dot(slot, label), typical)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(NEAREST);
    // One of each in turn, so that the first values come from different slots.
    let most = near.iter().map(|(_, slot)| slot.values.len()).max().unwrap_or_default();
    let in_turn = (0..most).flat_map(|at| near.iter().filter_map(move |(_, slot)| slot.values.get(at)));
    in_turn.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_values_are_of_use() {
        assert!(SLOTS.len() > 50);
        assert!(SLOTS.iter().all(|slot| slot.values.len() > 1 && !slot.label.is_empty()));
    }

    #[test]
    fn the_nearest_slots_lend_their_values() {
        let mut vectors = vec![vec![0.0, 0.0]; SLOTS.len()];
        vectors[7] = vec![1.0, 0.0];
        assert_eq!(values(&[1.0, 0.0], &vectors)[0], SLOTS[7].values[0]);
    }
}
