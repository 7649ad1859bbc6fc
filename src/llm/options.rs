//! How a model server is reached.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that shows nowhere: `Debug` and `Serialize` give `***`.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("***")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // An environment variable of digits alone comes as a number.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Number(serde_json::Number),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => Self::new(text),
            Written::Number(number) => Self::new(number.to_string()),
        })
    }
}

/// Any server that speaks `OpenAI`'s `/v1/chat/completions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmOptions {
    /// Address, with or without `/v1`; unset: no model server.
    pub base_url: Option<String>,
    /// Unset: `default`, which servers of one model take for theirs.
    pub model: Option<String>,
    /// Sent as a bearer token.
    pub api_key: Option<Secret>,
    /// A file that holds the key, for secrets that are mounted; `api_key` wins.
    pub api_key_file: Option<PathBuf>,
    /// Milliseconds for one attempt, its answer read to the end.
    pub timeout_ms: u64,
    pub connect_timeout_ms: u64,
    /// Times that a request that failed is sent again (wrong answers are another matter).
    pub retries: u32,
    /// Requests to the server at a time.
    pub max_concurrency: usize,
    /// Requests that may wait for their turn; more fail at once.
    pub max_queue: usize,
    /// Where a request doesn't say; unset: the server's own.
    pub temperature: Option<f32>,
    /// Where a request doesn't say; unset: the server's own.
    pub max_tokens: Option<u32>,
    /// Longest answer, in bytes.
    pub max_response_bytes: usize,
    /// Sent with every request; values are as secret as the key.
    pub headers: BTreeMap<String, Secret>,
}

impl Default for LlmOptions {
    fn default() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key: None,
            api_key_file: None,
            timeout_ms: 15_000,
            connect_timeout_ms: 2_000,
            retries: 2,
            max_concurrency: 16,
            max_queue: 64,
            temperature: Some(0.0),
            max_tokens: Some(1_024),
            max_response_bytes: 4 << 20,
            headers: BTreeMap::new(),
        }
    }
}

impl LlmOptions {
    /// The key, from its own setting or its file.
    pub(super) fn key(&self) -> Result<Option<Secret>, SetupError> {
        let key = match (&self.api_key, &self.api_key_file) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| SetupError::KeyFile { path: path.clone(), source })?;
                Some(Secret::new(text.trim()))
            }
            (None, None) => None,
        };
        Ok(key.filter(|key| !key.expose().is_empty()))
    }
}

/// Why the configured model server cannot be used. Never names a key.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("no model server is configured; set `llm.base_url`")]
    NoAddress,
    #[error("`llm.base_url` is not an address of a model server: {0}")]
    Address(String),
    #[error("`llm.api_key_file` {path} could not be read: {source}")]
    KeyFile { path: PathBuf, source: std::io::Error },
    #[error("{0} has characters that a header cannot carry")]
    Header(String),
    #[error(
        "the HTTP client could not be made: {0}; for an https address the system's CA certificates must be installed"
    )]
    Client(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_show_nowhere() {
        let options = LlmOptions {
            api_key: Some(Secret::new("sk-123")),
            headers: [("x-key".to_owned(), Secret::new("abc-9"))].into(),
            ..LlmOptions::default()
        };
        let shown = format!("{options:?} {}", serde_json::to_string(&options).expect("serializes"));
        assert!(!shown.contains("sk-123") && !shown.contains("abc-9"), "{shown}");
        assert!(shown.contains("***"));
    }

    #[test]
    fn a_key_comes_from_its_file() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "sk-file\n").expect("written");
        let options = LlmOptions { api_key_file: Some(file.path().to_owned()), ..LlmOptions::default() };
        assert_eq!(options.key().expect("read"), Some(Secret::new("sk-file")));
        let absent = LlmOptions { api_key_file: Some("/nonexistent/key".into()), ..LlmOptions::default() };
        assert!(matches!(absent.key(), Err(SetupError::KeyFile { .. })));
    }

    #[test]
    fn unknown_settings_are_refused_and_numbers_are_keys() {
        assert!(serde_json::from_str::<LlmOptions>(r#"{"bas_url": "x"}"#).is_err());
        let options: LlmOptions = serde_json::from_str(r#"{"api_key": 12345}"#).expect("reads");
        assert_eq!(options.api_key, Some(Secret::new("12345")));
    }
}
