//! `POST /v1/responses`: the same turn in the form of the Responses API of `OpenAI`. The request is translated into a
//! chat completion, and the result into items; nothing is understood here.
//!
//! | file | holds |
//! |---|---|
//! | `request` | the members of a request, and those that are refused |
//! | `items` | `input` and the earlier conversation, as messages |
//! | `translation` | the request as a chat completion's, and the names in its errors |
//! | `kept` | responses that are kept so that requests can continue them |
//! | `stream` | the answer in events |

mod items;
mod kept;
mod request;
mod stream;
mod translation;

use std::time::{SystemTime, UNIX_EPOCH};

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{HeaderMap, request::Parts},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use utoipa::ToSchema;

use super::{
    ApiError, AppState, Fault,
    caller::Caller,
    chat::{self, Job},
    extract::{Admitted, Permit},
    json::Json,
};
use crate::answer::{
    event::Events,
    response::{ResponseBody, ResponseId},
};
use kept::{KnownConversation, StoredResponse};
use request::ResponseRequest;
use translation::{Places, Translation};

/// Answer what was said, or what came of calls
///
/// Speaks the Responses API of `OpenAI`: calls come back as items of type `function_call`; a question about what is
/// missing, and what no function fits, as a message. All three are answers (200). With `stream`, the same comes in events.
///
/// The conversation is what the items say, behind those that `previous_response_id` brings.
#[utoipa::path(
    post, path = "/v1/responses", operation_id = "respond", tag = "understand",
    params((
        "x-uptake-tools" = Option<String>, Header,
        description = "`ignore`, `add` or `replace`: the same as `uptake.tools`, for clients that cannot send members of ours",
    )),
    request_body = ResponseRequest,
    responses((
        status = 200, description = "What was understood",
        content((ResponseBody = "application/json"), (stream::ResponseServerEvent = "text/event-stream")),
    )),
)]
pub(super) async fn respond(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Admitted { permit, body: request }: Admitted<ResponseRequest>,
) -> Result<Response, ApiError> {
    let deadline = Instant::now() + app.options.timeout();
    let is_streamed = request.stream == Some(true);
    let mut asked = ResponseJob::prepare(&app, caller, &headers, request, permit).await?;
    if !is_streamed {
        return Ok(Json(asked.run(&app).await?).into_response());
    }
    let words = asked.job.listened();
    let events = Events::new(asked.id.clone(), asked.opening.clone());
    let turn = {
        let app = app.clone();
        async move { asked.run(&app).await }
    };
    chat::stream::respond(app, events, turn, words, deadline).await
}

/// Read a response
///
/// As it was answered, without `uptake`.
#[utoipa::path(
    get, path = "/v1/responses/{id}", operation_id = "read_response", tag = "sessions",
    params(("id" = String, Path, description = "Id of a response that is kept")),
    responses((status = 200, description = "The response", body = ResponseBody)),
)]
pub(super) async fn read(
    ResponseSegment(id): ResponseSegment,
    _permit: Permit,
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<Value>, ApiError> {
    let kept = StoredResponse::read(&app, &caller, &id).await?;
    kept.map(|(kept, _)| Json(kept.response)).ok_or_else(|| not_found(&id.text()))
}

/// Forget a response
///
/// Nothing is left of it. Those that went on from it have its conversation, and stay.
#[utoipa::path(
    delete, path = "/v1/responses/{id}", operation_id = "delete_response", tag = "sessions",
    params(("id" = String, Path, description = "Id of a response that is kept")),
    responses((status = 200, description = "It is forgotten", body = DeletedResponse)),
)]
pub(super) async fn delete(
    ResponseSegment(id): ResponseSegment,
    _permit: Permit,
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<DeletedResponse>, ApiError> {
    let is_forgotten = match caller.answer(&id) {
        Some(place) => app.forget_answer(&place).await?,
        None => false,
    };
    let deleted = DeletedResponse { id: id.text(), object: "response", deleted: true };
    if is_forgotten { Ok(Json(deleted)) } else { Err(not_found(&id.text())) }
}

/// A response that is kept no more.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DeletedResponse {
    id: String,
    #[schema(value_type = String, example = "response")]
    object: &'static str,
    /// True.
    deleted: bool,
}

/// The `{id}` of a path.
pub(super) struct ResponseSegment(ResponseId);

impl FromRequestParts<AppState> for ResponseSegment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let Path(segment) = Path::<String>::from_request_parts(parts, app).await.map_err(|_| {
            let message = "the response's id is not percent-encoded UTF-8";
            ApiError::fault(Fault::InvalidValue, message).about("id")
        })?;
        // A text that is not an id is not found, either.
        ResponseId::of(&segment).map(Self).ok_or_else(|| not_found(&segment))
    }
}

fn not_found(id: &str) -> ApiError {
    let shown: String = id.chars().take(80).collect();
    let message = format!("Response with id '{shown}' not found: it was not kept, it expired, or it was deleted");
    ApiError::fault(Fault::ResponseNotFound, message).about("id")
}

/// A validated request.
struct ResponseJob {
    job: Job,
    id: ResponseId,
    /// The response while it is in progress.
    opening: ResponseBody,
    /// The conversation, including the earlier part.
    known: KnownConversation,
    places: Places,
    caller: Caller,
}

impl ResponseJob {
    async fn prepare(
        app: &AppState,
        caller: Caller,
        headers: &HeaderMap,
        mut request: ResponseRequest,
        permit: Permit,
    ) -> Result<Self, ApiError> {
        request.check()?;
        let keeping = keeping(&request, &caller)?;
        let mut known = kept::before(app, &caller, request.previous_response_id.as_deref()).await?;
        known.items.extend(items::written(request.input.take())?);
        if caller.may_keep() {
            kept::resolve(app, &caller, &mut known).await?;
        }
        let Translation { request: translated, places, tools, notes } = Translation::of(&mut request, &known.items)?;
        let prepared = Job::prepare(app, &caller, headers, translated, permit).await;
        let mut job = prepared.map_err(|error| error.renamed(|param| places.name(param)))?;
        job.note(notes);
        job.note(keeping.note.into_iter().collect());
        let id = ResponseId::random();
        let opening = opening(&job, &id, request, tools, keeping.is_wanted);
        known.is_hidden |= job.may_be_sensitive();
        Ok(Self { job, id, opening, known, places, caller })
    }

    async fn run(self, app: &AppState) -> Result<ResponseBody, ApiError> {
        let Self { job, id, opening, known, places, caller } = self;
        let completed = job.run(app).await.map_err(|error| error.renamed(|param| places.name(param)))?;
        let mut response = opening.completed(&id, completed, now());
        if !response.store {
            return Ok(response);
        }
        let failed = StoredResponse::new(known.items, &response, known.is_hidden)?.write(app, &caller, &id).await;
        if let Some(why) = failed {
            // The answer, and calls that may have been made, matter more than keeping it.
            response.store = false;
            response.note(format!("the response is not kept: {why}"));
        }
        Ok(response)
    }
}

/// Whether to keep the response.
struct Keeping {
    is_wanted: bool,
    /// Why it is not kept although the request wants it.
    note: Option<String>,
}

/// # Errors
/// 403 if the request needs what the key may not do.
fn keeping(request: &ResponseRequest, caller: &Caller) -> Result<Keeping, ApiError> {
    if caller.may_keep() {
        return Ok(Keeping { is_wanted: request.store != Some(false), note: None });
    }
    let needs =
        [(request.store == Some(true), "store"), (request.previous_response_id.is_some(), "previous_response_id")];
    if let Some((_, param)) = needs.into_iter().find(|(applies, _)| *applies) {
        let message = "the key may not keep conversations here: it needs the scope `sessions`";
        return Err(ApiError::fault(Fault::NotAllowed, message).about(param));
    }
    let note = "the response is not kept: the key needs the scope `sessions`".to_owned();
    Ok(Keeping { is_wanted: false, note: Some(note).filter(|_| request.store.is_none()) })
}

fn opening(job: &Job, id: &ResponseId, request: ResponseRequest, tools: Vec<Value>, store: bool) -> ResponseBody {
    let mut text = request.text.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if text.get("format").is_none_or(Value::is_null) {
        text["format"] = json!({"type": "text"});
    }
    ResponseBody {
        id: id.text(),
        object: "response",
        created_at: job.created(),
        status: "in_progress",
        completed_at: None,
        background: false,
        error: None,
        incomplete_details: (),
        instructions: request.instructions,
        max_output_tokens: (),
        model: job.model(),
        output: Vec::new(),
        parallel_tool_calls: request.parallel_tool_calls.unwrap_or(true),
        previous_response_id: request.previous_response_id,
        reasoning: (),
        store,
        temperature: (),
        text,
        tool_choice: request.tool_choice.unwrap_or_else(|| "auto".into()),
        tools,
        top_p: (),
        truncation: "disabled",
        usage: None,
        metadata: json!(request.metadata.unwrap_or_default()),
        uptake: None,
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
