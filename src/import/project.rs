//! What every format is read into: functions with typed slots, entities, examples with spans. Names are still those of
//! the source; [`super::settle`] makes them fit.

use std::{collections::HashMap, ops::Range};

use crate::module::Builtin;

/// A place in a file of the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    /// Relative to the project's root.
    pub(super) file: String,
    /// JSON pointer; `""` is the whole file.
    pub(super) pointer: String,
    /// From 1, where the pointer alone cannot say it.
    pub(super) line: Option<usize>,
    /// Lines below the one that the pointer leads to: into a text of several lines.
    pub(super) below: usize,
}

impl Place {
    pub(super) fn new(file: &str, pointer: impl Into<String>) -> Self {
        Self { file: file.to_owned(), pointer: pointer.into(), line: None, below: 0 }
    }

    /// Below this place.
    pub(super) fn key(&self, key: &str) -> Self {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        Self { pointer: format!("{}/{escaped}", self.pointer), ..self.clone() }
    }

    pub(super) fn index(&self, index: usize) -> Self {
        Self { pointer: format!("{}/{index}", self.pointer), ..self.clone() }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Project {
    pub(super) description: String,
    /// A language tag.
    pub(super) language: Option<String>,
    /// A name of the IANA database.
    pub(super) time_zone: Option<String>,
    pub(super) functions: Vec<Function>,
    pub(super) entities: Vec<Entity>,
    /// Labelled utterances that are no examples.
    pub(super) tests: Vec<Labelled>,
    /// Examples of what no function is meant by.
    pub(super) out_of_scope: Vec<Example>,
}

impl Project {
    pub(super) fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) slots: Vec<Slot>,
    pub(super) examples: Vec<Example>,
    pub(super) place: Place,
}

impl Function {
    pub(super) fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    pub(super) fn slot_mut(&mut self, name: &str) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.name == name)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) description: String,
    /// What finds its values; `None`: free text.
    pub(super) entity: Option<String>,
    pub(super) required: bool,
    /// Several values.
    pub(super) repeated: bool,
    pub(super) question: Option<String>,
    pub(super) default: Option<String>,
    pub(super) place: Place,
}

/// A kind of value. With nothing in it, its values are free text.
#[derive(Debug, Clone, Default)]
pub(super) struct Entity {
    pub(super) name: String,
    pub(super) values: Vec<Listed>,
    /// As the source writes them.
    pub(super) patterns: Vec<String>,
    /// Best first.
    pub(super) builtins: Vec<Builtin>,
    /// Nothing outside the list is a value.
    pub(super) closed: bool,
    pub(super) fuzzy: bool,
    pub(super) place: Place,
    /// Positions among `values`: lists may have many thousand.
    pub(super) positions: HashMap<String, usize>,
}

impl Entity {
    /// Adds an expression of a value, and the value if it is new. False if both were there.
    pub(super) fn add(&mut self, value: &str, expression: &str) -> bool {
        let (value, expression) = (value.trim(), expression.trim());
        if value.is_empty() {
            return false;
        }
        let position = match self.positions.get(value) {
            Some(&position) => position,
            None => {
                self.positions.insert(value.to_owned(), self.values.len());
                self.values.push(Listed { value: value.to_owned(), expressions: Vec::new() });
                self.values.len() - 1
            }
        };
        let listed = &mut self.values[position];
        let is_new = !expression.is_empty()
            && expression != listed.value
            && !listed.expressions.iter().any(|known| known == expression);
        if is_new {
            listed.expressions.push(expression.to_owned());
        }
        is_new
    }
}

impl Entity {
    /// Leaves out the values that `test` does not take.
    pub(super) fn retain(&mut self, test: impl FnMut(&Listed) -> bool) {
        self.values.retain(test);
        let positions = self.values.iter().enumerate().map(|(position, listed)| (listed.value.clone(), position));
        self.positions = positions.collect();
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) value: String,
    pub(super) expressions: Vec<String>,
}

/// Slots by name, each with the bytes of a sentence that its value takes.
pub(super) type Spans = Vec<(String, Range<usize>)>;

/// What people say.
#[derive(Debug, Clone, Default)]
pub(super) struct Example {
    pub(super) parts: Vec<Part>,
    /// The slot that it answers the question for; it is no way to begin.
    pub(super) answers: Option<String>,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Slot {
        /// A name among the function's slots.
        slot: String,
        /// What was said there, where the source has it.
        text: Option<String>,
        /// What it means, where the source says so beside the words.
        value: Option<String>,
    },
}

impl Part {
    pub(super) fn said(slot: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Slot { slot: slot.into(), text: Some(text.into()), value: None }
    }
}

/// An utterance with what is right for it.
#[derive(Debug, Clone)]
pub(super) struct Labelled {
    pub(super) example: Example,
    /// `None`: out of scope.
    pub(super) function: Option<String>,
}
