use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::{ApiError, Failure};

/// JSON as an answer. Written into a plain vector: the buffer of axum's own takes each bracket and each comma for a
/// call of its own, which is most of the time that a long answer takes.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
            Err(error) => ApiError::logged(Failure::Internal, &error).into_response(),
        }
    }
}
