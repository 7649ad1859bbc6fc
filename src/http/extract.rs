//! Extractors for handlers, with refusals in our own envelope.

use super::{
    ApiError, AppState, Fault,
    caller::Caller,
    error::{empty_utterance, long_utterance},
    middleware::{NoRoom, too_many_bytes},
    state::Leave,
};
use crate::module::ModuleName;
use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{
        HeaderMap, HeaderValue,
        header::{CONTENT_TYPE, EXPECT},
        request::Parts,
    },
};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;

/// A body over the limit is still read and discarded up to this many times the limit: a client that is still sending
/// would otherwise see a broken connection instead of the 413.
const DRAIN_FACTOR: usize = 8;

/// A permit to run a turn. It is taken after the body has arrived, so that slow senders do not hold one.
pub(super) struct Permit {
    _held: Leave,
}

impl Permit {
    /// # Errors
    /// 429 if as many turns run as are allowed.
    pub(super) async fn take(app: &AppState, caller: &Caller) -> Result<Self, ApiError> {
        Ok(Self { _held: app.permit(caller).await? })
    }
}

impl FromRequestParts<AppState> for Permit {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let Ok(caller) = Caller::from_request_parts(parts, app).await;
        Self::take(app, &caller).await
    }
}

/// The `{module}` of a path, which can name only a directory right under the modules root.
pub(super) struct ModuleSegment(pub(super) ModuleName);

impl FromRequestParts<AppState> for ModuleSegment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let bad = |reason: String| ApiError::fault(Fault::InvalidModuleName, reason).about("module");
        let Path(segment) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|_| bad("the module's name is not percent-encoded UTF-8".to_owned()))?;
        let name = ModuleName::new(&segment).map_err(|error| bad(error.to_string()))?;
        let Ok(caller) = Caller::from_request_parts(parts, app).await;
        caller.may_use(&name)?;
        Ok(Self(name))
    }
}

/// The `{module}` of a path, and the following segment, which names a part of it.
pub(super) struct Within {
    pub(super) module: ModuleName,
    pub(super) part: String,
}

impl FromRequestParts<AppState> for Within {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let bad = |reason: String| ApiError::fault(Fault::InvalidModuleName, reason).about("module");
        let Path((module, part)) = Path::<(String, String)>::from_request_parts(parts, app)
            .await
            .map_err(|_| bad("a name in the path is not percent-encoded UTF-8".to_owned()))?;
        let module = ModuleName::new(&module).map_err(|error| bad(error.to_string()))?;
        let Ok(caller) = Caller::from_request_parts(parts, app).await;
        caller.may_use(&module)?;
        Ok(Self { module, part })
    }
}

/// A JSON object as the body, and the permit to process it.
pub(super) struct Admitted<T> {
    pub(super) permit: Permit,
    pub(super) body: T,
}

impl<T: DeserializeOwned> FromRequest<AppState> for Admitted<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        let owner = request.extensions().get::<Caller>().map(Caller::as_owner).unwrap_or_default();
        let Unread { permit, body } = Unread::from_request(request, app).await?;
        let parsed = app.understander.working(&owner, body.len(), || parse_object(&body)).await;
        parsed.map(|body| Self { permit, body })
    }
}

/// The same before parsing, for bodies whose shape depends on one of their members.
pub(super) struct Unread {
    pub(super) permit: Permit,
    pub(super) body: Bytes,
}

impl FromRequest<AppState> for Unread {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        expect_json(request.headers())?;
        let caller = request.extensions().get::<Caller>().cloned().unwrap_or_default();
        let limit = app.options.body_bytes;
        let declared = request.body().size_hint().lower();
        let waits_for_leave = request.headers().contains_key(EXPECT);
        let worth_draining = if waits_for_leave { limit } else { limit.saturating_mul(DRAIN_FACTOR) };
        if usize::try_from(declared).unwrap_or(usize::MAX) > worth_draining {
            return Err(too_large(limit));
        }
        let body = tokio::time::timeout(app.options.body(), read_body(request.into_body(), limit))
            .await
            .map_err(|_| too_slow(app.options.body_ms))??;
        Ok(Self { permit: Permit::take(app, &caller).await?, body })
    }
}

/// Refuses a missing content type, and any that a web page could send to a foreign origin without a preflight.
fn expect_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let text = str::from_utf8(value).unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = essence == "application/json"
        || essence == "text/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    if is_json {
        return Ok(());
    }
    Err(ApiError::fault(Fault::UnsupportedMediaType, "the body must be JSON: send `content-type: application/json`"))
}

/// The same for requests whose body is optional.
pub(super) fn expect_json_if_any(headers: &HeaderMap) -> Result<(), ApiError> {
    if headers.contains_key(CONTENT_TYPE) { expect_json(headers) } else { Ok(()) }
}

async fn read_body(body: Body, limit: usize) -> Result<Bytes, ApiError> {
    // Reserves the declared length: a buffer that grows is copied repeatedly.
    let declared = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let mut stream = body.into_data_stream();
    let mut read: Vec<u8> = Vec::with_capacity(declared.filter(|length| *length <= limit).unwrap_or_default());
    let mut seen = 0_usize;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| broken(&error))?;
        seen = seen.saturating_add(chunk.len());
        if seen <= limit {
            read.extend_from_slice(&chunk);
        } else {
            read = Vec::new();
            if seen > limit.saturating_mul(DRAIN_FACTOR) {
                break;
            }
        }
    }
    if seen > limit {
        return Err(too_large(limit));
    }
    Ok(read.into())
}

fn broken(error: &axum::Error) -> ApiError {
    // Each layer around a body wraps the error of the inner one.
    let mut causes = std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source());
    if causes.any(<dyn std::error::Error>::is::<NoRoom>) {
        return too_many_bytes();
    }
    ApiError::fault(Fault::InvalidBody, "the body could not be read to its end")
}

fn too_slow(limit: u64) -> ApiError {
    let message = format!("the body was not there after {limit} milliseconds (http.body_ms)");
    ApiError::fault(Fault::BodyTimeout, message)
}

fn too_large(limit: usize) -> ApiError {
    ApiError::fault(Fault::BodyTooLarge, format!("the body is longer than {limit} bytes (http.body_bytes)"))
}

pub(super) fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    use serde_json::error::Category;

    // Checked first because serde would also read a struct from an array.
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        Some(_) => return Err(ApiError::fault(Fault::InvalidJson, "the body must be a JSON object, `{...}`")),
        None => {
            return Err(ApiError::fault(Fault::InvalidJson, "the body is empty; a JSON object, `{...}`, is needed"));
        }
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let parsed: T = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.inner();
        match inner.classify() {
            Category::Data => {
                let fault = ApiError::fault(Fault::InvalidType, inner.to_string());
                if path == "." { fault } else { fault.about(path.chars().take(100).collect::<String>()) }
            }
            Category::Syntax | Category::Eof | Category::Io => {
                ApiError::fault(Fault::InvalidJson, format!("the body is not JSON: {inner}"))
            }
        }
    })?;
    deserializer
        .end()
        .map_err(|error| ApiError::fault(Fault::InvalidJson, format!("the body holds more than one value: {error}")))?;
    Ok(parsed)
}

/// Checks an utterance.
pub(super) fn utterance(raw: Option<String>, limit: usize) -> Result<String, ApiError> {
    let Some(text) = raw else {
        return Err(ApiError::fault(Fault::MissingParameter, "`utterance` is required").about("utterance"));
    };
    if crate::text::is_blank(&text) {
        return Err(empty_utterance());
    }
    let length = text.chars().count();
    if length > limit {
        return Err(long_utterance(length, limit));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Sample {
        #[serde(default)]
        functions: Vec<String>,
    }

    #[test]
    fn a_wrong_type_is_named_by_its_path() {
        let error = parse_object::<Sample>(br#"{"functions": ["a", 5]}"#).unwrap_err();
        let expected = "invalid type: integer `5`, expected a string at line 1 column 21";
        assert_eq!(error, ApiError::fault(Fault::InvalidType, expected).about("functions[1]"));
    }

    #[test]
    fn only_one_object_is_a_body() {
        for body in ["", "  ", "[]", "null", "\"x\"", "{", "{}{}", "{} x", "{\"functions\":", "\u{FEFF}{}"] {
            assert!(parse_object::<Sample>(body.as_bytes()).is_err(), "{body:?}");
        }
        assert!(parse_object::<Sample>(b" {\"more\": 1}\n").unwrap().functions.is_empty());
    }

    #[test]
    fn nothing_said_is_refused() {
        for blank in ["", " ", "\n\t", "\u{0}", "\u{200B}\u{FEFF}", "\u{3000}"] {
            assert_eq!(utterance(Some(blank.into()), 10), Err(empty_utterance()), "{blank:?}");
        }
        assert_eq!(utterance(Some("ä".repeat(11)), 10), Err(long_utterance(11, 10)));
        assert!(utterance(Some("ä".repeat(10)), 10).is_ok());
    }

    proptest! {
        #[test]
        fn no_body_panics(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            drop(parse_object::<Sample>(&body));
        }

        #[test]
        fn spans_survive_the_check(text in "\\PC{0,10}[a-z]\\p{Cc}{0,3}") {
            let length = text.chars().count();
            prop_assert_eq!(utterance(Some(text), 1_000).unwrap().chars().count(), length);
        }
    }
}
