//! A span for each request, and a line in the log for each response.

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

/// A method's name for the log. A client may make one up, of any length and any words: such a name is not logged.
pub(super) fn named(method: &Method) -> &'static str {
    let known = [
        (&Method::GET, "GET"),
        (&Method::POST, "POST"),
        (&Method::PUT, "PUT"),
        (&Method::PATCH, "PATCH"),
        (&Method::DELETE, "DELETE"),
        (&Method::HEAD, "HEAD"),
        (&Method::OPTIONS, "OPTIONS"),
        (&Method::TRACE, "TRACE"),
        (&Method::CONNECT, "CONNECT"),
    ];
    known.iter().find(|(one, _)| *one == method).map_or("other", |(_, name)| name)
}
