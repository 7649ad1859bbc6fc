//! What functions, slots and items are called.

use crate::{
    conversation::Form,
    dialogue::question::{
        Voice,
        shown::{described, is_index, spoken, upper_first},
    },
    language::Language,
    module::{Function, Slot, SlotPath, rule::Temporal},
    text::{fold, names::singular, plain::first_sentence, tag},
};

/// Longest description, in characters, that stands in for the name of a function, and of a slot.
const SHORT_TITLE: usize = 60;
const SHORT_NAME: usize = 32;

impl Voice<'_> {
    /// What a function is called: its name as words; in a language that names are not written in, what its description
    /// says, if that is short.
    pub(crate) fn title(&self, function: &Function) -> String {
        let summary = first_sentence(&function.description);
        if self.prefers_descriptions() && (1..=SHORT_TITLE).contains(&summary.chars().count()) {
            return summary;
        }
        upper_first(&spoken(function.name.rsplit(['.', '/']).next().unwrap_or(&function.name)))
    }

    /// What a slot is called: its label, with what it is a part of where another one has the same label. In a language
    /// that names are not written in, its description, if that is short.
    pub(crate) fn name_of(&self, function: &Function, path: &SlotPath) -> String {
        let Some(slot) = function.slots.iter().find(|slot| slot.path == *path) else {
            return spoken(&path.to_string());
        };
        let is_only = |is_same: &dyn Fn(&Slot) -> bool| function.slots.iter().filter(|slot| is_same(slot)).count() < 2;
        let described = described(slot);
        if self.prefers_descriptions()
            && (1..=SHORT_NAME).contains(&described.chars().count())
            && is_only(&|own| self::described(own) == described)
        {
            return described;
        }
        if is_only(&|own| own.label() == slot.label()) { spoken(slot.label()) } else { spoken(&path.to_string()) }
    }

    /// Names in schemas are English mostly, whatever their descriptions are.
    pub(crate) fn prefers_descriptions(&self) -> bool {
        !self.words.is_english() && tag::language(self.module.language()) != "en"
    }

    /// True of a name that says nothing without what it stands beside.
    pub(crate) fn is_bare(&self, name: &str) -> bool {
        let name = fold(name);
        let languages = Language::and_english(self.module.language());
        name.chars().count() < 2 || languages.iter().any(|language| language.words.names.bare.contains(&name))
    }

    /// The item that a place lies in, if the list has several.
    pub(crate) fn item(&self, function: &Function, form: &Form, pointer: &str) -> Option<String> {
        let steps: Vec<&str> = pointer.split('/').collect();
        let at = steps.iter().rposition(|step| step.parse::<usize>().is_ok())?;
        let list = steps[..at].join("/");
        let own: usize = steps[at].parse().ok()?;
        let mut items: Vec<usize> = form.slots.iter().filter_map(|filled| index_in(&filled.pointer, &list)).collect();
        items.push(own);
        items.sort_unstable();
        items.dedup();
        if items.len() < 2 {
            return None;
        }
        let name = |index: usize| self.name_of_item(function, form, &format!("{list}/{index}"), pointer);
        match name(own) {
            Some(called) => {
                let alike: Vec<usize> =
                    items.into_iter().filter(|index| name(*index).as_ref() == Some(&called)).collect();
                let place = alike.iter().position(|index| *index == own).unwrap_or_default();
                Some(if alike.len() < 2 { called } else { self.words.numbered(&called, place + 1) })
            }
            None => {
                let key = spoken(steps[..at].iter().rev().find(|step| !is_index(step)).unwrap_or(&""));
                Some(self.words.numbered(&singular(&key), own + 1))
            }
        }
    }

    /// The text that tells an item from others: the first in the order of the schema.
    fn name_of_item(&self, function: &Function, form: &Form, item: &str, asked: &str) -> Option<String> {
        let is_of_item = |pointer: &str| pointer.strip_prefix(item).is_some_and(|rest| rest.starts_with('/'));
        let inside = form.slots.iter().filter(|filled| filled.pointer != asked && is_of_item(&filled.pointer));
        let names = inside.filter_map(|filled| {
            let path = SlotPath::of_pointer(&filled.pointer);
            let place = function.slots.iter().position(|slot| slot.path == path)?;
            let text = filled.value.as_str().filter(|text| Temporal::parse(text).is_none())?;
            (!self.is_sensitive(function, &path)).then(|| (place, text.to_owned()))
        });
        names.min_by_key(|(place, _)| *place).map(|(_, text)| text)
    }
}

/// The item of `list` that a pointer lies in.
fn index_in(pointer: &str, list: &str) -> Option<usize> {
    pointer.strip_prefix(list)?.strip_prefix('/')?.split('/').next()?.parse().ok()
}
