//! The leaves of a function's parameters.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Counting, Diagnostic, Limits, PathStep, Slot, SlotKind, SlotPath,
    findings::{Findings, PointerChain},
    schema::{may_be_null, type_names},
};

/// Flattens normalised `parameters`. Slots end where recursion begins: an optional slot is left to the validator (with
/// a warning), a required one becomes a slot of any type, so that it is reported as missing.
pub(super) fn flatten(
    parameters: &Value,
    file: &str,
    function: (&str, &str),
    limits: &Limits,
    findings: &mut Findings,
) -> Vec<Slot> {
    let mut walk = SlotCollector { slots: Vec::new(), file, function, limits, findings, full: false };
    let Value::Object(root) = parameters else { return Vec::new() };
    walk.properties(root, &mut Vec::new(), true);
    walk.slots
}

struct SlotCollector<'a> {
    slots: Vec<Slot>,
    file: &'a str,
    /// Name and pointer.
    function: (&'a str, &'a str),
    limits: &'a Limits,
    findings: &'a mut Findings,
    full: bool,
}

impl SlotCollector<'_> {
    fn properties(&mut self, object: &Map<String, Value>, path: &mut Vec<PathStep>, required: bool) {
        let Some(Value::Object(properties)) = object.get("properties") else { return };
        let names: HashSet<&str> =
            object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in properties {
            path.push(PathStep::Key(Arc::from(name.as_str())));
            self.node(schema, path, required && names.contains(name.as_str()) && !may_be_null(schema), "");
            path.pop();
        }
    }

    /// `description` is the enclosing array's; items without their own use it.
    fn node(&mut self, schema: &Value, path: &mut Vec<PathStep>, required: bool, description: &str) {
        let Value::Object(map) = schema else {
            // `false`: no value is ever valid here.
            return;
        };
        let own = ["description", "title"].iter().find_map(|key| map.get(*key).and_then(Value::as_str));
        let description = own.filter(|text| !text.trim().is_empty()).unwrap_or(description);
        let has_properties = map.get("properties").and_then(Value::as_object).is_some_and(|inner| !inner.is_empty());
        if has_properties && only(map, "object") {
            self.properties(map, path, required);
        } else if only(map, "array") {
            path.push(PathStep::Each);
            match map.get("items") {
                Some(items) => self.node(items, path, required, description),
                None => self.leaf(&Map::new(), path, required, description),
            }
            path.pop();
        } else {
            self.leaf(map, path, required, description);
        }
    }

    fn leaf(&mut self, map: &Map<String, Value>, path: &[PathStep], required: bool, description: &str) {
        let path = SlotPath(path.to_vec());
        if map.contains_key("$ref") && !required {
            let message =
                format!("`{path}` of `{}` is recursive: calls are checked, but no slots lie below it", self.function.0);
            let at = PointerChain::Start(self.function.1);
            self.findings.push(Diagnostic::warning("recursive-schema", self.file, at, message));
            return;
        }
        if self.slots.len() >= self.limits.slots {
            if !self.full {
                self.full = true;
                let message =
                    format!("`{}` has more slots than the limit `slots` = {}", self.function.0, self.limits.slots);
                self.findings.push(Diagnostic::error(
                    "over-limit",
                    self.file,
                    PointerChain::Start(self.function.1),
                    message,
                ));
            }
            return;
        }
        self.slots.push(Slot {
            path,
            description: description.trim().to_owned(),
            kind: kind(map),
            schema: Value::Object(map.clone()),
            required,
            default: map.get("default").filter(|default| !default.is_null()).cloned(),
            choices: choices(map),
            recognizers: Vec::new(),
            question: None,
            counting: Counting::No,
        });
    }
}

/// True if the type is this one, possibly with null, and no other.
fn only(map: &Map<String, Value>, wanted: &str) -> bool {
    let names = type_names(map.get("type"));
    names.contains(&wanted) && names.iter().all(|name| *name == wanted || *name == "null")
}

fn kind(map: &Map<String, Value>) -> SlotKind {
    let mut names = type_names(map.get("type"));
    if names.is_empty() {
        // The choices or the branches of a union say it too.
        for choice in choices(map) {
            let name = match &choice {
                Value::String(_) => "string",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::Bool(_) => "boolean",
                _ => "object",
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            for branch in ["anyOf", "oneOf"].iter().filter_map(|key| map.get(*key)?.as_array()).flatten() {
                let below = branch.as_object().map_or(SlotKind::Any, kind);
                let is_null = type_names(branch.get("type")) == ["null"];
                let name = match below {
                    SlotKind::String => "string",
                    SlotKind::Integer => "integer",
                    SlotKind::Number => "number",
                    SlotKind::Boolean => "boolean",
                    SlotKind::Any if is_null => "null",
                    SlotKind::Any => "object",
                };
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    names.retain(|name| *name != "null");
    match names.as_slice() {
        ["string"] => SlotKind::String,
        ["integer"] => SlotKind::Integer,
        ["number"] | ["integer", "number"] | ["number", "integer"] => SlotKind::Number,
        ["boolean"] => SlotKind::Boolean,
        _ => SlotKind::Any,
    }
}

/// The closed list of values, without null and without duplicates.
fn choices(map: &Map<String, Value>) -> Vec<Value> {
    let mut choices: Vec<Value> = match (map.get("const"), map.get("enum")) {
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => Vec::new(),
    };
    let mut seen = HashSet::new();
    choices.retain(|choice| !choice.is_null() && seen.insert(choice.to_string()));
    choices
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flat(parameters: &Value) -> (Vec<String>, Vec<Slot>, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let slots = flatten(parameters, "schema.json", ("f", "/0"), &Limits::default(), &mut findings);
        let shown = slots
            .iter()
            .map(|slot| format!("{}{} {:?}", slot.path, if slot.required { "!" } else { "" }, slot.kind))
            .collect();
        (shown, slots, findings.finish(&[]).0)
    }

    #[test]
    fn objects_and_arrays_flatten() {
        let (shown, slots, found) = flat(&json!({"type": "object", "required": ["who", "dishes"], "properties": {
            "who": {"type": "object", "required": ["name", "age"], "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}}},
            "where": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}},
            "tags": {"type": "array", "description": "Labels", "items": {"type": "string"}},
            "dishes": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "hot": {"type": "boolean"}}}},
            "extra": {"type": "object", "additionalProperties": {"type": "string"}},
            "either": {"type": ["string", "integer"]},
            "never": false
        }}));
        assert_eq!(found, []);
        assert_eq!(
            shown,
            [
                "who.name! String",
                "who.age Integer",
                "where.city String",
                "tags[] String",
                "dishes[].name! String",
                "dishes[].hot Boolean",
                "extra Any",
                "either Any"
            ]
        );
        assert_eq!(slots[3].description, "Labels");
    }

    #[test]
    fn choices_and_defaults() {
        let (_, slots, _) = flat(&json!({"type": "object", "properties": {
            "a": {"enum": ["x", null, "x", "y"], "default": "x"},
            "b": {"const": 3},
            "c": {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "email"}]}
        }}));
        assert_eq!(
            (slots[0].choices.len(), slots[0].default.clone(), slots[0].kind),
            (2, Some(json!("x")), SlotKind::String)
        );
        assert_eq!((slots[1].choices.clone(), slots[1].kind), (vec![json!(3)], SlotKind::Integer));
        assert_eq!(slots[2].kind, SlotKind::String);
    }

    #[test]
    fn slots_end_where_recursion_begins() {
        let node = json!({"$ref": "#/$defs/n"});
        let (shown, _, found) =
            flat(&json!({"type": "object", "required": ["root"], "properties": {"root": node, "other": node}}));
        assert_eq!((shown, found[0].code), (vec!["root! Any".to_owned()], "recursive-schema"));
    }

    #[test]
    fn slots_have_a_limit() {
        let properties: Map<String, Value> = (0..600).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
        let (shown, _, found) = flat(&json!({"type": "object", "properties": properties}));
        assert_eq!(shown.len(), 500);
        assert!(found.len() == 1 && found[0].message.contains("`slots`"));
    }
}
