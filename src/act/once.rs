//! Remembers calls before they are made, so that none is made twice: a repeated request finds what was begun and its
//! result. If the process was cut off in between, the result stays unknown.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MadeCall, Status};
use crate::conversation::{
    Tenant,
    store::{Sessions, StoreError},
};

/// How long results are remembered.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long begun calls are remembered. Longer than results, so that when an owner's memories are evicted, calls in
/// progress go last.
const BEGUN: Duration = Duration::from_secs(8 * 24 * 3600);

/// The calls of a turn, as they are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Unique to this plan.
    pub number: String,
    /// Until then the calls may still be in progress, in milliseconds since 1970.
    pub until: i64,
    pub deeds: Vec<MadeCall>,
}

impl Plan {
    /// A plan for calls that are made within this time from now.
    #[must_use]
    pub fn new(number: Option<String>, deeds: Vec<MadeCall>, now: Timestamp, within: Duration) -> Self {
        let number = number.unwrap_or_else(|| Uuid::new_v4().simple().to_string());
        let until = now.saturating_add(within).unwrap_or(Timestamp::MAX).as_millisecond();
        Self { number, until, deeds }
    }

    /// The idempotency key of the call at this index.
    #[must_use]
    pub fn key(&self, index: usize) -> String {
        let whole = blake3::hash(format!("uptake action {} {index}", self.number).as_bytes());
        whole.to_hex()[..32].to_owned()
    }

    /// Whether the calls may still be in progress.
    #[must_use]
    pub fn is_running(&self, now: Timestamp) -> bool {
        self.is_open() && now.as_millisecond() < self.until
    }

    /// Whether some calls have no result yet.
    fn is_open(&self) -> bool {
        self.deeds.iter().any(|deed| deed.status == Status::Begun)
    }

    /// The results of the calls, once they are no longer in progress.
    #[must_use]
    pub fn ended(self) -> Vec<MadeCall> {
        self.deeds.into_iter().map(MadeCall::interrupted).collect()
    }

    /// # Panics
    /// Never: a plan consists of strings, numbers, lists and maps with text keys.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a plan is strings, numbers, lists and maps with text as keys")
    }
}

/// Remembers calls where no session does.
#[derive(Clone)]
pub struct Once(Sessions);

/// What is known of calls under a name.
pub enum Begun {
    /// Nothing: they may be made.
    First(Remembered),
    /// They were made before.
    Before(Vec<MadeCall>),
    /// They are being made.
    Running,
}

/// Calls in progress.
pub struct Remembered {
    sessions: Sessions,
    owner: Tenant,
    name: String,
    revision: u64,
    pub plan: Plan,
}

impl Once {
    #[must_use]
    pub fn new(sessions: Sessions) -> Self {
        Self(sessions)
    }

    /// Records for this owner that these calls are about to be made under this name. `may_repeat`: another request can
    /// have the same name, so earlier results are not its answer.
    ///
    /// # Errors
    /// The store's error; the calls must then not be made.
    pub async fn begin(
        &self,
        owner: &Tenant,
        name: &str,
        deeds: Vec<MadeCall>,
        within: Duration,
        may_repeat: bool,
    ) -> Result<Begun, StoreError> {
        let name = format!("action-{}", blake3::hash(name.as_bytes()).to_hex());
        let known = self.0.recall(owner, &name).await?;
        if let Some(stored) = &known {
            let plan: Plan = serde_json::from_slice(&stored.data).map_err(|_| StoreError::Damaged)?;
            if plan.is_running(self.0.now()) {
                return Ok(Begun::Running);
            }
            if !may_repeat {
                return Ok(Begun::Before(plan.ended()));
            }
        }
        let number = (!may_repeat).then(|| name.clone());
        let plan = Plan::new(number, deeds, self.0.now(), within);
        let revision = known.map(|stored| stored.revision);
        match self.0.remember(owner, &name, revision, &plan.bytes(), BEGUN).await {
            Ok(revision) => {
                let (sessions, owner) = (self.0.clone(), owner.clone());
                Ok(Begun::First(Remembered { sessions, owner, name, revision, plan }))
            }
            // Another process was faster.
            Err(StoreError::Conflict) => Ok(Begun::Running),
            Err(error) => Err(error),
        }
    }
}

impl Remembered {
    /// Records the progress.
    ///
    /// # Errors
    /// The store's error.
    pub async fn keep(&mut self) -> Result<(), StoreError> {
        let Self { sessions, owner, name, revision, plan } = self;
        let remembered = if plan.is_open() { BEGUN } else { REMEMBERED };
        *revision = sessions.remember(owner, name, Some(*revision), &plan.bytes(), remembered).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::conversation::store::{SessionOptions, StoreUrl};

    /// However many calls its owner makes meanwhile.
    #[tokio::test]
    async fn what_is_being_called_is_not_forgotten() {
        let options = SessionOptions {
            url: StoreUrl::new("memory:"),
            max_memories: 9,
            max_memory_bytes: 2_000,
            ..SessionOptions::default()
        };
        let sessions = Sessions::open(&options).expect("good options");
        let (once, owner) = (Once::new(sessions.clone()), Tenant::of_key("greedy"));
        let begin = async |name: &str, may_repeat| {
            let deeds = vec![MadeCall::new("pay", &Map::new())];
            once.begin(&owner, name, deeds, Duration::from_secs(60), may_repeat).await.expect("it is kept")
        };
        let first = begin("first", true).await;
        assert!(matches!(first, Begun::First(_)));
        for number in 0..30 {
            let Begun::First(mut made) = begin(&number.to_string(), false).await else { panic!("it is new") };
            made.plan.deeds[0] = MadeCall { status: Status::Done, text: "x".repeat(100), ..made.plan.deeds[0].clone() };
            made.keep().await.expect("it is kept");
            // Entries of the same millisecond have the same age.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert!(sessions.sweep().await.expect("it sweeps") >= 22);
        assert!(matches!(begin("first", true).await, Begun::Running), "somebody is at work on it");
        assert!(matches!(begin("29", false).await, Begun::Before(_)), "the oldest have gone");
        assert!(matches!(begin("0", false).await, Begun::First(_)));
        assert!(
            matches!(
                once.begin(&Tenant::of_key("other"), "29", Vec::new(), Duration::ZERO, false).await,
                Ok(Begun::First(_))
            ),
            "what one owner called is no other's"
        );
    }
}
