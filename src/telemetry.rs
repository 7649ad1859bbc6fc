//! Logs to stderr: text for people or JSON for collectors. At `info` and above they never contain what a person said.

use std::{io::IsTerminal as _, time::Instant};

use serde::{Deserialize, Serialize};
use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt as _};

/// Overrides all other log settings, in the syntax of `telemetry.level`.
pub const FILTER_VARIABLE: &str = "UPTAKE_LOG";

/// This library logs requests as clients send them: with line breaks, escapes and people's words, in full. We log what
/// matters of them.
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
    /// One object per line.
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

/// Parses a log level.
///
/// # Errors
/// With the reason if it is invalid.
pub fn parse(level: &str) -> Result<EnvFilter, TelemetryError> {
    let wrong = |reason: String| TelemetryError::Filter { filter: level.to_owned(), reason };
    let filter = EnvFilter::builder().parse(level).map_err(|error| wrong(error.to_string()))?;
    let silent = SILENT.parse().map_err(|_| wrong(SILENT.to_owned()))?;
    Ok(filter.add_directive(silent))
}

/// Starts logging for the whole process.
///
/// # Errors
/// If the filter is invalid, or logging was already started.
pub fn start(options: &TelemetryOptions) -> Result<(), TelemetryError> {
    let overriding = std::env::var(FILTER_VARIABLE).ok().filter(|filter| !filter.is_empty());
    let filter = parse(overriding.as_deref().unwrap_or(&options.level))?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // If the log cannot be written, on a full disk for example, that cannot be logged either, and must not end the
    // process.
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

    /// They contain line breaks, escapes and people's words.
    #[test]
    fn what_libraries_log_of_requests_is_not_logged() {
        for level in ["info", "debug", "warn,uptake=debug", "rmcp=trace"] {
            let filter = parse(level).unwrap().to_string();
            assert!(filter.split(',').any(|directive| directive == SILENT), "{level}: {filter}");
            assert!(!filter.contains("rmcp=trace"), "{filter}");
        }
    }
}
