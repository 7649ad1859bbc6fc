//! Which pages of other origins may read answers.

use axum::http::{HeaderValue, header};
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer};

use super::request_id;
use crate::http::HttpOptions;

/// `None` if no page may. Preflights are answered here, also for mounted services.
pub(super) fn layer(options: &HttpOptions) -> Option<CorsLayer> {
    Some(
        CorsLayer::new()
            .allow_origin(origins(options)?)
            .allow_methods(AllowMethods::mirror_request())
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers([request_id::HEADER, header::RETRY_AFTER]),
    )
}

fn origins(options: &HttpOptions) -> Option<AllowOrigin> {
    if options.cors_origins.is_empty() {
        return None;
    }
    if options.cors_origins.iter().any(|origin| origin == "*") {
        return Some(AllowOrigin::any());
    }
    // The configuration check made sure that each is a header value.
    let origins = options.cors_origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    Some(AllowOrigin::list(origins))
}
