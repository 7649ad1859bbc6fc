//! What a result says is not asked for: slots of other functions take it over where the author says that they may.

use std::sync::Arc;

use serde_json::json;
use uptake::{
    conversation::State,
    snapshot::Snapshot,
    understand::{Conversed, HistoryMessage, Outcome, UnderstandOptions, Understander, catch_up},
};

use super::{said, written};
use crate::support::embedder;

const SHARED: &str = "[functions.order_boots]\nshares = { \"order.id\" = \"order\", \"order.stars\" = \"stars\" }\n\n\
    [functions.track.slots.order_number]\nshared = \"order\"\n\n[functions.rate.slots.stars]\nshared = \"stars\"\n";

async fn shop(settings: &str) -> (Arc<Snapshot>, tempfile::TempDir) {
    let text = json!({"type": "string"});
    let function = |name: &str, description: &str, slots: serde_json::Value| {
        let required: Vec<&String> = slots.as_object().expect("slots").keys().collect();
        json!({"name": name, "description": description, "parameters": {"type": "object", "properties": slots, "required": required}})
    };
    let schema = json!([
        function("order_boots", "Order boots", json!({})),
        function("track", "Tell where a parcel is", json!({"order_number": text})),
        function("rate", "Rate the shop", json!({"stars": {"type": "integer", "minimum": 1, "maximum": 5}})),
    ]);
    let exemplars = json!({"order_boots": ["order boots"], "track": ["track my parcel", "track the parcel <order_number>"], "rate": ["rate the shop"]});
    written("boots", [schema, exemplars, json!({})], settings).await
}

/// Orders boots, hears these messages, and says what comes next; the result of that.
async fn after(snapshot: &Snapshot, meanwhile: &[HistoryMessage], next: &str) -> Outcome {
    let understander = Understander::new(UnderstandOptions::default(), embedder(), Vec::new());
    let first = State::new(&snapshot.module.name);
    let Conversed { turn, mut state, .. } =
        understander.converse(snapshot, &first, &said("order boots")).await.expect("a turn");
    assert!(matches!(turn.outcome, Outcome::Call(_)), "{turn:?}");
    catch_up(&snapshot.module, &mut state, meanwhile);
    understander.converse(snapshot, &state, &said(next)).await.expect("a turn").turn.outcome
}

/// What `uptake check` says of settings without an effect.
fn without_effect(snapshot: &Snapshot) -> Vec<&str> {
    let found = snapshot.module.warnings.iter().filter(|found| found.code == "no-effect");
    found.map(|found| found.message.as_str()).collect()
}

fn arguments(outcome: &Outcome) -> Option<String> {
    let Outcome::Call(calls) = outcome else { return None };
    calls.first().map(|call| serde_json::Value::Object(call.arguments().clone()).to_string())
}

#[tokio::test]
async fn a_member_of_a_result_fills_the_slots_that_share_it() {
    let (snapshot, _files) = shop(SHARED).await;
    assert_eq!(without_effect(&snapshot), Vec::<&str>::new());
    let called = HistoryMessage::Called("order_boots({})".into());
    let result = |text: &str| vec![called.clone(), HistoryMessage::Tool(text.into())];
    let told = after(&snapshot, &result(r#"{"order": {"id": 4711}}"#), "track my parcel").await;
    assert_eq!(arguments(&told).as_deref(), Some(r#"{"order_number":"4711"}"#), "{told:?}");
    let said = after(&snapshot, &result(r#"{"order": {"id": "A1"}}"#), "track the parcel B2").await;
    assert_eq!(arguments(&said).as_deref(), Some(r#"{"order_number":"B2"}"#), "what is said now counts: {said:?}");
    for (why, meanwhile) in [
        ("it failed", result(r#"{"error": "sold out", "order": {"id": 4711}}"#)),
        ("it says nothing of it", result("ok")),
        ("what it says is blank", result(r#"{"order": {"id": " "}}"#)),
        (
            "another call came to it",
            vec![
                called.clone(),
                HistoryMessage::Called("count({})".into()),
                HistoryMessage::Tool(r#"{"order": {"id": 4711}}"#.into()),
            ],
        ),
    ] {
        let asked = after(&snapshot, &meanwhile, "track my parcel").await;
        assert!(matches!(asked, Outcome::Ask(_)), "{why}: {asked:?}");
    }
    let rated = after(&snapshot, &result(r#"{"order": {"stars": "4"}}"#), "rate the shop").await;
    assert_eq!(arguments(&rated).as_deref(), Some(r#"{"stars":4}"#), "in the slot's type: {rated:?}");
    for unfit in [r#"{"order": {"stars": "many"}}"#, r#"{"order": {"stars": 4711}}"#] {
        let asked = after(&snapshot, &result(unfit), "rate the shop").await;
        assert!(matches!(asked, Outcome::Ask(_)), "{unfit} is not a number of stars: {asked:?}");
    }
}

#[tokio::test]
async fn without_a_word_of_the_author_nothing_is_taken_over() {
    let (snapshot, _files) = shop("").await;
    let meanwhile =
        [HistoryMessage::Called("order_boots({})".into()), HistoryMessage::Tool(r#"{"order": {"id": 4711}}"#.into())];
    let asked = after(&snapshot, &meanwhile, "track my parcel").await;
    assert!(matches!(asked, Outcome::Ask(_)), "{asked:?}");
    let (snapshot, _files) = shop("[functions.order_boots]\nshares = { id = \"ordre\" }\n[functions.track.slots.order_number]\nshared = \"order\"\n").await;
    assert_eq!(without_effect(&snapshot), ["`id` has no effect: no slot has `shared = \"ordre\"`"]);
}
