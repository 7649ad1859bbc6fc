//! Reads a JSON Schema for one value: its types, its choices, and the schemas of a place.

use serde_json::{Map, Value};

use crate::module::schema::may_be_null;

/// Most levels of `$ref`, unions and nesting that are followed.
pub(super) const MAX_DEPTH: usize = 64;
/// Most union branches that are examined at one place.
const MAX_ALTERNATIVES: usize = 64;

/// Follows `#/...` references, at most [`MAX_DEPTH`] of them.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..MAX_DEPTH {
        let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
        else {
            break;
        };
        let Some(target) = root.pointer(pointer) else { break };
        schema = target;
    }
    schema
}

/// Every schema that applies to the value at `pointer`: through references, `allOf` and the branches of unions.
pub(super) fn schemas_at<'s>(root: &'s Value, pointer: &str) -> Vec<&'s Value> {
    let mut schemas = alternatives(root, root);
    for token in pointer.split('/').skip(1) {
        let key = token.replace("~1", "/").replace("~0", "~");
        let is_index = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
        schemas = schemas
            .into_iter()
            .filter_map(|schema| {
                let property = schema.get("properties").and_then(|of| of.get(&key));
                property.or_else(|| if is_index { schema.get("items") } else { None })
            })
            .flat_map(|schema| alternatives(root, schema))
            .take(MAX_ALTERNATIVES)
            .collect();
    }
    schemas
}

/// A schema and its branches.
fn alternatives<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let mut all = vec![resolve(root, schema)];
    let mut next = 0;
    while next < all.len() && all.len() < MAX_ALTERNATIVES {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let branches = all[next].get(keyword).and_then(Value::as_array);
            all.extend(branches.into_iter().flatten().map(|branch| resolve(root, branch)));
        }
        next += 1;
    }
    all
}

pub(super) fn push_pointer(pointer: &mut String, key: &str) {
    pointer.push('/');
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// True if `schema` lists `name` among its types. A schema without `type` accepts none by name.
pub(super) fn accepts_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => match name {
            "object" => schema.get("properties").is_some(),
            "array" => schema.get("items").is_some(),
            _ => false,
        },
    }
}

pub(super) fn has_type(schema: &Value) -> bool {
    schema.get("type").is_some()
}

/// The single type of a schema besides `null`.
pub(super) fn only_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(one) => Some(one),
        Value::Array(several) => {
            let mut named = several.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            match (named.next(), named.next()) {
                (Some(one), None) => Some(one),
                _ => None,
            }
        }
        _ => None,
    }
}

/// True if the schema accepts the value's JSON type.
pub(super) fn accepts(schema: &Value, value: &Value) -> bool {
    if !has_type(schema) {
        return true;
    }
    match value {
        Value::Null => accepts_type(schema, "null"),
        Value::Bool(_) => accepts_type(schema, "boolean"),
        Value::Number(number) => {
            accepts_type(schema, "number")
                || accepts_type(schema, "integer") && number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Value::String(_) => accepts_type(schema, "string"),
        Value::Array(_) => accepts_type(schema, "array"),
        Value::Object(_) => accepts_type(schema, "object"),
    }
}

pub(super) fn choices(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(several)) => Some(several.iter().collect()),
        (None, None) => None,
    }
}

pub(super) fn is_choice(schema: &Value, value: &Value) -> bool {
    choices(schema).is_some_and(|choices| choices.contains(&value))
}

/// What models write for no value.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

/// Equal in JSON Schema: `3` and `3.0` are the same number.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The only possible value: a default, a constant, or an object whose members are all determined.
pub(super) fn decided(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    // A default may stand beside a reference.
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    let schema = resolve(root, schema);
    if let Some(default) = schema.get("default").or_else(|| schema.get("const")) {
        return Some(default.clone());
    }
    if let Some([only]) = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
        return Some(only.clone());
    }
    // Strict schemas express optional members as required and nullable.
    if may_be_null(schema) {
        return Some(Value::Null);
    }
    if only_type(schema) != Some("object") {
        return None;
    }
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let mut object = Map::new();
    for key in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        object.insert(key.to_owned(), decided(root, properties.get(key)?, depth + 1)?);
    }
    Some(Value::Object(object))
}
