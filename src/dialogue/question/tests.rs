use std::{fmt::Write, fs, path::Path};

use serde_json::{Map, Value, json};

use crate::{
    call::{SlotValue, Source, Validator, Violation, ViolationKind},
    conversation::{
        Confirmation, Form, State,
        next::{Manners, Next, next},
        pending::Pending,
    },
    dialogue::{outcome::Question, question::*, result::CallResult},
    module::{Limits, ModuleName, ad_hoc, fixture, load, settings::Ask},
    recognize::acts::{Courtesy, Move, MoveKind, Moves},
};

const LANGUAGES: [&str; 5] = ["en", "de", "fr", "es", "ja"];

const SETTINGS: &str = r#"
language = "en"

[functions.order_food]
confirm = true
rules = ["dishes[].pieces <= 20", "dishes[].pieces >= dishes[].plates"]

[functions.order_food.slots]
"dishes[].name" = { question = { en = "What would you like to eat?", de = "Was möchten Sie essen?" } }
"phone" = { sensitive = true, ask = true }
"city" = { question = "In which city?" }
"zip" = { invalid = { en = "That is no postal code.", ja = "郵便番号ではありません。" } }

[functions.book_room]
confirm = true
ask = "group"
confirmation = { en = "A room from <start> to <end>, for <guests> guests, with <extra>?", de = "Ein Zimmer vom <start> bis zum <end>?" }
rules = [
    "end > start",
    "start >= today",
    "end <= start + 30 days",
    { check = "guests <= 4", message = { en = "Our rooms are for up to four guests.", fr = "Nos chambres accueillent quatre personnes au plus." } },
]
"#;

fn schema() -> Value {
    let date = json!({"type": "string", "format": "date"});
    let dish = json!({"type": "object", "required": ["name", "size"], "properties": {
        "name": {"type": "string"}, "size": {"type": "string", "enum": ["small", "large"]},
        "pieces": {"type": "integer"}, "plates": {"type": "integer"}}});
    json!([
        {"name": "order_food", "description": "Order food. For delivery.", "parameters": {
            "type": "object", "required": ["dishes", "city", "zip"], "properties": {
            "dishes": {"type": "array", "items": dish, "minItems": 1},
            "extras": {"type": "array", "items": {"type": "string"}},
            "cutlery": {"type": "boolean"},
            "city": {"type": "string"},
            "zip": {"type": "string", "minLength": 4, "maxLength": 5, "description": "The postal code, of five digits"},
            "phone": {"type": "string"},
            "address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}}}},
        {"name": "book_room", "description": "Book a room", "parameters": {
            "type": "object", "required": ["start", "end", "guests", "bed"], "properties": {
            "start": date, "end": date, "guests": {"type": "integer", "minimum": 1, "maximum": 9},
            "bed": {"type": "string", "enum": ["single", "double", "twin"]}, "extra": {"type": "string"}}}},
        {"name": "call_taxi", "description": "", "parameters": {
            "type": "object", "required": ["stay"], "properties": {
            "stay": {"type": "object", "required": ["street", "city"], "properties": {
                "street": {"type": "string"}, "city": {"type": "string"}}}}}}
    ])
}

fn loaded(settings: &str) -> Module {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("schema.json"), schema().to_string()).expect("written");
    fs::write(directory.path().join("module.toml"), settings).expect("written");
    let name = ModuleName::new("test").expect("a good name");
    load(directory.path(), name, &Limits::default()).unwrap_or_else(|error| panic!("{error:?}"))
}

struct House {
    module: Module,
    validator: Validator,
}

impl House {
    fn new() -> Self {
        let module = loaded(SETTINGS);
        let validator = Validator::compile(&module).expect("compiles");
        Self { module, validator }
    }

    fn id(&self, function: &str) -> FunctionId {
        self.module.function_named(function).expect("there")
    }

    fn ask(&self, language: &str, form: &Form, pending: &Pending, repeated: u32) -> String {
        Voice::new(&self.module, Some(language)).question(&self.validator, form, pending.clone(), repeated).text
    }

    /// The question that the next step asks by itself.
    fn next(&self, language: &str, form: &Form) -> String {
        let mut state = State::new(&self.module.name);
        state.forms.push(form.clone());
        let manners = Manners { ask: Ask::One, tries: 3 };
        let now = "2026-03-10T12:00:00[UTC]".parse().expect("a moment");
        match next(&state, &self.module, &self.validator, manners, &now) {
            Next::Ask(_, pending) => self.ask(language, form, &pending, 0),
            other => panic!("{other:?}"),
        }
    }
}

fn filled(function: &str, values: &[(&str, Value)]) -> Form {
    let mut form = Form::new(function, 1);
    form.slots = values
        .iter()
        .map(|(pointer, value)| SlotValue {
            pointer: (*pointer).to_owned(),
            value: value.clone(),
            text: None,
            span: None,
            recognizer: None,
            from: Source::Said,
            turn: 1,
            confidence: 1.0,
            unread: None,
        })
        .collect();
    form
}

fn aside(pointer: &str, kind: ViolationKind, found: &Value) -> InvalidValue {
    InvalidValue {
        pointer: pointer.to_owned(),
        kind,
        found: Some(found.clone()),
        expected: "something else".to_owned(),
        readings: Vec::new(),
        turn: 1,
    }
}

fn food() -> Form {
    filled(
        "order_food",
        &[
            ("/dishes/0/name", json!("pizza")),
            ("/dishes/0/size", json!("large")),
            ("/dishes/0/pieces", json!(2)),
            ("/dishes/1/name", json!("cola")),
            ("/dishes/1/size", json!("small")),
            ("/extras/0", json!("olives")),
            ("/extras/1", json!("ham")),
            ("/cutlery", json!(true)),
            ("/city", json!("Rome")),
            ("/zip", json!("00184")),
            ("/phone", json!("+39 06 12345678")),
        ],
    )
}

fn room(values: &[(&str, Value)]) -> Form {
    filled("book_room", values)
}

fn without(mut form: Form, pointers: &[&str]) -> Form {
    form.slots.retain(|filled| !pointers.contains(&filled.pointer.as_str()));
    form
}

/// Everything that Uptake says by itself, each with a label of its topic.
fn spoken_in(language: &str) -> Vec<(&'static str, String)> {
    let house = House::new();
    let voice = Voice::new(&house.module, Some(language));
    let (order, book, taxi) = (house.id("order_food"), house.id("book_room"), house.id("call_taxi"));
    let missing = |function: FunctionId, pointers: &[&str]| Pending::Missing {
        function,
        pointers: pointers.iter().map(|pointer| (*pointer).to_owned()).collect(),
    };
    let empty = Form::new("order_food", 1);
    let stay = [("/start", json!("2026-04-09")), ("/end", json!("2026-04-02")), ("/guests", json!(2))];
    let past = [("/start", json!("2026-03-09")), ("/end", json!("2026-03-11"))];
    let long = [("/start", json!("2026-04-09")), ("/end", json!("2026-05-19"))];
    let full = [
        ("/start", json!("2026-04-09")),
        ("/end", json!("2026-04-10")),
        ("/guests", json!(6)),
        ("/bed", json!("twin")),
    ];
    let mut skipped = Form::new("book_room", 1);
    skipped.skipped.push("bed".to_owned());
    let twice = filled(
        "order_food",
        &[("/dishes/0/name", json!("pizza")), ("/dishes/1/name", json!("pizza")), ("/dishes/2/name", json!("cola"))],
    );
    let unnamed = filled("order_food", &[("/dishes/0/pieces", json!(1)), ("/dishes/1/pieces", json!(2))]);
    let many = filled(
        "order_food",
        &[("/dishes/0/name", json!("pizza")), ("/dishes/1/name", json!("cola")), ("/dishes/1/pieces", json!(30))],
    );
    let invalid = |function: FunctionId, form: &Form, aside: InvalidValue| {
        house.ask(language, form, &Pending::Invalid { function, aside }, 0)
    };
    let violated = |path: &str, kind: ViolationKind, found: &Value| {
        let violation = Violation {
            kind,
            path: path.to_owned(),
            found: Some(found.clone()),
            expected: "something else".to_owned(),
            readings: Vec::new(),
        };
        let frame = Frame {
            function: book,
            confidence: 1.0,
            segment: crate::text::Span { start: 0, end: 0 },
            slots: Vec::new(),
            excluded: Vec::new(),
            missing: Vec::new(),
            invalid: vec![violation],
        };
        let about = frame.asks().expect("a question");
        worded(&house.module, Some(language), about, &[frame]).text
    };
    let explained = |about: &Pending| voice.explained(&Question { text: "…".to_owned(), about: about.clone() });
    let polite = |courtesy| voice.remark(&Moves { courtesy, ..Moves::default() }, "", 1);
    let cancel = Move { kind: MoveKind::Cancel, cue: crate::text::Span { start: 0, end: 6 }, confidence: 0.95 };
    let nothing_open = Moves { moves: vec![cancel], ..Moves::default() };
    let came_back = json!({"order_id": 4711, "paid": true, "dishes": [{"name": "ramen", "price": {"amount": 9}}, {"name": "tea"}],
        "rider": {"name": "Ann", "phone": null}});
    let result =
        |text: &str| CallResult { function: Some("order_food".into()), text: text.into(), ..CallResult::default() };
    let mut open = State::new(&house.module.name);
    let mut half = without(food(), &["/city", "/dishes/1/size"]);
    half.aside.push(aside("/zip", ViolationKind::Length, &json!("001846")));
    half.slots.retain(|filled| filled.pointer != "/zip");
    open.forms = vec![room(&full), half];
    vec![
        ("one", house.ask(language, &empty, &missing(order, &["/zip"]), 0)),
        ("one of few", house.ask(language, &empty, &missing(book, &["/bed"]), 0)),
        ("one, in the author's words", house.ask(language, &empty, &missing(order, &["/dishes/-/name"]), 0)),
        ("a name that says nothing", voice.words.ask_bare("to", "Send mail", "", "")),
        ("a name that says nothing, described", voice.words.ask_bare("to", "Send mail", "Who gets it", "a, b")),
        ("again", house.ask(language, &empty, &missing(book, &["/guests"]), 1)),
        ("and again", house.ask(language, &empty, &missing(book, &["/guests"]), 2)),
        ("needed", house.ask(language, &skipped, &missing(book, &["/bed"]), 1)),
        ("of an item", house.ask(language, &twice, &missing(order, &["/dishes/2/size"]), 0)),
        ("of one of two", house.ask(language, &twice, &missing(order, &["/dishes/1/size"]), 0)),
        ("of an item without a name", house.ask(language, &unnamed, &missing(order, &["/dishes/1/name"]), 0)),
        ("group", house.ask(language, &empty, &missing(book, &["/start", "/end", "/bed"]), 0)),
        ("group of an object", house.ask(language, &empty, &missing(taxi, &["/stay/street", "/stay/city"]), 0)),
        ("no choice", invalid(book, &empty, aside("/bed", ViolationKind::NotAChoice, &json!("water")))),
        ("no whole number", invalid(book, &empty, aside("/guests", ViolationKind::Type, &json!("many")))),
        ("out of range", invalid(book, &empty, aside("/guests", ViolationKind::Range, &json!(12)))),
        ("no date", invalid(book, &empty, aside("/start", ViolationKind::Format, &json!("soon")))),
        ("not valid otherwise", invalid(book, &empty, aside("/extra", ViolationKind::Schema, &json!("x")))),
        ("not valid, in the author's words", invalid(order, &empty, aside("/zip", ViolationKind::Length, &json!("1")))),
        ("not valid and sensitive", invalid(order, &empty, aside("/phone", ViolationKind::Pattern, &json!("secret")))),
        ("not valid in a turn alone", violated("/guests", ViolationKind::Range, &json!(12))),
        ("rule about dates", house.next(language, &room(&stay))),
        ("rule about today", house.next(language, &room(&past))),
        ("rule with a length of time", house.next(language, &room(&long))),
        ("rule in the author's words", house.next(language, &room(&full))),
        ("rule about an item", house.next(language, &many)),
        ("confirm", house.next(language, &food())),
        ("confirm, in the author's words", house.ask(language, &room(&full), &Pending::Confirm { function: book }, 0)),
        ("change", house.ask(language, &empty, &Pending::Change { function: order }, 0)),
        ("tie", worded(&house.module, Some(language), Pending::Tie { functions: vec![order, book] }, &[]).text),
        ("cancelled", voice.cancelled(&[(order, Map::new()), (book, Map::new())])),
        ("hand off", voice.hand_off(order, Map::new())),
        ("greeting", polite(Some(Courtesy::Greeting))),
        ("thanks", polite(Some(Courtesy::Thanks))),
        ("farewell", polite(Some(Courtesy::Farewell))),
        ("acknowledgement", polite(Some(Courtesy::Acknowledgement))),
        ("out of scope", polite(None)),
        ("nothing to cancel", voice.remark(&nothing_open, "", 1)),
        ("a text came back", voice.results(&[result("Two tables are free.\nBoth are outside.")])),
        ("JSON came back", voice.results(&[result(&came_back.to_string())])),
        ("nothing came back", voice.results(&[result("null")])),
        ("failed", voice.results(&[result("Error: the kitchen is closed")])),
        ("failed without a reason", voice.results(&[result("{\"success\": false}")])),
        ("restarted", voice.restarted()),
        ("the request came again", voice.not_done()),
        ("not understood", voice.not_understood(1)),
        ("not understood again", voice.not_understood(2)),
        ("not understood once more", voice.not_understood(3)),
        ("a person is offered", voice.words.offer().to_owned()),
        ("a person takes over who was asked for", voice.hand_over(None, Map::new())),
        ("waiting", polite(Some(Courtesy::Waiting))),
        ("apology", polite(Some(Courtesy::Apology))),
        ("complaint", polite(Some(Courtesy::Complaint))),
        ("help", polite(Some(Courtesy::Help))),
        ("out of scope again", voice.remark(&Moves::default(), "", 2)),
        ("what a value is needed for", explained(&missing(book, &["/guests"]))),
        ("what a yes is needed for", explained(&Pending::Confirm { function: order })),
        ("said before", voice.words.once_again("…")),
        ("summary", voice.summary(&house.validator, &open)),
    ]
}

/// A speaker of the language reads these files; `UPTAKE_BLESS=1` writes them again.
#[test]
fn every_language_says_everything() {
    for language in LANGUAGES {
        let mut table = String::new();
        for (about, text) in spoken_in(language) {
            writeln!(table, "{about}\n    {}", text.replace('\n', "\n    ")).expect("a string");
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/wording/{language}.txt"));
        if std::env::var_os("UPTAKE_BLESS").is_some() {
            fs::create_dir_all(path.parent().expect("a directory")).expect("written");
            fs::write(&path, &table).expect("written");
        }
        assert!(fs::read_to_string(&path).unwrap_or_default() == table, "{} is out of date:\n{table}", path.display());
    }
}

/// No sentence falls back to English.
#[test]
fn languages_do_not_mix() {
    let english = spoken_in("en");
    for language in &LANGUAGES[1..] {
        let same: Vec<&str> = spoken_in(language)
            .into_iter()
            .zip(&english)
            .filter(|(other, english)| other.1 == english.1)
            .map(|(other, _)| other.0)
            .collect();
        // These are in the author's words, which do not exist in this language.
        let allowed = ["one, in the author's words", "confirm, in the author's words", "a text came back"];
        assert!(same.iter().all(|about| allowed.contains(about)), "{language}: {same:?}");
    }
}

/// Replies of the module, replies of a function, and a reply that fails when it is rendered.
const REPLIES: &str = r#"
language = "en"
[replies]
greeting = { en = "Welcome to Ramen House.", de = "Willkommen im Ramen House." }
out_of_scope = "{{ summary | round }}"
done = "{{ function }}: {{ told }}"
cancelled = "Dropped: {{ function }}, {{ slots.city }}."
[functions.order_food]
result = ["order.id", "eta", "none"]
[functions.order_food.replies]
failed = "The kitchen says: {{ told }}"
handed_off = "Ann takes over {{ slots.city }}."
[functions.book_room.replies]
done = { en = "Room {{ result.room }} is yours, {{ slots.guests }} guests.", de = "Zimmer {{ result.room }}." }
"#;

#[test]
fn an_author_words_what_is_said_where_nothing_is_asked() {
    let module = loaded(REPLIES);
    let [food, room] = ["order_food", "book_room"].map(|name| module.function_named(name).expect("a function"));
    let say = |language: &'static str| Voice::new(&module, Some(language));
    let greeting = Moves { courtesy: Some(Courtesy::Greeting), ..Moves::default() };
    assert_eq!(say("de").remark(&greeting, "", 1), "Willkommen im Ramen House.");
    assert_eq!(say("ja").remark(&greeting, "", 1), "Welcome to Ramen House.");
    assert!(say("en").remark(&Moves::default(), "", 1).starts_with("I'm sorry"), "a template that fails says nothing");
    let slots: Map<String, Value> =
        [("city".to_owned(), json!("Bern")), ("guests".to_owned(), json!(2))].into_iter().collect();
    let result = |function: &str, text: &Value| CallResult {
        function: Some(function.into()),
        arguments: slots.clone(),
        text: text.to_string(),
    };
    let order = json!({"order": {"id": 7, "rows": [1, 2, 3]}, "eta": "18:30:00", "secret": "x"});
    assert_eq!(say("en").results(&[result("order_food", &order)]), "Order food: Id 7, eta 18:30");
    assert_eq!(say("en").results(&[result("order_food", &json!({"error": "closed"}))]), "The kitchen says: closed");
    let booked = [result("book_room", &json!({"room": 12}))];
    assert_eq!(say("en").results(&booked), "Room 12 is yours, 2 guests.");
    assert_eq!(say("de").results(&booked), "Zimmer 12.");
    assert_eq!(say("en").cancelled(&[(food, slots.clone())]), "Dropped: Order food, Bern.");
    assert_eq!(say("en").hand_off(food, slots.clone()), "Ann takes over Bern.");
    assert!(say("en").hand_off(room, slots).starts_with("I'm sorry"));
}

#[test]
fn a_large_result_is_one_short_line() {
    let module = loaded("language = \"en\"\n");
    let voice = Voice::new(&module, None);
    let row = json!({"id": 1, "name": "a row", "inner": {"deep": {"deeper": ["x", "y"]}}});
    let large = json!({"rows": vec![row.clone(); 500], "page": 1, "inner": {"deep": {"deeper": "z"}}});
    for value in [large, json!(vec![row; 500])] {
        let text = CallResult { text: value.to_string(), ..CallResult::default() };
        let told = voice.results(&[text]);
        assert!(told.chars().count() <= 601 && !told.contains('{') && told.contains("a row"), "{told}");
    }
}

#[test]
fn the_language_is_the_wanted_one_then_the_modules() {
    let german = loaded("language = \"de-AT\"\n");
    let not_understood = |wanted: Option<&str>| Voice::new(&german, wanted).not_understood(1);
    let of = |language: &str| Voice::new(&german, Some(language)).not_understood(1);
    assert_eq!(not_understood(None), of("de"));
    assert_eq!(not_understood(Some("FR-ca")), of("fr"));
    // This language is not supported.
    assert_eq!(not_understood(Some("tlh")), of("de"));
    assert_eq!(Voice::new(&loaded("language = \"tlh\"\n"), None).not_understood(1), of("en"));
}

/// Names are English and descriptions are not: a question must not mix the languages.
#[test]
fn short_descriptions_are_names_in_other_languages() {
    for (language, function, slots, question, confirmation) in [
        (
            "de",
            "Schuhe bestellen.",
            ["Schuhgröße", "Farbe"],
            "Was soll ich für „Schuhgröße“ eintragen?",
            "Ich würde Schuhe bestellen: Schuhgröße 42, Farbe rot. Soll ich das machen?",
        ),
        (
            "ja",
            "靴を注文する。",
            ["サイズ", "色"],
            "「サイズ」を教えてください。",
            "「靴を注文する」の内容は、サイズ：42、色：redです。こちらでよろしいですか。",
        ),
    ] {
        let parameters = json!({"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "description": slots[0]}, "color": {"type": "string", "description": slots[1]}}});
        let functions = [json!({"name": "order_shoes", "description": function, "parameters": parameters})];
        let name = ModuleName::new("test").expect("a good name");
        let mut module = crate::module::ad_hoc(name, &functions, None, None, &Limits::default()).expect("it loads");
        module.settings.language = Some(language.to_owned());
        let validator = Validator::compile(&module).expect("compiles");
        let color = if language == "de" { "rot" } else { "red" };
        let form = filled("order_shoes", &[("/size", json!(42)), ("/color", json!(color))]);
        let id = FunctionId::from_index(0);
        let missing = Pending::Missing { function: id, pointers: vec!["/size".to_owned()] };
        let voice = Voice::new(&module, None);
        assert_eq!(voice.question(&validator, &form, missing, 0).text, question);
        assert_eq!(voice.question(&validator, &form, Pending::Confirm { function: id }, 0).text, confirmation);
        // In English, the names are the better words.
        let english = Voice::new(&module, Some("en")).question(&validator, &form, Pending::Confirm { function: id }, 0);
        assert!(english.text.contains("size 42, color"), "{}", english.text);
    }
}

#[test]
fn clauses_without_values_drop_out() {
    let house = House::new();
    let pending = Pending::Confirm { function: house.id("book_room") };
    let said = |values: &[(&str, Value)]| house.ask("en", &room(values), &pending, 0);
    let (start, end) = (("/start", json!("2026-04-09")), ("/end", json!("2026-04-10")));
    let (guests, extra) = (("/guests", json!(2)), ("/extra", json!("a view")));
    assert_eq!(
        said(&[start.clone(), end.clone(), guests.clone(), extra]),
        "A room from 2026-04-09 to 2026-04-10, for 2 guests, with a view?"
    );
    assert_eq!(said(&[start.clone(), end.clone(), guests]), "A room from 2026-04-09 to 2026-04-10, for 2 guests?");
    assert_eq!(said(&[start.clone(), end]), "A room from 2026-04-09 to 2026-04-10?");
    assert_eq!(said(&[start]), "A room from 2026-04-09 to?");
}

#[test]
fn what_is_sensitive_is_masked() {
    let house = House::new();
    let confirmation = house.next("en", &food());
    assert!(confirmation.contains("phone ••••5678") && !confirmation.contains("1234"), "{confirmation}");
    let mut state = State::new(&house.module.name);
    state.forms.push(food());
    let summary = Voice::new(&house.module, None).summary(&house.validator, &state);
    assert!(summary.contains("phone (given)") && !summary.contains("5678"), "{summary}");
    let mut bad = food();
    bad.aside.push(aside("/phone", ViolationKind::Pattern, &json!("12-secret")));
    state.forms = vec![bad.clone()];
    let said = [house.next("en", &bad), Voice::new(&house.module, None).summary(&house.validator, &state)];
    assert!(said.iter().all(|text| !text.contains("secret")), "{said:?}");
}

#[test]
fn a_summary_tells_what_is_left() {
    let house = House::new();
    let summary = |form: Form| {
        let mut state = State::new(&house.module.name);
        state.forms.push(form);
        Voice::new(&house.module, None).summary(&house.validator, &state)
    };
    assert!(summary(food()).ends_with("- complete, to be confirmed"));
    let given = Form { confirmation: Confirmation::Given, ..food() };
    assert!(!summary(given).contains("confirmed"));
    let missing = summary(without(food(), &["/dishes/1/size"]));
    assert!(missing.contains("- missing: size (cola)") && !missing.contains("confirmed"), "{missing}");
    let long = summary(filled("order_food", &[("/city", json!("x\n- known: y".repeat(90)))]));
    assert!(long.lines().count() == 3 && long.chars().count() < 300, "{long}");
    let empty = State::new(&house.module.name);
    assert_eq!(Voice::new(&house.module, None).summary(&house.validator, &empty), "");
}

#[test]
fn what_is_missing_is_asked_for_in_the_order_of_the_schema() {
    let module = fixture::module();
    let lacking = |path: &str| Violation {
        kind: ViolationKind::Missing,
        path: path.into(),
        found: None,
        expected: "text".into(),
        readings: Vec::new(),
    };
    let found = [lacking("/elsewhere"), lacking("/dishes/0/name"), lacking("/location")];
    let paths: Vec<String> =
        crate::decide::outcome::missing(&module.functions[0], found.iter()).iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["location", "dishes[].name", "elsewhere"]);
}

#[test]
fn pointers_and_paths_meet() {
    assert_eq!(SlotPath::of_pointer("/dishes/1/name").to_string(), "dishes[].name");
    assert_eq!(SlotPath::of_pointer("").to_string(), "");
}

#[test]
fn a_question_is_a_plain_sentence() {
    let module = |description: &str, name: &str| {
        let function = json!({"name": "send_mail", "description": "**Sends** a [mail](https://example.com). More.",
            "parameters": {"type": "object", "properties": {name: {"type": "string", "description": description}}}});
        let name = ModuleName::new("mail").expect("a name");
        ad_hoc(name, &[function], None, None, &Limits::default()).expect("it loads")
    };
    let question = |description: &str, name: &str| {
        let module = module(description, name);
        let pointers = vec![module.functions[0].slots[0].path.pointer()];
        let about = Pending::Missing { function: FunctionId::from_index(0), pointers };
        worded(&module, None, about, &[]).text
    };
    for (description, name, expected) in [
        (
            "The **subject** of the `mail`. Use at most 80 characters!\n\n- no emoji",
            "subject",
            "What is the subject of the mail?",
        ),
        ("", "to", "What should I put for \"to\" (send a mail)?"),
        ("Who gets it", "to", "Please tell me who gets it."),
        ("The address", "to", "What is the address?"),
        ("Address of the recipient.", "to", "What should I put for \"to\"? Address of the recipient."),
        ("subject", "subject", "What is the subject?"),
        ("", "q", "What should I put for \"q\" (send a mail)?"),
    ] {
        assert_eq!(question(description, name), expected);
    }
}

/// A module of one function, described by its own texts.
fn of_one(function: &Value, language: &str) -> Module {
    let name = ModuleName::new("one").expect("a name");
    let mut module = ad_hoc(name, std::slice::from_ref(function), None, None, &Limits::default()).expect("it loads");
    module.settings.language = Some(language.to_owned());
    module
}

#[test]
fn what_will_be_done_is_a_sentence() {
    let parameters = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let ask = |language: &str, name: &str, description: &str, value: Option<&str>| {
        let function = json!({"name": name, "description": description, "parameters": parameters});
        let module = of_one(&function, language);
        let arguments = value.map(|value| ("name".to_owned(), json!(value))).into_iter().collect();
        Voice::new(&module, None).confirmation(FunctionId::from_index(0), &arguments)
    };
    for (language, name, description, value, expected) in [
        (
            "en",
            "unblock_card",
            "Lift the block of a card so that it works again",
            None,
            "Shall I lift the block of a card so that it works again?",
        ),
        ("en", "pay", "Sends money: at once", Some("Ann"), "I would send money: name Ann. Shall I do that?"),
        ("en", "pay", "Money transfer", Some("Ann"), "This is about \"Money transfer\": name Ann. Shall I go ahead?"),
        ("en", "HassLightSet", "", Some("hall"), "This is about \"Hass light set\": name hall. Shall I go ahead?"),
        ("de", "karte", "Die Karte wieder freigeben.", None, "Soll ich die Karte wieder freigeben?"),
        ("de", "karte", "Freigabe der Karte", None, "Es geht um „Freigabe der Karte“. Soll ich das machen?"),
        ("es", "mesa", "Reservar una mesa", Some("Ana"), "Voy a reservar una mesa: name Ana. ¿Es correcto?"),
        ("fr", "table", "Réserver une table", None, "Dois-je réserver une table\u{a0}?"),
        ("ja", "seki", "席を予約する", None, "「席を予約する」でよろしいですか。"),
    ] {
        assert_eq!(ask(language, name, description, value), expected, "{description}");
    }
}

#[test]
fn a_template_with_a_hole_is_not_said() {
    let module = loaded(REPLIES);
    let voice = Voice::new(&module, Some("en"));
    let result =
        |text: &str| CallResult { function: Some("book_room".into()), text: text.into(), ..CallResult::default() };
    assert_eq!(voice.results(&[result("The room is yours.")]), "The room is yours.");
    assert_eq!(voice.results(&[result("{\"number\": 12}")]), "Number 12");
    assert_eq!(voice.results(&[result("[]")]), "Nothing was found.");
}

#[test]
fn results_keep_their_rows() {
    let function = json!({"name": "get_forecast", "description": "Forecast for a city", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}}});
    let module = of_one(&function, "en");
    let voice = Voice::new(&module, None);
    let result = |city: &str, text: &str| CallResult {
        function: Some("get_forecast".into()),
        arguments: [("city".to_owned(), json!(city))].into_iter().collect(),
        text: text.into(),
    };
    for (text, expected) in [
        (
            r#"{"days": [{"date": "2026-11-28", "max": 1, "sky": "snow"}, {"date": "2026-11-29", "max": 0, "sky": "clear"}]}"#,
            "Days 2026-11-28 (max 1, sky snow); 2026-11-29 (max 0, sky clear)",
        ),
        ("{'temp': 21, 'sky': 'clear'}", "Temp 21, sky clear"),
        ("None", "Nothing was found."),
        ("{\"alerts\": []}", "Nothing was found."),
        ("{\"city\": \"Oslo\", \"alerts\": []}", "City Oslo, alerts none"),
        ("{\"ok\": true}", "That is done."),
        ("Tool call execution denied.", "All right, I won't."),
        ("[1, 2]", "1 and 2"),
    ] {
        assert_eq!(voice.results(&[result("Oslo", text)]), expected, "{text}");
    }
    let two = [result("Oslo", "{\"temp\": 1}"), result("Rome", "{\"temp\": 9}")];
    assert_eq!(voice.results(&two), "For Oslo: Temp 1\nFor Rome: Temp 9");
}

#[test]
fn a_long_question_is_asked_by_its_end() {
    let module = loaded(SETTINGS);
    let voice = Voice::new(&module, Some("en"));
    let long = format!("I would order food: {}. Shall I do that?", "pizza and ".repeat(30));
    assert_eq!(voice.shortened(&long, true), "My question is still this: Shall I do that?");
    assert_eq!(voice.shortened(&"pizza and ".repeat(30), true), "I still need an answer to what I have just asked.");
    assert!(!voice.shortened(&long, false).contains("pizza"));
}
