use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::{ApiError, Failure};

/// A JSON response. It is serialised into a plain vector: axum's own buffer handles each bracket and comma as a
/// separate call, which takes most of the time of a long answer.
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
