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
    Memory, OpenError, Part, Postgres, SessionId, SessionOptions, Sqlite, Store, StoreError, Stored,
    cipher::Cipher,
    locks::{Locks, Turn},
    url::Place,
};
use crate::conversation::{clock::Clock, tenant::Tenant};

const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// What begins, and the bytes that are kept, between two sweeps.
const SWEEP_AFTER: u64 = 1_000;
const SWEEP_AFTER_BYTES: u64 = 64 << 20;

/// The sessions of a service. Cheap to clone; all clones share their locks, so that a process should open one.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    clock: Clock,
    cipher: Cipher,
    /// The same where there is a key; else a key that stays in this process.
    hiding: Cipher,
    locks: Locks,
    ttl: Duration,
    wait: Duration,
    max_bytes: usize,
    max_sessions: u64,
    max_total_bytes: u64,
    max_memories: u64,
    max_memory_bytes: u64,
    /// What began since the last sweep, and bytes that were kept.
    begun: AtomicU64,
    bytes: AtomicU64,
    /// Much was kept.
    crowded: Notify,
}

impl Sessions {
    /// Reads the files of secrets that the options name. The store itself is opened by the first session that is asked
    /// for, and tried again by the next if that fails: without a disk or server, whatever needs no session works.
    ///
    /// # Errors
    /// For settings that make no sense, and files of secrets that cannot be read.
    pub fn open(options: &SessionOptions) -> Result<Self, OpenError> {
        let address = options.address()?;
        let wrong = |problem| OpenError::Setting { key: "url".to_owned(), problem };
        let store: Arc<dyn Store> = match address.place().map_err(wrong)? {
            Place::Memory => Arc::new(Memory::default()),
            Place::Sqlite(path) => Arc::new(Sqlite::new(path, options.sync)?),
            Place::Postgres(of_url) => Arc::new(Postgres::with(*of_url, options.connections, options.wait())),
        };
        Self::over(store, options)
    }

    /// [`open`](Self::open) with a store that is there already, whatever the options' address is.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn over(store: Arc<dyn Store>, options: &SessionOptions) -> Result<Self, OpenError> {
        Self::by(Clock::default(), store, options)
    }

    /// [`over`](Self::over), by this clock.
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

    /// The time by which all of it is kept: it never goes back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Begins a turn: waits until no other turn of the session runs in this process, and reads what is kept. The
    /// session is the turn's until it is committed or dropped.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if the turns before take too long; else what the store or the key says.
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

    /// What is kept, without waiting for a turn that runs. `None`: there is no such session, or it expired.
    ///
    /// # Errors
    /// What the store or the key says.
    pub async fn read(&self, id: &SessionId) -> Result<Option<Stored>, StoreError> {
        self.opened(id, &self.0.cipher).await
    }

    /// [`read`](Self::read) of what may be hidden. [`StoreError::UnknownKey`]: another process hid it, or this one
    /// before it was started again.
    ///
    /// # Errors
    /// What the store or the key says.
    pub async fn read_hidden(&self, id: &SessionId) -> Result<Option<Stored>, StoreError> {
        self.opened(id, &self.0.hiding).await
    }

    async fn opened(&self, id: &SessionId, cipher: &Cipher) -> Result<Option<Stored>, StoreError> {
        let Some(stored) = self.0.store.load(id, self.now()).await? else { return Ok(None) };
        let data = cipher.open(id, &stored.data)?;
        Ok(Some(Stored { data, ..stored }))
    }

    /// How many sessions this owner has.
    ///
    /// # Errors
    /// What the store says.
    pub async fn count(&self, owner: &str) -> Result<u64, StoreError> {
        self.0.store.count(owner, self.now()).await
    }

    /// Forgets the session; whether there was one. A turn of it in this process is waited for; one in another process
    /// ends in [`StoreError::Conflict`].
    ///
    /// # Errors
    /// [`StoreError::Busy`] if the turns before take too long; else what the store says.
    pub async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let _turn = self.0.locks.acquire(id, self.0.wait).await?;
        self.0.store.delete(id, self.now()).await
    }

    /// Removes what is expired from the store, which is absent before that too, and of what is too much those that
    /// rested for longest; how many that were, sessions and memories.
    ///
    /// # Errors
    /// What the store says.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let Inner { store, max_sessions, max_total_bytes, max_memories, max_memory_bytes, .. } = &*self.0;
        self.0.begun.store(0, Ordering::Relaxed);
        self.0.bytes.store(0, Ordering::Relaxed);
        let expired = store.sweep(self.now()).await?;
        let sessions = store.shed(Part::Sessions, *max_sessions, *max_total_bytes).await?;
        Ok(expired + sessions + store.shed(Part::Memories, *max_memories, *max_memory_bytes).await?)
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
                    // Once, not each minute that the disk stays full.
                    Err(error) if works => {
                        tracing::warn!(%error, "expired sessions could not be removed");
                        works = false;
                    }
                    Err(_) => {}
                }
            }
        }))
    }

    /// Takes what this owner can take once, in all processes that share the store; whether this was the first time. `name` is
    /// remembered for so long.
    ///
    /// # Errors
    /// What the store says: then nobody knows.
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

    /// What is remembered for this owner under a name of the service's own, which no client can give.
    ///
    /// # Errors
    /// What the store or the key says.
    pub async fn recall(&self, owner: &Tenant, name: &str) -> Result<Option<Stored>, StoreError> {
        self.read(&SessionId::reserved(owner, name)).await
    }

    /// Remembers something under such a name for so long, if it is still at this revision; the new one.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if it is at another revision; else what the store says.
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

    /// Counts what was kept, and has the sweeper come where that is much.
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

/// A session during a turn. Dropped without [`commit`](Self::commit) it stays as it was.
pub struct Session {
    /// What was kept; `None`: the session is new, or expired.
    pub data: Option<Vec<u8>>,
    /// Of `data`.
    pub revision: Option<u64>,
    /// How long ago it was kept.
    pub age: Duration,
    id: SessionId,
    sessions: Sessions,
    _turn: Turn,
}

impl Session {
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Keeps what the turn made of the session so far; the turn goes on.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub async fn keep(&mut self, data: impl AsRef<[u8]>) -> Result<u64, StoreError> {
        let sessions = &self.sessions;
        let revision = sessions.save(&self.id, self.revision, data.as_ref(), &sessions.0.cipher).await?;
        self.revision = Some(revision);
        Ok(revision)
    }

    /// Keeps what the turn made of the session, renews its expiry and ends the turn; the new revision. What is
    /// acknowledged here survives the end of the process. A store that is cut off while it answers leaves open whether
    /// the turn is kept: [`StoreError::Unavailable`] promises neither.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if another process changed or deleted the session since the turn began, and
    /// [`StoreError::TooLarge`]: then nothing changes. Else what the store says.
    pub async fn commit(self, data: impl AsRef<[u8]>) -> Result<u64, StoreError> {
        self.sessions.save(&self.id, self.revision, data.as_ref(), &self.sessions.0.cipher).await
    }

    /// [`commit`](Self::commit) of what must not lie anywhere as it is. Without a key of the configuration it is
    /// encrypted under one that this process alone has, and is lost with it.
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
