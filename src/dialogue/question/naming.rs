//! What functions, slots and items are called.

use crate::{
    conversation::Form,
    dialogue::question::{
        Voice,
        shown::{described, is_index, spoken},
    },
    language::{Language, grammar::upper_first},
    module::{Function, Slot, SlotPath, rule::Temporal},
    text::{fold, names::singular, plain::first_sentence, tag},
};

/// The longest descriptions, in characters, that stand in for the name of a function, and for that of a slot.
const SHORT_TITLE: usize = 60;
const SHORT_NAME: usize = 32;

/// The longest description, in characters, that says what a function does.
const LONGEST_DEED: usize = 90;
/// The marks that end the part of a description that says what a function does.
const DETAILS: [&str; 7] = [": ", "; ", " – ", " — ", " (", "：", "（"];

/// What a function does, within a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionPhrase {
    pub text: String,
    /// The same outside a sentence, as its author wrote it.
    pub title: String,
    /// True if it can follow "shall I".
    pub is_verb: bool,
    /// True if it comes from a description, and not from a name.
    pub is_described: bool,
}

impl Voice<'_> {
    /// What a function does: from its description, or from its name if there is no description.
    pub(crate) fn deed(&self, function: &Function) -> FunctionPhrase {
        let described = brief(&first_sentence(&function.description)).to_owned();
        let is_described = !described.is_empty();
        let title = if is_described { described } else { self.title(function) };
        let verb = self.words.grammar().deed(&title);
        let is_verb = verb.is_some();
        let text = verb.unwrap_or_else(|| self.words.within(&title));
        FunctionPhrase { text, title, is_verb, is_described }
    }

    /// What a function is called: its name as words. In a language other than that of the names, its description
    /// instead, if that is short.
    pub(crate) fn title(&self, function: &Function) -> String {
        let summary = first_sentence(&function.description);
        if self.prefers_descriptions() && (1..=SHORT_TITLE).contains(&summary.chars().count()) {
            return summary;
        }
        upper_first(&spoken(function.name.rsplit(['.', '/']).next().unwrap_or(&function.name)))
    }

    /// What a slot is called: its label, with the name of its object if another slot has the same label. In a language
    /// other than that of the names, its description instead, if that is short.
    pub(crate) fn name_of(&self, function: &Function, path: &SlotPath) -> String {
        let Some(slot) = function.slots.iter().find(|slot| slot.path == *path) else {
            return spoken(&path.to_string());
        };
        let is_only = |is_same: &dyn Fn(&Slot) -> bool| function.slots.iter().filter(|slot| is_same(slot)).count() < 2;
        let described = described(slot);
        let grammar = self.words.grammar();
        let noun = grammar.without_article(&described);
        if self.prefers_descriptions()
            && (1..=SHORT_NAME).contains(&noun.chars().count())
            && !grammar.is_asking(noun)
            && is_only(&|own| self::described(own) == described)
        {
            return noun.to_owned();
        }
        if is_only(&|own| own.label() == slot.label()) { spoken(slot.label()) } else { spoken(&path.to_string()) }
    }

    /// Names in schemas are mostly English, whatever the language of their descriptions.
    pub(crate) fn prefers_descriptions(&self) -> bool {
        !self.words.is_english() && tag::language(self.module.language()) != "en"
    }

    /// True of a name that says nothing without its context.
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

    /// The text that distinguishes an item from others: the first in the order of the schema.
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

/// The part of a description that says what is done, without details.
fn brief(description: &str) -> &str {
    let end = DETAILS.iter().filter_map(|mark| description.find(mark)).filter(|at| *at > 0).min();
    let brief = &description[..end.unwrap_or(description.len())];
    match brief.char_indices().nth(LONGEST_DEED) {
        Some((most, _)) => brief[..most].rfind([',', '、']).map_or(brief, |comma| &brief[..comma]),
        None => brief,
    }
    .trim_end_matches(['.', '。', ' ', '!', '！'])
}

/// The item of `list` that a pointer lies in.
fn index_in(pointer: &str, list: &str) -> Option<usize> {
    pointer.strip_prefix(list)?.strip_prefix('/')?.split('/').next()?.parse().ok()
}
