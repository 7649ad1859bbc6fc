//! `POST /v1/sessions/{id}/observe`: understands what is said in a chat that another system leads.
//!
//! The request is answered at once. Utterances of one session are read in the order of arrival; each produces a new
//! state, which can be read or watched.

use std::panic::AssertUnwindSafe;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use futures::FutureExt as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    hub::{News, Observation, ObservedMessage},
    record::Record,
    session::SessionSegment,
    spoken::language,
    store::of_store,
};
use crate::{
    conversation::store::{SessionId, StoreError},
    http::{
        ApiError, AppState, Failure, Fault,
        caller::Caller,
        extract::{self, Admitted},
        json::Json,
    },
    module::{ModuleName, settings::StrategyName},
    snapshot::Snapshot,
    understand::{self, Conversed, HistoryMessage, TurnRequest, request},
};

/// How often a turn is retried while another request holds the session.
const TRIES: usize = 5;

/// Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct ObserveRequest {
    /// Name of the module; the same for the whole session.
    #[schema(required = true, value_type = String, example = "shoes")]
    module: Option<String>,
    /// What was said.
    #[schema(required = true, value_type = String, min_length = 1)]
    utterance: Option<String>,
    /// Who said it: `person` (if absent), or `assistant`, whose words are no utterance to understand but tell what a
    /// short answer is to.
    #[schema(value_type = Option<String>, example = "person")]
    role: Option<Speaker>,
    /// The moment in which "tomorrow" is read, in RFC 9557 or RFC 3339. Now if absent.
    now: Option<String>,
    /// BCP 47 language in which questions are worded. The module's if absent.
    #[schema(example = "en")]
    language: Option<String>,
    /// `auto`, `local`, `tools`, `structured` or `staged`.
    #[schema(value_type = Option<String>, example = "auto")]
    strategy: Option<StrategyName>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Speaker {
    #[default]
    Person,
    Assistant,
}

/// What was taken on.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct Observed {
    id: String,
    /// Utterances of this session that are not read yet, this one included.
    pending: usize,
}

/// Observe an utterance
///
/// For a chat that another model leads: answers at once, and understands beside it. Calls that come of it are in the
/// session, since nobody waits for them here.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/observe", tag = "sessions",
    params(("id" = String, Path, description = "Name of a session; a new one begins it")),
    request_body = ObserveRequest,
    responses((status = 202, description = "It will be read", body = Observed)),
)]
pub(in crate::http) async fn observe(
    SessionSegment(id): SessionSegment,
    State(app): State<AppState>,
    caller: Caller,
    Admitted { permit: _permit, body }: Admitted<ObserveRequest>,
) -> Result<Response, ApiError> {
    let observation = read(&app, caller, body).await?;
    app.may_observe(&id).await.map_err(|error| of_store(&error))?;
    let taken = app.conversations.hub.enqueue(&id, observation)?;
    if taken.needs_worker {
        tokio::spawn(work(app, id.clone()));
    }
    let body = Observed { id: id.to_string(), pending: taken.pending };
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

async fn read(app: &AppState, caller: Caller, body: ObserveRequest) -> Result<Observation, ApiError> {
    let Some(module) = body.module else {
        let message = "`module` is required: the name of a module";
        return Err(ApiError::fault(Fault::MissingParameter, message).about("module"));
    };
    let module = ModuleName::new(&module)
        .map_err(|error| ApiError::fault(Fault::InvalidModuleName, error.to_string()).about("module"))?;
    caller.may_use(&module)?;
    let utterance = extract::utterance(body.utterance, app.turns.max_utterance)?;
    let language = language(body.language)?;
    let snapshot = app.module(&module).await?;
    let home = request::time_zone(&snapshot.module, &app.turns.time_zone);
    let now = body.now.as_deref().map(|now| request::moment(now, &home)).transpose()?;
    let heard = match body.role.unwrap_or_default() {
        Speaker::Assistant => ObservedMessage::Assistant(utterance),
        Speaker::Person => ObservedMessage::Person(Box::new(TurnRequest {
            utterance,
            strategy: body.strategy,
            // "Tomorrow" is relative to when it was said, not to when it is read.
            now: Some(now.unwrap_or_else(|| jiff::Timestamp::now().to_zoned(home))),
            language,
            owner: caller.as_owner(),
            in_background: true,
            ..TurnRequest::default()
        })),
    };
    Ok(Observation { module, heard, caller, place: None })
}

/// Reads the waiting utterances in order until none is left.
async fn work(app: AppState, id: SessionId) {
    while let Some(observation) = app.conversations.hub.next(&id) {
        // No client is waiting, so the timeout starts when the work starts.
        let _leave = app.leave_in_background(&observation.caller).await;
        let turn = AssertUnwindSafe(understood(&app, &id, &observation)).catch_unwind();
        let result = match tokio::time::timeout(app.options.timeout(), turn).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(ApiError::logged(Failure::Internal, &"an observed turn panicked")),
            Err(_) => Err(ApiError::logged(Failure::Deadline, &"an observed turn took longer than http.timeout_ms")),
        };
        app.conversations.hub.done(&id);
        if let Err(error) = result {
            let (_, body) = error.into_body();
            tracing::warn!(code = body.code(), "an observed utterance was not understood");
            app.metrics.error(body.code());
            let told = serde_json::to_string(&body).expect("an error is strings and lists");
            app.conversations.hub.announce(&id, News::Failed(told.into()));
        }
    }
}

/// Understands one observed utterance, with the session as it is at that time.
async fn understood(app: &AppState, id: &SessionId, observation: &Observation) -> Result<(), ApiError> {
    let snapshot = app.module(&observation.module).await?;
    let mut last = StoreError::Conflict;
    for _ in 0..TRIES {
        match attempt(app, &snapshot, id, observation).await? {
            Ok(()) => return Ok(()),
            // Another turn came in between.
            Err(error @ (StoreError::Conflict | StoreError::Busy { .. })) => last = error,
            Err(error) => return Err(of_store(&error)),
        }
    }
    Err(of_store(&last))
}

/// The inner result is the store's.
async fn attempt(
    app: &AppState,
    snapshot: &Snapshot,
    id: &SessionId,
    observation: &Observation,
) -> Result<Result<(), StoreError>, ApiError> {
    let session = match app.begin(id).await {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    let mut record = Record::of(session.data.as_deref(), &snapshot.module)?;
    match &observation.heard {
        ObservedMessage::Assistant(text) => {
            understand::catch_up(&snapshot.module, &mut record.state, &[HistoryMessage::Assistant(text.clone())]);
        }
        ObservedMessage::Person(request) => {
            let conversed = app.understander.converse(snapshot, &record.state, request).await;
            let Conversed { turn, state, .. } =
                conversed.map_err(|error| ApiError::of_turn(&error, request.strategy.is_some()))?;
            record.state = state;
            record.note_calls(&snapshot.module, &turn);
            app.record(&snapshot.module.name, &turn);
            app.metrics.kept("observed");
        }
    }
    app.conversations.hub.read(id);
    Ok(app.commit(session, &record, snapshot).await.map(drop))
}
