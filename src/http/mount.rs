//! A service with a protocol of its own, on a listener of its own: what the rest of the house speaks in other tongues.

use std::{convert::Infallible, io, time::Duration};

use axum::{
    Router,
    body::{Bytes, HttpBody},
    extract::Request,
    http::Response,
    middleware::{self, Next},
    response::IntoResponse,
};
use tokio::net::TcpListener;
use tower::Service;
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{AllowHeaders, AllowMethods, CorsLayer, ExposeHeaders},
};

use super::{ApiError, Failure, Fault, HttpOptions, router, serve};

/// Serves `service` at `path`, and nothing else, until `stop` comes; then running requests finish, for
/// `http.shutdown_ms` at most. Origins, time limit and panics are as everywhere; the length of bodies, and which host
/// names are heard, are the service's own affair.
///
/// # Errors
/// If the listener breaks.
pub async fn serve_at<S, B>(
    path: &'static str,
    service: S,
    listener: TcpListener,
    options: &HttpOptions,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    S: Service<Request, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    serve::drained(listener, mounted(path, service, options), stop, options.drain()).await
}

fn mounted<S, B>(path: &'static str, service: S, options: &HttpOptions) -> Router
where
    S: Service<Request, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let limit = options.timeout();
    let routes = Router::new()
        .route_service(path, service)
        .route_layer(middleware::from_fn(move |request, next| deadline(limit, request, next)))
        .fallback(move |request: Request| async move {
            let asked = request.uri().path();
            ApiError::fault(Fault::UnknownRoute, format!("there is no route `{asked}`; it is `{path}`"))
        })
        .layer(CatchPanicLayer::custom(router::panicked));
    match router::origins(options) {
        // Preflights are answered here: the service sees only what it may answer.
        Some(origins) => routes.layer(
            CorsLayer::new()
                .allow_origin(origins)
                .allow_methods(AllowMethods::mirror_request())
                .allow_headers(AllowHeaders::mirror_request())
                .expose_headers(ExposeHeaders::any()),
        ),
        None => routes,
    }
}

/// From the head of a request to that of its answer.
async fn deadline(limit: Duration, request: Request, next: Next) -> axum::response::Response {
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::logged(Failure::Deadline, &"http.timeout_ms ran out").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::{
        body::Body,
        http::{StatusCode, header},
    };
    use tower::ServiceExt as _;

    use super::*;

    async fn echo(request: Request) -> Result<Response<Body>, Infallible> {
        if request.uri().query() == Some("never") {
            std::future::pending::<()>().await;
        }
        assert!(request.uri().query() != Some("panic"), "secret path /etc");
        Ok(Response::new(request.into_body()))
    }

    async fn ask(options: &HttpOptions, request: Request) -> Response<Body> {
        mounted("/tongue", tower::service_fn(echo), options).oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn one_path_is_the_services() {
        let options = HttpOptions::default();
        let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
        assert_eq!(ask(&options, get("/tongue")).await.status(), StatusCode::OK);
        assert_eq!(ask(&options, get("/")).await.status(), StatusCode::NOT_FOUND);
        assert_eq!(ask(&options, get("/tongue?panic")).await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_ends() {
        let request = Request::get("/tongue?never").body(Body::empty()).unwrap();
        assert_eq!(ask(&HttpOptions::default(), request).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test]
    async fn only_pages_of_named_origins_may_read() {
        let preflight = |options: HttpOptions| async move {
            let request = Request::options("/tongue")
                .header(header::ORIGIN, "https://chat.example")
                .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
                .body(Body::empty())
                .unwrap();
            ask(&options, request).await.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN)
        };
        assert!(!preflight(HttpOptions::default()).await);
        let named = |origin: &str| HttpOptions { cors_origins: vec![origin.to_owned()], ..HttpOptions::default() };
        assert!(!preflight(named("https://other.example")).await);
        assert!(preflight(named("https://chat.example")).await);
    }
}
