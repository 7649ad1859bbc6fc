//! A chat completion request as clients write it, and the parts of it that are not supported.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::conversation::ChatMessage;
use crate::{
    http::{ApiError, Fault, predict::Budget},
    module::settings::{ChatCalls, ForeignTools, StrategyName},
};

/// A request of the `OpenAI` API.
///
/// Members that only steer how a model writes are taken and have no effect: `temperature`, `top_p`, `seed`, `stop`,
/// `max_tokens`, `max_completion_tokens`, `frequency_penalty`, `presence_penalty`, `reasoning_effort`, `verbosity`,
/// `prediction`, `service_tier`, `user`, `safety_identifier`, `prompt_cache_key`, `metadata` and `store` (nothing is
/// stored). So have members that nobody knows.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct ChatRequest {
    /// Name of a module, or `uptake` for the request's own tools alone, if it has any.
    #[schema(required = true, value_type = String, example = "weather")]
    pub(in crate::http) model: Option<String>,
    /// The conversation, oldest first. What is understood is the last message, if it is the person's; after the results
    /// of calls the answer tells them.
    #[schema(required = true, value_type = Vec<ChatMessage>, min_items = 1)]
    pub(in crate::http) messages: Option<Vec<ChatMessage>>,
    /// The functions that may be called, 128 at most. Of those that are the module's own by name, whatever a library
    /// puts around it, the module's exemplars, recognizers and settings are used; `uptake.tools` says what becomes of
    /// others. All functions of the module if there are none; then `uptake.calls` says whether calls come back.
    #[schema(value_type = Option<Vec<Tool>>, max_items = 128)]
    pub(in crate::http) tools: Option<Vec<Value>>,
    /// `auto`, `none` (no call is made), `required`, one function (`{"type": "function", "function": {"name": "..."}}`)
    /// or some of them (`{"type": "allowed_tools", ...}`). With `required` or a name, what was not said is still asked
    /// for.
    #[schema(value_type = Option<Value>, example = "auto")]
    pub(in crate::http) tool_choice: Option<Value>,
    /// `false`: at most one call comes back, the first that was asked for.
    pub(in crate::http) parallel_tool_calls: Option<bool>,
    /// The older form of `tools`; the call comes back as `function_call`.
    #[schema(value_type = Option<Vec<FunctionDefinition>>, max_items = 128)]
    pub(in crate::http) functions: Option<Vec<Value>>,
    /// The older form of `tool_choice`: `auto`, `none` or `{"name": "..."}`.
    #[schema(value_type = Option<Value>)]
    pub(in crate::http) function_call: Option<Value>,
    /// `{"type": "text"}`, or `{"type": "json_schema", "json_schema": {"name", "schema"}}`: the object that the text
    /// says, as the message's content. What the schema requires and the text does not say is never made up: `content`
    /// is null then, and `refusal` asks for it. With `tools`, calls come as calls, and what is said is such an object
    /// where the results of calls have its members, else a `refusal`. With `{"type": "json_object"}` what is said is in
    /// `reply` of an object.
    #[schema(value_type = Option<Value>)]
    pub(in crate::http) response_format: Option<Value>,
    /// Answer as server-sent events: one `data:` line for each chunk, `data: [DONE]` at the end, and if it fails
    /// `data: {"error": {...}}` instead.
    pub(in crate::http) stream: Option<bool>,
    pub(in crate::http) stream_options: Option<StreamOptions>,
    /// 1.
    #[schema(minimum = 1, maximum = 1)]
    pub(in crate::http) n: Option<i64>,
    /// False.
    pub(in crate::http) logprobs: Option<bool>,
    /// 0.
    pub(in crate::http) top_logprobs: Option<i64>,
    /// Empty.
    #[schema(value_type = Option<Value>)]
    pub(in crate::http) logit_bias: Option<Value>,
    /// `["text"]`.
    pub(in crate::http) modalities: Option<Vec<String>>,
    #[schema(ignore)]
    pub(in crate::http) audio: Option<Value>,
    #[schema(ignore)]
    pub(in crate::http) web_search_options: Option<Value>,
    /// What the `OpenAI` API has no word for.
    pub(in crate::http) uptake: Option<UptakeOptions>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct StreamOptions {
    /// One more chunk at the end, without choices, that has the usage.
    pub include_usage: Option<bool>,
}

/// The same as in `/v1/predict`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct UptakeOptions {
    /// `auto`, `local`, `tools`, `structured` or `staged`.
    #[schema(value_type = Option<String>, example = "auto")]
    pub strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read, in RFC 9557 or RFC 3339.
    pub now: Option<String>,
    /// Names of the only functions that may be chosen.
    pub functions: Option<Vec<String>>,
    /// What the turn may spend on a model server.
    pub budget: Option<Budget>,
    /// `uptake.state` of the answer before: then only the last message is read, and the others are taken as known.
    /// Without it and `session_id`, the conversation is what the messages say.
    pub state: Option<String>,
    /// The session that keeps the conversation, in the same way.
    pub session_id: Option<String>,
    /// With `session_id`: only if the session is still at this revision, else 409.
    pub revision: Option<u64>,
    /// BCP 47 language in which questions are worded.
    pub language: Option<String>,
    /// With a module as the model: what becomes of `tools` that are not the module's own. `ignore` (they are not looked
    /// at), `add` (they are called where no function of the module is meant) or `replace` (the request's tools are all
    /// that may be called). The module's choice if absent, else the service's.
    #[schema(value_type = Option<String>, example = "ignore")]
    pub tools: Option<ForeignTools>,
    /// Which calls come back: `offered` (those of functions that the request brings in `tools`; others are told in
    /// words, and `uptake.calls` of the answer has them) or `always`. The module's choice if absent, else the service's.
    #[schema(value_type = Option<String>, example = "always")]
    pub calls: Option<ChatCalls>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "documents a tool, which is read by hand to name what is wrong")]
struct Tool {
    #[schema(rename = "type", example = "function")]
    kind: String,
    function: FunctionDefinition,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "documents a function, which is read by hand to name what is wrong")]
struct FunctionDefinition {
    /// `[a-zA-Z0-9_./:-]{1,64}`, each once.
    #[schema(pattern = "^[a-zA-Z0-9_./:-]{1,64}$")]
    name: String,
    description: Option<String>,
    /// JSON Schema of the arguments: an object.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    parameters: Option<Value>,
}

impl ChatRequest {
    /// Refuses unsupported members that must not be ignored silently.
    ///
    /// # Errors
    /// 400 with the member.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        let speaks = self.modalities.iter().flatten().any(|modality| modality != "text");
        let refusals = [
            (self.n.is_some_and(|n| n != 1), "n", "one answer is given: leave `n` out"),
            (self.logprobs == Some(true), "logprobs", "there are no log probabilities: leave `logprobs` out"),
            (
                self.top_logprobs.is_some_and(|top| top != 0),
                "top_logprobs",
                "there are no log probabilities: leave `top_logprobs` out",
            ),
            (
                self.logit_bias.as_ref().is_some_and(|bias| !is_empty(bias)),
                "logit_bias",
                "tokens have no say in what is understood: leave `logit_bias` out",
            ),
            (speaks, "modalities", "answers are text: only `text` is served"),
            (self.audio.is_some(), "audio", "answers are text: leave `audio` out"),
            (self.web_search_options.is_some(), "web_search_options", "nothing is searched for: leave it out"),
        ];
        match refusals.into_iter().find(|(applies, ..)| *applies) {
            Some((_, param, message)) => Err(ApiError::fault(Fault::UnsupportedParameter, message).about(param)),
            None => Ok(()),
        }
    }
}
