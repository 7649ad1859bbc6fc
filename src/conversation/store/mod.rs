//! Where conversations are kept between turns: bytes under an id, with a revision and an expiry. Nothing here knows
//! what the bytes mean.
//!
//! [`Sessions`] is what the rest of the house uses:
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

/// The name of a session: 1 to 128 of `A-Z a-z 0-9 . _ : -`. Whoever knows it can read the session, so it should not be
/// guessable; it is stored as it is, also where values are encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

/// Why a text is no [`SessionId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSessionId {
    #[error("a session id has 1 to {} characters, not {length}", SessionId::LONGEST)]
    Length { length: usize },
    #[error("a session id is made of A-Z, a-z, 0-9 and . _ : - ; {found:?} is none of them")]
    Character { found: char },
}

impl SessionId {
    /// Characters, and bytes.
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

    /// What is kept beside sessions under this name: none of them is called so, for it begins with a character that ids do
    /// not have. It counts as one, is bounded with them, and expires as they do.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self(format!("~{}", self.0).into())
    }

    /// The session that this owner calls so. A client's own name has no `/`, so that no two meet.
    #[must_use]
    pub fn of(&self, owner: &str) -> Self {
        Self(format!("{owner}/{}", self.0).into())
    }

    /// Whose it is, where it has an owner.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(owner, _)| owner)
    }

    /// What is remembered for this owner under a name that no client can give: it begins with a character that ids do not
    /// have.
    fn reserved(owner: &Tenant, text: &str) -> Self {
        let owner = owner.id();
        Self(if owner.is_empty() { format!("!{text}") } else { format!("!{owner}/{text}") }.into())
    }

    /// Of which part of a store it is.
    fn part(&self) -> Part {
        if self.0.starts_with('!') { Part::Memories } else { Part::Sessions }
    }

    /// As it is stored, with its owner.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whose it is, is nobody else's affair.
        formatter.write_str(self.0.rsplit('/').next().unwrap_or_default())
    }
}

/// The parts of a store, each within bounds of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Sessions,
    /// What happens once: consents that were taken, calls that were made.
    Memories,
}

/// What is kept of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub data: Vec<u8>,
    /// Another one after each save. Only to be compared: where it starts is random.
    pub revision: u64,
    /// From this moment on the session is absent. Whole milliseconds.
    pub expires: Timestamp,
}

/// Keeps sessions. Every method is safe to call from several tasks and, where a store has a place outside this process,
/// from several processes. `now` decides what is expired, and an expired session is absent for every method, whether it
/// was swept or not.
pub trait Store: Send + Sync {
    /// What was saved last.
    fn load<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<Option<Stored>, StoreError>>;

    /// Replaces the session if its revision is `expected` (`None`: if it is absent), and gives the new revision. What
    /// was acknowledged survives the end of the process in whatever way.
    ///
    /// Fails with [`StoreError::Conflict`], and changes nothing, if the revision is another one.
    fn save<'a>(
        &'a self,
        id: &'a SessionId,
        expected: Option<u64>,
        data: Vec<u8>,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Removes the session; whether it was there.
    fn delete<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// How many sessions this owner has.
    fn count<'a>(&'a self, owner: &'a str, now: Timestamp) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Removes what is expired; how many sessions that were.
    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Removes what one part has until no more than so many, and so many bytes, are left of it; how many that were. Of the
    /// owner that has most, those that expire first: an owner loses none to others while it has less than they do.
    fn shed(&self, part: Part, most: u64, most_bytes: u64) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// Why a session could not be had or kept. No message shows what is stored or a password; those of `Unavailable` and
/// `Newer` are for the log rather than for clients, since they name files and hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Saved or deleted by somebody else since it was read: to be done again from the start, or a 409.
    #[error("the session was changed or deleted since this turn began")]
    Conflict,
    /// The turn before takes too long.
    #[error("another turn of the session is not done after {waited_ms} ms")]
    Busy { waited_ms: u64 },
    #[error("the session's state has {bytes} bytes, more than `sessions.max_bytes` ({limit})")]
    TooLarge { bytes: usize, limit: usize },
    /// The owner may not have one more.
    #[error("the key has as many sessions as it may ({most}): delete one, or wait until one expires")]
    TooMany { most: u64 },
    /// The disk or the server does not do its part; it may later.
    #[error("sessions cannot be kept: {0}")]
    Unavailable(String),
    #[error("{place} was written by a newer version (format {found}; this version knows {known})")]
    Newer { place: String, found: i64, known: i64 },
    #[error("the session was encrypted with a key that is not configured")]
    UnknownKey,
    /// Not written by us, or before there was a key.
    #[error("the session is not encrypted, and `sessions.read_plain` is not set")]
    Plain,
    /// Tampered with, or moved from another session.
    #[error("what is stored of the session is damaged")]
    Damaged,
}

/// Where the revisions of a new session start. Random, so that a turn that began before a deletion never fits the
/// session that was made under the same id afterwards; below 2^53 also after any number of turns, so that JSON can
/// carry it.
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
        assert!(SessionId::new(beside.as_str()).is_err() && beside.part() == Part::Sessions);
        for owner in [Tenant::everybody(), Tenant::of_key("k")] {
            let reserved = SessionId::reserved(&owner, "a");
            assert!(SessionId::new(reserved.as_str()).is_err() && reserved.part() == Part::Memories);
            assert_ne!(reserved.owner(), Some("k"), "it is none of the owner's sessions");
        }
        assert_eq!(SessionId::new(""), Err(InvalidSessionId::Length { length: 0 }));
        assert_eq!(SessionId::new(&"x".repeat(129)), Err(InvalidSessionId::Length { length: 129 }));
        for found in [' ', '/', '\0', '\n', 'é', '\'', '%'] {
            assert_eq!(SessionId::new(&format!("a{found}b")), Err(InvalidSessionId::Character { found }));
        }
    }
}
