//! Calls that the service makes itself: each once, reported in words, whatever the other side does.

mod chat;
mod compose;
mod endpoints;
pub(crate) mod shop;

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use axum::body::Body;
use serde_json::json;
use shop::{Reply, Shop, options, predict, reply, say, service, service_at, told};
use uptake::{act::ActionOptions, http::Peer};

use crate::support::json_request;

#[tokio::test]
async fn a_confirmed_call_is_made_and_told() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    let asked = say(&service, "s", "order red shoes in size 42").await;
    assert_eq!(asked["uptake"]["outcome"], "ask", "{asked}");
    assert!(shop.asked().is_empty(), "nothing is called before the yes");
    let done = say(&service, "s", "yes").await;
    assert_eq!(told(&done), ("done".into(), "Order S-17 is on its way.".into(), vec!["done".into()]));
    assert_eq!(done["choices"][0]["message"]["content"], "Order S-17 is on its way.");
    assert!(done["choices"][0]["message"].get("tool_calls").is_none(), "nobody calls it again: {done}");
    assert_eq!(done["uptake"]["actions"][0]["result"], json!({"id": "S-17", "state": "packed"}));
    let asked = shop.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].line.as_str(), &asked[0].body), ("POST /orders", &json!({"size": 42, "color": "red"})));
    assert!(asked[0].key.as_deref().is_some_and(|key| key.len() == 32), "{asked:?}");
    // A finished call is not repeated.
    let after = say(&service, "s", "yes").await;
    assert_ne!(after["uptake"]["outcome"], "done", "{after}");
    assert_eq!(shop.asked().len(), 1);
    let metrics = service.get("/metrics").await.text;
    assert!(metrics.contains("uptake_action_seconds_count{module=\"shop\",status=\"done\"} 1"), "{metrics}");
}

#[tokio::test]
async fn without_actions_the_client_calls() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &uptake::act::ActionOptions::default());
    say(&service, "s", "order red shoes in size 42").await;
    let answer = say(&service, "s", "yes").await;
    assert_eq!(answer["uptake"]["outcome"], "call");
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "order_shoes");
    assert!(shop.asked().is_empty());
}

#[tokio::test]
async fn a_failure_is_told_and_the_form_stays_open() {
    let shop =
        Shop::replying(vec![reply(409, &json!({"detail": "red is sold out"})), reply(201, &json!({"id": "S-18"}))])
            .await;
    let service = service(&shop, "", &options());
    say(&service, "s", "order red shoes in size 42").await;
    let failed = say(&service, "s", "yes").await;
    let (outcome, text, statuses) = told(&failed);
    assert_eq!((outcome.as_str(), statuses), ("ask", vec!["failed".to_owned()]));
    assert!(text.contains("red is sold out") && text.ends_with('?'), "{text}");
    assert_eq!(failed["uptake"]["actions"][0]["http_status"], 409);
    // Nothing is called again without another yes.
    let other = say(&service, "s", "in black").await;
    assert_eq!((other["uptake"]["outcome"].as_str(), shop.asked().len()), (Some("ask"), 1), "{other}");
    let done = say(&service, "s", "yes").await;
    assert_eq!(told(&done).1, "Order S-18 is on its way.");
    let asked = shop.asked();
    assert_eq!(asked[1].body, json!({"size": 42, "color": "black"}));
    assert_ne!(asked[0].key, asked[1].key, "it is another request");
}

#[tokio::test]
async fn what_may_have_been_done_is_not_done_again() {
    let slow = Reply { after: Duration::from_secs(60), ..reply(201, &json!({})) };
    let long = Reply { body: "x".repeat(300_000), ..reply(201, &json!({})) };
    let elsewhere = Reply { headers: vec![("location", "http://127.0.0.1:1/")], ..reply(303, &json!({})) };
    for (first, cause) in [
        (slow, "no answer in time"),
        (long, "longer than 262144 bytes"),
        (elsewhere, "answered 303"),
        (reply(500, &json!({"error": "half done"})), "answered 500"),
        (reply(200, &json!({"order": 1})), "does not fit"),
    ] {
        let shop = Shop::replying(vec![first, reply(201, &json!({"id": "S-1"}))]).await;
        let limited = ActionOptions { timeout_ms: 2_000, ..options() };
        let service = service(&shop, ", answer = { type = 'object', required = ['id'] }", &limited);
        say(&service, "s", "order red shoes in size 42").await;
        let doubtful = say(&service, "s", "yes").await;
        let (outcome, text, statuses) = told(&doubtful);
        assert_eq!((outcome.as_str(), statuses), ("done", vec!["unknown".to_owned()]), "{cause}: {doubtful}");
        assert!(text.contains("check before you ask for it again"), "{text}");
        let told_cause = doubtful["uptake"]["actions"][0]["cause"].as_str().unwrap_or_default();
        assert!(told_cause.contains(cause), "{told_cause}");
        say(&service, "s", "yes").await;
        assert_eq!(shop.asked().len(), 1, "{cause}");
    }
}

#[tokio::test]
async fn what_does_no_harm_is_tried_again() {
    let shop = Shop::replying(vec![reply(503, &json!({})), reply(200, &json!({"state": "on the lorry"}))]).await;
    let service = service(&shop, "", &options());
    let done = say(&service, "s", "track order 71").await;
    assert_eq!(told(&done).2, ["done"], "{done}");
    assert!(told(&done).1.contains("on the lorry"), "{done}");
    assert_eq!(done["uptake"]["actions"][0]["tries"], 2);
    assert_eq!(shop.asked().iter().map(|asked| asked.line.as_str()).collect::<Vec<_>>(), ["GET /orders/71"; 2]);
}

#[tokio::test]
async fn an_echoed_state_leads_to_one_call() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    let asked = predict(&service, &json!({"utterance": "order red shoes in size 42"})).await.json();
    let state = asked["uptake"]["state"].as_str().expect("a state").to_owned();
    let body = json!({"utterance": "yes", "state": state});
    let first = predict(&service, &body).await.json();
    let second = predict(&service, &body).await.json();
    assert_eq!(told(&first), ("done".into(), "Order S-17 is on its way.".into(), vec!["done".into()]));
    assert_eq!(told(&first), told(&second), "whoever asks again hears what came of it");
    assert_eq!(shop.asked().len(), 1);
}

#[tokio::test]
async fn no_address_is_asked_that_nobody_listed() {
    let shop = Shop::good().await;
    let port = shop.url.rsplit(':').next().expect("a port").to_owned();
    let list = |hosts: &[&str], networks: &[&str]| ActionOptions {
        hosts: hosts.iter().map(ToString::to_string).collect(),
        networks: networks.iter().map(ToString::to_string).collect(),
        ..options()
    };
    let by_name = format!("http://localhost:{port}");
    for (url, options, cause) in [
        (&shop.url, list(&["shop.example.com"], &["127.0.0.0/8"]), "not among `actions.hosts`"),
        (&shop.url, list(&["127.0.0.1:1"], &["127.0.0.0/8"]), "not among `actions.hosts`"),
        (&shop.url, list(&["127.0.0.1"], &["10.0.0.0/8"]), "no public address"),
        // The address that the name resolves to counts.
        (&by_name, list(&["localhost"], &[]), "no public address"),
    ] {
        let service = service(&shop, "", &options);
        service.write("shop", "module.toml", &shop::settings(url, ""));
        say(&service, "s", "order red shoes in size 42").await;
        let refused = say(&service, "s", "yes").await;
        assert_eq!(told(&refused).2, ["failed"], "{refused}");
        let told = refused["uptake"]["actions"][0]["cause"].as_str().unwrap_or_default();
        assert!(told.contains(cause), "{told}");
        let said = refused["uptake"]["reply"].as_str().unwrap_or_default();
        assert!(said.contains("not available") && !said.contains("127.0.0.1"), "{said}");
    }
    assert!(shop.asked().is_empty());
}

#[tokio::test]
async fn whoever_leaves_hears_of_it_later() {
    let slow = Reply { after: Duration::from_millis(300), ..reply(201, &json!({"id": "S-17"})) };
    let shop = Shop::replying(vec![slow]).await;
    let service = service(&shop, "", &options());
    say(&service, "s", "order red shoes in size 42").await;
    tokio::select! {
        _ = say(&service, "s", "yes") => panic!("the answer takes longer"),
        () = shop.heard(1) => {}
    }
    let view = loop {
        let view = service.get("/v1/sessions/s").await.json();
        if view["turn"] == 2 && view["finished"][0]["end"] == "called" {
            break view;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(view["forms"], json!([]), "{view}");
    // The turn waits for the one before it, and nothing is called twice.
    say(&service, "s", "yes").await;
    assert_eq!(shop.asked().len(), 1);
}

/// An owner with slow calls leaves room for the calls of others.
#[tokio::test]
async fn slow_calls_of_one_leave_room_for_another() {
    let slow = Reply { after: Duration::from_secs(600), ..reply(201, &json!({"id": "S-17"})) };
    let good = reply(201, &json!({"id": "S-17", "state": "packed"}));
    let shop = Shop::replying(vec![slow.clone(), slow.clone(), slow, good]).await;
    let service = Arc::new(service(&shop, "", &ActionOptions { max_concurrency: 4, ..options() }));
    let say = |address: [u8; 4], session: String, utterance: &'static str| {
        let service = Arc::clone(&service);
        async move {
            let body = json!({"utterance": utterance, "session_id": session}).to_string();
            let request = json_request("/v1/predict/shop").extension(Peer(Ipv4Addr::from(address).into()));
            service.send(request.body(Body::from(body)).expect("a request")).await.json()
        }
    };
    let (greedy, polite) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let mut held = Vec::new();
    for number in 0..6 {
        say(greedy, format!("g{number}"), "order red shoes in size 42").await;
        held.push(tokio::spawn(say(greedy, format!("g{number}"), "yes")));
    }
    shop.heard(3).await;
    say(polite, "p".to_owned(), "order red shoes in size 42").await;
    let done = say(polite, "p".to_owned(), "yes").await;
    assert_eq!(told(&done).2, ["done"], "{done}");
    assert_eq!(shop.asked().len(), 4, "the others of the greedy one wait");
    held.iter().for_each(tokio::task::JoinHandle::abort);
}

/// A process ends in the middle of a call. The next one neither repeats it nor claims that it was made.
#[test]
fn nothing_is_called_twice_after_a_crash() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = format!("sqlite:{}", directory.path().join("sessions.db").display());
    let limited = ActionOptions { timeout_ms: 300, ..options() };
    let outside = tokio::runtime::Runtime::new().expect("a runtime");
    let slow = Reply { after: Duration::from_secs(60), ..reply(201, &json!({"id": "S-17"})) };
    let shop = outside.block_on(Shop::replying(vec![slow]));
    let process = tokio::runtime::Runtime::new().expect("a runtime");
    process.block_on(async {
        let slow = ActionOptions { timeout_ms: 300, ..options() };
        let service = service_at(&shop, "", &slow, &store);
        say(&service, "s", "order red shoes in size 42").await;
        tokio::select! {
            _ = say(&service, "s", "yes") => panic!("the answer takes longer"),
            () = shop.heard(1) => {}
        }
    });
    process.shutdown_background();
    let next = tokio::runtime::Runtime::new().expect("a runtime");
    next.block_on(async {
        let service = service_at(&shop, "", &limited, &store);
        // While the call may still be in progress, the session waits.
        let answer = loop {
            let answer = predict(&service, &json!({"utterance": "yes", "session_id": "s"})).await;
            if answer.status != 409 {
                break answer.json();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let (_, text, statuses) = told(&answer);
        assert_eq!(statuses, ["unknown"], "{answer}");
        assert!(text.contains("check before you ask for it again"), "{text}");
        let after = say(&service, "s", "hello").await;
        assert_eq!(told(&after).2, Vec::<String>::new(), "{after}");
    });
    assert_eq!(shop.asked().len(), 1);
}
