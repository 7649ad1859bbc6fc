//! A turn as an answer of the Responses API of `OpenAI`. Pure.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{ChatCompletion, Message, ToolCall, Uptake, Usage};

/// Prefix of a response's id.
const RESPONSE: &str = "resp_";
/// Number of hexadecimal digits after the prefix.
const DIGITS: usize = 32;

/// The digits of a response's id. The ids of its items contain them too, so that an item's id identifies its response.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResponseId(String);

impl ResponseId {
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }

    /// `None` for an id that is not ours.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        text.strip_prefix(RESPONSE).filter(|digits| digits.len() == DIGITS).and_then(Self::of_digits)
    }

    /// The response that contains this item.
    #[must_use]
    pub fn of_item(text: &str) -> Option<Self> {
        let (_, digits) = text.split_once('_')?;
        Self::of_digits(digits.get(..DIGITS)?)
    }

    fn of_digits(digits: &str) -> Option<Self> {
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| Self(digits.to_ascii_lowercase()))
    }

    #[must_use]
    pub fn text(&self) -> String {
        format!("{RESPONSE}{}", self.0)
    }

    /// The id of its message; there is at most one, and it comes first.
    #[must_use]
    pub fn message(&self) -> String {
        self.item("msg", 0)
    }

    fn item(&self, kind: &str, index: usize) -> String {
        format!("{kind}_{}{index:02}", self.0)
    }
}

/// A response of the `OpenAI` API, with one member more: `uptake`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ResponseBody {
    /// `resp_...`: what `previous_response_id` goes on from, if it is kept.
    pub id: String,
    #[schema(value_type = String, example = "response")]
    pub object: &'static str,
    /// Seconds since 1970.
    pub created_at: u64,
    /// `completed`; in events also `in_progress` and `failed`.
    #[schema(value_type = String, example = "completed")]
    pub status: &'static str,
    /// Seconds since 1970.
    #[schema(required = true)]
    pub completed_at: Option<u64>,
    /// False.
    pub background: bool,
    /// Only where the status is `failed`.
    #[schema(required = true)]
    pub error: Option<ResponseError>,
    /// Always null.
    #[schema(value_type = Option<Value>)]
    pub incomplete_details: (),
    /// As the request has them.
    #[schema(required = true)]
    pub instructions: Option<String>,
    /// Always null, as everything that steers how a model writes.
    #[schema(value_type = Option<Value>)]
    pub max_output_tokens: (),
    /// The module's name.
    pub model: String,
    /// A message, or the calls.
    pub output: Vec<OutputItem>,
    pub parallel_tool_calls: bool,
    /// As the request has it.
    #[schema(required = true)]
    pub previous_response_id: Option<String>,
    /// Always null.
    #[schema(value_type = Option<Value>)]
    pub reasoning: (),
    /// Whether it is kept, so that `previous_response_id` can name it.
    pub store: bool,
    /// Always null.
    #[schema(value_type = Option<Value>)]
    pub temperature: (),
    /// As the request has it.
    pub text: Value,
    /// As the request has it.
    pub tool_choice: Value,
    /// Those of the request that are looked at.
    pub tools: Vec<Value>,
    /// Always null.
    #[schema(value_type = Option<Value>)]
    pub top_p: (),
    #[schema(value_type = String, example = "disabled")]
    pub truncation: &'static str,
    /// Null while it is in progress.
    #[schema(required = true)]
    pub usage: Option<ResponseUsage>,
    /// As the request has it.
    pub metadata: Value,
    /// How the answer came about; absent in what is kept, and while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptake: Option<Uptake>,
}

/// One thing that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputItem {
    Message {
        /// `msg_...`
        id: String,
        /// `completed`; in events also `in_progress`.
        #[schema(value_type = String, example = "completed")]
        status: &'static str,
        #[schema(value_type = String, example = "assistant")]
        role: &'static str,
        content: Vec<ContentPart>,
    },
    FunctionCall {
        /// `fc_...`
        id: String,
        /// `completed`; in events also `in_progress`.
        #[schema(value_type = String, example = "completed")]
        status: &'static str,
        /// `call_...`: what a `function_call_output` names.
        call_id: String,
        name: String,
        /// A JSON object, as a string.
        #[schema(example = "{\"location\":\"Seattle, WA\"}")]
        arguments: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    OutputText {
        text: String,
        /// Empty.
        annotations: Vec<Value>,
        /// Empty.
        logprobs: Vec<Value>,
    },
    /// The question, where an object was asked for and cannot be given.
    Refusal { refusal: String },
}

/// Tokens that a model server counted; zeros if none was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResponseUsage {
    pub input_tokens: u64,
    pub input_tokens_details: InputTokens,
    pub output_tokens: u64,
    pub output_tokens_details: OutputTokens,
    pub total_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct InputTokens {
    /// 0.
    pub cached_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct OutputTokens {
    /// 0.
    pub reasoning_tokens: u64,
}

/// The error of an answer that failed after it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResponseError {
    /// For programs; stable.
    #[schema(value_type = String, example = "server_error")]
    pub code: &'static str,
    pub message: String,
}

impl From<Usage> for ResponseUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: InputTokens::default(),
            output_tokens: usage.completion_tokens,
            output_tokens_details: OutputTokens::default(),
            total_tokens: usage.total_tokens,
        }
    }
}

impl ContentPart {
    #[must_use]
    pub const fn text(text: String) -> Self {
        Self::OutputText { text, annotations: Vec::new(), logprobs: Vec::new() }
    }
}

impl OutputItem {
    #[must_use]
    pub fn message(id: &ResponseId, status: &'static str, content: Vec<ContentPart>) -> Self {
        Self::Message { id: id.message(), status, role: "assistant", content }
    }

    fn call(id: &ResponseId, index: usize, call: ToolCall) -> Self {
        let ToolCall { id: call_id, function, .. } = call;
        let (name, arguments) = (function.name, function.arguments);
        Self::FunctionCall { id: id.item("fc", index), status: "completed", call_id, name, arguments }
    }
}

impl ResponseBody {
    /// The finished response with the completion's result; `self` is in progress.
    #[must_use]
    pub fn completed(self, id: &ResponseId, completion: ChatCompletion, at: u64) -> Self {
        let ChatCompletion { choices, usage, uptake, .. } = completion;
        let output = choices.into_iter().next().map(|choice| items(id, choice.message)).unwrap_or_default();
        Self {
            status: "completed",
            completed_at: Some(at),
            output,
            usage: Some(usage.into()),
            uptake: Some(uptake),
            ..self
        }
    }

    /// Adds a note about how it came about.
    pub fn note(&mut self, note: String) {
        if let Some(uptake) = &mut self.uptake {
            uptake.notes.push(note);
        }
    }
}

fn items(id: &ResponseId, message: Message) -> Vec<OutputItem> {
    let Message { content, refusal, tool_calls, .. } = message;
    let said = content.map(ContentPart::text).or_else(|| refusal.map(|refusal| ContentPart::Refusal { refusal }));
    let mut items: Vec<OutputItem> =
        said.into_iter().map(|part| OutputItem::message(id, "completed", vec![part])).collect();
    for call in tool_calls.into_iter().flatten() {
        items.push(OutputItem::call(id, items.len(), call));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_name_their_response() {
        let id = ResponseId::random();
        assert_eq!(ResponseId::of(&id.text()), Some(id.clone()));
        assert_eq!(ResponseId::of_item(&id.message()), Some(id.clone()));
        assert_eq!(ResponseId::of_item(&id.item("fc", 127)), Some(id));
        let digits = "0".repeat(DIGITS);
        for text in ["", "resp_", "resp_123", "order-42", "resp_../../../../../../../../../../etc/pass", "résp_é"] {
            assert_eq!(ResponseId::of(text), None, "{text}");
        }
        assert_eq!(ResponseId::of(&format!("resp_{digits}0")), None);
        assert_eq!(ResponseId::of(&format!("chatcmpl-{digits}")), None);
        for text in ["", "msg", "msg_", "msg_123", &format!("msg_{}é", "0".repeat(DIGITS - 1))] {
            assert_eq!(ResponseId::of_item(text), None, "{text}");
        }
    }
}
