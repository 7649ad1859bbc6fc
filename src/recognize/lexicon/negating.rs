//! What words have to do with ruling something out, by language.

use std::collections::HashMap;

use super::{de, en, es, fr, ja, scan};
use crate::text::fold;

/// The part that a word or phrase has in ruling something out. A word may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recognize) enum Role {
    /// Before a thing that is not wanted: "no", "without".
    Absence,
    /// Before a thing that is to go: "remove".
    Removal,
    /// Before what is not to be done, or not wanted: "don't want".
    Refusal,
    /// The same, but only where a clause begins: "don't".
    OpeningRefusal,
    /// The first part of a verb that is cut in two: "take" of "take the fries off".
    Separable,
    /// Its second part: "off".
    Particle,
    /// After the thing: "なし", "weglassen".
    AbsenceBehind,
    /// At the end of a clause: "nicht" of "Storniere sie nicht".
    RefusalBehind,
    /// Looks like one of these and is none: "no problem".
    Idiom,
    /// A verb that makes the opposite of a refusal: "forget" of "don't forget".
    Keeping,
    /// Before [`Role::But`]: "any" of "any day but Tuesday".
    Universal,
    But,
    /// A clause may begin after it: "please".
    Opening,
    /// Stands before a thing and says nothing of it: "the".
    Article,
    /// A preposition: may lead the thing ("not on Tuesday"), and ends it elsewhere ("no onions on the pizza").
    Lead,
    /// Ends the thing.
    Stop,
    /// Ends the thing, and is none itself: "I", "make".
    Bar,
    /// "and".
    Join,
    /// "or", which never begins another wish.
    Either,
    /// Begins another wish behind "and": "two", "large".
    Fresh,
}

impl Role {
    /// True for a cue that stands behind what it rules out.
    pub(in crate::recognize) const fn looks_back(self) -> bool {
        matches!(self, Self::AbsenceBehind | Self::RefusalBehind)
    }
}

/// One line of a language's table: words and phrases, apart by `|`, and their role.
pub(super) type Line = (&'static str, Role);

/// The words after the first, and the role of all of them.
type Phrase = (Box<[Box<str>]>, Role);

/// The table of one language.
#[derive(Debug)]
pub(in crate::recognize) struct Negating {
    phrases: HashMap<Box<str>, Vec<Phrase>>,
}

impl Negating {
    /// Of a BCP 47 tag; empty for a language without a table.
    pub(in crate::recognize) fn for_language(tag: &str) -> Self {
        let lower = tag.to_lowercase();
        let table: &[Line] = match lower.split(['-', '_']).next().unwrap_or_default() {
            "en" => en::NEGATING,
            "de" => de::NEGATING,
            "es" => es::NEGATING,
            "fr" => fr::NEGATING,
            "ja" => ja::NEGATING,
            _ => &[],
        };
        let mut phrases: HashMap<Box<str>, Vec<Phrase>> = HashMap::new();
        for (words, part) in table {
            for phrase in words.split('|') {
                let folded = fold(phrase);
                let mut words = scan::tokenize(&folded, |_| true).into_iter().map(|token| folded[token.bytes].into());
                if let Some(first) = words.next() {
                    phrases.entry(first).or_default().push((words.collect(), *part));
                }
            }
        }
        Self { phrases }
    }

    pub(in crate::recognize) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// What begins with this word.
    pub(in crate::recognize) fn phrases(&self, first: &str) -> &[Phrase] {
        self.phrases.get(first).map_or(&[], Vec::as_slice)
    }
}
