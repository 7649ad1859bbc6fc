//! The common form of all formats: functions with typed slots, entities, examples with spans. Names are still the
//! source's; [`super::settle`] makes them valid.

use std::{collections::HashMap, ops::Range};

use crate::module::Builtin;

/// A place in a file of the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    /// Relative to the project's root.
    pub(super) file: String,
    /// JSON pointer; `""` means the whole file.
    pub(super) pointer: String,
    /// From 1, if the pointer alone does not determine it.
    pub(super) line: Option<usize>,
    /// Lines below the line of the pointer, within a multi-line text.
    pub(super) below: usize,
}

impl Place {
    pub(super) fn new(file: &str, pointer: impl Into<String>) -> Self {
        Self { file: file.to_owned(), pointer: pointer.into(), line: None, below: 0 }
    }

    /// The place of a member.
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
    /// A name in the IANA database.
    pub(super) time_zone: Option<String>,
    pub(super) functions: Vec<Function>,
    pub(super) entities: Vec<Entity>,
    /// Labelled utterances that are not examples.
    pub(super) tests: Vec<Labelled>,
    /// Examples that mean no function.
    pub(super) out_of_scope: Vec<Example>,
}

impl Project {
    pub(super) fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }

    /// True if some slot takes the entity's values.
    pub(super) fn uses(&self, entity: &Entity) -> bool {
        let mut slots = self.functions.iter().flat_map(|function| &function.slots);
        slots.any(|slot| slot.entity.as_ref() == Some(&entity.name))
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) slots: Vec<ProjectSlot>,
    pub(super) examples: Vec<Example>,
    pub(super) place: Place,
}

impl Function {
    pub(super) fn slot(&self, name: &str) -> Option<&ProjectSlot> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    pub(super) fn slot_mut(&mut self, name: &str) -> Option<&mut ProjectSlot> {
        self.slots.iter_mut().find(|slot| slot.name == name)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct ProjectSlot {
    pub(super) name: String,
    pub(super) description: String,
    /// The entity of its values; `None` means free text.
    pub(super) entity: Option<String>,
    pub(super) required: bool,
    /// It may have several values.
    pub(super) repeated: bool,
    pub(super) question: Option<String>,
    pub(super) default: Option<String>,
    pub(super) place: Place,
}

/// A kind of value. If it is empty, its values are free text.
#[derive(Debug, Clone, Default)]
pub(super) struct Entity {
    pub(super) name: String,
    pub(super) values: Vec<Listed>,
    /// As written in the source.
    pub(super) patterns: Vec<String>,
    /// Best first.
    pub(super) builtins: Vec<Builtin>,
    /// Only listed values are allowed.
    pub(super) closed: bool,
    pub(super) fuzzy: bool,
    pub(super) place: Place,
    /// Index of each value in `values`, since lists may have many thousand.
    pub(super) positions: HashMap<String, usize>,
}

impl Entity {
    /// Adds an expression for a value, and the value if it is new. False if both existed.
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
    /// Removes the values that `test` rejects.
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

/// Slots by name, each with the byte range of its value in a sentence.
pub(super) type Spans = Vec<(String, Range<usize>)>;

/// An example utterance.
#[derive(Debug, Clone, Default)]
pub(super) struct Example {
    pub(super) parts: Vec<TemplatePart>,
    /// The slot whose question it answers; such an example does not begin a request.
    pub(super) answers: Option<String>,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Text(String),
    Slot {
        /// The name of one of the function's slots.
        slot: String,
        /// The words in its place, if the source has them.
        text: Option<String>,
        /// Their meaning, if the source gives it separately.
        value: Option<String>,
    },
}

impl TemplatePart {
    pub(super) fn said(slot: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Slot { slot: slot.into(), text: Some(text.into()), value: None }
    }
}

/// An utterance with its right answer.
#[derive(Debug, Clone)]
pub(super) struct Labelled {
    pub(super) example: Example,
    /// `None` means out of scope.
    pub(super) function: Option<String>,
}
