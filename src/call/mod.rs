//! From an untrusted proposal to a [`Call`], which only the [`Validator`] can make.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod closed;
pub mod coerce;
mod complete;
pub mod ground;
mod in_digits;
mod prune;
pub mod repair;
mod report;
mod ruled_out;
mod said;
mod schema;
mod signs;
mod synonyms;
#[cfg(test)]
pub(crate) mod testing;
pub mod validate;
mod words;
mod written;

pub use coerce::Coercion;
pub use complete::{Completed, assembled};
pub use ground::Evidence;
pub use ruled_out::{RuledOut, flag_said, flag_within};
pub use validate::{Checked, CompileError, Validator};
pub use words::kin;

use crate::{
    module::{FunctionId, SlotPath},
    text::Span,
};

/// What is expected in place of an impossible phone number.
pub(crate) const POSSIBLE_PHONE: &str = "a possible phone number";

/// What a strategy or a model server believes was meant. Untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub function: FunctionId,
    pub arguments: Map<String, Value>,
}

/// A valid and complete call: it matches the function's schema, and its values are canonical and grounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    function: FunctionId,
    arguments: Map<String, Value>,
}

impl Call {
    #[must_use]
    pub const fn function(&self) -> FunctionId {
        self.function
    }

    #[must_use]
    pub const fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }
}

/// One thing that prevents a proposal from becoming a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    pub kind: ViolationKind,
    /// JSON pointer into the arguments, `/shipping_address/city`; for a missing value, its place.
    pub path: String,
    /// The value that was found; `None` if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// What would be right, in words that a model or a person can act on.
    pub expected: String,
    /// The possible meanings of ambiguous words: the person is asked which one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Value>,
}

impl Violation {
    pub(crate) fn new(kind: ViolationKind, path: String, found: Option<&Value>, expected: String) -> Self {
        Self { kind, path, found: found.map(report::brief), expected, readings: Vec::new() }
    }

    /// About the arguments as a whole.
    pub(crate) fn of_all(expected: &str) -> Self {
        Self::new(ViolationKind::Schema, String::new(), None, expected.to_owned())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    Missing,
    Type,
    NotAChoice,
    Pattern,
    Format,
    Range,
    Length,
    /// A member that the schema does not have.
    Unknown,
    /// Any other keyword of the schema.
    Schema,
    /// A value that does not occur in what was said.
    Ungrounded,
    /// A value that was only mentioned to rule it out ("no onions").
    Negated,
    /// The words may mean several values ("at 6").
    Ambiguous,
}

/// The member of a result at a path such as `orders.0.id`.
#[must_use]
pub fn member<'v>(result: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(result, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

/// A value of a slot, and its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotValue {
    /// JSON pointer of this very value in the arguments, `/dishes/1/name`.
    pub pointer: String,
    /// Canonical.
    pub value: Value,
    /// The words for it, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Their place in the utterance of `turn`, in Unicode scalar values; `None` if they are in an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Name of the recognizer that found it; `None` for free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recognizer: Option<String>,
    pub from: Source,
    /// The turn of the conversation that brought it; 0 outside a conversation.
    pub turn: u32,
    /// 0 to 1.
    pub confidence: f32,
    /// Words of its own kind beside it that were not read and that no other value has: it may be but a part of what was
    /// said, and is put to the person before anything is called with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// Why a value may be in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Said, in the utterance or before.
    Said,
    /// One of the schema's choices, picked by a model without words in the utterance for it.
    Choice,
    /// The schema's default or constant.
    Default,
    /// The slot's author lets a model write it (`grounding = "free"`).
    Generated,
    /// Carried over from another function of the conversation.
    Carried,
    /// Carried over from a cancelled one, which was perhaps cancelled because of this value: calls with it need
    /// confirmation.
    Withdrawn,
}

impl Source {
    /// The person said it, now or before, for this function or another.
    pub(crate) const fn was_said(self) -> bool {
        matches!(self, Self::Said | Self::Carried | Self::Withdrawn)
    }
}

impl SlotValue {
    /// A value without words.
    #[must_use]
    pub const fn unsaid(pointer: String, value: Value, from: Source, confidence: f32) -> Self {
        Self { pointer, value, text: None, span: None, recognizer: None, from, turn: 0, confidence, unread: None }
    }

    /// Its slot's path.
    #[must_use]
    pub fn path(&self) -> SlotPath {
        SlotPath::of_pointer(&self.pointer)
    }

    /// The value as known in this turn: if it was said earlier, it has no place in the utterance.
    #[must_use]
    pub fn known_in(&self, turn: u32) -> Self {
        let is_said_now = self.turn == turn && self.text.is_some() && self.span.is_some();
        match self.from {
            Source::Said if is_said_now => self.clone(),
            Source::Said | Source::Carried | Source::Withdrawn => {
                let text = Some(self.text.clone().unwrap_or_default());
                Self { text, span: None, recognizer: None, ..self.clone() }
            }
            Source::Choice | Source::Default | Source::Generated => {
                Self { text: None, span: None, recognizer: None, ..self.clone() }
            }
        }
    }
}

/// The validator's verdict on a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Valid {
        call: Call,
        /// One for each scalar of the call's arguments, in their order.
        grounded: Vec<SlotValue>,
        /// Optional values that do not occur in what was said and were left out of the call.
        dropped: Vec<Violation>,
        /// Values that were only mentioned to rule them out, and were left out of the call.
        excluded: Vec<SlotValue>,
        /// Coerced values, for the trace.
        coercions: Vec<Coercion>,
    },
    Invalid {
        /// The valid part: canonical and grounded.
        arguments: Map<String, Value>,
        /// The violations; never empty. Missing values are reported by leaf (`/shipping_address/city`), even if the
        /// whole object is absent.
        violations: Vec<Violation>,
        /// One for each scalar of `arguments`.
        grounded: Vec<SlotValue>,
        /// Values that were only mentioned to rule them out; not in `arguments`.
        excluded: Vec<SlotValue>,
        coercions: Vec<Coercion>,
    },
}
