use serde::{Deserialize, Serialize};

use crate::module::settings::{ChatCalls, ForeignTools};

/// How chat completions are answered where a module does not say otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatOptions {
    /// What becomes of the tools of a request that are not the module's own.
    pub tools: ForeignTools,
    /// What no function is meant by goes on to the model server.
    pub front: bool,
    /// Which calls an answer has.
    pub calls: ChatCalls,
}
