use serde_json::{Value, json};

use super::*;
use crate::call::{assembled, testing};

mod properties;

fn order() -> Function {
    let text = || json!({"type": "string"});
    testing::function(
        "order",
        json!({"type": "object", "required": ["size", "who"], "properties": {
            "who": {"type": "object", "required": ["name"], "properties": {"name": text(), "city": text()}},
            "size": {"type": "number"}, "gift": {"type": "boolean"},
            "colors": {"type": "array", "items": text()},
            "dishes": {"type": "array", "items": {"type": "object", "required": ["quantity", "name"], "properties": {
                "quantity": {"type": "integer"}, "name": text(), "size": text(),
                "extras": {"type": "array", "items": text()}}}}}}),
    )
}

fn filled(pointer: &str, value: Value, turn: u32) -> SlotValue {
    let text = Some(value.to_string());
    let pointer = pointer.to_owned();
    SlotValue {
        pointer,
        value,
        text,
        span: None,
        recognizer: None,
        from: Source::Said,
        turn,
        confidence: 0.9,
        unread: None,
    }
}

fn aside(pointer: &str, found: Value, turn: u32) -> InvalidValue {
    let (kind, expected) = (ViolationKind::Range, "something else".to_owned());
    InvalidValue { pointer: pointer.to_owned(), kind, found: Some(found), expected, readings: Vec::new(), turn }
}

fn arguments(form: &Form) -> Value {
    let known = form.slots.iter().map(|filled| (filled.pointer.as_str(), &filled.value));
    Value::Object(assembled(&order(), known))
}

/// A conversation over one form.
struct Talk {
    function: Function,
    form: Form,
    turn: u32,
    declined: Vec<SlotValue>,
    is_changed: bool,
}

impl Talk {
    fn new() -> Self {
        Self { function: order(), form: Form::new("order", 1), turn: 0, declined: Vec::new(), is_changed: false }
    }

    fn hear(&mut self, mut said: FormUpdate) -> &mut Self {
        self.turn += 1;
        said.turn = self.turn;
        said.values.iter_mut().chain(&mut said.excluded).for_each(|filled| filled.turn = self.turn);
        let Merged { form, is_changed, declined } = merged(&self.function, &self.form, &said);
        (self.form, self.is_changed, self.declined) = (form, is_changed, declined);
        self
    }

    fn say(&mut self, values: &[(&str, Value)]) -> &mut Self {
        self.hear(values_of(values))
    }

    fn correct(&mut self, values: &[(&str, Value)]) -> &mut Self {
        self.hear(FormUpdate { manner: UpdateMode::Correct, ..values_of(values) })
    }

    fn add(&mut self, values: &[(&str, Value)]) -> &mut Self {
        self.hear(FormUpdate { manner: UpdateMode::Add, ..values_of(values) })
    }

    fn answer(&mut self, asked: &str, values: &[(&str, Value)]) -> &mut Self {
        self.hear(FormUpdate { asked: vec![asked.to_owned()], ..values_of(values) })
    }

    fn remove(&mut self, removal: Removal) -> &mut Self {
        self.hear(FormUpdate { removed: vec![removal], ..FormUpdate::default() })
    }

    fn rule_out(&mut self, pointer: &str, value: Value) -> &mut Self {
        self.hear(FormUpdate { excluded: vec![filled(pointer, value, 0)], ..FormUpdate::default() })
    }

    fn mistake(&mut self, manner: UpdateMode, pointer: &str, found: Value) -> &mut Self {
        let invalid = vec![aside(pointer, found, self.turn + 1)];
        self.hear(FormUpdate { invalid, manner, ..FormUpdate::default() })
    }

    #[track_caller]
    fn has(&mut self, expected: &Value) -> &mut Self {
        assert_eq!(arguments(&self.form), *expected);
        self
    }

    fn asides(&self) -> Vec<&str> {
        self.form.aside.iter().map(|aside| aside.pointer.as_str()).collect()
    }

    fn ruled_out(&self) -> Vec<(&str, &Value)> {
        self.form.excluded.iter().map(|filled| (filled.pointer.as_str(), &filled.value)).collect()
    }
}

fn values_of(values: &[(&str, Value)]) -> FormUpdate {
    let values = values.iter().map(|(pointer, value)| filled(pointer, value.clone(), 0)).collect();
    FormUpdate { values, ..FormUpdate::default() }
}

/// The names and sizes of the dishes, in words.
fn dishes(talk: &Talk) -> String {
    let arguments = arguments(&talk.form);
    let dish = |dish: &Value| {
        let words = [&dish["quantity"], &dish["size"], &dish["name"]];
        let extras = dish["extras"].as_array().into_iter().flatten();
        let words: Vec<String> = words.into_iter().chain(extras).filter(|value| !value.is_null()).map(word).collect();
        words.join(" ")
    };
    arguments["dishes"].as_array().into_iter().flatten().map(dish).collect::<Vec<_>>().join(", ")
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pizza_and_coke() -> Talk {
    let mut talk = Talk::new();
    talk.say(&[
        ("/dishes/0/name", json!("pizza")),
        ("/dishes/0/quantity", json!(2)),
        ("/dishes/1/name", json!("coke")),
    ]);
    assert_eq!(dishes(&talk), "2 pizza, coke");
    talk
}

#[test]
fn values_fill_and_corrections_replace() {
    let mut talk = Talk::new();
    talk.say(&[("/who/name", json!("Jane")), ("/size", json!(8))]);
    talk.has(&json!({"size": 8, "who": {"name": "Jane"}}));
    assert!(talk.is_changed);
    talk.correct(&[("/size", json!(9))]).has(&json!({"size": 9, "who": {"name": "Jane"}}));
    talk.say(&[("/size", json!(10)), ("/who/city", json!("Rome"))]);
    talk.has(&json!({"size": 10, "who": {"name": "Jane", "city": "Rome"}}));
    assert_eq!(talk.form.at("/size").map(|size| size.turn), Some(3));
}

#[test]
fn silence_changes_nothing() {
    let mut talk = pizza_and_coke();
    let before = talk.form.clone();
    talk.say(&[]);
    talk.correct(&[("/dishes/0/name", json!("")), ("/size", Value::Null), ("/dishes", json!([]))]);
    assert_eq!((talk.form.clone(), talk.is_changed), (before, false));
}

#[test]
fn an_ambiguous_value_does_not_overwrite_a_certain_one() {
    let maybe = |value: Value, confidence: f32| FormUpdate {
        values: vec![SlotValue { confidence, ..filled("/size", value, 0) }],
        ..FormUpdate::default()
    };
    let mut talk = Talk::new();
    talk.say(&[("/size", json!(8))]).hear(maybe(json!(9), 0.5)).has(&json!({"size": 8}));
    assert_eq!(talk.declined.iter().map(|value| &value.value).collect::<Vec<_>>(), [&json!(9)]);
    talk.hear(FormUpdate { asked: vec!["/size".to_owned()], ..maybe(json!(9), 0.5) }).has(&json!({"size": 9}));
    talk.hear(FormUpdate { manner: UpdateMode::Correct, ..maybe(json!(10), 0.5) }).has(&json!({"size": 10}));
    assert!(talk.declined.is_empty());
    talk.hear(maybe(json!(11), 0.4)).has(&json!({"size": 10}));
    talk.hear(maybe(json!(12), 0.55)).has(&json!({"size": 12}));
}

#[test]
fn what_nobody_said_fills_gaps_only() {
    let from = |from: Source, value: Value| FormUpdate {
        values: vec![SlotValue { from, ..filled("/size", value, 0) }],
        manner: UpdateMode::Correct,
        ..FormUpdate::default()
    };
    let mut talk = Talk::new();
    talk.hear(from(Source::Default, json!(7))).hear(from(Source::Carried, json!(8))).has(&json!({"size": 8}));
    talk.say(&[("/size", json!(9))]);
    talk.hear(from(Source::Default, json!(7))).hear(from(Source::Carried, json!(8))).has(&json!({"size": 9}));
    assert!(talk.declined.is_empty() && !talk.is_changed);
    let mut choice = from(Source::Choice, json!(10));
    choice.manner = UpdateMode::Fill;
    talk.hear(choice).has(&json!({"size": 9}));
    assert_eq!(talk.declined.len(), 1);
    talk.hear(from(Source::Choice, json!(10))).has(&json!({"size": 10}));
}

#[test]
fn a_value_belongs_to_the_item_that_it_names_or_that_was_spoken_of() {
    let mut talk = pizza_and_coke();
    talk.say(&[("/dishes/0/name", json!("coke")), ("/dishes/0/size", json!("large"))]);
    assert_eq!(dishes(&talk), "2 pizza, large coke");
    talk.say(&[("/dishes/0/quantity", json!(3))]);
    assert_eq!(dishes(&talk), "2 pizza, 3 large coke", "the one that was spoken of last");
    talk.answer("/dishes/0/size", &[("/dishes/0/size", json!("small"))]);
    assert_eq!(dishes(&talk), "2 small pizza, 3 large coke", "the one that was asked about");
    talk.say(&[("/dishes/0/name", json!("burger")), ("/dishes/0/extras/0", json!("cheese"))]);
    assert_eq!(dishes(&talk), "2 small pizza, 3 large coke, burger cheese");
    talk.say(&[("/dishes/0/extras/0", json!("bacon")), ("/dishes/0/extras/1", json!("cheese"))]);
    assert_eq!(dishes(&talk), "2 small pizza, 3 large coke, burger cheese bacon");
}

#[test]
fn it_is_not_guessed_which_of_several_items_is_meant() {
    let mut talk = pizza_and_coke();
    talk.say(&[("/dishes/0/size", json!("large"))]);
    assert_eq!((dishes(&talk).as_str(), talk.is_changed), ("2 pizza, coke", false));
    assert_eq!(talk.declined.len(), 1);
    talk.correct(&[("/dishes/0/quantity", json!(3))]);
    assert_eq!(dishes(&talk), "3 pizza, coke", "only one has a quantity to be corrected");
}

#[test]
fn names_are_corrected_or_added() {
    let mut talk = Talk::new();
    talk.say(&[("/dishes/0/name", json!("pizza")), ("/dishes/0/size", json!("large"))]);
    talk.correct(&[("/dishes/0/name", json!("burger"))]);
    assert_eq!(dishes(&talk), "large burger");
    talk.add(&[("/dishes/0/name", json!("burger")), ("/dishes/0/size", json!("small"))]);
    assert_eq!(dishes(&talk), "large burger, small burger");
    talk.say(&[
        ("/dishes/0/name", json!("burger")),
        ("/dishes/0/size", json!("small")),
        ("/dishes/0/quantity", json!(2)),
    ]);
    assert_eq!(dishes(&talk), "large burger, 2 small burger", "the one that differs least");
    talk.add(&[("/dishes/0/size", json!("huge"))]);
    assert_eq!(dishes(&talk), "large burger, 2 small burger, huge");
    talk.say(&[("/dishes/0/name", json!("coke"))]);
    assert_eq!(dishes(&talk), "large burger, 2 small burger, huge coke", "the one without a name");
    talk.add(&[("/dishes/0/extras/0", json!("ice"))]);
    assert_eq!(dishes(&talk), "large burger, 2 small burger, huge coke ice");
}

#[test]
fn a_new_item_that_was_asked_for_is_new() {
    let mut talk = pizza_and_coke();
    talk.answer("/dishes/-/name", &[("/dishes/0/name", json!("burger"))]);
    talk.answer("/dishes/2/quantity", &[("/dishes/0/quantity", json!(4))]);
    assert_eq!(dishes(&talk), "2 pizza, coke, 4 burger");
    talk.answer("/dishes/2/name", &[("/dishes/0/name", json!("bagel"))]);
    assert_eq!(dishes(&talk), "2 pizza, coke, 4 bagel");
    talk.answer("/dishes/2/size", &[("/dishes/0/name", json!("coke")), ("/dishes/0/size", json!("large"))]);
    assert_eq!(dishes(&talk), "2 pizza, large coke, 4 bagel", "another one was named");
}

#[test]
fn a_portion_of_an_item_becomes_an_item() {
    let one_large = |portion| FormUpdate {
        portion: Some(portion),
        ..values_of(&[("/dishes/0/quantity", json!(portion)), ("/dishes/0/size", json!("large"))])
    };
    let mut talk = Talk::new();
    talk.say(&[
        ("/dishes/0/name", json!("pizza")),
        ("/dishes/0/quantity", json!(3)),
        ("/dishes/0/extras/0", json!("cheese")),
    ]);
    talk.hear(one_large(1));
    assert_eq!(dishes(&talk), "2 pizza cheese, 1 large pizza cheese");
    talk.hear(one_large(1));
    assert_eq!(dishes(&talk), "2 pizza cheese, 1 large pizza cheese", "said again");
    let mut talk = Talk::new();
    talk.say(&[
        ("/dishes/0/name", json!("pizza")),
        ("/dishes/0/quantity", json!(2)),
        ("/dishes/0/size", json!("small")),
    ]);
    talk.hear(one_large(2));
    assert_eq!(dishes(&talk), "2 large pizza", "all of them");
    talk.hear(one_large(0));
    assert_eq!((dishes(&talk).as_str(), talk.declined.len()), ("2 large pizza", 1), "none of them");
    let mut talk = Talk::new();
    talk.say(&[("/dishes/0/name", json!("pizza"))]).hear(one_large(1));
    assert_eq!(dishes(&talk), "large pizza", "nobody said how many there are");
}

#[test]
fn removing_closes_the_gap() {
    let mut talk = pizza_and_coke();
    talk.mistake(UpdateMode::Fill, "/dishes/0/size", json!("gigantic"));
    assert_eq!(talk.asides(), Vec::<&str>::new(), "of which dish is not clear");
    talk.hear(FormUpdate {
        asked: vec!["/dishes/1/size".to_owned()],
        invalid: vec![aside("/dishes/0/size", json!("gigantic"), 3)],
        ..FormUpdate::default()
    });
    talk.rule_out("/dishes/0/extras/0", json!("ice"));
    assert_eq!(talk.asides(), ["/dishes/1/size"]);
    talk.say(&[("/dishes/0/name", json!("coke")), ("/dishes/0/quantity", json!(1))]);
    talk.rule_out("/dishes/0/extras/0", json!("lemon"));
    assert_eq!(talk.ruled_out(), [("/dishes/-/extras/-", &json!("ice")), ("/dishes/1/extras/-", &json!("lemon"))]);
    let removed = vec![Removal::Place("/dishes/0".to_owned())];
    let asked = vec!["/dishes/1/size".to_owned()];
    talk.hear(FormUpdate { removed, asked, ..values_of(&[("/dishes/0/extras/0", json!("straw"))]) });
    assert_eq!(dishes(&talk), "1 coke straw");
    assert_eq!(talk.asides(), ["/dishes/0/size"]);
    assert_eq!(talk.ruled_out()[1].0, "/dishes/0/extras/-");
    talk.remove(Removal::Place(String::new()));
    assert_eq!((talk.form.slots.len(), talk.form.aside.len(), talk.form.excluded.len()), (0, 0, 0));
}

#[test]
fn several_places_are_removed_as_they_are_numbered_before() {
    let mut talk = Talk::new();
    talk.say(&[("/colors/0", json!("red")), ("/colors/1", json!("blue")), ("/colors/2", json!("green"))]);
    let removed = ["/colors/0", "/colors/1", "/colors/7", "no pointer"];
    talk.hear(FormUpdate {
        removed: removed.map(|place| Removal::Place(place.to_owned())).to_vec(),
        ..FormUpdate::default()
    });
    talk.has(&json!({"colors": ["green"]}));
}

#[test]
fn an_item_goes_with_the_value_that_names_it() {
    let value = |path: &str, value: Value| Removal::Value { path: path.to_owned(), value };
    let mut talk = pizza_and_coke();
    talk.remove(value("dishes[].quantity", json!(2.0)));
    assert_eq!(dishes(&talk), "pizza, coke");
    talk.remove(value("dishes[].name", json!("pizza")));
    assert_eq!(dishes(&talk), "coke");
    talk.say(&[("/colors/0", json!("red")), ("/colors/1", json!("blue"))]).remove(value("colors[]", json!("red")));
    talk.has(&json!({"colors": ["blue"], "dishes": [{"name": "coke"}]}));
    assert!(talk.is_changed);
    talk.remove(value("colors[]", json!("red")));
    assert!(!talk.is_changed);
}

#[test]
fn what_is_ruled_out_goes_until_it_is_said_again() {
    let mut talk = pizza_and_coke();
    talk.rule_out("/dishes/0/name", json!("coke"));
    assert_eq!((dishes(&talk).as_str(), talk.ruled_out()), ("2 pizza", vec![("/dishes/-/name", &json!("coke"))]));
    talk.rule_out("/dishes/0/name", json!("coke"));
    assert_eq!((talk.form.excluded.len(), talk.is_changed), (1, false));
    talk.say(&[("/dishes/0/name", json!("coke"))]);
    assert_eq!((dishes(&talk).as_str(), talk.form.excluded.len()), ("2 pizza, coke", 0));
    talk.say(&[("/size", json!(9))]).rule_out("/size", json!(9));
    assert_eq!((talk.form.at("/size"), talk.form.excluded.len()), (None, 1));
    let default = SlotValue { from: Source::Default, ..filled("/size", json!(9), 0) };
    talk.hear(FormUpdate { values: vec![default], ..FormUpdate::default() });
    assert_eq!(talk.form.at("/size"), None, "a default does not bring back what was ruled out");
}

#[test]
fn lists_get_what_they_do_not_have() {
    let mut talk = Talk::new();
    talk.say(&[("/colors/0", json!("red"))]).correct(&[("/colors/0", json!("blue"))]);
    talk.has(&json!({"colors": ["blue"]}));
    talk.say(&[("/colors/0", json!("blue")), ("/colors/1", json!("red")), ("/colors/2", json!("red"))]);
    talk.has(&json!({"colors": ["blue", "red"]}));
    talk.answer("/colors/0", &[("/colors/0", json!("green"))]).has(&json!({"colors": ["green", "red"]}));
    talk.correct(&[("/colors/0", json!("pink"))]).has(&json!({"colors": ["green", "red", "pink"]}));
}

#[test]
fn what_is_not_valid_waits_aside_for_a_valid_value() {
    let mut talk = Talk::new();
    talk.say(&[("/size", json!(9))]).mistake(UpdateMode::Fill, "/size", json!(99));
    assert_eq!((talk.asides(), talk.is_changed), (vec!["/size"], false));
    talk.mistake(UpdateMode::Fill, "/size", json!(98)).has(&json!({"size": 9}));
    assert_eq!(talk.form.aside[0].found, Some(json!(98)));
    talk.answer("/size", &[("/size", json!(10))]).has(&json!({"size": 10}));
    assert_eq!(talk.asides(), Vec::<&str>::new());
    talk.mistake(UpdateMode::Correct, "/size", json!(99)).has(&json!({}));
    assert_eq!((talk.asides(), talk.is_changed), (vec!["/size"], true));
}

#[test]
fn an_item_whose_name_is_not_valid_is_named_later() {
    let mut talk = Talk::new();
    let splurge = |place: &str| aside(place, json!("splurge"), 1);
    talk.hear(FormUpdate {
        invalid: vec![splurge("/dishes/0/name")],
        ..values_of(&[("/dishes/0/quantity", json!(2))])
    });
    assert_eq!((dishes(&talk).as_str(), talk.asides()), ("2", vec!["/dishes/0/name"]));
    talk.answer("/dishes/0/name", &[("/dishes/0/name", json!("pizza"))]);
    assert_eq!((dishes(&talk).as_str(), talk.asides()), ("2 pizza", vec![]));
    talk.hear(FormUpdate {
        invalid: vec![splurge("/dishes/1/name")],
        ..values_of(&[("/dishes/0/name", json!("coke"))])
    });
    assert_eq!((dishes(&talk).as_str(), talk.asides()), ("2 pizza, coke", vec!["/dishes/-/name"]));
    talk.answer("/dishes/-/name", &[("/dishes/0/name", json!("bagel"))]);
    assert_eq!((dishes(&talk).as_str(), talk.asides()), ("2 pizza, coke, bagel", vec![]));
    talk.mistake(UpdateMode::Fill, "/colors/0", json!("blurple")).mistake(UpdateMode::Fill, "/colors/0", json!("grue"));
    assert_eq!(talk.asides(), ["/colors/-", "/colors/-"]);
    talk.add(&[("/colors/0", json!("red"))]);
    assert_eq!(talk.asides().len(), 2, "beside the others");
    talk.say(&[("/colors/0", json!("blue"))]);
    assert_eq!(talk.asides(), Vec::<&str>::new());
}

#[test]
fn a_change_opens_what_was_confirmed_and_a_value_what_was_skipped() {
    let mut talk = Talk::new();
    talk.say(&[("/size", json!(9))]);
    talk.form.confirmation = Confirmation::Given;
    talk.form.skipped = vec!["who.city".to_owned(), "dishes[].size".to_owned()];
    talk.say(&[("/size", json!(9))]);
    assert_eq!((talk.is_changed, talk.form.confirmation), (false, Confirmation::Given));
    talk.say(&[("/who/city", json!("Rome"))]);
    assert_eq!((talk.is_changed, talk.form.confirmation), (true, Confirmation::Open));
    assert_eq!(talk.form.skipped, ["dishes[].size"]);
}
