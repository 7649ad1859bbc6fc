//! The result of a call, as the caller reports it.
//!
//! Results have no schema: a text, JSON, or what the Model Context Protocol wraps around either. Failures are
//! recognized by the marks that tools and the libraries around them use.

use serde_json::{Map, Value};

use crate::{llm::written::lenient, text::foreign::lines};

/// Members that give the reason of a failure, in order of preference.
const REASONS: [&str; 6] = ["message", "detail", "reason", "error", "description", "title"];
/// The beginnings of failure texts, in lower case.
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

/// Members and texts that say only that something was done, in lower case.
const DONE: [&str; 10] =
    ["ok", "okay", "done", "success", "succeeded", "successful", "completed", "complete", "true", "accepted"];
/// Members that say so, or that say nothing about what was found.
const MARKS: [&str; 8] = ["ok", "success", "successful", "succeeded", "done", "status", "result", "code"];
/// Words for who refuses a call, for the refusal, and for what is refused, as lower-case texts have them.
const PERSONS: [&str; 6] = ["user", "human", "person", "operator", "reviewer", "customer"];
const REFUSED: [&str; 9] =
    ["rejected", "denied", "declined", "refused", "disapproved", "cancelled", "canceled", "vetoed", "aborted"];
const CALLS: [&str; 6] = ["tool", "function", "call", "action", "execution", "request"];
const UNWANTED: [&str; 5] = ["doesn't want", "does not want", "did not approve", "didn't approve", "chose not to"];
/// How many words of a text are searched for a refusal.
const REFUSAL_WORDS: usize = 14;

/// The kind of result of a call, as far as the reply depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResultKind {
    /// A person, or the client for them, did not allow the call.
    Refused,
    /// It failed; the reason, if one is given.
    Failed(String),
    /// It was done, and nothing else is reported.
    Done,
    /// It found nothing.
    Nothing,
    /// There is something to report.
    Told,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallResult {
    /// The function's name, if it is known.
    pub function: Option<String>,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The result as the client reports it.
    pub text: String,
}

impl CallResult {
    /// The result without its wrapping: JSON as it is, anything else as a text.
    #[must_use]
    pub fn value(&self) -> Value {
        unwrapped(parsed(&self.text))
    }

    /// The reason of a failure, if one is given; `None` if it did not fail.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let whole = parsed(&self.text);
        let is_marked = ["isError", "is_error"].iter().any(|mark| whole.get(mark) == Some(&Value::Bool(true)));
        let value = bare(unwrapped(whole));
        if is_marked { Some(reason(&value)) } else { failure(&value) }
    }

    /// The kind of result.
    pub(crate) fn came(&self) -> ResultKind {
        let value = bare(self.value());
        let failure = self.failure();
        let text = failure.as_deref().or(value.as_str()).unwrap_or_default();
        match failure {
            _ if is_refusal(text) => ResultKind::Refused,
            Some(reason) => ResultKind::Failed(reason),
            None if is_only_done(&value) => ResultKind::Done,
            None if is_nothing(&value) => ResultKind::Nothing,
            None => ResultKind::Told,
        }
    }

    /// True if a person, or the client for them, did not allow the call.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.came() == ResultKind::Refused
    }
}

/// True of a text about a veto: "User rejected the tool call", "Tool call execution denied."
fn is_refusal(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let is_end = |c: char| c.is_whitespace() || ",.;:!`\"()".contains(c);
    let words: Vec<&str> = text.split(is_end).filter(|word| !word.is_empty()).take(REFUSAL_WORDS).collect();
    let names = |known: &[&str], word: &&str| known.contains(word);
    let is_verb = |word: &&str| names(&REFUSED, word);
    let lead = words.iter().take_while(|word| !is_verb(word)).count();
    let (before, behind) = (&words[..lead], words.get(lead + 1..).unwrap_or_default());
    let is_about_call = words.iter().any(|word| names(&CALLS, word));
    let by_person = behind.first() == Some(&"by") && behind.iter().take(3).any(|word| names(&PERSONS, word));
    let begins = before.iter().find(|word| **word != "the");
    let person_first = begins.is_some_and(|word| names(&PERSONS, word)) && before.len() < 4;
    let call_first = begins.is_some_and(|word| names(&CALLS[..2], word)) && before.len() < 7 && behind.is_empty();
    let unwanted = begins.is_some_and(|word| names(&PERSONS, word)) && UNWANTED.iter().any(|mark| text.contains(mark));
    let has_verb = lead < words.len();
    has_verb && (by_person && is_about_call || person_first && (is_about_call || behind.is_empty()) || call_first)
        || unwanted && is_about_call
}

/// True of a result that says only that it was done: "ok", `{"success": true}`.
fn is_only_done(value: &Value) -> bool {
    match value {
        Value::Bool(true) => true,
        Value::String(text) => DONE.contains(&text.trim().trim_end_matches(['.', '!']).to_lowercase().as_str()),
        Value::Object(members) if !members.is_empty() => members.iter().all(|(key, member)| {
            let is_mark = MARKS.contains(&key.to_lowercase().as_str());
            member.is_null() || is_mark && (is_only_done(member) || member.as_u64().is_some_and(is_good_status))
        }),
        _ => false,
    }
}

/// True of 0 and of HTTP's success codes.
fn is_good_status(code: u64) -> bool {
    code == 0 || (200..300).contains(&code)
}

/// True of an empty result: `[]`, `{"alerts": []}`.
fn is_nothing(value: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Bool(_) => false,
    };
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => {
            let is_list = |member: &Value| matches!(member, Value::Array(_) | Value::Object(_));
            let is_mark = |(key, member): (&String, &Value)| MARKS.contains(&key.as_str()) && is_only_done(member);
            let mut lists = members.values().filter(|member| is_list(member)).peekable();
            members.is_empty()
                || lists.peek().is_some() && members.iter().all(|member| is_empty(member.1) || is_mark(member))
        }
        _ => false,
    }
}

/// JSON, or JSON in Python's notation; anything else is a text.
fn parsed(text: &str) -> Value {
    let trimmed = text.trim();
    let read = serde_json::from_str(trimmed).ok().or_else(|| lenient::python(trimmed));
    harmless(read.unwrap_or_else(|| Value::String(trimmed.to_owned())))
}

/// A service's texts are shown to people, so control sequences for a terminal are removed.
fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(lines(&text)),
        Value::Array(items) => items.into_iter().map(harmless).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (lines(&key), harmless(value))).collect(),
        other => other,
    }
}

/// The content of a result of the Model Context Protocol, or of the parts of a message.
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

/// The result itself, if a library wrapped a function's text in an object.
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

/// The reason that a failure gives, in one text; empty if it gives none.
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
            (
                "{'temp': 21, 'is_day': True, 'note': None}".to_owned(),
                json!({"temp": 21, "is_day": true, "note": null}),
            ),
            ("['a', 'b']".to_owned(), json!(["a", "b"])),
            ("None".to_owned(), json!(null)),
            ("[see page 3]".to_owned(), json!("[see page 3]")),
            ("{name} is here".to_owned(), json!("{name} is here")),
        ] {
            assert_eq!(result(text.clone()).value(), expected, "{text}");
        }
    }

    #[test]
    fn what_came_is_told_apart() {
        for (text, expected) in [
            ("Tool call execution denied.", ResultKind::Refused),
            (
                "User rejected the tool call for `f` with id call_a. The tool was not executed. Do not retry it.",
                ResultKind::Refused,
            ),
            ("The user doesn't want to proceed with this tool use.", ResultKind::Refused),
            ("Tool execution was rejected by the user", ResultKind::Refused),
            ("Error: user denied the action", ResultKind::Refused),
            ("{\"error\": \"The user declined this request.\"}", ResultKind::Refused),
            ("The user cancelled the order on Monday", ResultKind::Told),
            ("Your request was denied by the bank", ResultKind::Told),
            ("Error: permission denied", ResultKind::Failed("permission denied".into())),
            ("ok", ResultKind::Done),
            ("{\"ok\": true}", ResultKind::Done),
            ("{\"status\": \"success\", \"code\": 200}", ResultKind::Done),
            ("true", ResultKind::Done),
            ("{\"status\": \"delivered\"}", ResultKind::Told),
            ("[]", ResultKind::Nothing),
            ("{}", ResultKind::Nothing),
            ("{\"alerts\": []}", ResultKind::Nothing),
            ("{\"status\": \"ok\", \"results\": [], \"total\": 0}", ResultKind::Nothing),
            ("{\"city\": \"Oslo\", \"alerts\": []}", ResultKind::Told),
            ("0", ResultKind::Told),
        ] {
            assert_eq!(result(text).came(), expected, "{text}");
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
