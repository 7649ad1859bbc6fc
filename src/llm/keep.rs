//! A store of replies, bounded in number, bytes and age.

use std::time::Duration;

use tokio::time::Instant;

use super::{ChatReply, options::CacheOptions};
use crate::shares::{self, Owner};

/// Approximate size of an entry beside its texts.
const OVERHEAD: usize = 256;

/// The hash of everything that an answer depends on.
pub(super) type RequestHash = [u8; 32];

/// Keeps the most recently used replies, separately for each owner.
pub(super) struct ReplyCache {
    ttl: Duration,
    replies: shares::SharedCache<Owner, RequestHash, CachedReply>,
}

struct CachedReply {
    reply: ChatReply,
    until: Instant,
}

impl ReplyCache {
    pub(super) fn new(options: CacheOptions) -> Self {
        let replies = shares::SharedCache::new(options.entries, options.max_bytes);
        Self { ttl: Duration::from_millis(options.ttl_ms), replies }
    }

    pub(super) fn is_on(&self) -> bool {
        self.replies.is_on()
    }

    /// The reply, unless it is too old.
    pub(super) fn get(&mut self, owner: &Owner, key: &RequestHash) -> Option<ChatReply> {
        let entry = self.replies.get(owner, key)?;
        if Instant::now() < entry.until {
            return Some(entry.reply.clone());
        }
        self.replies.remove(owner, key);
        None
    }

    /// Keeps the reply, and drops others until all bounds hold.
    pub(super) fn insert(&mut self, owner: &Owner, key: RequestHash, reply: ChatReply) {
        let bytes = size(&reply);
        let until = Instant::now() + self.ttl;
        self.replies.put(owner, key, CachedReply { reply, until }, bytes);
    }
}

fn size(reply: &ChatReply) -> usize {
    let calls: usize = reply.tool_calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len()).sum();
    let rest = [&reply.content, &reply.model, &reply.fingerprint].map(|text| text.as_ref().map_or(0, String::len));
    OVERHEAD + calls + rest.iter().sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(bytes: usize) -> ChatReply {
        ChatReply { content: Some("x".repeat(bytes)), ..ChatReply::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_old_is_gone() {
        let mut kept = ReplyCache::new(CacheOptions { entries: 9, max_bytes: 10_000, ttl_ms: 1_000 });
        let [own, other] = ["own", "other"].map(|name| Owner::Key(name.into()));
        kept.insert(&own, [1; 32], reply(1));
        tokio::time::advance(Duration::from_millis(999)).await;
        assert_eq!(kept.get(&own, &[1; 32]), Some(reply(1)));
        assert_eq!(kept.get(&other, &[1; 32]), None, "what was answered to one is not told by time to another");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(kept.get(&own, &[1; 32]), None);
        assert_eq!(kept.replies.size(), (0, 0));
    }

    #[tokio::test]
    async fn bounds_hold() {
        let mut kept = ReplyCache::new(CacheOptions { entries: 4, max_bytes: 2_000, ttl_ms: 1_000 });
        for (key, bytes) in [(1, 1), (2, 900), (3, 1_400), (4, 1_900), (5, 1)] {
            kept.insert(&Owner::Process, [key; 32], reply(bytes));
        }
        let found: Vec<u8> = (1..6).filter(|key| kept.get(&Owner::Process, &[*key; 32]).is_some()).collect();
        assert_eq!(found, [3, 5], "an answer that is too large by itself is not kept");
    }
}
