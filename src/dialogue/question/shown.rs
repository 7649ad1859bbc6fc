//! Names and values as people read them.

use serde_json::{Map, Value};

use crate::{
    module::{PathStep, Slot, SlotPath, rule::Temporal},
    text::{name_words, plain::first_sentence},
};

/// How many characters of a sensitive value are shown so that a person can recognize it, and how many the value must
/// have at least for that.
const SHOWN_OF_SENSITIVE: usize = 4;
const LONG_ENOUGH: usize = 8;

/// `num_days` and `numDays` as people say them: "num days".
pub(crate) fn spoken(name: &str) -> String {
    name_words(name).join(" ")
}

/// The first sentence of a description. Descriptions are often written for models, with marks and details that a
/// question does not need.
pub(crate) fn described(slot: &Slot) -> String {
    first_sentence(&slot.description)
}

/// The last part of a path, as words: the object that it belongs to is named elsewhere.
pub(crate) fn last_key(path: &SlotPath) -> String {
    let key = path.0.iter().rev().find_map(|step| match step {
        PathStep::Key(key) => Some(spoken(key)),
        PathStep::Each => None,
    });
    key.unwrap_or_default()
}

pub(crate) fn is_index(step: &str) -> bool {
    step == "-" || step.parse::<usize>().is_ok()
}

/// A text as it is, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value in a sentence; `truth` words booleans, `and` joins lists.
pub(crate) fn shown(value: &Value, truth: &dyn Fn(bool) -> &'static str, and: &dyn Fn(&[String]) -> String) -> String {
    let all = |values: &mut dyn Iterator<Item = &Value>| -> Vec<String> {
        values.filter(|value| !value.is_null()).map(|value| shown(value, truth, and)).collect()
    };
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => truth(*value).to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => one_line(&moment(text)),
        Value::Array(items) => and(&all(&mut items.iter())),
        // `{"amount": 5, "currency": "USD"}`
        Value::Object(members) => all(&mut members.values()).join(" "),
    }
}

/// The text without line breaks and control characters: a value must never look like a separate line.
pub(crate) fn one_line(text: &str) -> String {
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    text.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text, or its beginning if it has more characters.
pub(crate) fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A time, without its seconds if they are 0.
fn moment(text: &str) -> String {
    match Temporal::parse(text) {
        Some(Temporal::Time(time)) if time.second() == 0 => time.strftime("%H:%M").to_string(),
        Some(Temporal::DateTime(moment)) if moment.second() == 0 => moment.strftime("%Y-%m-%d %H:%M").to_string(),
        _ => text.to_owned(),
    }
}

/// A sensitive value: its last characters, if it is long enough for the rest to stay hidden.
pub(crate) fn masked(value: &Value) -> String {
    let text: Vec<char> = plain(value).chars().collect();
    let end: String = match text.len().checked_sub(SHOWN_OF_SENSITIVE) {
        Some(from) if text.len() >= LONG_ENOUGH => text[from..].iter().collect(),
        _ => String::new(),
    };
    format!("••••{end}")
}

/// The values that arguments hold for a slot, in their order.
pub(crate) fn values<'a>(arguments: &'a Map<String, Value>, path: &SlotPath) -> Vec<&'a Value> {
    let Some((PathStep::Key(first), rest)) = path.0.split_first() else { return Vec::new() };
    let mut places: Vec<&Value> = arguments.get(&**first).into_iter().collect();
    for step in rest {
        places = match step {
            PathStep::Key(key) => places.into_iter().filter_map(|place| place.get(&**key)).collect(),
            PathStep::Each => places.into_iter().filter_map(Value::as_array).flatten().collect(),
        };
    }
    places.retain(|value| !value.is_null());
    places
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::dialogue::question::shown::*;

    #[test]
    fn names_are_spoken_as_words() {
        assert_eq!(spoken("num_days"), "num days");
        assert_eq!(spoken("shippingAddress.zipCode"), "shipping address zip code");
    }

    #[test]
    fn values_read_well() {
        let words = |value: &Value| shown(value, &|truth| if truth { "yes" } else { "no" }, &|of| of.join(" and "));
        for (value, expected) in [
            (json!("18:30:00"), "18:30"),
            (json!("18:30:05"), "18:30:05"),
            (json!("2026-03-01T18:30:00"), "2026-03-01 18:30"),
            (json!("2026-03-01"), "2026-03-01"),
            (json!({"amount": 5, "currency": "USD", "note": null}), "5 USD"),
            (json!("two\n- lines\u{7}"), "two - lines"),
            (json!(["a", true, 1.5]), "a and yes and 1.5"),
        ] {
            assert_eq!(words(&value), expected);
        }
    }

    #[test]
    fn what_is_sensitive_shows_its_end_at_most() {
        assert_eq!(masked(&json!("4111 1111 1111 1234")), "••••1234");
        assert_eq!(masked(&json!("1234567")), "••••");
        assert_eq!(masked(&json!(12_345_678)), "••••5678");
        assert_eq!(masked(&json!("")), "••••");
    }
}
