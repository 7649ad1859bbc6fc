//! The caller of a request.

use std::{convert::Infallible, net::IpAddr, sync::Arc};

use axum::{
    extract::{FromRequestParts, Request},
    http::request::Parts,
};
use tokio::sync::Semaphore;

use super::{
    ApiError, Fault, IndexByGet,
    keys::{Holder, Scope},
};
use crate::{
    answer::response::ResponseId,
    conversation::{self, store::SessionId},
    module::ModuleName,
    shares::Owner,
};

/// Header in which a browser says where the requesting page comes from.
const FETCH_SITE: &str = "sec-fetch-site";
/// Shortest session id where keys are in use, in characters: a shorter one could be guessed.
const SHORTEST_ID: usize = 16;

/// The remote address of a connection, which the accepting code puts among the request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// What is known of the sender of a request. A layer builds it, and the request carries it to the places that decide
/// which modules may be rebuilt and which sessions are visible.
#[derive(Debug, Clone, Default)]
pub(super) struct Caller {
    /// `None` if the request did not come over a connection.
    address: Option<IpAddr>,
    /// A browser sends the request for a page of another origin.
    is_foreign_page: bool,
    /// The key of the request, where keys are in use.
    holder: Option<Arc<Holder>>,
}

impl Caller {
    pub(super) fn of(request: &Request) -> Self {
        let site = request.headers().get(FETCH_SITE);
        Self {
            address: request.extensions().get::<Peer>().map(|peer| peer.0),
            is_foreign_page: site.is_some_and(|site| site != "none" && site != "same-origin"),
            holder: None,
        }
    }

    pub(super) fn with(self, holder: Arc<Holder>) -> Self {
        Self { holder: Some(holder), ..self }
    }

    /// Permits for the turns that this caller may run at once, where that is bounded.
    pub(super) fn turns(&self) -> Option<Arc<Semaphore>> {
        self.holder.as_ref().map(|holder| Arc::clone(&holder.turns))
    }

    /// # Errors
    /// 403 if the key is for other modules.
    pub(super) fn may_use(&self, module: &ModuleName) -> Result<(), ApiError> {
        if self.sees(module) {
            return Ok(());
        }
        let message = format!("the key may not use the module `{module}`");
        Err(ApiError::fault(Fault::NotAllowed, message).about("module"))
    }

    /// The owner of everything that is kept of the request.
    pub(super) fn owner(&self) -> conversation::Tenant {
        let of_key = |holder: &Arc<Holder>| conversation::Tenant::of_key(&holder.key.id);
        self.holder.as_ref().map_or_else(conversation::Tenant::everybody, of_key)
    }

    /// The owner whose share of scarce resources the request uses: its key, or else its address.
    pub(super) fn as_owner(&self) -> Owner {
        match (&self.holder, self.address) {
            (Some(holder), _) => Owner::Key(holder.key.id.as_str().into()),
            (None, Some(address)) => Owner::of_address(address),
            (None, None) => Owner::Process,
        }
    }

    /// The name of the key; empty where there are no keys.
    pub(super) fn name(&self) -> String {
        self.holder.as_ref().map(|holder| holder.key.name.clone()).unwrap_or_default()
    }

    /// Whether the key is valid for this module.
    pub(super) fn sees(&self, module: &ModuleName) -> bool {
        self.holder.as_ref().is_none_or(|holder| holder.key.may_use(module))
    }

    pub(super) fn may_index_by_get(&self, who: IndexByGet) -> bool {
        !self.is_foreign_page
            && match who {
                IndexByGet::Loopback => self.address.is_some_and(|address| address.to_canonical().is_loopback()),
                IndexByGet::Anyone => true,
                IndexByGet::Nobody => false,
            }
    }

    /// Whether the service may keep conversations for this caller.
    pub(super) fn may_keep(&self) -> bool {
        self.holder.as_ref().is_none_or(|holder| holder.key.has(Scope::Sessions))
    }

    /// Whether the caller may see how the module works, and not only what an utterance means.
    pub(super) fn may_inspect(&self) -> bool {
        self.holder.as_ref().is_none_or(|holder| holder.key.has(Scope::Inspect))
    }

    /// Where the caller's answer with this id is kept. Each key has its own.
    pub(super) fn answer(&self, id: &ResponseId) -> Option<SessionId> {
        let id = SessionId::new(&id.text()).ok()?.beside();
        Some(self.holder.as_ref().map_or_else(|| id.clone(), |holder| id.of(&holder.key.id)))
    }

    /// The session that the caller names so. Each key has its own sessions.
    ///
    /// # Errors
    /// 400 if the text is not a session id, and 403 if the key does not allow sessions.
    pub(super) fn session(&self, text: &str) -> Result<SessionId, ApiError> {
        let wrong = |message: String| ApiError::fault(Fault::InvalidValue, message).about("session_id");
        let id = SessionId::new(text).map_err(|error| wrong(error.to_string()))?;
        let Some(holder) = &self.holder else { return Ok(id) };
        if !self.may_keep() {
            let message = "the key may not keep conversations here: it needs the scope `sessions`";
            return Err(ApiError::fault(Fault::NotAllowed, message).about("session_id"));
        }
        if text.len() < SHORTEST_ID {
            return Err(wrong(format!("a session id has {SHORTEST_ID} characters or more, of which most are random")));
        }
        Ok(id.of(&holder.key.id))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn no_page_and_no_stranger_rebuilds_by_get() {
        let caller = |address: Option<&str>, site: Option<&str>| {
            let mut request = Request::get("/v1/index/weather");
            if let Some(address) = address {
                request = request.extension(Peer(address.parse().unwrap()));
            }
            if let Some(site) = site {
                request = request.header(FETCH_SITE, site);
            }
            Caller::of(&request.body(Body::empty()).unwrap())
        };
        for (address, site, locally, anyone) in [
            (Some("127.0.0.1"), None, true, true),
            (Some("::1"), None, true, true),
            (Some("::ffff:127.0.0.1"), Some("none"), true, true),
            (Some("10.0.0.1"), None, false, true),
            (None, None, false, true),
            (Some("127.0.0.1"), Some("same-origin"), true, true),
            (Some("127.0.0.1"), Some("same-site"), false, false),
            (Some("127.0.0.1"), Some("cross-site"), false, false),
        ] {
            let caller = caller(address, site);
            assert_eq!(caller.may_index_by_get(IndexByGet::Loopback), locally, "{caller:?}");
            assert_eq!(caller.may_index_by_get(IndexByGet::Anyone), anyone, "{caller:?}");
            assert!(!caller.may_index_by_get(IndexByGet::Nobody));
        }
    }
}
