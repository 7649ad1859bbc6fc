//! Is it there, is it alive, may it get traffic.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApiError, AppState, Failure, Phase};

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
