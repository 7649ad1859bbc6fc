//! A response as events: their order, and the events of a failing one.

use std::{fmt::Write as _, sync::Arc};

use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::Notify;
use uptake::{
    http::HttpOptions,
    llm::{LlmError, Server, scripted::Scripted},
    understand::UnderstandOptions,
};

use super::{SEATTLE, asking, lights, output, read, respond, with};
use crate::{
    http::chat::{
        front::{HELLO, written_by},
        stream::Late,
    },
    support::{Service, golden, json_request},
};

/// The events, each with its name.
#[track_caller]
fn events(text: &str) -> Vec<Value> {
    let blocks = text.split("\n\n").filter(|event| !event.is_empty() && !event.starts_with(':'));
    let read = |block: &str| {
        let (event, data) = block.split_once('\n').expect("two lines");
        let data = data.strip_prefix("data: ").expect("data");
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(event, format!("event: {}", data["type"].as_str().expect("a type")), "{block}");
        data
    };
    blocks.map(read).collect()
}

/// Without what differs between answers, and without our own details.
fn redacted(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(redacted),
        Value::Object(members) => {
            for (key, member) in members {
                match (key.as_str(), &member) {
                    ("id" | "item_id" | "call_id" | "previous_response_id", Value::String(id)) => {
                        *member = json!(id.split('_').next().map(|kind| format!("{kind}_*")));
                    }
                    ("created_at" | "completed_at", Value::Number(_)) => *member = json!(0),
                    ("uptake", Value::Object(uptake)) => *member = json!({"outcome": uptake["outcome"]}),
                    _ => redacted(member),
                }
            }
        }
        _ => {}
    }
}

/// Holds for every stream that ends well.
#[track_caller]
fn is_whole(events: &[Value], what: &str) {
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds[..2], ["response.created", "response.in_progress"], "{what}");
    assert_eq!(kinds.last(), Some(&"response.completed"), "{what}");
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>(), "{what}");
    let response = &events.last().expect("an event")["response"];
    assert_eq!(response["id"], events[0]["response"]["id"], "{what}");
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    assert_eq!(done, response["output"].as_array().expect("items").iter().collect::<Vec<_>>(), "{what}");
    for (index, item) in done.iter().enumerate() {
        let of_item = |kind: &str| {
            let is_of_it = |event: &&Value| event["type"] == kind && event["output_index"] == index;
            events.iter().filter(is_of_it).collect::<Vec<_>>()
        };
        let joined = |kind: &str| of_item(kind).iter().filter_map(|event| event["delta"].as_str()).collect::<String>();
        let told = item["content"][0]["text"].as_str().map(|text| (text, joined("response.output_text.delta")));
        let refused = item["content"][0]["refusal"].as_str().map(|text| (text, joined("response.refusal.delta")));
        let called = item["arguments"].as_str().map(|text| (text, joined("response.function_call_arguments.delta")));
        let (whole, pieces) = told.or(refused).or(called).expect("something is said");
        assert_eq!(whole, pieces, "{what}");
        assert_eq!(of_item("response.output_item.added").len(), 1, "{what}");
    }
}

#[tokio::test]
async fn every_kind_of_response_in_events() {
    let service = Service::new(&["weather"]);
    let own = json!({"model": "uptake", "tools": [lights()]});
    let object = json!({"model": "uptake", "text": {"format": {"type": "json_schema", "name": "lights",
        "schema": lights()["parameters"]}}});
    let first = read(&respond(&service, &asking(&json!(SEATTLE))).await);
    let told =
        with(&json!({"previous_response_id": first["id"]}), &json!({"input": output(&first, "Cold: 3 degrees.")}));
    let mut text = String::new();
    for (what, said, members) in [
        ("a call", SEATTLE, json!({})),
        ("two calls", "switch the lights in the kitchen off and switch the lights in the bedroom on", own),
        ("a question", "what is the weather like right now", json!({"metadata": {"a": "b"}})),
        ("a result", "", told),
        ("an object", "switch the lights in the kitchen off", object.clone()),
        ("an object that lacks something", "switch it off", object),
    ] {
        let body = with(&with(&asking(&json!(said)), &members), &json!({"stream": true}));
        let answer = respond(&service, &body).await;
        assert_eq!(
            (answer.status, &answer.headers["content-type"]),
            (200, &"text/event-stream".parse().unwrap()),
            "{what}: {}",
            answer.text
        );
        assert!(answer.headers.contains_key("x-request-id") && !answer.text.contains("[DONE]"));
        let mut events = events(&answer.text);
        is_whole(&events, what);
        writeln!(text, "# {what}: {said}").expect("a string");
        for event in &mut events {
            redacted(event);
            writeln!(text, "{event}").expect("a string");
        }
        writeln!(text).expect("a string");
    }
    golden("tests/fixtures/responses-stream.txt", &text);
}

/// A streamed response is kept, and can be continued.
#[tokio::test]
async fn a_stream_is_gone_on_from() {
    let service = Service::new(&["weather"]);
    let asked = with(&asking(&json!("what is the weather like right now")), &json!({"stream": true}));
    let first = events(&respond(&service, &asked).await.text);
    let body = with(&asking(&json!("Seattle")), &json!({"previous_response_id": first[0]["response"]["id"]}));
    let second = read(&respond(&service, &body).await);
    assert_eq!(second["output"][0]["name"], "get_current_weather", "{second}");
}

/// Text of a model server is sent while it is being written, and only once.
#[tokio::test]
async fn words_are_told_while_they_are_written() {
    for (pieces, ends_well) in [(&HELLO[..], true), (&HELLO[..1], false)] {
        let service = written_by(pieces).await;
        let answer = respond(&service, &with(&asking(&json!("hello")), &json!({"stream": true}))).await;
        let events = events(&answer.text);
        let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
        let deltas: Vec<&str> = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        if ends_well {
            is_whole(&events, "words");
            assert_eq!(deltas, ["Hel", "lo."], "{}", answer.text);
        } else {
            assert_eq!((deltas, kinds.last()), (vec!["Hel"], Some(&"response.failed")), "{}", answer.text);
        }
    }
}

fn streaming() -> axum::http::Request<axum::body::Body> {
    let body = with(&asking(&json!(SEATTLE)), &json!({"stream": true, "uptake": {"strategy": "tools"}}));
    json_request("/v1/responses").body(body.to_string().into()).expect("a request")
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_the_first_byte_is_an_event() {
    let fail = Arc::new(Notify::new());
    let server = Server::new(Arc::new(Late(Arc::clone(&fail))));
    let service = Service::asking(&["weather"], HttpOptions::default(), UnderstandOptions::default(), vec![server]);
    let mut body = service.open(streaming()).await.into_body().into_data_stream();
    let mut text = String::new();
    while !text.contains("response.in_progress") {
        text.push_str(str::from_utf8(&body.next().await.expect("an event").expect("bytes")).expect("UTF-8"));
    }
    fail.notify_one();
    while let Some(bytes) = body.next().await {
        text.push_str(str::from_utf8(&bytes.expect("bytes")).expect("UTF-8"));
    }
    let events = events(&text);
    let [.., error, failed] = &events[..] else { panic!("{text}") };
    assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("model_server_failed")));
    assert_eq!((&error["param"], &error["error"]["type"]), (&Value::Null, &json!("server_error")));
    assert_eq!((&failed["type"], &failed["response"]["status"]), (&json!("response.failed"), &json!("failed")));
    assert_eq!(failed["response"]["error"]["code"], "model_server_failed");
    assert_eq!(failed["sequence_number"], 3);
    assert!(!text.contains("secret") && !text.contains("completed\""), "{text}");
    assert!(service.get("/metrics").await.text.contains("uptake_errors_total{code=\"model_server_failed\"} 1"));
}

#[tokio::test]
async fn a_failure_before_the_first_byte_is_an_answer_of_its_own() {
    let server = Server::new(Arc::new(Scripted::new().fail(LlmError::Timeout)));
    let service = Service::asking(&["weather"], HttpOptions::default(), UnderstandOptions::default(), vec![server]);
    let answer = service.send(streaming()).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (504, "model_server_timeout"));
    let unknown = json!({"model": "wether", "input": "hi", "stream": true});
    assert_eq!(respond(&service, &unknown).await.error().0, 404);
}
