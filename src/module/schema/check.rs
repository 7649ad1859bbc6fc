//! Finds what is wrong in a schema that is otherwise well-formed.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    super::{
        Diagnostic,
        findings::{Findings, PointerChain, kind_of},
    },
    Normaliser, type_names, validator,
};

impl Normaliser<'_> {
    pub(super) fn check(&self, schema: &Map<String, Value>, place: &PointerChain<'_>, findings: &mut Findings) {
        if let (Some(Value::Array(required)), Some(Value::Object(properties))) =
            (schema.get("required"), schema.get("properties"))
        {
            for name in required.iter().filter_map(Value::as_str) {
                if !properties.contains_key(name) {
                    let hint = findings.near(name, properties.keys().map(String::as_str));
                    let message = format!("`{name}` is required, but it is not one of the properties");
                    let at = place.key("required");
                    findings.push(Diagnostic::error("unknown-property", self.file, at, message).hint_if(hint));
                }
            }
        }
        if let Some(choices) = schema.get("enum") {
            self.check_enum(choices, schema, &place.key("enum"), findings);
        }
        if let Some(default) = schema.get("default") {
            self.check_default(default, schema, &place.key("default"), findings);
        }
    }

    fn check_enum(
        &self,
        choices: &Value,
        schema: &Map<String, Value>,
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) {
        let Value::Array(choices) = choices else {
            let message = format!("`enum` is a list of values, found {}", kind_of(choices));
            findings.push(self.bad_keyword(place, message));
            return;
        };
        if choices.is_empty() {
            let found =
                Diagnostic::error("empty-enum", self.file, place, "`enum` is empty: no value would ever be valid");
            findings.push(found.hint("list the values, or leave `enum` out"));
        }
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (index, choice) in choices.iter().enumerate() {
            if seen.insert(choice.to_string(), index).is_some() {
                let message = format!("the value {choice} is listed twice");
                findings.push(Diagnostic::warning("duplicate-choice", self.file, place.index(index), message));
            }
            if let Some(types) = schema.get("type")
                && !has_type(choice, types)
                && !choice.is_null()
            {
                let message = format!("the value {choice} is not of the schema's own type, {types}");
                let found = Diagnostic::warning("bad-choice", self.file, place.index(index), message);
                findings.push(found.hint("no call can ever have it; correct the value or the type"));
            }
        }
    }

    fn check_default(
        &self,
        default: &Value,
        schema: &Map<String, Value>,
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) {
        let simple = |key: &String| {
            matches!(
                key.as_str(),
                "type" | "enum" | "default" | "description" | "title" | "examples" | "format" | "deprecated"
            )
        };
        let reason = if schema.keys().all(simple) {
            let right_type = schema.get("type").is_none_or(|types| has_type(default, types));
            let chosen = schema.get("enum").and_then(Value::as_array).is_none_or(|choices| choices.contains(default));
            if !right_type {
                Some(format!("it is {}", kind_of(default)))
            } else if !chosen {
                Some("it is not one of the `enum`".to_owned())
            } else {
                None
            }
        } else if contains_reference(schema) {
            // Its definitions do not exist yet; the validator checks calls anyway.
            None
        } else {
            validator(&Value::Object(schema.clone()))
                .ok()
                .and_then(|validator| validator.validate(default).err().map(|error| error.to_string()))
        };
        if let Some(reason) = reason {
            // Generators often write null as the default of an optional parameter that isn't nullable. That is
            // harmless, because null is not a value.
            let found = if default.is_null() {
                Diagnostic::warning(
                    "bad-default",
                    self.file,
                    place,
                    "the default null is not allowed by the schema and has no effect",
                )
            } else {
                let message = format!("the default {default} is not valid against its own schema: {reason}");
                Diagnostic::warning("bad-default", self.file, place, message)
            };
            findings.push(found.hint("correct the default, or leave it out"));
        }
    }
}

fn contains_reference(schema: &Map<String, Value>) -> bool {
    schema.contains_key("$ref")
        || schema.values().any(|value| match value {
            Value::Object(inner) => contains_reference(inner),
            Value::Array(items) => items.iter().any(|item| item.as_object().is_some_and(contains_reference)),
            _ => false,
        })
}

fn has_type(value: &Value, types: &Value) -> bool {
    type_names(Some(types)).into_iter().any(|name| match (name, value) {
        ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("null", Value::Null) => true,
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    })
}
