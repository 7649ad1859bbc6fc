use std::any::Any;

use axum::response::{IntoResponse as _, Response};

use crate::http::{ApiError, Failure};

/// What the client of a handler that panicked is told. The panic hook has told the log where it was.
pub(super) fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::logged(Failure::Internal, &"a handler panicked").into_response()
}
