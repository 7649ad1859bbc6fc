//! A model server's answer is weighed against the local reading, and by its earlier answers.

use serde_json::json;
use uptake::{
    llm,
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{DecidedBy, Outcome, Turn, TurnRequest, UnderstandOptions, Understander},
};

use super::local;
use crate::support::{
    self,
    model_server::{ModelServer, called, said},
};

/// Questions about the weather, and the function that each means.
const ASKED: [(&str, &str); 6] = [
    ("tell me the weather in Oslo", "get_current_weather"),
    ("give me a 3 day forecast for Oslo", "get_n_day_weather_forecast"),
    ("when does the sun set in Oslo", "get_sun_times"),
    ("how is the air quality in Oslo", "get_air_quality"),
    ("are there storm warnings for Oslo", "get_severe_weather_alerts"),
    ("what is it like outside in Oslo", "get_current_weather"),
];

/// From 1 on nothing is sure enough, so that the server is asked each time.
async fn asking(server: &ModelServer) -> Understander {
    let servers = llm::connect(&server.options()).expect("valid options");
    Understander::new(UnderstandOptions { sure: 1.0, ..UnderstandOptions::default() }, local::embedder().await, servers)
}

async fn turn(understander: &Understander, snapshot: &Snapshot, utterance: &str, strategy: StrategyName) -> Turn {
    let request = TurnRequest { utterance: utterance.to_owned(), strategy: Some(strategy), ..TurnRequest::default() };
    understander.turn(snapshot, &request).await.expect("an answer")
}

/// A server that always gives the same answer loses its influence, and the local reading stands.
#[tokio::test]
async fn a_server_that_always_says_the_same_is_not_believed() {
    let snapshot = support::snapshot(support::shipped(), "weather", local::embedder().await).await;
    for reply in [called("get_severe_weather_alerts", r#"{"location": "Oslo"}"#), said("NONE")] {
        let server = ModelServer::replying(vec![reply]).await;
        let understander = asking(&server).await;
        for round in 0..3 {
            for (utterance, function) in ASKED {
                let alone = turn(&understander, &snapshot, utterance, StrategyName::Local).await;
                let asked = turn(&understander, &snapshot, utterance, StrategyName::Auto).await;
                assert!(!asked.trace.attempts.is_empty(), "{utterance}");
                if let Outcome::Call(calls) = &asked.outcome {
                    assert_eq!(snapshot.module.function(calls[0].function()).name, function, "{utterance}");
                }
                if round == 2 {
                    assert_eq!(asked.outcome, alone.outcome, "{utterance}: {:?}", asked.trace.notes);
                    assert_eq!(asked.decided_by, DecidedBy::Local, "{utterance}");
                }
            }
        }
    }
}

/// A server that is right has the last word.
#[tokio::test]
async fn a_server_that_is_right_is_believed() {
    let snapshot = support::snapshot(support::shipped(), "weather", local::embedder().await).await;
    let server = ModelServer::answering(|_, body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).expect("a message")["content"].to_string();
        let right = ASKED.iter().find(|(utterance, _)| last.contains(utterance)).expect("one of them").1;
        let mut arguments = json!({"location": "Oslo"});
        if right == "get_n_day_weather_forecast" {
            arguments["num_days"] = json!(3);
        }
        called(right, &arguments.to_string())
    })
    .await;
    let understander = asking(&server).await;
    for _ in 0..3 {
        for (utterance, function) in ASKED {
            let asked = turn(&understander, &snapshot, utterance, StrategyName::Auto).await;
            let Outcome::Call(calls) = &asked.outcome else { panic!("{utterance}: {:?}", asked.trace.notes) };
            assert_eq!(snapshot.module.function(calls[0].function()).name, function, "{utterance}");
            assert_eq!(asked.decided_by, DecidedBy::Tools, "{utterance}");
        }
    }
}
