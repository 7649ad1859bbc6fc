//! A form in parts while it is being changed. Arrays may have gaps until they are closed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Removal,
    items::ItemShape,
    place::{ArgumentPath, ArgumentStep},
};
use crate::{
    call::SlotValue,
    conversation::state::{Form, InvalidValue},
    module::Function,
};

#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) place: ArgumentPath,
    pub(super) of: T,
}

#[derive(Debug)]
pub(super) struct Draft {
    pub(super) slots: Vec<Placed<SlotValue>>,
    pub(super) aside: Vec<Placed<InvalidValue>>,
    /// `-` stands for any item, in a list and where the value names the item.
    pub(super) excluded: Vec<Placed<SlotValue>>,
    pub(super) skipped: Vec<String>,
    pub(super) asked: Vec<ArgumentPath>,
}

/// The new number of each remaining item, by array and old number.
type Numbers = BTreeMap<Vec<ArgumentStep>, BTreeMap<usize, usize>>;

impl Draft {
    /// A state may come from a client: values without a valid place, or whose place is already taken, are left out.
    pub(super) fn of(form: &Form, asked: &[String]) -> Self {
        let mut slots: Vec<Placed<SlotValue>> = Vec::with_capacity(form.slots.len());
        for filled in &form.slots {
            let Some(mut place) = ArgumentPath::of(&filled.pointer).filter(|place| !place.0.is_empty()) else {
                continue;
            };
            for step in place.0.iter_mut().filter(|step| **step == ArgumentStep::New) {
                *step = ArgumentStep::Item(usize::MAX);
            }
            if !slots.iter().any(|other| other.place.bars(&place)) {
                slots.push(Placed { place, of: filled.clone() });
            }
        }
        let aside = form.aside.iter().filter_map(|aside| placed(&aside.pointer, aside)).collect();
        let excluded = form.excluded.iter().filter_map(|filled| placed(&filled.pointer, filled)).collect();
        let asked = asked.iter().filter_map(|pointer| ArgumentPath::of(pointer)).collect();
        let mut draft = Self { slots, aside, excluded, skipped: form.skipped.clone(), asked };
        let numbers = draft.close_gaps();
        draft.asked.iter_mut().for_each(|place| _ = renumber(place, &numbers));
        draft
    }

    /// Builds the form from the parts.
    pub(super) fn form(mut self, form: &Form) -> Form {
        self.close_gaps();
        let filled = |one: Placed<SlotValue>| SlotValue { pointer: one.place.pointer(), ..one.of };
        Form {
            slots: self.slots.into_iter().map(filled).collect(),
            excluded: self.excluded.into_iter().map(filled).collect(),
            aside: self.aside.into_iter().map(|one| InvalidValue { pointer: one.place.pointer(), ..one.of }).collect(),
            skipped: self.skipped,
            ..form.clone()
        }
    }

    /// Items in `removed` have their numbers from before the removal.
    pub(super) fn take_back(&mut self, function: &Function, removed: &[Removal]) {
        if removed.is_empty() {
            return;
        }
        for removal in removed {
            match removal {
                Removal::Place(pointer) => {
                    if let Some(place) = ArgumentPath::of(pointer) {
                        self.clear(&place);
                    }
                }
                Removal::Value { path, value } => {
                    let is_it =
                        |place: &ArgumentPath, held: &Value| place.path().to_string() == *path && same(held, value);
                    let gone = self.places(&is_it);
                    gone.iter().for_each(|place| self.clear(&unit(function, place)));
                    self.aside.retain(|aside| !aside.of.found.as_ref().is_some_and(|it| is_it(&aside.place, it)));
                }
            }
        }
        let numbers = self.close_gaps();
        self.asked.retain_mut(|place| renumber(place, &numbers));
    }

    /// Removes a value that was ruled out, and remembers it.
    pub(super) fn rule_out(&mut self, function: &Function, place: ArgumentPath, filled: SlotValue) {
        let pattern = anywhere(function, place);
        for place in self.places(&|place, held| place.may_be(&pattern) && same(held, &filled.value)) {
            self.clear(&unit(function, &place));
        }
        let is_it = |aside: &Placed<InvalidValue>| {
            aside.place.may_be(&pattern) && aside.of.found.as_ref().is_some_and(|found| same(found, &filled.value))
        };
        self.aside.retain(|aside| !is_it(aside));
        if !self.excluded.iter().any(|known| known.place == pattern && same(&known.of.value, &filled.value)) {
            self.excluded.push(Placed { place: pattern, of: filled });
        }
    }

    pub(super) fn is_ruled_out(&self, place: &ArgumentPath, value: &Value) -> bool {
        self.excluded.iter().any(|excluded| excluded.place.may_be(place) && same(&excluded.of.value, value))
    }

    /// This place now has this value, so invalid and ruled-out values for it are dropped. With `is_added`, values that
    /// wait for a new item are kept.
    pub(super) fn settled(&mut self, place: &ArgumentPath, value: &Value, is_added: bool) {
        let waits = |aside: &Placed<InvalidValue>| is_added && aside.place.0.contains(&ArgumentStep::New);
        self.aside.retain(|aside| !aside.place.touches(place) || waits(aside));
        self.excluded.retain(|excluded| !excluded.place.may_be(place) || !same(&excluded.of.value, value));
        let path = place.path().to_string();
        self.skipped.retain(|skipped| *skipped != path);
    }

    /// Removes everything at this place or below.
    pub(super) fn clear(&mut self, place: &ArgumentPath) {
        self.slots.retain(|slot| !slot.place.is_within(&place.0));
        self.aside.retain(|aside| !aside.place.touches(place));
        // Ruled-out values stay, unless the item that they belong to is removed.
        if matches!(place.0.last(), None | Some(ArgumentStep::Item(_))) {
            self.excluded.retain(|excluded| !excluded.place.is_within(&place.0));
        }
    }

    pub(super) fn at(&self, place: &ArgumentPath) -> Option<&SlotValue> {
        self.slots.iter().find(|slot| slot.place == *place).map(|slot| &slot.of)
    }

    /// The value `below` this item.
    pub(super) fn of_item(&self, array: &[ArgumentStep], item: usize, below: &[ArgumentStep]) -> Option<&SlotValue> {
        self.at(&ArgumentPath([array, &[ArgumentStep::Item(item)], below].concat()))
    }

    /// The items of an array, in their order.
    pub(super) fn items(&self, array: &[ArgumentStep]) -> BTreeSet<usize> {
        let item = |slot: &Placed<SlotValue>| match slot.place.0.get(array.len()) {
            Some(ArgumentStep::Item(index)) if slot.place.is_within(array) => Some(*index),
            _ => None,
        };
        self.slots.iter().filter_map(item).collect()
    }

    fn places(&self, test: &dyn Fn(&ArgumentPath, &Value) -> bool) -> Vec<ArgumentPath> {
        let found = self.slots.iter().filter(|slot| test(&slot.place, &slot.of.value));
        found.map(|slot| slot.place.clone()).collect()
    }

    /// Renumbers the items of each array from 0; values of a removed item get `-` for it.
    fn close_gaps(&mut self) -> Numbers {
        let mut numbers = Numbers::new();
        for slot in &self.slots {
            for (at, step) in slot.place.0.iter().enumerate() {
                if let ArgumentStep::Item(index) = step {
                    numbers.entry(slot.place.until(at).to_vec()).or_default().insert(*index, 0);
                }
            }
        }
        for items in numbers.values_mut() {
            items.values_mut().enumerate().for_each(|(number, item)| *item = number);
        }
        self.slots.iter_mut().for_each(|slot| _ = renumber(&mut slot.place, &numbers));
        self.aside.iter_mut().for_each(|aside| _ = renumber(&mut aside.place, &numbers));
        self.excluded.iter_mut().for_each(|excluded| _ = renumber(&mut excluded.place, &numbers));
        numbers
    }
}

fn placed<T: Clone>(pointer: &str, of: &T) -> Option<Placed<T>> {
    ArgumentPath::of(pointer).map(|place| Placed { place, of: of.clone() })
}

/// False if an item on the way no longer exists; its step is then `-`.
fn renumber(place: &mut ArgumentPath, numbers: &Numbers) -> bool {
    let before = place.0.clone();
    let mut is_there = true;
    for (at, step) in place.0.iter_mut().enumerate() {
        if let ArgumentStep::Item(index) = step {
            match numbers.get(&before[..at]).and_then(|items| items.get(index)) {
                Some(number) => *index = *number,
                None => {
                    *step = ArgumentStep::New;
                    is_there = false;
                }
            }
        }
    }
    is_there
}

/// What is removed together with the value at this place: the item that it names, or only itself.
fn unit(function: &Function, place: &ArgumentPath) -> ArgumentPath {
    match named_item(function, place) {
        Some(at) => ArgumentPath(place.until(at + 1).to_vec()),
        None => place.clone(),
    }
}

/// The place with `-` in place of the list index, or of the number of the item that it names.
fn anywhere(function: &Function, mut place: ArgumentPath) -> ArgumentPath {
    let element = place.list().map(<[ArgumentStep]>::len);
    if let Some(at) = element.or_else(|| named_item(function, &place)) {
        place.0[at] = ArgumentStep::New;
    }
    place
}

/// Index of the step with the item that the value at this place names.
fn named_item(function: &Function, place: &ArgumentPath) -> Option<usize> {
    let at = place.0.iter().rposition(|step| !matches!(step, ArgumentStep::Key(_)))?;
    let head = ItemShape::of(function, place.until(at)).head?;
    (place.0[at + 1..] == head).then_some(at)
}

/// Equality of values; numbers are equal however they are written.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}
