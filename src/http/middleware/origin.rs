//! Which web pages may send requests. A browser names the page's origin; other clients send none.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::LayerState;
use crate::http::{ApiError, Fault, HttpOptions};

/// Refuses requests of pages that are neither configured nor our own. CORS alone would only keep them from reading.
pub(super) async fn origin(State(edge): State<LayerState>, request: Request, next: Next) -> Response {
    if may_ask(request.headers(), &edge.options) {
        return next.run(request).await;
    }
    let message = "pages of this origin may not call the service; http.cors_origins lists those that may";
    ApiError::fault(Fault::ForeignOrigin, message).into_response()
}

fn may_ask(headers: &HeaderMap, options: &HttpOptions) -> bool {
    headers.get_all(header::ORIGIN).iter().all(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        options.cors_origins.iter().any(|one| one == "*" || one == origin) || is_own(origin, headers)
    })
}

/// The page has the same address as the request; the host was already checked.
fn is_own(origin: &str, headers: &HeaderMap) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let port = if scheme == "https" { ":443" } else { ":80" };
    let without_port = |authority: &str| authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|host| !authority.is_empty() && without_port(host) == without_port(authority))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_others_are_kept_out() {
        let options = HttpOptions { cors_origins: vec!["https://chat.example".to_owned()], ..HttpOptions::default() };
        let asks = |origin: &str, host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            headers.insert(header::HOST, host.parse().unwrap());
            may_ask(&headers, &options)
        };
        for (origin, host, expected) in [
            ("https://chat.example", "localhost", true),
            ("https://chat.example:444", "localhost", false),
            ("http://chat.example", "localhost", false),
            ("https://evil.example", "localhost", false),
            ("null", "localhost", false),
            ("http://localhost:3001", "localhost:3001", true),
            ("http://localhost", "localhost:80", true),
            ("https://uptake.example", "uptake.example", true),
            ("http://localhost:3000", "localhost:3001", false),
            ("http://localhost", "localhost:3001", false),
            ("http://", "", false),
        ] {
            assert_eq!(asks(origin, host), expected, "{origin} {host}");
        }
        assert!(may_ask(&HeaderMap::new(), &options));
    }
}
