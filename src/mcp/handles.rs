//! Short names of states, so that a model has a few characters to copy and not kilobytes.

use std::sync::{Mutex, PoisonError};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};

use crate::{conversation::Tenant, shares::SharedCache};

/// How a short name begins.
const MARK: &str = "c1.";
/// Bytes of a hash of the state that a name holds. A signed state has a number in it that no other has.
const BYTES: usize = 9;
/// States that are kept, and their bytes.
const MOST: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;

/// The states behind the names, each for its owner alone. What was not used for longest goes first; a restart forgets all.
pub(super) struct Handles(Mutex<SharedCache<Tenant, String, String>>);

impl Handles {
    pub(super) fn new() -> Self {
        Self(Mutex::new(SharedCache::new(MOST, MOST_BYTES)))
    }

    /// Keeps a state, and gives it a short name.
    pub(super) fn keep(&self, owner: &Tenant, state: &str) -> String {
        let hash = blake3::hash(state.as_bytes());
        let name = format!("{MARK}{}", BASE64.encode(&hash.as_bytes()[..BYTES]));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(owner, name.clone(), state.to_owned(), state.len());
        name
    }

    /// The state that is meant: the one with this name, or the text itself if it is not a name.
    ///
    /// # Errors
    /// Says what would be right if the name is not known here.
    pub(super) fn state(&self, owner: &Tenant, text: String) -> Result<String, &'static str> {
        if !text.starts_with(MARK) {
            return Ok(text);
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = kept.get(owner, &text).cloned();
        state.ok_or("this short state is not known here any more: pass the whole `uptake.state`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_its_owners_state() {
        let (handles, owner) = (Handles::new(), Tenant::everybody());
        let name = handles.keep(&owner, "s1.state");
        assert!(name.len() < 20, "{name}");
        assert_eq!(handles.state(&owner, name.clone()), Ok("s1.state".to_owned()));
        assert_eq!(handles.state(&owner, "s1.other".to_owned()), Ok("s1.other".to_owned()));
        assert!(handles.state(&owner, format!("{name}x")).is_err());
    }
}
