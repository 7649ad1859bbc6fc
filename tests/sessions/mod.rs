//! Session stores: what holds for every store, and what holds for one.

mod cases;
mod cost;
mod crash;
mod postgres;
mod sqlite;

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use uptake::conversation::store::{
    Memory, Postgres, SessionId, SessionOptions, Sessions, Sqlite, Store, StoreUrl, SyncMode,
};

use crate::support::postgres::Cluster;

/// A place for sessions, which can be opened any number of times.
enum Place {
    Memory(Arc<Memory>),
    Sqlite(TempDir),
    Postgres(StoreUrl),
}

impl Place {
    fn memory() -> Self {
        Self::Memory(Arc::default())
    }

    fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().expect("a temporary directory"))
    }

    async fn postgres(test: &str) -> Option<Self> {
        Some(Self::Postgres(Cluster::shared(test)?.database().await))
    }

    /// Opens it like another process, or like the same one after a restart.
    fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(memory) => memory.clone(),
            Self::Sqlite(directory) => {
                Arc::new(Sqlite::new(directory.path().join("sessions.db"), SyncMode::Normal).expect("a thread"))
            }
            Self::Postgres(url) => Arc::new(Postgres::new(url, 4, Duration::from_secs(20)).expect("an address")),
        }
    }

    fn sessions(&self, options: &SessionOptions) -> Sessions {
        Sessions::over(self.open(), options).expect("options that make sense")
    }
}

fn id(text: &str) -> SessionId {
    SessionId::new(text).expect("an id")
}

/// In milliseconds, as it is stored.
fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).expect("a time")
}

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

#[tokio::test(start_paused = true)]
async fn expired_sessions_are_swept_each_minute_until_that_is_stopped() {
    let place = Place::memory();
    let (store, name, expired) = (place.open(), id("a"), now() - hours(1));
    let save_expired = || store.save(&name, None, vec![], expired, expired - hours(1));
    let is_there = || async { store.load(&name, expired - hours(1)).await.is_ok_and(|found| found.is_some()) };
    let sweeper = place.sessions(&SessionOptions::default()).sweep_in_background();
    for _ in 0..2 {
        save_expired().await.unwrap();
        assert!(is_there().await);
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(!is_there().await);
    }
    drop(sweeper);
    save_expired().await.unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!(is_there().await);
}
