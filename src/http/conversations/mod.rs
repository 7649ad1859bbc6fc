//! Conversations over several requests: where their state is kept, and what of it can be seen.
//!
//! | file | holds |
//! |---|---|
//! | `spoken` | what a request says, and how it is told apart from another one |
//! | `keeping` | a turn with the state that a request names, and the state after it |
//! | `acting` | calls that the service makes, once each |
//! | `record` | what is stored of a session |
//! | `store` | a session in the store: take, keep, show |
//! | `answers` | kept answers that requests can continue from |
//! | `observe` | utterances of a chat led elsewhere, understood in order in the background |
//! | `events` | a session's state as server-sent events |
//! | `hub` | what only this process knows of a session: waiting utterances and watchers |
//! | `session` | `GET` and `DELETE` |

mod acting;
mod answers;
pub(super) mod events;
mod hub;
mod keeping;
pub(super) mod observe;
mod record;
pub(super) mod session;
mod spoken;
mod store;

use crate::{
    act::{Actor, Once},
    conversation::{
        ConversationOptions, KeyError, Tokens,
        store::{OpenError, SessionOptions, Sessions, Sweeper},
    },
    understand::Replays,
};

pub(super) use hub::Hub;
pub(super) use keeping::Keeping;
pub(super) use spoken::{Repeat, Spoken, language};

/// How this service keeps conversations.
pub struct Conversations {
    pub(super) sessions: Sessions,
    pub(super) tokens: Tokens,
    /// Conversations rebuilt from their messages.
    pub(in crate::http) replays: Replays,
    pub(super) hub: Hub,
    /// Remembers calls where no session does.
    once: Once,
    /// Makes the calls of functions that have an endpoint; `None` means that clients make all calls.
    actor: Option<Actor>,
    /// Seconds from a session's last turn until it is gone.
    ttl_s: u64,
}

/// Why conversations cannot be kept with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConversationsError {
    #[error(transparent)]
    Sessions(#[from] OpenError),
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl Conversations {
    /// Reads the secret files that the options name. The first session opens the store.
    ///
    /// # Errors
    /// For invalid settings, and for secret files that cannot be read.
    pub fn open(sessions: &SessionOptions, options: &ConversationOptions) -> Result<Self, ConversationsError> {
        let kept = Sessions::open(sessions)?;
        Ok(Self {
            tokens: Tokens::open(options, kept.clone())?,
            once: Once::new(kept.clone()),
            actor: None,
            sessions: kept,
            replays: Replays::new(options.replay_entries, options.replay_bytes),
            hub: Hub::new(options.max_pending),
            ttl_s: sessions.ttl_s,
        })
    }

    /// The same, with an actor that calls functions that have an endpoint.
    #[must_use]
    pub fn acting(self, actor: Option<Actor>) -> Self {
        Self { actor, ..self }
    }

    /// Reads and writes echoed states, for services that run conversations outside the routes.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        self.tokens.clone()
    }

    /// Removes expired sessions from time to time. Must be called within a Tokio runtime.
    #[must_use = "dropping it stops the sweeping"]
    pub fn sweep_in_background(&self) -> Sweeper {
        self.sessions.sweep_in_background()
    }

    /// When a session committed now expires, in seconds since 1970.
    fn expiry(&self) -> i64 {
        self.sessions.now().as_second().saturating_add(i64::try_from(self.ttl_s).unwrap_or(i64::MAX))
    }
}
