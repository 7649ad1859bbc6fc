//! JSON Schema of the answers, made from the types, for readers that do not know OpenAPI.

use serde_json::{Map, Value};
use utoipa::ToSchema;

const COMPONENTS: &str = "#/components/schemas/";

/// JSON Schema 2020-12 of `T` as it is serialised; referenced types are in its `$defs`.
#[must_use]
pub fn json_schema<T: ToSchema>() -> Map<String, Value> {
    let mut components = Vec::new();
    T::schemas(&mut components);
    let definitions = components.into_iter().map(|(name, schema)| (name, converted(schema))).collect::<Map<_, _>>();
    let Value::Object(mut schema) = converted(T::schema()) else { return Map::new() };
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

fn converted(schema: impl serde::Serialize) -> Value {
    let mut schema = serde_json::to_value(schema).expect("a schema is written as JSON");
    convert(&mut schema);
    schema
}

/// Points references into `$defs` and removes `example`, which is not a JSON Schema keyword and which strict readers
/// refuse.
fn convert(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.shift_remove("example");
            for (key, member) in members {
                match (key.as_str(), member) {
                    ("$ref", Value::String(target)) => {
                        if let Some(name) = target.strip_prefix(COMPONENTS) {
                            *target = format!("#/$defs/{name}");
                        }
                    }
                    // Names may be any text; their values are schemas.
                    ("properties", Value::Object(properties)) => properties.values_mut().for_each(convert),
                    ("enum" | "const" | "default", _) => {}
                    (_, member) => convert(member),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(convert),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::*;
    use crate::answer::{Retrieved, Understanding};

    #[derive(Serialize, ToSchema)]
    struct Tree {
        /// A property of this name stays.
        #[schema(example = "oak")]
        example: String,
        leaf: Option<Leaf>,
    }

    #[derive(Serialize, ToSchema)]
    struct Leaf {
        size: f64,
    }

    #[test]
    fn a_schema_stands_alone() {
        let schema = Value::Object(json_schema::<Tree>());
        assert_eq!(schema["$defs"]["Leaf"]["required"], json!(["size"]));
        assert_eq!(schema["properties"]["example"]["description"], "A property of this name stays.");
        assert!(schema["properties"]["example"].get("example").is_none());
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&json!({"example": "x", "leaf": {"size": 1.5}})));
        assert!(validator.is_valid(&json!({"example": "x", "leaf": null})));
        assert!(!validator.is_valid(&json!({"example": "x", "leaf": {"size": "big"}})));
        assert!(!validator.is_valid(&json!({})));
    }

    #[test]
    fn nothing_refers_to_elsewhere() {
        for schema in [json_schema::<Retrieved>(), json_schema::<Understanding>()] {
            assert_eq!(schema["type"], "object");
            let text = Value::Object(schema).to_string();
            assert!(text.contains("#/$defs/") && !text.contains(COMPONENTS), "{text}");
        }
    }
}
