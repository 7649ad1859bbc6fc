//! What is known between two turns.
//!
//! Functions and slots are stored by name, not by number, because a module may be edited during a conversation.
//! Whatever the module no longer has is dropped when the state is next used.

use std::{cmp::Reverse, collections::BTreeMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    call::{self, Completed, SlotValue, Source, Validator, ViolationKind},
    module::{FunctionId, Module, ModuleName, SlotPath},
    text::is_blank,
};

/// The version of this format. A state of another version is refused, never misread.
pub const FORMAT: u32 = 1;

/// Most messages, finished functions and carried values that are remembered.
const REMEMBERED_LINES: usize = 24;
const REMEMBERED_ENDS: usize = 16;
const REMEMBERED_VALUES: usize = 64;
/// Longest text of a result that fills a slot, in bytes: a name, a number, an address; not a document.
const LONGEST_SHARED: usize = 500;

/// A conversation between two turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub format: u32,
    pub module: ModuleName,
    /// Number of turns so far.
    pub turn: u32,
    /// Open forms: the last one is active, earlier ones wait. A function may have several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<Form>,
    /// The pending question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expects: Option<Expects>,
    /// What was called, cancelled or handed off, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finished: Vec<Finished>,
    /// The form of the last call: a later utterance may only change a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_call: Option<Form>,
    /// Values that another function may take over, latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<Carried>,
    /// The last messages, oldest first: shown to a model server, and a source of values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TranscriptLine>,
    /// Consecutive utterances without progress: they were not understood, or the person did not understand.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub helpless: u32,
    /// Whether the last reply offered that a human takes over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offers_person: bool,
    /// The last reply, if it was a question or said that nothing was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replied: Option<Replied>,
}

/// A hash of a reply's text, and how often it was said in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replied {
    pub text: u32,
    pub times: u32,
}

/// A function that was requested and not called yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// Its name in the module's files.
    pub function: String,
    /// The turn that asked for it.
    pub opened: u32,
    /// How many other functions the same utterance requested before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after: u32,
    /// Probability that it is meant, 0 to 1.
    #[serde(default)]
    pub confidence: f32,
    /// It is not certain enough that it is meant: it is called only after a yes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_doubtful: bool,
    /// One for each known scalar; pointers are unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotValue>,
    /// Values that were only mentioned to rule them out ("no onions").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<SlotValue>,
    /// Values that were given but are invalid, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<InvalidValue>,
    /// Paths of slots that the person wants to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Consecutive questions without a valid answer, by slot path or by what else was asked about.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tries: BTreeMap<String, u32>,
    #[serde(default)]
    pub confirmation: Confirmation,
    #[serde(default, skip_serializing_if = "Origin::is_request")]
    pub origin: Origin,
}

/// A value that was given but is invalid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvalidValue {
    pub pointer: String,
    pub kind: ViolationKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// What would be right, in words.
    pub expected: String,
    /// The possible meanings of ambiguous words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Value>,
    pub turn: u32,
}

/// Whether a function was confirmed, if it needs to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    #[default]
    Open,
    /// The person was told what will be done, and a yes is awaited.
    Asked,
    /// The yes came, and nothing has changed since.
    Given,
    /// A no came: a yes alone does not call it until something else is said of it.
    Refused,
}

/// How a form came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// An utterance requested the function by itself.
    #[default]
    Request,
    /// The last call once more: "and to Bob?"
    FollowUp,
    /// The last call was wrong: "no wait, 40".
    Correction,
    /// A value for a slot that the last call left empty.
    Addition,
    /// A change of the last call, by the function for such changes.
    Change,
    /// A model server proposed it, and the words alone do not suggest it.
    Proposed,
}

impl Origin {
    /// True if the form exists only because of the last call.
    #[must_use]
    pub const fn is_of_last_call(self) -> bool {
        matches!(self, Self::FollowUp | Self::Correction | Self::Addition)
    }

    /// For serialization: request is the default.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        matches!(self, Self::Request)
    }
}

/// The pending question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expects {
    /// Values for these places, as JSON pointers: `/dishes/1/size` (`-` stands for a new item).
    Slots { function: String, pointers: Vec<String> },
    /// Which of several functions the utterance meant.
    Choice { functions: Vec<String>, utterance: String, tries: u32 },
    /// A yes to what will be done.
    Yes { function: String },
    /// What is to be changed, after a no.
    Change { function: String },
}

/// A function that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    pub function: String,
    pub end: End,
    /// The turn that requested it, and the one that ended it.
    pub opened: u32,
    pub turn: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Called,
    Cancelled,
    /// Given up after too many tries: a human takes over.
    HandedOff,
}

/// A value that another function may take over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    pub function: String,
    /// The slot's path, or the member of the result.
    pub slot: String,
    /// The `shared` name of a member of the function's result; `None` for a slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
    pub filled: SlotValue,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptLine {
    pub who: Who,
    /// Without the values of `sensitive` slots.
    pub text: String,
    /// A line of the person that was not understood. Forms that open later are checked against it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unheard: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    Person,
    Assistant,
    /// The assistant called a function.
    Called,
    /// The result of a called function.
    Tool,
}

/// Why a state cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("the state has format {0}, and this service reads {FORMAT}: begin a new conversation")]
    Format(u32),
    #[error("the state is of the module `{found}`, and the request of `{wanted}`")]
    OtherModule { found: String, wanted: String },
}

impl State {
    /// A conversation in which nothing was said.
    #[must_use]
    pub fn new(module: &ModuleName) -> Self {
        Self {
            format: FORMAT,
            module: module.clone(),
            turn: 0,
            forms: Vec::new(),
            expects: None,
            finished: Vec::new(),
            last_call: None,
            carried: Vec::new(),
            lines: Vec::new(),
            helpless: 0,
            offers_person: false,
            replied: None,
        }
    }

    /// The state in a form that fits this module: without what the module no longer has.
    ///
    /// # Errors
    /// If the state has another format or module.
    pub fn adopted(mut self, module: &Module) -> Result<Self, StateError> {
        if self.format != FORMAT {
            return Err(StateError::Format(self.format));
        }
        if self.module != module.name {
            let (found, wanted) = (self.module.to_string(), module.name.to_string());
            return Err(StateError::OtherModule { found, wanted });
        }
        self.forms.retain(|form| module.function_named(&form.function).is_some());
        self.last_call = self.last_call.filter(|form| module.function_named(&form.function).is_some());
        let is_open = |name: &String| self.forms.iter().any(|form| form.function == *name);
        let holds = match &self.expects {
            None => true,
            Some(Expects::Choice { functions, .. }) => {
                functions.iter().all(|name| module.function_named(name).is_some())
            }
            Some(Expects::Slots { function, .. } | Expects::Yes { function } | Expects::Change { function }) => {
                is_open(function)
            }
        };
        if !holds {
            self.expects = None;
        }
        Ok(self)
    }

    /// The active form, with its function.
    #[must_use]
    pub fn active(&self, module: &Module) -> Option<(FunctionId, &Form)> {
        let form = self.forms.last()?;
        Some((module.function_named(&form.function)?, form))
    }

    /// The latest open form of this function.
    #[must_use]
    pub fn form(&self, function: &str) -> Option<&Form> {
        self.forms.iter().rev().find(|form| form.function == function)
    }

    /// True if a yes is awaited.
    #[must_use]
    pub const fn awaits_consent(&self) -> bool {
        matches!(self.expects, Some(Expects::Yes { .. }))
    }

    /// Stops waiting for a yes: the confirmation is asked again.
    pub fn withdraw_consent(&mut self) {
        if self.awaits_consent() {
            self.expects = None;
            let put = self.forms.iter_mut().filter(|form| form.confirmation != Confirmation::Refused);
            put.for_each(|form| form.confirmation = Confirmation::Open);
        }
    }

    /// Makes this the active form. The other forms of its utterance come next, in the order of the requests, before the
    /// rest.
    pub(crate) fn fill_next(&mut self, form: Form) {
        let (mut beside, waiting): (Vec<Form>, Vec<Form>) =
            self.forms.drain(..).partition(|other| other.opened == form.opened);
        beside.sort_by_key(|other| Reverse(other.after));
        self.forms = waiting;
        self.forms.extend(beside);
        self.forms.push(form);
    }

    /// Nothing is open and no answer is expected.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.forms.is_empty() && self.expects.is_none()
    }

    /// The functions that were called since the person last spoke, as the messages name them.
    pub fn called_since(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter().rev().take_while(|line| line.who != Who::Person);
        lines.filter(|line| line.who == Who::Called).filter_map(|line| line.text.split('(').next())
    }

    /// The messages of the person that are still known, the latest first; without sensitive values.
    pub(crate) fn said_before(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter().rev().filter(|line| line.who == Who::Person);
        lines.map(|line| line.text.as_str())
    }

    /// Remembers a message; the oldest are dropped.
    pub fn note(&mut self, who: Who, text: impl Into<String>) {
        self.lines.push(TranscriptLine { who, text: text.into(), is_unheard: false });
        keep_last(&mut self.lines, REMEMBERED_LINES);
    }

    /// Remembers what the result of a call says, as far as slots of other functions take it over.
    pub fn learn(&mut self, module: &Module, function: &str, result: &Value) {
        let Some(own) = module.settings.functions.get(function) else { return };
        for (member, shared) in &own.shares {
            let found = call::member(result, member);
            let Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) = found else { continue };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if is_blank(&text) || text.len() > LONGEST_SHARED {
                continue;
            }
            let filled = SlotValue {
                pointer: String::new(),
                value: value.clone(),
                text: Some(text),
                span: None,
                recognizer: None,
                from: Source::Carried,
                turn: self.turn,
                confidence: 1.0,
                unread: None,
            };
            let (function, slot, shared) = (function.to_owned(), member.clone(), Some(shared.clone()));
            self.carried.push(Carried { function, slot, shared, filled });
        }
        keep_last(&mut self.carried, REMEMBERED_VALUES);
    }

    /// Removes the form at this index and remembers how it ended; its values may be carried over.
    pub fn finish(&mut self, place: usize, end: End) -> Option<Form> {
        if place >= self.forms.len() {
            return None;
        }
        let mut form = self.forms.remove(place);
        for filled in &mut form.slots {
            filled.from = match (end, filled.from) {
                (End::Called, Source::Withdrawn) => Source::Carried,
                (End::Cancelled, Source::Said | Source::Carried) => Source::Withdrawn,
                (_, from) => from,
            };
        }
        self.finished.push(Finished { function: form.function.clone(), end, opened: form.opened, turn: self.turn });
        keep_last(&mut self.finished, REMEMBERED_ENDS);
        if end != End::HandedOff {
            self.carried.extend(form.carried());
            keep_last(&mut self.carried, REMEMBERED_VALUES);
        }
        if end == End::Called {
            self.last_call = Some(form.clone());
        }
        Some(form)
    }
}

impl Form {
    #[must_use]
    pub fn new(function: &str, opened: u32) -> Self {
        Self { function: function.to_owned(), opened, ..Self::default() }
    }

    /// The values as they would be called, or what prevents that; `None` if the module no longer has the function.
    #[must_use]
    pub fn completed(&self, module: &Module, validator: &Validator) -> Option<Completed> {
        let id = module.function_named(&self.function)?;
        let known = self.slots.iter().map(|filled| (filled.pointer.as_str(), &filled.value));
        Some(validator.complete(module.function(id), id, known))
    }

    /// A value comes from a cancelled form.
    pub(super) fn is_of_cancelled(&self) -> bool {
        self.slots.iter().any(|filled| filled.from == Source::Withdrawn)
    }

    /// Its values that another function may take over.
    pub(super) fn carried(&self) -> impl Iterator<Item = Carried> {
        let said = self.slots.iter().filter(|filled| filled.from.was_said());
        said.map(|filled| Carried {
            function: self.function.clone(),
            slot: SlotPath::of_pointer(&filled.pointer).to_string(),
            shared: None,
            filled: filled.clone(),
        })
    }

    /// The values of a slot: at most one, unless it is in a list.
    pub fn of_slot(&self, path: &SlotPath) -> impl Iterator<Item = &SlotValue> {
        self.slots.iter().filter(move |filled| path.holds(&filled.pointer))
    }

    #[must_use]
    pub fn has(&self, path: &SlotPath) -> bool {
        self.of_slot(path).next().is_some()
    }

    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&SlotValue> {
        self.slots.iter().find(|filled| filled.pointer == pointer)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn keep_last<T>(all: &mut Vec<T>, most: usize) {
    let over = all.len().saturating_sub(most);
    all.drain(..over);
}
