//! A session in the store: take, keep, show, and the errors of the store.

use std::time::Instant;

use super::record::Record;
use crate::{
    answer::{SessionBody, SessionView},
    conversation::store::{Session, SessionId, StoreError},
    http::{ApiError, AppState, Failure, Fault},
    snapshot::Snapshot,
};

impl AppState {
    /// Takes the session, exclusively within this process.
    pub(super) async fn begin(&self, id: &SessionId) -> Result<Session, StoreError> {
        let clock = Instant::now();
        let begun = match self.conversations.sessions.begin(id).await {
            Ok(session) if session.revision.is_none() => self.may_begin(id).await.map(|()| session),
            begun => begun,
        };
        self.metrics.stored("begin", clock.elapsed(), begun.as_ref().err());
        begun
    }

    /// Fails if this session would be new and its owner has as many as allowed. Turns that begin at the same time see
    /// the same count.
    async fn may_begin(&self, id: &SessionId) -> Result<(), StoreError> {
        let Some(owner) = id.owner() else { return Ok(()) };
        match self.edge().keys.sessions(owner) {
            Some(most) if self.conversations.sessions.count(owner).await? >= most => Err(StoreError::TooMany { most }),
            _ => Ok(()),
        }
    }

    /// The same for utterances that are accepted to be read later.
    pub(super) async fn may_observe(&self, id: &SessionId) -> Result<(), StoreError> {
        match self.may_begin(id).await {
            Err(StoreError::TooMany { .. }) if self.conversations.sessions.read(id).await?.is_some() => Ok(()),
            may => may,
        }
    }

    /// Stores the record, and informs watchers.
    pub(super) async fn commit(
        &self,
        session: Session,
        record: &Record,
        snapshot: &Snapshot,
    ) -> Result<SessionBody, StoreError> {
        let clock = Instant::now();
        let id = session.id().clone();
        let committed = session.commit(record.bytes()).await;
        self.metrics.stored("commit", clock.elapsed(), committed.as_ref().err());
        let body = SessionBody {
            id: id.to_string(),
            revision: committed?,
            turn: record.state.turn,
            expires_at: self.conversations.expiry(),
        };
        self.conversations.hub.tell(&id, || view(self, snapshot, &id, record, Some(&body)));
        Ok(body)
    }
}

/// `body`: whether the record is stored.
pub(super) fn view(
    app: &AppState,
    snapshot: &Snapshot,
    id: &SessionId,
    record: &Record,
    body: Option<&SessionBody>,
) -> SessionView {
    SessionView {
        id: id.to_string(),
        revision: body.map(|body| body.revision),
        expires_at: body.map(|body| body.expires_at),
        pending: app.conversations.hub.pending(id),
        calls: record.calls.clone(),
        ..SessionView::of(snapshot, &record.state)
    }
}

pub(super) fn conflict(message: &str) -> ApiError {
    ApiError::fault(Fault::SessionConflict, message)
}

/// The API error for a failure of the store.
pub(super) fn of_store(error: &StoreError) -> ApiError {
    match error {
        StoreError::Conflict | StoreError::Busy { .. } => conflict(&error.to_string()).about("session_id"),
        StoreError::TooMany { .. } => ApiError::too_many(error.to_string()).about("session_id"),
        StoreError::TooLarge { .. } => ApiError::fault(Fault::StateTooLarge, error.to_string()).about("session_id"),
        StoreError::UnknownKey | StoreError::Plain | StoreError::Damaged => {
            ApiError::logged(Failure::SessionUnreadable, error)
        }
        StoreError::Unavailable(_) | StoreError::Newer { .. } => ApiError::logged(Failure::SessionsUnavailable, error),
    }
}
