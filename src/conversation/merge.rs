//! Merges what one turn says of a function into its form. Pure.
//!
//! - A new value fills an empty place.
//! - Another value for a filled place replaces the old one if it is meant to (a correction, or the answer to a question
//!   about it), or if it is certain. An ambiguous value does not overwrite a certain one.
//! - Values that are ruled out or taken back are removed. Nothing else is ever removed: not by silence, not by an empty
//!   text.
//! - A value that belongs to a known item of an array joins it; others make new items.
//!
//! In detail:
//!
//! - **Ambiguous** means a confidence below `CERTAIN`. If the existing value is ambiguous too, the surer one stays, and
//!   the later one if both are equally sure. A default gives way to anything else. Defaults and carried-over values
//!   fill empty places only, and make no items; what a model chose or wrote does not replace what was said, unless it
//!   is meant to.
//! - **Which item** a value belongs to: the one that was asked about; with [`UpdateMode::Add`] a new one; the one with the
//!   same name (its first required value that is not a count), and of several the one that differs least; for another
//!   name the only item if it is corrected, or else one without a name, or else a new one; without a name the item that
//!   the latest turn was about. If several are equally likely, the values are declined. Two items of one utterance are
//!   never the same item of the form.
//! - **A portion** of an item becomes an item of its own, with the item's other values, if the item has a count that is
//!   larger than the portion. The values correct that portion.
//! - **Lists of scalars** get the values that they do not have yet. A correction by one value replaces a single one.
//! - **Invalid values** wait aside until their place gets a valid value, and change no other value. But a correction
//!   removes the old value even if the new one is invalid: the old one is no longer wanted.
//! - **Ruled-out values** are removed, an item together with the value that names it, and are remembered until they are
//!   said again.
//! - **Items are numbered without gaps**. A value that is aside or ruled out and belongs to no existing item has `-` in
//!   place of the number.

mod draft;
mod items;
mod place;
mod settle;

pub use items::count as count_slot;

use std::collections::BTreeMap;

use serde_json::Value;

use self::{
    draft::{Draft, Placed, same},
    place::{ArgumentPath, ArgumentStep},
    settle::{Saying, What, is_silent, settle},
};
use super::state::{Confirmation, Form, InvalidValue, Origin};
use crate::{
    call::{SlotValue, Source, ViolationKind},
    module::Function,
    recognize::certainty::Certainty,
};

/// What one turn says of one function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FormUpdate {
    pub turn: u32,
    /// Probability that the function is meant, 0 to 1.
    pub confidence: f32,
    /// The function is not certain enough to be called without asking.
    pub is_doubtful: bool,
    /// The origin of the form, if this opens it.
    pub origin: Origin,
    /// Valid values. Array items are numbered from 0 within the utterance, independently of the form.
    pub values: Vec<SlotValue>,
    pub invalid: Vec<InvalidValue>,
    /// Values that were only mentioned to rule them out.
    pub excluded: Vec<SlotValue>,
    pub manner: UpdateMode,
    pub removed: Vec<Removal>,
    /// JSON pointers of the places that were asked for, `/dishes/1/size`.
    pub asked: Vec<String>,
    /// "One of them large": the values apply to this many of an item with a larger count.
    pub portion: Option<u64>,
}

impl FormUpdate {
    /// Drops everything that it says of the form's values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.invalid.clear();
        self.excluded.clear();
        self.removed.clear();
    }

    /// Whether it says anything of the form's values.
    #[must_use]
    pub fn brings_something(&self) -> bool {
        !self.values.is_empty() || !self.tells_values_alone()
    }

    /// Whether it excludes and removes nothing, and has no value that breaks a rule.
    pub(crate) fn tells_values_alone(&self) -> bool {
        self.invalid.is_empty() && self.excluded.is_empty() && self.removed.is_empty()
    }
}

/// How new values relate to existing ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpdateMode {
    /// The utterance does not say.
    #[default]
    Fill,
    /// They replace them: "no, I meant 9".
    Correct,
    /// They come in addition: "and another".
    Add,
}

/// What is taken back.
#[derive(Debug, Clone, PartialEq)]
pub enum Removal {
    /// Everything at or below this pointer, such as `/dishes/1`.
    Place(String),
    /// This value, wherever a slot of this path holds it; the value that names an item removes the whole item.
    Value { path: String, value: serde_json::Value },
}

/// The result of merging.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    pub form: Form,
    /// A value of the form was changed, added or removed.
    pub is_changed: bool,
    /// Values that were too ambiguous to overwrite existing ones.
    pub declined: Vec<SlotValue>,
}

/// Values below this confidence are ambiguous.
pub(crate) const CERTAIN: Certainty = Certainty::Guessed;

/// See [the module](self).
#[must_use]
pub fn merged(function: &Function, form: &Form, said: &FormUpdate) -> Merged {
    let mut draft = Draft::of(form, &said.asked);
    draft.take_back(function, &said.removed);
    let mut sayings = sayings(said);
    settle(function, &mut draft, said, &mut sayings);
    let merging = Merging { function, manner: said.manner, lists: lists(&sayings), draft, declined: Vec::new() };
    let (draft, declined) = merging.run(sayings);
    let mut after = draft.form(form);
    let is_changed = values(&form.slots) != values(&after.slots);
    if is_changed {
        after.confirmation = Confirmation::Open;
    }
    Merged { form: after, is_changed, declined }
}

/// True if `pointer` is `place`, or lies below it.
#[must_use]
pub fn is_within(pointer: &str, place: &str) -> bool {
    pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn values(slots: &[SlotValue]) -> BTreeMap<&str, &Value> {
    slots.iter().map(|filled| (filled.pointer.as_str(), &filled.value)).collect()
}

/// Everything that has a place, in the order of merging: ruled-out values make room for others, spoken values come
/// before silent ones, and a valid value settles an invalid one.
fn sayings(said: &FormUpdate) -> Vec<Saying> {
    let (spoken, silent): (Vec<&SlotValue>, Vec<&SlotValue>) =
        said.values.iter().filter(|filled| !is_blank(&filled.value)).partition(|filled| !is_silent(filled.from));
    let excluded = said.excluded.iter().filter(|filled| !is_blank(&filled.value));
    let invalid = said.invalid.iter().filter(|aside| aside.kind != ViolationKind::Missing);
    let excluded = excluded.map(|filled| (&filled.pointer, What::Excluded(filled.clone())));
    let values = spoken.into_iter().chain(silent).map(|filled| (&filled.pointer, What::Value(filled.clone())));
    let invalid = invalid.map(|aside| (&aside.pointer, What::Invalid(aside.clone())));
    let all = excluded.chain(values).chain(invalid);
    let placed =
        all.filter_map(|(pointer, what)| Some(Saying { place: ArgumentPath::of(pointer)?, what, is_meant: false }));
    placed.filter(|saying| !saying.place.0.is_empty() || matches!(saying.what, What::Invalid(_))).collect()
}

/// True for empty values, however they are written.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Number of values said for each list of scalars.
fn lists(sayings: &[Saying]) -> BTreeMap<Vec<ArgumentStep>, usize> {
    let mut lists = BTreeMap::new();
    for saying in sayings.iter().filter(|saying| saying.is_spoken()) {
        if let Some(list) = saying.place.list() {
            *lists.entry(list.to_vec()).or_default() += 1;
        }
    }
    lists
}

/// Merges settled sayings into a form.
struct Merging<'a> {
    function: &'a Function,
    manner: UpdateMode,
    lists: BTreeMap<Vec<ArgumentStep>, usize>,
    draft: Draft,
    declined: Vec<SlotValue>,
}

impl Merging<'_> {
    fn run(mut self, sayings: Vec<Saying>) -> (Draft, Vec<SlotValue>) {
        let mut landed: Vec<ArgumentPath> = Vec::new();
        for Saying { place, what, is_meant } in sayings {
            match what {
                What::Excluded(filled) => self.draft.rule_out(self.function, place, filled),
                What::Value(filled) => {
                    if let Some(place) = self.place(place, &filled) {
                        landed.extend(self.put(place, filled, is_meant));
                    }
                }
                What::Invalid(aside) if !landed.contains(&place) => self.put_aside(place, aside),
                What::Declined(filled) => self.declined.push(filled),
                What::Invalid(_) | What::Done => {}
            }
        }
        (self.draft, self.declined)
    }

    /// The final place of the value; `None` for a silent value in a list that already has values.
    fn place(&self, place: ArgumentPath, filled: &SlotValue) -> Option<ArgumentPath> {
        let Some(list) = place.list() else { return Some(place) };
        let element = |item: usize| ArgumentPath([list, &[ArgumentStep::Item(item)]].concat());
        let items = self.draft.items(list);
        let is_same =
            |place: &ArgumentPath| self.draft.at(place).is_some_and(|known| same(&known.value, &filled.value));
        let is_asked = |place: &ArgumentPath| self.draft.asked.contains(place);
        if let Some(known) = items.iter().map(|item| element(*item)).find(is_same) {
            return Some(known);
        }
        if is_silent(filled.from) && !items.is_empty() {
            return None;
        }
        if let Some(asked) = items.iter().map(|item| element(*item)).find(is_asked) {
            return Some(asked);
        }
        if let Some(only) = self.corrected(list) {
            return Some(only);
        }
        items.last().map_or(Some(0), |last| last.checked_add(1)).map(element)
    }

    /// The only element of a list, if the new value is meant to replace it.
    fn corrected(&self, list: &[ArgumentStep]) -> Option<ArgumentPath> {
        let items = self.draft.items(list);
        let is_one = self.manner == UpdateMode::Correct && items.len() == 1 && self.lists.get(list) == Some(&1);
        items.first().filter(|_| is_one).map(|item| ArgumentPath([list, &[ArgumentStep::Item(*item)]].concat()))
    }

    /// Puts the value at its place; `None` if the existing value stays.
    fn put(&mut self, place: ArgumentPath, filled: SlotValue, is_meant: bool) -> Option<ArgumentPath> {
        let is_meant = is_meant || self.manner == UpdateMode::Correct || self.draft.asked.contains(&place);
        let is_said = !is_silent(filled.from);
        if !is_said && self.draft.is_ruled_out(&place, &filled.value) {
            return None;
        }
        let value = filled.value.clone();
        let slots = &mut self.draft.slots;
        let barring = || slots.iter().filter(|slot| slot.place.bars(&place));
        let is_known = slots.iter().any(|slot| slot.place == place && same(&slot.of.value, &value));
        if is_known {
            let known = slots.iter_mut().find(|slot| slot.place == place)?;
            known.of = repeated(&known.of, filled);
        } else if barring().all(|slot| gives_way(&slot.of, &filled, is_meant)) {
            let at = slots.iter().position(|slot| slot.place.bars(&place)).unwrap_or(slots.len());
            slots.retain(|slot| !slot.place.bars(&place));
            slots.insert(at, Placed { place: place.clone(), of: filled });
        } else {
            if is_said {
                self.declined.push(SlotValue { pointer: place.pointer(), ..filled });
            }
            return None;
        }
        if is_said {
            self.draft.settled(&place, &value, self.manner == UpdateMode::Add);
        }
        Some(place)
    }

    /// An invalid correction still means that the old value is not wanted.
    fn put_aside(&mut self, mut place: ArgumentPath, aside: InvalidValue) {
        let old = match place.list().map(<[ArgumentStep]>::to_vec) {
            Some(list) => {
                let last = list.len();
                place.0[last] = ArgumentStep::New;
                self.corrected(&list)
            }
            None => Some(place.clone()).filter(|_| self.manner == UpdateMode::Correct),
        };
        if let Some(old) = old {
            self.draft.slots.retain(|slot| slot.place != old);
        }
        let is_list = place.list().is_some();
        self.draft.aside.retain(|other| other.place != place || is_list && other.of.found != aside.found);
        // Null means that nothing was found, as in the state's JSON.
        let found = aside.found.filter(|found| !found.is_null());
        self.draft.aside.push(Placed { place, of: InvalidValue { found, ..aside } });
    }
}

/// An existing value, said again.
fn repeated(known: &SlotValue, again: SlotValue) -> SlotValue {
    let confidence = known.confidence.max(again.confidence);
    let from = if weight(again.from) < weight(known.from) { known.clone() } else { again };
    SlotValue { value: known.value.clone(), confidence, ..from }
}

/// Weight of a value's source, lightest first.
const fn weight(from: Source) -> u8 {
    match from {
        Source::Default => 0,
        Source::Carried | Source::Withdrawn => 1,
        Source::Choice | Source::Generated => 2,
        Source::Said => 3,
    }
}

/// True if a new value may replace the existing one.
fn gives_way(known: &SlotValue, new: &SlotValue, is_meant: bool) -> bool {
    if known.from == Source::Default {
        return true;
    }
    if is_silent(new.from) {
        return false;
    }
    // If both are ambiguous, the surer one stays, and the later one if they are equally sure.
    let is_surer = known.confidence < CERTAIN.score() && new.confidence >= known.confidence;
    let is_free = matches!(new.from, Source::Choice | Source::Generated) && known.from.was_said();
    is_meant || !is_free && (new.confidence >= CERTAIN.score() || is_surer)
}

#[cfg(test)]
mod tests;
