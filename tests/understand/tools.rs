//! What a model server is sent.

use std::sync::Arc;

use uptake::{
    embed::{Hashed, HashedOptions, SharedEmbedder},
    llm::{Message, Server, ToolChoice, scripted::Scripted},
    module::settings::StrategyName,
    understand::{Outcome, TurnRequest, UnderstandOptions, Understander},
};

use crate::support::{self, copy, fixture};

#[tokio::test]
async fn few_candidates_exemplars_as_turns_mentions_as_hints() {
    let root = tempfile::tempdir().expect("a directory");
    copy(&fixture("modules").join("weather"), &root.path().join("weather"));
    let prompts = root.path().join("weather").join("prompts");
    std::fs::create_dir(&prompts).expect("a directory");
    let system = "You book {{ \"weather\" | upper }}. Today is {{ today }}.";
    std::fs::write(prompts.join("system.jinja"), system).expect("a prompt");

    let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
    let snapshot = support::snapshot(root.path().to_owned(), "weather", Arc::clone(&embedder)).await;
    let chat = Scripted::new().call("get_n_day_forecast", r#"{"location": "seattle", "num_days": "three"}"#);
    let understander =
        Understander::new(UnderstandOptions::default(), embedder, vec![Server::new(Arc::new(chat.clone()))]);
    let request = TurnRequest {
        utterance: "how cold will it be in Seattle in the next three days?".to_owned(),
        strategy: Some(StrategyName::Tools),
        now: Some("2026-11-20T09:00:00[UTC]".parse().expect("a moment")),
        ..TurnRequest::default()
    };
    let turn = understander.turn(&snapshot, &request).await.expect("an answer");

    let requests = chat.requests();
    let [sent] = requests.as_slice() else { panic!("one request, not {}", requests.len()) };
    assert_eq!(sent.tool_choice, ToolChoice::Auto);
    assert_eq!(sent.tools.len(), snapshot.module.functions.len());
    assert_eq!(sent.messages[0], Message::System("You book WEATHER. Today is Friday, 2026-11-20.".to_owned()));
    let Message::User(said) = sent.messages.last().expect("messages") else { panic!("the utterance comes last") };
    assert!(said.starts_with(&request.utterance), "{said}");
    assert!(said.contains("\"Seattle\" is \"Seattle, WA\" (city)"), "{said}");
    let shots = &sent.messages[1..sent.messages.len() - 1];
    assert!(!shots.is_empty() && shots.len().is_multiple_of(3));
    for shot in shots.chunks(3) {
        let [Message::User(said), Message::Assistant { tool_calls, .. }, Message::Tool { id, .. }] = shot else {
            panic!("a shot is said, called and answered: {shot:?}")
        };
        assert!(!said.contains('<'), "no placeholder is taught: {said}");
        assert_eq!(&tool_calls[0].id, id);
    }

    let Outcome::Call(calls) = &turn.outcome else { panic!("{turn:?}") };
    assert_eq!(
        serde_json::Value::Object(calls[0].arguments().clone()),
        serde_json::json!({"location": "Seattle, WA", "num_days": 3}),
        "synonyms and number words become canonical values"
    );
}

#[tokio::test]
async fn auto_asks_nobody_when_it_is_sure() {
    let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
    let snapshot = support::snapshot(fixture("modules"), "weather", Arc::clone(&embedder)).await;
    let utterance = "how cold will it be in Seattle in the next 3 days, in celsius";
    // An answer that is less likely than the local one does not win, although it was asked for.
    for (sure, decided_by, asked) in [(0.5, "local", 0), (1.0, "local", 1)] {
        let chat = Scripted::new().say("NONE");
        let options = UnderstandOptions { sure, ..UnderstandOptions::default() };
        let understander = Understander::new(options, Arc::clone(&embedder), vec![Server::new(Arc::new(chat.clone()))]);
        // The fixture itself wants the local strategy; a request may say otherwise.
        let strategy = Some(StrategyName::Auto);
        let request = TurnRequest { utterance: utterance.to_owned(), strategy, ..TurnRequest::default() };
        let turn = understander.turn(&snapshot, &request).await.expect("an answer");
        assert_eq!((turn.decided_by.name(), chat.requests().len()), (decided_by, asked), "{:?}", turn.trace.notes);
    }
}
