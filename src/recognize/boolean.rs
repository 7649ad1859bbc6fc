//! Yes and no, as words. Conservative: "no" in the middle of a sentence rarely is an answer, "on" rarely a value.

use super::{certainty::Certainty, lexicon::Sense, scan::Scan, senses::TokenReading};

fn boolean_at(scan: &Scan<'_>, token: usize) -> Option<TokenReading<bool>> {
    let (sense, end) = scan.pick(token, |sense| {
        matches!(sense, Sense::Yes | Sense::No | Sense::Truth(_) | Sense::Switch(_) | Sense::Having(_)).then_some(sense)
    })?;
    let found = |value, certainty| Some(TokenReading::new(token, end, value, certainty));
    let rest_is_polite =
        || (end..scan.len().min(end + 6)).all(|token| scan.has(token, Sense::Please)) && scan.len() <= end + 6;
    match sense {
        Sense::Yes | Sense::No => {
            let opens =
                token == 0 && (scan.is_symbol(end, ",") || scan.is_symbol(end, ".") || scan.is_symbol(end, "!"));
            let certainty = if token == 0 && rest_is_polite() {
                Certainty::WrittenOut
            } else if opens {
                Certainty::Clear
            } else {
                Certainty::Even
            };
            found(sense == Sense::Yes, certainty)
        }
        Sense::Truth(value) => found(value, Certainty::Clear),
        Sense::Switch(value) if scan.len() == 1 => found(value, Certainty::WrittenOut),
        // "Without, please", as a whole answer.
        Sense::Having(value) if token == 0 && rest_is_polite() => found(value, Certainty::WrittenOut),
        Sense::Switch(value) | Sense::Having(value) => found(value, Certainty::Doubtful),
        _ => None,
    }
}

pub(super) fn booleans(scan: &Scan<'_>) -> Vec<TokenReading<bool>> {
    scan.find(|token| boolean_at(scan, token))
}
