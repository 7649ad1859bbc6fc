use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use tokio::{sync::Notify, task::JoinHandle, time::MissedTickBehavior};

use super::{
    Memory, OpenError, Partition, Postgres, SessionId, SessionOptions, Sqlite, Store, StoreError, Stored,
    cipher::Cipher,
    locks::{Locks, SessionGuard},
    url::ParsedUrl,
};
use crate::conversation::{clock::Clock, tenant::Tenant};

const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// New entries, and stored bytes, that trigger a sweep.
const SWEEP_AFTER: u64 = 1_000;
const SWEEP_AFTER_BYTES: u64 = 64 << 20;

/// The sessions of a service. Clones are cheap and share their locks, so a process should open only one.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    clock: Clock,
    cipher: Cipher,
    /// The same cipher if there is a key; otherwise one with a key that stays in this process.
    hiding: Cipher,
    locks: Locks,
    ttl: Duration,
    wait: Duration,
    max_bytes: usize,
    max_sessions: u64,
    max_total_bytes: u64,
    max_memories: u64,
    max_memory_bytes: u64,
    /// Entries that began, and bytes that were stored, since the last sweep.
    begun: AtomicU64,
    bytes: AtomicU64,
    /// Signalled when much was stored.
    crowded: Notify,
}

impl Sessions {
    /// Reads the secret files that the options name. The store itself is opened for the first session, and retried for
    /// the next if that fails: without a disk or server, everything that needs no session works.
    ///
    /// # Errors
    /// For invalid settings, and for secret files that cannot be read.
    pub fn open(options: &SessionOptions) -> Result<Self, OpenError> {
        let address = options.address()?;
        let wrong = |problem| OpenError::Setting { key: "url".to_owned(), problem };
        let store: Arc<dyn Store> = match address.place().map_err(wrong)? {
            ParsedUrl::Memory => Arc::new(Memory::default()),
            ParsedUrl::Sqlite(path) => Arc::new(Sqlite::new(path, options.sync)?),
            ParsedUrl::Postgres(of_url) => Arc::new(Postgres::with(*of_url, options.connections, options.wait())),
        };
        Self::over(store, options)
    }

    /// [`open`](Self::open) with an existing store, whatever the options' address is.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn over(store: Arc<dyn Store>, options: &SessionOptions) -> Result<Self, OpenError> {
        Self::by(Clock::default(), store, options)
    }

    /// [`over`](Self::over) with the given clock.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn by(clock: Clock, store: Arc<dyn Store>, options: &SessionOptions) -> Result<Self, OpenError> {
        if let Some((key, problem)) = options.problem() {
            return Err(OpenError::Setting { key, problem });
        }
        let (key, older) = (options.current_key()?, options.older_keys());
        let reads_plain = options.read_plain || key.is_none();
        Ok(Self(Arc::new(Inner {
            store,
            clock,
            cipher: Cipher::new(key.as_ref(), &older, options.read_plain),
            hiding: Cipher::new(Some(&key.unwrap_or_else(Cipher::random_key)), &older, reads_plain),
            locks: Locks::default(),
            ttl: Duration::from_secs(options.ttl_s),
            wait: options.wait(),
            max_bytes: options.max_bytes,
            max_sessions: options.max_sessions,
            max_total_bytes: options.max_total_bytes,
            max_memories: options.max_memories,
            max_memory_bytes: options.max_memory_bytes,
            begun: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            crowded: Notify::new(),
        })))
    }

    /// The clock's time, which never goes back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Begins a turn: waits until no other turn of the session runs in this process, and reads the stored data. The
    /// turn owns the session until it is committed or dropped.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if earlier turns take too long; otherwise the error of the store or the key.
    pub async fn begin(&self, id: &SessionId) -> Result<Session, StoreError> {
        let turn = self.0.locks.acquire(id, self.0.wait).await?;
        let stored = self.read(id).await?;
        let age = stored.as_ref().map_or(Duration::ZERO, |stored| {
            let left = self.now().duration_until(stored.expires).try_into().unwrap_or(Duration::ZERO);
            self.0.ttl.saturating_sub(left)
        });
        let (data, revision) = stored.map(|stored| (stored.data, stored.revision)).unzip();
        Ok(Session { data, revision, age, id: id.clone(), sessions: self.clone(), _turn: turn })
    }

    /// The stored data, without waiting for a running turn. `None` if there is no such session, or it expired.
    ///
    /// # Errors
    /// The error of the store or the key.
    pub async fn read(&self, id: &SessionId) -> Result<Option<Stored>, StoreError> {
        self.opened(id, &self.0.cipher).await
    }

    /// [`read`](Self::read) for hidden data. [`StoreError::UnknownKey`] means that another process hid it, or this one
    /// before a restart.
    ///
    /// # Errors
    /// The error of the store or the key.
    pub async fn read_hidden(&self, id: &SessionId) -> Result<Option<Stored>, StoreError> {
        self.opened(id, &self.0.hiding).await
    }

    async fn opened(&self, id: &SessionId, cipher: &Cipher) -> Result<Option<Stored>, StoreError> {
        let Some(stored) = self.0.store.load(id, self.now()).await? else { return Ok(None) };
        let data = cipher.open(id, &stored.data)?;
        Ok(Some(Stored { data, ..stored }))
    }

    /// The number of this owner's sessions.
    ///
    /// # Errors
    /// The store's error.
    pub async fn count(&self, owner: &str) -> Result<u64, StoreError> {
        self.0.store.count(owner, self.now()).await
    }

    /// Deletes the session; returns whether it existed. Waits for a running turn in this process; one in another
    /// process ends in [`StoreError::Conflict`].
    ///
    /// # Errors
    /// [`StoreError::Busy`] if earlier turns take too long; otherwise the store's error.
    pub async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let _turn = self.0.locks.acquire(id, self.0.wait).await?;
        self.0.store.delete(id, self.now()).await
    }

    /// Removes expired entries, which already count as absent, and the longest unused ones above the limits; returns
    /// how many, sessions and memories together.
    ///
    /// # Errors
    /// The store's error.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let Inner { store, max_sessions, max_total_bytes, max_memories, max_memory_bytes, .. } = &*self.0;
        self.0.begun.store(0, Ordering::Relaxed);
        self.0.bytes.store(0, Ordering::Relaxed);
        let expired = store.sweep(self.now()).await?;
        let sessions = store.shed(Partition::Sessions, *max_sessions, *max_total_bytes).await?;
        Ok(expired + sessions + store.shed(Partition::Memories, *max_memories, *max_memory_bytes).await?)
    }

    /// Sweeps now, once a minute, and whenever many sessions began. Must be called within a Tokio runtime.
    #[must_use = "dropping it stops the sweeping"]
    pub fn sweep_in_background(&self) -> Sweeper {
        let sessions = self.clone();
        Sweeper(tokio::spawn(async move {
            let mut ticks = tokio::time::interval(SWEEP_EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut works = true;
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = sessions.0.crowded.notified() => {}
                }
                match sessions.sweep().await {
                    Ok(0) => works = true,
                    Ok(count) => {
                        tracing::debug!(count, "expired sessions were removed");
                        works = true;
                    }
                    // Logged once, not every minute while the disk stays full.
                    Err(error) if works => {
                        tracing::warn!(%error, "expired sessions could not be removed");
                        works = false;
                    }
                    Err(_) => {}
                }
            }
        }))
    }

    /// Takes something that this owner can take only once, across all processes that share the store; returns whether
    /// this was the first time. `name` is remembered for this long.
    ///
    /// # Errors
    /// The store's error; then it is unknown whether it was taken.
    pub async fn take_once(&self, owner: &Tenant, name: &str, remembered: Duration) -> Result<bool, StoreError> {
        let now = self.now();
        let until = now.saturating_add(remembered).unwrap_or(Timestamp::MAX);
        match self.0.store.save(&SessionId::reserved(owner, name), None, Vec::new(), until, now).await {
            Ok(_) => {
                self.grew(true, 0);
                Ok(true)
            }
            Err(StoreError::Conflict) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What is remembered for this owner under an internal name, which clients cannot use.
    ///
    /// # Errors
    /// The error of the store or the key.
    pub async fn recall(&self, owner: &Tenant, name: &str) -> Result<Option<Stored>, StoreError> {
        self.read(&SessionId::reserved(owner, name)).await
    }

    /// Remembers something under such a name for this long, if it still has this revision; returns the new one.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if it has another revision; otherwise the store's error.
    pub async fn remember(
        &self,
        owner: &Tenant,
        name: &str,
        expected: Option<u64>,
        data: &[u8],
        remembered: Duration,
    ) -> Result<u64, StoreError> {
        let Inner { store, cipher, .. } = &*self.0;
        let (id, now) = (SessionId::reserved(owner, name), self.now());
        let until = now.saturating_add(remembered).unwrap_or(Timestamp::MAX);
        let until = Timestamp::from_millisecond(until.as_millisecond()).unwrap_or(until);
        let revision = store.save(&id, expected, cipher.seal(&id, data)?, until, now).await?;
        self.grew(expected.is_none(), data.len());
        Ok(revision)
    }

    /// Counts stored data, and wakes the sweeper if there is much.
    fn grew(&self, is_new: bool, bytes: usize) {
        let begun = self.0.begun.fetch_add(u64::from(is_new), Ordering::Relaxed);
        let kept = self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if begun >= SWEEP_AFTER || kept >= SWEEP_AFTER_BYTES {
            self.0.crowded.notify_one();
        }
    }

    async fn save(
        &self,
        id: &SessionId,
        expected: Option<u64>,
        data: &[u8],
        cipher: &Cipher,
    ) -> Result<u64, StoreError> {
        let Inner { store, ttl, max_bytes: limit, .. } = &*self.0;
        if data.len() > *limit {
            return Err(StoreError::TooLarge { bytes: data.len(), limit: *limit });
        }
        let now = self.now();
        let expires = now.saturating_add(*ttl).unwrap_or(Timestamp::MAX);
        let expires = Timestamp::from_millisecond(expires.as_millisecond()).unwrap_or(expires);
        let revision = store.save(id, expected, cipher.seal(id, data)?, expires, now).await?;
        self.grew(expected.is_none(), data.len());
        Ok(revision)
    }
}

/// A session during a turn. Dropping it without [`commit`](Self::commit) changes nothing.
pub struct Session {
    /// The stored data; `None` if the session is new, or expired.
    pub data: Option<Vec<u8>>,
    /// Revision of `data`.
    pub revision: Option<u64>,
    /// How long ago `data` was stored.
    pub age: Duration,
    id: SessionId,
    sessions: Sessions,
    _turn: SessionGuard,
}

impl Session {
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Stores an intermediate state of the turn; the turn continues.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub async fn keep(&mut self, data: impl AsRef<[u8]>) -> Result<u64, StoreError> {
        let sessions = &self.sessions;
        let revision = sessions.save(&self.id, self.revision, data.as_ref(), &sessions.0.cipher).await?;
        self.revision = Some(revision);
        Ok(revision)
    }

    /// Stores the new state, renews the expiry and ends the turn; returns the new revision. An acknowledged state
    /// survives the end of the process. If a store is cut off while answering, [`StoreError::Unavailable`] leaves open
    /// whether the state was stored.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if another process changed or deleted the session since the turn began, and
    /// [`StoreError::TooLarge`]: then nothing changes. Otherwise the store's error.
    pub async fn commit(self, data: impl AsRef<[u8]>) -> Result<u64, StoreError> {
        self.sessions.save(&self.id, self.revision, data.as_ref(), &self.sessions.0.cipher).await
    }

    /// [`commit`](Self::commit) for data that must not be stored plain. Without a configured key it is encrypted with a
    /// key of this process alone, and lost with the process.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub async fn commit_hidden(self, data: impl AsRef<[u8]>) -> Result<u64, StoreError> {
        self.sessions.save(&self.id, self.revision, data.as_ref(), &self.sessions.0.hiding).await
    }
}

/// Sweeps until it is dropped.
#[derive(Debug)]
pub struct Sweeper(JoinHandle<()>);

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}
