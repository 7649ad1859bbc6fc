//! Email addresses and URLs by `linkify`, phone numbers by `phonenumber`.
//!
//! - A URL without a scheme counts if it begins with `www.` or its host ends in a common top-level domain, with a lower
//!   score.
//! - A phone number is 7 to 15 digits that people write together; valid in the language's region or behind a `+`, its
//!   value is E.164. Otherwise it needs at least ten digits or a `+`, scores 0.5, and its value is its digits.

use std::{ops::Range, str::FromStr as _};

use linkify::{LinkFinder, LinkKind};
use phonenumber::{Mode, country};

use crate::text::Utterance;

/// Digits of the shortest phone number that is read, and of the longest there is.
const FEWEST_DIGITS: usize = 7;
const MOST_DIGITS: usize = 15;
/// Phone numbers tried in one utterance; more is no speech but a dump.
const MOST_PHONES: usize = 64;

/// Something at a byte range of the utterance as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contact {
    pub(super) bytes: Range<usize>,
    pub(super) value: String,
    pub(super) score: f32,
}

#[derive(Debug)]
pub(super) struct Contacts {
    links: LinkFinder,
    bare_links: LinkFinder,
    region: Option<country::Id>,
}

const TOP_LEVEL: [&str; 32] = [
    "com", "org", "net", "edu", "gov", "io", "dev", "app", "ai", "info", "biz", "co", "uk", "de", "fr", "es", "it",
    "nl", "eu", "us", "ca", "au", "jp", "cn", "in", "br", "ch", "at", "se", "pl", "me", "tv",
];

impl Contacts {
    /// `region`: ISO 3166 code of the country whose numbers need no prefix.
    pub(super) fn new(region: &str) -> Self {
        let links = LinkFinder::new();
        let mut bare_links = LinkFinder::new();
        bare_links.url_must_have_scheme(false);
        Self { links, bare_links, region: country::Id::from_str(region).ok() }
    }

    pub(super) fn emails(&self, utterance: &Utterance) -> Vec<Contact> {
        let text = utterance.text();
        if !text.contains('@') {
            return Vec::new();
        }
        self.links
            .links(text)
            .filter(|link| *link.kind() == LinkKind::Email)
            .map(|link| Contact { bytes: link.start()..link.end(), value: link.as_str().to_owned(), score: 1.0 })
            .collect()
    }

    pub(super) fn urls(&self, utterance: &Utterance) -> Vec<Contact> {
        let text = utterance.text();
        if !text.contains(['.', ':']) {
            return Vec::new();
        }
        self.bare_links
            .links(text)
            .filter(|link| *link.kind() == LinkKind::Url)
            .filter_map(|link| {
                let url = link.as_str();
                let score = if url.contains("://") {
                    1.0
                } else if has_likely_host(url) {
                    0.8
                } else {
                    return None;
                };
                Some(Contact { bytes: link.start()..link.end(), value: url.to_owned(), score })
            })
            .collect()
    }

    pub(super) fn phones(&self, utterance: &Utterance) -> Vec<Contact> {
        let text = utterance.text();
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if digits < FEWEST_DIGITS {
            return Vec::new();
        }
        candidates(text).into_iter().take(MOST_PHONES).filter_map(|bytes| self.phone(text, bytes)).collect()
    }

    fn phone(&self, text: &str, bytes: Range<usize>) -> Option<Contact> {
        let written = &text[bytes.clone()];
        let digits: String = written.chars().filter(char::is_ascii_digit).collect();
        if let Ok(number) = phonenumber::parse(self.region, written)
            && number.is_valid()
        {
            let value = number.format().mode(Mode::E164).to_string();
            // Ten digits in one piece may as well be an order number.
            let score = if written.len() == digits.len() { 0.8 } else { 1.0 };
            return Some(Contact { bytes, value, score });
        }
        let is_dated =
            written.len() >= 10 && written.as_bytes().get(4) == Some(&b'-') && written.as_bytes().get(7) == Some(&b'-');
        let is_likely =
            written.starts_with('+') || (digits.len() >= 10 && written.contains([' ', '-', '(']) && !is_dated);
        is_likely.then_some(Contact { bytes, value: digits, score: 0.5 })
    }
}

fn has_likely_host(url: &str) -> bool {
    let host = url.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let lower = host.to_lowercase();
    lower.starts_with("www.")
        || lower.rsplit_once('.').is_some_and(|(name, domain)| !name.is_empty() && TOP_LEVEL.contains(&domain))
}

/// Runs of digits with what people put between the digits of a phone number: at most two separators in a row.
fn candidates(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let opens = bytes[at].is_ascii_digit() || matches!(bytes[at], b'+' | b'(');
        let after_word =
            at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || matches!(bytes[at - 1], b'.' | b'/' | b'@' | b'_'));
        if !opens || after_word {
            at += 1;
            continue;
        }
        let (start, mut digits, mut separators, mut end) = (at, 0, 0, at);
        while at < bytes.len() {
            match bytes[at] {
                byte if byte.is_ascii_digit() => {
                    digits += 1;
                    separators = 0;
                    end = at + 1;
                }
                b' ' | b'-' | b'.' | b'(' | b')' | b'/' if separators < 2 => separators += 1,
                b'+' if at == start || (at == start + 1 && bytes[start] == b'(') => {}
                _ => break,
            }
            at += 1;
        }
        let before_word =
            bytes.get(end).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'@' | b':' | b'%'));
        if (FEWEST_DIGITS..=MOST_DIGITS).contains(&digits) && !before_word {
            found.push(start..end);
        }
        at = at.max(start + 1);
    }
    found
}
