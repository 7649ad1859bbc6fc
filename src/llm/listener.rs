//! Whoever wants to hear a reply while it is written.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Hears the text of a reply, piece by piece. Clones are one listener.
#[derive(Clone)]
pub struct Listener {
    to: UnboundedSender<String>,
    /// Bytes that were heard.
    heard: Arc<AtomicUsize>,
}

impl Listener {
    /// The pieces come out at the other end, as many as a reply may have.
    #[must_use]
    pub fn new() -> (Self, UnboundedReceiver<String>) {
        let (to, from) = unbounded_channel();
        (Self { to, heard: Arc::default() }, from)
    }

    /// Tells what is new of a text that grows.
    pub fn tell(&self, text: &str) {
        let new = text.get(self.heard.load(Ordering::Acquire)..).filter(|new| !new.is_empty());
        if let Some(new) = new {
            self.heard.store(text.len(), Ordering::Release);
            // Nobody listens any more: then nobody misses it.
            let _ = self.to.send(new.to_owned());
        }
    }

    /// Tells what comes behind a text that was heard; nothing where none was.
    pub fn add(&self, text: &str) {
        if self.has_heard() {
            let _ = self.to.send(text.to_owned());
        }
    }

    /// True once anything was heard: what was said cannot be taken back.
    #[must_use]
    pub fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Acquire) > 0
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl PartialEq for Listener {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.heard, &other.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_told_once() {
        let (listener, mut from) = Listener::new();
        listener.add("to nothing");
        for text in ["", "Hel", "Hello", "Hello", "H"] {
            listener.tell(text);
        }
        assert_eq!((from.try_recv().as_deref(), from.try_recv().as_deref()), (Ok("Hel"), Ok("lo")));
        assert!(from.try_recv().is_err() && listener.has_heard());
    }
}
