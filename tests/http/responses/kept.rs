//! Kept responses: continued, referred to, read, deleted; and responses that are not kept.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use uptake::{
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    http::{Conversations, HttpOptions},
    llm::Secret,
    understand::UnderstandOptions,
};

use super::{SEATTLE, after, asking, calls, forecast, output, read, respond, said, with};
use crate::support::{Answer, Service, embedder, fixture};

async fn delete(service: &Service, id: &str) -> Answer {
    service.send(Request::delete(format!("/v1/responses/{id}")).body(Body::empty()).expect("a request")).await
}

fn id(response: &Value) -> &str {
    response["id"].as_str().expect("an id")
}

fn keeping(sessions: &SessionOptions) -> Service {
    let conversations = Conversations::open(sessions, &ConversationOptions::default()).expect("good options");
    let (options, turns) = (HttpOptions::default(), UnderstandOptions::default());
    Service::made(&fixture("modules"), &["weather"], embedder(), options, turns, Vec::new(), conversations)
}

/// A form is filled over several responses, and a response can be continued more than once.
#[tokio::test]
async fn a_conversation_goes_on_from_a_response() {
    let service = Service::new(&["weather"]);
    let first = read(&respond(&service, &asking(&json!("what will the weather be in the next days"))).await);
    let asked = |response: &Value| response["uptake"]["question"]["about"]["slot"].clone();
    assert_eq!((first["store"].as_bool(), asked(&first)), (Some(true), json!("location")), "{first}");
    let second = read(&respond(&service, &after(&first, &json!("Seattle"))).await);
    assert_eq!(asked(&second), "num_days", "{second}");
    let third = read(&respond(&service, &after(&second, &json!("3"))).await);
    let expected = |place: &str| [("get_n_day_forecast".to_owned(), json!({"location": place, "num_days": 3}))];
    assert_eq!(calls(&third), expected("Seattle, WA"), "{third}");
    let other = read(&respond(&service, &after(&first, &json!("San Francisco"))).await);
    let other = read(&respond(&service, &after(&other, &json!("3"))).await);
    assert_eq!(calls(&other), expected("San Francisco, CA"), "{other}");
}

#[tokio::test]
async fn an_unknown_response_is_nothing_to_go_on_from() {
    let service = Service::new(&["weather"]);
    for unknown in ["resp_0123456789abcdef0123456789abcdef", "resp_1", "chatcmpl-1", "", "../../etc/passwd"] {
        let answer = respond(&service, &after(&json!({"id": unknown}), &json!("3"))).await;
        let expected = (
            400,
            "invalid_request_error".to_owned(),
            "previous_response_not_found".to_owned(),
            Some("previous_response_id".to_owned()),
        );
        assert_eq!(answer.error(), expected, "{unknown}");
        assert!(answer.json()["error"]["message"].as_str().is_some_and(|message| message.contains("not found")));
    }
}

#[tokio::test]
async fn with_store_false_nothing_is_kept() {
    let service = Service::new(&["weather"]);
    let response = read(&respond(&service, &with(&asking(&json!(SEATTLE)), &json!({"store": false}))).await);
    assert_eq!((&response["store"], calls(&response)), (&json!(false), forecast().into()));
    assert_eq!(service.get(&format!("/v1/responses/{}", id(&response))).await.error().0, 404);
    let answer = respond(&service, &after(&response, &output(&response, "ok"))).await;
    assert_eq!(answer.error().2, "previous_response_not_found");
    // The conversation that it continues is unchanged.
    let kept = read(&respond(&service, &asking(&json!(SEATTLE))).await);
    let told = with(&after(&kept, &output(&kept, "Cold: 3 degrees.")), &json!({"store": false}));
    assert_eq!(said(&read(&respond(&service, &told).await)), "Cold: 3 degrees.");
    assert_eq!(service.get(&format!("/v1/responses/{}", id(&kept))).await.status, 200);
}

#[tokio::test]
async fn a_response_is_read_and_forgotten() {
    let service = Service::new(&["weather"]);
    let first = read(&respond(&service, &with(&asking(&json!(SEATTLE)), &json!({"metadata": {"a": "b"}}))).await);
    let second = read(&respond(&service, &after(&first, &output(&first, "Cold: 3 degrees."))).await);
    let mut expected = first.clone();
    expected.as_object_mut().expect("an object").remove("uptake");
    assert_eq!(read(&service.get(&format!("/v1/responses/{}", id(&first))).await), expected);
    let deleted = delete(&service, id(&first)).await;
    assert_eq!(deleted.json(), json!({"id": first["id"], "object": "response", "deleted": true}));
    for answer in [service.get(&format!("/v1/responses/{}", id(&first))).await, delete(&service, id(&first)).await] {
        let (status, _, code, param) = answer.error();
        assert_eq!((status, code.as_str(), param.as_deref()), (404, "response_not_found", Some("id")));
    }
    assert_eq!(respond(&service, &after(&first, &json!("hello"))).await.error().0, 400);
    // Its continuation has a conversation of its own.
    assert!(!calls(&read(&respond(&service, &after(&second, &json!("and in San Francisco?"))).await)).is_empty());
    for odd in ["1", "resp_%2F", "..%2F..%2Fetc", "%FF", &"x".repeat(2_000)] {
        assert!([400, 404].contains(&service.get(&format!("/v1/responses/{odd}")).await.error().0), "{odd}");
    }
}

/// A kept response cannot be reached as a session.
#[tokio::test]
async fn responses_and_sessions_are_apart() {
    let service = Service::new(&["weather"]);
    let response = read(&respond(&service, &asking(&json!(SEATTLE))).await);
    for name in [id(&response).to_owned(), format!("~{}", id(&response)), format!("%7E{}", id(&response))] {
        let answer = service.get(&format!("/v1/sessions/{name}")).await;
        assert!([400, 404].contains(&answer.error().0), "{name}: {}", answer.text);
    }
    let by_name = json!({"utterance": "hello", "session_id": response["id"]});
    assert_eq!(service.post("/v1/predict/weather", by_name.to_string()).await.json()["uptake"]["turn"], 1);
    assert_eq!(read(&service.get(&format!("/v1/responses/{}", id(&response))).await)["id"], response["id"]);
}

/// The AI SDK refers to earlier items like this.
#[tokio::test]
async fn items_of_kept_responses_are_referred_to() {
    let service = Service::new(&["weather"]);
    let first = read(&respond(&service, &asking(&json!("what will the weather be in the next days"))).await);
    let user = |text: &str| json!({"role": "user", "content": text});
    let reference = |response: &Value| json!({"type": "item_reference", "id": response["output"][0]["id"]});
    let said_first = user("what will the weather be in the next days");
    let second = read(&respond(&service, &asking(&json!([said_first, reference(&first), user("Seattle")]))).await);
    let talk = json!([said_first, reference(&first), user("Seattle"), {"id": second["output"][0]["id"]}, user("3")]);
    let third = read(&respond(&service, &asking(&talk)).await);
    assert!(!calls(&third).is_empty() && !third["uptake"]["notes"].to_string().contains("refers to"), "{third}");
    let told = json!([
        said_first,
        reference(&first),
        user("Seattle"),
        reference(&second),
        user("3"),
        reference(&third),
        output(&third, "Cold: 3 degrees.")[0]
    ]);
    assert_eq!(said(&read(&respond(&service, &asking(&told)).await)), "Cold: 3 degrees.");
}

#[tokio::test]
async fn what_cannot_be_kept_is_answered_all_the_same() {
    let small = SessionOptions { url: StoreUrl::new("memory:"), max_bytes: 300, ..SessionOptions::default() };
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("file"), "no directory").expect("a file");
    let url = format!("sqlite:{}", directory.path().join("file/sessions.db").display());
    let broken = SessionOptions { url: StoreUrl::new(url), ..SessionOptions::default() };
    for (sessions, why) in [(small, "sessions.max_bytes"), (broken, "sessions cannot be kept at the moment")] {
        let service = keeping(&sessions);
        let response = read(&respond(&service, &asking(&json!(SEATTLE))).await);
        assert_eq!((calls(&response), &response["store"]), (forecast().into(), &json!(false)), "{response}");
        let notes = response["uptake"]["notes"].to_string();
        assert!(notes.contains("the response is not kept") && notes.contains(why), "{notes}");
        assert!(!notes.contains("file"), "{notes}");
    }
}

/// Values that a module marks as sensitive are never stored plain, and the conversation can be continued all the same;
/// after a restart only with a key.
#[tokio::test]
async fn sensitive_words_are_in_no_file() {
    let key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    for (key, survives) in [(None, false), (Some(key), true)] {
        let directory = tempfile::tempdir().expect("a directory");
        let start = || {
            let url = StoreUrl::new(format!("sqlite:{}", directory.path().join("sessions.db").display()));
            let encryption_key = key.map(Secret::new);
            let service = keeping(&SessionOptions { url, encryption_key, ..SessionOptions::default() });
            let sensitive = "[functions.get_current_weather.slots]\nlocation = { sensitive = true }\n";
            service.write("weather", "module.toml", sensitive);
            service
        };
        let service = start();
        let first = read(&respond(&service, &asking(&json!("what is the weather like right now"))).await);
        let second = read(&respond(&service, &after(&first, &json!("Seattle"))).await);
        assert_eq!((calls(&second).len(), &second["store"]), (1, &json!(true)), "{second}");
        let other = with(&after(&second, &json!("hello")), &json!({"model": "uptake"}));
        assert_eq!(respond(&service, &other).await.status, 200);
        for file in std::fs::read_dir(directory.path()).expect("a directory") {
            let stored = std::fs::read(file.expect("a file").path()).expect("bytes");
            assert!(!String::from_utf8_lossy(&stored).contains("Seattle"), "{key:?}");
        }
        drop(service);
        let again = respond(&start(), &after(&second, &output(&second, "Cold: 3 degrees."))).await;
        assert_eq!(again.status, if survives { 200 } else { 400 }, "{}", again.text);
    }
}

#[tokio::test]
async fn responses_expire_as_sessions_do() {
    let sessions = SessionOptions { url: StoreUrl::new("memory:"), ttl_s: 1, ..SessionOptions::default() };
    let service = keeping(&sessions);
    let response = read(&respond(&service, &asking(&json!(SEATTLE))).await);
    let gone = async {
        while service.get(&format!("/v1/responses/{}", id(&response))).await.status != 404 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), gone).await.expect("it expires");
    let answer = respond(&service, &after(&response, &json!("hello"))).await;
    assert_eq!(answer.error().2, "previous_response_not_found");
}
