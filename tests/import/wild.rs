//! Projects as found in the wild: older files, and features that tutorials do not show.

use std::{fs, path::Path};

use serde_json::Value;
use uptake::import::{Format, ImportOptions, Report, import};

/// Imports these files; returns the report, and the module's files by name.
fn imported(format: Format, files: &[(&str, &str)]) -> (Report, impl Fn(&str) -> String + use<>) {
    let (from, into) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    for (name, text) in files {
        let path = from.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let module = into.path().join("module");
    let report = import(format, from.path(), &module, &ImportOptions::default());
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let read = move |file: &str| fs::read_to_string(Path::new(into.path()).join("module").join(file)).expect("a file");
    (report, read)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The function's properties, and the required ones.
fn slots(schema: &str, function: &str) -> (Vec<String>, Vec<String>) {
    let schema = json(schema);
    let functions = schema.as_array().expect("a list");
    let found = functions.iter().find(|one| one["name"] == function).unwrap_or_else(|| panic!("{function}: {schema}"));
    let properties = found["parameters"]["properties"].as_object().expect("properties").keys().cloned().collect();
    let required = found["parameters"]["required"].as_array().cloned().unwrap_or_default();
    (properties, required.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

const RASA_2: [(&str, &str); 4] = [
    (
        "config.yml",
        "language: en\npipeline:\n  - name: WhitespaceTokenizer\n  - name: ner_duckling_http\n    dimensions: [number, time]\n",
    ),
    (
        "data/nlu.yml",
        "nlu:\n- intent: request_restaurant\n  examples: |\n    - I'm looking for a restaurant\n    - find me a \
         [chinese](cuisine) place\n      for tonight\n- intent: chitchat\n  examples: |\n    - how are you\n- intent: affirm\n  \
         examples:\n  - text: |\n      yes\n      please\n- intent: faq/ask_hours\n  examples: |\n    - when are you open\n\
         - intent: faq/ask_languages\n  examples: |\n    - what do you speak\n",
    ),
    (
        "data/stories.yml",
        "stories:\n- story: unhappy\n  steps:\n  - intent: request_restaurant\n  - slot_was_set:\n    - cuisine: null\n  \
         - action: restaurant_form\n  - active_loop: restaurant_form\n  - intent: chitchat\n  - action: utter_chitchat\n  \
         - action: restaurant_form\n  - intent: affirm\n  - action: restaurant_form\n  - active_loop: null\n\
         - story: tested\n  steps:\n  - user: |\n      when do you open\n    intent: faq\n",
    ),
    (
        "domain.yml",
        "intents: [request_restaurant, chitchat, affirm, faq]\nentities: [cuisine]\nslots:\n  cuisine: {type: text}\n  \
         num_people: {type: float}\nforms:\n  restaurant_form:\n    cuisine:\n    - {type: from_entity, entity: cuisine}\n    \
         num_people:\n    - {type: from_entity, entity: number}\nresponses:\n  utter_ask_num_people:\n  - text: |\n      \
         How many people\n      will come?\n",
    ),
];

#[test]
fn a_form_hangs_on_the_intent_right_before_it() {
    let (report, read) = imported(Format::Rasa, &RASA_2);
    let schema = read("schema.json");
    assert_eq!(slots(&schema, "request_restaurant").1, ["cuisine", "num_people"], "{schema}");
    for interruption in ["chitchat", "affirm"] {
        assert_eq!(slots(&schema, interruption).0, Vec::<String>::new(), "{interruption}");
    }
    assert!(read("module.toml").contains("How many people will come?"));
    // Entities of Duckling are found by our own recognizers.
    assert!(read("recognizers.json").contains("number"), "{}", read("recognizers.json"));
    let said: Vec<&str> = report.entries.iter().map(|entry| entry.what.as_str()).collect();
    assert!(said.contains(&"an utterance of `faq`"), "{said:?}");
}

#[test]
fn retrieval_intents_are_functions_and_lines_go_on() {
    let (_, read) = imported(Format::Rasa, &RASA_2);
    let exemplars = read("exemplars.json");
    assert!(exemplars.contains("faq_ask_hours") && exemplars.contains("faq_ask_languages"), "{exemplars}");
    assert!(exemplars.contains("find me a <cuisine> place for tonight"), "{exemplars}");
    assert!(exemplars.contains("yes please"), "{exemplars}");
}

#[test]
fn forms_that_are_names_alone_are_told() {
    let domain = "intents: [book]\nforms:\n- booking_form\n";
    let nlu = "nlu:\n- intent: book\n  examples: |\n    - book a table\n";
    let (report, _) = imported(Format::Rasa, &[("domain.yml", domain), ("data/nlu.yml", nlu)]);
    assert!(report.entries.iter().any(|entry| entry.what == "form `booking_form`"), "{:?}", report.entries);
}

#[test]
fn phrases_may_stand_in_the_intent_itself() {
    let intent = r#"{"name": "weather", "userSays": [{"data": [{"text": "weather in "},
        {"text": "Oslo", "alias": "city", "meta": "@city"}]}, {"isTemplate": true, "data": [{"text": "forecast for @city:city"}]}],
        "responses": [{"parameters": [{"name": "city", "dataType": "@city", "value": "$city", "required": true}]}]}"#;
    let entity = r#"{"name": "city", "entries": [{"value": "Oslo", "synonyms": ["Oslo", "Christiania"]}]}"#;
    let (_, read) = imported(
        Format::DialogflowEs,
        &[("agent.json", "{\"language\": \"en\"}"), ("intents/weather.json", intent), ("entities/city.json", entity)],
    );
    let exemplars = read("exemplars.json");
    assert!(exemplars.contains("weather in <city>") && exemplars.contains("forecast for <city>"), "{exemplars}");
    assert!(read("recognizers.json").contains("Christiania"));
}

#[test]
fn the_parts_of_a_composite_are_slots() {
    let intent = r#"{"name": "fly", "userSays": [{"data": [{"text": "fly "},
        {"text": "from Oslo to Rome", "alias": "route", "meta": "@route"}]}],
        "responses": [{"parameters": [{"name": "route", "dataType": "@route", "value": "$route", "required": true}]}]}"#;
    let route = r#"{"name": "route", "entries": [{"value": "from @city:from to @city:to", "synonyms":
        ["from @city:from to @city:to", "to @city:to"]}]}"#;
    let city = r#"{"name": "city", "entries": [{"value": "Oslo", "synonyms": ["Oslo"]}, {"value": "Rome", "synonyms": ["Rome"]}]}"#;
    let (_, read) = imported(
        Format::DialogflowEs,
        &[
            ("agent.json", "{\"language\": \"en\"}"),
            ("intents/fly.json", intent),
            ("entities/route.json", route),
            ("entities/city.json", city),
        ],
    );
    assert_eq!(slots(&read("schema.json"), "fly"), (vec!["from".to_owned(), "to".to_owned()], vec!["to".to_owned()]));
    assert!(read("exemplars.json").contains("fly from <from> to <to>"), "{}", read("exemplars.json"));
}
