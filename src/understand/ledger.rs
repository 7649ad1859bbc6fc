//! What one turn may spend on a model server.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{module::settings::LlmOverrides, understand::UnderstandOptions};

/// Times that a wrong answer is sent back at most, whatever a module says.
const MOST_RETRIES: u32 = 10;

/// What a request may lower. `None`: what module and server allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetOverrides {
    /// Times that a wrong answer is sent back with what was wrong.
    pub retries: Option<u32>,
    /// Milliseconds, retries included.
    pub deadline_ms: Option<u64>,
    /// Tokens, prompts and answers together.
    pub tokens: Option<u64>,
}

/// See [the module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub retries: u32,
    pub deadline: Instant,
    pub tokens: u64,
}

impl Budget {
    /// The server's options, else what the module says instead of them, and of a request only what is less than that.
    pub(crate) fn new(
        options: &UnderstandOptions,
        module: &LlmOverrides,
        request: BudgetOverrides,
        started: Instant,
    ) -> Self {
        let least = |allowed: u64, asked: Option<u64>| asked.map_or(allowed, |asked| asked.min(allowed));
        let retries = module.retries.unwrap_or(options.retries).min(MOST_RETRIES);
        // A module may ask for less time, but how long a client waits is for whoever runs the server to say.
        let milliseconds = least(least(options.deadline_ms, module.deadline_ms), request.deadline_ms);
        Self {
            retries: request.retries.map_or(retries, |asked| asked.min(retries)),
            deadline: started + Duration::from_millis(milliseconds),
            tokens: least(module.tokens.unwrap_or(options.tokens), request.tokens),
        }
    }

    /// True once the time is over.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

#[cfg(test)]
mod tests {
    use crate::understand::ledger::*;

    #[test]
    fn a_module_chooses_and_a_request_only_lowers() {
        let options = UnderstandOptions { retries: 2, deadline_ms: 1_000, tokens: 500, ..UnderstandOptions::default() };
        let now = Instant::now();
        let budget = |module: LlmOverrides, request: BudgetOverrides| {
            let budget = Budget::new(&options, &module, request, now);
            (budget.retries, (budget.deadline - now).as_millis(), budget.tokens)
        };
        assert_eq!(budget(LlmOverrides::default(), BudgetOverrides::default()), (2, 1_000, 500));
        let module =
            LlmOverrides { retries: Some(99), deadline_ms: Some(9_000), tokens: Some(900), ..LlmOverrides::default() };
        assert_eq!(budget(module.clone(), BudgetOverrides::default()), (10, 1_000, 900));
        let more = BudgetOverrides { retries: Some(20), deadline_ms: Some(20_000), tokens: Some(2_000) };
        assert_eq!(budget(module.clone(), more), (10, 1_000, 900));
        let less = BudgetOverrides { retries: Some(0), deadline_ms: Some(10), tokens: Some(1) };
        assert_eq!(budget(module, less), (0, 10, 1));
    }
}
