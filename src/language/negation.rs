//! Words that rule something out: "no onions", "anything but Tuesday".

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{PackError, phrases::Phrases};
use crate::text::tokens::folded_tokens;

/// The role of a word or phrase in ruling something out. A word may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NegationRole {
    /// Before a thing that is not wanted: "no", "without".
    Absence,
    /// Before a thing that is to be removed: "remove".
    Removal,
    /// Before an action that is not wanted: "don't want".
    Refusal,
    /// The same, but only where a clause begins: "don't".
    OpeningRefusal,
    /// The first part of a separable verb: "take" of "take the fries off".
    Separable,
    /// The second part of a separable verb: "off".
    Particle,
    /// After the thing: "なし", "weglassen".
    AbsenceBehind,
    /// At the end of a clause: "nicht" of "Storniere sie nicht".
    RefusalBehind,
    /// Looks like one of these but is not: "no problem".
    Idiom,
    /// A verb that turns a refusal into its opposite: "forget" of "don't forget".
    Keeping,
    /// Before [`NegationRole::But`]: "any" of "any day but Tuesday".
    Universal,
    But,
    /// A clause may begin after it: "please".
    Opening,
    /// Before a thing, as an empty word: "the".
    Article,
    /// A preposition: may lead the thing ("not on Tuesday"), and ends it elsewhere ("no onions on the pizza").
    Lead,
    /// Ends the thing.
    Stop,
    /// Ends the thing, and is not part of a thing itself: "I", "make".
    Bar,
    /// "and".
    Join,
    /// "or", which never begins another request.
    Either,
    /// Begins another request behind "and": "two", "large".
    Fresh,
    /// Before digits: an abbreviation of "number" ("no. 5").
    Number,
}

impl NegationRole {
    /// True for a cue that stands behind the thing that it rules out.
    #[must_use]
    pub const fn looks_back(self) -> bool {
        matches!(self, Self::AbsenceBehind | Self::RefusalBehind)
    }
}

pub(super) fn parse(text: &str) -> Result<Phrases<NegationRole>, PackError> {
    let by_role: BTreeMap<NegationRole, Vec<String>> = toml::from_str(text)?;
    let mut phrases = Phrases::default();
    for (role, texts) in &by_role {
        texts.iter().for_each(|text| phrases.insert(folded_tokens(text), *role));
    }
    Ok(phrases)
}
