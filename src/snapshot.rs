//! Modules ready to serve. A module is prepared in the background (everything that can fail), installed at once
//! (nothing can fail), and pinned by each request while the request runs.

mod ad_hoc;
mod calibration;
mod compile;
mod failures;
mod slots;

use std::{
    collections::{BTreeMap, HashSet},
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};
use tokio::task::JoinError;

use crate::{
    decide::{
        confidence::{Calibrated, Calibration},
        head::sentences,
        knowledge::Knowledge,
        phrasings::Phrasings,
        spelling::Spelling,
        vocabulary::Vocabulary,
    },
    embed::{EmbedError, SharedEmbedder},
    llm::Tool,
    module::{self, Diagnostics, Limits, LoadError, Module, ModuleName, history::History},
    retrieve::{Background, BuildError, Corpus, Index, IndexReport, Indexed, RetrieveOptions, documents},
};
use ad_hoc::AdHoc;
use compile::{Parts, compile, differences, learn, load};
use failures::Failures;

pub use calibration::Calibrate;
pub use failures::ModuleFailure;

/// One version of a module with everything compiled. Immutable; it dereferences to the [`Knowledge`] that it owns.
#[derive(Debug)]
pub struct Snapshot {
    pub knowledge: Knowledge,
    /// The data for model servers about each function, by its index.
    pub shown: Vec<Shown>,
}

impl Deref for Snapshot {
    type Target = Knowledge;

    fn deref(&self) -> &Knowledge {
        &self.knowledge
    }
}

/// What model servers need to know about a function, independent of the utterance: made by `assist`, when it is first
/// needed.
#[derive(Debug, Default)]
pub struct Shown {
    /// The tool for servers that refuse strict tools, and the tool for all others.
    pub tools: [OnceLock<Tool>; 2],
    /// The words of its exemplars, folded.
    pub words: OnceLock<HashSet<String>>,
}

/// Where modules live and how they are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModulesOptions {
    /// The directory whose sub-directories are modules.
    pub root: PathBuf,
    /// Where vectors are kept between starts.
    pub index: PathBuf,
    /// Where the versions of modules that were changed over HTTP are kept.
    pub history: PathBuf,
    /// Look at the files at each request and load what changed.
    pub reload: bool,
    /// How many milliseconds a request waits for a changed module. After that it is answered from the version before,
    /// while the build continues.
    pub reload_wait_ms: u64,
    /// Milliseconds until a module is tried again that could not be built although its files are correct. The wait
    /// doubles each time, up to a minute.
    pub retry_ms: u64,
    /// Milliseconds that compiling the functions of a request may take, including the wait for other requests.
    pub ad_hoc_ms: u64,
    /// Measure in the background, for each version of a module, how sure its own answers are.
    pub calibrate: bool,
    /// How many sets of functions from requests (`tools`) are kept compiled.
    pub ad_hoc: usize,
    pub limits: Limits,
}

impl Default for ModulesOptions {
    fn default() -> Self {
        Self {
            root: "modules".into(),
            index: "data/index".into(),
            history: "data/history".into(),
            reload: true,
            reload_wait_ms: 2_000,
            retry_ms: 1_000,
            ad_hoc_ms: 5_000,
            calibrate: true,
            ad_hoc: 64,
            limits: Limits::default(),
        }
    }
}

/// The result of a build.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BuildReport {
    pub module: String,
    pub version: String,
    /// The version that was served before; `None` at the first build.
    pub previous: Option<String>,
    pub functions: usize,
    pub exemplars: usize,
    pub recognizers: usize,
    /// How many texts were embedded now, and how many had vectors from before.
    pub embedded: usize,
    pub reused: usize,
    /// Names of functions that were added, removed or changed since the version before.
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<String>,
    pub warnings: Diagnostics,
    pub took_ms: f64,
}

/// Why a module could not be prepared; the version before still serves.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("there is no module `{0}`")]
    Unknown(ModuleName),
    #[error("module `{name}` has errors")]
    Refused { name: ModuleName, diagnostics: Diagnostics },
    #[error("module `{name}` could not be read: {source}")]
    Load { name: ModuleName, source: LoadError },
    #[error("module `{name}`: {source}")]
    Embed { name: ModuleName, source: EmbedError },
    #[error("module `{name}` could not be indexed: {source}")]
    Index { name: ModuleName, source: BuildError },
    #[error("module `{name}` could not be compiled: {reason}")]
    Compile { name: ModuleName, reason: String },
    /// It panicked.
    #[error("the build of module `{0}` was interrupted")]
    Interrupted(ModuleName),
    /// The process ends, or the result is no longer wanted.
    #[error("the build of module `{0}` was stopped")]
    Stopped(ModuleName),
    /// Compiling the functions of a request took longer than allowed.
    #[error("compiling the functions of a request took longer than {limit_ms} ms (modules.ad_hoc_ms)")]
    Slow { limit_ms: u64 },
    /// It failed a moment ago for a reason that may pass, and will be tried again.
    #[error("module `{name}` cannot be built at the moment: {reason}")]
    Unavailable { name: ModuleName, reason: String },
}

impl PrepareError {
    /// True if it is not the fault of the module's author, and may pass by itself.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Refused { .. } | Self::Compile { .. } | Self::Slow { .. } => false,
            Self::Load { source, .. } => matches!(source, LoadError::Io { .. }),
            Self::Embed { .. }
            | Self::Index { .. }
            | Self::Interrupted(_)
            | Self::Stopped(_)
            | Self::Unavailable { .. } => true,
        }
    }
}

/// Called with the progress of a build: the number of texts embedded so far, and in all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Send + Sync);

/// Progress of a build that is not displayed.
pub fn unwatched(_done: usize, _all: usize) {}

/// A snapshot ready to be installed, with the state of the files that it was made from.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub snapshot: Arc<Snapshot>,
    pub report: BuildReport,
    stamp: module::ModuleStamp,
}

/// What an earlier version learned, which need not be learned again.
#[derive(Default)]
struct Before<'a> {
    /// For the slots.
    slots: Option<&'a Snapshot>,
    /// For the functions.
    learned: Option<Arc<Snapshot>>,
}

#[derive(Debug)]
struct Served {
    snapshot: Arc<Snapshot>,
    stamp: module::ModuleStamp,
}

/// All modules that serve. Cheap to clone; clones share their content.
#[derive(Clone)]
pub struct Snapshots {
    shared: Arc<SnapshotsState>,
}

struct SnapshotsState {
    served: ArcSwap<BTreeMap<ModuleName, Arc<Served>>>,
    failures: Failures,
    /// A lock for each module that is being built, or waits for a build: only one build of a module runs at a time.
    building: Mutex<BTreeMap<ModuleName, Arc<tokio::sync::Mutex<()>>>>,
    options: ModulesOptions,
    retrieve: RetrieveOptions,
    embedder: SharedEmbedder,
    /// By language; embedded at the first build of a module in that language.
    backgrounds: tokio::sync::Mutex<BTreeMap<&'static str, Arc<Background>>>,
    ad_hoc: AdHoc,
    calibrate: OnceLock<Arc<dyn Calibrate>>,
    /// Held during a calibration: one module at a time is calibrated.
    calibrating: tokio::sync::Mutex<()>,
}

impl Snapshots {
    #[must_use]
    pub fn new(options: ModulesOptions, retrieve: RetrieveOptions, embedder: SharedEmbedder) -> Self {
        Self {
            shared: Arc::new(SnapshotsState {
                served: ArcSwap::default(),
                failures: Failures::new(Duration::from_millis(options.retry_ms)),
                building: Mutex::default(),
                ad_hoc: AdHoc::new(options.ad_hoc),
                calibrate: OnceLock::new(),
                calibrating: tokio::sync::Mutex::default(),
                options,
                retrieve,
                embedder,
                backgrounds: tokio::sync::Mutex::default(),
            }),
        }
    }

    /// The names of the directories under the root that may be modules, sorted. Directories with other names are left
    /// out, since no route reaches them.
    #[must_use]
    pub fn on_disk(&self) -> Vec<ModuleName> {
        let Ok(entries) = std::fs::read_dir(&self.shared.options.root) else { return Vec::new() };
        let mut names: Vec<ModuleName> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| ModuleName::new(entry.file_name().to_str()?).ok())
            .collect();
        names.sort();
        names
    }

    /// Where the module's files are, or would be.
    #[must_use]
    pub fn directory(&self, name: &ModuleName) -> PathBuf {
        self.shared.options.root.join(name.as_str())
    }

    /// Loads, checks, embeds and compiles; changes nothing that serves.
    ///
    /// # Errors
    /// See [`PrepareError`].
    pub async fn prepare(&self, name: &ModuleName, progress: Progress<'_>) -> Result<Prepared, PrepareError> {
        let started = Instant::now();
        let directory = self.directory(name);
        if !directory.is_dir() {
            return Err(PrepareError::Unknown(name.clone()));
        }
        // Taken first: if a file changes while it is being read, the next look sees a change again.
        let stamp = module::stamp(&directory).map_err(|source| PrepareError::Load {
            name: name.clone(),
            source: LoadError::Io { path: directory.clone(), source },
        })?;
        let (owned, limits) = (name.clone(), self.shared.options.limits.clone());
        let compiled = tokio::task::spawn_blocking(move || compile(load(&directory, &owned, &limits)?, &|| true))
            .await
            .map_err(|error| unfinished(name, &error))?;
        let store = self.shared.options.index.join(format!("{name}.vectors"));
        let previous = self.get(name);
        let before = Before { slots: previous.as_deref(), learned: previous.clone() };
        let (snapshot, indexed) = self.index(compiled?, Some(&store), before, progress).await?;
        self.recall(&snapshot).await;
        let module = &snapshot.module;

        let (added, removed, changed) = differences(previous.as_deref().map(|before| &before.module), module);
        let report = BuildReport {
            module: name.to_string(),
            version: module.version.clone(),
            previous: previous.map(|snapshot| snapshot.module.version.clone()),
            functions: module.functions.len(),
            exemplars: module.functions.iter().map(|function| function.exemplars.len()).sum(),
            recognizers: module.recognizers.len(),
            embedded: indexed.embedded,
            reused: indexed.reused,
            added,
            removed,
            changed,
            warnings: Diagnostics(module.warnings.clone()),
            took_ms: started.elapsed().as_secs_f64() * 1_000.0,
        };
        Ok(Prepared { snapshot: Arc::new(snapshot), report, stamp })
    }

    /// Builds a module that is not on disk, for one use: it is neither kept nor served.
    ///
    /// # Errors
    /// If it cannot be compiled, or the embedding fails.
    pub async fn build_apart(&self, module: Module) -> Result<Snapshot, PrepareError> {
        let parts = compile(module, &|| true)?;
        Ok(self.index(parts, None, Before::default(), &unwatched).await?.0)
    }

    /// Builds `module` in place of the one that serves under its name, reusing that one's work as far as the two are
    /// equal. The result is neither kept nor served.
    ///
    /// # Errors
    /// If it cannot be compiled, or the embedding fails.
    pub async fn build_beside(&self, module: Module) -> Result<Snapshot, PrepareError> {
        let name = module.name.clone();
        let parts = tokio::task::spawn_blocking(move || compile(module, &|| true)).await;
        let beside = VectorCopy::of(&self.shared.options.index, &name);
        let before = self.get(&name);
        let built = self.index(
            parts.map_err(|error| unfinished(&name, &error))??,
            Some(&beside.store),
            Before { slots: before.as_deref(), learned: before.clone() },
            &unwatched,
        );
        Ok(built.await?.0)
    }

    /// Changes the files of a module while no build of it runs, and then builds it. Until then, requests are answered
    /// by the version before; they see the whole change or nothing.
    ///
    /// # Errors
    /// If `act` fails, which must then change nothing. The result of the build is in the value.
    pub async fn change<T: Send + 'static, E: Send + 'static>(
        &self,
        name: &ModuleName,
        act: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<(T, Result<BuildReport, PrepareError>), Option<E>> {
        let (this, owned) = (self.clone(), name.clone());
        // A separate task: a client that disconnects must not stop it half-way.
        let changed = tokio::spawn(async move {
            let change = async {
                let done = tokio::task::spawn_blocking(act).await.map_err(|_| None)?.map_err(Some)?;
                Ok((done, this.build_in_turn(&owned, &unwatched).await))
            };
            this.in_turn(&owned, change).await
        });
        changed.await.map_err(|_| None)?
    }

    /// The versions of the module that were made here.
    #[must_use]
    pub fn history(&self, name: &ModuleName) -> History {
        History::at(self.shared.options.history.join(name.as_str()))
    }

    /// The limits for a module.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.options.limits
    }

    /// Embeds and indexes a compiled module; `store` keeps the vectors.
    async fn index(
        &self,
        parts: Parts,
        store: Option<&Path>,
        before: Before<'_>,
        progress: Progress<'_>,
    ) -> Result<(Snapshot, IndexReport), PrepareError> {
        let Parts { module, recognizers, templates, validator } = parts;
        let name = &module.name;
        let language = module.language();
        let labels = self.labels(&module, store).await?;
        let said = self.said(&module, &labels).await?;
        let sentences = sentences(&module, &said);
        let corpus = Corpus {
            documents: documents(&module, &said),
            sentences: sentences.iter().map(|sentence| sentence.text.clone()).collect(),
        };
        let (functions, embedder, options) = (module.functions.len(), &*self.shared.embedder, &self.shared.retrieve);
        let built = Index::build(corpus, functions, language, embedder, store, options, progress).await;
        let Indexed { mut index, report: indexed, sentences: vectors } =
            built.map_err(|error| not_indexed(name, error))?;
        let background = self.background(language).await.map_err(|error| not_indexed(name, error))?;
        let slots = before.slots.and_then(|before| before.slots.as_ref());
        let slots = self.slots(&module, (labels, &said), store, slots).await?;
        let (earlier, owned) = (before.learned, name.clone());
        let learned = tokio::task::spawn_blocking(move || {
            index.adapt(&background);
            let usual_score = index.usual_score(&background);
            let head = learn(&module, (&sentences, &vectors), &background, earlier.as_deref());
            let vocabulary = Vocabulary::new(&module, background.sentences().map(|(text, _)| text));
            let spelling = Spelling::new(&module);
            let acts = slots.as_ref().and_then(|slots| slots.reader.acts());
            let acts = compile::acts(&module, (&sentences, &vectors), acts, earlier.as_deref());
            let phrasings = Phrasings::new(&module);
            let taggers = compile::taggers(&module, &said, earlier.as_deref());
            let calibration = earlier.map_or(Calibration::GENERAL, |earlier| earlier.calibration.get());
            Knowledge {
                module,
                recognizers,
                templates,
                validator,
                index,
                head,
                slots,
                vocabulary,
                phrasings,
                spelling,
                taggers,
                acts,
                usual_score,
                calibration: Calibrated::after(calibration),
            }
        });
        let knowledge = learned.await.map_err(|error| unfinished(&owned, &error))?;
        let shown = knowledge.module.functions.iter().map(|_| Shown::default()).collect();
        Ok((Snapshot { knowledge, shown }, indexed))
    }

    /// The sentences about other things with which modules of this language are compared.
    async fn background(&self, language: &str) -> Result<Arc<Background>, BuildError> {
        let language = Background::language(language);
        let mut known = self.shared.backgrounds.lock().await;
        if let Some(background) = known.get(language) {
            return Ok(Arc::clone(background));
        }
        let file =
            if language == "en" { "background.vectors".to_owned() } else { format!("background.{language}.vectors") };
        let store = self.shared.options.index.join(file);
        let background = Background::load(language, &*self.shared.embedder, Some(&store)).await.map(Arc::new)?;
        known.insert(language, Arc::clone(&background));
        Ok(background)
    }

    /// Serves the prepared snapshot from the next request on; running requests keep theirs.
    pub fn install(&self, prepared: &Prepared) {
        let name = &prepared.snapshot.module.name;
        self.shared.failures.forget(name);
        let served = Arc::new(Served { snapshot: Arc::clone(&prepared.snapshot), stamp: prepared.stamp.clone() });
        self.shared.served.rcu(|before| {
            let mut next = BTreeMap::clone(before);
            next.insert(name.clone(), Arc::clone(&served));
            next
        });
    }

    /// Prepares and installs, one build of a module at a time. A failure changes nothing and is remembered in
    /// [`Self::failures`].
    ///
    /// # Errors
    /// See [`PrepareError`].
    pub async fn build(&self, name: &ModuleName, progress: Progress<'_>) -> Result<BuildReport, PrepareError> {
        self.in_turn(name, self.build_in_turn(name, progress)).await
    }

    /// Waits until no other build of the module runs, and keeps others waiting until this one is done.
    async fn in_turn<T>(&self, name: &ModuleName, build: impl Future<Output = T>) -> T {
        /// Removes the entry when it is no longer needed, also if the build is dropped.
        struct BuildGuard<'a>(&'a SnapshotsState, &'a ModuleName, Arc<tokio::sync::Mutex<()>>);
        impl Drop for BuildGuard<'_> {
            fn drop(&mut self) {
                let mut building = lock(&self.0.building);
                // These two are the map's and this one: others are made only under the lock.
                if Arc::strong_count(&self.2) == 2 {
                    building.remove(self.1);
                }
            }
        }
        let entry = Arc::clone(lock(&self.shared.building).entry(name.clone()).or_default());
        let turn = BuildGuard(&self.shared, name, entry);
        let _turn = turn.2.lock().await;
        build.await
    }

    async fn build_in_turn(&self, name: &ModuleName, progress: Progress<'_>) -> Result<BuildReport, PrepareError> {
        let stamp = self.stamp(name);
        match self.prepare(name, progress).await {
            Ok(prepared) => {
                self.install(&prepared);
                self.calibrate_later(prepared.snapshot);
                Ok(prepared.report)
            }
            Err(PrepareError::Unknown(name)) => {
                self.forget(&name);
                Err(PrepareError::Unknown(name))
            }
            // No fault of the module.
            Err(error @ PrepareError::Stopped(_)) => Err(error),
            Err(error) => {
                tracing::warn!(module = %name, %error, "a module does not load");
                self.shared.failures.remember(name, stamp, &error);
                Err(error)
            }
        }
    }

    fn forget(&self, name: &ModuleName) {
        self.shared.failures.forget(name);
        self.shared.served.rcu(|before| {
            let mut next = BTreeMap::clone(before);
            next.remove(name);
            next
        });
    }

    /// The module that serves now, for the whole of one request.
    #[must_use]
    pub fn get(&self, name: &ModuleName) -> Option<Arc<Snapshot>> {
        self.shared.served.load().get(name).map(|served| Arc::clone(&served.snapshot))
    }

    /// Like [`Self::get`], after loading what changed on disk since (if `reload` is on).
    ///
    /// A module that is on disk but not loaded yet is loaded, however long that takes. A module whose directory is gone
    /// is forgotten. If a change cannot be loaded, this is remembered in [`Self::failures`], and the version before
    /// continues to serve. It also serves while a build takes longer than `reload_wait_ms`.
    ///
    /// # Errors
    /// Only if no version serves under this name.
    pub async fn fresh(&self, name: &ModuleName) -> Result<Arc<Snapshot>, PrepareError> {
        let served = self.get(name);
        if let Some(snapshot) = &served
            && (!self.shared.options.reload || self.is_current(name))
        {
            return Ok(Arc::clone(snapshot));
        }
        if !self.directory(name).is_dir() {
            // Without the root directory, nothing is known about any module: the loaded modules continue to serve.
            if let Some(snapshot) = served.filter(|_| !self.shared.options.root.is_dir()) {
                return Ok(snapshot);
            }
            self.forget(name);
            return Err(PrepareError::Unknown(name.clone()));
        }
        let (this, owned) = (self.clone(), name.clone());
        // A separate task: a client that disconnects must not stop a build half-way.
        let build = tokio::spawn(async move {
            let build = async {
                // Another request may have built it while this one waited.
                if this.is_current(&owned) { Ok(()) } else { this.build_in_turn(&owned, &unwatched).await.map(drop) }
            };
            this.in_turn(&owned, build).await
        });
        if let Some(before) = served {
            let wait = Duration::from_millis(self.shared.options.reload_wait_ms);
            // Whatever the result of the build, a version serves.
            let _ = tokio::time::timeout(wait, build).await;
            return Ok(self.get(name).unwrap_or(before));
        }
        match build.await {
            Ok(Ok(())) => self.get(name).ok_or_else(|| self.failure(name)),
            Ok(Err(error)) => Err(error),
            Err(error) => Err(unfinished(name, &error)),
        }
    }

    /// True if the version that serves, or the last failure, was made from the files as they are now.
    fn is_current(&self, name: &ModuleName) -> bool {
        let stamp = self.stamp(name);
        let is_served =
            || self.shared.served.load().get(name).is_some_and(|served| Some(&served.stamp) == stamp.as_ref());
        self.shared.failures.holds(name, stamp.as_ref()) || is_served()
    }

    /// Tries again, for ever, to build modules that failed for a reason that may pass. As long as no module serves, it
    /// also tries modules on disk that were never tried.
    pub async fn mend(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(self.shared.options.retry_ms.max(1))).await;
            let mut due = self.shared.failures.due();
            if self.shared.served.load().is_empty() {
                let known = self.failures();
                due.extend(self.on_disk().into_iter().filter(|name| !known.contains_key(name)));
            }
            for name in due {
                // The result is remembered and logged.
                drop(self.fresh(&name).await);
            }
        }
    }

    /// `None` if the directory cannot be read.
    fn stamp(&self, name: &ModuleName) -> Option<module::ModuleStamp> {
        module::stamp(&self.directory(name)).ok()
    }

    /// Why a module that is on disk does not serve.
    fn failure(&self, name: &ModuleName) -> PrepareError {
        self.shared.failures.error(name).unwrap_or_else(|| PrepareError::Unknown(name.clone()))
    }

    /// True if no module serves although there are modules on disk, or if the directory cannot be read.
    #[must_use]
    pub fn serves_nothing(&self) -> bool {
        let root = &self.shared.options.root;
        self.shared.served.load().is_empty() && (root.read_dir().is_err() || !self.on_disk().is_empty())
    }

    /// All modules that serve, by name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Snapshot>> {
        self.shared.served.load().values().map(|served| Arc::clone(&served.snapshot)).collect()
    }

    /// Modules whose newest files do not serve, and why.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<ModuleName, ModuleFailure> {
        self.shared.failures.all()
    }

    /// Names that look like `name`, nearest first, at most three, for a 404.
    #[must_use]
    pub fn near(&self, name: &str) -> Vec<ModuleName> {
        let mut known = self.on_disk();
        known.extend(self.shared.served.load().keys().cloned());
        known.sort();
        known.dedup();
        let mut near: Vec<(f64, ModuleName)> = known
            .into_iter()
            .map(|other| (strsim::jaro_winkler(&name.to_lowercase(), &other.as_str().to_lowercase()), other))
            .filter(|(likeness, _)| *likeness > 0.75)
            .collect();
        near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

/// A temporary copy of the vectors of a module that is built beside the one that serves.
struct VectorCopy {
    directory: PathBuf,
    store: PathBuf,
}

impl VectorCopy {
    /// If no directory can be made, everything is embedded again.
    fn of(index: &Path, name: &ModuleName) -> Self {
        let directory = index.join(format!(".beside-{}", uuid::Uuid::new_v4().simple()));
        let file = format!("{name}.vectors");
        let store = directory.join(&file);
        if std::fs::create_dir_all(&directory).is_ok() {
            for kind in ["vectors", "labels.vectors", "slots.vectors"] {
                let kept = Path::new(&file).with_extension(kind);
                // This file does not exist before the first build.
                drop(std::fs::copy(index.join(&kept), directory.join(&kept)));
            }
        }
        Self { directory, store }
    }
}

impl Drop for VectorCopy {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

fn not_indexed(name: &ModuleName, error: BuildError) -> PrepareError {
    match error {
        BuildError::Embed(source) => PrepareError::Embed { name: name.clone(), source },
        BuildError::Stopped => stopped(name),
        source => PrepareError::Index { name: name.clone(), source },
    }
}

/// Why a task of a build has no result. Only a runtime that shuts down cancels one.
fn unfinished(name: &ModuleName, error: &JoinError) -> PrepareError {
    if error.is_cancelled() { stopped(name) } else { PrepareError::Interrupted(name.clone()) }
}

fn stopped(name: &ModuleName) -> PrepareError {
    PrepareError::Stopped(name.clone())
}

/// None of these locks is held across anything that can panic, so a poisoned one still guards whole values.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
