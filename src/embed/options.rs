//! Settings for operators. One table per kind rather than a tagged choice: files, the environment and flags are merged
//! key by key, and settings of different kinds in different layers must not clash.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::{Deserialize, Serialize, Serializer};

use super::Purpose;

/// How texts become vectors.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedOptions {
    pub kind: EmbedderKind,
    /// The ONNX Runtime library, 1.24 or newer, for the kinds that run a model in this process. If absent:
    /// `ORT_DYLIB_PATH`, then beside the executable and in the `lib` directories near it, then the system's library
    /// path.
    pub runtime: Option<PathBuf>,
    /// Threads for one text. More than one makes a single text a little faster and costs throughput.
    pub threads: usize,
    /// Copies of the model, each with its own memory, that work at the same time; 0: as many as there are cores. The
    /// first is loaded at once, the others when texts wait for it.
    pub workers: usize,
    /// Most calls that wait; further ones are refused with [`EmbedError::Busy`](super::EmbedError::Busy).
    pub queue: usize,
    /// For the kinds that run a model in this process.
    pub reader: ReaderOptions,
    /// For `kind = "fastembed"`.
    pub fastembed: FastembedOptions,
    /// For `kind = "directory"`.
    pub directory: DirectoryOptions,
    /// For `kind = "remote"`.
    pub remote: RemoteOptions,
    /// For `kind = "hashed"`.
    pub hashed: HashedOptions,
}

impl Default for EmbedOptions {
    fn default() -> Self {
        Self {
            kind: EmbedderKind::default(),
            runtime: None,
            threads: 1,
            workers: 0,
            queue: 256,
            reader: ReaderOptions::default(),
            fastembed: FastembedOptions::default(),
            directory: DirectoryOptions::default(),
            remote: RemoteOptions::default(),
            hashed: HashedOptions::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// The encoder that was trained with the reader, inside the executable.
    #[default]
    Bundled,
    /// A model of fastembed's list, fetched from its hub at the first start and kept on disk.
    Fastembed,
    /// An ONNX model and its tokenizer in a local directory.
    Directory,
    /// A server that speaks OpenAI's `/v1/embeddings`.
    Remote,
    /// No model: words and character trigrams, hashed. For tests and comparisons.
    Hashed,
}

/// The network that finds slots from the model's word states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReaderOptions {
    /// Without it, slots are found by recognizers and templates alone.
    pub enabled: bool,
    /// Directory with `head.onnx`, which must have been trained on the states of exactly this model. If absent: the
    /// bundled one for the bundled model, and the directory `reader` beside a model in a directory.
    pub path: Option<PathBuf>,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self { enabled: true, path: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FastembedOptions {
    /// A name of fastembed's `EmbeddingModel`, in any case (`MultilingualE5Small`), or the model's name on the hub
    /// (`intfloat/multilingual-e5-small`).
    pub model: String,
    /// Where the files are stored. `HF_HOME` overrides it.
    pub cache: PathBuf,
    /// Tokens; the rest of a text is not read.
    pub max_length: usize,
    /// If absent, the prefixes that the model was trained with.
    pub prefixes: Option<Prefixes>,
}

impl Default for FastembedOptions {
    fn default() -> Self {
        Self { model: "BGESmallENV15".into(), cache: "data/models".into(), max_length: 256, prefixes: None }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DirectoryOptions {
    /// Directory with `tokenizer.json`, `tokenizer_config.json`, `config.json` and the model.
    pub path: PathBuf,
    /// The model, relative to `path`. If absent, `model.onnx` or `onnx/model.onnx`.
    pub file: Option<PathBuf>,
    /// If absent, the value in `1_Pooling/config.json`, or else `mean`.
    pub pooling: Option<Pooling>,
    /// In tokens; the rest of a text is not read. If absent, the value in `sentence_bert_config.json`, or else 256.
    pub max_length: Option<usize>,
    /// Embed each text by itself: a dynamically quantised model gives a text other vectors in other company.
    /// If absent, true where the model has such operators.
    pub alone: Option<bool>,
    pub prefixes: Prefixes,
}

/// How token vectors are combined into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    Mean,
    /// The first token's vector.
    Cls,
}

/// Text that is put before each text, by [`Purpose`](super::Purpose), including spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prefixes {
    pub query: String,
    pub passage: String,
    pub symmetric: String,
}

impl Prefixes {
    pub(super) fn of(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Query => &self.query,
            Purpose::Passage => &self.passage,
            Purpose::Symmetric => &self.symmetric,
        }
    }

    pub(super) fn is_symmetric(&self) -> bool {
        self.query == self.symmetric
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteOptions {
    /// The address up to and including the version: `http://localhost:8080/v1`.
    pub base_url: String,
    pub model: String,
    /// Sent as a bearer token; none is sent if absent.
    #[serde(serialize_with = "hidden")]
    pub api_key: Option<SecretString>,
    /// What the vectors must have. If absent, the server is asked for one vector at start, and must be up.
    pub dimensions: Option<usize>,
    /// Send `dimensions`, for models that can shorten their vectors.
    pub shorten: bool,
    /// Ask for base64, a third of the bytes; not every server knows it.
    pub base64: bool,
    /// Texts in one request.
    pub batch: usize,
    /// Time limit for one request including its retries.
    pub timeout_ms: u64,
    /// Attempts for one request: connection errors, 408, 409, 429 and 5xx are retried.
    pub attempts: u32,
    pub prefixes: Prefixes,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: String::new(),
            api_key: None,
            dimensions: None,
            shorten: false,
            base64: false,
            batch: 32,
            timeout_ms: 10_000,
            attempts: 3,
            prefixes: Prefixes::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HashedOptions {
    pub dimensions: usize,
}

impl Default for HashedOptions {
    fn default() -> Self {
        Self { dimensions: 512 }
    }
}

fn hidden<S: Serializer>(key: &Option<SecretString>, serializer: S) -> Result<S::Ok, S::Error> {
    key.as_ref().map(|_| "(hidden)").serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_only_what_differs() {
        let options: EmbedOptions =
            toml::from_str("kind = \"remote\"\n[remote]\nmodel = \"m\"\napi_key = \"secret-1\"").unwrap();
        assert_eq!((options.kind, options.remote.model.as_str(), options.threads), (EmbedderKind::Remote, "m", 1));
        assert!(toml::from_str::<EmbedOptions>("[remote]\nmodle = \"m\"").is_err());
    }

    #[test]
    fn a_key_is_never_shown() {
        let options = RemoteOptions { api_key: Some("secret-1".into()), ..RemoteOptions::default() };
        let shown = format!("{options:?} {}", serde_json::to_string(&options).unwrap());
        assert!(!shown.contains("secret-1"), "{shown}");
        assert!(shown.contains("(hidden)"), "{shown}");
    }

    #[test]
    fn defaults_survive_being_written_and_read() {
        let written = toml::to_string(&EmbedOptions::default()).unwrap();
        let read: EmbedOptions = toml::from_str(&written).unwrap();
        assert_eq!(toml::to_string(&read).unwrap(), written);
    }
}
