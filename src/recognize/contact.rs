//! Email addresses and URLs by `linkify`, phone numbers by `phonenumber`.
//!
//! - A URL without a scheme counts if it begins with `www.` or its host ends in a common top-level domain, with a lower
//!   score. Beside a script without spaces, both end where that script begins: people write "kim@example.orgに".
//! - A phone number is 7 to 15 digits that people write together. Its value is E.164 with every digit that was written:
//!   behind a `+` or an international prefix as it stands, else with the country code of the language's region and
//!   without the region's trunk prefix. The library's tables say which numbers are in use. One that is not in use, such
//!   as a number that is reserved for films, keeps its value and scores less. Where no region fits, the value is the
//!   digits alone. A number that no region could have is [impossible](super::Mention::is_impossible).

use std::ops::Range;

use linkify::{LinkFinder, LinkKind};
use phonenumber::metadata::{DATABASE, Metadata};

use super::certainty::Certainty;
use crate::text::{Utterance, is_unspaced};

/// The number of digits of the shortest phone number that is read, and of the longest that exists.
pub(super) const FEWEST_DIGITS: usize = 7;
const MOST_DIGITS: usize = 15;
/// The most phone numbers that are tried in one utterance; a text with more is not speech.
const MOST_PHONES: usize = 64;
/// Digits without separators may also be an order number.
const IN_ONE_PIECE: Certainty = Certainty::Usual;
/// The tables know the form of the number, but it is not in use.
const NOT_IN_USE: Certainty = Certainty::Likely;
/// Only a country code explains the digits.
const UNEXPLAINED: Certainty = Certainty::Guessed;
/// No number of the country has this form: a digit is wrong, missing or superfluous.
pub(super) const IMPOSSIBLE: Certainty = Certainty::Even;
/// The fewest digits of a number that lacks one digit.
const FEWER_DIGITS: usize = 9;

/// Something at a byte range of the utterance as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contact {
    pub(super) bytes: Range<usize>,
    pub(super) value: String,
    pub(super) certainty: Certainty,
}

#[derive(Debug)]
pub(super) struct Contacts {
    links: LinkFinder,
    bare_links: LinkFinder,
    /// The country whose numbers need no prefix.
    region: Option<&'static Metadata>,
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
        Self { links, bare_links, region: DATABASE.by_id(region) }
    }

    pub(super) fn emails(&self, utterance: &Utterance) -> Vec<Contact> {
        let text = utterance.text();
        if !text.contains('@') {
            return Vec::new();
        }
        links(&self.links, text, &LinkKind::Email)
            .map(|(bytes, address)| Contact { bytes, value: address.to_owned(), certainty: Certainty::WrittenOut })
            .collect()
    }

    pub(super) fn urls(&self, utterance: &Utterance) -> Vec<Contact> {
        let text = utterance.text();
        if !text.contains(['.', ':']) {
            return Vec::new();
        }
        links(&self.bare_links, text, &LinkKind::Url)
            .filter_map(|(bytes, url)| {
                let certainty = if url.contains("://") {
                    Certainty::WrittenOut
                } else if has_likely_host(url) {
                    Certainty::Usual
                } else {
                    return None;
                };
                Some(Contact { bytes, value: url.to_owned(), certainty })
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
        let is_dated = |at: usize| written.as_bytes().get(at) == Some(&b'-');
        if written.len() >= 10 && is_dated(4) && is_dated(7) {
            return None;
        }
        let is_digits_alone = written.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(international) = self.international(written) {
            let is_in_use = countries_of(&international).any(|(country, national)| is_in_use(country, national));
            // Without a plus, the digits are a prefix only if a number follows.
            if is_in_use || written.starts_with(['+', '(']) && written.contains('+') {
                let is_possible = || {
                    countries_of(&international)
                        .any(|(country, national)| country.descriptors().general().is_match(national))
                };
                let certainty = match is_in_use {
                    true => Certainty::WrittenOut,
                    false if is_possible() => NOT_IN_USE,
                    false => IMPOSSIBLE,
                };
                return Some(Contact { bytes, value: format!("+{international}"), certainty });
            }
        }
        let digits = digits_of(written);
        if let Some((value, certainty)) = self.region.and_then(|region| national(region, &digits, is_digits_alone)) {
            return Some(Contact { bytes, value, certainty });
        }
        let has_trunk = self.region.and_then(Metadata::national_prefix).is_some_and(|trunk| digits.starts_with(trunk));
        let fewest = if has_trunk || written.starts_with('(') { FEWER_DIGITS } else { FEWER_DIGITS + 1 };
        let is_likely = digits.len() >= fewest && written.contains([' ', '-', '(']);
        let has_code = countries_of(&digits).any(|(country, national)| is_in_use(country, national));
        let certainty = if has_code { UNEXPLAINED } else { IMPOSSIBLE };
        is_likely.then_some(Contact { bytes, value: digits, certainty })
    }

    /// The digits from the country code on, if the number is written with one.
    fn international(&self, written: &str) -> Option<String> {
        // The zero of `+44 (0)20` is not dialled.
        let digits = digits_of(&written.replacen("(0)", "", 1));
        if written.trim_start_matches('(').starts_with('+') {
            return Some(digits);
        }
        let is_american = self.region.is_some_and(|region| region.country_code() == 1);
        let prefix = if is_american { "011" } else { "00" };
        digits.strip_prefix(prefix).map(str::to_owned)
    }
}

/// The links of one kind in the text, with their places.
fn links<'t>(
    finder: &'t LinkFinder,
    text: &'t str,
    kind: &'t LinkKind,
) -> impl Iterator<Item = (Range<usize>, &'t str)> {
    scripts(text).into_iter().flat_map(move |piece| {
        let start = piece.start;
        let of_kind = finder.links(&text[piece]).filter(move |link| link.kind() == kind);
        of_kind.map(move |link| (start + link.start()..start + link.end(), link.as_str()))
    })
}

/// The text in pieces, divided where an ASCII letter or digit touches a script without spaces or its punctuation.
fn scripts(text: &str) -> Vec<Range<usize>> {
    let is_wide = |character: char| {
        !character.is_ascii() && (is_unspaced(character) || matches!(character, '\u{3000}'..='\u{303F}' | '\u{30FB}'))
    };
    let is_plain = |character: char| character.is_ascii_alphanumeric();
    let mut pieces = Vec::new();
    let (mut start, mut before) = (0, ' ');
    for (at, character) in text.char_indices() {
        if is_wide(before) && is_plain(character) || is_plain(before) && is_wide(character) {
            pieces.push(start..at);
            start = at;
        }
        before = character;
    }
    pieces.push(start..text.len());
    pieces
}

fn digits_of(written: &str) -> String {
    written.chars().filter(char::is_ascii_digit).collect()
}

/// The countries whose code these digits begin with, each with the digits behind it.
fn countries_of(digits: &str) -> impl Iterator<Item = (&'static Metadata, &str)> {
    (1..=3).filter_map(|length| Some((digits.get(..length)?.parse().ok()?, digits.get(length..)?))).flat_map(
        |(code, national): (u16, &str)| {
            DATABASE.by_code(&code).unwrap_or_default().into_iter().map(move |country| (country, national))
        },
    )
}

/// True if the country has given out numbers of this form.
fn is_in_use(country: &Metadata, national: &str) -> bool {
    let types = country.descriptors();
    let given_out = [
        types.fixed_line(),
        types.mobile(),
        types.toll_free(),
        types.premium_rate(),
        types.shared_cost(),
        types.personal_number(),
        types.voip(),
        types.pager(),
        types.uan(),
        types.voicemail(),
    ];
    types.general().is_match(national) && given_out.into_iter().flatten().any(|numbers| numbers.is_match(national))
}

/// The E.164 form of a number as people of the region write it, and how sure it is.
fn national(region: &Metadata, digits: &str, is_digits_alone: bool) -> Option<(String, Certainty)> {
    let without_trunk = region.national_prefix().and_then(|prefix| digits.strip_prefix(prefix));
    let readings = || without_trunk.into_iter().chain([digits]);
    let value = |national: &str| format!("+{}{national}", region.country_code());
    if let Some(national) = readings().find(|national| is_in_use(region, national)) {
        return Some((value(national), if is_digits_alone { IN_ONE_PIECE } else { Certainty::WrittenOut }));
    }
    // The number is not in use: only its written form says that it is a phone number.
    let is_written_as_one = without_trunk.is_some_and(|rest| rest.len() + 1 == digits.len()) || !is_digits_alone;
    let national = readings().find(|national| region.descriptors().general().is_match(national))?;
    is_written_as_one.then(|| (value(national), NOT_IN_USE))
}

fn has_likely_host(url: &str) -> bool {
    let host = url.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let lower = host.to_lowercase();
    lower.starts_with("www.")
        || lower.rsplit_once('.').is_some_and(|(name, domain)| !name.is_empty() && TOP_LEVEL.contains(&domain))
}

/// Runs of digits with the usual separators of phone numbers: at most two separators in a row.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn phones(region: &str, text: &str) -> Vec<(String, Certainty)> {
        let found = Contacts::new(region).phones(&Utterance::new(text));
        found.into_iter().map(|phone| (phone.value, phone.certainty)).collect()
    }

    /// Every example number of the library's tables: for each country, one of each type.
    fn examples() -> impl Iterator<Item = (&'static Metadata, &'static str)> {
        let types = |country: &'static Metadata| {
            let types = country.descriptors();
            [types.fixed_line(), types.mobile(), types.toll_free(), types.premium_rate(), types.voip(), types.uan()]
        };
        DATABASE.iter().flat_map(move |country| {
            types(country)
                .into_iter()
                .flatten()
                .filter_map(move |numbers| Some((country, numbers.example()?)))
                .filter(|(_, example)| (FEWEST_DIGITS..=MOST_DIGITS - 3).contains(&example.len()))
        })
    }

    #[test]
    fn every_example_number_keeps_every_digit() {
        let (mut checked, mut wrong) = (0, Vec::new());
        for (country, example) in examples() {
            let expected = format!("+{}{example}", country.country_code());
            let (head, tail) = example.split_at(example.len() / 2);
            let code = country.country_code();
            let written = [expected.clone(), format!("+{code} {head} {tail}"), format!("+{code}-{head}-{tail}")];
            for (region, text) in
                ["US", "DE", "GB"].into_iter().flat_map(|region| written.iter().map(move |one| (region, one)))
            {
                checked += 1;
                let found = phones(region, &format!("call me on {text}, please"));
                if found != [(expected.clone(), Certainty::WrittenOut)] {
                    wrong.push(format!("{region} {text}: {found:?}"));
                }
            }
        }
        assert!(checked > 3_000, "the library has many examples: {checked}");
        assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn every_example_number_is_read_at_home() {
        let mut wrong = Vec::new();
        // Regions that are not countries have a number for a name.
        for (country, example) in examples().filter(|(country, _)| country.id().chars().all(char::is_alphabetic)) {
            let expected = format!("+{}{example}", country.country_code());
            let trunk = country.national_prefix().unwrap_or_default();
            let (head, tail) = example.split_at(example.len() / 2);
            let found = phones(country.id(), &format!("{trunk}{head} {tail}"));
            let digits_kept = found.iter().any(|(value, certainty)| *value == expected && *certainty >= NOT_IN_USE);
            if !digits_kept {
                wrong.push(format!("{} {trunk}{head} {tail}: {found:?}", country.id()));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn reserved_numbers_are_kept_and_score_less() {
        for (region, text, expected) in [
            ("GB", "07700 900461", "+447700900461"),
            ("GB", "020 7946 0018", "+442079460018"),
            ("US", "(202) 555-0147", "+12025550147"),
            ("US", "+44 7700 900461", "+447700900461"),
            ("DE", "030 23125 417", "+493023125417"),
            ("FR", "01 99 00 12 34", "+33199001234"),
        ] {
            let found = phones(region, text);
            assert!(
                matches!(&found[..], [(value, certainty)] if value == expected && *certainty >= NOT_IN_USE),
                "{text}: {found:?}"
            );
        }
        assert_eq!(phones("US", "+44 (0)20 7123 4567"), [("+442071234567".to_owned(), Certainty::WrittenOut)]);
        assert_eq!(phones("DE", "0044 20 7123 4567"), [("+442071234567".to_owned(), Certainty::WrittenOut)]);
        assert_eq!(phones("US", "order 48123"), []);
        assert_eq!(phones("DE", "on 2026-03-04 at ten"), []);
    }
}
