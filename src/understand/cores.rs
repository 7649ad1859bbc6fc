//! Runs the computing stages of turns: recognizing, embedding, searching, deciding.

use std::{
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task,
};

use crate::{
    shares::{Owner, Share, Shares},
    understand::TurnRequest,
};

/// Estimated microseconds of a turn's stage: a fixed part, and a part per byte of text. Only relative values matter:
/// the real cost is known at the end, and corrected then.
const STAGE: u64 = 500;
const BYTE: u64 = 12;
/// Approximate number of bytes read per microsecond.
const BYTES_READ: u64 = 50;
/// A stage that is expected to take longer than this leaves the last place to others.
const LONG: u64 = 8_000;
/// Cost factor of background stages, which no client waits for.
const IN_BACKGROUND: u64 = 4;

/// As many places as the machine has cores, shared out among owners: without a free place a stage waits, and the owner
/// that had least comes first. Clones are cheap and share them.
#[derive(Debug, Clone)]
pub(crate) struct CoreShares(Shares);

/// A place to work, held until dropped.
pub(crate) struct Core {
    place: Share,
    /// Cost per microsecond.
    weight: u64,
}

impl CoreShares {
    /// For the cores of this machine.
    pub(crate) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self(Shares::of_places(cores as u64, LONG))
    }

    /// Waits for a place for a stage of this turn. Every stage begins here, so here a turn notices that its client has
    /// left or its deadline is over, and is dropped.
    pub(crate) async fn free(&self, request: &TurnRequest) -> Core {
        let weight = if request.in_background { IN_BACKGROUND } else { 1 };
        self.for_work(&request.owner, STAGE + BYTE * request.utterance.len() as u64, weight).await
    }

    /// Waits for a place for work that takes about `cost` microseconds.
    async fn for_work(&self, owner: &Owner, cost: u64, weight: u64) -> Core {
        // Other ready tasks run first, even if places are free.
        task::yield_now().await;
        Core { place: self.0.take(owner, 1, weight * cost).await, weight }
    }

    /// Does work that is not a stage of a turn, and reads `bytes` bytes.
    pub(crate) async fn work<T>(&self, owner: &Owner, bytes: usize, work: impl FnOnce() -> T) -> T {
        self.for_work(owner, bytes as u64 / BYTES_READ, 1).await.run(work)
    }
}

impl Core {
    /// Does the work. The thread's other tasks move to other threads meanwhile.
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        let clock = Instant::now();
        // A single-threaded runtime has no other thread.
        let done = if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) { task::block_in_place(work) } else { work() };
        self.took(clock.elapsed());
        done
    }

    /// Waits for work that other threads of this process do.
    pub(crate) async fn wait_for<T>(self, work: impl Future<Output = T>) -> T {
        let clock = Instant::now();
        let done = work.await;
        self.took(clock.elapsed());
        done
    }

    fn took(self, time: Duration) {
        let cost = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).saturating_mul(self.weight);
        self.place.end(cost);
    }
}
