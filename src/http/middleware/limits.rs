//! Limits what a request holds while it is answered: its connection, and the bytes of its body.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use hyper::body::{Frame, SizeHint};

use super::{LayerState, keys::PUBLIC};
use crate::{
    http::{ApiError, caller::Caller, connections::Asking},
    shares::Share,
};

/// Counts the request and its body against its owner's share until it is answered; 429 before the body is read if there
/// is no room.
pub(super) async fn limits(State(edge): State<LayerState>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    // Health checks are always answered, and at once.
    if route.is_some_and(|route| PUBLIC.contains(&route)) {
        return next.run(request).await;
    }
    let owner = request.extensions().get::<Caller>().map(Caller::as_owner).unwrap_or_default();
    if request.extensions().get::<Asking>().is_some_and(|asking| !asking.is_of(&owner)) {
        let message = "as many requests as may be had at once are open; end some of them";
        return ApiError::too_many(message.to_owned()).into_response();
    }
    let (limit, declared) = (edge.options.body_bytes as u64, request.body().size_hint());
    // A body over the limit is refused and not kept, so it needs no room.
    let expected = declared.exact().filter(|length| *length <= limit);
    let Some(share) = edge.bodies.try_take(&owner, expected.unwrap_or_default()) else {
        return too_many_bytes().into_response();
    };
    match expected {
        Some(_) => {
            let answer = next.run(request).await;
            drop(share);
            answer
        }
        // Its length is known only at its end.
        None => next.run(request.map(|body| Body::new(Growing { body, share, limit }))).await,
    }
}

/// The error for a body without room.
pub(in crate::http) fn too_many_bytes() -> ApiError {
    let message = "the bodies of requests hold as many bytes as they may; try again shortly (http.bodies_bytes)";
    ApiError::too_many(message.to_owned())
}

/// Why reading a body stopped: there is no room for more.
#[derive(Debug, thiserror::Error)]
#[error("the bodies of requests hold as many bytes as they may")]
pub(in crate::http) struct NoRoom;

/// A body that takes room as it arrives.
struct Growing {
    body: Body,
    share: Share,
    /// Bytes beyond this are discarded while reading.
    limit: u64,
}

impl HttpBody for Growing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, share, limit } = self.get_mut();
        let polled = Pin::new(body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
            && share.amount() <= *limit
            && !share.grow(data.len() as u64)
        {
            return Poll::Ready(Some(Err(axum::Error::new(NoRoom))));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
