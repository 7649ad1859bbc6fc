//! `GET` and `DELETE /v1/sessions/{id}`.

use std::time::Instant;

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{StatusCode, request::Parts},
};

use super::{
    hub::News,
    record::Record,
    store::{of_store, view},
};
use crate::{
    answer::{SessionBody, SessionView},
    conversation::store::SessionId,
    http::{ApiError, AppState, Fault, caller::Caller, extract::Permit, json::Json},
};

/// The `{id}` of a path, validated first.
pub(in crate::http) struct SessionSegment(pub(super) SessionId);

impl FromRequestParts<AppState> for SessionSegment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let Path(segment) = Path::<String>::from_request_parts(parts, app).await.map_err(|_| {
            let message = "the session's id is not percent-encoded UTF-8";
            ApiError::fault(Fault::InvalidValue, message).about("session_id")
        })?;
        let Ok(caller) = Caller::from_request_parts(parts, app).await;
        caller.session(&segment).map(Self)
    }
}

/// Read a session
///
/// What is known after the last turn: order details, what was asked, and a summary for a chat prompt. Values of slots
/// that the module calls sensitive are masked.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "Name of a session")),
    responses((status = 200, description = "The session", body = SessionView)),
)]
pub(in crate::http) async fn read(
    SessionSegment(id): SessionSegment,
    _permit: Permit,
    State(app): State<AppState>,
) -> Result<Json<SessionView>, ApiError> {
    current(&app, &id).await.map(Json)
}

/// Forget a session
///
/// Nothing is left of it. A turn that runs is waited for; utterances that wait to be observed are dropped.
#[utoipa::path(
    delete, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "Name of a session")),
    responses((status = 204, description = "It is forgotten")),
)]
pub(in crate::http) async fn delete(
    SessionSegment(id): SessionSegment,
    _permit: Permit,
    State(app): State<AppState>,
) -> Result<StatusCode, ApiError> {
    let had_pending = app.conversations.hub.forget(&id);
    let clock = Instant::now();
    let deleted = app.conversations.sessions.delete(&id).await;
    app.metrics.stored("delete", clock.elapsed(), deleted.as_ref().err());
    let deleted = deleted.map_err(|error| of_store(&error))?;
    app.conversations.hub.announce(&id, News::Deleted);
    if deleted || had_pending { Ok(StatusCode::NO_CONTENT) } else { Err(not_found(&id)) }
}

/// The session as it is now.
pub(super) async fn current(app: &AppState, id: &SessionId) -> Result<SessionView, ApiError> {
    let clock = Instant::now();
    let stored = app.conversations.sessions.read(id).await;
    app.metrics.stored("read", clock.elapsed(), stored.as_ref().err());
    let Some(stored) = stored.map_err(|error| of_store(&error))? else {
        // An utterance may have been accepted for it and not read yet.
        let module = app.conversations.hub.pending_module(id).ok_or_else(|| not_found(id))?;
        let snapshot = app.module(&module).await?;
        return Ok(view(app, &snapshot, id, &Record::new(&module), None));
    };
    let record = Record::parse(&stored.data)?;
    let snapshot = app.module(&record.state.module).await?;
    let record = Record::of(Some(&stored.data), &snapshot.module)?;
    let body = SessionBody {
        id: id.to_string(),
        revision: stored.revision,
        turn: record.state.turn,
        expires_at: stored.expires.as_second(),
    };
    Ok(view(app, &snapshot, id, &record, Some(&body)))
}

fn not_found(id: &SessionId) -> ApiError {
    let message = format!("there is no session `{id}`: none was begun under this id, or it expired or was deleted");
    ApiError::fault(Fault::SessionNotFound, message).about("session_id")
}
