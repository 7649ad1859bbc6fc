//! The layers around every route, one file each. From the outside in: request id, headers, trace, error count, host,
//! origin, CORS, keys, limits, panics; and around some routes, request count and time limit.

mod cors;
mod count;
mod deadline;
mod headers;
mod host;
mod keys;
mod limits;
mod origin;
mod panics;
mod request_id;
mod trace;

use std::sync::Arc;

use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;

use super::{HttpOptions, keys::Keys, metrics::Metrics};
use crate::shares::Shares;

pub(super) use count::in_flight;
pub(super) use deadline::deadline;
pub(super) use keys::INSPECTOR;
pub(super) use limits::{NoRoom, too_many_bytes};

/// State that the layers share. Clones are cheap and share it.
#[derive(Clone)]
pub(super) struct LayerState {
    pub(super) options: Arc<HttpOptions>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) keys: Arc<Keys>,
    /// Bytes of bodies that are being read or processed.
    pub(super) bodies: Shares,
}

impl LayerState {
    pub(super) fn new(options: HttpOptions) -> Self {
        let keys = Arc::new(Keys::new(&options));
        let bodies = Shares::new(options.bodies_bytes as u64);
        Self { options: Arc::new(options), metrics: Arc::new(Metrics::new()), keys, bodies }
    }
}

/// Puts the common layers around `routes` and their fallbacks.
pub(super) fn around<S: Clone + Send + Sync + 'static>(routes: Router<S>, edge: &LayerState) -> Router<S> {
    let mut router = routes
        .layer(CatchPanicLayer::custom(panics::panicked))
        .layer(middleware::from_fn_with_state(edge.clone(), limits::limits))
        .layer(middleware::from_fn_with_state(edge.clone(), keys::keys));
    if let Some(cors) = cors::layer(&edge.options) {
        router = router.layer(cors);
    }
    router
        .layer(middleware::from_fn_with_state(edge.clone(), origin::origin))
        .layer(middleware::from_fn_with_state(edge.clone(), host::host))
        .layer(middleware::from_fn_with_state(edge.clone(), count::errors))
        .layer(trace::layer())
        .layer(middleware::from_fn(headers::headers))
        .layer(middleware::from_fn(request_id::request_id))
}
