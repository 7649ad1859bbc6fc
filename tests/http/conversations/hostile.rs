//! States and ids that only an attacker would send.

use proptest::prelude::*;
use serde_json::{Value, json};
use uptake::conversation::ConversationOptions;

use super::{chat, keeping, predict, read, shop, signing};
use crate::support::Service;

#[tokio::test]
async fn what_was_changed_is_no_state() {
    let service = shop(keeping("memory:", &signing())).await;
    let first = read(&predict(&service, "I'd like to buy some shoes", json!({})).await);
    let state = first["uptake"]["state"].as_str().expect("a state").to_owned();
    let middle = state.len() / 2;
    let flipped = if state.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let changed = format!("{}{flipped}{}", &state[..middle], &state[middle + 1..]);
    let plain = format!("p1.{}", state.split('.').nth(1).expect("a body"));
    let other = shop(keeping("memory:", &ConversationOptions::default())).await;
    for (service, state) in [
        (&service, changed),
        (&service, state[..middle].to_owned()),
        (&service, plain),
        (&service, state.replacen("s1", "s2", 1)),
        (&service, String::new()),
        (&service, "x".repeat(100_000)),
        (&other, state.clone()),
    ] {
        let answer = predict(service, "black", json!({ "state": state })).await;
        let (status, _, code, param) = answer.error();
        assert_eq!((status, code.as_str(), param.as_deref()), (400, "invalid_state", Some("state")), "{state}");
        assert!(answer.text.contains("begin a new conversation"), "{}", answer.text);
        let (_, _, code, param) =
            chat(service, &[json!({"role": "user", "content": "black"})], &json!({"state": state})).await.error();
        assert_eq!((code.as_str(), param.as_deref()), ("invalid_state", Some("uptake.state")));
    }
    assert_eq!(predict(&service, "black", json!({ "state": state })).await.status, 200);
}

#[tokio::test]
async fn a_state_of_another_module_is_refused() {
    let service = Service::keeping(
        &["shoes", "weather"],
        crate::understand::local::embedder().await,
        keeping("memory:", &ConversationOptions::default()),
    );
    let first = read(&predict(&service, "I'd like to buy some shoes", json!({"session_id": "a"})).await);
    assert_eq!(first["uptake"]["turn"], 1);
    let state = read(&predict(&service, "I'd like to buy some shoes", json!({})).await)["uptake"]["state"].clone();
    let body = json!({"utterance": "in Oslo", "state": state}).to_string();
    assert_eq!(service.post("/v1/predict/weather", body).await.error().2, "invalid_state");
    let body = json!({"utterance": "in Oslo", "session_id": "a"}).to_string();
    let (status, _, code, param) = service.post("/v1/predict/weather", body).await.error();
    assert_eq!((status, code.as_str(), param.as_deref()), (400, "invalid_value", Some("session_id")));
}

#[tokio::test]
async fn members_that_exclude_each_other_are_named() {
    let service = Service::new(&["weather"]);
    for (members, expected) in [
        (json!({"state": "p1.e30", "session_id": "a"}), "state"),
        (json!({"revision": 1}), "revision"),
        (json!({"session_id": "a/b"}), "session_id"),
        (json!({"session_id": ""}), "session_id"),
        (json!({"session_id": "x".repeat(129)}), "session_id"),
        (json!({"session_id": 5}), "session_id"),
        (json!({"state": {}}), "state"),
        (json!({"session_id": "a", "revision": -1}), "revision"),
        (json!({"language": "??"}), "language"),
    ] {
        let mut body = json!({"utterance": "hello"});
        body.as_object_mut().expect("an object").extend(members.as_object().cloned().expect("members"));
        let (status, _, _, param) = service.post("/v1/predict/weather", body.to_string()).await.error();
        assert_eq!((status, param.as_deref()), (400, Some(expected)), "{members}");
    }
    for id in ["a%2Fb", "%00", "..", "%C3%A9"] {
        let expected = if id == ".." { 404 } else { 400 };
        let answer = service.get(&format!("/v1/sessions/{id}")).await;
        assert_eq!(answer.error().0, expected, "{id}: {}", answer.text);
    }
}

/// The pieces of members, in all the wrong places.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1e308)),
        "\\PC{0,20}".prop_map(Value::from),
        "[a-z]{1,4}".prop_map(Value::from),
        "(p1|s1|p2)\\.[A-Za-z0-9_-]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

#[test]
fn no_state_or_id_is_a_failure_of_ours() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let service = Service::new(&["weather"]);
    let cases = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) };
    proptest!(cases, |(state in any_value(), id in any_value(), revision in any_value(), path in "\\PC{0,12}")| {
        runtime.block_on(async {
            let own = json!({"state": state, "session_id": id, "revision": revision});
            let mut body = own.clone();
            body["utterance"] = json!("how warm is it in seattle");
            let answer = service.post("/v1/predict/weather", body.to_string()).await;
            assert!(answer.status < 500, "{body}: {}", answer.text);
            let body = json!({"model": "weather", "uptake": own, "messages": [{"role": "user", "content": "hi"}]});
            let answer = service.post("/v1/chat/completions", body.to_string()).await;
            assert!(answer.status < 500, "{body}: {}", answer.text);
            let path: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect();
            for route in ["", "/events"] {
                let answer = service.get(&format!("/v1/sessions/0.0.0.0{path}{route}")).await;
                assert!((400..500).contains(&answer.status), "{path}: {}", answer.text);
            }
        });
    });
}

/// The state of a question can be confirmed once, and not twice.
#[tokio::test]
async fn a_confirmation_is_not_replayed() {
    let service = Service::keeping(&["weather"], crate::support::embedder(), keeping("memory:", &signing()));
    let settings = std::fs::read_to_string(service.root().join("weather/module.toml")).expect("settings");
    service.write("weather", "module.toml", &format!("{settings}\n[functions.get_current_weather]\nconfirm = true\n"));
    let say = async |utterance: &str, state: &Value| {
        service.post("/v1/predict/weather", json!({"utterance": utterance, "state": state}).to_string()).await
    };
    let asked = read(&say("what is the current weather in Seattle, in celsius?", &Value::Null).await);
    assert_eq!(asked["uptake"]["outcome"], "ask", "{asked}");
    let state = &asked["uptake"]["state"];
    // Other answers may be given any number of times.
    for _ in 0..2 {
        assert_eq!(read(&say("no, forget it", state).await)["uptake"]["outcome"], "cancelled");
    }
    let confirmed = read(&say("yes", state).await);
    assert_eq!(confirmed["uptake"]["outcome"], "call", "{confirmed}");
    for _ in 0..2 {
        let (status, _, code, param) = say("yes", state).await.error();
        assert_eq!((status, code.as_str(), param.as_deref()), (400, "invalid_state", Some("state")));
    }
    // Of many at once, one is the first.
    let asked = read(&say("what is the current weather in Seattle, in celsius?", &Value::Null).await);
    let many = (0..8).map(|_| say("yes", &asked["uptake"]["state"]));
    let answers = futures::future::join_all(many).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
}
