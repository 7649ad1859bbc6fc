//! A model server that answers with anything at all never makes an invalid or invented call come out.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, body::Body, extract::State, http::StatusCode, response::Response, routing::post};
use serde_json::{Value, json};
use uptake::{
    embed::{Hashed, HashedOptions},
    llm::{self, LlmOptions},
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{Outcome, TurnRequest, UnderstandOptions, Understander},
};

use crate::support;

const UTTERANCE: &str = "how cold will it be in Seattle in the next three days, in celsius?";

/// What a server may send: a status, a content type, and bytes.
type Reply = (u16, &'static str, Vec<u8>);

#[derive(Clone)]
struct Server {
    replies: Arc<Vec<Reply>>,
    served: Arc<AtomicUsize>,
}

async fn answer(State(server): State<Server>) -> Response {
    let turn = server.served.fetch_add(1, Ordering::SeqCst).min(server.replies.len() - 1);
    let (status, content_type, body) = server.replies[turn].clone();
    Response::builder()
        .status(StatusCode::from_u16(status).expect("a status of the table"))
        .header("content-type", content_type)
        .body(Body::from(body))
        .expect("a response of the table")
}

/// Starts a server that gives these replies in turn, the last one for ever, and an understander that asks it.
async fn asking(replies: Vec<Reply>) -> (Understander, Arc<AtomicUsize>) {
    let served = Arc::new(AtomicUsize::new(0));
    let server = Server { replies: Arc::new(replies), served: Arc::clone(&served) };
    let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(server);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    tokio::spawn(async move { axum::serve(listener, router).await });
    let options = LlmOptions {
        base_url: Some(format!("http://{address}")),
        retries: 0,
        timeout_ms: 2_000,
        ..LlmOptions::default()
    };
    let chat = llm::connect(&options).expect("valid options");
    let understander = Understander::new(UnderstandOptions::default(), embedder(), chat);
    (understander, served)
}

fn embedder() -> uptake::embed::SharedEmbedder {
    Arc::new(Hashed::new(&HashedOptions::default()))
}

async fn weather() -> Arc<Snapshot> {
    support::snapshot(support::shipped(), "weather", embedder()).await
}

#[expect(clippy::needless_pass_by_value, reason = "made on the spot, in a table")]
fn message(message: Value) -> Reply {
    completion(&message, "stop")
}

fn completion(message: &Value, finish_reason: &str) -> Reply {
    let body = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": message, "finish_reason": finish_reason}]});
    (200, "application/json", body.to_string().into_bytes())
}

fn called(name: &str, arguments: &str) -> Reply {
    message(json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}]}))
}

fn said(content: &str) -> Reply {
    message(json!({"role": "assistant", "content": content}))
}

fn raw(body: &str) -> Reply {
    (200, "application/json", body.as_bytes().to_vec())
}

const FORECAST: &str = "get_n_day_weather_forecast";

/// Bad replies, by what is bad about them. None of them may become a call with a value that is wrong or was not said.
fn bad_replies() -> Vec<(&'static str, Reply)> {
    let deep = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    vec![
        ("nothing", raw("")),
        ("white space", raw("   \n")),
        ("no JSON", raw("I am sorry, Dave.")),
        ("half a JSON", raw("{\"choices\":[{\"message\":{\"role\":\"assist")),
        ("HTML", (200, "text/html", b"<html>gateway</html>".to_vec())),
        ("binary", (200, "application/octet-stream", vec![0, 159, 146, 150, 255])),
        ("a JSON number", raw("42")),
        ("a JSON array", raw("[]")),
        ("null", raw("null")),
        ("no choices", raw("{}")),
        ("empty choices", raw("{\"choices\":[]}")),
        ("choices of a wrong type", raw("{\"choices\":\"none\"}")),
        ("a null message", raw("{\"choices\":[{\"message\":null}]}")),
        ("an empty message", message(json!({"role": "assistant"}))),
        ("empty content", said("")),
        ("null content and no calls", message(json!({"role": "assistant", "content": null, "tool_calls": []}))),
        ("an unknown function", called("delete_all", "{}")),
        ("an empty function name", called("", "{}")),
        (
            "a function name of a wrong type",
            message(json!({"tool_calls": [{"function": {"name": 7, "arguments": "{}"}}]})),
        ),
        ("no arguments", called(FORECAST, "")),
        ("arguments that are text", called(FORECAST, "Seattle please")),
        ("arguments that are a number", called(FORECAST, "3")),
        ("arguments that are an array", called(FORECAST, "[\"Seattle\",3]")),
        ("arguments that are null", called(FORECAST, "null")),
        ("arguments cut in a string", called(FORECAST, "{\"location\":\"Sea")),
        ("arguments cut after a key", called(FORECAST, "{\"location\":")),
        (
            "arguments cut at once",
            completion(
                &json!({"tool_calls": [{"id": "1", "function": {"name": FORECAST, "arguments": "{"}}]}),
                "length",
            ),
        ),
        ("a call without a function", message(json!({"tool_calls": [{"id": "1", "type": "function"}]}))),
        ("calls that are an object", message(json!({"tool_calls": {"name": FORECAST}}))),
        ("a wrong type", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":\"many\"}")),
        ("a type that must not be coerced", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":2.5}")),
        ("an object for a string", called(FORECAST, "{\"location\":{\"city\":\"Oslo\"},\"num_days\":3}")),
        ("not a choice", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":3,\"format\":\"kelvin\"}")),
        ("out of range", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":300}")),
        ("an invented city", called(FORECAST, "{\"location\":\"Paris\",\"num_days\":3}")),
        ("an invented number", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":7}")),
        ("an invented member", called(FORECAST, "{\"location\":\"Paris, Texas\",\"admin\":true,\"num_days\":3}")),
        ("a placeholder", called(FORECAST, "{\"location\":\"<location>\",\"num_days\":3}")),
        ("empty values", called(FORECAST, "{\"location\":\"\",\"num_days\":null}")),
        ("an injection in a value", called(FORECAST, "{\"location\":\"Seattle'; DROP TABLE cities\",\"num_days\":3}")),
        ("deep nesting", called(FORECAST, &deep)),
        ("a huge number", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":1e308}")),
        ("a huge value", called(FORECAST, &json!({"location": "x".repeat(1 << 20), "num_days": 3}).to_string())),
        ("a call as text of an unknown function", said("<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>")),
        (
            "a call as text with invented values",
            said(
                "```json\n{\"name\": \"get_n_day_weather_forecast\", \"arguments\": {'location': 'Oslo', 'num_days': 9,}}\n```",
            ),
        ),
        ("an error with 200", raw("{\"error\":{\"message\":\"overloaded\",\"code\":503}}")),
        ("a server error", (500, "text/plain", b"stack trace at /usr/lib/secret.py".to_vec())),
        ("a bad request", (400, "application/json", b"{\"error\":{\"message\":\"no tools\",\"code\":400}}".to_vec())),
        ("not found", (404, "application/json", b"{\"detail\":\"Not Found\"}".to_vec())),
        ("unauthorized", (401, "application/json", b"{\"error\":\"bad key\"}".to_vec())),
    ]
}

/// What the utterance really says; a call may hold a part of it, never anything else.
fn is_grounded(arguments: &serde_json::Map<String, Value>) -> bool {
    arguments.iter().all(|(name, value)| match name.as_str() {
        "location" => value == "Seattle",
        "num_days" => *value == json!(3),
        // A choice of the schema may be picked; here it was said.
        "format" => value == "celsius" || value == "fahrenheit",
        _ => false,
    })
}

fn request(strategy: StrategyName) -> TurnRequest {
    TurnRequest { utterance: UTTERANCE.to_owned(), strategy: Some(strategy), ..TurnRequest::default() }
}

/// The schema in the file itself, compiled apart from everything under test.
fn conforms(function: &str, arguments: &serde_json::Map<String, Value>) -> bool {
    let file = include_str!("../../modules/weather/schema.json");
    let functions: Vec<Value> = serde_json::from_str(file).expect("the shipped schema is JSON");
    let schema = functions.iter().find(|one| one["name"] == function).expect("a function of the module");
    jsonschema::is_valid(&schema["parameters"], &Value::Object(arguments.clone()))
}

#[tokio::test]
async fn no_bad_reply_becomes_a_wrong_call() {
    let snapshot = weather().await;
    let replies = bad_replies();
    assert!(replies.len() >= 40);
    for (what, reply) in replies {
        let (understander, _) = asking(vec![reply]).await;
        match understander.turn(&snapshot, &request(StrategyName::Tools)).await {
            Ok(turn) => {
                if let Outcome::Call(calls) = &turn.outcome {
                    for call in calls {
                        let name = &snapshot.module.function(call.function()).name;
                        assert!(conforms(name, call.arguments()), "{what}: {:?}", call.arguments());
                        assert!(is_grounded(call.arguments()), "{what}: {:?}", call.arguments());
                    }
                }
            }
            Err(error) => {
                // Typed, and without a word of what the server sent, as far as clients are told (tests/http).
                assert!(matches!(error, uptake::understand::TurnError::Llm(_)), "{what}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn a_wrong_answer_is_sent_back_with_what_was_wrong_and_the_next_one_counts() {
    let snapshot = weather().await;
    let right = "{\"location\":\"Seattle\",\"num_days\":3,\"format\":\"celsius\"}";
    for (what, reply) in [
        ("a wrong type", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":\"many\"}")),
        ("an unknown function", called("delete_all", "{}")),
        ("text for arguments", called(FORECAST, "Seattle please")),
    ] {
        let (understander, served) = asking(vec![reply, called(FORECAST, right)]).await;
        let turn = understander.turn(&snapshot, &request(StrategyName::Tools)).await.expect("an answer");
        let Outcome::Call(calls) = &turn.outcome else { panic!("{what}: {:?}", turn.outcome) };
        assert_eq!(Value::Object(calls[0].arguments().clone()), serde_json::from_str::<Value>(right).expect("JSON"));
        assert_eq!(served.load(Ordering::SeqCst), 2, "{what}");
        assert_eq!(turn.trace.attempts.len(), 2);
        assert!(!turn.trace.attempts[0].violations.is_empty(), "{what}");
    }
}

#[tokio::test]
async fn a_right_answer_takes_one_request() {
    let snapshot = weather().await;
    for (what, reply) in [
        ("as it should be", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":3}")),
        ("a synonym and a number word", called(FORECAST, "{\"location\":\"Seattle, WA\",\"num_days\":\"three\"}")),
        ("a prefix", called("functions.get_n_day_weather_forecast", "{\"location\":\"Seattle\",\"num_days\":3}")),
        (
            "as text",
            said(
                "<tool_call>{\"name\":\"get_n_day_weather_forecast\",\"arguments\":{\"location\":\"Seattle\",\"num_days\":3}}</tool_call>",
            ),
        ),
        (
            "an object for arguments",
            message(json!({"tool_calls": [{"function":
            {"name": FORECAST, "arguments": {"location": "Seattle", "num_days": 3}}}]})),
        ),
    ] {
        let (understander, served) = asking(vec![reply]).await;
        let turn = understander.turn(&snapshot, &request(StrategyName::Tools)).await.expect("an answer");
        let Outcome::Call(calls) = &turn.outcome else { panic!("{what}: {:?}", turn.outcome) };
        assert_eq!(calls[0].arguments()["location"], "Seattle", "{what}");
        assert_eq!(calls[0].arguments()["num_days"], json!(3), "{what}");
        assert_eq!(served.load(Ordering::SeqCst), 1, "{what}");
    }
}

#[tokio::test]
async fn what_the_person_did_not_say_is_asked_and_not_retried() {
    let snapshot = weather().await;
    let (understander, served) = asking(vec![called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":5}")]).await;
    let request = TurnRequest {
        utterance: "how cold will it get in Seattle?".to_owned(),
        strategy: Some(StrategyName::Tools),
        ..TurnRequest::default()
    };
    let turn = understander.turn(&snapshot, &request).await.expect("an answer");
    let Outcome::Ask(question) = &turn.outcome else { panic!("{:?}", turn.outcome) };
    assert_eq!(question.text, "For how many days?");
    assert_eq!(served.load(Ordering::SeqCst), 1);
    assert_eq!(turn.trace.attempts[0].violations[0].path, "/num_days");
}

#[tokio::test]
async fn auto_answers_locally_when_the_model_server_fails() {
    let snapshot = weather().await;
    let (understander, _) = asking(vec![(500, "text/plain", b"no".to_vec())]).await;
    let turn = understander.turn(&snapshot, &request(StrategyName::Auto)).await.expect("a local answer");
    assert_eq!(turn.decided_by.name(), "local");
}
