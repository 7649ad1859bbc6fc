//! Logs to stderr: text for people or JSON for collectors. Never what a person said, at `info` and above.

use std::{io::IsTerminal as _, time::Instant};

use serde::{Deserialize, Serialize};
use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt as _};

/// Overrides every other setting of what is logged, in the same syntax as `telemetry.level`.
pub const FILTER_VARIABLE: &str = "UPTAKE_LOG";

/// It logs what clients send as they send it: line breaks, escapes and words of people, as much as there are. What of it
/// matters is logged by us.
const SILENT: &str = "rmcp=off";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryOptions {
    /// `error`, `warn`, `info`, `debug` or `trace`, or directives such as `info,uptake::retrieve=debug`.
    pub level: String,
    pub format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    /// One object a line.
    Json,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::default() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error("`{filter}` is no log filter ({reason}): write `info`, or `info,uptake::retrieve=debug`")]
    Filter { filter: String, reason: String },
    #[error("logging has been started already")]
    Twice,
}

/// True if `level` can be used.
///
/// # Errors
/// With the reason if not.
pub fn parse(level: &str) -> Result<EnvFilter, TelemetryError> {
    let wrong = |reason: String| TelemetryError::Filter { filter: level.to_owned(), reason };
    let filter = EnvFilter::builder().parse(level).map_err(|error| wrong(error.to_string()))?;
    let silent = SILENT.parse().map_err(|_| wrong(SILENT.to_owned()))?;
    Ok(filter.add_directive(silent))
}

/// Starts logging for the whole process.
///
/// # Errors
/// If the filter cannot be read, or logging was started before.
pub fn start(options: &TelemetryOptions) -> Result<(), TelemetryError> {
    let overriding = std::env::var(FILTER_VARIABLE).ok().filter(|filter| !filter.is_empty());
    let filter = parse(overriding.as_deref().unwrap_or(&options.level))?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // Whoever cannot write the log, on a full disk for example, cannot write there that it is so, and must not end for
    // it.
    let builder =
        fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours).log_internal_errors(false);
    let started = match options.format {
        LogFormat::Text => builder.finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    started.map_err(|_| TelemetryError::Twice)
}

/// Milliseconds since then.
#[must_use]
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It has line breaks, escapes and words of people in it.
    #[test]
    fn what_libraries_log_of_requests_is_not_logged() {
        for level in ["info", "debug", "warn,uptake=debug", "rmcp=trace"] {
            let filter = parse(level).unwrap().to_string();
            assert!(filter.split(',').any(|directive| directive == SILENT), "{level}: {filter}");
            assert!(!filter.contains("rmcp=trace"), "{filter}");
        }
    }
}
