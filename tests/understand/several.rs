//! Utterances with several requests, and functions that are hard to tell apart.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use uptake::{
    conversation::Pending,
    embed::{EmbedError, Embedder, Hashed, HashedOptions, Purpose, SharedEmbedder},
    llm::{ChatReply, Server, ToolCall, scripted::Scripted},
    module::settings::StrategyName,
    snapshot::Snapshot,
    text::{Span, Utterance},
    understand::{BudgetOverrides, Outcome, Turn, TurnRequest, UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

pub(super) async fn shipped(module: &str) -> Arc<Snapshot> {
    support::snapshot(support::shipped(), module, embedder().await).await
}

pub(super) fn request(utterance: &str) -> TurnRequest {
    let now = "2026-11-20T09:00:00[UTC]".parse().expect("a moment");
    TurnRequest { utterance: utterance.to_owned(), now: Some(now), ..TurnRequest::default() }
}

pub(super) async fn understand(snapshot: &Snapshot, request: &TurnRequest) -> Turn {
    // Understands without asking for confirmation.
    let options = UnderstandOptions { sure: 0.0, ..UnderstandOptions::default() };
    let understander = Understander::new(options, embedder().await, Vec::new());
    understander.turn(snapshot, request).await.expect("an answer")
}

/// Each call as `[name, arguments]`; null for any other outcome.
pub(super) fn calls(snapshot: &Snapshot, turn: &Turn) -> Value {
    let Outcome::Call(calls) = &turn.outcome else { return Value::Null };
    let name = |call: &uptake::call::Call| snapshot.module.function(call.function()).name.clone();
    calls.iter().map(|call| json!([name(call), call.arguments()])).collect()
}

#[track_caller]
fn assert_within_its_segment(utterance: &str, turn: &Turn) {
    let utterance = Utterance::new(utterance);
    for frame in &turn.frames {
        assert!(turn.trace.segments.iter().any(|segment| segment.span == frame.segment), "{turn:?}");
        for slot in &frame.slots {
            let span = slot.span.expect("every value here was said");
            assert!(frame.segment.contains(span), "{slot:?} is not from {:?}", utterance.slice(frame.segment));
            assert_eq!(slot.text.as_deref(), Some(utterance.slice(span)));
        }
    }
}

#[tokio::test]
async fn each_request_is_a_call_with_values_of_its_own() {
    let weather = shipped("weather").await;
    let rows = [
        (
            "what's the weather in Rome and what time does the sun set in Oslo",
            json!([
                ["get_current_weather", {"location": "Rome"}],
                ["get_sun_times", {"location": "Oslo", "event": "sunset"}]
            ]),
        ),
        (
            "is the air bad in Seoul and then give me the forecast for five days in Berlin",
            json!([
                ["get_air_quality", {"location": "Seoul"}],
                ["get_n_day_weather_forecast", {"location": "Berlin", "num_days": 5}]
            ]),
        ),
        (
            "Give me the forecast for five days in Berlin. Then tell me how the air quality is in Seoul!",
            json!([
                ["get_n_day_weather_forecast", {"location": "Berlin", "num_days": 5}],
                ["get_air_quality", {"location": "Seoul"}]
            ]),
        ),
        // Similar requests with different places.
        (
            "are there any storm warnings for Miami, and is it raining in Seattle at the moment",
            json!([
                ["get_severe_weather_alerts", {"location": "Miami"}],
                ["get_current_weather", {"location": "Seattle"}]
            ]),
        ),
        // The same function twice: a call has one place only.
        (
            "what's the weather in Rome and what's the weather in Paris",
            json!([["get_current_weather", {"location": "Rome"}], ["get_current_weather", {"location": "Paris"}]]),
        ),
        // A part without meaning takes nothing from the rest.
        (
            "good morning my friend, and is the air bad in Seoul and then give me the forecast for five days in Berlin",
            json!([
                ["get_air_quality", {"location": "Seoul"}],
                ["get_n_day_weather_forecast", {"location": "Berlin", "num_days": 5}]
            ]),
        ),
    ];
    for (utterance, expected) in rows {
        let turn = understand(&weather, &request(utterance)).await;
        assert_eq!(calls(&weather, &turn), expected, "{utterance}: {:?}", turn.outcome);
        assert_within_its_segment(utterance, &turn);
        let starts: Vec<usize> = turn.frames.iter().map(|frame| frame.segment.start).collect();
        assert!(starts.is_sorted(), "{utterance}: {starts:?}");
        let each: f32 = turn.frames.iter().map(|frame| frame.confidence).product();
        assert!(turn.confidence <= each + 1e-6, "all of them must be right");
    }
}

#[tokio::test]
async fn one_request_is_not_cut() {
    for (module, utterances) in [
        (
            "weather",
            &[
                "how cold will it be in Seattle in the next three days, in celsius?",
                "what's the weather in Rome and in celsius please",
                "give me the forecast for the next two and a half days in Berlin",
                "what's the weather in Rome? I hope it is nice",
                "sunrise and sunset times in Oslo",
            ][..],
        ),
        (
            "restaurant",
            &[
                "I'd like to order two margherita pizzas and a large coke and three lasagnas",
                "a cheeseburger with cheese and bacon, and make it to go please",
                "book a table for four tomorrow at 8 pm and put it under the name Miller",
            ][..],
        ),
    ] {
        let snapshot = shipped(module).await;
        for utterance in utterances {
            let turn = understand(&snapshot, &request(utterance)).await;
            let [segment] = turn.trace.segments.as_slice() else { panic!("{utterance}: {:#?}", turn.trace.segments) };
            assert_eq!(segment.span, Span::new(0, utterance.chars().count()), "{utterance}");
            assert_eq!(segment.candidates, turn.trace.candidates, "{utterance}");
            assert!(!matches!(turn.outcome, Outcome::NoMatch), "{utterance}: {:?}", turn.outcome);
        }
    }
}

#[tokio::test]
async fn what_one_request_lacks_is_asked_for_and_the_other_is_shown() {
    let weather = shipped("weather").await;
    let said = "is the air bad in Seoul and then give me the forecast for the next five days";
    let turn = understand(&weather, &request(said)).await;
    let Outcome::Ask(question) = &turn.outcome else { panic!("{:?}", turn.outcome) };
    assert_eq!(question.text, "Which city would you like the forecast for?", "Seoul is not taken from the other part");
    let shown: Vec<&str> = turn.frames.iter().map(|f| weather.module.function(f.function).name.as_str()).collect();
    assert_eq!(shown, ["get_air_quality", "get_n_day_weather_forecast"]);
}

#[tokio::test]
async fn only_the_given_functions_are_looked_for() {
    let weather = shipped("weather").await;
    let only = weather.module.function_named("get_air_quality").expect("the function");
    let said = "is the air bad in Seoul and then give me the forecast for five days in Berlin";
    let turn = understand(&weather, &TurnRequest { among: Some(vec![only]), ..request(said) }).await;
    let found: Vec<_> = turn.trace.segments.iter().flat_map(|segment| &segment.candidates).collect();
    assert!(found.iter().chain(&turn.trace.candidates.iter().collect::<Vec<_>>()).all(|c| c.function == only));
    assert_eq!(turn.trace.segments.len(), 1, "there is nothing else to ask for");
}

/// Records what it is asked to embed.
struct Counting {
    inner: Hashed,
    batches: Mutex<Vec<Vec<String>>>,
}

impl Embedder for Counting {
    fn identity(&self) -> &str {
        self.inner.identity()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        self.batches.lock().expect("no panic").push(texts.clone());
        self.inner.embed(texts, purpose)
    }
}

#[tokio::test]
async fn parts_are_embedded_with_the_whole_and_only_where_there_are_some() {
    let counting = Arc::new(Counting { inner: Hashed::new(&HashedOptions::default()), batches: Mutex::default() });
    let embedder: SharedEmbedder = counting.clone();
    let snapshot = support::snapshot(support::fixture("modules"), "weather", Arc::clone(&embedder)).await;
    let understander = Understander::new(UnderstandOptions::default(), embedder, Vec::new());
    for (utterance, expected) in [
        ("what is the weather like in Seattle right now?", vec![]),
        ("what is it like in Seattle and then in San Francisco", vec![]),
        (
            "what is it like in Seattle and then how warm is it in SF; call me a taxi",
            vec!["what is it like in Seattle", "how warm is it in SF", "call me a taxi"],
        ),
    ]
    .map(|(utterance, parts): (&str, Vec<&str>)| {
        let parts =
            if utterance.contains("San") { vec!["what is it like in Seattle", "in San Francisco"] } else { parts };
        (utterance, [vec![utterance], parts].concat())
    }) {
        counting.batches.lock().expect("no panic").clear();
        understander.turn(&snapshot, &request(utterance)).await.expect("an answer");
        assert_eq!(*counting.batches.lock().expect("no panic"), [expected], "{utterance}");
    }
}

/// Several calls in one reply.
pub(super) fn reply(calls: &[(&str, Value)]) -> ChatReply {
    let tool_calls = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| ToolCall {
            id: format!("call_{index}"),
            name: (*name).to_owned(),
            arguments: arguments.to_string(),
        })
        .collect();
    ChatReply { tool_calls, ..ChatReply::default() }
}

#[tokio::test]
async fn a_model_server_may_call_several_at_once() {
    let weather = shipped("weather").await;
    let said = "is the air bad in Seoul and then give me the forecast for five days in Berlin";
    let air = ("get_air_quality", json!({"location": "Seoul"}));
    let forecast = ("get_n_day_weather_forecast", json!({"location": "Berlin", "num_days": 5}));
    let wrong = ("get_n_day_weather_forecast", json!({"location": "Berlin", "num_days": "a few"}));
    let invented = ("get_air_quality", json!({"location": "Oslo"}));
    let both = json!([air, forecast]);

    let rows = [
        ("both in one reply", vec![reply(&[air.clone(), forecast.clone()])], both.clone()),
        ("the other way round", vec![reply(&[forecast.clone(), air.clone()])], both.clone()),
        ("one of them twice", vec![reply(&[air.clone(), air.clone(), forecast.clone()])], both.clone()),
        (
            "one of them wrong, then right",
            vec![reply(&[air.clone(), wrong.clone()]), reply(&[air.clone(), forecast.clone()])],
            both,
        ),
        ("one of them wrong for good", vec![reply(&[air.clone(), wrong]); 3], Value::Null),
        ("one of them invented", vec![reply(&[invented, forecast.clone()]); 3], Value::Null),
        ("the same twice, and nothing else", vec![reply(&[air.clone(), air.clone()])], json!([air])),
    ];
    for (what, replies, expected) in rows {
        let needed = replies.len();
        let chat = replies.into_iter().fold(Scripted::new(), Scripted::reply);
        let understander = Understander::new(
            UnderstandOptions::default(),
            embedder().await,
            vec![Server::new(Arc::new(chat.clone()))],
        );
        let asked = TurnRequest {
            strategy: Some(StrategyName::Tools),
            budget: BudgetOverrides { retries: Some(2), ..BudgetOverrides::default() },
            ..request(said)
        };
        let turn = understander.turn(&weather, &asked).await.expect("an answer");
        assert_eq!(calls(&weather, &turn), expected, "{what}: {:?}", turn.outcome);
        assert_within_its_segment(said, &turn);
        let requests = chat.requests();
        assert!(requests.len() <= needed && requests[0].parallel, "{what}: {}", requests.len());
        if expected.is_null() {
            assert!(matches!(turn.outcome, Outcome::Ask(_)), "{what}: {:?}", turn.outcome);
            let named: Vec<&str> =
                turn.frames.iter().map(|f| weather.module.function(f.function).name.as_str()).collect();
            assert_eq!(named, ["get_air_quality", "get_n_day_weather_forecast"], "{what}");
        }
    }
}

/// Money goes to a person or to an account, by functions with the same name and description.
fn write_bank(directory: &Path) {
    let schema = json!([
        {"name": "people.transfer", "description": "Transfer money", "parameters": {
            "type": "object", "required": ["to", "amount"],
            "properties": {"to": {"type": "string"}, "amount": {"type": "number"}}}},
        {"name": "accounts.transfer", "description": "Transfer money", "parameters": {
            "type": "object", "required": ["iban", "amount"],
            "properties": {"iban": {"type": "string"}, "amount": {"type": "number"}}}},
        {"name": "statements.open", "description": "Show the statement of an account", "parameters": {
            "type": "object", "properties": {}}},
        {"name": "get_rates", "description": "Show rates", "parameters": {"type": "object", "properties": {}}},
        {"name": "get_prices", "description": "Show rates", "parameters": {"type": "object", "properties": {}}},
    ]);
    let exemplars = json!({
        "people.transfer": [
            {"template": "transfer <amount> to <to>"}, {"template": "send <to> <amount>"},
            {"template": "transfer money"}],
        "accounts.transfer": [
            {"template": "transfer <amount> to <iban>"}, {"template": "send <iban> <amount>"},
            {"template": "transfer money"}],
        "statements.open": [{"template": "open my statement"}],
        "get_rates": [{"template": "what are the rates"}],
        "get_prices": [{"template": "what are the current rates"}],
    });
    let recognizers = json!({
        "recognizers": {"iban": {"rec_type": "pattern", "patterns": ["[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}"]}},
        "slots": {"iban": "iban"},
    });
    for (file, content) in [("schema.json", schema), ("exemplars.json", exemplars), ("recognizers.json", recognizers)] {
        std::fs::write(directory.join(file), content.to_string()).expect("a file of the module");
    }
}

async fn bank() -> (tempfile::TempDir, Arc<Snapshot>) {
    let root = tempfile::tempdir().expect("a directory");
    let directory = root.path().join("bank");
    std::fs::create_dir(&directory).expect("a directory");
    write_bank(&directory);
    let snapshot = support::snapshot(root.path().to_owned(), "bank", embedder().await).await;
    (root, snapshot)
}

#[tokio::test]
async fn overloads_are_told_apart_by_their_slots() {
    let (_root, bank) = bank().await;
    for (utterance, expected) in [
        (
            "transfer 50 to DE89370400440532013000",
            json!([["accounts.transfer", {"iban": "DE89370400440532013000", "amount": 50}]]),
        ),
        ("transfer 50 to Anna", json!([["people.transfer", {"to": "Anna", "amount": 50}]])),
        ("send Anna 50", json!([["people.transfer", {"to": "Anna", "amount": 50}]])),
        (
            "transfer 50 to Anna and then transfer 20 to DE89370400440532013000",
            json!([
                ["people.transfer", {"to": "Anna", "amount": 50}],
                ["accounts.transfer", {"iban": "DE89370400440532013000", "amount": 20}]
            ]),
        ),
    ] {
        let turn = understand(&bank, &request(utterance)).await;
        assert_eq!(calls(&bank, &turn), expected, "{utterance}: {:?}", turn.outcome);
    }
}

#[tokio::test]
async fn a_tie_asks_what_sets_the_functions_apart() {
    let (_root, bank) = bank().await;
    for (utterance, questions) in [
        (
            "transfer money",
            &[
                "Did you mean: transfer money, with to; or: transfer money, with iban?",
                "Did you mean: transfer money, with iban; or: transfer money, with to?",
            ],
        ),
        (
            "what are the rates today",
            &[
                "Did you mean: show rates (get rates); or: show rates (get prices)?",
                "Did you mean: show rates (get prices); or: show rates (get rates)?",
            ],
        ),
    ] {
        let turn = understand(&bank, &request(utterance)).await;
        let Outcome::Ask(question) = &turn.outcome else { panic!("{utterance}: {:?}", turn.outcome) };
        assert!(
            matches!(&question.about, Pending::Tie { functions } if functions.len() == 2),
            "{utterance}: {:?}",
            turn.outcome
        );
        assert!(questions.contains(&question.text.as_str()), "{}", question.text);
    }
}
