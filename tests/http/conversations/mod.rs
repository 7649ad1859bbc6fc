//! Conversations over several requests: the same dialogue with every way of keeping its state, and what each way must
//! not do.

mod embedding;
mod hostile;
mod messages;
mod sessions;

use serde_json::{Map, Value, json};
use uptake::{
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    http::Conversations,
    llm::Secret,
};

use crate::{
    support::{Answer, Service},
    understand::local::embedder,
};

/// From a greeting to the complete order, piece by piece, with a digression, an omitted slot and a correction.
const SHOES: [&str; 13] = [
    "hello, I'm Jane!",
    "I'd like to order new sneakers",
    "Austin",
    "jane@example.com",
    "black, please",
    "9",
    "is there a shop in Denver?",
    "12 Elm Street",
    "Springfield",
    "62704",
    "skip that",
    "actually, make it size 9.5",
    "yes",
];

fn keeping(sessions: &str, options: &ConversationOptions) -> Conversations {
    let sessions = SessionOptions { url: StoreUrl::new(sessions), ..SessionOptions::default() };
    Conversations::open(&sessions, options).expect("good options")
}

fn signing() -> ConversationOptions {
    ConversationOptions { key: Some(Secret::new("a secret that is long enough")), ..ConversationOptions::default() }
}

async fn shop(conversations: Conversations) -> Service {
    Service::keeping(&["shoes"], embedder().await, conversations)
}

/// One utterance to `/v1/predict`, with these additional members.
async fn predict(service: &Service, utterance: &str, members: Value) -> Answer {
    let mut body = json!({"utterance": utterance, "now": "2026-03-02T09:00:00Z", "strategy": "local"});
    body.as_object_mut().expect("an object").extend(members.as_object().cloned().unwrap_or_default());
    service.post("/v1/predict/shoes", body.to_string()).await
}

#[track_caller]
fn read(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// Names and arguments of the calls of an answer.
fn calls(completion: &Value) -> Vec<(String, Value)> {
    let calls = completion["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    let read = |call: &Value| {
        let function = &call["function"];
        let arguments = function["arguments"].as_str().expect("a string");
        (function["name"].as_str().expect("a name").to_owned(), serde_json::from_str(arguments).expect("JSON"))
    };
    calls.iter().map(read).collect()
}

/// The result of the dialogue: the calls of all its answers.
#[track_caller]
fn is_the_order(made: &[(String, Value)]) {
    let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["find_store", "order_shoes"], "{made:?}");
    assert_eq!(
        made[1].1,
        json!({
            "person": {"first_name": "Jane", "last_name": "Austin", "email": "jane@example.com"},
            "item": {"style": "sneakers", "color": "black", "size": 9.5},
            "shipping_address": {"street": "12 Elm Street", "city": "Springfield", "zip": "62704"},
        })
    );
}

#[tokio::test]
async fn an_echoed_state_carries_an_order_to_its_call() {
    for options in [ConversationOptions::default(), signing()] {
        let prefix = if options.key.is_some() { "s1." } else { "p1." };
        let service = shop(keeping("memory:", &options)).await;
        let (mut state, mut made) = (Value::Null, Vec::new());
        for (turn, said) in SHOES.iter().enumerate() {
            let completion = read(&predict(&service, said, json!({ "state": state })).await);
            let uptake = &completion["uptake"];
            assert_eq!(uptake["turn"], json!(turn + 1), "{said}: {completion}");
            assert!(uptake.get("session").is_none());
            state = uptake["state"].clone();
            assert!(state.as_str().is_some_and(|state| state.starts_with(prefix)), "{completion}");
            made.extend(calls(&completion));
        }
        is_the_order(&made);
    }
}

#[tokio::test]
async fn a_session_carries_an_order_to_its_call() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    let (mut made, mut revisions) = (Vec::new(), Vec::new());
    for (turn, said) in SHOES.iter().enumerate() {
        let completion = read(&predict(&service, said, json!({"session_id": "order-1"})).await);
        let session = &completion["uptake"]["session"];
        assert_eq!((&session["id"], &session["turn"]), (&json!("order-1"), &json!(turn + 1)), "{completion}");
        assert!(completion["uptake"].get("state").is_none(), "{completion}");
        revisions.push(session["revision"].as_u64().expect("a number"));
        made.extend(calls(&completion));
    }
    is_the_order(&made);
    assert!(revisions.windows(2).all(|pair| pair[0] < pair[1]), "{revisions:?}");
}

/// The state may come from any earlier answer, because everything is in the state.
#[tokio::test]
async fn an_echoed_state_can_be_gone_back_to() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    let first = read(&predict(&service, "I'd like to buy some black sneakers in size 9", json!({})).await);
    let state = &first["uptake"]["state"];
    for name in ["Jane", "Tom"] {
        let completion = read(&predict(&service, name, json!({ "state": state })).await);
        let slots = &completion["uptake"]["calls"][0]["slots"];
        assert_eq!(slots["person.first_name"]["value"], json!(name), "{completion}");
        assert_eq!(slots["item.style"]["from"], "earlier", "{completion}");
    }
}

#[tokio::test]
async fn each_answer_tells_what_is_known() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    let completion = read(&predict(&service, "I'd like to buy some black sneakers", json!({})).await);
    let uptake = &completion["uptake"];
    assert_eq!(uptake["outcome"], "ask", "{completion}");
    let summary = uptake["summary"].as_str().expect("a summary");
    assert!(summary.contains("sneakers") && summary.contains("black"), "{summary}");
    assert!(uptake["calls"][0]["missing"].as_array().is_some_and(|missing| missing.contains(&json!("item.size"))));
}

#[tokio::test]
async fn one_language_is_asked_in() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    for (language, status) in [("de-CH", 200), ("no such thing", 400), ("", 400)] {
        let answer = predict(&service, "hello", json!({ "language": language })).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
}

/// Our own members of a chat completion.
fn own(members: &Value) -> Map<String, Value> {
    let mut own =
        Map::from_iter([("now".to_owned(), json!("2026-03-02T09:00:00Z")), ("strategy".to_owned(), json!("local"))]);
    own.extend(members.as_object().cloned().unwrap_or_default());
    own
}

async fn chat(service: &Service, messages: &[Value], members: &Value) -> Answer {
    let body = json!({"model": "shoes", "messages": messages, "uptake": own(members)});
    service.post("/v1/chat/completions", body.to_string()).await
}
