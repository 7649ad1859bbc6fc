//! The key that a conversation and its memories belong to. The owner of a request's share of the machine is
//! `shares::Owner`.

use std::sync::Arc;

use crate::shares::Owner;

/// The API key that stored data belongs to; no other key can read it. A map whose keys include the tenant cannot be
/// queried without one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The holder of the API key with this id.
    #[must_use]
    pub fn of_key(id: &str) -> Self {
        Self(id.into())
    }

    /// Everybody, where keys are not in use.
    #[must_use]
    pub fn everybody() -> Self {
        Self("".into())
    }

    /// The id of the key; empty where keys are not in use.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }
}

/// A caller without a key is everybody, from any address.
impl From<&Owner> for Tenant {
    fn from(owner: &Owner) -> Self {
        match owner {
            Owner::Key(id) => Self(Arc::clone(id)),
            Owner::Address(_) | Owner::Process => Self::everybody(),
        }
    }
}
