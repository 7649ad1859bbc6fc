//! The JSON that vendors use: what we send, and the many shapes of replies. Only this file knows it, apart from
//! [`super::stream`], which assembles streamed pieces into the same JSON.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    ChatReply, ChatRequest, LlmError, LlmOptions, Message, Tool, ToolCall, ToolChoice, Usage,
    dialect::{Complaint, Field, Fields},
    written,
};
use crate::text::foreign::Foreign;

/// Most tool calls that are read from one reply.
pub(super) const MAX_CALLS: usize = 32;
/// Most complaints that are read from one error.
const MAX_COMPLAINTS: usize = 16;
/// Most characters of a server's message that an error keeps.
const MAX_MESSAGE: usize = 300;

/// A request as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sent {
    pub body: Vec<u8>,
    /// Fields that can be left out.
    pub optional: Fields,
    pub temperature: Option<f32>,
}

/// The request in the form for a server that refuses some fields.
pub(super) fn body(request: &ChatRequest, options: &LlmOptions, refused: Fields) -> Sent {
    let takes = |field| !refused.has(field);
    let mut optional = Fields::default();
    let mut offer = |field, is_set: bool| {
        let is_sent = is_set && takes(field);
        if is_sent {
            optional = optional.with(field);
        }
        is_sent
    };
    let messages: Vec<SentMessage<'_>> = request.messages.iter().map(SentMessage::from).collect();
    let tools: Vec<SentTool<'_>> =
        request.tools.iter().map(|tool| sent_tool(tool, offer(Field::Strict, tool.strict))).collect();
    let has_tools = !tools.is_empty();
    let temperature = request.temperature.or(options.temperature);
    let temperature = temperature.filter(|_| offer(Field::Temperature, true));
    let longest = request.max_tokens.or(options.max_tokens);
    let max_tokens = longest.filter(|_| offer(Field::MaxTokens, true));
    let max_completion_tokens = longest.filter(|_| max_tokens.is_none() && offer(Field::MaxCompletionTokens, true));
    let stream = offer(Field::Stream, options.stream || request.listener.is_some());
    let body = RequestBody {
        model: model(request, options),
        messages,
        // Some servers reject a tool choice without tools.
        tool_choice: has_tools.then(|| SentChoice::from(&request.tool_choice)),
        parallel_tool_calls: offer(Field::ParallelToolCalls, has_tools).then_some(request.parallel),
        tools,
        response_format: request.response_schema.as_ref().map(|(name, schema)| SentFormat {
            kind: "json_schema",
            json_schema: SentSchema { name, schema, strict: super::strict::is_strict(schema) },
        }),
        temperature,
        max_tokens,
        max_completion_tokens,
        stream,
        stream_options: offer(Field::StreamOptions, stream).then(|| json!({"include_usage": true})),
    };
    let body = serde_json::to_vec(&body).expect("strings, numbers and JSON values always serialize");
    Sent { body, optional, temperature }
}

/// A request for people to read: as it is sent, without what the server's configuration adds.
#[must_use]
pub fn shown(request: &ChatRequest) -> Value {
    let messages: Vec<SentMessage<'_>> = request.messages.iter().map(SentMessage::from).collect();
    let mut shown = json!({ "messages": messages });
    if !request.tools.is_empty() {
        let tool = |tool: &'_ Tool| json!(sent_tool(tool, tool.strict));
        shown["tools"] = request.tools.iter().map(tool).collect();
        shown["tool_choice"] = json!(SentChoice::from(&request.tool_choice));
    }
    if let Some((name, schema)) = &request.response_schema {
        shown["response_format"] = json!({"name": name, "schema": schema});
    }
    shown
}

/// A reply's message for people to read.
#[must_use]
pub fn shown_reply(reply: &ChatReply) -> Value {
    let mut shown = json!({ "content": reply.content });
    if !reply.tool_calls.is_empty() {
        shown["tool_calls"] = reply.tool_calls.iter().map(|call| json!(SentCall::from(call))).collect();
    }
    if reply.cut {
        shown["cut"] = json!(true);
    }
    shown
}

fn sent_tool(tool: &Tool, strict: bool) -> SentTool<'_> {
    let Tool { name, description, parameters, .. } = tool;
    SentTool { kind: FUNCTION, function: SentFunction { name, description, parameters, strict } }
}

/// The model that a request goes to.
pub(super) fn model<'a>(request: &'a ChatRequest, options: &'a LlmOptions) -> &'a str {
    request.model.as_deref().or(options.model.as_deref()).unwrap_or("default")
}

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    messages: Vec<SentMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<SentTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<SentChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<SentFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
}

/// The `type` of tools and of calls.
const FUNCTION: &str = "function";

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum SentMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        /// Null only beside calls.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<SentCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

impl<'a> From<&'a Message> for SentMessage<'a> {
    fn from(message: &'a Message) -> Self {
        match message {
            Message::System(content) => Self::System { content },
            Message::User(content) => Self::User { content },
            Message::Assistant { content, tool_calls } => {
                let content = content.as_deref();
                Self::Assistant {
                    content: if tool_calls.is_empty() { Some(content.unwrap_or_default()) } else { content },
                    tool_calls: tool_calls.iter().map(SentCall::from).collect(),
                }
            }
            Message::Tool { id, content } => Self::Tool { tool_call_id: id, content },
        }
    }
}

#[derive(Serialize)]
struct SentCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: SentArguments<'a>,
}

#[derive(Serialize)]
struct SentArguments<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> From<&'a ToolCall> for SentCall<'a> {
    fn from(ToolCall { id, name, arguments }: &'a ToolCall) -> Self {
        Self { id, kind: FUNCTION, function: SentArguments { name, arguments } }
    }
}

#[derive(Serialize)]
struct SentTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: SentFunction<'a>,
}

#[derive(Serialize)]
struct SentFunction<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SentChoice<'a> {
    Word(&'static str),
    Named {
        #[serde(rename = "type")]
        kind: &'static str,
        function: SentName<'a>,
    },
}

#[derive(Serialize)]
struct SentName<'a> {
    name: &'a str,
}

impl<'a> From<&'a ToolChoice> for SentChoice<'a> {
    fn from(choice: &'a ToolChoice) -> Self {
        match choice {
            ToolChoice::Auto => Self::Word("auto"),
            ToolChoice::None => Self::Word("none"),
            ToolChoice::Required => Self::Word("required"),
            ToolChoice::Named(name) => Self::Named { kind: FUNCTION, function: SentName { name } },
        }
    }
}

#[derive(Serialize)]
struct SentFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: SentSchema<'a>,
}

#[derive(Serialize)]
struct SentSchema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

/// Reads the body of a response with a success status, as leniently as possible without guessing.
///
/// # Errors
/// [`LlmError::Malformed`] if it is not a chat completion, [`LlmError::Status`] if it contains an error.
pub fn reply(body: &[u8]) -> Result<ChatReply, LlmError> {
    let malformed = |what: &'static str| LlmError::Malformed(what.into());
    let Ok(text) = std::str::from_utf8(body) else { return Err(malformed("it is not UTF-8")) };
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() {
        return Err(malformed("it is empty"));
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) if text.starts_with('<') => return Err(malformed("it is a page, not JSON; is the address right?")),
        Err(error) => return Err(LlmError::Malformed(Foreign::new(&format!("it is not JSON: {error}")))),
    };
    let Value::Object(answer) = value else { return Err(malformed("it is not a JSON object")) };
    whole(&answer)
}

/// The error in a body or in a streamed piece, if it is one.
pub(super) fn failure(answer: &Map<String, Value>) -> Option<LlmError> {
    let error = answer.get("error").filter(|error| !error.is_null())?;
    let code = error.get("code").and_then(Value::as_u64).or_else(|| error.get("status").and_then(Value::as_u64));
    let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let message = Foreign::new(&error_text(&Value::Object(answer.clone())).unwrap_or_default());
    Some(LlmError::Status { status: status.unwrap_or(502), message, retry_after: None })
}

/// Reads a complete answer.
pub(super) fn whole(answer: &Map<String, Value>) -> Result<ChatReply, LlmError> {
    let malformed = |what: &'static str| LlmError::Malformed(what.into());
    if let Some(error) = failure(answer) {
        return Err(error);
    }
    let choice = answer
        .get("choices")
        .and_then(Value::as_array)
        .and_then(|choices| choices.first())
        .ok_or_else(|| malformed("it has no `choices`"))?;
    let mut reply = ChatReply {
        cut: matches!(choice.get("finish_reason").and_then(Value::as_str), Some("length" | "max_tokens")),
        usage: usage(answer.get("usage")),
        model: answer.get("model").and_then(Value::as_str).map(str::to_owned),
        fingerprint: answer.get("system_fingerprint").and_then(Value::as_str).map(str::to_owned),
        ..ChatReply::default()
    };
    let Some(message) = choice.get("message").and_then(Value::as_object) else {
        // The answer of the older completions API.
        reply.content = choice.get("text").and_then(Value::as_str).map(str::to_owned);
        return if reply.content.is_some() { Ok(reply) } else { Err(malformed("its choice has no `message`")) };
    };
    reply.content = content(message.get("content"))
        .or_else(|| message.get("refusal").and_then(Value::as_str).map(str::to_owned))
        .map(|content| written::without_ends(&written::answer(&content)).to_owned())
        .filter(|content| !content.is_empty());
    reply.tool_calls = match message.get("tool_calls") {
        Some(Value::Array(calls)) => calls.iter().take(MAX_CALLS).enumerate().filter_map(tool_call).collect(),
        Some(one @ Value::Object(_)) => tool_call((0, one)).into_iter().collect(),
        _ => Vec::new(),
    };
    if reply.tool_calls.is_empty() {
        reply.tool_calls.extend(message.get("function_call").and_then(|call| tool_call((0, call))));
    }
    Ok(reply)
}

pub(super) fn content(content: Option<&Value>) -> Option<String> {
    match content? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            // Some servers send thoughts as separate parts.
            let is_answer = |part: &&Value| {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
                kind.ends_with("text")
            };
            let text = |part| Value::as_str(part).or_else(|| part.get("text").and_then(Value::as_str));
            Some(parts.iter().filter(is_answer).filter_map(text).collect::<Vec<_>>().join(""))
        }
        _ => None,
    }
}

/// `{"id", "type", "function": {"name", "arguments"}}`, or the inner object alone; arguments as text or as JSON.
fn tool_call((index, call): (usize, &Value)) -> Option<ToolCall> {
    let call = call.as_object()?;
    let function = call.get("function").and_then(Value::as_object).unwrap_or(call);
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
    let arguments = match function.get("arguments").or_else(|| function.get("parameters")) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if name.is_empty() && arguments.is_empty() {
        return None;
    }
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    Some(ToolCall { id: id.map_or_else(|| format!("call_{index}"), str::to_owned), name: name.to_owned(), arguments })
}

fn usage(usage: Option<&Value>) -> Usage {
    let count = |keys: [&str; 2]| {
        keys.iter().find_map(|key| usage?.get(*key)?.as_f64()).filter(|count| *count >= 0.0).map_or(0, |count| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count, checked; `as` saturates"
            )]
            let count = count as u64;
            count
        })
    };
    let prompt_tokens = count(["prompt_tokens", "input_tokens"]);
    let completion_tokens = count(["completion_tokens", "output_tokens"]);
    let total_tokens = count(["total_tokens", "total_tokens"]).max(prompt_tokens.saturating_add(completion_tokens));
    Usage { prompt_tokens, completion_tokens, total_tokens }
}

/// The message of an error response, short and on one line: from any of the usual error objects, or the text itself.
pub(super) fn error_message(body: &[u8]) -> Foreign {
    let text = String::from_utf8_lossy(body);
    let found = serde_json::from_str::<Value>(&text).ok().and_then(|value| error_text(&value));
    Foreign::new(found.as_deref().unwrap_or(&text))
}

/// The complaints of an error response about the request, one by one. Parts that repeat the request are left out: they
/// may contain what people said.
pub(super) fn complaints(body: &[u8]) -> Vec<Complaint> {
    let mut found = Vec::new();
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => collect_complaints(&value, &mut found),
        Err(_) => found.push(Complaint { field: None, words: short(&String::from_utf8_lossy(body)) }),
    }
    found
}

fn collect_complaints(value: &Value, found: &mut Vec<Complaint>) {
    match value {
        Value::Array(items) => items.iter().take(MAX_COMPLAINTS).for_each(|item| collect_complaints(item, found)),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            // Gateways pass on another server's answer as text.
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => collect_complaints(&inner, found),
            _ => found.push(Complaint { field: None, words: short(text) }),
        },
        Value::Object(members) => {
            let text = |key: &str| members.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            // Pydantic's form: a kind, a place, and a message.
            if let Some(Value::Array(place)) = members.get("loc") {
                let part = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
                let field = place.iter().map(part).collect::<Vec<_>>().join(".");
                let words = short(&[text("type"), text("msg")].map(Option::unwrap_or_default).join(" "));
                found.push(Complaint { field: Some(field), words });
                return;
            }
            let field = text("param").filter(|param| !matches!(*param, "None" | "null"));
            if let (Some(field), Some(message)) = (field, text("message")) {
                let words = short(&format!("{} {message}", text("code").unwrap_or_default()));
                found.push(Complaint { field: Some(field.to_owned()), words });
                return;
            }
            for key in ["error", "message", "detail"] {
                if let Some(inner) = members.get(key) {
                    collect_complaints(inner, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn error_text(value: &Value) -> Option<String> {
    let text = |of: &Map<String, Value>| {
        ["message", "error", "detail", "msg", "title"].iter().find_map(|key| match of.get(*key)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            Value::Object(inner) => error_text(&Value::Object(inner.clone())),
            other => Some(other.to_string()),
        })
    };
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => {
            let inner = members.get("error").and_then(Value::as_object).and_then(text);
            inner.or_else(|| text(members))
        }
        Value::Array(items) => items.first().and_then(error_text),
        _ => None,
    }
}

fn short(text: &str) -> String {
    let line: String = text.chars().take(4 * MAX_MESSAGE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::llm::Tool;

    fn read(message: &Value) -> ChatReply {
        reply(json!({"choices": [{"message": message}]}).to_string().as_bytes()).expect("a reply")
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn a_request_is_what_servers_expect() {
        let messages = vec![
            Message::System("Be brief.".into()),
            Message::User("hi".into()),
            Message::Assistant { content: None, tool_calls: vec![call("c1", "f", "{}")] },
            Message::Tool { id: "c1".into(), content: "wrong".into() },
        ];
        let request = ChatRequest {
            tools: [Tool {
                name: "f".into(),
                description: String::new(),
                parameters: json!({"type": "object"}).into(),
                strict: true,
            }]
            .into(),
            tool_choice: ToolChoice::Named("f".into()),
            max_tokens: Some(7),
            ..ChatRequest::new(messages, tokio::time::Instant::now())
        };
        let options = LlmOptions { model: Some("m".into()), ..LlmOptions::default() };
        let sent: Value = serde_json::from_slice(&body(&request, &options, Fields::default()).body).expect("JSON");
        assert_eq!(
            sent,
            json!({"model": "m", "messages": [
                    {"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "wrong"}],
                "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": true}}],
                "tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": false,
                "temperature": 0.0, "max_tokens": 7, "stream": false})
        );
        let bare = ChatRequest {
            tools: [].into(),
            response_schema: Some((
                "r".into(),
                json!({"type": "object", "properties": {"a": {"type": "string"}}}).into(),
            )),
            ..request
        };
        let sent: Value =
            serde_json::from_slice(&body(&bare, &LlmOptions::default(), Fields::default()).body).expect("JSON");
        assert_eq!(sent.get("tool_choice").or(sent.get("parallel_tool_calls")).or(sent.get("tools")), None);
        assert_eq!(sent["response_format"]["json_schema"]["strict"], false);
    }

    #[test]
    fn what_is_refused_is_left_out() {
        let tool = Tool { name: "f".into(), description: String::new(), parameters: json!({}).into(), strict: true };
        let request = ChatRequest { tools: [tool].into(), ..ChatRequest::new(Vec::new(), tokio::time::Instant::now()) };
        let options = LlmOptions { stream: true, ..LlmOptions::default() };
        let sent = |refused: &[Field]| {
            let refused = refused.iter().fold(Fields::default(), |fields, field| fields.with(*field));
            let sent = body(&request, &options, refused);
            (serde_json::from_slice::<Value>(&sent.body).expect("JSON"), sent)
        };
        let (whole, about) = sent(&[]);
        assert_eq!((&whole["stream"], &whole["stream_options"]["include_usage"]), (&json!(true), &json!(true)));
        assert!(about.optional.has(Field::Strict) && !about.optional.has(Field::MaxCompletionTokens));
        for (field, key, then) in [
            (Field::MaxTokens, "max_tokens", json!({"max_completion_tokens": 1024})),
            (Field::Temperature, "temperature", json!({})),
            (Field::ParallelToolCalls, "parallel_tool_calls", json!({})),
            (Field::StreamOptions, "stream_options", json!({"stream": true})),
            (Field::Stream, "stream_options", json!({"stream": false})),
        ] {
            let (less, about) = sent(&[field]);
            assert!(less.get(key).is_none() && !about.optional.has(field), "{less}");
            for (key, value) in then.as_object().expect("an object") {
                assert_eq!(&less[key], value, "{less}");
            }
        }
        assert_eq!(sent(&[Field::Temperature]).1.temperature, None);
        assert_eq!(sent(&[Field::Strict]).0["tools"][0]["function"], json!({"name": "f", "parameters": {}}));
        let (neither, _) = sent(&[Field::MaxTokens, Field::MaxCompletionTokens]);
        assert_eq!(neither.get("max_tokens").or(neither.get("max_completion_tokens")), None);
    }

    #[test]
    fn every_shape_of_a_call_is_read() {
        let whole = call("x", "f", "{\"a\":1}");
        for message in [
            json!({"content": null, "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}),
            json!({"content": "", "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": {"a": 1}}}]}),
            json!({"tool_calls": {"id": "x", "name": "f", "arguments": {"a": 1}}}),
        ] {
            assert_eq!(read(&message).tool_calls, std::slice::from_ref(&whole), "{message}");
        }
        for (message, expected) in [
            (json!({"tool_calls": [{"function": {"name": "f"}}]}), vec![call("call_0", "f", "")]),
            (
                json!({"tool_calls": [{"id": "", "function": {"name": "f", "arguments": 42}}]}),
                vec![call("call_0", "f", "42")],
            ),
            (
                json!({"tool_calls": [], "function_call": {"name": "f", "arguments": "{}"}}),
                vec![call("call_0", "f", "{}")],
            ),
            (json!({"tool_calls": [null, 3, "f", {}]}), vec![]),
        ] {
            assert_eq!(read(&message).tool_calls, expected, "{message}");
        }
    }

    #[test]
    fn the_rest_of_a_reply_is_read() {
        let parts = read(&json!({"content": [{"type": "text", "text": "a"}, "b", {"type": "image_url"}]}));
        assert_eq!(parts.content.as_deref(), Some("ab"));
        let thoughts = json!({"reasoning_content": "{\"name\": \"g\"}", "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}, {"type": "reasoning", "text": "b"},
            {"type": "text", "text": "<think>c</think>\nd<|im_end|>"}]});
        assert_eq!(read(&thoughts).content.as_deref(), Some("d"));
        assert_eq!(read(&json!({"content": null, "reasoning_content": "{\"name\": \"f\"}"})).content, None);
        assert_eq!(read(&json!({"content": "<think>{\"name\": \"f\"}"})).content, None);
        assert_eq!(read(&json!({"content": ""})).content, None);
        assert_eq!(read(&json!({"content": null, "refusal": "no"})).content.as_deref(), Some("no"));
        let body = json!({"model": "m", "choices": [{"finish_reason": "length", "message": {"content": "x"}}],
            "usage": {"prompt_tokens": 3.0, "completion_tokens": -4, "total_tokens": null}});
        let read = reply(body.to_string().as_bytes()).expect("a reply");
        assert_eq!((read.cut, read.model.as_deref()), (true, Some("m")));
        assert_eq!(read.usage, Usage { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 });
    }

    #[test]
    fn what_is_no_reply_is_malformed() {
        for body in [
            "",
            "  ",
            "<html>",
            "data: {}",
            "{\"choices\": [",
            "[]",
            "42",
            "{}",
            "{\"choices\": []}",
            "{\"choices\": [{}]}",
            "{\"choices\": {}}",
        ] {
            assert!(matches!(reply(body.as_bytes()), Err(LlmError::Malformed(_))), "{body}");
        }
        assert!(matches!(reply(b"\xff\xfe"), Err(LlmError::Malformed(_))));
        let deep = "[".repeat(100_000);
        assert!(matches!(reply(deep.as_bytes()), Err(LlmError::Malformed(_))));
        for (body, status) in [
            ("{\"error\": {\"code\": 400, \"message\": \"too long\", \"type\": \"x\"}}", 400),
            ("{\"error\": \"overloaded\"}", 502),
            ("{\"error\": {\"code\": \"rate\"}}", 502),
        ] {
            assert!(
                matches!(reply(body.as_bytes()), Err(LlmError::Status { status: got, .. }) if got == status),
                "{body}"
            );
        }
    }

    #[test]
    fn every_error_object_gives_its_message() {
        for (body, message) in [
            ("{\"error\": {\"message\": \"bad key\", \"code\": 401}}", "bad key"),
            ("{\"error\": \"bad key\"}", "bad key"),
            ("{\"detail\": \"Not Found\"}", "Not Found"),
            ("{\"detail\": [{\"msg\": \"x\"}]}", "[{\"msg\":\"x\"}]"),
            ("{\"object\": \"error\", \"message\": \"m\"}", "m"),
            ("[{\"error\": {\"message\": \"m\"}}]", "m"),
            ("plain\ntext", "plain text"),
            ("", ""),
        ] {
            assert_eq!(error_message(body.as_bytes()).as_str(), message, "{body}");
        }
        assert!(error_message("x ".repeat(1 << 20).as_bytes()).as_str().len() <= MAX_MESSAGE);
    }

    proptest! {
        #[test]
        fn no_body_panics(text in "\\PC{0,80}", member in "(choices|message|tool_calls|function|content|error|usage)") {
            let _ = reply(text.as_bytes());
            let _ = reply(json!({ (member.as_str()): text, "choices": [{"message": { (member.as_str()): text }}] }).to_string().as_bytes());
            let _ = error_message(text.as_bytes());
            let _ = complaints(text.as_bytes());
            let _ = complaints(json!({ (member.as_str()): text, "message": { (member.as_str()): [text] } }).to_string().as_bytes());
        }
    }
}
