//! The chat completions of the `OpenAI` API, as its clients speak them.

mod answers;
mod dialogue;
mod frameworks;
pub(super) mod front;
mod frontends;
mod heavy;
mod models;
mod objects;
mod offered;
mod recorded;
mod requests;
pub(super) mod stream;
mod tools;
mod words;

use std::sync::Arc;

use serde_json::{Value, json};
use uptake::{
    http::HttpOptions,
    llm::{Server, scripted::Scripted},
    understand::UnderstandOptions,
};

use crate::support::{Answer, Service};

pub(super) const SEATTLE: &str = "how cold will it be in seattle in the next 3 days, in celsius?";

async fn complete(service: &Service, body: &Value) -> Answer {
    service.post("/v1/chat/completions", body.to_string()).await
}

/// The answer, which must be successful.
#[track_caller]
fn read(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// `base` with these members replaced or added.
pub(super) fn with(base: &Value, members: &Value) -> Value {
    let mut body = base.clone();
    for (key, value) in members.as_object().expect("members") {
        body[key] = value.clone();
    }
    body
}

fn user(said: &str) -> Value {
    json!([{"role": "user", "content": said}])
}

fn asking_weather(said: &str) -> Value {
    json!({"model": "weather", "messages": user(said)})
}

/// The `(name, arguments)` of the calls.
fn calls(completion: &Value) -> Vec<(String, Value)> {
    let calls = completion["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    let read = |call: &Value| {
        let function = &call["function"];
        let arguments = serde_json::from_str(function["arguments"].as_str().expect("a string")).expect("JSON");
        (function["name"].as_str().expect("a name").to_owned(), arguments)
    };
    calls.iter().map(read).collect()
}

/// A service with a module that sends money after a yes, and tells a balance.
fn bank() -> Service {
    let service = Service::new(&[]);
    write_bank(&service);
    service
}

fn write_bank(service: &Service) {
    let schema = json!([
        {"name": "transfer_money", "description": "Send money to another person", "parameters": {"type": "object",
            "properties": {"amount": {"type": "integer"}, "recipient": {"type": "string", "enum": ["mum", "Ann"]}},
            "required": ["amount", "recipient"]}},
        {"name": "get_balance", "description": "Tell how much money is in the account", "parameters": {"type": "object",
            "properties": {}}},
    ]);
    let exemplars = json!({
        "transfer_money": [{"template": "send <amount> dollars to <recipient>"}, {"template": "send money to <recipient>"}],
        "get_balance": [{"template": "what is my balance"}, {"template": "how much money do I have"}],
    });
    let settings = "[functions.transfer_money]\nconfirm = true\n[functions.transfer_money.slots]\n\
                    amount = { question = \"How much?\" }\n";
    service.write("bank", "schema.json", &schema.to_string());
    service.write("bank", "exemplars.json", &exemplars.to_string());
    service.write("bank", "module.toml", settings);
}

/// A tool that no module has.
fn lights() -> Value {
    json!({"type": "function", "function": {
        "name": "set_lights", "description": "Switch the lights in a room on or off", "strict": true,
        "parameters": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {
                "room": {"type": "string", "enum": ["kitchen", "bedroom", "hall"]},
                "state": {"type": "string", "enum": ["on", "off"]},
            },
            "required": ["room", "state"], "additionalProperties": false,
        },
    }})
}

fn tool(name: &str, description: &str, parameters: &Value) -> Value {
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

/// A service that asks this model whenever it may.
fn asking(modules: &[&str], chat: &Scripted) -> Service {
    let turns = UnderstandOptions { sure: 1.1, ..UnderstandOptions::default() };
    let server = Server::new(Arc::new(chat.clone()));
    Service::asking(modules, HttpOptions::default(), turns, vec![server])
}

/// The request with a strategy that asks a model server, whatever its module says.
fn by_tools(body: &Value) -> Value {
    with(body, &json!({"uptake": {"strategy": "tools"}}))
}
