//! How requests are put to one server: by the configuration, and by what the server was found not to take.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    ChatRequest, LlmOptions,
    dialect::{Field, Fields},
    wire::{self, Sent},
};

/// Kept for the life of the process: what a server does not take it does not take tomorrow.
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

    /// From now on the request's model is not sent this field; true if that is new.
    pub(super) fn leave_out(&self, request: &ChatRequest, field: Field) -> bool {
        let model = wire::model(request, &self.options);
        let mut refused = self.refused();
        let fields = refused.entry(model.to_owned()).or_default();
        let is_new = !fields.has(field);
        *fields = fields.with(field);
        is_new
    }

    fn refused(&self) -> MutexGuard<'_, HashMap<String, Fields>> {
        // A panic elsewhere leaves the map whole: every change to it is one step.
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
