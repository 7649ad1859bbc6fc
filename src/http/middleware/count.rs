//! Counts every request and error for the metrics.

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};

use super::LayerState;
use crate::http::error::ErrorCode;

/// Counts the error responses, wherever they come from.
pub(super) async fn errors(State(edge): State<LayerState>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if let Some(ErrorCode(code)) = response.extensions().get() {
        edge.metrics.error(code);
    }
    response
}

/// Counts a request while it is being answered, even if its client leaves early.
pub(in crate::http) async fn in_flight(State(edge): State<LayerState>, request: Request, next: Next) -> Response {
    let _counted = edge.metrics.in_flight();
    next.run(request).await
}
