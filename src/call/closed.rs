//! Closes object schemas. JSON Schema allows undeclared members unless told otherwise; authors of functions hardly ever
//! say so, and do not mean to allow them: an undeclared argument is one that a model made up.

use serde_json::{Map, Value};

/// Keywords that say that an object may have members besides the declared ones.
const OPEN: [&str; 11] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "$ref",
];

/// The schema with every object closed that declares its members and says nothing about others. Idempotent.
pub(super) fn closed(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let declares = members.contains_key("properties");
    // Whether no other keyword beside the union's branches describes the same object.
    let is_plain = |union: &str| !declares && !OPEN.iter().any(|other| *other != union && members.contains_key(*other));
    let mut made: Map<String, Value> = members
        .iter()
        .map(|(keyword, of)| {
            let of = match (keyword.as_str(), of) {
                ("properties" | "$defs" | "definitions", Value::Object(all)) => {
                    Value::Object(all.iter().map(|(name, of)| (name.clone(), closed(of))).collect())
                }
                ("items" | "additionalProperties", of) => closed(of),
                ("prefixItems", Value::Array(all)) => all.iter().map(closed).collect(),
                // A branch beside declared members describes the same object, and does not know all members.
                (union @ ("anyOf" | "oneOf"), Value::Array(all)) if is_plain(union) => all.iter().map(closed).collect(),
                (_, of) => of.clone(),
            };
            (keyword.clone(), of)
        })
        .collect();
    if declares && !OPEN.iter().any(|keyword| members.contains_key(*keyword)) {
        made.insert("additionalProperties".to_owned(), false.into());
    }
    Value::Object(made)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_unless_they_say_otherwise() {
        let open = json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"b": {}}}},
            "free": {"type": "object", "properties": {}, "additionalProperties": true},
            "any": {"type": "object"},
            "both": {"properties": {"x": {}}, "anyOf": [{"properties": {"y": {}}}]},
            "more": {"properties": {"x": {}}, "dependentSchemas": {"x": {"properties": {"y": {}}}}},
            "names": {"properties": {"x": {}}, "propertyNames": {"maxLength": 3}},
            "twice": {"anyOf": [{"properties": {"y": {}}}], "allOf": [{"properties": {"z": {}}}]},
            "either": {"anyOf": [{"properties": {"y": {}}}, {"type": "null"}]}}});
        let made = closed(&open);
        let is_closed =
            |pointer: &str| made.pointer(pointer).expect("there").get("additionalProperties") == Some(&false.into());
        for pointer in ["", "/properties/a/items", "/properties/either/anyOf/0"] {
            assert!(is_closed(pointer), "{pointer}");
        }
        for pointer in [
            "/properties/free",
            "/properties/any",
            "/properties/both",
            "/properties/both/anyOf/0",
            "/properties/more",
            "/properties/names",
            "/properties/twice/anyOf/0",
        ] {
            assert!(!is_closed(pointer), "{pointer}");
        }
        assert_eq!(closed(&made), made);
    }
}
