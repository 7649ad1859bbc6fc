//! One turn of a session at a time in this process.

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

/// The sessions in which a turn runs or waits. One that rests takes no memory here.
#[derive(Debug, Clone, Default)]
pub(super) struct Locks(Arc<Mutex<HashMap<SessionId, Arc<TurnMutex<()>>>>>);

/// The session belongs to whoever holds this.
#[derive(Debug)]
pub(super) struct Turn {
    // Released before the place is given up, by the order of the fields.
    _held: OwnedMutexGuard<()>,
    _place: Place,
}

impl Locks {
    /// Waits for the turns that came before, in their order.
    pub(super) async fn acquire(&self, id: &SessionId, wait: Duration) -> Result<Turn, StoreError> {
        let lock = self.table().entry(id.clone()).or_default().clone();
        let place = Place { locks: self.clone(), id: id.clone() };
        match timeout(wait, lock.lock_owned()).await {
            Ok(held) => Ok(Turn { _held: held, _place: place }),
            Err(_) => Err(StoreError::Busy { waited_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) }),
        }
    }

    /// No step leaves the table half changed, so what a panic elsewhere left is whole.
    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<TurnMutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Among those that hold or want the lock of a session. The last to leave clears it away.
#[derive(Debug)]
struct Place {
    locks: Locks,
    id: SessionId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.locks.table();
        // Whoever holds or waits has a reference of their own, which is only taken while the table is locked.
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
        // Left before its time came.
        let id = id("a");
        let given_up = timeout(Duration::from_millis(5), locks.acquire(&id, Duration::from_secs(9)));
        assert!(given_up.await.is_err());
        assert_eq!(locks.table().len(), 1);
        drop(held);
        assert!(locks.table().is_empty());
    }
}
