//! Makes schemas and descriptions small enough for a prompt.

use std::{borrow::Cow, io};

use serde_json::{Map, Value};

use crate::assist::schema::each_schema;

/// Greatest size of a function's schema in bytes of JSON: about 2,000 tokens. A prompt has about eight such schemas.
const LARGEST: usize = 8_000;
/// Greatest length of a description in characters; `OpenAI` refuses more than 1,024.
const LONGEST: usize = 1_000;
/// Number of choices that a schema keeps although it is too large.
const CHOICES: usize = 20;

/// A function's description, cut if it is too long.
pub(crate) fn description(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", text[..end].trim_end())),
    }
}

/// A schema of at most [`LARGEST`] bytes that accepts everything that `parameters` accepts. What helps least goes
/// first: descriptions, then long lists of choices, then what is inside objects and lists, and at last optional members
/// beyond the first ones.
pub(crate) fn fitted(parameters: &Value) -> Cow<'_, Value> {
    if fits(parameters) {
        return Cow::Borrowed(parameters);
    }
    let mut smaller = parameters.clone();
    for shrink in [without_words, without_long_lists, without_depth, without_the_rest] {
        shrink(&mut smaller);
        if fits(&smaller) {
            break;
        }
    }
    Cow::Owned(smaller)
}

fn without_words(schema: &mut Value) {
    each_schema(schema, &mut |members| {
        ["description", "title", "examples", "default"].iter().for_each(|key| drop(members.shift_remove(*key)));
    });
}

fn without_long_lists(schema: &mut Value) {
    each_schema(schema, &mut |members| {
        if members.get("enum").and_then(Value::as_array).is_some_and(|choices| choices.len() > CHOICES) {
            members.shift_remove("enum");
        }
    });
}

/// Keeps only the types and choices of the members, and no definitions.
fn without_depth(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    members.retain(|key, of| {
        matches!(key.as_str(), "type" | "properties" | "required") || key == "additionalProperties" && of.is_object()
    });
    let Some(Value::Object(properties)) = members.get_mut("properties") else { return };
    for of in properties.values_mut().filter_map(Value::as_object_mut) {
        of.retain(|key, _| matches!(key.as_str(), "type" | "enum" | "format"));
    }
}

/// Keeps as many members as fit, required ones first. The object stays open, so that the others are not refused.
fn without_the_rest(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    let Some(Value::Object(all)) = members.shift_remove("properties") else { return };
    let required: Vec<Value> = match members.shift_remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    let is_required = |key: &str| required.iter().any(|known| known == key);
    let (first, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, _)| is_required(key));
    let mut left = LARGEST / 2;
    let mut kept = Map::new();
    for (key, of) in first.into_iter().chain(rest) {
        let size = key.len() + of.to_string().len() + 8;
        if size > left {
            break;
        }
        left -= size;
        kept.insert(key, of);
    }
    members.insert("properties".to_owned(), kept.into());
    // Any value: a schema without a strict form stays open.
    members.insert("additionalProperties".to_owned(), Map::new().into());
}

fn fits(schema: &Value) -> bool {
    serde_json::to_writer(Room(LARGEST), schema).is_ok()
}

/// A writer that takes this number of bytes and no more.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::assist::schema::fitted::*;

    fn many(count: usize, of: &Value) -> Value {
        let properties: Map<String, Value> = (0..count).map(|index| (format!("p{index}"), of.clone())).collect();
        json!({"type": "object", "properties": properties, "required": ["p0", "p7"], "additionalProperties": false})
    }

    #[test]
    fn what_helps_least_goes_first() {
        let small = many(10, &json!({"type": "string", "description": "short"}));
        assert!(matches!(fitted(&small), Cow::Borrowed(_)));

        let wordy = fitted(&many(10, &json!({"type": "string", "description": "x".repeat(2_000)}))).into_owned();
        assert_eq!(wordy, many(10, &json!({"type": "string"})));

        let choices: Vec<String> = (0..1_000).map(|index| format!("choice {index}")).collect();
        let listed = fitted(&many(10, &json!({"type": "string", "enum": choices}))).into_owned();
        assert_eq!(listed, many(10, &json!({"type": "string"})));

        let inner = many(40, &json!({"type": "integer", "minimum": 1}));
        let deep = fitted(&many(10, &inner)).into_owned();
        assert_eq!(deep["properties"]["p3"], json!({"type": "object"}));
        assert_eq!(deep["required"], json!(["p0", "p7"]));

        let wide = fitted(&many(5_000, &json!({"type": "string"}))).into_owned();
        let kept: Vec<&str> = wide["properties"].as_object().expect("members").keys().map(String::as_str).collect();
        assert_eq!(kept[..3], ["p0", "p7", "p1"]);
        assert!(kept.len() > 50 && fits(&wide) && wide["additionalProperties"] == json!({}));
    }

    #[test]
    fn a_property_may_be_called_description() {
        let mut schema = json!({"type": "object", "properties": {"description": {"type": "string", "title": "x"}}});
        without_words(&mut schema);
        assert_eq!(schema, json!({"type": "object", "properties": {"description": {"type": "string"}}}));
    }

    #[test]
    fn long_descriptions_are_cut_between_characters() {
        assert_eq!(description("short"), "short");
        let cut = description(&"ü".repeat(3_000)).into_owned();
        assert_eq!(cut.chars().count(), LONGEST + 3);
    }
}
