use std::{net::IpAddr, path::PathBuf, time::Duration};

use super::chat::ChatOptions;
use crate::shares::Shares;
use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};

/// Where the service listens and what it accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpOptions {
    /// Address to listen on. If other machines can reach it, keys are required, or `open` must say that it is for
    /// everybody.
    pub host: String,
    pub port: u16,
    /// Another address, `HOST:PORT`, for operators: `/metrics`, `/healthz`, `/readyz`, `/openapi.json`, `/v1/modules`,
    /// `/v1/index` and `/v1/load`. If it is set, `host` and `port` do not serve these.
    pub admin: Option<String>,
    /// File of the keys that `uptake key` makes. Once there is one, requests need a key.
    pub keys: PathBuf,
    /// Requests never need a key.
    pub open: bool,
    /// Longest request body, in bytes.
    pub body_bytes: usize,
    /// Most bytes of all bodies that are being read or processed.
    pub bodies_bytes: usize,
    /// Connections that are open at once. Where one more comes, one that waits for its client is closed.
    pub max_connections: usize,
    /// Milliseconds until the head of a connection's next request is there; so an idle one is closed after that.
    pub head_ms: u64,
    /// Milliseconds from a request's head to the end of its body.
    pub body_ms: u64,
    /// Milliseconds from a request's head to its answer; index builds are exempt. Longer than a turn's own deadline.
    pub timeout_ms: u64,
    /// Most turns that run at once; further ones wait.
    pub max_in_flight: usize,
    /// Turns that wait, at most, and milliseconds until one that waits is answered 429.
    pub max_queued: usize,
    pub queue_ms: u64,
    /// Milliseconds that running requests get to finish after a signal to stop.
    pub shutdown_ms: u64,
    /// Host names under which clients reach the service (`uptake.example.com`, or `*`), beside `host`, addresses, and
    /// names that cannot be registered: those without a dot, and those under `.localhost`.
    pub allowed_hosts: Vec<String>,
    /// Who may build an index by `GET /v1/index/{module}`, as `OpenDU` clients do. `POST` is open to everybody.
    pub index_by_get: IndexByGet,
    /// Origins whose pages may call the service (`https://chat.example.com`, or `*`). Empty means none.
    pub cors_origins: Vec<String>,
    pub chat: ChatOptions,
}

/// Web pages never may: a page can make a browser send any GET request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexByGet {
    /// Callers on the same machine.
    Loopback,
    Anyone,
    Nobody,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 3001,
            admin: None,
            keys: PathBuf::from("data/keys.json"),
            open: false,
            body_bytes: 1 << 20,
            bodies_bytes: 16 << 20,
            max_connections: 512,
            head_ms: 30_000,
            body_ms: 15_000,
            timeout_ms: 30_000,
            max_in_flight: 64,
            max_queued: 256,
            queue_ms: 500,
            shutdown_ms: 10_000,
            allowed_hosts: Vec::new(),
            index_by_get: IndexByGet::Loopback,
            cors_origins: Vec::new(),
            chat: ChatOptions::default(),
        }
    }
}

impl HttpOptions {
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    #[must_use]
    pub const fn head(&self) -> Duration {
        Duration::from_millis(self.head_ms)
    }

    #[must_use]
    pub const fn body(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    #[must_use]
    pub const fn queue(&self) -> Duration {
        Duration::from_millis(self.queue_ms)
    }

    #[must_use]
    pub const fn drain(&self) -> Duration {
        Duration::from_millis(self.shutdown_ms)
    }

    /// Whether the operators' address can only be reached from this machine.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let host = self.admin.as_deref().and_then(|admin| admin.rsplit_once(':')).map_or(&*self.host, |(host, _)| host);
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// One share for each turn that may run at once.
    #[must_use]
    pub fn turns(&self) -> Shares {
        Shares::new(self.max_in_flight as u64)
    }

    /// The first invalid value, as its key and the problem.
    #[must_use]
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.host.trim().is_empty() {
            return Some(("host", "an address to listen on is needed".to_owned()));
        }
        if self.admin.as_ref().is_some_and(|admin| !is_address(admin)) {
            return Some(("admin", "an address with its port is needed, such as `127.0.0.1:3002`".to_owned()));
        }
        let counts = [
            ("body_bytes", self.body_bytes == 0),
            ("max_connections", self.max_connections == 0),
            ("head_ms", self.head_ms == 0),
            ("body_ms", self.body_ms == 0),
            ("timeout_ms", self.timeout_ms == 0),
        ];
        if let Some((key, _)) = counts.into_iter().find(|(_, is_zero)| *is_zero) {
            return Some((key, "must be at least 1".to_owned()));
        }
        if self.bodies_bytes < self.body_bytes {
            return Some(("bodies_bytes", "must be at least as much as one body may have (body_bytes)".to_owned()));
        }
        if self.max_in_flight == 0 {
            return Some(("max_in_flight", "must be at least 1, or every turn is refused".to_owned()));
        }
        if self.allowed_hosts.iter().any(|name| name.is_empty() || name.contains(['/', ' '])) {
            return Some(("allowed_hosts", "a name without scheme and path is needed, or `*`".to_owned()));
        }
        let bad = self.cors_origins.iter().find(|origin| {
            let has_scheme = origin.starts_with("http://") || origin.starts_with("https://");
            *origin != "*" && (!has_scheme || origin.ends_with('/') || HeaderValue::from_str(origin).is_err())
        })?;
        Some(("cors_origins", format!("`{bad}` is no origin: write `https://host[:port]` without a path, or `*`")))
    }
}

/// `HOST:PORT` or `[ADDRESS]:PORT`.
fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && (!host.contains(':') || host.starts_with('[')) && port.parse::<u16>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_this_machine_reaches_is_private() {
        for (host, admin, expected) in [
            ("127.0.0.1", None, true),
            ("localhost", None, true),
            ("[::1]", None, true),
            ("0.0.0.0", None, false),
            ("::", None, false),
            ("uptake.internal", None, false),
            ("0.0.0.0", Some("127.0.0.1:3004"), true),
            ("127.0.0.1", Some("[::]:3004"), false),
            ("127.0.0.1", Some("[::1]:3004"), true),
        ] {
            let admin = admin.map(str::to_owned);
            let options = HttpOptions { host: host.to_owned(), admin, ..HttpOptions::default() };
            assert_eq!(options.is_private(), expected, "{host} {:?}", options.admin);
        }
    }

    #[test]
    fn an_address_for_operators_has_a_port() {
        for (admin, is_good) in [
            ("127.0.0.1:3002", true),
            ("localhost:0", true),
            ("[::1]:3002", true),
            ("::1:3002", false),
            ("127.0.0.1", false),
            (":3002", false),
            ("localhost:70000", false),
            ("", false),
        ] {
            let options = HttpOptions { admin: Some(admin.to_owned()), ..HttpOptions::default() };
            assert_eq!(options.problem().is_none(), is_good, "{admin}");
        }
    }
}
