//! Utterances that may contain more than one request, without enough evidence to split them.

use std::sync::Arc;

use serde_json::{Value, json};
use uptake::{
    llm::{ChatReply, ChatRequest, LlmError, Message, Server, scripted::Scripted},
    module::settings::StrategyName,
    text::Span,
    understand::{Outcome, Turn, TurnRequest, UnderstandOptions, Understander},
};

use super::{
    local::embedder,
    several::{calls, reply, request, shipped, understand},
};

/// Hours and a menu; the whole resembles a question for the opening hours most.
const BOTH: &str = "what time do you close on saturday and is something tasty";
const NOTE: &str = "the utterance may ask for more than one thing";

fn hours() -> (&'static str, Value) {
    ("get_opening_hours", json!({"day": "saturday"}))
}

fn menu() -> (&'static str, Value) {
    ("get_menu", json!({}))
}

async fn ask(chat: &Scripted, strategy: Option<StrategyName>) -> Turn {
    let restaurant = shipped("restaurant").await;
    let server = Server::new(Arc::new(chat.clone()));
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, vec![server]);
    let asked = TurnRequest { strategy, ..request(BOTH) };
    understander.turn(&restaurant, &asked).await.expect("an answer")
}

fn notes(turn: &Turn) -> usize {
    turn.trace.notes.iter().filter(|note| *note == NOTE).count()
}

#[tokio::test]
async fn without_a_model_server_the_answer_says_that_there_may_be_more() {
    let restaurant = shipped("restaurant").await;
    let turn = understand(&restaurant, &request(BOTH)).await;
    assert_eq!(calls(&restaurant, &turn), json!([hours()]));
    assert!(turn.trace.is_doubtful && turn.trace.segments.len() == 1, "{:?}", turn.trace.segments);
    assert_eq!(notes(&turn), 1, "{:?}", turn.trace.notes);
    assert!(turn.confidence < UnderstandOptions::default().sure, "{}", turn.confidence);
    assert!(turn.frames[0].confidence > turn.confidence, "the function is as likely as ever");
}

#[tokio::test]
async fn one_request_stays_sure() {
    for (module, utterance) in [
        ("weather", "I am going on a trip. how cold will it be in Seattle in the next three days?"),
        ("weather", "what's the weather in Rome? I hope it is nice"),
        ("restaurant", "I am very hungry and I want to order two cheeseburgers"),
        ("weather", "what is the weather in Rome right now and is it raining there"),
    ] {
        let snapshot = shipped(module).await;
        let turn = understand(&snapshot, &request(utterance)).await;
        assert!(!turn.trace.clauses.is_empty(), "{utterance}: it could be cut");
        assert!(!turn.trace.is_doubtful && notes(&turn) == 0, "{utterance}: {:?}", turn.trace.notes);
    }
    let split = "are you open on monday and do you have vegan dishes";
    let restaurant = shipped("restaurant").await;
    let turn = understand(&restaurant, &request(split)).await;
    assert!(turn.trace.segments.len() == 2 && !turn.trace.is_doubtful, "what is split leaves no doubt");
}

#[tokio::test]
async fn a_model_server_may_call_one_or_several() {
    let restaurant = shipped("restaurant").await;
    let sunday = ("get_opening_hours", json!({"day": "sunday"}));
    let cancel = ("cancel_order", json!({"order_id": "90210"}));
    for (what, said, expected) in [
        ("both", vec![hours(), menu()], json!([hours(), menu()])),
        ("the other way round", vec![menu(), hours()], json!([hours(), menu()])),
        ("one", vec![hours()], json!([hours()])),
        ("the other", vec![menu()], json!([menu()])),
        ("over and over", vec![hours(), hours(), menu(), hours(), menu()], json!([hours(), menu()])),
        ("a guess, then its correction", vec![sunday.clone(), hours(), menu()], json!([hours(), menu()])),
        ("a correction for the worse", vec![hours(), menu(), sunday], json!([hours(), menu()])),
        ("an empty call of the same", vec![("get_menu", json!({})), menu()], json!([menu()])),
        ("one that nobody asked for", vec![cancel.clone(), hours()], json!([hours()])),
        ("three for two clauses", vec![cancel, hours(), menu()], json!([hours(), menu()])),
    ] {
        let chat = Scripted::new().reply(reply(&said));
        let turn = ask(&chat, None).await;
        assert_eq!(calls(&restaurant, &turn), expected, "{what}: {:?}", turn.outcome);
        assert_eq!(notes(&turn), 1, "{what}: {:?}", turn.trace.notes);
        let all = chat.requests();
        let [asked] = all.as_slice() else { panic!("{what}: {} requests", all.len()) };
        assert!(asked.parallel, "{what}");
        let Some(Message::System(system)) = asked.messages.first() else { panic!("{what}: {asked:?}") };
        assert!(system.contains("asks for one thing, or for several"), "{system}");

        let segments: Vec<Span> = turn.frames.iter().map(|frame| frame.segment).collect();
        let clauses: Vec<Span> = turn.trace.clauses.iter().map(|clause| clause.span).collect();
        let whole = vec![Span::new(0, BOTH.len())];
        assert_eq!(segments, if segments.len() > 1 { clauses } else { whole }, "{what}");
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a script may fail")]
fn in_json(request: &ChatRequest) -> Result<ChatReply, LlmError> {
    let call = |(name, arguments): (&str, Value)| json!({"function": name, "arguments": arguments});
    let system = match request.messages.first() {
        Some(Message::System(text)) => text.as_str(),
        other => panic!("the system message comes first: {other:?}"),
    };
    let said = match request.response_schema.as_ref().map(|(name, _)| name.as_str()) {
        Some("calls") => json!({"calls": [call(hours()), call(menu())]}),
        Some("choice") => json!({"functions": ["get_opening_hours", "get_menu"]}),
        _ if system.contains("get_menu") => menu().1,
        _ => hours().1,
    };
    Ok(ChatReply { content: Some(said.to_string()), ..ChatReply::default() })
}

#[tokio::test]
async fn every_strategy_may_answer_with_several() {
    let restaurant = shipped("restaurant").await;
    for strategy in [StrategyName::Structured, StrategyName::Staged] {
        let chat = Scripted::new().answer(in_json);
        let turn = ask(&chat, Some(strategy)).await;
        assert!(matches!(turn.outcome, Outcome::Call(_)), "{strategy:?}: {:?}", turn.outcome);
        assert_eq!(calls(&restaurant, &turn), json!([hours(), menu()]), "{strategy:?}");
        let segments: Vec<Span> = turn.frames.iter().map(|frame| frame.segment).collect();
        let clauses: Vec<Span> = turn.trace.clauses.iter().map(|clause| clause.span).collect();
        assert_eq!(segments, clauses, "{strategy:?}");
    }
}
