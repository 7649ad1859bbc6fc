//! Whose key a conversation and what is remembered of it belong to. Whose share of the machine a request takes is `shares::Owner`.

use std::sync::Arc;

use crate::shares::Owner;

/// The key that brought something: what is kept of it, or remembered, is for no other key. A memory whose keys are made
/// of an owner cannot be asked without one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The holder of the API key with this id.
    #[must_use]
    pub fn of_key(id: &str) -> Self {
        Self(id.into())
    }

    /// Everybody, where there are no keys.
    #[must_use]
    pub fn everybody() -> Self {
        Self("".into())
    }

    /// The id of the key; empty where there are none.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }
}

/// Who has no key is everybody, from whatever address.
impl From<&Owner> for Tenant {
    fn from(owner: &Owner) -> Self {
        match owner {
            Owner::Key(id) => Self(Arc::clone(id)),
            Owner::Address(_) | Owner::Process => Self::everybody(),
        }
    }
}
