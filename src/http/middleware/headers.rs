use axum::{
    extract::Request,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::Next,
    response::Response,
};

/// Sets `no-store` and `nosniff` on every response.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
