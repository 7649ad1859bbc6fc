//! Uptake's knowledge of each language, as data: one folder of TOML files per language, parsed once, when it is first
//! needed. `docs/languages.md` says how to add one.
//!
//! | file | holds |
//! |---|---|
//! | `values.toml` | the meanings of words in dates, times, numbers and amounts ([`values`]) |
//! | `negation.toml` | words that rule something out ([`negation`]) |
//! | `replies.toml` | answers to yes-or-no questions ([`replies`]) |
//! | `acts.toml` | dialogue acts ([`acts`]) |
//! | `courtesy.toml` | phrases that give no value and ask for nothing, read in all languages at once ([`courtesy`]) |
//! | `words.toml` | words between requests and around answers, function words ([`words`]), words of names ([`slots`]) |
//! | `effects.toml` | verbs of functions that only read, and questions about what was done ([`effects`]) |
//! | `sentences.toml` | the sentences of Uptake ([`sentences`]) |
//! | `common.txt` | common words ([`common`]); empty for languages without spaces between words |
//!
//! Beside the folders, `facts.toml` holds facts about languages without a folder ([`facts`]). `values.toml` and
//! `signs.toml` hold what is written alike in all languages.

pub mod acts;
pub mod common;
pub mod courtesy;
pub mod effects;
#[cfg(feature = "ablation")]
pub(crate) mod emptied;
pub mod facts;
pub mod grammar;
pub mod limits;
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

/// Why a pack cannot be read. The tests read every pack, so this does not occur later.
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
    /// The code in BCP 47: `en`.
    pub code: &'static str,
    pub values: Phrases<Sense>,
    pub negation: Phrases<negation::NegationRole>,
    pub replies: Replies,
    pub acts: Acts,
    pub words: Words,
    pub effects: Effects,
    pub sentences: Sentences,
    pub common: Common,
}

/// The texts of a pack.
struct PackTexts {
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
    files: PackTexts,
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
            files: PackTexts {
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

/// English comes first: it is used for languages without a pack, unless no answer is better than a wrong one.
static PACKS: [Pack; 5] = [pack!("en"), pack!("de"), pack!("es"), pack!("fr"), pack!("ja")];

/// The most letters between the full stops of an abbreviation: "p.ex".
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

    /// The language that a BCP 47 tag names, and English, since names everywhere are written in English.
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

    /// True for a word, as it was written, behind which a full stop does not end a sentence: a title or another
    /// abbreviation ("Dr."), or a word with a full stop inside ("p.m."). A single letter may be an initial or a choice.
    #[must_use]
    pub fn is_abbreviation(&self, word: &str) -> bool {
        // A full stop behind "example.com" does end a sentence.
        let is_short = |part: &str| part.chars().count() <= LONGEST_PART;
        let is_dotted = word.contains('.') && word.contains(char::is_alphabetic) && word.split('.').all(is_short);
        is_dotted || self.words.abbreviations.contains(&fold(word))
    }

    /// The units that a folded word means, in this language or everywhere: "minutes", "kg".
    pub fn units(&self, word: &str) -> impl Iterator<Item = Unit> {
        let own = self.values.beginning_with(word);
        values::common().beginning_with(word).iter().chain(own).filter_map(|phrase| match phrase.meaning {
            Sense::GluedUnit(unit) => Some(unit.into()),
            sense => sense.unit(),
        })
    }

    fn parse(code: &'static str, files: &PackTexts) -> Result<Self, PackError> {
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
