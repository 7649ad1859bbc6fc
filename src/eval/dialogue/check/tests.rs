//! Expectations compared with hand-made turns.

use std::collections::BTreeMap;

use serde_json::json;

use super::{super::read, *};
use crate::{
    call::{Call, SlotValue, Source, Validator, ViolationKind},
    conversation::{InvalidValue, rules::Broken},
    eval::{CaseLocation, testing},
    llm::Usage,
    module::{ModuleName, Settings},
    text::Span,
    understand::{DecidedBy, Frame, Trace},
};

fn module() -> Module {
    Module {
        name: ModuleName::new("shop").unwrap(),
        version: "v1".to_owned(),
        functions: vec![
            testing::function(
                "order",
                &["dishes[].name", "dishes[].size", "dishes[].extras[]", "person.phone", "city"],
            ),
            testing::function("cancel", &["number"]),
        ],
        recognizers: Vec::new(),
        settings: Settings::default(),
        prompts: BTreeMap::new(),
        warnings: Vec::new(),
    }
}

fn id(index: usize) -> FunctionId {
    FunctionId::from_index(index)
}

fn call(module: &Module, function: usize, known: &[(&str, Value)]) -> Call {
    let known = known.iter().map(|(pointer, value)| (*pointer, value));
    let validator = Validator::compile(module).unwrap();
    validator.complete(module.function(id(function)), id(function), known).call.expect("no schema forbids it")
}

fn filled(pointer: &str, value: Value) -> SlotValue {
    SlotValue {
        pointer: pointer.to_owned(),
        text: Some(value.to_string()),
        value,
        span: None,
        recognizer: None,
        from: Source::Said,
        turn: 1,
        confidence: 1.0,
        unread: None,
    }
}

/// A state with these values of an order.
fn ordering(values: &[(&str, Value)]) -> State {
    let mut state = State::new(&ModuleName::new("shop").unwrap());
    state.turn = 2;
    let slots = values.iter().map(|(pointer, value)| filled(pointer, value.clone())).collect();
    state.forms = vec![Form { slots, ..Form::new("order", 1) }];
    state
}

/// A turn whose frames are the forms of the state.
fn turn(module: &Module, state: &State, outcome: Outcome, pending: Option<Question>) -> Turn {
    let frame = |form: &Form| Frame {
        function: module.function_named(&form.function).unwrap(),
        confidence: 0.9,
        segment: Span::new(0, 1),
        slots: form.slots.iter().map(|filled| filled.known_in(state.turn)).collect(),
        excluded: Vec::new(),
        missing: Vec::new(),
        invalid: Vec::new(),
    };
    Turn {
        outcome,
        confidence: 0.9,
        decided_by: DecidedBy::Local,
        frames: state.forms.iter().map(frame).collect(),
        trace: Trace::default(),
        usage: Usage::default(),
        pending,
        remark: None,
        is_answered: false,
        deeds: Vec::new(),
    }
}

fn question(text: &str, about: Pending) -> Question {
    Question { text: text.to_owned(), about }
}

/// The differences in words.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "read as `json!` makes it")]
fn found(module: &Module, turn: &Turn, state: &State, expect: Value) -> Vec<String> {
    let Value::Object(members) = json!({"turns": [{"user": "x", "expect": expect}]}) else { unreachable!() };
    let dialogue = read::dialogue(CaseLocation { file: "d".into(), line: 1 }, members).unwrap();
    let expect = &dialogue.turns[0].expect;
    assert_eq!(unknown(module, expect), (Vec::new(), Vec::new()));
    differences(expect, CheckedTurn { module, turn, state }).iter().map(ToString::to_string).collect()
}

const RIGHT: [String; 0] = [];

#[test]
fn a_question_is_checked_by_what_it_asks_for() {
    let module = module();
    let state = ordering(&[("/dishes/0/name", json!("pizza")), ("/dishes/1/name", json!("soup"))]);
    let pointers = vec!["/dishes/1/size".to_owned()];
    let about = Pending::Missing { function: id(0), pointers };
    let turn = turn(&module, &state, Outcome::Ask(question("How large is the soup?", about)), None);
    let found = |expect| found(&module, &turn, &state, expect);
    assert_eq!(
        found(json!({"outcome": "ask", "function": "Order", "about": "missing", "slot": "dishes[1].size",
            "question": "how LARGE", "arguments": {"dishes": [{"name": "soup"}]}})),
        RIGHT
    );
    assert_eq!(found(json!({"slot": "dishes[].size"})), RIGHT);
    assert_eq!(found(json!({"slot": "size"})), RIGHT);
    assert_eq!(found(json!({"slot": ["size"]})), RIGHT);
    assert_eq!(found(json!({"slot": "dishes[0].size"})), ["slot: dishes[1].size instead of dishes[0].size"]);
    assert_eq!(found(json!({"slot": ["size", "city"]})), ["slot: dishes[1].size instead of size, city"]);
    assert_eq!(found(json!({"outcome": "call"})), ["outcome: ask instead of call"]);
    assert_eq!(found(json!({"function": "cancel"})), ["function: order instead of cancel"]);
    assert_eq!(found(json!({"about": "invalid"})), ["about: missing instead of invalid"]);
    assert_eq!(found(json!({"question": "where"})), ["question: \"How large is the soup?\" instead of \"where\""]);
    assert_eq!(
        found(json!({"pending": "city"})),
        ["pending: nothing instead of a question", "pending slot: nothing instead of city"]
    );
    assert_eq!(found(json!({"arguments": {"city": "Rome"}})), ["arguments: city: nothing instead of Rome"]);
    assert_eq!(found(json!({"absent": ["dishes[0].size", "city", "person", "phone"]})), RIGHT);
    assert_eq!(found(json!({"absent": ["dishes[1]"]})), ["absent: dishes[1].name: soup instead of nothing"]);
    assert_eq!(found(json!({"absent": ["dishes"]})).len(), 2);
}

#[test]
fn several_slots_may_be_asked_for_at_once() {
    let module = module();
    let state = ordering(&[]);
    let slots = ["/city", "/person/phone"].map(SlotPath::of_pointer).to_vec();
    let pointers = slots.iter().map(SlotPath::pointer).collect();
    let group = question("?", Pending::Missing { function: id(0), pointers });
    let turn_of = |question: Question| turn(&module, &state, Outcome::Ask(question), None);
    let found = |turn: &Turn, expect| found(&module, turn, &state, expect);
    let asked = turn_of(group);
    assert_eq!(found(&asked, json!({"about": "group", "slot": "phone"})), RIGHT);
    assert_eq!(found(&asked, json!({"slot": ["phone", "city"]})), RIGHT);
    assert_eq!(found(&asked, json!({"slot": ["phone"]})), ["slot: city, person.phone instead of phone"]);
    let broken = Broken { rule: 0, check: "a < b".into(), slots, pointers: Vec::new() };
    let rule = turn_of(question("?", Pending::Rule { function: id(0), broken }));
    assert_eq!(found(&rule, json!({"about": "rule", "slot": "city"})), RIGHT);
    let aside = InvalidValue {
        pointer: "/person/phone".into(),
        kind: ViolationKind::Format,
        found: None,
        expected: "a telephone number".into(),
        readings: Vec::new(),
        turn: 1,
    };
    let invalid = turn_of(question("?", Pending::Invalid { function: id(0), aside }));
    assert_eq!(found(&invalid, json!({"about": "invalid", "slot": "person.phone"})), RIGHT);
    let tie = turn_of(question("?", Pending::Tie { functions: vec![id(0), id(1)] }));
    assert_eq!(found(&tie, json!({"about": "tie", "functions": ["cancel", "order"]})), RIGHT);
    assert_eq!(found(&tie, json!({"function": "order"})), ["function: order + cancel instead of order"]);
    assert_eq!(found(&tie, json!({"slot": "city"})), ["slot: nothing instead of city"]);
    for (about, name) in
        [(Pending::Confirm { function: id(0) }, "confirm"), (Pending::Change { function: id(0) }, "change")]
    {
        assert_eq!(found(&turn_of(question("?", about)), json!({"about": name})), RIGHT);
    }
}

#[test]
fn a_call_has_what_is_expected_and_nothing_else() {
    let module = module();
    let state = ordering(&[("/city", json!("Rome"))]);
    let pizza = [("/dishes/0/name", json!("pizza")), ("/dishes/0/size", json!("L"))];
    let calls = vec![call(&module, 0, &pizza)];
    let open = question("Which city?", Pending::Missing { function: id(0), pointers: vec!["/city".to_owned()] });
    let turn = turn(&module, &state, Outcome::Call(calls), Some(open));
    let found = |expect| found(&module, &turn, &state, expect);
    let dishes = json!({"dishes": [{"name": "pizza", "size": ["L", "large"]}]});
    assert_eq!(found(json!({"outcome": "call", "function": "order", "arguments": dishes, "pending": "city"})), RIGHT);
    assert_eq!(found(json!({"functions": [{"name": "order", "arguments": dishes}]})), RIGHT);
    assert_eq!(
        found(json!({"arguments": {"dishes": [{"name": "pizza"}]}})),
        ["arguments: dishes[].size: L instead of nothing"]
    );
    assert_eq!(
        found(json!({"functions": [{"name": "order", "arguments": {"city": "Rome"}}]})).len(),
        3,
        "the city is in the form and not in the call, the pizza in the call and not expected"
    );
    // The call is compared, and not the form that is still open.
    assert_eq!(found(json!({"absent": ["city", "dishes[].extras"]})), RIGHT);
    assert_eq!(found(json!({"absent": ["dishes[0]"]})).len(), 2);
    assert_eq!(found(json!({"pending": {"about": "missing", "question": "which"}})), RIGHT);
    assert_eq!(found(json!({"pending": "confirm"})), ["pending about: missing instead of confirm"]);
}

#[test]
fn calls_of_one_turn_are_paired() {
    let module = module();
    let state = ordering(&[]);
    let dish = |name: &str| call(&module, 0, &[("/dishes/0/name", json!(name))]);
    let calls = vec![dish("pizza"), call(&module, 1, &[("/number", json!("7"))]), dish("soup")];
    let turn = turn(&module, &state, Outcome::Call(calls), None);
    let found = |expect| found(&module, &turn, &state, expect);
    let order = |name: &str| json!({"name": "order", "arguments": {"dishes": [{"name": name}]}});
    assert_eq!(found(json!({"functions": [order("soup"), order("pizza"), "cancel"]})), RIGHT);
    assert_eq!(
        found(json!({"functions": [order("soup"), order("pie"), {"name": "cancel"}]})),
        ["arguments: dishes[].name: nothing instead of pie", "arguments: dishes[].name: pizza instead of nothing"]
    );
    assert_eq!(
        found(json!({"functions": ["order", "cancel"]})),
        ["function: order + cancel + order instead of order + cancel"]
    );
}

#[test]
fn ends_without_a_call_have_functions_too() {
    let module = module();
    let mut state = ordering(&[("/city", json!("Rome"))]);
    let turn_of = |outcome| turn(&module, &state, outcome, None);
    let cancelled = turn_of(Outcome::Cancelled { text: "Dropped.".into(), functions: vec![id(1)] });
    let given = json!({"outcome": "cancelled", "function": "cancel", "question": "dropped"});
    assert_eq!(found(&module, &cancelled, &state, given), RIGHT);
    let path = "/person/phone".to_owned();
    let handoff = turn_of(Outcome::Handoff {
        text: "Wait.".into(),
        reason: crate::dialogue::outcome::HandoffReason::Tries,
        function: Some(id(0)),
        path,
    });
    let given =
        json!({"outcome": "handoff", "function": "order", "slot": "person.phone", "arguments": {"city": "Rome"}});
    assert_eq!(found(&module, &handoff, &state, given), RIGHT);
    let nothing = turn_of(Outcome::NoMatch);
    let given = json!({"outcome": "no_match", "arguments": {"city": "Rome"}});
    assert_eq!(found(&module, &nothing, &state, given), RIGHT, "the form that is open is meant");
    assert_eq!(found(&module, &nothing, &state, json!({"function": "order"})), ["function: nothing instead of order"]);
    state.forms.clear();
    let given = json!({"arguments": {"number": "7"}});
    assert_eq!(
        found(&module, &nothing, &state, given),
        ["arguments: {\"number\":\"7\"} instead of nothing"]
            .map(|_| { "arguments: nothing instead of {\"number\":\"7\"}".to_owned() })
    );
}

#[test]
fn names_that_the_module_lacks_are_found() {
    let module = module();
    let unknown_in = |expect: Value| {
        let Value::Object(members) = json!({"turns": [{"user": "x", "expect": expect}]}) else { unreachable!() };
        let dialogue = read::dialogue(CaseLocation { file: "d".into(), line: 1 }, members).unwrap();
        unknown(&module, &dialogue.turns[0].expect)
    };
    let none: (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    assert_eq!(unknown_in(json!({"function": "sing", "functions": null})).0, ["sing"]);
    assert_eq!(unknown_in(json!({"functions": ["order", {"name": "dance"}]})).0, ["dance"]);
    assert_eq!(
        unknown_in(json!({"slot": "dishes[12].extras", "absent": ["dishes[0]", "person"], "pending": "number"})),
        none
    );
    assert_eq!(unknown_in(json!({"function": "order", "slot": "number", "pending": "number"})).1, ["number"]);
    assert_eq!(unknown_in(json!({"slot": ["dishes[1].colour"], "absent": ["dish"]})).1, ["dish", "dishes[1].colour"]);
    assert_eq!(unknown_in(json!({"function": "order", "arguments": {"colour": 1}})).1, ["colour"]);
}

#[test]
fn pointers_are_written_as_paths() {
    for (pointer, path) in [
        ("/dishes/1/size", "dishes[1].size"),
        ("/dishes/-/size", "dishes[].size"),
        ("/grid/0/2", "grid[0][2]"),
        ("/a~1b/c~0d", "a/b.c~d"),
        ("city", "city"),
        ("", ""),
    ] {
        assert_eq!(written(pointer), path);
    }
    assert_eq!(without_numbers("dishes[12].extras[0]"), "dishes[].extras[]");
}
