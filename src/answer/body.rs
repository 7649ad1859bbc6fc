//! The shapes that clients read.

use serde::{Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::{ActionBody, AlternativeBody, ExplanationBody, milliseconds};
use crate::{llm, understand::Timings};

/// A chat completion as the `OpenAI` API answers it, with one member more: `uptake`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChatCompletion {
    /// `chatcmpl-...`
    pub id: String,
    #[schema(value_type = String, example = "chat.completion")]
    pub object: &'static str,
    /// Seconds since 1970.
    pub created: u64,
    /// The module's name.
    pub model: String,
    pub choices: Vec<Choice>,
    pub usage: Usage,
    /// Names the version of the module that answered.
    pub system_fingerprint: String,
    pub uptake: Uptake,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Choice {
    pub index: u32,
    pub message: Message,
    /// Always null.
    #[schema(value_type = Option<Value>)]
    pub logprobs: (),
    /// `tool_calls` (or `function_call`) if there is a call that the client did not name itself, otherwise `stop`.
    #[schema(value_type = String, example = "tool_calls")]
    pub finish_reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Message {
    #[schema(value_type = String, example = "assistant")]
    pub role: &'static str,
    /// What is said where nothing is called: the question, the result, that something is out of scope; the object,
    /// where one was asked for (`response_format`).
    #[schema(required = true)]
    pub content: Option<String>,
    /// The question, where an object was asked for and cannot be given; otherwise null.
    #[schema(required = true)]
    pub refusal: Option<String>,
    /// Only if the outcome is `call`; then there is at least one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// The call in the older form, for requests with `functions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCall>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolCall {
    /// `call_...`
    pub id: String,
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "function")]
    pub kind: &'static str,
    pub function: FunctionCall,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FunctionCall {
    pub name: String,
    /// A JSON object, as a string.
    #[schema(example = "{\"location\":\"Seattle, WA\"}")]
    pub arguments: String,
}

/// Tokens that a model server counted; zeros if none was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub total_tokens: u64,
}

impl From<llm::Usage> for Usage {
    fn from(usage: llm::Usage) -> Self {
        Self {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens,
        }
    }
}

/// How the answer came about.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Uptake {
    /// `call` (valid and complete), `done` (called here: what came of it is in `actions`), `ask` (what is asked is in
    /// `question`), `no_match` (out of scope), `cancelled` (the person took back what was open) or `handoff` (a person
    /// should take over; `handoff` says why).
    #[schema(value_type = String, example = "call")]
    pub outcome: &'static str,
    /// Probability that the outcome is right, 0 to 1.
    pub confidence: f64,
    /// `local`, the strategy by which the model server decided, or `front`: no function is meant, and the words are the
    /// model server's.
    #[schema(value_type = String, example = "local")]
    pub decided_by: &'static str,
    pub module_version: String,
    /// What is asked: the outcome itself if that is `ask`, else what goes on beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionBody>,
    /// Why a person should take over: beside the outcome `handoff` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<HandoffBody>,
    /// What a chat shows of this answer: the question, or what is said where nothing is asked. Absent beside a call
    /// after which nothing is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// What is understood so far, complete or not: one per function that was asked for. In a conversation these are the
    /// order details: what is called now, then what is being filled, then what waits, with the values of earlier turns.
    pub calls: Vec<Understood>,
    /// What the utterance may mean, best first, with the exemplars and descriptions that speak for it.
    pub candidates: Vec<CandidateBody>,
    /// The likely readings of the utterance, likeliest first, with the numbers that they were weighed by; absent where
    /// nothing had to be weighed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<AlternativeBody>,
    /// What the likeliest readings rest on beyond that; only where the request says `explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<ExplanationBody>,
    /// What the recognizers found.
    pub mentions: Vec<MentionBody>,
    /// Calls that were made here, and what they came to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionBody>,
    /// Round trips to the model server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptBody>,
    /// Why it was decided so, what was dropped and what repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The conversation after this turn, to be sent along with the next one; absent if a session keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The session that keeps the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionBody>,
    /// Turns of the conversation so far, this one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// What is known, missing and invalid of what is open, in words that a chat prompt can embed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    pub timings_ms: TimingsBody,
}

/// The session that keeps the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SessionBody {
    pub id: String,
    /// Another one after each turn; only to be compared.
    pub revision: u64,
    /// Turns so far.
    pub turn: u32,
    /// Seconds since 1970; each turn puts it off.
    pub expires_at: i64,
}

/// Why a person should take over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HandoffBody {
    /// `asked`: the person asked for one, and what is open stays open. `tries`: the same was asked too often in vain, and
    /// its form is closed.
    #[schema(value_type = String, example = "asked")]
    pub reason: &'static str,
    /// The function that is open, or was; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct QuestionBody {
    pub text: String,
    pub about: AboutBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AboutBody {
    /// A required slot has no value.
    Missing { function: String, slot: String },
    /// Several slots have no value and are asked for together.
    Group { function: String, slots: Vec<String> },
    /// A value was given and is not valid; `path` is a JSON pointer into the arguments.
    Invalid { function: String, path: String },
    /// The values of `slots` do not go together: `rule` is what must hold between them.
    Rule { function: String, rule: String, slots: Vec<String> },
    /// Several functions fit equally well.
    Tie { functions: Vec<String> },
    /// What will be done, for a yes.
    Confirm { function: String },
    /// What is to be changed, after a no.
    Change { function: String },
}

/// One function with what is known of its slots.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Understood {
    pub function: String,
    /// Probability that this function was meant, 0 to 1.
    pub confidence: f64,
    /// The part of the utterance that asks for it.
    pub segment: [usize; 2],
    /// By the slot's path (`format`, `shipping_address.city`, `dishes[].name`), in the schema's order. A slot that lies
    /// in an array has a list of values, and so has one of which something is ruled out beside what is said. What is
    /// ruled out ("no onions") has the operator `!=` and is in no call.
    #[serde(serialize_with = "in_order")]
    #[schema(value_type = std::collections::BTreeMap<String, SlotBody>)]
    pub slots: Vec<(String, SlotBody)>,
    /// Paths of required slots without a value.
    pub missing: Vec<String>,
    pub invalid: Vec<ViolationBody>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SlotBody {
    One(Box<SlotValueBody>),
    Many(Vec<SlotValueBody>),
}

impl SlotBody {
    pub(super) fn values_mut(&mut self) -> &mut [SlotValueBody] {
        match self {
            Self::One(value) => std::slice::from_mut(value),
            Self::Many(values) => values,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = SlotValue)]
pub struct SlotValueBody {
    /// `==`, or `!=` for what was said only to be ruled out: the value is in no call then.
    #[schema(value_type = String, example = "==")]
    pub operator: &'static str,
    /// Canonical, as in the call's arguments, or as it would be.
    pub value: Value,
    /// The words that say so; null if the value was not said.
    #[schema(required = true)]
    pub text: Option<String>,
    /// Where they are in the utterance, in Unicode scalar values, end exclusive.
    #[schema(required = true)]
    pub span: Option<[usize; 2]>,
    /// The recognizer that found it; null for free text.
    #[schema(required = true)]
    pub recognizer: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// `utterance`, `earlier` (an earlier text of the conversation), `choice` (a model picked one of the schema's),
    /// `default` or `generated`.
    #[schema(value_type = String, example = "utterance")]
    pub from: &'static str,
    /// JSON pointer of this very value in the arguments; only for slots that lie in an array, and not for what
    /// is ruled out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Words of its own kind beside it that were not read: the value may be but a part of what was said, and is put to
    /// the person before anything is called with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ViolationBody {
    /// `missing`, `type`, `not_a_choice`, `pattern`, `format`, `range`, `length`, `unknown`, `schema`, `ungrounded`,
    /// `negated`, `ambiguous`.
    #[schema(value_type = String, example = "not_a_choice")]
    pub kind: Value,
    /// JSON pointer into the arguments.
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// What would be right, in words.
    pub expected: String,
}

/// A function that the utterance may mean.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CandidateBody {
    pub function: String,
    /// 0 to 1; comparable between the candidates of one answer.
    pub score: f64,
    /// Score of its nearest negative exemplar, which `score` has taken into account; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative: Option<f64>,
    pub evidence: Vec<EvidenceBody>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EvidenceBody {
    /// `exemplar` or `description`.
    #[schema(value_type = String, example = "exemplar")]
    pub source: &'static str,
    /// The exemplar's template, or the function's description.
    pub text: String,
    /// `normal`, `extended` or `negative`; only for an exemplar.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub mode: Option<&'static str>,
    /// Cosine, -1 to 1.
    pub dense: f64,
    /// BM25 relative to the best of this query, 0 to 1.
    pub lexical: f64,
    /// The two fused, 0 to 1.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MentionBody {
    pub recognizer: String,
    pub text: String,
    pub span: [usize; 2],
    /// Canonical.
    pub value: Value,
    /// 0 to 1.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AttemptBody {
    /// The model and the server's host.
    pub server: String,
    /// What was asked for: `call`, `detect` or `fill`.
    #[schema(value_type = String, example = "call")]
    pub stage: &'static str,
    /// As the server counted; where it does not count, estimated from the length of the text.
    pub usage: Usage,
    /// The answer was kept, or came to another turn that asked the same: it cost nothing, and `usage` is zero.
    pub cached: bool,
    #[schema(value_type = Vec<String>)]
    pub repairs: Vec<&'static str>,
    pub violations: Vec<ViolationBody>,
    /// Why the attempt gave nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub failure: Option<&'static str>,
    /// The words of the round trip; only where the request says `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeBody>,
}

/// What a model server was sent, and what came back.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ExchangeBody {
    /// `messages`, `tools` and `response_format`, as the server gets them.
    #[schema(value_type = Object)]
    pub request: Value,
    /// The message of the reply, before anything was repaired; null if none came.
    #[schema(required = true, value_type = Option<Object>)]
    pub reply: Option<Value>,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct TimingsBody {
    pub recognize: f64,
    pub embed: f64,
    pub retrieve: f64,
    pub decide: f64,
    pub llm: f64,
    pub total: f64,
}

impl From<Timings> for TimingsBody {
    fn from(timings: Timings) -> Self {
        Self {
            recognize: milliseconds(timings.recognize),
            embed: milliseconds(timings.embed),
            retrieve: milliseconds(timings.retrieve),
            decide: milliseconds(timings.decide),
            llm: milliseconds(timings.llm),
            total: milliseconds(timings.total),
        }
    }
}

fn in_order<S: Serializer>(slots: &[(String, SlotBody)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(slots.iter().map(|(path, slot)| (path, slot)))
}
