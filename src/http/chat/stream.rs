//! A chat completion as server-sent events.
//!
//! What fails while the answer is still short of its first byte is an ordinary error with its status; so an answer that
//! comes soon is waited for. After that a failure is an event, `data: {"error": ...}`, and no `[DONE]` follows it. The
//! turn lives in the stream: when the client leaves, both are dropped.

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
use tokio::{sync::mpsc::UnboundedReceiver, time::Instant};
use utoipa::ToSchema;

use crate::{
    answer::{
        ChatCompletion,
        chunk::{ChatChunk, Chunks},
    },
    http::{ApiError, AppState, Failure},
};

/// One event of a stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents an event, which the framework writes")]
pub(in crate::http) struct ChatEvent {
    /// A `ChatChunk` as JSON; at the end `[DONE]`, or, if it fails, an `ErrorEnvelope` as JSON.
    data: String,
}

/// An error within this time is an answer of its own.
const SOON: Duration = Duration::from_millis(500);
/// Proxies close connections on which nothing happens.
const ALIVE: Duration = Duration::from_secs(10);

/// Answers with the chunks of what `turn` comes to, by `deadline`, and with the `words` that come before it is done.
///
/// # Errors
/// What `turn` fails with if it fails soon.
pub(super) async fn respond(
    app: AppState,
    chunks: Chunks,
    turn: impl Future<Output = Result<ChatCompletion, ApiError>> + Send + 'static,
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
    let events = events(app, chunks, turn, begun, words).map(Ok::<Event, Infallible>);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response();
    // Proxies that collect an answer before they pass it on would make a stream of it pointless.
    let buffering = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(buffering, axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

/// The turn's end, whatever happens in it: the layers around a handler see nothing of what its body does.
async fn guarded(
    turn: impl Future<Output = Result<ChatCompletion, ApiError>> + Send,
    deadline: Instant,
) -> Result<ChatCompletion, ApiError> {
    match tokio::time::timeout_at(deadline, AssertUnwindSafe(turn).catch_unwind()).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(ApiError::logged(Failure::Internal, &"a turn panicked")),
        Err(_) => Err(ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out")),
    }
}

/// A turn whose events are told.
struct Telling {
    app: AppState,
    chunks: Chunks,
    /// `None` once it is done.
    turn: Option<BoxFuture<'static, Result<ChatCompletion, ApiError>>>,
    words: UnboundedReceiver<String>,
    are_words_told: bool,
    /// What is to be told next.
    queue: VecDeque<Event>,
}

impl Telling {
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
        self.are_words_told = true;
        self.queue.push_back(data(&self.chunks.words(text)));
    }

    fn end(&mut self, done: Result<ChatCompletion, ApiError>) {
        match done {
            Ok(completion) => {
                self.queue.extend(self.chunks.rest(completion, self.are_words_told).iter().map(data));
                self.queue.push_back(Event::default().data("[DONE]"));
            }
            Err(error) => {
                let (_, body) = error.into_body();
                self.app.metrics.error(body.code());
                let text = serde_json::to_string(&body).expect("an error is strings and lists");
                self.queue.push_back(Event::default().data(text));
            }
        }
    }
}

fn events(
    app: AppState,
    chunks: Chunks,
    turn: BoxFuture<'static, Result<ChatCompletion, ApiError>>,
    begun: Option<String>,
    words: UnboundedReceiver<String>,
) -> impl Stream<Item = Event> + Send + 'static {
    let queue = VecDeque::from([data(&chunks.first())]);
    let mut telling = Telling { app, chunks, turn: Some(turn), words, are_words_told: false, queue };
    if let Some(text) = begun {
        telling.say(text);
    }
    stream::unfold(telling, |mut telling| async move { telling.next().await.map(|event| (event, telling)) })
}

fn data(chunk: &ChatChunk) -> Event {
    Event::default().data(serde_json::to_string(chunk).expect("a chunk is strings, numbers and lists"))
}
