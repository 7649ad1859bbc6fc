use std::time::Duration;

use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};

/// How the service listens and what it lets in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpOptions {
    /// Address to listen on. The loopback by default, because the service has no authentication of its own.
    pub host: String,
    pub port: u16,
    /// Longest request body, in bytes.
    pub body_bytes: usize,
    /// Milliseconds from a request's head to its answer; index builds are exempt. Longer than a turn's own deadline.
    pub timeout_ms: u64,
    /// Turns that run at once; one more is answered 429.
    pub max_in_flight: usize,
    /// Milliseconds that running requests get to finish after a signal to stop.
    pub shutdown_ms: u64,
    /// Origins whose pages may call the service (`https://chat.example.com`, or `*`). Empty: none may.
    pub cors_origins: Vec<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 3001,
            body_bytes: 1 << 20,
            timeout_ms: 30_000,
            max_in_flight: 64,
            shutdown_ms: 10_000,
            cors_origins: Vec::new(),
        }
    }
}

impl HttpOptions {
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    #[must_use]
    pub const fn drain(&self) -> Duration {
        Duration::from_millis(self.shutdown_ms)
    }

    /// The first thing that is wrong with these values, as (key, what is wrong).
    #[must_use]
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.host.trim().is_empty() {
            return Some(("host", "an address to listen on is needed".to_owned()));
        }
        if self.body_bytes == 0 {
            return Some(("body_bytes", "must be at least 1".to_owned()));
        }
        if self.timeout_ms == 0 {
            return Some(("timeout_ms", "must be at least 1".to_owned()));
        }
        if self.max_in_flight == 0 {
            return Some(("max_in_flight", "must be at least 1, or every turn is refused".to_owned()));
        }
        let bad = self.cors_origins.iter().find(|origin| {
            let has_scheme = origin.starts_with("http://") || origin.starts_with("https://");
            *origin != "*" && (!has_scheme || origin.ends_with('/') || HeaderValue::from_str(origin).is_err())
        })?;
        Some(("cors_origins", format!("`{bad}` is no origin: write `https://host[:port]` without a path, or `*`")))
    }
}
