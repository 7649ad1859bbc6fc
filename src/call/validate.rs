//! The one door to a [`Call`]: coerced, filled, checked against the schema, and grounded.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use jiff::tz::TimeZone;
use jsonschema::{PatternOptions, ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value};

use super::{
    Call, Coercion, Evidence, Proposal, Verdict, Violation, ViolationKind,
    closed::closed,
    coerce::{self, Knowledge},
    ground::{self, Rules},
    schema::{push_pointer, schemas_at},
    synonyms::Synonyms,
    written::is_time,
};
use crate::{
    module::{Function, FunctionId, Module, RecognizerKind, SlotId, SlotPath, settings::Grounding as GroundingSetting},
    recognize::ValueReader,
};

/// Up to this many functions are compiled with the module; of more, each at its first use.
const EAGER: usize = 256;
/// What one proposal may hold; more is refused whole.
const MAX_NODES: usize = 2_000;
const MAX_TEXT: usize = 256 << 10;
const MAX_DEPTH: usize = 48;
/// Violations that are reported; a model learns nothing from more.
const MAX_VIOLATIONS: usize = 50;
/// Choices that an expectation spells out.
const MAX_CHOICES: usize = 20;
/// Longest value that a violation repeats, in characters of its JSON.
const MAX_FOUND: usize = 300;

#[derive(Debug, thiserror::Error)]
#[error("the schema of `{function}` does not compile: {reason}")]
pub struct CompileError {
    pub function: String,
    pub reason: String,
}

/// The compiled schemas of a module.
pub struct Validator {
    entries: Vec<Entry>,
    reader: ValueReader,
    /// The names of the recognizers, by their ids.
    recognizers: Box<[Box<str>]>,
    /// Of a date-time that names none: the module's, else UTC.
    zone: TimeZone,
}

type Lists = Box<[Arc<Synonyms>]>;

struct Entry {
    schema: OnceLock<Result<jsonschema::Validator, String>>,
    slots: OnceLock<HashMap<SlotPath, SlotId>>,
    /// Slots with `grounding = "free"`.
    free: Box<[SlotId]>,
    /// The lists that name a slot's values; a slot without any is not in it.
    synonyms: Box<[(SlotId, Lists)]>,
}

impl fmt::Debug for Validator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Validator").field("functions", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Arguments held against a schema, without regard to what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Coerced, with what was wrong taken out.
    pub arguments: Map<String, Value>,
    /// Empty if the arguments are valid and complete.
    pub violations: Vec<Violation>,
    pub coercions: Vec<Coercion>,
}

impl Validator {
    /// Compiles the schemas and the lists that coercion needs.
    ///
    /// # Errors
    /// If a schema does not compile (the module's checks refuse these before). Of modules with more than 256 functions
    /// a schema is compiled at its first use; one that does not compile makes every proposal invalid then.
    pub fn compile(module: &Module) -> Result<Self, CompileError> {
        let mut lists: HashMap<usize, Arc<Synonyms>> = HashMap::new();
        let mut entries = Vec::with_capacity(module.functions.len());
        for function in &module.functions {
            let entry = Entry::new(module, function, &mut lists);
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
            reader: ValueReader::new(module.language(), module.settings.date_order),
            recognizers: module.recognizers.iter().map(|recognizer| recognizer.name.as_str().into()).collect(),
            zone: zone.unwrap_or(TimeZone::UTC),
        })
    }

    /// Coerces what is safe to coerce, fills in what the schema decides by itself, checks against the schema, and
    /// grounds each value in `evidence`. `function` is the one that the proposal names.
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
                (false, Err(_)) => unreachable_schema(),
            };
            let is_open = grounding.violations.iter().any(|violation| violation.kind == ViolationKind::Ambiguous);
            if left.is_empty() && !is_open {
                return Verdict::Valid {
                    call: Call { function: id, arguments: grounding.arguments },
                    grounded: grounding.grounded,
                    dropped: grounding.violations,
                    excluded: grounding.excluded,
                    coercions,
                };
            }
            // A required value that was taken out is reported as what it was, not as missing too.
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
            violations: vec![Violation {
                kind: ViolationKind::Schema,
                path: String::new(),
                found: None,
                expected: expected.to_owned(),
                readings: Vec::new(),
            }],
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

    /// The first step alone.
    pub(super) fn coerced(
        &self,
        function: &Function,
        id: FunctionId,
        arguments: Map<String, Value>,
    ) -> (Map<String, Value>, Vec<Coercion>) {
        let Some(entry) = self.entries.get(id.index()) else { return (arguments, Vec::new()) };
        let knowledge = Knowledge {
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

impl Entry {
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
                let lists: Lists = function
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

/// Patterns run in linear time where the linear engine knows their syntax; look-around runs with a bounded number of
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

fn unreachable_schema() -> Vec<Violation> {
    vec![Violation {
        kind: ViolationKind::Schema,
        path: String::new(),
        found: None,
        expected: "a schema that compiles".to_owned(),
        readings: Vec::new(),
    }]
}

fn refused(expected: &str) -> Verdict {
    Verdict::Invalid {
        arguments: Map::new(),
        violations: vec![Violation {
            kind: ViolationKind::Schema,
            path: String::new(),
            found: None,
            expected: expected.to_owned(),
            readings: Vec::new(),
        }],
        grounded: Vec::new(),
        excluded: Vec::new(),
        coercions: Vec::new(),
    }
}

/// The limit that a proposal goes over, in words.
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

/// Everything that the schema says against `arguments`, in the terms of a person.
fn errors(schema: &jsonschema::Validator, function: &Function, arguments: &Map<String, Value>) -> Vec<Violation> {
    let whole = Value::Object(arguments.clone());
    if schema.is_valid(&whole) {
        return Vec::new();
    }
    let mut report = Report { root: &function.parameters, violations: Vec::new() };
    for error in schema.iter_errors(&whole).take(4 * MAX_VIOLATIONS) {
        report.error(&error, 0);
        if report.violations.len() >= MAX_VIOLATIONS {
            break;
        }
    }
    if report.violations.is_empty() {
        report.push(ViolationKind::Schema, String::new(), None, "arguments that fit the schema".to_owned());
    }
    report.violations
}

struct Report<'a> {
    root: &'a Value,
    violations: Vec<Violation>,
}

impl Report<'_> {
    fn push(&mut self, kind: ViolationKind, path: String, found: Option<&Value>, expected: String) {
        if !self.violations.iter().any(|known| known.kind == kind && known.path == path) {
            self.violations.push(Violation { kind, path, found: found.map(brief), expected, readings: Vec::new() });
        }
    }

    fn error(&mut self, error: &ValidationError<'_>, depth: usize) {
        let path = error.instance_path().as_str().to_owned();
        let found: &Value = error.instance();
        let mut plain = |kind, expected| self.push(kind, path.clone(), Some(found), expected);
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let Some(property) = property.as_str() else { return };
                let mut pointer = path;
                push_pointer(&mut pointer, property);
                self.missing(&pointer, depth);
            }
            ValidationErrorKind::Type { kind } => {
                let expected = match kind {
                    jsonschema::error::TypeKind::Single(one) => a_type(&one.to_string()),
                    jsonschema::error::TypeKind::Multiple(several) => {
                        several.iter().map(|one| a_type(&one.to_string())).collect::<Vec<_>>().join(" or ")
                    }
                };
                plain(ViolationKind::Type, expected);
            }
            ValidationErrorKind::Enum { options } => {
                let choices = options.as_array().map(Vec::as_slice).unwrap_or_default();
                plain(ViolationKind::NotAChoice, one_of(choices));
            }
            ValidationErrorKind::Constant { expected_value } => {
                plain(ViolationKind::NotAChoice, brief(expected_value).to_string());
            }
            ValidationErrorKind::Pattern { pattern } => {
                plain(ViolationKind::Pattern, format!("text that matches the pattern {pattern}"));
            }
            ValidationErrorKind::Format { format } => plain(ViolationKind::Format, a_format(format)),
            ValidationErrorKind::Maximum { limit } => plain(ViolationKind::Range, format!("at most {limit}")),
            ValidationErrorKind::Minimum { limit } => plain(ViolationKind::Range, format!("at least {limit}")),
            ValidationErrorKind::ExclusiveMaximum { limit } => {
                plain(ViolationKind::Range, format!("less than {limit}"));
            }
            ValidationErrorKind::ExclusiveMinimum { limit } => {
                plain(ViolationKind::Range, format!("more than {limit}"));
            }
            ValidationErrorKind::MultipleOf { multiple_of } => {
                plain(ViolationKind::Range, format!("a multiple of {multiple_of}"));
            }
            ValidationErrorKind::MaxLength { limit } => {
                plain(ViolationKind::Length, format!("at most {limit} characters"));
            }
            ValidationErrorKind::MinLength { limit } => {
                plain(ViolationKind::Length, format!("at least {limit} characters"));
            }
            ValidationErrorKind::MaxItems { limit } => plain(ViolationKind::Length, format!("at most {limit} items")),
            ValidationErrorKind::MinItems { limit } => plain(ViolationKind::Length, format!("at least {limit} items")),
            ValidationErrorKind::MaxProperties { limit } => {
                plain(ViolationKind::Length, format!("at most {limit} members"));
            }
            ValidationErrorKind::MinProperties { limit } => {
                plain(ViolationKind::Length, format!("at least {limit} members"));
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = schemas_at(self.root, &path)
                    .into_iter()
                    .find_map(|schema| schema.get("properties"))
                    .and_then(Value::as_object);
                let known: Vec<Value> =
                    known.into_iter().flat_map(Map::keys).map(|key| Value::from(key.as_str())).collect();
                let expected =
                    if known.is_empty() { "no members".to_owned() } else { format!("only {}", listed(&known)) };
                for key in unexpected {
                    let mut pointer = path.clone();
                    push_pointer(&mut pointer, key);
                    self.push(ViolationKind::Unknown, pointer, found.get(key), expected.clone());
                }
            }
            ValidationErrorKind::AdditionalItems { limit } => {
                plain(ViolationKind::Length, format!("at most {limit} items"));
            }
            ValidationErrorKind::UnevaluatedItems { .. } => plain(ViolationKind::Schema, "no more items".to_owned()),
            ValidationErrorKind::UniqueItems => {
                plain(ViolationKind::Schema, "items that differ from one another".to_owned());
            }
            ValidationErrorKind::Contains => {
                plain(ViolationKind::Schema, "an item of the kind that the list must have".to_owned());
            }
            ValidationErrorKind::Not { .. } => plain(ViolationKind::Schema, "another value than this".to_owned()),
            ValidationErrorKind::FalseSchema => plain(ViolationKind::Unknown, "no value here".to_owned()),
            ValidationErrorKind::PropertyNames { error } => {
                plain(ViolationKind::Schema, format!("other names of members ({})", keyword_of(error)));
            }
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                self.union(context, &path, found, depth);
            }
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                plain(ViolationKind::Schema, "a value that fits exactly one of the alternatives".to_owned());
            }
            ValidationErrorKind::ContentEncoding { content_encoding } => {
                plain(ViolationKind::Format, format!("text in {content_encoding}"));
            }
            ValidationErrorKind::ContentMediaType { content_media_type } => {
                plain(ViolationKind::Format, format!("text of type {content_media_type}"));
            }
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
            | ValidationErrorKind::Custom { .. }
            | ValidationErrorKind::FromUtf8 { .. }
            | ValidationErrorKind::Referencing(_) => {
                plain(ViolationKind::Schema, format!("a value that fits the schema's `{}`", keyword_of(error)));
            }
        }
    }

    /// What is wrong with the alternative that comes nearest, or what the alternatives are.
    fn union(&mut self, context: &[Vec<ValidationError<'static>>], path: &str, found: &Value, depth: usize) {
        let is_root = |error: &ValidationError<'_>| error.instance_path().as_str() == path;
        let wrong_type = |errors: &[ValidationError<'_>]| {
            errors.iter().any(|error| is_root(error) && matches!(error.kind(), ValidationErrorKind::Type { .. }))
        };
        let near: Vec<_> = context.iter().filter(|errors| !wrong_type(errors)).collect();
        // A branch whose constant is another (a discriminator) was not meant.
        let meant: Vec<_> = near
            .iter()
            .filter(|errors| !errors.iter().any(|error| matches!(error.kind(), ValidationErrorKind::Constant { .. })))
            .collect();
        let best = if meant.is_empty() {
            near.iter().min_by_key(|errors| errors.len())
        } else {
            meant.into_iter().min_by_key(|errors| errors.len())
        };
        match best {
            Some(errors) if depth < 8 && !errors.is_empty() => {
                for error in errors.iter().take(MAX_VIOLATIONS) {
                    self.error(error, depth + 1);
                }
            }
            _ => {
                // A report keeps one violation of a kind and place; here each alternative's words are wanted.
                let mut alternatives: Vec<Violation> = Vec::new();
                for error in context.iter().flatten().filter(|error| is_root(error)).take(MAX_CHOICES) {
                    let mut one = Report { root: self.root, violations: Vec::new() };
                    one.error(error, depth + 1);
                    alternatives.append(&mut one.violations);
                }
                let kind = alternatives.first().map_or(ViolationKind::Schema, |violation| violation.kind);
                let mut expected: Vec<String> = alternatives.into_iter().map(|violation| violation.expected).collect();
                expected.dedup();
                let words = if expected.is_empty() {
                    "one of the schema's alternatives".to_owned()
                } else {
                    expected.join(" or ")
                };
                self.push(kind, path.to_owned(), Some(found), words);
            }
        }
    }

    /// Reports a missing member by its leaves, which are what can be asked for.
    fn missing(&mut self, pointer: &str, depth: usize) {
        let schema = schemas_at(self.root, pointer).into_iter().next();
        let required = schema.map(required_members).unwrap_or_default();
        if depth < 16 && !required.is_empty() && self.violations.len() < MAX_VIOLATIONS {
            for key in required {
                let mut inner = pointer.to_owned();
                push_pointer(&mut inner, key);
                self.missing(&inner, depth + 1);
            }
            return;
        }
        let expected = schema.map_or_else(|| "a value".to_owned(), describe);
        self.push(ViolationKind::Missing, pointer.to_owned(), None, expected);
    }
}

fn required_members(schema: &Value) -> Vec<&str> {
    // Members with a default are filled in by themselves.
    let has_default = |key: &str| {
        schema.pointer("/properties").and_then(|of| of.get(key)).is_some_and(|of| of.get("default").is_some())
    };
    let keys = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    keys.filter(|key| !has_default(key)).collect()
}

/// What a schema wants, in words: its type or choices, and its description.
fn describe(schema: &Value) -> String {
    let wanted = match (schema.get("enum").and_then(Value::as_array), schema.get("format").and_then(Value::as_str)) {
        (Some(choices), _) => one_of(choices),
        (None, Some(format)) => a_format(format),
        (None, None) => match schema.get("type") {
            Some(Value::String(one)) => a_type(one),
            Some(Value::Array(several)) => several
                .iter()
                .filter_map(Value::as_str)
                .filter(|one| *one != "null")
                .map(a_type)
                .collect::<Vec<_>>()
                .join(" or "),
            _ => "a value".to_owned(),
        },
    };
    match schema.get("description").and_then(Value::as_str) {
        Some(description) if !description.is_empty() => {
            format!("{wanted}: {}", description.chars().take(200).collect::<String>())
        }
        _ => wanted,
    }
}

fn a_type(name: &str) -> String {
    match name {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        "null" => "null",
        other => other,
    }
    .to_owned()
}

fn a_format(name: &str) -> String {
    match name {
        "date" => "a date such as 2026-03-01".to_owned(),
        "time" => "a time such as 15:30:00".to_owned(),
        "date-time" => "a date and time such as 2026-03-01T15:30:00Z".to_owned(),
        "duration" => "an ISO 8601 duration such as PT30M".to_owned(),
        "email" | "idn-email" => "an e-mail address".to_owned(),
        "uri" | "iri" | "uri-reference" => "a URL such as https://example.com/".to_owned(),
        "uuid" => "a UUID".to_owned(),
        "ipv4" | "ipv6" => format!("an {name} address"),
        "hostname" | "idn-hostname" => "a host name".to_owned(),
        other => format!("text in the format {other}"),
    }
}

fn one_of(choices: &[Value]) -> String {
    format!("one of {}", listed(choices))
}

fn listed(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(MAX_CHOICES).map(|value| brief(value).to_string()).collect();
    if values.len() > MAX_CHOICES {
        words.push(format!("and {} more", values.len() - MAX_CHOICES));
    }
    words.join(", ")
}

fn keyword_of(error: &ValidationError<'_>) -> String {
    error.kind().keyword().to_owned()
}

/// A value short enough to repeat; longer ones become the beginning of their JSON.
pub(super) fn brief(value: &Value) -> Value {
    let too_long = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return value.clone(),
        Value::String(text) => text.len() > MAX_FOUND,
        Value::Array(_) | Value::Object(_) => value.to_string().len() > MAX_FOUND,
    };
    if !too_long {
        return value.clone();
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Value::String(text.chars().take(MAX_FOUND / 2).chain(['…']).collect())
}

/// True if `outer` is the place of `path` or lies around it, or the other way round.
fn is_within(path: &str, other: &str) -> bool {
    let (outer, inner) = if path.len() < other.len() { (path, other) } else { (other, path) };
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Takes the offending values out, and the containers that are empty for that. Something wrong with the whole
/// arguments (`""`) takes nothing out.
fn prune(arguments: &mut Map<String, Value>, violations: &[Violation]) {
    let mut paths: Vec<Vec<String>> = violations
        .iter()
        .filter(|violation| violation.kind != ViolationKind::Missing && !violation.path.is_empty())
        .map(|violation| {
            violation.path.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
        })
        .collect();
    // From the back, so that an item's place still holds after a later one is gone.
    paths.sort_by(|left, right| compare_paths(right, left));
    paths.dedup();
    for path in &paths {
        if let Some((first, rest)) = path.split_first()
            && let Some(value) = arguments.get_mut(first)
            && (rest.is_empty() || remove(value, rest))
        {
            arguments.shift_remove(first);
        }
    }
}

/// Removes what lies at `path`; true if `value` is empty after that and should go too.
fn remove(value: &mut Value, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match value {
        Value::Object(members) => {
            if members.get_mut(first).is_some_and(|member| remove(member, rest)) {
                members.shift_remove(first);
                return members.is_empty();
            }
            false
        }
        Value::Array(items) => {
            let Ok(index) = first.parse::<usize>() else { return false };
            if items.get_mut(index).is_some_and(|item| remove(item, rest)) {
                items.remove(index);
                return items.is_empty();
            }
            false
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn compare_paths(left: &[String], right: &[String]) -> std::cmp::Ordering {
    for (left, right) in left.iter().zip(right) {
        let order = match (left.parse::<usize>(), right.parse::<usize>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            _ => left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
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
        let origins: Vec<_> = grounded
            .iter()
            .map(|grounded| {
                (grounded.pointer.as_str(), matches!(grounded.origin, crate::call::Origin::Utterance { .. }))
            })
            .collect();
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
