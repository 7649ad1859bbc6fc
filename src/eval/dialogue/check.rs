//! Compares a turn with its expectation. Pure.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    super::{ExpectedFunction, MatchOutcome, OutcomeKind, compare, function_named, understood},
    AskedSlot, Expect, ExpectedQuestion, Topic,
};
use crate::{
    conversation::{Form, Pending, State},
    module::{Function, FunctionId, Module, SlotPath},
    understand::{Outcome, Question, Turn},
};

/// Something that was expected, and the actual value. `null` stands for nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The member of `expect`; for `arguments` with the slot.
    pub member: String,
    pub expected: Value,
    pub got: Value,
}

impl Difference {
    pub(super) fn new(member: impl Into<String>, expected: impl Into<Value>, got: impl Into<Value>) -> Self {
        Self { member: member.into(), expected: expected.into(), got: got.into() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { member, expected, got } = self;
        write!(formatter, "{member}: {} instead of {}", shown(got), shown(expected))
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The situation after a turn.
#[derive(Clone, Copy)]
pub(super) struct CheckedTurn<'a> {
    pub(super) module: &'a Module,
    pub(super) turn: &'a Turn,
    /// The state after the turn.
    pub(super) state: &'a State,
}

/// Everything that is not as expected; empty if the turn is right.
pub(super) fn differences(expect: &Expect, came: CheckedTurn<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    let got = OutcomeKind::of(&came.turn.outcome);
    if let Some(expected) = expect.outcome.filter(|expected| *expected != got) {
        found.push(Difference::new("outcome", expected.name(), got.name()));
    }
    functions(expect, came, &mut found);
    if let Some(arguments) = &expect.arguments {
        let function = expect.function.as_deref().and_then(|name| function_named(came.module, name));
        if let Some(function) = function.or_else(|| came.functions().first().copied()).or_else(|| came.active()) {
            compared(function, arguments, came, is_whole(expect, came), &mut found);
        } else {
            found.push(Difference::new("arguments", Value::Object(arguments.clone()), Value::Null));
        }
    }
    absent(expect, came, &mut found);
    asked(&expect.asked, came.question(), came, "", &mut found);
    if let Some(pending) = &expect.pending {
        let question = came.turn.pending.as_ref();
        if question.is_none() {
            found.push(Difference::new("pending", "a question", Value::Null));
        }
        asked(pending, question.map(Questioned::of), came, "pending ", &mut found);
    }
    found
}

impl<'a> CheckedTurn<'a> {
    /// The functions that the outcome is about.
    fn functions(self) -> Vec<FunctionId> {
        match &self.turn.outcome {
            Outcome::Call(calls) => calls.iter().map(crate::call::Call::function).collect(),
            Outcome::Ask(question) => question.about.functions().to_vec(),
            Outcome::NoMatch => Vec::new(),
            Outcome::Done { calls, .. } => calls.iter().map(crate::call::Call::function).collect(),
            Outcome::Cancelled { functions, .. } => functions.clone(),
            Outcome::Handoff { function, .. } => function.iter().copied().collect(),
        }
    }

    fn active(self) -> Option<FunctionId> {
        self.state.active(self.module).map(|(function, _)| function)
    }

    /// The question or text of the outcome, and its subject.
    fn question(self) -> Option<Questioned<'a>> {
        match &self.turn.outcome {
            Outcome::Ask(question) => Some(Questioned::of(question)),
            Outcome::Done { text, .. } | Outcome::Cancelled { text, .. } => {
                Some(Questioned { text, about: None, pointer: None })
            }
            Outcome::Handoff { text, path, .. } => Some(Questioned { text, about: None, pointer: Some(path) }),
            Outcome::Call(_) | Outcome::NoMatch => None,
        }
    }

    fn name(self, function: FunctionId) -> &'a str {
        &self.module.function(function).name
    }

    /// The known arguments of a function: as it was called, or else in its form.
    fn known(self, function: FunctionId) -> Vec<compare::Understood> {
        let frames = self.turn.frames.iter().filter(|frame| frame.function == function);
        let mut known: Vec<compare::Understood> = frames.map(|frame| understood(&frame.slots)).collect();
        if let Outcome::Call(calls) = &self.turn.outcome {
            let calls = calls.iter().filter(|call| call.function() == function);
            return calls
                .enumerate()
                .map(|(index, call)| compare::Understood {
                    arguments: call.arguments().clone(),
                    ..known.get(index).cloned().unwrap_or_default()
                })
                .collect();
        }
        if known.is_empty()
            && let Some(form) = self.state.form(self.name(function))
        {
            let slots: Vec<_> = form.slots.iter().map(|filled| filled.known_in(self.state.turn)).collect();
            known.push(understood(&slots));
        }
        known
    }
}

/// A text for the person, and what it is about.
struct Questioned<'a> {
    text: &'a str,
    about: Option<&'a Pending>,
    /// The place that a hand-off is about.
    pointer: Option<&'a String>,
}

impl<'a> Questioned<'a> {
    const fn of(question: &'a Question) -> Self {
        Self { text: question.text.as_str(), about: Some(&question.about), pointer: None }
    }
}

fn topic(about: &Pending) -> Topic {
    match about {
        Pending::Missing { .. } if about.slots().len() > 1 => Topic::Group,
        Pending::Missing { .. } => Topic::Missing,
        Pending::Invalid { .. } => Topic::Invalid,
        Pending::Rule { .. } => Topic::Rule,
        Pending::Tie { .. } => Topic::Tie,
        Pending::Confirm { .. } => Topic::Confirm,
        Pending::Change { .. } => Topic::Change,
    }
}

fn functions(expect: &Expect, came: CheckedTurn<'_>, found: &mut Vec<Difference>) {
    let one = expect.function.as_ref().map(|name| vec![ExpectedFunction { name: name.clone(), arguments: None }]);
    let Some(expected) = expect.functions.as_ref().or(one.as_ref()) else { return };
    let id = |function: &ExpectedFunction| function_named(came.module, &function.name);
    let sorted = |mut ids: Vec<Option<FunctionId>>| {
        ids.sort_unstable();
        ids
    };
    let got = came.functions();
    if sorted(expected.iter().map(id).collect()) != sorted(got.iter().copied().map(Some).collect()) {
        let names: Vec<&str> = expected.iter().map(|function| function.name.as_str()).collect();
        let got: Vec<&str> = got.into_iter().map(|function| came.name(function)).collect();
        let got = if got.is_empty() { Value::Null } else { Value::from(got.join(" + ")) };
        found.push(Difference::new("function", names.join(" + "), got));
        return;
    }
    let is_whole = is_whole(expect, came);
    // Of several calls of one function, each is paired with the one that differs least.
    let mut left: Vec<(FunctionId, compare::Understood)> = Vec::new();
    for function in got {
        if left.iter().all(|(other, _)| *other != function) {
            left.extend(came.known(function).into_iter().map(|known| (function, known)));
        }
    }
    for function in expected {
        let (Some(arguments), Some(id)) = (&function.arguments, id(function)) else { continue };
        let nearest = (0..left.len())
            .filter(|at| left[*at].0 == id)
            .min_by_key(|at| wrong(came, id, arguments, &left[*at].1, is_whole).len())
            .map(|at| left.remove(at).1);
        found.extend(wrong(came, id, arguments, &nearest.unwrap_or_default(), is_whole));
    }
}

fn compared(
    function: FunctionId,
    arguments: &Map<String, Value>,
    came: CheckedTurn<'_>,
    is_whole: bool,
    found: &mut Vec<Difference>,
) {
    let known = came.known(function).into_iter().map(|known| wrong(came, function, arguments, &known, is_whole));
    let nothing = || wrong(came, function, arguments, &compare::Understood::default(), is_whole);
    found.extend(known.min_by_key(Vec::len).unwrap_or_else(nothing));
}

/// A call is compared as a whole, unless no call was expected.
fn is_whole(expect: &Expect, came: CheckedTurn<'_>) -> bool {
    let is_call = matches!(came.turn.outcome, Outcome::Call(_));
    is_call && expect.outcome.is_none_or(|expected| expected == OutcomeKind::Call)
}

/// Unexpected values. A whole call must not contain anything unexpected; with a question, known values need not be
/// listed.
fn wrong(
    came: CheckedTurn<'_>,
    function: FunctionId,
    arguments: &Map<String, Value>,
    known: &compare::Understood,
    is_whole: bool,
) -> Vec<Difference> {
    let (findings, _) = compare::compare(came.module.function(function), arguments, known);
    findings
        .into_iter()
        .filter(|finding| match finding.verdict {
            MatchOutcome::Right => false,
            MatchOutcome::Extra => is_whole || !finding.expected.is_empty(),
            MatchOutcome::Wrong | MatchOutcome::Missing => true,
        })
        .map(|finding| {
            let expected = match &finding.expected[..] {
                [] => Value::Null,
                [one] => one.clone(),
                several => Value::from(several),
            };
            Difference::new(format!("arguments: {}", finding.slot), expected, finding.got.unwrap_or_default())
        })
        .collect()
}

fn absent(expect: &Expect, came: CheckedTurn<'_>, found: &mut Vec<Difference>) {
    if expect.absent.is_empty() {
        return;
    }
    let named = expect.function.as_deref().and_then(|name| function_named(came.module, name));
    let is_meant = |name: &str| named.is_none_or(|function| came.name(function) == name);
    let mut held: Vec<(String, Value)> = Vec::new();
    if let Outcome::Call(calls) = &came.turn.outcome {
        for call in calls.iter().filter(|call| is_meant(came.name(call.function()))) {
            leaves(&Value::Object(call.arguments().clone()), &mut String::new(), &mut held);
        }
    } else {
        let slots = |form: &Form| form.slots.clone();
        for filled in came.state.forms.iter().filter(|form| is_meant(&form.function)).flat_map(slots) {
            held.push((filled.pointer, filled.value));
        }
    }
    for path in &expect.absent {
        let path = canonical(came.module, named, path);
        for (pointer, value) in held.iter().filter(|(pointer, _)| is_at_or_below(pointer, &path)) {
            found.push(Difference::new(format!("absent: {}", written(pointer)), Value::Null, value.clone()));
        }
    }
}

/// Every scalar with its pointer.
fn leaves(value: &Value, pointer: &mut String, found: &mut Vec<(String, Value)>) {
    let mut each = |key: &str, value: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        leaves(value, pointer, found);
        pointer.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| each(key, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| each(&index.to_string(), value)),
        Value::Null => {}
        scalar => found.push((pointer.clone(), scalar.clone())),
    }
}

/// `member` is the prefix for the names of differences.
fn asked(
    expected: &ExpectedQuestion,
    got: Option<Questioned<'_>>,
    came: CheckedTurn<'_>,
    member: &str,
    found: &mut Vec<Difference>,
) {
    let about = got.as_ref().and_then(|question| question.about);
    if let Some(expected) = expected.about {
        let got = about.map(topic);
        if got != Some(expected) {
            let got = got.map_or(Value::Null, |got| Value::from(got.name()));
            found.push(Difference::new(format!("{member}about"), expected.name(), got));
        }
    }
    if let Some(expected) = &expected.slot {
        let mut places = about.map(Pending::pointers).unwrap_or_default();
        places.extend(got.as_ref().and_then(|question| question.pointer).cloned());
        let function = about.and_then(|about| about.functions().first().copied()).or_else(|| came.active());
        if !is_asked(expected, &places, came.module, function) {
            let expected = match expected {
                AskedSlot::Among(path) => json!(path),
                AskedSlot::Exactly(paths) => json!(paths.join(", ")),
            };
            let got: Vec<String> = places.iter().map(|place| written(place)).collect();
            let got = if got.is_empty() { Value::Null } else { Value::from(got.join(", ")) };
            found.push(Difference::new(format!("{member}slot"), expected, got));
        }
    }
    if let Some(expected) = &expected.question {
        let text = got.map(|question| question.text).unwrap_or_default();
        if !text.to_lowercase().contains(&expected.to_lowercase()) {
            found.push(Difference::new(format!("{member}question"), format!("{expected:?}"), format!("{text:?}")));
        }
    }
}

fn is_asked(expected: &AskedSlot, places: &[String], module: &Module, function: Option<FunctionId>) -> bool {
    let is_at = |place: &str, path: &str| {
        let path = canonical(module, function, path);
        written(place) == path || SlotPath::of_pointer(place).to_string() == path
    };
    match expected {
        AskedSlot::Among(path) => places.iter().any(|place| is_at(place, path)),
        AskedSlot::Exactly(paths) => {
            places.len() == paths.len() && paths.iter().all(|path| places.iter().any(|place| is_at(place, path)))
        }
    }
}

/// The canonical path, if `path` is another name of one slot.
fn canonical(module: &Module, function: Option<FunctionId>, path: &str) -> String {
    let slot = |function: &Function| function.slot_labelled(path).map(|id| function.slot(id).path.to_string());
    let is_group = |function: &Function| function.slots.iter().any(|slot| begins(&slot.path.to_string(), path));
    match function.map(|function| module.function(function)) {
        Some(function) if !is_group(function) => slot(function),
        _ => None,
    }
    .unwrap_or_else(|| path.to_owned())
}

/// `dishes[1].size` for `/dishes/1/size`; a new item has no number.
pub(super) fn written(pointer: &str) -> String {
    if !pointer.starts_with('/') {
        return pointer.to_owned();
    }
    let mut path = String::new();
    for token in pointer.split('/').skip(1) {
        let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        match (is_index, token) {
            (true, _) => path.push_str(&format!("[{token}]")),
            (false, "-") => path.push_str("[]"),
            (false, key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key.replace("~1", "/").replace("~0", "~"));
            }
        }
    }
    path
}

fn is_at_or_below(pointer: &str, path: &str) -> bool {
    begins(&written(pointer), path) || begins(&SlotPath::of_pointer(pointer).to_string(), path)
}

/// True if `path` is `start`, or lies below it.
fn begins(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Names in `expect` that the module does not have: functions, then slots.
pub(super) fn unknown(module: &Module, expect: &Expect) -> (Vec<String>, Vec<String>) {
    let named = expect.function.iter().chain(expect.functions.iter().flatten().map(|function| &function.name));
    let functions = named.filter(|name| function_named(module, name).is_none()).cloned().collect();
    let known = expect.function.as_deref().and_then(|name| function_named(module, name));
    let has = |function: &Function, path: &str| {
        let path = without_numbers(path);
        function.slot_labelled(&path).is_some()
            || function.slots.iter().any(|slot| begins(&slot.path.to_string(), &path))
    };
    let exists = |path: &str| match known {
        Some(function) => has(module.function(function), path),
        None => module.functions.iter().any(|function| has(function, path)),
    };
    let mut slots: Vec<String> = Vec::new();
    let anywhere = |path: &str| module.functions.iter().any(|function| has(function, path));
    slots.extend(expect.absent.iter().filter(|path| !exists(path)).cloned());
    slots.extend(paths(&expect.asked).filter(|path| !exists(path)).map(str::to_owned));
    // A question beside a call belongs to another function.
    slots.extend(expect.pending.iter().flat_map(paths).filter(|path| !anywhere(path)).map(str::to_owned));
    if let (Some(function), Some(arguments)) = (known, &expect.arguments) {
        let (_, unknown) = compare::compare(module.function(function), arguments, &compare::Understood::default());
        slots.extend(unknown);
    }
    (functions, slots)
}

fn paths(asked: &ExpectedQuestion) -> impl Iterator<Item = &str> {
    let paths = match &asked.slot {
        None => &[],
        Some(AskedSlot::Among(path)) => std::slice::from_ref(path),
        Some(AskedSlot::Exactly(paths)) => &paths[..],
    };
    paths.iter().map(String::as_str)
}

/// `dishes[].size` for `dishes[1].size`.
fn without_numbers(path: &str) -> String {
    let mut inside = false;
    path.chars()
        .filter(|character| {
            inside = match character {
                '[' => true,
                ']' => false,
                _ => inside,
            };
            !inside || *character == '['
        })
        .collect()
}

/// A turn in one line, as a person or a program would see it.
pub(super) fn summary(came: CheckedTurn<'_>) -> String {
    let CheckedTurn { module, turn, .. } = came;
    let mut line = match &turn.outcome {
        Outcome::Call(calls) => {
            let calls = calls.iter().map(|call| {
                let arguments = Value::Object(call.arguments().clone());
                format!("{}({arguments})", module.function(call.function()).name)
            });
            format!("call {}", calls.collect::<Vec<_>>().join(" + "))
        }
        Outcome::Ask(question) => format!("ask {}", question_line(came, question)),
        Outcome::NoMatch => "no_match".to_owned(),
        Outcome::Done { text, .. } => format!("done {text:?}"),
        Outcome::Cancelled { text, functions } => {
            let names: Vec<&str> = functions.iter().map(|function| came.name(*function)).collect();
            format!("cancelled {} {text:?}", names.join(" + "))
        }
        Outcome::Handoff { text, reason, function, path } => {
            let name = function.map_or("", |function| came.name(function));
            format!("handoff ({}) {name} {} {text:?}", reason.name(), written(path))
        }
    };
    if let Some(pending) = &turn.pending {
        line.push_str(&format!("; pending {}", question_line(came, pending)));
    }
    line
}

fn question_line(came: CheckedTurn<'_>, question: &Question) -> String {
    let names: Vec<&str> = question.about.functions().iter().map(|function| came.name(*function)).collect();
    let places: Vec<String> = question.about.pointers().iter().map(|place| written(place)).collect();
    let about = topic(&question.about).name();
    [&names.join(" or "), about, &places.join(", "), &format!("{:?}", question.text)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests;
