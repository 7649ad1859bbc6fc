//! Moments that are counted from another one.

use jiff::{ToSpan as _, civil::DateTime};

use super::weeks::said_in_days;
use crate::recognize::{certainty::Certainty, duration, lexicon::Sense, scan::Scan, senses::TokenReading};

/// A length of time counted from a moment: "in two hours", "three days ago", "two weeks from now".
pub(in crate::recognize) fn counted(
    scan: &Scan<'_>,
    token: usize,
    now: DateTime,
) -> Option<TokenReading<(DateTime, bool)>> {
    let moved = |length: duration::Duration, forwards: bool| Some((length.from(now, forwards)?, length.has_time()));
    if let Some(at) = scan.after(token, Sense::In) {
        let length = duration::duration_at(scan, at)?;
        // "within two hours" gives a limit as well as a moment. "in the two years that I lived here" does not match
        // because of "the".
        let found = |length: TokenReading<duration::Duration>| {
            Some(TokenReading::new(token, length.end, moved(length.value, true)?, Certainty::WrittenOut))
        };
        // "Dans quinze jours" means two weeks to most people, and fifteen days to some.
        return match said_in_days(scan, length.value) {
            Some(weeks) => {
                let days = moved(length.value, true);
                Some(found(TokenReading { value: weeks, ..length })?.or(days))
            }
            None => found(length),
        };
    }
    // "vor einer Woche", "hace dos semanas"
    if let Some(at) = scan.after(token, Sense::AgoBefore)
        && let Some(length) = duration::duration_at(scan, at)
    {
        return Some(TokenReading::new(token, length.end, moved(length.value, false)?, Certainty::WrittenOut));
    }
    let length = duration::duration_at(scan, token)?;
    if let Some(end) = scan.after(length.end, Sense::Hence) {
        return Some(TokenReading::new(token, end, moved(length.value, true)?, Certainty::WrittenOut));
    }
    if let Some(end) = scan.after(length.end, Sense::Ago) {
        return Some(TokenReading::new(token, end, moved(length.value, false)?, Certainty::WrittenOut));
    }
    let from = scan.after(length.end, Sense::From)?;
    let (days, end) = scan.pick(from, |sense| match sense {
        Sense::Day(days) => Some(i64::from(days)),
        _ => None,
    })?;
    let moment = now.checked_add(days.days()).ok()?;
    (!length.value.has_time()).then_some(())?;
    Some(TokenReading::new(token, end, (length.value.from(moment, true)?, false), Certainty::WrittenOut))
}
