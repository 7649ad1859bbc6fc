//! Limits the work for one request, counted in steps: characters, words and values that are examined.
//!
//! A [`Fuel`] belongs to one request and is passed by value. While a stage burns it, the stage's thread holds it: steps
//! are counted in functions that know nothing of turns (folding a word, splitting a text), and a counter that each
//! stage had to pass on would sooner or later be forgotten. Nothing outlives [`Fuel::burn`], and steps outside of it
//! are not counted for any request.
//!
//! A stage that runs out of fuel ends with what it has. A text that was not read to its end never leads to a call by
//! itself.
//!
//! There is also no fuel for a client that has left. A worker thread does not notice a closed connection; so it asks a
//! [`Presence`], which belongs to the answering task. Tasks spawned from there have none.

use std::{
    cell::{Cell, RefCell},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

/// Steps that a thread takes between checks of the limits, as a check costs more than a step.
const UNCOUNTED: u64 = 1_024;

tokio::task_local! {
    /// The presence of the task's client.
    static WAITS: Presence;
}

/// Tells whether the client that waits for an answer is still there. It is asked often. Cheap to clone.
#[derive(Clone)]
pub struct Presence(Arc<dyn Fn() -> bool + Send + Sync>);

impl Presence {
    #[must_use]
    pub fn new(is_there: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_there))
    }

    /// The presence of the current task's client, if it has one.
    #[must_use]
    pub fn of_task() -> Option<Self> {
        WAITS.try_with(Clone::clone).ok()
    }

    /// Runs `work` on behalf of this client.
    pub fn waits_for<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        WAITS.scope(self, work)
    }

    #[must_use]
    pub fn is_there(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Presence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Presence").field(&self.is_there()).finish()
    }
}

thread_local! {
    /// Steps that were not yet added to this thread's fuel.
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static BURNING: RefCell<Option<Fuel>> = const { RefCell::new(None) };
    static IS_OUT: Cell<bool> = const { Cell::new(false) };
}

/// See [the module](self). Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Fuel(Arc<Tank>);

#[derive(Debug)]
struct Tank {
    most: u64,
    until: Option<Instant>,
    waits: Option<Presence>,
    spent: AtomicU64,
    is_out: AtomicBool,
    has_left: AtomicBool,
}

impl Default for Tank {
    fn default() -> Self {
        let (is_out, has_left) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { most: u64::MAX, until: None, waits: None, spent: AtomicU64::new(0), is_out, has_left }
    }
}

impl Fuel {
    /// Fuel for at most this many steps, until this moment, and while the task's client is there. The default is
    /// unlimited.
    #[must_use]
    pub fn new(most: u64, until: Option<Instant>) -> Self {
        Self(Arc::new(Tank { most, until, waits: Presence::of_task(), ..Tank::default() }))
    }

    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.0.most < u64::MAX || self.0.until.is_some()
    }

    /// Steps so far.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.0.spent.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn is_out(&self) -> bool {
        self.0.is_out.load(Ordering::Relaxed)
    }

    /// Whether it ended because the client left.
    #[must_use]
    pub fn is_for_nobody(&self) -> bool {
        self.0.has_left.load(Ordering::Relaxed)
    }

    /// Runs `act` and counts its steps here.
    pub fn burn<T>(&self, act: impl FnOnce() -> T) -> T {
        flush();
        let outer = Outer(BURNING.replace(Some(self.clone())));
        IS_OUT.set(self.is_out());
        let made = act();
        drop(outer);
        made
    }

    fn spend(&self, steps: u64) {
        let spent = self.0.spent.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        let is_over = spent > self.0.most || self.0.until.is_some_and(|until| Instant::now() >= until);
        let has_left = self.0.waits.as_ref().is_some_and(|waits| !waits.is_there());
        if is_over || has_left {
            self.0.is_out.store(true, Ordering::Relaxed);
        }
        if has_left {
            self.0.has_left.store(true, Ordering::Relaxed);
        }
    }
}

/// The thread's previous fuel, restored when this is dropped.
struct Outer(Option<Fuel>);

impl Drop for Outer {
    fn drop(&mut self) {
        flush();
        IS_OUT.set(self.0.as_ref().is_some_and(Fuel::is_out));
        BURNING.replace(self.0.take());
    }
}

fn flush() {
    let steps = STEPS.replace(0);
    BURNING.with_borrow(|burning| {
        if let Some(fuel) = burning {
            fuel.spend(steps);
            IS_OUT.set(fuel.is_out());
        }
    });
}

/// Counts steps of the request that the thread works for.
pub(crate) fn spend(steps: usize) {
    let all = STEPS.get().saturating_add(steps as u64);
    STEPS.set(all);
    if all >= UNCOUNTED {
        flush();
    }
}

/// Whether to give up the request that the thread works for. Every loop must ask whose length is the text's times
/// something else.
pub(crate) fn is_out() -> bool {
    IS_OUT.get()
}

/// Gives the request up: its text contains more than any person says.
pub(crate) fn give_up() {
    BURNING.with_borrow(|burning| {
        if let Some(fuel) = burning {
            fuel.0.is_out.store(true, Ordering::Relaxed);
            IS_OUT.set(true);
        }
    });
}

/// The number of steps that `act` takes.
#[cfg(test)]
pub(crate) fn of(act: impl FnOnce()) -> u64 {
    let fuel = Fuel::default();
    fuel.burn(act);
    fuel.spent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_for_the_request_that_takes_them() {
        let (one, other) = (Fuel::new(5_000, None), Fuel::default());
        spend(100);
        one.burn(|| {
            spend(10);
            other.burn(|| spend(3_000));
            spend(5);
            assert!(!is_out());
        });
        spend(100_000);
        assert_eq!((one.spent(), other.spent(), one.is_out(), is_out()), (15, 3_000, false, false));
        one.burn(|| {
            spend(5_000);
            assert!(is_out());
            other.burn(|| assert!(!is_out()));
            assert!(is_out());
        });
        assert!(one.is_out() && one.clone().is_out() && !is_out());
    }

    #[test]
    fn what_takes_too_long_is_given_up() {
        let fuel = Fuel::new(u64::MAX, Some(Instant::now()));
        fuel.burn(|| {
            spend(1);
            assert!(!is_out());
            spend(usize::try_from(UNCOUNTED).unwrap());
            assert!(is_out());
        });
        let fuel = Fuel::default();
        fuel.burn(give_up);
        assert!(fuel.is_out() && !fuel.is_for_nobody());
    }

    #[tokio::test]
    async fn nothing_is_done_for_whoever_has_left() {
        let is_there = Arc::new(AtomicBool::new(true));
        let asked = Arc::clone(&is_there);
        let work = async {
            let fuel = Fuel::new(u64::MAX, None);
            fuel.burn(|| {
                (0..10).for_each(|_| spend(1_000));
                assert!(!is_out());
                is_there.store(false, Ordering::Relaxed);
                spend(2_000);
                assert!(is_out());
            });
            // Background tasks belong to no client.
            let spawned = tokio::spawn(async { Presence::of_task().is_none() }).await;
            (fuel.is_out() && fuel.is_for_nobody(), spawned.unwrap())
        };
        assert_eq!(Presence::new(move || asked.load(Ordering::Relaxed)).waits_for(work).await, (true, true));
        assert!(!Fuel::new(1, None).is_for_nobody());
    }
}
