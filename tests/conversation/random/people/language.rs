//! The words of the people in these dialogues, one file for each language.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::Deserialize;
use serde_json::Value;

const FILES: [&str; 5] = [
    include_str!("../words/en.toml"),
    include_str!("../words/de.toml"),
    include_str!("../words/es.toml"),
    include_str!("../words/fr.toml"),
    include_str!("../words/ja.toml"),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    /// BCP 47.
    pub(super) tag: String,
    /// Separator between a courtesy and the words that it comes with.
    pub(super) joint: String,
    /// By kind: `thanks`, `greeting`, `waiting`, `farewell`, `thinking`.
    pub(super) courtesies: BTreeMap<String, Vec<String>>,
    /// Remarks beside the matter, by kind.
    pub(super) asides: BTreeMap<String, Vec<String>>,
    pub(super) after: After,
    pub(super) replies: Replies,
    pub(super) slots: BTreeMap<String, SlotWords>,
    pub(super) functions: BTreeMap<String, FunctionWords>,
}

/// Utterances after a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    /// Questions about what was done.
    pub(super) done: Vec<String>,
    /// The same with one of its values.
    pub(super) doubt: Vec<String>,
    /// Only one of its values.
    pub(super) bare: Vec<String>,
    /// A different value for it.
    pub(super) change: Vec<String>,
}

/// Replies to questions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replies {
    pub(super) yes: Vec<String>,
    /// A yes together with words that stop, wait, doubt or set a condition.
    pub(super) hedged: Vec<String>,
    /// A yes together with another value.
    pub(super) yes_but: Vec<String>,
    pub(super) no: Vec<String>,
    pub(super) cancel: Vec<String>,
    pub(super) value: Vec<String>,
    pub(super) correct: Vec<String>,
    /// A correction that names the slot.
    pub(super) set: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlotWords {
    pub(super) name: String,
    pub(super) question: String,
    /// Sentences that answer the question, besides the value alone.
    #[serde(default)]
    pub(super) answers: Vec<String>,
    pub(super) values: Vec<PersonValue>,
}

/// A value, and how it is said.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum PersonValue {
    Other { said: String, value: Value },
    Same(Value),
}

impl PersonValue {
    pub(super) const fn value(&self) -> &Value {
        match self {
            Self::Other { value, .. } | Self::Same(value) => value,
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Other { said, .. } => said.clone(),
            Self::Same(Value::String(text)) => text.clone(),
            Self::Same(value) => value.to_string(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FunctionWords {
    pub(super) description: String,
    /// Requests without a value.
    pub(super) open: Vec<String>,
    /// With some of the required values.
    pub(super) part: Vec<String>,
    /// With all of them.
    pub(super) whole: Vec<String>,
    /// Requests that only the module's author knows.
    #[serde(default)]
    pub(super) more: Vec<String>,
}

/// The five languages.
pub(super) fn languages() -> Vec<Words> {
    FILES.into_iter().map(|text| toml::from_str(text).expect("words of this form")).collect()
}

pub(super) fn any<'w>(texts: &'w [String], rng: &mut Rng) -> &'w str {
    texts.get(rng.usize(..texts.len().max(1))).map_or("", String::as_str)
}

/// A random text of one of these kinds.
pub(super) fn any_of<'w>(kinds: &'w BTreeMap<String, Vec<String>>, among: &[&str], rng: &mut Rng) -> &'w str {
    let texts = kinds.get(among[rng.usize(..among.len())]).expect("texts of this kind");
    any(texts, rng)
}

/// The text with each `{name}` replaced by `of(name)`.
pub(super) fn filled(text: &str, of: &dyn Fn(&str) -> String) -> String {
    let mut full = String::new();
    let mut rest = text;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        full.push_str(before);
        full.push_str(&of(name));
        rest = after;
    }
    full + rest
}
