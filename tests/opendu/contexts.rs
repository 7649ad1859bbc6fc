//! A pending question changes what is understood.

use serde_json::{Value, json};

use super::rules::{ask, service};

async fn owner(said: &str, expected: Value) -> Value {
    let service = service().await;
    let mut body = json!({"mode": "SKILL", "utterance": said});
    let Value::Object(members) = expected else { panic!("an object") };
    body.as_object_mut().expect("an object").extend(members);
    ask(&service, &body).await.json()[0].clone()
}

#[tokio::test]
async fn an_exemplar_with_a_context_speaks_only_in_it() {
    let said = "the usual once again";
    let expected = owner(said, json!({"expectedFrames": ["me.test.FoodOrdering"]})).await;
    assert_eq!(expected["owner"], "me.test.Repetition");
    let best = &expected["evidence"][0];
    assert_eq!((&best["template"], &best["contextFrame"]), (&json!(said), &json!("me.test.FoodOrdering")));
    for elsewhere in
        [json!({}), json!({"expectedFrames": ["me.test.TableBooking"]}), json!({"expectedFrames": ["x.Y"]})]
    {
        let element = owner(said, elsewhere).await;
        assert!(!element["evidence"].to_string().contains("usual"), "{element}");
    }
}

#[tokio::test]
async fn a_context_with_a_slot_holds_where_that_slot_was_asked_for() {
    let said = "three would be nice";
    let asked = |slot: &str| json!({"expectations": [{"frame": "me.test.FoodOrdering", "slot": slot, "slotType": "kotlin.Int"}]});
    let element = owner(said, asked("qty")).await;
    assert_eq!(element["owner"], "me.test.FoodOrdering");
    assert_eq!(element["function_call"]["arguments"], "{\"qty\":3}");
    for elsewhere in [asked("spice"), json!({})] {
        let element = owner(said, elsewhere).await;
        assert!(!element["evidence"].to_string().contains("would be nice"), "{element}");
    }
}

#[tokio::test]
async fn a_short_answer_is_read_against_what_was_asked_for() {
    let expects = |frame: &str, slot: &str| json!({"expectations": [{"frame": frame, "slot": slot}]});
    for (said, frame, slot, arguments) in [
        ("two", "me.test.FoodOrdering", "qty", "{\"qty\":2}"),
        ("two", "me.test.TableBooking", "people", "{\"people\":2}"),
        ("uh, the pizza please", "me.test.FoodOrdering", "dish", "{\"dish\":[\"pizza\"]}"),
        ("garlic", "me.test.FoodOrdering", "spice", "{\"spice\":\"garlic\"}"),
        ("put it on the porch", "me.test.FoodOrdering", "note", "{\"note\":\"put it on the porch\"}"),
    ] {
        let element = owner(said, expects(frame, slot)).await;
        assert_eq!(element["owner"], frame, "{said}: {element}");
        assert_eq!(element["function_call"]["arguments"], arguments, "{said}");
    }
    // Nothing was asked for.
    assert_eq!(owner("two", json!({})).await["owner"], Value::Null);
    // A request for something else, a question, or an answer to a yes-or-no question is not a value.
    for said in ["who painted the mona lisa", "i don't know", "yes", "what do you mean?"] {
        let element = owner(said, expects("me.test.FoodOrdering", "note")).await;
        assert_ne!(element["owner"], "me.test.FoodOrdering", "{said}: {element}");
    }
    for said in ["book a table for four", "we need seats for four", "can you book a table for 2 please"] {
        let element = owner(said, expects("me.test.FoodOrdering", "qty")).await;
        assert_eq!(element["owner"], "me.test.TableBooking", "{element}");
    }
}

#[tokio::test]
async fn an_expected_slot_has_the_first_claim_on_a_value() {
    let service = service().await;
    let slots = |expected: Value| {
        json!({"mode": "SLOT", "utterance": "extra cheese", "targetFrame": "me.test.FoodOrdering",
            "slots": ["dish", "note"], "expectedSlots": expected})
    };
    assert_eq!(ask(&service, &slots(json!([]))).await.json()["note"], Value::Null);
    let found = ask(&service, &slots(json!(["note"]))).await.json();
    assert_eq!(found, json!({"note": {"values": ["extra cheese"], "operator": "=="}}));
}
#[tokio::test]
async fn free_text_that_was_asked_for_is_taken_whole() {
    let service = service().await;
    for (said, note) in [
        ("ring the doorbell", "ring the doorbell"),
        ("call me when you arrive please", "call me when you arrive"),
        ("leave a note that says hurry", "hurry"),
    ] {
        let body = json!({"mode": "SLOT", "utterance": said, "targetFrame": "me.test.FoodOrdering", "slots": ["note"],
            "expectedSlots": ["note"]});
        assert_eq!(ask(&service, &body).await.json()["note"]["values"], json!([note]), "{said}");
    }
}
