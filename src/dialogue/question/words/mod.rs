//! Everything that Uptake itself says, in each of its languages.
//!
//! A language is one file, whose sentences are written for that language and not translated word for word. Names of slots
//! and functions come from schemas: they stand in quotes, or where a sentence needs neither an article nor an ending for them.

use crate::{
    dialogue::question::shown::lower_first,
    module::{
        rule::{Comparison, Shift},
        settings::primary,
    },
};

mod de;
mod en;
mod es;
mod fr;
mod ja;

/// One language.
pub(crate) trait Words: Sync {
    /// English is the language of most names in schemas, and of the validator's reasons.
    fn is_english(&self) -> bool {
        false
    }

    /// One sentence after another.
    fn then(&self, first: &str, second: &str) -> String {
        format!("{first} {second}")
    }

    /// What a function is for, within a sentence.
    fn within(&self, summary: &str) -> String {
        lower_first(summary)
    }

    /// "a", "a and b", "a, b and c".
    fn and(&self, of: &[String]) -> String;
    /// "a", "a or b", "a, b or c".
    fn or(&self, of: &[String]) -> String;
    /// Several facts after one another: "size 9, color black".
    fn facts(&self, of: &[String]) -> String;
    fn truth(&self, truth: bool) -> &'static str;

    /// The question for one value. `description` and `choices` ("a, b") may be empty.
    fn ask(&self, name: &str, description: &str, choices: &str) -> String;
    /// The question for several values, `names` being a list of them; `object` is what they are parts of.
    fn ask_all(&self, names: &str, object: Option<&str>) -> String;
    /// A name with the choices that there are for it.
    fn with_choices(&self, name: &str, choices: &str) -> String;
    /// One of several things that have the same name; counted from 1.
    fn numbered(&self, name: &str, number: usize) -> String;
    /// A question that is about this thing.
    fn about(&self, thing: &str, question: &str) -> String;
    /// A question that was asked before, `repeated` times (from 1).
    fn again(&self, question: &str, repeated: u32) -> String;
    /// A question for what the person would rather leave out.
    fn needed(&self, name: &str, question: &str) -> String;

    /// Why a value is not taken; `found` is missing where it must not be repeated. `wanted` is one of [`Self::wanted`].
    fn refused(&self, found: Option<&str>, name: &str, wanted: &str) -> String;
    fn wanted(&self, wanted: &Wanted<'_>) -> String;
    /// A slot in a sentence: "the size".
    fn slot(&self, name: &str) -> String;
    /// What has to hold between two [`Self::slot`]s or values, and what is there instead: "size 9, color black".
    fn rule(&self, left: &str, relation: Relation, right: &str, values: &str) -> String;
    fn today(&self) -> &'static str;
    fn now(&self) -> &'static str;
    /// A moment moved by a length of time.
    fn moved(&self, moment: &str, shift: Shift) -> String;

    /// What will be done, for a yes; `details` may be empty.
    fn confirm(&self, what: &str, details: &str) -> String;
    /// A value with its name: "size 9".
    fn fact(&self, name: &str, value: &str) -> String;
    /// A thing with what is known of it: "margherita (size large)".
    fn thing(&self, name: &str, facts: &str) -> String;
    /// Which of several values was meant.
    fn which(&self, options: &[String]) -> String;
    /// In which half of the day a time lies: the later one is of the evening, or of the afternoon.
    fn which_half(&self, clock: &str, is_evening: bool) -> String;
    /// What is to be changed, after a no.
    fn change(&self) -> &'static str;

    /// Which of several functions is meant.
    fn tie(&self, options: &[String]) -> String;
    fn with(&self, option: &str, names: &str) -> String;
    fn without(&self, option: &str, names: &str) -> String;

    /// What was given up, by name.
    fn cancelled(&self, what: &str) -> String;
    fn hand_off(&self) -> &'static str;
    fn restarted(&self) -> &'static str;
    fn not_understood(&self) -> &'static str;

    /// One line of a summary.
    fn line(&self, line: Line, content: &str) -> String;
    /// In place of a value that is not shown.
    fn given(&self) -> &'static str;
}

/// What a summary tells of a function that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Known,
    Missing,
    NotValid,
    /// Everything is known, and a yes is waited for.
    Unconfirmed,
}

/// What a value would have to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// One of a few, listed with "or".
    Choice(String),
    WholeNumber,
    Number,
    YesOrNo,
    Text,
    /// As JSON Schema names it.
    Format(&'a str),
    AtLeast(String),
    AtMost(String),
    Between(String, String),
    MoreThan(String),
    LessThan(String),
    MultipleOf(String),
    /// Characters.
    NotShorter(u64),
    NotLonger(u64),
    /// A text of another form, which only a pattern describes.
    OtherForm,
    /// Words of the validator, which are English.
    Other(&'a str),
}

/// How two values have to lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    pub comparison: Comparison,
    /// They are moments: after, not more.
    pub is_time: bool,
}

/// The words of a language; `None` where Uptake does not speak it.
pub(crate) fn of(tag: &str) -> Option<&'static dyn Words> {
    match primary(tag).as_str() {
        "de" => Some(&de::German),
        "en" => Some(&en::English),
        "es" => Some(&es::Spanish),
        "fr" => Some(&fr::French),
        "ja" => Some(&ja::Japanese),
        _ => None,
    }
}

/// Where nothing better is known.
pub(crate) fn fallback() -> &'static dyn Words {
    &en::English
}

/// "a", "a{last}b", "a{between}b{last}c".
fn joined(of: &[String], between: &str, last: &str) -> String {
    match of {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., end] => format!("{}{last}{end}", most.join(between)),
    }
}
