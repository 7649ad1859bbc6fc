//! Finds the key of a request, and checks what it may do.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, Method, header::WWW_AUTHENTICATE},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use hyper::body::{Frame, SizeHint};

use super::{LayerState, trace::named};
use crate::http::{
    ApiError, Fault,
    caller::Caller,
    keys::{Holder, Scope},
};

/// Public routes: the service exists, is alive, is ready.
pub(super) const PUBLIC: [&str; 3] = ["/hello", "/healthz", "/readyz"];

/// The inspector's page and files, which show nothing before their user enters a key.
pub(in crate::http) const INSPECTOR: [&str; 3] = ["/inspector", "/inspector/", "/inspector/{file}"];

fn is_public(route: &str) -> bool {
    PUBLIC.contains(&route) || INSPECTOR.contains(&route)
}

/// Identifies the caller once for all inner layers, and refuses requests without permission.
pub(super) async fn keys(State(edge): State<LayerState>, mut request: Request, next: Next) -> Response {
    let caller = Caller::of(&request);
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_default();
    if is_public(&route) {
        request.extensions_mut().insert(caller);
        return next.run(request).await;
    }
    let holder = match edge.keys.of(request.headers()) {
        Ok(holder) => holder,
        Err(error) => {
            let mut response = error.into_response();
            if response.status() == 401 {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            return response;
        }
    };
    let Some(holder) = holder else {
        request.extensions_mut().insert(caller);
        return next.run(request).await;
    };
    let key = &holder.key;
    let scope = needed(request.method(), &route);
    if !key.has(scope) {
        let message = format!("the key may not do this: it needs the scope `{}`", scope.name());
        return ApiError::fault(Fault::NotAllowed, message).into_response();
    }
    // MCP requests name modules in their bodies, which this layer does not read.
    if route == "/mcp" && !key.modules.is_empty() {
        let message = "a key for some modules only is not taken here: use one for all";
        return ApiError::fault(Fault::NotAllowed, message).into_response();
    }
    let (method, id, name) = (request.method().clone(), key.id.clone(), key.name.clone());
    let mut request = request.map(|body| Body::new(CountedBody { body, holder: Arc::clone(&holder) }));
    let caller = caller.with(holder);
    request.extensions_mut().insert(caller.owner());
    request.extensions_mut().insert(caller);
    let response = next.run(request).await;
    if scope != Scope::Predict {
        let status = response.status().as_u16();
        let (scope, method) = (scope.name(), named(&method));
        tracing::info!(target: "uptake::audit", key = id, name, scope, method, route, status, "audit");
    }
    response
}

/// The scope that a route needs. Unlisted routes need all of them.
fn needed(method: &Method, route: &str) -> Scope {
    match route {
        "/v1/predict/{module}" | "/v1/retrieve/{module}" | "/mcp" => Scope::Predict,
        "/v1/chat/completions" | "/v1/responses" | "/v1/models" | "/v1/models/{model}" => Scope::Predict,
        "/v1/index/{module}" | "/v1/load/{module}" => Scope::Edit,
        "/v1/modules" | "/v1/modules/{module}" | "/openapi.json" | "/metrics" if method == Method::GET => {
            Scope::Inspect
        }
        "/v1/modules/{module}/files"
        | "/v1/modules/{module}/files/{file}"
        | "/v1/modules/{module}/versions"
        | "/v1/modules/{module}/versions/{version}"
            if method == Method::GET =>
        {
            Scope::Inspect
        }
        // A measurement shows only readable data, and changes nothing.
        "/v1/modules/{module}/measure" => Scope::Inspect,
        "/v1/modules/{module}"
        | "/v1/modules/{module}/files/{file}"
        | "/v1/modules/{module}/versions/{version}/restore" => Scope::Edit,
        _ if route.starts_with("/v1/sessions/") || route.starts_with("/v1/responses/") => Scope::Sessions,
        // An unknown route reveals only that it does not exist.
        "" => Scope::Predict,
        _ => Scope::Admin,
    }
}

/// A body whose bytes are counted as they arrive.
struct CountedBody {
    body: Body,
    holder: Arc<Holder>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, holder } = self.get_mut();
        let polled = Pin::new(body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            holder.owe(data.len(), Instant::now());
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
