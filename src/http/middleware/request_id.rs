//! The id of a request in the log. The response contains it.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use uuid::Uuid;

pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that a client may choose, in bytes.
const LONGEST: usize = 128;

#[derive(Debug, Clone)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Takes the client's id if it is harmless in a log, or else makes one.
pub(super) async fn request_id(mut request: Request, next: Next) -> Response {
    let id = request
        .headers()
        .get(HEADER)
        .filter(|id| (1..=LONGEST).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic))
        .cloned()
        .unwrap_or_else(|| {
            let made = format!("req_{}", Uuid::new_v4().simple());
            HeaderValue::from_str(&made).expect("hexadecimal digits are a header value")
        });
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = next.run(request).await;
    response.headers_mut().insert(HEADER, id);
    response
}
