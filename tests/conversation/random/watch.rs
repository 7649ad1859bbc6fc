//! What must hold after each turn of a conversation, whatever was said. It is independent of the code under test.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use uptake::{
    conversation::{Confirmation, End, Expects, Form, State},
    module::{Module, SlotPath},
    understand::{Conversed, Outcome},
};

use super::{
    person::{Means, Utterance, plain},
    words::{MONTHS, expressions, number_word},
    world::World,
};

pub(super) struct Watch<'w> {
    world: &'w World,
    /// Everything that the person said, folded.
    heard: String,
    /// Called forms, by function and opening turn.
    called: BTreeSet<(String, u32)>,
    /// What the person has confirmed.
    confirmed: BTreeMap<(String, u32), BTreeMap<String, Vec<Value>>>,
    /// What the person has refused, without saying anything else of it since.
    refused: BTreeMap<(String, u32), BTreeMap<String, Vec<Value>>>,
}

impl<'w> Watch<'w> {
    pub(super) fn new(world: &'w World) -> Self {
        Self {
            world,
            heard: String::new(),
            called: BTreeSet::new(),
            confirmed: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    /// What is wrong with a turn, in words.
    pub(super) fn turn(
        &mut self,
        module: &Module,
        before: &State,
        said: &Utterance,
        after: &Conversed,
    ) -> Result<(), String> {
        self.heard += &format!(" {} ", said.text.to_lowercase());
        self.confirmed(before, said);
        self.refused(before, said);
        self.calls(module, before, after)?;
        yes_is_done(before, said, after)?;
        forms_are_well(&after.state)?;
        self.nothing_lost(before, said, &after.state)?;
        let written = serde_json::to_string(&after.state).map_err(|error| error.to_string())?;
        let read: State = serde_json::from_str(&written).map_err(|error| error.to_string())?;
        if read != after.state { Err("the state does not survive as JSON".to_owned()) } else { Ok(()) }
    }

    fn confirmed(&mut self, before: &State, said: &Utterance) {
        if let (Some(Expects::Yes { function }), Means::Yes) = (&before.expects, said.means)
            && let Some(form) = before.form(function)
        {
            self.confirmed.insert((function.clone(), form.opened), by_path(form));
        }
    }

    fn refused(&mut self, before: &State, said: &Utterance) {
        let Some(form) = before.forms.last() else { return };
        let key = (form.function.clone(), form.opened);
        match (&before.expects, said.means) {
            (Some(Expects::Yes { .. }), Means::No | Means::NoBut) => {
                self.refused.insert(key, by_path(form));
            }
            (_, Means::Noise | Means::Unknown | Means::Yes | Means::No | Means::NoBut | Means::Cancel) => {}
            (_, Means::Request) if !said.text.contains(self.world.function(&form.function).wish) => {}
            (
                _,
                Means::Request | Means::Values | Means::Mistake | Means::Correction | Means::Removal | Means::YesBut,
            ) => {
                self.refused.remove(&key);
            }
        }
    }

    fn calls(&mut self, module: &Module, before: &State, after: &Conversed) -> Result<(), String> {
        let Outcome::Call(calls) = &after.turn.outcome else { return Ok(()) };
        let ended: Vec<_> = after
            .state
            .finished
            .iter()
            .filter(|finished| finished.turn == after.state.turn && finished.end == End::Called)
            .collect();
        if ended.len() != calls.len() {
            return Err(format!("{} calls, and {} forms that ended so", calls.len(), ended.len()));
        }
        for finished in ended {
            if !self.called.insert((finished.function.clone(), finished.opened)) {
                return Err(format!("{} is called twice", finished.function));
            }
            let is_same = |form: &Form| form.function == finished.function && form.opened == finished.opened;
            if after.state.forms.iter().any(is_same) {
                return Err(format!("{} is called and still open", finished.function));
            }
            let form = before.forms.iter().find(|form| is_same(form)).map(by_path);
            let no = self.refused.get(&(finished.function.clone(), finished.opened));
            if no.is_some() && no == form.as_ref() {
                return Err(format!("{} is called, and was refused", finished.function));
            }
            let yes = self.confirmed.get(&(finished.function.clone(), finished.opened));
            if self.world.function(&finished.function).confirm && (form.is_none() || yes != form.as_ref()) {
                return Err(format!("{} is called without a yes", finished.function));
            }
        }
        for call in calls {
            let name = &module.function(call.function()).name;
            self.call(name, &Value::Object(call.arguments().clone()))?;
        }
        Ok(())
    }

    /// A call must be complete, valid, and contain only what was said.
    fn call(&self, name: &str, arguments: &Value) -> Result<(), String> {
        let function = self.world.function(name);
        let schema = jsonschema::options()
            .should_validate_formats(true)
            .build(&function.parameters)
            .map_err(|error| error.to_string())?;
        if let Some(error) = schema.iter_errors(arguments).next() {
            return Err(format!("{name} is called with {arguments}: {error}"));
        }
        if function.ordered
            && let (Some(start), Some(end)) = (arguments["start_date"].as_str(), arguments["end_date"].as_str())
            && start >= end
        {
            return Err(format!("{name} is called with an end before its start: {arguments}"));
        }
        let mut unsaid = scalars(arguments).into_iter().filter(|value| !self.was_said(value));
        match unsaid.next() {
            None => Ok(()),
            Some(value) => Err(format!("{name} is called with {value}, which nobody said: {arguments}")),
        }
    }

    fn was_said(&self, value: &Value) -> bool {
        says(&self.heard, value)
    }

    /// A value may disappear only if another one is said for it, or something is taken back.
    fn nothing_lost(&self, before: &State, said: &Utterance, after: &State) -> Result<(), String> {
        for form in &before.forms {
            let is_same = |other: &&Form| other.function == form.function && other.opened == form.opened;
            let Some(now) = after.forms.iter().find(is_same) else { continue };
            let (old, new) = (by_path(form), by_path(now));
            for (path, values) in &old {
                let held = new.get(path).cloned().unwrap_or_default();
                let (lost, won) = (without(values, &held), without(&held, values));
                if lost.is_empty() {
                    continue;
                }
                let lost = lost.iter().map(|value| plain(value)).collect::<Vec<_>>().join(", ");
                if matches!(said.means, Means::Noise | Means::Unknown | Means::Yes) {
                    return Err(format!("{path} lost {lost} to nothing"));
                }
                let text = format!(" {} ", said.text.to_lowercase());
                let is_replaced = !won.is_empty() && won.iter().all(|value| says(&text, value) || value.is_boolean());
                let is_taken_back = matches!(
                    said.means,
                    Means::Correction
                        | Means::Removal
                        | Means::Cancel
                        | Means::No
                        | Means::NoBut
                        | Means::YesBut
                        | Means::Mistake
                );
                if !is_replaced && !is_taken_back {
                    return Err(format!("{path} lost {lost}"));
                }
            }
        }
        Ok(())
    }
}

/// Each yes calls what was proposed, so that everything is called after as many as there are forms; and no yes is kept
/// for later.
fn yes_is_done(before: &State, said: &Utterance, after: &Conversed) -> Result<(), String> {
    if let Some(form) = after.state.forms.iter().find(|form| form.confirmation == Confirmation::Given) {
        return Err(format!("{} was agreed to, and is not called", form.function));
    }
    let (Some(Expects::Yes { .. }), Some(form), Means::Yes) = (&before.expects, before.forms.last(), said.means) else {
        return Ok(());
    };
    let is_same = |other: &Form| other.function == form.function && other.opened == form.opened;
    match after.called.iter().any(is_same) {
        true => Ok(()),
        false => Err(format!("{} is not called after its yes", form.function)),
    }
}

/// No place occurs twice, and no array has a gap.
fn forms_are_well(state: &State) -> Result<(), String> {
    for form in &state.forms {
        let mut pointers = BTreeSet::new();
        let mut items: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for filled in &form.slots {
            if !pointers.insert(&filled.pointer) {
                return Err(format!("{} is there twice", filled.pointer));
            }
            if filled.value.is_null() || filled.value == "" {
                return Err(format!("{} is empty", filled.pointer));
            }
            for (at, _) in filled.pointer.match_indices('/') {
                let step = filled.pointer[at + 1..].split('/').next().unwrap_or_default();
                if let Ok(index) = step.parse() {
                    items.entry(&filled.pointer[..at]).or_default().insert(index);
                }
            }
        }
        for (array, items) in items {
            if items.iter().copied().ne(0..items.len()) {
                return Err(format!("{array} has the items {items:?}"));
            }
        }
    }
    Ok(())
}

fn by_path(form: &Form) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for filled in &form.slots {
        all.entry(SlotPath::of_pointer(&filled.pointer).to_string()).or_default().push(filled.value.clone());
    }
    all
}

/// The elements of `values` that are not in `others`.
fn without<'v>(values: &'v [Value], others: &[Value]) -> Vec<&'v Value> {
    let mut others: Vec<&Value> = others.iter().collect();
    let mut left = Vec::new();
    for value in values {
        match others.iter().position(|other| *other == value) {
            Some(at) => _ = others.swap_remove(at),
            None => left.push(value),
        }
    }
    left
}

fn scalars(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().flat_map(scalars).collect(),
        Value::Array(items) => items.iter().flat_map(scalars).collect(),
        Value::Bool(_) | Value::Null => Vec::new(),
        Value::Number(_) | Value::String(_) => vec![value],
    }
}

/// True if `text` (folded, in spaces) contains the value: as it is, by another name, or as a date.
fn says(text: &str, value: &Value) -> bool {
    let has = |words: &str| {
        let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let words = words.to_lowercase();
        text.match_indices(&words).any(|(at, _)| {
            !is_inside(text[..at].chars().next_back()) && !is_inside(text[at + words.len()..].chars().next())
        })
    };
    match value {
        Value::Number(number) => has(&number.to_string()) || number.as_i64().and_then(number_word).is_some_and(has),
        Value::String(label) => {
            has(label)
                || expressions(label).iter().any(|other| has(other))
                || in_words(label).is_some_and(|day| has(&day))
        }
        _ => true,
    }
}

/// `2026-05-03` as "May 3".
fn in_words(date: &str) -> Option<String> {
    let mut parts = date.split('-').map(|part| part.parse::<usize>().ok());
    let (_, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    Some(format!("{} {day}", MONTHS.get(month.checked_sub(1)?)?))
}
