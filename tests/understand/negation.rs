//! A value that is only mentioned to rule it out never fills a slot, with any strategy.

use std::{fs, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use uptake::{
    conversation::Pending,
    embed::{Hashed, HashedOptions, SharedEmbedder},
    llm::{Server, scripted::Scripted},
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{Frame, Outcome, Turn, TurnRequest, UnderstandOptions, Understander},
};

use crate::support;

fn embedder() -> SharedEmbedder {
    Arc::new(Hashed::new(&HashedOptions::default()))
}

/// A place that sells pizza, removes items from an order, and switches lights.
async fn pizzeria() -> (TempDir, Arc<Snapshot>) {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("pizzeria");
    fs::create_dir(&root).expect("a directory");
    let toppings = json!({"type": "array", "items": {"type": "string", "enum": ["onions", "cheese", "ham", "olives"]}});
    let schema = json!([
        {"name": "order_pizza", "description": "Order a pizza", "parameters": {"type": "object", "required": ["size", "crust"],
            "properties": {
                "size": {"type": "string", "enum": ["small", "medium", "large"]},
                "toppings": toppings,
                "crust": {"type": "string", "enum": ["thin", "thick"], "default": "thin"},
                "sauce": {"type": "boolean", "description": "Whether sauce goes on it"}}}},
        {"name": "remove_topping", "description": "Take a topping off the pizza", "parameters": {"type": "object",
            "required": ["topping"],
            "properties": {"topping": {"type": "string", "enum": ["onions", "cheese", "ham", "olives"]}}}},
        {"name": "plan_diet", "description": "Plan meals that suit a diet", "parameters": {"type": "object",
            "required": ["without"],
            "properties": {"without": {"type": "string", "enum": ["onions", "cheese", "ham", "olives"]}}}},
        {"name": "turn_off_lights", "description": "Turn off the lights of a room", "parameters": {"type": "object",
            "required": ["room"], "properties": {"room": {"type": "string", "enum": ["kitchen", "bedroom"]}}}}]);
    let exemplars = json!({
        "order_pizza": [
            {"template": "I would like a <size> pizza with <toppings>"},
            {"template": "a <size> pizza please"},
            {"template": "order a <size> pizza with <toppings> and <toppings>"},
            {"template": "a <crust> <size> pizza"},
            {"template": "a pizza with <toppings>"}],
        "remove_topping": [
            {"template": "remove the <topping> from my pizza"},
            {"template": "take the <topping> off"},
            {"template": "I no longer want the <topping> on it"}],
        "plan_diet": [
            {"template": "plan meals without <without> for my diet"},
            {"template": "meals for my diet that have no <without>"}],
        "turn_off_lights": [
            {"template": "turn off the lights in the <room>"},
            {"template": "lights out in the <room>"}]});
    fs::write(root.join("schema.json"), schema.to_string()).expect("a file");
    fs::write(root.join("exemplars.json"), exemplars.to_string()).expect("a file");
    let snapshot = support::snapshot(directory.path().to_owned(), "pizzeria", embedder()).await;
    (directory, snapshot)
}

async fn local(snapshot: &Snapshot, utterance: &str) -> Turn {
    let options = UnderstandOptions { in_scope: 0.0, sure: 0.0, ..UnderstandOptions::default() };
    let understander = Understander::new(options, embedder(), Vec::new());
    let strategy = Some(StrategyName::Local);
    let request = TurnRequest { utterance: utterance.to_owned(), strategy, ..TurnRequest::default() };
    understander.turn(snapshot, &request).await.expect("an answer")
}

/// A model server that repeats the same call, however often it is asked.
async fn insisting(snapshot: &Snapshot, utterance: &str, function: &str, arguments: &Value) -> Turn {
    let arguments = arguments.to_string();
    let chat = (0..4).fold(Scripted::new(), |chat, _| chat.call(function, &arguments));
    let understander = Understander::new(UnderstandOptions::default(), embedder(), vec![Server::new(Arc::new(chat))]);
    let strategy = Some(StrategyName::Tools);
    let request = TurnRequest { utterance: utterance.to_owned(), strategy, ..TurnRequest::default() };
    understander.turn(snapshot, &request).await.expect("an answer")
}

fn arguments(turn: &Turn) -> Value {
    let Outcome::Call(calls) = &turn.outcome else {
        panic!("{:?} {:?} {:?}", turn.outcome, turn.frames, turn.trace.negations)
    };
    Value::Object(calls[0].arguments().clone())
}

fn excluded(frame: &Frame) -> Vec<(String, Value)> {
    frame.excluded.iter().map(|one| (one.path().to_string(), one.value.clone())).collect()
}

fn asks_for(turn: &Turn, wanted: &str) -> bool {
    matches!(&turn.outcome, Outcome::Ask(question)
        if matches!(&question.about, about @ Pending::Missing { .. } if about.slots().iter().any(|slot| slot.to_string() == wanted)))
}

#[tokio::test]
async fn locally_what_is_ruled_out_is_no_value() {
    let (_root, snapshot) = pizzeria().await;
    let cases = [
        (
            "a large pizza with cheese and no onions",
            json!({"size": "large", "toppings": ["cheese"], "crust": "thin"}),
            &[("toppings[]", "onions")][..],
        ),
        (
            "a large pizza with ham, without onions or olives please",
            json!({"size": "large", "toppings": ["ham"], "crust": "thin"}),
            &[("toppings[]", "onions"), ("toppings[]", "olives")],
        ),
        ("a large pizza, not small please", json!({"size": "large", "crust": "thin"}), &[("size", "small")]),
        ("a large pizza with no sauce", json!({"size": "large", "sauce": false, "crust": "thin"}), &[]),
        (
            "I would like a large pizza, don't leave out the cheese",
            json!({"size": "large", "toppings": ["cheese"], "crust": "thin"}),
            &[],
        ),
    ];
    for (utterance, expected, out) in cases {
        let turn = local(&snapshot, utterance).await;
        assert_eq!(arguments(&turn), expected, "{utterance}");
        let out: Vec<(String, Value)> = out.iter().map(|(path, value)| ((*path).to_owned(), json!(value))).collect();
        assert_eq!(excluded(&turn.frames[0]), out, "{utterance}");
    }
}

#[tokio::test]
async fn what_is_only_ruled_out_is_asked_for() {
    let (_root, snapshot) = pizzeria().await;
    for (utterance, slot, value) in [
        ("order a pizza in any size but large", "size", "large"),
        ("a pizza with ham, anything but large", "size", "large"),
        // Not even as the schema's default.
        ("a large pizza please, but not thin", "crust", "thin"),
    ] {
        let turn = local(&snapshot, utterance).await;
        assert!(asks_for(&turn, slot), "{utterance}: {turn:?}");
        assert_eq!(excluded(&turn.frames[0]), [(slot.to_owned(), json!(value))], "{utterance}");
    }
}

#[tokio::test]
async fn a_function_that_leaves_out_means_what_it_names() {
    let (_root, snapshot) = pizzeria().await;
    for (utterance, expected) in [
        ("remove the onions from my pizza", json!({"topping": "onions"})),
        ("take the ham off please", json!({"topping": "ham"})),
        ("I no longer want the cheese on it", json!({"topping": "cheese"})),
        ("plan meals without cheese for my diet", json!({"without": "cheese"})),
        ("meals for my diet that have no ham", json!({"without": "ham"})),
    ] {
        let turn = local(&snapshot, utterance).await;
        assert_eq!(arguments(&turn), expected, "{utterance}");
        assert!(turn.frames[0].excluded.is_empty(), "{utterance}");
    }
}

#[tokio::test]
async fn a_refused_function_is_not_called() {
    let (_root, snapshot) = pizzeria().await;
    for utterance in [
        "don't turn off the lights in the kitchen",
        "please do not turn off the lights in the bedroom",
        "I don't want to order a large pizza",
        "never mind the lights in the kitchen",
        "don't remove the onions from my pizza",
    ] {
        let turn = local(&snapshot, utterance).await;
        assert_eq!(turn.outcome, Outcome::NoMatch, "{utterance} {:?}", turn.trace.negations);
        assert!(turn.trace.notes.iter().any(|note| note.contains("refuses")), "{utterance}");
    }
    let turn = local(&snapshot, "don't turn off the lights in the kitchen, turn off the lights in the bedroom").await;
    assert_eq!(arguments(&turn), json!({"room": "bedroom"}));
    let lights = json!({"room": "kitchen"});
    let turn = insisting(&snapshot, "don't turn off the lights in the kitchen", "turn_off_lights", &lights).await;
    assert!(matches!(&turn.outcome, Outcome::Ask(_)), "{turn:?}");
    assert!(turn.trace.notes.iter().any(|note| note.contains("refuses")), "{:?}", turn.trace.notes);
}

#[tokio::test]
async fn a_model_that_insists_gets_no_call_with_it() {
    let (_root, snapshot) = pizzeria().await;
    let turn = insisting(
        &snapshot,
        "a large pizza with cheese and no onions",
        "order_pizza",
        &json!({"size": "large", "toppings": ["onions", "cheese"]}),
    )
    .await;
    assert_eq!(arguments(&turn), json!({"size": "large", "toppings": ["cheese"], "crust": "thin"}));
    assert_eq!(excluded(&turn.frames[0]), [("toppings[]".to_owned(), json!("onions"))]);

    let turn = insisting(&snapshot, "a pizza, anything but large", "order_pizza", &json!({"size": "large"})).await;
    assert!(asks_for(&turn, "size"), "{turn:?}");
    assert_eq!(excluded(&turn.frames[0]), [("size".to_owned(), json!("large"))]);

    let said = json!({"size": "large", "crust": "thin", "sauce": true});
    let turn = insisting(&snapshot, "a large pizza without sauce, not thin", "order_pizza", &said).await;
    assert!(asks_for(&turn, "crust"), "{turn:?}");
    let sauce = turn.frames[0].slots.iter().find(|slot| slot.pointer == "/sauce").expect("it was said");
    assert_eq!(sauce.value, json!(false));

    // A model that omits the value itself: the ruled-out value is reported all the same.
    let turn = insisting(&snapshot, "a large pizza with no onions", "order_pizza", &json!({"size": "large"})).await;
    assert_eq!(arguments(&turn), json!({"size": "large", "crust": "thin"}));
    assert_eq!(excluded(&turn.frames[0]), [("toppings[]".to_owned(), json!("onions"))]);

    // If it is also said as wanted, it is wanted.
    let both = json!({"size": "large", "toppings": ["onions"]});
    let turn = insisting(&snapshot, "a large pizza with onions, no onions for my friend", "order_pizza", &both).await;
    assert_eq!(arguments(&turn)["toppings"], json!(["onions"]));
}
