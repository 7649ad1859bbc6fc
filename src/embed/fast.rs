//! Models that run in this process, with fastembed on ONNX Runtime: each is owned by a thread that takes texts from a
//! queue.

mod files;
mod running;
mod workers;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use fastembed::{InitOptionsUserDefined, QuantizationMode, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel};
use futures::{StreamExt, TryStreamExt, future::BoxFuture, stream};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::{
    DirectoryOptions, EmbedError, EmbedOptions, Embedded, Embedder, FastembedOptions, LIVE_TEXTS, Pooling, Prefixes,
    Purpose, causes,
    queue::{Lane, Refused},
    reader::{self, Reader},
    runtime::{self, LoadedRuntime},
};
use files::{ModelFiles, depends_on_company};
use running::LoadedModel;
use workers::{EmbedJob, Facts, Workers};

/// Texts of a build that go through the model together, if the model allows it. Few, since an utterance may wait for
/// them; larger batches gain little on one thread.
const BATCH: usize = 8;

/// A text is cut to this many bytes per token of the model's limit before it is tokenized, since tokenizing takes time
/// and memory in proportion to the text. No language comes near it; the longest word that is looked up has 100
/// characters.
const BYTES_PER_TOKEN: usize = 64;

/// Embedded when a model is loaded: to learn the dimensions, to pay the cost of the first text, and for the identity.
const PROBE: &str = "What will the weather be like in Zürich tomorrow, at half past 7?";

/// A model to load.
#[derive(Debug)]
pub(super) struct ModelSpec {
    name: String,
    source: ModelSource,
    max_length: usize,
    prefixes: Prefixes,
}

#[derive(Debug)]
enum ModelSource {
    Bundled,
    Directory {
        path: PathBuf,
        file: PathBuf,
        pooling: Pooling,
        alone: Option<bool>,
    },
    #[cfg(feature = "hub")]
    Listed {
        model: fastembed::EmbeddingModel,
        cache: PathBuf,
    },
}

/// `models/uptake-encoder`, whose README describes its origin.
mod bundled {
    use std::borrow::Cow;

    use super::ModelFiles;
    use crate::learned;

    pub(super) fn files() -> ModelFiles {
        ModelFiles {
            model: Cow::Borrowed(learned::bytes!("uptake-encoder/model.onnx")),
            external: Vec::new(),
            tokenizer: Cow::Borrowed(learned::bytes!("uptake-encoder/tokenizer.json")),
            config: Cow::Borrowed(learned::bytes!("uptake-encoder/config.json")),
            special_tokens: Cow::Borrowed(learned::bytes!("uptake-encoder/special_tokens_map.json")),
            tokenizer_config: Cow::Borrowed(learned::bytes!("uptake-encoder/tokenizer_config.json")),
        }
    }

    /// The length that the model was tuned with, in tokens.
    pub(super) const MAX_LENGTH: usize = 256;
}

impl ModelSpec {
    pub(super) fn bundled() -> Self {
        Self {
            name: "uptake-encoder".into(),
            source: ModelSource::Bundled,
            max_length: bundled::MAX_LENGTH,
            prefixes: Prefixes::default(),
        }
    }

    #[cfg(feature = "hub")]
    pub(super) fn listed(options: &FastembedOptions) -> Result<Self, EmbedError> {
        let model = listed::find(&options.model)?;
        if options.max_length == 0 {
            return Err(EmbedError::Load("embed.fastembed.max_length is 0".into()));
        }
        Ok(Self {
            name: model.to_string(),
            prefixes: options.prefixes.clone().unwrap_or_else(|| listed::prefixes(&model)),
            max_length: options.max_length,
            source: ModelSource::Listed { model, cache: options.cache.clone() },
        })
    }

    #[cfg(not(feature = "hub"))]
    pub(super) fn listed(_: &FastembedOptions) -> Result<Self, EmbedError> {
        Err(EmbedError::Load(
            "this build cannot fetch models (it lacks the feature `hub`). hint: download the model's files and say \
             embed.kind = \"directory\""
                .into(),
        ))
    }

    /// Reads the small files that describe how to use the model, but not the model.
    pub(super) fn directory(options: &DirectoryOptions) -> Result<Self, EmbedError> {
        let path = options.path.clone();
        if path.as_os_str().is_empty() {
            return Err(EmbedError::Load("embed.directory.path is not set".into()));
        }
        let file = match &options.file {
            Some(file) => file.clone(),
            None => ["model.onnx", "onnx/model.onnx"]
                .map(PathBuf::from)
                .into_iter()
                .find(|file| path.join(file).is_file())
                .ok_or_else(|| {
                    EmbedError::Load(format!(
                        "there is neither model.onnx nor onnx/model.onnx in {}. hint: embed.directory.file names it",
                        path.display()
                    ))
                })?,
        };
        let max_length = options.max_length.or_else(|| hints::max_length(&path)).unwrap_or(256);
        if max_length == 0 {
            return Err(EmbedError::Load("embed.directory.max_length is 0".into()));
        }
        let pooling = options.pooling.or_else(|| hints::pooling(&path)).unwrap_or(Pooling::Mean);
        Ok(Self {
            name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            source: ModelSource::Directory { path, file, pooling, alone: options.alone },
            max_length,
            prefixes: options.prefixes.clone(),
        })
    }
}

/// Reads the files beside a sentence-transformers model; `None` if they are absent or contain nothing known.
mod hints {
    use super::{Deserialize, Path, Pooling};

    pub(super) fn max_length(directory: &Path) -> Option<usize> {
        #[derive(Deserialize)]
        struct SentenceBertConfig {
            max_seq_length: Option<usize>,
        }
        read::<SentenceBertConfig>(&directory.join("sentence_bert_config.json"))?.max_seq_length
    }

    pub(super) fn pooling(directory: &Path) -> Option<Pooling> {
        #[derive(Deserialize)]
        #[serde(default)]
        #[derive(Default)]
        struct PoolingConfig {
            pooling_mode_cls_token: bool,
            pooling_mode_mean_tokens: bool,
        }
        let file = read::<PoolingConfig>(&directory.join("1_Pooling/config.json"))?;
        match (file.pooling_mode_mean_tokens, file.pooling_mode_cls_token) {
            (true, false) => Some(Pooling::Mean),
            (false, true) => Some(Pooling::Cls),
            _ => None,
        }
    }

    fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

/// Names and properties of the models that fastembed can fetch.
#[cfg(feature = "hub")]
mod listed {
    use fastembed::{EmbeddingModel, TextEmbedding};

    use super::{EmbedError, Prefixes};

    pub(super) fn find(name: &str) -> Result<EmbeddingModel, EmbedError> {
        if let Ok(model) = name.parse() {
            return Ok(model);
        }
        let mut models = TextEmbedding::list_supported_models();
        // Several forms of a model may share its name on the hub: the plain form has the shortest name of its own.
        models.sort_by_key(|info| (info.model.to_string().len(), info.model.to_string()));
        if let Some(info) = models.iter().find(|info| info.model_code.eq_ignore_ascii_case(name)) {
            return Ok(info.model.clone());
        }
        let wanted = name.rsplit('/').next().unwrap_or(name).to_lowercase().replace(['-', '_', '.'], "");
        models.sort_by_key(|info| strsim::levenshtein(&info.model.to_string().to_lowercase(), &wanted));
        let near: Vec<_> = models.iter().take(3).map(|info| info.model.to_string()).collect();
        Err(EmbedError::Load(format!(
            "fastembed has no model `{name}` (embed.fastembed.model). hint: the nearest names are {}",
            near.join(", ")
        )))
    }

    /// From the models' own cards.
    pub(super) fn prefixes(model: &EmbeddingModel) -> Prefixes {
        use EmbeddingModel as M;
        let (query, passage, symmetric) = match model {
            M::MultilingualE5Small | M::MultilingualE5Base | M::MultilingualE5Large => {
                ("query: ", "passage: ", "query: ")
            }
            M::BGESmallENV15
            | M::BGESmallENV15Q
            | M::BGEBaseENV15
            | M::BGEBaseENV15Q
            | M::BGELargeENV15
            | M::BGELargeENV15Q
            | M::MxbaiEmbedLargeV1
            | M::MxbaiEmbedLargeV1Q
            | M::SnowflakeArcticEmbedXS
            | M::SnowflakeArcticEmbedXSQ
            | M::SnowflakeArcticEmbedS
            | M::SnowflakeArcticEmbedSQ
            | M::SnowflakeArcticEmbedM
            | M::SnowflakeArcticEmbedMQ
            | M::SnowflakeArcticEmbedMLong
            | M::SnowflakeArcticEmbedMLongQ
            | M::SnowflakeArcticEmbedL
            | M::SnowflakeArcticEmbedLQ => ("Represent this sentence for searching relevant passages: ", "", ""),
            M::BGESmallZHV15 | M::BGELargeZHV15 => ("为这个句子生成表示以用于检索相关文章：", "", ""),
            M::NomicEmbedTextV1 | M::NomicEmbedTextV15 | M::NomicEmbedTextV15Q | M::ModernBertEmbedLarge => {
                ("search_query: ", "search_document: ", "classification: ")
            }
            M::EmbeddingGemma300M | M::EmbeddingGemma300MQ | M::EmbeddingGemma300MQ4 => {
                ("task: search result | query: ", "title: none | text: ", "task: classification | query: ")
            }
            // The others were trained without prefixes.
            _ => ("", "", ""),
        };
        Prefixes { query: query.into(), passage: passage.into(), symmetric: symmetric.into() }
    }
}

/// Loads `model` on a thread of its own; ready once it has embedded a first text.
pub(super) async fn open(model: ModelSpec, options: &EmbedOptions) -> Result<Fast, EmbedError> {
    let longest = model.max_length.saturating_mul(BYTES_PER_TOKEN);
    let prefixes = model.prefixes.clone();
    let workers = Workers::new(model, options);
    let (ready, loaded) = oneshot::channel();
    // The caller may have gone.
    workers.start(move |loaded| drop(ready.send(loaded)))?;
    let facts = loaded.await.map_err(|_| EmbedError::Load("loading stopped".into()))??;
    let reader = load_reader(&workers.model, options, (&facts.identity, facts.dimensions))?;
    let Facts { identity, dimensions, alone } = facts;
    tracing::info!(identity, dimensions, reader = reader.is_some(), "embedding model ready");
    Ok(Fast { identity, dimensions, prefixes, longest, batch: if alone { 1 } else { BATCH }, workers, reader })
}

/// The reader that the options name, or else the one beside the model.
fn load_reader(
    model: &ModelSpec,
    options: &EmbedOptions,
    encoder: (&str, usize),
) -> Result<Option<Arc<Reader>>, EmbedError> {
    let files = match (&options.reader.path, &model.source) {
        _ if !options.reader.enabled => None,
        (Some(path), _) => Some(reader::ReaderFiles::Directory(path.clone())),
        (None, ModelSource::Bundled) => Some(reader::ReaderFiles::Bundled),
        (None, ModelSource::Directory { path, .. }) => {
            let beside = path.join("reader");
            beside.join("head.onnx").is_file().then_some(reader::ReaderFiles::Directory(beside))
        }
        #[cfg(feature = "hub")]
        (None, ModelSource::Listed { .. }) => None,
    };
    let Some(files) = files else { return Ok(None) };
    let runtime = runtime::load(options.runtime.as_deref())?;
    Ok(Some(Arc::new(Reader::load(&files, encoder, &runtime)?)))
}

/// An embedder whose model runs on its own threads, which end with it.
pub(super) struct Fast {
    identity: String,
    dimensions: usize,
    prefixes: Prefixes,
    /// Longest part of a text that is read, in bytes.
    longest: usize,
    /// Texts of a build in one job.
    batch: usize,
    workers: Workers,
    reader: Option<Arc<Reader>>,
}

/// What a call needs for each of its texts.
#[derive(Clone, Copy)]
struct Order<'a> {
    prefix: &'a str,
    wants_words: bool,
}

impl fmt::Debug for Fast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fast").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Fast {
    async fn submit(&self, lane: Lane, texts: Vec<String>, order: Order<'_>) -> Result<Vec<Embedded>, EmbedError> {
        let (reply, embedded) = oneshot::channel();
        let Order { prefix, wants_words } = order;
        let job = EmbedJob { texts, prefix: prefix.to_owned(), wants_words, reply };
        let is_crowded = self.workers.queue.push(lane, job).map_err(|refused| match refused {
            Refused::Full => EmbedError::Busy,
            Refused::Closed => EmbedError::Inference("the model is gone".into()),
        })?;
        if is_crowded {
            self.workers.call_for_help();
        }
        embedded.await.map_err(|_| EmbedError::Inference("the model is gone".into()))?
    }

    /// Embeds few texts at a time, queuing again for each batch, so that live calls and other builds come in between.
    async fn build(&self, texts: Vec<String>, order: Order<'_>) -> Result<Vec<Embedded>, EmbedError> {
        let count = texts.len();
        let mut texts: Vec<(usize, String)> = texts.into_iter().enumerate().collect();
        // The cost of a batch is its longest text times its size.
        if self.batch > 1 {
            texts.sort_by_key(|(_, text)| text.len());
        }
        let mut jobs = Vec::with_capacity(count.div_ceil(self.batch));
        let mut texts = texts.into_iter().peekable();
        while texts.peek().is_some() {
            let (places, texts): (Vec<usize>, Vec<String>) = texts.by_ref().take(self.batch).unzip();
            jobs.push(async move { Ok((places, self.submit(Lane::Bulk, texts, order).await?)) });
        }
        let done: Vec<(Vec<usize>, Vec<Embedded>)> =
            stream::iter(jobs).buffer_unordered(self.workers.most).try_collect().await?;
        let mut embedded = vec![Embedded { vector: Vec::new(), words: None }; count];
        for (places, made) in done {
            for (place, one) in places.into_iter().zip(made) {
                embedded[place] = one;
            }
        }
        Ok(embedded)
    }

    async fn order(&self, texts: Vec<String>, order: Order<'_>) -> Result<Vec<Embedded>, EmbedError> {
        let texts: Vec<String> = texts.iter().map(|text| cut(text, self.longest).to_owned()).collect();
        match texts.len() {
            0 => Ok(Vec::new()),
            1..=LIVE_TEXTS => self.submit(Lane::Live, texts, order).await,
            _ => self.build(texts, order).await,
        }
    }
}

impl Embedder for Fast {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_symmetric(&self) -> bool {
        self.prefixes.is_symmetric()
    }

    fn works_here(&self) -> bool {
        true
    }

    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        let order = Order { prefix: self.prefixes.of(purpose), wants_words: false };
        Box::pin(async move { Ok(self.order(texts, order).await?.into_iter().map(|one| one.vector).collect()) })
    }

    fn embed_words(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Embedded>, EmbedError>> {
        Box::pin(self.order(texts, Order { prefix: self.prefixes.of(purpose), wants_words: self.reader.is_some() }))
    }

    fn reader(&self) -> Option<Arc<Reader>> {
        self.reader.clone()
    }
}

/// The first `most` bytes at most, cut at a character boundary.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

impl ModelSpec {
    fn load(&self, runtime: Option<&Path>, threads: usize) -> Result<(LoadedModel, Facts), EmbedError> {
        let runtime = runtime::load(runtime)?;
        let mut identity = blake3::Hasher::new();
        let mut running = match &self.source {
            ModelSource::Bundled => {
                // Batches would not change the result, since activations are quantised token by token, but would gain
                // nothing either (1,100 texts a second in batches of 8, 1,075 alone), and utterances would wait for
                // them.
                self.load_files(bundled::files(), Pooling::Mean, Some(true), &runtime, threads, &mut identity)?
            }
            ModelSource::Directory { path, file, pooling, alone } => {
                self.load_files(ModelFiles::read(path, file)?, *pooling, *alone, &runtime, threads, &mut identity)?
            }
            #[cfg(feature = "hub")]
            ModelSource::Listed { model, cache } => self.load_listed(model, cache, &runtime, threads)?,
        };
        let probe = running
            .embed(&[PROBE.into()], "", false)
            .map_err(|error| EmbedError::Load(format!("its first text failed: {error}")))?
            .pop()
            .map_or_else(Vec::new, |embedded| embedded.vector);
        let Prefixes { query, passage, symmetric } = &self.prefixes;
        for part in [&self.name, query, passage, symmetric, runtime.build] {
            identity.update(&(part.len() as u64).to_le_bytes());
            identity.update(part.as_bytes());
        }
        identity.update(&(self.max_length as u64).to_le_bytes());
        identity.update(&[u8::from(running.alone)]);
        // Covers weights that were not seen as bytes, and processors that round differently.
        for x in &probe {
            identity.update(&x.to_le_bytes());
        }
        let identity = format!("{}-{}", self.name, &identity.finalize().to_hex()[..32]);
        let facts = Facts { identity, dimensions: probe.len(), alone: running.alone };
        Ok((running, facts))
    }

    fn load_files(
        &self,
        files: ModelFiles,
        pooling: Pooling,
        alone: Option<bool>,
        runtime: &LoadedRuntime,
        threads: usize,
        identity: &mut blake3::Hasher,
    ) -> Result<LoadedModel, EmbedError> {
        files.hash(identity);
        identity.update(format!("{pooling:?}").as_bytes());
        let alone = alone.unwrap_or_else(|| depends_on_company(&files.model));
        let pooling = match pooling {
            Pooling::Mean => fastembed::Pooling::Mean,
            Pooling::Cls => fastembed::Pooling::Cls,
        };
        let mut model = UserDefinedEmbeddingModel::new(
            files.model.into_owned(),
            TokenizerFiles {
                tokenizer_file: files.tokenizer.into_owned(),
                config_file: files.config.into_owned(),
                special_tokens_map_file: files.special_tokens.into_owned(),
                tokenizer_config_file: files.tokenizer_config.into_owned(),
            },
        )
        .with_quantization(if alone { QuantizationMode::Dynamic } else { QuantizationMode::None })
        .with_pooling(pooling.clone());
        for (name, bytes) in files.external {
            model = model.with_external_initializer(name, bytes);
        }
        let options = InitOptionsUserDefined::new()
            .with_environment(runtime.environment.clone())
            .with_max_length(self.max_length)
            .with_intra_threads(threads)
            .with_session_config(NO_SPINNING.0, NO_SPINNING.1);
        let model = TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| self.unfit(&error))?;
        Ok(LoadedModel { model, alone, pooling: Some(pooling) })
    }

    #[cfg(feature = "hub")]
    fn load_listed(
        &self,
        model: &fastembed::EmbeddingModel,
        cache: &Path,
        runtime: &LoadedRuntime,
        threads: usize,
    ) -> Result<LoadedModel, EmbedError> {
        let options = fastembed::TextInitOptions::new(model.clone())
            .with_cache_dir(cache.to_path_buf())
            .with_show_download_progress(false)
            .with_environment(runtime.environment.clone())
            .with_max_length(self.max_length)
            .with_intra_threads(threads)
            .with_session_config(NO_SPINNING.0, NO_SPINNING.1);
        let alone = TextEmbedding::get_quantization_mode(model) == QuantizationMode::Dynamic;
        let model = TextEmbedding::try_new(options).map_err(|error| self.unfit(&error))?;
        Ok(LoadedModel { model, alone, pooling: None })
    }

    fn unfit(&self, error: &fastembed::Error) -> EmbedError {
        let hint = match error {
            fastembed::Error::ModelRetrieval { .. } => {
                ". hint: without a way to the hub, put the model's files in a directory and say embed.kind = \"directory\""
            }
            _ => "",
        };
        EmbedError::Load(format!("{}: {}{hint}", self.name, causes(error)))
    }
}

/// Idle threads of the library must sleep. Matters only with more than one thread.
const NO_SPINNING: (&str, &str) = ("session.intra_op.allow_spinning", "0");

#[cfg(test)]
mod tests {
    use super::*;

    async fn bundled() -> Fast {
        // If the library is missing, this fails with instructions for getting it.
        open(ModelSpec::bundled(), &EmbedOptions::default()).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The bundled model, as files.
    fn directory() -> DirectoryOptions {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/uptake-encoder");
        DirectoryOptions { path, ..DirectoryOptions::default() }
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    async fn embed<const N: usize>(fast: &Fast, texts: [&str; N]) -> [Vec<f32>; N] {
        let vectors = fast.embed(texts.map(Into::into).to_vec(), Purpose::Symmetric).await.unwrap();
        vectors.try_into().unwrap()
    }

    #[tokio::test]
    async fn paraphrases_are_nearer_than_strangers() {
        let fast = bundled().await;
        assert_eq!(fast.dimensions(), 384);
        assert!(fast.is_symmetric());
        let [a, b, c] =
            embed(&fast, ["will it rain in Paris tomorrow?", "Paris weather forecast", "send my mother 20 dollars"])
                .await;
        assert!(cosine(&a, &b) > 0.6, "{}", cosine(&a, &b));
        assert!(cosine(&a, &c) < 0.2, "{}", cosine(&a, &c));
        assert!((cosine(&a, &a) - 1.0).abs() < 1e-4);
    }

    #[tokio::test]
    async fn company_changes_nothing() {
        let fast = open(ModelSpec::directory(&directory()).unwrap(), &EmbedOptions::default()).await.unwrap();
        assert_eq!(fast.batch, BATCH);
        let texts: Vec<String> =
            (0..40).map(|n| format!("order {n} pizzas {}", "with cheese ".repeat(n % 7))).collect();
        let together = fast.embed(texts.clone(), Purpose::Passage).await.unwrap();
        for (text, together) in texts.into_iter().zip(together) {
            let alone = fast.embed(vec![text.clone()], Purpose::Passage).await.unwrap();
            assert!(cosine(&alone[0], &together) > 0.9999, "{text}: {}", cosine(&alone[0], &together));
        }
    }

    #[tokio::test]
    async fn a_second_start_has_the_same_identity() {
        let (first, second) = (bundled().await, bundled().await);
        assert_eq!(first.identity(), second.identity());
        assert!(first.identity().starts_with("uptake-encoder-"));
    }

    #[tokio::test]
    async fn any_text_has_a_vector() {
        let fast = bundled().await;
        let long = "word ".repeat(300_000);
        let one_word = "é".repeat(600_000);
        for text in ["", " ", "\0\u{7}\u{202e}", "東京の天気は？", "👩‍👩‍👧 🌦", "[CLS] [MASK] [SEP]", &long, &one_word]
        {
            let [vector] = embed(&fast, [text]).await;
            assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-3);
        }
        assert_eq!(fast.embed(Vec::new(), Purpose::Query).await.unwrap().len(), 0);
    }

    #[tokio::test]
    async fn the_bundled_model_is_a_directory_like_any_other() {
        let prefixes = Prefixes { query: "query: ".into(), ..Prefixes::default() };
        let model = ModelSpec::directory(&DirectoryOptions { prefixes, ..directory() }).unwrap();
        let fast = open(model, &EmbedOptions { workers: 2, ..EmbedOptions::default() }).await.unwrap();
        let bundled = bundled().await;
        assert!(!fast.is_symmetric());
        assert_ne!(fast.identity(), bundled.identity());
        let texts: Vec<String> = (0..20).map(|n| format!("text {n}")).collect();
        let query = fast.embed(texts.clone(), Purpose::Query).await.unwrap();
        let prefixed = texts.iter().map(|text| format!("query: {text}")).collect();
        for (a, b) in query.iter().zip(bundled.embed(prefixed, Purpose::Symmetric).await.unwrap()) {
            assert!(cosine(a, &b) > 0.9999);
        }
    }

    #[tokio::test]
    async fn a_broken_directory_says_what_is_wrong() {
        let root = tempfile::tempdir().unwrap();
        let options = DirectoryOptions { path: root.path().into(), ..DirectoryOptions::default() };
        let error = ModelSpec::directory(&options).unwrap_err().to_string();
        assert!(error.contains("neither model.onnx"), "{error}");

        for name in ["model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json"] {
            let model = ModelSpec::directory(&DirectoryOptions { file: Some("model.onnx".into()), ..options.clone() });
            let error = open(model.unwrap(), &EmbedOptions::default()).await.unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
            std::fs::write(root.path().join(name), "{}").unwrap();
        }
        let error = open(ModelSpec::directory(&options).unwrap(), &EmbedOptions::default()).await.unwrap_err();
        assert!(matches!(error, EmbedError::Load(_)), "{error}");
    }

    #[tokio::test]
    async fn what_does_not_fit_in_the_queue_is_refused() {
        let fast = open(ModelSpec::bundled(), &EmbedOptions { queue: 2, ..EmbedOptions::default() }).await.unwrap();
        let calls = (0..200).map(|n| fast.embed(vec![format!("call {n}")], Purpose::Query));
        let results = futures::future::join_all(calls).await;
        assert!(results.iter().any(Result::is_ok));
        assert!(results.iter().any(|result| matches!(result, Err(EmbedError::Busy))));
        // Nothing stays in the queue.
        assert!(fast.embed(vec!["again".into()], Purpose::Query).await.is_ok());
    }

    #[tokio::test]
    async fn calls_that_nobody_waits_for_are_dropped() {
        let fast = bundled().await;
        for _ in 0..50 {
            let mut call = fast.embed((0..500).map(|n| n.to_string()).collect(), Purpose::Passage);
            assert!(futures::poll!(&mut call).is_pending());
        }
        assert!(fast.embed(vec!["now".into()], Purpose::Query).await.is_ok());
    }

    #[test]
    fn hints_beside_a_model_are_heard() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("onnx/model.onnx", "");
        write("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "word_embedding_dimension": 3}"#);
        write("sentence_bert_config.json", r#"{"max_seq_length": 128, "do_lower_case": false}"#);
        let options = DirectoryOptions { path: root.path().into(), ..DirectoryOptions::default() };
        let model = ModelSpec::directory(&options).unwrap();
        assert_eq!(model.max_length, 128);
        assert!(matches!(model.source, ModelSource::Directory { pooling: Pooling::Cls, .. }));
    }

    #[test]
    fn dynamic_quantisation_is_noticed() {
        assert!(depends_on_company(b"..\x22\x15DynamicQuantizeLinear.."));
        assert!(!depends_on_company(&bundled::files().model));
    }

    #[test]
    fn a_cut_never_tears_a_character() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("aé", 99), "aé");
    }

    #[cfg(feature = "hub")]
    #[test]
    fn listed_models_are_found_by_either_name() {
        use fastembed::EmbeddingModel;
        assert_eq!(listed::find("multilingualE5small").unwrap(), EmbeddingModel::MultilingualE5Small);
        assert_eq!(listed::find("intfloat/multilingual-e5-small").unwrap(), EmbeddingModel::MultilingualE5Small);
        assert_eq!(listed::prefixes(&EmbeddingModel::MultilingualE5Small).passage, "passage: ");
        let error = listed::find("bge-small-en-v15").unwrap_err().to_string();
        assert!(error.contains("BGESmallENV15"), "{error}");
    }
}
