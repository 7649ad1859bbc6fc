//! A model server with arbitrary answers never causes an invalid or invented call.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use uptake::{
    llm,
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{Outcome, TurnError, TurnRequest, UnderstandOptions, Understander},
};

use super::ways::WAYS;
use crate::support::{
    self, embedder,
    model_server::{ModelServer, Reply, called, completion, message, raw, said},
};

pub(super) const UTTERANCE: &str = "how cold will it be in Seattle in the next three days, in celsius?";

/// A server that gives these replies in order, the last one repeatedly, and an understander that asks it.
async fn asking(replies: Vec<Reply>) -> (Understander, ModelServer) {
    let server = ModelServer::replying(replies).await;
    let servers = llm::connect(&server.options()).expect("valid options");
    (Understander::new(UnderstandOptions::default(), embedder(), servers), server)
}

pub(super) async fn weather() -> Arc<Snapshot> {
    support::snapshot(support::shipped(), "weather", embedder()).await
}

const FORECAST: &str = "get_n_day_weather_forecast";

/// Bad replies, by what is bad about them. None of them may become a call with a value that is wrong or was not said.
pub(super) fn bad_replies() -> Vec<(&'static str, Reply)> {
    let deep = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    vec![
        ("nothing", raw("")),
        ("white space", raw("   \n")),
        ("no JSON", raw("I am sorry, Dave.")),
        ("half a JSON", raw("{\"choices\":[{\"message\":{\"role\":\"assist")),
        ("HTML", (200, "text/html", b"<html>gateway</html>".to_vec())),
        ("binary", (200, "application/octet-stream", vec![0, 159, 146, 150, 255])),
        ("a JSON number", raw("42")),
        ("a JSON array", raw("[]")),
        ("null", raw("null")),
        ("no choices", raw("{}")),
        ("empty choices", raw("{\"choices\":[]}")),
        ("choices of a wrong type", raw("{\"choices\":\"none\"}")),
        ("a null message", raw("{\"choices\":[{\"message\":null}]}")),
        ("an empty message", message(json!({"role": "assistant"}))),
        ("empty content", said("")),
        ("null content and no calls", message(json!({"role": "assistant", "content": null, "tool_calls": []}))),
        ("an unknown function", called("delete_all", "{}")),
        ("an empty function name", called("", "{}")),
        (
            "a function name of a wrong type",
            message(json!({"tool_calls": [{"function": {"name": 7, "arguments": "{}"}}]})),
        ),
        ("no arguments", called(FORECAST, "")),
        ("arguments that are text", called(FORECAST, "Seattle please")),
        ("arguments that are a number", called(FORECAST, "3")),
        ("arguments that are an array", called(FORECAST, "[\"Seattle\",3]")),
        ("arguments that are null", called(FORECAST, "null")),
        ("arguments cut in a string", called(FORECAST, "{\"location\":\"Sea")),
        ("arguments cut after a key", called(FORECAST, "{\"location\":")),
        (
            "arguments cut at once",
            completion(
                &json!({"tool_calls": [{"id": "1", "function": {"name": FORECAST, "arguments": "{"}}]}),
                "length",
            ),
        ),
        ("a call without a function", message(json!({"tool_calls": [{"id": "1", "type": "function"}]}))),
        ("calls that are an object", message(json!({"tool_calls": {"name": FORECAST}}))),
        ("a wrong type", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":\"many\"}")),
        ("a type that must not be coerced", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":2.5}")),
        ("an object for a string", called(FORECAST, "{\"location\":{\"city\":\"Oslo\"},\"num_days\":3}")),
        ("not a choice", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":3,\"format\":\"kelvin\"}")),
        ("out of range", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":300}")),
        ("an invented city", called(FORECAST, "{\"location\":\"Paris\",\"num_days\":3}")),
        ("an invented number", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":7}")),
        ("an invented member", called(FORECAST, "{\"location\":\"Paris, Texas\",\"admin\":true,\"num_days\":3}")),
        ("a placeholder", called(FORECAST, "{\"location\":\"<location>\",\"num_days\":3}")),
        ("empty values", called(FORECAST, "{\"location\":\"\",\"num_days\":null}")),
        ("an injection in a value", called(FORECAST, "{\"location\":\"Seattle'; DROP TABLE cities\",\"num_days\":3}")),
        ("an ending that was not said", called(FORECAST, "{\"location\":\"Seattlee\",\"num_days\":3}")),
        ("deep nesting", called(FORECAST, &deep)),
        ("a huge number", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":1e308}")),
        ("a huge value", called(FORECAST, &json!({"location": "x".repeat(1 << 20), "num_days": 3}).to_string())),
        ("a call as text of an unknown function", said("<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>")),
        (
            "a call as text with invented values",
            said(
                "```json\n{\"name\": \"get_n_day_weather_forecast\", \"arguments\": {'location': 'Oslo', 'num_days': 9,}}\n```",
            ),
        ),
        ("an error with 200", raw("{\"error\":{\"message\":\"overloaded\",\"code\":503}}")),
        ("a server error", (500, "text/plain", b"stack trace at /usr/lib/secret.py".to_vec())),
        ("a bad request", (400, "application/json", b"{\"error\":{\"message\":\"no tools\",\"code\":400}}".to_vec())),
        ("not found", (404, "application/json", b"{\"detail\":\"Not Found\"}".to_vec())),
        ("unauthorized", (401, "application/json", b"{\"error\":\"bad key\"}".to_vec())),
    ]
}

/// The same for JSON answers: a whole call, a function name, yes or no, arguments and a single value.
pub(super) fn bad_answers() -> Vec<(&'static str, Reply)> {
    let call = |function: &str, arguments: Value| json!({"call": {"function": function, "arguments": arguments}});
    let answers = [
        ("a call of an unknown function", call("delete_all", json!({}))),
        ("a call of nothing", json!({"call": {}})),
        ("a call that is text", json!({"call": "get_n_day_weather_forecast(Seattle)"})),
        ("a call with an invented city", call(FORECAST, json!({"location": "Paris", "num_days": 3}))),
        ("a call with an invented number", call(FORECAST, json!({"location": "Seattle", "num_days": 9}))),
        ("a call with a wrong type", call(FORECAST, json!({"location": ["Seattle"], "num_days": {"n": 3}}))),
        (
            "a call with a value of no choice",
            call(FORECAST, json!({"location": "Seattle", "num_days": 3, "format": "kelvin"})),
        ),
        ("arguments that are text", call(FORECAST, json!("Oslo, nine days"))),
        ("calls that are no list", json!({"calls": {"function": FORECAST}})),
        (
            "many calls",
            json!({"calls": (0..40).map(|day| json!({"function": FORECAST, "arguments": {"location": "Oslo", "num_days": day}})).collect::<Vec<_>>()}),
        ),
        (
            "calls of many kinds",
            json!({"calls": [7, null, "x", {"function": null}, {"function": FORECAST, "arguments": 7}]}),
        ),
        ("a name that does not exist", json!({"function": "rm -rf"})),
        ("a name that is a number", json!({"function": 4})),
        ("names that are no list", json!({"functions": FORECAST})),
        ("neither yes nor no", json!({"answer": "perhaps"})),
        ("yes to everything", json!({"answer": true})),
        ("no to everything", json!({"answer": false})),
        ("invented arguments", json!({"location": "Oslo", "num_days": 9, "format": "celsius"})),
        ("arguments nested in themselves", json!({"arguments": {"arguments": {"location": "Oslo"}}})),
        ("an invented value", json!({"value": "Oslo"})),
        ("a value of every kind", json!({"value": [{"x": [1, null, "Oslo"]}]})),
        ("a list", json!([1, 2, 3])),
        (
            "a right name and an invented value",
            json!({"function": FORECAST, "value": "Oslo", "answer": true, "location": "Oslo"}),
        ),
    ];
    answers.into_iter().map(|(what, answer)| (what, said(&answer.to_string()))).collect()
}

/// What the utterance really says; a call may contain a part of it, never anything else.
fn is_grounded(arguments: &serde_json::Map<String, Value>) -> bool {
    arguments.iter().all(|(name, value)| match name.as_str() {
        // The same word with another ending is accepted.
        "location" => value.as_str().is_some_and(|city| city.len() >= 6 && "Seattle".starts_with(city)),
        "num_days" => *value == json!(3),
        // A choice of the schema may be picked; here it was said.
        "format" => value == "celsius" || value == "fahrenheit",
        _ => false,
    })
}

fn request(strategy: StrategyName) -> TurnRequest {
    TurnRequest { utterance: UTTERANCE.to_owned(), strategy: Some(strategy), ..TurnRequest::default() }
}

/// The schema from the file itself, compiled independently of everything under test.
fn conforms(function: &str, arguments: &serde_json::Map<String, Value>) -> bool {
    let file = include_str!("../../modules/weather/schema.json");
    let functions: Vec<Value> = serde_json::from_str(file).expect("the shipped schema is JSON");
    let schema = functions.iter().find(|one| one["name"] == function).expect("a function of the module");
    jsonschema::is_valid(&schema["parameters"], &Value::Object(arguments.clone()))
}

#[tokio::test]
async fn no_bad_reply_becomes_a_wrong_call() {
    let snapshot = weather().await;
    let (replies, answers) = (bad_replies(), bad_answers());
    assert!(replies.len() >= 40);
    for (what, reply) in replies.into_iter().chain(answers) {
        let server = ModelServer::replying(vec![reply]).await;
        for way in WAYS {
            let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
            match understander.turn(&snapshot, &way.request(UTTERANCE)).await {
                Ok(turn) => assert_right(&snapshot, &turn.outcome, &format!("{what}, {}", way.name)),
                Err(error) => {
                    // A typed error. That clients see no word of the server's answer is tested in tests/http.
                    assert!(matches!(error, TurnError::Llm(_)), "{what}, {}: {error}", way.name);
                }
            }
        }
    }
}

/// Every call is valid, and contains only what was said.
pub(super) fn assert_right(snapshot: &Snapshot, outcome: &Outcome, what: &str) {
    let Outcome::Call(calls) = outcome else { return };
    for call in calls {
        let name = &snapshot.module.function(call.function()).name;
        assert!(conforms(name, call.arguments()), "{what}: {:?}", call.arguments());
        assert!(is_grounded(call.arguments()), "{what}: {:?}", call.arguments());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any number of bad replies in any order: neither the retries nor what is kept between attempts lets anything slip
    /// through.
    #[test]
    fn no_sequence_of_replies_becomes_a_wrong_call(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        way in prop::sample::select(&WAYS[..]),
    ) {
        let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
        runtime.block_on(async {
            let snapshot = weather().await;
            let all: Vec<(&str, Reply)> = bad_replies().into_iter().chain(bad_answers()).collect();
            let picked: Vec<&(&str, Reply)> = picks.iter().map(|pick| pick.get(&all)).collect();
            let server = ModelServer::replying(picked.iter().map(|(_, reply)| reply.clone()).collect()).await;
            let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
            let what = format!("{:?}, {}", picked.iter().map(|(what, _)| *what).collect::<Vec<_>>(), way.name);
            if let Ok(turn) = understander.turn(&snapshot, &way.request(UTTERANCE)).await {
                assert_right(&snapshot, &turn.outcome, &what);
            }
            assert!(server.served() <= 64, "{what}: {} requests", server.served());
            let heard: Vec<String> = server.heard().iter().map(Value::to_string).collect();
            // Concurrent questions differ, and no question is asked again.
            let different: std::collections::BTreeSet<&String> = heard.iter().collect();
            assert_eq!(different.len(), heard.len(), "{what}");
        });
    }
}

#[tokio::test]
async fn a_wrong_answer_is_sent_back_with_what_was_wrong_and_the_next_one_counts() {
    let snapshot = weather().await;
    let right = "{\"location\":\"Seattle\",\"num_days\":3,\"format\":\"celsius\"}";
    for (what, reply) in [
        ("a wrong type", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":\"many\"}")),
        ("an unknown function", called("delete_all", "{}")),
        ("text for arguments", called(FORECAST, "Seattle please")),
    ] {
        let (understander, server) = asking(vec![reply, called(FORECAST, right)]).await;
        let turn = understander.turn(&snapshot, &request(StrategyName::Tools)).await.expect("an answer");
        let Outcome::Call(calls) = &turn.outcome else { panic!("{what}: {:?}", turn.outcome) };
        assert_eq!(Value::Object(calls[0].arguments().clone()), serde_json::from_str::<Value>(right).expect("JSON"));
        assert_eq!(server.served(), 2, "{what}");
        assert_eq!(turn.trace.attempts.len(), 2);
        assert!(!turn.trace.attempts[0].violations.is_empty(), "{what}");
    }
}

#[tokio::test]
async fn a_right_answer_takes_one_request() {
    let snapshot = weather().await;
    for (what, reply) in [
        ("as it should be", called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":3}")),
        ("a synonym and a number word", called(FORECAST, "{\"location\":\"Seattle, WA\",\"num_days\":\"three\"}")),
        ("a prefix", called("functions.get_n_day_weather_forecast", "{\"location\":\"Seattle\",\"num_days\":3}")),
        (
            "as text",
            said(
                "<tool_call>{\"name\":\"get_n_day_weather_forecast\",\"arguments\":{\"location\":\"Seattle\",\"num_days\":3}}</tool_call>",
            ),
        ),
        (
            "an object for arguments",
            message(json!({"tool_calls": [{"function":
            {"name": FORECAST, "arguments": {"location": "Seattle", "num_days": 3}}}]})),
        ),
    ] {
        let (understander, server) = asking(vec![reply]).await;
        let turn = understander.turn(&snapshot, &request(StrategyName::Tools)).await.expect("an answer");
        let Outcome::Call(calls) = &turn.outcome else { panic!("{what}: {:?}", turn.outcome) };
        assert_eq!(calls[0].arguments()["location"], "Seattle", "{what}");
        assert_eq!(calls[0].arguments()["num_days"], json!(3), "{what}");
        assert_eq!(server.served(), 1, "{what}");
    }
}

#[tokio::test]
async fn what_the_person_did_not_say_is_asked_and_not_retried() {
    let snapshot = weather().await;
    let (understander, server) = asking(vec![called(FORECAST, "{\"location\":\"Seattle\",\"num_days\":5}")]).await;
    let request = TurnRequest {
        utterance: "how cold will it get in Seattle?".to_owned(),
        strategy: Some(StrategyName::Tools),
        ..TurnRequest::default()
    };
    let turn = understander.turn(&snapshot, &request).await.expect("an answer");
    let Outcome::Ask(question) = &turn.outcome else { panic!("{:?}", turn.outcome) };
    assert_eq!(question.text, "For how many days?");
    assert_eq!(server.served(), 1);
    assert_eq!(turn.trace.attempts[0].violations[0].path, "/num_days");
}

#[tokio::test]
async fn auto_answers_locally_when_the_model_server_fails() {
    let snapshot = weather().await;
    let (understander, _) = asking(vec![(500, "text/plain", b"no".to_vec())]).await;
    let turn = understander.turn(&snapshot, &request(StrategyName::Auto)).await.expect("a local answer");
    assert_eq!(turn.decided_by.name(), "local");
}
