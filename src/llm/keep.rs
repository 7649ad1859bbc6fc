//! A bounded store of replies: by number, by bytes, and by age.

use std::time::Duration;

use lru::LruCache;
use tokio::time::Instant;

use super::{ChatReply, options::CacheOptions};

/// What an entry takes beside its texts, about.
const OVERHEAD: usize = 256;

/// The hash of everything that an answer depends on.
pub(super) type Key = [u8; 32];

/// Keeps the replies that were asked for last.
pub(super) struct Kept {
    options: CacheOptions,
    replies: LruCache<Key, Entry>,
    bytes: usize,
}

struct Entry {
    reply: ChatReply,
    bytes: usize,
    until: Instant,
}

impl Kept {
    pub(super) fn new(options: CacheOptions) -> Self {
        // Bounded by `insert`, which must count the bytes of what it drops.
        Self { options, replies: LruCache::unbounded(), bytes: 0 }
    }

    pub(super) const fn is_on(&self) -> bool {
        self.options.entries > 0
    }

    /// The reply, unless it is too old.
    pub(super) fn get(&mut self, key: &Key) -> Option<ChatReply> {
        let entry = self.replies.get(key)?;
        if Instant::now() < entry.until {
            return Some(entry.reply.clone());
        }
        self.remove(key);
        None
    }

    /// Keeps the reply, and drops those that were not asked for the longest until all bounds hold.
    pub(super) fn insert(&mut self, key: Key, reply: ChatReply) {
        let bytes = size(&reply);
        if bytes > self.options.max_bytes || !self.is_on() {
            return;
        }
        self.remove(&key);
        let until = Instant::now() + Duration::from_millis(self.options.ttl_ms);
        self.replies.put(key, Entry { reply, bytes, until });
        self.bytes += bytes;
        while self.replies.len() > self.options.entries || self.bytes > self.options.max_bytes {
            let Some((_, dropped)) = self.replies.pop_lru() else { break };
            self.bytes -= dropped.bytes;
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.replies.pop(key) {
            self.bytes -= entry.bytes;
        }
    }
}

fn size(reply: &ChatReply) -> usize {
    let calls: usize = reply.tool_calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len()).sum();
    let rest = [&reply.content, &reply.model, &reply.fingerprint].map(|text| text.as_ref().map_or(0, String::len));
    OVERHEAD + calls + rest.iter().sum::<usize>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn options(entries: usize, max_bytes: usize) -> CacheOptions {
        CacheOptions { entries, max_bytes, ttl_ms: 1_000 }
    }

    fn reply(bytes: usize) -> ChatReply {
        ChatReply { content: Some("x".repeat(bytes)), ..ChatReply::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_old_is_gone() {
        let mut kept = Kept::new(options(9, 10_000));
        kept.insert([1; 32], reply(1));
        tokio::time::advance(Duration::from_millis(999)).await;
        assert_eq!(kept.get(&[1; 32]), Some(reply(1)));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(kept.get(&[1; 32]), None);
        assert_eq!((kept.replies.len(), kept.bytes), (0, 0));
    }

    #[tokio::test]
    async fn the_one_asked_for_last_stays() {
        let mut kept = Kept::new(options(2, 10_000));
        kept.insert([1; 32], reply(1));
        kept.insert([2; 32], reply(2));
        assert!(kept.get(&[1; 32]).is_some());
        kept.insert([3; 32], reply(3));
        assert_eq!((kept.get(&[1; 32]), kept.get(&[2; 32])), (Some(reply(1)), None));
    }

    proptest! {
        #[test]
        fn bounds_hold(
            entries in 0_usize..4,
            max_bytes in 1_usize..2_000,
            replies in prop::collection::vec((0_u8..6, 0_usize..900), 0..30),
        ) {
            let mut kept = Kept::new(options(entries, max_bytes));
            for (key, bytes) in replies {
                kept.insert([key; 32], reply(bytes));
                prop_assert!(kept.replies.len() <= entries && kept.bytes <= max_bytes);
                prop_assert_eq!(kept.bytes, kept.replies.iter().map(|(_, entry)| entry.bytes).sum::<usize>());
                let fits = entries > 0 && OVERHEAD + bytes <= max_bytes;
                prop_assert_eq!(kept.get(&[key; 32]).filter(|_| fits), fits.then(|| reply(bytes)));
            }
        }
    }
}
