//! `response_format: json_schema`: the single object in a text.

use serde_json::{Value, json};
use uptake::llm::scripted::Scripted;

use super::{asking, complete, lights, read, user, with};
use crate::support::Service;

fn asking_for(said: &str) -> Value {
    json!({"model": "uptake", "messages": user(said), "response_format": {"type": "json_schema", "json_schema": {
        "name": "reservation", "strict": true, "schema": {
            "type": "object", "additionalProperties": false, "required": ["people", "day", "kind", "note"],
            "properties": {
                "people": {"type": "integer", "description": "how many people"},
                "day": {"type": "string", "format": "date"},
                "kind": {"type": ["string", "null"], "enum": ["lunch", "dinner", null]},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
        }}}, "uptake": {"now": "2026-03-01T09:00:00Z"}})
}

#[tokio::test]
async fn the_object_is_the_content() {
    let service = Service::new(&[]);
    let completion = read(&complete(&service, &asking_for("a table for 4 people tomorrow for dinner")).await);
    let choice = &completion["choices"][0];
    let content: Value = serde_json::from_str(choice["message"]["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(content, json!({"people": 4, "day": "2026-03-02", "kind": "dinner", "note": null}));
    assert_eq!((&choice["finish_reason"], &choice["message"]["refusal"]), (&json!("stop"), &json!(null)));
    assert!(choice["message"].get("tool_calls").is_none());
}

#[tokio::test]
async fn what_may_be_null_is_null_where_it_was_not_said() {
    let service = Service::new(&[]);
    let completion = read(&complete(&service, &asking_for("a table for 4 people tomorrow")).await);
    let content = completion["choices"][0]["message"]["content"].as_str().expect("text");
    assert_eq!(
        serde_json::from_str::<Value>(content).unwrap(),
        json!({"people": 4, "day": "2026-03-02", "kind": null, "note": null})
    );
}

#[tokio::test]
async fn what_is_required_and_was_not_said_is_a_refusal() {
    let service = Service::new(&[]);
    let completion = read(&complete(&service, &asking_for("a table for tomorrow, please")).await);
    let message = &completion["choices"][0]["message"];
    assert_eq!((&message["content"], completion["uptake"]["outcome"].as_str()), (&json!(null), Some("ask")));
    assert_eq!(message["refusal"], "Please tell me how many people.");
}

#[tokio::test]
async fn a_model_server_makes_nothing_up() {
    let chat = Scripted::new().call("reservation", "{\"people\":7,\"day\":\"2026-03-02\",\"kind\":\"lunch\"}");
    let service = asking(&[], &chat);
    let completion = read(&complete(&service, &asking_for("a table for tomorrow, please")).await);
    assert_eq!(completion["choices"][0]["message"]["content"], json!(null), "{completion}");
    assert!(completion["choices"][0]["message"]["refusal"].is_string());
}

#[tokio::test]
async fn tools_that_may_not_be_called_stand_in_no_ones_way() {
    let service = Service::new(&[]);
    let more = json!({"tools": [lights()], "tool_choice": "none"});
    let body = with(&asking_for("a table for 4 people tomorrow for dinner"), &more);
    let completion = read(&complete(&service, &body).await);
    assert!(completion["choices"][0]["message"]["content"].as_str().is_some_and(|text| text.starts_with('{')));
}
