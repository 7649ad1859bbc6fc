//! `PATCH /v1/modules/{module}`: several changes at once, tried or carried out.

use std::sync::Arc;

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{ChangeBody, ChangedBody, Expected, applied, diff, files_of, guarded, reason, tagged};
use crate::{
    http::{
        ApiError, AppState, Failure, Fault,
        caller::Caller,
        error::ErrorEnvelope,
        extract::{Admitted, ModuleSegment},
        json::Json,
    },
    module::{
        Diagnostics, ModuleName,
        directory::{Change, ModuleFiles},
        history::Version,
    },
    snapshot::PrepareError,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PatchRequest {
    /// Carried out in their order, all or none.
    changes: Vec<ChangeBody>,
    /// Only tell what would come of it: nothing is written, and no `If-Match` is needed.
    #[serde(default)]
    dry_run: bool,
    /// Why, for whoever reads the versions.
    reason: Option<String>,
}

/// Change a module's files
///
/// What the author wrote keeps its order, its formatting and its comments. `If-Match` has the `etag` of the state that the
/// changes were made for. A change that would be refused changes nothing (422). What is asked meanwhile is answered by the
/// version before.
#[utoipa::path(
    patch, path = "/v1/modules/{module}", operation_id = "change_module", tag = "modules",
    params(
        ("module" = String, Path, description = "Name of a module"),
        ("if-match" = Option<String>, Header, description = "The `etag` that was read, or `*`"),
    ),
    request_body = PatchRequest,
    responses(
        (status = 200, description = "What the change did, or would do", body = ChangedBody),
        (status = 409, description = "The module's directory cannot be written", body = ErrorEnvelope),
        (status = 412, description = "The files are others by now", body = ErrorEnvelope),
        (status = 428, description = "There is no `if-match`", body = ErrorEnvelope),
    ),
)]
pub(in crate::http) async fn patch(
    State(app): State<AppState>,
    caller: Caller,
    ModuleSegment(name): ModuleSegment,
    headers: HeaderMap,
    Admitted { permit: _permit, body }: Admitted<PatchRequest>,
) -> Result<Response, ApiError> {
    guarded(&app)?;
    let changes: Vec<Change> = body.changes.into_iter().map(Change::from).collect();
    if body.dry_run {
        return tried(&app, &name, changes).await;
    }
    let expected = Expected::of(&headers)?;
    carried_out(&app, &name, expected, caller.name(), reason(body.reason)?, move |files| applied(files, &changes)).await
}

async fn tried(app: &AppState, name: &ModuleName, changes: Vec<Change>) -> Result<Response, ApiError> {
    let before = files_of(app, name).await?;
    let (owned, limits) = (name.clone(), app.snapshots.limits().clone());
    let tried = tokio::task::spawn_blocking(move || {
        let after = applied(&before, &changes)?;
        let (module, diagnostics) = after.check(owned.clone(), &limits);
        Ok::<_, ApiError>(ChangedBody {
            module: owned.to_string(),
            tag: after.tag(),
            dry_run: true,
            refused: module.is_none(),
            diagnostics,
            diff: diff(&before, &after),
            version: None,
            build: None,
        })
    });
    let body = tried.await.map_err(|error| ApiError::logged(Failure::Internal, &error))??;
    Ok(Json(body).into_response())
}

/// The files before and after a change, and what the checks found in them.
struct Done {
    diagnostics: Diagnostics,
    before: ModuleFiles,
    after: ModuleFiles,
    version: Option<Version>,
}

/// Checks the change, keeps the version, writes and builds. Holds the module's lock: no other change or build runs
/// meanwhile.
pub(super) async fn carried_out(
    app: &AppState,
    name: &ModuleName,
    expected: Expected,
    author: String,
    reason: String,
    change: impl FnOnce(&ModuleFiles) -> Result<ModuleFiles, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let (directory, limits) = (app.snapshots.directory(name), app.snapshots.limits().clone());
    let (history, owned, snapshots) = (app.snapshots.history(name), name.clone(), app.snapshots.clone());
    let act = move || {
        let before = ModuleFiles::read(&directory, &limits).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ApiError::unknown_module(owned.as_str(), &snapshots),
            _ => ApiError::logged(Failure::ModuleUnavailable, &error),
        })?;
        expected.check(&before)?;
        let after = change(&before)?;
        let (module, diagnostics) = after.check(owned.clone(), &limits);
        if module.is_none() {
            return Err(ApiError::refused(&owned, &diagnostics));
        }
        if before == after {
            return Ok(Done { diagnostics, before, after, version: None });
        }
        let version = history
            .keep(&before, &after, &author, &reason)
            .map_err(|error| ApiError::logged(Failure::HistoryUnavailable, &error))?;
        if let Err(error) = after.write(&directory, &before) {
            history.take_back(version.id);
            tracing::warn!(module = %owned, %error, "a change could not be written");
            let message = format!(
                "the module's directory cannot be written by this service ({}), so nothing was changed: change the files \
                 where they come from",
                error.kind()
            );
            return Err(ApiError::fault(Fault::ReadOnlyModule, message));
        }
        Ok(Done { diagnostics, before, after, version: Some(version) })
    };
    let (done, built) = app.snapshots.change(name, act).await.map_err(|error| {
        error.unwrap_or_else(|| ApiError::logged(Failure::Internal, &"a change of a module was cut off"))
    })?;
    let Done { diagnostics, before, after, version } = done;
    let build = match &built {
        Ok(report) => Some(report.into()),
        Err(PrepareError::Refused { diagnostics, .. }) => return Err(ApiError::refused(name, diagnostics)),
        // The files are written; the build is tried again later.
        Err(error) => {
            tracing::error!(module = %name, cause = %error, "a changed module is not built yet");
            None
        }
    };
    let tag = after.tag();
    let diff = diff(&before, &after);
    let body = ChangedBody {
        module: name.to_string(),
        tag: tag.clone(),
        dry_run: false,
        refused: false,
        diagnostics,
        diff,
        version,
        build,
    };
    Ok((tagged(&tag), Json(body)).into_response())
}

/// The served snapshot with its files replaced by these, for measuring.
pub(super) async fn beside(
    app: &AppState,
    name: &ModuleName,
    files: ModuleFiles,
) -> Result<Arc<crate::snapshot::Snapshot>, ApiError> {
    let (owned, limits) = (name.clone(), app.snapshots.limits().clone());
    let checked = tokio::task::spawn_blocking(move || files.check(owned, &limits)).await;
    let (module, diagnostics) = checked.map_err(|error| ApiError::logged(Failure::Internal, &error))?;
    let module = module.ok_or_else(|| ApiError::refused(name, &diagnostics))?;
    let built = app.snapshots.build_beside(module).await;
    built.map(Arc::new).map_err(|error| ApiError::of_prepare(&error, &app.snapshots))
}
