//! Every route, and the layers around them. From outside in: request id, trace, count of errors, CORS, panics, count of
//! requests, time limit.

use std::any::Any;

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{AllowOrigin, CorsLayer},
    trace::{DefaultOnResponse, TraceLayer},
};
use tracing::{Level, Span};
use uuid::Uuid;

use super::{
    ApiError, AppState, Failure, Fault, HttpOptions, chat,
    conversations::{events, observe, session},
    health, metrics, modules, openapi, predict, retrieve,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id under which the log tells of a request.
#[derive(Debug, Clone)]
struct RequestId(HeaderValue);

/// The whole service.
pub fn router(app: AppState) -> Router {
    // Builds take as long as they take, and go on by themselves; everything else has `http.timeout_ms`.
    let builds = Router::new()
        .route("/v1/index/{module}", get(modules::index_by_get).post(modules::index))
        .route("/v1/load/{module}", get(modules::load));
    let answers = Router::new()
        .route("/v1/predict/{module}", post(predict::predict))
        .route("/v1/retrieve/{module}", post(retrieve::retrieve))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/sessions/{id}", get(session::read).delete(session::delete))
        .route("/v1/sessions/{id}/observe", post(observe::observe))
        .route("/v1/sessions/{id}/events", get(events::events))
        .route("/v1/models", get(chat::models::list))
        .route("/v1/models/{model}", get(chat::models::describe))
        .route("/v1/modules", get(modules::list))
        .route("/v1/modules/{module}", get(modules::describe))
        .route("/hello", get(health::hello))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(openapi::serve))
        .route_layer(middleware::from_fn_with_state(app.clone(), deadline));
    let counted =
        builds.merge(answers).route_layer(middleware::from_fn_with_state(app.clone(), metrics::count_in_flight));
    layered(counted.route("/metrics", get(metrics::metrics)), app)
}

fn layered(routes: Router<AppState>, app: AppState) -> Router {
    let mut router = routes
        .fallback(unknown_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CatchPanicLayer::custom(panicked));
    if let Some(cors) = cors(&app.options) {
        router = router.layer(cors);
    }
    let errors = middleware::from_fn_with_state(app.clone(), metrics::count_errors);
    let trace = TraceLayer::new_for_http()
        .make_span_with(span)
        .on_request(())
        .on_response(DefaultOnResponse::new().level(Level::INFO))
        .on_failure(());
    router.layer(errors).layer(trace).layer(middleware::from_fn(request_id)).with_state(app)
}

async fn unknown_route(request: Request) -> ApiError {
    let path = request.uri().path();
    ApiError::fault(Fault::UnknownRoute, format!("there is no route `{path}`; /openapi.json lists them"))
}

async fn method_not_allowed(request: Request) -> ApiError {
    let (method, path) = (request.method(), request.uri().path());
    ApiError::fault(Fault::MethodNotAllowed, format!("`{path}` does not take {method}"))
}

/// `tower`'s own layer answers a bare status; this one has our envelope.
async fn deadline(State(app): State<AppState>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(app.options.timeout(), next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out").into_response(),
    }
}

/// The panic hook has told the log where it was.
pub(super) fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::logged(Failure::Internal, &"a handler panicked").into_response()
}

fn cors(options: &HttpOptions) -> Option<CorsLayer> {
    Some(
        CorsLayer::new()
            .allow_origin(origins(options)?)
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION, REQUEST_ID])
            .expose_headers([REQUEST_ID, header::RETRY_AFTER]),
    )
}

/// Whose pages may read answers; `None` if nobody's may.
pub(super) fn origins(options: &HttpOptions) -> Option<AllowOrigin> {
    if options.cors_origins.is_empty() {
        return None;
    }
    if options.cors_origins.iter().any(|origin| origin == "*") {
        return Some(AllowOrigin::any());
    }
    // The configuration was checked: each of them is a header value.
    let origins = options.cors_origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    Some(AllowOrigin::list(origins))
}

/// Takes the caller's id if it is harmless in a log, makes one otherwise; every response carries it.
async fn request_id(mut request: Request, next: Next) -> Response {
    let id = request
        .headers()
        .get(REQUEST_ID)
        .filter(|id| (1..=128).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic))
        .cloned()
        .unwrap_or_else(|| {
            let made = format!("req_{}", Uuid::new_v4().simple());
            HeaderValue::from_str(&made).expect("hexadecimal digits are a header value")
        });
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = next.run(request).await;
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

fn span(request: &Request) -> Span {
    let id = request.extensions().get::<RequestId>().and_then(|id| id.0.to_str().ok()).unwrap_or_default();
    let route = request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str);
    tracing::info_span!("request", method = %request.method(), route, id)
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use serde_json::Value;
    use tower::ServiceExt as _;

    use super::*;
    use crate::{
        conversation::{
            ConversationOptions,
            store::{SessionOptions, StoreUrl},
        },
        embed::{EmbedError, Embedder, Purpose},
        http::{Conversations, Phase},
        retrieve::RetrieveOptions,
        snapshot::{ModulesOptions, Snapshots},
        understand::{UnderstandOptions, Understander},
    };

    struct NoEmbedder;

    impl Embedder for NoEmbedder {
        fn identity(&self) -> &'static str {
            "none"
        }
        fn dimensions(&self) -> usize {
            1
        }
        fn is_symmetric(&self) -> bool {
            true
        }
        fn embed(
            &self,
            _: Vec<String>,
            _: Purpose,
        ) -> futures::future::BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
            Box::pin(std::future::ready(Err(EmbedError::Busy)))
        }
    }

    fn app(options: HttpOptions) -> AppState {
        let embedder: crate::embed::SharedEmbedder = std::sync::Arc::new(NoEmbedder);
        let modules = ModulesOptions { root: "there/is/no/such/directory".into(), ..ModulesOptions::default() };
        let turns = UnderstandOptions::default();
        let understander = Understander::new(turns.clone(), embedder.clone(), Vec::new());
        let snapshots = Snapshots::new(modules, RetrieveOptions::default(), embedder);
        AppState::new(snapshots, understander, options, turns, in_memory())
    }

    fn in_memory() -> Conversations {
        let sessions = SessionOptions { url: StoreUrl::new("memory:"), ..SessionOptions::default() };
        Conversations::open(&sessions, &ConversationOptions::default()).expect("good options")
    }

    async fn answer(router: Router, request: Request) -> (u16, axum::http::HeaderMap, Value) {
        let response = router.oneshot(request).await.expect("infallible");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        (status, headers, serde_json::from_slice(&body).unwrap_or_default())
    }

    #[tokio::test]
    async fn a_panic_is_a_500_that_says_nothing() {
        let routes = Router::new().route("/boom", get(|| async { panic!("secret path /etc") as &str }));
        let request = Request::get("/boom").body(Body::empty()).unwrap();
        let (status, headers, body) = answer(layered(routes, app(HttpOptions::default())), request).await;
        assert_eq!((status, &body["error"]["code"]), (500, &"internal_error".into()));
        assert!(!body.to_string().contains("secret"));
        assert!(headers.contains_key(REQUEST_ID));
    }

    #[tokio::test]
    async fn what_takes_too_long_ends() {
        let options = HttpOptions { timeout_ms: 10, ..HttpOptions::default() };
        let never = Body::from_stream(futures::stream::pending::<Result<&str, std::io::Error>>());
        let request = Request::post("/v1/predict/weather").body(never).unwrap();
        let (status, headers, body) = answer(router(app(options)), request).await;
        assert_eq!((status, &body["error"]["code"]), (503, &"timeout".into()));
        assert_eq!(headers[header::RETRY_AFTER], "1");
    }

    #[tokio::test]
    async fn one_turn_too_many_is_refused_before_its_body_is_read() {
        let options = HttpOptions { max_in_flight: 1, ..HttpOptions::default() };
        let app = app(options);
        let permit = app.permit().expect("the only one");
        let request = || {
            let unread = Body::from_stream(futures::stream::pending::<Result<&str, std::io::Error>>());
            Request::post("/v1/retrieve/weather").body(unread).unwrap()
        };
        let (status, headers, body) = answer(router(app.clone()), request()).await;
        assert_eq!((status, &body["error"]["type"]), (429, &"rate_limit_error".into()));
        assert_eq!(headers[header::RETRY_AFTER], "1");
        let (status, ..) = answer(router(app.clone()), Request::get("/healthz").body(Body::empty()).unwrap()).await;
        assert_eq!(status, 200);
        drop(permit);
        assert!(app.permit().is_ok());
    }

    #[tokio::test]
    async fn it_is_ready_once_and_stops_once() {
        let app = app(HttpOptions::default());
        let ready = |app: &AppState| answer(router(app.clone()), Request::get("/readyz").body(Body::empty()).unwrap());
        assert_eq!(ready(&app).await.0, 503);
        app.warm_up().await;
        assert_eq!(ready(&app).await.0, 200);
        app.enter(Phase::Stopping);
        app.enter(Phase::Ready);
        let (status, _, body) = ready(&app).await;
        assert_eq!((status, &body["error"]["code"]), (503, &"stopping".into()));
    }
}
