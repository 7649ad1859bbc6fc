use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::LayerState;
use crate::http::{ApiError, Failure};

/// Limits the time from a request's head to the head of its answer. `tower`'s layer answers with a bare status; this
/// one uses our envelope.
pub(in crate::http) async fn deadline(State(edge): State<LayerState>, request: Request, next: Next) -> Response {
    tokio::select! {
        // The clock is polled first: a turn whose time is over must not begin another stage.
        biased;
        () = tokio::time::sleep(edge.options.timeout()) => {
            ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out").into_response()
        }
        response = next.run(request) => response,
    }
}
