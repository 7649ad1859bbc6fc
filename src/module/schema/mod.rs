//! Converts JSON Schema as authors write it into the one form that the rest of Uptake reads.
//!
//! A normalised schema is of draft 2020-12 and self-contained: local references are inlined (only recursion stays, as
//! `$ref` to `#/$defs/...`), `allOf` is merged, `nullable` becomes a type array, and spellings of draft-07 and
//! `OpenAPI` 3.0 become those of 2020-12. What can't be merged stays where the validator sees it.
//!
//! **Keywords.** Slots are derived from `type`, `properties`, `required`, `items`, `enum`, `const`, `default`,
//! `format`, `description` and `title`; `minimum` and its kin, `pattern`, `additionalProperties` and `multipleOf`
//! constrain values. `allOf` and the nullable forms of `anyOf`/`oneOf` are resolved; other unions are one slot of any
//! type. `if`, `then`, `else`, `not`, `patternProperties`, `dependent*`, `propertyNames`, `contains`, `prefixItems` and
//! `unevaluated*` are kept and enforced, but no slot comes from them: a warning says so. `$dynamicRef`, anchors and
//! references to other documents are errors. Anything else but `x-...` is a warning too.

use serde_json::{Map, Value, json};

use super::{
    Diagnostic, Limits,
    findings::{Findings, PointerChain, kind_of},
    pattern::PatternBudget,
};

mod check;
mod keywords;
mod merge;
mod references;
mod unions;

use merge::{merge_into, push_residual};
use unions::{allow_null, is_impossible};

/// Greatest nesting of schemas: objects, arrays and combinators (`allOf`, `anyOf`, `not` ...) together.
const MAX_NESTING: usize = 100;

/// Compiles a normalised schema. References outside of it are refused without any request; patterns run in linear time.
///
/// # Errors
/// A description of what is wrong with the schema.
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

/// The place of a schema: how findings name it, and how deep it lies.
#[derive(Clone, Copy)]
struct Spot<'p> {
    place: &'p PointerChain<'p>,
    /// Number of objects and arrays above it.
    depth: usize,
    /// The same plus combinators.
    nesting: usize,
}

impl Spot<'_> {
    /// Another place at the same depth.
    const fn moved<'q>(&self, place: &'q PointerChain<'q>) -> Spot<'q> {
        Spot { place, depth: self.depth, nesting: self.nesting }
    }

    /// A branch of this schema, about the same value.
    const fn branch<'q>(&self, place: &'q PointerChain<'q>) -> Spot<'q> {
        Spot { place, depth: self.depth, nesting: self.nesting + 1 }
    }

    /// A schema for values inside this one's values.
    const fn member<'q>(&self, place: &'q PointerChain<'q>) -> Spot<'q> {
        Spot { place, depth: self.depth + 1, nesting: self.nesting + 1 }
    }
}

/// Normalises the schemas of one file.
pub(super) struct Normaliser<'d> {
    pub(super) file: &'d str,
    pub(super) document: &'d Value,
    pub(super) limits: &'d Limits,
    /// Schema nodes that all functions together may still have.
    left: usize,
    patterns: PatternBudget,
    /// The pointer at which `#/...` starts if not at the document: a function's own parameters.
    base: String,
    /// Leaves out `readOnly` properties: they occur in answers, never in arguments.
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

    /// The `$defs` of the recursive schemas that were found since [`Self::begin`]; empty if there were none.
    pub(super) fn definitions(&mut self, findings: &mut Findings) -> Map<String, Value> {
        let mut definitions = Map::new();
        let mut next = 0;
        while let Some((pointer, name)) = self.recursive.get(next).cloned() {
            next += 1;
            let Some(target) = self.document.pointer(&pointer) else { continue };
            self.stack = vec![pointer.clone()];
            let normalised = self.normalised(target, &PointerChain::Start(&pointer), 0, findings);
            definitions.insert(name, normalised);
        }
        definitions
    }

    /// Normalises one schema. `depth` counts objects and arrays above it.
    pub(super) fn normalised(
        &mut self,
        schema: &Value,
        place: &PointerChain<'_>,
        depth: usize,
        findings: &mut Findings,
    ) -> Value {
        self.schema(schema, Spot { place, depth, nesting: 0 }, findings)
    }

    fn schema(&mut self, schema: &Value, spot: Spot<'_>, findings: &mut Findings) -> Value {
        if self.is_over(spot, findings) {
            return json!({});
        }
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => Value::Bool(false),
            Value::Object(map) => self.object(map, spot, findings),
            other => {
                let message = format!("a schema is an object, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-schema", self.file, spot.place, message));
                json!({})
            }
        }
    }

    fn is_over(&mut self, spot: Spot<'_>, findings: &mut Findings) -> bool {
        if self.exceeded {
            return true;
        }
        self.nodes += 1;
        self.left = self.left.saturating_sub(1);
        let over = if spot.depth > self.limits.depth {
            Some(format!("objects and arrays nest deeper than the limit `depth` = {}", self.limits.depth))
        } else if spot.nesting > MAX_NESTING {
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
            findings.push(Diagnostic::error("over-limit", self.file, spot.place, message));
        }
        self.exceeded
    }

    fn object(&mut self, map: &Map<String, Value>, spot: Spot<'_>, findings: &mut Findings) -> Value {
        let place = spot.place;
        let mut out = self.keywords(map, spot, findings);
        if let Some(reference) = map.get("$ref") {
            let at = place.key("$ref");
            match self.reference(reference, spot.moved(&at), findings) {
                Some(Value::Object(target)) => merge_into(&mut out, target),
                Some(Value::Bool(false)) => return Value::Bool(false),
                _ => {}
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = self.branches(map, keyword, place, findings) {
                let at = place.key(keyword);
                // Libraries write what may be left out with a branch that no value fits.
                let has_possible = branches.iter().any(|branch| !is_impossible(branch));
                let normalised: Vec<Value> = branches
                    .iter()
                    .enumerate()
                    .filter(|(_, branch)| !(has_possible && is_impossible(branch)))
                    .map(|(index, branch)| self.schema(branch, spot.branch(&at.index(index)), findings))
                    .collect();
                self.union(&mut out, keyword, normalised, &at, findings);
            }
        }
        if let Some(branches) = self.branches(map, "allOf", place, findings) {
            let at = place.key("allOf");
            for (index, branch) in branches.iter().enumerate() {
                match self.schema(branch, spot.branch(&at.index(index)), findings) {
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
                findings.push(self.bad_keyword(&place.key("nullable"), message));
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
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) -> Option<&'m Vec<Value>> {
        match map.get(keyword)? {
            Value::Array(branches) if !branches.is_empty() => Some(branches),
            _ => {
                let message = format!("`{keyword}` is a list of at least one schema");
                findings.push(self.bad_keyword(&place.key(keyword), message));
                None
            }
        }
    }

    fn bad_keyword(&self, place: &PointerChain<'_>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("bad-keyword", self.file, place, message)
    }
}

/// The names in a `type` keyword.
pub(super) fn type_names(types: Option<&Value>) -> Vec<&str> {
    match types {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Treats a schema with `properties` as an object and one with `items` as an array, even if it does not say so.
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

/// True if null means that there is no value: strict schemas list every member as required.
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
        let mut out = normaliser.normalised(schema, &PointerChain::ROOT, 0, &mut findings);
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
            json!({"anyOf": [{"not": {}}, {"type": ["string", "null"]}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "null"}, false]}),
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
    fn null_stands_beside_what_nothing_fits() {
        let never = json!({"allOf": [{"type": "integer"}, {"type": "string"}]});
        let (out, _) = normalised(&json!({"anyOf": [never, {"type": "null"}]}));
        assert!(validator(&out).is_ok_and(|out| out.is_valid(&Value::Null) && !out.is_valid(&json!(1))), "{out}");
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
            // Closed objects are merged as their authors mean it, which is not what the standard says.
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
