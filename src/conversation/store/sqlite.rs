//! The embedded store: one file, one connection, one thread.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::{OpenError, Partition, SessionId, Store, StoreError, Stored, SyncMode, first_revision};

/// `application_id` in the file's header, so that another program's database is never taken for ours: "Uptk".
const APPLICATION: i64 = 0x5570_746B;
/// `user_version` of the tables below.
const FORMAT: i64 = 1;
const TABLES: &str = "
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        expires INTEGER NOT NULL, -- milliseconds since 1970
        data BLOB NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_expiry ON sessions (expires);
";

/// How long to wait for another process that writes to the same file.
const BUSY: Duration = Duration::from_secs(2);
/// Most rows that a sweep removes in one transaction, which bounds how long turns wait for it.
const SWEPT_AT_ONCE: usize = 1_000;

/// Sessions in a file, which is made at the first use: a service without a writable disk still runs, only without
/// sessions. A dedicated thread runs the statements; this is cheaper than a thread pool, and keeps disk waits away from
/// the tasks.
#[derive(Debug)]
pub struct Sqlite {
    jobs: mpsc::Sender<KeeperTask>,
}

type KeeperTask = Box<dyn FnOnce(&mut Keeper) + Send>;

impl Sqlite {
    /// Opens nothing yet.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn new(path: impl Into<PathBuf>, sync: SyncMode) -> Result<Self, OpenError> {
        let (jobs, queue) = mpsc::channel::<KeeperTask>();
        let mut keeper = Keeper { path: path.into(), sync, connection: None, file: None, is_locked: false };
        let work = move || queue.into_iter().for_each(|job| job(&mut keeper));
        thread::Builder::new().name("sessions".to_owned()).spawn(work).map_err(OpenError::Thread)?;
        Ok(Self { jobs })
    }

    /// Runs the work on the thread, even if the caller no longer waits for it.
    fn run<T: Send + 'static>(
        &self,
        writes: bool,
        work: impl FnOnce(&mut Keeper) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let (reply, answer) = oneshot::channel();
        let job: KeeperTask = Box::new(move |keeper| {
            let done = work(keeper);
            match &done {
                Err(failure) if failure.is_lock() => keeper.is_locked = true,
                // A locked file can still be read.
                Ok(_) if writes => keeper.is_locked = false,
                _ => {}
            }
            let done = done.map_err(|failure| failure.of(&keeper.path));
            // Fails if the caller no longer waits.
            let _ = reply.send(done);
        });
        let gone = || StoreError::Unavailable("the thread that keeps sessions has ended".to_owned());
        let sent = self.jobs.send(job);
        async move {
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        }
        .boxed()
    }
}

impl Store for Sqlite {
    fn load<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        let id = id.clone();
        self.run(false, move |keeper| {
            let mut select = keeper
                .open()?
                .prepare_cached("SELECT data, revision, expires FROM sessions WHERE id = ?1 AND expires > ?2")?;
            let row = select.query_row(params![id.as_str(), now.as_millisecond()], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get(2)?))
            });
            let Some((data, revision, expires)) = row.optional()? else { return Ok(None) };
            let expires = Timestamp::from_millisecond(expires).map_err(|_| StoreError::Damaged)?;
            Ok(Some(Stored { data, revision: revision.cast_unsigned(), expires }))
        })
    }

    fn save<'a>(
        &'a self,
        id: &'a SessionId,
        expected: Option<u64>,
        data: Vec<u8>,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        let id = id.clone();
        self.run(true, move |keeper| {
            let connection = keeper.open()?;
            let (expires, now) = (expires.as_millisecond(), now.as_millisecond());
            let (revision, changed) = match expected {
                Some(expected) => {
                    let mut update = connection.prepare_cached(
                        "UPDATE sessions SET revision = ?3, expires = ?4, data = ?5
                         WHERE id = ?1 AND revision = ?2 AND expires > ?6",
                    )?;
                    let (was, is) = (expected.cast_signed(), expected.wrapping_add(1).cast_signed());
                    (is, update.execute(params![id.as_str(), was, is, expires, data, now])?)
                }
                None => {
                    let mut insert = connection.prepare_cached(
                        "INSERT INTO sessions (id, revision, expires, data) VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (id) DO UPDATE
                         SET revision = excluded.revision, expires = excluded.expires, data = excluded.data
                         WHERE sessions.expires <= ?5",
                    )?;
                    let first = first_revision().cast_signed();
                    (first, insert.execute(params![id.as_str(), first, expires, data, now])?)
                }
            };
            if changed == 1 { Ok(revision.cast_unsigned()) } else { Err(StoreError::Conflict.into()) }
        })
    }

    fn delete<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<bool, StoreError>> {
        let id = id.clone();
        self.run(true, move |keeper| {
            let connection = keeper.open()?;
            let mut delete = connection.prepare_cached("DELETE FROM sessions WHERE id = ?1 RETURNING expires")?;
            let expires: Option<i64> = delete.query_row([id.as_str()], |row| row.get(0)).optional()?;
            if expires.is_some() {
                forget_the_log(connection)?;
            }
            Ok(expires.is_some_and(|expires| expires > now.as_millisecond()))
        })
    }

    fn count<'a>(&'a self, owner: &'a str, now: Timestamp) -> BoxFuture<'a, Result<u64, StoreError>> {
        // `0` is the character after `/`, so that the index finds the range between them.
        let (first, end) = (format!("{owner}/"), format!("{owner}0"));
        self.run(false, move |keeper| {
            let mut count = keeper
                .open()?
                .prepare_cached("SELECT count(*) FROM sessions WHERE id >= ?1 AND id < ?2 AND expires > ?3")?;
            let count: i64 = count.query_row(params![first, end, now.as_millisecond()], |row| row.get(0))?;
            Ok(count.cast_unsigned())
        })
    }

    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        async move {
            let mut swept = 0;
            loop {
                let some = self.run(true, move |keeper| keeper.sweep_some(now)).await?;
                swept += some as u64;
                if some < SWEPT_AT_ONCE {
                    return Ok(swept);
                }
            }
        }
        .boxed()
    }

    fn shed(&self, part: Partition, most: u64, most_bytes: u64) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.run(true, move |keeper| keeper.shed(part, most, most_bytes))
    }
}

/// The state of the thread.
struct Keeper {
    path: PathBuf,
    sync: SyncMode,
    connection: Option<Connection>,
    /// Identity of the file that the connection has open.
    file: Option<FileId>,
    /// The last job found the file locked. Later jobs do not wait, as each would wait just as long, one after the
    /// other.
    is_locked: bool,
}

impl Keeper {
    /// The connection; a failed attempt is repeated each time. If the file was deleted or replaced, the old one is
    /// closed: data written there would be lost.
    fn open(&mut self) -> Result<&mut Connection, SqliteFailure> {
        if self.connection.is_some() && file_id(&self.path) != self.file {
            tracing::warn!(path = %self.path.display(), "the file of sessions was deleted or replaced: it is opened anew");
            self.connection = None;
        }
        let wait = if self.is_locked { Duration::ZERO } else { BUSY };
        if let Some(connection) = &mut self.connection {
            connection.busy_timeout(wait)?;
        } else {
            self.connection = Some(connect(&self.path, self.sync, wait)?);
            self.file = file_id(&self.path);
        }
        self.connection.as_mut().ok_or_else(|| unavailable("it is not open"))
    }

    /// Removes entries of one part until the limits hold; ranked by how many later-expiring entries their owner has.
    fn shed(&mut self, part: Partition, most: u64, most_bytes: u64) -> Result<u64, SqliteFailure> {
        if self.connection.is_none() && !self.path.exists() {
            return Ok(0);
        }
        let connection = self.open()?;
        let bound = |most: u64| i64::try_from(most).unwrap_or(i64::MAX);
        let (are_memories, most, most_bytes) = (part == Partition::Memories, bound(most), bound(most_bytes));
        // Ranking takes far longer than counting, and is seldom needed.
        let mut all = connection.prepare_cached(
            "SELECT count(*) > ?2 OR total(length(data)) > ?3 FROM sessions WHERE (substr(id, 1, 1) = '!') = ?1",
        )?;
        if !all.query_row(params![are_memories, most, most_bytes], |row| row.get::<_, bool>(0))? {
            return Ok(0);
        }
        let mut delete = connection.prepare_cached(
            "DELETE FROM sessions WHERE id IN (
                SELECT id FROM (
                    SELECT id,
                        row_number() OVER (ORDER BY own_place, expires DESC, id) AS place,
                        sum(size) OVER (ORDER BY own_bytes, expires DESC, id ROWS UNBOUNDED PRECEDING) AS bytes
                    FROM (
                        SELECT id, expires, length(data) AS size, row_number() OVER own AS own_place,
                            sum(length(data)) OVER own AS own_bytes
                        FROM sessions WHERE (substr(id, 1, 1) = '!') = ?1
                        WINDOW own AS (PARTITION BY substr(id, 1, instr(id, '/')) ORDER BY expires DESC, id
                            ROWS UNBOUNDED PRECEDING)
                    )
                ) WHERE place > ?2 OR bytes > ?3
            )",
        )?;
        let gone = delete.execute(params![are_memories, most, most_bytes])?;
        if gone > 0 {
            give_back(connection)?;
        }
        Ok(gone as u64)
    }

    fn sweep_some(&mut self, now: Timestamp) -> Result<usize, SqliteFailure> {
        // The file is made for a session, not to find that there is none.
        if self.connection.is_none() && !self.path.exists() {
            return Ok(0);
        }
        let connection = self.open()?;
        let mut delete = connection.prepare_cached(
            "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires <= ?1 LIMIT ?2)",
        )?;
        let limit = i64::try_from(SWEPT_AT_ONCE).unwrap_or(i64::MAX);
        let swept = delete.execute(params![now.as_millisecond(), limit])?;
        if swept > 0 {
            give_back(connection)?;
        }
        Ok(swept)
    }
}

/// Identity of a file, which differs from that of another file of the same name.
type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// On other systems an open file cannot be deleted.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}

/// Returns freed pages to the disk; the pragma gives a row per page.
fn give_back(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.prepare_cached("PRAGMA incremental_vacuum")?.query([])?.mapped(|_| Ok(())).for_each(drop);
    forget_the_log(connection)
}

/// Deleted text is overwritten in the file, but the log still contains it; so the log is truncated. If another process
/// is reading just then, a later deletion or sweep does it.
fn forget_the_log(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.prepare_cached("PRAGMA wal_checkpoint(TRUNCATE)")?.query_row([], |_| Ok(()))
}

fn connect(path: &Path, sync: SyncMode, wait: Duration) -> Result<Connection, SqliteFailure> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir_all(directory)?;
    }
    create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(wait)?;
    // This comes first: it has no effect once a file has a page.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(unavailable("the disk does not support SQLite's write-ahead log"));
    }
    let synchronous = match sync {
        SyncMode::Normal => "NORMAL",
        SyncMode::Full => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// What people say is private: only the owner may read a new file and those that SQLite puts beside it.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

fn migrate(connection: &mut Connection) -> Result<(), SqliteFailure> {
    // Immediate: of several processes that open a new file at once, only one makes the tables.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let pragma = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && pragma("application_id")? != APPLICATION {
        return Err(unavailable("it is the database of something else"));
    }
    match pragma("user_version")? {
        FORMAT => Ok(()),
        found if found > FORMAT => Err(SqliteFailure::Newer(found)),
        _ => {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            transaction.commit()?;
            Ok(())
        }
    }
}

/// Why work on the file failed, without the file's name.
#[derive(Debug)]
enum SqliteFailure {
    Sqlite(rusqlite::Error),
    Io(io::Error),
    Newer(i64),
    Store(StoreError),
}

fn unavailable(problem: &str) -> SqliteFailure {
    SqliteFailure::Io(io::Error::other(problem.to_owned()))
}

impl SqliteFailure {
    /// Another process has the file locked.
    fn is_lock(&self) -> bool {
        let code = match self {
            Self::Sqlite(error) => error.sqlite_error_code(),
            Self::Io(_) | Self::Newer(_) | Self::Store(_) => None,
        };
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    fn of(self, path: &Path) -> StoreError {
        let path = path.display();
        match self {
            Self::Sqlite(error) => StoreError::Unavailable(format!("{path}: {error}")),
            Self::Io(error) => StoreError::Unavailable(format!("{path}: {error}")),
            Self::Newer(found) => StoreError::Newer { place: path.to_string(), found, known: FORMAT },
            Self::Store(error) => error,
        }
    }
}

impl From<rusqlite::Error> for SqliteFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<io::Error> for SqliteFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<StoreError> for SqliteFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
