//! Lengths of time: "three days", "an hour and a half", `2h30m`, `PT30M`.
//!
//! The canonical form is ISO 8601. Hours, minutes and seconds are carried among themselves (90 minutes are `PT1H30M`),
//! but never into days, which are not always 24 hours long. Weeks stay weeks unless there is another unit (`P2W`,
//! `P10D`). Half a month or year is written in months; other fractions of a month have no length and are not read.

use std::fmt::Write as _;

use jiff::civil::DateTime;

use super::{
    certainty::Certainty,
    lexicon::{Sense, TimeUnit},
    scan::Scan,
    senses::TokenReading,
};
use crate::text::tokens::TokenKind;

/// The longest time that is read, in its own unit.
const MOST: f64 = 1e6;

/// A length of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Duration {
    pub(super) months: i64,
    pub(super) weeks: i64,
    pub(super) days: i64,
    pub(super) milliseconds: i64,
}

impl Duration {
    /// A quantity of a unit; `None` if it has no exact length or is absurdly long.
    pub(super) fn of(quantity: f64, unit: TimeUnit) -> Option<Self> {
        if !(0.0..=MOST).contains(&quantity) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most MOST years in months, or hours in milliseconds")]
        let rounded = |value: f64| value.round() as i64;
        let whole = quantity.fract() == 0.0;
        let none = Self::default();
        Some(match unit {
            TimeUnit::Year if (quantity * 12.0).fract() == 0.0 => Self { months: rounded(quantity * 12.0), ..none },
            TimeUnit::Month if whole => Self { months: rounded(quantity), ..none },
            TimeUnit::Year | TimeUnit::Month => return None,
            TimeUnit::Week if whole => Self { weeks: rounded(quantity), ..none },
            TimeUnit::Week => Self::of(quantity * 7.0, TimeUnit::Day)?,
            TimeUnit::Day => {
                Self { days: rounded(quantity.trunc()), milliseconds: rounded(quantity.fract() * 86_400_000.0), ..none }
            }
            TimeUnit::Hour => Self { milliseconds: rounded(quantity * 3_600_000.0), ..none },
            TimeUnit::Minute => Self { milliseconds: rounded(quantity * 60_000.0), ..none },
            TimeUnit::Second => Self { milliseconds: rounded(quantity * 1_000.0), ..none },
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            months: self.months + other.months,
            weeks: self.weeks + other.weeks,
            days: self.days + other.days,
            milliseconds: self.milliseconds + other.milliseconds,
        }
    }

    pub(super) fn is_as_long_as(self, other: Self) -> bool {
        let parts = |length: Self| (length.months, length.weeks * 7 + length.days, length.milliseconds);
        parts(self) == parts(other)
    }

    /// True if it has hours, minutes or seconds, so that counting from now gives a time of day.
    pub(super) const fn has_time(self) -> bool {
        self.milliseconds != 0
    }

    /// `moment` moved by this much, forwards or backwards; `None` beyond the calendar.
    pub(super) fn from(self, moment: DateTime, forwards: bool) -> Option<DateTime> {
        let span = jiff::Span::new()
            .try_months(self.months)
            .and_then(|span| span.try_weeks(self.weeks))
            .and_then(|span| span.try_days(self.days))
            .and_then(|span| span.try_milliseconds(self.milliseconds))
            .ok()?;
        if forwards { moment.checked_add(span).ok() } else { moment.checked_sub(span).ok() }
    }

    /// ISO 8601.
    pub(super) fn canonical(self) -> String {
        let mut iso = String::from("P");
        let mut push = |amount: i64, letter: char| {
            if amount != 0 {
                // Writing to a string cannot fail.
                let _ = write!(iso, "{amount}{letter}");
            }
        };
        push(self.months / 12, 'Y');
        push(self.months % 12, 'M');
        if self.days == 0 && self.months == 0 && self.milliseconds == 0 {
            push(self.weeks, 'W');
        } else {
            push(self.weeks * 7 + self.days, 'D');
        }
        if self.milliseconds != 0 {
            let (seconds, milliseconds) = (self.milliseconds / 1_000, self.milliseconds % 1_000);
            iso.push('T');
            for (amount, letter) in [(seconds / 3_600, 'H'), (seconds / 60 % 60, 'M')] {
                if amount != 0 {
                    let _ = write!(iso, "{amount}{letter}");
                }
            }
            if milliseconds != 0 {
                let fraction = format!("{milliseconds:03}");
                let _ = write!(iso, "{}.{}S", seconds % 60, fraction.trim_end_matches('0'));
            } else if seconds % 60 != 0 {
                let _ = write!(iso, "{}S", seconds % 60);
            }
        }
        if iso.len() == 1 { String::from("PT0S") } else { iso }
    }
}

/// A unit, its number in the word ("fortnight"), and the token after it.
fn length_at(scan: &Scan<'_>, token: usize) -> Option<((TimeUnit, i32), usize)> {
    let length = |sense| match sense {
        Sense::Length { unit, count } => Some((unit, count)),
        _ => None,
    };
    scan.pick(token, length).or_else(|| unit_at(scan, token).map(|(unit, end)| ((unit, 1), end)))
}

fn unit_at(scan: &Scan<'_>, token: usize) -> Option<(TimeUnit, usize)> {
    let glued = scan.is_glued(token) || is_spaced_hours(scan, token);
    scan.pick(token, |sense| match sense {
        Sense::Unit(unit) => Some(unit),
        Sense::GluedUnit(unit) if glued => Some(unit),
        _ => None,
    })
    // "2m" is a time, "2mg" is not.
    .filter(|&(_, end)| !(scan.is_glued(end) && scan.kind(end) == Some(TokenKind::Word) && scan.text(token).is_ascii()))
}

/// The "h" of "2 h et 16 min"; "à 14 h" has no such unit.
fn is_spaced_hours(scan: &Scan<'_>, token: usize) -> bool {
    const MOST: i32 = 12;
    let hours = token.checked_sub(1).and_then(|before| scan.digits(before, 2));
    let is_time = token > 1 && (scan.has(token - 2, Sense::At) || scan.has(token - 2, Sense::Around));
    scan.is_symbol(token, "h") && hours.is_some_and(|hours| hours <= MOST) && !is_time
}

/// "1:30 hours": hours and minutes, or minutes and seconds, as a watch shows them.
fn on_a_watch(scan: &Scan<'_>, token: usize) -> Option<TokenReading<(Duration, TimeUnit)>> {
    let is_led = token > 0 && (scan.has(token - 1, Sense::At) || scan.is_glued(token));
    let (large, small) = (scan.digits(token, 3)?, scan.digits(token + 2, 2).filter(|small| *small < 60)?);
    let is_written = scan.joins(token + 1, ":") && scan.text(token + 2).len() == 2 && !is_led;
    let (unit, end) = scan.pick(token + 3, |sense| match sense {
        Sense::Unit(unit @ (TimeUnit::Hour | TimeUnit::Minute)) => Some(unit),
        _ => None,
    })?;
    let below = if unit == TimeUnit::Hour { TimeUnit::Minute } else { TimeUnit::Second };
    let length = Duration::of(f64::from(large), unit)?.plus(Duration::of(f64::from(small), below)?);
    is_written.then_some(TokenReading::new(token, end, (length, below), Certainty::Clear))
}

/// "A quarter of an hour", "drei viertel Stunden", "un quart d'heure".
fn quarters(scan: &Scan<'_>, token: usize) -> Option<TokenReading<(Duration, TimeUnit)>> {
    let (quarters, after) = scan.pick(scan.skip(token, Sense::A), |sense| match sense {
        Sense::Quarter => Some(1),
        Sense::Quarters(quarters) => Some(quarters),
        _ => None,
    })?;
    let (unit, end) = unit_at(scan, scan.skip(scan.skip(after, Sense::Of), Sense::A))?;
    let length = (Duration::of(f64::from(quarters) / 4.0, unit)?, unit);
    (unit == TimeUnit::Hour).then_some(TokenReading::new(token, end, length, Certainty::WrittenOut))
}

/// A quantity and a unit: "three days", "an hour", "half an hour", "three-day".
fn one(scan: &Scan<'_>, token: usize) -> Option<TokenReading<(Duration, TimeUnit)>> {
    if let Some(found) = quarters(scan, token).or_else(|| on_a_watch(scan, token)) {
        return Some(found);
    }
    let number =
        scan.numbers.get(token)?.as_ref().filter(|number| !number.ordinal && !number.code && number.value >= 0.0);
    if let Some(number) = number {
        let at = if scan.joins(number.end, "-") { number.end + 1 } else { number.end };
        // "a couple of days"
        let ((unit, count), end) = length_at(scan, scan.skip(at, Sense::Of))?;
        let lone_letter = scan.text(at).len() == 1;
        // `5m` may be metres, `3d` a kind of film.
        let certainty = if lone_letter { Certainty::Guessed } else { number.certainty.max(Certainty::Usual) };
        let length = Duration::of(number.value * f64::from(count), unit)?;
        return Some(TokenReading::new(number.start, end, (length, unit), certainty));
    }
    if let Some(half) = scan.after(token, Sense::Half) {
        let at = if scan.joins(half, "-") { half + 1 } else { scan.skip(half, Sense::A) };
        let (unit, end) = unit_at(scan, at)?;
        return Some(TokenReading::new(token, end, (Duration::of(0.5, unit)?, unit), Certainty::WrittenOut));
    }
    // 半年: in a language without articles, the word stands alone.
    if let Some(((unit, count), end)) =
        length_at(scan, token).filter(|((_, count), _)| *count > 1 && scan.lexicon.kanji_numbers)
    {
        return Some(TokenReading::new(token, end, (Duration::of(count.into(), unit)?, unit), Certainty::Clear));
    }
    // "hora y media": the article is left out.
    if let Some((unit, end)) = unit_at(scan, token).filter(|_| !scan.is_glued(token))
        && scan.has(end, Sense::HalfBehind)
    {
        return Some(TokenReading::new(token, end, (Duration::of(1.0, unit)?, unit), Certainty::Clear));
    }
    let after = scan.after(token, Sense::A)?;
    if let Some(half) = scan.after(after, Sense::Half) {
        let (unit, end) = unit_at(scan, half)?;
        return Some(TokenReading::new(token, end, (Duration::of(0.5, unit)?, unit), Certainty::WrittenOut));
    }
    let ((unit, count), end) = length_at(scan, after)?;
    // "just a second", "a day": it may be a figure of speech as well as a length.
    let certainty = if matches!(unit, TimeUnit::Second) { Certainty::Doubtful } else { Certainty::Likely };
    Some(TokenReading::new(token, end, (Duration::of(count.into(), unit)?, unit), certainty))
}

pub(super) fn duration_at(scan: &Scan<'_>, token: usize) -> Option<TokenReading<Duration>> {
    if let Some(found) = iso(scan, token) {
        return Some(found);
    }
    let first = one(scan, token)?;
    let ((mut total, mut unit), mut end, mut certainty) = (first.value, first.end, first.certainty);
    loop {
        // "an hour and a half", "two hours and a quarter"
        if let Some(and) = scan.after(end, Sense::And) {
            let part = scan.skip(and, Sense::A);
            let fraction = scan.pick(part, |sense| match sense {
                Sense::Half => Some(0.5),
                Sense::Quarter => Some(0.25),
                Sense::Quarters(quarters) => Some(f64::from(quarters) / 4.0),
                _ => None,
            });
            if let Some((fraction, after)) = fraction
                && unit_at(scan, scan.skip(after, Sense::A)).is_none()
            {
                // Half a month has no length, and a whole month was not said.
                let more = Duration::of(fraction, unit)?;
                (total, end, certainty) = (total.plus(more), after, Certainty::WrittenOut);
                break;
            }
        }
        if let Some(after) = scan.after(end, Sense::HalfBehind) {
            (total, end) = (total.plus(Duration::of(0.5, unit)?), after);
            break;
        }
        if unit == TimeUnit::Hour
            && let Some((minutes, after)) = bare_minutes(scan, end)
            && let Some(more) = Duration::of(minutes, TimeUnit::Minute)
        {
            (total, end) = (total.plus(more), after);
            break;
        }
        // "2 hours 30 minutes", "2h30m", "2h30"
        let joint = if scan.is_symbol(end, ",") { end + 1 } else { end };
        let next = one(scan, scan.skip(joint, Sense::And));
        match next.filter(|next| next.value.1 < unit) {
            Some(next) => {
                (total, end, unit) = (total.plus(next.value.0), next.end, next.value.1);
                certainty = certainty.max(next.certainty).max(Certainty::Clear);
            }
            None => {
                if unit == TimeUnit::Hour
                    && scan.is_glued(end)
                    && scan.text(end).len() == 2
                    && let Some(minutes @ 0..60) = scan.digits(end, 2)
                    && let Some(more) = Duration::of(f64::from(minutes), TimeUnit::Minute)
                {
                    (total, end, certainty) = (total.plus(more), end + 1, Certainty::Clear);
                }
                break;
            }
        }
    }
    Some(TokenReading::new(first.start, end, total, certainty))
}

/// The minutes of "an hour forty": a number at the end that counts nothing else.
fn bare_minutes(scan: &Scan<'_>, token: usize) -> Option<(f64, usize)> {
    let number = scan.numbers.get(scan.skip(token, Sense::And))?.as_ref()?;
    let is_minutes = !number.ordinal && !number.code && number.integer.is_some_and(|count| (5..60).contains(&count));
    let is_last = scan.kind(number.end) != Some(TokenKind::Word)
        || scan.has(number.end, Sense::Function)
        || scan.has(number.end, Sense::Please);
    (is_minutes && is_last && scan.kind(token) == Some(TokenKind::Word)).then_some((number.value, number.end))
}

/// `PT30M`, `P3D`: only in capitals, as these are written.
fn iso(scan: &Scan<'_>, token: usize) -> Option<TokenReading<Duration>> {
    if !matches!(scan.text(token), "p" | "pt")
        || scan.kind(token + 1) != Some(TokenKind::Digits)
        || scan.is_glued(token)
    {
        return None;
    }
    let (written, tokens) = scan.chunk(token, 40)?;
    if !written.starts_with('P') {
        return None;
    }
    let span: jiff::Span = written.parse().ok()?;
    let months = i64::from(span.get_years()) * 12 + i64::from(span.get_months());
    let milliseconds = i64::from(span.get_hours())
        .checked_mul(3_600_000)?
        .checked_add(span.get_minutes().checked_mul(60_000)?)?
        .checked_add(span.get_seconds().checked_mul(1_000)?)?
        .checked_add(span.get_milliseconds())?;
    let duration =
        Duration { months, weeks: i64::from(span.get_weeks()), days: i64::from(span.get_days()), milliseconds };
    (!span.is_negative()).then_some(TokenReading::new(tokens.start, tokens.end, duration, Certainty::WrittenOut))
}

pub(super) fn durations(scan: &Scan<'_>) -> Vec<TokenReading<Duration>> {
    scan.find(|token| duration_at(scan, token))
}
