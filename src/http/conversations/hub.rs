//! What only this process knows of a session: observed utterances that wait to be read, and the watchers of its state.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{broadcast, watch};

use crate::{
    answer::SessionView,
    conversation::store::SessionId,
    http::{ApiError, caller::Caller},
    module::ModuleName,
    shares::{Share, Shares},
    understand::TurnRequest,
};

/// Most waiting utterances of all sessions together.
const MOST_WAITING: u64 = 4_096;
/// Turns that a slow watcher may lag behind; it misses earlier ones.
const BACKLOG: usize = 16;

/// See [the module](self).
pub(in crate::http) struct Hub {
    /// Only sessions that have waiting utterances or watchers.
    sessions: Mutex<HashMap<SessionId, SessionQueue>>,
    max_pending: usize,
    /// Accepted utterances that are not read yet.
    outstanding: watch::Sender<usize>,
    /// The same, by the caller that sent them.
    waiting: Shares,
}

struct SessionQueue {
    waiting: VecDeque<Observation>,
    /// Whether a task works on the waiting utterances.
    is_worked_on: bool,
    /// Whether the task is reading one right now.
    is_reading: bool,
    /// The module of the last observed utterance.
    module: Option<ModuleName>,
    news: broadcast::Sender<News>,
}

/// What watchers receive; the texts are JSON.
#[derive(Debug, Clone)]
pub(super) enum News {
    /// After a turn.
    State(Arc<str>),
    /// An observed utterance could not be understood.
    Failed(Arc<str>),
    Deleted,
}

/// An utterance that waits to be read.
#[derive(Debug)]
pub(super) struct Observation {
    pub module: ModuleName,
    pub heard: ObservedMessage,
    /// The caller that sent it.
    pub caller: Caller,
    /// Its place in the queue, from acceptance until it is read or dropped.
    pub place: Option<Share>,
}

#[derive(Debug)]
pub(super) enum ObservedMessage {
    Person(Box<TurnRequest>),
    Assistant(String),
}

/// The result of accepting an utterance.
pub(super) struct Taken {
    /// Utterances that are not read yet.
    pub pending: usize,
    /// No task works on them yet: the caller must start one.
    pub needs_worker: bool,
}

impl Hub {
    pub(super) fn new(max_pending: usize) -> Self {
        Self {
            sessions: Mutex::default(),
            max_pending,
            outstanding: watch::Sender::new(0),
            waiting: Shares::new(MOST_WAITING),
        }
    }

    /// Queues an utterance behind the earlier ones.
    ///
    /// # Errors
    /// 429 if too many wait already, for this session, this caller, or in total.
    pub(super) fn enqueue(&self, id: &SessionId, mut observation: Observation) -> Result<Taken, ApiError> {
        let mut sessions = self.sessions();
        let full = |what: &str| Err(ApiError::too_many(format!("{what}; try again shortly")));
        if sessions.get(id).is_some_and(|entry| entry.pending() >= self.max_pending) {
            return full("as many utterances of this session as the service allows wait to be read");
        }
        observation.place = self.waiting.try_take(&observation.caller.as_owner(), 1);
        if observation.place.is_none() {
            return full("as many observed utterances as the service allows wait to be read");
        }
        let entry = sessions.entry(id.clone()).or_insert_with(SessionQueue::new);
        entry.module = Some(observation.module.clone());
        entry.waiting.push_back(observation);
        self.outstanding.send_modify(|count| *count += 1);
        let needs_worker = !std::mem::replace(&mut entry.is_worked_on, true);
        Ok(Taken { pending: entry.pending(), needs_worker })
    }

    /// The next utterance to read; `None` ends the work on this session.
    pub(super) fn next(&self, id: &SessionId) -> Option<Observation> {
        let mut sessions = self.sessions();
        let entry = sessions.get_mut(id)?;
        let next = entry.waiting.pop_front();
        entry.is_reading = next.is_some();
        if next.is_none() {
            entry.is_worked_on = false;
            clear(&mut sessions, id);
        }
        next
    }

    /// The utterance from [`Self::next`] is read: it no longer counts as pending.
    pub(super) fn read(&self, id: &SessionId) {
        if let Some(entry) = self.sessions().get_mut(id) {
            entry.is_reading = false;
        }
    }

    /// The work on an utterance from [`Self::next`] is over, whether or not it succeeded.
    pub(super) fn done(&self, id: &SessionId) {
        self.read(id);
        self.outstanding.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Utterances that are not read yet.
    pub(super) fn pending(&self, id: &SessionId) -> usize {
        self.sessions().get(id).map_or(0, SessionQueue::pending)
    }

    /// The module of the unread utterances, if there are any.
    pub(super) fn pending_module(&self, id: &SessionId) -> Option<ModuleName> {
        let sessions = self.sessions();
        let entry = sessions.get(id).filter(|entry| entry.pending() > 0)?;
        entry.module.clone()
    }

    /// Drops the waiting utterances; says whether there were any.
    pub(super) fn forget(&self, id: &SessionId) -> bool {
        let mut sessions = self.sessions();
        let dropped = sessions.get_mut(id).map(|entry| std::mem::take(&mut entry.waiting).len()).unwrap_or_default();
        self.outstanding.send_modify(|count| *count = count.saturating_sub(dropped));
        dropped > 0
    }

    /// Sends watchers the session's new state, if there are any.
    pub(super) fn tell(&self, id: &SessionId, view: impl FnOnce() -> SessionView) {
        let is_watched = self.sessions().get(id).is_some_and(|entry| entry.news.receiver_count() > 0);
        if is_watched {
            self.announce(id, News::State(json(&view())));
        }
    }

    pub(super) fn announce(&self, id: &SessionId, news: News) {
        if let Some(entry) = self.sessions().get(id) {
            // Sending fails if the last watcher has just left.
            drop(entry.news.send(news));
        }
    }

    pub(super) fn watch(&self, id: &SessionId) -> broadcast::Receiver<News> {
        self.sessions().entry(id.clone()).or_insert_with(SessionQueue::new).news.subscribe()
    }

    /// A watcher has left.
    pub(super) fn unwatch(&self, id: &SessionId) {
        clear(&mut self.sessions(), id);
    }

    /// Completes when all accepted utterances are read.
    pub(in crate::http) async fn drained(&self) {
        // The sender lives as long as `self`.
        drop(self.outstanding.subscribe().wait_for(|count| *count == 0).await);
    }

    /// No operation leaves the table half changed, so a poisoned lock is safe to use.
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, SessionQueue>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionQueue {
    fn new() -> Self {
        let (news, _) = broadcast::channel(BACKLOG);
        Self { waiting: VecDeque::new(), is_worked_on: false, is_reading: false, module: None, news }
    }

    fn pending(&self) -> usize {
        self.waiting.len() + usize::from(self.is_reading)
    }
}

/// Removes a session that has neither waiting utterances nor watchers.
fn clear(sessions: &mut HashMap<SessionId, SessionQueue>, id: &SessionId) {
    if sessions.get(id).is_some_and(|entry| !entry.is_worked_on && entry.news.receiver_count() == 0) {
        sessions.remove(id);
    }
}

pub(super) fn json(view: &SessionView) -> Arc<str> {
    serde_json::to_string(view).expect("a view is strings, numbers, lists and maps").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation() -> Observation {
        Observation {
            module: ModuleName::new("weather").unwrap(),
            heard: ObservedMessage::Assistant("Hello.".into()),
            caller: Caller::default(),
            place: None,
        }
    }

    #[tokio::test]
    async fn work_is_bounded_and_leaves_nothing() {
        let (hub, id) = (Hub::new(2), SessionId::new("a").unwrap());
        assert!(hub.enqueue(&id, observation()).is_ok_and(|taken| taken.needs_worker && taken.pending == 1));
        assert!(hub.enqueue(&id, observation()).is_ok_and(|taken| !taken.needs_worker && taken.pending == 2));
        let (status, _) = hub.enqueue(&id, observation()).err().expect("full").into_body();
        assert_eq!(status, 429);
        assert!(hub.enqueue(&SessionId::new("b").unwrap(), observation()).is_ok(), "another session has its own");
        hub.forget(&SessionId::new("b").unwrap());

        assert!(hub.next(&id).is_some() && hub.pending(&id) == 2);
        hub.read(&id);
        assert_eq!(hub.pending(&id), 1);
        hub.done(&id);
        assert!(hub.next(&id).is_some());
        hub.done(&id);
        assert!(hub.next(&id).is_none());
        hub.drained().await;
        assert!(!hub.sessions().contains_key(&id));
    }

    #[tokio::test]
    async fn watchers_hear_and_leave_nothing() {
        let (hub, id) = (Hub::new(1), SessionId::new("a").unwrap());
        let mut heard = hub.watch(&id);
        hub.announce(&id, News::Deleted);
        assert!(matches!(heard.recv().await, Ok(News::Deleted)));
        drop(heard);
        hub.unwatch(&id);
        assert!(hub.sessions().is_empty());
    }
}
