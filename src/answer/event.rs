//! A response as events, as the Responses API of `OpenAI` streams it. Pure.
//!
//! As in chat completions, a call's arguments come in one piece.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::response::{ContentPart, OutputItem, ResponseBody, ResponseError, ResponseId};

/// One event. Which members it has is a matter of its type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct ResponseEvent {
    /// `response.created`, `response.in_progress`, `response.output_item.added`, `response.content_part.added`,
    /// `response.output_text.delta`, `response.output_text.done`, `response.refusal.delta`, `response.refusal.done`,
    /// `response.content_part.done`, `response.function_call_arguments.delta`, `response.function_call_arguments.done`,
    /// `response.output_item.done`, and at the end `response.completed`, or `error` and `response.failed`.
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "response.output_text.delta")]
    pub kind: &'static str,
    /// From 0, one more with each event.
    pub sequence_number: u64,
    /// The response as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Box<ResponseBody>>,
    /// The place of the item in `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<OutputItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// The place of the part in the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<ContentPart>,
    /// What is added to the text, the refusal or the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// The whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The whole refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<Value>>,
    /// Of the function that is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// All of them: a JSON object, as a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Of an `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub code: Option<&'static str>,
    /// Of an `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Of an `error`: the member of the request that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub param: Option<Option<String>>,
    /// The same once more, as answers have it: there the libraries of `OpenAI` look for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

/// Makes the events of one response.
#[derive(Debug)]
pub struct Events {
    id: ResponseId,
    /// The response while in progress.
    opening: ResponseBody,
    next: u64,
    /// The text that was sent while it was being written.
    told: Option<String>,
}

impl Events {
    /// `opening` is the response while in progress.
    #[must_use]
    pub const fn new(id: ResponseId, opening: ResponseBody) -> Self {
        Self { id, opening, next: 0, told: None }
    }

    /// Can be sent before anything is understood.
    pub fn first(&mut self) -> Vec<ResponseEvent> {
        ["response.created", "response.in_progress"].map(|kind| self.whole(kind, self.opening.clone())).into()
    }

    /// Text while it is being written, before it is complete.
    pub fn words(&mut self, text: String) -> Vec<ResponseEvent> {
        let mut events = match self.told {
            Some(_) => Vec::new(),
            None => self.begun(0, &OutputItem::message(&self.id, "completed", Vec::new())),
        };
        if self.told.is_none() {
            events.push(self.part("response.content_part.added", ContentPart::text(String::new())));
        }
        self.told.get_or_insert_default().push_str(&text);
        events.push(self.delta(text));
        events
    }

    /// Everything after [`Self::first`], without the text that [`Self::words`] has sent.
    pub fn rest(&mut self, mut response: ResponseBody) -> Vec<ResponseEvent> {
        let told = self.told.take();
        if let Some(text) = &told {
            let message = OutputItem::message(&self.id, "completed", vec![ContentPart::text(text.clone())]);
            // The text that the client has received becomes the message.
            match response.output.first_mut() {
                Some(first @ OutputItem::Message { .. }) => *first = message,
                _ => response.output.insert(0, message),
            }
        }
        let mut events = Vec::new();
        for (index, item) in response.output.iter().enumerate() {
            let is_told = told.is_some() && index == 0;
            events.extend(self.of_item(index, item, is_told));
        }
        events.push(self.whole("response.completed", response));
        events
    }

    /// The final events of a failed response; `error` is the body that a failed answer would have.
    pub fn failed(&mut self, problem: ResponseError, param: Option<String>, error: Value) -> Vec<ResponseEvent> {
        let told = ResponseEvent {
            code: Some(problem.code),
            message: Some(problem.message.clone()),
            param: Some(param),
            error: Some(error),
            ..self.event("error")
        };
        let failed = ResponseBody { status: "failed", error: Some(problem), ..self.opening.clone() };
        vec![told, self.whole("response.failed", failed)]
    }

    fn of_item(&mut self, index: usize, item: &OutputItem, is_told: bool) -> Vec<ResponseEvent> {
        let mut events = if is_told { Vec::new() } else { self.begun(index, item) };
        match item {
            OutputItem::Message { content, .. } => {
                events.extend(content.iter().flat_map(|part| self.of_part(part, is_told)));
            }
            OutputItem::FunctionCall { id, name, arguments, .. } => {
                events.extend(self.of_call(index, id, name, arguments));
            }
        }
        let event = self.event("response.output_item.done");
        events.push(ResponseEvent { output_index: Some(index), item: Some(item.clone()), ..event });
        events
    }

    /// The item before its content is known.
    fn begun(&mut self, index: usize, item: &OutputItem) -> Vec<ResponseEvent> {
        let mut item = item.clone();
        match &mut item {
            OutputItem::Message { status, content, .. } => {
                *status = "in_progress";
                content.clear();
            }
            OutputItem::FunctionCall { status, arguments, .. } => {
                *status = "in_progress";
                arguments.clear();
            }
        }
        let event = self.event("response.output_item.added");
        vec![ResponseEvent { output_index: Some(index), item: Some(item), ..event }]
    }

    fn of_part(&mut self, part: &ContentPart, is_told: bool) -> Vec<ResponseEvent> {
        let mut events = Vec::new();
        match part {
            ContentPart::OutputText { text, .. } => {
                if !is_told {
                    events.push(self.part("response.content_part.added", ContentPart::text(String::new())));
                    events.push(self.delta(text.clone()));
                }
                let event = self.in_message("response.output_text.done");
                events.push(ResponseEvent { text: Some(text.clone()), logprobs: Some(Vec::new()), ..event });
            }
            ContentPart::Refusal { refusal } => {
                let empty = ContentPart::Refusal { refusal: String::new() };
                events.push(self.part("response.content_part.added", empty));
                let event = self.in_message("response.refusal.delta");
                events.push(ResponseEvent { delta: Some(refusal.clone()), ..event });
                let event = self.in_message("response.refusal.done");
                events.push(ResponseEvent { refusal: Some(refusal.clone()), ..event });
            }
        }
        events.push(self.part("response.content_part.done", part.clone()));
        events
    }

    fn of_call(&mut self, index: usize, id: &str, name: &str, arguments: &str) -> [ResponseEvent; 2] {
        let (output_index, item_id) = (Some(index), Some(id.to_owned()));
        let delta = ResponseEvent {
            output_index,
            item_id: item_id.clone(),
            delta: Some(arguments.to_owned()),
            ..self.event("response.function_call_arguments.delta")
        };
        let done = ResponseEvent {
            output_index,
            item_id,
            name: Some(name.to_owned()),
            arguments: Some(arguments.to_owned()),
            ..self.event("response.function_call_arguments.done")
        };
        [delta, done]
    }

    fn delta(&mut self, text: String) -> ResponseEvent {
        let event = self.in_message("response.output_text.delta");
        ResponseEvent { delta: Some(text), logprobs: Some(Vec::new()), ..event }
    }

    fn part(&mut self, kind: &'static str, part: ContentPart) -> ResponseEvent {
        ResponseEvent { part: Some(part), ..self.in_message(kind) }
    }

    /// An event about the message's only part; the message is the first item.
    fn in_message(&mut self, kind: &'static str) -> ResponseEvent {
        let item_id = Some(self.id.message());
        ResponseEvent { output_index: Some(0), item_id, content_index: Some(0), ..self.event(kind) }
    }

    fn whole(&mut self, kind: &'static str, response: ResponseBody) -> ResponseEvent {
        ResponseEvent { response: Some(Box::new(response)), ..self.event(kind) }
    }

    fn event(&mut self, kind: &'static str) -> ResponseEvent {
        let sequence_number = self.next;
        self.next += 1;
        ResponseEvent { kind, sequence_number, ..ResponseEvent::default() }
    }
}
