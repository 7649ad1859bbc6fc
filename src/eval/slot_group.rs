//! What a slot takes, as people who read figures tell slots apart.

use serde::Serialize;

use crate::module::{Builtin, Module, RecognizerKind, Slot, SlotKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotGroup {
    /// Any words: nothing recognizes it.
    Text,
    /// One of a list or of the schema's choices.
    List,
    /// What a regular expression of the author's matches.
    Pattern,
    Number,
    Money,
    Date,
    Time,
    Duration,
    /// Phone, mail, web.
    Contact,
    Boolean,
}

impl SlotGroup {
    /// By the best of its recognizers; a slot that has none takes any words, unless its type says otherwise.
    #[must_use]
    pub fn of(module: &Module, slot: &Slot) -> Self {
        let best = slot.recognizers.first().map(|id| &module.recognizer(*id).kind);
        match (slot.kind, best) {
            (SlotKind::Boolean, _) => Self::Boolean,
            (_, Some(RecognizerKind::List(_))) => Self::List,
            (_, Some(RecognizerKind::Pattern(_))) => Self::Pattern,
            (_, Some(RecognizerKind::Builtin(builtin))) => match builtin {
                Builtin::Integer | Builtin::Number | Builtin::Ordinal | Builtin::Percent => Self::Number,
                Builtin::Money => Self::Money,
                Builtin::Date => Self::Date,
                Builtin::Time | Builtin::DateTime => Self::Time,
                Builtin::Duration => Self::Duration,
                Builtin::Email | Builtin::Phone | Builtin::Url => Self::Contact,
                Builtin::Boolean => Self::Boolean,
            },
            (SlotKind::Integer | SlotKind::Number, None) => Self::Number,
            (SlotKind::String | SlotKind::Any, None) => Self::Text,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::List => "list",
            Self::Pattern => "pattern",
            Self::Number => "number",
            Self::Money => "money",
            Self::Date => "date",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Contact => "contact",
            Self::Boolean => "boolean",
        }
    }
}
