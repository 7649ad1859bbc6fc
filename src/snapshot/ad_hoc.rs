//! Modules out of functions that requests bring, compiled once per content.

use std::{
    num::NonZero,
    sync::{Arc, Mutex},
};

use lru::LruCache;
use serde_json::Value;
use tokio::sync::{OnceCell, Semaphore};

use super::{PrepareError, Snapshot, Snapshots, compile, lock, unwatched};
use crate::module::{self, ModuleName};

/// Bytes of JSON that the kept functions were, all together. Compiled, they take many times that.
const MOST_BYTES: usize = 8 << 20;

type Key = [u8; blake3::OUT_LEN];

/// See [the module](self). What was not asked for longest makes room.
pub(super) struct AdHoc {
    kept: Mutex<Kept>,
    /// Compiling is work for a core that goes on when its client has left: no more of it than there are cores, so that
    /// strangers' schemas never crowd out everything else.
    compiling: Arc<Semaphore>,
}

struct Kept {
    entries: LruCache<Key, Entry>,
    /// Of all entries.
    bytes: usize,
}

struct Entry {
    /// Filled by the first that asks, while the others wait for it.
    cell: Arc<OnceCell<Arc<Snapshot>>>,
    bytes: usize,
}

impl AdHoc {
    /// Keeps at most `most` (at least one).
    pub(super) fn new(most: usize) -> Self {
        let most = NonZero::new(most).unwrap_or(NonZero::<usize>::MIN);
        // Grows as it is filled.
        let mut entries = LruCache::unbounded();
        entries.resize(most);
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { kept: Mutex::new(Kept { entries, bytes: 0 }), compiling: Arc::new(Semaphore::new(cores)) }
    }

    fn cell(&self, key: Key, bytes: usize) -> Arc<OnceCell<Arc<Snapshot>>> {
        let mut kept = lock(&self.kept);
        if let Some(entry) = kept.entries.get(&key) {
            return Arc::clone(&entry.cell);
        }
        let cell = Arc::new(OnceCell::new());
        kept.bytes += bytes;
        if let Some((_, dropped)) = kept.entries.push(key, Entry { cell: Arc::clone(&cell), bytes }) {
            kept.bytes -= dropped.bytes;
        }
        while kept.bytes > MOST_BYTES && kept.entries.len() > 1 {
            let Some((_, dropped)) = kept.entries.pop_lru() else { break };
            kept.bytes -= dropped.bytes;
        }
        cell
    }

    /// What did not compile must not take the place of what did.
    fn forget(&self, key: &Key) {
        let mut kept = lock(&self.kept);
        if kept.entries.peek(key).is_some_and(|entry| !entry.cell.initialized())
            && let Some(dropped) = kept.entries.pop(key)
        {
            kept.bytes -= dropped.bytes;
        }
    }
}

impl Snapshots {
    /// A module of `functions` alone, each as the `OpenAI` API has it, named `name`; what `known` knows of functions of
    /// the same names is theirs too. Compiled once for the same content, and kept for the next request.
    ///
    /// # Errors
    /// [`PrepareError::Refused`] with pointers into `functions`; the others as for a module on disk.
    pub async fn ad_hoc(
        &self,
        name: &ModuleName,
        functions: &[Value],
        known: Option<&Arc<Snapshot>>,
    ) -> Result<Arc<Snapshot>, PrepareError> {
        let bytes = serde_json::to_vec(functions).expect("JSON values are JSON");
        let mut hasher = blake3::Hasher::new();
        for part in [name.as_str(), known.map_or("", |known| &known.module.version)] {
            hasher.update(part.as_bytes()).update(b"\0");
        }
        let key = *hasher.update(&bytes).finalize().as_bytes();
        let cell = self.shared.ad_hoc.cell(key, bytes.len());
        let built = cell.get_or_try_init(|| self.prepare_ad_hoc(name, functions, known)).await.map(Arc::clone);
        if built.is_err() {
            self.shared.ad_hoc.forget(&key);
        }
        built
    }

    async fn prepare_ad_hoc(
        &self,
        name: &ModuleName,
        functions: &[Value],
        known: Option<&Arc<Snapshot>>,
    ) -> Result<Arc<Snapshot>, PrepareError> {
        let leave = Arc::clone(&self.shared.ad_hoc.compiling).acquire_owned().await;
        let leave = leave.map_err(|_| super::interrupted(name))?;
        let (owned, functions, known) = (name.clone(), functions.to_vec(), known.map(Arc::clone));
        let limits = self.shared.options.limits.clone();
        let compiled = tokio::task::spawn_blocking(move || {
            let _leave = leave;
            let module =
                module::ad_hoc(owned.clone(), &functions, known.as_deref().map(|known| &known.module), &limits)
                    .map_err(|diagnostics| PrepareError::Refused { name: owned, diagnostics })?;
            compile(module)
        });
        let parts = compiled.await.map_err(|_| super::interrupted(name))??;
        let (snapshot, indexed) = self.index(parts, None, &unwatched).await?;
        tracing::debug!(module = %name, embedded = indexed.embedded, "functions of a request compiled");
        Ok(Arc::new(snapshot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_by_number_and_by_size() {
        let kept = AdHoc::new(2);
        let key = |n: u8| [n; blake3::OUT_LEN];
        let sizes = || {
            let kept = lock(&kept.kept);
            (kept.entries.len(), kept.bytes)
        };
        let first = kept.cell(key(1), 10);
        assert!(Arc::ptr_eq(&first, &kept.cell(key(1), 10)));
        kept.cell(key(2), 10);
        kept.cell(key(3), 10);
        assert_eq!(sizes(), (2, 20));
        assert!(!Arc::ptr_eq(&first, &kept.cell(key(1), 10)), "the oldest has gone");
        kept.cell(key(4), MOST_BYTES);
        assert_eq!(sizes(), (1, MOST_BYTES));
        kept.forget(&key(4));
        assert_eq!(sizes(), (0, 0));
    }
}
