//! JSON Schema as authors write it, made into the one form that the rest of the house reads.
//!
//! A normalised schema is of draft 2020-12 and self-contained: local references are inlined (only recursion stays, as
//! `$ref` to `#/$defs/...`), `allOf` is merged, `nullable` is a type array, draft-07's and `OpenAPI` 3.0's spellings are
//! those of 2020-12. What can't be merged stays where the validator sees it.
//!
//! **Keywords.** Slots are derived from `type`, `properties`, `required`, `items`, `enum`, `const`, `default`, `format`,
//! `description` and `title`; `minimum` and its kin, `pattern`, `additionalProperties` and `multipleOf` constrain values.
//! `allOf` and the nullable forms of `anyOf`/`oneOf` are resolved; other unions are one slot of any type.
//! `if`, `then`, `else`, `not`, `patternProperties`, `dependent*`, `propertyNames`, `contains`, `prefixItems` and
//! `unevaluated*` are kept and enforced, but no slot comes from them: a warning says so. `$dynamicRef`, anchors and
//! references to other documents are errors. Anything else but `x-...` is a warning too.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::{
    Diagnostic, Limits,
    findings::{Findings, Place, kind_of},
    pattern::{PatternBudget, PatternError, bad_pattern, compile, compile_of_schema, large_pattern},
};

/// Combinators (`allOf`, `anyOf`, `not` ...) inside one another, beside the depth of objects and arrays.
const MAX_NESTING: usize = 100;

/// Compiles a normalised schema. References outside of it are refused without any request, patterns run in linear time.
///
/// # Errors
/// What is wrong with the schema, in words.
pub fn validator(schema: &Value) -> Result<jsonschema::Validator, String> {
    options().build(schema).map_err(|error| {
        let path = error.instance_path().to_string();
        if path.is_empty() { error.to_string() } else { format!("{error} (at `{path}`)") }
    })
}

fn options() -> jsonschema::ValidationOptions<'static> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .offline()
        .with_pattern_options(jsonschema::PatternOptions::regex())
}

/// Makes schemas of one file into normalised ones.
pub(super) struct Normaliser<'d> {
    pub(super) file: &'d str,
    pub(super) document: &'d Value,
    pub(super) limits: &'d Limits,
    /// Schema nodes that all functions together may still have.
    left: usize,
    patterns: PatternBudget,
    /// Where `#/...` starts if not at the document: a function's own parameters.
    base: String,
    /// Leave out `readOnly` properties: they are answers, never arguments.
    pub(super) request: bool,
    nodes: usize,
    /// Pointers of the references that are being inlined.
    stack: Vec<String>,
    /// Pointers of recursive schemas, and their names in `$defs`.
    recursive: Vec<(String, String)>,
    exceeded: bool,
}

impl<'d> Normaliser<'d> {
    pub(super) fn new(file: &'d str, document: &'d Value, limits: &'d Limits) -> Self {
        Self {
            file,
            document,
            limits,
            left: limits.module_schema_nodes,
            patterns: PatternBudget::new(limits),
            base: String::new(),
            request: false,
            nodes: 0,
            stack: Vec::new(),
            recursive: Vec::new(),
            exceeded: false,
        }
    }

    /// Starts a function whose references begin at the pointer `base` (`""`: at the document).
    pub(super) fn begin(&mut self, base: String) {
        self.nodes = 0;
        self.exceeded = false;
        self.recursive.clear();
        // A reference to the parameters as a whole (`#`) is recursion too.
        self.stack = vec![base.clone()];
        self.base = base;
    }

    /// The `$defs` of the recursive schemas that were met since [`Self::begin`]; empty if there were none.
    pub(super) fn definitions(&mut self, findings: &mut Findings) -> Map<String, Value> {
        let mut definitions = Map::new();
        let mut next = 0;
        while let Some((pointer, name)) = self.recursive.get(next).cloned() {
            next += 1;
            let Some(target) = self.document.pointer(&pointer) else { continue };
            self.stack = vec![pointer.clone()];
            let normalised = self.schema(target, &Place::Start(&pointer), 0, 0, findings);
            definitions.insert(name, normalised);
        }
        definitions
    }

    /// Normalises one schema. `depth` counts objects and arrays above it.
    pub(super) fn schema(
        &mut self,
        schema: &Value,
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) -> Value {
        if self.is_over(place, depth, nesting, findings) {
            return json!({});
        }
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => Value::Bool(false),
            Value::Object(map) => self.object(map, place, depth, nesting, findings),
            other => {
                let message = format!("a schema is an object, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-schema", self.file, place, message));
                json!({})
            }
        }
    }

    fn is_over(&mut self, place: &Place<'_>, depth: usize, nesting: usize, findings: &mut Findings) -> bool {
        if self.exceeded {
            return true;
        }
        self.nodes += 1;
        self.left = self.left.saturating_sub(1);
        let over = if depth > self.limits.depth {
            Some(format!("objects and arrays nest deeper than the limit `depth` = {}", self.limits.depth))
        } else if nesting > MAX_NESTING {
            Some(format!("schemas nest deeper than {MAX_NESTING}"))
        } else if self.nodes > self.limits.schema_nodes {
            Some(format!(
                "with its references inlined the schema has more nodes than the limit `schema_nodes` = {}",
                self.limits.schema_nodes
            ))
        } else if self.left == 0 {
            Some(format!(
                "with references inlined the schemas of all functions are larger than the limit \
                 `module_schema_nodes` = {}",
                self.limits.module_schema_nodes
            ))
        } else {
            None
        };
        if let Some(message) = over {
            self.exceeded = true;
            findings.push(Diagnostic::error("over-limit", self.file, place, message));
        }
        self.exceeded
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) -> Value {
        let mut out = self.keywords(map, place, depth, nesting, findings);
        if let Some(reference) = map.get("$ref") {
            let at = place.key("$ref");
            match self.reference(reference, &at, depth, nesting, findings) {
                Some(Value::Object(target)) => merge_into(&mut out, target),
                Some(Value::Bool(false)) => return Value::Bool(false),
                _ => {}
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = self.branches(map, keyword, place, findings) {
                let at = place.key(keyword);
                let normalised: Vec<Value> = branches
                    .iter()
                    .enumerate()
                    .map(|(index, branch)| self.schema(branch, &at.index(index), depth, nesting + 1, findings))
                    .collect();
                self.union(&mut out, keyword, normalised, &at, findings);
            }
        }
        if let Some(branches) = self.branches(map, "allOf", place, findings) {
            let at = place.key("allOf");
            for (index, branch) in branches.iter().enumerate() {
                match self.schema(branch, &at.index(index), depth, nesting + 1, findings) {
                    Value::Object(branch) => merge_into(&mut out, branch),
                    Value::Bool(false) => push_residual(&mut out, Value::Bool(false)),
                    _ => {}
                }
            }
        }
        match map.get("nullable") {
            Some(Value::Bool(true)) => allow_null(&mut out),
            None | Some(Value::Bool(false)) => {}
            Some(other) => {
                let message = format!("`nullable` is true or false, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-keyword", self.file, place.key("nullable"), message));
            }
        }
        infer_type(&mut out);
        self.check(&out, place, findings);
        Value::Object(out)
    }

    fn branches<'m>(
        &self,
        map: &'m Map<String, Value>,
        keyword: &str,
        place: &Place<'_>,
        findings: &mut Findings,
    ) -> Option<&'m Vec<Value>> {
        match map.get(keyword)? {
            Value::Array(branches) if !branches.is_empty() => Some(branches),
            _ => {
                let message = format!("`{keyword}` is a list of at least one schema");
                findings.push(Diagnostic::error("bad-keyword", self.file, place.key(keyword), message));
                None
            }
        }
    }

    /// Everything but references and combinators, keyword by keyword, in the order as written.
    fn keywords(
        &mut self,
        map: &Map<String, Value>,
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) -> Map<String, Value> {
        let mut out = Map::new();
        for (key, value) in map {
            let at = place.key(key);
            if !is_schema_keyword(key) {
                self.left = self.left.saturating_sub(weight(value));
            }
            match key.as_str() {
                // Resolved by the caller, reached through references, or without a meaning for values.
                "$ref" | "allOf" | "anyOf" | "oneOf" | "nullable" | "$schema" | "$id" | "id" | "$comment" | "$defs"
                | "definitions" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" | "xml"
                | "externalDocs" | "discriminator" | "strict" => {}
                "$dynamicRef" | "$recursiveRef" => findings.push(
                    Diagnostic::error("unsupported-reference", self.file, at, format!("`{key}` is not supported"))
                        .hint("use `$ref` with a JSON pointer"),
                ),
                "type" => {
                    if let Some(types) = self.types(value, &at, findings) {
                        out.insert(key.clone(), types);
                    }
                }
                "properties" => {
                    if let Some(properties) = self.map_of_schemas(value, &at, depth + 1, nesting + 1, findings) {
                        out.insert(key.clone(), properties);
                    }
                }
                "required" => {
                    if let Some(required) = self.required(value, &at, findings) {
                        out.insert(key.clone(), required);
                    }
                }
                "items" => match value {
                    Value::Array(tuple) => {
                        self.unsupported("items", &at, "a tuple", findings);
                        let items = self.list_of_schemas(tuple, &at, depth + 1, nesting + 1, findings);
                        out.insert("prefixItems".to_owned(), items);
                        if let Some(rest) = map.get("additionalItems") {
                            let at = place.key("additionalItems");
                            let rest = self.schema(rest, &at, depth + 1, nesting + 1, findings);
                            out.insert("items".to_owned(), rest);
                        }
                    }
                    single => {
                        let items = self.schema(single, &at, depth + 1, nesting + 1, findings);
                        out.insert(key.clone(), items);
                    }
                },
                // Beside a tuple it is taken up there; otherwise it says nothing.
                "additionalItems" => {}
                "additionalProperties" => {
                    let normalised = self.schema(value, &at, depth + 1, nesting + 1, findings);
                    let is_any = normalised.as_object().is_some_and(Map::is_empty);
                    out.insert(key.clone(), if is_any { Value::Bool(true) } else { normalised });
                }
                "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties" => {
                    self.unsupported(key, &at, "it", findings);
                    let normalised = self.schema(value, &at, depth, nesting + 1, findings);
                    out.insert(key.clone(), normalised);
                }
                "prefixItems" => {
                    self.unsupported(key, &at, "a tuple", findings);
                    if let Value::Array(tuple) = value {
                        let items = self.list_of_schemas(tuple, &at, depth + 1, nesting + 1, findings);
                        out.insert(key.clone(), items);
                    }
                }
                "patternProperties" | "dependentSchemas" => {
                    self.unsupported(key, &at, "it", findings);
                    if key == "patternProperties" {
                        for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                            self.pattern_text(pattern, &at.key(pattern), findings);
                        }
                    }
                    if let Some(schemas) = self.map_of_schemas(value, &at, depth + 1, nesting + 1, findings) {
                        out.insert(key.clone(), schemas);
                    }
                }
                "dependentRequired" | "minContains" | "maxContains" => {
                    self.unsupported(key, &at, "it", findings);
                    out.insert(key.clone(), value.clone());
                }
                "dependencies" => {
                    self.unsupported(key, &at, "it", findings);
                    self.dependencies(&mut out, value, &at, depth, nesting, findings);
                }
                "exclusiveMinimum" | "exclusiveMaximum" => self.exclusive(&mut out, map, key, value, &at, findings),
                // Drawn back where the exclusive form of draft 4 takes its place.
                "minimum" | "maximum" => {
                    let exclusive = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
                    if map.get(exclusive) != Some(&Value::Bool(true)) {
                        out.insert(key.clone(), value.clone());
                    }
                }
                "pattern" => {
                    if self.pattern(value, &at, findings) {
                        out.insert(key.clone(), value.clone());
                    }
                }
                "description" | "title" => match value {
                    Value::String(_) => {
                        out.insert(key.clone(), value.clone());
                    }
                    Value::Null => {}
                    other => {
                        let message = format!("`{key}` is a string, found {}", kind_of(other));
                        findings.push(Diagnostic::error("bad-keyword", self.file, at, message));
                    }
                },
                "example" => {
                    out.entry("examples").or_insert_with(|| json!([value]));
                }
                // OpenAPI writes these as an object of named examples.
                "examples" => {
                    if value.is_array() {
                        out.insert(key.clone(), value.clone());
                    }
                }
                "contentEncoding" | "contentMediaType" | "contentSchema" => {
                    let message = format!("`{key}` has no effect");
                    findings.push(Diagnostic::warning("unsupported-keyword", self.file, at, message));
                }
                "enum" | "const" | "default" | "format" | "multipleOf" | "minLength" | "maxLength" | "minItems"
                | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" | "deprecated" | "readOnly"
                | "writeOnly" => {
                    out.insert(key.clone(), value.clone());
                }
                extension if extension.starts_with("x-") => {}
                unknown => {
                    let hint = findings.near(unknown, KNOWN);
                    let message = format!("`{unknown}` is not a keyword of JSON Schema and has no effect");
                    findings.push(Diagnostic::warning("unknown-keyword", self.file, at, message).hint_if(hint));
                }
            }
        }
        if self.request {
            drop_read_only(&mut out);
        }
        out
    }

    fn unsupported(&self, keyword: &str, place: &Place<'_>, what: &str, findings: &mut Findings) {
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

    fn types(&self, value: &Value, place: &Place<'_>, findings: &mut Findings) -> Option<Value> {
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

    fn required(&self, value: &Value, place: &Place<'_>, findings: &mut Findings) -> Option<Value> {
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
            // A habit of older formats; without a list there is nothing to say.
            Value::Bool(false) => None,
            Value::Array(_) => {
                let found =
                    Diagnostic::error("bad-keyword", self.file, place, "`required` lists something else than names");
                findings.push(found.hint(hint));
                None
            }
            other => {
                let message = format!("`required` is a list of names, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-keyword", self.file, place, message).hint(hint));
                None
            }
        }
    }

    fn pattern(&mut self, value: &Value, place: &Place<'_>, findings: &mut Findings) -> bool {
        let Value::String(pattern) = value else {
            let message = format!("`pattern` is a string, found {}", kind_of(value));
            findings.push(Diagnostic::error("bad-keyword", self.file, place, message));
            return false;
        };
        self.pattern_text(pattern, place, findings)
    }

    fn pattern_text(&mut self, pattern: &str, place: &Place<'_>, findings: &mut Findings) -> bool {
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

    fn map_of_schemas(
        &mut self,
        value: &Value,
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) -> Option<Value> {
        let Value::Object(members) = value else {
            let message = format!("expected an object of schemas by name, found {}", kind_of(value));
            findings.push(Diagnostic::error("bad-keyword", self.file, place, message));
            return None;
        };
        let mut schemas = Map::new();
        for (name, schema) in members {
            let normalised = self.schema(schema, &place.key(name), depth, nesting, findings);
            schemas.insert(name.clone(), normalised);
        }
        Some(Value::Object(schemas))
    }

    fn list_of_schemas(
        &mut self,
        items: &[Value],
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) -> Value {
        let normalise = |(index, item)| self.schema(item, &place.index(index), depth, nesting, findings);
        Value::Array(items.iter().enumerate().map(normalise).collect())
    }

    /// Draft 4 (and `OpenAPI` 3.0) has a boolean beside `minimum`; later drafts a number.
    fn exclusive(
        &self,
        out: &mut Map<String, Value>,
        map: &Map<String, Value>,
        key: &str,
        value: &Value,
        place: &Place<'_>,
        findings: &mut Findings,
    ) {
        let inclusive = if key == "exclusiveMinimum" { "minimum" } else { "maximum" };
        match value {
            Value::Number(_) => {
                out.insert(key.to_owned(), value.clone());
            }
            Value::Bool(false) => {}
            Value::Bool(true) => {
                if let Some(bound) = map.get(inclusive) {
                    out.insert(key.to_owned(), bound.clone());
                }
            }
            other => {
                let message = format!("`{key}` is a number, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-keyword", self.file, place, message));
            }
        }
    }

    fn dependencies(
        &mut self,
        out: &mut Map<String, Value>,
        value: &Value,
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) {
        let Value::Object(members) = value else { return };
        let (mut required, mut schemas) = (Map::new(), Map::new());
        for (name, dependency) in members {
            if dependency.is_array() {
                required.insert(name.clone(), dependency.clone());
            } else {
                let normalised = self.schema(dependency, &place.key(name), depth, nesting + 1, findings);
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

    /// The target inlined, or `{"$ref": "#/$defs/..."}` where it is being inlined already.
    fn reference(
        &mut self,
        reference: &Value,
        place: &Place<'_>,
        depth: usize,
        nesting: usize,
        findings: &mut Findings,
    ) -> Option<Value> {
        let Value::String(reference) = reference else {
            let message = format!("`$ref` is a string, found {}", kind_of(reference));
            findings.push(Diagnostic::error("bad-reference", self.file, place, message));
            return None;
        };
        let pointer = self.resolve(reference, place, findings)?;
        if self.stack.contains(&pointer) {
            let name = self.definition_name(pointer);
            return Some(json!({"$ref": format!("#/$defs/{name}")}));
        }
        let document = self.document;
        let target = document.pointer(&pointer)?;
        self.stack.push(pointer);
        let at = self.stack.last().cloned().unwrap_or_default();
        let normalised = self.schema(target, &Place::Start(&at), depth, nesting + 1, findings);
        self.stack.pop();
        Some(normalised)
    }

    /// The absolute pointer of what a reference names, within the function's own schema or else within the document.
    pub(super) fn resolve(&self, reference: &str, place: &Place<'_>, findings: &mut Findings) -> Option<String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            findings.push(
                Diagnostic::error(
                    "external-reference",
                    self.file,
                    place,
                    format!("`{reference}` lies outside of this file; nothing is fetched"),
                )
                .hint("copy what it names into this file and refer to it as `#/...`"),
            );
            return None;
        };
        let fragment = percent_decode(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let found = Diagnostic::error("unsupported-reference", self.file, place, "anchors are not supported");
            findings.push(found.hint("use a JSON pointer: `#/...`"));
            return None;
        }
        let own = format!("{}{fragment}", self.base);
        if self.document.pointer(&own).is_some() {
            return Some(own);
        }
        if self.document.pointer(&fragment).is_some() {
            return Some(fragment);
        }
        let hint = fragment.rsplit_once('/').and_then(|(parent, name)| {
            let siblings = [format!("{}{parent}", self.base), parent.to_owned()]
                .iter()
                .find_map(|parent| self.document.pointer(parent).and_then(Value::as_object))?;
            findings.near(name, siblings.keys().map(String::as_str))
        });
        let message = format!("`{reference}` names nothing in this file");
        findings.push(Diagnostic::error("bad-reference", self.file, place, message).hint_if(hint));
        None
    }

    fn definition_name(&mut self, pointer: String) -> String {
        if let Some((_, name)) = self.recursive.iter().find(|(known, _)| *known == pointer) {
            return name.clone();
        }
        let last = pointer.strip_prefix(self.base.as_str()).unwrap_or(&pointer).rsplit('/').next().unwrap_or_default();
        let mut name: String =
            last.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).collect();
        if name.is_empty() {
            name = "root".to_owned();
        }
        let taken = |name: &str| self.recursive.iter().any(|(_, known)| known == name);
        if taken(&name) {
            let free = (2..).map(|count| format!("{name}_{count}")).find(|name| !taken(name));
            name = free.unwrap_or(name);
        }
        self.recursive.push((pointer, name.clone()));
        name
    }

    /// Puts a union into `out`: as plain keywords where that says the same, else as it is, with a warning.
    fn union(
        &self,
        out: &mut Map<String, Value>,
        keyword: &str,
        branches: Vec<Value>,
        place: &Place<'_>,
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
            let can_be_null =
                rest[0].as_object().is_some_and(|only| only.contains_key("type") || only.contains_key("enum"));
            if !with_null || can_be_null {
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

    /// What is wrong in a schema that is otherwise well-formed.
    fn check(&self, schema: &Map<String, Value>, place: &Place<'_>, findings: &mut Findings) {
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

    fn check_enum(&self, choices: &Value, schema: &Map<String, Value>, place: &Place<'_>, findings: &mut Findings) {
        let Value::Array(choices) = choices else {
            let message = format!("`enum` is a list of values, found {}", kind_of(choices));
            findings.push(Diagnostic::error("bad-keyword", self.file, place, message));
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

    fn check_default(&self, default: &Value, schema: &Map<String, Value>, place: &Place<'_>, findings: &mut Findings) {
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
            // Its definitions are not made yet; the validator checks calls anyway.
            None
        } else {
            validator(&Value::Object(schema.clone()))
                .ok()
                .and_then(|validator| validator.validate(default).err().map(|error| error.to_string()))
        };
        if let Some(reason) = reason {
            // The null of an optional parameter that isn't nullable is a habit of generators: harmless, as null is no value.
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

/// Keywords whose schemas are counted where they are walked.
fn is_schema_keyword(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "items" | "allOf" | "anyOf" | "oneOf" | "$defs" | "definitions" | "additionalProperties" | "not"
    )
}

/// What copying a value costs, in nodes of about 64 bytes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.len() + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => members.iter().map(|(key, value)| 1 + key.len() / 64 + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn percent_decode(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let hex = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let (bytes, mut decoded, mut at) = (fragment.as_bytes(), Vec::with_capacity(fragment.len()), 0);
    while at < bytes.len() {
        let pair = if bytes[at] == b'%' { hex(bytes.get(at + 1)).zip(hex(bytes.get(at + 2))) } else { None };
        if let Some((high, low)) = pair {
            decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn contains_reference(schema: &Map<String, Value>) -> bool {
    schema.contains_key("$ref")
        || schema.values().any(|value| match value {
            Value::Object(inner) => contains_reference(inner),
            Value::Array(items) => items.iter().any(|item| item.as_object().is_some_and(contains_reference)),
            _ => false,
        })
}

/// The names in a `type` keyword.
pub(super) fn type_names(types: Option<&Value>) -> Vec<&str> {
    match types {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
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

fn is_null_schema(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return false };
    map.get("type") == Some(&json!("null"))
        || map.get("const") == Some(&Value::Null)
        || map.get("enum") == Some(&json!([null]))
}

/// The values of branches that each allow exactly one.
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
    // Twice the same in a `oneOf` would be forbidden there; leave that to the validator.
    let distinct: HashSet<String> = choices.iter().map(Value::to_string).collect();
    (distinct.len() == choices.len()).then_some(choices)
}

/// The types of branches that say nothing but a type, if no value has two of them.
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

/// Lets `null` be a value too. A schema without a type allows it already.
fn allow_null(schema: &mut Map<String, Value>) {
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

/// An object with `properties` and an array with `items` are meant to be one, said or not.
fn infer_type(schema: &mut Map<String, Value>) {
    if schema.contains_key("type") || schema.contains_key("enum") || schema.contains_key("const") {
        return;
    }
    if schema.contains_key("properties") {
        schema.insert("type".to_owned(), json!("object"));
    } else if schema.contains_key("items") {
        schema.insert("type".to_owned(), json!("array"));
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

fn push_residual(into: &mut Map<String, Value>, residual: Value) {
    match into.entry("allOf").or_insert_with(|| json!([])) {
        Value::Array(branches) => branches.push(residual),
        other => *other = json!([residual]),
    }
}

/// Makes `into` mean what both schemas mean together. Annotations of `into` win; what has no common keyword form stays
/// in `allOf`. A closed object (`additionalProperties: false`) that is extended by another is closed around both,
/// as its author means it.
fn merge_into(into: &mut Map<String, Value>, other: Map<String, Value>) {
    if into.is_empty() {
        *into = other;
        return;
    }
    let mut residual = Map::new();
    for (key, value) in other {
        let Some(own) = into.get_mut(&key) else {
            into.insert(key, value);
            continue;
        };
        if *own == value {
            continue;
        }
        let merged = match key.as_str() {
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" => None,
            "type" => intersect_types(own, &value),
            "enum" => intersect_choices(own, &value),
            "required" => union(own, &value),
            "properties" => merge_properties(own, value.clone()).then_some(()),
            "items" | "additionalProperties" => match (&mut *own, &value) {
                (Value::Object(own), Value::Object(value)) => {
                    merge_into(own, value.clone());
                    Some(())
                }
                (Value::Bool(true), _) => {
                    *own = value.clone();
                    Some(())
                }
                (_, Value::Bool(true)) | (Value::Bool(false), _) => Some(()),
                (_, Value::Bool(false)) => {
                    *own = Value::Bool(false);
                    Some(())
                }
                _ => Some(()),
            },
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => pick(own, &value, true),
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => pick(own, &value, false),
            "uniqueItems" => {
                *own = Value::Bool(true);
                Some(())
            }
            "allOf" => union(own, &value),
            _ => {
                residual.insert(key, value);
                continue;
            }
        };
        if merged.is_none() && !is_annotation(&key) {
            residual.insert(key, value);
        }
    }
    if !residual.is_empty() {
        push_residual(into, Value::Object(residual));
    }
}

fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly")
}

fn intersect_types(own: &mut Value, other: &Value) -> Option<()> {
    let others = type_names(Some(other));
    let mut common: Vec<Value> = Vec::new();
    for name in type_names(Some(own)) {
        if others.contains(&name) || (name == "integer" && others.contains(&"number")) {
            common.push(json!(name));
        } else if name == "number" && others.contains(&"integer") {
            common.push(json!("integer"));
        }
    }
    *own = match common.len() {
        0 => return None,
        1 => common.remove(0),
        _ => Value::Array(common),
    };
    Some(())
}

fn intersect_choices(own: &mut Value, other: &Value) -> Option<()> {
    let (Value::Array(choices), Value::Array(others)) = (&mut *own, other) else { return None };
    let others: HashSet<String> = others.iter().map(Value::to_string).collect();
    let common: Vec<Value> = choices.iter().filter(|choice| others.contains(&choice.to_string())).cloned().collect();
    if common.is_empty() {
        return None;
    }
    *choices = common;
    Some(())
}

fn union(own: &mut Value, other: &Value) -> Option<()> {
    let (Value::Array(own), Value::Array(others)) = (own, other) else { return None };
    let mut known: HashSet<String> = own.iter().map(Value::to_string).collect();
    own.extend(others.iter().filter(|value| known.insert(value.to_string())).cloned());
    Some(())
}

fn merge_properties(own: &mut Value, other: Value) -> bool {
    let (Value::Object(own), Value::Object(others)) = (own, other) else { return false };
    for (name, schema) in others {
        match (own.get_mut(&name), schema) {
            (None, schema) => {
                own.insert(name, schema);
            }
            (Some(Value::Object(present)), Value::Object(schema)) => merge_into(present, schema),
            (Some(present), Value::Bool(false)) => *present = Value::Bool(false),
            (Some(_), _) => {}
        }
    }
    true
}

fn pick(own: &mut Value, other: &Value, larger: bool) -> Option<()> {
    let (left, right) = (own.as_f64()?, other.as_f64()?);
    if (right > left) == larger {
        *own = other.clone();
    }
    Some(())
}

/// True if null says that there is no value: strict schemas list every member as required.
#[must_use]
pub fn may_be_null(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return false };
    let names = type_names(map.get("type"));
    let is_choice = || map.get("enum").and_then(Value::as_array).is_none_or(|choices| choices.contains(&Value::Null));
    if !names.is_empty() {
        return names.contains(&"null") && is_choice();
    }
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| map.get(*key)?.as_array()).flatten();
    map.contains_key("enum") && is_choice() || branches.into_iter().any(may_be_null)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalised(schema: &Value) -> (Value, Vec<Diagnostic>) {
        let (limits, mut findings) = (Limits::default(), Findings::new());
        let mut normaliser = Normaliser::new("schema.json", schema, &limits);
        normaliser.begin(String::new());
        let mut out = normaliser.schema(schema, &Place::ROOT, 0, 0, &mut findings);
        let definitions = normaliser.definitions(&mut findings);
        if let Value::Object(map) = &mut out
            && !definitions.is_empty()
        {
            map.insert("$defs".to_owned(), Value::Object(definitions));
        }
        (out, findings.finish(&[]).0)
    }

    fn codes(schema: &Value) -> Vec<&'static str> {
        normalised(schema).1.iter().map(|found| found.code).collect()
    }

    #[test]
    fn references_are_inlined_and_siblings_win() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/size", "description": "of the pizza"}, "b": {"$ref": "#/$defs/n"}},
            "definitions": {"size": {"type": "string", "enum": ["s", "l"], "description": "any size"}},
            "$defs": {"n": {"type": "integer"}}
        });
        let (out, found) = normalised(&schema);
        assert_eq!(found, []);
        assert_eq!(
            out,
            json!({"type": "object", "properties": {
                "a": {"description": "of the pizza", "type": "string", "enum": ["s", "l"]},
                "b": {"type": "integer"}}})
        );
    }

    #[test]
    fn recursion_stays_in_definitions() {
        let schema = json!({
            "type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}, "me": {"$ref": "#"}},
            "$defs": {"node": {"type": "object", "properties": {
                "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}
        });
        let (out, found) = normalised(&schema);
        assert_eq!(found, []);
        let children = "/properties/tree/properties/children/items/$ref";
        assert_eq!(out.pointer(children), Some(&json!("#/$defs/node")));
        assert_eq!(out.pointer("/properties/me/$ref"), Some(&json!("#/$defs/root")));
        assert!(out.pointer("/$defs/node/properties/name").is_some() && out.pointer("/$defs/root").is_some());
        let validator = validator(&out).expect("compiles");
        assert!(validator.is_valid(&json!({"tree": {"children": [{"children": [{"name": "x"}]}]}})));
        assert!(!validator.is_valid(&json!({"tree": {"children": [{"children": [{"name": 1}]}]}})));
    }

    #[test]
    fn reference_bombs_hit_a_named_limit() {
        let mut definitions = Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"anyOf": [next.clone(), {"not": next}]}));
        }
        definitions.insert("d40".to_owned(), json!({"type": "string"}));
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
        let (_, found) = normalised(&schema);
        let over: Vec<&Diagnostic> = found.iter().filter(|found| found.code == "over-limit").collect();
        assert_eq!(over.len(), 1);
        assert!(over[0].message.contains("schema_nodes"), "{}", over[0].message);
    }

    #[test]
    fn null_is_a_type() {
        for written in [
            json!({"type": "string", "nullable": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
        ] {
            assert_eq!(normalised(&written), (json!({"type": ["string", "null"]}), vec![]));
        }
        assert_eq!(
            normalised(&json!({"type": "string", "enum": ["a"], "nullable": true})).0,
            json!({"type": ["string", "null"], "enum": ["a", null]})
        );
    }

    #[test]
    fn all_of_merges() {
        let schema = json!({"description": "own", "allOf": [
            {"type": "object", "properties": {"a": {"type": "number", "minimum": 1}}, "required": ["a"], "description": "theirs"},
            {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"pattern": "x"}}, "required": ["b"]},
            {"properties": {"b": {"pattern": "y"}}}
        ]});
        let (out, found) = normalised(&schema);
        assert_eq!(found, []);
        assert_eq!(
            out,
            json!({"description": "own", "type": "object", "required": ["a", "b"], "properties": {
                "a": {"type": "integer", "minimum": 3},
                "b": {"pattern": "x", "allOf": [{"pattern": "y"}]}}})
        );
    }

    #[test]
    fn older_spellings_become_newer_ones() {
        assert_eq!(
            normalised(&json!({"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false})).0,
            json!({"type": "number", "exclusiveMinimum": 1, "maximum": 5})
        );
        assert_eq!(
            normalised(&json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false})).0,
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false})
        );
        assert_eq!(
            normalised(&json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]})).0,
            json!({"enum": ["a", "b"]})
        );
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(codes(&json!({"type": "dict"})), ["bad-type"]);
        assert_eq!(codes(&json!({"$ref": "other.json#/a"})), ["external-reference"]);
        assert_eq!(codes(&json!({"$ref": "#/nothing"})), ["bad-reference"]);
        assert_eq!(codes(&json!({"type": "object", "properties": {"a": {}}, "required": ["b"]})), ["unknown-property"]);
        assert_eq!(codes(&json!({"enum": []})), ["empty-enum"]);
        assert_eq!(codes(&json!({"type": "string", "enum": ["a", "a", 1]})), ["duplicate-choice", "bad-choice"]);
        assert_eq!(codes(&json!({"type": "integer", "default": "x"})), ["bad-default"]);
        assert_eq!(codes(&json!({"type": "integer", "minimum": 3, "default": 1})), ["bad-default"]);
        assert_eq!(codes(&json!({"pattern": "(?=a)b"})), ["bad-pattern"]);
        assert_eq!(codes(&json!({"if": {"type": "string"}})), ["unsupported-keyword"]);
        assert_eq!(codes(&json!({"descripton": "x", "x-own": 1})), ["unknown-keyword"]);
        assert_eq!(codes(&json!({"properties": {"a": {"required": true}}})), ["bad-keyword"]);
        assert_eq!(codes(&json!({"properties": {"a": 3}})), ["bad-schema"]);
    }

    #[test]
    fn depth_has_a_limit() {
        let mut schema = json!({"type": "string"});
        for _ in 0..40 {
            schema = json!({"type": "object", "properties": {"a": schema}});
        }
        let (_, found) = normalised(&schema);
        assert!(found.len() == 1 && found[0].message.contains("`depth`"), "{found:?}");
    }

    proptest! {
        #[test]
        fn normalising_again_changes_no_meaning(
            schema in crate::module::tests::any_schema(),
            value in crate::module::tests::any_instance(),
        ) {
            let (once, found) = normalised(&schema);
            prop_assume!(!found.iter().any(|found| found.severity == crate::module::Severity::Error));
            let (twice, _) = normalised(&once);
            let (once, twice) = (validator(&once), validator(&twice));
            prop_assert!(once.is_ok() && twice.is_ok());
            prop_assert_eq!(once.map(|once| once.is_valid(&value)), twice.map(|twice| twice.is_valid(&value)));
        }

        #[test]
        fn normalising_keeps_the_meaning(
            schema in crate::module::tests::any_schema(),
            value in crate::module::tests::any_instance(),
        ) {
            // The validator does not know `nullable`.
            let text = schema.to_string().replace("\"nullable\":true", "\"nullable\":false");
            let schema: Value = serde_json::from_str(&text).expect("still JSON");
            let (out, found) = normalised(&schema);
            prop_assume!(!found.iter().any(|found| found.severity == crate::module::Severity::Error));
            let (raw, out) = (validator(&schema), validator(&out));
            prop_assert_eq!(raw.map(|raw| raw.is_valid(&value)), out.map(|out| out.is_valid(&value)));
        }

        #[test]
        fn merging_keeps_the_meaning(
            left in crate::module::tests::any_schema(),
            right in crate::module::tests::any_schema(),
            value in crate::module::tests::any_instance(),
        ) {
            let both = json!({"allOf": [left.clone(), right.clone()]});
            // Closed objects are merged as their authors mean it, not as the letter says.
            prop_assume!(!both.to_string().contains("additionalProperties"));
            let parts = [normalised(&left), normalised(&right), normalised(&both)];
            prop_assume!(parts.iter().all(|(_, found)| found.iter().all(|found| found.severity != crate::module::Severity::Error)));
            let compiled: Vec<_> = parts.iter().filter_map(|(schema, _)| validator(schema).ok()).collect();
            prop_assume!(compiled.len() == 3);
            // A type that is inferred from `properties` is inferred after merging too.
            prop_assert_eq!(compiled[2].is_valid(&value), compiled[0].is_valid(&value) && compiled[1].is_valid(&value));
        }
    }
}
