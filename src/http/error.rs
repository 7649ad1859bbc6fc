//! One table from errors to status, type and code. Every error that leaves the service is made here.
//!
//! A [`Fault`] is the client's and has a message of its own; a [`Failure`] is ours or the model server's, and its
//! message is fixed, so that no 5xx can reveal a path, a stack trace or a model server's answer.

use std::{borrow::Cow, fmt};

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    embed::EmbedError,
    llm::LlmError,
    module::{Diagnostics, LoadError},
    snapshot::{PrepareError, Snapshots},
    understand::{TurnError, request::RequestError},
};

/// Seconds in `Retry-After`. Deliberately small: the usual SDKs wait this long several times.
const RETRY_AFTER_SECONDS: u32 = 1;

/// Longest message, in characters: some messages quote the client's own text.
const LONGEST_MESSAGE: usize = 500;

/// The client's errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    InvalidJson,
    InvalidBody,
    MissingParameter,
    InvalidType,
    InvalidValue,
    UnsupportedParameter,
    UtteranceTooLong,
    InvalidModuleName,
    UnknownModule,
    /// The same, for clients that call modules models.
    UnknownModel,
    UnknownRoute,
    MethodNotAllowed,
    BodyTooLarge,
    BodyTimeout,
    UnsupportedMediaType,
    /// The request names a host that is not this service.
    ForeignHost,
    /// The request comes from a web page that may not send it.
    ForeignOrigin,
    /// There are keys, and the request brings none that is known.
    NoKey,
    /// The caller lacks the permission.
    NotAllowed,
    ModuleRefused,
    /// The named strategy needs more tokens than the turn may use.
    OverTokenBudget,
    TooManyRequests,
    /// An echoed state that is not valid.
    InvalidState,
    /// The open request does not fit into the place where it is to be kept.
    StateTooLarge,
    SessionNotFound,
    /// The answer that a request continues from.
    PreviousResponseNotFound,
    ResponseNotFound,
    /// Another turn came in between, or is still running.
    SessionConflict,
    /// A change without `If-Match`.
    NoPrecondition,
    /// The module has changed meanwhile.
    ModuleChanged,
    /// The module's directory is not writable.
    ReadOnlyModule,
    FileNotFound,
    VersionNotFound,
}

impl Fault {
    #[cfg(test)]
    const ALL: [Self; 33] = [
        Self::InvalidJson,
        Self::InvalidBody,
        Self::MissingParameter,
        Self::InvalidType,
        Self::InvalidValue,
        Self::UnsupportedParameter,
        Self::UtteranceTooLong,
        Self::InvalidModuleName,
        Self::UnknownModule,
        Self::UnknownModel,
        Self::UnknownRoute,
        Self::MethodNotAllowed,
        Self::BodyTooLarge,
        Self::BodyTimeout,
        Self::UnsupportedMediaType,
        Self::ForeignHost,
        Self::ForeignOrigin,
        Self::NoKey,
        Self::NotAllowed,
        Self::ModuleRefused,
        Self::OverTokenBudget,
        Self::TooManyRequests,
        Self::InvalidState,
        Self::StateTooLarge,
        Self::SessionNotFound,
        Self::PreviousResponseNotFound,
        Self::ResponseNotFound,
        Self::SessionConflict,
        Self::NoPrecondition,
        Self::ModuleChanged,
        Self::ReadOnlyModule,
        Self::FileNotFound,
        Self::VersionNotFound,
    ];

    const fn row(self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidJson => (StatusCode::BAD_REQUEST, "invalid_json"),
            Self::InvalidBody => (StatusCode::BAD_REQUEST, "invalid_body"),
            Self::MissingParameter => (StatusCode::BAD_REQUEST, "missing_required_parameter"),
            Self::InvalidType => (StatusCode::BAD_REQUEST, "invalid_type"),
            Self::InvalidValue => (StatusCode::BAD_REQUEST, "invalid_value"),
            Self::UnsupportedParameter => (StatusCode::BAD_REQUEST, "unsupported_parameter"),
            Self::UtteranceTooLong => (StatusCode::BAD_REQUEST, "string_above_max_length"),
            Self::InvalidModuleName => (StatusCode::BAD_REQUEST, "invalid_module_name"),
            Self::UnknownModule => (StatusCode::NOT_FOUND, "module_not_found"),
            Self::UnknownModel => (StatusCode::NOT_FOUND, "model_not_found"),
            Self::UnknownRoute => (StatusCode::NOT_FOUND, "route_not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "body_timeout"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::ForeignHost => (StatusCode::FORBIDDEN, "host_not_allowed"),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, "origin_not_allowed"),
            Self::NoKey => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
            Self::NotAllowed => (StatusCode::FORBIDDEN, "not_allowed"),
            Self::ModuleRefused => (StatusCode::UNPROCESSABLE_ENTITY, "module_refused"),
            Self::OverTokenBudget => (StatusCode::UNPROCESSABLE_ENTITY, "over_token_budget"),
            Self::TooManyRequests => (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
            Self::InvalidState => (StatusCode::BAD_REQUEST, "invalid_state"),
            Self::StateTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "state_too_large"),
            Self::SessionNotFound => (StatusCode::NOT_FOUND, "session_not_found"),
            Self::PreviousResponseNotFound => (StatusCode::BAD_REQUEST, "previous_response_not_found"),
            Self::ResponseNotFound => (StatusCode::NOT_FOUND, "response_not_found"),
            Self::SessionConflict => (StatusCode::CONFLICT, "session_conflict"),
            Self::NoPrecondition => (StatusCode::PRECONDITION_REQUIRED, "precondition_required"),
            Self::ModuleChanged => (StatusCode::PRECONDITION_FAILED, "module_changed"),
            Self::ReadOnlyModule => (StatusCode::CONFLICT, "module_read_only"),
            Self::FileNotFound => (StatusCode::NOT_FOUND, "file_not_found"),
            Self::VersionNotFound => (StatusCode::NOT_FOUND, "version_not_found"),
        }
    }
}

/// The service's own failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    Internal,
    ModelServer,
    ModelServerTimeout,
    EmbeddingServer,
    /// A module or the configuration needs a model server, but none is configured.
    NoModelServer,
    Starting,
    Stopping,
    /// The request took longer than `http.timeout_ms`.
    Deadline,
    /// A module cannot be built for reasons other than its files; the build is retried.
    ModuleUnavailable,
    /// There are modules, but none serves.
    NoModule,
    /// The session store fails, perhaps only for a while.
    SessionsUnavailable,
    /// A stored session is damaged, or its key is not configured.
    SessionUnreadable,
    /// A version of a module cannot be kept, so that the change could not be undone.
    HistoryUnavailable,
}

impl Failure {
    #[cfg(test)]
    const ALL: [Self; 13] = [
        Self::Internal,
        Self::ModelServer,
        Self::ModelServerTimeout,
        Self::EmbeddingServer,
        Self::NoModelServer,
        Self::Starting,
        Self::Stopping,
        Self::Deadline,
        Self::ModuleUnavailable,
        Self::NoModule,
        Self::SessionsUnavailable,
        Self::SessionUnreadable,
        Self::HistoryUnavailable,
    ];

    const fn row(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal_error",
                "the service failed; its log tells why under the x-request-id of this response",
            ),
            Self::ModelServer => (
                StatusCode::BAD_GATEWAY,
                "model_server_failed",
                "the model server failed and nothing local could answer",
            ),
            Self::ModelServerTimeout => (
                StatusCode::GATEWAY_TIMEOUT,
                "model_server_timeout",
                "the model server did not answer in time and nothing local could answer",
            ),
            Self::EmbeddingServer => {
                (StatusCode::BAD_GATEWAY, "embedding_server_failed", "the embedding server failed")
            }
            Self::NoModelServer => (
                StatusCode::SERVICE_UNAVAILABLE,
                "no_model_server",
                "this module is set to be understood by a model server, and none is configured",
            ),
            Self::Starting => {
                (StatusCode::SERVICE_UNAVAILABLE, "not_ready", "the service is starting: modules are being loaded")
            }
            Self::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping", "the service is stopping"),
            Self::Deadline => {
                (StatusCode::SERVICE_UNAVAILABLE, "timeout", "the request took longer than the service allows")
            }
            Self::ModuleUnavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "module_unavailable",
                "the module cannot be built at the moment; it is tried again by itself, and the log tells why",
            ),
            Self::NoModule => {
                (StatusCode::SERVICE_UNAVAILABLE, "no_module", "no module serves; /v1/modules and the log tell why")
            }
            Self::SessionsUnavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "sessions_unavailable",
                "sessions cannot be kept at the moment; requests without one are answered",
            ),
            Self::SessionUnreadable => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "session_unreadable",
                "what is kept of the session cannot be read; deleting it lets it begin anew",
            ),
            Self::HistoryUnavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "history_unavailable",
                "versions of modules cannot be kept or read at the moment (modules.history), so nothing was changed",
            ),
        }
    }

    /// `Some(false)`: SDKs must not retry, because the service already did or a retry cannot help.
    const fn should_retry(self) -> Option<bool> {
        match self {
            Self::ModelServer
            | Self::ModelServerTimeout
            | Self::EmbeddingServer
            | Self::NoModelServer
            | Self::SessionUnreadable
            | Self::HistoryUnavailable => Some(false),
            Self::Internal
            | Self::Starting
            | Self::Stopping
            | Self::Deadline
            | Self::ModuleUnavailable
            | Self::NoModule
            | Self::SessionsUnavailable => None,
        }
    }

    const fn retry_after(self) -> Option<u32> {
        match self {
            Self::Starting
            | Self::Stopping
            | Self::Deadline
            | Self::ModuleUnavailable
            | Self::NoModule
            | Self::SessionsUnavailable => Some(RETRY_AFTER_SECONDS),
            Self::Internal
            | Self::SessionUnreadable
            | Self::HistoryUnavailable
            | Self::ModelServer
            | Self::ModelServerTimeout
            | Self::EmbeddingServer
            | Self::NoModelServer => None,
        }
    }
}

/// `error.type`: some SDKs pick their exception by it rather than by the status.
const fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// An error response.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError(ApiErrorKind);

#[derive(Debug, Clone, PartialEq)]
enum ApiErrorKind {
    Fault { fault: Fault, message: String, param: Option<Cow<'static, str>>, diagnostics: Option<Diagnostics> },
    Failure(Failure),
}

impl ApiError {
    #[must_use]
    pub fn fault(fault: Fault, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if let Some((cut, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(cut);
            message.push('…');
        }
        Self(ApiErrorKind::Fault { fault, message, param: None, diagnostics: None })
    }

    /// Names the request member that the fault is about.
    #[must_use]
    pub fn about(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        if let ApiErrorKind::Fault { param, .. } = &mut self.0 {
            *param = Some(name.into());
        }
        self
    }

    /// Renames the member of [`Self::about`]; does nothing if there is none.
    #[must_use]
    pub(super) fn renamed(mut self, name: impl FnOnce(&str) -> String) -> Self {
        if let ApiErrorKind::Fault { param: Some(param), .. } = &mut self.0 {
            *param = Cow::Owned(name(param));
        }
        self
    }

    #[must_use]
    pub fn failure(failure: Failure) -> Self {
        Self(ApiErrorKind::Failure(failure))
    }

    /// A failure whose cause is only logged.
    #[must_use]
    pub fn logged(failure: Failure, cause: &dyn fmt::Display) -> Self {
        tracing::error!(code = failure.row().1, cause = %cause, "request failed");
        Self::failure(failure)
    }

    #[must_use]
    pub fn refused(name: &impl fmt::Display, diagnostics: &Diagnostics) -> Self {
        let errors = diagnostics.errors().count();
        let first = diagnostics.errors().next().map(|found| format!("; the first: {found}")).unwrap_or_default();
        let mut error = Self::fault(Fault::ModuleRefused, format!("module `{name}` has {errors} error(s){first}"));
        if let ApiErrorKind::Fault { diagnostics: all, .. } = &mut error.0 {
            *all = Some(diagnostics.clone());
        }
        error
    }

    #[must_use]
    pub fn unknown_module(name: &str, snapshots: &Snapshots) -> Self {
        let near: Vec<String> = snapshots.near(name).into_iter().take(3).map(|near| format!("`{near}`")).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        Self::fault(Fault::UnknownModule, format!("there is no module `{name}`{hint}")).about("module")
    }

    #[must_use]
    pub fn too_many_requests() -> Self {
        Self::too_many("as many turns as the service allows are running; try again shortly".to_owned())
    }

    /// The same for any other limit.
    #[must_use]
    pub(super) fn too_many(message: String) -> Self {
        Self::fault(Fault::TooManyRequests, message)
    }

    pub(super) fn of_prepare(error: &PrepareError, snapshots: &Snapshots) -> Self {
        match error {
            PrepareError::Unknown(name) => Self::unknown_module(name.as_str(), snapshots),
            PrepareError::Refused { name, diagnostics }
            | PrepareError::Load { name, source: LoadError::Refused(diagnostics) } => Self::refused(name, diagnostics),
            PrepareError::Compile { .. } => Self::fault(Fault::ModuleRefused, error.to_string()),
            PrepareError::Load { source: LoadError::Io { .. }, .. }
            | PrepareError::Embed { .. }
            | PrepareError::Index { .. }
            | PrepareError::Interrupted(_)
            | PrepareError::Stopped(_)
            | PrepareError::Unavailable { .. } => Self::logged(Failure::ModuleUnavailable, error),
            PrepareError::Slow { .. } => Self::logged(Failure::Deadline, error),
        }
    }

    /// The status and the content of the body.
    pub(super) fn into_body(self) -> (StatusCode, ErrorEnvelope) {
        let (status, code, message, param, diagnostics) = match self.0 {
            ApiErrorKind::Fault { fault, message, param, diagnostics } => {
                let (status, code) = fault.row();
                (status, code, message, param, diagnostics)
            }
            ApiErrorKind::Failure(failure) => {
                let (status, code, message) = failure.row();
                (status, code, message.to_owned(), None, None)
            }
        };
        let error = ErrorBody { message, kind: error_type(status), param, code };
        (status, ErrorEnvelope { error, uptake: diagnostics.map(|diagnostics| ErrorDetails { diagnostics }) })
    }

    pub(super) fn of_embed(error: &EmbedError) -> Self {
        match error {
            EmbedError::Busy => Self::too_many_requests(),
            EmbedError::Remote(_) => Self::logged(Failure::EmbeddingServer, error),
            EmbedError::Load(_) | EmbedError::Runtime(_) | EmbedError::Inference(_) => {
                Self::logged(Failure::Internal, error)
            }
        }
    }

    /// `asked`: whether the request itself named the strategy.
    pub(super) fn of_turn(error: &TurnError, asked: bool) -> Self {
        match error {
            TurnError::EmptyUtterance => empty_utterance(),
            TurnError::LongUtterance { length, limit } => long_utterance(*length, *limit),
            TurnError::NoModelServer(_) if asked => {
                Self::fault(Fault::InvalidValue, error.to_string()).about("strategy")
            }
            TurnError::NoModelServer(_) => Self::logged(Failure::NoModelServer, error),
            TurnError::Embed(source) => Self::of_embed(source),
            // The template is the author's and parses, but fails when it is rendered.
            TurnError::Prompt(_) => Self::logged(Failure::Internal, error),
            TurnError::OverBudget { .. } => {
                Self::fault(Fault::OverTokenBudget, format!("{error}; raise it, show fewer candidates, or use `auto`"))
                    .about("budget.tokens")
            }
            TurnError::Llm(LlmError::Overloaded) => Self::too_many_requests(),
            TurnError::Llm(LlmError::Timeout) => Self::logged(Failure::ModelServerTimeout, error),
            TurnError::Llm(_) => Self::logged(Failure::ModelServer, error),
            // The client has left.
            TurnError::Left => Self::failure(Failure::Deadline),
        }
    }
}

impl ErrorEnvelope {
    /// For programs.
    pub(super) const fn code(&self) -> &'static str {
        self.error.code
    }

    /// For people.
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// The error without its envelope.
    pub(super) fn value(&self) -> Value {
        serde_json::to_value(&self.error).expect("an error is strings")
    }

    /// The member of the request that it is about.
    pub(super) fn param(&self) -> Option<&str> {
        self.error.param.as_deref()
    }
}

pub(super) fn empty_utterance() -> ApiError {
    ApiError::fault(Fault::InvalidValue, "`utterance` is empty: send what the person said").about("utterance")
}

pub(super) fn long_utterance(length: usize, limit: usize) -> ApiError {
    let message = format!("`utterance` has {length} characters; the limit (understand.max_utterance) is {limit}");
    ApiError::fault(Fault::UtteranceTooLong, message).about("utterance")
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        Self::fault(Fault::InvalidValue, error.to_string()).about(error.member())
    }
}

/// What every answer of status 400 and above holds.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ErrorEnvelope {
    error: ErrorBody,
    /// What is wrong with a module, where the error is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    uptake: Option<ErrorDetails>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ErrorBody {
    /// For people: what was wrong, and what would be right.
    message: String,
    /// `invalid_request_error`, `not_found_error`, `rate_limit_error`, `server_error` ...
    #[serde(rename = "type")]
    kind: &'static str,
    /// The member of the request that it is about.
    param: Option<Cow<'static, str>>,
    /// For programs; stable.
    code: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
struct ErrorDetails {
    #[schema(value_type = Vec<DiagnosticBody>)]
    diagnostics: Diagnostics,
}

/// One finding in a module's files, as the checks of [`crate::module`] write it. Only for the `OpenAPI` document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the JSON of `module::Diagnostic`, which knows nothing of HTTP")]
pub(super) struct DiagnosticBody {
    /// `error` or `warning`.
    severity: String,
    /// Kebab-case, stable.
    code: String,
    /// Relative to the module's directory.
    file: String,
    /// JSON pointer into the file.
    pointer: String,
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    hint: Option<String>,
}

/// Marks a response as an error, for the layer that counts errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorCode(pub(super) &'static str);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (retry_after, should_retry) = match &self.0 {
            ApiErrorKind::Fault { fault, .. } => {
                let may_pass = matches!(fault, Fault::TooManyRequests | Fault::SessionConflict);
                (may_pass.then_some(RETRY_AFTER_SECONDS), None)
            }
            ApiErrorKind::Failure(failure) => (failure.retry_after(), failure.should_retry()),
        };
        let (status, body) = self.into_body();
        let code = body.error.code;
        let mut response = (status, Json(body)).into_response();
        response.extensions_mut().insert(ErrorCode(code));
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if should_retry == Some(false) {
            let name = HeaderName::from_static("x-should-retry");
            response.headers_mut().insert(name, HeaderValue::from_static("false"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_match_statuses_as_sdks_read_them() {
        let expected = |status: u16| match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        for fault in Fault::ALL {
            let (status, _) = fault.row();
            assert!(status.is_client_error(), "{fault:?}");
            assert_eq!(error_type(status), expected(status.as_u16()), "{fault:?}");
        }
        for failure in Failure::ALL {
            let (status, ..) = failure.row();
            assert!(status.is_server_error(), "{failure:?}");
            assert_eq!(error_type(status), "server_error", "{failure:?}");
        }
        assert_eq!(error_type(StatusCode::UNAUTHORIZED), "authentication_error");
        assert_eq!(error_type(StatusCode::FORBIDDEN), "permission_error");
    }

    #[test]
    fn codes_are_unique() {
        let faults = Fault::ALL.into_iter().map(|fault| fault.row().1);
        let failures = Failure::ALL.into_iter().map(|failure| failure.row().1);
        let codes: Vec<_> = faults.chain(failures).collect();
        let unique: std::collections::BTreeSet<_> = codes.iter().collect();
        assert_eq!(codes.len(), unique.len());
    }

    #[test]
    fn a_model_servers_words_stay_here() {
        let said = LlmError::Status { status: 500, message: "/opt/secret.py line 3".into(), retry_after: None };
        let error = ApiError::of_turn(&TurnError::Llm(said), false);
        assert_eq!(error, ApiError::failure(Failure::ModelServer));
        let response = error.into_response();
        assert_eq!(response.status(), 502);
        assert_eq!(response.headers()["x-should-retry"], "false");

        let response = ApiError::of_turn(&TurnError::Llm(LlmError::Timeout), false).into_response();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["x-should-retry"]),
            (504, &"false".parse().unwrap())
        );
    }

    #[test]
    fn a_refusal_to_work_names_a_short_wait() {
        let response = ApiError::too_many_requests().into_response();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()[RETRY_AFTER], "1");
    }

    #[test]
    fn a_strategy_without_a_server_is_whose_fault() {
        let error = TurnError::NoModelServer("tools");
        assert_eq!(ApiError::of_turn(&error, true).into_response().status(), 400);
        assert_eq!(ApiError::of_turn(&error, false).into_response().status(), 503);
    }

    #[test]
    fn messages_are_cut() {
        let ApiError(ApiErrorKind::Fault { message, .. }) = ApiError::fault(Fault::InvalidValue, "ä".repeat(10_000))
        else {
            panic!("a fault")
        };
        assert_eq!(message.chars().count(), LONGEST_MESSAGE + 1);
    }
}
