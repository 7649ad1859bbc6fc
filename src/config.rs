//! The configuration: one section per layer, each section a struct that its layer owns. Lower layers never see
//! [`Config`].
//!
//! Built-in defaults (`config/default.toml`) < files < environment < flags. The file is the one named by `--config` (or
//! `UPTAKE_CONFIG`), or else every `config/*.toml` of the working directory in alphabetical order, except
//! `default.toml` (it is built in) and `docker.toml` (a profile for the image). The environment spells `llm.base_url`
//! as `UPTAKE_LLM__BASE_URL`; an empty variable counts as not set.

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use figment::{
    Figment,
    error::Kind,
    providers::Format as _,
    providers::{Serialized, Toml},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    act::ActionOptions,
    conversation::{ConversationOptions, store::SessionOptions},
    embed::EmbedOptions,
    http::HttpOptions,
    llm::LlmOptions,
    retrieve::RetrieveOptions,
    snapshot::ModulesOptions,
    telemetry::{self, TelemetryOptions},
    understand::UnderstandOptions,
};

/// Documents every key; a test holds it equal to the `Default`s.
pub const DEFAULTS: &str = include_str!("../config/default.toml");

const PREFIX: &str = "UPTAKE_";

/// Files of the directory that are not read automatically.
const SET_ASIDE: [&str; 2] = ["default.toml", "docker.toml"];

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub http: HttpOptions,
    pub modules: ModulesOptions,
    pub embed: EmbedOptions,
    pub retrieve: RetrieveOptions,
    pub understand: UnderstandOptions,
    pub llm: LlmOptions,
    pub conversation: ConversationOptions,
    pub sessions: SessionOptions,
    pub actions: ActionOptions,
    pub telemetry: TelemetryOptions,
}

/// The sources of a configuration, as values, so that tests need neither files nor the process's environment.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `--config`: read this instead of `directory`.
    pub file: Option<PathBuf>,
    /// Directory with `*.toml`; need not exist.
    pub directory: PathBuf,
    /// Names and values; only those with our prefix are used.
    pub environment: Vec<(OsString, OsString)>,
}

impl Sources {
    /// The real sources of this process.
    #[must_use]
    pub fn of_process(file: Option<PathBuf>) -> Self {
        Self { file, directory: "config".into(), environment: std::env::vars_os().collect() }
    }
}

/// A configuration, and notes on how it was built.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    pub config: Config,
    /// Files and variables that were read, in order; later ones override earlier ones.
    pub read: Vec<String>,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{} could not be read: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is not TOML: line {line}: {message}", path.display())]
    Syntax { path: PathBuf, line: usize, message: String },
    #[error("{origin}: {problem}")]
    Wrong { origin: SettingOrigin, problem: String },
}

/// The source of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    File(PathBuf),
    Variable(String),
    Flags,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Variable(name) => formatter.write_str(name),
            Self::Flags => formatter.write_str("command line"),
        }
    }
}

impl Config {
    /// Reads all sources.
    ///
    /// # Errors
    /// For an unreadable file, and for a key or value that no section accepts: with the file or variable and the key.
    pub fn load(sources: &Sources) -> Result<LoadedConfig, ConfigError> {
        let mut layers = Layers::new();
        let mut warnings = Vec::new();
        for path in files(sources, &mut warnings)? {
            let table = read_table(&path)?;
            layers.add(SettingOrigin::File(path), &[table])?;
        }
        let defaults = defaults();
        for (name, value) in &sources.environment {
            let Some((name, keys)) = variable(name, &mut warnings) else { continue };
            let Some(value) = value.to_str() else {
                let problem = "the value is not Unicode".to_owned();
                return Err(ConfigError::Wrong { origin: SettingOrigin::Variable(name), problem });
            };
            if !value.is_empty() {
                let readings = readings(&defaults, &keys, value);
                layers.add(SettingOrigin::Variable(name), &readings)?;
            }
        }
        let config = layers.config;
        if config.http.timeout_ms <= config.understand.deadline_ms {
            warnings.push(
                "http.timeout_ms is not longer than understand.deadline_ms: a slow model server's turns end as timeouts"
                    .to_owned(),
            );
        }
        let servers = usize::from(config.llm.base_url.is_some()) + config.llm.fallbacks.len();
        let asking = config.llm.max_concurrency.saturating_add(config.llm.max_queue).saturating_mul(servers);
        if asking > 0 && asking >= config.http.max_in_flight {
            warnings.push(format!(
                "llm.max_concurrency and llm.max_queue of {servers} server(s) come to {asking} turns, and \
                 http.max_in_flight is {}: servers that hang leave no room for what is answered without them",
                config.http.max_in_flight
            ));
        }
        Ok(LoadedConfig { config, read: layers.read, warnings })
    }

    /// Checks the values themselves, each of which has the right type.
    ///
    /// # Errors
    /// The first problem, with its key.
    pub fn check(&self) -> Result<(), String> {
        if let Some((key, problem)) = self.http.problem() {
            return Err(format!("http.{key}: {problem}"));
        }
        if let Some((key, problem)) = self.llm.problem() {
            return Err(format!("llm.{key}: {problem}"));
        }
        if let Some((key, problem)) = self.conversation.problem() {
            return Err(format!("conversation.{key}: {problem}"));
        }
        if let Some((key, problem)) = self.sessions.problem() {
            return Err(format!("sessions.{key}: {problem}"));
        }
        if let Some((key, problem)) = self.actions.problem() {
            return Err(format!("actions.{key}: {problem}"));
        }
        let understand = &self.understand;
        for (key, value) in [("sure", understand.sure), ("in_scope", understand.in_scope)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(format!("understand.{key}: {value} is no probability; it must be 0 to 1"));
            }
        }
        for (key, is_zero) in [
            ("candidates", understand.candidates == 0),
            ("max_utterance", understand.max_utterance == 0),
            ("max_steps", understand.max_steps == 0),
        ] {
            if is_zero {
                return Err(format!("understand.{key}: must be at least 1"));
            }
        }
        for (key, value) in [("deadline_ms", understand.deadline_ms), ("tokens", understand.tokens)] {
            if value == 0 {
                return Err(format!(
                    "understand.{key}: must be at least 1; to ask no model server, set strategy to \"local\""
                ));
            }
        }
        if understand.tries == 0 {
            return Err("understand.tries: must be at least 1, or nothing is ever asked".to_owned());
        }
        if jiff::tz::TimeZone::get(&understand.time_zone).is_err() {
            let zone = &understand.time_zone;
            return Err(format!("understand.time_zone: `{zone}` is no IANA time zone, such as `Europe/Zurich`"));
        }
        telemetry::parse(&self.telemetry.level).map_err(|error| format!("telemetry.level: {error}"))?;
        Ok(())
    }
}

/// Layers merged one by one, so that a problem always belongs to the newest layer.
struct Layers {
    figment: Figment,
    config: Config,
    read: Vec<String>,
}

impl Layers {
    fn new() -> Self {
        Self { figment: Figment::from(Toml::string(DEFAULTS)), config: Config::default(), read: Vec::new() }
    }

    /// Adds the first of `readings` that is accepted; if none is, returns the problem of the last one.
    fn add(&mut self, origin: SettingOrigin, readings: &[Value]) -> Result<(), ConfigError> {
        let mut problem = String::new();
        for reading in readings {
            let figment = self.figment.clone().merge(Serialized::defaults(reading));
            let fits = figment.extract::<Config>().map_err(|error| explain(&error)).and_then(|config| {
                config.check()?;
                Ok(config)
            });
            match fits {
                Ok(config) => {
                    self.read.push(origin.to_string());
                    (self.figment, self.config) = (figment, config);
                    return Ok(());
                }
                Err(reason) => problem = reason,
            }
        }
        Err(ConfigError::Wrong { origin, problem })
    }
}

/// The error in our own words, without values that might be secrets.
fn explain(error: &figment::Error) -> String {
    let path = error.path.join(".");
    let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
    match &error.kind {
        Kind::UnknownField(key, known) => {
            let near = known.iter().min_by_key(|known| strsim::damerau_levenshtein(known, key));
            let hint = match near {
                Some(near) if strsim::damerau_levenshtein(near, key) <= 3 => format!("; did you mean `{near}`?"),
                _ => format!("; there are {}", known.join(", ")),
            };
            let key = if error.path.last().is_some_and(|last| last == key) {
                path
            } else {
                error.path.iter().map(String::as_str).chain([key.as_str()]).collect::<Vec<_>>().join(".")
            };
            format!("unknown key `{key}`{hint}")
        }
        Kind::InvalidType(found, expected) => format!("{at}{expected} is needed, not {}", type_of(found)),
        Kind::UnknownVariant(found, known) => format!("{at}`{found}` is none of {}", known.join(", ")),
        Kind::Message(_)
        | Kind::InvalidValue(..)
        | Kind::InvalidLength(..)
        | Kind::MissingField(_)
        | Kind::DuplicateField(_)
        | Kind::ISizeOutOfRange(_)
        | Kind::USizeOutOfRange(_)
        | Kind::Unsupported(_)
        | Kind::UnsupportedKey(..) => format!("{at}{}", error.kind),
    }
}

fn type_of(found: &figment::error::Actual) -> &'static str {
    use figment::error::Actual;
    match found {
        Actual::Bool(_) => "a boolean",
        Actual::Unsigned(_) | Actual::Signed(_) => "an integer",
        Actual::Float(_) => "a number",
        Actual::Char(_) | Actual::Str(_) | Actual::Bytes(_) => "a string",
        Actual::Unit | Actual::Option => "nothing",
        Actual::Seq => "a list",
        Actual::Map | Actual::NewtypeStruct => "a table",
        Actual::Enum | Actual::UnitVariant | Actual::NewtypeVariant | Actual::TupleVariant | Actual::StructVariant => {
            "a choice"
        }
        Actual::Other(_) => "this",
    }
}

fn files(sources: &Sources, warnings: &mut Vec<String>) -> Result<Vec<PathBuf>, ConfigError> {
    if let Some(file) = &sources.file {
        return Ok(vec![file.clone()]);
    }
    let directory = &sources.directory;
    let failed = |source| ConfigError::Io { path: directory.clone(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name == SET_ASIDE[0] && fs::read_to_string(&path).is_ok_and(|text| text != DEFAULTS) {
            warnings.push(format!(
                "{} differs from the defaults that are built in and is not read: put changes into another file there",
                path.display()
            ));
        }
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        if is_toml && !name.starts_with('.') && !SET_ASIDE.contains(&name) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_table(path: &Path) -> Result<Value, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Io { path: path.to_owned(), source })?;
    let table: toml::Table = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        ConfigError::Syntax { path: path.to_owned(), line, message: error.message().to_owned() }
    })?;
    Ok(serde_json::to_value(table).unwrap_or_default())
}

/// The variable's name and the key that it sets: `["llm", "base_url"]`. `None` if it sets none.
fn variable(name: &OsString, warnings: &mut Vec<String>) -> Option<(String, Vec<String>)> {
    let name = name.to_str()?;
    let rest = name.strip_prefix(PREFIX)?;
    if let Some((section, _)) = rest.split_once("__")
        && !section.is_empty()
    {
        return Some((name.to_owned(), rest.split("__").map(str::to_lowercase).collect()));
    }
    // Not an error: orchestrators set variables such as UPTAKE_PORT_3001_TCP by themselves.
    let lower = rest.to_lowercase();
    let sections = defaults();
    let meant = sections.as_object()?.iter().find_map(|(section, keys)| {
        let key = lower.strip_prefix(section.as_str())?.strip_prefix('_')?;
        keys.get(key).is_some().then(|| format!("{PREFIX}{}__{}", section.to_uppercase(), key.to_uppercase()))
    });
    if let Some(meant) = meant {
        warnings.push(format!("{name} is not read: write {meant}, with two underscores after the section"));
    }
    None
}

/// Possible readings of a variable's text, likeliest first: by the type of the default, or as text, or as a number.
fn readings(defaults: &Value, keys: &[String], text: &str) -> Vec<Value> {
    let default = keys.iter().try_fold(defaults, |at, key| at.get(key));
    let text_itself = Value::String(text.to_owned());
    let parsed = serde_json::from_str::<Value>(text).ok();
    let readings = match default {
        Some(Value::String(_)) => vec![text_itself],
        Some(Value::Array(_)) => match parsed {
            Some(list @ Value::Array(_)) => vec![list],
            _ => vec![text.split(',').map(|item| Value::from(item.trim())).collect()],
        },
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => vec![parsed.unwrap_or(text_itself)],
        Some(Value::Null) | None => std::iter::once(text_itself).chain(parsed).collect(),
    };
    readings.into_iter().map(|reading| nested(keys, reading)).collect()
}

fn nested(keys: &[String], value: Value) -> Value {
    keys.iter().rev().fold(value, |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])))
}

fn defaults() -> Value {
    serde_json::to_value(Config::default()).expect("sections are structs of strings, numbers and lists")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_environment(variables: &[(&str, &str)]) -> Result<LoadedConfig, ConfigError> {
        let environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Config::load(&Sources { environment, ..Sources::default() })
    }

    fn of_files(files: &[(&str, &str)]) -> Result<LoadedConfig, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        Config::load(&Sources { directory: directory.path().to_owned(), ..Sources::default() })
    }

    #[test]
    fn the_file_says_what_the_code_does() {
        let written: Config = toml::from_str(DEFAULTS).unwrap();
        assert_eq!(serde_json::to_value(written).unwrap(), defaults());
    }

    /// Every key is in the file: as a line, or, if it has no default, as a commented-out line.
    #[test]
    fn the_file_documents_every_key() {
        fn leaves(prefix: &str, value: &Value, found: &mut Vec<(String, String)>) {
            for (key, value) in value.as_object().unwrap() {
                match value {
                    Value::Object(_) => {
                        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                        leaves(&path, value, found);
                    }
                    _ => found.push((prefix.to_owned(), key.clone())),
                }
            }
        }
        let mut section = String::new();
        let mut written = Vec::new();
        for line in DEFAULTS.lines() {
            let line = line.trim_start_matches("# ");
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.clone_into(&mut section);
            } else if let Some((key, _)) = line.split_once(" =") {
                written.push((section.clone(), key.to_owned()));
            }
        }
        let mut keys = Vec::new();
        leaves("", &defaults(), &mut keys);
        let missing: Vec<_> = keys.iter().filter(|key| !written.contains(key)).collect();
        assert!(missing.is_empty(), "not in config/default.toml: {missing:?}");
    }

    #[test]
    fn nothing_given_is_the_default() {
        let loaded =
            of_environment(&[("PATH", "/bin"), ("UPTAKE_LOG", "debug"), ("UPTAKE_PORT_3001_TCP", "x")]).unwrap();
        assert_eq!(serde_json::to_value(loaded.config).unwrap(), defaults());
        assert!(loaded.warnings.is_empty() && loaded.read.is_empty());
    }

    #[test]
    fn the_environment_overrides_files_in_order() {
        let directory = tempfile::tempdir().unwrap();
        for (name, port, host) in [("a.toml", 1, "a"), ("b.toml", 2, "b"), ("docker.toml", 3, "c")] {
            fs::write(directory.path().join(name), format!("[http]\nport = {port}\nhost = \"{host}\"")).unwrap();
        }
        fs::write(directory.path().join("notes.txt"), "not TOML").unwrap();
        let sources = Sources {
            directory: directory.path().to_owned(),
            environment: vec![("UPTAKE_HTTP__PORT".into(), "4000".into())],
            file: None,
        };
        let loaded = Config::load(&sources).unwrap();
        assert_eq!((loaded.config.http.port, loaded.config.http.host.as_str()), (4000, "b"));
        assert_eq!(loaded.read.len(), 3);
        let one = Config::load(&Sources { file: Some(directory.path().join("docker.toml")), ..sources }).unwrap();
        assert_eq!((one.config.http.port, one.config.http.host.as_str()), (4000, "c"));
    }

    #[test]
    fn variables_have_the_type_of_what_they_set() {
        let loaded = of_environment(&[
            ("UPTAKE_HTTP__CORS_ORIGINS", "https://a.example, https://b.example"),
            ("UPTAKE_HTTP__HOST", "0"),
            ("UPTAKE_UNDERSTAND__SURE", "0.9"),
            ("UPTAKE_UNDERSTAND__STRATEGY", "local"),
            ("UPTAKE_MODULES__RELOAD", "false"),
            ("UPTAKE_HTTP__SHUTDOWN_MS", ""),
            ("UPTAKE_MODULES__LIMITS__DEPTH", "3"),
        ])
        .unwrap();
        let Config { http, modules, understand, .. } = loaded.config;
        assert_eq!(http.cors_origins, ["https://a.example", "https://b.example"]);
        assert_eq!((http.host.as_str(), http.shutdown_ms), ("0", HttpOptions::default().shutdown_ms));
        assert!((understand.sure - 0.9).abs() < 1e-6 && !modules.reload);
        assert_eq!(modules.limits.depth, 3);
    }

    #[test]
    fn secrets_are_text_and_stay_hidden() {
        for key in ["sk-123", "123456", "true"] {
            let loaded = of_environment(&[("UPTAKE_LLM__API_KEY", key)]).unwrap();
            let shown = format!("{:?} {}", loaded.config, serde_json::to_string(&loaded.config).unwrap());
            assert!(!shown.contains(&format!("\"{key}\"")) && shown.contains("\"***\""), "{shown}");
        }
        let error = of_files(&[("a.toml", "[embed.remote]\napi_key = 987654")]).unwrap_err().to_string();
        assert!(error.contains("embed.remote.api_key") && !error.contains("987654"), "{error}");
    }

    #[test]
    fn fallbacks_are_a_list_of_tables_or_json() {
        let written = "[[llm.fallbacks]]\nbase_url = \"http://b\"\napi_key = \"sk-b\"\n[[llm.fallbacks]]\nbase_url = \"http://c\"";
        let of_file = of_files(&[("a.toml", written)]).unwrap().config.llm.fallbacks;
        let written = r#"[{"base_url": "http://b", "api_key": "sk-b"}, {"base_url": "http://c"}]"#;
        let of_variable = of_environment(&[("UPTAKE_LLM__FALLBACKS", written)]).unwrap().config.llm.fallbacks;
        assert_eq!((of_file.len(), &of_file), (2, &of_variable));
        let error = of_environment(&[("UPTAKE_LLM__FALLBACKS", r#"[{"model": "m"}]"#)]).unwrap_err().to_string();
        assert_eq!(error, "UPTAKE_LLM__FALLBACKS: llm.fallbacks[0].base_url: an address is needed");
        let error = of_environment(&[("UPTAKE_LLM__BREAKER__COOLDOWN_MS", "0")]).unwrap_err().to_string();
        assert!(error.contains("llm.breaker.cooldown_ms: must be at least 1"), "{error}");
    }

    #[test]
    fn what_opens_the_store_of_sessions_stays_hidden() {
        let key = "ab".repeat(32);
        let loaded = of_environment(&[
            ("UPTAKE_SESSIONS__URL", "postgres://jane:pa55word@db.example/uptake"),
            ("UPTAKE_SESSIONS__ENCRYPTION_KEY", &key),
            ("UPTAKE_SESSIONS__PREVIOUS_KEYS", &"12".repeat(32)),
        ])
        .unwrap();
        let sessions = serde_json::to_value(&loaded.config.sessions).unwrap();
        assert_eq!(sessions["url"], "postgres://jane:***@db.example/uptake");
        assert_eq!((&sessions["encryption_key"], &sessions["previous_keys"]), (&"***".into(), &vec!["***"].into()));
        for (name, value) in [
            ("UPTAKE_SESSIONS__URL", "postgres://jane:pa55word@db.example:x/uptake"),
            ("UPTAKE_SESSIONS__URL", "postgres://jane:pa55word?x@db.example/uptake"),
            ("UPTAKE_SESSIONS__ENCRYPTION_KEY", "pa55word"),
            ("UPTAKE_SESSIONS__PREVIOUS_KEYS", "pa55word"),
        ] {
            let error = of_environment(&[(name, value)]).unwrap_err().to_string();
            assert!(error.starts_with(name) && !error.contains("pa55"), "{error}");
        }
    }

    #[test]
    fn what_could_never_work_is_refused() {
        for (name, value, problem) in [
            ("UPTAKE_UNDERSTAND__TOKENS", "0", "understand.tokens: must be at least 1; to ask no model server"),
            ("UPTAKE_UNDERSTAND__DEADLINE_MS", "0", "understand.deadline_ms: must be at least 1"),
            ("UPTAKE_LLM__TIMEOUT_MS", "0", "llm.timeout_ms: must be at least 1"),
            ("UPTAKE_LLM__CONNECT_TIMEOUT_MS", "0", "llm.connect_timeout_ms: must be at least 1"),
            ("UPTAKE_LLM__MAX_CONCURRENCY", "0", "llm.max_concurrency: must be at least 1"),
            ("UPTAKE_LLM__MAX_TOKENS", "0", "llm.max_tokens: must be at least 1"),
            ("UPTAKE_LLM__MAX_RESPONSE_BYTES", "0", "llm.max_response_bytes: must be at least 1"),
            ("UPTAKE_LLM__TEMPERATURE", "-1", "llm.temperature: must be 0 to 2"),
        ] {
            let error = of_environment(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_file() {
        let error =
            of_files(&[("a.toml", "[http]\nport = 1"), ("b.toml", "[http]\nprot = 1")]).unwrap_err().to_string();
        assert!(error.ends_with("b.toml: unknown key `http.prot`; did you mean `port`?"), "{error}");
        let error = of_files(&[("a.toml", "[nonsense]\nx = 1")]).unwrap_err().to_string();
        assert!(error.contains("a.toml: unknown key `nonsense`; there are http, modules, "), "{error}");
        let error = of_environment(&[("UPTAKE_HTTP__PROT", "1")]).unwrap_err().to_string();
        assert_eq!(error, "UPTAKE_HTTP__PROT: unknown key `http.prot`; did you mean `port`?");
        let error = of_files(&[("a.toml", "[modules.limits]\ndeep = 1")]).unwrap_err().to_string();
        assert!(error.contains("unknown key `modules.limits.deep`"), "{error}");
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place() {
        let error = of_files(&[("a.toml", "[http]\nport = \"x\"")]).unwrap_err().to_string();
        assert!(error.contains("a.toml: http.port: u16 is needed, not a string"), "{error}");
        let error = of_environment(&[("UPTAKE_HTTP__PORT", "70000")]).unwrap_err().to_string();
        assert!(error.starts_with("UPTAKE_HTTP__PORT: http.port: "), "{error}");
        let error = of_environment(&[("UPTAKE_UNDERSTAND__IN_SCOPE", "1.5")]).unwrap_err().to_string();
        assert!(error.starts_with("UPTAKE_UNDERSTAND__IN_SCOPE: understand.in_scope: 1.5 is no prob"), "{error}");
        let error = of_environment(&[("UPTAKE_UNDERSTAND__TIME_ZONE", "Mars/Base")]).unwrap_err().to_string();
        assert!(error.contains("`Mars/Base` is no IANA time zone"), "{error}");
        let error = of_files(&[("a.toml", "a = 1\n[http")]).unwrap_err().to_string();
        assert!(error.contains("a.toml is not TOML: line 2"), "{error}");
        let error = of_environment(&[("UPTAKE_HTTP__CORS_ORIGINS", "example.com/")]).unwrap_err().to_string();
        assert!(error.contains("is no origin"), "{error}");
    }

    #[test]
    fn one_underscore_too_few_is_told() {
        let loaded = of_environment(&[("UPTAKE_LLM_BASE_URL", "x")]).unwrap();
        let expected =
            "UPTAKE_LLM_BASE_URL is not read: write UPTAKE_LLM__BASE_URL, with two underscores after the section";
        assert_eq!(loaded.warnings, [expected]);
    }

    #[test]
    fn a_missing_file_is_an_error_and_a_missing_directory_is_not() {
        let sources = Sources { directory: "there/is/none".into(), ..Sources::default() };
        assert!(Config::load(&sources).is_ok());
        assert!(Config::load(&Sources { file: Some("there/is/none.toml".into()), ..sources }).is_err());
    }

    #[test]
    fn an_edited_default_file_is_told() {
        let loaded = of_files(&[("default.toml", "[http]\nport = 1")]).unwrap();
        assert_eq!((loaded.config.http.port, loaded.warnings.len()), (3001, 1));
        assert!(of_files(&[("default.toml", DEFAULTS)]).unwrap().warnings.is_empty());
    }
}
