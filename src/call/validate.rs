//! The only way to make a [`Call`]: coerce, fill, check against the schema, and ground.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use jiff::tz::TimeZone;
use jsonschema::PatternOptions;
use serde_json::{Map, Value};

use super::{
    Call, Coercion, Evidence, Proposal, Verdict, Violation, ViolationKind,
    closed::closed,
    coerce::{self, CoercionContext},
    ground::{self, Rules},
    prune::{is_within, prune},
    report::{MAX_VIOLATIONS, errors},
    synonyms::Synonyms,
    written::is_time,
};
use crate::{
    module::{Function, FunctionId, Module, RecognizerKind, SlotId, SlotPath, settings::Grounding as GroundingSetting},
    recognize::ValueReader,
};

/// Up to this many functions are compiled with the module; in larger modules, each at its first use.
const EAGER: usize = 256;
/// Limits of a proposal; a larger one is refused as a whole.
const MAX_NODES: usize = 2_000;
const MAX_TEXT: usize = 256 << 10;
const MAX_DEPTH: usize = 48;
#[derive(Debug, thiserror::Error)]
#[error("the schema of `{function}` does not compile: {reason}")]
pub struct CompileError {
    pub function: String,
    pub reason: String,
}

/// The compiled schemas of a module.
pub struct Validator {
    entries: Vec<FunctionSchema>,
    reader: ValueReader,
    /// The names of the recognizers, by their ids.
    recognizers: Box<[Box<str>]>,
    /// The zone of date-times without one: the module's, or else UTC.
    zone: TimeZone,
}

type SynonymLists = Box<[Arc<Synonyms>]>;

struct FunctionSchema {
    schema: OnceLock<Result<jsonschema::Validator, String>>,
    slots: OnceLock<HashMap<SlotPath, SlotId>>,
    /// Slots with `grounding = "free"`.
    free: Box<[SlotId]>,
    /// The lists of each slot's values; only slots that have some.
    synonyms: Box<[(SlotId, SynonymLists)]>,
}

impl fmt::Debug for Validator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Validator").field("functions", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Arguments checked against a schema, regardless of what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Coerced, without invalid values.
    pub arguments: Map<String, Value>,
    /// Empty if the arguments are valid and complete.
    pub violations: Vec<Violation>,
    pub coercions: Vec<Coercion>,
}

impl Validator {
    /// Compiles the schemas and the lists that coercion needs.
    ///
    /// # Errors
    /// If a schema does not compile (the module's checks refuse these earlier). In modules with more than 256 functions
    /// a schema is compiled at its first use; if it does not compile, every proposal for it is invalid.
    pub fn compile(module: &Module) -> Result<Self, CompileError> {
        let mut lists: HashMap<usize, Arc<Synonyms>> = HashMap::new();
        let mut entries = Vec::with_capacity(module.functions.len());
        for function in &module.functions {
            let entry = FunctionSchema::new(module, function, &mut lists);
            if entries.len() < EAGER
                && let Err(reason) = entry.schema(function)
            {
                return Err(CompileError { function: function.name.clone(), reason: reason.clone() });
            }
            entries.push(entry);
        }
        let zone = module.settings.time_zone.as_deref().and_then(|name| TimeZone::get(name).ok());
        Ok(Self {
            entries,
            reader: ValueReader::new(&module.settings.locale(), module.settings.date_order),
            recognizers: module.recognizers.iter().map(|recognizer| recognizer.name.as_str().into()).collect(),
            zone: zone.unwrap_or(TimeZone::UTC),
        })
    }

    /// Reads values in the module's language.
    #[must_use]
    pub const fn reader(&self) -> &ValueReader {
        &self.reader
    }

    /// Coerces what is safe to coerce, adds values that the schema determines, checks against the schema, and grounds
    /// each value in `evidence`. `function` is the one that the proposal names.
    #[must_use]
    pub fn validate(&self, function: &Function, proposal: Proposal, evidence: &Evidence<'_>) -> Verdict {
        let id = proposal.function;
        let Some(entry) = self.entries.get(id.index()) else { return refused("a function of this module") };
        let Checked { arguments, mut violations, coercions } = self.check_whole(function, id, proposal.arguments);
        let offending = violations
            .iter()
            .filter(|violation| violation.kind != ViolationKind::Missing)
            .map(|violation| violation.path.as_str())
            .collect();
        let rules = Rules {
            free: &|slot| entry.free.contains(&slot),
            slot_at: &|path| entry.slot_at(function, path),
            reader: &self.reader,
            recognizers: &self.recognizers,
            coercions: &coercions,
            offending: &offending,
        };
        let grounding = ground::ground(function, arguments, evidence, &rules);
        if violations.is_empty() {
            let left = match (grounding.violations.is_empty(), entry.schema(function)) {
                (true, _) => Vec::new(),
                (false, Ok(schema)) => errors(schema, function, &grounding.arguments),
                (false, Err(_)) => vec![Violation::of_all("a schema that compiles")],
            };
            let is_open = grounding
                .violations
                .iter()
                .any(|violation| matches!(violation.kind, ViolationKind::Ambiguous | ViolationKind::Format));
            if left.is_empty() && !is_open {
                return Verdict::Valid {
                    call: Call { function: id, arguments: grounding.arguments },
                    grounded: grounding.grounded,
                    dropped: grounding.violations,
                    excluded: grounding.excluded,
                    coercions,
                };
            }
            // A required value that was removed is reported with its violation, not also as missing.
            let taken: Vec<&str> = grounding.violations.iter().map(|violation| violation.path.as_str()).collect();
            violations = left;
            violations.retain(|violation| !taken.iter().any(|path| is_within(path, &violation.path)));
        }
        let mut arguments = grounding.arguments;
        prune(&mut arguments, &violations);
        let mut grounded = grounding.grounded;
        let whole = Value::Object(arguments);
        grounded.retain(|value| whole.pointer(&value.pointer).is_some_and(|kept| *kept == value.value));
        let Value::Object(arguments) = whole else { return refused("an object") };
        violations.extend(grounding.violations);
        violations.truncate(MAX_VIOLATIONS);
        Verdict::Invalid { arguments, violations, grounded, excluded: grounding.excluded, coercions }
    }

    /// Coerces and checks against the schema alone. Makes no call: for the arguments of cases and exemplars.
    #[must_use]
    pub fn check(&self, function: &Function, id: FunctionId, arguments: Map<String, Value>) -> Checked {
        let mut checked = self.check_whole(function, id, arguments);
        prune(&mut checked.arguments, &checked.violations);
        checked
    }

    /// [`Self::check`], with the offending values still in their places.
    fn check_whole(&self, function: &Function, id: FunctionId, arguments: Map<String, Value>) -> Checked {
        let refuse = |expected: &str| Checked {
            arguments: Map::new(),
            violations: vec![Violation::of_all(expected)],
            coercions: Vec::new(),
        };
        let Some(entry) = self.entries.get(id.index()) else { return refuse("a function of this module") };
        if let Some(limit) = over_limit(&arguments) {
            return refuse(&limit);
        }
        let (arguments, coercions) = self.coerced(function, id, arguments);
        let violations = match entry.schema(function) {
            Ok(schema) => errors(schema, function, &arguments),
            Err(reason) => return refuse(&format!("a schema that compiles; this function's does not: {reason}")),
        };
        Checked { arguments, violations, coercions }
    }

    /// Only coerces.
    pub(super) fn coerced(
        &self,
        function: &Function,
        id: FunctionId,
        arguments: Map<String, Value>,
    ) -> (Map<String, Value>, Vec<Coercion>) {
        let Some(entry) = self.entries.get(id.index()) else { return (arguments, Vec::new()) };
        let knowledge = CoercionContext {
            reader: &self.reader,
            zone: &self.zone,
            slot_at: &|path| entry.slot_at(function, path),
            synonyms_of: &|slot| {
                entry.synonyms.iter().find(|(id, _)| *id == slot).map(|(_, lists)| &**lists).unwrap_or_default()
            },
        };
        coerce::coerce(function, arguments, &knowledge)
    }
}

impl FunctionSchema {
    fn new(module: &Module, function: &Function, lists: &mut HashMap<usize, Arc<Synonyms>>) -> Self {
        let settings = module.settings.functions.get(&function.name);
        let free = settings
            .into_iter()
            .flat_map(|settings| &settings.slots)
            .filter(|(_, slot)| slot.grounding == GroundingSetting::Free)
            .filter_map(|(label, _)| function.slot_labelled(label))
            .collect();
        let synonyms = function
            .slot_ids()
            .filter_map(|id| {
                let lists: SynonymLists = function
                    .slot(id)
                    .recognizers
                    .iter()
                    .filter_map(|recognizer| match &module.recognizers.get(recognizer.index())?.kind {
                        RecognizerKind::List(list) => {
                            let made = lists.entry(recognizer.index()).or_insert_with(|| Arc::new(Synonyms::new(list)));
                            Some(Arc::clone(made))
                        }
                        RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => None,
                    })
                    .collect();
                (!lists.is_empty()).then_some((id, lists))
            })
            .collect();
        Self { schema: OnceLock::new(), slots: OnceLock::new(), free, synonyms }
    }

    fn schema(&self, function: &Function) -> Result<&jsonschema::Validator, &String> {
        self.schema.get_or_init(|| compile_schema(&closed(&function.parameters))).as_ref()
    }

    fn slot_at(&self, function: &Function, path: &SlotPath) -> Option<SlotId> {
        self.slots
            .get_or_init(|| function.slot_ids().map(|id| (function.slot(id).path.clone(), id)).collect())
            .get(path)
            .copied()
    }
}

/// Patterns run in linear time if the linear engine supports their syntax; look-around runs with a bounded number of
/// steps. Nothing is fetched.
fn compile_schema(schema: &Value) -> Result<jsonschema::Validator, String> {
    let options = || jsonschema::options().offline().should_validate_formats(true).with_format("time", is_time);
    options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .or_else(|_| {
            options().with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(100_000)).build(schema)
        })
        .map_err(|error| error.to_string())
}

fn refused(expected: &str) -> Verdict {
    Verdict::Invalid {
        arguments: Map::new(),
        violations: vec![Violation::of_all(expected)],
        grounded: Vec::new(),
        excluded: Vec::new(),
        coercions: Vec::new(),
    }
}

/// The limit that a proposal exceeds, in words.
fn over_limit(arguments: &Map<String, Value>) -> Option<String> {
    let mut stack: Vec<(&Value, usize)> = arguments.values().map(|value| (value, 1)).collect();
    let (mut nodes, mut text) = (0, arguments.keys().map(String::len).sum::<usize>());
    while let Some((value, depth)) = stack.pop() {
        nodes += 1;
        match value {
            Value::String(string) => text += string.len(),
            Value::Array(items) => stack.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                text += members.keys().map(String::len).sum::<usize>();
                stack.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if nodes > MAX_NODES || stack.len() > MAX_NODES {
            return Some(format!("at most {MAX_NODES} values"));
        }
        if depth > MAX_DEPTH {
            return Some(format!("at most {MAX_DEPTH} levels of nesting"));
        }
    }
    (text > MAX_TEXT).then(|| format!("at most {MAX_TEXT} bytes of text"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        call::testing::{function, json_value, module},
        module::settings::{FunctionSettings, SlotSettings},
        text::Utterance,
    };

    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": false, "required": ["location", "address"], "properties": {
            "location": {"type": "string", "maxLength": 30, "description": "the city"},
            "format": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "email": {"type": "string", "format": "email"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "which": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "pay": {"oneOf": [
                {"type": "object", "required": ["by", "card"], "properties": {"by": {"const": "card"}, "card": {"type": "string"}}},
                {"type": "object", "required": ["by", "iban"], "properties": {"by": {"const": "bank"}, "iban": {"type": "string"}}}]},
            "body": {"type": "string"},
            "address": {"type": "object", "required": ["city", "country", "zip"], "properties": {
                "city": {"type": "string"}, "country": {"type": "string", "default": "US"}, "zip": {"type": "string"}}}}})
    }

    fn fixture() -> (Module, Validator) {
        let mut module = module(vec![function("f", schema())]);
        let free = SlotSettings { grounding: GroundingSetting::Free, ..SlotSettings::default() };
        let slots = [("body".to_owned(), free)].into();
        module.settings.functions.insert("f".into(), FunctionSettings { slots, ..FunctionSettings::default() });
        let validator = Validator::compile(&module).expect("compiles");
        (module, validator)
    }

    fn verdict(arguments: Value, text: &str) -> Verdict {
        let (module, validator) = fixture();
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let function = FunctionId::from_index(0);
        let utterance = Utterance::new(text);
        let evidence = Evidence { utterance: &utterance, earlier: &[], mentions: &[], negated: &[] };
        validator.validate(module.function(function), Proposal { function, arguments }, &evidence)
    }

    #[test]
    fn a_good_proposal_is_a_call() {
        let proposal = json!({"location": "Rome", "days": "three", "format": "Celsius", "body": "Dear all", "email": null,
            "address": {"city": "Rome", "zip": 12345}});
        let Verdict::Valid { call, grounded, dropped, excluded: _, coercions } =
            verdict(proposal, "three days in Rome 12345, celsius")
        else {
            unreachable!("valid")
        };
        assert_eq!(
            Value::Object(call.arguments().clone()),
            json!({"location": "Rome", "days": 3, "format": "celsius", "body": "Dear all",
                "address": {"city": "Rome", "zip": "12345", "country": "US"}})
        );
        let origins: Vec<_> =
            grounded.iter().map(|grounded| (grounded.pointer.as_str(), grounded.span.is_some())).collect();
        assert_eq!(
            origins,
            [
                ("/location", true),
                ("/days", true),
                ("/format", true),
                ("/body", false),
                ("/address/city", true),
                ("/address/zip", true),
                ("/address/country", false)
            ]
        );
        assert!(dropped.is_empty());
        let names: Vec<_> = coercions.iter().map(|coercion| coercion.name).collect();
        assert_eq!(names, ["number-word", "choice", "null-dropped", "to-text", "default"]);
    }

    #[test]
    fn each_fault_has_its_kind_place_and_words() {
        let text = "Rome celsius kelvin 99 nobody ab one two three x y 1.5 cash DE12 12345";
        let good = json!({"location": "Rome", "address": {"city": "Rome", "zip": "12345"}});
        for (key, value, kind, path, words) in [
            ("format", json!("kelvin"), ViolationKind::NotAChoice, "/format", "one of \"celsius\", \"fahrenheit\""),
            ("days", json!(99), ViolationKind::Range, "/days", "at most 14"),
            ("days", json!("x"), ViolationKind::Type, "/days", "a whole number"),
            ("days", json!(1.5), ViolationKind::Type, "/days", "a whole number"),
            ("email", json!("nobody"), ViolationKind::Format, "/email", "an e-mail address"),
            ("code", json!("ab"), ViolationKind::Pattern, "/code", "text that matches the pattern ^[A-Z]{3}$"),
            ("tags", json!(["one", "two", "three"]), ViolationKind::Length, "/tags", "at most 2 items"),
            ("which", json!("x"), ViolationKind::Type, "/which", "a whole number or true or false"),
            ("pay", json!({"by": "bank"}), ViolationKind::Missing, "/pay/iban", "text"),
            ("pay", json!({"by": "cash", "iban": "DE12"}), ViolationKind::NotAChoice, "/pay/by", "\"bank\""),
            ("nonsense", json!("x"), ViolationKind::Unknown, "/nonsense", "only \"location\", "),
        ] {
            let mut proposal = good.clone();
            proposal[key] = value.clone();
            let Verdict::Invalid { arguments, violations, .. } = verdict(proposal, text) else {
                unreachable!("{key} {value}")
            };
            let first = violations.iter().find(|violation| violation.path == path);
            let first = first.unwrap_or_else(|| unreachable!("{key} {value}: {violations:?}"));
            assert_eq!(first.kind, kind, "{key} {value} {violations:?}");
            assert!(first.expected.starts_with(words), "{key} {value} {violations:?}");
            assert_eq!(arguments.get("location"), Some(&json!("Rome")), "what is right stays");
            assert!(path.matches('/').count() > 1 || !arguments.contains_key(key), "what is wrong goes");
        }
    }

    #[test]
    fn what_is_missing_is_reported_by_leaf() {
        let Verdict::Invalid { violations, .. } = verdict(json!({}), "hi") else { unreachable!("invalid") };
        let missing: Vec<_> =
            violations.iter().map(|found| (found.kind, found.path.as_str(), found.expected.as_str())).collect();
        assert_eq!(
            missing,
            [
                (ViolationKind::Missing, "/location", "text: the city"),
                (ViolationKind::Missing, "/address/city", "text"),
                (ViolationKind::Missing, "/address/zip", "text"),
            ]
        );
    }

    #[test]
    fn an_invented_value_is_dropped_or_asked_for() {
        let good =
            json!({"location": "Rome", "days": 7, "tags": ["nice"], "address": {"city": "Rome", "zip": "12345"}});
        let Verdict::Valid { call, dropped, .. } = verdict(good.clone(), "Rome 12345") else { unreachable!("valid") };
        assert_eq!(call.arguments().keys().collect::<Vec<_>>(), ["location", "address"]);
        assert_eq!(dropped.iter().map(|dropped| dropped.path.as_str()).collect::<Vec<_>>(), ["/days", "/tags/0"]);
        let Verdict::Invalid { arguments, violations, .. } = verdict(good, "Rome") else { unreachable!("invalid") };
        assert_eq!(Value::Object(arguments), json!({"location": "Rome", "address": {"city": "Rome", "country": "US"}}));
        let kinds: Vec<_> = violations.iter().map(|found| (found.kind, found.path.as_str())).collect();
        assert!(kinds.contains(&(ViolationKind::Ungrounded, "/address/zip")), "{kinds:?}");
        assert!(!kinds.contains(&(ViolationKind::Missing, "/address/zip")), "{kinds:?}");
    }

    #[test]
    fn what_is_too_large_is_refused_whole() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        for proposal in [
            json!({"tags": deep}),
            json!({"tags": (0..5_000).collect::<Vec<_>>()}),
            json!({"location": "x".repeat(MAX_TEXT + 1)}),
        ] {
            let Verdict::Invalid { arguments, violations, .. } = verdict(proposal, "x") else {
                unreachable!("invalid")
            };
            assert!(arguments.is_empty() && violations.len() == 1);
        }
    }

    #[test]
    fn both_drafts_and_recursion_compile() {
        let tree = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "$defs": {"node": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/node"}}}}});
        let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {
            "pair": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": false}}});
        let module = module(vec![function("tree", tree), function("old", old)]);
        let validator = Validator::compile(&module).expect("compiles");
        let check = |id: usize, arguments: Value| {
            let Value::Object(arguments) = arguments else { unreachable!("an object") };
            validator.check(&module.functions[id], FunctionId::from_index(id), arguments)
        };
        let paths = |checked: &Checked| {
            let mut paths: Vec<String> = checked.violations.iter().map(|found| found.path.clone()).collect();
            paths.sort_by_key(String::len);
            paths
        };
        assert_eq!(
            paths(&check(0, json!({"root": {"name": "a", "child": {"child": {}}}}))),
            ["/root/child/name", "/root/child/child/name"]
        );
        assert_eq!(paths(&check(1, json!({"pair": [1, "a", 2]}))), ["/pair"]);
        assert_eq!(paths(&check(1, json!({"pair": [1, "a"]}))), Vec::<String>::new());
        let remote =
            module_of(json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/schema.json"}}}));
        assert!(Validator::compile(&remote).is_err(), "nothing is fetched");
    }

    fn module_of(parameters: Value) -> Module {
        module(vec![function("f", parameters)])
    }

    proptest! {
        #[test]
        fn whatever_comes_in_only_valid_calls_come_out(
            value in json_value(3),
            key in "(location|format|days|email|code|tags|which|pay|address|x)",
            text in "\\PC{0,40}",
        ) {
            let (module, _) = fixture();
            let plain = jsonschema::options().should_validate_formats(true).build(&module.functions[0].parameters).expect("compiles");
            let proposal = json!({"location": "Rome", "address": {"city": "Rome", "zip": "12345"}, (key): value});
            match verdict(proposal, &format!("Rome 12345 {text}")) {
                Verdict::Valid { call, grounded, .. } => {
                    prop_assert!(plain.is_valid(&Value::Object(call.arguments().clone())));
                    prop_assert!(!grounded.is_empty());
                }
                Verdict::Invalid { arguments, violations, grounded, .. } => {
                    prop_assert!(!violations.is_empty());
                    let whole = Value::Object(arguments);
                    for grounded in grounded {
                        prop_assert_eq!(whole.pointer(&grounded.pointer), Some(&grounded.value));
                    }
                }
            }
        }
    }
}
