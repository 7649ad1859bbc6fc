//! Modules from functions in requests, compiled once per owner and content. A module is not shared between owners:
//! otherwise an owner could tell from the time that a request takes what others have sent.

use std::{
    num::NonZero,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Before, PrepareError, Snapshot, Snapshots, compile, lock, unwatched};
use crate::{
    conversation::Tenant,
    module::{self, Limits, Module, ModuleName, Recognizer, RecognizerKind},
    shares::{Owner, SharedCache, Shares},
};

/// The most bytes of the kept modules, all together.
const MOST_BYTES: usize = 128 << 20;
/// Bytes of memory for compiled functions, without their patterns, for each byte of their JSON. Resident memory grew by
/// 80 to 232, most for properties that have only a type.
const COMPILED: usize = 256;
/// The factor for the memory of a pattern with the caches of its searches: 1.3 to 1.6 were measured.
const SEARCHED: usize = 2;
/// Bytes of memory for an expression of a list, in the automaton and beside it: a safe estimate.
const EXPRESSION: usize = 256;

/// The approximate time of compiling, in microseconds: for any functions, and for each byte of their JSON. The true
/// time is settled at the end.
const COMPILE: u64 = 1_000;
const BYTE: u64 = 1;
/// Work that takes longer than this leaves the last place to others.
const LONG: u64 = 100_000;

/// The hash of functions.
type FunctionsHash = [u8; blake3::OUT_LEN];

/// See [the module](self).
pub(super) struct AdHoc {
    /// A cell is filled by the first request for it, while others wait.
    kept: Mutex<SharedCache<Tenant, FunctionsHash, Cell>>,
    /// Compiling keeps a core busy: there are no more compilations than cores, so that foreign schemas never crowd out
    /// everything else. Of the owners who wait, the one that has used least comes first.
    compiling: Shares,
}

type Cell = Arc<OnceCell<Arc<Snapshot>>>;

impl AdHoc {
    /// Keeps at most `most` (at least one).
    pub(super) fn new(most: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let kept = Mutex::new(SharedCache::new(most.max(1), MOST_BYTES));
        Self { kept, compiling: Shares::of_places(cores as u64, LONG) }
    }

    fn cell(&self, owner: &Tenant, key: &FunctionsHash, bytes: usize) -> Cell {
        let mut kept = lock(&self.kept);
        if let Some(cell) = kept.get(owner, key) {
            return Arc::clone(cell);
        }
        let cell = Cell::default();
        kept.put(owner, *key, Arc::clone(&cell), bytes);
        cell
    }

    /// Records how many bytes the cell's content takes. If that alone is too much, the cell is not kept.
    fn weigh(&self, owner: &Tenant, key: &FunctionsHash, bytes: usize) {
        lock(&self.kept).weigh(owner, key, bytes);
    }

    /// Removes a cell whose content did not compile: it must not take the place of one that did.
    fn forget(&self, owner: &Tenant, key: &FunctionsHash) {
        let mut kept = lock(&self.kept);
        if kept.peek(owner, key).is_some_and(|cell| !cell.initialized()) {
            kept.remove(owner, key);
        }
    }
}

impl Snapshots {
    /// A module of `functions` alone, in the form of the `OpenAI` API, named `name`. What `known` knows about functions
    /// of the same names applies to these too, as does its language. Without `known` they are understood in `language`,
    /// a BCP 47 tag.
    /// Compiled once for the same owner and content, and kept for its next request.
    ///
    /// # Errors
    /// [`PrepareError::Refused`] with pointers into `functions`; the others as for a module on disk.
    pub async fn ad_hoc(
        &self,
        owner: &Owner,
        name: &ModuleName,
        functions: &[Value],
        known: Option<&Arc<Snapshot>>,
        language: Option<&str>,
    ) -> Result<Arc<Snapshot>, PrepareError> {
        let bytes = serde_json::to_vec(functions).expect("JSON values are JSON");
        let mut hasher = blake3::Hasher::new();
        for part in [name.as_str(), known.map_or("", |known| &known.module.version), language.unwrap_or_default()] {
            hasher.update(part.as_bytes()).update(b"\0");
        }
        let (whose, key) = (Tenant::from(owner), *hasher.update(&bytes).finalize().as_bytes());
        let cell = self.shared.ad_hoc.cell(&whose, &key, bytes.len());
        let limit_ms = self.shared.options.ad_hoc_ms;
        let built = cell.get_or_try_init(|| async {
            let prepared = self.prepare_ad_hoc(owner, (name, functions), known, language, bytes.len());
            let prepared = tokio::time::timeout(Duration::from_millis(limit_ms), prepared).await;
            let (snapshot, weight) = prepared.map_err(|_| PrepareError::Slow { limit_ms })??;
            self.shared.ad_hoc.weigh(&whose, &key, weight);
            Ok(snapshot)
        });
        let built = built.await.map(Arc::clone);
        if built.is_err() {
            self.shared.ad_hoc.forget(&whose, &key);
        }
        built
    }

    /// The module, and the bytes that it takes. When the future is dropped, only the current step is finished.
    async fn prepare_ad_hoc(
        &self,
        owner: &Owner,
        (name, functions): (&ModuleName, &[Value]),
        known: Option<&Arc<Snapshot>>,
        language: Option<&str>,
        json_bytes: usize,
    ) -> Result<(Arc<Snapshot>, usize), PrepareError> {
        let place = self.shared.ad_hoc.compiling.take(owner, 1, COMPILE + BYTE * json_bytes as u64).await;
        // Its strong count shows whether the request still waits.
        let waiting = Arc::new(());
        let watched = Arc::downgrade(&waiting);
        let before = known.map(Arc::clone);
        let (owned, functions, known) = (name.clone(), functions.to_vec(), known.map(Arc::clone));
        let (language, limits) = (language.map(str::to_owned), self.shared.options.limits.clone());
        let compiled = tokio::task::spawn_blocking(move || {
            let (place, clock) = (place, Instant::now());
            let wanted = || watched.strong_count() > 0;
            if !wanted() {
                return Err(super::stopped(&owned));
            }
            let known = known.as_deref().map(|known| &known.module);
            let compiled = module::ad_hoc(owned.clone(), &functions, known, language.as_deref(), &limits)
                .map_err(|diagnostics| PrepareError::Refused { name: owned.clone(), diagnostics })
                .and_then(|module| {
                    if !wanted() {
                        return Err(super::stopped(&owned));
                    }
                    let weight = weight(&module, json_bytes, &limits);
                    Ok((compile(module, &wanted)?, weight))
                });
            // Also where it failed.
            place.end(u64::try_from(clock.elapsed().as_micros()).unwrap_or(u64::MAX));
            compiled
        });
        let (parts, weight) = compiled.await.map_err(|error| super::unfinished(name, &error))??;
        drop(waiting);
        let known_before = Before { slots: before.as_deref(), learned: self.get(name) };
        let (snapshot, indexed) = self.index(parts, None, known_before, &unwatched).await?;
        tracing::debug!(module = %name, embedded = indexed.embedded, "functions of a request compiled");
        Ok((Arc::new(snapshot), weight))
    }
}

/// About how many bytes the compiled module takes.
fn weight(module: &Module, json_bytes: usize, limits: &Limits) -> usize {
    let expressions = |recognizer: &Recognizer| match &recognizer.kind {
        RecognizerKind::List(list) => list.instances.iter().map(|instance| 1 + instance.expressions.len()).sum(),
        RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => 0,
    };
    let expressions: usize = module.recognizers.iter().map(expressions).sum();
    let patterns = module::pattern_bytes(module, &module::ad_hoc_limits(limits));
    json_bytes * COMPILED + patterns * SEARCHED + expressions * EXPRESSION
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::{
        embed::{EmbedError, Embedder, Purpose},
        retrieve::RetrieveOptions,
        snapshot::ModulesOptions,
    };

    #[test]
    fn what_is_kept_is_bounded_by_number_and_by_size() {
        let kept = AdHoc::new(2);
        let key = |n: u8| [n; blake3::OUT_LEN];
        let all = Tenant::everybody();
        let sizes = || lock(&kept.kept).size();
        let first = kept.cell(&all, &key(1), 10);
        assert!(Arc::ptr_eq(&first, &kept.cell(&all, &key(1), 10)));
        kept.cell(&all, &key(2), 10);
        kept.cell(&all, &key(3), 10);
        assert_eq!(sizes(), (2, 20));
        assert!(!Arc::ptr_eq(&first, &kept.cell(&all, &key(1), 10)), "the oldest has gone");
        kept.weigh(&all, &key(1), MOST_BYTES - 30);
        assert_eq!(sizes(), (2, MOST_BYTES - 20));
        kept.cell(&all, &key(4), 15);
        assert_eq!(sizes(), (2, MOST_BYTES - 15), "by number");
        kept.weigh(&all, &key(4), 31);
        assert_eq!(sizes(), (1, 31), "by size");
        kept.forget(&all, &key(4));
        kept.cell(&all, &key(5), 10);
        kept.weigh(&all, &key(5), MOST_BYTES + 1);
        assert_eq!(sizes(), (0, 0), "what is too large by itself is not kept");
    }

    #[test]
    fn an_owner_pushes_out_no_tools_of_another() {
        let key = |n: u8| [n; blake3::OUT_LEN];
        let [polite, other, greedy] = ["polite", "other", "greedy"].map(Tenant::of_key);
        let kept = AdHoc::new(10);
        let cell = kept.cell(&polite, &key(1), 10);
        let is_kept = || lock(&kept.kept).contains(&polite, &key(1));
        assert!(
            !Arc::ptr_eq(&cell, &kept.cell(&other, &key(1), 10)),
            "what one compiled is not told by time to another"
        );
        for n in 0..100 {
            kept.cell(&greedy, &key(n), 10);
        }
        assert!(is_kept(), "by number");
        kept.weigh(&greedy, &key(99), MOST_BYTES - 20);
        kept.cell(&greedy, &key(98), 1_000);
        assert!(is_kept(), "by size");
        kept.weigh(&greedy, &key(98), MOST_BYTES + 1);
        assert!(is_kept(), "by one that is too large");
    }

    /// An embedder that never returns.
    struct Away;

    impl Embedder for Away {
        fn identity(&self) -> &'static str {
            "away"
        }

        fn dimensions(&self) -> usize {
            8
        }

        fn is_symmetric(&self) -> bool {
            true
        }

        fn embed(&self, _: Vec<String>, _: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
            Box::pin(futures::future::pending())
        }
    }

    /// A request waits no longer than `ad_hoc_ms`, and nothing of its functions is kept.
    #[tokio::test(start_paused = true)]
    async fn tools_that_take_too_long_are_given_up() {
        let root = tempfile::tempdir().unwrap();
        let options =
            ModulesOptions { root: root.path().into(), index: root.path().join("index"), ..ModulesOptions::default() };
        let limit = options.ad_hoc_ms;
        let snapshots = Snapshots::new(options, RetrieveOptions::default(), Arc::new(Away));
        let tools = [json!({"name": "f", "description": "Do something", "parameters": {"type": "object"}})];
        let name = ModuleName::new("tools").unwrap();
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) + 1 {
            let began = tokio::time::Instant::now();
            let given_up = snapshots.ad_hoc(&Owner::Process, &name, &tools, None, None).await;
            assert!(matches!(given_up, Err(PrepareError::Slow { limit_ms }) if limit_ms == limit), "{given_up:?}");
            assert_eq!(began.elapsed().as_millis(), u128::from(limit));
        }
        assert_eq!(lock(&snapshots.shared.ad_hoc.kept).size(), (0, 0));
        assert_eq!(snapshots.shared.ad_hoc.compiling.in_use(), 0);
    }
}
