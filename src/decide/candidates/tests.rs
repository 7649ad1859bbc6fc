use serde_json::{Value, json};

use super::*;
use crate::module::{Limits, Module, ModuleName, load};

fn travel() -> Module {
    let directory = tempfile::tempdir().expect("a directory");
    let text = json!({"type": "string"});
    let schema = json!([{"name": "note", "description": "Note", "parameters": {"type": "object", "properties": {
        "from": text, "to": text, "stops": {"type": "array", "items": text}}}}]);
    std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
    load(directory.path(), ModuleName::new("travel").expect("a name"), &Limits::default()).expect("it loads")
}

const NONE: Evidence = Evidence::all(0.0);

/// A model that takes free text to be as likely as the reader says.
fn model() -> SlotModel {
    let none = json!({"bias": 0.0, "weights": {"reader": 1.0}});
    let part = json!({"least": 0.5, "least_free": 0.5, "found": none, "free": none, "said": none});
    SlotModel::parse(&json!({"read": part, "unread": part, "rules": {}}).to_string()).expect("a model")
}

/// The fillings that are selected from candidates (slot, start, end, log-odds).
fn filled(candidates: &[(&str, usize, usize, f32)]) -> Vec<(String, usize)> {
    let module = travel();
    let function = &module.functions[0];
    let candidate = |(slot, start, end, reader): &(&str, usize, usize, f32)| Candidate {
        slot: function.slot_labelled(slot).expect("a slot"),
        span: Span::new(*start, *end),
        anchor: None,
        evidence: Evidence { reader: *reader, ..NONE },
    };
    let candidates: Vec<Candidate> = candidates.iter().map(candidate).collect();
    let best = select::best(function, &candidates, &model());
    best.iter().map(|one| (function.slot(one.slot).label().to_owned(), one.span.start)).collect()
}

fn expect(slots: &[(&str, usize)]) -> Vec<(String, usize)> {
    slots.iter().map(|(slot, start)| ((*slot).to_owned(), *start)).collect()
}

#[test]
fn the_best_set_is_not_always_that_with_the_best_candidate() {
    let candidates = [("from", 0, 4, 2.0), ("from", 5, 9, 1.9), ("to", 0, 4, 1.8), ("to", 5, 9, 0.2)];
    assert_eq!(filled(&candidates), expect(&[("to", 0), ("from", 5)]));
}

#[test]
fn a_slot_is_filled_once_and_a_list_as_often_as_is_said() {
    let candidates = [("from", 0, 4, 1.0), ("from", 5, 9, 2.0)];
    assert_eq!(filled(&candidates), expect(&[("from", 5)]));
    let candidates = [("stops[]", 0, 4, 1.0), ("stops[]", 5, 9, 2.0), ("stops[]", 3, 9, 1.5)];
    assert_eq!(filled(&candidates), expect(&[("stops", 0), ("stops", 5)]));
}

#[test]
fn what_is_less_likely_than_not_fills_nothing() {
    assert_eq!(filled(&[("from", 0, 4, -0.1)]), []);
}

#[test]
fn what_was_read_for_another_slot_is_free_text_only_if_that_slot_is_full_otherwise() {
    let module = travel();
    let function = &module.functions[0];
    let of = |slot: &str, start: usize, evidence: Evidence, anchor: Option<usize>| Candidate {
        slot: function.slot_labelled(slot).expect("a slot"),
        span: Span::new(start, start + 4),
        anchor,
        evidence,
    };
    let found = Evidence { reader: 1.0, is_mention: 1.0, ..NONE };
    let foreign = Evidence { reader: 5.0, foreign: 1.0, ..NONE };
    let best = |candidates: &[Candidate]| -> Vec<(usize, Option<usize>)> {
        select::best(function, candidates, &model()).iter().map(|one| (one.span.start, one.anchor)).collect()
    };
    let typed = of("to", 0, found, Some(0));
    assert_eq!(best(&[typed, of("from", 0, foreign, None)]), [(0, Some(0))]);
    let elsewhere = of("to", 9, Evidence { reader: 3.0, ..found }, Some(1));
    assert_eq!(best(&[typed, elsewhere, of("from", 0, foreign, None)]), [(0, None), (9, Some(1))]);
}

#[test]
fn evidence_is_named_as_it_is_written() {
    let Value::Object(written) = serde_json::to_value(NONE).expect("numbers") else { panic!("an object") };
    assert_eq!(written.keys().map(String::as_str).collect::<Vec<_>>(), Evidence::NAMES);
    let numbered = Evidence { is_read: 1.0, required: 2.0, ..NONE };
    assert_eq!((numbered.values()[0], numbered.values()[Evidence::NAMES.len() - 1]), (1.0, 2.0));
}

#[test]
fn very_many_candidates_take_no_longer_than_the_bound() {
    let module = travel();
    let function = &module.functions[0];
    let candidates: Vec<Candidate> = (0..400)
        .map(|at| Candidate {
            slot: function.slot_labelled("stops[]").expect("a slot"),
            span: Span::new(at, at + 3),
            anchor: None,
            evidence: Evidence { reader: 1.0 + (at % 7) as f32 / 10.0, ..NONE },
        })
        .collect();
    let best = select::best(function, &candidates, &model());
    assert!(best.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start) && best.len() > 100);
}
