//! Yes and no, as words. Conservative: "no" in the middle of a sentence rarely is an answer, "on" rarely a value.

use super::{lexicon::Sense, scan::Scan, senses::Found};

/// How sure a yes or no is by where it stands.
const WHOLE: f32 = 1.0;
const OPENING: f32 = 0.9;
const WITHIN: f32 = 0.5;

fn boolean_at(scan: &Scan<'_>, token: usize) -> Option<Found<bool>> {
    let (sense, end) = scan.pick(token, |sense| {
        matches!(sense, Sense::Yes | Sense::No | Sense::Truth(_) | Sense::Switch(_) | Sense::Having(_)).then_some(sense)
    })?;
    let found = |value, score| Some(Found::new(token, end, value, score));
    match sense {
        Sense::Yes | Sense::No => {
            let rest_is_polite =
                (end..scan.len().min(end + 6)).all(|token| scan.has(token, Sense::Please)) && scan.len() <= end + 6;
            let opens =
                token == 0 && (scan.is_symbol(end, ",") || scan.is_symbol(end, ".") || scan.is_symbol(end, "!"));
            let score = if token == 0 && rest_is_polite {
                WHOLE
            } else if opens {
                OPENING
            } else {
                WITHIN
            };
            found(sense == Sense::Yes, score)
        }
        Sense::Truth(value) => found(value, OPENING),
        Sense::Switch(value) => found(value, if scan.len() == 1 { WHOLE } else { 0.4 }),
        Sense::Having(value) => found(value, 0.4),
        _ => None,
    }
}

pub(super) fn booleans(scan: &Scan<'_>) -> Vec<Found<bool>> {
    scan.find(|token| boolean_at(scan, token))
}
