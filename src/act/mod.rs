//! Calls that the service makes itself: of functions that have an [`Endpoint`], carried out once and reported as
//! results.
//!
//! | file | holds |
//! |---|---|
//! | `mod` | one call: whether it may be made, its retries, its result |
//! | `options` | `[actions]` |
//! | `address` | which servers may be contacted, checked against the addresses that their names resolve to |
//! | `request` | a call as an HTTP request (pure) |
//! | `http` | sending the request |
//! | `tool` | a tool of a server of the Model Context Protocol |
//! | `once` | remembers a call before it is made |

mod address;
mod http;
mod once;
mod options;
mod request;
mod tool;

use std::{path::Path, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;

pub use once::{Begun, Once, Plan, Remembered};
pub use options::ActionOptions;

use crate::{
    llm::Secret,
    module::{
        endpoint::{CallTarget, Endpoint},
        schema,
    },
    shares::{Owner, Shares},
    telemetry::milliseconds,
};

/// Pause before the first retry; it doubles each time.
const PAUSE: Duration = Duration::from_millis(200);
/// Largest secret file, in bytes.
const LONGEST_SECRET: u64 = 64 << 10;

/// A call that the service makes, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MadeCall {
    pub function: String,
    pub arguments: Map<String, Value>,
    pub status: Status,
    /// The result; for a failure, the service's reason. Empty if there is none.
    pub text: String,
    /// Status of the last response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Why there is no result, for operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Number of requests that were sent.
    pub tries: u32,
    pub took_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Begun,
    Done,
    /// The call was not done.
    Failed,
    /// It is unknown whether the call was done.
    Unknown,
}

impl Status {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl MadeCall {
    /// A call for which nothing was sent yet.
    #[must_use]
    pub fn new(function: &str, arguments: &Map<String, Value>) -> Self {
        Self {
            function: function.to_owned(),
            arguments: arguments.clone(),
            status: Status::Begun,
            text: String::new(),
            http_status: None,
            cause: None,
            tries: 0,
            took_ms: 0.0,
        }
    }

    /// The same call, marked unknown if it was begun and its end was never recorded.
    #[must_use]
    pub fn interrupted(self) -> Self {
        let cause = Some("it was begun, and nobody was there when it ended".to_owned());
        if self.status == Status::Begun { Self { status: Status::Unknown, cause, ..self } } else { self }
    }
}

/// The result of one request.
#[derive(Debug, Clone, PartialEq)]
struct RequestOutcome {
    status: Status,
    text: String,
    http_status: Option<u16>,
    cause: Option<String>,
    /// Whether a retry may give another result.
    is_passing: bool,
}

impl RequestOutcome {
    /// Nothing was done, and a retry would not help.
    fn refused(cause: impl Into<String>) -> Self {
        let (text, http_status) = (String::new(), None);
        Self { status: Status::Failed, text, http_status, cause: Some(cause.into()), is_passing: false }
    }
}

/// Carries out calls. Clones are cheap and share their connections.
#[derive(Clone)]
pub struct Actor(Arc<Inner>);

struct Inner {
    options: ActionOptions,
    allowed: address::Allowed,
    client: http::Client,
    at_once: Shares,
}

/// Why actions cannot be set up as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("actions.{key}: {problem}")]
pub struct ActionsError {
    pub key: &'static str,
    pub problem: String,
}

impl Actor {
    /// Prepares the client; sends nothing yet. `None` if actions are switched off.
    ///
    /// # Errors
    /// For invalid settings, and if the client cannot be made.
    pub fn open(options: &ActionOptions) -> Result<Option<Self>, ActionsError> {
        if !options.enabled {
            return Ok(None);
        }
        let allowed = address::Allowed::read(&options.hosts, &options.networks)?;
        let client = http::Client::new(options, &allowed)
            .map_err(|problem| ActionsError { key: "enabled", problem: format!("no client can be made: {problem}") })?;
        let at_once = Shares::new(options.max_concurrency as u64);
        Ok(Some(Self(Arc::new(Inner { options: options.clone(), allowed, client, at_once }))))
    }

    /// What would keep calls of this endpoint from being made, as far as it can be known in advance; for module checks.
    #[must_use]
    pub fn obstacles(&self, endpoint: &Endpoint) -> Vec<String> {
        let address = self.0.allowed.check(&endpoint.address()).err();
        let secrets = endpoint.secrets.iter().filter_map(|(_, file)| self.secret(file).err());
        address.into_iter().chain(secrets).collect()
    }

    /// Time limit of one call.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_millis(self.0.options.timeout_ms)
    }

    /// Makes the call for `owner`, by `until`. `key` is the same for the same call; a service that supports idempotency
    /// keys does not repeat it.
    pub async fn act(&self, owner: &Owner, endpoint: &Endpoint, deed: MadeCall, key: &str, until: Instant) -> MadeCall {
        let clock = std::time::Instant::now();
        let Inner { options, at_once, .. } = &*self.0;
        let wait =
            Duration::from_millis(endpoint.timeout_ms.map_or(options.timeout_ms, |own| own.min(options.timeout_ms)));
        let until = until.min(Instant::now() + wait);
        let mut deed = MadeCall { status: Status::Begun, ..deed };
        let mut answer = match tokio::time::timeout_at(until, at_once.take(owner, 1, 1)).await {
            Ok(_share) => self.tried(endpoint, &mut deed, key, until).await,
            Err(_) => RequestOutcome::refused(
                "no time is left, or too many calls are being made at once (actions.max_concurrency)",
            ),
        };
        if answer.status == Status::Done
            && let Some(reason) = misfit(endpoint, &answer.text)
        {
            answer = RequestOutcome { status: Status::Unknown, text: String::new(), cause: Some(reason), ..answer };
        }
        let RequestOutcome { status, text, http_status, cause, .. } = answer;
        let took_ms = milliseconds(clock);
        tracing::info!(function = deed.function, status = status.name(), http_status, took_ms, cause, "action");
        MadeCall { status, text, http_status, cause, took_ms, ..deed }
    }

    /// Sends the request, and retries where that does no harm and may help.
    async fn tried(&self, endpoint: &Endpoint, deed: &mut MadeCall, key: &str, until: Instant) -> RequestOutcome {
        let headers = match self.headers(endpoint) {
            Ok(headers) => headers,
            Err(cause) => return RequestOutcome::refused(cause),
        };
        if let Err(cause) = self.0.allowed.check(&endpoint.address()) {
            return RequestOutcome::refused(cause);
        }
        let mut pause = PAUSE;
        loop {
            deed.tries += 1;
            let answer = match &endpoint.target {
                CallTarget::Http(operation) => match request::request(operation, &deed.arguments) {
                    Ok(request) => {
                        let keyed = (!operation.method.is_idempotent() || endpoint.is_idempotent)
                            .then_some((endpoint.key_header.as_str(), key));
                        self.0.client.send(&request, &headers, keyed, endpoint.is_idempotent, until).await
                    }
                    Err(cause) => return RequestOutcome::refused(cause),
                },
                CallTarget::Mcp { url, tool } => {
                    tool::call(&self.0.client, (url, tool), &deed.arguments, &headers, (key, until)).await
                }
            };
            let may_again = endpoint.is_idempotent && answer.is_passing && deed.tries <= endpoint.retries;
            if !may_again || Instant::now() + pause >= until {
                return answer;
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }

    /// The author's headers, including those with secrets.
    fn headers(&self, endpoint: &Endpoint) -> Result<Vec<(String, Secret)>, String> {
        let plain = endpoint.headers.iter().map(|(name, value)| Ok((name.clone(), Secret::new(value.clone()))));
        let secret = endpoint.secrets.iter().map(|(name, file)| Ok((name.clone(), self.secret(file)?)));
        plain.chain(secret).collect()
    }

    /// Read each time, so that a replaced secret takes effect at once.
    fn secret(&self, file: &str) -> Result<Secret, String> {
        let directory = self
            .0
            .options
            .secrets
            .as_deref()
            .ok_or_else(|| format!("the secret `{file}` has no place: `actions.secrets` names no directory"))?;
        read_secret(&directory.join(file)).ok_or_else(|| {
            format!("the secret `{file}` is no file of one line in the directory that `actions.secrets` names")
        })
    }
}

fn read_secret(path: &Path) -> Option<Secret> {
    let known = std::fs::metadata(path).ok()?;
    let is_small = known.is_file() && known.len() <= LONGEST_SECRET;
    let text = is_small.then(|| std::fs::read_to_string(path).ok()).flatten()?;
    let text = text.trim();
    (!text.is_empty() && !text.chars().any(char::is_control)).then(|| Secret::new(text))
}

/// Why an answer does not match the endpoint's schema, if it does not.
fn misfit(endpoint: &Endpoint, text: &str) -> Option<String> {
    let validator = schema::validator(endpoint.answer.as_ref()?).ok()?;
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Some("the answer is not JSON".to_owned()) };
    // The error's own text contains the value, which must not be shown.
    let error = validator.iter_errors(&value).next()?;
    let place = error.instance_path().to_string();
    Some(format!("the answer does not fit the endpoint's schema at `{place}`"))
}
