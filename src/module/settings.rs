//! `module.toml`, as the rest of the house uses it. Every member is optional in the file.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{effect::FunctionEffect, endpoint::EndpointSettings, rule::Rule};
use crate::{language::units::Unit, text::tag};

/// What a module may set for itself. `None` means: what the server's configuration says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// One sentence for people who list modules.
    pub description: String,
    /// BCP 47 language of the exemplars and utterances; `en` if absent.
    pub language: Option<String>,
    /// What comes first in `3/4`; by the language's region if absent.
    pub date_order: Option<DateOrder>,
    /// IANA time zone in which "tomorrow" is read; the server's if absent.
    pub time_zone: Option<String>,
    /// Added to the model server's prompt.
    pub instructions: Option<String>,
    /// `auto`, `local`, `tools`, `structured` or `staged`.
    pub strategy: Option<StrategyName>,
    pub staged: StagedOverrides,
    pub thresholds: Thresholds,
    pub llm: LlmOverrides,
    pub conversation: ConversationSettings,
    pub chat: ChatSettings,
    pub replies: Replies,
    /// By function name: in the file any spelling that finds it, once loaded exactly its own.
    pub functions: BTreeMap<String, FunctionSettings>,
}

impl Settings {
    /// BCP 47 language of the exemplars and utterances.
    #[must_use]
    pub fn language(&self) -> &str {
        self.language.as_deref().unwrap_or("en")
    }

    /// The same with a region, in which numbers and days are written as there: the tag's own, else that of the time zone.
    #[must_use]
    pub fn locale(&self) -> Cow<'_, str> {
        let language = self.language();
        if tag::region(language).is_some() {
            return language.into();
        }
        let region = self.time_zone.as_deref().and_then(tag::region_of_zone);
        region.map_or(language.into(), |region| format!("{language}-{region}").into())
    }

    /// What is set for a slot, by its function's name and its path, once names are looked up.
    #[must_use]
    pub fn slot(&self, function: &str, path: &str) -> Option<&SlotSettings> {
        self.functions.get(function)?.slots.get(path)
    }
}

/// What comes first in a date in digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StrategyName {
    /// Local when sure, else the model server if one is configured, else local all the same.
    #[default]
    Auto,
    /// Never a model server.
    Local,
    /// Always the model server, by native function calling.
    Tools,
    /// Always the model server, by an answer that must fit a JSON Schema.
    Structured,
    /// Always the model server: first which function, then its arguments.
    Staged,
}

impl StrategyName {
    /// The names of all, as requests and files spell them.
    pub const NAMES: [&'static str; 5] =
        [Self::Auto.name(), Self::Local.name(), Self::Tools.name(), Self::Structured.name(), Self::Staged.name()];

    /// It is a way of asking a model server, and always asks one.
    #[must_use]
    pub const fn always_asks(self) -> bool {
        !matches!(self, Self::Auto | Self::Local)
    }

    /// As requests and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Local => "local",
            Self::Tools => "tools",
            Self::Structured => "structured",
            Self::Staged => "staged",
        }
    }
}

/// How `staged` finds the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detect {
    /// One question: which of the candidates, or none?
    #[default]
    Choice,
    /// A yes-or-no question for each candidate, at the same time.
    Each,
    /// A yes-or-no question for each of the nearest exemplars, at the same time: does it mean the same?
    Vote,
}

/// How `staged` finds the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// All arguments of the function in one answer.
    #[default]
    Whole,
    /// A question for each slot, at the same time.
    Slots,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StagedOverrides {
    pub detect: Option<Detect>,
    pub fill: Option<Fill>,
}

/// Probabilities, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// From this confidence on, `auto` decides locally.
    pub sure: Option<f32>,
    /// Below this confidence the answer is `no_match`.
    pub in_scope: Option<f32>,
}

/// What a module may change about the model server; never its key or address, which belong to who runs the service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmOverrides {
    pub model: Option<String>,
    pub temperature: Option<f32>,
    pub max_tokens: Option<u32>,
    /// Candidates that the model sees.
    pub candidates: Option<usize>,
    /// Exemplars shown as few-shot turns.
    pub shots: Option<usize>,
    /// Times that a wrong answer is sent back with what was wrong.
    pub retries: Option<u32>,
    /// Milliseconds that one turn may take, retries included.
    pub deadline_ms: Option<u64>,
    /// Tokens that one turn may use, prompts and answers together; another question is asked only below it.
    pub tokens: Option<u64>,
}

/// How conversations over the module's functions go. `None` means: what the server's configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationSettings {
    /// `one` or `group`.
    pub ask: Option<Ask>,
    /// Questions in a row about the same thing that may bring nothing valid; after them a person takes over.
    pub tries: Option<u32>,
    /// Take values over from one function to another where their slots share a recognizer of the module.
    pub carry: Option<bool>,
    /// A model server may word the questions; what is asked is never its choice.
    pub wording: Option<WordedBy>,
}

/// How much is asked for at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// One slot at a time.
    #[default]
    One,
    /// The slots of one object (`shipping_address`) together, else all that is missing.
    Group,
}

/// Who words questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordedBy {
    #[default]
    Module,
    Model,
}

/// The half of the day in which an hour lies that is said without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOfDay {
    /// Either: the person is asked.
    #[default]
    Ask,
    /// Before noon.
    Morning,
    /// From noon on.
    Afternoon,
    /// In the usual hours of work, 8 to 18 o'clock; 7 o'clock is asked for.
    Day,
    /// The next time that a clock shows it.
    Nearest,
}

/// Where a date lies that is said without a year, or a weekday without a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Today or ahead.
    #[default]
    Future,
    /// Today or behind.
    Past,
    /// Either: the person is asked.
    Any,
}

/// What has to hold between values of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RuleSource")]
pub struct RuleSettings {
    /// `end_date > start_date`: see [`rule`](super::rule).
    pub check: String,
    /// What is said where it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Wording>,
    /// `check`, read; `None` until the module is loaded.
    #[serde(skip)]
    pub rule: Option<Rule>,
}

/// A rule in the file: its check alone, or with what is said.
#[derive(Deserialize)]
#[serde(untagged)]
enum RuleSource {
    Check(String),
    Full { check: String, message: Option<Wording> },
}

impl From<RuleSource> for RuleSettings {
    fn from(source: RuleSource) -> Self {
        let (check, message) = match source {
            RuleSource::Check(check) => (check, None),
            RuleSource::Full { check, message } => (check, message),
        };
        Self { check, message, rule: None }
    }
}

/// Words for a person: one text, or one by language (`{ en = "...", ja = "..." }`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Wording {
    One(String),
    ByLanguage(BTreeMap<String, String>),
}

impl Wording {
    /// The text in this BCP 47 language, else in its primary language, else any.
    #[must_use]
    pub fn in_language(&self, tag: &str) -> Option<&str> {
        self.in_first(&[tag])
    }

    /// The text in the first of these BCP 47 languages that there is one for, else any.
    #[must_use]
    pub fn in_first(&self, tags: &[&str]) -> Option<&str> {
        match self {
            Self::One(text) => Some(text),
            Self::ByLanguage(texts) => {
                let spoken = |tag: &&str| {
                    let same = texts.iter().find(|(language, _)| language.eq_ignore_ascii_case(tag));
                    let wanted = tag::language(tag);
                    same.or_else(|| texts.iter().find(|(language, _)| tag::language(language) == wanted))
                };
                tags.iter().find_map(spoken).or_else(|| texts.iter().next()).map(|(_, text)| text.as_str())
            }
        }
    }

    /// The texts, each with its language where it has one.
    pub fn texts(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        let (one, several) = match self {
            Self::One(text) => (Some((None, text.as_str())), None),
            Self::ByLanguage(texts) => (None, Some(texts)),
        };
        let several = several.into_iter().flatten().map(|(language, text)| (Some(language.as_str()), text.as_str()));
        one.into_iter().chain(several)
    }

    /// Each text changed by `change`; `None` if no text is left.
    #[must_use]
    pub(super) fn mapped(self, mut change: impl FnMut(&str) -> String) -> Option<Self> {
        let mut changed = |text: &str| Some(change(text).trim().to_owned()).filter(|text| !text.is_empty());
        match self {
            Self::One(text) => changed(&text).map(Self::One),
            Self::ByLanguage(texts) => {
                let texts: BTreeMap<String, String> =
                    texts.into_iter().filter_map(|(language, text)| Some((language, changed(&text)?))).collect();
                (!texts.is_empty()).then_some(Self::ByLanguage(texts))
            }
        }
    }
}

/// How the module answers chat completions. `None` means: what the server's configuration says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatSettings {
    /// `ignore`, `add` or `replace`.
    pub tools: Option<ForeignTools>,
    /// What no function is meant by goes on to the model server.
    pub front: Option<bool>,
    /// `always` or `offered`.
    pub calls: Option<ChatCalls>,
}

/// Which calls a chat completion has. What the service calls itself is told either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatCalls {
    /// Those of functions that the request offers; others are told in words.
    #[default]
    Offered,
    /// All of them.
    Always,
}

/// What becomes of the tools of a request that are not the module's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignTools {
    /// They are not looked at.
    #[default]
    Ignore,
    /// They are called where no function of the module is meant.
    Add,
    /// The request's tools take the place of the module's functions.
    Replace,
}

impl ForeignTools {
    /// As requests and files spell it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "ignore" => Some(Self::Ignore),
            "add" => Some(Self::Add),
            "replace" => Some(Self::Replace),
            _ => None,
        }
    }
}

/// What is said where nothing is asked, as [templates](super::template). `None` means: the sentence of the language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Replies {
    pub greeting: Option<Wording>,
    pub thanks: Option<Wording>,
    pub farewell: Option<Wording>,
    /// After "ok" and "great" alone.
    pub acknowledged: Option<Wording>,
    pub out_of_scope: Option<Wording>,
    /// After the result of a call.
    pub done: Option<Wording>,
    /// After a result that tells of a failure.
    pub failed: Option<Wording>,
    pub cancelled: Option<Wording>,
    pub handed_off: Option<Wording>,
}

/// The same for one function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FunctionReplies {
    pub done: Option<Wording>,
    pub failed: Option<Wording>,
    pub cancelled: Option<Wording>,
    pub handed_off: Option<Wording>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FunctionSettings {
    /// Whether a call of it only reads; if absent, what the endpoint, the schema, its name and description say.
    pub effect: Option<FunctionEffect>,
    /// The function whose calls it changes; once loaded exactly its name.
    pub changes: Option<String>,
    /// It may be called once more, with other values, by what only follows up its last call.
    pub repeats: bool,
    /// Repeat what will be done and wait for a yes before the call.
    pub confirm: bool,
    /// What is asked then, with `<slot>` marks for values; once loaded with paths in them. A clause (up to a comma or
    /// semicolon) whose marks have no value is left out.
    pub confirmation: Option<Wording>,
    /// Instead of the module's.
    pub ask: Option<Ask>,
    /// Instead of the module's.
    pub replies: FunctionReplies,
    /// The members of its result that a person is told, `order.id`; all if empty.
    pub result: Vec<String>,
    pub rules: Vec<RuleSettings>,
    /// Where its calls go; if absent, the client makes them.
    pub endpoint: Option<EndpointSettings>,
    /// From this confidence on, it is called without asking; instead of the module's.
    pub sure: Option<f32>,
    /// By slot label or path; once loaded by path.
    pub slots: BTreeMap<String, SlotSettings>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlotSettings {
    /// What to ask when the slot is missing.
    pub question: Option<Wording>,
    /// What to say when a value is not valid; the question follows.
    pub invalid: Option<Wording>,
    /// Slots with a higher one are asked for first; 0 unless set, and in the schema's order where it is the same.
    pub priority: i32,
    /// Ask for it once although it is optional; without effect in arrays.
    pub ask: bool,
    /// Slots of this name hold the same thing in every function: a value carries over.
    pub shared: Option<String>,
    /// Its values are shown nowhere but in calls and answers: not in logs, and not in stored texts. Questions repeat at
    /// most the last four characters, for a person to recognize the value by; summaries say only that there is one.
    pub sensitive: bool,
    /// The recognizer that finds its values: overrides `recognizers.json`, format and type.
    pub recognizer: Option<String>,
    /// `free`: a model may write this value itself (a summary, a message body).
    pub grounding: Grounding,
    /// In which half of the day an hour lies that is said without one; guessed from the schema's words unless set.
    pub part_of_day: Option<PartOfDay>,
    /// Where a date lies that is said without a year; guessed from the schema's words unless set.
    pub direction: Option<Direction>,
    /// In what a number counts: "two weeks" are 14 of `days`; guessed from the schema's words unless set.
    pub unit: Option<Unit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grounding {
    /// The value must come from the utterance, the conversation, a mention, an enum or a default.
    #[default]
    Strict,
    Free,
}
