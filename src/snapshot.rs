//! Modules ready to serve: prepared off to the side (everything that can fail), installed at once (nothing can fail),
//! and pinned by each request for as long as it runs.

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
pub use failures::Failure;

/// One version of a module with everything compiled. Immutable; reads as the [`Knowledge`] that it owns.
#[derive(Debug)]
pub struct Snapshot {
    pub knowledge: Knowledge,
    /// Of each function, by its index.
    pub shown: Vec<Shown>,
}

impl Deref for Snapshot {
    type Target = Knowledge;

    fn deref(&self) -> &Knowledge {
        &self.knowledge
    }
}

/// What model servers need of a function, whatever was said: made by `assist`, where it is first needed.
#[derive(Debug, Default)]
pub struct Shown {
    /// The tool for servers that refuse strict ones, and for all others.
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
    /// Where versions of modules are kept that were changed over HTTP.
    pub history: PathBuf,
    /// Look at the files at each request and take up what changed.
    pub reload: bool,
    /// Milliseconds that a request waits for a changed module; after that it is answered from the version before,
    /// while the build goes on.
    pub reload_wait_ms: u64,
    /// Milliseconds until a module is tried again that could not be built though nothing is wrong with its files. Each
    /// further time waits twice as long, up to a minute.
    pub retry_ms: u64,
    /// Milliseconds that the functions of a request may take to be compiled, the wait for others included.
    pub ad_hoc_ms: u64,
    /// Find out in the background, for each version of a module, how sure its own answers are.
    pub calibrate: bool,
    /// Sets of functions that requests brought (`tools`), kept compiled.
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

/// What a build did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BuildReport {
    pub module: String,
    pub version: String,
    /// The version that was served before; `None` at the first build.
    pub previous: Option<String>,
    pub functions: usize,
    pub exemplars: usize,
    pub recognizers: usize,
    /// Texts embedded now, and texts whose vectors were kept from before.
    pub embedded: usize,
    pub reused: usize,
    /// Names of functions that came, went, or changed since the version before.
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<String>,
    pub warnings: Diagnostics,
    pub took_ms: f64,
}

/// Why a module could not be prepared; the one that served before still does.
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
    /// A panic, or the runtime going down.
    #[error("the build of module `{0}` was interrupted")]
    Interrupted(ModuleName),
    /// The functions of a request took longer than they may.
    #[error("compiling the functions of a request took longer than {limit_ms} ms (modules.ad_hoc_ms)")]
    Slow { limit_ms: u64 },
    /// It failed a moment ago for a reason that may pass, and is tried again later.
    #[error("module `{name}` cannot be built at the moment: {reason}")]
    Unavailable { name: ModuleName, reason: String },
}

impl PrepareError {
    /// It is no fault of the module's author, and may pass by itself.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Refused { .. } | Self::Compile { .. } | Self::Slow { .. } => false,
            Self::Load { source, .. } => matches!(source, LoadError::Io { .. }),
            Self::Embed { .. } | Self::Index { .. } | Self::Interrupted(_) | Self::Unavailable { .. } => true,
        }
    }
}

/// Told how far a build is: texts embedded so far, and in all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Send + Sync);

/// For builds that nobody watches.
pub fn unwatched(_done: usize, _all: usize) {}

/// A snapshot ready to be installed, with the state of the files that it was made from.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub snapshot: Arc<Snapshot>,
    pub report: BuildReport,
    stamp: module::Stamp,
}

/// What was learned before, and need not be learned again.
#[derive(Default)]
struct Before<'a> {
    /// Of the slots.
    slots: Option<&'a Snapshot>,
    /// Of the functions.
    learned: Option<Arc<Snapshot>>,
}

#[derive(Debug)]
struct Served {
    snapshot: Arc<Snapshot>,
    stamp: module::Stamp,
}

/// All modules that serve. Cheap to clone; clones share.
#[derive(Clone)]
pub struct Snapshots {
    shared: Arc<Shared>,
}

struct Shared {
    served: ArcSwap<BTreeMap<ModuleName, Arc<Served>>>,
    failures: Failures,
    /// One build of a module at a time: an entry for each that is built or waits for that.
    building: Mutex<BTreeMap<ModuleName, Arc<tokio::sync::Mutex<()>>>>,
    options: ModulesOptions,
    retrieve: RetrieveOptions,
    embedder: SharedEmbedder,
    /// By language; embedded at the first build of a module that is measured with it.
    backgrounds: tokio::sync::Mutex<BTreeMap<&'static str, Arc<Background>>>,
    ad_hoc: AdHoc,
    calibrate: OnceLock<Arc<dyn Calibrate>>,
    /// One module at a time is calibrated.
    calibrating: tokio::sync::Mutex<()>,
}

impl Snapshots {
    #[must_use]
    pub fn new(options: ModulesOptions, retrieve: RetrieveOptions, embedder: SharedEmbedder) -> Self {
        Self {
            shared: Arc::new(Shared {
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

    /// The names of the directories under the root that may be modules, sorted. Others have names that no route
    /// reaches.
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
        // Taken first: a file that changes while it is being read makes the next look see a change again.
        let stamp = module::stamp(&directory).map_err(|source| PrepareError::Load {
            name: name.clone(),
            source: LoadError::Io { path: directory.clone(), source },
        })?;
        let (owned, limits) = (name.clone(), self.shared.options.limits.clone());
        let compiled = tokio::task::spawn_blocking(move || compile(load(&directory, &owned, &limits)?, &|| true))
            .await
            .map_err(|_| interrupted(name))?;
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

    /// A module that lies on no disk, for one use: nothing keeps or serves it.
    ///
    /// # Errors
    /// If it cannot be compiled, or the embedding fails.
    pub async fn build_apart(&self, module: Module) -> Result<Snapshot, PrepareError> {
        let parts = compile(module, &|| true)?;
        Ok(self.index(parts, None, Before::default(), &unwatched).await?.0)
    }

    /// What `module` would be in place of the one that serves under its name, whose work is used as far as it says the
    /// same; nothing keeps or serves it.
    ///
    /// # Errors
    /// If it cannot be compiled, or the embedding fails.
    pub async fn build_beside(&self, module: Module) -> Result<Snapshot, PrepareError> {
        let name = module.name.clone();
        let parts = tokio::task::spawn_blocking(move || compile(module, &|| true)).await;
        let beside = Beside::of(&self.shared.options.index, &name);
        let before = self.get(&name);
        let built = self.index(
            parts.map_err(|_| interrupted(&name))??,
            Some(&beside.store),
            Before { slots: before.as_deref(), learned: before.clone() },
            &unwatched,
        );
        Ok(built.await?.0)
    }

    /// Changes the files of a module while nobody builds it, and builds it then. Whatever is asked meanwhile is answered by
    /// the version before, and sees all of the change or nothing.
    ///
    /// # Errors
    /// If `act` fails, which is to change nothing then. What becomes of the build is in the value.
    pub async fn change<T: Send + 'static, E: Send + 'static>(
        &self,
        name: &ModuleName,
        act: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<(T, Result<BuildReport, PrepareError>), Option<E>> {
        let (this, owned) = (self.clone(), name.clone());
        // A task of its own: a client that leaves must not stop it half-way.
        let changed = tokio::spawn(async move {
            let change = async {
                let done = tokio::task::spawn_blocking(act).await.map_err(|_| None)?.map_err(Some)?;
                Ok((done, this.build_in_turn(&owned, &unwatched).await))
            };
            this.in_turn(&owned, change).await
        });
        changed.await.map_err(|_| None)?
    }

    /// Where the versions of a module are kept that were made here.
    #[must_use]
    pub fn history(&self, name: &ModuleName) -> History {
        History::at(self.shared.options.history.join(name.as_str()))
    }

    /// What a module may be at most.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.options.limits
    }

    /// Embeds and indexes what was compiled; `store` keeps the vectors.
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
        let knowledge = learned.await.map_err(|_| interrupted(&owned))?;
        let shown = knowledge.module.functions.iter().map(|_| Shown::default()).collect();
        Ok((Snapshot { knowledge, shown }, indexed))
    }

    /// What modules of this language are measured with.
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

    /// Serves the prepared snapshot from the next request on; running requests finish on theirs.
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
        /// Takes the entry out when nobody needs it any more, also if the build is dropped.
        struct Turn<'a>(&'a Shared, &'a ModuleName, Arc<tokio::sync::Mutex<()>>);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                let mut building = lock(&self.0.building);
                // The map's and this one: others are only made under the lock.
                if Arc::strong_count(&self.2) == 2 {
                    building.remove(self.1);
                }
            }
        }
        let entry = Arc::clone(lock(&self.shared.building).entry(name.clone()).or_default());
        let turn = Turn(&self.shared, name, entry);
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

    /// The module as it serves, for the whole of one request.
    #[must_use]
    pub fn get(&self, name: &ModuleName) -> Option<Arc<Snapshot>> {
        self.shared.served.load().get(name).map(|served| Arc::clone(&served.snapshot))
    }

    /// [`Self::get`], after taking up what changed on disk since (if `reload` is on).
    ///
    /// A module that is on disk and was not loaded yet is loaded, however long that takes; one whose directory is gone
    /// is forgotten. A change that does not load is remembered in [`Self::failures`], and the version before goes on
    /// serving, as it does while a build takes longer than `reload_wait_ms`.
    ///
    /// # Errors
    /// Only where nothing serves under this name.
    pub async fn fresh(&self, name: &ModuleName) -> Result<Arc<Snapshot>, PrepareError> {
        let served = self.get(name);
        if let Some(snapshot) = &served
            && (!self.shared.options.reload || self.is_current(name))
        {
            return Ok(Arc::clone(snapshot));
        }
        if !self.directory(name).is_dir() {
            // Without the root nothing is known of any module: what serves goes on.
            if let Some(snapshot) = served.filter(|_| !self.shared.options.root.is_dir()) {
                return Ok(snapshot);
            }
            self.forget(name);
            return Err(PrepareError::Unknown(name.clone()));
        }
        let (this, owned) = (self.clone(), name.clone());
        // A task of its own: a client that leaves must not stop a build half-way.
        let build = tokio::spawn(async move {
            let build = async {
                // Another request may have built it while this one waited.
                if this.is_current(&owned) { Ok(()) } else { this.build_in_turn(&owned, &unwatched).await.map(drop) }
            };
            this.in_turn(&owned, build).await
        });
        if let Some(before) = served {
            let wait = Duration::from_millis(self.shared.options.reload_wait_ms);
            // Whatever became of the build, something serves.
            let _ = tokio::time::timeout(wait, build).await;
            return Ok(self.get(name).unwrap_or(before));
        }
        match build.await {
            Ok(Ok(())) => self.get(name).ok_or_else(|| self.failure(name)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(interrupted(name)),
        }
    }

    /// True if what serves, or what failed last, was made from the files as they are now.
    fn is_current(&self, name: &ModuleName) -> bool {
        let stamp = self.stamp(name);
        let is_served =
            || self.shared.served.load().get(name).is_some_and(|served| Some(&served.stamp) == stamp.as_ref());
        self.shared.failures.holds(name, stamp.as_ref()) || is_served()
    }

    /// Tries again, for ever, what could not be built for a reason that may pass; and, as long as nothing serves, what
    /// lies on disk and was never tried.
    pub async fn mend(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(self.shared.options.retry_ms.max(1))).await;
            let mut due = self.shared.failures.due();
            if self.shared.served.load().is_empty() {
                let known = self.failures();
                due.extend(self.on_disk().into_iter().filter(|name| !known.contains_key(name)));
            }
            for name in due {
                // What came of it is remembered, and in the log.
                drop(self.fresh(&name).await);
            }
        }
    }

    /// `None` if the directory cannot be looked at.
    fn stamp(&self, name: &ModuleName) -> Option<module::Stamp> {
        module::stamp(&self.directory(name)).ok()
    }

    /// What keeps a module that is on disk from serving.
    fn failure(&self, name: &ModuleName) -> PrepareError {
        self.shared.failures.error(name).unwrap_or_else(|| PrepareError::Unknown(name.clone()))
    }

    /// Nothing serves, though there are modules, or nobody can tell whether there are any.
    #[must_use]
    pub fn serves_nothing(&self) -> bool {
        let root = &self.shared.options.root;
        self.shared.served.load().is_empty() && (root.read_dir().is_err() || !self.on_disk().is_empty())
    }

    /// Everything that serves, by name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Snapshot>> {
        self.shared.served.load().values().map(|served| Arc::clone(&served.snapshot)).collect()
    }

    /// Modules whose newest files do not serve, and why.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<ModuleName, Failure> {
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

/// Vectors of a module that is built beside the one that serves: with those of that one, and gone in the end.
struct Beside {
    directory: PathBuf,
    store: PathBuf,
}

impl Beside {
    /// Where no place can be had, everything is embedded anew.
    fn of(index: &Path, name: &ModuleName) -> Self {
        let directory = index.join(format!(".beside-{}", uuid::Uuid::new_v4().simple()));
        let file = format!("{name}.vectors");
        let store = directory.join(&file);
        if std::fs::create_dir_all(&directory).is_ok() {
            for kind in ["vectors", "labels.vectors", "slots.vectors"] {
                let kept = Path::new(&file).with_extension(kind);
                // Absent before the first build.
                drop(std::fs::copy(index.join(&kept), directory.join(&kept)));
            }
        }
        Self { directory, store }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

fn not_indexed(name: &ModuleName, error: BuildError) -> PrepareError {
    match error {
        BuildError::Embed(source) => PrepareError::Embed { name: name.clone(), source },
        source => PrepareError::Index { name: name.clone(), source },
    }
}

fn interrupted(name: &ModuleName) -> PrepareError {
    PrepareError::Interrupted(name.clone())
}

/// None of these locks is held across anything that can panic, so a poisoned one still guards whole values.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
