use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Whether calls are carried out here, and to which servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActionOptions {
    /// Call functions with an endpoint here, and not in the client.
    pub enabled: bool,
    /// Servers that may be contacted: `shop.example.com`, `*.example.com`, `localhost:8090`.
    pub hosts: Vec<String>,
    /// Networks that may be asked though they are not public: `10.0.0.0/8`, `127.0.0.1`.
    pub networks: Vec<String>,
    /// The directory of the files that modules name as secrets.
    pub secrets: Option<PathBuf>,
    /// Milliseconds for one call, including retries; a module may set less.
    pub timeout_ms: u64,
    pub connect_timeout_ms: u64,
    /// Longest answer, in bytes.
    pub max_response_bytes: usize,
    /// Most calls at a time.
    pub max_concurrency: usize,
}

impl Default for ActionOptions {
    fn default() -> Self {
        Self {
            enabled: false,
            hosts: Vec::new(),
            networks: Vec::new(),
            secrets: None,
            timeout_ms: 10_000,
            connect_timeout_ms: 2_000,
            max_response_bytes: 256 << 10,
            max_concurrency: 32,
        }
    }
}

impl ActionOptions {
    /// The first invalid value: its key, and the problem.
    #[must_use]
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let counts = [
            ("timeout_ms", self.timeout_ms == 0),
            ("connect_timeout_ms", self.connect_timeout_ms == 0),
            ("max_response_bytes", self.max_response_bytes == 0),
            ("max_concurrency", self.max_concurrency == 0),
        ];
        if let Some((key, _)) = counts.into_iter().find(|(_, is_zero)| *is_zero) {
            return Some((key, "must be at least 1".to_owned()));
        }
        super::address::Allowed::read(&self.hosts, &self.networks).err().map(|error| (error.key, error.problem))
    }
}
