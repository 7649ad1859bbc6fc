//! Schema errors of arguments, in words for people.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::{Map, Value};

use super::{
    Violation, ViolationKind,
    schema::{push_pointer, schemas_at},
};
use crate::module::Function;

/// Most violations that are reported; more would not help a model.
pub(super) const MAX_VIOLATIONS: usize = 50;
/// Most choices that an expectation spells out.
const MAX_CHOICES: usize = 20;
/// Longest value that a violation repeats, in characters of its JSON.
const MAX_FOUND: usize = 300;

/// All schema errors of `arguments`, in words for people.
pub(super) fn errors(
    schema: &jsonschema::Validator,
    function: &Function,
    arguments: &Map<String, Value>,
) -> Vec<Violation> {
    let whole = Value::Object(arguments.clone());
    if schema.is_valid(&whole) {
        return Vec::new();
    }
    let mut report = ViolationReport { root: &function.parameters, violations: Vec::new() };
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

struct ViolationReport<'a> {
    root: &'a Value,
    violations: Vec<Violation>,
}

impl ViolationReport<'_> {
    fn push(&mut self, kind: ViolationKind, path: String, found: Option<&Value>, expected: String) {
        if !self.violations.iter().any(|known| known.kind == kind && known.path == path) {
            self.violations.push(Violation::new(kind, path, found, expected));
        }
    }

    fn error(&mut self, error: &ValidationError<'_>, depth: usize) {
        let path = error.instance_path().as_str().to_owned();
        let found: &Value = error.instance();
        match error.kind() {
            Kind::Required { property } => {
                let Some(property) = property.as_str() else { return };
                let mut pointer = path;
                push_pointer(&mut pointer, property);
                self.missing(&pointer, depth);
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.unknown(unexpected, &path, found);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.union(context, &path, found, depth),
            _ => {
                let (kind, expected) = worded(error);
                self.push(kind, path, Some(found), expected);
            }
        }
    }

    /// Reports members that the schema does not have.
    fn unknown(&mut self, unexpected: &[String], path: &str, found: &Value) {
        let known = schemas_at(self.root, path).into_iter().find_map(|schema| schema.get("properties")?.as_object());
        let known: Vec<Value> = known.into_iter().flat_map(Map::keys).map(|key| Value::from(key.as_str())).collect();
        let expected = if known.is_empty() { "no members".to_owned() } else { format!("only {}", listed(&known)) };
        for key in unexpected {
            let mut pointer = path.to_owned();
            push_pointer(&mut pointer, key);
            self.push(ViolationKind::Unknown, pointer, found.get(key), expected.clone());
        }
    }

    /// The errors of the nearest alternative, or else a list of the alternatives.
    fn union(&mut self, context: &[Vec<ValidationError<'static>>], path: &str, found: &Value, depth: usize) {
        let is_root = |error: &ValidationError<'_>| error.instance_path().as_str() == path;
        let wrong_type = |errors: &[ValidationError<'_>]| {
            errors.iter().any(|error| is_root(error) && matches!(error.kind(), Kind::Type { .. }))
        };
        let near: Vec<_> = context.iter().filter(|errors| !wrong_type(errors)).collect();
        // A branch with another constant (a discriminator) was not meant.
        let meant: Vec<_> = near
            .iter()
            .filter(|errors| !errors.iter().any(|error| matches!(error.kind(), Kind::Constant { .. })))
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
                // A report keeps one violation per kind and place; here each alternative is needed.
                let mut alternatives: Vec<Violation> = Vec::new();
                for error in context.iter().flatten().filter(|error| is_root(error)).take(MAX_CHOICES) {
                    let mut one = ViolationReport { root: self.root, violations: Vec::new() };
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

    /// Reports a missing member by its leaves, which can be asked for.
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

/// What is wrong with one value, and what would be right.
fn worded(error: &ValidationError<'_>) -> (ViolationKind, String) {
    use ViolationKind::{Format, Length, NotAChoice, Pattern, Range, Schema, Type, Unknown};
    match error.kind() {
        Kind::Type { kind: TypeKind::Single(one) } => (Type, a_type(&one.to_string())),
        Kind::Type { kind: TypeKind::Multiple(several) } => {
            (Type, several.iter().map(|one| a_type(&one.to_string())).collect::<Vec<_>>().join(" or "))
        }
        Kind::Enum { options } => (NotAChoice, one_of(options.as_array().map(Vec::as_slice).unwrap_or_default())),
        Kind::Constant { expected_value } => (NotAChoice, brief(expected_value).to_string()),
        Kind::Pattern { pattern } => (Pattern, format!("text that matches the pattern {pattern}")),
        Kind::Format { format } => (Format, a_format(format)),
        Kind::ContentEncoding { content_encoding } => (Format, format!("text in {content_encoding}")),
        Kind::ContentMediaType { content_media_type } => (Format, format!("text of type {content_media_type}")),
        Kind::Maximum { limit } => (Range, format!("at most {limit}")),
        Kind::Minimum { limit } => (Range, format!("at least {limit}")),
        Kind::ExclusiveMaximum { limit } => (Range, format!("less than {limit}")),
        Kind::ExclusiveMinimum { limit } => (Range, format!("more than {limit}")),
        Kind::MultipleOf { multiple_of } => (Range, format!("a multiple of {multiple_of}")),
        Kind::MaxLength { limit } => (Length, format!("at most {limit} characters")),
        Kind::MinLength { limit } => (Length, format!("at least {limit} characters")),
        Kind::MaxItems { limit } => (Length, format!("at most {limit} items")),
        Kind::AdditionalItems { limit } => (Length, format!("at most {limit} items")),
        Kind::MinItems { limit } => (Length, format!("at least {limit} items")),
        Kind::MaxProperties { limit } => (Length, format!("at most {limit} members")),
        Kind::MinProperties { limit } => (Length, format!("at least {limit} members")),
        Kind::UnevaluatedItems { .. } => (Schema, "no more items".to_owned()),
        Kind::UniqueItems => (Schema, "items that differ from one another".to_owned()),
        Kind::Contains => (Schema, "an item of the kind that the list must have".to_owned()),
        Kind::Not { .. } => (Schema, "another value than this".to_owned()),
        Kind::FalseSchema => (Unknown, "no value here".to_owned()),
        Kind::PropertyNames { error } => (Schema, format!("other names of members ({})", error.kind().keyword())),
        Kind::OneOfMultipleValid { .. } => (Schema, "a value that fits exactly one of the alternatives".to_owned()),
        other => (Schema, format!("a value that fits the schema's `{}`", other.keyword())),
    }
}

fn required_members(schema: &Value) -> Vec<&str> {
    // Members with a default are filled in automatically.
    let has_default = |key: &str| {
        schema.pointer("/properties").and_then(|of| of.get(key)).is_some_and(|of| of.get("default").is_some())
    };
    let keys = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    keys.filter(|key| !has_default(key)).collect()
}

/// What a schema expects, in words: its type or choices, and its description.
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

/// A value short enough to repeat; a longer one becomes the beginning of its JSON.
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
