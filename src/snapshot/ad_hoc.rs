//! Modules out of functions that requests bring, compiled once per owner and content. What one owner brought is not shared
//! with another one, who could tell by the time that it takes what others bring.

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
    shares::{Kept, Owner, Shares},
};

/// Bytes that the kept modules take, all together.
const MOST_BYTES: usize = 128 << 20;
/// What functions take compiled, without their patterns, for each byte of their JSON. Resident memory grew by 80 to
/// 232, most where properties have nothing but a type.
const COMPILED: usize = 256;
/// What a pattern takes with the caches of its searches, for each byte that it takes without: 1.3 to 1.6 were measured.
const SEARCHED: usize = 2;
/// What an expression of a list takes in the automaton and beside it, in bytes: an estimate, on the safe side.
const EXPRESSION: usize = 256;

/// Microseconds that compiling takes, about: for any functions, and more for each byte of their JSON. What it took in truth
/// is put right at its end.
const COMPILE: u64 = 1_000;
const BYTE: u64 = 1;
/// What takes longer leaves the last place to others.
const LONG: u64 = 100_000;

/// The hash of functions.
type Key = [u8; blake3::OUT_LEN];

/// See [the module](self).
pub(super) struct AdHoc {
    /// Cells are filled by the first that asks, while the others wait for it.
    kept: Mutex<Kept<Tenant, Key, Cell>>,
    /// Compiling is work for a core: no more of it than there are cores, so that strangers' schemas never crowd out
    /// everything else; and of those who wait, who had least comes first.
    compiling: Shares,
}

type Cell = Arc<OnceCell<Arc<Snapshot>>>;

impl AdHoc {
    /// Keeps at most `most` (at least one).
    pub(super) fn new(most: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let kept = Mutex::new(Kept::new(most.max(1), MOST_BYTES));
        Self { kept, compiling: Shares::of_places(cores as u64, LONG) }
    }

    fn cell(&self, owner: &Tenant, key: &Key, bytes: usize) -> Cell {
        let mut kept = lock(&self.kept);
        if let Some(cell) = kept.get(owner, key) {
            return Arc::clone(cell);
        }
        let cell = Cell::default();
        kept.put(owner, *key, Arc::clone(&cell), bytes);
        cell
    }

    /// What is in the cell takes so many bytes. Where that alone is too much, it is not kept.
    fn weigh(&self, owner: &Tenant, key: &Key, bytes: usize) {
        lock(&self.kept).weigh(owner, key, bytes);
    }

    /// What did not compile must not take the place of what did.
    fn forget(&self, owner: &Tenant, key: &Key) {
        let mut kept = lock(&self.kept);
        if kept.peek(owner, key).is_some_and(|cell| !cell.initialized()) {
            kept.remove(owner, key);
        }
    }
}

impl Snapshots {
    /// A module of `functions` alone, each as the `OpenAI` API has it, named `name`; what `known` knows of functions of
    /// the same names is theirs too, its language among it; without it they are understood in `language`, a BCP 47 tag.
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

    /// The module, and what it takes in bytes. Nothing more is done for it when the future is dropped, but for the step
    /// that runs.
    async fn prepare_ad_hoc(
        &self,
        owner: &Owner,
        (name, functions): (&ModuleName, &[Value]),
        known: Option<&Arc<Snapshot>>,
        language: Option<&str>,
        json_bytes: usize,
    ) -> Result<(Arc<Snapshot>, usize), PrepareError> {
        let place = self.shared.ad_hoc.compiling.take(owner, 1, COMPILE + BYTE * json_bytes as u64).await;
        // Its strong count tells whether anybody waits.
        let waiting = Arc::new(());
        let watched = Arc::downgrade(&waiting);
        let before = known.map(Arc::clone);
        let (owned, functions, known) = (name.clone(), functions.to_vec(), known.map(Arc::clone));
        let (language, limits) = (language.map(str::to_owned), self.shared.options.limits.clone());
        let compiled = tokio::task::spawn_blocking(move || {
            let (place, clock) = (place, Instant::now());
            let wanted = || watched.strong_count() > 0;
            if !wanted() {
                return Err(super::interrupted(&owned));
            }
            let known = known.as_deref().map(|known| &known.module);
            let module = module::ad_hoc(owned.clone(), &functions, known, language.as_deref(), &limits)
                .map_err(|diagnostics| PrepareError::Refused { name: owned.clone(), diagnostics })?;
            if !wanted() {
                return Err(super::interrupted(&owned));
            }
            let weight = weight(&module, json_bytes, &limits);
            let parts = compile(module, &wanted)?;
            place.end(u64::try_from(clock.elapsed().as_micros()).unwrap_or(u64::MAX));
            Ok((parts, weight))
        });
        let (parts, weight) = compiled.await.map_err(|_| super::interrupted(name))??;
        drop(waiting);
        let known_before = Before { slots: before.as_deref(), learned: self.get(name) };
        let (snapshot, indexed) = self.index(parts, None, known_before, &unwatched).await?;
        tracing::debug!(module = %name, embedded = indexed.embedded, "functions of a request compiled");
        Ok((Arc::new(snapshot), weight))
    }
}

/// About how many bytes the module takes when it is compiled.
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

    /// An embedder that does not come back.
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

    /// Whoever brings them waits no longer than `ad_hoc_ms`, and nothing of them stays.
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
