//! Who asks.

use std::{convert::Infallible, net::IpAddr};

use axum::{
    extract::{FromRequestParts, Request},
    http::request::Parts,
};

use super::{ApiError, Fault, IndexByGet};
use crate::conversation::store::SessionId;

/// Where a page is from that makes a browser ask.
const FETCH_SITE: &str = "sec-fetch-site";

/// The other end of a connection, put among a request's extensions by whoever accepted it.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// What is known of who sent a request. A layer makes it, and the request carries it to where it counts: what may be
/// rebuilt, and which sessions there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Caller {
    /// `None` if the request came over no connection.
    address: Option<IpAddr>,
    /// A browser asks for a page of another origin, and says so.
    is_foreign_page: bool,
}

impl Caller {
    pub(super) fn of(request: &Request) -> Self {
        let site = request.headers().get(FETCH_SITE);
        Self {
            address: request.extensions().get::<Peer>().map(|peer| peer.0),
            is_foreign_page: site.is_some_and(|site| site != "none" && site != "same-origin"),
        }
    }

    pub(super) fn may_index_by_get(&self, who: IndexByGet) -> bool {
        !self.is_foreign_page
            && match who {
                IndexByGet::Loopback => self.address.is_some_and(|address| address.to_canonical().is_loopback()),
                IndexByGet::Anyone => true,
                IndexByGet::Nobody => false,
            }
    }

    /// The session that the caller calls so.
    ///
    /// # Errors
    /// 400 for what is no id.
    pub(super) fn session(&self, text: &str) -> Result<SessionId, ApiError> {
        SessionId::new(text)
            .map_err(|error| ApiError::fault(Fault::InvalidValue, error.to_string()).about("session_id"))
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
