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
    match tokio::time::timeout(edge.options.timeout(), next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out").into_response(),
    }
}
