//! Texts that are as long as may be and cost as much as they can: whoever else asks is answered meanwhile.

use std::sync::{Arc, Mutex};

use serde_json::json;
use uptake::{
    http::HttpOptions,
    llm::{self, LlmOptions},
    understand::UnderstandOptions,
};

use crate::support::{
    Service,
    fault_proxy::{Fault, FaultProxy},
    model_server::ModelServer,
};

/// All turns share one thread of the runtime with everything else.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn health_is_told_while_hostile_texts_are_read() {
    let service = Arc::new(Service::new(&["weather"]));
    service.say("weather", "how cold is it in Seattle?").await;
    let done = Arc::new(Mutex::new(Vec::new()));
    let tell = |what: &'static str, done: &Arc<Mutex<Vec<&str>>>| done.lock().expect("nobody panics").push(what);
    let mut running = Vec::new();
    for _ in 0..4 {
        let (service, done) = (Arc::clone(&service), Arc::clone(&done));
        running.push(tokio::spawn(async move {
            let body = json!({ "utterance": "x;".repeat(4_000) }).to_string();
            assert_eq!(service.post("/v1/predict/weather", body).await.status, 200);
            tell("turn", &done);
        }));
    }
    {
        let (service, done) = (Arc::clone(&service), Arc::clone(&done));
        running.push(tokio::spawn(async move {
            assert_eq!(service.get("/healthz").await.status, 200);
            tell("health", &done);
        }));
    }
    for one in running {
        one.await.expect("no assertion fails");
    }
    assert_eq!(done.lock().expect("nobody panics")[..], ["health", "turn", "turn", "turn", "turn"]);
}

/// What is answered to 8 KB is not a thousand times as long.
#[tokio::test]
async fn answers_are_in_proportion_to_what_was_said() {
    let service = Service::new(&["weather"]);
    for kind in ["1 ", "x;", "5 to 6 ", "at 5 ", "Seattle and ", "in 3 days "] {
        let utterance: String = kind.chars().cycle().take(8_000).collect();
        let answer = service.post("/v1/predict/weather", json!({ "utterance": utterance }).to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(answer.text.len() < 32 * 8_000, "{kind:?}: {} bytes", answer.text.len());
    }
}

/// Turns that wait for a server which says nothing are fewer than turns that may run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_leaves_room_for_local_answers() {
    let server = ModelServer::replying(vec![(200, "application/json", Vec::new())]).await;
    let proxy = FaultProxy::before(&server.base_url).await;
    proxy.set(Fault::Stall);
    let options = LlmOptions { base_url: Some(proxy.base_url.clone()), timeout_ms: 20_000, ..LlmOptions::default() };
    let servers = llm::connect(&LlmOptions { probe: false, ..options }).expect("valid options");
    let turns = UnderstandOptions { sure: 1.0, ..UnderstandOptions::default() };
    let service = Arc::new(Service::asking(&["weather"], HttpOptions::default(), turns, servers));
    service.get("/v1/index/weather").await;
    let asking: Vec<_> = (0..HttpOptions::default().max_in_flight)
        .map(|number| {
            let service = Arc::clone(&service);
            let body = json!({ "utterance": format!("how cold will it be in Seattle in {number} days?") }).to_string();
            tokio::spawn(async move { service.post("/v1/predict/weather", body).await.status })
        })
        .collect();
    let answered = async {
        loop {
            let body = json!({ "utterance": "how cold is it in Seattle?", "strategy": "local" }).to_string();
            if service.post("/v1/predict/weather", body).await.status == 200
                && asking.iter().any(tokio::task::JoinHandle::is_finished)
            {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(15), answered).await.expect("a place is free");
    assert!(asking.iter().any(|one| !one.is_finished()), "the others wait for the server");
    asking.iter().for_each(tokio::task::JoinHandle::abort);
}
