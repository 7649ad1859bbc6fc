//! A tracing span for each request, and a log line for each response.

use axum::{
    extract::{MatchedPath, Request},
    http::Method,
};
use tower_http::{
    classify::{ServerErrorsAsFailures, SharedClassifier},
    trace::{DefaultOnResponse, TraceLayer},
};
use tracing::{Level, Span};

use super::request_id::RequestId;

type Layer =
    TraceLayer<SharedClassifier<ServerErrorsAsFailures>, fn(&Request) -> Span, (), DefaultOnResponse, (), (), ()>;

pub(super) fn layer() -> Layer {
    TraceLayer::new_for_http()
        .make_span_with(span as fn(&Request) -> Span)
        .on_request(())
        .on_response(DefaultOnResponse::new().level(Level::INFO))
        .on_body_chunk(())
        .on_eos(())
        .on_failure(())
}

fn span(request: &Request) -> Span {
    let id = request.extensions().get::<RequestId>().map(RequestId::as_str).unwrap_or_default();
    let route = request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str);
    tracing::info_span!("request", method = named(request.method()), route, id)
}

/// The method for the log: a client may send any word here, as long as the head allows.
pub(super) fn named(method: &Method) -> &str {
    let known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        Method::CONNECT,
    ];
    if known.contains(method) { method.as_str() } else { "unknown" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_a_client_made_up_is_not_logged() {
        let long = "X".repeat(60_000);
        for (method, shown) in [("GET", "GET"), ("OPTIONS", "OPTIONS"), ("get", "unknown"), (&*long, "unknown")] {
            assert_eq!(named(&Method::from_bytes(method.as_bytes()).unwrap()), shown);
        }
    }
}
