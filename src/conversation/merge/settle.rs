//! Decides which items of the form the items of an utterance mean.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    FormUpdate, UpdateMode,
    draft::{Draft, Placed, same},
    items::ItemShape,
    place::{ArgumentPath, ArgumentStep},
};
use crate::{
    call::{SlotValue, Source},
    conversation::state::InvalidValue,
    module::Function,
};

/// A part of an utterance. Its place has the utterance's numbering until it is settled.
#[derive(Debug)]
pub(super) struct Saying {
    pub(super) place: ArgumentPath,
    pub(super) what: What,
    /// It is about a portion of an item, and so meant to change it.
    pub(super) is_meant: bool,
}

#[derive(Debug)]
pub(super) enum What {
    Value(SlotValue),
    Invalid(InvalidValue),
    Excluded(SlotValue),
    /// It is unclear what it is about.
    Declined(SlotValue),
    /// It is dealt with.
    Done,
}

/// What an utterance says of an item's name.
enum Head {
    Named(Value),
    /// With an invalid value.
    Misnamed,
    Unnamed,
}

/// Gives all `sayings` their places in the form. New items get the numbers after the existing ones.
pub(super) fn settle(function: &Function, draft: &mut Draft, said: &FormUpdate, sayings: &mut [Saying]) {
    let members = (0..sayings.len()).collect();
    let (manner, portion) = (said.manner, said.portion);
    Settling { function, draft, manner, portion, sayings, taken: BTreeSet::new() }.settle(members, 0);
}

struct Settling<'a> {
    function: &'a Function,
    draft: &'a mut Draft,
    manner: UpdateMode,
    portion: Option<u64>,
    sayings: &'a mut [Saying],
    /// Items that are new, or that another item of the utterance means.
    taken: BTreeSet<(Vec<ArgumentStep>, usize)>,
}

impl Settling<'_> {
    /// `members` share the first `at` steps, which are settled.
    fn settle(&mut self, members: Vec<usize>, at: usize) {
        let mut groups: BTreeMap<ArgumentStep, Vec<usize>> = BTreeMap::new();
        for member in members {
            let saying = &self.sayings[member];
            if let Some(step) = saying.place.0.get(at).filter(|_| !saying.is_done()) {
                groups.entry(step.clone()).or_default().push(member);
            }
        }
        for (step, mut members) in groups {
            if !matches!(step, ArgumentStep::Key(_)) {
                // An element of a list of scalars gets its place when it is merged.
                members.retain(|member| self.sayings[*member].place.0.len() > at + 1);
                self.settle_item(&members, at);
            }
            self.settle(members, at + 1);
        }
    }

    /// `members` are what is said of one item of the array.
    fn settle_item(&mut self, members: &[usize], at: usize) {
        let Some(first) = members.first() else { return };
        let array = self.sayings[*first].place.until(at).to_vec();
        let group = Group { shape: ItemShape::of(self.function, &array), array, members };
        let step = if group.members.iter().all(|member| matches!(self.sayings[*member].what, What::Excluded(_))) {
            self.item_ruled_out_of(&group).map_or(ArgumentStep::New, ArgumentStep::Item)
        } else if let Some(item) = self.item_meant(&group) {
            let item = self.part(&group, item);
            self.taken.insert((group.array.clone(), item));
            ArgumentStep::Item(item)
        } else {
            members.iter().for_each(|member| self.sayings[*member].decline());
            ArgumentStep::New
        };
        members.iter().for_each(|member| self.sayings[*member].place.0[at] = step.clone());
    }

    /// `None` if it is unclear which item is meant. A new item gets the next number.
    fn item_meant(&mut self, group: &Group<'_>) -> Option<usize> {
        let free: Vec<usize> = self.free(group);
        let head = self.head(group);
        if let Some(item) = self.item_asked_for(group, &head, &free) {
            return Some(item);
        }
        let is_silent = group.members.iter().all(|member| self.sayings[*member].is_silent());
        let known = match &head {
            Head::Unnamed if self.manner == UpdateMode::Add && self.has_own_value(group) => None,
            Head::Named(_) | Head::Misnamed if self.manner == UpdateMode::Add => None,
            Head::Named(name) => self.item_named(group, name, &free).or_else(|| self.item_renamed(group, &free)),
            Head::Misnamed => self.item_renamed(group, &free),
            Head::Unnamed if free.is_empty() => None,
            Head::Unnamed => return self.item_touched_last(group, &free),
        };
        known.or_else(|| if is_silent { None } else { self.new_item(group) })
    }

    fn item_asked_for(&mut self, group: &Group<'_>, head: &Head, free: &[usize]) -> Option<usize> {
        let is_in_item = |asked: &&ArgumentPath| asked.is_within(&group.array) && asked.0.len() > group.at();
        let asked: Vec<ArgumentPath> = self.draft.asked.iter().filter(is_in_item).cloned().collect();
        for place in &asked {
            let below = group.below(place);
            let is_answer = group.members.iter().any(|member| group.below(&self.sayings[*member].place) == below);
            match place.0[group.at()] {
                ArgumentStep::Item(item) if free.contains(&item) => {
                    let asks_name = group.shape.head.as_deref() == Some(below);
                    let may_be = match (head, self.name_of(group, item)) {
                        (Head::Unnamed, _) => self.manner != UpdateMode::Add || is_answer,
                        (_, None) => true,
                        (Head::Named(name), Some(known)) => asks_name || same(name, &known.value),
                        (Head::Misnamed, Some(_)) => asks_name,
                    };
                    if may_be {
                        return Some(item);
                    }
                }
                ArgumentStep::New if is_answer => {
                    let known = match head {
                        Head::Named(name) => self.item_named(group, name, free),
                        Head::Misnamed | Head::Unnamed => None,
                    };
                    return known.or_else(|| self.new_item(group));
                }
                ArgumentStep::Item(_) | ArgumentStep::New | ArgumentStep::Key(_) => {}
            }
        }
        None
    }

    /// Of the items with this name, the one that differs least, then the one that agrees most.
    fn item_named(&self, group: &Group<'_>, name: &Value, free: &[usize]) -> Option<usize> {
        let named = free
            .iter()
            .copied()
            .filter(|item| self.name_of(group, *item).is_some_and(|known| same(&known.value, name)));
        named.min_by_key(|item| {
            let (equal, other) = self.compared(group, *item);
            (other, std::cmp::Reverse(equal), *item)
        })
    }

    /// The only item, if its name is to be replaced; or else an item without a name whose values do not differ.
    fn item_renamed(&self, group: &Group<'_>, free: &[usize]) -> Option<usize> {
        if self.manner == UpdateMode::Correct && self.draft.items(&group.array).len() == 1 && free.len() == 1 {
            return free.first().copied();
        }
        let is_open = |item: &usize| self.name_of(group, *item).is_none() && self.compared(group, *item).1 == 0;
        free.iter().copied().filter(is_open).max_by_key(|item| self.touched(group, *item))
    }

    /// The item that the latest turn was about. A correction needs one that already has such a value.
    fn item_touched_last(&self, group: &Group<'_>, free: &[usize]) -> Option<usize> {
        let has_one = |item: &usize| {
            let (equal, other) = self.compared(group, *item);
            equal + other > 0
        };
        let mut among: Vec<usize> = free.to_vec();
        if self.manner == UpdateMode::Correct && among.iter().any(has_one) {
            among.retain(has_one);
        }
        let latest = among.iter().map(|item| self.touched(group, *item)).max()?;
        let mut last = among.into_iter().filter(|item| self.touched(group, *item) == latest);
        last.next().filter(|_| last.next().is_none())
    }

    /// The existing item that something is ruled out of; `None` means any.
    fn item_ruled_out_of(&self, group: &Group<'_>) -> Option<usize> {
        let head = group.shape.head.as_deref();
        let is_named = |member: &usize| Some(group.below(&self.sayings[*member].place)) == head;
        let items: Vec<usize> = self.draft.items(&group.array).into_iter().collect();
        if group.members.iter().any(is_named) { None } else { self.item_touched_last(group, &items) }
    }

    /// The item that the values are for: if they are for a portion of an item, the portion becomes a new one.
    fn part(&mut self, group: &Group<'_>, item: usize) -> usize {
        let (Some(portion), Some(count)) = (self.portion, &group.shape.count) else { return item };
        if !self.draft.items(&group.array).contains(&item) {
            return item;
        }
        // The value "one" told how many get the values; it is not a new count.
        let mut said = None;
        for member in group.members {
            let saying = &mut self.sayings[*member];
            saying.is_meant = true;
            if let What::Value(filled) = &saying.what
                && group.below(&saying.place) == count
                && filled.value.as_u64() == Some(portion)
            {
                said = Some(filled.clone());
                saying.what = What::Done;
            }
        }
        if portion == 0 {
            group.members.iter().for_each(|member| self.sayings[*member].decline());
            return item;
        }
        let (equal, other) = self.compared(group, item);
        let is_value = |member: &&usize| {
            matches!(self.sayings[**member].what, What::Value(_)) && self.sayings[**member].is_spoken()
        };
        let values = group.members.iter().filter(is_value).count();
        let Some(counted) = self.draft.of_item(&group.array, item, count).cloned() else { return item };
        match counted.value.as_u64() {
            Some(all) if portion < all && (other > 0 || equal < values) => {
                let Some(new) = self.new_item(group) else { return item };
                let counts = [all - portion, portion].map(Value::from);
                self.split(group, (item, new), counts, &said.unwrap_or(counted));
                new
            }
            _ => item,
        }
    }

    /// Copies an item, and gives both their counts.
    fn split(&mut self, group: &Group<'_>, (item, new): (usize, usize), counts: [Value; 2], said: &SlotValue) {
        let from = group.item(item);
        let copies: Vec<Placed<SlotValue>> =
            self.draft.slots.iter().filter(|slot| slot.place.is_within(&from)).cloned().collect();
        let [left, part] = counts;
        let count = group.shape.count.clone().unwrap_or_default();
        for mut copy in copies {
            copy.place.0[group.at()] = ArgumentStep::Item(new);
            if group.below(&copy.place) == count {
                copy.of = SlotValue { value: part.clone(), ..said.clone() };
            }
            self.draft.slots.push(copy);
        }
        let counted = ArgumentPath([from, count].concat());
        if let Some(slot) = self.draft.slots.iter_mut().find(|slot| slot.place == counted) {
            slot.of.value = left;
        }
    }

    /// Items that no other part of the utterance means.
    fn free(&self, group: &Group<'_>) -> Vec<usize> {
        let is_free = |item: &usize| !self.taken.contains(&(group.array.clone(), *item));
        self.draft.items(&group.array).into_iter().filter(is_free).collect()
    }

    /// `None` if no further item is possible. Values that waited for a new item now belong to this one.
    fn new_item(&mut self, group: &Group<'_>) -> Option<usize> {
        let taken = self.taken.iter().filter(|(array, _)| *array == group.array).map(|(_, item)| *item).max();
        let item = match self.draft.items(&group.array).last().copied().max(taken) {
            None => 0,
            Some(last) => last.checked_add(1)?,
        };
        if self.manner != UpdateMode::Add {
            let nowhere = [&group.array[..], &[ArgumentStep::New]].concat();
            for aside in self.draft.aside.iter_mut().filter(|aside| aside.place.is_within(&nowhere)) {
                if aside.place.0.len() > nowhere.len() {
                    aside.place.0[group.at()] = ArgumentStep::Item(item);
                }
            }
        }
        Some(item)
    }

    fn head(&self, group: &Group<'_>) -> Head {
        let Some(head) = &group.shape.head else { return Head::Unnamed };
        let of_head = group.members.iter().map(|member| &self.sayings[*member]);
        let mut found = Head::Unnamed;
        for saying in of_head.filter(|saying| group.below(&saying.place) == head) {
            match &saying.what {
                What::Value(filled) => return Head::Named(filled.value.clone()),
                What::Invalid(_) => found = Head::Misnamed,
                What::Excluded(_) | What::Declined(_) | What::Done => {}
            }
        }
        found
    }

    fn name_of(&self, group: &Group<'_>, item: usize) -> Option<&SlotValue> {
        self.draft.of_item(&group.array, item, group.shape.head.as_deref()?)
    }

    fn has_own_value(&self, group: &Group<'_>) -> bool {
        group.members.iter().any(|member| self.sayings[*member].is_own(group))
    }

    /// How many of the item's own spoken values are the same in this item, and how many differ.
    fn compared(&self, group: &Group<'_>, item: usize) -> (usize, usize) {
        let (mut equal, mut other) = (0, 0);
        let spoken = group.members.iter().map(|member| &self.sayings[*member]).filter(|saying| saying.is_spoken());
        for saying in spoken.filter(|saying| saying.is_own(group)) {
            let Some(known) = self.draft.of_item(&group.array, item, group.below(&saying.place)) else { continue };
            match &saying.what {
                What::Value(filled) if same(&filled.value, &known.value) => equal += 1,
                _ => other += 1,
            }
        }
        (equal, other)
    }

    fn touched(&self, group: &Group<'_>, item: usize) -> u32 {
        let item = group.item(item);
        let turns = self.draft.slots.iter().filter(|slot| slot.place.is_within(&item)).map(|slot| slot.of.turn);
        turns.max().unwrap_or_default()
    }
}

/// What an utterance says of one item.
struct Group<'a> {
    array: Vec<ArgumentStep>,
    shape: ItemShape,
    members: &'a [usize],
}

impl Group<'_> {
    /// Index of the item step in its places.
    fn at(&self) -> usize {
        self.array.len()
    }

    /// The steps below the item.
    fn below<'b>(&self, place: &'b ArgumentPath) -> &'b [ArgumentStep] {
        place.0.get(self.at() + 1..).unwrap_or_default()
    }

    fn item(&self, item: usize) -> Vec<ArgumentStep> {
        [&self.array[..], &[ArgumentStep::Item(item)]].concat()
    }
}

impl Saying {
    const fn is_done(&self) -> bool {
        matches!(self.what, What::Declined(_) | What::Done)
    }

    /// It is a value of the item itself, not of a list inside it.
    fn is_own(&self, group: &Group<'_>) -> bool {
        group.below(&self.place).iter().all(|step| matches!(step, ArgumentStep::Key(_)))
    }

    /// The person said it, valid or not.
    pub(super) fn is_spoken(&self) -> bool {
        matches!(self.what, What::Value(_) | What::Invalid(_)) && !self.is_silent()
    }

    /// It was not said: a default, or a carried-over value.
    fn is_silent(&self) -> bool {
        matches!(&self.what, What::Value(filled) if is_silent(filled.from))
    }

    /// It gets no place in the form. If it is invalid, it is dropped.
    fn decline(&mut self) {
        self.what = match std::mem::replace(&mut self.what, What::Done) {
            What::Value(filled) if !is_silent(filled.from) => What::Declined(filled),
            What::Declined(filled) => What::Declined(filled),
            What::Excluded(filled) => What::Excluded(filled),
            What::Value(_) | What::Invalid(_) | What::Done => What::Done,
        };
    }
}

/// Sources whose values fill empty places, and never replace anything.
pub(super) const fn is_silent(from: Source) -> bool {
    matches!(from, Source::Default | Source::Carried | Source::Withdrawn)
}
