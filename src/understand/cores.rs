//! Where the work of turns is done that waits for nothing: to recognize, to search, to decide.

use std::{num::NonZero, sync::Arc, thread};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, SemaphorePermit},
    task,
};

/// As many places as the machine has cores. Whoever finds none waits, first come first served; nobody has two, so that
/// no more wait than turns may run at once. Cheap to clone; clones share.
#[derive(Debug, Clone)]
pub(crate) struct Cores(Arc<Semaphore>);

/// A place to work, until it is dropped.
pub(crate) struct Core<'a> {
    _place: Option<SemaphorePermit<'a>>,
}

impl Cores {
    /// Those of this machine.
    pub(crate) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self(Arc::new(Semaphore::new(cores)))
    }

    /// Waits for a place. Each stage of a turn begins here: a client that has left is noticed, and a deadline that is
    /// over, and then the turn is dropped.
    pub(crate) async fn free(&self) -> Core<'_> {
        // Whatever else waits to run comes first, also where places are free.
        task::yield_now().await;
        // Nobody closes the semaphore.
        Core { _place: self.0.acquire().await.ok() }
    }
}

impl Core<'_> {
    /// Does the work. The other tasks of the thread go on elsewhere meanwhile.
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        // A runtime of one thread has no elsewhere.
        if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) { task::block_in_place(work) } else { work() }
    }
}
