//! Reads a dialogue from its JSON. Unlike in a single case, an unknown member of `expect` is a problem: it would look
//! like a check without being one.

use serde_json::{Map, Value};

use super::{
    super::{
        CaseLocation, OutcomeKind,
        parts::{arguments, expected_function},
    },
    AskedSlot, Dialogue, DialogueTurn, Expect, ExpectedQuestion, ScriptedReply, Topic,
};
use crate::module::kind_of;

const EXPECTABLE: [&str; 9] =
    ["outcome", "function", "functions", "arguments", "absent", "slot", "about", "question", "pending"];

/// Reads an object that has `turns`.
///
/// # Errors
/// The problem, in words.
pub(in crate::eval) fn dialogue(place: CaseLocation, mut members: Map<String, Value>) -> Result<Dialogue, String> {
    let turns = match members.shift_remove("turns") {
        Some(Value::Array(turns)) if !turns.is_empty() => turns,
        _ => return Err("`turns` is a list of {\"user\": ..., \"expect\": {...}} with at least one".to_owned()),
    };
    let turns = turns.into_iter().enumerate().map(|(index, value)| {
        turn(value).map_err(|message| format!("turn {}: {message}", index + 1)) //
    });
    let turns = turns.collect::<Result<_, _>>()?;
    let id = match members.shift_remove("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        other => text("id", other)?,
    };
    let now = text("now", members.shift_remove("now"))?;
    let language = text("language", members.shift_remove("language"))?;
    Ok(Dialogue { place, id, turns, now, language })
}

fn turn(value: Value) -> Result<DialogueTurn, String> {
    let Value::Object(mut members) = value else {
        return Err(format!("a turn is an object with `user` and `expect`, found {}", kind_of(&value)));
    };
    let user = text("user", members.shift_remove("user"))?.ok_or("`user` is missing")?;
    if user.trim().is_empty() {
        return Err("`user` is empty".to_owned());
    }
    let written = members.shift_remove("expect").unwrap_or_else(|| Value::Object(Map::new()));
    let expect = match &written {
        Value::Object(members) => expect(members.clone())?,
        other => return Err(format!("`expect` is an object, found {}", kind_of(other))),
    };
    let replies = match members.shift_remove("reply") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(replies)) => replies.into_iter().map(reply).collect::<Result<_, _>>()?,
        Some(one) => vec![reply(one)?],
    };
    Ok(DialogueTurn { user, expect, written, replies })
}

fn expect(mut members: Map<String, Value>) -> Result<Expect, String> {
    if let Some(unknown) = members.keys().find(|key| !EXPECTABLE.contains(&key.as_str())) {
        return Err(format!("`expect` has no member `{unknown}`; known are {}", EXPECTABLE.join(", ")));
    }
    let outcome = match members.shift_remove("outcome") {
        None | Some(Value::Null) => None,
        Some(named) => Some(OutcomeKind::expected(&named).ok_or_else(|| {
            format!("`outcome` is \"call\", \"ask\", \"no_match\", \"cancelled\" or \"handoff\", found {named}")
        })?),
    };
    let functions = match members.shift_remove("functions") {
        None | Some(Value::Null) => None,
        Some(Value::Array(items)) => Some(items.into_iter().map(expected_function).collect::<Result<_, _>>()?),
        Some(other) => return Err(format!("`functions` is a list, found {}", kind_of(&other))),
    };
    let function = text("function", members.shift_remove("function"))?;
    if function.is_some() && functions.is_some() {
        return Err("`function` and `functions` exclude each other".to_owned());
    }
    let arguments = arguments(members.shift_remove("arguments"))?;
    let absent = match members.shift_remove("absent") {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => texts("absent", value)?,
    };
    let pending = match members.shift_remove("pending") {
        None | Some(Value::Null) => None,
        Some(value) => Some(pending(value)?),
    };
    Ok(Expect { outcome, function, functions, arguments, absent, asked: asked(&mut members)?, pending })
}

/// The members about a question.
fn asked(members: &mut Map<String, Value>) -> Result<ExpectedQuestion, String> {
    let slot = match members.shift_remove("slot") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) => Some(AskedSlot::Among(path)),
        Some(paths) => Some(AskedSlot::Exactly(texts("slot", paths)?)),
    };
    let about = match text("about", members.shift_remove("about"))? {
        None => None,
        Some(name) => Some(Topic::named(&name).ok_or_else(|| {
            let known = Topic::ALL.map(|topic| format!("\"{}\"", topic.name())).join(", ");
            format!("`about` is one of {known}, found \"{name}\"")
        })?),
    };
    Ok(ExpectedQuestion { slot, about, question: text("question", members.shift_remove("question"))? })
}

/// A topic, or a slot, or an object that says which of them it is.
fn pending(value: Value) -> Result<ExpectedQuestion, String> {
    match value {
        Value::String(name) => Ok(match Topic::named(&name) {
            Some(topic) => ExpectedQuestion { about: Some(topic), ..ExpectedQuestion::default() },
            None => ExpectedQuestion { slot: Some(AskedSlot::Among(name)), ..ExpectedQuestion::default() },
        }),
        Value::Object(mut members) => {
            let read = asked(&mut members)?;
            match members.keys().next() {
                Some(unknown) => Err(format!("`pending` has no member `{unknown}`; known are slot, about, question")),
                None => Ok(read),
            }
        }
        other => Err(format!("`pending` is a slot, a topic or an object, found {}", kind_of(&other))),
    }
}

fn reply(value: Value) -> Result<ScriptedReply, String> {
    match value {
        Value::String(text) => Ok(ScriptedReply::Text(text)),
        Value::Object(mut members) => match members.shift_remove("name") {
            Some(Value::String(name)) => Ok(ScriptedReply::Call {
                name,
                arguments: arguments(members.shift_remove("arguments"))?.unwrap_or_default(),
            }),
            _ => Err("a `reply` that is a call has a `name`".to_owned()),
        },
        other => Err(format!("`reply` is a text or {{\"name\": ..., \"arguments\": ...}}, found {}", kind_of(&other))),
    }
}

fn text(member: &str, value: Option<Value>) -> Result<Option<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{member}` is a string, found {}", kind_of(&other))),
    }
}

fn texts(member: &str, value: Value) -> Result<Vec<String>, String> {
    let list = match value {
        Value::Array(items) => items.into_iter().map(|item| text(member, Some(item))).collect::<Result<Vec<_>, _>>()?,
        one => vec![text(member, Some(one))?],
    };
    list.into_iter()
        .map(|item| item.ok_or_else(|| format!("`{member}` is a list of strings, found null in it")))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Dialogue, String> {
        let Value::Object(members) = value else { panic!("an object is meant") };
        dialogue(CaseLocation { file: Arc::from("dialogues.jsonl"), line: 3 }, members)
    }

    fn expecting(value: &Value) -> Result<Expect, String> {
        read(json!({"turns": [{"user": "x", "expect": value}]})).map(|mut dialogue| dialogue.turns.remove(0).expect)
    }

    #[test]
    fn every_member_is_read() {
        let dialogue = read(json!({
            "id": "first", "now": "2026-03-02T09:00:00Z", "language": "de", "why": "anything",
            "turns": [
                {"user": "two pizzas", "expect": {"outcome": "ask", "function": "order", "slot": "dishes[1].size",
                    "about": "missing", "arguments": {"dishes": []}, "absent": ["service"], "question": "Which"}},
                {"user": "hm", "reply": {"name": "order", "arguments": {"dishes": []}}},
                {"user": "hm", "reply": ["no idea", {"name": "order"}], "expect": {"outcome": "call",
                    "functions": ["hours", {"name": "order", "arguments": {}}], "pending": "confirm"}}
            ]
        }))
        .unwrap();
        assert_eq!((dialogue.id.as_deref(), dialogue.language.as_deref()), (Some("first"), Some("de")));
        assert!(dialogue.now.is_some() && dialogue.is_scripted());
        let [first, second, third] = &dialogue.turns[..] else { panic!("three turns") };
        let asked = ExpectedQuestion {
            slot: Some(AskedSlot::Among("dishes[1].size".into())),
            about: Some(Topic::Missing),
            question: Some("Which".into()),
        };
        assert_eq!((first.expect.outcome, &first.expect.asked), (Some(OutcomeKind::Ask), &asked));
        assert_eq!(
            (&first.expect.absent[..], first.expect.function.as_deref()),
            (&["service".to_owned()][..], Some("order"))
        );
        assert_eq!((&second.expect, second.replies.len()), (&Expect::default(), 1));
        assert_eq!(third.replies[0], ScriptedReply::Text("no idea".into()));
        assert_eq!(third.replies[1], ScriptedReply::Call { name: "order".into(), arguments: Map::new() });
        assert_eq!(third.expect.functions.as_ref().map(Vec::len), Some(2));
        assert_eq!(third.expect.pending.as_ref().and_then(|asked| asked.about), Some(Topic::Confirm));
        assert_eq!(third.written["outcome"], "call");
    }

    #[test]
    fn one_slot_may_be_among_others_and_a_list_is_all() {
        let slot = |value: Value| expecting(&json!({"slot": value})).unwrap().asked.slot;
        assert_eq!(slot(json!("zip")), Some(AskedSlot::Among("zip".into())));
        assert_eq!(slot(json!(["zip", "city"])), Some(AskedSlot::Exactly(vec!["zip".into(), "city".into()])));
        let pending = |value: Value| expecting(&json!({"pending": value})).map(|expect| expect.pending.unwrap());
        assert_eq!(pending(json!("zip")).unwrap().slot, Some(AskedSlot::Among("zip".into())));
        // A slot of that name can still be named.
        assert_eq!(pending(json!({"slot": "group"})).unwrap().slot, Some(AskedSlot::Among("group".into())));
        assert!(pending(json!({"slots": "zip"})).is_err());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_turn() {
        let second = |turn: Value| read(json!({"turns": [{"user": "x"}, turn]})).unwrap_err();
        for (turn, message) in [
            (json!(3), "a turn is an object"),
            (json!({}), "`user` is missing"),
            (json!({"user": " "}), "`user` is empty"),
            (json!({"user": "x", "expect": []}), "`expect` is an object, found a list"),
            (json!({"user": "x", "expect": {"outcom": "ask"}}), "`expect` has no member `outcom`"),
            (json!({"user": "x", "expect": {"outcome": "maybe"}}), "`outcome` is \"call\""),
            (json!({"user": "x", "expect": {"outcome": "failed"}}), "`outcome` is \"call\""),
            (json!({"user": "x", "expect": {"about": "money"}}), "`about` is one of \"missing\", \"group\""),
            (json!({"user": "x", "expect": {"function": "f", "functions": []}}), "exclude each other"),
            (json!({"user": "x", "expect": {"absent": [1]}}), "`absent` is a string, found a number"),
            (json!({"user": "x", "expect": {"slot": [null]}}), "`slot` is a list of strings, found null"),
            (json!({"user": "x", "reply": 7}), "`reply` is a text or"),
            (json!({"user": "x", "reply": {"arguments": {}}}), "has a `name`"),
        ] {
            let found = second(turn);
            assert!(found.starts_with("turn 2: ") && found.contains(message), "{found}");
        }
        for dialogue in [json!({"turns": []}), json!({"turns": {}}), json!({"turns": [{"user": "x"}], "now": 3})] {
            assert!(read(dialogue).is_err());
        }
    }
}
