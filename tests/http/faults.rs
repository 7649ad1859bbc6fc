//! A model server that is killed, stalls, drips or garbles under load: every client gets a valid answer or a typed
//! error, none waits past its deadline, and `auto` continues to answer.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};
use uptake::{
    http::HttpOptions,
    llm::{self, BreakerOptions, LlmOptions},
    understand::UnderstandOptions,
};

use crate::support::{
    Answer, Service,
    fault_proxy::{Fault, FaultProxy},
    model_server::{ModelServer, called},
};

/// Time for a server that never answers, and for one that always does, on a slow machine too.
const SHORT_MS: u64 = 300;
const LONG_MS: u64 = 200_000;
/// A client that waits this long counts as hanging: far longer than needed, since the test is whether an answer comes,
/// not how fast this machine is.
const HANGS: Duration = Duration::from_secs(300);

const UTTERANCE: &str = "how cold will it be in Seattle in the next 3 days?";

/// A correct model server behind a proxy, and a service that is never sure by itself and gives the server this long.
async fn service(timeout_ms: u64) -> (Arc<Service>, FaultProxy, ModelServer) {
    let server =
        ModelServer::replying(vec![called("get_n_day_forecast", "{\"location\":\"Seattle\",\"num_days\":3}")]).await;
    let proxy = FaultProxy::before(&server.base_url).await;
    // The breaker opens only for a moment, so that a recovered server is soon used again.
    let breaker = BreakerOptions { cooldown_ms: 50, longest_cooldown_ms: 200, ..BreakerOptions::default() };
    let base_url = Some(proxy.base_url.clone());
    let options = LlmOptions { base_url, timeout_ms, retries: 1, breaker, ..server.options() };
    let servers = llm::connect(&options).expect("valid options");
    let turns = UnderstandOptions { sure: 1.0, deadline_ms: timeout_ms * 5, ..UnderstandOptions::default() };
    (Arc::new(Service::asking(&["weather"], HttpOptions::default(), turns, servers)), proxy, server)
}

async fn say(service: &Service, strategy: &str) -> Answer {
    let body = json!({ "utterance": UTTERANCE, "strategy": strategy });
    tokio::time::timeout(HANGS, service.post("/v1/predict/weather", body.to_string())).await.expect("no client hangs")
}

/// Each answer is valid, or a typed error, and contains no word of the broken server.
fn assert_sound(answer: &Answer, what: &str) {
    match answer.status {
        200 => {
            let body = answer.json();
            if body["uptake"]["outcome"] == "call" {
                let arguments = body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_str();
                let arguments: Value = serde_json::from_str(arguments.expect("a string")).expect("JSON");
                assert_eq!(arguments["location"], "Seattle, WA", "{what}");
                assert_eq!(arguments["num_days"], 3, "{what}");
            }
        }
        502 | 504 => {
            let (_, kind, code, _) = answer.error();
            assert_eq!(kind, "server_error", "{what}");
            assert!(code.starts_with("model_server_"), "{what}: {code}");
            assert_eq!(answer.headers["x-should-retry"], "false", "{what}");
        }
        429 => assert_eq!(answer.error().2, "too_many_requests", "{what}"),
        other => panic!("{what}: {other}: {}", answer.text),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_client_gets_an_answer_or_a_typed_error() {
    for fault in Fault::ALL {
        let is_slow = matches!(fault, Fault::Stall | Fault::Drip);
        let (service, proxy, _server) = service(if is_slow { SHORT_MS } else { LONG_MS }).await;
        proxy.set(fault);
        let strategies = ["tools", "auto", "structured", "staged"].repeat(6);
        let answers = join_all(strategies.iter().map(|strategy| say(&service, strategy))).await;
        let mut of_server = 0;
        for (strategy, answer) in strategies.into_iter().zip(answers) {
            assert_sound(&answer, &format!("{fault:?}, {strategy}"));
            if strategy == "auto" {
                assert_eq!(answer.status, 200, "{fault:?}: auto answers by itself");
                of_server += usize::from(answer.json()["uptake"]["decided_by"] != "local");
            }
        }
        // A server with the same answer for all loses its influence: how many of its answers count before that depends
        // on the load.
        assert_eq!(of_server > 0, fault == Fault::None, "{fault:?}: {of_server} answers are the server's");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_and_goes_under_load_is_used_again_when_it_is_back() {
    let (service, proxy, _server) = service(LONG_MS).await;
    let load: Vec<_> = (0..8)
        .map(|client| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                for round in 0..12 {
                    let strategy = if client % 2 == 0 { "auto" } else { "tools" };
                    let answer = say(&service, strategy).await;
                    assert_sound(&answer, &format!("client {client}, round {round}, {strategy}"));
                    assert!(answer.status == 200 || strategy != "auto", "{}", answer.text);
                }
            })
        })
        .collect();
    for fault in [Fault::Reset, Fault::None, Fault::Garble, Fault::Cut, Fault::None] {
        tokio::time::sleep(Duration::from_millis(60)).await;
        proxy.set(fault);
    }
    for client in load {
        client.await.expect("no assertion fails in a client");
    }
    proxy.set(Fault::None);
    // After repeated failures the server is left alone for a while; then it is asked again.
    let back = async {
        while say(&service, "tools").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(HANGS, back).await.expect("the server is used again");
}

#[tokio::test]
async fn a_client_that_leaves_cancels_the_model_call() {
    let (service, proxy, server) = service(LONG_MS).await;
    proxy.set(Fault::Stall);
    let asked = tokio::spawn({
        let service = Arc::clone(&service);
        async move { say(&service, "tools").await }
    });
    tokio::time::timeout(HANGS, proxy.stalls(1)).await.expect("its question arrives");
    asked.abort();
    let _ = asked.await;
    // Its place is free at once, and no retry follows.
    proxy.set(Fault::None);
    let answer = say(&service, "tools").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(server.served(), 1, "only the second client's question arrived");
}
