//! Where the work of turns is done that waits for nothing: to recognize, to embed, to search, to decide.

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

/// Microseconds that a stage of a turn takes, by measure: for any text, and more for each byte of it. Only the order counts:
/// what a stage took in truth is known at its end, and put right then.
const STAGE: u64 = 500;
const BYTE: u64 = 12;
/// Bytes that are read in a microsecond, about.
const BYTES_READ: u64 = 50;
/// A stage that takes longer by this leaves the last place to others.
const LONG: u64 = 8_000;
/// How many times as much a stage costs that nobody waits for.
const IN_BACKGROUND: u64 = 4;

/// As many places as the machine has cores, shared out among owners: whoever finds none waits, and who had least comes
/// first. Cheap to clone; clones share.
#[derive(Debug, Clone)]
pub(crate) struct Cores(Shares);

/// A place to work, until it is dropped.
pub(crate) struct Core {
    place: Share,
    /// What a microsecond counts.
    weight: u64,
}

impl Cores {
    /// Those of this machine.
    pub(crate) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self(Shares::of_places(cores as u64, LONG))
    }

    /// Waits for a place for a stage of this turn. Each stage begins here: a client that has left is noticed, and a deadline
    /// that is over, and then the turn is dropped.
    pub(crate) async fn free(&self, request: &TurnRequest) -> Core {
        let weight = if request.in_background { IN_BACKGROUND } else { 1 };
        self.for_work(&request.owner, STAGE + BYTE * request.utterance.len() as u64, weight).await
    }

    /// Waits for a place for work that takes about so many microseconds.
    async fn for_work(&self, owner: &Owner, cost: u64, weight: u64) -> Core {
        // Whatever else waits to run comes first, also where places are free.
        task::yield_now().await;
        Core { place: self.0.take(owner, 1, weight * cost).await, weight }
    }

    /// Does work that is no stage of a turn, and looks at so many bytes.
    pub(crate) async fn work<T>(&self, owner: &Owner, bytes: usize, work: impl FnOnce() -> T) -> T {
        self.for_work(owner, bytes as u64 / BYTES_READ, 1).await.run(work)
    }
}

impl Core {
    /// Does the work. The other tasks of the thread go on elsewhere meanwhile.
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        let clock = Instant::now();
        // A runtime of one thread has no elsewhere.
        let done = if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) { task::block_in_place(work) } else { work() };
        self.took(clock.elapsed());
        done
    }

    /// Waits for work that threads of this process do elsewhere.
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
