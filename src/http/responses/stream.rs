//! A response as server-sent events.

use axum::response::sse::Event;
use utoipa::ToSchema;

use crate::{
    answer::{
        event::{Events, ResponseEvent},
        response::{ResponseBody, ResponseError},
    },
    http::{chat::stream::Tells, error::ErrorEnvelope},
};

/// One event of a stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents an event, which the framework writes")]
pub(in crate::http) struct ResponseServerEvent {
    /// The type of the event.
    event: String,
    /// A `ResponseEvent` as JSON.
    data: String,
}

impl Tells for Events {
    type Answer = ResponseBody;

    fn begin(&mut self) -> Vec<Event> {
        told(&self.first())
    }

    fn words(&mut self, text: String) -> Vec<Event> {
        told(&Self::words(self, text))
    }

    fn end(&mut self, answer: ResponseBody) -> Vec<Event> {
        told(&self.rest(answer))
    }

    fn fail(&mut self, error: &ErrorEnvelope) -> Vec<Event> {
        let problem = ResponseError { code: error.code(), message: error.message().to_owned() };
        told(&self.failed(problem, error.param().map(str::to_owned), error.value()))
    }
}

fn told(events: &[ResponseEvent]) -> Vec<Event> {
    let text = |event| serde_json::to_string(event).expect("an event is strings, numbers and lists");
    events.iter().map(|event| Event::default().event(event.kind).data(text(event))).collect()
}
