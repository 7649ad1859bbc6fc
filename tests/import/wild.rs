//! Projects as found in the wild: older files, and features that tutorials do not show.

use std::{fs, path::Path};

use serde_json::Value;
use uptake::import::{Format, ImportOptions, ImportReport, import};

/// Imports these files; returns the report, and the module's files by name.
fn imported(format: Format, files: &[(&str, &str)]) -> (ImportReport, impl Fn(&str) -> String + use<>) {
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
fn a_form_belongs_to_the_intent_before_it() {
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

const MOVERS: &str = "entities: [city]\nslots:\n  city: {type: text, mappings: [{type: from_entity, entity: city}]}\n\
    forms:\n  quote_form: {required_slots: [city]}\n  other_form: {required_slots: []}\n";

/// The required slots of the function, of a project with these steps of a story.
fn required(function: &str, steps: &str) -> Vec<String> {
    let nlu = "nlu:\n- intent: ask_quote\n  examples: |\n    - a quote please\n- intent: ask_price\n  examples: |\n    - how much\n\
        - intent: affirm\n  examples: |\n    - go on\n";
    let stories = format!("stories:\n- story: one\n  steps:\n{steps}");
    let files = [("domain.yml", MOVERS), ("data/nlu.yml", nlu), ("data/stories.yml", stories.as_str())];
    let (_, read) = imported(Format::Rasa, &files);
    slots(&read("schema.json"), function).1
}

#[test]
fn a_form_may_begin_after_words_of_the_bot_and_never_by_an_answer() {
    let begins = "  - intent: ask_quote\n  - action: utter_sure\n  - action: quote_form\n  - active_loop: quote_form\n";
    assert_eq!(required("ask_quote", begins), ["city"]);
    let resumed = format!(
        "{begins}  - intent: ask_price\n  - action: utter_price\n  - active_loop: null\n  - intent: affirm\n  \
         - action: quote_form\n  - active_loop: quote_form\n"
    );
    assert_eq!(required("ask_quote", &resumed), ["city"]);
    for other in ["ask_price", "affirm"] {
        assert_eq!(required(other, &resumed), Vec::<String>::new(), "{other}");
    }
    let within = "  - intent: affirm\n  - action: other_form\n  - active_loop: other_form\n  - intent: ask_price\n  - active_loop: null\n  \
        - action: quote_form\n  - active_loop: quote_form\n";
    assert_eq!(required("ask_price", within), Vec::<String>::new(), "what is said within a form begins no other");
}

#[test]
fn test_data_are_cases_and_payloads_are_not_said() {
    let nlu = "nlu:\n- intent: hours\n  examples: |\n    - when do you open\n";
    let tests = "nlu:\n- intent: hours\n  examples: |\n    - until when can I come by\n";
    let stories = "stories:\n- story: a button\n  steps:\n  - user: /start_over\n    intent: start_over\n  - user: are you open\n    \
        intent: hours\n  - user: what is that\n    intent: gone\n";
    let files = [
        (
            "domain.yml",
            "intents: [hours, start_over]\nresponses:\n  utter_hours:\n  - text: \"At nine.\n    Never on Sundays.\"\n",
        ),
        ("data/nlu.yml", nlu),
        ("tests/test_nlu.yml", tests),
        ("tests/test_stories.yml", stories),
    ];
    let (report, read) = imported(Format::Rasa, &files);
    let cases: Vec<Value> = read("cases.jsonl").lines().map(json).collect();
    let mut said: Vec<&str> = cases.iter().filter_map(|case| case["utterance"].as_str()).collect();
    said.sort_unstable();
    assert_eq!(said, ["are you open", "until when can I come by"]);
    assert!(!read("exemplars.json").contains("until when"), "a test is not an exemplar");
    let told = |what: &str| report.entries.iter().any(|entry| entry.what.contains(what));
    assert!(told("`/start_over`") && told("intent `gone`, which has no examples"), "{:?}", report.entries);
}

#[test]
fn what_duckling_finds_is_found_beside_synonyms() {
    let nlu = "nlu:\n- intent: send\n  examples: |\n    - send [all I have](amount-of-money)\n- synonym: full balance\n  \
        examples: |\n    - all I have\n";
    let config = "pipeline:\n- name: DucklingEntityExtractor\n  dimensions: [amount-of-money]\n";
    let domain = "entities: [amount-of-money]\nslots:\n  amount-of-money: {type: any, mappings: [{type: from_entity, entity: amount-of-money}]}\n";
    let (_, read) = imported(Format::Rasa, &[("config.yml", config), ("domain.yml", domain), ("data/nlu.yml", nlu)]);
    let bound = json(&read("recognizers.json"))["slots"]["send.amount-of-money"].clone();
    let names: Vec<&str> = bound.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(names.len() == 2 && names[1] == "money", "{names:?}");
}

#[test]
fn pages_that_follow_by_a_condition_ask_too() {
    let page = |name: &str, rest: &str| format!("{{\"displayName\": \"{name}\", {rest}}}");
    let start = page("Start", r#""transitionRoutes": [{"intent": "ask.quote", "targetPage": "hello"}]"#);
    let hello = page("hello", r#""transitionRoutes": [{"condition": "true", "targetPage": "details"}]"#);
    let details = page(
        "details",
        r#""form": {"parameters": [{"displayName": "van", "required": true, "entityType": "@van"}]},
           "transitionRoutes": [{"condition": "true", "targetPage": "hello"}]"#,
    );
    let (report, read) = imported(
        Format::DialogflowCx,
        &[
            ("agent.json", r#"{"defaultLanguageCode": "en"}"#),
            ("intents/ask.quote/ask.quote.json", r#"{"displayName": "ask.quote"}"#),
            ("intents/ask.quote/trainingPhrases/en.json", r#"{"trainingPhrases": [{"parts": [{"text": "a quote"}]}]}"#),
            ("entityTypes/van/van.json", r#"{"displayName": "van", "kind": "KIND_MAP"}"#),
            (
                "entityTypes/van/entities/en.json",
                r#"{"entities": [{"value": "small", "synonyms": ["small", "little"]}]}"#,
            ),
            ("entityTypes/dog/dog.json", r#"{"displayName": "dog", "kind": "KIND_MAP"}"#),
            ("entityTypes/dog/entities/en.json", r#"{"entities": [{"value": "Rex", "synonyms": ["Rex"]}]}"#),
            ("flows/Start/Start.json", &start),
            ("flows/Start/pages/hello.json", &hello),
            ("flows/Start/pages/details.json", &details),
        ],
    );
    assert_eq!(slots(&read("schema.json"), "ask_quote").1, ["van"]);
    let recognizers = read("recognizers.json");
    assert!(recognizers.contains("little") && !recognizers.contains("Rex"), "{recognizers}");
    let fate = |name: &str| {
        let found = report.entries.iter().find(|entry| entry.what.starts_with(&format!("entity `{name}` with")));
        found.map(|entry| entry.fate.name())
    };
    assert_eq!((fate("van"), fate("dog")), (Some("kept"), Some("dropped")), "what is said to be kept is written");
}

#[test]
fn one_tool_that_cannot_be_used_takes_no_other_with_it() {
    let tools = r#"{"tools": [
        {"name": "about", "inputSchema": {"type": "object", "properties": {}, "required": ["host"]}},
        {"name": "list_files", "description": "List files", "inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}}}]}"#;
    let (report, read) = imported(Format::Mcp, &[("tools.json", tools)]);
    assert!(read("schema.json").contains("list_files") && !read("schema.json").contains("about"));
    let told = report.entries.iter().find(|entry| entry.what.contains("the tool `about`")).expect("it is told");
    assert_eq!((told.line, told.pointer.as_str()), (Some(2), "/tools/0"));
}

#[test]
fn luis_and_previews_of_clu_are_read() {
    let luis = r#"{"luis_schema_version": "7.0.0", "culture": "en-us", "name": "vans", "intents": [{"name": "book"}, {"name": "None"}],
        "entities": [{"name": "who"}], "closedLists": [{"name": "van", "subLists": [{"canonicalForm": "small", "list": ["little"]}]}],
        "prebuiltEntities": [{"name": "datetimeV2"}], "regex_entities": [], "patterns": [],
        "utterances": [{"text": "book the little one", "intent": "book", "entities": [{"entity": "van", "startPos": 9, "endPos": 14}]},
            {"text": "from Oslo to Rome", "intent": "book", "entities": [{"entity": "who::from", "startPos": 5, "endPos": 8},
                {"entity": "who", "role": "to", "startPos": 13, "endPos": 16}]},
            {"text": "sing", "intent": "None", "entities": []}]}"#;
    let (_, read) = imported(Format::Clu, &[("app.json", luis)]);
    for template in ["book the <van> one", "from <from> to <to>"] {
        assert!(read("exemplars.json").contains(template), "{template}: {}", read("exemplars.json"));
    }
    assert!(read("recognizers.json").contains("little"));
    let preview = r#"{"api-version": "2021-11-01-preview", "metadata": {"language": "en"}, "assets": {"intents": [{"category": "go"}],
        "entities": [{"category": "where"}], "examples": [{"text": "go home", "intent": "go",
            "entities": [{"category": "where", "offset": 3, "length": 4}]}]}}"#;
    let (_, read) = imported(Format::Clu, &[("project.json", preview)]);
    assert!(read("exemplars.json").contains("go <where>"), "{}", read("exemplars.json"));
}

#[test]
fn an_edge_of_a_label_glues_no_words() {
    let nlu = "nlu:\n- intent: go\n  examples: |\n    - drive to [Rome ](city)now\n";
    let (_, read) = imported(Format::Rasa, &[("domain.yml", "entities: [city]\n"), ("data/nlu.yml", nlu)]);
    assert!(read("exemplars.json").contains("drive to Rome now"), "{}", read("exemplars.json"));
}

#[test]
fn tests_and_comments_change_nothing() {
    let tests = "nlu:\n- intent: go\n  examples: |\n    - go to [Bonn](town)\n- synonym: Bonn\n  examples: |\n    - the old capital\n";
    let old = "## intent:greet <!-- a note -->\n- hello\n<!--\n- hi\n-->\n";
    let files = [
        ("data/nlu.yml", "nlu:\n- intent: go\n  examples: |\n    - go home\n"),
        ("data/old.md", old),
        ("tests/test_nlu.yml", tests),
    ];
    let (_, read) = imported(Format::Rasa, &files);
    assert_eq!(slots(&read("schema.json"), "go").0, Vec::<String>::new());
    assert!(read("cases.jsonl").contains("go to Bonn") && !read("schema.json").contains("capital"));
    let exemplars = read("exemplars.json");
    assert!(exemplars.contains("\"greet\"") && !exemplars.contains("\"hi\""), "{exemplars}");
}

#[test]
fn what_no_words_fill_is_not_required() {
    let domain = "slots:\n  consent: {type: bool, mappings: [{type: from_intent, intent: affirm, value: true}]}\n  \
        note: {type: text, mappings: [{type: from_text}]}\nforms:\n  go_form: {required_slots: [consent, note]}\n";
    let (_, read) = imported(
        Format::Rasa,
        &[("domain.yml", domain), ("data/nlu.yml", "nlu:\n- intent: go\n  examples: |\n    - go home\n")],
    );
    assert_eq!(slots(&read("schema.json"), "go").1, ["note"]);
}

#[test]
fn pages_of_two_flows_may_have_one_name_and_answers_lead_to_none() {
    let page = |name: &str| {
        format!(
            "{{\"displayName\": \"Details\", \"form\": {{\"parameters\": [{{\"displayName\": \"{name}\", \"required\": true, \"entityType\": \"@sys.any\"}}]}}}}"
        )
    };
    let flow = |name: &str, intent: &str| {
        format!(
            "{{\"displayName\": \"{name}\", \"transitionRoutes\": [{{\"intent\": \"{intent}\", \"targetPage\": \"Details\"}}, {{\"intent\": \"confirm.no\", \"targetPage\": \"Details\"}}]}}"
        )
    };
    let intent = |name: &str| format!("{{\"displayName\": \"{name}\"}}");
    let case = r#"{"testCaseConversationTurns": [{"userInput": {"input": {"text": {"text": "I want a room"}}},
        "virtualAgentOutput": {"triggeredIntent": {"displayName": "book"}}}]}"#;
    let (one, other) = (page("city"), page("booking"));
    let (first, second) = (flow("A", "book"), flow("B", "cancel"));
    let names = ["book", "cancel", "confirm.no"].map(intent);
    let (_, read) = imported(
        Format::DialogflowCx,
        &[
            ("agent.json", "{}"),
            ("intents/book/book.json", &names[0]),
            ("intents/cancel/cancel.json", &names[1]),
            ("intents/confirm.no/confirm.no.json", &names[2]),
            ("flows/A/A.json", &first),
            ("flows/A/pages/Details.json", &one),
            ("flows/B/B.json", &second),
            ("flows/B/pages/Details.json", &other),
            ("testCases/one.json", case),
        ],
    );
    let schema = read("schema.json");
    assert_eq!(
        (slots(&schema, "book").1, slots(&schema, "cancel").1),
        (vec!["city".to_owned()], vec!["booking".to_owned()])
    );
    assert_eq!(slots(&schema, "confirm_no").0, Vec::<String>::new());
    assert!(read("cases.jsonl").contains("I want a room"));
}

#[test]
fn what_a_data_set_was_made_from_is_read_once() {
    let yaml = "type: intent\nname: go\nutterances:\n- go to [city](Rome)\n";
    let json = r#"{"language": "en", "intents": {"go": {"utterances": [{"data": [{"text": "go to "}, {"text": "Rome", "entity": "city", "slot_name": "city"}]}]}}, "entities": {"city": {"data": []}}}"#;
    let (report, read) = imported(Format::Snips, &[("go.yaml", yaml), ("dataset.json", json)]);
    assert!(!read("schema.json").contains("go_2"), "{}", read("schema.json"));
    assert!(report.entries.iter().any(|entry| entry.file == "dataset.json" && entry.what == "intent `go`"));
}
