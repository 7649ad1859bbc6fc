//! Expresses unions by plain keywords if these mean the same.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{
    super::{
        Diagnostic,
        findings::{Findings, PointerChain},
    },
    Normaliser, infer_type,
    merge::{merge_into, push_residual},
};

impl Normaliser<'_> {
    /// Puts a union into `out`: as plain keywords if these mean the same, else unchanged, with a warning.
    pub(super) fn union(
        &self,
        out: &mut Map<String, Value>,
        keyword: &str,
        branches: Vec<Value>,
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) {
        let count = branches.len();
        let mut rest: Vec<Value> = branches.iter().filter(|branch| !is_null_schema(branch)).cloned().collect();
        let with_null = rest.len() < count;
        if rest.is_empty() {
            out.insert("type".to_owned(), json!("null"));
            return;
        }
        if rest.len() == 1 {
            if !with_null || rest[0].as_object().is_some_and(can_be_null) {
                if let Value::Object(only) = rest.remove(0) {
                    let mut only = only;
                    if with_null {
                        allow_null(&mut only);
                    }
                    merge_into(out, only);
                } else {
                    push_residual(out, Value::Bool(false));
                }
                return;
            }
        } else if let Some(mut choices) = constants(&rest) {
            if with_null && !choices.contains(&Value::Null) {
                choices.push(Value::Null);
            }
            merge_into(out, Map::from_iter([("enum".to_owned(), Value::Array(choices))]));
            return;
        } else if let Some(mut types) = bare_types(&rest) {
            if with_null {
                types.push(json!("null"));
            }
            merge_into(out, Map::from_iter([("type".to_owned(), Value::Array(types))]));
            return;
        }
        if rest.iter().any(|branch| branch.get("properties").is_some() || branch.get("required").is_some()) {
            findings.push(
                Diagnostic::warning(
                    "unsupported-keyword",
                    self.file,
                    place,
                    format!("calls are checked against `{keyword}`, but no slots are derived from its branches"),
                )
                .hint("put the properties that people say into the object itself"),
            );
        }
        if out.contains_key(keyword) {
            push_residual(out, json!({keyword: branches}));
        } else {
            out.insert(keyword.to_owned(), Value::Array(branches));
        }
    }
}

/// True if adding null to its types and values is enough to allow null.
fn can_be_null(schema: &Map<String, Value>) -> bool {
    let is_said = schema.contains_key("type") || schema.contains_key("enum");
    is_said && !["allOf", "anyOf", "oneOf", "not", "const"].iter().any(|keyword| schema.contains_key(*keyword))
}

/// True of `false` and `{"not": {}}`, which no value fits.
pub(super) fn is_impossible(schema: &Value) -> bool {
    let not = schema.get("not");
    *schema == Value::Bool(false) || not.is_some_and(|not| *not == Value::Bool(true) || *not == json!({}))
}

fn is_null_schema(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return false };
    map.get("type") == Some(&json!("null"))
        || map.get("const") == Some(&Value::Null)
        || map.get("enum") == Some(&json!([null]))
}

/// The values of branches that allow exactly one value each.
fn constants(branches: &[Value]) -> Option<Vec<Value>> {
    let mut choices: Vec<Value> = Vec::with_capacity(branches.len());
    for branch in branches {
        let branch = branch.as_object()?;
        if !branch.keys().all(|key| matches!(key.as_str(), "const" | "enum" | "type" | "title" | "description")) {
            return None;
        }
        match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
            (Some(value), None) => choices.push(value.clone()),
            (None, Some(values)) => choices.extend(values.iter().cloned()),
            _ => return None,
        }
    }
    // A `oneOf` forbids a value that occurs twice; the validator handles that.
    let distinct: HashSet<String> = choices.iter().map(Value::to_string).collect();
    (distinct.len() == choices.len()).then_some(choices)
}

/// The types of branches that contain only a type, if no value has two of them.
fn bare_types(branches: &[Value]) -> Option<Vec<Value>> {
    let mut types: Vec<Value> = Vec::with_capacity(branches.len());
    for branch in branches {
        let branch = branch.as_object()?;
        if !branch.keys().all(|key| matches!(key.as_str(), "type" | "title" | "description")) {
            return None;
        }
        let Value::String(name) = branch.get("type")? else { return None };
        let name = json!(name);
        if types.contains(&name) {
            return None;
        }
        types.push(name);
    }
    let numeric = types.contains(&json!("integer")) && types.contains(&json!("number"));
    (!numeric).then_some(types)
}

/// Allows `null` as a value too. A schema without a type allows it already.
pub(super) fn allow_null(schema: &mut Map<String, Value>) {
    infer_type(schema);
    match schema.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push(json!("null")),
        Some(Value::String(name)) if name != "null" => {
            let types = json!([name, "null"]);
            schema.insert("type".to_owned(), types);
        }
        _ => {}
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    if let Some(value) = schema.remove("const") {
        schema.insert("enum".to_owned(), json!([value, null]));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get_mut(keyword)
            && !branches.iter().any(is_null_schema)
        {
            branches.push(json!({"type": "null"}));
        }
    }
}
