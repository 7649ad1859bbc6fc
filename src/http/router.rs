//! Every route, in one list that the service and its `OpenAPI` document are built from.

use std::sync::OnceLock;

use axum::{
    Router,
    extract::Request,
    http::header,
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use utoipa::OpenApi as _;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    ApiError, AppState, Fault, HttpOptions,
    authoring::{change, files, measure, versions},
    chat,
    conversations::{events, observe, session},
    health, inspector,
    middleware::{INSPECTOR, LayerState, around, deadline, in_flight},
    modules,
    mount::Mounted,
    openapi::{self, ApiDocument},
    predict, responses, retrieve,
};

/// The page for people; it is not part of the API.
fn inspector(edge: &LayerState) -> Router<AppState> {
    let [enter, page, file] = INSPECTOR;
    let routes = Router::new()
        .route(enter, get(inspector::enter))
        .route(page, get(inspector::page))
        .route(file, get(inspector::file));
    routes.route_layer(middleware::from_fn_with_state(edge.clone(), in_flight))
}

/// The whole service at its main address; without the routes that move to `http.admin`.
pub fn router(app: AppState, mounted: Option<Mounted>) -> Router {
    let edge = app.edge();
    let described = if app.options.admin.is_some() { for_clients(&edge) } else { described(&edge) };
    let (mut routes, _) = described.split_for_parts();
    if app.options.admin.is_none() {
        routes = routes.merge(inspector(&edge));
    }
    if let Some(mounted) = mounted {
        routes = routes.merge(mounted.routes(&edge));
    }
    complete(routes, &edge, app)
}

/// The routes at the address of `http.admin`.
pub fn admin_router(app: AppState) -> Router {
    let edge = app.edge();
    // The inspector also sends utterances to a module.
    let asked = timed(OpenApiRouter::new().routes(routes!(predict::predict)), &edge);
    let (routes, _) = for_operators(&edge).merge(asked).split_for_parts();
    complete(routes.merge(inspector(&edge)), &edge, app)
}

fn complete(routes: Router<AppState>, edge: &LayerState, app: AppState) -> Router {
    let routes = routes.fallback(unknown_route).method_not_allowed_fallback(method_not_allowed);
    around(routes, edge).with_state(app)
}

/// Every route with its description.
fn described(edge: &LayerState) -> OpenApiRouter<AppState> {
    for_clients(edge).merge(for_operators(edge))
}

fn for_clients(edge: &LayerState) -> OpenApiRouter<AppState> {
    let understand = OpenApiRouter::with_openapi(ApiDocument::openapi())
        .routes(routes!(predict::predict))
        .routes(routes!(chat::complete))
        .routes(routes!(responses::respond))
        .routes(routes!(retrieve::retrieve));
    let sessions = OpenApiRouter::new()
        .routes(routes!(session::read, session::delete))
        .routes(routes!(responses::read, responses::delete))
        .routes(routes!(observe::observe))
        .routes(routes!(events::events));
    let models = OpenApiRouter::new().routes(routes!(chat::models::list)).routes(routes!(chat::models::describe));
    let hello = OpenApiRouter::new().routes(routes!(health::hello));
    timed(understand.merge(sessions).merge(models).merge(hello), edge)
        .route_layer(middleware::from_fn_with_state(edge.clone(), in_flight))
}

/// Routes for operators: modules, health, documents, metrics.
fn for_operators(edge: &LayerState) -> OpenApiRouter<AppState> {
    // Builds have no time limit and run in the background; everything else has `http.timeout_ms`.
    let builds = OpenApiRouter::new()
        .routes(routes!(modules::index, modules::index_by_get))
        .routes(routes!(modules::load))
        .routes(routes!(change::patch))
        .routes(routes!(files::put))
        .routes(routes!(versions::restore))
        .routes(routes!(measure::measure));
    let modules = OpenApiRouter::new()
        .routes(routes!(modules::list))
        .routes(routes!(modules::describe))
        .routes(routes!(files::list))
        .routes(routes!(files::read))
        .routes(routes!(versions::list))
        .routes(routes!(versions::read));
    let health =
        OpenApiRouter::new().routes(routes!(health::healthz)).routes(routes!(health::readyz)).routes(routes!(describe));
    builds
        .merge(timed(modules.merge(health), edge))
        .route_layer(middleware::from_fn_with_state(edge.clone(), in_flight))
        .routes(routes!(health::metrics))
}

fn timed(routes: OpenApiRouter<AppState>, edge: &LayerState) -> OpenApiRouter<AppState> {
    routes.route_layer(middleware::from_fn_with_state(edge.clone(), deadline))
}

/// The document that describes every route: exactly the content of `openapi.json`.
#[must_use]
pub fn document() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| openapi::text(described(&LayerState::new(HttpOptions::default())).into_openapi()))
}

/// This document
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "openapi", tag = "health",
    responses((status = 200, description = "OpenAPI 3.1", body = Object, content_type = "application/json")),
)]
async fn describe() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document()).into_response()
}

pub(super) async fn unknown_route(request: Request) -> ApiError {
    let path = request.uri().path();
    ApiError::fault(Fault::UnknownRoute, format!("there is no route `{path}` here; /openapi.json lists them"))
}

pub(super) async fn method_not_allowed(request: Request) -> ApiError {
    let (method, path) = (request.method(), request.uri().path());
    ApiError::fault(Fault::MethodNotAllowed, format!("`{path}` does not take {method}"))
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
        http::{Conversations, Phase, caller::Caller},
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
        app_over("there/is/no/such/directory".as_ref(), options)
    }

    fn app_over(root: &std::path::Path, options: HttpOptions) -> AppState {
        let embedder: crate::embed::SharedEmbedder = std::sync::Arc::new(NoEmbedder);
        let modules = ModulesOptions { root: root.to_owned(), ..ModulesOptions::default() };
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
        let routes = around(routes, &LayerState::new(HttpOptions::default()));
        let (status, headers, body) = answer(routes, request).await;
        assert_eq!((status, &body["error"]["code"]), (500, &"internal_error".into()));
        assert!(!body.to_string().contains("secret"));
        assert!(headers.contains_key("x-request-id"));
    }

    #[tokio::test]
    async fn what_takes_too_long_ends() {
        let options = HttpOptions { timeout_ms: 10, ..HttpOptions::default() };
        let never = Body::from_stream(futures::stream::pending::<Result<&str, std::io::Error>>());
        let request = Request::post("/v1/predict/weather").header("content-type", "application/json");
        let request = request.body(never).unwrap();
        let (status, headers, body) = answer(router(app(options), None), request).await;
        assert_eq!((status, &body["error"]["code"]), (503, &"timeout".into()));
        assert_eq!(headers[header::RETRY_AFTER], "1");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_takes_no_ones_place() {
        let options = HttpOptions { max_in_flight: 1, body_ms: 10, ..HttpOptions::default() };
        let app = app(options);
        let slow = Body::from_stream(futures::stream::pending::<Result<&str, std::io::Error>>());
        let slow = Request::post("/v1/predict/weather").header("content-type", "application/json").body(slow).unwrap();
        let mut slow = Box::pin(answer(router(app.clone(), None), slow));
        assert!(futures::poll!(&mut slow).is_pending());
        let permit = app.permit(&Caller::default()).await.expect("the only one");
        let (status, _, body) = slow.await;
        assert_eq!((status, &body["error"]["code"]), (408, &"body_timeout".into()));
        drop(permit);
    }

    #[tokio::test]
    async fn one_turn_too_many_is_refused() {
        let options = HttpOptions { max_in_flight: 1, ..HttpOptions::default() };
        let app = app(options);
        let permit = app.permit(&Caller::default()).await.expect("the only one");
        let request = Request::post("/v1/retrieve/weather").header("content-type", "application/json");
        let request = request.body(Body::from(r#"{"utterance": "hi"}"#)).unwrap();
        let (status, headers, body) = answer(router(app.clone(), None), request).await;
        assert_eq!((status, &body["error"]["type"]), (429, &"rate_limit_error".into()));
        assert_eq!(headers[header::RETRY_AFTER], "1");
        let alive = Request::get("/healthz").body(Body::empty()).unwrap();
        assert_eq!(answer(router(app.clone(), None), alive).await.0, 200);
        drop(permit);
        assert!(app.permit(&Caller::default()).await.is_ok());
    }

    #[tokio::test]
    async fn it_is_not_ready_if_nobody_can_tell_what_modules_there_are() {
        let app = app(HttpOptions::default());
        app.warm_up().await;
        let request = Request::get("/readyz").body(Body::empty()).unwrap();
        let (status, _, body) = answer(router(app, None), request).await;
        assert_eq!((status, &body["error"]["code"]), (503, &"no_module".into()));
    }

    #[tokio::test]
    async fn it_is_ready_once_and_stops_once() {
        let root = tempfile::tempdir().unwrap();
        let app = app_over(root.path(), HttpOptions::default());
        let ready =
            |app: &AppState| answer(router(app.clone(), None), Request::get("/readyz").body(Body::empty()).unwrap());
        assert_eq!(ready(&app).await.0, 503);
        app.warm_up().await;
        assert_eq!(ready(&app).await.0, 200);
        app.enter(Phase::Stopping);
        app.enter(Phase::Ready);
        let (status, _, body) = ready(&app).await;
        assert_eq!((status, &body["error"]["code"]), (503, &"stopping".into()));
    }
}
