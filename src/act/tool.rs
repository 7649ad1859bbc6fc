//! Calls a tool of a Model Context Protocol server with the official library over streamable HTTP: one connection per
//! call, through the same client as other requests.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    ServiceError, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{RequestOutcome, Status, http::Client};
use crate::{llm::Secret, text::foreign::Foreign};

/// Calls `tool` of the server at `url`, by `until`; `key` is sent as `_meta`'s `idempotencyKey`.
pub(super) async fn call(
    client: &Client,
    (url, tool): (&str, &str),
    arguments: &Map<String, Value>,
    headers: &[(String, Secret)],
    (key, until): (&str, Instant),
) -> RequestOutcome {
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value.expose())) else {
            return RequestOutcome::refused(format!("the header `{name}` cannot be sent"));
        };
        custom.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned())
        .custom_headers(custom)
        .max_sse_event_size(client.max_response_bytes)
        .reinit_on_expired_session(false);
    let transport = StreamableHttpClientTransport::with_client(client.inner.clone(), config);
    let unsent = |cause: String| RequestOutcome { is_passing: true, ..RequestOutcome::refused(cause) };
    let service = match tokio::time::timeout_at(until, ().serve(transport)).await {
        Ok(Ok(service)) => service,
        Ok(Err(error)) => return unsent(Foreign::new(&format!("the server cannot be reached: {error}")).to_string()),
        Err(_) => return unsent("the server cannot be reached in time".to_owned()),
    };
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = Some(arguments.clone());
    let mut meta = rmcp::model::RequestMetaObject::default();
    meta.insert("idempotencyKey".to_owned(), key.into());
    params.meta = Some(meta);
    let called = tokio::time::timeout_at(until, service.call_tool(params)).await;
    let answer = match called {
        Ok(Ok(result)) => told(&result, client.max_response_bytes),
        // The server says that it did not do it.
        Ok(Err(ServiceError::McpError(error))) => RequestOutcome {
            text: error.message.to_string(),
            ..RequestOutcome::refused(format!("the server refuses: {}", error.code.0))
        },
        Ok(Err(error)) => unheard(Foreign::new(&format!("the call broke off: {error}")).to_string()),
        Err(_) => unheard("there was no answer in time".to_owned()),
    };
    // A server that gets no goodbye drops the session by itself.
    drop(service);
    answer
}

fn unheard(cause: String) -> RequestOutcome {
    RequestOutcome {
        status: Status::Unknown,
        text: String::new(),
        http_status: None,
        cause: Some(cause),
        is_passing: false,
    }
}

/// The result as JSON, which says itself whether the tool failed; the structured part alone if there is one.
fn told(result: &CallToolResult, limit: usize) -> RequestOutcome {
    let is_error = result.is_error == Some(true);
    let text = match &result.structured_content {
        Some(structured) if !is_error => structured.to_string(),
        _ => serde_json::to_string(result).unwrap_or_default(),
    };
    if text.len() > limit {
        return unheard(format!("the answer is longer than {limit} bytes (actions.max_response_bytes)"));
    }
    let status = if is_error { Status::Failed } else { Status::Done };
    RequestOutcome { status, text, http_status: None, cause: None, is_passing: false }
}
