//! A model server's proposal is evidence, and only its answer counts as a proposal.

use serde_json::json;
use uptake::{
    llm,
    module::settings::StrategyName,
    understand::{Outcome, TurnError, TurnRequest, UnderstandOptions, Understander},
};

use super::{
    adversary::{UTTERANCE, weather},
    ways::WAYS,
};
use crate::support::{
    self, embedder,
    model_server::{ModelServer, called, message, said},
};

const CALL: &str = r#"{"name": "get_n_day_weather_forecast", "arguments": {"location": "Seattle", "num_days": 3}}"#;

/// The calls would be right, but they are thoughts, quotations and examples.
#[tokio::test]
async fn a_thought_is_no_call() {
    let snapshot = weather().await;
    let replies = [
        said(&format!("<think>It may be {CALL}.")),
        said(&format!("<think>It may be {CALL}. No.</think>\nNONE")),
        said(&format!("It may be {CALL}.\n</think>\n\nNONE")),
        said(&format!("<|channel|>analysis<|message|>{CALL}<|end|>")),
        said(&format!("For example:\n```json\n{CALL}\n```")),
        said(&format!("<tool_call>{}", &CALL[..CALL.len() - 4])),
        message(json!({"content": null, "reasoning_content": CALL})),
        message(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": CALL}]}]})),
    ];
    for reply in replies {
        let what = String::from_utf8_lossy(&reply.2).into_owned();
        let server = ModelServer::replying(vec![reply]).await;
        for way in WAYS {
            let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
            match understander.turn(&snapshot, &way.request(UTTERANCE)).await {
                Ok(turn) => assert!(!matches!(turn.outcome, Outcome::Call(_)), "{what}, {}", way.name),
                Err(error) => assert!(matches!(error, TurnError::Llm(_)), "{error}"),
            }
        }
    }
}

/// An unknown syntax says nothing about whether a function fits: the local answer stands.
#[tokio::test]
async fn what_cannot_be_read_is_not_nothing_fits() {
    let snapshot = weather().await;
    for reply in [
        "<invoke_tool>get_n_day_weather_forecast Seattle</invoke_tool>",
        "get_n_day_weather_forecast: Seattle, 3 days",
        "{\"tool\": {\"forecast\": true}}",
        "<tool_call>\nSeattle, three days\n</tool_call>",
    ] {
        let server = ModelServer::replying(vec![said(reply)]).await;
        let ask = |strategy| {
            let servers = llm::connect(&server.options()).expect("valid options");
            let understander =
                Understander::new(UnderstandOptions { sure: 1.0, ..Default::default() }, embedder(), servers);
            let request =
                TurnRequest { utterance: UTTERANCE.to_owned(), strategy: Some(strategy), ..Default::default() };
            let snapshot = &snapshot;
            async move { understander.turn(snapshot, &request).await }
        };
        let error = ask(StrategyName::Tools).await.expect_err(reply);
        assert!(matches!(error, TurnError::Llm(_)), "{error}");
        let turn = ask(StrategyName::Auto).await.expect("the local answer");
        assert_eq!(turn.decided_by.name(), "local", "{reply}");
        assert_ne!(turn.outcome, Outcome::NoMatch, "{reply}");
    }
}

/// A server that calls functions for words that mean nothing of the kind.
#[tokio::test]
async fn no_call_without_a_word_of_the_person() {
    let snapshot = support::snapshot(support::shipped(), "banking", embedder()).await;
    let module = &snapshot.module;
    let without_arguments: Vec<&str> = module
        .functions
        .iter()
        .filter(|function| function.slots.iter().all(|slot| !slot.required))
        .map(|function| function.wire_name.as_str())
        .collect();
    assert!(without_arguments.len() > 8);
    for utterance in ["I like turtles", "aaaa", "zzz qqq", "my dog ate my homework", "?!", "Ich mag Kekse", "亀が好き"]
    {
        for function in &without_arguments {
            let server = ModelServer::replying(vec![called(function, "{}")]).await;
            let servers = llm::connect(&server.options()).expect("valid options");
            let understander = Understander::new(UnderstandOptions::default(), embedder(), servers);
            let request = TurnRequest { utterance: utterance.to_owned(), ..TurnRequest::default() };
            let turn = understander.turn(&snapshot, &request).await.expect("an answer");
            assert!(!matches!(turn.outcome, Outcome::Call(_)), "{utterance} {function} {}", turn.confidence);
        }
    }
}
