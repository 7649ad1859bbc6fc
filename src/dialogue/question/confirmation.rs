//! The question for a yes before a call, and other texts with all values of a form.

use serde_json::{Map, Value};

use crate::{
    call::Validator,
    conversation::{Form, next::completed},
    dialogue::question::{
        Voice,
        shown::{plain, spoken, values},
    },
    module::{
        Function, FunctionId, SlotPath,
        marks::{Run, runs},
        rule::Temporal,
    },
    text::names::singular,
};

impl Voice<'_> {
    /// Asks whether to make the call: in the author's words if there are any, else with everything that is known. The
    /// end of a sensitive value is shown, so that the person can recognize it.
    pub(crate) fn confirmation(&self, id: FunctionId, arguments: &Map<String, Value>) -> String {
        let function = self.module.function(id);
        if let Some(own) = self.settings(function).and_then(|own| self.author(own.confirmation.as_ref())) {
            return self.filled_in(function, own, arguments);
        }
        let facts = self.facts(function, arguments, "");
        let deed = self.deed(function);
        let what = if deed.is_verb { &deed.text } else { &deed.title };
        self.words.confirm(what, deed.is_verb, &self.words.facts(&facts))
    }

    /// Says that this was done already.
    pub(crate) fn done_already(&self, id: FunctionId, arguments: &Map<String, Value>) -> String {
        self.words.done_already(&self.named(id, arguments))
    }

    /// Asks whether to do what `form` says, after `last` was done.
    pub(crate) fn repeat(&self, validator: &Validator, id: FunctionId, (last, form): (&Form, &Form)) -> String {
        let arguments = |form: &Form| {
            let completed = completed(form, self.module, validator);
            completed.map(|completed| completed.arguments).unwrap_or_default()
        };
        let (before, now) = (arguments(last), arguments(form));
        let done = self.done_already(id, &before);
        let question = match before == now {
            true => self.words.once_more().to_owned(),
            false => self.words.also(&self.named(id, &now)),
        };
        self.words.then(&done, &question)
    }

    /// Says that what was done stays as it is.
    pub(crate) fn left_as_done(&self) -> String {
        self.words.left_as_done().to_owned()
    }

    /// What a function does, with its values: "send money to somebody (amount 30, recipient Anna)".
    pub(crate) fn named(&self, id: FunctionId, arguments: &Map<String, Value>) -> String {
        let function = self.module.function(id);
        let facts = self.facts(function, arguments, "");
        let deed = self.deed(function).text;
        if facts.is_empty() { deed } else { self.words.thing(&deed, &self.words.facts(&facts)) }
    }

    /// The text with values in place of its marks. A clause is left out if its marks have no value.
    fn filled_in(&self, function: &Function, text: &str, arguments: &Map<String, Value>) -> String {
        let value = |mark: &str| {
            let slot = function.slots.iter().find(|slot| slot.path.to_string() == mark)?;
            let values = values(arguments, &slot.path);
            let shown: Vec<String> = values.into_iter().map(|value| self.told(function, &slot.path, value)).collect();
            Some(self.words.and(&shown))
        };
        let mut written = String::with_capacity(text.len());
        for clause in clauses(text) {
            let (mut filled, mut marks, mut values) = (String::new(), 0, 0);
            for run in runs(clause) {
                match run {
                    Run::Text(text) => filled.push_str(text),
                    Run::Mark(mark) => match value(mark) {
                        Some(value) => {
                            marks += 1;
                            values += usize::from(!value.is_empty());
                            filled.push_str(&value);
                        }
                        None => filled.extend(["<", mark, ">"]),
                    },
                }
            }
            if marks == 0 || values > 0 {
                written.push_str(&filled);
            } else if let Some(end) = filled.chars().next_back().filter(|end| ".?!。？！".contains(*end)) {
                written.truncate(written.trim_end_matches([',', ';', '、', '，', ' ']).len());
                written.push(end);
            }
        }
        let joined = written.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        [" ,", " .", " ?", " !", " ;"].iter().fold(joined, |text, gap| text.replace(gap, gap.trim_start()))
    }

    /// All values in the arguments, in their order.
    pub(crate) fn facts(&self, function: &Function, members: &Map<String, Value>, prefix: &str) -> Vec<String> {
        let mut facts = Vec::new();
        for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            let pointer = format!("{prefix}/{}", key.replace('~', "~0").replace('/', "~1"));
            let path = SlotPath::of_pointer(&pointer);
            let is_slot = function.slots.iter().any(|slot| slot.path == path);
            match value {
                Value::Object(members) if !is_slot => facts.extend(self.facts(function, members, &pointer)),
                Value::Array(items) if !is_slot && items.iter().any(Value::is_object) => {
                    let items = items.iter().enumerate().filter_map(|(index, item)| Some((index, item.as_object()?)));
                    let things: Vec<String> = items
                        .map(|(index, item)| self.thing(function, key, &format!("{pointer}/{index}"), item))
                        .collect();
                    facts.push(self.words.and(&things));
                }
                Value::Array(items) if items.is_empty() => {}
                Value::Array(items) if !is_slot => {
                    let path = SlotPath::of_pointer(&format!("{pointer}/-"));
                    let shown: Vec<String> = items.iter().map(|item| self.told(function, &path, item)).collect();
                    facts.push(self.words.fact(&self.name_of(function, &path), &self.words.and(&shown)));
                }
                value => {
                    let shown = self.told(function, &path, value);
                    facts.push(self.words.fact(&self.name_of(function, &path), &shown));
                }
            }
        }
        facts
    }

    /// An item of a list with its known values.
    fn thing(&self, function: &Function, list: &str, pointer: &str, members: &Map<String, Value>) -> String {
        let is_name = |(key, value): &(&String, &Value)| {
            let path = SlotPath::of_pointer(&format!("{pointer}/{key}"));
            value.as_str().is_some_and(|text| Temporal::parse(text).is_none()) && !self.is_sensitive(function, &path)
        };
        let named = members.iter().find(is_name);
        let name = match named {
            Some((_, name)) => plain(name),
            None => {
                let index = pointer.rsplit('/').next().and_then(|index| index.parse::<usize>().ok());
                self.words.numbered(&singular(&spoken(list)), index.unwrap_or_default() + 1)
            }
        };
        let mut rest = members.clone();
        if let Some((key, _)) = named {
            rest.shift_remove(key);
        }
        let facts = self.facts(function, &rest, pointer);
        if facts.is_empty() { name } else { self.words.thing(&name, &self.words.facts(&facts)) }
    }
}

/// The pieces of a text, each ending with a comma or semicolon.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([',', ';', '、', '，'])
}
