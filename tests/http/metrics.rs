//! What `/metrics` shows, and what it never does.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use tempfile::TempDir;
use tower::ServiceExt as _;
use uptake::{
    embed::{Hashed, HashedOptions, SharedEmbedder},
    http::{AppState, HttpOptions, router},
    llm::{ChatReply, LlmError, Server, ToolCall, Usage, scripted::Scripted},
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshots},
    understand::{UnderstandOptions, Understander},
};

use crate::support::{Service, fixture, in_memory, json_request};

/// Every sample by its name and labels. Fails on an invalid line.
#[track_caller]
pub(super) fn samples(text: &str) -> BTreeMap<String, f64> {
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
    };
    let mut families: BTreeMap<&str, &str> = BTreeMap::new();
    let mut samples = BTreeMap::new();
    let body = text.strip_suffix("# EOF\n").expect("an end");
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<&str> = comment.splitn(3, ' ').collect();
            let [kind, family, rest] = words[..] else { panic!("{line}") };
            assert!(name(family), "{line}");
            match kind {
                "HELP" => {}
                "TYPE" => assert!(families.insert(family, rest).is_none(), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        let (full, labels) = series.split_once('{').unwrap_or((series, "}"));
        assert!(name(full), "{line}");
        let suffixes = |kind: &str| match kind {
            "counter" => &["_total"][..],
            "histogram" => &["_bucket", "_sum", "_count"][..],
            _ => &[""][..],
        };
        let known = families
            .iter()
            .any(|(family, kind)| full.strip_prefix(family).is_some_and(|suffix| suffixes(kind).contains(&suffix)));
        assert!(known, "no TYPE before {line}");
        for label in labels.strip_suffix('}').unwrap_or_else(|| panic!("{line}")).split("\",").filter(|l| !l.is_empty())
        {
            let (key, value) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(name(key) && !value.trim_end_matches('"').contains(['"', '\n', '\\']), "{line}");
        }
        assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {line}");
    }
    samples
}

async fn send(app: &AppState, request: Request<Body>) -> (StatusCode, String, String) {
    let response = router(app.clone(), None).oneshot(request).await.expect("a router never fails");
    let kind = response.headers()["content-type"].to_str().expect("text").to_owned();
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.expect("a whole body");
    (status, kind, String::from_utf8(body.to_vec()).expect("UTF-8"))
}

async fn scrape(app: &AppState) -> (String, BTreeMap<String, f64>) {
    let (status, kind, text) = send(app, Request::get("/metrics").body(Body::empty()).expect("a request")).await;
    assert_eq!((status.as_u16(), kind.as_str()), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let samples = samples(&text);
    (text, samples)
}

/// The fixtures with a scripted model server, which `auto` always asks.
fn with_model_server(chat: Scripted) -> (AppState, TempDir) {
    let index = tempfile::tempdir().expect("a directory for the index");
    let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
    let places =
        ModulesOptions { root: fixture("modules"), index: index.path().to_owned(), ..ModulesOptions::default() };
    let turns = UnderstandOptions { sure: 1.0, ..UnderstandOptions::default() };
    let understander = Understander::new(turns.clone(), Arc::clone(&embedder), vec![Server::new(Arc::new(chat))]);
    let snapshots = Snapshots::new(places, RetrieveOptions::default(), embedder);
    (AppState::new(snapshots, understander, HttpOptions::default(), turns, in_memory()), index)
}

const SAID: &str = "how cold will it be in Seattle in the next 3 days, in celsius?";

async fn ask(app: &AppState, strategy: &str) -> u16 {
    let body = serde_json::json!({ "utterance": SAID, "strategy": strategy }).to_string();
    send(app, json_request("/v1/predict/weather").body(body.into()).expect("a request")).await.0.as_u16()
}

#[tokio::test]
async fn nothing_is_counted_before_anything_happened() {
    let (_, samples) = scrape(&Service::new(&["weather"]).app).await;
    assert_eq!(samples, BTreeMap::from([("uptake_requests_in_flight".to_owned(), 0.0)]));
}

#[tokio::test]
async fn a_turn_is_counted_by_how_it_ended() {
    let service = Service::new(&["weather"]);
    for _ in 0..2 {
        assert_eq!(service.say("weather", SAID).await.status, 200);
    }
    assert_eq!(service.say("weather", "what is the weather like right now").await.status, 200);
    let (text, samples) = scrape(&service.app).await;
    let turns = |outcome: &str| {
        samples[&format!("uptake_turns_total{{module=\"weather\",outcome=\"{outcome}\",decided_by=\"local\"}}")]
    };
    assert_eq!((turns("call"), turns("ask")), (2.0, 1.0));
    for phase in ["recognize", "embed", "retrieve", "decide", "total"] {
        assert_eq!(samples[&format!("uptake_turn_seconds_count{{phase=\"{phase}\"}}")], 3.0, "{phase}");
        assert_eq!(samples[&format!("uptake_turn_seconds_bucket{{le=\"+Inf\",phase=\"{phase}\"}}")], 3.0, "{phase}");
    }
    let total = samples["uptake_turn_seconds_sum{phase=\"total\"}"];
    assert!(total > 0.0 && total < 3.0, "seconds, not milliseconds: {total}");
    let buckets: Vec<f64> = samples
        .iter()
        .filter(|(name, _)| name.starts_with("uptake_turn_seconds_bucket") && name.contains("\"total\""))
        .filter_map(|(name, _)| name.split('"').nth(1).and_then(|bound| bound.parse().ok()))
        .collect();
    assert_eq!(buckets.iter().copied().fold(f64::INFINITY, f64::min), 0.0001);
    assert!(buckets.contains(&30.0), "{buckets:?}");
    assert!(!text.contains("phase=\"llm\"") && !text.contains("uptake_llm_tokens_total"), "nobody was asked");
    // The scrape itself is not in flight.
    assert_eq!(samples["uptake_requests_in_flight"], 0.0);
}

#[tokio::test]
async fn attempts_are_counted_by_what_came_of_them() {
    let usage = Usage { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 };
    let call = |arguments: &str| ChatReply {
        tool_calls: vec![ToolCall {
            id: "call_0".to_owned(),
            name: "get_n_day_forecast".to_owned(),
            arguments: arguments.to_owned(),
        }],
        usage,
        ..ChatReply::default()
    };
    let good = r#"{"location": "Seattle, WA", "format": "celsius", "num_days": 3}"#;
    let chat = Scripted::new()
        .reply(call(good))
        .reply(call(r#"{"location": "Seattle, WA", "format": "celsius", "num_days": "many"}"#))
        .reply(call(good))
        .reply(call("{'location': 'Seattle, WA', 'format': 'celsius', 'num_days': 3}"))
        .fail(LlmError::Status { status: 500, message: "sk-secret at /opt/model".into(), retry_after: None })
        .fail(LlmError::Timeout);
    let (app, _index) = with_model_server(chat);
    for status in [200, 200, 200, 502, 504] {
        assert_eq!(ask(&app, "tools").await, status);
    }
    let (text, samples) = scrape(&app).await;
    let attempts = |result: &str| {
        let name = format!("uptake_llm_attempts_total{{server=\"scripted\",stage=\"call\",result=\"{result}\"}}");
        samples.get(&name).copied()
    };
    assert_eq!(
        (attempts("ok"), attempts("violated"), attempts("repaired")),
        (Some(2.0), Some(1.0), Some(1.0)),
        "{text}"
    );
    assert_eq!(samples["uptake_llm_tokens_total{module=\"weather\",kind=\"prompt\"}"], 1_600.0);
    assert_eq!(samples["uptake_llm_tokens_total{module=\"weather\",kind=\"completion\"}"], 80.0);
    assert_eq!(samples["uptake_turn_seconds_count{phase=\"llm\"}"], 3.0);
    let turns = "uptake_turns_total{module=\"weather\",outcome=\"call\",decided_by=\"tools\"}";
    assert_eq!(samples[turns], 3.0);
    assert_eq!(samples["uptake_errors_total{code=\"model_server_failed\"}"], 1.0);
    assert_eq!(samples["uptake_errors_total{code=\"model_server_timeout\"}"], 1.0);
    for private in ["secret", "/opt", "Seattle", "cold", "celsius"] {
        assert!(!text.contains(private), "{private} in {text}");
    }
}

#[tokio::test]
async fn a_failure_that_auto_gets_over_is_counted_too() {
    let (app, _index) = with_model_server(Scripted::new().fail(LlmError::Connect("no".into())));
    let body = serde_json::json!({ "utterance": "is it nice", "strategy": "auto" }).to_string();
    let (status, _, text) = send(&app, json_request("/v1/predict/weather").body(body.into()).unwrap()).await;
    assert_eq!(status.as_u16(), 200, "{text}");
    let (text, samples) = scrape(&app).await;
    let name = "uptake_llm_attempts_total{server=\"scripted\",stage=\"call\",result=\"connect\"}";
    assert_eq!(samples.get(name), Some(&1.0), "{text}");
}

#[tokio::test]
async fn errors_are_counted_whoever_made_them() {
    let service = Service::new(&["weather"]);
    for path in ["/nowhere", "/v1/modules/nowhere", "/v1/modules/none", "/v1/predict/weather"] {
        assert!(service.get(path).await.status >= 400);
    }
    assert_eq!(service.get("/readyz").await.status, 503);
    let (text, samples) = scrape(&service.app).await;
    let errors = |code: &str| samples[&format!("uptake_errors_total{{code=\"{code}\"}}")];
    assert_eq!(
        (errors("route_not_found"), errors("module_not_found"), errors("method_not_allowed"), errors("not_ready")),
        (1.0, 2.0, 1.0, 1.0)
    );
    // Names invented by clients do not become labels.
    assert!(!text.contains("nowhere"), "{text}");
}

#[tokio::test]
async fn a_request_is_in_flight_until_its_client_leaves() {
    let service = Service::new(&["weather"]);
    let endless = Body::from_stream(futures::stream::pending::<Result<&str, std::io::Error>>());
    let mut waiting = Box::pin(service.post("/v1/predict/weather", endless));
    assert!(futures::poll!(&mut waiting).is_pending());
    assert_eq!(scrape(&service.app).await.1["uptake_requests_in_flight"], 1.0);
    drop(waiting);
    assert_eq!(scrape(&service.app).await.1["uptake_requests_in_flight"], 0.0);
}
