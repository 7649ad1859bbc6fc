use std::any::Any;

use axum::response::{IntoResponse as _, Response};

use crate::http::{ApiError, Failure};

/// The response when a handler panicked. The panic hook has already logged the place.
pub(super) fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::logged(Failure::Internal, &"a handler panicked").into_response()
}
