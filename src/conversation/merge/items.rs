//! The structure of an array's items: which value names an item, and which is its count.

use serde_json::Value;

use super::place::{ArgumentPath, ArgumentStep};
use crate::module::{Counting, Function, PathStep, Slot, SlotKind, SlotPath};

/// Steps from an item to two of its values.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ItemShape {
    /// The first required value that is not a count, or else the first value: a dish's name.
    pub(super) head: Option<Vec<ArgumentStep>>,
    pub(super) count: Option<Vec<ArgumentStep>>,
}

impl ItemShape {
    /// `array` is the path to the array, without the item step.
    pub(super) fn of(function: &Function, array: &[ArgumentStep]) -> Self {
        let mut item = ArgumentPath(array.to_vec()).path();
        item.0.push(PathStep::Each);
        let of_item = |slot: &&Slot| {
            slot.path
                .0
                .strip_prefix(&item.0[..])
                .is_some_and(|below| !below.is_empty() && !below.contains(&PathStep::Each))
        };
        let slots: Vec<&Slot> = function.slots.iter().filter(of_item).collect();
        let count = count(&slots);
        let is_other = |slot: &&&Slot| count.is_none_or(|count| count.path != slot.path);
        let names = || slots.iter().filter(is_other);
        let head = names()
            .find(|slot| is_required(function, slot, item.0.len()))
            .or_else(|| names().next())
            .or_else(|| slots.first());
        let below = |slot: &Slot| keys(&slot.path.0[item.0.len()..]);
        Self { head: head.map(|slot| below(slot)), count: count.map(below) }
    }
}

/// The slot that is a count, by its name or description; `None` if there is none.
#[must_use]
pub fn count<'a>(slots: &[&'a Slot]) -> Option<&'a Slot> {
    let integers = || slots.iter().copied().filter(|slot| slot.kind == SlotKind::Integer);
    let mut all = integers();
    // A single integer that is not described as a count may be a size.
    let only = all.next().filter(|_| all.next().is_none());
    let is_named = |slot: &&Slot| slot.counting == Counting::Named;
    integers().find(is_named).or_else(|| only.filter(|slot| slot.counting == Counting::Described))
}

/// True if no item is complete without it: every member from the item (`from` steps in) to it is required. The slot's
/// own `required` is about the whole call, which may omit the array.
fn is_required(function: &Function, slot: &Slot, from: usize) -> bool {
    within(&function.parameters, &slot.path, from).unwrap_or(slot.required)
}

fn within(parameters: &Value, path: &SlotPath, from: usize) -> Option<bool> {
    let mut schema = parameters;
    let mut is_required = true;
    for (at, step) in path.0.iter().enumerate() {
        schema = match step {
            PathStep::Each => schema.get("items")?,
            PathStep::Key(key) => {
                let names = schema.get("required").and_then(Value::as_array);
                let is_named = names.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(key)));
                is_required &= at < from || is_named;
                schema.get("properties")?.get(&**key)?
            }
        };
    }
    Some(is_required)
}

fn keys(steps: &[PathStep]) -> Vec<ArgumentStep> {
    let key = |step: &PathStep| match step {
        PathStep::Key(key) => Some(ArgumentStep::Key(key.to_string())),
        PathStep::Each => None,
    };
    steps.iter().filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::testing;

    fn shape(item: &Value) -> (Option<String>, Option<String>) {
        let function = testing::function(
            "order",
            json!({"type": "object", "properties": {"items": {"type": "array", "items": item}}}),
        );
        let shape = ItemShape::of(&function, &[ArgumentStep::Key("items".into())]);
        let pointer = |steps: Option<Vec<ArgumentStep>>| steps.map(|steps| ArgumentPath(steps).pointer());
        (pointer(shape.head), pointer(shape.count))
    }

    #[test]
    fn an_item_is_named_by_what_it_must_have_and_counted_by_what_says_so() {
        let item = json!({"type": "object", "required": ["quantity", "kind"], "properties": {
            "note": {"type": "string"}, "quantity": {"type": "integer"},
            "kind": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}});
        assert_eq!(shape(&item), (Some("/kind/name".into()), Some("/quantity".into())));
    }

    #[test]
    fn a_size_is_no_count() {
        let item = |description: &str| {
            let mut size = json!({"type": "integer"});
            size["description"] = description.into();
            json!({"type": "object", "required": ["size"], "properties": {"size": size, "color": {"type": "string"}}})
        };
        assert_eq!(shape(&item("US size")), (Some("/size".into()), None));
        assert_eq!(shape(&item("How many of it")).1, Some("/size".into()));
        let only = json!({"type": "object", "properties": {"quantity": {"type": "integer"}}});
        assert_eq!(shape(&only), (Some("/quantity".into()), Some("/quantity".into())));
        assert_eq!(shape(&json!({"type": "string"})), (None, None));
    }
}
