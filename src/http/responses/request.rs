//! A Responses API request as clients write it, and the parts of it that are not supported.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::{ApiError, Fault, chat::request::UptakeOptions};

/// The limit of the `OpenAI` API.
const MOST_METADATA: usize = 16;

/// A request of the `OpenAI` API.
///
/// Members that only steer how a model writes are taken and have no effect: `temperature`, `top_p`,
/// `max_output_tokens`, `max_tool_calls`, `reasoning`, `text.verbosity`, `truncation`, `include`, `stream_options`,
/// `service_tier`, `user`, `safety_identifier` and `prompt_cache_key`. So have members that nobody knows.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct ResponseRequest {
    /// Name of a module, or `uptake` for the request's own tools alone, if it has any.
    #[schema(required = true, value_type = String, example = "weather")]
    pub model: Option<String>,
    /// What the person said, or what happened since the response that this one goes on from, or the whole conversation:
    /// messages (`{"role", "content"}`), `function_call`, `function_call_output`, and references to items of responses
    /// that are kept (`item_reference`). Items of other types are left out, with a note in `uptake`.
    #[schema(required = true, value_type = Input)]
    pub input: Option<Value>,
    /// Instructions to the model server. They hold for this request, and not for those that go on from it.
    pub instructions: Option<String>,
    /// A response that is kept: the conversation goes on from it.
    pub previous_response_id: Option<String>,
    /// False: nothing is kept, and no request can go on from this response. If absent, it is kept where that can be done,
    /// for as long as a session; `store` of the answer says so.
    pub store: Option<bool>,
    /// The functions that may be called, 128 at most. Tools of other types are left out, with a note in `uptake`.
    #[schema(value_type = Option<Vec<FunctionTool>>, max_items = 128)]
    pub tools: Option<Vec<Value>>,
    /// `auto`, `none` (no call is made), `required`, one function (`{"type": "function", "name": "..."}`) or some of them
    /// (`{"type": "allowed_tools", "mode", "tools"}`).
    #[schema(value_type = Option<Value>, example = "auto")]
    pub tool_choice: Option<Value>,
    /// `false`: at most one call comes back, the first that was asked for.
    pub parallel_tool_calls: Option<bool>,
    /// `format`: `{"type": "text"}`, `{"type": "json_schema", "name", "schema"}` or `{"type": "json_object"}`, as
    /// `response_format` of chat completions.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    pub text: Option<Value>,
    /// Answer as server-sent events, each of them a `ResponseEvent`.
    pub stream: Option<bool>,
    /// Comes back, and is kept with the response. 16 members at most.
    pub metadata: Option<BTreeMap<String, String>>,
    /// False.
    pub background: Option<bool>,
    /// 0.
    pub top_logprobs: Option<i64>,
    #[schema(ignore)]
    pub conversation: Option<Value>,
    #[schema(ignore)]
    pub prompt: Option<Value>,
    /// What the `OpenAI` API has no word for.
    pub uptake: Option<UptakeOptions>,
}

#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents what `input` may be, which is read by hand to name the item")]
enum Input {
    Text(String),
    Items(Vec<BTreeMap<String, Value>>),
}

/// A function: `{"type": "function", "name", "description", "parameters"}`, with a name of `[a-zA-Z0-9_./:-]{1,64}`, each once,
/// and the JSON Schema of its arguments. `strict` has no effect: arguments always fit.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents a tool, which is read by hand to name what is wrong")]
struct FunctionTool {
    #[schema(rename = "type", example = "function")]
    kind: String,
}

impl ResponseRequest {
    /// Refuses unsupported members that must not be ignored silently.
    /// # Errors
    /// 400 with the member.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        let refusals = [
            (self.background == Some(true), "background", "answers are given at once: leave `background` out"),
            (
                self.conversation.is_some(),
                "conversation",
                "there are no conversations of this kind: go on with `previous_response_id`",
            ),
            (self.prompt.is_some(), "prompt", "no prompts are kept here: send `input` and `instructions`"),
            (
                self.top_logprobs.is_some_and(|top| top != 0),
                "top_logprobs",
                "there are no log probabilities: leave `top_logprobs` out",
            ),
        ];
        if let Some((_, param, message)) = refusals.into_iter().find(|(applies, ..)| *applies) {
            return Err(ApiError::fault(Fault::UnsupportedParameter, message).about(param));
        }
        if self.metadata.as_ref().is_some_and(|metadata| metadata.len() > MOST_METADATA) {
            let message = format!("`metadata` has at most {MOST_METADATA} members");
            return Err(ApiError::fault(Fault::InvalidValue, message).about("metadata"));
        }
        Ok(())
    }
}
