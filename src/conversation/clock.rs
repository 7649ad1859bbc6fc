//! The clock by which consents, calls and sessions are remembered.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use jiff::Timestamp;

/// A clock that never goes back: if the machine's clock is set back, it continues from its last time. So what has
/// expired stays expired. Clones are cheap and share it.
#[derive(Clone)]
pub struct Clock(Arc<ClockState>);

struct ClockState {
    wall: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// The latest time that was returned, and when.
    told: Mutex<(Timestamp, Instant)>,
}

impl Clock {
    /// A clock over the given wall clock, which may be set.
    #[must_use]
    pub fn new(wall: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let told = Mutex::new((wall(), Instant::now()));
        Self(Arc::new(ClockState { wall: Box::new(wall), told }))
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, at) = *told;
        let wall = (self.0.wall)();
        let now = wall.max(last.saturating_add(at.elapsed()).unwrap_or(last));
        *told = (now, Instant::now());
        now
    }
}

/// A clock over the machine's clock.
impl Default for Clock {
    fn default() -> Self {
        Self::new(Timestamp::now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn time_does_not_go_back_and_goes_on() {
        let wall = Arc::new(AtomicI64::new(1_000));
        let clock = Clock::new({
            let wall = Arc::clone(&wall);
            move || Timestamp::from_second(wall.load(Ordering::Relaxed)).unwrap()
        });
        assert_eq!(clock.now().as_second(), 1_000);
        wall.store(5_000, Ordering::Relaxed);
        assert_eq!(clock.now().as_second(), 5_000);
        wall.store(1_000, Ordering::Relaxed);
        let before = clock.now();
        assert_eq!(before.as_second(), 5_000);
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(clock.now() > before, "it does not stand still until the machine's clock has caught up");
        wall.store(6_000, Ordering::Relaxed);
        assert_eq!(clock.now().as_second(), 6_000);
    }
}
