//! The host names that the service answers to.
//!
//! A web page can make a browser reach this machine under the page's own host name, and can then read the answers as if
//! they came from the page's server (DNS rebinding). So a host name is accepted only if it cannot be registered, or if
//! it is configured.

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::LayerState;
use crate::http::{ApiError, Fault, HttpOptions};

/// Refuses requests to host names that are not ours.
pub(super) async fn host(State(edge): State<LayerState>, request: Request, next: Next) -> Response {
    // Browsers always send a host, so a request without one is accepted.
    let headers = request.headers().get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let mut named = headers.chain(request.uri().authority().map(Authority::as_str));
    let Some(foreign) = named.find(|host| !is_ours(host, &edge.options)) else {
        return next.run(request).await;
    };
    let message = format!("`{foreign}` is no name of this service: add it to http.allowed_hosts if it is");
    ApiError::fault(Fault::ForeignHost, message).into_response()
}

fn is_ours(host: &str, options: &HttpOptions) -> bool {
    let name = name(host);
    let is_named = |own: &str| name.eq_ignore_ascii_case(self::name(own));
    // A single-label name belongs to the local network; one under `.localhost` to this machine.
    (!name.contains('.') && is_label(name))
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok()
        || is_named(&options.host)
        || options.admin.as_deref().is_some_and(is_named)
        || options.allowed_hosts.iter().any(|own| own == "*" || is_named(own))
}

fn is_label(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Strips port and brackets: `name:port`, `name`, `[address]:port` or `[address]`.
fn name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        // More than one colon: an IPv6 address as the configuration may write it.
        None => match host.split_once(':') {
            Some((name, port)) if !port.contains(':') => name,
            _ => host,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nobody_can_register_are_ours() {
        let options = HttpOptions {
            host: "uptake.internal".to_owned(),
            allowed_hosts: vec!["tools.example".to_owned(), "calls.example:8443".to_owned()],
            ..HttpOptions::default()
        };
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:3001", true),
            ("127.0.0.1:3001", true),
            ("10.1.2.3", true),
            ("[::1]", true),
            ("[fd00::1]:3001", true),
            ("uptake:3001", true),
            ("app.localhost", true),
            ("uptake.internal:3001", true),
            ("tools.example", true),
            ("Tools.Example:80", true),
            ("calls.example", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("evil.example:127", false),
            ("tools.example.evil.example", false),
            ("", false),
            ("a b", false),
            ("[evil.example]", false),
        ] {
            assert_eq!(is_ours(host, &options), expected, "{host}");
        }
        let any = HttpOptions { allowed_hosts: vec!["*".to_owned()], ..HttpOptions::default() };
        assert!(is_ours("evil.example", &any));
    }
}
