//! Calls in Python's form: `[f(a="x", b=2), g()]`.

use serde_json::Map;

use super::{MAX_CALLS, WrittenCall, lenient};

/// The calls that begin at `at`, in a list or in a row, and the index of the byte after them. `None` if a part of it is
/// not a call, or does not end: a value without a name does not tell where it belongs.
pub(super) fn calls(text: &str, at: usize) -> Option<(Vec<WrittenCall>, usize)> {
    let mut at = at + blank(&text[at..]);
    let is_list = text[at..].starts_with('[');
    at += usize::from(is_list);
    let mut calls = Vec::new();
    loop {
        at += blank(&text[at..]);
        if is_list && text[at..].starts_with(']') && !calls.is_empty() {
            return Some((calls, at + 1));
        }
        match call(text, at) {
            Some((call, end)) if calls.len() < MAX_CALLS => {
                calls.push(call);
                at = end + blank(&text[end..]);
            }
            Some(_) => return None,
            None => return (!is_list && !calls.is_empty()).then_some((calls, at)),
        }
        let rest = &text[at..];
        if rest.starts_with([',', ';']) {
            at += 1;
        } else if is_list && !rest.starts_with(']') {
            return None;
        }
    }
}

/// True for a line that begins like a call, whether or not it can be read.
pub(super) fn looks_like_call(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('[');
    head(line, 0).is_some_and(|(name, open)| {
        let key = line[open..].trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        name.contains(['_', '.']) || key.trim_start().starts_with('=')
    })
}

/// One call, with or without `print(...)` around it.
fn call(text: &str, at: usize) -> Option<(WrittenCall, usize)> {
    let (name, open) = head(text, at)?;
    if name == "print" {
        let within = open + blank(&text[open..]);
        let (name, open) = head(text, within)?;
        let (call, end) = arguments(text, name, open)?;
        let end = end + blank(&text[end..]);
        return text[end..].starts_with(')').then_some((call, end + 1));
    }
    arguments(text, name, open)
}

/// The name at `at`, and the index of the byte after its bracket.
fn head(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &text[at..];
    let length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/')))?;
    let is_name = rest.starts_with(|c: char| c.is_alphabetic() || c == '_') && rest[length..].starts_with('(');
    is_name.then(|| (&rest[..length], at + length + 1))
}

fn arguments(text: &str, name: &str, mut at: usize) -> Option<(WrittenCall, usize)> {
    let mut arguments = Map::new();
    loop {
        at += blank(&text[at..]);
        if text[at..].starts_with(')') {
            // Built-in tools of a model are `NAME.call(...)`.
            let name = name.strip_suffix(".call").unwrap_or(name);
            return Some((WrittenCall::new(name, arguments), at + 1));
        }
        let rest = &text[at..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        let key = &rest[..length];
        at += length + blank(&rest[length..]);
        if key.is_empty() || !text[at..].starts_with('=') {
            return None;
        }
        let value = lenient::value_at(text, at + 1, true).filter(|value| !value.is_open)?;
        arguments.insert(key.to_owned(), value.value);
        at = value.place.end;
        at += blank(&text[at..]);
        if text[at..].starts_with(',') {
            at += 1;
        } else if !text[at..].starts_with(')') {
            return None;
        }
    }
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
