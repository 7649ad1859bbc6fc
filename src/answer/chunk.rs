//! A chat completion in chunks, as the `OpenAI` API streams it. Pure.
//!
//! A call comes in two chunks: its name with empty arguments, then all of its arguments. If the stream is cut in
//! between, the arguments are not JSON, so a client cannot take it for a call with fewer arguments.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ChatCompletion, Choice, FunctionCall, Message, Stamp, ToolCall, Uptake, Usage, fingerprint};
use crate::module::Module;

/// One `data:` line of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChatChunk {
    /// The same in every chunk: `chatcmpl-...`
    pub id: String,
    #[schema(value_type = String, example = "chat.completion.chunk")]
    pub object: &'static str,
    /// Seconds since 1970.
    pub created: u64,
    /// The module's name.
    pub model: String,
    /// Names the version of the module that answers.
    pub system_fingerprint: String,
    /// One, or none in the chunk with the usage.
    pub choices: Vec<ChunkChoice>,
    /// Only with `stream_options.include_usage`: null but in the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Usage>)]
    pub usage: Option<Option<Usage>>,
    /// Only in the chunk with the `finish_reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptake: Option<Uptake>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChunkChoice {
    pub index: u32,
    pub delta: Delta,
    /// Always null.
    #[schema(value_type = Option<Value>)]
    pub logprobs: (),
    /// Null but in the last chunk of the choice.
    #[schema(required = true, value_type = Option<String>)]
    pub finish_reason: Option<&'static str>,
}

/// What is added to the message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Delta {
    /// Only in the first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub content: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCallDelta>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionDelta>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolCallDelta {
    /// Which of the calls.
    pub index: usize,
    /// Only in the call's first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub kind: Option<&'static str>,
    pub function: FunctionDelta,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FunctionDelta {
    /// Only in the call's first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Empty in the call's first chunk.
    pub arguments: String,
}

impl FunctionDelta {
    /// The name, then the arguments.
    fn pair(call: FunctionCall) -> [Self; 2] {
        let FunctionCall { name, arguments } = call;
        [Self { name: Some(name), arguments: String::new() }, Self { name: None, arguments }]
    }
}

/// Makes the chunks of one answer.
#[derive(Debug, Clone)]
pub struct Chunks {
    id: String,
    created: u64,
    model: String,
    fingerprint: String,
    with_usage: bool,
}

impl Chunks {
    #[must_use]
    pub fn new(module: &Module, stamp: &Stamp, with_usage: bool) -> Self {
        Self {
            id: stamp.id.clone(),
            created: stamp.created,
            model: module.name.to_string(),
            fingerprint: fingerprint(module),
            with_usage,
        }
    }

    /// Names the speaker; can be sent before anything is understood.
    #[must_use]
    pub fn first(&self) -> ChatChunk {
        self.chunk(Delta { role: Some("assistant"), content: Some(None), ..Delta::default() }, None)
    }

    /// Text while it is being written, before it is complete.
    #[must_use]
    pub fn words(&self, text: String) -> ChatChunk {
        self.chunk(Delta { content: Some(Some(text)), ..Delta::default() }, None)
    }

    /// Everything after [`Self::first`], without the text that [`Self::words`] has sent.
    #[must_use]
    pub fn rest(&self, completion: ChatCompletion, are_words_told: bool) -> Vec<ChatChunk> {
        let ChatCompletion { choices, usage, uptake, .. } = completion;
        let mut chunks = Vec::new();
        for Choice { mut message, finish_reason, .. } in choices {
            if are_words_told {
                message.content = None;
            }
            chunks.extend(deltas(message).map(|delta| self.chunk(delta, None)));
            chunks.push(self.chunk(Delta::default(), Some(finish_reason)));
        }
        if let Some(last) = chunks.last_mut() {
            last.uptake = Some(uptake);
        }
        if self.with_usage {
            chunks.push(ChatChunk { choices: Vec::new(), usage: Some(Some(usage)), ..self.first() });
        }
        chunks
    }

    fn chunk(&self, delta: Delta, finish_reason: Option<&'static str>) -> ChatChunk {
        ChatChunk {
            id: self.id.clone(),
            object: "chat.completion.chunk",
            created: self.created,
            model: self.model.clone(),
            system_fingerprint: self.fingerprint.clone(),
            choices: vec![ChunkChoice { index: 0, delta, logprobs: (), finish_reason }],
            usage: self.with_usage.then_some(None),
            uptake: None,
        }
    }
}

fn deltas(message: Message) -> impl Iterator<Item = Delta> {
    let Message { content, refusal, tool_calls, function_call, .. } = message;
    let said = content.map(|content| Delta { content: Some(Some(content)), ..Delta::default() });
    let refused = refusal.map(|refusal| Delta { refusal: Some(refusal), ..Delta::default() });
    let calls = tool_calls.into_iter().flatten().enumerate().flat_map(|(index, call)| {
        let ToolCall { id, kind, function } = call;
        let [name, arguments] = FunctionDelta::pair(function);
        [
            ToolCallDelta { index, id: Some(id), kind: Some(kind), function: name },
            ToolCallDelta { index, id: None, kind: None, function: arguments },
        ]
    });
    let calls = calls.map(|call| Delta { tool_calls: Some(vec![call]), ..Delta::default() });
    let function = function_call.into_iter().flat_map(FunctionDelta::pair);
    let function = function.map(|function_call| Delta { function_call: Some(function_call), ..Delta::default() });
    said.into_iter().chain(refused).chain(calls).chain(function)
}
