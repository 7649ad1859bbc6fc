//! A cache that owners share, limited in number and bytes. When it is full, the owner with most entries loses its least
//! recently used one: however much one owner stores, others lose nothing to it.

use std::{collections::HashMap, hash::Hash};

use lru::LruCache;

/// A cache that owners share. No owner finds another one's entries, even under the same key.
#[derive(Debug)]
pub struct SharedCache<O: Hash + Eq, K: Hash + Eq, V> {
    /// Only owners that have entries.
    owners: HashMap<O, Held<K, V>>,
    most: usize,
    most_bytes: usize,
    /// Number of entries of all owners, and their bytes.
    count: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Held<K: Hash + Eq, V> {
    entries: LruCache<K, (V, usize)>,
    bytes: usize,
}

impl<O: Hash + Eq + Ord + Clone, K: Hash + Eq, V> SharedCache<O, K, V> {
    /// Keeps at most `most` entries, and at most `most_bytes` bytes.
    #[must_use]
    pub fn new(most: usize, most_bytes: usize) -> Self {
        Self { owners: HashMap::new(), most, most_bytes, count: 0, bytes: 0 }
    }

    #[must_use]
    pub fn is_on(&self) -> bool {
        self.most > 0
    }

    #[must_use]
    pub fn contains(&self, owner: &O, key: &K) -> bool {
        self.owners.get(owner).is_some_and(|held| held.entries.contains(key))
    }

    /// The entry, which counts as used.
    pub fn get(&mut self, owner: &O, key: &K) -> Option<&V> {
        self.owners.get_mut(owner)?.entries.get(key).map(|(value, _)| value)
    }

    /// The entry, without marking it as used.
    #[must_use]
    pub fn peek(&self, owner: &O, key: &K) -> Option<&V> {
        self.owners.get(owner)?.entries.peek(key).map(|(value, _)| value)
    }

    /// Stores a value in place of any old one. A value that is too large for the cache is not stored.
    pub fn put(&mut self, owner: &O, key: K, value: V, bytes: usize) {
        self.remove(owner, &key);
        if bytes > self.most_bytes || !self.is_on() {
            return;
        }
        let new = || Held { entries: LruCache::unbounded(), bytes: 0 };
        let held = self.owners.entry(owner.clone()).or_insert_with(new);
        held.entries.put(key, (value, bytes));
        held.bytes += bytes;
        self.count += 1;
        self.bytes += bytes;
        self.make_room();
    }

    /// Updates the size of an entry.
    pub fn weigh(&mut self, owner: &O, key: &K, bytes: usize) {
        let Some(held) = self.owners.get_mut(owner) else { return };
        let Some((_, own)) = held.entries.peek_mut(key) else { return };
        let before = std::mem::replace(own, bytes);
        held.bytes = held.bytes - before + bytes;
        self.bytes = self.bytes - before + bytes;
        if bytes > self.most_bytes {
            self.remove(owner, key);
        }
        self.make_room();
    }

    pub fn remove(&mut self, owner: &O, key: &K) {
        let Some(held) = self.owners.get_mut(owner) else { return };
        let Some((_, bytes)) = held.entries.pop(key) else { return };
        held.bytes -= bytes;
        self.gone(owner, bytes);
    }

    /// Number of all owners' entries, and their bytes.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.count, self.bytes)
    }

    fn make_room(&mut self) {
        while self.count > self.most || self.bytes > self.most_bytes {
            let are_many = self.count > self.most;
            let amount = |held: &Held<K, V>| if are_many { held.entries.len() } else { held.bytes };
            // Equal owners are ordered by name, so that the result is deterministic.
            let greediest = self.owners.iter().max_by_key(|(owner, held)| (amount(held), *owner));
            let Some(owner) = greediest.map(|(owner, _)| owner.clone()) else { return };
            let Some(held) = self.owners.get_mut(&owner) else { return };
            let Some((_, (_, bytes))) = held.entries.pop_lru() else { return };
            held.bytes -= bytes;
            self.gone(&owner, bytes);
        }
    }

    /// Updates the sums after one of the owner's entries was removed.
    fn gone(&mut self, owner: &O, bytes: usize) {
        self.count -= 1;
        self.bytes -= bytes;
        if self.owners.get(owner).is_some_and(|held| held.entries.is_empty()) {
            self.owners.remove(owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let mut kept = SharedCache::new(2, 100);
        kept.put(&"a", 1, "one", 1);
        kept.put(&"a", 2, "two", 1);
        assert_eq!(kept.get(&"a", &1), Some(&"one"));
        kept.put(&"a", 3, "three", 1);
        assert_eq!((kept.peek(&"a", &1), kept.peek(&"a", &2)), (Some(&"one"), None));
        assert!(!kept.contains(&"b", &1), "it is another owner's");
        kept.put(&"a", 3, "large", 101);
        assert_eq!((kept.peek(&"a", &3), kept.size()), (None, (1, 1)), "too large by itself");
        kept.weigh(&"a", &1, 101);
        assert!(kept.owners.is_empty() && kept.size() == (0, 0));
        let mut none = SharedCache::new(0, 100);
        none.put(&"a", 1, "one", 1);
        assert!(!none.contains(&"a", &1));
    }

    proptest! {
        /// Whatever a greedy owner does: the limits hold, the sums are right, and an owner with less than its part
        /// loses nothing.
        #[test]
        fn nobody_loses_its_part(
            most in 4_usize..12,
            steps in prop::collection::vec((0_u8..30, 0_usize..40, any::<bool>()), 0..80),
        ) {
            let most_bytes = 100;
            let mut kept = SharedCache::new(most, most_bytes);
            kept.put(&"polite", 0, (), 10);
            kept.put(&"polite", 1, (), 10);
            for (key, bytes, is_weighed) in steps {
                if is_weighed {
                    kept.weigh(&"greedy", &key, bytes);
                } else {
                    kept.put(&"greedy", key, (), bytes);
                }
                prop_assert!(kept.count <= most && kept.bytes <= most_bytes);
                let held = kept.owners.values().map(|held| (held.entries.len(), held.bytes));
                let sums = held.fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
                prop_assert_eq!(sums, kept.size());
                let bytes = |held: &Held<u8, ()>| held.entries.iter().map(|(_, (_, bytes))| bytes).sum::<usize>();
                prop_assert!(kept.owners.values().all(|held| held.bytes == bytes(held)));
                prop_assert!(kept.contains(&"polite", &0) && kept.contains(&"polite", &1));
            }
        }
    }
}
