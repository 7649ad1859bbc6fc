//! Texts of maximum length and cost: other clients are answered meanwhile.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream::FuturesUnordered};
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

/// Waiting this long for something fails the test.
const HANGS: Duration = Duration::from_secs(300);

const NEVER_MS: u64 = 3_600_000;

/// All turns share one thread of the runtime with everything else. The test counts answers, not time: health is
/// answered many times while turns are in progress; a turn that held its thread would allow only one health answer per
/// stage.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn health_is_told_while_hostile_texts_are_read() {
    let service = Arc::new(Service::new(&["weather"]));
    service.say("weather", "how cold is it in Seattle?").await;
    let turns: Vec<_> = (0..4)
        .map(|_| {
            let service = Arc::clone(&service);
            let body = json!({ "utterance": "x;".repeat(4_000) }).to_string();
            tokio::spawn(async move { service.post("/v1/predict/weather", body).await.status })
        })
        .collect();
    let health = tokio::spawn(async move {
        let mut told = 0;
        while !turns.iter().all(tokio::task::JoinHandle::is_finished) {
            assert_eq!(service.get("/healthz").await.status, 200);
            told += 1;
            tokio::task::yield_now().await;
        }
        (told, futures::future::join_all(turns).await)
    });
    let (told, turns) = health.await.expect("no assertion fails");
    assert!(turns.into_iter().all(|status| status.expect("no panic") == 200));
    assert!(told > 100, "health was told {told} times");
}

/// The answer to 8 KB is not a thousand times as long.
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

/// Fewer turns wait for a server that does not answer than may run. Time limits do not matter: all are far longer than
/// the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_leaves_room_for_local_answers() {
    let server = ModelServer::replying(vec![(200, "application/json", Vec::new())]).await;
    let proxy = FaultProxy::before(&server.base_url).await;
    proxy.set(Fault::Stall);
    let base_url = Some(proxy.base_url.clone());
    let options = LlmOptions { base_url, timeout_ms: NEVER_MS, probe: false, ..LlmOptions::default() };
    // One owner leaves a quarter of both to others.
    let asked = options.max_concurrency * 3 / 4;
    let waiting = asked + options.max_queue * 3 / 4;
    let servers = llm::connect(&options).expect("valid options");
    let turns = UnderstandOptions { sure: 1.0, deadline_ms: NEVER_MS, ..UnderstandOptions::default() };
    let http = HttpOptions { timeout_ms: NEVER_MS, queue_ms: NEVER_MS, ..HttpOptions::default() };
    let places = http.max_in_flight;
    let service = Arc::new(Service::asking(&["weather"], http, turns, servers));
    service.get("/v1/index/weather").await;
    let mut asking: FuturesUnordered<_> = (0..places)
        .map(|number| {
            let service = Arc::clone(&service);
            let said = format!("how cold will it be in Seattle in {number} days?");
            // The module itself would not ask a server.
            let body = json!({ "utterance": said, "strategy": "auto" }).to_string();
            tokio::spawn(async move { service.post("/v1/predict/weather", body).await.status })
        })
        .collect();
    let answered = async {
        proxy.stalls(asked).await;
        for _ in waiting..places {
            let status = asking.next().await.expect("turns that do not wait").expect("no panic");
            assert_eq!(status, 200, "decided by itself");
        }
        let body = json!({ "utterance": "how cold is it in Seattle?", "strategy": "local" }).to_string();
        assert_eq!(service.post("/v1/predict/weather", body).await.status, 200);
    };
    tokio::time::timeout(HANGS, answered).await.expect("a place is free");
    assert_eq!(asking.iter().filter(|one| !one.is_finished()).count(), waiting, "the others wait for the server");
    asking.iter().for_each(tokio::task::JoinHandle::abort);
}
