//! What agent libraries send, turn by turn, until their task is done.

use serde_json::{Value, json};

use super::{calls, complete, lights, read, tool, user, with};
use crate::support::Service;

const KITCHEN: &str = "switch the lights in the kitchen off";

fn content(completion: &Value) -> &str {
    completion["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("no words: {completion}"))
}

fn off() -> Value {
    json!({"room": "kitchen", "state": "off"})
}

/// smolagents: every step is a call, results come back in the person's name, and a call of `final_answer` ends the
/// task.
#[tokio::test]
async fn a_task_that_ends_by_a_call() {
    let service = Service::new(&[]);
    let answer = json!({"type": "object", "properties": {"answer": {"type": "string", "description": "The final answer"}},
        "required": ["answer"]});
    let ending = tool("final_answer", "Provides a final answer to the given problem.", &answer);
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let mut messages = vec![text("system", "You are an expert."), text("user", &format!("New task:\n{KITCHEN}"))];
    let body = |messages: &[Value]| json!({"model": "uptake", "messages": messages, "tools": [lights(), ending], "tool_choice": "required"});
    let completion = read(&complete(&service, &body(&messages)).await);
    assert_eq!(calls(&completion), [("set_lights".to_owned(), off())], "{completion}");
    messages.push(text(
        "assistant",
        "Calling tools:\n[{'id': 'a', 'type': 'function', 'function': {'name': 'set_lights', \
        'arguments': {'room': 'kitchen', 'state': 'off'}}}]",
    ));
    messages.push(text("user", "Observation:\nThe kitchen is dark."));
    let completion = read(&complete(&service, &body(&messages)).await);
    let expected = [("final_answer".to_owned(), json!({"answer": "The kitchen is dark."}))];
    assert_eq!(calls(&completion), expected, "{completion}");
    assert_eq!(completion["choices"][0]["finish_reason"], "tool_calls");
    // A task that cannot be done ends too, without asking which of two functions may be meant.
    let ping = tool("list_devices", "List all devices", &json!({"type": "object", "properties": {}}));
    let body = with(&body(&[text("user", "New task:\nhello")]), &json!({"tools": [lights(), ping, ending]}));
    let completion = read(&complete(&service, &body).await);
    let expected = [("final_answer".to_owned(), json!({"answer": "Hello! What can I do for you?"}))];
    assert_eq!(calls(&completion), expected, "{completion}");
}

/// Pydantic AI: the final answer is an object, as the arguments of a call.
#[tokio::test]
async fn a_task_that_ends_by_a_call_with_members_of_the_results() {
    let service = Service::new(&[]);
    let report = json!({"type": "object", "properties": {"room": {"type": "string"}, "watts": {"type": "integer"}},
        "required": ["room", "watts"]});
    let ending = tool("final_result", "The final response which ends this conversation", &report);
    let mut body =
        json!({"model": "uptake", "messages": user(KITCHEN), "tools": [lights(), ending], "tool_choice": "required"});
    let completion = read(&complete(&service, &body).await);
    assert_eq!(calls(&completion), [("set_lights".to_owned(), off())], "{completion}");
    let message = completion["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let result = json!({"role": "tool", "tool_call_id": id, "content": "{\"room\": \"kitchen\", \"watts\": 12}"});
    body["messages"].as_array_mut().expect("messages").extend([message, result]);
    let completion = read(&complete(&service, &body).await);
    let expected = [("final_result".to_owned(), json!({"room": "kitchen", "watts": 12}))];
    assert_eq!(calls(&completion), expected, "{completion}");
}

/// Agents that hand over: the next one gets the same messages with its own tools.
#[tokio::test]
async fn what_was_asked_is_taken_up_after_a_handoff() {
    let service = Service::new(&[]);
    let none = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let to_lights = tool("transfer_to_lights_agent", "Handoff to the agent that switches the lights in a room", &none);
    let back = tool("transfer_to_triage_agent", "Handoff to the agent that switches to other agents", &none);
    let mut body = json!({"model": "uptake", "messages": user(KITCHEN), "tools": [to_lights]});
    let completion = read(&complete(&service, &body).await);
    assert_eq!(calls(&completion), [("transfer_to_lights_agent".to_owned(), json!({}))], "{completion}");
    let add = |body: &mut Value, completion: &Value, result: &str| {
        let message = completion["choices"][0]["message"].clone();
        let id = message["tool_calls"][0]["id"].clone();
        let messages = body["messages"].as_array_mut().expect("messages");
        messages.extend([message, json!({"role": "tool", "tool_call_id": id, "content": result})]);
    };
    add(&mut body, &completion, "{\"assistant\": \"Lights Agent\"}");
    body["tools"] = json!([lights(), back]);
    let completion = read(&complete(&service, &body).await);
    assert_eq!(calls(&completion), [("set_lights".to_owned(), off())], "{completion}");
    add(&mut body, &completion, "The kitchen is dark.");
    let completion = read(&complete(&service, &body).await);
    assert_eq!((content(&completion), calls(&completion).len()), ("The kitchen is dark.", 0), "{completion}");
}

/// An object is required at the end, and tools before it.
#[tokio::test]
async fn an_object_beside_tools_is_made_of_results() {
    let service = Service::new(&[]);
    let format = |properties: Value| {
        let required: Vec<&String> = properties.as_object().expect("members").keys().collect();
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "report", "strict": true, "schema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false}}}})
    };
    let asking = json!({"model": "uptake", "messages": user(KITCHEN), "tools": [lights()]});
    let report = format(json!({"room": {"type": "string"}, "watts": {"type": "integer"}}));
    let completion = read(&complete(&service, &with(&asking, &report)).await);
    assert_eq!(calls(&completion).len(), 1, "{completion}");
    let message = completion["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let mut body = asking.clone();
    body["messages"].as_array_mut().expect("messages").extend([
        message,
        json!({"role": "tool", "tool_call_id": id, "content": "{\"room\": \"kitchen\", \"watts\": 12, \"took_ms\": 4}"}),
    ]);
    let completion = read(&complete(&service, &with(&body, &report)).await);
    assert_eq!(content(&completion), "{\"room\":\"kitchen\",\"watts\":12}", "{completion}");
    let said = format(json!({"answer": {"type": "string"}}));
    let completion = read(&complete(&service, &with(&body, &said)).await);
    assert!(content(&completion).starts_with("{\"answer\":\"Room kitchen, watts 12"), "{completion}");
    let other = format(json!({"price": {"type": "number"}, "currency": {"type": "string"}}));
    let message = read(&complete(&service, &with(&body, &other)).await)["choices"][0]["message"].clone();
    assert!(message["content"].is_null() && message["refusal"].is_string(), "nothing is made up: {message}");
    let any = json!({"response_format": {"type": "json_object"}});
    let completion = read(&complete(&service, &with(&body, &any)).await);
    let object: Value = serde_json::from_str(content(&completion)).expect("JSON");
    assert!(object["reply"].is_string(), "{completion}");
}

#[tokio::test]
async fn what_is_no_text_is_left_out() {
    let service = Service::new(&[]);
    let parts = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": KITCHEN}]);
    let body = json!({"model": "uptake", "messages": [{"role": "user", "content": parts}], "tools": [lights()]});
    let completion = read(&complete(&service, &body).await);
    assert_eq!(calls(&completion), [("set_lights".to_owned(), off())], "{completion}");
    assert!(completion["uptake"]["notes"].to_string().contains("image_url"), "{completion}");
}
