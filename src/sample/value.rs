//! A value that a JSON Schema accepts and that looks like one.

use serde_json::{Map, Number, Value, json};

use super::pattern;

/// Greatest nesting of values.
const DEEPEST: usize = 6;

/// A value of this schema: the author's example if there is one. `known` holds values for members of the same name.
#[must_use]
pub fn plausible(schema: &Value, known: &Map<String, Value>, random: &mut fastrand::Rng) -> Value {
    let root = schema;
    Plausible { root, known, random }.value(schema, "", 0)
}

struct Plausible<'a> {
    /// Contains the targets of references.
    root: &'a Value,
    known: &'a Map<String, Value>,
    random: &'a mut fastrand::Rng,
}

impl Plausible<'_> {
    /// `name` is the name of the member that the value is for.
    fn value(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        let resolved = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        let schema = resolved.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema);
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let fits = |value: &Value| match value {
            Value::String(_) => types.contains(&"string") || types.is_empty(),
            Value::Bool(_) => types.contains(&"boolean"),
            Value::Number(number) => types.contains(&"number") || (types.contains(&"integer") && number.is_i64()),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        let is_choice = |value: &Value| {
            let choices = schema.get("enum").and_then(Value::as_array);
            choices.is_none_or(|choices| choices.contains(value))
        };
        if let Some(known) = self.known.get(name).filter(|value| fits(value) && is_choice(value)) {
            return known.clone();
        }
        let written = ["const", "example", "default"].iter().find_map(|key| schema.get(*key));
        let listed = ["examples", "enum"].iter().find_map(|key| schema.get(*key)?.as_array()?.first());
        if let Some(value) = written.or(listed) {
            return value.clone();
        }
        if let Some(branch) = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array()?.first())
            && depth < DEEPEST
        {
            return self.value(branch, name, depth + 1);
        }
        let has = |key: &str| schema.get(key).is_some();
        match types.iter().find(|kind| **kind != "null") {
            Some(&"object") | None if has("properties") || types.contains(&"object") => self.object(schema, depth),
            Some(&"array") => self.list(schema, name, depth),
            Some(&"integer") => self.number(schema).round().to_string().parse::<i64>().map_or(json!(1), Value::from),
            Some(&"number") => Number::from_f64(self.number(schema)).map_or(json!(1), Value::Number),
            Some(&"boolean") => Value::Bool(true),
            Some(&"string") => Value::String(self.text(schema, name)),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in properties.into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
            if depth < DEEPEST || is_required && depth < 2 * DEEPEST {
                members.insert(name.clone(), self.value(property, name, depth + 1));
            }
        }
        Value::Object(members)
    }

    fn list(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
        let count = if depth < DEEPEST { least.unwrap_or(2).clamp(1, 5) } else { 0 };
        let any = Value::Bool(true);
        let items = schema.get("items").unwrap_or(&any);
        (0..count).map(|_| self.value(items, name, depth + 1)).collect()
    }

    fn number(&mut self, schema: &Value) -> f64 {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|above| above + 1.0)).unwrap_or(1.0);
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|below| below - 1.0));
        let most = most.unwrap_or(least + 99.0).max(least);
        let picked = least + (most - least) * self.random.f64();
        match bound("multipleOf").filter(|step| *step > 0.0) {
            Some(step) => (picked / step).ceil() * step,
            None => picked.round().clamp(least, most),
        }
    }

    fn text(&mut self, schema: &Value, name: &str) -> String {
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && let Some(text) = pattern::matching(pattern, self.random)
        {
            return text;
        }
        let text = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
            "date" => "2026-12-01".to_owned(),
            "date-time" => "2026-12-01T10:00:00Z".to_owned(),
            "time" => "10:00:00".to_owned(),
            "duration" => "PT1H".to_owned(),
            "email" => "someone@example.com".to_owned(),
            "uri" | "url" => "https://example.com/1".to_owned(),
            "uuid" => "00000000-0000-4000-8000-000000000001".to_owned(),
            "ipv4" => "192.0.2.1".to_owned(),
            _ if name.to_lowercase().ends_with("id") || name.to_lowercase().ends_with("number") => {
                format!("{:04}", self.random.u16(1..9999))
            }
            _ if name.is_empty() => "ok".to_owned(),
            _ => format!("some {}", crate::text::name_words(name).join(" ")),
        };
        let most = schema.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let least = schema.get("minLength").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
        let short: String = text.chars().take(most.unwrap_or(usize::MAX)).collect();
        let missing = least.unwrap_or(0).min(1_000).saturating_sub(short.chars().count());
        short + &"x".repeat(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plausible_fits() {
        for schema in [
            json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "minimum": 5},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 4}}, "when": {"type": "string", "format": "date"}}}),
            json!({"type": ["string", "null"], "pattern": "^[A-Z]{2}[0-9]{6}$"}),
            json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
            json!({"type": "integer", "multipleOf": 5, "minimum": 1, "maximum": 20}),
            json!({"enum": ["a", "b"]}),
            json!({"oneOf": [{"type": "string", "minLength": 12}, {"type": "null"}]}),
            json!({"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}),
        ] {
            let validator = crate::module::schema::validator(&schema).expect("a schema");
            for seed in 0..20 {
                let value = plausible(&schema, &Map::new(), &mut fastrand::Rng::with_seed(seed));
                assert!(validator.is_valid(&value), "{value} of {schema}");
            }
        }
    }

    #[test]
    fn what_was_asked_for_comes_back() {
        let schema = json!({"type": "object", "properties": {"size": {"type": "integer"}, "state": {"enum": ["new"]},
            "name": {"type": "string", "example": "Rex"}}});
        let known = json!({"size": 42, "state": "old", "name": "Bello"});
        let value = plausible(&schema, known.as_object().expect("an object"), &mut fastrand::Rng::with_seed(1));
        assert_eq!(value, json!({"size": 42, "state": "new", "name": "Bello"}));
    }
}
