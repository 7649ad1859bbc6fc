//! The JSON as vendors write it: what is sent, and the many shapes of what comes back. Nothing else in the house knows it.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{ChatReply, ChatRequest, LlmError, LlmOptions, Message, ToolCall, ToolChoice, Usage};

/// Tool calls that are read from one reply.
const MAX_CALLS: usize = 32;
/// Characters of a server's own message that an error keeps.
const MAX_MESSAGE: usize = 300;

/// The body of a request.
pub(super) fn body(request: &ChatRequest, options: &LlmOptions) -> Vec<u8> {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            let mut function =
                json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
            if tool.description.is_empty() {
                remove(&mut function, "description");
            }
            if tool.strict {
                function["strict"] = true.into();
            }
            json!({"type": "function", "function": function})
        })
        .collect();
    let has_tools = !tools.is_empty();
    let body = Body {
        model: request.model.as_deref().or(options.model.as_deref()).unwrap_or("default"),
        messages,
        // Without tools a choice of tool is an error to some servers.
        tool_choice: has_tools.then(|| tool_choice(&request.tool_choice)),
        parallel_tool_calls: has_tools.then_some(false),
        tools,
        response_format: request.response_schema.as_ref().map(|(name, schema)| {
            let strict = super::strict::is_strict(schema);
            json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}})
        }),
        temperature: request.temperature.or(options.temperature),
        max_tokens: request.max_tokens.or(options.max_tokens),
        stream: false,
    };
    serde_json::to_vec(&body).expect("strings, numbers and JSON values always serialize")
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    stream: bool,
}

fn remove(object: &mut Value, key: &str) {
    if let Value::Object(members) = object {
        members.shift_remove(key);
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(content) => json!({"role": "system", "content": content}),
        Message::User(content) => json!({"role": "user", "content": content}),
        Message::Assistant { content, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": content.as_deref().unwrap_or_default()})
        }
        Message::Assistant { content, tool_calls } => {
            let calls: Vec<Value> = tool_calls
                .iter()
                .map(|call| {
                    json!({"id": call.id, "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments}})
                })
                .collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { id, content } => json!({"role": "tool", "tool_call_id": id, "content": content}),
    }
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

/// Reads the body of an answer with a success status, as leniently as can be done without guessing.
pub(super) fn reply(body: &[u8]) -> Result<ChatReply, LlmError> {
    let malformed = |what: &str| LlmError::Malformed(what.to_owned());
    let Ok(text) = std::str::from_utf8(body) else { return Err(malformed("it is not UTF-8")) };
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() {
        return Err(malformed("it is empty"));
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) if text.starts_with("data:") => return Err(malformed("it is a stream, and none was asked for")),
        Err(_) if text.starts_with('<') => return Err(malformed("it is a page, not JSON; is the address right?")),
        // The parser's own message is a place and a kind; it repeats nothing of the text.
        Err(error) => return Err(LlmError::Malformed(format!("it is not JSON: {error}"))),
    };
    let Value::Object(answer) = value else { return Err(malformed("it is not a JSON object")) };
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let code = error.get("code").and_then(Value::as_u64).or_else(|| error.get("status").and_then(Value::as_u64));
        let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
        let message = error_text(&Value::Object(answer.clone())).unwrap_or_default();
        return Err(LlmError::Status { status: status.unwrap_or(502), message, retry_after: None });
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
        ..ChatReply::default()
    };
    let Some(message) = choice.get("message").and_then(Value::as_object) else {
        // The older completions' answer.
        reply.content = choice.get("text").and_then(Value::as_str).map(str::to_owned);
        return if reply.content.is_some() { Ok(reply) } else { Err(malformed("its choice has no `message`")) };
    };
    reply.content = content(message.get("content"))
        .or_else(|| message.get("refusal").and_then(Value::as_str).map(str::to_owned))
        .filter(|content| !content.is_empty());
    reply.tool_calls = match message.get("tool_calls") {
        Some(Value::Array(calls)) => calls.iter().take(MAX_CALLS).enumerate().filter_map(tool_call).collect(),
        Some(one @ Value::Object(_)) => tool_call((0, one)).into_iter().collect(),
        _ => Vec::new(),
    };
    if reply.tool_calls.is_empty() {
        reply.tool_calls.extend(message.get("function_call").and_then(|call| tool_call((0, call))));
    }
    if reply.tool_calls.is_empty() {
        calls_in_tags(&mut reply);
    }
    Ok(reply)
}

fn content(content: Option<&Value>) -> Option<String> {
    match content? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts =
                parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text").and_then(Value::as_str)));
            Some(texts.collect::<Vec<_>>().join(""))
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

/// Takes `<tool_call>{...}</tool_call>` out of the content. What is in one and is no JSON object with a name becomes a
/// call without a name, for the repairs that come later.
fn calls_in_tags(reply: &mut ChatReply) {
    const OPEN: &str = "<tool_call>";
    const CLOSE: &str = "</tool_call>";
    let Some(text) = reply.content.take() else { return };
    // What a model thinks aloud is no call.
    let spoken = text.rsplit_once("</think>").map_or(text.as_str(), |(_, spoken)| spoken);
    let mut rest = spoken;
    let mut left = String::new();
    while let Some((before, after)) = rest.split_once(OPEN)
        && reply.tool_calls.len() < MAX_CALLS
    {
        left.push_str(before);
        let (inner, following) = after.split_once(CLOSE).unwrap_or((after, ""));
        rest = following;
        let inner = inner.trim();
        let index = reply.tool_calls.len();
        let read = serde_json::from_str::<Value>(inner).ok().filter(|value| value.get("name").is_some());
        let call = read.and_then(|value| tool_call((index, &value))).unwrap_or_else(|| ToolCall {
            id: format!("call_{index}"),
            name: String::new(),
            arguments: inner.to_owned(),
        });
        reply.tool_calls.push(call);
    }
    left.push_str(rest);
    if reply.tool_calls.is_empty() {
        reply.content = Some(text);
    } else {
        reply.content = Some(left.trim().to_owned()).filter(|left| !left.is_empty());
    }
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

/// What a failed answer says, on one line and short: from any of the usual error objects, or the text itself.
pub(super) fn error_message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let found = serde_json::from_str::<Value>(&text).ok().and_then(|value| error_text(&value));
    short(found.as_deref().unwrap_or(&text))
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
        Value::String(text) => Some(short(text)),
        Value::Object(members) => {
            let inner = members.get("error").and_then(Value::as_object).and_then(text);
            inner.or_else(|| text(members)).map(|text| short(&text))
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
        let request = ChatRequest {
            model: None,
            messages: vec![
                Message::System("Be brief.".into()),
                Message::User("hi".into()),
                Message::Assistant { content: None, tool_calls: vec![call("c1", "f", "{}")] },
                Message::Tool { id: "c1".into(), content: "wrong".into() },
            ],
            tools: vec![Tool {
                name: "f".into(),
                description: String::new(),
                parameters: json!({"type": "object"}),
                strict: true,
            }],
            tool_choice: ToolChoice::Named("f".into()),
            response_schema: None,
            temperature: None,
            max_tokens: Some(7),
            deadline: tokio::time::Instant::now(),
        };
        let options = LlmOptions { model: Some("m".into()), ..LlmOptions::default() };
        let sent: Value = serde_json::from_slice(&body(&request, &options)).expect("JSON");
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
            tools: vec![],
            response_schema: Some(("r".into(), json!({"type": "object", "properties": {"a": {"type": "string"}}}))),
            ..request
        };
        let sent: Value = serde_json::from_slice(&body(&bare, &LlmOptions::default())).expect("JSON");
        assert_eq!(sent.get("tool_choice").or(sent.get("parallel_tool_calls")).or(sent.get("tools")), None);
        assert_eq!(sent["response_format"]["json_schema"]["strict"], false);
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
            (
                json!({"tool_calls": null, "content": "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>"}),
                vec![call("call_0", "f", "{\"a\":1}")],
            ),
            (
                json!({"content": "<tool_call>{'name': 'f'}</tool_call><tool_call>{\"name\": \"g\"}"}),
                vec![call("call_0", "", "{'name': 'f'}"), call("call_1", "g", "")],
            ),
            (json!({"content": "<think><tool_call>{}</tool_call></think>none"}), vec![]),
            (json!({"tool_calls": [null, 3, "f", {}]}), vec![]),
        ] {
            assert_eq!(read(&message).tool_calls, expected, "{message}");
        }
        let mixed = read(&json!({"content": "Sure. <tool_call>{\"name\": \"f\"}</tool_call>"}));
        assert_eq!(mixed.content.as_deref(), Some("Sure."));
    }

    #[test]
    fn the_rest_of_a_reply_is_read() {
        let parts = read(&json!({"content": [{"type": "text", "text": "a"}, "b", {"type": "image_url"}]}));
        assert_eq!(parts.content.as_deref(), Some("ab"));
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
            assert_eq!(error_message(body.as_bytes()), message, "{body}");
        }
        assert!(error_message("x".repeat(1 << 20).as_bytes()).len() <= MAX_MESSAGE);
    }

    proptest! {
        #[test]
        fn no_body_panics(text in "\\PC{0,80}", member in "(choices|message|tool_calls|function|content|error|usage)") {
            let _ = reply(text.as_bytes());
            let _ = reply(json!({ (member.as_str()): text, "choices": [{"message": { (member.as_str()): text }}] }).to_string().as_bytes());
            let _ = error_message(text.as_bytes());
        }
    }
}
