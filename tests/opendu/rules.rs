//! Each rule of the protocol by itself, with a module named as `OpenDU` clients name theirs.

use serde_json::{Value, json};

use crate::{
    support::{Answer, Service},
    understand::local::embedder,
};

pub(super) const MODULE: &str = "me.test_foodOrdering_en_master";
const PATH: &str = "/v1/predict/me.test_foodOrdering_en_master";

pub(super) async fn service() -> Service {
    let service = Service::shipping(&[], embedder().await);
    let properties = |properties: Value| json!({"type": "object", "properties": properties});
    let schema = json!([
        {"name": "me.test.FoodOrdering", "description": "Order food", "parameters": properties(json!({
            "category": {"type": "string"}, "dish": {"type": "array", "items": {"type": "string"}},
            "qty": {"type": "integer", "maximum": 20}, "spice": {"type": "string"}, "note": {"type": "string"}}))},
        {"name": "me.test.TableBooking", "description": "Book a table", "parameters": properties(json!({
            "people": {"type": "integer"}, "day": {"type": "string", "format": "date"}}))},
        {"name": "me.test.Repetition", "description": "Do the same once more", "parameters": properties(json!({}))},
        {"name": "me.test.OpeningHours", "description": "Tell when the restaurant is open", "parameters": properties(json!({}))}
    ]);
    let exemplars = json!({
        "me.test.FoodOrdering": [
            {"template": "I'd like to order some <category>."}, {"template": "order <qty> <dish>", "utterance": "order three burgers"},
            {"template": "I want <qty> <dish> with <spice>"}, {"template": "can you bring me a <dish>"},
            {"template": "leave a note that says <note>"},
            {"template": "<qty> would be nice", "context_frame": "me.test.FoodOrdering", "context_slot": "qty"},
            {"template": "how do I place an order on your website", "owner_mode": "negative"}],
        "me.test.TableBooking": [
            {"template": "book a table for <people>"}, {"template": "reserve a table <day>"},
            {"template": "we need seats for <people> on <day>"}],
        "me.test.Repetition": [
            {"template": "the usual once again", "context_frame": "me.test.FoodOrdering"},
            {"template": "repeat that for me"}]
    });
    let list = |names: &[&str]| {
        let instances: Vec<Value> = names.iter().map(|name| json!({"label": name, "expressions": []})).collect();
        json!({"rec_type": "list", "instances": instances})
    };
    let recognizers = json!({
        "recognizers": {
            "category": list(&["food", "drinks"]), "dish": list(&["pizza", "burger", "salad"]),
            "spice": list(&["chili", "garlic", "pepper"])},
        "slots": {"category": "category", "dish": "dish", "spice": "spice"}
    });
    service.write(MODULE, "schema.json", &schema.to_string());
    service.write(MODULE, "exemplars.json", &exemplars.to_string());
    service.write(MODULE, "recognizers.json", &recognizers.to_string());
    service
}

pub(super) async fn ask(service: &Service, body: &Value) -> Answer {
    service.post(PATH, body.to_string()).await
}

async fn answer(body: Value) -> Value {
    let answer = ask(&service().await, &body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text);
    answer.json()
}

fn values(values: &[&str]) -> Value {
    json!({"values": values, "operator": "=="})
}

#[tokio::test]
async fn the_routes_of_a_client_answer_200() {
    let service = service().await;
    for path in ["/v1/index/me.test_foodOrdering_en_master", "/v1/load/me.test_foodOrdering_en_master"] {
        assert_eq!(service.get(path).await.status, 200, "{path}");
    }
    let hello = service.get("/hello").await;
    assert_eq!((hello.status, hello.text.as_str()), (200, "Ok"));
    for path in ["/v1/predict/..%2Fsecrets", "/v1/predict/.hidden"] {
        let answer = service.post(path, json!({"mode": "SKILL", "utterance": "hi"}).to_string()).await;
        assert_eq!(answer.error().2, "invalid_module_name", "{path}");
    }
}

#[tokio::test]
async fn without_a_mode_the_answer_is_a_chat_completion() {
    for body in [json!({"utterance": "order two pizzas"}), json!({"utterance": "order two pizzas", "mode": null})] {
        assert_eq!(answer(body).await["object"], "chat.completion");
    }
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_absent_or_null_ones_are_empty() {
    for body in [
        json!({"mode": "SKILL", "utterance": "order two pizzas"}),
        json!({"mode": "SKILL", "utterance": "order two pizzas", "expectedFrames": null, "candidates": null, "more": [1]}),
        json!({"mode": "SKILL", "utterance": "order two pizzas", "expectations": null, "candidates": {"dish": null}}),
    ] {
        assert_eq!(answer(body).await[0]["owner"], "me.test.FoodOrdering");
    }
    for body in [
        json!({"mode": "SLOT", "utterance": "order two pizzas"}),
        json!({"mode": "SLOT", "utterance": "order two pizzas", "targetFrame": null, "slots": [], "expectedSlots": null}),
    ] {
        assert_eq!(answer(body).await, json!({}));
    }
    assert_eq!(answer(json!({"mode": "BINARY", "utterance": "yes", "questions": null, "x": 1})).await, "Affirmative");
    assert_eq!(answer(json!({"mode": "BINARY", "utterance": "yes", "questions": []})).await, json!([]));
}

#[tokio::test]
async fn a_skill_is_told_with_its_evidence_in_both_spellings() {
    let body = json!({"mode": "SKILL", "utterance": "i'd like to order some food",
        "expectedFrames": ["me.test.FoodOrdering"], "candidates": {}});
    let answer = answer(body).await;
    assert_eq!(answer.as_array().map(Vec::len), Some(1), "{answer}");
    let element = &answer[0];
    assert_eq!(element["owner"], "me.test.FoodOrdering");
    assert_eq!(element["utterance"], "i'd like to order some food");
    assert_eq!(
        element["evidence"][0],
        json!({"type": "exemplar", "owner": "me.test.FoodOrdering", "ownerFrame": "me.test.FoodOrdering",
            "template": "I'd like to order some <category>.", "label": null, "context_frame": null,
            "contextFrame": null, "context_slot": null, "contextSlot": null})
    );
    assert_eq!(element["function_call"]["name"], "me.test.FoodOrdering");
    assert_eq!(element["function_call"]["arguments"], "{\"category\":\"food\"}");
}

#[tokio::test]
async fn no_match_is_one_element_without_an_owner_and_with_what_was_retrieved() {
    let answer = answer(json!({"mode": "SKILL", "utterance": "who painted the mona lisa", "expectedFrames": []})).await;
    assert_eq!(answer.as_array().map(Vec::len), Some(1));
    assert_eq!((&answer[0]["owner"], &answer[0]["function_call"]), (&Value::Null, &Value::Null));
    assert_eq!(answer[0]["utterance"], "who painted the mona lisa");
    let evidence = answer[0]["evidence"].as_array().expect("a list");
    assert!(!evidence.is_empty());
    assert!(
        evidence.iter().all(|one| one["label"] != "Negative"),
        "the client would not try what it expects: {answer}"
    );
}

#[tokio::test]
async fn several_functions_are_an_element_each_with_their_own_segment() {
    let said = "order two pizzas and then book a table for four";
    let answer = answer(json!({"mode": "SKILL", "utterance": said})).await;
    let told: Vec<(&str, &str)> = answer
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["owner"].as_str().expect("an owner"), one["utterance"].as_str().expect("a segment")))
        .collect();
    assert_eq!(told, [("me.test.FoodOrdering", "order two pizzas"), ("me.test.TableBooking", "book a table for four")]);
}

#[tokio::test]
async fn a_negative_exemplar_is_labelled_where_it_decided_and_nowhere_else() {
    let service = service().await;
    let said = json!({"mode": "SKILL", "utterance": "how do i place an order on your website"});
    let answer = ask(&service, &said).await.json();
    assert_eq!(answer[0]["owner"], Value::Null, "{answer}");
    let labels: Vec<&Value> =
        answer[0]["evidence"].as_array().expect("a list").iter().map(|one| &one["label"]).collect();
    assert_eq!(labels[0], "Negative", "{answer}");
    let said = json!({"mode": "SKILL", "utterance": "can you bring me a burger"});
    let answer = ask(&service, &said).await.json();
    assert_eq!(answer[0]["owner"], "me.test.FoodOrdering", "{answer}");
    assert!(!answer.to_string().contains("Negative"), "{answer}");
}

#[tokio::test]
async fn a_function_without_exemplars_is_told_by_its_description() {
    let answer = answer(json!({"mode": "SKILL", "utterance": "when is the restaurant open"})).await;
    assert_eq!(answer[0]["owner"], "me.test.OpeningHours", "{answer}");
    assert_eq!(answer[0]["evidence"][0]["type"], "description");
    assert_eq!(answer[0]["evidence"][0]["template"], "Tell when the restaurant is open");
}

#[tokio::test]
async fn both_generations_get_the_same_slots() {
    let newer = json!({"mode": "SLOT", "utterance": "order two pizzas", "targetFrame": "me.test.FoodOrdering",
        "slots": ["dish", "qty"], "candidates": {"dish": ["pizzas"], "qty": ["two"]}, "expectedSlots": []});
    let older = json!({"mode": "SLOT", "utterance": "order two pizzas", "targetFrame": "me.test.FoodOrdering",
        "slots": [{"name": "dish", "description": "What to eat"}, {"name": "qty", "description": "How many"}]});
    let expected = json!({"dish": values(&["pizzas"]), "qty": values(&["two"])});
    assert_eq!(answer(newer).await, expected);
    assert_eq!(answer(older).await, expected);
}

#[tokio::test]
async fn only_slots_that_were_asked_for_and_said_are_answered_under_their_own_labels() {
    let slots = |slots: Value| json!({"mode": "SLOT", "utterance": "order two pizzas", "targetFrame": "me.test.FoodOrdering", "slots": slots});
    assert_eq!(answer(slots(json!(["dish", "spice"]))).await, json!({"dish": values(&["pizzas"])}));
    assert_eq!(answer(slots(json!(["Qty"]))).await, json!({"Qty": values(&["two"])}), "in the client's spelling");
    assert_eq!(answer(slots(json!(["spice", "category"]))).await, json!({}));
}

#[tokio::test]
async fn values_are_verbatim_and_several_come_in_order() {
    let body = |said: &str| {
        json!({"mode": "SLOT", "utterance": said, "targetFrame": "me.test.FoodOrdering",
            "slots": ["dish", "qty", "spice", "category", "note"]})
    };
    assert_eq!(
        answer(body("order a  saláds and PIZZAS")).await["dish"],
        values(&["saláds", "PIZZAS"]),
        "as they were sent, not as they are listed"
    );
    let service = service().await;
    for said in [
        "order two pizzas",
        "i want 3 burgers with chili",
        "\tcan you bring me a pizza\u{1F355}, a burger & a salad?\n",
        "two salads, no garlic",
        "ピザ pizza を 2 つ",
        "99 pizzas",
    ] {
        let answer = ask(&service, &body(said)).await;
        assert_eq!(answer.status, 200);
        for (slot, found) in answer.json().as_object().expect("an object") {
            let values = found["values"].as_array().expect("a list");
            assert!(!values.is_empty(), "{said}: {slot}");
            for value in values.iter().map(|value| value.as_str().expect("a string")) {
                assert!(said.contains(value), "{said:?}: {slot} {value:?}");
            }
        }
    }
    assert_eq!(ask(&service, &body("99 pizzas")).await.json()["qty"], values(&["99"]), "too many, but said");
}

#[tokio::test]
async fn what_is_ruled_out_has_its_own_operator() {
    let body = |said: &str| json!({"mode": "SLOT", "utterance": said, "targetFrame": "me.test.FoodOrdering", "slots": ["dish", "spice"]});
    let not = json!({"values": ["garlic"], "operator": "!="});
    assert_eq!(answer(body("a pizza, no garlic")).await, json!({"dish": values(&["pizza"]), "spice": not}));
    assert_eq!(answer(body("i don't want garlic")).await["spice"], not);
}

#[tokio::test]
async fn candidates_are_hints_and_not_the_truth() {
    let body = |candidates: Value| {
        json!({"mode": "SLOT", "utterance": "order two lasagnas", "targetFrame": "me.test.FoodOrdering",
            "slots": ["dish", "qty"], "candidates": candidates})
    };
    let qty = values(&["two"]);
    assert_eq!(answer(body(json!({"dish": [], "qty": []}))).await["qty"], qty, "its recognizers saw nothing, ours did");
    assert_eq!(
        answer(body(json!({"dish": ["lasagnas"]}))).await,
        json!({"dish": values(&["lasagnas"]), "qty": qty}),
        "what only its recognizers know"
    );
    for wrong in
        [json!({"dish": ["pizza"]}), json!({"dish": ["asagn"]}), json!({"dish": [""]}), json!({"singer": ["two"]})]
    {
        assert_eq!(answer(body(wrong)).await["qty"], qty);
    }
}

#[tokio::test]
async fn what_can_be_answered_of_another_frame_is() {
    let slot = |frame: &str, slots: Value, candidates: Value| {
        json!({"mode": "SLOT", "utterance": "order two pizzas with chili for six people", "targetFrame": frame,
            "slots": slots, "candidates": candidates})
    };
    // A frame that the module does not have, nested or of the system, with a slot that only one function has.
    for frame in ["me.test.Dish", "io.opencui.core.PagedSelectable", "", "FoodOrdering"] {
        assert_eq!(answer(slot(frame, json!(["dish"]), json!({}))).await["dish"], values(&["pizzas"]), "{frame}");
    }
    // A slot of another frame in addition to the frame's own.
    let found = answer(slot("me.test.TableBooking", json!(["people", "spice"]), json!({}))).await;
    assert_eq!(found["spice"], values(&["chili"]), "{found}");
    // An unknown slot, which the client's recognizers have found.
    let found = answer(slot("io.opencui.core.Any", json!(["guests"]), json!({"guests": ["six people"]}))).await;
    assert_eq!(found, json!({"guests": values(&["six people"])}));
    assert_eq!(answer(slot("nobody", json!(["nothing"]), json!({}))).await, json!({}));
}

#[tokio::test]
async fn an_answer_is_a_bare_string_to_the_newer_client_and_a_list_to_the_older() {
    let question = "Are you sure you want the white one?";
    let newer = json!({"mode": "BINARY", "utterance": "yes, absolutely.", "question": question});
    assert_eq!(answer(newer).await, json!("Affirmative"));
    let older = json!({"mode": "BINARY", "utterance": "yes, absolutely.", "questions": [question, "Do you mind?"]});
    assert_eq!(answer(older).await, json!(["Affirmative", "Affirmative"]));
    for (said, expected) in [
        ("no, i don't", "Negative"),
        ("i don't care", "Indifferent"),
        ("the black one please", "Irrelevant"),
        ("yes but make it two", "Affirmative"),
    ] {
        let body = json!({"mode": "BINARY", "utterance": said, "question": question});
        assert_eq!(answer(body).await, json!(expected), "{said}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let service = service().await;
    let long = "x".repeat(1_001);
    let many: Vec<String> = (0..257).map(|index| format!("slot{index}")).collect();
    for (body, member) in [
        (json!({"mode": "SING", "utterance": "hi"}), "mode"),
        (json!({"mode": 5, "utterance": "hi"}), "mode"),
        (json!({"mode": ["SKILL"], "utterance": "hi"}), "mode"),
        (json!({"mode": "SKILL"}), "utterance"),
        (json!({"mode": "SLOT", "utterance": 5}), "utterance"),
        (json!({"mode": "BINARY", "utterance": " "}), "utterance"),
        (json!({"mode": "SKILL", "utterance": "x".repeat(8_001)}), "utterance"),
        (json!({"mode": "SKILL", "utterance": "hi", "expectedFrames": "x"}), "expectedFrames"),
        (json!({"mode": "SKILL", "utterance": "hi", "expectedFrames": [1]}), "expectedFrames[0]"),
        (json!({"mode": "SKILL", "utterance": "hi", "expectedFrames": [long]}), "expectedFrames"),
        (json!({"mode": "SKILL", "utterance": "hi", "expectations": [{"frame": 1}]}), "expectations[0].frame"),
        (json!({"mode": "SKILL", "utterance": "hi", "expectations": ["x"]}), "expectations[0]"),
        (json!({"mode": "SKILL", "utterance": "hi", "candidates": []}), "candidates"),
        (json!({"mode": "SLOT", "utterance": "hi", "candidates": {"dish": "pizza"}}), "candidates.dish"),
        (json!({"mode": "SLOT", "utterance": "hi", "candidates": {"dish": [1]}}), "candidates.dish[0]"),
        (json!({"mode": "SLOT", "utterance": "hi", "slots": {"dish": 1}}), "slots"),
        (json!({"mode": "SLOT", "utterance": "hi", "slots": ["dish", 1]}), "slots[1]"),
        (json!({"mode": "SLOT", "utterance": "hi", "slots": [{"description": "no name"}]}), "slots[0]"),
        (json!({"mode": "SLOT", "utterance": "hi", "slots": many}), "slots"),
        (json!({"mode": "SLOT", "utterance": "hi", "targetFrame": []}), "targetFrame"),
        (json!({"mode": "SLOT", "utterance": "hi", "expectedSlots": 1}), "expectedSlots"),
        (json!({"mode": "BINARY", "utterance": "hi", "question": []}), "question"),
        (json!({"mode": "BINARY", "utterance": "hi", "question": "x".repeat(8_001)}), "question"),
        (json!({"mode": "BINARY", "utterance": "hi", "questions": "x"}), "questions"),
        (json!({"mode": "BINARY", "utterance": "hi", "questions": [null]}), "questions[0]"),
    ] {
        let answer = ask(&service, &body).await;
        let (status, kind, _, param) = answer.error();
        assert_eq!((status, kind.as_str()), (400, "invalid_request_error"), "{body}");
        assert_eq!(param.as_deref(), Some(member), "{body}: {}", answer.text);
    }
    let unknown = ask(&service, &json!({"mode": "SING", "utterance": "hi"})).await;
    for name in ["SKILL", "SLOT", "BINARY"] {
        assert!(unknown.text.contains(name), "{}", unknown.text);
    }
    let nowhere = service.post("/v1/predict/nowhere", json!({"mode": "BINARY", "utterance": "yes"}).to_string()).await;
    assert_eq!(nowhere.error().2, "module_not_found");
}

#[tokio::test]
async fn answers_are_counted_by_mode() {
    let service = service().await;
    for mode in ["SKILL", "BINARY", "BINARY"] {
        ask(&service, &json!({"mode": mode, "utterance": "order two pizzas"})).await;
    }
    let metrics = service.get("/metrics").await.text;
    let line = format!("uptake_opendu_total{{module=\"{MODULE}\",mode=\"BINARY\"}} 2");
    assert!(metrics.contains(&line), "{metrics}");
}
