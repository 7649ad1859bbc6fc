//! Captures the service's log in memory.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tracing::{Dispatch, Level, subscriber::DefaultGuard};
use tracing_subscriber::fmt::MakeWriter;

/// Clones are cheap and share the log.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

/// Captures what this thread logs, until dropped.
pub(crate) struct Listening {
    _here: DefaultGuard,
    /// With a single dispatcher, a thread without one that logs first would disable events for all.
    _another: Dispatch,
}

impl Log {
    pub(crate) fn listen(&self, level: Level) -> Listening {
        let another = Dispatch::new(tracing_subscriber::registry());
        let subscriber = tracing_subscriber::fmt().with_max_level(level).with_writer(self.clone()).finish();
        Listening { _here: tracing::subscriber::set_default(subscriber), _another: another }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("nobody panics while writing").clone()).expect("UTF-8")
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        self.clone()
    }
}
