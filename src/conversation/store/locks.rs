//! Runs one turn of a session at a time in this process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex as TurnMutex, OwnedMutexGuard},
    time::timeout,
};

use super::{SessionId, StoreError};

/// The sessions in which a turn runs or waits. Others take no memory here.
#[derive(Debug, Clone, Default)]
pub(super) struct Locks(Arc<Mutex<HashMap<SessionId, Arc<TurnMutex<()>>>>>);

/// Exclusive access to a session while it is held.
#[derive(Debug)]
pub(super) struct SessionGuard {
    // Field order matters: the lock is released before the place is given up.
    _held: OwnedMutexGuard<()>,
    _place: LockRef,
}

impl Locks {
    /// Waits for earlier turns, in order.
    pub(super) async fn acquire(&self, id: &SessionId, wait: Duration) -> Result<SessionGuard, StoreError> {
        let lock = self.table().entry(id.clone()).or_default().clone();
        let place = LockRef { locks: self.clone(), id: id.clone() };
        match timeout(wait, lock.lock_owned()).await {
            Ok(held) => Ok(SessionGuard { _held: held, _place: place }),
            Err(_) => Err(StoreError::Busy { waited_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) }),
        }
    }

    /// No operation leaves the table half changed, so a poisoned lock is safe to use.
    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<TurnMutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reference to a session's lock, held or awaited. The last one to be dropped removes the lock.
#[derive(Debug)]
struct LockRef {
    locks: Locks,
    id: SessionId,
}

impl Drop for LockRef {
    fn drop(&mut self) {
        let mut table = self.locks.table();
        // Every holder and waiter has a reference, which is only taken while the table is locked.
        if table.get(&self.id).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            table.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::new(text).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_waits_for_the_one_before_but_not_for_other_sessions() {
        let locks = Locks::default();
        let first = locks.acquire(&id("a"), Duration::from_millis(100)).await.unwrap();
        locks.acquire(&id("b"), Duration::ZERO).await.unwrap();
        let busy = locks.acquire(&id("a"), Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(busy, StoreError::Busy { waited_ms: 100 });
        let second = tokio::spawn({
            let locks = locks.clone();
            async move { locks.acquire(&id("a"), Duration::from_millis(100)).await.is_ok() }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        drop(first);
        assert!(second.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_left_of_sessions_at_rest() {
        let locks = Locks::default();
        let held = locks.acquire(&id("a"), Duration::from_millis(10)).await.unwrap();
        assert!(locks.acquire(&id("a"), Duration::from_millis(10)).await.is_err());
        // A waiter that gives up early.
        let id = id("a");
        let given_up = timeout(Duration::from_millis(5), locks.acquire(&id, Duration::from_secs(9)));
        assert!(given_up.await.is_err());
        assert_eq!(locks.table().len(), 1);
        drop(held);
        assert!(locks.table().is_empty());
    }
}
