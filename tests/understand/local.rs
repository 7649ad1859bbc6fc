//! Understanding with the bundled model and no model server, over the shipped modules.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::OnceCell;
use uptake::{
    embed::{self, EmbedOptions, SharedEmbedder},
    snapshot::Snapshot,
    understand::{DecidedBy, Outcome, Turn, TurnRequest, UnderstandOptions, Understander},
};

use crate::support;

pub(crate) async fn embedder() -> SharedEmbedder {
    static BUNDLED: OnceCell<SharedEmbedder> = OnceCell::const_new();
    let open = async || {
        embed::open(&EmbedOptions::default())
            .await
            .expect("the bundled model needs the ONNX Runtime library: run scripts/get-onnxruntime once")
    };
    Arc::clone(BUNDLED.get_or_init(open).await)
}

async fn snapshot(module: &str) -> Arc<Snapshot> {
    support::snapshot(support::shipped(), module, embedder().await).await
}

async fn understand(snapshot: &Snapshot, utterance: &str) -> Turn {
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    let now = "2026-11-20T09:00:00[UTC]".parse().expect("a moment");
    let request = TurnRequest { utterance: utterance.to_owned(), now: Some(now), ..TurnRequest::default() };
    understander.turn(snapshot, &request).await.expect("an answer")
}

#[tokio::test]
async fn the_example_of_the_readme() {
    let snapshot = snapshot("weather").await;
    let turn = understand(&snapshot, "how cold will it be in Seattle in the next three days, in celsius?").await;
    let Outcome::Call(calls) = &turn.outcome else { panic!("{turn:?}") };
    assert_eq!(snapshot.module.function(calls[0].function()).name, "get_n_day_weather_forecast");
    assert_eq!(
        Value::Object(calls[0].arguments().clone()),
        json!({"location": "Seattle", "format": "celsius", "num_days": 3})
    );
    assert_eq!(turn.decided_by, DecidedBy::Local);
    let location = turn.frames[0].slots.iter().find(|slot| slot.pointer == "/location").expect("a slot");
    assert_eq!((location.span, location.recognizer.as_deref()), (Some((23, 30).into()), Some("city")));
}

#[tokio::test]
async fn a_missing_slot_is_asked_for_in_the_authors_words() {
    let snapshot = snapshot("weather").await;
    let turn = understand(&snapshot, "give me the forecast for the next five days").await;
    let Outcome::Ask(question) = &turn.outcome else { panic!("{turn:?}") };
    assert_eq!(question.text, "Which city would you like the forecast for?");
}

#[tokio::test]
async fn out_of_scope_is_an_answer() {
    let snapshot = snapshot("weather").await;
    for utterance in ["how do I boil an egg", "play something by the Beatles", "asdf qwer"] {
        let turn = understand(&snapshot, utterance).await;
        assert!(matches!(turn.outcome, Outcome::NoMatch), "{utterance}: {turn:?}");
    }
}

#[tokio::test]
async fn strange_input_gets_an_answer() {
    let snapshot = snapshot("weather").await;
    for utterance in
        ["\u{0}x\u{7f}", "…", "🎵🎵🎵", "weather in 東京 за три дня", &"la ".repeat(2_000), "a\u{301}\u{301}\u{301}"]
    {
        let turn = understand(&snapshot, utterance).await;
        assert!((0.0..=1.0).contains(&turn.confidence), "{utterance}");
    }
}
