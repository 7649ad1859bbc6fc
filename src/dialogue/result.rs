//! What a call came to, as whoever made it tells.
//!
//! Results have no schema: a text, JSON, or what the Model Context Protocol wraps around either. What tells of a
//! failure is read from the marks that tools and the libraries around them use.

use serde_json::{Map, Value};

use crate::text::foreign::lines;

/// Members that say why something failed, the better ones first.
const REASONS: [&str; 6] = ["message", "detail", "reason", "error", "description", "title"];
/// How texts of failures begin, in lower case.
const FAILED: [&str; 13] = [
    "error:",
    "error executing",
    "error running",
    "error calling",
    "error while",
    "an error occurred",
    "exception:",
    "traceback (most recent call last)",
    "failed:",
    "failed to ",
    "failure:",
    "encountered error",
    "tool execution failed",
];

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallResult {
    /// The function's name, if it is known.
    pub function: Option<String>,
    /// What it was called with.
    pub arguments: Map<String, Value>,
    /// As the client tells it.
    pub text: String,
}

impl CallResult {
    /// The result without what is wrapped around it: JSON as it is, anything else as a text.
    #[must_use]
    pub fn value(&self) -> Value {
        unwrapped(parsed(&self.text))
    }

    /// Why it failed, as far as it says; `None` if it did not.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let whole = parsed(&self.text);
        let is_marked = ["isError", "is_error"].iter().any(|mark| whole.get(mark) == Some(&Value::Bool(true)));
        let value = bare(unwrapped(whole));
        if is_marked { Some(reason(&value)) } else { failure(&value) }
    }
}

fn parsed(text: &str) -> Value {
    let trimmed = text.trim();
    harmless(serde_json::from_str(trimmed).unwrap_or_else(|_| Value::String(trimmed.to_owned())))
}

/// What a service says is shown to people: nothing in it is for their terminal.
fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(lines(&text)),
        Value::Array(items) => items.into_iter().map(harmless).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (lines(&key), harmless(value))).collect(),
        other => other,
    }
}

/// What stands in a result of the Model Context Protocol, or in parts of a message.
fn unwrapped(value: Value) -> Value {
    if let Some(structured) = value.get("structuredContent").filter(|structured| structured.is_object()) {
        return structured.clone();
    }
    let parts = value.get("content").filter(|_| value.is_object()).unwrap_or(&value);
    let text = |part: &Value| {
        let is_text = part.get("type").and_then(Value::as_str) == Some("text");
        part.get("text").and_then(Value::as_str).filter(|_| is_text).map(str::to_owned)
    };
    match parts.as_array().map(|parts| parts.iter().map(text).collect::<Option<Vec<String>>>()) {
        Some(Some(texts)) if !texts.is_empty() => parsed(&texts.join("\n")),
        _ => value,
    }
}

/// The result itself, where a library made an object of a text that a function gave back.
pub(crate) fn bare(value: Value) -> Value {
    match value.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("result")) {
        Some(Value::String(text)) => parsed(text),
        _ => value,
    }
}

fn failure(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let begins: String = text.chars().take(60).flat_map(char::to_lowercase).collect();
            let is_failure = FAILED.iter().any(|mark| begins.starts_with(mark)) || is_exception(text);
            is_failure.then(|| reason(value))
        }
        Value::Object(members) => {
            let is_set = |key: &str| match members.get(key) {
                None | Some(Value::Null | Value::Bool(false)) => false,
                Some(Value::String(text)) => !text.is_empty(),
                Some(Value::Array(items)) => !items.is_empty(),
                Some(Value::Object(members)) => !members.is_empty(),
                Some(_) => true,
            };
            let is_false = |key: &str| members.get(key) == Some(&Value::Bool(false));
            let status = members.get("status").and_then(Value::as_str).unwrap_or_default().to_lowercase();
            let is_failure = ["error", "errors"].iter().any(|key| is_set(key))
                || ["success", "ok"].iter().any(|key| is_false(key))
                || matches!(status.as_str(), "error" | "failed" | "failure" | "fail");
            is_failure.then(|| reason(value))
        }
        _ => None,
    }
}

/// True for `ValueError: no such city`.
fn is_exception(text: &str) -> bool {
    let name: &str = text.split([':', '(']).next().unwrap_or_default();
    let is_word = !name.is_empty() && name.len() < text.len() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// In one text what a failure says of itself; empty if nothing.
fn reason(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let said = text.trim();
            let bare = ["Error:", "error:", "ERROR:"].iter().find_map(|mark| said.strip_prefix(mark));
            bare.unwrap_or(said).trim().to_owned()
        }
        Value::Object(members) => {
            let errors = members.get("errors").and_then(Value::as_array).and_then(|errors| errors.first());
            let inner = members.get("error").filter(|error| error.is_object()).or(errors);
            let own = || REASONS.iter().find_map(|key| members.get(*key)?.as_str().map(str::to_owned));
            inner.map(reason).filter(|text| !text.is_empty()).or_else(own).unwrap_or_default()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(text: impl Into<String>) -> CallResult {
        CallResult { text: text.into(), ..CallResult::default() }
    }

    #[test]
    fn what_a_service_says_acts_on_no_terminal() {
        for text in ["a\u{1b}[31mb\u{202e}", r#"{"result": "a\u001b[31mb\u202e"}"#] {
            let result = CallResult { text: text.to_owned(), ..CallResult::default() };
            assert!(!result.value().to_string().contains(['\u{1b}', '\u{202e}']), "{:?}", result.value());
            assert!(!result.value().to_string().contains("u001b"), "{:?}", result.value());
        }
    }

    #[test]
    fn results_are_unwrapped() {
        for (text, expected) in [
            ("sunny, 21 degrees".to_owned(), json!("sunny, 21 degrees")),
            ("21.5".to_owned(), json!(21.5)),
            (json!({"id": 7}).to_string(), json!({"id": 7})),
            (
                json!([{"type": "text", "text": "sunny"}, {"type": "text", "text": "warm"}]).to_string(),
                json!("sunny\nwarm"),
            ),
            (
                json!({"content": [{"type": "text", "text": "{\"id\": 7}"}], "isError": false}).to_string(),
                json!({"id": 7}),
            ),
            (json!({"content": [], "structuredContent": {"id": 7}}).to_string(), json!({"id": 7})),
            (json!({"content": "a page"}).to_string(), json!({"content": "a page"})),
            (String::new(), json!("")),
        ] {
            assert_eq!(result(text.clone()).value(), expected, "{text}");
        }
    }

    #[test]
    fn failures_say_so() {
        for (text, expected) in [
            ("Error: no such account".to_owned(), Some("no such account")),
            ("Error executing tool pay: refused".to_owned(), Some("Error executing tool pay: refused")),
            ("ValueError: no such city".to_owned(), Some("ValueError: no such city")),
            (json!({"error": "refused"}).to_string(), Some("refused")),
            (json!({"error": {"code": 4, "message": "refused"}}).to_string(), Some("refused")),
            (json!({"errors": [{"detail": "refused"}]}).to_string(), Some("refused")),
            (json!({"success": false, "message": "refused"}).to_string(), Some("refused")),
            (json!({"status": "failed"}).to_string(), Some("")),
            (json!({"content": [{"type": "text", "text": "refused"}], "isError": true}).to_string(), Some("refused")),
            (json!({"error": null, "id": 7}).to_string(), None),
            (json!({"success": true}).to_string(), None),
            ("Failed logins: 3".to_owned(), None),
            ("Errors in your text are marked".to_owned(), None),
            ("no error".to_owned(), None),
        ] {
            assert_eq!(result(text.clone()).failure().as_deref(), expected, "{text}");
        }
    }
}
