//! Streamed answers, including those that fail or whose client leaves.

use std::{fmt::Write as _, sync::Arc};

use axum::body::Body;
use futures::{StreamExt as _, future::BoxFuture};
use serde_json::{Value, json};
use tokio::sync::Notify;
use uptake::{
    http::HttpOptions,
    llm::{ChatModel, ChatReply, ChatRequest, LlmError, Server, scripted::Scripted},
    understand::UnderstandOptions,
};

use super::{SEATTLE, asking, asking_weather, by_tools, complete, lights, user, with};
use crate::support::{Service, golden, json_request};

/// The `data:` of each event.
fn events(text: &str) -> Vec<String> {
    let lines = text.split("\n\n").filter(|event| !event.is_empty() && !event.starts_with(':'));
    lines.map(|event| event.strip_prefix("data: ").expect("one line of data").to_owned()).collect()
}

fn chunks(events: &[String]) -> Vec<Value> {
    events.iter().filter(|event| *event != "[DONE]").map(|event| serde_json::from_str(event).expect("JSON")).collect()
}

/// Without what differs between answers, and without our own details.
fn redacted(mut chunk: Value) -> Value {
    chunk["id"] = json!("chatcmpl-*");
    chunk["created"] = json!(0);
    chunk["system_fingerprint"] = json!("fp_*");
    if let Some(uptake) = chunk.get_mut("uptake") {
        *uptake = json!({"outcome": uptake["outcome"]});
    }
    if let Some(call) = chunk.pointer_mut("/choices/0/delta/tool_calls/0")
        && call.get("id").is_some()
    {
        call["id"] = json!("call_*");
    }
    chunk
}

#[tokio::test]
async fn every_kind_of_answer_in_pieces() {
    let service = Service::new(&["weather"]);
    let usage = json!({"stream": true, "stream_options": {"include_usage": true}});
    let plain = json!({"stream": true});
    let named =
        json!({"stream": true, "tool_choice": {"type": "function", "function": {"name": "get_n_day_forecast"}}});
    let parameters = lights()["function"]["parameters"].clone();
    let older = json!({"stream": true, "functions": [
        {"name": "set_lights", "description": "Switch the lights in a room on or off", "parameters": parameters}]});
    let object = json!({"stream": true, "response_format": {"type": "json_schema", "json_schema": {
        "name": "lights", "schema": parameters}}});
    let kitchen = "switch the lights in the kitchen off";
    let both = "switch the lights in the kitchen off and switch the lights in the bedroom on";
    let mut text = String::new();
    for (what, said, members) in [
        ("a call, with usage", SEATTLE, usage),
        ("a named call", SEATTLE, named),
        ("two calls", both, json!({"stream": true, "tools": [lights()]})),
        ("a question", "what is the weather like right now", plain.clone()),
        ("nothing", "colourless green ideas", plain),
        ("a call in the older form", kitchen, older),
        ("an object", kitchen, object.clone()),
        ("an object that lacks something", "switch it off", object),
    ] {
        let answer = complete(&service, &with(&asking_weather(said), &members)).await;
        assert_eq!(
            (answer.status, &answer.headers["content-type"]),
            (200, &"text/event-stream".parse().unwrap()),
            "{what}"
        );
        assert!(answer.headers.contains_key("x-request-id"));
        let events = events(&answer.text);
        assert_eq!(events.last().map(String::as_str), Some("[DONE]"), "{what}");
        let chunks = chunks(&events);
        assert!(chunks.iter().all(|chunk| chunk["id"] == chunks[0]["id"] && chunk["created"] == chunks[0]["created"]));
        let last = chunks.iter().filter(|chunk| !chunk["choices"][0]["finish_reason"].is_null()).count();
        assert_eq!((last, chunks.iter().filter(|chunk| chunk.get("uptake").is_some()).count()), (1, 1), "{what}");
        writeln!(text, "# {what}: {said}").expect("a string");
        for chunk in chunks {
            writeln!(text, "{}", redacted(chunk)).expect("a string");
        }
        writeln!(text, "[DONE]\n").expect("a string");
    }
    golden("tests/fixtures/chat-stream.txt", &text);
}

/// Fails when notified.
pub(crate) struct Late(pub(crate) Arc<Notify>);

impl ChatModel for Late {
    fn describe(&self) -> String {
        "late".to_owned()
    }

    fn complete(&self, _: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async {
            self.0.notified().await;
            Err(LlmError::Malformed("secret words of a server".into()))
        })
    }
}

fn streaming(body: &Value) -> axum::http::Request<Body> {
    let body = with(&by_tools(body), &json!({"stream": true}));
    json_request("/v1/chat/completions").body(Body::from(body.to_string())).expect("a request")
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_the_first_byte_is_an_event_and_never_an_end() {
    let fail = Arc::new(Notify::new());
    let server = Server::new(Arc::new(Late(Arc::clone(&fail))));
    let service = Service::asking(&["weather"], HttpOptions::default(), UnderstandOptions::default(), vec![server]);
    let mut body = service.open(streaming(&asking_weather(SEATTLE))).await.into_body().into_data_stream();
    let first = body.next().await.expect("a chunk").expect("bytes");
    let first = String::from_utf8(first.to_vec()).expect("UTF-8");
    assert_eq!(chunks(&events(&first))[0]["choices"][0]["delta"]["role"], "assistant");
    fail.notify_one();
    let mut rest = String::new();
    while let Some(bytes) = body.next().await {
        rest.push_str(std::str::from_utf8(&bytes.expect("bytes")).expect("UTF-8"));
    }
    let events = events(&rest);
    assert_eq!(events.len(), 1, "{rest}");
    let error: Value = serde_json::from_str(&events[0]).expect("JSON");
    assert_eq!(
        (&error["error"]["type"], &error["error"]["code"]),
        (&json!("server_error"), &json!("model_server_failed"))
    );
    assert!(!rest.contains("secret") && !rest.contains("DONE") && !rest.contains("tool_calls"), "{rest}");
    assert!(service.get("/metrics").await.text.contains("uptake_errors_total{code=\"model_server_failed\"} 1"));
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_time_is_up() {
    let server = Server::new(Arc::new(Scripted::new().hang()));
    let options = HttpOptions { timeout_ms: 2_000, ..HttpOptions::default() };
    let service = Service::asking(&["weather"], options, UnderstandOptions::default(), vec![server]);
    let answer = service.send(streaming(&asking_weather(SEATTLE))).await;
    let events = events(&answer.text);
    let error: Value = serde_json::from_str(events.last().expect("an event")).expect("JSON");
    assert_eq!((answer.status, &error["error"]["code"]), (200, &json!("timeout")));
}

#[tokio::test]
async fn a_failure_before_the_first_byte_is_an_answer_of_its_own() {
    let chat = Scripted::new().fail(LlmError::Timeout);
    let service = asking(&["weather"], &chat);
    let answer = service.send(streaming(&asking_weather(SEATTLE))).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (504, "model_server_timeout"));
    assert_eq!(answer.headers["x-should-retry"], "false");
    let body = json!({"model": "wether", "messages": user("hi"), "stream": true});
    assert_eq!(complete(&service, &body).await.error().0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_stops_its_work() {
    let server = Server::new(Arc::new(Scripted::new().hang().hang()));
    let options = HttpOptions { max_in_flight: 1, ..HttpOptions::default() };
    let service = Service::asking(&["weather"], options, UnderstandOptions::default(), vec![server]);
    let mut body = service.open(streaming(&asking_weather(SEATTLE))).await.into_body().into_data_stream();
    assert!(body.next().await.is_some(), "it has begun");
    // The turn is still running: it holds the only permit.
    assert_eq!(complete(&service, &asking_weather(SEATTLE)).await.status, 429);
    drop(body);
    assert_eq!(complete(&service, &asking_weather(SEATTLE)).await.status, 200);

    // The same for a request that is answered in one piece.
    let waiting = service.open(streaming(&with(&asking_weather(SEATTLE), &json!({"stream": false}))));
    assert!(tokio::time::timeout(std::time::Duration::from_millis(100), waiting).await.is_err());
    assert_eq!(complete(&service, &asking_weather(SEATTLE)).await.status, 200);
}
