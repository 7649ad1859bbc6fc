//! What is known of a conversation, to be shown: as frames, and in words.

use crate::{
    conversation::State,
    dialogue::{next_step, question::Voice},
    module::Module,
    snapshot::Snapshot,
    understand::Frame,
};

/// The open forms as they are: the one that is being filled first, then what waits.
#[must_use]
pub fn open_frames(snapshot: &Snapshot, state: &State) -> Vec<Frame> {
    // No utterance is at hand that spans could point into.
    state.forms.iter().rev().filter_map(|form| next_step::frame(snapshot, form, u32::MAX)).collect()
}

/// True if the values of this slot are not to be shown, nor to be kept in texts. `path` is the slot's.
#[must_use]
pub fn is_sensitive(module: &Module, function: &str, path: &str) -> bool {
    module.settings.slot(function, path).is_some_and(|slot| slot.sensitive)
}

/// What is known, missing and invalid of each open function, in a few lines that a prompt can embed; in this BCP 47
/// language, else the module's. Of sensitive values it says only that they were given. Empty where nothing is open.
#[must_use]
pub fn summary(snapshot: &Snapshot, language: Option<&str>, state: &State) -> String {
    Voice::new(&snapshot.module, language).summary(&snapshot.validator, state)
}
