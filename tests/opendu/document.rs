//! Requests and answers match the OpenAPI document.

use serde_json::{Value, json};

use super::rules::{ask, service};

#[tokio::test]
async fn requests_and_answers_fit_their_one_schema() {
    let service = service().await;
    let document = service.get("/openapi.json").await.json();
    let validator = |name: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{name}"), "components": document["components"]});
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let (body, answer) = (validator("PredictBody"), validator("PredictAnswer"));
    for request in [
        json!({"utterance": "order two pizzas"}),
        json!({"mode": "SKILL", "utterance": "order two pizzas"}),
        json!({"mode": "SKILL", "utterance": "order two pizzas", "expectedFrames": ["a.B"], "candidates": {"x": ["two"]}}),
        json!({"mode": "SKILL", "utterance": "who is it", "expectations": [{"frame": "a.B", "slot": "x", "slotType": "y"}]}),
        json!({"mode": "SLOT", "utterance": "order two pizzas", "targetFrame": "me.test.FoodOrdering", "slots": ["dish"]}),
        json!({"mode": "SLOT", "utterance": "no garlic", "targetFrame": "me.test.FoodOrdering",
            "slots": [{"name": "spice", "description": "x"}], "expectedSlots": []}),
        json!({"mode": "SLOT", "utterance": "hi", "slots": ["dish"]}),
        json!({"mode": "BINARY", "utterance": "yes", "question": "is it?"}),
        json!({"mode": "BINARY", "utterance": "yes", "questions": ["is it?"]}),
        json!({"mode": "BINARY", "utterance": "yes", "questions": []}),
    ] {
        let fits = |validator: &jsonschema::Validator, value: &Value| {
            let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{request} -> {value}: {errors:?}");
        };
        fits(&body, &request);
        let answered = ask(&service, &request).await;
        assert_eq!(answered.status, 200, "{request}");
        fits(&answer, &answered.json());
    }
    for wrong in
        [json!({"mode": "SING", "utterance": "x"}), json!({"mode": "SKILL"}), json!({"mode": "SLOT", "utterance": 1})]
    {
        assert!(!body.is_valid(&wrong), "{wrong}");
    }
}
