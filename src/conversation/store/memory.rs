use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures::future::{self, BoxFuture, FutureExt as _};
use jiff::Timestamp;

use super::{Partition, SessionId, Store, StoreError, Stored, first_revision};

/// Sessions of this process alone, gone at its end; for tests.
#[derive(Debug, Default)]
pub struct Memory(Mutex<HashMap<SessionId, Stored>>);

impl Memory {
    /// No operation leaves the map half changed, so a poisoned lock is safe to use.
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Stored>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn load<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        let found = self.sessions().get(id).filter(|stored| stored.expires > now).cloned();
        future::ready(Ok(found)).boxed()
    }

    fn save<'a>(
        &'a self,
        id: &'a SessionId,
        expected: Option<u64>,
        data: Vec<u8>,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        let mut sessions = self.sessions();
        let found = sessions.get(id).filter(|stored| stored.expires > now).map(|stored| stored.revision);
        let saved = if found == expected {
            let revision = found.map_or_else(first_revision, |revision| revision + 1);
            sessions.insert(id.clone(), Stored { data, revision, expires });
            Ok(revision)
        } else {
            Err(StoreError::Conflict)
        };
        future::ready(saved).boxed()
    }

    fn delete<'a>(&'a self, id: &'a SessionId, now: Timestamp) -> BoxFuture<'a, Result<bool, StoreError>> {
        let removed = self.sessions().remove(id).is_some_and(|stored| stored.expires > now);
        future::ready(Ok(removed)).boxed()
    }

    fn count<'a>(&'a self, owner: &'a str, now: Timestamp) -> BoxFuture<'a, Result<u64, StoreError>> {
        let sessions = self.sessions();
        let own = sessions.iter().filter(|(id, stored)| id.owner() == Some(owner) && stored.expires > now);
        future::ready(Ok(own.count() as u64)).boxed()
    }

    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        let mut sessions = self.sessions();
        let before = sessions.len();
        sessions.retain(|_, stored| stored.expires > now);
        future::ready(Ok((before - sessions.len()) as u64)).boxed()
    }

    fn shed(&self, part: Partition, most: u64, most_bytes: u64) -> BoxFuture<'_, Result<u64, StoreError>> {
        let mut sessions = self.sessions();
        let mut latest: Vec<_> = sessions
            .iter()
            .filter(|(id, _)| id.part() == part)
            .map(|(id, one)| (one.expires, one.data.len() as u64, id.clone()))
            .collect();
        latest.sort_unstable_by(|one, other| other.cmp(one));
        // Number and bytes of each owner's sessions up to this one, latest first.
        let mut own: HashMap<Option<String>, (u64, u64)> = HashMap::new();
        let (mut by_number, mut by_bytes) = (Vec::new(), Vec::new());
        for (order, (_, length, id)) in latest.into_iter().enumerate() {
            let (number, bytes) = own.entry(id.owner().map(str::to_owned)).or_default();
            (*number, *bytes) = (*number + 1, *bytes + length);
            by_number.push((*number, order, 1, id.clone()));
            by_bytes.push((*bytes, order, length, id));
        }
        let too_many = [(by_number, most), (by_bytes, most_bytes)].map(|(mut all, most)| {
            all.sort_unstable();
            let mut kept = 0;
            let is_over = |&(_, _, amount, _): &(u64, usize, u64, SessionId)| {
                kept += amount;
                kept > most
            };
            all.into_iter().filter(is_over).map(|(_, _, _, id)| id).collect::<Vec<_>>()
        });
        let gone = too_many.into_iter().flatten().filter(|id| sessions.remove(id).is_some()).count();
        future::ready(Ok(gone as u64)).boxed()
    }
}
