//! Where conversations are kept between turns: bytes under an id, with a revision and an expiry. Nothing here knows
//! what the bytes mean.
//!
//! Other modules use [`Sessions`]:
//!
//! ```no_run
//! # use uptake::conversation::store::{SessionId, SessionOptions, Sessions};
//! # async fn turn() -> Result<(), Box<dyn std::error::Error>> {
//! let sessions = Sessions::open(&SessionOptions::default())?; // touches neither disk nor network yet
//! let _sweeper = sessions.sweep_in_background(); // until it is dropped
//! let session = sessions.begin(&SessionId::new("order-42")?).await?; // alone with it in this process
//! let state = session.data.clone().unwrap_or_default(); // None: a new session, or one that expired
//! session.commit(state).await?; // compare and set, renews the expiry; without it nothing changes
//! # Ok(())
//! # }
//! ```
//!
//! Turns of one session in one process wait for each other; where two processes share a store, the slower of two turns
//! gets [`StoreError::Conflict`]. Encryption happens above the stores, so that none of them sees a key or, with a key,
//! a word of what was said.

mod cipher;
mod locks;
mod memory;
mod options;
mod postgres;
mod sessions;
mod sqlite;
mod url;

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::tenant::Tenant;

pub use memory::Memory;
pub use options::{OpenError, SessionOptions, SyncMode};
pub use postgres::Postgres;
pub use sessions::{Session, Sessions, Sweeper};
pub use sqlite::Sqlite;
pub use url::StoreUrl;

/// The name of a session: 1 to 128 of `A-Z a-z 0-9 . _ : -`. Everyone who knows it can read the session, so it should
/// not be guessable; it is stored unencrypted, even if values are encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

/// Why a text is not a valid [`SessionId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSessionId {
    #[error("a session id has 1 to {} characters, not {length}", SessionId::LONGEST)]
    Length { length: usize },
    #[error("a session id is made of A-Z, a-z, 0-9 and . _ : - ; {found:?} is none of them")]
    Character { found: char },
}

impl SessionId {
    /// Longest id, in characters, which are bytes.
    pub const LONGEST: usize = 128;

    /// # Errors
    /// For a text that is empty, too long, or has other characters.
    pub fn new(text: &str) -> Result<Self, InvalidSessionId> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        if text.is_empty() || text.len() > Self::LONGEST {
            return Err(InvalidSessionId::Length { length: text.chars().count() });
        }
        match text.chars().find(|&c| !is_allowed(c)) {
            Some(found) => Err(InvalidSessionId::Character { found }),
            None => Ok(Self(text.into())),
        }
    }

    /// The id for something kept beside sessions under this name. It cannot collide with a session, because it begins
    /// with a character that ids do not have. It counts, is bounded and expires like a session.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self(format!("~{}", self.0).into())
    }

    /// The session with this name of this owner. A client's own names contain no `/`, so the two cannot collide.
    #[must_use]
    pub fn of(&self, owner: &str) -> Self {
        Self(format!("{owner}/{}", self.0).into())
    }

    /// The owner of the session, if it has one.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(owner, _)| owner)
    }

    /// The id of a memory of this owner. Clients cannot use it, because it begins with a character that ids do not
    /// have.
    fn reserved(owner: &Tenant, text: &str) -> Self {
        let owner = owner.id();
        Self(if owner.is_empty() { format!("!{text}") } else { format!("!{owner}/{text}") }.into())
    }

    /// The part of the store that it belongs to.
    fn part(&self) -> Partition {
        if self.0.starts_with('!') { Partition::Memories } else { Partition::Sessions }
    }

    /// The id as it is stored, including its owner.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The owner is not shown.
        formatter.write_str(self.0.rsplit('/').next().unwrap_or_default())
    }
}

/// The parts of a store, each with its own bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    Sessions,
    /// Things that happen once: consents that were taken, calls that were made.
    Memories,
}

/// What is stored of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub data: Vec<u8>,
    /// Changes with each save. Only for comparison: it starts at random.
    pub revision: u64,
    /// From this moment on the session counts as absent. Whole milliseconds.
    pub expires: Timestamp,
}

/// Keeps sessions. Every method may be called from several tasks and, for a store outside this process, from several
/// processes. `now` decides what has expired, and an expired session is absent for every method, whether or not it was
/// swept.
pub trait Store: Send + Sync {
    /// The last saved value.
    fn load<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<Option<Stored>, StoreError>>;

    /// Replaces the session if its revision is `expected` (`None` means absent), and returns the new revision. An
    /// acknowledged save survives any end of the process.
    ///
    /// Fails with [`StoreError::Conflict`], and changes nothing, if the revision differs.
    fn save<'a>(
        &'a self,
        id: &'a SessionId,
        expected: Option<u64>,
        data: Vec<u8>,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Removes the session; returns whether it existed.
    fn delete<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// The number of this owner's sessions.
    fn count<'a>(&'a self, owner: &'a str, now: Timestamp) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Removes expired entries; returns how many.
    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Removes entries of one part until at most `most`, and at most `most_bytes` bytes, are left; returns how many.
    /// The owner with the most entries loses those that expire first: an owner loses none while it has fewer than
    /// others.
    fn shed(&self, part: Partition, most: u64, most_bytes: u64) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// Why a session could not be read or kept. No message shows stored data or a password; those of `Unavailable` and
/// `Newer` are for the log rather than for clients, since they name files and hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Saved or deleted by another process since it was read: repeat the turn from the start, or answer 409.
    #[error("the session was changed or deleted since this turn began")]
    Conflict,
    /// The previous turn takes too long.
    #[error("another turn of the session is not done after {waited_ms} ms")]
    Busy { waited_ms: u64 },
    #[error("the session's state has {bytes} bytes, more than `sessions.max_bytes` ({limit})")]
    TooLarge { bytes: usize, limit: usize },
    /// The owner has as many as it may.
    #[error("the key has as many sessions as it may ({most}): delete one, or wait until one expires")]
    TooMany { most: u64 },
    /// The disk or the server fails, perhaps only for a while.
    #[error("sessions cannot be kept: {0}")]
    Unavailable(String),
    #[error("{place} was written by a newer version (format {found}; this version knows {known})")]
    Newer { place: String, found: i64, known: i64 },
    #[error("the session was encrypted with a key that is not configured")]
    UnknownKey,
    /// Not written by us, or written before there was a key.
    #[error("the session is not encrypted, and `sessions.read_plain` is not set")]
    Plain,
    /// Tampered with, or moved from another session.
    #[error("what is stored of the session is damaged")]
    Damaged,
}

/// The first revision of a new session. Random, so that a turn that began before a deletion never matches a session
/// made later under the same id; below 2^53 after any number of turns, so that JSON can carry it.
fn first_revision() -> u64 {
    fastrand::u64(1..1 << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_plain() {
        for text in ["a", "order-42", "A.b_c:D-9", &"x".repeat(SessionId::LONGEST)] {
            assert_eq!(SessionId::new(text).unwrap().as_str(), text);
        }
        let beside = SessionId::new("a").unwrap().beside();
        assert!(SessionId::new(beside.as_str()).is_err() && beside.part() == Partition::Sessions);
        for owner in [Tenant::everybody(), Tenant::of_key("k")] {
            let reserved = SessionId::reserved(&owner, "a");
            assert!(SessionId::new(reserved.as_str()).is_err() && reserved.part() == Partition::Memories);
            assert_ne!(reserved.owner(), Some("k"), "it is none of the owner's sessions");
        }
        assert_eq!(SessionId::new(""), Err(InvalidSessionId::Length { length: 0 }));
        assert_eq!(SessionId::new(&"x".repeat(129)), Err(InvalidSessionId::Length { length: 129 }));
        for found in [' ', '/', '\0', '\n', 'é', '\'', '%'] {
            assert_eq!(SessionId::new(&format!("a{found}b")), Err(InvalidSessionId::Character { found }));
        }
    }
}
