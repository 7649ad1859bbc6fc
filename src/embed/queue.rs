//! A bounded queue with two lanes between async callers and worker threads.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// A client waits for it.
    Live,
    /// Part of a build.
    Bulk,
}

/// After this many live jobs in a row a waiting bulk job is served, so that a build ends even under full load.
const LIVE_IN_A_ROW: u32 = 15;

/// Live jobs go before bulk jobs; each lane is first in, first out.
#[derive(Debug)]
pub(super) struct Queue<J> {
    state: Mutex<QueueState<J>>,
    ready: Condvar,
    bound: usize,
}

#[derive(Debug)]
struct QueueState<J> {
    live: VecDeque<J>,
    bulk: VecDeque<J>,
    in_a_row: u32,
    /// Idle workers.
    idle: usize,
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The lane is full.
    Full,
    /// The queue is closed.
    Closed,
}

impl<J> Queue<J> {
    /// At most `bound` jobs (at least one) wait in each lane.
    pub(super) fn new(bound: usize) -> Self {
        let state = QueueState { live: VecDeque::new(), bulk: VecDeque::new(), in_a_row: 0, idle: 0, closed: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), bound: bound.max(1) }
    }

    /// Never blocks. True if more jobs wait than workers, so that another worker would be useful.
    pub(super) fn push(&self, lane: Lane, job: J) -> Result<bool, Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        let jobs = match lane {
            Lane::Live => &mut state.live,
            Lane::Bulk => &mut state.bulk,
        };
        if jobs.len() >= self.bound {
            return Err(Refused::Full);
        }
        jobs.push_back(job);
        let is_crowded = state.live.len() + state.bulk.len() > state.idle;
        drop(state);
        self.ready.notify_one();
        Ok(is_crowded)
    }

    /// Blocks until there is a job; `None` once the queue is closed.
    pub(super) fn pop(&self) -> Option<J> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.next() {
                return Some(job);
            }
            state.idle += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Drops waiting jobs and ends the workers.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.live.clear();
        state.bulk.clear();
        drop(state);
        self.ready.notify_all();
    }

    /// No operation leaves the lanes half changed, so a poisoned lock is safe to use.
    fn lock(&self) -> MutexGuard<'_, QueueState<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> QueueState<J> {
    fn next(&mut self) -> Option<J> {
        let may_be_live = self.bulk.is_empty() || self.in_a_row < LIVE_IN_A_ROW;
        if may_be_live && let Some(job) = self.live.pop_front() {
            self.in_a_row = if self.bulk.is_empty() { 0 } else { self.in_a_row + 1 };
            return Some(job);
        }
        self.in_a_row = 0;
        self.bulk.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn live_jobs_go_first_and_keep_their_order() {
        let queue = Queue::new(10);
        for (lane, job) in [(Lane::Bulk, 1), (Lane::Live, 2), (Lane::Bulk, 3), (Lane::Live, 4)] {
            queue.push(lane, job).unwrap();
        }
        let order: Vec<_> = (0..4).filter_map(|_| queue.pop()).collect();
        assert_eq!(order, [2, 4, 1, 3]);
    }

    #[test]
    fn a_build_is_not_starved() {
        let queue = Queue::new(100);
        queue.push(Lane::Bulk, "bulk").unwrap();
        for _ in 0..50 {
            queue.push(Lane::Live, "live").unwrap();
        }
        let order: Vec<_> = (0..51).filter_map(|_| queue.pop()).collect();
        assert_eq!(order.iter().position(|&job| job == "bulk"), Some(LIVE_IN_A_ROW as usize));
    }

    #[test]
    fn each_lane_is_bounded() {
        let queue = Queue::new(1);
        queue.push(Lane::Bulk, ()).unwrap();
        queue.push(Lane::Live, ()).unwrap();
        assert_eq!(queue.push(Lane::Live, ()), Err(Refused::Full));
        assert_eq!(queue.push(Lane::Bulk, ()), Err(Refused::Full));
        queue.pop();
        assert_eq!(queue.push(Lane::Live, ()), Ok(true));
    }

    #[test]
    fn it_tells_when_one_more_worker_would_help() {
        let queue = Arc::new(Queue::new(10));
        let worker = {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || queue.pop())
        };
        while queue.lock().idle == 0 {
            std::thread::yield_now();
        }
        assert_eq!(queue.push(Lane::Live, 1), Ok(false), "the worker waits for it");
        assert_eq!(worker.join().unwrap(), Some(1));
        assert_eq!(queue.push(Lane::Live, 2), Ok(true), "nobody waits");
    }

    #[test]
    fn closing_wakes_the_workers_and_refuses_jobs() {
        let queue = Arc::new(Queue::<()>::new(1));
        let worker = {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || queue.pop())
        };
        queue.close();
        assert_eq!(worker.join().unwrap(), None);
        assert_eq!(queue.push(Lane::Live, ()), Err(Refused::Closed));
    }
}
