//! Codes, whose digits are not numbers: account numbers, postcodes, identifiers, the `7a` of a house. Also codes of
//! letters that are words as well.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{identifier::is_part_of_one, lexicon::Sense, number::Number, reply, scan::Scan, senses::Senses};
use crate::{
    ablation,
    language::Language,
    text::{Span, Utterance, fold, tokens::TokenKind},
};

/// The most letters of a code that may be a word.
const LETTERS: usize = 3;

/// True of a common word that is also a code of a list: the "in" of "I am in Illinois" is not Indiana. In capitals, or
/// as the whole utterance, it is the code.
pub(super) fn is_common_word(code: &str, utterance: &Utterance, span: Span, label: &Value) -> bool {
    let said = utterance.slice(span);
    let is_code = |label: &str| {
        (2..=LETTERS).contains(&label.chars().count())
            && label.chars().all(|c| c.is_ascii_uppercase())
            && label.eq_ignore_ascii_case(said)
    };
    if !label.as_str().is_some_and(is_code) {
        return false;
    }
    // If everything is written in capitals, they do not mark a code.
    let is_capital = said.chars().all(char::is_uppercase) && utterance.text().contains(char::is_lowercase);
    let folded = fold(said);
    let says_something = |word: &Span| !word.overlaps(span) && !reply::says_nothing(code, &utterance.folded_in(*word));
    let is_alone = !utterance.words().iter().any(says_something);
    let language = Language::or_english(code);
    let is_common = language.words.is_carrier(&folded)
        || reply::says_nothing(code, said)
        || language.common.often.contains(&folded.as_str());
    ablation::holds("codes.common_word", !is_capital && !is_alone && is_common)
}

/// The spans of codes that contain digits.
pub(super) fn codes(scan: &Scan<'_>) -> Vec<Span> {
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

/// `LS1 4AP`, whose second half has none of the letters that are easily confused; and ", CA 94555".
fn postcodes(utterance: &Utterance) -> impl Iterator<Item = Span> {
    static POSTCODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let british = r"\b[a-z]{1,2}[0-9][a-z0-9]? [0-9][abd-hjlnp-uw-z]{2}\b";
        Regex::new(&format!("(?i){british}|, ?[a-z]{{2}} [0-9]{{5}}\\b")).ok()
    });
    let found = POSTCODE.iter().flat_map(|postcode: &Regex| postcode.find_iter(utterance.text()));
    found.map(|found| utterance.span_of_bytes(found.range()))
}

/// `7a`: digits and one letter that is not a unit or a multiplier.
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

/// The digits behind letters and a mark, each with the mark before it.
fn joined(scan: &Scan<'_>) -> Vec<Span> {
    let codes = scan.numbers.iter().flatten().filter(|number| number.code && is_part_of_one(scan, number.start));
    codes.filter_map(|number| scan.span(number.start - 1, number.end)).collect()
}
