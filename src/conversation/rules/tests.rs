use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::module::{FunctionId, Limits, Module, ModuleName, ad_hoc};

fn module() -> Module {
    let text = json!({"type": "string"});
    let date = json!({"type": "string", "format": "date"});
    let item = json!({"type": "object", "properties": {"name": text, "size": {"type": "integer"}, "most": {"type": "integer"},
        "parts": {"type": "array", "items": {"type": "object", "properties": {"size": {"type": "integer"}}}}}});
    let parameters = json!({"type": "object", "properties": {
        "start": date, "end": date, "arrival": {"type": "string", "format": "date-time"},
        "time": {"type": "string", "format": "time"}, "stay": {"type": "string", "format": "duration"},
        "people": {"type": "integer"}, "price": {"type": "number"}, "name": text, "word": text, "paid": {"type": "boolean"},
        "trip": {"type": "object", "properties": {"day": date}}, "email": {"type": "string", "format": "email"},
        "items": {"type": "array", "items": item}, "sizes": {"type": "array", "items": {"type": "integer"}}, "any": {}}});
    let functions = [json!({"name": "book", "description": "Books", "parameters": parameters})];
    let name = ModuleName::new("test").expect("a good name");
    ad_hoc(name, &functions, None, None, &Limits::default()).expect("it loads")
}

fn read(check: &str) -> Result<Rule, String> {
    let module = module();
    let function = module.function(FunctionId::from_index(0));
    Rule::parse(check, function, &|name| function.slot_labelled(name)).map_err(|reason| reason.to_string())
}

fn settings(check: &str) -> RuleSettings {
    let rule = read(check).unwrap_or_else(|reason| panic!("{check}: {reason}"));
    RuleSettings { check: check.to_owned(), message: None, rule: Some(rule) }
}

fn now() -> Zoned {
    "2026-03-10T12:00:00+01:00[Europe/Berlin]".parse().expect("a moment")
}

/// The pointers of the values that violate the rule.
fn breaks(check: &str, arguments: &Value) -> Vec<Vec<String>> {
    let arguments = arguments.as_object().expect("an object");
    broken(&[settings(check)], arguments, &now()).into_iter().map(|broken| broken.pointers).collect()
}

#[test]
fn values_are_compared_as_what_they_are() {
    for (check, arguments, holds) in [
        ("end > start", json!({"start": "2026-01-09", "end": "2026-01-10"}), true),
        ("end > start", json!({"start": "2026-01-09", "end": "2026-01-09"}), false),
        ("end >= start", json!({"start": "2026-01-09", "end": "2026-01-09"}), true),
        ("end <= start + 30 days", json!({"start": "2026-01-09", "end": "2026-02-09"}), false),
        ("end <= start + 1 month", json!({"start": "2026-01-09", "end": "2026-02-09"}), true),
        ("start >= today", json!({"start": "2026-03-10"}), true),
        ("start >= today", json!({"start": "2026-03-09"}), false),
        ("start >= today - 1 day", json!({"start": "2026-03-09"}), true),
        ("trip.day != 2026-12-24", json!({"trip": {"day": "2026-12-24"}}), false),
        ("arrival > now", json!({"arrival": "2026-03-10T12:00:01"}), true),
        // 11:30 in Berlin.
        ("arrival > now", json!({"arrival": "2026-03-10T10:30:00Z"}), false),
        ("time < now", json!({"time": "11:59:00"}), true),
        ("time >= 17:30", json!({"time": "17:30:00"}), true),
        // A date does not include an hour.
        ("arrival >= start", json!({"arrival": "2026-01-09T00:10:00", "start": "2026-01-09"}), true),
        ("arrival > start", json!({"arrival": "2026-01-09T23:10:00", "start": "2026-01-09"}), false),
        ("stay <= 2 weeks", json!({"stay": "P14D"}), true),
        ("stay <= 2 weeks", json!({"stay": "P15D"}), false),
        ("stay < 90 minutes", json!({"stay": "PT1H30M"}), false),
        ("people <= 12", json!({"people": 9}), true),
        ("people < price", json!({"people": 10, "price": 9.5}), false),
        ("12 >= people", json!({"people": 13}), false),
        ("people = 9", json!({"people": 9.0}), true),
        ("price < 1e3", json!({"price": 999.99}), true),
        ("name != word", json!({"name": "a", "word": "a"}), false),
        ("name < word", json!({"name": "10", "word": "9"}), true),
        ("name == 'Jane Doe'", json!({"name": "Jane Doe"}), true),
        ("name != \"a < b\"", json!({"name": "a < b"}), false),
        // A number that looks like a date is not one.
        ("name < word", json!({"name": "20260102", "word": "20260101x"}), false),
        ("paid = true", json!({"paid": false}), false),
    ] {
        assert_eq!(breaks(check, &arguments).is_empty(), holds, "{check} {arguments}");
    }
}

#[test]
fn a_rule_is_silent_where_a_value_is_missing_or_of_another_kind() {
    for (check, arguments) in [
        ("end > start", json!({"end": "2020-01-01"})),
        ("end > start", json!({"end": "2020-01-01", "start": null})),
        ("end > start", json!({"end": "2020-01-01", "start": " "})),
        ("start >= today", json!({"start": "soon"})),
        ("any > 3", json!({"any": "2"})),
        ("any > 3", json!({"any": [1]})),
        ("any = any", json!({"any": {"a": 1}})),
        ("end <= start + 9000 years", json!({"end": "2026-01-01", "start": "2025-01-01"})),
        ("trip.day > today", json!({"trip": 3})),
        ("sizes > 3", json!({"sizes": 1})),
        ("items.size > 3", json!({"items": [3, null, {"size": "1"}]})),
    ] {
        assert_eq!(breaks(check, &arguments), Vec::<Vec<String>>::new(), "{check} {arguments}");
    }
}

#[test]
fn items_are_compared_one_by_one() {
    let arguments = json!({"people": 4, "sizes": [1, 5, 9], "items": [
        {"size": 1, "most": 2, "parts": [{"size": 1}]},
        {"size": 3, "most": 2},
        {"most": 2, "parts": [{}, {"size": 5}, {"size": 2}]},
    ]});
    assert_eq!(breaks("items.size <= items.most", &arguments), [["/items/1/size", "/items/1/most"]]);
    assert_eq!(
        breaks("items[].parts[].size <= items[].most", &arguments),
        [["/items/2/parts/1/size", "/items/2/most"]]
    );
    assert_eq!(breaks("sizes < people", &arguments), [["/sizes/1", "/people"], ["/sizes/2", "/people"]]);
}

#[test]
fn what_is_no_rule_is_told_in_words() {
    for (check, reason) in [
        ("", "it compares nothing"),
        ("start", "it compares nothing"),
        ("start < ", "nothing on one side"),
        ("start < end < now", "more than one comparison"),
        ("start <> end", "more than one comparison"),
        ("start < ende", "there is no slot `ende`"),
        ("start before end", "it compares nothing"),
        ("start < the end", "`the end` is neither"),
        ("start < 2026-02-31", "`2026-02-31` is neither"),
        ("3 < 4", "names no slot"),
        ("name < 3", "a text with a number"),
        ("people < start", "a number with a date"),
        ("time < start", "a time with a date"),
        ("email > today", "a text with a date"),
        ("start > 'soon'", "a date with a text"),
        ("people < people + 3 days", "only a date or a time"),
        ("end < start + 3 fortnights", "`3 fortnights` is neither"),
        ("paid > false", "never more or less"),
        ("items.size < sizes", "different arrays"),
        ("trip > start", "there is no slot `trip`"),
    ] {
        let found = read(check).expect_err(check);
        assert!(found.contains(reason), "{check}: {found}");
    }
    // A text that may be a date can be compared with one.
    assert!(read("name < 2026-02-01").is_ok());
    assert!(read("any < 3").is_ok());
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[0-9TPZ:+-]{0,20}",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9](T[0-2][0-9]:[0-5][0-9](Z|[+]01:00)?)?",
        "[0-2][0-9]:[0-5][0-9]",
        "-?P[0-9]{1,19}[DMYW]",
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let keys = prop_oneof![Just("size"), Just("most"), Just("parts"), Just("day"), Just("amount")];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..3)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        ]
    })
}

fn any_arguments() -> impl Strategy<Value = Map<String, Value>> {
    let keys =
        prop_oneof![Just("start"), Just("end"), Just("any"), Just("name"), Just("items"), Just("sizes"), Just("trip")];
    prop::collection::btree_map(keys, any_value(), 0..5)
        .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

proptest! {
    #[test]
    fn no_text_is_too_much(check in any::<String>()) {
        let _ = read(&check);
    }

    #[test]
    fn nothing_that_looks_like_a_rule_is_too_much(
        check in "(start|name|items.size|[0-9]{1,20}|'[a-z<]{0,3}'?|now|today) ?([-+] [0-9]{1,20} (days|year))? ?[<>=!]{1,3} ?(end|any|-[0-9.e]{0,9}|P[0-9]{0,19}D)",
        arguments in any_arguments(),
    ) {
        if let Ok(rule) = read(&check) {
            let own = RuleSettings { check, message: None, rule: Some(rule) };
            let _ = broken(&[own], &arguments, &now());
        }
    }

    /// Of two opposite rules, exactly one holds where they apply; and both do not apply in the same places.
    #[test]
    fn opposites_exclude_each_other(arguments in any_arguments(), amount in 0..400_000_u32) {
        let moved = format!("any + {amount} days");
        for (one, other) in [("<", ">="), (">", "<="), ("=", "!=")] {
            for (left, right) in [("start", "end"), ("any", "name"), ("start", moved.as_str()), ("any", "now"), ("items.size", "items.most")] {
                let rule = settings(&format!("{left} {one} {right}")).rule.expect("it was read");
                let opposite = settings(&format!("{left} {other} {right}")).rule.expect("it was read");
                let mut items = Vec::new();
                items_of(&arguments, rule.array(), &mut Vec::new(), &mut items);
                for item in items {
                    let found = (holds(&rule, &arguments, &item, &now()), holds(&opposite, &arguments, &item, &now()));
                    prop_assert_eq!(found.0.map(|holds| !holds), found.1, "{} {} {}", left, one, right);
                }
            }
        }
    }
}
