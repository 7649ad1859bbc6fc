//! Regular expressions of authors and clients: whether they compile, and how much memory that takes.
//!
//! A short pattern can be a large program: `\p{L}{1,48}` takes 2 MB. So patterns are measured in bytes, each by itself
//! and all together, before anything of them is kept.

use regex_automata::meta;
use serde_json::Value;

use super::{Diagnostic, Limits, Module, RecognizerKind, findings::PointerChain};

/// Measured size in bytes of a compiled pattern without its program.
const BESIDE: usize = 8 << 10;

/// A pattern that compiles.
pub(super) struct Compiled {
    regex: meta::Regex,
    /// Its size in bytes.
    pub(super) bytes: usize,
}

pub(super) enum PatternError {
    /// It takes more bytes than allowed.
    Large,
    /// What is wrong with it, in words.
    Syntax(String),
}

/// Compiles a pattern of at most `most` bytes.
pub(super) fn compile(pattern: &str, most: usize) -> Result<Compiled, PatternError> {
    let config = meta::Config::new().nfa_size_limit(Some(most));
    let built = meta::Builder::new().configure(config).build(pattern);
    let regex = built.map_err(|error| match (error.size_limit(), error.syntax_error()) {
        (Some(_), _) => PatternError::Large,
        (None, Some(error)) => PatternError::Syntax(error.to_string()),
        (None, None) => PatternError::Syntax(error.to_string()),
    })?;
    let bytes = regex.memory_usage().saturating_add(BESIDE);
    if bytes > most { Err(PatternError::Large) } else { Ok(Compiled { regex, bytes }) }
}

/// [`compile`] for a `pattern` of JSON Schema, which uses the dialect of `ECMAScript`: its `\w` is ASCII.
pub(super) fn compile_of_schema(pattern: &str, most: usize) -> Result<Compiled, PatternError> {
    let translated = jsonschema_regex::to_rust_regex(pattern)
        .map_err(|()| PatternError::Syntax("it is no regular expression of JSON Schema".to_owned()))?;
    compile(&translated, most)
}

impl Compiled {
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// The bytes that the patterns of one file may still take.
pub(super) struct PatternBudget {
    left: usize,
    is_over: bool,
}

impl PatternBudget {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { left: limits.module_pattern_bytes, is_over: false }
    }

    /// Takes `bytes` from the budget. Reports only once that all patterns together are too large.
    pub(super) fn take(&mut self, bytes: usize, limits: &Limits) -> Result<(), Option<String>> {
        if let Some(left) = self.left.checked_sub(bytes) {
            self.left = left;
            return Ok(());
        }
        let limit = limits.module_pattern_bytes;
        let message = format!("all patterns compiled take more bytes than the limit `module_pattern_bytes` = {limit}");
        Err((!std::mem::replace(&mut self.is_over, true)).then_some(message))
    }

    /// True if nothing more is compiled.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }
}

pub(super) fn large_pattern(file: &str, place: &PointerChain<'_>, pattern: &str, limits: &Limits) -> Diagnostic {
    let limit = limits.pattern_bytes;
    let message = format!("the pattern `{pattern}` compiled takes more bytes than the limit `pattern_bytes` = {limit}");
    Diagnostic::error("over-limit", file, place, message)
        .hint("repeat less often, or repeat a smaller class: `[a-z]` instead of `\\p{L}`")
}

pub(super) fn bad_pattern(file: &str, place: &PointerChain<'_>, pattern: &str, reason: &str) -> Diagnostic {
    // The crate's message draws the pattern with a caret; its last line says what is wrong.
    let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
    let found =
        Diagnostic::error("bad-pattern", file, place, format!("the pattern `{pattern}` does not compile: {reason}"));
    if reason.contains("look-around") || reason.contains("backreferences") {
        found.hint("look-around and back-references are not supported: patterns run in linear time")
    } else {
        found
    }
}

/// Bytes that the patterns of a module take, if it was loaded within `limits`.
#[must_use]
pub fn pattern_bytes(module: &Module, limits: &Limits) -> usize {
    let recognizers = module.recognizers.iter().flat_map(|recognizer| match &recognizer.kind {
        RecognizerKind::Pattern(spec) => spec.patterns.as_slice(),
        RecognizerKind::List(_) | RecognizerKind::Builtin(_) => &[],
    });
    let bytes = |compiled: Result<Compiled, PatternError>| compiled.map_or(limits.pattern_bytes, |one| one.bytes);
    let own: usize = recognizers.map(|pattern| bytes(compile(pattern, limits.pattern_bytes))).sum();
    let mut of_schemas = Vec::new();
    module.functions.iter().for_each(|function| collect(&function.parameters, &mut of_schemas));
    own + of_schemas.into_iter().map(|pattern| bytes(compile_of_schema(pattern, limits.pattern_bytes))).sum::<usize>()
}

/// The patterns in a schema. Something that only looks like a pattern, for instance in an example, compiles quickly.
fn collect<'s>(schema: &'s Value, patterns: &mut Vec<&'s str>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("pattern", Value::String(pattern)) => patterns.push(pattern),
                    ("patternProperties", Value::Object(schemas)) => {
                        patterns.extend(schemas.keys().map(String::as_str));
                    }
                    _ => {}
                }
                collect(value, patterns);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, patterns)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
