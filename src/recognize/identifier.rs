//! Which digits are parts of an identifier: those of `TR-2026-0193` and `blue-kettle-17`.

use super::{lexicon::Sense, senses::Senses};
use crate::text::tokens::TokenKind;

/// True for the `17` of `blue-kettle-17` and all digits of `TR-2026-0193`: letters stand before them, joined by a mark.
/// The digits of `10-12`, `14-Mar-2026`, `10kg-15kg`, `minus-5` and `9-to-5` are numbers.
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

/// True if digits behind this word and a hyphen are a number: the word is the unit of other digits, or a word that
/// numbers may follow. `w/2` is short for "with two".
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
