//! What the tools and resources share: their state, their descriptions, and their answers.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{handles::Handles, offer::Offer, refusal::Refusal};
use crate::{
    conversation::Tokens,
    snapshot::Snapshots,
    understand::{UnderstandOptions, Understander},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpOptions {
    pub offer: Offer,
    /// Never ask a model server, whatever modules and callers want.
    pub local: bool,
}

/// The state of every tool and resource.
pub(super) struct McpState {
    pub(super) snapshots: Snapshots,
    pub(super) understander: Understander,
    /// Defaults for turns where neither the call nor the module sets a value.
    pub(super) turns: UnderstandOptions,
    /// Callers keep their conversations themselves.
    pub(super) tokens: Tokens,
    /// Short names of those, for models.
    pub(super) handles: Handles,
    pub(super) options: McpOptions,
}

/// A tool of ours: it only reads, changes nothing, and contacts only what is configured.
pub(super) fn tool(
    name: &'static str,
    title: &str,
    description: &'static str,
    input: Map<String, Value>,
    output: Map<String, Value>,
) -> Tool {
    let annotations =
        ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true).open_world(false);
    Tool::new(name, description, input)
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

/// An answer for programs, with a text for clients that read only that.
pub(super) fn answered(words: String, answer: &impl Serialize) -> Result<CallToolResult, Refusal> {
    let structured = serde_json::to_value(answer)
        .map_err(|error| Refusal::failure("the service failed; its log tells why", &error))?;
    let mut result = CallToolResult::structured(structured);
    result.content = vec![ContentBlock::text(words)];
    Ok(result)
}
