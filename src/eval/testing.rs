//! Functions made by hand, for the tests of this layer.

use serde_json::{Map, Value, json};

use crate::module::{Counting, Function, PathStep, Slot, SlotKind, SlotPath};

/// A function with slots at these paths, written as [`SlotPath`] shows them.
pub(super) fn function(name: &str, paths: &[&str]) -> Function {
    Function {
        name: name.to_owned(),
        wire_name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
        slots: paths.iter().map(|path| slot(path)).collect(),
        exemplars: Vec::new(),
        operation: None,
        request: None,
        endpoint: None,
        effect: crate::module::KnownEffect::default(),
    }
}

fn slot(path: &str) -> Slot {
    let spread = path.replace("[]", ".[]");
    let steps = spread.split('.').map(|step| if step == "[]" { PathStep::Each } else { PathStep::Key(step.into()) });
    Slot {
        path: SlotPath(steps.collect()),
        description: String::new(),
        kind: SlotKind::String,
        schema: json!({}),
        required: false,
        default: None,
        choices: Vec::new(),
        recognizers: Vec::new(),
        question: None,
        counting: Counting::No,
    }
}

pub(super) fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("an object is meant: {other}"),
    }
}
