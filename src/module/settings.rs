//! `module.toml`, as the rest of the house uses it. Every member is optional in the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a module may set for itself. `None` means: what the server's configuration says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// One sentence for people who list modules.
    pub description: String,
    /// BCP 47 language of the exemplars and utterances; `en` if absent.
    pub language: Option<String>,
    /// IANA time zone in which "tomorrow" is read; the server's if absent.
    pub time_zone: Option<String>,
    /// Added to the model server's prompt.
    pub instructions: Option<String>,
    /// `auto`, `local`, `tools`, `structured` or `staged`.
    pub strategy: Option<StrategyName>,
    pub staged: StagedOverrides,
    pub thresholds: Thresholds,
    pub llm: LlmOverrides,
    /// By function name: in the file any spelling that finds it, once loaded exactly its own.
    pub functions: BTreeMap<String, FunctionSettings>,
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FunctionSettings {
    /// Repeat what will be done and wait for a yes before the call.
    pub confirm: bool,
    /// By slot label or path; once loaded by path.
    pub slots: BTreeMap<String, SlotSettings>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlotSettings {
    /// What to ask when the slot is missing.
    pub question: Option<String>,
    /// The recognizer that finds its values: overrides `recognizers.json`, format and type.
    pub recognizer: Option<String>,
    /// `free`: a model may write this value itself (a summary, a message body).
    pub grounding: Grounding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grounding {
    /// The value must come from the utterance, the conversation, a mention, an enum or a default.
    #[default]
    Strict,
    Free,
}
