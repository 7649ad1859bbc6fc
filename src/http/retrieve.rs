//! `POST /v1/retrieve/{module}`: the functions that an utterance may mean, as tools for another model.

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    ApiError, AppState, Fault,
    caller::Caller,
    extract::{self, Admitted, ModuleSegment},
    json::Json,
};
use crate::{answer::Retrieved, understand::TurnRequest};

/// Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct RetrieveRequest {
    /// What the person said.
    #[schema(required = true, min_length = 1, value_type = String, example = "how cold will it be in Seattle?")]
    utterance: Option<String>,
    /// At most so many functions; `understand.candidates` if absent.
    #[schema(minimum = 1, maximum = 128)]
    limit: Option<usize>,
}

/// Find the functions that an utterance may mean
///
/// Nothing is decided: the best candidates come back as a `tools` array with their scores.
#[utoipa::path(
    post, path = "/v1/retrieve/{module}", tag = "understand",
    params(("module" = String, Path, description = "Name of a module")),
    request_body = RetrieveRequest,
    responses((status = 200, description = "The best candidates", body = Retrieved)),
)]
pub(super) async fn retrieve(
    State(app): State<AppState>,
    caller: Caller,
    ModuleSegment(name): ModuleSegment,
    Admitted { permit: _permit, body: request }: Admitted<RetrieveRequest>,
) -> Result<Json<Retrieved>, ApiError> {
    let utterance = extract::utterance(request.utterance, app.turns.max_utterance)?;
    let limit = request.limit.unwrap_or(app.turns.candidates);
    if !(1..=Retrieved::MOST).contains(&limit) {
        let message = format!("`limit` is {limit}; it must be 1 to {}", Retrieved::MOST);
        return Err(ApiError::fault(Fault::InvalidValue, message).about("limit"));
    }
    let snapshot = app.module(&name).await?;
    let request = TurnRequest { utterance, owner: caller.as_owner(), ..TurnRequest::default() };
    let trace = app
        .understander
        .retrieve(&snapshot, &request, limit)
        .await
        .map_err(|error| ApiError::of_turn(&error, false))?;
    Ok(Json(Retrieved::new(&snapshot.module, &trace)))
}
