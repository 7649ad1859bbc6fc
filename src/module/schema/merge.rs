//! Merges two schemas into one that means both.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::type_names;

pub(super) fn push_residual(into: &mut Map<String, Value>, residual: Value) {
    match into.entry("allOf").or_insert_with(|| json!([])) {
        Value::Array(branches) => branches.push(residual),
        other => *other = json!([residual]),
    }
}

/// Makes `into` mean what both schemas mean together. Annotations of `into` win; what cannot be expressed by common
/// keywords stays in `allOf`. A closed object (`additionalProperties: false`) that another extends is closed around
/// both, as its author means it.
pub(super) fn merge_into(into: &mut Map<String, Value>, other: Map<String, Value>) {
    if into.is_empty() {
        *into = other;
        return;
    }
    let mut residual = Map::new();
    for (key, value) in other {
        let Some(own) = into.get_mut(&key) else {
            into.insert(key, value);
            continue;
        };
        if *own == value {
            continue;
        }
        let merged = match key.as_str() {
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" => None,
            "type" => intersect_types(own, &value),
            "enum" => intersect_choices(own, &value),
            "required" => union(own, &value),
            "properties" => merge_properties(own, value.clone()).then_some(()),
            "items" | "additionalProperties" => match (&mut *own, &value) {
                (Value::Object(own), Value::Object(value)) => {
                    merge_into(own, value.clone());
                    Some(())
                }
                (Value::Bool(true), _) => {
                    *own = value.clone();
                    Some(())
                }
                (_, Value::Bool(true)) | (Value::Bool(false), _) => Some(()),
                (_, Value::Bool(false)) => {
                    *own = Value::Bool(false);
                    Some(())
                }
                _ => Some(()),
            },
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => pick(own, &value, true),
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => pick(own, &value, false),
            "uniqueItems" => {
                *own = Value::Bool(true);
                Some(())
            }
            "allOf" => union(own, &value),
            _ => {
                residual.insert(key, value);
                continue;
            }
        };
        if merged.is_none() && !is_annotation(&key) {
            residual.insert(key, value);
        }
    }
    if !residual.is_empty() {
        push_residual(into, Value::Object(residual));
    }
}

fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly")
}

fn intersect_types(own: &mut Value, other: &Value) -> Option<()> {
    let others = type_names(Some(other));
    let mut common: Vec<Value> = Vec::new();
    for name in type_names(Some(own)) {
        if others.contains(&name) || (name == "integer" && others.contains(&"number")) {
            common.push(json!(name));
        } else if name == "number" && others.contains(&"integer") {
            common.push(json!("integer"));
        }
    }
    *own = match common.len() {
        0 => return None,
        1 => common.remove(0),
        _ => Value::Array(common),
    };
    Some(())
}

fn intersect_choices(own: &mut Value, other: &Value) -> Option<()> {
    let (Value::Array(choices), Value::Array(others)) = (&mut *own, other) else { return None };
    let others: HashSet<String> = others.iter().map(Value::to_string).collect();
    let common: Vec<Value> = choices.iter().filter(|choice| others.contains(&choice.to_string())).cloned().collect();
    if common.is_empty() {
        return None;
    }
    *choices = common;
    Some(())
}

fn union(own: &mut Value, other: &Value) -> Option<()> {
    let (Value::Array(own), Value::Array(others)) = (own, other) else { return None };
    let mut known: HashSet<String> = own.iter().map(Value::to_string).collect();
    own.extend(others.iter().filter(|value| known.insert(value.to_string())).cloned());
    Some(())
}

fn merge_properties(own: &mut Value, other: Value) -> bool {
    let (Value::Object(own), Value::Object(others)) = (own, other) else { return false };
    for (name, schema) in others {
        match (own.get_mut(&name), schema) {
            (None, schema) => {
                own.insert(name, schema);
            }
            (Some(Value::Object(present)), Value::Object(schema)) => merge_into(present, schema),
            (Some(present), Value::Bool(false)) => *present = Value::Bool(false),
            (Some(_), _) => {}
        }
    }
    true
}

fn pick(own: &mut Value, other: &Value, larger: bool) -> Option<()> {
    let (left, right) = (own.as_f64()?, other.as_f64()?);
    if (right > left) == larger {
        *own = other.clone();
    }
    Some(())
}
