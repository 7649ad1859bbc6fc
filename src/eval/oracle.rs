//! A model server that is always right: it knows the case, and answers what the case expects.
//!
//! The remaining errors are then our own: a function that was not shown, a value that validation refused, a choice that
//! was doubted. So it measures the upper limit for any real model.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    llm::{ChatModel, ChatReply, ChatRequest, LlmError, ToolCall},
    module::{Function, PathStep, Slot},
};

/// A call as the case has it: the wire name of its function, and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct RightCall {
    pub name: String,
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Default)]
struct KnownCalls {
    calls: Vec<RightCall>,
    asked: usize,
}

/// See [the module](self). Clones share their knowledge. It only answers requests with tools.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    known: Arc<Mutex<KnownCalls>>,
}

impl Oracle {
    /// From now on these calls are right; an empty list means that no function fits. Resets the count.
    pub fn expect(&self, calls: Vec<RightCall>) {
        self.with(|known| *known = KnownCalls { calls, asked: 0 });
    }

    /// Number of requests since [`Self::expect`].
    #[must_use]
    pub fn asked(&self) -> usize {
        self.with(|known| known.asked)
    }

    fn answer(&self, request: &ChatRequest) -> ChatReply {
        let calls = self.with(|known| {
            known.asked += 1;
            known.calls.clone()
        });
        let shown = |call: &RightCall| request.tools.iter().any(|tool| tool.name == call.name);
        let tool_calls: Vec<ToolCall> = calls
            .into_iter()
            .filter(shown)
            .enumerate()
            .map(|(index, call)| ToolCall {
                id: format!("call_{index}"),
                name: call.name,
                arguments: Value::Object(call.arguments).to_string(),
            })
            .collect();
        let content = tool_calls.is_empty().then(|| "NONE".to_owned());
        ChatReply { content, tool_calls, ..ChatReply::default() }
    }

    fn with<T>(&self, act: impl FnOnce(&mut KnownCalls) -> T) -> T {
        // Every change is one step, so a poisoned lock is safe to use.
        act(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChatModel for Oracle {
    fn describe(&self) -> String {
        "oracle".to_owned()
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(std::future::ready(Ok(self.answer(&request))))
    }
}

/// The arguments that a case expects, as in a call of the function.
///
/// Of several accepted values the first is used, and optional ones are omitted. Flat members go to their slot's place;
/// each value of one within an array becomes an item of its own.
#[must_use]
pub fn arguments(function: &Function, expected: &Map<String, Value>) -> Map<String, Value> {
    let mut root = Value::Object(Map::new());
    for (key, value) in expected {
        let of_slot = || function.slot_labelled(key).map(|id| function.slot(id).path.0.clone());
        let is_top = function.slots.iter().any(|slot| begins(slot, &[PathStep::Key(key.as_str().into())]));
        let dotted = || key.split('.').map(|part| PathStep::Key(part.into())).collect();
        let path: Vec<PathStep> =
            if is_top { vec![PathStep::Key(key.as_str().into())] } else { of_slot().unwrap_or_else(dotted) };
        put(function, &mut root, &mut Vec::new(), &path, value);
    }
    match root {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

fn begins(slot: &Slot, path: &[PathStep]) -> bool {
    slot.path.0.starts_with(path)
}

/// Puts `value` at `rest` below `place`, which is at `path`.
fn put(function: &Function, place: &mut Value, path: &mut Vec<PathStep>, rest: &[PathStep], value: &Value) {
    let Some((step, rest)) = rest.split_first() else {
        if let Some(said) = said(function, path, value) {
            merge(place, said);
        }
        return;
    };
    path.push(step.clone());
    match step {
        PathStep::Key(key) => {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            if let Value::Object(members) = place {
                let mut below = members.shift_remove(&**key).unwrap_or_default();
                put(function, &mut below, path, rest, value);
                if !below.is_null() {
                    members.insert(key.to_string(), below);
                }
            }
        }
        PathStep::Each => {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let mut items = place.as_array_mut().map(std::mem::take).unwrap_or_default();
            items.resize(items.len().max(values.len()), Value::Null);
            for (item, value) in items.iter_mut().zip(values) {
                put(function, item, path, rest, value);
            }
            items.retain(|item| !item.is_null());
            *place = if items.is_empty() { Value::Null } else { Value::Array(items) };
        }
    }
    path.pop();
}

fn merge(place: &mut Value, said: Value) {
    match (place, said) {
        (Value::Object(members), Value::Object(more)) => members.extend(more),
        (place, said) => *place = said,
    }
}

/// The single value to use for what is expected at `path`; `None` if it may be omitted.
fn said(function: &Function, path: &[PathStep], expected: &Value) -> Option<Value> {
    let mut below = path.to_vec();
    below.push(PathStep::Each);
    let is_array = function.slots.iter().any(|slot| begins(slot, &below));
    match expected {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) if is_array => {
            // A list nested deeper than the schema's array is a list of accepted arrays.
            let nests = below_is_array(function, &below);
            if !nests && let Some(Value::Array(_)) = items.first() {
                return said(function, path, &items[0]);
            }
            let items: Vec<Value> = items.iter().filter_map(|item| said(function, &below, item)).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Array(accepted) => {
            let is_absence = |value: &Value| value.is_null() || value.as_str() == Some("");
            if accepted.iter().any(is_absence) {
                return None;
            }
            accepted.first().and_then(|first| said(function, path, first))
        }
        Value::Object(members) => {
            let members = members.iter().filter_map(|(key, value)| {
                let mut below = path.to_vec();
                below.push(PathStep::Key(key.as_str().into()));
                said(function, &below, value).map(|value| (key.clone(), value))
            });
            Some(Value::Object(members.collect()))
        }
        scalar => Some(scalar.clone()),
    }
}

fn below_is_array(function: &Function, path: &[PathStep]) -> bool {
    let mut below = path.to_vec();
    below.push(PathStep::Each);
    function.slots.iter().any(|slot| begins(slot, &below))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        eval::testing::{function, map},
        llm::{Message, Tool},
    };

    #[test]
    fn what_a_case_accepts_becomes_one_call() {
        let order =
            function("order", &["dishes[].name", "dishes[].quantity", "dishes[].extras[]", "address.city", "note"]);
        let cases = [
            (json!({"note": "quick"}), json!({"note": "quick"})),
            (json!({"note": ["quick", "fast"]}), json!({"note": "quick"})),
            (json!({"note": ["quick", ""]}), json!({})),
            (json!({"note": null}), json!({})),
            (json!({"city": "Rome"}), json!({"address": {"city": "Rome"}})),
            (json!({"address.city": ["Rome", "Roma"]}), json!({"address": {"city": "Rome"}})),
            (json!({"address": {"city": ["Rome", "Roma"]}}), json!({"address": {"city": "Rome"}})),
            (
                json!({"dishes": [{"name": ["pie", "tart"], "quantity": [1, ""], "extras": ["jam"]}, {"name": "soup"}]}),
                json!({"dishes": [{"name": "pie", "extras": ["jam"]}, {"name": "soup"}]}),
            ),
            (json!({"dishes": [{"extras": [["jam"], ["honey"]]}]}), json!({"dishes": [{"extras": ["jam"]}]})),
            (json!({"dishes[].name": ["pie", "soup"]}), json!({"dishes": [{"name": "pie"}, {"name": "soup"}]})),
            (
                json!({"dishes[].name": ["pie", "soup"], "dishes[].quantity": [2]}),
                json!({"dishes": [{"name": "pie", "quantity": 2}, {"name": "soup"}]}),
            ),
            (json!({"colour": "red"}), json!({"colour": "red"})),
        ];
        for (expected, said) in cases {
            assert_eq!(Value::Object(arguments(&order, &map(expected.clone()))), said, "{expected}");
        }
    }

    #[test]
    fn it_says_what_it_was_shown_and_nothing_else() {
        let request = |names: &[&str]| {
            let tool = |name: &&str| Tool {
                name: (*name).to_owned(),
                description: String::new(),
                parameters: json!({"type": "object"}).into(),
                strict: false,
            };
            let said = vec![Message::User("soup and a cab".to_owned())];
            ChatRequest {
                tools: names.iter().map(tool).collect(),
                ..ChatRequest::new(said, tokio::time::Instant::now())
            }
        };
        let oracle = Oracle::default();
        let call = |name: &str| RightCall { name: name.to_owned(), arguments: map(json!({"n": 1})) };
        oracle.expect(vec![call("order"), call("ride")]);
        let names = |reply: &ChatReply| reply.tool_calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>();
        let both = oracle.answer(&request(&["ride", "pay", "order"]));
        assert_eq!((names(&both), both.content.as_deref()), (vec!["order".to_owned(), "ride".to_owned()], None));
        assert_eq!(both.tool_calls[0].arguments, r#"{"n":1}"#);
        assert_eq!(names(&oracle.answer(&request(&["ride"]))), ["ride"]);
        assert_eq!(oracle.answer(&request(&["pay"])).content.as_deref(), Some("NONE"));
        assert_eq!(oracle.asked(), 3);
        oracle.expect(Vec::new());
        assert_eq!(oracle.asked(), 0);
        assert_eq!(oracle.answer(&request(&["pay"])).content.as_deref(), Some("NONE"));
    }
}
