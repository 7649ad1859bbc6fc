//! What agent libraries write into messages: results as plain text, tasks with a marker, handovers between agents.

use serde_json::Value;

use crate::understand::CallResult;

/// Prefixes of `user` messages that are results of a call, each with the text that follows the result, if any.
const RESULTS: [(&str, Option<&str>); 9] = [
    ("Observation:", None),
    ("Tool response:", None),
    ("Tool Response:", None),
    ("Tool result:", None),
    ("Tool Result:", None),
    ("Tool output:", None),
    ("Function result:", None),
    ("<tool_response>", Some("</tool_response>")),
    ("[TOOL_RESULTS]", Some("[/TOOL_RESULTS]")),
];
/// Prefixes of failed results. They are kept, because they name the failure.
const FAILURES: [&str; 2] = ["Error:\n", "Call id:"];
/// Prefixes of tasks that a person gave, each with the text behind the task that tells a model how to answer.
const TASKS: [(&str, Option<&str>); 2] =
    [("New task:\n", None), ("Current Task:", Some("\n\nThis is the expected criteria for your final answer:"))];
/// Prefix of an assistant's text that is a call.
const CALLS: &str = "Calling tools:";
/// Prefixes of functions that hand over to another agent.
const HANDOFFS: [&str; 5] = ["transfer_to_", "transfer_back_to_", "handoff_to_", "hand_off_to_", "handoff"];
/// Arguments that handover functions take.
const HANDOFF_ARGUMENTS: [&str; 8] =
    ["agent", "agent_name", "assistant", "reason", "message", "context", "input", "task"];
/// What results of handovers say, in lower case.
const HANDED_OFF: [&str; 5] = ["transferred to", "handed off", "handoff", "handing off", "adopting the role"];
/// Prefixes, in lower case, of results by which another agent hands the conversation back; and the prefix that needs no
/// function for it.
const HANDED_BACK: [&str; 4] =
    ["successfully transferred back to", "transferred back to", "transferring back to", "handed back to"];
const SURELY_HANDED_BACK: &str = "successfully transferred back to ";
/// Ending functions of agents that must call a function in every step.
pub(super) const ENDINGS: [&str; 2] = ["final_answer", "final_result"];

/// The result in a `user` message; `None` if the person wrote it.
pub(super) fn result(text: &str) -> Option<String> {
    let text = text.trim_start();
    let marked = RESULTS.iter().find_map(|(mark, end)| {
        let inner = text.strip_prefix(mark)?.trim();
        Some(end.and_then(|end| inner.strip_suffix(end)).unwrap_or(inner).trim().to_owned())
    });
    marked.or_else(|| FAILURES.iter().any(|mark| text.starts_with(mark)).then(|| failure(text)))
}

/// The text of the error, without the advice to the model that follows it.
fn failure(text: &str) -> String {
    let error = text.find("Error:").map_or(text, |at| &text[at..]);
    error.split("\nNow let's retry").next().unwrap_or(error).trim().to_owned()
}

/// The person's words, without the library's text around them.
pub(super) fn task(text: &str) -> &str {
    let found = TASKS.iter().find_map(|(mark, end)| {
        let task = text.trim_start().strip_prefix(mark)?;
        Some(end.and_then(|end| task.split_once(end)).map_or(task, |(task, _)| task).trim())
    });
    found.unwrap_or(text)
}

/// The names of the functions that an assistant's text calls.
pub(super) fn called(text: &str) -> Vec<String> {
    let Some(calls) = text.trim_start().strip_prefix(CALLS) else { return Vec::new() };
    // Either Python's notation of a list, or JSON.
    let names = ["'name':", "\"name\":"].iter().flat_map(|key| calls.split(key).skip(1)).filter_map(|rest| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        rest[1..].split(quote).next().map(str::to_owned)
    });
    names.collect()
}

/// True for a call that hands over to another agent: the person's request is not yet done.
pub(super) fn is_handoff(result: &CallResult) -> bool {
    let name = result.function.as_deref().unwrap_or_default();
    let is_named = HANDOFFS.iter().any(|handoff| name.starts_with(handoff));
    let is_plain = result.arguments.keys().all(|key| HANDOFF_ARGUMENTS.contains(&key.as_str()));
    is_named && is_plain && says_handoff(&result.value())
}

/// True for a call by which another agent gives the conversation back: what it said is the answer.
pub(super) fn is_hand_back(result: &CallResult) -> bool {
    let value = result.value();
    let text = value.as_str().unwrap_or_default().trim().to_lowercase();
    let name = result.function.as_deref().unwrap_or_default();
    let is_named = HANDOFFS.iter().any(|handoff| name.starts_with(handoff));
    let to = text.strip_prefix(SURELY_HANDED_BACK);
    is_named && HANDED_BACK.iter().any(|mark| text.starts_with(mark)) || to.is_some_and(|to| !to.contains(' '))
}

fn says_handoff(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(true) => true,
        Value::String(text) => {
            let text = text.to_lowercase();
            text.is_empty() || HANDED_OFF.iter().any(|mark| text.contains(mark))
        }
        Value::Object(members) => members.iter().all(|(key, value)| match key.as_str() {
            "assistant" | "agent" | "agent_name" => true,
            "result" | "message" | "status" | "output" => says_handoff(value),
            _ => false,
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn results_are_told_from_what_people_say() {
        for (text, expected) in [
            ("Observation:\n21 degrees", Some("21 degrees")),
            ("Tool response: {\"id\": 7}", Some("{\"id\": 7}")),
            ("<tool_response>\n{\"id\": 7}\n</tool_response>", Some("{\"id\": 7}")),
            ("Error:\nno such city\nNow let's retry: take care not to", Some("Error:\nno such city")),
            ("Call id: 4\nError:\nno such city\nNow let's retry", Some("Error:\nno such city")),
            ("My observation: it is cold", None),
            ("observations of birds", None),
        ] {
            assert_eq!(result(text).as_deref(), expected, "{text}");
        }
        assert_eq!(task("New task:\nhow warm is it?"), "how warm is it?");
        let crew = "\nCurrent Task: how warm is it?\n\nThis is the expected criteria for your final answer: a number\nyou MUST";
        assert_eq!(task(crew), "how warm is it?");
        assert_eq!(task("a new task"), "a new task");
    }

    #[test]
    fn calls_in_texts_are_named() {
        let text = "Calling tools:\n[{'id': '1', 'type': 'function', 'function': {'name': 'pay', 'arguments': {'to': 'mum'}}}]";
        assert_eq!(called(text), ["pay"]);
        assert_eq!(called("Calling tools:\n[{\"function\": {\"name\": \"pay\"}}]"), ["pay"]);
        assert_eq!(called("I am calling tools: 'name': 'pay'"), Vec::<String>::new());
        assert_eq!(called("Calling tools: 'name': ü"), Vec::<String>::new());
    }

    #[test]
    fn a_handoff_is_named_and_says_so() {
        let handoff = |function: &str, arguments: &Value, text: &str| {
            let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
            is_handoff(&CallResult { function: Some(function.into()), arguments, text: text.into() })
        };
        let none = json!({});
        assert!(handoff("transfer_to_sales_agent", &none, "{\"assistant\": \"Sales\"}"));
        assert!(handoff("transfer_to_bob", &none, "Successfully transferred to bob"));
        assert!(handoff("transfer_to_agent", &json!({"agent_name": "sales"}), "{\"result\": null}"));
        assert!(!handoff("transfer_to_account", &json!({"amount": 5}), ""));
        assert!(!handoff("transfer_to_account", &none, "{\"id\": 7}"));
        assert!(!handoff("get_weather", &none, "handoff"));
        let back = |text: &str| is_hand_back(&CallResult { text: text.into(), ..CallResult::default() });
        assert!(back("Successfully transferred back to supervisor"));
        assert!(!back("Successfully transferred to bob") && !back("Transferred back to Anna"));
    }
}
