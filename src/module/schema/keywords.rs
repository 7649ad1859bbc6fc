//! Reads a schema keyword by keyword: which are kept, in which form, and which have no effect.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{
    super::{
        Diagnostic,
        findings::{Findings, PointerChain, kind_of},
        pattern::{PatternError, bad_pattern, compile, compile_of_schema, large_pattern},
    },
    Normaliser, Spot, validator,
};

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// For hints about misspelt keywords.
const KNOWN: [&str; 27] = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "default",
    "description",
    "title",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "nullable",
    "$ref",
];

impl Normaliser<'_> {
    /// Reads everything but references and combinators, keyword by keyword, in the order as written.
    pub(super) fn keywords(
        &mut self,
        map: &Map<String, Value>,
        spot: Spot<'_>,
        findings: &mut Findings,
    ) -> Map<String, Value> {
        let mut out = Map::new();
        for (key, value) in map {
            if !is_schema_keyword(key) {
                self.left = self.left.saturating_sub(weight(value));
            }
            let at = spot.place.key(key);
            let kept = match key.as_str() {
                // Resolved by the caller, reached through references, or without a meaning for values.
                "$ref" | "allOf" | "anyOf" | "oneOf" | "nullable" | "$schema" | "$id" | "id" | "$comment" | "$defs"
                | "definitions" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" | "xml"
                | "externalDocs" | "discriminator" | "strict" => None,
                "type" => self.types(value, &at, findings),
                "required" => self.required(value, &at, findings),
                "pattern" => self.pattern(value, &at, findings).then(|| value.clone()),
                "exclusiveMinimum" | "exclusiveMaximum" => self.exclusive(map, key, &at, findings),
                // The exclusive form of draft 4 replaces it.
                "minimum" => (map.get("exclusiveMinimum") != Some(&Value::Bool(true))).then(|| value.clone()),
                "maximum" => (map.get("exclusiveMaximum") != Some(&Value::Bool(true))).then(|| value.clone()),
                "description" | "title" => self.text(key, value, &at, findings),
                "enum" | "const" | "default" | "format" | "multipleOf" | "minLength" | "maxLength" | "minItems"
                | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" | "deprecated" | "readOnly"
                | "writeOnly" => Some(value.clone()),
                // OpenAPI writes these as an object of named examples.
                "examples" => value.is_array().then(|| value.clone()),
                "example" => {
                    out.entry("examples").or_insert_with(|| json!([value]));
                    None
                }
                "items" if value.is_array() => {
                    self.tuple(&mut out, map, spot, findings);
                    None
                }
                "dependencies" => {
                    self.unsupported(key, &at, "it", findings);
                    self.dependencies(&mut out, value, spot.moved(&at), findings);
                    None
                }
                keyword if is_of_schemas(keyword) => self.of_schemas(key, value, spot, findings),
                _ => {
                    self.without_effect(key, &at, findings);
                    None
                }
            };
            if let Some(kept) = kept {
                out.insert(key.clone(), kept);
            }
        }
        if self.request {
            drop_read_only(&mut out);
        }
        out
    }

    /// Reads a keyword that contains schemas, or one that is related to such a keyword (`minContains`).
    fn of_schemas(&mut self, key: &str, value: &Value, spot: Spot<'_>, findings: &mut Findings) -> Option<Value> {
        let at = spot.place.key(key);
        match key {
            "properties" => self.map_of_schemas(value, spot.member(&at), findings),
            "items" => Some(self.schema(value, spot.member(&at), findings)),
            "additionalProperties" => {
                let normalised = self.schema(value, spot.member(&at), findings);
                let is_any = normalised.as_object().is_some_and(Map::is_empty);
                Some(if is_any { Value::Bool(true) } else { normalised })
            }
            "prefixItems" => {
                self.unsupported(key, &at, "a tuple", findings);
                value.as_array().map(|tuple| self.list_of_schemas(tuple, spot.member(&at), findings))
            }
            "patternProperties" | "dependentSchemas" => {
                self.unsupported(key, &at, "it", findings);
                if key == "patternProperties" {
                    for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                        self.pattern_text(pattern, &at.key(pattern), findings);
                    }
                }
                self.map_of_schemas(value, spot.member(&at), findings)
            }
            "dependentRequired" | "minContains" | "maxContains" => {
                self.unsupported(key, &at, "it", findings);
                Some(value.clone())
            }
            _ => {
                self.unsupported(key, &at, "it", findings);
                Some(self.schema(value, spot.branch(&at), findings))
            }
        }
    }

    /// A tuple as older drafts write `items`, with the schema for what follows it.
    fn tuple(
        &mut self,
        out: &mut Map<String, Value>,
        map: &Map<String, Value>,
        spot: Spot<'_>,
        findings: &mut Findings,
    ) {
        let at = spot.place.key("items");
        let Some(tuple) = map.get("items").and_then(Value::as_array) else { return };
        self.unsupported("items", &at, "a tuple", findings);
        let items = self.list_of_schemas(tuple, spot.member(&at), findings);
        out.insert("prefixItems".to_owned(), items);
        if let Some(rest) = map.get("additionalItems") {
            let rest = self.schema(rest, spot.member(&spot.place.key("additionalItems")), findings);
            out.insert("items".to_owned(), rest);
        }
    }

    fn text(&self, key: &str, value: &Value, place: &PointerChain<'_>, findings: &mut Findings) -> Option<Value> {
        if !value.is_string() && !value.is_null() {
            findings.push(self.bad_keyword(place, format!("`{key}` is a string, found {}", kind_of(value))));
        }
        value.is_string().then(|| value.clone())
    }

    /// Reports a keyword that has no effect.
    fn without_effect(&self, key: &str, place: &PointerChain<'_>, findings: &mut Findings) {
        let found = match key {
            "$dynamicRef" | "$recursiveRef" => {
                let message = format!("`{key}` is not supported");
                let found = Diagnostic::error("unsupported-reference", self.file, place, message);
                found.hint("use `$ref` with a JSON pointer")
            }
            "contentEncoding" | "contentMediaType" | "contentSchema" => {
                let message = format!("`{key}` has no effect");
                Diagnostic::warning("unsupported-keyword", self.file, place, message)
            }
            // Handled with the tuple; without one it means nothing.
            "additionalItems" => return,
            extension if extension.starts_with("x-") => return,
            unknown => {
                let hint = findings.near(unknown, KNOWN);
                let message = format!("`{unknown}` is not a keyword of JSON Schema and has no effect");
                Diagnostic::warning("unknown-keyword", self.file, place, message).hint_if(hint)
            }
        };
        findings.push(found);
    }

    fn types(&self, value: &Value, place: &PointerChain<'_>, findings: &mut Findings) -> Option<Value> {
        let mut bad = |written: &Value| {
            let written_name = written.as_str().unwrap_or_default();
            let hint = match written_name.to_ascii_lowercase().as_str() {
                "dict" | "map" | "struct" => Some("write `object`".to_owned()),
                "float" | "double" | "decimal" => Some("write `number`".to_owned()),
                "int" | "long" => Some("write `integer`".to_owned()),
                "str" | "text" => Some("write `string`".to_owned()),
                "bool" => Some("write `boolean`".to_owned()),
                "list" | "tuple" | "set" => Some("write `array`".to_owned()),
                "date" | "datetime" | "date-time" | "time" | "file" => {
                    Some("write `string` and put the kind into `format`".to_owned())
                }
                "any" => Some("leave `type` out to allow any value".to_owned()),
                _ => findings.near(written_name, TYPES).or_else(|| Some(format!("types are {}", TYPES.join(", ")))),
            };
            let message = match written {
                Value::String(name) => format!("`{name}` is not a type of JSON Schema"),
                other => format!("`type` is a name or a list of names, found {}", kind_of(other)),
            };
            findings.push(Diagnostic::error("bad-type", self.file, place, message).hint_if(hint));
        };
        match value {
            Value::String(name) if TYPES.contains(&name.as_str()) => Some(value.clone()),
            Value::Array(names) if !names.is_empty() => {
                let mut types: Vec<Value> = Vec::new();
                for name in names {
                    match name.as_str() {
                        Some(known) if TYPES.contains(&known) => {
                            if !types.contains(name) {
                                types.push(name.clone());
                            }
                        }
                        _ => {
                            bad(name);
                            return None;
                        }
                    }
                }
                Some(if types.len() == 1 { types.remove(0) } else { Value::Array(types) })
            }
            other => {
                bad(other);
                None
            }
        }
    }

    fn required(&self, value: &Value, place: &PointerChain<'_>, findings: &mut Findings) -> Option<Value> {
        let hint = "`required` is the list of the names of an object's required properties";
        match value {
            Value::Array(names) if names.iter().all(Value::is_string) => {
                let mut unique: Vec<Value> = Vec::with_capacity(names.len());
                let mut seen = HashSet::new();
                for name in names {
                    if seen.insert(name.as_str()) {
                        unique.push(name.clone());
                    } else {
                        let message = format!("`{}` is listed twice", name.as_str().unwrap_or_default());
                        findings.push(Diagnostic::warning("duplicate-name", self.file, place, message));
                    }
                }
                Some(Value::Array(unique))
            }
            // A habit of older formats; without a list it has no meaning.
            Value::Bool(false) => None,
            Value::Array(_) => {
                let found = self.bad_keyword(place, "`required` lists something else than names");
                findings.push(found.hint(hint));
                None
            }
            other => {
                let message = format!("`required` is a list of names, found {}", kind_of(other));
                findings.push(self.bad_keyword(place, message).hint(hint));
                None
            }
        }
    }

    fn pattern(&mut self, value: &Value, place: &PointerChain<'_>, findings: &mut Findings) -> bool {
        let Value::String(pattern) = value else {
            let message = format!("`pattern` is a string, found {}", kind_of(value));
            findings.push(self.bad_keyword(place, message));
            return false;
        };
        self.pattern_text(pattern, place, findings)
    }

    fn pattern_text(&mut self, pattern: &str, place: &PointerChain<'_>, findings: &mut Findings) -> bool {
        if self.patterns.is_over() {
            return false;
        }
        let bytes = match compile_of_schema(pattern, self.limits.pattern_bytes) {
            Ok(compiled) => compiled.bytes,
            Err(PatternError::Large) => {
                findings.push(large_pattern(self.file, place, pattern, self.limits));
                return false;
            }
            Err(PatternError::Syntax(_)) => {
                let Err(error) = validator(&json!({"pattern": pattern})) else { return true };
                let reason = match compile(pattern, self.limits.pattern_bytes) {
                    Err(PatternError::Syntax(reason)) => reason,
                    Ok(_) | Err(PatternError::Large) => error,
                };
                findings.push(bad_pattern(self.file, place, pattern, &reason));
                return false;
            }
        };
        match self.patterns.take(bytes, self.limits) {
            Ok(()) => true,
            Err(told) => {
                if let Some(message) = told {
                    findings.push(Diagnostic::error("over-limit", self.file, place, message));
                }
                false
            }
        }
    }

    fn map_of_schemas(&mut self, value: &Value, spot: Spot<'_>, findings: &mut Findings) -> Option<Value> {
        let Value::Object(members) = value else {
            let message = format!("expected an object of schemas by name, found {}", kind_of(value));
            findings.push(self.bad_keyword(spot.place, message));
            return None;
        };
        let mut schemas = Map::new();
        for (name, schema) in members {
            let normalised = self.schema(schema, spot.moved(&spot.place.key(name)), findings);
            schemas.insert(name.clone(), normalised);
        }
        Some(Value::Object(schemas))
    }

    fn list_of_schemas(&mut self, items: &[Value], spot: Spot<'_>, findings: &mut Findings) -> Value {
        let normalise = |(index, item)| self.schema(item, spot.moved(&spot.place.index(index)), findings);
        Value::Array(items.iter().enumerate().map(normalise).collect())
    }

    /// Draft 4 (and `OpenAPI` 3.0) has a boolean besides `minimum`; later drafts have a number.
    fn exclusive(
        &self,
        map: &Map<String, Value>,
        key: &str,
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) -> Option<Value> {
        let inclusive = if key == "exclusiveMinimum" { "minimum" } else { "maximum" };
        match map.get(key)? {
            number @ Value::Number(_) => Some(number.clone()),
            Value::Bool(false) => None,
            Value::Bool(true) => map.get(inclusive).cloned(),
            other => {
                findings.push(self.bad_keyword(place, format!("`{key}` is a number, found {}", kind_of(other))));
                None
            }
        }
    }

    fn dependencies(&mut self, out: &mut Map<String, Value>, value: &Value, spot: Spot<'_>, findings: &mut Findings) {
        let Value::Object(members) = value else { return };
        let (mut required, mut schemas) = (Map::new(), Map::new());
        for (name, dependency) in members {
            if dependency.is_array() {
                required.insert(name.clone(), dependency.clone());
            } else {
                let normalised = self.schema(dependency, spot.branch(&spot.place.key(name)), findings);
                schemas.insert(name.clone(), normalised);
            }
        }
        if !required.is_empty() {
            out.insert("dependentRequired".to_owned(), Value::Object(required));
        }
        if !schemas.is_empty() {
            out.insert("dependentSchemas".to_owned(), Value::Object(schemas));
        }
    }

    fn unsupported(&self, keyword: &str, place: &PointerChain<'_>, what: &str, findings: &mut Findings) {
        findings.push(
            Diagnostic::warning(
                "unsupported-keyword",
                self.file,
                place,
                format!("calls are checked against `{keyword}`, but no slots are derived from {what}"),
            )
            .hint("describe the values with `properties`, `items` and `enum` where you can"),
        );
    }
}

/// True for keywords whose schemas are counted where they are walked.
fn is_schema_keyword(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "items" | "allOf" | "anyOf" | "oneOf" | "$defs" | "definitions" | "additionalProperties" | "not"
    )
}

/// True for keywords that [`Normaliser::of_schemas`] reads.
fn is_of_schemas(keyword: &str) -> bool {
    const KEYWORDS: [&str; 17] = [
        "properties",
        "items",
        "additionalProperties",
        "prefixItems",
        "patternProperties",
        "dependentSchemas",
        "dependentRequired",
        "minContains",
        "maxContains",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    KEYWORDS.contains(&keyword)
}

/// The cost of copying a value, in nodes of about 64 bytes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.len() + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => members.iter().map(|(key, value)| 1 + key.len() / 64 + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn drop_read_only(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let read_only: HashSet<String> = properties
        .iter()
        .filter(|(_, property)| property.get("readOnly") == Some(&Value::Bool(true)))
        .map(|(name, _)| name.clone())
        .collect();
    if read_only.is_empty() {
        return;
    }
    properties.retain(|name, _| !read_only.contains(name.as_str()));
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|name| read_only.contains(name)));
    }
}
