//! Answers kept beside sessions so that later requests can continue from them: bytes under the answer's id, in the same
//! store, with the same limits and lifetime.

use std::time::Instant;

use super::store::of_store;
use crate::{
    conversation::store::{SessionId, StoreError},
    http::{ApiError, AppState},
};

impl AppState {
    /// Keeps an answer under its id. `is_hidden`: it must be stored encrypted.
    ///
    /// # Errors
    /// The store's error, or that the caller has as many as it may.
    pub(in crate::http) async fn keep_answer(
        &self,
        id: &SessionId,
        data: &[u8],
        is_hidden: bool,
    ) -> Result<(), StoreError> {
        let session = self.begin(id).await?;
        let clock = Instant::now();
        let committed = if is_hidden { session.commit_hidden(data).await } else { session.commit(data).await };
        self.metrics.stored("commit", clock.elapsed(), committed.as_ref().err());
        committed.map(|_| ())
    }

    /// The kept answer; `None` if there is none, if it expired, or if its key is lost.
    pub(in crate::http) async fn kept_answer(&self, id: &SessionId) -> Result<Option<Vec<u8>>, ApiError> {
        let clock = Instant::now();
        let stored = match self.conversations.sessions.read_hidden(id).await {
            Err(StoreError::UnknownKey) => Ok(None),
            stored => stored,
        };
        self.metrics.stored("read", clock.elapsed(), stored.as_ref().err());
        Ok(stored.map_err(|error| of_store(&error))?.map(|stored| stored.data))
    }

    /// Deletes an answer, and says whether there was one.
    pub(in crate::http) async fn forget_answer(&self, id: &SessionId) -> Result<bool, ApiError> {
        let clock = Instant::now();
        let deleted = self.conversations.sessions.delete(id).await;
        self.metrics.stored("delete", clock.elapsed(), deleted.as_ref().err());
        deleted.map_err(|error| of_store(&error))
    }
}
