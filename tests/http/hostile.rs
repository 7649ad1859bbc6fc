//! Texts that are as long as may be and cost as much as they can: whoever else asks is answered meanwhile.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::support::Service;

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
