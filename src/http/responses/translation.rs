//! The request as a chat completion's, and the names that its members have in errors.

use serde_json::{Map, Value, json};

use super::{
    items::{ConversationItem, ReadItem, short},
    request::ResponseRequest,
};
use crate::http::{
    ApiError, Fault,
    chat::{conversation::ChatMessage, request::ChatRequest},
};

/// A member's name in a chat completion, and its name here; longer names with this prefix keep their rest.
const NAMES: [(&str, &str); 6] = [
    ("response_format.json_schema", "text.format"),
    ("response_format", "text.format"),
    ("tool_choice.function.name", "tool_choice.name"),
    ("tool_choice.allowed_tools.tools", "tool_choice.tools"),
    ("tool_choice.allowed_tools.mode", "tool_choice.mode"),
    ("messages", "input"),
];

/// Most kinds of ignored things that are reported.
const MOST_KINDS: usize = 8;

/// Where the members of the chat completion were written in the request.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// For each message, its place and the name of its `content` there.
    messages: Vec<(String, &'static str)>,
    /// For each tool, its index in the request's list.
    tools: Vec<usize>,
}

/// See [the module](self).
pub(super) struct Translation {
    pub request: ChatRequest,
    pub places: Places,
    /// The tools that are used, as they were written.
    pub tools: Vec<Value>,
    /// Which parts of the request were ignored.
    pub notes: Vec<String>,
}

impl Translation {
    /// `items`: the conversation, including the earlier part.
    /// # Errors
    /// With the wrong member.
    pub(super) fn of(request: &mut ResponseRequest, items: &[ConversationItem]) -> Result<Self, ApiError> {
        let (mut places, mut left_out) = (Places::default(), LeftOut::default());
        let messages = messages(request.instructions.as_ref(), items, &mut places, &mut left_out)?;
        let written = request.tools.take().unwrap_or_default();
        let tools = functions(written, &mut places, &mut left_out)?;
        let in_chat = tools.iter().map(|tool| json!({"type": "function", "function": tool})).collect();
        let request = ChatRequest {
            model: request.model.take(),
            messages: Some(messages),
            tools: Some(in_chat),
            tool_choice: request.tool_choice.as_ref().map(choice).transpose()?,
            parallel_tool_calls: request.parallel_tool_calls,
            response_format: format(request.text.as_ref())?,
            uptake: request.uptake.take(),
            ..ChatRequest::default()
        };
        Ok(Self { request, places, tools, notes: left_out.notes() })
    }
}

impl Places {
    /// The name here for a member of the chat completion.
    pub(super) fn name(&self, param: &str) -> String {
        if let Some((index, rest)) = indexed(param, "messages[")
            && let Some((place, content)) = self.messages.get(index)
        {
            // `input` as a plain text is a message with no members of its own.
            if !place.ends_with(']') {
                return place.clone();
            }
            let within = rest.strip_prefix(".content").map(|rest| format!(".{content}{rest}"));
            return format!("{place}{}", within.as_deref().unwrap_or(rest));
        }
        if let Some((index, rest)) = indexed(param, "tools[")
            && let Some(index) = self.tools.get(index)
        {
            return format!("tools[{index}]{}", rest.strip_prefix(".function").unwrap_or(rest));
        }
        let known = NAMES.iter().find_map(|(theirs, ours)| Some(format!("{ours}{}", param.strip_prefix(theirs)?)));
        known.unwrap_or_else(|| param.to_owned())
    }
}

/// Splits `messages[7].content` into `7` and `.content`.
fn indexed<'a>(param: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let (index, rest) = param.strip_prefix(list)?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

/// Which parts of a request were ignored, by reason.
#[derive(Default)]
struct LeftOut {
    /// The reason, the first such part, and how many there are.
    kinds: Vec<(String, String, usize)>,
    /// How many parts are of kinds beyond those reported.
    others: usize,
}

impl LeftOut {
    fn add(&mut self, place: String, why: String) {
        if let Some((.., count)) = self.kinds.iter_mut().find(|(known, ..)| *known == why) {
            *count += 1;
        } else if self.kinds.len() < MOST_KINDS {
            self.kinds.push((why, place, 1));
        } else {
            self.others += 1;
        }
    }

    fn notes(self) -> Vec<String> {
        let told = self.kinds.into_iter().map(|(why, place, count)| match count {
            1 => format!("`{place}` is left out: {why}"),
            _ => format!("`{place}` and {} more are left out: {why}", count - 1),
        });
        let others = (self.others > 0).then(|| format!("{} more of the request are left out", self.others));
        told.chain(others).collect()
    }
}

fn messages(
    instructions: Option<&String>,
    items: &[ConversationItem],
    places: &mut Places,
    left_out: &mut LeftOut,
) -> Result<Vec<ChatMessage>, ApiError> {
    let mut messages = Vec::with_capacity(items.len() + 1);
    if let Some(text) = instructions {
        let (role, content) = (Some("system".to_owned()), Some(text.as_str().into()));
        messages.push(ChatMessage { role, content, ..ChatMessage::default() });
        places.messages.push(("instructions".to_owned(), "content"));
    }
    for item in items {
        match item.read()? {
            ReadItem::Message(message) => {
                let content = if message.tool_call_id.is_some() { "output" } else { "content" };
                messages.push(*message);
                places.messages.push((item.place.clone(), content));
            }
            ReadItem::LeftOut(Some(why)) => left_out.add(item.place.clone(), why),
            ReadItem::LeftOut(None) => {}
        }
    }
    Ok(messages)
}

/// The tools that are functions.
fn functions(written: Vec<Value>, places: &mut Places, left_out: &mut LeftOut) -> Result<Vec<Value>, ApiError> {
    let mut functions = Vec::with_capacity(written.len());
    for (index, tool) in written.into_iter().enumerate() {
        match tool.get("type").and_then(Value::as_str) {
            Some("function") => {
                functions.push(tool);
                places.tools.push(index);
            }
            Some(other) => {
                let why = format!("tools of type `{}` are not served", short(other));
                left_out.add(format!("tools[{index}]"), why);
            }
            None => {
                let message = "a tool is an object with `\"type\": \"function\"`";
                return Err(ApiError::fault(Fault::InvalidType, message).about(format!("tools[{index}].type")));
            }
        }
    }
    Ok(functions)
}

/// Converts `tool_choice`: chat completions nest the function one level deeper.
fn choice(choice: &Value) -> Result<Value, ApiError> {
    match choice.get("type").and_then(Value::as_str) {
        Some("function") => {
            let Some(name) = choice.get("name").and_then(Value::as_str) else {
                let message = "name the function: {\"type\": \"function\", \"name\": \"...\"}";
                return Err(ApiError::fault(Fault::MissingParameter, message).about("tool_choice.name"));
            };
            Ok(json!({"type": "function", "function": {"name": name}}))
        }
        Some("allowed_tools") => allowed(choice),
        Some(_) | None => Ok(choice.clone()),
    }
}

fn allowed(choice: &Value) -> Result<Value, ApiError> {
    let tools = choice.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
    if names.is_empty() || names.len() < tools.len() {
        let message = "it is a list of {\"type\": \"function\", \"name\": \"...\"}, one at least";
        return Err(ApiError::fault(Fault::InvalidValue, message).about("tool_choice.tools"));
    }
    let tools: Vec<Value> = names.iter().map(|name| json!({"type": "function", "function": {"name": name}})).collect();
    let mut allowed = json!({ "tools": tools });
    if let Some(mode) = choice.get("mode").filter(|mode| !mode.is_null()) {
        allowed["mode"] = mode.clone();
    }
    Ok(json!({"type": "allowed_tools", "allowed_tools": allowed}))
}

/// Converts `text.format` to `response_format`.
fn format(text: Option<&Value>) -> Result<Option<Value>, ApiError> {
    let Some(text) = text.filter(|text| !text.is_null()) else { return Ok(None) };
    if !text.is_object() {
        return Err(ApiError::fault(Fault::InvalidType, "`text` is an object: {\"format\": {...}}").about("text"));
    }
    let Some(format) = text.get("format").filter(|format| !format.is_null()) else { return Ok(None) };
    if format.get("type").and_then(Value::as_str) != Some("json_schema") {
        return Ok(Some(format.clone()));
    }
    let is_of_schema = |(key, _): &(&String, &Value)| *key != "type";
    let schema: Map<String, Value> = format
        .as_object()
        .into_iter()
        .flatten()
        .filter(is_of_schema)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Ok(Some(json!({"type": "json_schema", "json_schema": schema})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_named_as_they_were_written() {
        let messages = [
            ("instructions", "content"),
            ("previous_response_id", "content"),
            ("input[0]", "output"),
            ("input[3]", "content"),
        ];
        let messages = messages.map(|(place, content)| (place.to_owned(), content)).into();
        let places = Places { messages, tools: vec![1, 4] };
        for (theirs, ours) in [
            ("messages[0].content", "instructions"),
            ("messages[1].content", "previous_response_id"),
            ("messages[2].content[0].type", "input[0].output[0].type"),
            ("messages[3].content[1].text", "input[3].content[1].text"),
            ("messages", "input"),
            ("messages[9].content", "input[9].content"),
            ("tools[1].function.name", "tools[4].name"),
            ("tools[0].function.parameters", "tools[1].parameters"),
            ("tools", "tools"),
            ("response_format.json_schema.schema", "text.format.schema"),
            ("response_format.type", "text.format.type"),
            ("tool_choice.function.name", "tool_choice.name"),
            ("tool_choice.allowed_tools.mode", "tool_choice.mode"),
            ("uptake.now", "uptake.now"),
            ("model", "model"),
        ] {
            assert_eq!(places.name(theirs), ours, "{theirs}");
        }
        let text = Places { messages: vec![("input".to_owned(), "content")], tools: Vec::new() };
        assert_eq!(text.name("messages[0].content"), "input");
    }
}
