//! `/v1/modules/{module}/versions`: what was changed here, when, by whom and why; and the way back.

use axum::{extract::State, http::HeaderMap, response::Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ChangedBody, DiffBody, Expected, VersionBody, change::carried_out, diff, files_of, guarded, reason};
use crate::{
    http::{
        ApiError, AppState, Failure, Fault,
        caller::Caller,
        error::ErrorEnvelope,
        extract::{Admitted, ModuleSegment, Within},
        json::Json,
    },
    module::{ModuleName, directory::ModuleFiles, history::Version},
};

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct VersionList {
    #[schema(value_type = String, example = "list")]
    object: &'static str,
    /// Newest first.
    #[schema(value_type = Vec<VersionBody>)]
    data: Vec<Version>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct VersionDetails {
    #[schema(value_type = VersionBody)]
    version: Version,
    /// From the version before to this one.
    diff: Vec<DiffBody>,
    /// From this one to the files as they are now: what going back would take away, the other way round.
    since: Vec<DiffBody>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct RestoreRequest {
    /// Why, for whoever reads the versions.
    reason: Option<String>,
}

/// List versions of a module
///
/// Those that were made over HTTP, and what the files were before. The newest 200 are kept.
#[utoipa::path(
    get, path = "/v1/modules/{module}/versions", operation_id = "list_versions", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    responses((status = 200, description = "Newest first", body = VersionList)),
)]
pub(in crate::http) async fn list(
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
) -> Result<Json<VersionList>, ApiError> {
    guarded(&app)?;
    // Fails for an unknown module: it has no history.
    files_of(&app, &name).await?;
    let history = app.snapshots.history(&name);
    let data = tokio::task::spawn_blocking(move || history.list()).await;
    let data = data.map_err(|error| ApiError::logged(Failure::Internal, &error))?;
    let data = data.map_err(|error| ApiError::logged(Failure::HistoryUnavailable, &error))?;
    Ok(Json(VersionList { object: "list", data }))
}

/// Read a version of a module
#[utoipa::path(
    get, path = "/v1/modules/{module}/versions/{version}", operation_id = "read_version", tag = "modules",
    params(
        ("module" = String, Path, description = "Name of a module"),
        ("version" = u64, Path, description = "Number of a version"),
    ),
    responses((status = 200, description = "What it changed", body = VersionDetails)),
)]
pub(in crate::http) async fn read(
    State(app): State<AppState>,
    Within { module: name, part: version }: Within,
) -> Result<Json<VersionDetails>, ApiError> {
    guarded(&app)?;
    let now = files_of(&app, &name).await?;
    let (version, kept) = version_of(&app, &name, &version).await?;
    let before = version.id.checked_sub(1).map(|id| app.snapshots.history(&name).get(id));
    let before = before.flatten().map(|(_, files)| files).unwrap_or_default();
    Ok(Json(VersionDetails { diff: diff(&before, &kept), since: diff(&kept, &now), version }))
}

/// Go back to a version of a module
///
/// The files become what they were then, as a new version.
#[utoipa::path(
    post, path = "/v1/modules/{module}/versions/{version}/restore", operation_id = "restore_version", tag = "modules",
    params(
        ("module" = String, Path, description = "Name of a module"),
        ("version" = u64, Path, description = "Number of a version"),
        ("if-match" = Option<String>, Header, description = "The `etag` that was read, or `*`"),
    ),
    request_body = RestoreRequest,
    responses(
        (status = 200, description = "What the change did", body = ChangedBody),
        (status = 409, description = "The module's directory cannot be written", body = ErrorEnvelope),
        (status = 412, description = "The files are others by now", body = ErrorEnvelope),
        (status = 428, description = "There is no `if-match`", body = ErrorEnvelope),
    ),
)]
pub(in crate::http) async fn restore(
    State(app): State<AppState>,
    caller: Caller,
    Within { module: name, part: version }: Within,
    headers: HeaderMap,
    Admitted { permit: _permit, body }: Admitted<RestoreRequest>,
) -> Result<Response, ApiError> {
    guarded(&app)?;
    files_of(&app, &name).await?;
    let expected = Expected::of(&headers)?;
    let (version, kept) = version_of(&app, &name, &version).await?;
    let reason = match reason(body.reason)? {
        reason if reason.is_empty() => format!("back to version {}", version.id),
        reason => reason,
    };
    carried_out(&app, &name, expected, caller.name(), reason, move |_| Ok(kept)).await
}

pub(super) async fn version_of(
    app: &AppState,
    name: &ModuleName,
    id: &str,
) -> Result<(Version, ModuleFiles), ApiError> {
    let unknown = || ApiError::fault(Fault::VersionNotFound, format!("`{name}` has no such version")).about("version");
    let id: u64 = id.parse().map_err(|_| unknown())?;
    let history = app.snapshots.history(name);
    let found = tokio::task::spawn_blocking(move || history.get(id)).await;
    found.map_err(|error| ApiError::logged(Failure::Internal, &error))?.ok_or_else(unknown)
}
