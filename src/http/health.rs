//! Health checks and metrics.

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApiError, AppState, Failure, Phase, caller::Caller};
use crate::module::ModuleName;

/// The text format that every Prometheus since 2.5 reads.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    #[schema(value_type = String, example = "ok")]
    status: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Ready {
    #[schema(value_type = String, example = "ready")]
    status: &'static str,
    /// Modules that serve.
    modules: usize,
    /// Names of modules whose newest files do not serve; `/v1/modules` says why.
    failed: Vec<String>,
}

/// Say hello
#[utoipa::path(
    get, path = "/hello", tag = "health",
    responses((status = 200, description = "Always `Ok`", body = String, content_type = "text/plain")),
)]
pub(super) async fn hello() -> &'static str {
    "Ok"
}

/// Is the process alive
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, description = "It is", body = Health)))]
pub(super) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// May it get traffic
///
/// Not before each module was tried, nor after a signal to stop, nor while there are modules and none of them serves.
#[utoipa::path(get, path = "/readyz", tag = "health", responses((status = 200, description = "It may", body = Ready)))]
pub(super) async fn readyz(State(app): State<AppState>) -> Result<Json<Ready>, ApiError> {
    match app.phase() {
        Phase::Starting => Err(ApiError::failure(Failure::Starting)),
        Phase::Stopping => Err(ApiError::failure(Failure::Stopping)),
        Phase::Ready if app.snapshots.serves_nothing() => Err(ApiError::failure(Failure::NoModule)),
        Phase::Ready => Ok(Json(Ready {
            status: "ready",
            modules: app.snapshots.all().len(),
            failed: app.snapshots.failures().into_keys().map(String::from).collect(),
        })),
    }
}

/// What the service did, in numbers
///
/// In the text format that Prometheus scrapes.
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses((
        status = 200, description = "Counters, histograms and gauges", body = String,
        content_type = "application/openmetrics-text",
    )),
)]
pub(super) async fn metrics(State(app): State<AppState>, caller: Caller) -> Result<Response, ApiError> {
    let sees = |module: &str| ModuleName::new(module).is_ok_and(|name| caller.sees(&name));
    let text = app.metrics.text(sees).map_err(|error| ApiError::logged(Failure::Internal, &error))?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
