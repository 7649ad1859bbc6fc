use axum::{extract::Request, middleware::Next, response::Response};

use crate::http::caller::Caller;

/// Finds out who asks, once, for everything behind it.
pub(super) async fn caller(mut request: Request, next: Next) -> Response {
    let caller = Caller::of(&request);
    request.extensions_mut().insert(caller);
    next.run(request).await
}
