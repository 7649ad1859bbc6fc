//! `messages`: the conversation, and what of it is new.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    http::{ApiError, Fault},
    text::is_blank,
    understand::Said,
};

/// Bytes of all `system` and `developer` messages: no prompt has room for more.
const LONGEST_INSTRUCTIONS: usize = 100_000;

/// One message. Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct ChatMessage {
    /// `system` and `developer` messages are instructions to the model server; `user` is the person; `assistant`, `tool`
    /// and `function` are what happened since.
    #[schema(required = true, value_type = Role)]
    role: Option<String>,
    /// A string, or a list of parts `{"type": "text", "text": "..."}`. Others than text are refused.
    #[schema(value_type = Option<Content>)]
    content: Option<Value>,
    /// Of an `assistant` message: the calls that it made.
    #[schema(value_type = Option<Vec<MadeCall>>)]
    tool_calls: Option<Vec<Option<MadeCall>>>,
    /// The older form of `tool_calls`.
    function_call: Option<MadeFunction>,
    /// Of a `tool` message; not looked at.
    #[schema(value_type = Option<String>)]
    #[expect(dead_code, reason = "documents what clients send")]
    tool_call_id: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "documents the values of `role`, which is read by hand to name the message")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
    Function,
}

#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents what `content` may be, which is read by hand to name the part")]
enum Content {
    Text(String),
    Parts(Vec<TextPart>),
}

#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "documents a part")]
struct TextPart {
    #[serde(rename = "type")]
    #[schema(example = "text")]
    kind: String,
    text: String,
}

#[derive(Debug, Deserialize, ToSchema)]
struct MadeCall {
    function: Option<MadeFunction>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct MadeFunction {
    name: Option<String>,
    arguments: Option<String>,
}

/// The messages, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conversation {
    /// `system` and `developer` messages, in order.
    pub instructions: Option<String>,
    /// What came before the utterance, oldest first.
    pub history: Vec<Said>,
    /// `None` if the last message is not the person's: then nothing new was said.
    pub utterance: Option<Utterance>,
    /// If nothing but calls and their results came after it: the last message of the person with the number of the calls.
    pub done: Option<(Utterance, usize)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Utterance {
    pub text: String,
    /// Position of its message.
    pub index: usize,
}

impl Utterance {
    /// What errors call it.
    pub(super) fn param(&self) -> String {
        content_of(self.index)
    }
}

impl Conversation {
    /// # Errors
    /// With the member that is wrong, `messages[2].content[0].type`. `limit` is the longest utterance, in characters.
    pub(super) fn read(messages: Option<Vec<ChatMessage>>, limit: usize) -> Result<Self, ApiError> {
        let Some(messages) = messages else {
            return Err(ApiError::fault(Fault::MissingParameter, "`messages` is required").about("messages"));
        };
        let mut instructions: Vec<String> = Vec::new();
        let mut history = Vec::new();
        let mut told = 0;
        let mut last = 0;
        for (index, message) in messages.into_iter().enumerate() {
            let role = message.role.as_deref().unwrap_or_default();
            let text = text(message.content.as_ref(), index)?;
            match role {
                "system" | "developer" => {
                    told += text.as_ref().map_or(0, String::len);
                    if told > LONGEST_INSTRUCTIONS {
                        let message = format!("instructions have at most {LONGEST_INSTRUCTIONS} bytes in all");
                        return Err(ApiError::fault(Fault::UtteranceTooLong, message).about(content_of(index)));
                    }
                    instructions.extend(text);
                }
                "user" => {
                    let text = text.ok_or_else(|| missing(index))?;
                    within(&text, index, limit)?;
                    history.push(Said::Person(text));
                    last = index;
                }
                "assistant" => {
                    history.extend(text.filter(|text| !is_blank(text)).map(Said::Assistant));
                    let legacy = message.function_call.into_iter();
                    let calls = message.tool_calls.into_iter().flatten().flatten().filter_map(|call| call.function);
                    history.extend(calls.chain(legacy).map(called));
                }
                "tool" | "function" => {
                    history.extend(text.map(Said::Tool));
                }
                "" => {
                    let message = "each message needs a `role`: `user` for what the person said";
                    return Err(
                        ApiError::fault(Fault::MissingParameter, message).about(format!("messages[{index}].role"))
                    );
                }
                other => {
                    let message = format!(
                        "`{other}` is no role: use `system`, `developer`, `user`, `assistant`, `tool` or `function`"
                    );
                    return Err(ApiError::fault(Fault::InvalidValue, message).about(format!("messages[{index}].role")));
                }
            }
        }
        if !history.iter().any(|said| matches!(said, Said::Person(_))) {
            let message = "no message is of the role `user`: nothing was said that could be understood";
            return Err(ApiError::fault(Fault::InvalidValue, message).about("messages"));
        }
        let (mut utterance, mut done) = (None, None);
        let place = history.iter().rposition(|said| matches!(said, Said::Person(_))).unwrap_or_default();
        let after = &history[place + 1..];
        let calls = after.iter().filter(|said| matches!(said, Said::Called(_))).count();
        let only_calls = after.iter().all(|said| matches!(said, Said::Called(_) | Said::Tool(_)));
        match history.get(place) {
            Some(Said::Person(text)) if after.is_empty() => {
                utterance = Some(checked(text.clone(), last)?);
                history.truncate(place);
            }
            Some(Said::Person(text)) if only_calls => {
                done = Some((Utterance { text: text.clone(), index: last }, calls));
                history.truncate(place);
            }
            _ => {}
        }
        let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
        Ok(Self { instructions, history, utterance, done })
    }
}

fn checked(text: String, index: usize) -> Result<Utterance, ApiError> {
    if is_blank(&text) {
        let message = "the message is empty: send what the person said";
        return Err(ApiError::fault(Fault::InvalidValue, message).about(content_of(index)));
    }
    Ok(Utterance { text, index })
}

/// Each message of the person is understood, whenever it was said.
fn within(text: &str, index: usize, limit: usize) -> Result<(), ApiError> {
    let length = text.chars().count();
    if length <= limit {
        return Ok(());
    }
    let message = format!("the message has {length} characters; the limit (understand.max_utterance) is {limit}");
    Err(ApiError::fault(Fault::UtteranceTooLong, message).about(content_of(index)))
}

fn called(function: MadeFunction) -> Said {
    let MadeFunction { name, arguments } = function;
    Said::Called(format!("{}({})", name.unwrap_or_default(), arguments.unwrap_or_default()))
}

fn content_of(index: usize) -> String {
    format!("messages[{index}].content")
}

fn missing(index: usize) -> ApiError {
    ApiError::fault(Fault::MissingParameter, "a user's message needs `content`").about(content_of(index))
}

/// The text of a message's content; `None` if it has none.
fn text(content: Option<&Value>, index: usize) -> Result<Option<String>, ApiError> {
    let at = content_of(index);
    let parts = match content {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => return Ok(Some(text.clone())),
        Some(Value::Array(parts)) => parts,
        Some(_) => {
            let message = "`content` is a string or a list of parts";
            return Err(ApiError::fault(Fault::InvalidType, message).about(at));
        }
    };
    let mut texts = Vec::with_capacity(parts.len());
    for (number, part) in parts.iter().enumerate() {
        let at = format!("{at}[{number}]");
        // What an assistant refused with is text too.
        let kind = part.get("type").and_then(Value::as_str);
        let member = match kind {
            Some("text") => "text",
            Some("refusal") => "refusal",
            Some(other) => {
                let message = format!("parts of type `{other}` are not understood: only `text` is");
                return Err(ApiError::fault(Fault::UnsupportedParameter, message).about(format!("{at}.type")));
            }
            None => {
                let message = "a part is an object with a `type`: {\"type\": \"text\", \"text\": \"...\"}";
                return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.type")));
            }
        };
        let Some(text) = part.get(member).and_then(Value::as_str) else {
            let message = format!("a part of this type needs `{member}`, a string");
            return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.{member}")));
        };
        texts.push(text);
    }
    Ok(if texts.is_empty() { None } else { Some(texts.join("\n")) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(messages: Value) -> Result<Conversation, ApiError> {
        Conversation::read(serde_json::from_value(messages).expect("messages by their types"), 20)
    }

    fn param(messages: Value) -> (u16, String) {
        let (status, body) = read(messages).expect_err("refused").into_body();
        let body = serde_json::to_value(body).expect("JSON");
        (status.as_u16(), body["error"]["param"].as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn the_last_message_is_what_is_new() {
        let found = read(json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Hello."},
            {"role": "developer", "content": [{"type": "text", "text": "Really."}]},
            {"role": "user", "content": [{"type": "text", "text": "how warm"}, {"type": "text", "text": "is it"}]},
        ]))
        .expect("a conversation");
        assert_eq!(found.instructions.as_deref(), Some("Be brief.\n\nReally."));
        assert_eq!(found.history, [Said::Person("hi".into()), Said::Assistant("Hello.".into())]);
        assert_eq!(found.utterance, Some(Utterance { text: "how warm\nis it".into(), index: 4 }));
    }

    #[test]
    fn after_a_result_nothing_is_new() {
        for done in [
            json!([{"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"}]),
            json!([{"role": "user", "content": "hi"},
                {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "ok"}]),
        ] {
            let found = read(done).expect("a conversation");
            assert_eq!((found.utterance, found.history), (None, Vec::new()));
            assert_eq!(found.done, Some((Utterance { text: "hi".into(), index: 0 }, 1)));
        }
        let answered = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]);
        let found = read(answered).expect("a conversation");
        assert_eq!((found.utterance, found.done), (None, None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let user = |content: Value| json!([{"role": "user", "content": content}]);
        for (messages, expected) in [
            (json!([]), "messages"),
            (json!(null), "messages"),
            (json!([{"role": "system", "content": "x"}]), "messages"),
            (json!([{"role": "system", "content": "x".repeat(LONGEST_INSTRUCTIONS + 1)}]), "messages[0].content"),
            (json!([{"content": "x"}]), "messages[0].role"),
            (json!([{"role": "robot", "content": "x"}]), "messages[0].role"),
            (json!([{"role": "user"}]), "messages[0].content"),
            (user(json!("")), "messages[0].content"),
            (user(json!(7)), "messages[0].content"),
            (user(json!([])), "messages[0].content"),
            (user(json!("x".repeat(21))), "messages[0].content"),
            (
                json!([{"role": "user", "content": "x".repeat(21)}, {"role": "user", "content": "x"}]),
                "messages[0].content",
            ),
            (user(json!([{"type": "image_url", "image_url": {"url": "x"}}])), "messages[0].content[0].type"),
            (user(json!([{"type": "text", "text": "a"}, {"type": "input_audio"}])), "messages[0].content[1].type"),
            (user(json!(["a"])), "messages[0].content[0].type"),
            (user(json!([{"type": "text"}])), "messages[0].content[0].text"),
        ] {
            assert_eq!(param(messages.clone()), (400, expected.to_owned()), "{messages}");
        }
    }
}
