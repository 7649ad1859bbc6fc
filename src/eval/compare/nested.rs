//! Expected arguments in the schema's nesting, however the author wrote them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::module::{Function, PathStep, SlotPath};

/// The schema's arrays, and how deeply they nest.
#[derive(Default)]
pub(super) struct ArrayNesting {
    /// Path without numbers (`dishes`, `dishes[].extras`) -> depth of nested arrays there.
    pub(super) arrays: BTreeMap<String, usize>,
}

impl ArrayNesting {
    pub(super) fn of(function: &Function) -> Self {
        let mut arrays: BTreeMap<String, usize> = BTreeMap::new();
        for slot in &function.slots {
            let steps = &slot.path.0;
            for (index, step) in steps.iter().enumerate() {
                if *step == PathStep::Each {
                    let depth = steps[index..].iter().take_while(|step| **step == PathStep::Each).count();
                    let known = arrays.entry(SlotPath(steps[..index].to_vec()).to_string()).or_default();
                    *known = depth.max(*known);
                }
            }
        }
        Self { arrays }
    }
}

pub(super) struct Nested<'a> {
    pub(super) arguments: Map<String, Value>,
    pub(super) scattered: Vec<(&'a SlotPath, &'a Value)>,
    pub(super) unknown: Vec<String>,
}

/// Moves flat members to their places.
pub(super) fn nest<'a>(function: &'a Function, expected: &'a Map<String, Value>) -> Nested<'a> {
    let mut nested = Nested { arguments: Map::new(), scattered: Vec::new(), unknown: Vec::new() };
    let mut numbered_lists = BTreeSet::new();
    let is_top = |key: &str| {
        function.slots.iter().any(|slot| matches!(slot.path.0.first(), Some(PathStep::Key(first)) if **first == *key))
    };
    for (key, value) in expected {
        if is_top(key) {
            put(&mut nested.arguments, &[key], value);
            continue;
        }
        if let Some(steps) = numbered(key).filter(|steps| matches!(steps[0], Numbered::Key(first) if is_top(first))) {
            put_numbered(&mut nested.arguments, &steps, value);
            numbered_lists.insert(steps[0].key());
            continue;
        }
        let Some(slot) = function.slot_labelled(key).map(|id| function.slot(id)) else {
            let keys: Vec<&str> = key.split('.').collect();
            if keys.len() > 1 && is_top(keys[0]) {
                put(&mut nested.arguments, &keys, value);
            } else {
                nested.unknown.push(key.clone());
                put(&mut nested.arguments, &[key], value);
            }
            continue;
        };
        if slot.path.is_repeated() {
            nested.scattered.push((&slot.path, value));
        } else {
            let keys: Vec<&str> = slot
                .path
                .0
                .iter()
                .filter_map(|step| match step {
                    PathStep::Key(key) => Some(&**key),
                    PathStep::Each => None,
                })
                .collect();
            put(&mut nested.arguments, &keys, value);
        }
    }
    for key in numbered_lists {
        nested.arguments.get_mut(key).into_iter().for_each(spread);
    }
    nested
}

/// A step of a path with item numbers.
#[derive(Debug, Clone, Copy)]
enum Numbered<'a> {
    Key(&'a str),
    Item(usize),
}

impl<'a> Numbered<'a> {
    const fn key(self) -> &'a str {
        match self {
            Self::Key(key) => key,
            Self::Item(_) => "",
        }
    }
}

/// The steps of `dishes[1].size`; `None` if no item is numbered, or a number is unrealistically large.
fn numbered(path: &str) -> Option<Vec<Numbered<'_>>> {
    const MOST: usize = 1_000;
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut rest = part.split('[');
        steps.push(Numbered::Key(rest.next()?));
        for number in rest {
            let item = number.strip_suffix(']')?.parse().ok().filter(|item| *item < MOST)?;
            steps.push(Numbered::Item(item));
        }
    }
    steps.iter().any(|step| matches!(step, Numbered::Item(_))).then_some(steps)
}

/// Puts `value` at the end of the steps, and makes missing objects and items.
fn put_numbered(into: &mut Map<String, Value>, steps: &[Numbered<'_>], value: &Value) {
    let Some((Numbered::Key(first), rest)) = steps.split_first() else { return };
    let mut there = into.entry(*first).or_insert(Value::Null);
    for step in rest {
        match step {
            Numbered::Key(key) => {
                if !there.is_object() {
                    *there = Value::Object(Map::new());
                }
                there = &mut there[*key];
            }
            Numbered::Item(item) => {
                if !there.is_array() {
                    *there = Value::Array(Vec::new());
                }
                let Value::Array(items) = there else { return };
                if items.len() <= *item {
                    items.resize(item + 1, Value::Null);
                }
                there = &mut items[*item];
            }
        }
    }
    *there = value.clone();
}

/// Expands lists whose items have several accepted values into several accepted lists.
fn spread(value: &mut Value) {
    const MOST: usize = 64;
    match value {
        Value::Object(members) => members.values_mut().for_each(spread),
        Value::Array(items) if items.iter().any(Value::is_array) => {
            let mut lists = vec![Vec::new()];
            for item in items.iter() {
                let accepted = item.as_array().map_or(std::slice::from_ref(item), Vec::as_slice);
                let longer = |list: &Vec<Value>| {
                    let list = list.clone();
                    accepted.iter().map(move |one| [list.clone(), vec![one.clone()]].concat()).collect::<Vec<_>>()
                };
                lists = lists.iter().flat_map(longer).take(MOST).collect();
            }
            *value = lists.into_iter().map(Value::Array).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(spread),
        _ => {}
    }
}

/// Puts `value` below `keys`; two objects at one place are merged.
fn put(into: &mut Map<String, Value>, keys: &[&str], value: &Value) {
    match keys {
        [] => {}
        [last] => match (into.get_mut(*last), value) {
            (Some(Value::Object(there)), Value::Object(more)) => {
                there.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            _ => {
                into.insert((*last).to_owned(), value.clone());
            }
        },
        [first, rest @ ..] => {
            let below = into.entry(*first).or_insert_with(|| Value::Object(Map::new()));
            if !below.is_object() {
                *below = Value::Object(Map::new());
            }
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}
