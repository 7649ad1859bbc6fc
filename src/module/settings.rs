//! `module.toml` as the rest of Uptake uses it. Every member is optional in the file.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{effect::FunctionEffect, endpoint::EndpointSettings, rule::Rule};
use crate::{language::units::Unit, text::tag};

/// A module's own settings. `None` means: the server's configuration decides.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// One sentence for lists of modules.
    pub description: String,
    /// BCP 47 language of the exemplars and utterances; `en` if absent.
    pub language: Option<String>,
    /// What comes first in `3/4`; the language's region decides if absent.
    pub date_order: Option<DateOrder>,
    /// IANA time zone for "tomorrow" and the like; the server's if absent.
    pub time_zone: Option<String>,
    /// Added to the model server's prompt.
    pub instructions: Option<String>,
    /// `auto`, `local`, `tools`, `structured` or `staged`.
    pub strategy: Option<StrategyName>,
    pub staged: StagedOverrides,
    pub thresholds: ThresholdSettings,
    pub llm: LlmOverrides,
    pub conversation: ConversationSettings,
    pub chat: ChatSettings,
    pub replies: Replies,
    /// By function name: the file may use any spelling that finds the function; once loaded, the key is its exact name.
    pub functions: BTreeMap<String, FunctionSettings>,
}

impl Settings {
    /// BCP 47 language of the exemplars and utterances.
    #[must_use]
    pub fn language(&self) -> &str {
        self.language.as_deref().unwrap_or("en")
    }

    /// The language with a region, whose forms of numbers and dates are used: the tag's own region, else that of the
    /// time zone.
    #[must_use]
    pub fn locale(&self) -> Cow<'_, str> {
        let language = self.language();
        if tag::region(language).is_some() {
            return language.into();
        }
        let region = self.time_zone.as_deref().and_then(tag::region_of_zone);
        region.map_or(language.into(), |region| format!("{language}-{region}").into())
    }

    /// The settings of a slot, by its function's name and its path, once names are looked up.
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

/// Which party decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StrategyName {
    /// Local if sure, else the model server if one is configured, else still local.
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
    /// All names, as requests and files spell them.
    pub const NAMES: [&'static str; 5] =
        [Self::Auto.name(), Self::Local.name(), Self::Tools.name(), Self::Structured.name(), Self::Staged.name()];

    /// True if the strategy always asks a model server.
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
pub struct ThresholdSettings {
    /// From this confidence on, `auto` decides locally.
    pub sure: Option<f32>,
    /// Below this confidence the answer is `no_match`.
    pub in_scope: Option<f32>,
}

/// What a module may change about the model server; never its key or address, which belong to the operator.
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

/// How conversations over the module's functions proceed. `None` means: the server's configuration decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationSettings {
    /// `one` or `group`.
    pub ask: Option<Ask>,
    /// Questions in a row about the same thing that may bring nothing valid; after them a person takes over.
    pub tries: Option<u32>,
    /// Carry values over from one function to another if their slots share a recognizer of the module.
    pub carry: Option<bool>,
    /// A model server may word the questions, but it never chooses what is asked.
    pub wording: Option<WordedBy>,
}

/// How much is asked for at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// One slot at a time.
    #[default]
    One,
    /// The slots of one object (`shipping_address`) together, else all slots that are missing.
    Group,
}

/// Which party words questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordedBy {
    #[default]
    Module,
    Model,
}

/// The half of the day of an hour that is said without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOfDay {
    /// Either half: the person is asked.
    #[default]
    Ask,
    /// Before noon.
    Morning,
    /// From noon on.
    Afternoon,
    /// Usual working hours, 8 to 18 o'clock; for 7 o'clock the person is asked.
    Day,
    /// The next time that a clock shows this hour.
    Nearest,
}

/// Where to look for a date that is said without a year, or a weekday without a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Today or later.
    #[default]
    Future,
    /// Today or earlier.
    Past,
    /// Either: the person is asked.
    Any,
}

/// A condition on the values of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RuleSource")]
pub struct RuleSettings {
    /// `end_date > start_date`: see [`rule`](super::rule).
    pub check: String,
    /// What is said if it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Wording>,
    /// The parsed `check`; `None` until the module is loaded.
    #[serde(skip)]
    pub rule: Option<Rule>,
}

/// A rule in the file: its check alone, or with its message.
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

    /// The text in the first of these BCP 47 languages that has one, else any text.
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

    /// The texts, each with its language if it has one.
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

/// How the module answers chat completions. `None` means: the server's configuration decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatSettings {
    /// `ignore`, `add` or `replace`.
    pub tools: Option<ForeignTools>,
    /// Messages that mean no function are passed on to the model server.
    pub front: Option<bool>,
    /// `always` or `offered`.
    pub calls: Option<ChatCalls>,
}

/// Which calls a chat completion contains. Calls that the service makes itself are reported either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatCalls {
    /// Calls of functions that the request offers; others are described in words.
    #[default]
    Offered,
    /// All calls.
    Always,
}

/// What happens to tools of a request that are not the module's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignTools {
    /// They are ignored.
    #[default]
    Ignore,
    /// They are called if no function of the module is meant.
    Add,
    /// They replace the module's functions.
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

/// Replies that ask nothing, as [templates](super::template). `None` means: the sentence of the language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Replies {
    pub greeting: Option<Wording>,
    pub thanks: Option<Wording>,
    pub farewell: Option<Wording>,
    /// After "ok" or "great" alone.
    pub acknowledged: Option<Wording>,
    pub out_of_scope: Option<Wording>,
    /// After the result of a call.
    pub done: Option<Wording>,
    /// After a result that reports a failure.
    pub failed: Option<Wording>,
    pub cancelled: Option<Wording>,
    pub handed_off: Option<Wording>,
}

/// The replies of one function.
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
    /// Whether a call only reads; if absent, the endpoint, the schema, the name and the description decide.
    pub effect: Option<FunctionEffect>,
    /// The function whose calls it changes; once loaded, its exact name.
    pub changes: Option<String>,
    /// A follow-up to its last call may call it once more with other values.
    pub repeats: bool,
    /// Before the call, repeat what will be done and wait for a yes.
    pub confirm: bool,
    /// The text of that question, with `<slot>` marks for values; once loaded, the marks contain paths. A clause (up to
    /// a comma or semicolon) whose marks have no value is left out.
    pub confirmation: Option<Wording>,
    /// Overrides the module's setting.
    pub ask: Option<Ask>,
    /// Override the module's replies.
    pub replies: FunctionReplies,
    /// The members of its result that a person is told, `order.id`; all members if empty.
    pub result: Vec<String>,
    /// Members of its result, `order.id`, with the `shared` name of the slots of other functions that take them over.
    pub shares: BTreeMap<String, String>,
    pub rules: Vec<RuleSettings>,
    /// Where its calls are sent; if absent, the client makes them.
    pub endpoint: Option<EndpointSettings>,
    /// It is called without asking from this confidence on; overrides the module's setting.
    pub sure: Option<f32>,
    /// By slot label or path; once loaded, by path.
    pub slots: BTreeMap<String, SlotSettings>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlotSettings {
    /// The question to ask when the slot is missing.
    pub question: Option<Wording>,
    /// What to say when a value is not valid; the question follows.
    pub invalid: Option<Wording>,
    /// Slots with a higher priority are asked for first; 0 unless set. Slots of equal priority keep the schema's order.
    pub priority: i32,
    /// Ask for it once although it is optional; without effect in arrays.
    pub ask: bool,
    /// Slots with the same name here hold the same thing in every function: a value carries over.
    pub shared: Option<String>,
    /// Its values appear only in calls and answers, not in logs or stored texts. Questions repeat at most the last four
    /// characters, by which a person can recognize the value; summaries say only that there is one.
    pub sensitive: bool,
    /// The recognizer that finds its values: overrides `recognizers.json`, format and type.
    pub recognizer: Option<String>,
    /// `free`: a model may write this value itself (a summary, a message body).
    pub grounding: Grounding,
    /// The half of the day of an hour that is said without one; guessed from the schema's words unless set.
    pub part_of_day: Option<PartOfDay>,
    /// Where to look for a date that is said without a year; guessed from the schema's words unless set.
    pub direction: Option<Direction>,
    /// The unit of a number: "two weeks" are 14 of `days`; guessed from the schema's words unless set.
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
