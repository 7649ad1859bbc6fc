//! `/v1/modules/{module}/files`: what an author wrote, file by file.

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ChangedBody, Expected, applied, change::carried_out, file_name, files_of, guarded, reason, tagged};
use crate::{
    http::{
        ApiError, AppState, Fault,
        caller::Caller,
        error::ErrorEnvelope,
        extract::{Admitted, ModuleSegment, Within},
        json::Json,
    },
    module::directory::{Change, is_writable},
};

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct FileList {
    module: String,
    /// Names all files together, for `If-Match`; as in the header `etag`.
    tag: String,
    /// False: the directory cannot be written here, and its files are changed where they come from.
    writable: bool,
    files: Vec<FileSummary>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct FileSummary {
    #[schema(example = "exemplars.json")]
    name: String,
    bytes: usize,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct FileBody {
    module: String,
    /// As of the list: of all files together.
    tag: String,
    name: String,
    text: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PutRequest {
    text: String,
    /// Why, for whoever reads the versions.
    reason: Option<String>,
}

/// List a module's files
#[utoipa::path(
    get, path = "/v1/modules/{module}/files", operation_id = "list_files", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    responses((status = 200, description = "What its author wrote", body = FileList)),
)]
pub(in crate::http) async fn list(
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
) -> Result<Response, ApiError> {
    guarded(&app)?;
    let files = files_of(&app, &name).await?;
    let tag = files.tag();
    let body = FileList {
        module: name.to_string(),
        tag: tag.clone(),
        writable: is_writable(&app.snapshots.directory(&name)),
        files: files.iter().map(|(name, bytes)| FileSummary { name: name.to_owned(), bytes: bytes.len() }).collect(),
    };
    Ok((tagged(&tag), Json(body)).into_response())
}

/// Read a file of a module
///
/// A `/` in its name is written `%2F`.
#[utoipa::path(
    get, path = "/v1/modules/{module}/files/{file}", operation_id = "read_file", tag = "modules",
    params(
        ("module" = String, Path, description = "Name of a module"),
        ("file" = String, Path, description = "Name of a file", example = "exemplars.json"),
    ),
    responses((status = 200, description = "The file as its author wrote it", body = FileBody)),
)]
pub(in crate::http) async fn read(
    State(app): State<AppState>,
    Within { module: name, part: file }: Within,
) -> Result<Response, ApiError> {
    guarded(&app)?;
    file_name(&file)?;
    let files = files_of(&app, &name).await?;
    let Some(text) = files.text(&file) else {
        let message = format!("`{name}` has no text in a file `{file}`");
        return Err(ApiError::fault(Fault::FileNotFound, message).about("file"));
    };
    let tag = files.tag();
    let body = FileBody { module: name.to_string(), tag: tag.clone(), name: file.clone(), text: text.to_owned() };
    Ok((tagged(&tag), Json(body)).into_response())
}

/// Put a file of a module
///
/// `If-Match` has the `etag` of the state that it was made for. What would be refused changes nothing (422).
#[utoipa::path(
    put, path = "/v1/modules/{module}/files/{file}", operation_id = "put_file", tag = "modules",
    params(
        ("module" = String, Path, description = "Name of a module"),
        ("file" = String, Path, description = "Name of a file", example = "exemplars.json"),
        ("if-match" = Option<String>, Header, description = "The `etag` that was read, or `*`"),
    ),
    request_body = PutRequest,
    responses(
        (status = 200, description = "What the change did", body = ChangedBody),
        (status = 409, description = "The module's directory cannot be written", body = ErrorEnvelope),
        (status = 412, description = "The files are others by now", body = ErrorEnvelope),
        (status = 428, description = "There is no `if-match`", body = ErrorEnvelope),
    ),
)]
pub(in crate::http) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    Within { module: name, part: file }: Within,
    headers: HeaderMap,
    Admitted { permit: _permit, body }: Admitted<PutRequest>,
) -> Result<Response, ApiError> {
    guarded(&app)?;
    file_name(&file)?;
    let expected = Expected::of(&headers)?;
    let changes = [Change::Put { file, text: body.text }];
    carried_out(&app, &name, expected, caller.name(), reason(body.reason)?, move |files| applied(files, &changes)).await
}
