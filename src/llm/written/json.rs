//! Calls as objects, `{"name": ..., "arguments": ...}`, in lists, and in wrappers that models put around them.

use serde_json::{Map, Value};

use super::{MAX_CALLS, WrittenCall, lenient};

/// Members that name the function, hold its arguments, hold a list of calls or a single call, or carry no information.
const NAMES: [&str; 7] = ["name", "tool", "tool_name", "function_name", "function", "recipient_name", "action"];
const ARGUMENTS: [&str; 7] = ["arguments", "parameters", "args", "input", "kwargs", "action_input", "tool_input"];
const LISTS: [&str; 3] = ["tool_calls", "calls", "function_calls"];
const WRAPPERS: [&str; 4] = ["tool_call", "call", "function_call", "function"];
const IDLE: [&str; 4] = ["type", "id", "index", "description"];

/// The calls at `at`, and the index of the byte after the value. `close` ends a value whose own brackets are not
/// closed.
pub(super) fn calls_at(text: &str, at: usize, close: &str) -> Option<(Vec<WrittenCall>, usize)> {
    let (value, end) = closed_value(text, at, close)?;
    let calls = calls_of(&value);
    (!calls.is_empty()).then_some((calls, end))
}

/// The value at `at`, if its own brackets or the mark after it close it, and the index of the byte after it.
pub(super) fn closed_value(text: &str, at: usize, close: &str) -> Option<(Value, usize)> {
    if let Some(found) = lenient::value_at(text, at, false).filter(|found| !found.is_open) {
        return Some((found.value, found.place.end));
    }
    let length = Some(close).filter(|close| !close.is_empty()).and_then(|close| text[at..].find(close))?;
    let inner = text[at..at + length].trim_end();
    let found = lenient::value_at(inner, 0, false).filter(|found| !found.is_cut && found.place.end == inner.len())?;
    Some((found.value, at + length))
}

/// The calls in a value; empty if it is not a call.
pub(super) fn calls_of(value: &Value) -> Vec<WrittenCall> {
    let mut calls = match value {
        Value::Array(items) => items.iter().take(MAX_CALLS).flat_map(|item| of_object(item.as_object())).collect(),
        other => of_object(other.as_object()),
    };
    calls.truncate(MAX_CALLS);
    calls
}

fn of_object(object: Option<&Map<String, Value>>) -> Vec<WrittenCall> {
    let Some(object) = object else { return Vec::new() };
    if let Some(list) = LISTS.iter().find_map(|key| object.get(*key)?.as_array()) {
        return list.iter().take(MAX_CALLS).filter_map(|item| one(item.as_object()?)).collect();
    }
    one(object).into_iter().collect()
}

fn one(object: &Map<String, Value>) -> Option<WrittenCall> {
    let object = WRAPPERS.iter().find_map(|key| object.get(*key)?.as_object()).unwrap_or(object);
    let (key, name) = NAMES.iter().find_map(|key| Some((*key, object.get(*key)?.as_str()?)))?;
    let arguments = match ARGUMENTS.iter().find_map(|key| object.get(*key)) {
        Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        // The arguments stand beside the name.
        None => {
            let mut rest = object.clone();
            rest.retain(|member, _| member != key && !IDLE.contains(&member.as_str()));
            Value::Object(rest).to_string()
        }
    };
    Some(WrittenCall { name: name.to_owned(), arguments })
}
