//! Times of day: "3pm", `15:30`, "half past three", "quarter to five", "8 o'clock", "noon", "午後3時半".
//!
//! Policy for an hour without am or pm:
//! - A part of the day nearby decides: "8 in the evening", "tomorrow morning at 9", "tonight at 8".
//! - Hours from 13 on, 0, and hours with a leading zero (`07:30`) are of the 24-hour clock. So is every hour in
//!   languages that count that way (all but English).
//! - Otherwise 1 to 6 are the afternoon, 7 to 11 the morning, 12 is noon, with a lower score.
//!
//! An hour alone is a time only behind "at" ("at 5"), with a still lower score, and the lowest behind "by" or "around".

use jiff::civil::Time;

use super::{
    lexicon::{Part, Sense, Unit},
    scan::{Found, Scan, TokenKind},
};

/// Scores: said in full; without am or pm where that matters; an hour alone; an hour alone before another word.
const FULL: f32 = 1.0;
const HALF_OF_DAY_GUESSED: f32 = 0.8;
const HOUR_ALONE: f32 = 0.6;
const HOUR_AND_MORE: f32 = 0.4;

/// The half of the day in which an hour lies, if anything says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Meridiem(bool),
    Part(Part),
    Unknown,
}

pub(super) fn part_at(scan: &Scan<'_>, token: usize) -> Option<(Part, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::Part(part) => Some(part),
        Sense::Tonight => Some(Part::Evening),
        _ => None,
    })
}

/// The part of the day that is said before `token` or, as "tonight", behind `end`.
fn part_around(scan: &Scan<'_>, token: usize, end: usize) -> Option<Part> {
    if let Some((part, _)) = part_at(scan, end) {
        return Some(part);
    }
    // "tomorrow morning at 9": look back over the preposition, at phrases that end just there.
    let mut until = token;
    for _ in 0..2 {
        for start in until.saturating_sub(3)..until {
            if let Some((part, end)) = part_at(scan, start)
                && end == until
            {
                return Some(part);
            }
        }
        if until == 0 || !(scan.is_symbol(until - 1, ",") || preposition(scan, until - 1).is_some()) {
            return None;
        }
        until -= 1;
    }
    None
}

/// The hour in the 24-hour clock, and how sure that is.
fn resolve(scan: &Scan<'_>, hour: i32, half: Half, leading_zero: bool) -> Option<(i32, f32)> {
    if !(0..=24).contains(&hour) {
        return None;
    }
    let of_twelve = hour % 12;
    Some(match half {
        Half::Meridiem(_) if !(1..=12).contains(&hour) => return None,
        Half::Meridiem(pm) => (of_twelve + if pm { 12 } else { 0 }, FULL),
        _ if hour > 12 || hour == 0 => (hour % 24, FULL),
        Half::Part(Part::Morning) => (of_twelve, FULL),
        Half::Part(Part::Afternoon | Part::Evening) => (of_twelve + 12, FULL),
        Half::Part(Part::Night) => (
            if hour == 12 {
                0
            } else if hour < 6 {
                hour
            } else {
                of_twelve + 12
            },
            FULL,
        ),
        Half::Unknown if leading_zero || !scan.lexicon.twelve_hours => (hour, FULL),
        Half::Unknown => (if hour < 7 { hour + 12 } else { hour }, HALF_OF_DAY_GUESSED),
    })
}

/// "am", "p.m.", or the part of the day behind an hour, with the token after it.
fn half_at(scan: &Scan<'_>, token: usize) -> Option<(Half, usize)> {
    if let Some((pm, end)) = scan.pick(token, |sense| match sense {
        Sense::Meridiem(pm) => Some(pm),
        _ => None,
    }) {
        // The last dot of "p.m.", unless the sentence ends with it.
        let dotted = end > token + 1 && scan.is_symbol(end, ".") && scan.is_glued(end) && end + 1 < scan.len();
        return Some((Half::Meridiem(pm), if dotted { end + 1 } else { end }));
    }
    // "3p": one letter, glued.
    if matches!(scan.text(token), "a" | "p")
        && scan.is_glued(token)
        && !scan.is_glued(token + 1)
        && scan.lexicon.twelve_hours
    {
        return Some((Half::Meridiem(scan.text(token) == "p"), token + 1));
    }
    let (part, end) = scan.pick(token, |sense| match sense {
        Sense::Part(part) => Some(part),
        _ => None,
    })?;
    // "in the morning" is part of the time; a bare "morning" belongs to what follows.
    (end > token + 1).then_some((Half::Part(part), end))
}

/// An hour in digits or words, before anything is known of its half of the day.
fn hour_at(scan: &Scan<'_>, token: usize) -> Option<(i32, usize)> {
    if scan.kind(token) == Some(TokenKind::Digits) {
        return scan.digits(token, 2).map(|hour| (hour, token + 1)).filter(|&(hour, _)| hour <= 24);
    }
    let (hour, end) = scan.cardinal(token)?;
    i32::try_from(hour).ok().filter(|hour| (0..=24).contains(hour)).map(|hour| (hour, end))
}

fn two_digits(scan: &Scan<'_>, token: usize) -> Option<i32> {
    (scan.text(token).len() == 2).then(|| scan.digits(token, 2)).flatten().filter(|value| *value < 60)
}

fn time(hour: i32, minute: i32, second: i32) -> Option<Time> {
    Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, i8::try_from(second).ok()?, 0).ok()
}

/// Moves an hour and minutes to a found time: the half of the day behind or around it decides the rest.
fn finish(
    scan: &Scan<'_>,
    start: usize,
    end: usize,
    clock: (i32, i32, i32),
    leading_zero: bool,
    score: f32,
) -> Option<Found<Time>> {
    let (half, end) = match half_at(scan, end) {
        Some((half, end)) => (half, end),
        None => (part_around(scan, start, end).map_or(Half::Unknown, Half::Part), end),
    };
    let (hour, sure) = resolve(scan, clock.0, half, leading_zero)?;
    let score = if half == Half::Unknown { score.min(sure) } else { sure };
    Some(Found::new(start, end, time(hour, clock.1, clock.2)?, score))
}

/// Minutes before or after an hour: "half past three", "quarter to five", "ten to six", "halb drei".
fn relative(scan: &Scan<'_>, token: usize) -> Option<Found<Time>> {
    if let Some(after) = scan.after(token, Sense::HalfTo) {
        let (hour, end) = hour_at(scan, after)?;
        return finish(scan, token, end, ((hour + 23) % 24, 30, 0), false, FULL);
    }
    let at = scan.skip(token, Sense::A);
    let fraction = scan.pick(at, |sense| match sense {
        Sense::Half => Some(30),
        Sense::Quarter => Some(15),
        _ => None,
    });
    let (minutes, after) = match fraction {
        Some(fraction) => fraction,
        None => {
            let (minutes, end) = scan.cardinal(token)?;
            (
                i32::try_from(minutes).ok().filter(|minutes| (1..60).contains(minutes))?,
                scan.skip(end, Sense::Unit(Unit::Minute)),
            )
        }
    };
    let (is_past, after) = scan.pick(after, |sense| match sense {
        Sense::Past => Some(true),
        Sense::To => Some(false),
        _ => None,
    })?;
    let clock = scan.pick(after, |sense| match sense {
        Sense::Clock(hour) => Some(i32::from(hour)),
        _ => None,
    });
    let (hour, end) = clock.or_else(|| hour_at(scan, after))?;
    // "five to ten" may be a range, "2 to 3" surely is.
    let sure = fraction.is_some() || (minutes % 5 == 0 && minutes > 4 && (1..=12).contains(&hour));
    if !sure && scan.numbers.get(token)?.as_ref().is_some_and(|number| number.digits) {
        return None;
    }
    let score = if fraction.is_some() { FULL } else { 0.7 };
    if clock.is_some() {
        let minutes = if is_past { hour * 60 + minutes } else { (hour * 60 + 1_440 - minutes) % 1_440 };
        return Some(Found::new(token, end, time(minutes / 60, minutes % 60, 0)?, score));
    }
    let mut found = finish(scan, token, end, (hour, minutes, 0), false, score)?;
    if !is_past {
        let minutes = (i32::from(found.value.hour()) * 60 + 1_440 - minutes) % 1_440;
        // Twelve is noon, so a quarter to one is 12:45.
        found.value = time(minutes / 60, minutes % 60, 0)?;
    }
    Some(found)
}

/// A time that begins at `token`, where a preposition may stand.
pub(super) fn time_at(scan: &Scan<'_>, token: usize) -> Option<Found<Time>> {
    if let Some((hour, end)) = scan.pick(token, |sense| match sense {
        Sense::Clock(hour) => Some(hour),
        _ => None,
    }) {
        return Some(Found::new(token, end, time(i32::from(hour), 0, 0)?, FULL));
    }
    if let Some((pm, after)) = scan.pick(token, |sense| match sense {
        Sense::MeridiemBefore(pm) => Some(pm),
        _ => None,
    }) {
        let mut found = clock_at(scan, after, None)?;
        let (hour, _) = resolve(scan, i32::from(found.value.hour()) % 12, Half::Unknown, true)?;
        (found.start, found.score) = (token, FULL);
        found.value = time(
            hour % 12 + if pm { 12 } else { 0 },
            i32::from(found.value.minute()),
            i32::from(found.value.second()),
        )?;
        return Some(found);
    }
    if let Some(found) = relative(scan, token) {
        return Some(found);
    }
    if let Some((alone, after)) = preposition(scan, token) {
        let (alone, after) = preposition(scan, after).unwrap_or((alone, after));
        return relative(scan, after).or_else(|| clock_at(scan, after, Some(alone)));
    }
    clock_at(scan, token, None)
}

/// "at", "around": what an hour alone behind it scores at most, and the token after it.
fn preposition(scan: &Scan<'_>, token: usize) -> Option<(f32, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::At => Some(HOUR_ALONE),
        Sense::Around => Some(HOUR_AND_MORE),
        _ => None,
    })
}

/// An hour with something that makes it a time; or the hour alone, with the score that this has behind "at".
fn clock_at(scan: &Scan<'_>, token: usize, alone: Option<f32>) -> Option<Found<Time>> {
    // `2026-03-04` and `10.0.0.1` begin with no hour.
    if token > 0
        && scan.is_glued(token)
        && matches!(scan.text(token - 1), ":" | "." | "-" | "/" | "," | "$" | "€" | "£")
    {
        return None;
    }
    let (hour, end) = hour_at(scan, token)?;
    let is_digits = scan.kind(token) == Some(TokenKind::Digits);
    let leading_zero = is_digits && scan.text(token).len() == 2 && scan.text(token).starts_with('0');
    if is_digits && scan.joins(end, ":") {
        let minute = two_digits(scan, end + 1)?;
        let mut after = end + 2;
        let mut second = 0;
        if scan.joins(after, ":") {
            second = two_digits(scan, after + 1)?;
            after += 2;
        }
        let after = scan.skip(after, Sense::OClock);
        return finish(scan, token, after, (hour, minute, second), leading_zero, FULL);
    }
    // "3.30 pm", "15.30 Uhr"
    if is_digits
        && scan.joins(end, ".")
        && let Some(minute) = two_digits(scan, end + 1)
    {
        let said = matches!(half_at(scan, end + 2), Some((Half::Meridiem(_), _)));
        if said || scan.has(end + 2, Sense::OClock) {
            return finish(scan, token, scan.skip(end + 2, Sense::OClock), (hour, minute, 0), leading_zero, FULL);
        }
        return None;
    }
    // 時 of 時間 is a length.
    let is_length = |after: usize| {
        scan.pick(end, |sense| matches!(sense, Sense::Unit(_)).then_some(())).is_some_and(|(_, unit)| unit > after)
    };
    if let Some(after) = scan.after(end, Sense::OClock).filter(|after| !is_length(*after)) {
        // "15h30", "8 Uhr 15", "3時半", "3時30分"
        if let Some(after) = scan.after(after, Sense::HalfBehind) {
            return finish(scan, token, after, (hour, 30, 0), leading_zero, FULL);
        }
        if !scan.lexicon.english
            && let Some(minute) = scan.digits(after, 2).filter(|minute| *minute < 60)
        {
            let end = scan.skip(after + 1, Sense::Unit(Unit::Minute));
            return finish(scan, token, end, (hour, minute, 0), leading_zero, FULL);
        }
        return finish(scan, token, after, (hour, 0, 0), leading_zero, FULL);
    }
    if let Some(after) = scan.after(end, Sense::HalfBehind)
        && alone.is_some()
    {
        return finish(scan, token, after, (hour, 30, 0), leading_zero, FULL);
    }
    // "three thirty pm", "at three thirty"
    if !is_digits
        && let Some((minute @ 10..=59, after)) = scan.cardinal(end)
        && scan.kind(end) == Some(TokenKind::Word)
        && (alone.is_some() || matches!(half_at(scan, after), Some((Half::Meridiem(_), _))))
    {
        let minute = i32::try_from(minute).ok()?;
        return finish(scan, token, after, (hour, minute, 0), false, 0.7);
    }
    if half_at(scan, end).is_some()
        && (alone.is_some() || matches!(half_at(scan, end), Some((Half::Meridiem(_), _))) || is_digits)
    {
        return finish(scan, token, end, (hour, 0, 0), leading_zero, FULL);
    }
    if alone.is_none() || scan.is_glued(end) && !ends_clause(scan, end) {
        return None;
    }
    let is_quantity = scan
        .pick(end, |sense| {
            matches!(
                sense,
                Sense::Unit(_)
                    | Sense::Currency { .. }
                    | Sense::Cent(_)
                    | Sense::Percent
                    | Sense::Month { .. }
                    | Sense::Multiplier(_)
            )
            .then_some(())
        })
        .is_some();
    let most = alone?;
    let is_last = end >= scan.len()
        || ends_clause(scan, end)
        || scan.has(end, Sense::Function)
        || scan
            .pick(end, |sense| {
                matches!(sense, Sense::Day(_) | Sense::Tonight | Sense::Weekday { .. } | Sense::On).then_some(())
            })
            .is_some();
    let score = if is_last { most } else { HOUR_AND_MORE };
    // "about one" and "from one" are rarely times.
    let weak = hour == 0 || scan.numbers.get(token)?.as_ref().is_some_and(|number| number.score < 0.5);
    (!is_quantity && !weak).then(|| finish(scan, token, end, (hour, 0, 0), leading_zero, score)).flatten()
}

fn ends_clause(scan: &Scan<'_>, token: usize) -> bool {
    matches!(scan.text(token), "," | ";" | "?" | "!" | ")" | "。" | "、")
        || (scan.is_symbol(token, ".") && !scan.is_glued(token + 1))
}

pub(super) fn times(scan: &Scan<'_>) -> Vec<Found<Time>> {
    scan.find(time_at)
}
