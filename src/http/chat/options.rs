use serde::{Deserialize, Serialize};

use crate::module::settings::{ChatCalls, ForeignTools};

/// Chat completion defaults, for modules that do not set their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatOptions {
    /// What to do with a request's tools that are not the module's own.
    pub tools: ForeignTools,
    /// Whether utterances that mean no function go to the model server.
    pub front: bool,
    /// Which calls an answer contains.
    pub calls: ChatCalls,
}
