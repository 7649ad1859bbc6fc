//! Calls are remembered before they are made, so that nobody makes them twice: whoever comes again with the same finds
//! what was begun, and what came of it. Whoever was cut off in between leaves what nobody knows the end of.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Deed;
use crate::conversation::store::{Sessions, StoreError};

/// How long it is known what was done.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a turn calls, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What no other plan has.
    pub number: String,
    /// Until then somebody is at work on it, in milliseconds since 1970.
    pub until: i64,
    pub deeds: Vec<Deed>,
}

impl Plan {
    /// For calls that are made within so long.
    #[must_use]
    pub fn new(number: Option<String>, deeds: Vec<Deed>, within: Duration) -> Self {
        let number = number.unwrap_or_else(|| Uuid::new_v4().simple().to_string());
        let until = Timestamp::now().saturating_add(within).unwrap_or(Timestamp::MAX).as_millisecond();
        Self { number, until, deeds }
    }

    /// The idempotency key of one of its calls.
    #[must_use]
    pub fn key(&self, index: usize) -> String {
        let whole = blake3::hash(format!("uptake action {} {index}", self.number).as_bytes());
        whole.to_hex()[..32].to_owned()
    }

    /// Whether somebody may be at work on it still.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.deeds.iter().any(|deed| deed.status == super::Status::Begun)
            && Timestamp::now().as_millisecond() < self.until
    }

    /// What became of its calls, where nobody is at work on it any more.
    #[must_use]
    pub fn ended(self) -> Vec<Deed> {
        self.deeds.into_iter().map(Deed::interrupted).collect()
    }

    /// # Panics
    /// Never: it is strings, numbers, lists and maps with text as keys.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a plan is strings, numbers, lists and maps with text as keys")
    }
}

/// Remembers calls that no session remembers.
#[derive(Clone)]
pub struct Once(Sessions);

/// What is known of calls under a name.
pub enum Begun {
    /// Nothing: they may be made.
    First(Remembered),
    /// They were made before.
    Before(Vec<Deed>),
    /// Somebody is making them.
    Running,
}

/// Calls that are being made.
pub struct Remembered {
    sessions: Sessions,
    name: String,
    revision: u64,
    pub plan: Plan,
}

impl Once {
    #[must_use]
    pub fn new(sessions: Sessions) -> Self {
        Self(sessions)
    }

    /// Remembers that these calls are about to be made under this name. `may_repeat`: the same name comes again for
    /// another request, so that what ended before is no answer to it.
    ///
    /// # Errors
    /// What the store says: then they must not be made.
    pub async fn begin(
        &self,
        name: &str,
        deeds: Vec<Deed>,
        within: Duration,
        may_repeat: bool,
    ) -> Result<Begun, StoreError> {
        let name = format!("action-{}", blake3::hash(name.as_bytes()).to_hex());
        let known = self.0.recall(&name).await?;
        if let Some(stored) = &known {
            let plan: Plan = serde_json::from_slice(&stored.data).map_err(|_| StoreError::Damaged)?;
            if plan.is_running() {
                return Ok(Begun::Running);
            }
            if !may_repeat {
                return Ok(Begun::Before(plan.ended()));
            }
        }
        let number = (!may_repeat).then(|| name.clone());
        let plan = Plan::new(number, deeds, within);
        let revision = known.map(|stored| stored.revision);
        match self.0.remember(&name, revision, &plan.bytes(), REMEMBERED).await {
            Ok(revision) => Ok(Begun::First(Remembered { sessions: self.0.clone(), name, revision, plan })),
            // Another process was faster.
            Err(StoreError::Conflict) => Ok(Begun::Running),
            Err(error) => Err(error),
        }
    }
}

impl Remembered {
    /// Remembers how far it came.
    ///
    /// # Errors
    /// What the store says.
    pub async fn keep(&mut self) -> Result<(), StoreError> {
        let kept = self.sessions.remember(&self.name, Some(self.revision), &self.plan.bytes(), REMEMBERED).await;
        self.revision = kept?;
        Ok(())
    }
}
