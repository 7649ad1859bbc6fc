//! `OpenAI`'s strict form of a schema: every object closed, every property required, optional ones nullable, and only
//! keywords that strict servers know.
//!
//! The strict form accepts whatever the schema accepts (and `null` for optional properties, which coercion removes
//! again). Constraints that it cannot express, such as the length of a text, are checked when the answer arrives.

use serde_json::{Map, Value, json};

use super::Tool;

/// Limits of strict servers.
const MAX_PROPERTIES: usize = 5_000;
const MAX_DEPTH: usize = 10;
const MAX_CHOICES: usize = 1_000;

/// Keywords that are copied unchanged.
const KEPT: [&str; 10] = [
    "type",
    "title",
    "description",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "enum",
];
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Why a schema has no strict form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct NotStrict {
    /// JSON pointer into the schema.
    pub path: String,
    pub reason: &'static str,
}

/// The tool for a function: strict if its schema has a strict form, with the unchanged schema otherwise.
#[must_use]
pub fn tool(name: &str, description: &str, parameters: &Value) -> Tool {
    let made = strict(parameters);
    let is_strict = made.is_ok();
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: made.unwrap_or_else(|_| parameters.clone()).into(),
        strict: is_strict,
    }
}

/// True if `schema` already is in strict form.
pub(super) fn is_strict(schema: &Value) -> bool {
    strict(schema).is_ok_and(|made| made == *schema)
}

/// The strict form of `schema`, which must describe an object. Idempotent.
///
/// # Errors
/// If the schema uses what strict form cannot express: open objects, arbitrary values, tuples, or combined schemas.
pub fn strict(schema: &Value) -> Result<Value, NotStrict> {
    let mut maker = Maker { properties: 0, choices: 0, path: String::new() };
    if schema.get("anyOf").or_else(|| schema.get("oneOf")).or_else(|| schema.get("$ref")).is_some() {
        return maker.refuse("the whole is a union or a reference");
    }
    // Functions without parameters are often written as `{"type": "object"}`.
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return maker.refuse("the whole is not an object");
    }
    let mut made = maker.object(schema, 0)?;
    for keyword in ["$defs", "definitions"] {
        let Some(definitions) = schema.get(keyword).and_then(Value::as_object) else { continue };
        let mut all = Map::new();
        for (name, of) in definitions {
            let of = maker.within(&format!("{keyword}/{name}"), |maker| maker.schema(of, 1))?;
            all.insert(name.clone(), of);
        }
        made.insert(keyword.to_owned(), Value::Object(all));
    }
    Ok(Value::Object(made))
}

struct Maker {
    properties: usize,
    choices: usize,
    path: String,
}

impl Maker {
    fn refuse<T>(&self, reason: &'static str) -> Result<T, NotStrict> {
        Err(NotStrict { path: self.path.clone(), reason })
    }

    fn within<T>(&mut self, key: &str, act: impl FnOnce(&mut Self) -> Result<T, NotStrict>) -> Result<T, NotStrict> {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(key);
        let result = act(self)?;
        self.path.truncate(length);
        Ok(result)
    }

    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Value, NotStrict> {
        let Some(members) = schema.as_object() else { return self.refuse("any value") };
        if depth > MAX_DEPTH {
            return self.refuse("too many levels");
        }
        // `not` and `if` are checked when the answer arrives; key patterns and tuples have no strict form.
        if ["patternProperties", "prefixItems", "$dynamicRef"].iter().any(|keyword| members.contains_key(*keyword)) {
            return self.refuse("a keyword without a strict form");
        }
        if let Some(target) = members.get("$ref").and_then(Value::as_str) {
            if !target.starts_with('#') {
                return self.refuse("a reference to another document");
            }
            return Ok(json!({"$ref": target}));
        }
        if let Some(parts) = members.get("allOf").and_then(Value::as_array) {
            let [only] = parts.as_slice() else { return self.refuse("several schemas at once (allOf)") };
            if members.contains_key("properties") || members.contains_key("anyOf") || members.contains_key("oneOf") {
                return self.refuse("several schemas at once (allOf)");
            }
            return self.within("allOf/0", |maker| maker.schema(only, depth));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = members.get(keyword).and_then(Value::as_array) {
                if members.contains_key("properties") {
                    return self.refuse("properties beside a union");
                }
                let mut made = Vec::with_capacity(branches.len());
                for (index, branch) in branches.iter().enumerate() {
                    made.push(self.within(&format!("{keyword}/{index}"), |maker| maker.schema(branch, depth + 1))?);
                }
                let mut all = Map::new();
                if let Some(description) = members.get("description") {
                    all.insert("description".to_owned(), description.clone());
                }
                all.insert("anyOf".to_owned(), Value::Array(made));
                return Ok(Value::Object(all));
            }
        }
        let types = types(schema);
        if types.contains(&"object") || (types.is_empty() && members.contains_key("properties")) {
            if !members.contains_key("properties") {
                return self.refuse("an object with free members");
            }
            return self.object(schema, depth).map(Value::Object);
        }
        self.leaf(members, &types, depth).map(Value::Object)
    }

    fn leaf(
        &mut self,
        members: &Map<String, Value>,
        types: &[&str],
        depth: usize,
    ) -> Result<Map<String, Value>, NotStrict> {
        if types.is_empty() && !members.contains_key("enum") && !members.contains_key("const") {
            return self.refuse("any value");
        }
        let mut made: Map<String, Value> = members
            .iter()
            .filter(|(key, _)| KEPT.contains(&key.as_str()))
            .map(|(key, of)| (key.clone(), of.clone()))
            .collect();
        if let Some(format) = members.get("format").filter(|format| FORMATS.iter().any(|known| *format == *known)) {
            made.insert("format".to_owned(), format.clone());
        }
        self.choices += members.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        if self.choices > MAX_CHOICES {
            return self.refuse("too many choices");
        }
        if types.contains(&"array") {
            let Some(items) = members.get("items").filter(|items| items.is_object()) else {
                return self.refuse("a list of any values");
            };
            made.insert("items".to_owned(), self.within("items", |maker| maker.schema(items, depth + 1))?);
            for keyword in ["minItems", "maxItems"] {
                made.extend(members.get(keyword).map(|of| (keyword.to_owned(), of.clone())));
            }
        }
        Ok(made)
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Result<Map<String, Value>, NotStrict> {
        if schema.get("additionalProperties").is_some_and(Value::is_object) {
            return self.refuse("an object with free members");
        }
        if schema.get("anyOf").or_else(|| schema.get("oneOf")).or_else(|| schema.get("allOf")).is_some() {
            return self.refuse("properties beside a union");
        }
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        self.properties += properties.len();
        if self.properties > MAX_PROPERTIES {
            return self.refuse("too many properties");
        }
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut all = Map::new();
        for (key, of) in properties {
            let made = self.within(&format!("properties/{key}"), |maker| maker.schema(of, depth + 1))?;
            all.insert(key.clone(), if required.contains(&key.as_str()) { made } else { nullable(made) });
        }
        if required.iter().any(|key| !properties.contains_key(*key)) {
            return self.refuse("a required member that is not declared");
        }
        let mut made = Map::new();
        made.insert("type".to_owned(), schema.get("type").cloned().unwrap_or_else(|| "object".into()));
        if let Some(description) = schema.get("description") {
            made.insert("description".to_owned(), description.clone());
        }
        made.insert("required".to_owned(), all.keys().map(|key| Value::from(key.as_str())).collect());
        made.insert("properties".to_owned(), Value::Object(all));
        made.insert("additionalProperties".to_owned(), false.into());
        Ok(made)
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The same schema, but nullable.
fn nullable(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if let Some(Value::Array(branches)) = members.get_mut("anyOf") {
        if !branches.iter().any(|branch| types(branch).contains(&"null")) {
            branches.push(json!({"type": "null"}));
        }
        return Value::Object(members);
    }
    if members.contains_key("$ref") || members.contains_key("const") {
        return json!({"anyOf": [Value::Object(members), {"type": "null"}]});
    }
    if let Some(Value::Array(choices)) = members.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    match members.get_mut("type") {
        Some(Value::String(one)) if one != "null" => {
            let both = json!([one, "null"]);
            members.insert("type".to_owned(), both);
        }
        Some(Value::Array(several)) if !several.iter().any(|one| one == "null") => several.push("null".into()),
        _ => {}
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_schema_becomes_strict() {
        let schema = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "maxLength": 30, "description": "where"},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "days": {"type": "integer", "minimum": 1},
            "when": {"type": "string", "format": "date"},
            "size": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "phone"}]},
            "at": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": true}},
            "$defs": {"tag": {"type": "object", "properties": {"name": {"type": "string"}}}}});
        assert_eq!(
            strict(&schema).expect("strict"),
            json!({"type": "object", "required": ["city", "unit", "days", "when", "size", "at", "tags"], "properties": {
                "city": {"type": "string", "description": "where"},
                "unit": {"type": ["string", "null"], "enum": ["c", "f", null]},
                "days": {"type": ["integer", "null"], "minimum": 1},
                "when": {"type": ["string", "null"], "format": "date"},
                "size": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
                "at": {"type": ["object", "null"], "required": ["x"], "properties": {"x": {"type": "number"}}, "additionalProperties": false},
                "tags": {"type": ["array", "null"], "items": {"$ref": "#/$defs/tag"}}},
                "additionalProperties": false,
                "$defs": {"tag": {"type": "object", "required": ["name"], "properties": {"name": {"type": ["string", "null"]}}, "additionalProperties": false}}})
        );
        let none = tool("f", "", &json!({"type": "object"}));
        assert_eq!((none.strict, none.parameters["additionalProperties"].clone()), (true, json!(false)));
    }

    #[test]
    fn what_has_no_strict_form_says_why() {
        for (of, path) in [
            (json!({}), "/properties/x"),
            (json!(true), "/properties/x"),
            (json!({"type": "object"}), "/properties/x"),
            (json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}), "/properties/x"),
            (json!({"type": "array"}), "/properties/x"),
            (json!({"type": "array", "items": {}}), "/properties/x/items"),
            (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), "/properties/x"),
            (json!({"$ref": "https://example.com/"}), "/properties/x"),
        ] {
            let schema = json!({"type": "object", "properties": {"x": of}});
            assert_eq!(strict(&schema).expect_err("not strict").path, path, "{schema}");
            let tool = tool("f", "", &schema);
            assert_eq!((tool.strict, &*tool.parameters), (false, &schema));
        }
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({"type": "string", "minLength": 2})),
            Just(json!({"type": ["integer", "null"]})),
            Just(json!({"enum": ["a", 1]})),
            Just(json!({"const": 3})),
            Just(json!({"$ref": "#/$defs/d"})),
            Just(json!({})),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|of| json!({"type": "array", "items": of})),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
                (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, needed)| {
                    json!({"type": "object", "properties": {"a": a, "b": b}, "required": if needed { vec!["a"] } else { vec![] }})
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn strict_is_idempotent(of in any_schema()) {
            let schema = json!({"type": "object", "properties": {"x": of}, "$defs": {"d": {"type": "string"}}});
            if let Ok(once) = strict(&schema) {
                prop_assert_eq!(strict(&once), Ok(once.clone()));
                prop_assert!(is_strict(&once));
            }
        }
    }
}
