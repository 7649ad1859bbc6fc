//! A chat completion as server-sent events.
//!
//! What fails while the answer is still short of its first byte is an ordinary error with its status; so an answer that
//! comes soon is waited for. After that a failure is an event, `data: {"error": ...}`, and no `[DONE]` follows it. The turn
//! lives in the stream: when the client leaves, both are dropped.

use std::{convert::Infallible, panic::AssertUnwindSafe, time::Duration};

use axum::{
    http::HeaderName,
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{FutureExt as _, Stream, StreamExt as _, future, stream};
use tokio::time::Instant;
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

/// Answers with the chunks of what `turn` comes to, by `deadline`.
///
/// # Errors
/// What `turn` fails with if it fails soon.
pub(super) async fn respond(
    app: AppState,
    chunks: Chunks,
    turn: impl Future<Output = Result<ChatCompletion, ApiError>> + Send + 'static,
    deadline: Instant,
) -> Result<Response, ApiError> {
    let mut turn = Box::pin(guarded(turn, deadline));
    let soon = tokio::time::timeout(SOON, &mut turn).await;
    let turn = match soon {
        Ok(done) => future::ready(Ok(done?)).boxed(),
        Err(_) => turn,
    };
    let events = events(app, chunks, turn).map(Ok::<Event, Infallible>);
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

fn events(
    app: AppState,
    chunks: Chunks,
    turn: future::BoxFuture<'static, Result<ChatCompletion, ApiError>>,
) -> impl Stream<Item = Event> + Send + 'static {
    let first = data(&chunks.first());
    let rest = turn.map(move |done| match done {
        Ok(completion) => {
            let mut events: Vec<Event> = chunks.rest(completion).iter().map(data).collect();
            events.push(Event::default().data("[DONE]"));
            events
        }
        Err(error) => {
            let (_, body) = error.into_body();
            app.metrics.error(body.code());
            vec![Event::default().data(serde_json::to_string(&body).expect("an error is strings and lists"))]
        }
    });
    stream::once(future::ready(first)).chain(rest.into_stream().flat_map(stream::iter))
}

fn data(chunk: &ChatChunk) -> Event {
    Event::default().data(serde_json::to_string(chunk).expect("a chunk is strings, numbers and lists"))
}
