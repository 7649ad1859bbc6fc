//! The store that several replicas share.

use std::{io, time::Duration};

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;
use sqlx::{
    Row as _,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use tokio::{
    sync::OnceCell,
    time::{sleep, timeout},
};

use super::{
    OpenError, Partition, SessionId, Store, StoreError, StoreUrl, Stored, first_revision, url::connect_options,
};

/// Stored in `uptake_sessions_format`.
const FORMAT: i32 = 1;
/// Held while the tables are made, so that of replicas that start at once only one makes them.
const MIGRATION_LOCK: i64 = 0x5570_7461_6B65;
/// Pause between attempts to reach an absent server.
const RETRY: Duration = Duration::from_millis(50);
/// Most rows that a sweep removes in one statement.
const SWEPT_AT_ONCE: u64 = 1_000;

/// Sessions in a table of a PostgreSQL database, which is made at the first use. An acknowledged turn is as safe as the
/// server's `synchronous_commit` setting. Deleted data stays in the server's files until they are vacuumed, and in its
/// log and backups: where that matters, encrypt.
#[derive(Debug)]
pub struct Postgres {
    options: PgConnectOptions,
    connections: u32,
    wait: Duration,
    /// Set by the first connection that succeeds.
    pool: OnceCell<PgPool>,
}

impl Postgres {
    /// Does not connect yet. `wait`: how long an operation may take, including a restart of the server.
    ///
    /// # Errors
    /// If this is not the address of a PostgreSQL server.
    pub fn new(url: &StoreUrl, connections: u32, wait: Duration) -> Result<Self, OpenError> {
        let options = connect_options(url.expose());
        let options = options.map_err(|problem| OpenError::Setting { key: "url".to_owned(), problem })?;
        Ok(Self::with(options, connections, wait))
    }

    pub(super) fn with(options: PgConnectOptions, connections: u32, wait: Duration) -> Self {
        Self { options, connections, wait, pool: OnceCell::new() }
    }

    /// Runs the work within the time limit, and once more if the connection turned out to be dead: the first statement
    /// after a server restart notices it, and a check before each statement would cost more than it saves.
    async fn run<T, F: Future<Output = Result<T, sqlx::Error>>>(
        &self,
        work: impl Fn(PgPool, Attempt) -> F,
    ) -> Result<T, StoreError> {
        let mut last = String::new();
        let tries = async {
            let mut attempt = Attempt::First;
            loop {
                let done = match self.pool.get_or_try_init(|| self.connect()).await {
                    Ok(pool) => work(pool.clone(), attempt).await.map_err(PostgresFailure::Sqlx),
                    Err(failure) => Err(failure),
                };
                match done {
                    Err(PostgresFailure::Sqlx(error)) if is_lost(&error) => {
                        last = format!("; {error}");
                        // The first attempt may have used a dead connection; after the second, the server is absent, or
                        // not ready yet.
                        if attempt == Attempt::Again {
                            sleep(RETRY).await;
                        }
                        attempt = Attempt::Again;
                    }
                    done => return done.map_err(|failure| self.explain(&failure)),
                }
            }
        };
        let done = timeout(self.wait, tries).await;
        let ms = self.wait.as_millis();
        done.map_err(|_| StoreError::Unavailable(format!("{}: no answer in {ms} ms{last}", self.place())))?
    }

    async fn connect(&self) -> Result<PgPool, PostgresFailure> {
        let pool = PgPoolOptions::new()
            .max_connections(self.connections)
            .acquire_timeout(self.wait)
            .test_before_acquire(false)
            .connect_lazy_with(self.options.clone());
        match migrate(&pool).await.map_err(PostgresFailure::Sqlx)? {
            FORMAT => Ok(pool),
            found => Err(PostgresFailure::Newer(found)),
        }
    }

    fn explain(&self, failure: &PostgresFailure) -> StoreError {
        let place = self.place();
        match failure {
            PostgresFailure::Sqlx(error) => StoreError::Unavailable(format!("{place}: {error}")),
            PostgresFailure::Newer(found) => StoreError::Newer { place, found: (*found).into(), known: FORMAT.into() },
        }
    }

    fn place(&self) -> String {
        let options = &self.options;
        let database = options.get_database().unwrap_or_else(|| options.get_username());
        match options.get_socket() {
            Some(socket) => format!("PostgreSQL at {}, database {database}", socket.display()),
            None => format!("PostgreSQL at {}:{}, database {database}", options.get_host(), options.get_port()),
        }
    }
}

enum PostgresFailure {
    Sqlx(sqlx::Error),
    /// The tables have this format.
    Newer(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    /// The previous attempt may have succeeded: only its answer is known to be lost.
    Again,
}

/// The connection is lost or closing; another one may work.
fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        // Invalid data means the certificate: a retry would not help.
        sqlx::Error::Io(error) => error.kind() != io::ErrorKind::InvalidData,
        sqlx::Error::WorkerCrashed => true,
        // The server shuts down (57P01), has crashed (57P02), starts (57P03); the connection failed (class 08).
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| matches!(&*code, "57P01" | "57P02" | "57P03") || code.starts_with("08"))
        }
        _ => false,
    }
}

/// Makes the tables if there are none; returns their format.
async fn migrate(pool: &PgPool) -> Result<i32, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    // Checked first, since a user of the tables may lack the right to create them.
    let exists = "SELECT to_regclass('uptake_sessions_format') IS NOT NULL";
    if !sqlx::query_scalar::<_, bool>(exists).fetch_one(&mut *transaction).await? {
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATION_LOCK).execute(&mut *transaction).await?;
        sqlx::raw_sql(
            "CREATE TABLE IF NOT EXISTS uptake_sessions (
                 id text COLLATE \"C\" PRIMARY KEY,
                 revision bigint NOT NULL,
                 expires bigint NOT NULL, -- milliseconds since 1970
                 data bytea NOT NULL
             );
             CREATE INDEX IF NOT EXISTS uptake_sessions_by_expiry ON uptake_sessions (expires);
             CREATE TABLE IF NOT EXISTS uptake_sessions_format (version integer PRIMARY KEY);",
        )
        .execute(&mut *transaction)
        .await?;
        let insert = "INSERT INTO uptake_sessions_format VALUES ($1) ON CONFLICT DO NOTHING";
        sqlx::query(insert).bind(FORMAT).execute(&mut *transaction).await?;
    }
    let version = "SELECT coalesce(max(version), 0) FROM uptake_sessions_format";
    let version = sqlx::query_scalar(version).fetch_one(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(version)
}

impl Store for Postgres {
    fn load<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        async move {
            let row = self.run(|pool, _| select(pool, id, now)).await?;
            let Some((data, revision, expires)) = row else { return Ok(None) };
            let expires = Timestamp::from_millisecond(expires).map_err(|_| StoreError::Damaged)?;
            Ok(Some(Stored { data, revision: revision.cast_unsigned(), expires }))
        }
        .boxed()
    }

    fn save<'a>(
        &'a self,
        id: &'a SessionId,
        expected: Option<u64>,
        data: Vec<u8>,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        async move {
            let was = expected.map(u64::cast_signed);
            let is = expected.map_or_else(first_revision, |revision| revision.wrapping_add(1)).cast_signed();
            let data = data.as_slice();
            let saved = self.run(|pool, attempt| async move {
                if write(&pool, id, was, is, data, expires, now).await? {
                    return Ok(true);
                }
                // Perhaps our own earlier attempt wrote it, and only the answer was lost with the connection.
                let is_ours = |(found, revision, _): (Vec<u8>, i64, i64)| revision == is && found == data;
                Ok(attempt == Attempt::Again && select(pool, id, now).await?.is_some_and(is_ours))
            });
            if saved.await? { Ok(is.cast_unsigned()) } else { Err(StoreError::Conflict) }
        }
        .boxed()
    }

    fn delete<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<bool, StoreError>> {
        async move {
            let expires: Option<i64> = self
                .run(|pool, _| async move {
                    let delete = "DELETE FROM uptake_sessions WHERE id = $1 RETURNING expires";
                    sqlx::query_scalar(delete).bind(id.as_str()).fetch_optional(&pool).await
                })
                .await?;
            Ok(expires.is_some_and(|expires| expires > now.as_millisecond()))
        }
        .boxed()
    }

    fn count<'a>(&'a self, owner: &'a str, now: Timestamp) -> BoxFuture<'a, Result<u64, StoreError>> {
        async move {
            let first = &format!("{owner}/");
            let count: i64 = self
                .run(|pool, _| async move {
                    // Whether an index helps with `starts_with` depends on the database's text collation.
                    let count = "SELECT count(*) FROM uptake_sessions WHERE starts_with(id, $1) AND expires > $2";
                    sqlx::query_scalar(count).bind(first).bind(now.as_millisecond()).fetch_one(&pool).await
                })
                .await?;
            Ok(count.cast_unsigned())
        }
        .boxed()
    }

    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        async move {
            let mut swept = 0;
            loop {
                let some = self.run(|pool, _| sweep_some(pool, now)).await?;
                swept += some;
                if some < SWEPT_AT_ONCE {
                    return Ok(swept);
                }
            }
        }
        .boxed()
    }

    fn shed(&self, part: Partition, most: u64, most_bytes: u64) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.run(move |pool, _| shed_all(pool, part, most, most_bytes)).boxed()
    }
}

/// Data, revision, expiry.
async fn select(pool: PgPool, id: &SessionId, now: Timestamp) -> Result<Option<(Vec<u8>, i64, i64)>, sqlx::Error> {
    let select = "SELECT data, revision, expires FROM uptake_sessions WHERE id = $1 AND expires > $2";
    let row = sqlx::query(select).bind(id.as_str()).bind(now.as_millisecond()).fetch_optional(&pool).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).transpose()
}

/// Writes if the revision is the expected one; returns whether it was.
async fn write(
    pool: &PgPool,
    id: &SessionId,
    was: Option<i64>,
    is: i64,
    data: &[u8],
    expires: Timestamp,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let query = match was {
        Some(was) => sqlx::query(
            "UPDATE uptake_sessions SET revision = $2, expires = $3, data = $4
             WHERE id = $1 AND expires > $5 AND revision = $6",
        )
        .bind(id.as_str())
        .bind(is)
        .bind(expires.as_millisecond())
        .bind(data)
        .bind(now.as_millisecond())
        .bind(was),
        None => sqlx::query(
            "INSERT INTO uptake_sessions AS kept (id, revision, expires, data) VALUES ($1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE
             SET revision = excluded.revision, expires = excluded.expires, data = excluded.data
             WHERE kept.expires <= $5",
        )
        .bind(id.as_str())
        .bind(is)
        .bind(expires.as_millisecond())
        .bind(data)
        .bind(now.as_millisecond()),
    };
    Ok(query.execute(pool).await?.rows_affected() == 1)
}

/// Skips rows that another replica sweeps or a turn renews.
async fn sweep_some(pool: PgPool, now: Timestamp) -> Result<u64, sqlx::Error> {
    let delete = "DELETE FROM uptake_sessions WHERE id IN (
         SELECT id FROM uptake_sessions WHERE expires <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let limit = SWEPT_AT_ONCE.cast_signed();
    let done = sqlx::query(delete).bind(now.as_millisecond()).bind(limit).execute(&pool).await?;
    Ok(done.rows_affected())
}

async fn shed_all(pool: PgPool, part: Partition, most: u64, most_bytes: u64) -> Result<u64, sqlx::Error> {
    let delete = "DELETE FROM uptake_sessions WHERE id IN (
         SELECT id FROM (
             SELECT id, row_number() OVER (ORDER BY own_place, expires DESC, id) AS place,
                 sum(size) OVER (ORDER BY own_bytes, expires DESC, id ROWS UNBOUNDED PRECEDING) AS bytes
             FROM (
                 SELECT id, expires, octet_length(data) AS size, row_number() OVER own AS own_place,
                     sum(octet_length(data)) OVER own AS own_bytes
                 FROM uptake_sessions WHERE (left(id, 1) = '!') = $3
                 WINDOW own AS (PARTITION BY left(id, strpos(id, '/')) ORDER BY expires DESC, id
                     ROWS UNBOUNDED PRECEDING)
             ) AS ranked
         ) AS kept WHERE place > $1 OR bytes > $2)";
    let bound = |most: u64| i64::try_from(most).unwrap_or(i64::MAX);
    let done = sqlx::query(delete)
        .bind(bound(most))
        .bind(bound(most_bytes))
        .bind(part == Partition::Memories)
        .execute(&pool)
        .await?;
    Ok(done.rows_affected())
}
