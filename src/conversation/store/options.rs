//! Where and how long sessions are kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use super::url::{ParsedUrl, StoreUrl};
use crate::llm::Secret;

/// Ten years: for longer storage, a session is the wrong place.
const LONGEST_TTL_S: u64 = 10 * 365 * 24 * 60 * 60;

/// The section `[sessions]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// `sqlite:PATH`, `postgres://...` or `memory:`.
    pub url: StoreUrl,
    /// A file with the URL, for mounted secrets; it wins, since `url` is never absent.
    pub url_file: Option<PathBuf>,
    /// Seconds from a session's last turn until it is gone.
    pub ttl_s: u64,
    /// Milliseconds that a turn waits for the turn before it in the same session, and for the store.
    pub wait_ms: u64,
    /// What an acknowledged turn survives. For `sqlite:`; a PostgreSQL server has settings of its own.
    pub sync: SyncMode,
    /// 32 bytes, in base64 or hex. From then on, stored data is encrypted.
    pub encryption_key: Option<Secret>,
    /// A file with the key; `encryption_key` wins.
    pub encryption_key_file: Option<PathBuf>,
    /// Keys that may still be used for reading.
    pub previous_keys: Vec<Secret>,
    /// Read plain data although there is a key.
    pub read_plain: bool,
    /// Largest state of one session, in bytes.
    pub max_bytes: usize,
    /// Most sessions that are kept; the longest unused are removed first.
    pub max_sessions: u64,
    /// Most bytes of all their states together.
    pub max_total_bytes: u64,
    /// Consents that were taken and calls that were made which are remembered, so that none is taken or made twice; of the key
    /// that has most, the oldest go first.
    pub max_memories: u64,
    /// Most bytes of all memories together.
    pub max_memory_bytes: u64,
    /// Most connections to PostgreSQL.
    pub connections: u32,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            url: StoreUrl::new("sqlite:data/sessions.db"),
            url_file: None,
            // Friday's form is still there on Monday, and nobody's words lie around for much longer.
            ttl_s: 3 * 24 * 60 * 60,
            wait_ms: 5_000,
            sync: SyncMode::default(),
            encryption_key: None,
            encryption_key_file: None,
            previous_keys: Vec::new(),
            read_plain: false,
            max_bytes: 1 << 20,
            max_sessions: 100_000,
            max_total_bytes: 1 << 30,
            max_memories: 500_000,
            max_memory_bytes: 256 << 20,
            connections: 8,
        }
    }
}

/// When the embedded store waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncMode {
    /// Now and then: an acknowledged turn survives any end of the process, but the last ones may be lost (as a whole,
    /// never torn) when the machine loses power.
    #[default]
    Normal,
    /// At each turn: it survives a power loss too, but takes as long as the disk does.
    Full,
}

/// Why sessions cannot be kept as configured. Names the setting, never a password or a key.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("`sessions.{key}`: {problem}")]
    Setting { key: String, problem: String },
    #[error("`sessions.{setting}` {} could not be read: {source}", path.display())]
    File { setting: &'static str, path: PathBuf, source: io::Error },
    #[error("the thread that keeps sessions could not be started: {0}")]
    Thread(io::Error),
}

impl SessionOptions {
    /// The first invalid value: its key below `sessions`, and the problem. Reads no file.
    #[must_use]
    pub fn problem(&self) -> Option<(String, String)> {
        let of = |key: &str, problem: &str| Some((key.to_owned(), problem.to_owned()));
        let counts = [
            ("ttl_s", self.ttl_s == 0),
            ("wait_ms", self.wait_ms == 0),
            ("max_bytes", self.max_bytes == 0),
            ("max_sessions", self.max_sessions == 0),
            ("max_total_bytes", self.max_total_bytes == 0),
            ("max_memories", self.max_memories == 0),
            ("max_memory_bytes", self.max_memory_bytes == 0),
            ("connections", self.connections == 0),
        ];
        if let Some((key, _)) = counts.into_iter().find(|(_, is_zero)| *is_zero) {
            return of(key, "must be at least 1");
        }
        if self.ttl_s > LONGEST_TTL_S {
            return of("ttl_s", "must not be longer than ten years");
        }
        if let Err(problem) = self.url.place() {
            return of("url", &problem);
        }
        if let Some(Err(problem)) = self.encryption_key.as_ref().map(|key| key_bytes(key.expose())) {
            return of("encryption_key", problem);
        }
        self.previous_keys.iter().enumerate().find_map(|(index, key)| {
            let problem = key_bytes(key.expose()).err()?;
            of(&format!("previous_keys[{index}]"), problem)
        })
    }

    pub(super) fn wait(&self) -> Duration {
        Duration::from_millis(self.wait_ms)
    }

    /// The address, from its own setting or its file.
    pub(super) fn address(&self) -> Result<StoreUrl, OpenError> {
        match &self.url_file {
            Some(path) => Ok(StoreUrl::new(read("url_file", path)?)),
            None => Ok(self.url.clone()),
        }
    }

    /// The directory of the sessions on this machine's disk, if they are there.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let address = self.address().ok()?;
        match address.place() {
            Ok(ParsedUrl::Sqlite(path)) => Some(path.parent().map(Path::to_owned).unwrap_or_default()),
            Ok(ParsedUrl::Memory | ParsedUrl::Postgres(_)) | Err(_) => None,
        }
    }

    /// The key for writing, from its own setting or its file.
    pub(super) fn current_key(&self) -> Result<Option<[u8; 32]>, OpenError> {
        let of = |setting: &str, text: &str| {
            let failed = |problem: &str| OpenError::Setting { key: setting.to_owned(), problem: problem.to_owned() };
            key_bytes(text).map(Some).map_err(failed)
        };
        match (&self.encryption_key, &self.encryption_key_file) {
            (Some(key), _) => of("encryption_key", key.expose()),
            (None, Some(path)) => of("encryption_key_file", &read("encryption_key_file", path)?),
            (None, None) => Ok(None),
        }
    }

    /// The keys for reading only; [`problem`](Self::problem) has checked them.
    pub(super) fn older_keys(&self) -> Vec<[u8; 32]> {
        self.previous_keys.iter().filter_map(|key| key_bytes(key.expose()).ok()).collect()
    }
}

fn read(setting: &'static str, path: &Path) -> Result<String, OpenError> {
    let text = fs::read_to_string(path);
    text.map(|text| text.trim().to_owned()).map_err(|source| OpenError::File { setting, path: path.to_owned(), source })
}

/// 64 hex digits are not base64 of 32 bytes, so the formats cannot be confused.
fn key_bytes(text: &str) -> Result<[u8; 32], &'static str> {
    let bytes = if text.len() == 64 { hex(text) } else { BASE64_STANDARD.decode(text).ok() };
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or("32 bytes in base64 or hex are needed (`openssl rand -base64 32`)")
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<_>>>()?;
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> SessionOptions {
        serde_json::from_str(json).expect("reads")
    }

    #[test]
    fn secrets_show_nowhere() {
        let key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
        let base64 = BASE64_STANDARD.encode([7; 32]);
        for password in ["pa55word", "pa55word@x", "pa55word/x", "pa55word?x#y:z"] {
            let mut options = SessionOptions {
                url: StoreUrl::new(format!("postgres://jane:{password}@db.example:5432/uptake?sslmode=require")),
                encryption_key: Some(Secret::new(key)),
                previous_keys: vec![Secret::new(&base64)],
                ..SessionOptions::default()
            };
            let shown = format!("{options:?} {}", serde_json::to_string(&options).unwrap());
            for secret in ["pa55word", key, base64.as_str()] {
                assert!(!shown.contains(secret), "{shown}");
            }
            assert!(shown.contains("postgres://jane:***@db.example:5432/uptake"), "{shown}");
            options.url = StoreUrl::new(format!("postgres://jane:{password}@db.example:port/"));
            let problem = format!("{:?}", options.problem().unwrap());
            assert!(!problem.contains("pa55word"), "{problem}");
        }
    }

    #[test]
    fn values_that_make_no_sense_are_named() {
        assert_eq!(SessionOptions::default().problem(), None);
        for (json, key) in [
            (r#"{"ttl_s": 0}"#, "ttl_s"),
            (r#"{"ttl_s": 18446744073709551615}"#, "ttl_s"),
            (r#"{"wait_ms": 0}"#, "wait_ms"),
            (r#"{"max_bytes": 0}"#, "max_bytes"),
            (r#"{"connections": 0}"#, "connections"),
            (r#"{"max_sessions": 0}"#, "max_sessions"),
            (r#"{"max_total_bytes": 0}"#, "max_total_bytes"),
            (r#"{"max_memories": 0}"#, "max_memories"),
            (r#"{"max_memory_bytes": 0}"#, "max_memory_bytes"),
            (r#"{"url": "sqlite:"}"#, "url"),
            (r#"{"url": "sqlite://data/x.db"}"#, "url"),
            (r#"{"url": "data/sessions.db"}"#, "url"),
            (r#"{"url": "mysql://x"}"#, "url"),
            (r#"{"url": "postgres://host:x/"}"#, "url"),
            (r#"{"url": "postgres://host/db?sslmode=sometimes"}"#, "url"),
            (r#"{"url": "postgres://host/db?pasword=x"}"#, "url"),
            (r#"{"url": "postgres://host/db?password=x"}"#, "url"),
            (r#"{"encryption_key": "short"}"#, "encryption_key"),
            (r#"{"previous_keys": ["short"]}"#, "previous_keys[0]"),
        ] {
            assert_eq!(of(json).problem().map(|(key, _)| key).as_deref(), Some(key), "{json}");
        }
        for url in
            ["memory:", "sqlite:/srv/x.db", "postgresql://a:b@c/d?sslmode=verify-full", "postgres:///x?host=/run"]
        {
            assert_eq!(of(&format!(r#"{{"url": "{url}"}}"#)).problem(), None, "{url}");
        }
    }

    #[test]
    fn keys_are_base64_or_hex() {
        let bytes = [0xAB; 32];
        for text in ["ab".repeat(32), "AB".repeat(32), BASE64_STANDARD.encode(bytes)] {
            assert_eq!(key_bytes(&text), Ok(bytes), "{text}");
        }
        for text in ["", "ab", &"ag".repeat(32), &"é".repeat(32), &BASE64_STANDARD.encode([1; 31])] {
            assert!(key_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_come_from_their_files() {
        let directory = tempfile::tempdir().unwrap();
        let (key, url) = (directory.path().join("key"), directory.path().join("url"));
        fs::write(&key, "ab\n").unwrap();
        fs::write(&url, "postgres://a:b@c/d\n").unwrap();
        let options =
            SessionOptions { encryption_key_file: Some(key.clone()), url_file: Some(url), ..SessionOptions::default() };
        assert_eq!(options.address().unwrap(), StoreUrl::new("postgres://a:b@c/d"));
        assert!(matches!(options.current_key(), Err(OpenError::Setting { key, .. }) if key == "encryption_key_file"));
        fs::write(&key, format!("{}\n", "ab".repeat(32))).unwrap();
        assert_eq!(options.current_key().unwrap(), Some([0xAB; 32]));
        fs::remove_file(&key).unwrap();
        assert!(matches!(options.current_key(), Err(OpenError::File { setting: "encryption_key_file", .. })));
    }
}
