//! Identifiers, whose digits count nothing: account numbers, postcodes, `TR-2026-0193`, `blue-kettle-17`, the `7a` of
//! a house.

use std::sync::LazyLock;

use regex::Regex;

use super::{lexicon::Sense, number::Number, scan::Scan, senses::Senses};
use crate::text::{Span, Utterance, tokens::TokenKind};

/// Where digits are parts of identifiers.
pub(super) fn identifiers(scan: &Scan<'_>) -> Vec<Span> {
    let mut found = accounts(scan.utterance);
    if scan.lexicon.english {
        found.extend(postcodes(scan.utterance));
    }
    found.extend(joined(scan));
    found.extend(scan.numbers.iter().flatten().filter_map(|number| lettered(scan, number)));
    found
}

/// Account numbers (IBAN): two letters, two digits, and groups that are mostly digits.
fn accounts(utterance: &Utterance) -> Vec<Span> {
    static ACCOUNT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[0-9]{1,3})?\b").ok());
    let has_digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count() >= 10;
    let found = ACCOUNT.iter().flat_map(|account: &Regex| account.find_iter(utterance.text()));
    found.filter(|found| has_digits(found.as_str())).map(|found| utterance.span_of_bytes(found.range())).collect()
}

/// `LS1 4AP`, of which the second half has none of the letters that could be taken for another; and ", CA 94555".
fn postcodes(utterance: &Utterance) -> impl Iterator<Item = Span> {
    static POSTCODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let british = r"\b[a-z]{1,2}[0-9][a-z0-9]? [0-9][abd-hjlnp-uw-z]{2}\b";
        Regex::new(&format!("(?i){british}|, ?[a-z]{{2}} [0-9]{{5}}\\b")).ok()
    });
    let found = POSTCODE.iter().flat_map(|postcode: &Regex| postcode.find_iter(utterance.text()));
    found.map(|found| utterance.span_of_bytes(found.range()))
}

/// `7a`: digits and one letter that says nothing of how many they are.
fn lettered(scan: &Senses<'_>, number: &Number) -> Option<Span> {
    let letter = number.end;
    let is_one = scan.text(letter).len() == 1 && scan.kind(letter) == Some(TokenKind::Word) && scan.is_glued(letter);
    let says_how_many = |sense| {
        matches!(
            sense,
            Sense::GluedUnit(_)
                | Sense::Unit(_)
                | Sense::Measure(_)
                | Sense::GluedMultiplier(_)
                | Sense::Currency { .. }
                | Sense::Cent(_)
                | Sense::By
                | Sense::OClock
                | Sense::OrdinalSuffix
        )
        .then_some(())
    };
    let goes_on = scan.is_glued(letter + 1) && scan.kind(letter + 1) != Some(TokenKind::Symbol);
    let is_lettered = number.digits && is_one && !goes_on && scan.pick(letter, says_how_many).is_none();
    is_lettered.then(|| scan.span(number.start, letter + 1)).flatten()
}

/// True for the `17` of `blue-kettle-17` and all digits of `TR-2026-0193`: letters and a mark that joins them stand
/// before. `10-12`, `14-Mar-2026`, `10kg-15kg`, `minus-5` and `9-to-5` count.
pub(super) fn is_part_of_one(scan: &Senses<'_>, token: usize) -> bool {
    const MOST_PIECES: usize = 8;
    let joins = |mark: usize| ["-", "_", "/"].into_iter().any(|joining| scan.joins(mark, joining));
    let mut at = token;
    for _ in 0..MOST_PIECES {
        if at < 2 || !joins(at - 1) {
            return false;
        }
        at -= 2;
        match scan.kind(at) {
            Some(TokenKind::Digits) => {}
            Some(TokenKind::Word) => return scan.text(at).is_ascii() && !counts(scan, at),
            _ => return false,
        }
    }
    false
}

/// True if digits behind this word and a hyphen count: the word is the unit of other digits, or says so by itself.
/// `w/2` is short for "with two".
fn counts(scan: &Senses<'_>, word: usize) -> bool {
    let is_unit = word > 0 && scan.is_glued(word) && scan.kind(word - 1) == Some(TokenKind::Digits);
    let is_short = scan.text(word) == "w" && scan.is_symbol(word + 1, "/");
    let says_so = |sense| {
        matches!(
            sense,
            Sense::Month { .. } | Sense::Weekday { .. } | Sense::Minus | Sense::To | Sense::By | Sense::Currency { .. }
        )
        .then_some(())
    };
    is_short || is_unit && scan.pick(word, |_| Some(())).is_some() || scan.pick(word, says_so).is_some()
}

/// The digits behind letters and a mark, each with the mark before it.
fn joined(scan: &Scan<'_>) -> Vec<Span> {
    let codes = scan.numbers.iter().flatten().filter(|number| number.code && is_part_of_one(scan, number.start));
    codes.filter_map(|number| scan.span(number.start - 1, number.end)).collect()
}
