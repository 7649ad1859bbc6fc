//! How requests to one server are written: by its configuration, and without the fields that it was found to refuse.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    ChatRequest, LlmOptions,
    dialect::{Field, Fields},
    wire::{self, Sent},
};

/// Kept for the life of the process: a server that refuses a field will keep refusing it.
pub(super) struct Wording {
    options: LlmOptions,
    /// By model.
    refused: Mutex<HashMap<String, Fields>>,
}

impl Wording {
    pub(super) fn new(options: LlmOptions) -> Self {
        Self { options, refused: Mutex::default() }
    }

    pub(super) const fn options(&self) -> &LlmOptions {
        &self.options
    }

    /// The request as it would be sent now.
    pub(super) fn of(&self, request: &ChatRequest) -> Sent {
        let model = wire::model(request, &self.options);
        let refused = self.refused().get(model).copied().unwrap_or_default();
        wire::body(request, &self.options, refused)
    }

    /// Stops sending this field to the request's model; true if that is new.
    pub(super) fn leave_out(&self, request: &ChatRequest, field: Field) -> bool {
        let model = wire::model(request, &self.options);
        let mut refused = self.refused();
        let fields = refused.entry(model.to_owned()).or_default();
        let is_new = !fields.has(field);
        *fields = fields.with(field);
        is_new
    }

    fn refused(&self) -> MutexGuard<'_, HashMap<String, Fields>> {
        // Every change to the map is one step, so a poisoned lock is safe to use.
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
