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
    /// `auto`, `local` or `tools`.
    pub strategy: Option<StrategyName>,
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
