//! `messages`: the conversation, and which part of it is new.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::framework;
use crate::{
    http::{ApiError, Fault},
    text::is_blank,
    understand::{CallResult, HistoryMessage},
};

/// Most bytes of all `system` and `developer` messages: a prompt has no room for more.
const LONGEST_INSTRUCTIONS: usize = 100_000;

/// One message. Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct ChatMessage {
    /// `system` and `developer` messages are instructions to the model server; `user` is the person; `assistant`,
    /// `tool` and `function` are what happened since.
    #[schema(required = true, value_type = Role)]
    pub role: Option<String>,
    /// A string, or a list of parts `{"type": "text", "text": "..."}`. Parts of other types are left out; a message of
    /// the person that has no others is refused.
    #[schema(value_type = Option<Content>)]
    pub content: Option<Value>,
    /// Of an `assistant` message: the calls that it made.
    #[schema(value_type = Option<Vec<MadeCall>>)]
    pub tool_calls: Option<Vec<Option<MadeCall>>>,
    /// The older form of `tool_calls`.
    pub function_call: Option<MadeFunction>,
    /// Of a `tool` message: the call that it is the result of. Without it, results come in the order of the calls.
    #[schema(value_type = Option<String>)]
    pub tool_call_id: Option<Value>,
    /// Of a `tool` or `function` message: the function that it is the result of.
    #[schema(value_type = Option<String>)]
    pub name: Option<Value>,
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
pub(in crate::http) struct MadeCall {
    #[schema(value_type = Option<String>)]
    pub id: Option<Value>,
    pub function: Option<MadeFunction>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct MadeFunction {
    pub name: Option<String>,
    pub arguments: Option<String>,
}

/// A call since the person last spoke, and its id.
struct Made {
    id: Option<Value>,
    function: String,
    arguments: Map<String, Value>,
    is_answered: bool,
}

/// The calls since the person last spoke, in order, indexed by id and name: there may be thousands, with as many
/// results.
#[derive(Default)]
struct MadeCalls {
    calls: Vec<Made>,
    /// Position of the first call with each id; the key is the id as JSON.
    by_id: HashMap<String, usize>,
    /// Positions of unanswered calls by name, and of all under `None`. Answered calls are removed once they reach the
    /// front.
    open: HashMap<Option<String>, VecDeque<usize>>,
}

/// The messages, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conversation {
    /// `system` and `developer` messages, in order.
    pub instructions: Option<String>,
    /// What came before the utterance, oldest first.
    pub history: Vec<HistoryMessage>,
    /// `None` if the last message is not the person's: then nothing new was said.
    pub utterance: Option<Utterance>,
    /// If only calls and their results follow the person's last message: that message and the number of calls.
    pub done: Option<(Utterance, usize)>,
    /// Results of the calls since the person last spoke, in order.
    pub results: Vec<CallResult>,
    /// Functions by which one agent handed over to another since the person last spoke.
    pub handed_over: Vec<String>,
    /// The text of another agent that handed the conversation back since then; empty if it gave none.
    pub handed_back: Option<String>,
    /// Which parts of the messages were ignored.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Utterance {
    pub text: String,
    /// Position of the message that it came in.
    pub index: usize,
}

impl Utterance {
    /// Its name in error messages.
    pub(super) fn param(&self) -> String {
        content_of(self.index)
    }
}

impl Conversation {
    /// All messages of the person, earlier turns first.
    pub(super) fn said_by_person(&self) -> impl Iterator<Item = &str> {
        let earlier = self.history.iter().filter_map(|said| match said {
            HistoryMessage::Person(text) => Some(text.as_str()),
            HistoryMessage::Assistant(_) | HistoryMessage::Called(_) | HistoryMessage::Tool(_) => None,
        });
        let latest = self.done.as_ref().map(|(utterance, _)| utterance).or(self.utterance.as_ref());
        earlier.chain(latest.map(|utterance| utterance.text.as_str()))
    }

    /// # Errors
    /// With the wrong member, such as `messages[2].content[0].type`. `limit` is the longest utterance, in characters.
    pub(super) fn read(messages: Option<Vec<ChatMessage>>, limit: usize) -> Result<Self, ApiError> {
        let Some(messages) = messages else {
            return Err(ApiError::fault(Fault::MissingParameter, "`messages` is required").about("messages"));
        };
        let mut reading = MessageReader { limit, count: messages.len(), ..MessageReader::default() };
        for (index, message) in messages.into_iter().enumerate() {
            reading.message(index, message)?;
        }
        reading.finish()
    }
}

/// Reads the messages one by one.
#[derive(Default)]
struct MessageReader {
    limit: usize,
    /// Number of messages.
    count: usize,
    instructions: Vec<String>,
    instructions_bytes: usize,
    history: Vec<HistoryMessage>,
    /// Position of the person's last message.
    last: usize,
    /// Calls and results since the person last spoke.
    made: MadeCalls,
    results: Vec<CallResult>,
    notes: Vec<String>,
}

impl MessageReader {
    fn message(&mut self, index: usize, message: ChatMessage) -> Result<(), ApiError> {
        let role = message.role.as_deref().unwrap_or_default();
        let about =
            |fault, message: String| Err(ApiError::fault(fault, message).about(format!("messages[{index}].role")));
        let Text { text, other } = text(message.content.as_ref(), index)?;
        if let (Some(kind), Some(_)) = (&other, &text) {
            self.notes.push(format!("a part of type `{kind}` is left out: only text is understood"));
        }
        match role {
            "system" | "developer" => self.instructions(text, index)?,
            "user" => self.user(text, other, index)?,
            "assistant" => self.assistant(text, message.tool_calls, message.function_call),
            "tool" | "function" => {
                let text = text.unwrap_or_default();
                self.result(message.tool_call_id.as_ref(), message.name.as_ref(), text);
            }
            "" => {
                return about(
                    Fault::MissingParameter,
                    "each message needs a `role`: `user` for what the person said".into(),
                );
            }
            other => {
                let roles = "use `system`, `developer`, `user`, `assistant`, `tool` or `function`";
                return about(Fault::InvalidValue, format!("`{other}` is no role: {roles}"));
            }
        }
        Ok(())
    }

    fn instructions(&mut self, text: Option<String>, index: usize) -> Result<(), ApiError> {
        self.instructions_bytes += text.as_ref().map_or(0, String::len);
        if self.instructions_bytes > LONGEST_INSTRUCTIONS {
            let message = format!("instructions have at most {LONGEST_INSTRUCTIONS} bytes in all");
            return Err(ApiError::fault(Fault::UtteranceTooLong, message).about(content_of(index)));
        }
        self.instructions.extend(text);
        Ok(())
    }

    /// A message of the person, or one that a library wrote in their name. `other` is the type of a part that is not
    /// text.
    fn user(&mut self, text: Option<String>, other: Option<String>, index: usize) -> Result<(), ApiError> {
        let is_last = index + 1 == self.count;
        let Some(text) = text else {
            return match other {
                // An earlier turn has already answered or skipped it.
                _ if !is_last => Ok(()),
                Some(kind) => {
                    let message = format!("a part of type `{kind}` alone is not understood: send text beside it");
                    Err(ApiError::fault(Fault::UnsupportedParameter, message).about(content_of(index)))
                }
                None => Err(missing(index)),
            };
        };
        let is_answered = matches!(
            self.history.last(),
            Some(HistoryMessage::Assistant(_) | HistoryMessage::Called(_) | HistoryMessage::Tool(_))
        );
        if let Some(result) = framework::result(&text).filter(|_| is_answered) {
            self.result(None, None, result);
            return Ok(());
        }
        within(&text, index, self.limit)?;
        self.history.push(HistoryMessage::Person(framework::task(&text).to_owned()));
        self.last = index;
        self.made = MadeCalls::default();
        self.results.clear();
        Ok(())
    }

    fn assistant(&mut self, text: Option<String>, calls: Option<Vec<Option<MadeCall>>>, older: Option<MadeFunction>) {
        let written = framework::called(text.as_deref().unwrap_or_default());
        if written.is_empty() {
            self.history.extend(text.filter(|text| !is_blank(text)).map(HistoryMessage::Assistant));
        }
        let written = written.into_iter().map(|name| (None, MadeFunction { name: Some(name), arguments: None }));
        let calls = calls.into_iter().flatten().flatten().filter_map(|call| Some((call.id, call.function?)));
        for (id, function) in calls.chain(older.map(|function| (None, function))).chain(written) {
            self.made.push(Made::new(id, &function));
            self.history.push(called(function));
        }
    }

    fn result(&mut self, id: Option<&Value>, name: Option<&Value>, text: String) {
        let result = self.made.result(id, name, &text);
        self.results.push(result);
        self.history.push(HistoryMessage::Tool(text));
    }

    fn finish(mut self) -> Result<Conversation, ApiError> {
        let person = |(place, said): (usize, &HistoryMessage)| match said {
            HistoryMessage::Person(text) => Some((place, text.clone())),
            _ => None,
        };
        let Some((place, text)) = self.history.iter().enumerate().rev().find_map(person) else {
            let message = "no message is of the role `user`: nothing was said that could be understood";
            return Err(ApiError::fault(Fault::InvalidValue, message).about("messages"));
        };
        let after = &self.history[place + 1..];
        let calls = after.iter().filter(|said| matches!(said, HistoryMessage::Called(_))).count();
        let is_answered = !after.iter().all(|said| matches!(said, HistoryMessage::Called(_) | HistoryMessage::Tool(_)));
        // Another agent continues with the person's request.
        let handed_over: Vec<String> = self
            .results
            .iter()
            .filter(|result| framework::is_handoff(result))
            .filter_map(|result| result.function.clone())
            .collect();
        let is_handed_back = self.results.last().is_some_and(framework::is_hand_back);
        let is_taken_up = !is_handed_back && self.results.last().is_some_and(framework::is_handoff);
        let words = after.iter().rev().find_map(|said| match said {
            HistoryMessage::Assistant(text) => Some(text.clone()),
            _ => None,
        });
        let handed_back = is_handed_back.then(|| words.unwrap_or_default());
        self.results.retain(|result| !framework::is_handoff(result) && !framework::is_hand_back(result));
        let utterance = Utterance { text, index: self.last };
        let (mut new, mut done) = (None, None);
        if after.is_empty() || is_taken_up {
            new = Some(checked(utterance)?);
            self.history.truncate(place);
        } else if !is_answered && !is_handed_back {
            done = Some((utterance, calls - handed_over.len().min(calls)));
            self.history.truncate(place);
        }
        let instructions = (!self.instructions.is_empty()).then(|| self.instructions.join("\n\n"));
        let Self { history, results, notes, .. } = self;
        Ok(Conversation { instructions, history, utterance: new, done, results, handed_over, handed_back, notes })
    }
}

fn checked(utterance: Utterance) -> Result<Utterance, ApiError> {
    if is_blank(&utterance.text) {
        let message = "the message is empty: send what the person said";
        return Err(ApiError::fault(Fault::InvalidValue, message).about(content_of(utterance.index)));
    }
    Ok(utterance)
}

/// Checks the length of each message of the person, including those of earlier turns.
fn within(text: &str, index: usize, limit: usize) -> Result<(), ApiError> {
    let length = text.chars().count();
    if length <= limit {
        return Ok(());
    }
    let message = format!("the message has {length} characters; the limit (understand.max_utterance) is {limit}");
    Err(ApiError::fault(Fault::UtteranceTooLong, message).about(content_of(index)))
}

impl Made {
    fn new(id: Option<Value>, function: &MadeFunction) -> Self {
        let arguments = function.arguments.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            id,
            function: function.name.clone().unwrap_or_default(),
            arguments: arguments.unwrap_or_default(),
            is_answered: false,
        }
    }
}

impl MadeCalls {
    fn push(&mut self, call: Made) {
        let place = self.calls.len();
        if let Some(id) = &call.id {
            self.by_id.entry(id.to_string()).or_insert(place);
        }
        self.open.entry(Some(call.function.clone())).or_default().push_back(place);
        self.open.entry(None).or_default().push_back(place);
        self.calls.push(call);
    }

    /// The call that `text` is the result of: the one with this id, or else the first unanswered one with this name
    /// (with any name if there is none). If a call has several results, only the first carries its arguments.
    fn result(&mut self, id: Option<&Value>, name: Option<&Value>, text: &str) -> CallResult {
        let name = name.and_then(Value::as_str);
        let by_id = id.and_then(|id| self.by_id.get(&id.to_string()).copied());
        let (function, arguments) = match by_id.or_else(|| self.first_open(name)) {
            Some(place) => {
                let call = &mut self.calls[place];
                call.is_answered = true;
                (Some(call.function.clone()), std::mem::take(&mut call.arguments))
            }
            None => (name.map(str::to_owned), Map::new()),
        };
        CallResult { function, arguments, text: text.to_owned() }
    }

    /// Position of the first unanswered call with this name, or of any call if `name` is `None`.
    fn first_open(&mut self, name: Option<&str>) -> Option<usize> {
        let open = self.open.get_mut(&name.map(str::to_owned))?;
        while open.front().is_some_and(|place| self.calls[*place].is_answered) {
            open.pop_front();
        }
        open.front().copied()
    }
}

fn called(function: MadeFunction) -> HistoryMessage {
    let MadeFunction { name, arguments } = function;
    HistoryMessage::Called(format!("{}({})", name.unwrap_or_default(), arguments.unwrap_or_default()))
}

fn content_of(index: usize) -> String {
    format!("messages[{index}].content")
}

fn missing(index: usize) -> ApiError {
    ApiError::fault(Fault::MissingParameter, "a user's message needs `content`").about(content_of(index))
}

/// The readable part of a message's content.
struct Text {
    text: Option<String>,
    /// The type of the first part that is not text.
    other: Option<String>,
}

fn text(content: Option<&Value>, index: usize) -> Result<Text, ApiError> {
    let at = content_of(index);
    let parts = match content {
        None | Some(Value::Null) => return Ok(Text { text: None, other: None }),
        Some(Value::String(text)) => return Ok(Text { text: Some(text.clone()), other: None }),
        Some(Value::Array(parts)) => parts,
        Some(_) => {
            let message = "`content` is a string or a list of parts";
            return Err(ApiError::fault(Fault::InvalidType, message).about(at));
        }
    };
    let (mut texts, mut others) = (Vec::with_capacity(parts.len()), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let at = format!("{at}[{number}]");
        let member = match part.get("type").and_then(Value::as_str) {
            Some("text" | "input_text" | "output_text") => "text",
            // An assistant's refusal is text too.
            Some("refusal") => "refusal",
            Some(other) => {
                others.push(other.to_owned());
                continue;
            }
            None => {
                let message = "a part is an object with a `type`: {\"type\": \"text\", \"text\": \"...\"}";
                return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.type")));
            }
        };
        // This is how frontends write an empty answer.
        if part.get(member) == Some(&Value::Null) {
            continue;
        }
        let Some(text) = part.get(member).and_then(Value::as_str) else {
            let message = format!("a part of this type needs `{member}`, a string");
            return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.{member}")));
        };
        texts.push(text);
    }
    Ok(Text { text: (!texts.is_empty()).then(|| texts.join("\n")), other: others.into_iter().next() })
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
        assert_eq!(found.history, [HistoryMessage::Person("hi".into()), HistoryMessage::Assistant("Hello.".into())]);
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
    fn what_is_no_text_is_left_out() {
        let image = json!({"type": "image_url", "image_url": {"url": "x"}});
        let found = read(json!([
            {"role": "user", "content": [image]},
            {"role": "assistant", "content": [{"type": "text", "text": null}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A cat."}]},
            {"role": "user", "content": [image, {"type": "text", "text": "how warm"}]},
        ]))
        .expect("a conversation");
        assert_eq!(found.history, [HistoryMessage::Assistant("A cat.".into())]);
        assert_eq!(found.utterance.map(|utterance| utterance.text).as_deref(), Some("how warm"));
        assert_eq!(found.notes.len(), 2);
    }

    #[test]
    fn a_result_in_the_persons_name_is_a_result() {
        let found = read(json!([
            {"role": "user", "content": [{"type": "text", "text": "New task:\nhow warm"}]},
            {"role": "assistant", "content": "Calling tools:\n[{'function': {'name': 'weather', 'arguments': {}}}]"},
            {"role": "user", "content": [{"type": "text", "text": "Observation:\n21 degrees"}]},
        ]))
        .expect("a conversation");
        assert_eq!(found.utterance, None);
        assert_eq!(found.done, Some((Utterance { text: "how warm".into(), index: 0 }, 1)));
        let result =
            CallResult { function: Some("weather".into()), text: "21 degrees".into(), ..CallResult::default() };
        assert_eq!(found.results, [result]);
        // Before any answer, only the person can have said it.
        let found = read(json!([{"role": "user", "content": "Observation: cold"}])).expect("a conversation");
        assert_eq!(found.utterance.map(|utterance| utterance.text).as_deref(), Some("Observation: cold"));
    }

    #[test]
    fn after_a_handoff_the_request_is_taken_up() {
        let call = |id: &str, name: &str| {
            json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}]})
        };
        let result = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
        let mut messages = vec![
            json!({"role": "user", "content": "refund me"}),
            call("1", "transfer_to_refunds"),
            result("1", "{\"assistant\": \"Refunds\"}"),
        ];
        let found = read(json!(messages)).expect("a conversation");
        assert_eq!(found.utterance, Some(Utterance { text: "refund me".into(), index: 0 }));
        assert_eq!((found.handed_over, found.results), (vec!["transfer_to_refunds".to_owned()], Vec::new()));
        messages.extend([call("2", "refund"), result("2", "done")]);
        let found = read(json!(messages)).expect("a conversation");
        assert_eq!((found.utterance, found.done.map(|(_, calls)| calls)), (None, Some(1)));
        assert_eq!(found.results.len(), 1);
    }

    #[test]
    fn what_another_agent_said_is_kept_when_it_hands_back() {
        let call = |id: &str, name: &str| {
            json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}]})
        };
        let found = read(json!([
            {"role": "user", "content": "refund me"},
            call("1", "transfer_to_refunds"),
            {"role": "tool", "tool_call_id": "1", "content": "Successfully transferred to refunds"},
            {"role": "assistant", "content": "You have your money back."},
            call("2", "transfer_back_to_supervisor"),
            {"role": "tool", "tool_call_id": "2", "content": "Successfully transferred back to supervisor"},
        ]))
        .expect("a conversation");
        assert_eq!(found.handed_back.as_deref(), Some("You have your money back."));
        assert_eq!((found.utterance, found.results), (None, Vec::new()));
    }

    #[test]
    fn results_find_their_calls() {
        let found = read(json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}}]},
            {"role": "tool", "tool_call_id": "b", "content": "of g"},
            {"role": "tool", "content": "of f"},
            {"role": "tool", "tool_call_id": "c", "name": "h", "content": "of h"},
        ]))
        .expect("a conversation");
        let names: Vec<Option<&str>> = found.results.iter().map(|result| result.function.as_deref()).collect();
        assert_eq!(names, [Some("g"), Some("f"), Some("h")]);
        assert_eq!(found.results[1].arguments.get("x"), Some(&json!(1)));
    }

    #[test]
    fn many_results_take_time_in_proportion() {
        let call = json!({"id": "a", "function": {"name": "f", "arguments": "{\"x\": 1}"}});
        let messages = |count: usize| {
            let made = vec![call.clone(); count];
            let mut messages = vec![json!({"role": "user", "content": "hi"})];
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": made}));
            messages.extend((0..count).map(|_| json!({"role": "tool", "tool_call_id": "b", "content": ""})));
            json!(messages)
        };
        // Each result looks up its own call only; comparing every result with every call would take hours.
        let found = read(messages(100_000)).expect("a conversation");
        assert_eq!(found.results.len(), 100_000);
        assert!(found.results.iter().all(|result| result.function.as_deref() == Some("f")));
        // Only the first of several results of a call carries its arguments.
        let again = json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "a", "content": "two"},
        ]);
        let found = read(again).expect("a conversation");
        let arguments: Vec<usize> = found.results.iter().map(|result| result.arguments.len()).collect();
        assert_eq!(arguments, [1, 0]);
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
            (user(json!([{"type": "image_url", "image_url": {"url": "x"}}])), "messages[0].content"),
            (user(json!(["a"])), "messages[0].content[0].type"),
            (user(json!([{"type": "text"}])), "messages[0].content[0].text"),
        ] {
            assert_eq!(param(messages.clone()), (400, expected.to_owned()), "{messages}");
        }
    }
}
