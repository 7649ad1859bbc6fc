//! `POST /v1/predict/{module}`: turns what a person said into a validated function call.

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::{
    ToSchema,
    openapi::schema::{Object, Type},
};

use super::{
    ApiError, AppState, Fault,
    caller::Caller,
    conversations::{Keeping, Repeat, Spoken, language},
    extract::{self, ModuleSegment, Unread},
    json::Json,
    opendu::{self, OpenDuAnswer, OpenDuRequest},
};
use crate::{
    answer::{ChatCompletion, Stamp},
    module::{ModuleName, settings::StrategyName},
    understand::{BudgetOverrides, TurnRequest, request},
};

/// Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct PredictRequest {
    /// What the person said.
    #[schema(
        required = true,
        min_length = 1,
        example = "how cold will it be in Seattle in the next three days, in celsius?"
    )]
    #[schema(value_type = String)]
    utterance: Option<String>,
    /// Who decides: `auto`, `local` (never a model server), or always one: `tools` (native function calling),
    /// `structured` (an answer that must fit a JSON Schema) or `staged` (first the function, then its arguments). The
    /// module's choice if absent.
    #[schema(value_type = Option<String>, example = "auto")]
    strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read, in RFC 9557 or RFC 3339:
    /// `2026-03-01T09:00:00-08:00[America/Los_Angeles]`. Now if absent. With `Z` it is read in the module's time zone.
    #[schema(example = "2026-03-01T09:00:00-08:00[America/Los_Angeles]")]
    now: Option<String>,
    /// Names of the only functions that may be chosen. All if absent.
    functions: Option<Vec<String>>,
    /// What the turn may spend on a model server: only less than module and server allow.
    budget: Option<Budget>,
    /// `uptake.state` of the answer before: the conversation goes on. Without it and `session_id` one begins.
    state: Option<String>,
    /// The session that keeps the conversation: 1 to 128 of `A-Z a-z 0-9 . _ : -`, 16 or more where there are keys, not
    /// guessable. A new one begins it.
    #[schema(example = "order-5f0c1e9a7b3d4c21")]
    session_id: Option<String>,
    /// With `session_id`: only if the session is still at this revision, else 409.
    revision: Option<u64>,
    /// Tell everything that the answer rests on: `uptake.explanations`, and the words that went to a model server and
    /// came back. Where there are keys, the key needs the scope `inspect` too.
    #[serde(default)]
    explain: bool,
    /// BCP 47 language in which questions are worded. The module's if absent.
    #[schema(example = "en")]
    language: Option<String>,
    /// Absent or null: anything else asks in a mode of `OpenDU`.
    #[serde(rename = "mode")]
    #[schema(schema_with = null)]
    _mode: Option<()>,
}

fn null() -> Object {
    Object::with_type(Type::Null)
}

// Only for the `OpenAPI` document, as is `PredictAnswer`.
/// A request for a function call, or one in a mode of `OpenDU`.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the body, which is read in two steps")]
pub(super) enum PredictBody {
    /// Without `mode`: a function call.
    Call(PredictRequest),
    /// With `mode`: the protocol of `OpenDU`.
    OpenDu(OpenDuRequest),
}

/// What was understood, in the shape of the mode.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the answers, each of which is made where it belongs")]
pub(super) enum PredictAnswer {
    Call(Box<ChatCompletion>),
    OpenDu(OpenDuAnswer),
}

/// What one turn may spend on a model server. What is absent is as module and server have it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    /// Times that a wrong answer is sent back with what was wrong.
    retries: Option<u32>,
    /// Milliseconds, retries included.
    #[schema(example = 2_000)]
    deadline_ms: Option<u64>,
    /// Tokens, prompts and answers together.
    tokens: Option<u64>,
}

impl From<Budget> for BudgetOverrides {
    fn from(budget: Budget) -> Self {
        Self { retries: budget.retries, deadline_ms: budget.deadline_ms, tokens: budget.tokens }
    }
}

/// Understand an utterance
///
/// Answers with a chat completion: a valid and complete call, a question about what is missing, or neither if the
/// utterance is out of scope, takes back what was open, or should be a person's to answer. All of these are answers
/// (200).
///
/// An utterance that answers such a question goes with `state`, echoed from the answer before, or with a `session_id`.
///
/// With `mode` it speaks the protocol of `OpenDU`: `SKILL` (which functions), `SLOT` (values of slots) or `BINARY`
/// (what a reply says to a question).
#[utoipa::path(
    post, path = "/v1/predict/{module}", tag = "understand",
    params(("module" = String, Path, description = "Name of a module")),
    request_body = PredictBody,
    responses((status = 200, description = "What was understood, in the shape of the mode", body = PredictAnswer)),
)]
pub(super) async fn predict(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    ModuleSegment(name): ModuleSegment,
    Unread { permit: _permit, body }: Unread,
) -> Result<Response, ApiError> {
    match opendu::mode(&body)? {
        Some(mode) => {
            opendu::answer(mode, &app, &name, &body, caller.as_owner()).await.map(|answer| Json(answer).into_response())
        }
        None => call(&app, &caller, &headers, &name, extract::parse_object(&body)?)
            .await
            .map(|answer| Json(answer).into_response()),
    }
}

async fn call(
    app: &AppState,
    caller: &Caller,
    headers: &HeaderMap,
    name: &ModuleName,
    request: PredictRequest,
) -> Result<ChatCompletion, ApiError> {
    let utterance = extract::utterance(request.utterance, app.turns.max_utterance)?;
    let keeping = Keeping::read(request.state, request.session_id, request.revision, caller, Keeping::New)?;
    let language = language(request.language)?;
    if request.explain && !caller.may_inspect() {
        let message = "the key may not be told what answers rest on: it needs the scope `inspect`";
        return Err(ApiError::fault(Fault::NotAllowed, message).about("explain"));
    }
    let snapshot = app.module(name).await?;
    let module = &snapshot.module;
    let home = request::time_zone(module, &app.turns.time_zone);
    let turn_request = TurnRequest {
        utterance,
        strategy: request.strategy,
        now: request.now.as_deref().map(|now| request::moment(now, &home)).transpose()?,
        among: request.functions.as_deref().map(|names| request::functions(module, names)).transpose()?,
        budget: request.budget.map(Into::into).unwrap_or_default(),
        language,
        owner: caller.as_owner(),
        explain: request.explain,
        ..TurnRequest::default()
    };
    let spoken = Spoken {
        request: &turn_request,
        meanwhile: &[],
        is_named: request.strategy.is_some(),
        theirs: Some(&[]),
        repeat: &Repeat::of(headers, caller),
    };
    let told = app.converse(&snapshot, &keeping, &spoken).await?;
    app.record(&module.name, &told.turn);
    let mut completion = ChatCompletion::new(module, &told.turn, Stamp::now());
    completion.uptake.keep(told.kept);
    Ok(completion)
}
