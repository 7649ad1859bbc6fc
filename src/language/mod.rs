//! What Uptake knows of each language, as data: one folder of TOML files per language, parsed once, when it is first
//! needed. `docs/languages.md` says how to add one.
//!
//! | file | holds |
//! |---|---|
//! | `values.toml` | what words mean in dates, times, numbers and amounts ([`values`]) |
//! | `negation.toml` | what rules something out ([`negation`]) |
//! | `replies.toml` | answers to yes-or-no questions ([`replies`]) |
//! | `acts.toml` | dialogue acts ([`acts`]) |
//! | `courtesy.toml` | what gives no value and asks for nothing, read in all languages at once ([`courtesy`]) |
//! | `words.toml` | words that join requests, stand around answers, or carry a sentence ([`words`]), and those of names ([`slots`]) |
//! | `effects.toml` | verbs of functions that only read, and questions about what was done ([`effects`]) |
//! | `sentences.toml` | what Uptake says ([`sentences`]) |
//! | `common.txt` | words that people say ([`common`]); empty where words are not parted by spaces |
//!
//! Beside the folders, `facts.toml` holds what is known of languages without one ([`facts`]), `values.toml` and
//! `signs.toml` what is written alike in all.

pub mod acts;
pub mod common;
pub mod courtesy;
pub mod effects;
#[cfg(feature = "ablation")]
pub(crate) mod emptied;
pub mod facts;
pub mod grammar;
pub mod negation;
pub mod pattern;
pub mod phrases;
pub mod replies;
pub mod sentences;
pub mod slots;
pub mod spoken;
pub mod units;
pub mod values;
pub mod words;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use acts::Acts;
use common::Common;
use effects::Effects;
use phrases::Phrases;
use replies::Replies;
use sentences::Sentences;
use units::Unit;
use values::Sense;
use words::Words;

use crate::text::{fold, tag};

/// Why a pack cannot be read. The tests read every pack, so nobody meets it later.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    #[error("`{0}` is no sense of a word")]
    Sense(String),
    #[error("`{0}` is no pattern: it names a class, a hole or a number that there is not, or has no word")]
    Pattern(String),
}

/// The pack of one language.
#[derive(Debug)]
pub struct Language {
    /// As BCP 47 names it: `en`.
    pub code: &'static str,
    pub values: Phrases<Sense>,
    pub negation: Phrases<negation::Role>,
    pub replies: Replies,
    pub acts: Acts,
    pub words: Words,
    pub effects: Effects,
    pub sentences: Sentences,
    pub common: Common,
}

/// The texts of a pack.
struct Files {
    values: &'static str,
    negation: &'static str,
    replies: &'static str,
    acts: &'static str,
    words: &'static str,
    effects: &'static str,
    sentences: &'static str,
    common: &'static str,
}

struct Pack {
    code: &'static str,
    files: Files,
    language: OnceLock<Language>,
}

impl Pack {
    fn language(&'static self) -> &'static Language {
        #[cfg(feature = "ablation")]
        if let Some(language) = emptied::language(self) {
            return language;
        }
        self.language.get_or_init(|| Language::parse(self.code, &self.files).expect("the tests read every pack"))
    }
}

macro_rules! pack {
    ($code:literal) => {
        Pack {
            code: $code,
            files: Files {
                values: include_str!(concat!($code, "/values.toml")),
                negation: include_str!(concat!($code, "/negation.toml")),
                replies: include_str!(concat!($code, "/replies.toml")),
                acts: include_str!(concat!($code, "/acts.toml")),
                words: include_str!(concat!($code, "/words.toml")),
                effects: include_str!(concat!($code, "/effects.toml")),
                sentences: include_str!(concat!($code, "/sentences.toml")),
                common: include_str!(concat!($code, "/common.txt")),
            },
            language: OnceLock::new(),
        }
    };
}

/// English comes first: it speaks for languages without a pack, where nothing is better than something wrong.
static PACKS: [Pack; 5] = [pack!("en"), pack!("de"), pack!("es"), pack!("fr"), pack!("ja")];

/// Letters between the stops of what is written short: "p.ex".
const LONGEST_PART: usize = 2;

impl Language {
    /// The language that a BCP 47 tag names, if it has a pack.
    #[must_use]
    pub fn of(tag: &str) -> Option<&'static Self> {
        let code = tag::language(tag);
        PACKS.iter().find(|pack| pack.code == code).map(Pack::language)
    }

    #[must_use]
    pub fn english() -> &'static Self {
        PACKS[0].language()
    }

    /// The language that a BCP 47 tag names, or English.
    #[must_use]
    pub fn or_english(tag: &str) -> &'static Self {
        Self::of(tag).unwrap_or_else(Self::english)
    }

    /// The language that a BCP 47 tag names, and English, in which names are written everywhere.
    #[must_use]
    pub fn and_english(tag: &str) -> [&'static Self; 2] {
        [Self::or_english(tag), Self::english()]
    }

    /// Every language with a pack.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        PACKS.iter().map(Pack::language)
    }

    /// Every other language with a pack.
    pub fn others(&self) -> impl Iterator<Item = &'static Self> + '_ {
        Self::all().filter(|other| other.code != self.code)
    }

    /// True for a word, as it was written, behind which a full stop ends no sentence: a title or what else is written
    /// short ("Dr."), and what has such a stop within ("p.m."). A single letter may be an initial or a choice.
    #[must_use]
    pub fn is_abbreviation(&self, word: &str) -> bool {
        // "example.com" ends a sentence all the same.
        let is_short = |part: &str| part.chars().count() <= LONGEST_PART;
        let is_dotted = word.contains('.') && word.contains(char::is_alphabetic) && word.split('.').all(is_short);
        is_dotted || self.words.abbreviations.contains(&fold(word))
    }

    /// The units that a folded word is, in this language or everywhere: "minutes", "kg".
    pub fn units(&self, word: &str) -> impl Iterator<Item = Unit> {
        let own = self.values.beginning_with(word);
        values::common().beginning_with(word).iter().chain(own).filter_map(|phrase| match phrase.meaning {
            Sense::GluedUnit(unit) => Some(unit.into()),
            sense => sense.unit(),
        })
    }

    fn parse(code: &'static str, files: &Files) -> Result<Self, PackError> {
        Ok(Self {
            code,
            values: values::parse(files.values)?,
            negation: negation::parse(files.negation)?,
            replies: Replies::parse(files.replies, include_str!("signs.toml"))?,
            acts: Acts::parse(files.acts)?,
            words: Words::parse(files.words)?,
            effects: Effects::parse(files.effects)?,
            sentences: Sentences::parse(files.sentences)?,
            common: Common::parse(
                files.common,
                &[files.values, files.negation, files.replies, files.acts, files.words],
            ),
        })
    }
}
