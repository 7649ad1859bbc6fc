//! Views of a conversation: as frames, and in words.

use crate::{
    conversation::State,
    dialogue::{next_step, question::Voice},
    module::Module,
    snapshot::Snapshot,
    understand::Frame,
};

/// The open forms: the active one first, then the waiting ones.
#[must_use]
pub fn open_frames(snapshot: &Snapshot, state: &State) -> Vec<Frame> {
    // There is no utterance here that spans could point into.
    state.forms.iter().rev().filter_map(|form| next_step::frame(snapshot, form, u32::MAX)).collect()
}

/// True if the values of this slot must not be shown, nor kept in texts. `path` is the slot's.
#[must_use]
pub fn is_sensitive(module: &Module, function: &str, path: &str) -> bool {
    module.settings.slot(function, path).is_some_and(|slot| slot.sensitive)
}

/// What is known, missing and invalid of each open function, in a few lines for a prompt; in this BCP 47 language, or
/// else the module's. For sensitive values it only says that they were given. Empty if nothing is open.
#[must_use]
pub fn summary(snapshot: &Snapshot, language: Option<&str>, state: &State) -> String {
    Voice::new(&snapshot.module, language).summary(&snapshot.validator, state)
}
