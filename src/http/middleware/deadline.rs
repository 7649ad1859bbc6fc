use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::Edge;
use crate::http::{ApiError, Failure};

/// The time from a request's head to that of its answer. `tower`'s own layer answers a bare status; this one has our
/// envelope.
pub(in crate::http) async fn deadline(State(edge): State<Edge>, request: Request, next: Next) -> Response {
    tokio::select! {
        // The clock comes first: a turn whose time is over begins no further stage.
        biased;
        () = tokio::time::sleep(edge.options.timeout()) => {
            ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out").into_response()
        }
        response = next.run(request) => response,
    }
}
