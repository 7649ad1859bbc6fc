//! Calls that begin with the bare name of the function: `NAME[ARGS]{...}` and similar, a name followed by `<arg_key>`,
//! and calls in Python's form.

use serde_json::{Map, Value};

use super::{WrittenCall, json, markup, python, thoughts};

/// Separators between the name and the object, or around the name.
const SEPARATORS: [&str; 8] = [
    "[ARGS]",
    "<|tool_call_argument_begin|>",
    "<｜tool▁sep｜>",
    "<|constrain|>",
    thoughts::MESSAGE,
    "<|plugin|>",
    "```json",
    "```",
];
/// Words beside the name that say what kind of thing it is.
const KINDS: [&str; 3] = ["function", "json", "commentary"];
/// Prefixes of the token that contains the name.
const PREFIXES: [&str; 2] = ["to=", "call:"];
/// Longest name, in bytes.
const LONGEST_NAME: usize = 128;
/// Longest name including the text around it, in bytes.
const LONGEST_HEAD: usize = 300;

/// The calls at `at`, and the index of the byte after them.
pub(super) fn calls_at(text: &str, at: usize, close: &str) -> Option<(Vec<WrittenCall>, usize)> {
    let in_pairs = || with_pairs(text, at, close).map(|(call, end)| (vec![call], end));
    let with_object = || with_object(text, at, close).map(|(call, end)| (vec![call], end));
    python::calls(text, at).or_else(in_pairs).or_else(with_object)
}

/// A name followed by keys and values in tags, possibly none. Only the mark after it shows that it is complete.
fn with_pairs(text: &str, at: usize, close: &str) -> Option<(WrittenCall, usize)> {
    let rest = &text[at..];
    let length = rest.find(|c: char| c.is_whitespace() || c == '<')?;
    let name = &rest[..length];
    let (arguments, end) = markup::pairs(text, at + length)?;
    let is_closed = !close.is_empty() && text[end..].trim_start().starts_with(close);
    (is_closed && is_name(name)).then(|| (WrittenCall::new(name, arguments), end))
}

/// A name, a mark, and an object.
fn with_object(text: &str, at: usize, close: &str) -> Option<(WrittenCall, usize)> {
    let brace = text[at..].find('{').filter(|brace| *brace <= LONGEST_HEAD)?;
    let name = name_in(&text[at..at + brace])?;
    let (value, end) = json::closed_value(text, at + brace, close)?;
    let Value::Object(arguments) = value else { return None };
    Some((WrittenCall::new(&name, unwrapped(&name, arguments)), end))
}

/// The single name in the text before an object.
fn name_in(head: &str) -> Option<String> {
    // A call id may stand between the name and the arguments.
    let mut head = match head.split_once("[CALL_ID]") {
        Some((name, rest)) => format!("{name} {}", rest.split_once("[ARGS]").map_or("", |(_, rest)| rest)),
        None => head.to_owned(),
    };
    for separator in SEPARATORS {
        head = head.replace(separator, " ");
    }
    let mut names = head.split_whitespace().filter(|word| !KINDS.contains(word));
    let name = names.next().filter(|_| names.next().is_none())?;
    let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    // The number of the call: `functions.NAME:0`.
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    is_name(name).then(|| name.to_owned())
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_NAME
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))
}

/// The arguments; if the object repeats the whole call, those inside it.
fn unwrapped(name: &str, object: Map<String, Value>) -> Map<String, Value> {
    let is_whole = object.get("name").and_then(Value::as_str) == Some(name);
    match object.get("arguments") {
        Some(Value::Object(inner)) if is_whole => inner.clone(),
        _ => object,
    }
}
