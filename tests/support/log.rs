//! What the service logs, in memory.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tracing::{Dispatch, Level, subscriber::DefaultGuard};
use tracing_subscriber::fmt::MakeWriter;

/// Cheap to clone; clones share.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

/// Hears what this thread logs, until it is dropped.
pub(crate) struct Listening {
    _here: DefaultGuard,
    /// Where there is one listener only, a thread without one that comes first says for all that nobody listens.
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
