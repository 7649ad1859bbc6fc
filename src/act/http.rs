//! Sends a request: to allowed addresses only, without redirects, within limits of time and size.

use std::{error::Error as _, time::Duration};

use reqwest::{
    Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    ActionOptions, RequestOutcome, Status,
    address::Allowed,
    request::{Content, EndpointRequest},
};
use crate::{llm::Secret, module::endpoint::Method, text::foreign::Foreign};

#[derive(Clone)]
pub(super) struct Client {
    pub(super) inner: reqwest::Client,
    pub(super) max_response_bytes: usize,
}

impl Client {
    pub(super) fn new(options: &ActionOptions, allowed: &Allowed) -> Result<Self, reqwest::Error> {
        // Fails if the process has its own provider; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let inner = reqwest::Client::builder()
            .user_agent(concat!("uptake/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_millis(options.connect_timeout_ms))
            // A redirect could lead to an address that is not allowed.
            .redirect(reqwest::redirect::Policy::none())
            // A proxy would resolve names without our checks.
            .no_proxy()
            .referer(false)
            .dns_resolver(std::sync::Arc::new(allowed.clone()))
            .build()?;
        Ok(Self { inner, max_response_bytes: options.max_response_bytes })
    }

    /// `keyed` is the idempotency key with its header. `is_harmless`: sending the request twice has the effect of
    /// sending it once, so a call that may have been done counts as not done.
    pub(super) async fn send(
        &self,
        request: &EndpointRequest,
        headers: &[(String, Secret)],
        keyed: Option<(&str, &str)>,
        is_harmless: bool,
        until: Instant,
    ) -> RequestOutcome {
        let doubt = if is_harmless { Status::Failed } else { Status::Unknown };
        let unsent = |cause: String| RequestOutcome { is_passing: true, ..RequestOutcome::refused(cause) };
        let unheard = |cause: &str| RequestOutcome {
            status: doubt,
            text: String::new(),
            http_status: None,
            cause: Some(cause.to_owned()),
            is_passing: true,
        };
        let all = match self.headers(request, headers, keyed) {
            Ok(all) => all,
            Err(cause) => return RequestOutcome::refused(cause),
        };
        let mut sending = self.inner.request(method(request.method), &request.url).headers(all);
        sending = match &request.body {
            Content::None => sending,
            Content::Json(body) => sending.json(body),
            Content::Form(body) => sending.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.clone()),
        };
        let response = match tokio::time::timeout_at(until, sending.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_connect() || error.is_builder() => return unsent(chain(error)),
            Ok(Err(error)) => return unheard(&chain(error)),
            Err(_) => return unheard("there was no answer in time"),
        };
        let status = response.status();
        let body = tokio::time::timeout_at(until, self.read(response)).await;
        let (text, trouble) = match body {
            Ok(Ok(text)) => (text, None),
            Ok(Err(cause)) => (String::new(), Some(cause)),
            Err(_) => (String::new(), Some("the answer did not end in time".to_owned())),
        };
        RequestOutcome { http_status: Some(status.as_u16()), ..judged(status, text, trouble.as_deref(), doubt) }
    }

    fn headers(
        &self,
        request: &EndpointRequest,
        headers: &[(String, Secret)],
        keyed: Option<(&str, &str)>,
    ) -> Result<HeaderMap, String> {
        let plain = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let own = headers.iter().map(|(name, value)| (name.as_str(), value.expose()));
        let mut all = HeaderMap::new();
        for (name, value) in plain.chain(own).chain(keyed) {
            let bad = || format!("the header `{name}` cannot be sent");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| bad())?;
            value.set_sensitive(true);
            // The author's headers win over those of the document.
            all.insert(name, value);
        }
        Ok(all)
    }

    /// The body as text.
    async fn read(&self, mut response: Response) -> Result<String, String> {
        let limit = self.max_response_bytes;
        let too_long = || format!("the answer is longer than {limit} bytes (actions.max_response_bytes)");
        if response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(chain)? {
            if bytes.len() + chunk.len() > limit {
                return Err(too_long());
            }
            bytes.extend_from_slice(&chunk);
        }
        String::from_utf8(bytes).map_err(|_| "the answer is not text".to_owned())
    }
}

/// What a response says about whether the call was done. `trouble`: why the body could not be read.
fn judged(status: StatusCode, text: String, trouble: Option<&str>, doubt: Status) -> RequestOutcome {
    let answer =
        |status, text, cause, is_passing| RequestOutcome { status, text, http_status: None, cause, is_passing };
    let cause = || Some(trouble.map_or_else(|| format!("the service answered {}", status.as_u16()), str::to_owned));
    let is_passing = matches!(status.as_u16(), 408 | 425 | 429 | 500 | 502..=504);
    match status.as_u16() {
        200..=299 if trouble.is_none() => answer(Status::Done, text, None, false),
        // Done, but the result is unknown.
        200..=299 => answer(Status::Unknown, String::new(), cause(), false),
        // Client errors may give reasons meant for people, except those that gateways give for lost connections.
        400..=407 | 409..=498 => answer(Status::Failed, reason(&text), cause(), is_passing),
        501 | 503 | 505 => answer(Status::Failed, String::new(), cause(), is_passing),
        // A failed service may have failed half-way, a gateway does not know what happened to the request, and a
        // redirect is not an answer.
        _ => answer(doubt, String::new(), cause(), is_passing),
    }
}

/// The reason that a refusal gives. A person in a conversation cannot use an HTML page.
fn reason(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_) | Value::String(_)) => text.to_owned(),
        Ok(_) => String::new(),
        Err(_) if text.trim_start().starts_with('<') => String::new(),
        Err(_) => text.to_owned(),
    }
}

fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
        Method::Options => reqwest::Method::OPTIONS,
    }
}

/// The error and its causes, without the address, which contains what people said.
pub(super) fn chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    Foreign::new(&text).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use futures::FutureExt as _;

    use super::*;

    /// A name that resolves differently each time: the check sees a public address, the connection another one.
    #[tokio::test]
    async fn a_name_that_changes_its_address_leads_nowhere_else() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let options = ActionOptions { connect_timeout_ms: 200, ..ActionOptions::default() };
        let hosts = [format!("rebound.example:{}", here.port())];
        let url = format!("http://{}/orders", hosts[0]);
        let asked = async |networks: &[String], turns: &'static [&'static [&'static str]], times: usize| {
            let looked_up = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&looked_up);
            let allowed = Allowed::read(&hosts, networks).unwrap().looking_up(Arc::new(move |_| {
                let turn = count.fetch_add(1, Ordering::SeqCst).min(turns.len() - 1);
                let address = |text: &&str| std::net::SocketAddr::new(text.parse().unwrap(), 0);
                std::future::ready(Ok(turns[turn].iter().map(address).collect::<Vec<_>>())).boxed()
            }));
            let client = Client::new(&options, &allowed).unwrap();
            let request =
                EndpointRequest { method: Method::Post, url: url.clone(), headers: Vec::new(), body: Content::None };
            let mut causes = Vec::new();
            for _ in 0..times {
                allowed.check(&request.url).expect("its name is listed");
                let until = Instant::now() + Duration::from_millis(500);
                causes.push(client.send(&request, &[], None, false, until).await.cause.unwrap_or_default());
            }
            assert!(looked_up.load(Ordering::SeqCst) > 0);
            causes
        };
        let private = "no public address";
        let causes = asked(&[], &[&["127.0.0.1"], &["::1", "10.0.0.1"], &["::ffff:127.0.0.1"]], 3).await;
        assert!(causes.iter().all(|cause| cause.contains(private)), "{causes:?}");
        // Public, but the connection fails.
        let causes = asked(&[], &[&["203.0.114.1"], &["127.0.0.1"]], 2).await;
        assert!(!causes[0].contains(private) && causes[1].contains(private), "{causes:?}");
        asked(&[], &[&["127.0.0.1", "203.0.114.1"]], 1).await;
        assert!(listener.accept().now_or_never().is_none(), "nothing came here");
        // With the address allowed, the same request connects; without this check the test would prove nothing.
        let networks = ["127.0.0.1".to_owned()];
        let reached = asked(&networks, &[&["127.0.0.1"]], 1);
        let (_, came) = tokio::join!(reached, tokio::time::timeout(Duration::from_secs(60), listener.accept()));
        came.expect("a connection").unwrap();
    }

    #[test]
    fn an_answer_says_whether_it_was_done() {
        for (code, doubt, expected) in [
            (200, Status::Unknown, Status::Done),
            (201, Status::Unknown, Status::Done),
            (303, Status::Unknown, Status::Unknown),
            (400, Status::Unknown, Status::Failed),
            (409, Status::Unknown, Status::Failed),
            (500, Status::Unknown, Status::Unknown),
            (503, Status::Unknown, Status::Failed),
            (502, Status::Unknown, Status::Unknown),
            (408, Status::Unknown, Status::Unknown),
            (499, Status::Unknown, Status::Unknown),
            (524, Status::Unknown, Status::Unknown),
            (999, Status::Unknown, Status::Unknown),
            (501, Status::Unknown, Status::Failed),
            (504, Status::Failed, Status::Failed),
        ] {
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(judged(status, String::new(), None, doubt).status, expected, "{code}");
        }
        let unread = judged(StatusCode::OK, String::new(), Some("too long"), Status::Unknown);
        assert_eq!((unread.status, unread.cause.as_deref()), (Status::Unknown, Some("too long")));
        let told = |text: &str| judged(StatusCode::CONFLICT, text.to_owned(), None, Status::Unknown).text;
        assert_eq!(told("<html>no</html>"), "");
        assert_eq!(told("{\"detail\": \"sold out\"}"), "{\"detail\": \"sold out\"}");
        assert_eq!(told("sold out"), "sold out");
    }
}
