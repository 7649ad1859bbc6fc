//! Computes identical requests in flight once.
//!
//! A computation belongs to all who wait for it: it continues while at least one of them waits, and is dropped, with
//! its HTTP request, when the last one leaves, no matter who began it.

use std::{
    collections::HashMap,
    future::Future,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared, WeakShared},
};

type Work<V> = Shared<BoxFuture<'static, V>>;

/// Computations in progress, by key.
#[derive(Clone)]
pub(super) struct Flights<K, V: Clone>(Arc<Mutex<Table<K, V>>>);

struct Table<K, V: Clone> {
    flights: HashMap<K, Flight<V>>,
    begun: u64,
}

struct Flight<V: Clone> {
    number: u64,
    work: WeakShared<BoxFuture<'static, V>>,
}

impl<K, V> Flights<K, V>
where
    K: Eq + Hash + Copy + Send + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Table { flights: HashMap::new(), begun: 0 })))
    }

    /// Joins the computation of `key`, or begins it.
    pub(super) fn join<F>(&self, key: K, begin: impl FnOnce() -> F) -> Work<V>
    where
        F: Future<Output = V> + Send + 'static,
    {
        let mut table = self.table();
        if let Some(work) = table.flights.get(&key).and_then(|flight| flight.work.upgrade()) {
            return work;
        }
        table.begun += 1;
        let number = table.begun;
        let landing = Landing { flights: self.clone(), key, number };
        let future = begin();
        let work = async move {
            let _landing = landing;
            future.await
        }
        .boxed()
        .shared();
        if let Some(weak) = work.downgrade() {
            table.flights.insert(key, Flight { number, work: weak });
        }
        work
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.table().flights.len()
    }
}

impl<K, V: Clone> Flights<K, V> {
    fn table(&self) -> MutexGuard<'_, Table<K, V>> {
        // Every change to the table is one step, so a poisoned lock is safe to use.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a computation from the table when it is done or all callers have left.
struct Landing<K: Eq + Hash, V: Clone> {
    flights: Flights<K, V>,
    key: K,
    number: u64,
}

impl<K: Eq + Hash, V: Clone> Drop for Landing<K, V> {
    fn drop(&mut self) {
        let mut table = self.flights.table();
        // Another computation may have taken its place meanwhile.
        if table.flights.get(&self.key).is_some_and(|flight| flight.number == self.number) {
            table.flights.remove(&self.key);
        }
    }
}
