//! Questions in the words of a model server, for modules that want that.

use serde_json::json;
use uptake::{
    conversation::State,
    llm,
    module::settings::StrategyName,
    understand::{Conversed, Outcome, TurnRequest, UnderstandOptions, Understander},
};

use crate::support::{
    self, embedder,
    model_server::{ModelServer, Reply, said},
};

const OURS: &str = "How many nights will you stay in Oslo?";

/// A turn that lacks a slot, decided locally, and its question in the words of `reply`.
async fn asked(reply: Reply, strategy: StrategyName) -> (Conversed, usize) {
    let root = tempfile::tempdir().expect("a directory");
    let directory = root.path().join("rooms");
    std::fs::create_dir(&directory).expect("a directory");
    let schema = json!([{"name": "book_room", "description": "Book a room in Oslo", "parameters": {
        "type": "object", "required": ["nights"], "properties": {"nights": {"type": "integer"}}}}]);
    let exemplars = json!({"book_room": ["I need a room in Oslo", "book me a room"]});
    let settings = format!(
        "[thresholds]\nsure = 0.0\nin_scope = 0.0\n[conversation]\nwording = 'model'\n\
         [functions.book_room.slots.nights]\nquestion = '{OURS}'\n"
    );
    for (file, text) in
        [("schema.json", schema.to_string()), ("exemplars.json", exemplars.to_string()), ("module.toml", settings)]
    {
        std::fs::write(directory.join(file), text).expect("a file");
    }
    let snapshot = support::snapshot(root.path().to_owned(), "rooms", embedder()).await;
    let server = ModelServer::replying(vec![reply]).await;
    let servers = llm::connect(&server.options()).expect("valid options");
    let understander = Understander::new(UnderstandOptions::default(), embedder(), servers);
    let request = TurnRequest {
        utterance: "I need a room in Oslo".to_owned(),
        strategy: Some(strategy),
        ..TurnRequest::default()
    };
    let state = State::new(&snapshot.module.name);
    let conversed = understander.converse(&snapshot, &state, &request).await.expect("an answer");
    (conversed, server.served())
}

fn text(conversed: &Conversed) -> &str {
    let Outcome::Ask(question) = &conversed.turn.outcome else { panic!("{:?}", conversed.turn.outcome) };
    &question.text
}

#[tokio::test]
async fn a_model_may_word_a_question() {
    let worded = "Lovely! For how many nights shall I book Oslo?";
    let reply = said(&json!({"text": worded}).to_string());
    let (conversed, served) = asked(reply.clone(), StrategyName::Auto).await;
    assert_eq!((text(&conversed), served), (worded, 1));
    assert_eq!(conversed.state.lines.last().expect("a line").text, worded);
    assert_eq!(conversed.turn.trace.attempts.last().expect("an attempt").stage, "wording");
    // With the local strategy no model server is asked.
    let (conversed, served) = asked(reply, StrategyName::Local).await;
    assert_eq!((text(&conversed), served), (OURS, 0));
}

#[tokio::test]
async fn other_words_that_ask_for_something_else_are_not_taken() {
    for reply in [
        json!({"text": "How many nights will you stay in Paris?"}).to_string(),
        json!({"text": "Your room in Oslo is booked"}).to_string(),
        "I can't help with that".to_owned(),
        String::new(),
    ] {
        let (conversed, served) = asked(said(&reply), StrategyName::Auto).await;
        assert_eq!(text(&conversed), OURS, "{reply}");
        assert!(
            served >= 1 && conversed.turn.trace.notes.iter().any(|note| note.starts_with("worded here")),
            "{reply}"
        );
    }
}
