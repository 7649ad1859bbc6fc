//! The Responses API of `OpenAI`, as its clients speak it.

mod hostile;
mod kept;
mod requests;
mod stream;
mod talks;

use serde_json::{Value, json};

use crate::{
    http::chat::{SEATTLE, with},
    support::{Answer, Service},
};

async fn respond(service: &Service, body: &Value) -> Answer {
    service.post("/v1/responses", body.to_string()).await
}

/// The response, which must be successful and complete.
#[track_caller]
fn read(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let response = answer.json();
    assert_eq!((&response["object"], &response["status"]), (&json!("response"), &json!("completed")), "{response}");
    assert!(response["id"].as_str().is_some_and(|id| id.starts_with("resp_")), "{response}");
    response
}

fn asking(input: &Value) -> Value {
    json!({"model": "weather", "input": input})
}

/// A request that continues this response.
fn after(response: &Value, input: &Value) -> Value {
    with(&asking(input), &json!({"previous_response_id": response["id"]}))
}

/// The `(name, arguments)` of the calls.
fn calls(response: &Value) -> Vec<(String, Value)> {
    let items = response["output"].as_array().expect("items");
    let read = |item: &Value| {
        let arguments = item["arguments"].as_str().expect("a string");
        (item["name"].as_str().expect("a name").to_owned(), serde_json::from_str(arguments).expect("JSON"))
    };
    items.iter().filter(|item| item["type"] == "function_call").map(read).collect()
}

/// The only text.
#[track_caller]
fn said(response: &Value) -> &str {
    assert_eq!(response["output"].as_array().map(Vec::len), Some(1), "{response}");
    response["output"][0]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no words: {response}"))
}

fn forecast() -> [(String, Value); 1] {
    [("get_n_day_forecast".to_owned(), json!({"location": "Seattle, WA", "format": "celsius", "num_days": 3}))]
}

/// The output of the first call.
fn output(response: &Value, text: &str) -> Value {
    json!([{"type": "function_call_output", "call_id": response["output"][0]["call_id"], "output": text}])
}

/// A tool that no module has.
fn lights() -> Value {
    json!({
        "type": "function", "name": "set_lights", "description": "Switch the lights in a room on or off", "strict": true,
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"type": "string", "enum": ["kitchen", "bedroom", "hall"]},
                "state": {"type": "string", "enum": ["on", "off"]},
            },
            "required": ["room", "state"], "additionalProperties": false,
        },
    })
}
