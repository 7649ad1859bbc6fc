//! Measures what the configured model servers can do.

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tokio::time::Instant;

use super::{
    CliError, End,
    report::{self, ProbeOutcome, Probed},
    runtime,
};
use crate::{
    config::Config,
    llm::{self, LlmError, SetupError, probe::ProbeReport},
    understand::best_strategy,
};

/// Time limit for one server: enough to load a model first.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    /// Ask the first server for this model instead of the configured one
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ProbeDocument<'a> {
    ok: bool,
    servers: &'a [Probed],
}

pub(super) fn run(args: &ProbeArgs, config: &Config) -> Result<End, CliError> {
    runtime()?.block_on(async {
        let servers = llm::connect(&config.llm)?;
        if servers.is_empty() {
            return Err(CliError::Llm(SetupError::NoAddress));
        }
        let mut all = Vec::new();
        for (index, server) in servers.iter().enumerate() {
            // Other servers have models of their own, as they do when a module names one.
            let model = args.model.as_deref().filter(|_| index == 0);
            let result = server.probed(model, Instant::now() + PATIENCE).await;
            let probed = probed(server.describe(), model, result);
            if !args.json {
                report::probed(&probed, index == 0);
            }
            all.push(probed);
        }
        let ok = all.iter().all(|probed| probed.ok);
        if args.json {
            report::json(&ProbeDocument { ok, servers: &all });
        }
        Ok(if ok { End::Done } else { End::Findings })
    })
}

/// The result of probing a server, with its explanation.
fn probed(server: String, model: Option<&str>, result: Result<ProbeReport, LlmError>) -> Probed {
    let ok = result.is_ok();
    let found = match result {
        Ok(report) => {
            let strategy = best_strategy(Some(report.capabilities())).name();
            ProbeOutcome::Report { strategy, report: Box::new(report) }
        }
        Err(error) => ProbeOutcome::Failure { error: error.to_string(), hint: hint(&error) },
    };
    Probed { server, asked_for: model.map(str::to_owned), ok, found }
}

/// A possible remedy.
const fn hint(error: &LlmError) -> &'static str {
    match error {
        LlmError::Connect(_) => "is it running, and is `llm.base_url` its address?",
        LlmError::Timeout => "it is stuck or very slow; `llm.timeout_ms` is what one answer may take",
        LlmError::Malformed(_) => {
            "is `llm.base_url` the address of a server that speaks OpenAI's /v1/chat/completions?"
        }
        LlmError::Status { status: 401 | 403, .. } => "set `llm.api_key` or `llm.api_key_file`",
        LlmError::Status { status: 402 | 429, .. } | LlmError::Overloaded => "it is too busy, or a quota is used up",
        LlmError::Status { status: 400..500, .. } => "are `llm.base_url` and the name of the model right?",
        LlmError::Status { .. } => "its own log says more",
        LlmError::Unavailable(_) => "try again when that has passed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_hint() {
        let status = |status| LlmError::Status { status, message: "".into(), retry_after: None };
        for (error, word) in [
            (LlmError::Connect("refused".into()), "running"),
            (LlmError::Timeout, "timeout_ms"),
            (LlmError::Malformed("it is a page".into()), "base_url"),
            (status(401), "api_key"),
            (status(404), "name of the model"),
            (status(429), "busy"),
            (status(503), "log"),
            (LlmError::Overloaded, "busy"),
            (LlmError::Unavailable(Duration::from_secs(9)), "passed"),
        ] {
            assert!(hint(&error).contains(word), "{error}: {}", hint(&error));
        }
    }
}
