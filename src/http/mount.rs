//! Mounts a service with its own protocol.

use std::convert::Infallible;

use axum::{
    Router,
    body::{Bytes, HttpBody},
    extract::Request,
    http::Response,
    middleware,
};
use tower::Service;

use super::{
    ApiError, Fault, HttpOptions,
    middleware::{LayerState, around, deadline, in_flight},
};

/// A service at one path, beside the routes or instead of them. It has the layers and the time limit of every route,
/// but sets its own body limit.
#[derive(Debug)]
pub struct Mounted {
    path: &'static str,
    routes: Router,
}

impl Mounted {
    #[must_use]
    pub fn at<S, B>(path: &'static str, service: S) -> Self
    where
        S: Service<Request, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        Self { path, routes: Router::new().route_service(path, service) }
    }

    /// As routes beside others.
    pub(super) fn routes<S: Clone + Send + Sync + 'static>(self, edge: &LayerState) -> Router<S> {
        self.routes
            .route_layer(middleware::from_fn_with_state(edge.clone(), deadline))
            .route_layer(middleware::from_fn_with_state(edge.clone(), in_flight))
            .with_state(())
    }

    /// As a router of its own.
    pub(super) fn alone(self, options: HttpOptions) -> Router {
        let (path, edge) = (self.path, LayerState::new(options));
        let routes = self.routes(&edge).fallback(move |request: Request| async move {
            let asked = request.uri().path();
            ApiError::fault(Fault::UnknownRoute, format!("there is no route `{asked}`; it is `{path}`"))
        });
        around(routes, &edge)
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
        Mounted::at("/tongue", tower::service_fn(echo)).alone(options.clone()).oneshot(request).await.unwrap()
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
