//! How a model server is reached.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that is never shown: `Debug` and `Serialize` give `***`.
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
        // An environment variable of digits only arrives as a number.
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
    /// Address, with or without `/v1`. Unset means no model server.
    pub base_url: Option<String>,
    /// Model name. Unset means `default`, which single-model servers accept.
    pub model: Option<String>,
    /// Sent as a bearer token.
    pub api_key: Option<Secret>,
    /// A file with the key, for mounted secrets; `api_key` wins.
    pub api_key_file: Option<PathBuf>,
    /// Milliseconds for one attempt, its answer read to the end.
    pub timeout_ms: u64,
    pub connect_timeout_ms: u64,
    /// Times that a request that failed is sent again (wrong answers are another matter).
    pub retries: u32,
    /// Most requests to the server at a time.
    pub max_concurrency: usize,
    /// Most requests that wait for their turn; further ones fail at once.
    pub max_queue: usize,
    /// Default for requests without one; unset means the server's own.
    pub temperature: Option<f32>,
    /// Default for requests without one; unset means the server's own.
    pub max_tokens: Option<u32>,
    /// Longest answer, in bytes.
    pub max_response_bytes: usize,
    /// Request streamed answers, so that reading, and with it the server's work, can stop once the rest does not
    /// matter.
    pub stream: bool,
    /// Measure in the background what the server can do; `auto` then picks the strategy that suits it.
    pub probe: bool,
    /// Sent with every request; values are kept as secret as the key.
    pub headers: BTreeMap<String, Secret>,
    /// Servers to ask in this order if the first one fails.
    pub fallbacks: Vec<FallbackOptions>,
    pub breaker: BreakerOptions,
    pub cache: CacheOptions,
}

/// Another server. Unset values are taken from `[llm]`, except keys and headers: those belong to one address only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FallbackOptions {
    /// Address, with or without `/v1`.
    pub base_url: String,
    /// Unset means `default`, whatever `[llm]` says: another server's models have other names.
    pub model: Option<String>,
    /// Sent as a bearer token.
    pub api_key: Option<Secret>,
    /// A file with the key; `api_key` wins.
    pub api_key_file: Option<PathBuf>,
    /// Sent with every request to this server; values are kept as secret as the key.
    pub headers: BTreeMap<String, Secret>,
}

/// When a failing server is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BreakerOptions {
    /// Failed attempts in a row before the server is left alone; 0 means never.
    pub failures: u32,
    /// Milliseconds until one request may try again; twice as many each time that it fails too.
    pub cooldown_ms: u64,
    /// Upper limit of the doubling, and of the `Retry-After` that is respected.
    pub longest_cooldown_ms: u64,
}

impl Default for BreakerOptions {
    fn default() -> Self {
        Self { failures: 5, cooldown_ms: 5_000, longest_cooldown_ms: 60_000 }
    }
}

/// Kept answers, for requests with temperature 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheOptions {
    /// Most answers; 0 keeps none.
    pub entries: usize,
    /// Milliseconds that an answer is kept.
    pub ttl_ms: u64,
    /// Bytes of all answers together.
    pub max_bytes: usize,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self { entries: 0, ttl_ms: 600_000, max_bytes: 16 << 20 }
    }
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
            max_queue: 16,
            temperature: Some(0.0),
            max_tokens: Some(1_024),
            max_response_bytes: 4 << 20,
            stream: false,
            probe: true,
            headers: BTreeMap::new(),
            fallbacks: Vec::new(),
            breaker: BreakerOptions::default(),
            cache: CacheOptions::default(),
        }
    }
}

impl LlmOptions {
    /// The first invalid value: its key below `llm`, and the problem.
    #[must_use]
    pub fn problem(&self) -> Option<(String, &'static str)> {
        let Self { breaker, cache, .. } = self;
        let of = |key: &str, problem| Some((key.to_owned(), problem));
        let counts = [
            ("timeout_ms", self.timeout_ms == 0),
            ("connect_timeout_ms", self.connect_timeout_ms == 0),
            ("max_concurrency", self.max_concurrency == 0),
            ("max_tokens", self.max_tokens == Some(0)),
            ("max_response_bytes", self.max_response_bytes == 0),
        ];
        if let Some((key, _)) = counts.into_iter().find(|(_, is_zero)| *is_zero) {
            return of(key, "must be at least 1");
        }
        if self.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            return of("temperature", "must be 0 to 2");
        }
        if breaker.failures > 0 && breaker.cooldown_ms == 0 {
            return of("breaker.cooldown_ms", "must be at least 1; to turn the breaker off, set failures to 0");
        }
        if breaker.failures > 0 && breaker.longest_cooldown_ms < breaker.cooldown_ms {
            return of("breaker.longest_cooldown_ms", "must not be less than cooldown_ms");
        }
        if cache.entries > 0 && cache.ttl_ms == 0 {
            return of("cache.ttl_ms", "must be at least 1; to keep no answers, set entries to 0");
        }
        if cache.entries > 0 && cache.max_bytes == 0 {
            return of("cache.max_bytes", "must be at least 1; to keep no answers, set entries to 0");
        }
        let nameless = self.fallbacks.iter().position(|fallback| fallback.base_url.trim().is_empty());
        nameless.map(|index| (format!("fallbacks[{index}].base_url"), "an address is needed"))
    }

    /// The options of a fallback, as if it were the only server.
    pub(super) fn of_fallback(&self, fallback: &FallbackOptions) -> Self {
        Self {
            base_url: Some(fallback.base_url.clone()),
            model: fallback.model.clone(),
            api_key: fallback.api_key.clone(),
            api_key_file: fallback.api_key_file.clone(),
            headers: fallback.headers.clone(),
            fallbacks: Vec::new(),
            ..self.clone()
        }
    }

    /// The key, from its own setting or its file.
    pub(super) fn key(&self) -> Result<Option<Secret>, SetupError> {
        let key = match (&self.api_key, &self.api_key_file) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path).map_err(|source| SetupError::KeyFile {
                    setting: "api_key_file".to_owned(),
                    path: path.clone(),
                    source,
                })?;
                Some(Secret::new(text.trim()))
            }
            (None, None) => None,
        };
        Ok(key.filter(|key| !key.expose().is_empty()))
    }
}

/// Why a configured model server cannot be used. Names the setting, never a key.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("no model server is configured; set `llm.base_url`")]
    NoAddress,
    #[error("`llm.fallbacks` stand in for a server that is not configured; set `llm.base_url`")]
    OnlyFallbacks,
    #[error("`llm.{setting}` is not an address of a model server: {problem}")]
    Address { setting: String, problem: String },
    #[error("`llm.{setting}` {path} could not be read: {source}", path = path.display())]
    KeyFile { setting: String, path: PathBuf, source: std::io::Error },
    #[error("`llm.{setting}` has characters that a header cannot carry")]
    Header { setting: String },
    #[error(
        "the HTTP client could not be made: {0}; for an https address the system's CA certificates must be installed"
    )]
    Client(String),
}

impl SetupError {
    pub(super) fn address(problem: impl Into<String>) -> Self {
        Self::Address { setting: "base_url".to_owned(), problem: problem.into() }
    }

    /// The same error, about a fallback's setting.
    pub(super) fn of_fallback(mut self, index: usize) -> Self {
        if let Self::Address { setting, .. } | Self::KeyFile { setting, .. } | Self::Header { setting } = &mut self {
            *setting = format!("fallbacks[{index}].{setting}");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_show_nowhere() {
        let options = LlmOptions {
            api_key: Some(Secret::new("sk-123")),
            headers: [("x-key".to_owned(), Secret::new("abc-9"))].into(),
            fallbacks: vec![FallbackOptions {
                api_key: Some(Secret::new("sk-456")),
                headers: [("x-key".to_owned(), Secret::new("def-9"))].into(),
                ..FallbackOptions::default()
            }],
            ..LlmOptions::default()
        };
        let shown = format!("{options:?} {}", serde_json::to_string(&options).expect("serializes"));
        for secret in ["sk-123", "abc-9", "sk-456", "def-9"] {
            assert!(!shown.contains(secret), "{shown}");
        }
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

    #[test]
    fn a_fallback_has_no_key_of_another_server() {
        let options: LlmOptions = serde_json::from_str(
            r#"{"base_url": "http://a", "model": "big", "api_key": "sk-a", "api_key_file": "/a", "headers": {"x-a": "a"},
                "timeout_ms": 7, "fallbacks": [{"base_url": "http://b"}]}"#,
        )
        .expect("reads");
        let fallback = options.of_fallback(&options.fallbacks[0]);
        let expected = LlmOptions { base_url: Some("http://b".into()), timeout_ms: 7, ..LlmOptions::default() };
        assert_eq!(fallback, expected);
        let nested = r#"{"fallbacks": [{"base_url": "http://b", "fallbacks": []}]}"#;
        assert!(serde_json::from_str::<LlmOptions>(nested).is_err());
    }

    #[test]
    fn values_that_make_no_sense_are_named() {
        assert_eq!(LlmOptions::default().problem(), None);
        for (written, key) in [
            (r#"{"breaker": {"cooldown_ms": 0}}"#, "breaker.cooldown_ms"),
            (r#"{"breaker": {"longest_cooldown_ms": 10}}"#, "breaker.longest_cooldown_ms"),
            (r#"{"cache": {"entries": 1, "ttl_ms": 0}}"#, "cache.ttl_ms"),
            (r#"{"cache": {"entries": 1, "max_bytes": 0}}"#, "cache.max_bytes"),
            (r#"{"fallbacks": [{"base_url": "http://b"}, {"model": "m"}]}"#, "fallbacks[1].base_url"),
        ] {
            let options: LlmOptions = serde_json::from_str(written).expect("reads");
            assert_eq!(options.problem().map(|(key, _)| key).as_deref(), Some(key), "{written}");
        }
        let off: LlmOptions = serde_json::from_str(r#"{"breaker": {"failures": 0, "cooldown_ms": 0}}"#).expect("reads");
        assert_eq!(off.problem(), None);
    }
}
