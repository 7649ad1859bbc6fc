//! Sessions: read, watched, observed, deleted, expired, restarted, and used by two at once.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Method, Request},
};
use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use uptake::{
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    http::{Conversations, Phase},
};

use super::{SHOES, calls, is_the_order, keeping, predict, read, shop};
use crate::support::{Answer, Service, log::Log};

/// Waiting this long for something fails the test.
const PATIENCE: Duration = Duration::from_secs(300);

fn in_file(directory: &TempDir) -> Conversations {
    keeping(&format!("sqlite:{}", directory.path().join("sessions.db").display()), &ConversationOptions::default())
}

async fn in_memory() -> Service {
    shop(keeping("memory:", &ConversationOptions::default())).await
}

async fn say(service: &Service, utterance: &str) -> Value {
    read(&predict(service, utterance, json!({"session_id": "a"})).await)
}

async fn delete(service: &Service, id: &str) -> Answer {
    let request = Request::builder().method(Method::DELETE).uri(format!("/v1/sessions/{id}"));
    service.send(request.body(Body::empty()).expect("a request")).await
}

async fn observe(service: &Service, members: Value) -> Answer {
    let mut body = json!({"module": "shoes", "strategy": "local"});
    body.as_object_mut().expect("an object").extend(members.as_object().cloned().expect("members"));
    service.post("/v1/sessions/a/observe", body.to_string()).await
}

/// The session once all observed utterances are read.
async fn settled(service: &Service) -> Value {
    timeout(PATIENCE, service.app.observed()).await.expect("all is read");
    read(&service.get("/v1/sessions/a").await)
}

#[tokio::test]
async fn a_session_survives_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut made = Vec::new();
    for said in SHOES.chunks(5) {
        let service = shop(in_file(&directory)).await;
        for said in said {
            made.extend(calls(&say(&service, said).await));
        }
    }
    is_the_order(&made);
}

#[tokio::test]
async fn what_is_known_of_a_session_can_be_read() {
    let service = in_memory().await;
    let missing = service.get("/v1/sessions/a").await.error();
    assert_eq!((missing.0, missing.2.as_str()), (404, "session_not_found"));
    let said = say(&service, "I'd like to buy some black sneakers, my email is jane@example.com").await;
    let session = read(&service.get("/v1/sessions/a").await);
    let told = &said["uptake"];
    for member in ["revision", "turn"] {
        assert_eq!(session[member], told["session"][member], "{session}");
    }
    // In seconds; the turn computes it before the session is stored.
    let expires = |session: &serde_json::Value| session["expires_at"].as_i64().expect("seconds");
    assert!((0..60).contains(&(expires(&session) - expires(&told["session"])).abs()), "{session}");
    assert_eq!((&session["id"], &session["module"], &session["pending"]), (&json!("a"), &json!("shoes"), &json!(0)));
    assert_eq!(session["summary"], told["summary"]);
    let form = &session["forms"][0];
    assert_eq!((&form["function"], &form["missing"]), (&json!("order_shoes"), &told["calls"][0]["missing"]));
    assert_eq!(form["slots"]["item.color"]["value"], "black");
    assert_eq!(
        (&session["expects"]["kind"], &session["expects"]["function"]),
        (&json!("slots"), &json!("order_shoes"))
    );

    say(&service, "forget it").await;
    let session = read(&service.get("/v1/sessions/a").await);
    assert_eq!((&session["forms"], &session["expects"]), (&json!([]), &json!(null)));
    assert_eq!(session["finished"], json!([{"function": "order_shoes", "end": "cancelled", "opened": 1, "turn": 2}]));
}

#[tokio::test]
async fn sensitive_values_are_shown_to_nobody_who_reads() {
    let service = in_memory().await;
    let settings = "[functions.order_shoes.slots.\"person.email\"]\nsensitive = true\n";
    service.write("shoes", "module.toml", settings);
    say(&service, "I'd like to buy some black sneakers, my email is jane@example.com").await;
    let answer = service.get("/v1/sessions/a").await;
    let slot = &answer.json()["forms"][0]["slots"]["person.email"];
    assert_eq!((&slot["value"], &slot["text"]), (&json!("***"), &json!(null)), "{}", answer.text);
    assert!(!answer.text.contains("jane@"), "{}", answer.text);
}

#[tokio::test]
async fn a_turn_may_say_which_state_it_speaks_of() {
    let service = in_memory().await;
    let first = say(&service, "I'd like to buy some shoes").await;
    let revision = first["uptake"]["session"]["revision"].as_u64().expect("a number");
    let members = json!({"session_id": "a", "revision": revision});
    assert_eq!(predict(&service, "Jane", members.clone()).await.status, 200);
    let late = predict(&service, "Tom", members).await;
    let (status, _, code, param) = late.error();
    assert_eq!((status, code.as_str(), param.as_deref()), (409, "session_conflict", Some("revision")));
    assert_eq!(late.headers["retry-after"], "1");
    let session = read(&service.get("/v1/sessions/a").await);
    assert_eq!(
        (&session["turn"], &session["forms"][0]["slots"]["person.first_name"]["value"]),
        (&json!(2), &json!("Jane"))
    );
    let unborn = predict(&service, "black", json!({"session_id": "b", "revision": 1})).await;
    assert_eq!(unborn.error().0, 409);
}

/// In one process turns wait for each other; of two processes, the slower one's turn is repeated, or refused. None is
/// lost.
#[tokio::test]
async fn turns_at_once_are_all_there_or_told_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (shop(in_file(&directory)).await, shop(in_file(&directory)).await);
    say(&one, "I'd like to buy some shoes").await;
    let turns = (0..8).map(|number| {
        let service = if number % 2 == 0 { &one } else { &other };
        predict(service, "black", json!({"session_id": "a"}))
    });
    let answers = futures::future::join_all(turns).await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(answers.iter().all(|answer| [200, 409].contains(&answer.status)) && done > 0, "{answers:?}");
    assert_eq!(read(&one.get("/v1/sessions/a").await)["turn"], json!(1 + done));
}

#[tokio::test]
async fn an_error_of_a_turn_leaves_the_session_as_it_was() {
    let service = in_memory().await;
    say(&service, "I'd like to buy some shoes").await;
    let before = service.get("/v1/sessions/a").await.text;
    let failed = predict(&service, "black", json!({"session_id": "a", "strategy": "tools"})).await;
    assert_eq!(failed.error().0, 400);
    assert_eq!(service.get("/v1/sessions/a").await.text, before);
}

#[tokio::test]
async fn a_deleted_session_is_gone() {
    let service = in_memory().await;
    assert_eq!(delete(&service, "a").await.error().0, 404);
    say(&service, "I'd like to buy some shoes").await;
    let deleted = delete(&service, "a").await;
    assert_eq!((deleted.status, deleted.text.as_str()), (204, ""));
    assert_eq!(service.get("/v1/sessions/a").await.status, 404);
    assert_eq!(say(&service, "hello").await["uptake"]["turn"], 1);
}

#[tokio::test]
async fn a_session_expires() {
    let sessions = SessionOptions { url: StoreUrl::new("memory:"), ttl_s: 1, ..SessionOptions::default() };
    let conversations = Conversations::open(&sessions, &ConversationOptions::default()).expect("good options");
    let service = shop(conversations).await;
    assert_eq!(say(&service, "I'd like to buy some shoes").await["uptake"]["turn"], 1);
    let gone = async {
        while service.get("/v1/sessions/a").await.status != 404 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("it expires");
    assert_eq!(say(&service, "hello").await["uptake"]["turn"], 1);
}

#[tokio::test]
async fn without_its_store_a_service_answers_what_needs_none() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("file"), "no directory").expect("a file");
    let place = directory.path().join("file/sessions.db");
    let service = shop(keeping(&format!("sqlite:{}", place.display()), &ConversationOptions::default())).await;
    let answer = predict(&service, "hello", json!({"session_id": "a"})).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (503, "sessions_unavailable"));
    assert!(!answer.text.contains("file"), "{}", answer.text);
    assert_eq!(predict(&service, "hello", json!({})).await.status, 200);
}

#[tokio::test]
async fn what_is_observed_is_understood_in_its_order() {
    let service = in_memory().await;
    for (number, said) in SHOES.iter().enumerate() {
        let answer = observe(&service, json!({"utterance": said, "now": "2026-03-02T09:00:00Z"})).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        let pending = answer.json()["pending"].as_u64().expect("a number");
        assert!((1..=number as u64 + 1).contains(&pending), "{}", answer.text);
    }
    let session = settled(&service).await;
    assert_eq!((&session["turn"], &session["pending"]), (&json!(SHOES.len()), &json!(0)), "{session}");
    let made: Vec<(String, Value)> = session["calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| (call["name"].as_str().expect("a name").to_owned(), call["arguments"].clone()))
        .collect();
    is_the_order(&made);
}

#[tokio::test]
async fn what_another_assistant_says_is_no_utterance() {
    let service = in_memory().await;
    observe(&service, json!({"utterance": "I'd like to buy some shoes"})).await;
    observe(&service, json!({"utterance": "Lovely! Black ones, perhaps?", "role": "assistant"})).await;
    let session = settled(&service).await;
    assert_eq!((&session["turn"], &session["expects"]), (&json!(1), &json!(null)), "{session}");
    assert_eq!(session["forms"][0]["slots"], json!({}), "{session}");
}

#[tokio::test]
async fn what_is_wrong_with_an_observation_is_told_at_once() {
    let service = in_memory().await;
    for (members, status, param) in [
        (json!({}), 400, "utterance"),
        (json!({"utterance": " "}), 400, "utterance"),
        (json!({"utterance": "hi", "module": "boots"}), 404, "module"),
        (json!({"utterance": "hi", "module": "../etc"}), 400, "module"),
        (json!({"utterance": "hi", "role": "robot"}), 400, "role"),
        (json!({"utterance": "hi", "now": "soon"}), 400, "now"),
        (json!({"utterance": "hi", "language": "?"}), 400, "language"),
    ] {
        let error = observe(&service, members.clone()).await.error();
        assert_eq!((error.0, error.3.as_deref()), (status, Some(param)), "{members}");
    }
    assert_eq!(service.get("/v1/sessions/a").await.status, 404);
}

#[tokio::test]
async fn too_much_to_observe_is_refused() {
    let few = ConversationOptions { max_pending: 2, ..ConversationOptions::default() };
    let service = shop(keeping("memory:", &few)).await;
    // The first one builds the module's index; the others arrive before any of them is read.
    observe(&service, json!({"utterance": "hello"})).await;
    settled(&service).await;
    let answers = futures::future::join_all((0..6).map(|_| observe(&service, json!({"utterance": "hello"})))).await;
    let taken = answers.iter().filter(|answer| answer.status == 202).count();
    let refused = answers.iter().find(|answer| answer.status == 429).expect("more than may wait");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(settled(&service).await["turn"], json!(1 + taken));
}

/// The events of a session, as (name, data).
async fn events(service: &Service) -> impl futures::Stream<Item = (String, Value)> + Unpin + use<> {
    let request = Request::get("/v1/sessions/a/events").body(Body::empty()).expect("a request");
    let response = service.open(request).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"text/event-stream".parse().expect("a header"))
    );
    let body = response.into_body().into_data_stream();
    let event = |chunk: Result<axum::body::Bytes, axum::Error>| {
        let chunk = chunk.expect("a stream");
        let text = String::from_utf8_lossy(&chunk).into_owned();
        let line =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned());
        let (name, data) = (line("event:")?, line("data:")?);
        Some((name, serde_json::from_str(&data).expect("JSON")))
    };
    Box::pin(body.filter_map(move |chunk| futures::future::ready(event(chunk))))
}

#[tokio::test]
async fn a_session_can_be_watched_to_its_end() {
    let service = in_memory().await;
    assert_eq!(service.get("/v1/sessions/a/events").await.error().0, 404);
    say(&service, "I'd like to buy some shoes").await;
    let mut watched = events(&service).await;
    let mut next = async || timeout(PATIENCE, watched.next()).await.expect("an event");
    let turn = |event: Option<(String, Value)>| event.map(|(name, data)| (name, data["turn"].as_u64()));
    assert_eq!(turn(next().await), Some(("state".to_owned(), Some(1))));
    say(&service, "black").await;
    assert_eq!(turn(next().await), Some(("state".to_owned(), Some(2))));
    observe(&service, json!({"utterance": "sneakers"})).await;
    let (_, third) = next().await.expect("an event");
    assert_eq!(third, settled(&service).await);
    // A failure to understand is an event, since no client waits for an answer.
    observe(&service, json!({"utterance": "size 9", "strategy": "tools"})).await;
    let (name, error) = next().await.expect("an event");
    assert_eq!((name.as_str(), &error["error"]["code"]), ("error", &json!("invalid_value")));
    delete(&service, "a").await;
    assert_eq!(next().await.map(|(name, _)| name).as_deref(), Some("deleted"));
    assert_eq!(next().await, None);
}

#[tokio::test]
async fn a_service_that_stops_leaves_no_stream_open() {
    let service = in_memory().await;
    say(&service, "hello").await;
    let mut watched = events(&service).await;
    assert!(watched.next().await.is_some());
    service.app.enter(Phase::Stopping);
    assert_eq!(timeout(PATIENCE, watched.next()).await.expect("an end"), None);
}

#[tokio::test]
async fn the_log_tells_of_turns_and_not_of_words() {
    let log = Log::default();
    let to = |log: &Log| {
        let writer = log.clone();
        tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_ansi(false).with_writer(writer).finish()
    };
    // With a single dispatcher, a thread without it could switch off events for this one.
    let _other = tracing::Dispatch::new(to(&Log::default()));
    let subscriber = to(&log);
    let _logged = tracing::subscriber::set_default(subscriber);
    let service = in_memory().await;
    say(&service, "I'd like to buy some black sneakers, my email is jane@example.com").await;
    observe(&service, json!({"utterance": "size 9, I'm Jane Austin"})).await;
    observe(&service, json!({"utterance": "Springfield", "strategy": "tools"})).await;
    settled(&service).await;
    predict(&service, "Springfield", json!({"state": "p1.Springfield"})).await;
    let log = log.text();
    assert!(log.contains("outcome=\"ask\"") && log.contains("not understood"), "{log}");
    for word in ["jane", "Jane", "sneakers", "Springfield", "size 9"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}

#[tokio::test]
async fn who_keeps_conversations_is_counted() {
    let service = in_memory().await;
    say(&service, "hello").await;
    let state = read(&predict(&service, "hello", json!({})).await)["uptake"]["state"].clone();
    predict(&service, "hello", json!({ "state": state })).await;
    predict(&service, "hello", json!({"session_id": "a", "revision": 1})).await;
    observe(&service, json!({"utterance": "hello"})).await;
    settled(&service).await;
    let metrics = service.get("/metrics").await.text;
    for kept_by in ["none", "echo", "session", "observed"] {
        let line = format!("uptake_conversation_turns_total{{kept_by=\"{kept_by}\"}} 1");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    for line in [
        "uptake_session_seconds_count{operation=\"begin\"} 3",
        "uptake_session_seconds_count{operation=\"commit\"} 2",
        "uptake_errors_total{code=\"session_conflict\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}
