//! `GET /v1/sessions/{id}/events`: the state of a session after each turn in this process.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::{HeaderName, HeaderValue},
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{Stream, StreamExt as _, future, stream};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use utoipa::ToSchema;

use super::{
    hub::{News, json},
    session::{SessionSegment, current},
};
use crate::{
    conversation::store::SessionId,
    http::{ApiError, AppState, caller::Caller, extract::Permit},
    shares::Share,
};

/// Interval of keep-alive events: proxies close idle connections.
const ALIVE: Duration = Duration::from_secs(10);

/// One event of a session.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents an event, which the framework writes")]
pub(in crate::http) struct SessionEvent {
    /// `state`, `error` (an observed utterance could not be understood) or `deleted` (the last one).
    event: String,
    /// Of `state` a `SessionView` as JSON, of `error` an `ErrorEnvelope`, of `deleted` `{}`.
    data: String,
}

/// Watch a session
///
/// Server-sent events: `state` with what `GET /v1/sessions/{id}` gives, at once and after each turn in this process.
/// The stream ends when the session is deleted or the service stops.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "sessions",
    params(("id" = String, Path, description = "Name of a session")),
    responses((
        status = 200, description = "The session after each turn",
        content((SessionEvent = "text/event-stream")),
    )),
)]
pub(in crate::http) async fn events(
    SessionSegment(id): SessionSegment,
    _permit: Permit,
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Response, ApiError> {
    let leave = app.leave_to_watch(&caller)?;
    // Subscribes before reading the state, so that no turn in between is missed.
    let watch = Watch { news: Some(app.conversations.hub.watch(&id)), app: app.clone(), id, _leave: leave };
    let first = state(&json(&current(&app, &watch.id).await?));
    let news =
        stream::once(future::ready(first)).chain(news(watch)).take_until(app.stopping()).map(Ok::<_, Infallible>);
    let mut response = Sse::new(news).keep_alive(KeepAlive::new().interval(ALIVE)).into_response();
    // Proxies that buffer the whole answer would defeat streaming.
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// A watcher, for as long as its connection lasts.
struct Watch {
    /// `Some` until it is dropped.
    news: Option<Receiver<News>>,
    app: AppState,
    id: SessionId,
    _leave: Share,
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Dropped before the remaining watchers are counted.
        self.news = None;
        self.app.conversations.hub.unwatch(&self.id);
    }
}

fn news(watch: Watch) -> impl Stream<Item = Event> + Send {
    stream::unfold(Some(watch), |watch| async move {
        let mut watch = watch?;
        loop {
            match watch.news.as_mut()?.recv().await {
                Ok(News::State(data)) => return Some((state(&data), Some(watch))),
                Ok(News::Failed(data)) => return Some((Event::default().event("error").data(&*data), Some(watch))),
                Ok(News::Deleted) => return Some((Event::default().event("deleted").data("{}"), None)),
                // The watcher was too slow: the next state includes what it missed.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    })
}

fn state(data: &str) -> Event {
    Event::default().event("state").data(data)
}
