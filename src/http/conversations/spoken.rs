//! What a request says, and how it is told apart from another one.

use axum::http::HeaderMap;

use crate::{
    conversation::Tenant,
    http::{ApiError, Fault, caller::Caller},
    snapshot::Snapshot,
    understand::{HistoryMessage, TurnRequest},
};

/// Header by which clients mark repeated requests.
const KEY: &str = "idempotency-key";
/// Header with a frontend's id of the chat.
const CHAT: &str = "x-openwebui-chat-id";
/// Header that counts how often a client library has sent this request before.
const RETRIED: &str = "x-stainless-retry-count";
/// Longest language tag, in characters: the longest registered one.
const LONGEST_LANGUAGE: usize = 35;

/// What a request says, apart from where the conversation is kept.
#[derive(Clone, Copy)]
pub(in crate::http) struct Spoken<'a> {
    pub request: &'a TurnRequest,
    /// What others than the person said since the last turn of a kept state.
    pub meanwhile: &'a [HistoryMessage],
    /// Whether the request itself named the strategy.
    pub is_named: bool,
    /// Functions that the client calls itself; `None` means that no calls are made here.
    pub theirs: Option<&'a [String]>,
    pub repeat: &'a Repeat,
}

/// How a request is told apart from another one with the same words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct Repeat {
    pub(in crate::http) owner: Tenant,
    /// The client's name for the request, or for its chat.
    name: Option<String>,
    /// Whether the client says that this is a retry.
    is_retry: bool,
}

impl Repeat {
    pub(in crate::http) fn of(headers: &HeaderMap, caller: &Caller) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let key = text(KEY).map(|key| format!("key {key}"));
        let chat = || text(CHAT).map(|chat| format!("chat {chat}"));
        Self {
            owner: caller.owner(),
            name: key.or_else(chat),
            is_retry: text(RETRIED).is_some_and(|count| count.trim() != "0"),
        }
    }

    /// The key under which the calls of a request without a kept state are remembered, and whether a different request
    /// may get the same key.
    pub(super) fn remembered(&self, snapshot: &Snapshot, request: &TurnRequest) -> (String, bool) {
        let mut hasher = blake3::Hasher::new();
        let mut part = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        part(self.owner.id());
        part(snapshot.module.name.as_str());
        part(self.name.as_deref().unwrap_or_default());
        for said in &request.history {
            let (HistoryMessage::Person(text)
            | HistoryMessage::Assistant(text)
            | HistoryMessage::Called(text)
            | HistoryMessage::Tool(text)) = said;
            part(text);
        }
        part(&request.utterance);
        (format!("messages {}", hasher.finalize().to_hex()), self.name.is_none() && !self.is_retry)
    }
}

/// A language tag of a request.
///
/// # Errors
/// 400 if it does not have the shape of a BCP 47 tag.
pub(in crate::http) fn language(tag: Option<String>) -> Result<Option<String>, ApiError> {
    let Some(tag) = tag else { return Ok(None) };
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let primary = tag.split('-').next().unwrap_or_default();
    let is_primary = primary.len() >= 2 && primary.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_primary && tag.len() <= LONGEST_LANGUAGE && tag.split('-').all(is_part) {
        return Ok(Some(tag));
    }
    let message = "`language` is a BCP 47 tag, such as `en` or `de-CH`";
    Err(ApiError::fault(Fault::InvalidValue, message).about("language"))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    #[test]
    fn a_request_says_whether_it_comes_again() {
        let of = |headers: &[(&'static str, &str)]| {
            let headers =
                headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value")));
            Repeat::of(&headers.collect(), &Caller::default())
        };
        assert_eq!(of(&[]), Repeat { owner: Tenant::everybody(), name: None, is_retry: false });
        assert_eq!(of(&[("idempotency-key", "7"), ("x-openwebui-chat-id", "c")]).name.as_deref(), Some("key 7"));
        assert_eq!(of(&[("x-openwebui-chat-id", "c")]).name.as_deref(), Some("chat c"));
        assert!(!of(&[("x-stainless-retry-count", "0")]).is_retry);
        assert!(of(&[("x-stainless-retry-count", "1")]).is_retry);
    }

    #[test]
    fn languages_have_the_shape_of_tags() {
        for tag in ["en", "de-CH", "zh-Hant-TW", "x-klingon"] {
            let read = language(Some(tag.to_owned()));
            assert_eq!(read.is_ok(), tag != "x-klingon", "{tag}");
        }
        for tag in ["", "e", "en_US", "en-", "../en", "en US", &"a".repeat(36), "日本"] {
            assert!(language(Some(tag.to_owned())).is_err(), "{tag}");
        }
    }
}
