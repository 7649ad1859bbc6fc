use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::milliseconds;
use crate::act::MadeCall;

/// A call that was made here.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ActionBody {
    pub function: String,
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub arguments: Map<String, Value>,
    /// `done`, `failed` (it was not done) or `unknown` (nobody knows whether it was done).
    #[schema(value_type = String, example = "done")]
    pub status: &'static str,
    /// Of the service's last answer, where it speaks HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// What came back: JSON as it is, anything else as a text. Absent if there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is nothing to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Requests that were sent.
    pub tries: u32,
    pub took_ms: f64,
}

pub(super) fn action(deed: &MadeCall) -> ActionBody {
    let text = deed.text.trim();
    let result = || serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    ActionBody {
        function: deed.function.clone(),
        arguments: deed.arguments.clone(),
        status: deed.status.name(),
        http_status: deed.http_status,
        result: (!text.is_empty()).then(result),
        cause: deed.cause.clone(),
        tries: deed.tries,
        took_ms: milliseconds(deed.took_ms),
    }
}
