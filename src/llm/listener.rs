//! A listener to a reply while it is being written.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Receives the text of a reply, piece by piece. Clones are one listener.
#[derive(Clone)]
pub struct Listener {
    to: UnboundedSender<String>,
    /// Bytes sent so far.
    heard: Arc<AtomicUsize>,
}

impl Listener {
    /// A listener and the receiver of its pieces; the channel is not bounded.
    #[must_use]
    pub fn new() -> (Self, UnboundedReceiver<String>) {
        let (to, from) = unbounded_channel();
        (Self { to, heard: Arc::default() }, from)
    }

    /// Sends the new part of a growing text.
    pub fn tell(&self, text: &str) {
        let new = text.get(self.heard.load(Ordering::Acquire)..).filter(|new| !new.is_empty());
        if let Some(new) = new {
            self.heard.store(text.len(), Ordering::Release);
            // Fails if the receiver has gone; then the text is not needed.
            let _ = self.to.send(new.to_owned());
        }
    }

    /// Sends what follows a text that was already sent; sends nothing if there was none.
    pub fn add(&self, text: &str) {
        if self.has_heard() {
            let _ = self.to.send(text.to_owned());
        }
    }

    /// True once anything was sent: sent text cannot be taken back.
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
