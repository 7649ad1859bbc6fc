//! Converts the items of `input` to the messages of a chat completion, one for each.

use serde_json::{Map, Value, json};

use crate::http::{
    ApiError, Fault,
    chat::conversation::{ChatMessage, MadeCall, MadeFunction},
};

/// Roles that a message may have.
const ROLES: [&str; 4] = ["user", "assistant", "system", "developer"];

/// An item of the conversation, and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConversationItem {
    pub value: Value,
    /// `input[2]`, or the reference that brought it here.
    pub place: String,
}

/// `input` as items.
///
/// # Errors
/// With the wrong member.
pub(super) fn written(input: Option<Value>) -> Result<Vec<ConversationItem>, ApiError> {
    match input {
        None | Some(Value::Null) => {
            Err(ApiError::fault(Fault::MissingParameter, "`input` is required: what the person said").about("input"))
        }
        Some(text @ Value::String(_)) => {
            let value = json!({"type": "message", "role": "user", "content": text});
            Ok(vec![ConversationItem { value, place: "input".to_owned() }])
        }
        Some(Value::Array(items)) => {
            let placed = items.into_iter().enumerate();
            Ok(placed.map(|(index, value)| ConversationItem { value, place: format!("input[{index}]") }).collect())
        }
        Some(_) => Err(ApiError::fault(Fault::InvalidType, "`input` is a string or a list of items").about("input")),
    }
}

/// How an item is read into the conversation.
pub(super) enum ReadItem {
    Message(Box<ChatMessage>),
    /// It is left out, with a reason where its absence may matter to the client.
    LeftOut(Option<String>),
}

impl ConversationItem {
    /// The id of the item that this one only refers to.
    pub(super) fn reference(&self) -> Option<&str> {
        (self.kind() == Some("item_reference")).then(|| self.text("id")).flatten()
    }

    /// # Errors
    /// With the wrong member.
    pub(super) fn read(&self) -> Result<ReadItem, ApiError> {
        let Value::Object(members) = &self.value else {
            let message = "an item is an object: {\"role\": \"user\", \"content\": \"...\"}";
            return Err(ApiError::fault(Fault::InvalidType, message).about(self.place.clone()));
        };
        match self.kind() {
            Some("message") => self.message(members).map(in_message),
            Some("function_call") => self.call().map(in_message),
            Some("function_call_output") => self.result(members).map(in_message),
            // The reasoning of a model is ignored.
            Some("reasoning") => Ok(ReadItem::LeftOut(None)),
            Some("item_reference") => Ok(ReadItem::LeftOut(Some("what it refers to is not kept".to_owned()))),
            Some(other) => Ok(ReadItem::LeftOut(Some(format!("items of type `{}` are not understood", short(other))))),
            None => {
                let message = "an item needs a `type`: `message`, `function_call` or `function_call_output`";
                Err(self.wrong(Fault::MissingParameter, "type", message))
            }
        }
    }

    /// Messages and references may omit their type.
    fn kind(&self) -> Option<&str> {
        match self.value.get("type") {
            None | Some(Value::Null) if self.value.get("role").is_some() => Some("message"),
            None | Some(Value::Null) => self.value.get("id").map(|_| "item_reference"),
            Some(kind) => kind.as_str(),
        }
    }

    fn message(&self, members: &Map<String, Value>) -> Result<ChatMessage, ApiError> {
        let role = self.needed("role")?;
        if !ROLES.contains(&role) {
            let message = format!("`{}` is no role: use `user`, `assistant`, `system` or `developer`", short(role));
            return Err(self.wrong(Fault::InvalidValue, "role", message));
        }
        Ok(ChatMessage {
            role: Some(role.to_owned()),
            content: members.get("content").cloned(),
            ..ChatMessage::default()
        })
    }

    fn call(&self) -> Result<ChatMessage, ApiError> {
        let (id, name) = (self.needed("call_id")?, self.needed("name")?);
        let arguments = self.needed("arguments")?;
        let function = MadeFunction { name: Some(name.to_owned()), arguments: Some(arguments.to_owned()) };
        let call = MadeCall { id: Some(id.into()), function: Some(function) };
        Ok(ChatMessage {
            role: Some("assistant".to_owned()),
            tool_calls: Some(vec![Some(call)]),
            ..ChatMessage::default()
        })
    }

    fn result(&self, members: &Map<String, Value>) -> Result<ChatMessage, ApiError> {
        let id = self.needed("call_id")?;
        let Some(output) = members.get("output").filter(|output| !output.is_null()) else {
            return Err(self.wrong(Fault::MissingParameter, "output", "the output of a call needs `output`"));
        };
        Ok(ChatMessage {
            role: Some("tool".to_owned()),
            content: Some(output.clone()),
            tool_call_id: Some(id.into()),
            ..ChatMessage::default()
        })
    }

    fn text(&self, member: &str) -> Option<&str> {
        self.value.get(member).and_then(Value::as_str)
    }

    fn needed(&self, member: &str) -> Result<&str, ApiError> {
        self.text(member).ok_or_else(|| {
            let fault = match self.value.get(member) {
                None | Some(Value::Null) => Fault::MissingParameter,
                Some(_) => Fault::InvalidType,
            };
            self.wrong(fault, member, format!("an item of this type needs `{member}`, a string"))
        })
    }

    fn wrong(&self, fault: Fault, member: &str, message: impl Into<String>) -> ApiError {
        ApiError::fault(fault, message).about(format!("{}.{member}", self.place))
    }
}

fn in_message(message: ChatMessage) -> ReadItem {
    ReadItem::Message(Box::new(message))
}

/// A client's own word, shortened for a note or an error.
pub(super) fn short(word: &str) -> String {
    word.chars().take(40).collect()
}
