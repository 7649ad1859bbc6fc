//! An answer as server-sent events: when events are sent, and the events of a chat completion.
//!
//! A failure before the first byte of the answer is an ordinary error with its status; therefore the response waits a
//! short time for the answer. A later failure is an event, `data: {"error": ...}`, without a `[DONE]` after it. The
//! stream owns the turn: when the client leaves, both are dropped.

use std::{collections::VecDeque, convert::Infallible, panic::AssertUnwindSafe, time::Duration};

use axum::{
    http::HeaderName,
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{
    FutureExt as _, Stream, StreamExt as _,
    future::{self, BoxFuture},
    stream,
};
use serde::Serialize;
use tokio::{sync::mpsc::UnboundedReceiver, time::Instant};
use utoipa::ToSchema;

use crate::{
    answer::{ChatCompletion, chunk::Chunks},
    http::{ApiError, AppState, Failure, error::ErrorEnvelope},
};

/// One event of a stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents an event, which the framework writes")]
pub(in crate::http) struct ChatEvent {
    /// A `ChatChunk` as JSON; at the end `[DONE]`, or, if it fails, an `ErrorEnvelope` as JSON.
    data: String,
}

/// An error within this time becomes an ordinary error response.
const SOON: Duration = Duration::from_millis(500);
/// Interval of keep-alive events: proxies close idle connections.
const ALIVE: Duration = Duration::from_secs(10);

/// Turns an answer into events.
pub(in crate::http) trait Tells: Send + 'static {
    type Answer: Send + 'static;

    /// Events before anything is understood.
    fn begin(&mut self) -> Vec<Event>;
    /// Events for words while they are being written.
    fn words(&mut self, text: String) -> Vec<Event>;
    /// Events for the rest of the answer.
    fn end(&mut self, answer: Self::Answer) -> Vec<Event>;
    /// Events for an error in place of an answer.
    fn fail(&mut self, error: &ErrorEnvelope) -> Vec<Event>;
}

/// Streams the events of `turn` until `deadline`, including the `words` that arrive before it is done.
///
/// # Errors
/// The error of `turn` if it fails soon.
pub(in crate::http) async fn respond<T: Tells>(
    app: AppState,
    teller: T,
    turn: impl Future<Output = Result<T::Answer, ApiError>> + Send + 'static,
    mut words: UnboundedReceiver<String>,
    deadline: Instant,
) -> Result<Response, ApiError> {
    let mut turn = guarded(turn, deadline).boxed();
    let mut begun = None;
    let soon = async {
        tokio::select! {
            biased;
            Some(text) = words.recv() => {
                begun = Some(text);
                None
            }
            done = &mut turn => Some(done),
        }
    };
    let turn = match tokio::time::timeout(SOON, soon).await {
        Ok(Some(done)) => future::ready(Ok(done?)).boxed(),
        Ok(None) | Err(_) => turn,
    };
    let events = events(app, teller, turn, begun, words).map(Ok::<Event, Infallible>);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response();
    // Proxies that buffer the whole answer would defeat streaming.
    let buffering = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(buffering, axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

/// Runs the turn with its own deadline and panic handler: the layers around a handler do not cover its body stream.
async fn guarded<A>(turn: impl Future<Output = Result<A, ApiError>> + Send, deadline: Instant) -> Result<A, ApiError> {
    match tokio::time::timeout_at(deadline, AssertUnwindSafe(turn).catch_unwind()).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(ApiError::logged(Failure::Internal, &"a turn panicked")),
        Err(_) => Err(ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out")),
    }
}

/// A turn whose events are being sent.
struct Telling<T: Tells> {
    app: AppState,
    teller: T,
    /// `None` once the turn is done.
    turn: Option<BoxFuture<'static, Result<T::Answer, ApiError>>>,
    words: UnboundedReceiver<String>,
    /// Events to send next.
    queue: VecDeque<Event>,
}

impl<T: Tells> Telling<T> {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            let turn = self.turn.as_mut()?;
            tokio::select! {
                biased;
                Some(text) = self.words.recv() => self.say(text),
                done = turn => {
                    self.turn = None;
                    while let Ok(text) = self.words.try_recv() {
                        self.say(text);
                    }
                    self.end(done);
                }
            }
        }
    }

    fn say(&mut self, text: String) {
        self.queue.extend(self.teller.words(text));
    }

    fn end(&mut self, done: Result<T::Answer, ApiError>) {
        let events = match done {
            Ok(answer) => self.teller.end(answer),
            Err(error) => {
                let (_, body) = error.into_body();
                self.app.metrics.error(body.code());
                self.teller.fail(&body)
            }
        };
        self.queue.extend(events);
    }
}

fn events<T: Tells>(
    app: AppState,
    mut teller: T,
    turn: BoxFuture<'static, Result<T::Answer, ApiError>>,
    begun: Option<String>,
    words: UnboundedReceiver<String>,
) -> impl Stream<Item = Event> + Send + 'static {
    let queue = teller.begin().into();
    let mut telling = Telling { app, teller, turn: Some(turn), words, queue };
    if let Some(text) = begun {
        telling.say(text);
    }
    stream::unfold(telling, |mut telling| async move { telling.next().await.map(|event| (event, telling)) })
}

/// A chat completion in chunks.
pub(super) struct Completing {
    chunks: Chunks,
    are_words_told: bool,
}

impl Completing {
    pub(super) const fn new(chunks: Chunks) -> Self {
        Self { chunks, are_words_told: false }
    }
}

impl Tells for Completing {
    type Answer = ChatCompletion;

    fn begin(&mut self) -> Vec<Event> {
        vec![data(&self.chunks.first())]
    }

    fn words(&mut self, text: String) -> Vec<Event> {
        self.are_words_told = true;
        vec![data(&self.chunks.words(text))]
    }

    fn end(&mut self, answer: ChatCompletion) -> Vec<Event> {
        let rest = self.chunks.rest(answer, self.are_words_told);
        rest.iter().map(data).chain([Event::default().data("[DONE]")]).collect()
    }

    fn fail(&mut self, error: &ErrorEnvelope) -> Vec<Event> {
        vec![data(error)]
    }
}

fn data(told: &impl Serialize) -> Event {
    Event::default().data(serde_json::to_string(told).expect("what is told is strings, numbers and lists"))
}
