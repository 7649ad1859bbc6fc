//! Dates.
//!
//! # Policies
//!
//! Everything is read from the moment and time zone of the turn ([`super::Context::now`]).
//!
//! - `3/4/2026`: as `date_order` in `module.toml` says; else the month first in English of the United States and the
//!   Philippines (`en`, `en-US`, `en-PH`), the day first everywhere else (`en-GB`, `de`, ...). A number above 12 is the
//!   day wherever it stands. `2026-03-04` is always year, month, day. A year of two digits is 1969 to 2068.
//! - Below, "next" applies to a slot that looks ahead. For a slot that looks back (`direction = "past"`), and behind
//!   "since", the latest such date is meant. For `direction = "any"` it may be either, and the person is asked.
//! - A date without a year is the next such date from today on. A month alone, or a month and a year, is its first day;
//!   a month alone may be the current one. These readings score 0.5. "The end of April" is its last day.
//! - "the 7th" is the next such day of a month, today included. In "3 to 7 May", the first day is in the month of the
//!   second. In "the 1st to the 5th", the second day follows the first.
//! - "Friday 11" and "Friday the 13th" are the next day that is both; if a weekday and a date do not agree, the weekday
//!   stays unread beside the date.
//! - "The last day of July", "the 15th of next month", "the first Monday in May" are days of that month, and "two weeks
//!   before Christmas" counts from the named day.
//! - A weekday alone, or with "on", is the next one strictly after today. "this Tuesday" may be today. "next Tuesday"
//!   is the Tuesday of the following week, weeks beginning on Monday. "last Tuesday" is the latest one before today.
//!   "The Friday after next" is a week after "next Friday", "the Friday before last" a week before "last Friday".
//!   "Tuesday next week" is the Tuesday of that week. "Tuesday week", "a week on Tuesday" and "Dienstag in einer Woche"
//!   are a week after the Tuesday that would be meant without the week.
//! - "next week" is its Monday, "next month" and "next year" their first day, "this week" (month, year) is today, "last
//!   week" (month, year) its first day; "this weekend" the coming Saturday, or today on a weekend; "next weekend" the
//!   Saturday after that. "The week after next" and "the month before last" are one further away. These are periods
//!   rather than days and score 0.6. "Kommende", "que viene", "qui vient" beside a period mean the next one; beside a
//!   weekday or a weekend, the nearest.
//! - "Last May" is the latest May before this month, "next May" the first one after it; "last Christmas" likewise.
//! - "in three days", "three days from now", "two weeks ago", "two days after tomorrow" count from today (or that day).
//!   Counting with hours, minutes or seconds gives a date with a time, not a date.

mod beside;
mod counted;
mod digits;
mod of_period;
mod range;
mod weeks;

use beside::{beside, with_weekday};
pub(super) use counted::counted;
use digits::{kanji, numeric};
use jiff::{
    ToSpan as _,
    civil::{Date, Weekday},
};
use of_period::{last_day, nth_weekday, of_period};
use range::first_of_range;
pub(super) use range::range_at;
use weeks::{weeks_ahead, weeks_behind};

use super::{
    certainty::Certainty,
    lexicon::{PeriodPart, Sense, TimeUnit},
    reckoning::{Dates, Reckoning, date},
    scan::Scan,
    senses::TokenReading,
};
use crate::text::tokens::TokenKind;

/// The year is not said.
const YEAR_GUESSED: Certainty = Certainty::Evident;
/// A day of the month behind "on".
const INTRODUCED: Certainty = Certainty::Clear;
/// A day of the month by itself: "the 7th".
const DAY_ALONE: Certainty = Certainty::Usual;
/// One day stands for a period: "next week".
pub(super) const PERIOD: Certainty = Certainty::Guessed;
/// The day is a mere guess: the first of "March".
const VAGUE: Certainty = Certainty::Even;

/// A date, with the other date that the words may mean.
fn found(start: usize, end: usize, (value, other): Dates, certainty: Certainty) -> TokenReading<Date> {
    TokenReading::new(start, end, value, certainty).or(other)
}

fn monday_of(date: Date) -> Option<Date> {
    date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).ok()
}

pub(super) fn plus_days(date: Date, days: i64) -> Option<Date> {
    date.checked_add(days.days()).ok()
}

fn weekday(day: i8) -> Option<Weekday> {
    Weekday::from_monday_one_offset(day).ok()
}

/// A day of the week, and the token after it.
fn weekday_at(scan: &Scan<'_>, token: usize) -> Option<(Weekday, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::Weekday { day, .. } => weekday(day),
        _ => None,
    })
}

/// "来月": a unit, its distance from the current one, and the token after it.
fn shifted_at(scan: &Scan<'_>, token: usize) -> Option<((TimeUnit, i64), usize)> {
    scan.pick(token, |sense| match sense {
        Sense::Shifted { unit, steps } => Some((unit, steps)),
        _ => None,
    })
}

/// A word beside a weekday or a period that says which one is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    This,
    /// The nearest weekday, or the next period.
    Coming,
    /// This many steps from the current one.
    Steps(i64),
}

impl Which {
    /// The distance from the current period.
    const fn steps(self) -> i64 {
        match self {
            Self::This => 0,
            Self::Coming => 1,
            Self::Steps(steps) => steps,
        }
    }
}

fn which_at(scan: &Scan<'_>, token: usize) -> Option<(Which, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::This => Some(Which::This),
        Sense::Coming => Some(Which::Coming),
        Sense::Next => Some(Which::Steps(1)),
        Sense::AfterNext => Some(Which::Steps(2)),
        Sense::Last => Some(Which::Steps(-1)),
        Sense::BeforeLast => Some(Which::Steps(-2)),
        _ => None,
    })
}

/// The same words behind their noun: "mardi prochain", "el mes que viene", "the week after next".
fn which_behind(scan: &Scan<'_>, token: usize) -> Option<(Which, usize)> {
    let is_behind = |which: Which| match which {
        Which::This => false,
        Which::Steps(-2 | 2) => true,
        Which::Coming | Which::Steps(_) => !scan.lexicon.english && !scan.lexicon.kanji_numbers,
    };
    // "Die Woche nächsten Freitag"
    let begins = |sense| {
        matches!(sense, Sense::Unit(_) | Sense::Weekday { .. } | Sense::Weekend | Sense::Month { .. }).then_some(())
    };
    which_at(scan, token).filter(|(which, end)| is_behind(*which) && scan.pick(*end, begins).is_none())
}

/// "Next week", "la semana pasada", "the month before last", 再来月: a period with a word that says which one is meant,
/// and the token after it.
fn whole_at(scan: &Scan<'_>, token: usize) -> Option<((TimeUnit, Which), usize)> {
    if let Some(((unit, steps), end)) = shifted_at(scan, token) {
        return Some(((unit, if steps == 0 { Which::This } else { Which::Steps(steps) }), end));
    }
    if let Some((which, at)) = which_at(scan, token)
        && let Some((unit, end)) = period_at(scan, at)
    {
        return Some(((unit, which), end));
    }
    let at = scan.skip(token, Sense::The);
    let (unit, end) = period_at(scan, at)?;
    // "Un mois passé à Paris" is a length.
    let is_counted = at > 0
        && (scan.has(at - 1, Sense::A)
            || scan.numbers[at.saturating_sub(4)..at].iter().flatten().any(|number| number.end == at));
    let (which, end) = which_behind(scan, end).filter(|_| !is_counted)?;
    Some(((unit, which), end))
}

fn month_at(scan: &Scan<'_>, token: usize) -> Option<(i64, bool, usize)> {
    let ((month, weak), end) = scan.pick(token, |sense| match sense {
        Sense::Month { month, weak } => Some((i64::from(month), weak)),
        _ => None,
    })?;
    // "Mar." is an abbreviation if the sentence goes on.
    let dotted = scan.text(token).len() <= 4
        && scan.is_symbol(end, ".")
        && scan.is_glued(end)
        && scan.kind(end + 1) == Some(TokenKind::Digits);
    Some((month, weak, if dotted { end + 1 } else { end }))
}

/// The day of a month: "3", "3rd", "third", "3." in languages that write it with a full stop.
fn day_at(scan: &Scan<'_>, token: usize) -> Option<(i64, usize)> {
    let number = scan.numbers.get(token)?.as_ref().filter(|number| number.start == token);
    let (day, end) = match number {
        Some(number) if !number.code && number.integer.is_some_and(|day| (1..=31).contains(&day)) => {
            (number.integer?, number.end)
        }
        // "3, 2026" or "3.4." may have been read as a longer number; only the digits count.
        _ => (i64::from(scan.digits(token, 2).filter(|day| (1..=31).contains(day))?), token + 1),
    };
    let dotted = scan.lexicon.comma_decimal && scan.is_symbol(end, ".") && scan.is_glued(end);
    Some((day, if dotted { end + 1 } else { end }))
}

/// A year behind a date: four digits (also those of `14-Mar-2026`), `'26`, or words. It must not be a time or an amount
/// because of what follows.
fn year_at(scan: &Scan<'_>, token: usize) -> Option<(i64, usize)> {
    let is_joined = ["-", "/"].into_iter().any(|mark| scan.joins(token, mark));
    if is_joined && scan.text(token + 1).len() == 4 {
        return year_at(scan, token + 1);
    }
    // `10-Apr-28`, `10.Apr.28`: the same mark stands on both sides of the month.
    if let Some(at) = short_year_at(scan, token) {
        return scan.digits(at, 2).map(|year| (short_year(i64::from(year)), at + 1));
    }
    let at = scan.skip(if scan.is_symbol(token, ",") { token + 1 } else { token }, Sense::Of);
    // "28 June in 2028", "en 2028"
    let at = if scan.has(at, Sense::In) || scan.is_symbol(at, "en") { at + 1 } else { at };
    if scan.kind(at) == Some(TokenKind::Digits) && scan.text(at).len() == 4 && !scan.joins(at + 1, ":") {
        return scan
            .digits(at, 4)
            .map(|year| (i64::from(year), at + 1))
            .filter(|(year, _)| (1000..3000).contains(year));
    }
    if scan.is_symbol(at, "'") && scan.is_glued(at + 1) && scan.text(at + 1).len() == 2 {
        return scan.digits(at + 1, 2).map(|year| (short_year(i64::from(year)), at + 2));
    }
    scan.cardinal(at).filter(|(year, end)| (1900..2200).contains(year) && *end > at + 1)
}

/// The place of a two-digit year: one and the same mark joins it to the month and the month to its day.
fn short_year_at(scan: &Scan<'_>, token: usize) -> Option<usize> {
    let mark =
        ["-", "/", "."].into_iter().find(|mark| scan.joins(token, mark) || scan.joins(token.wrapping_sub(1), mark))?;
    let at = if scan.joins(token, mark) { token + 1 } else { token };
    let is_joined = at > 3 && scan.joins(at - 3, mark) && scan.text(at).len() == 2;
    let ends = !scan.is_glued(at + 1) || scan.kind(at + 1) == Some(TokenKind::Symbol) && !scan.joins(at + 1, mark);
    (is_joined && ends).then_some(at)
}

/// The year for two digits, as POSIX reads them.
const fn short_year(year: i64) -> i64 {
    if year < 69 { 2000 + year } else { 1900 + year }
}

/// `来月`, `来月5日`, `再来週の金曜日`, `今週末`, `来年3月5日`.
fn shifted(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let ((unit, steps), after) = shifted_at(scan, token)?;
    let at = scan.skip(after, Sense::On);
    let today = reckoning.today();
    let alone = |date: Date| Some(TokenReading::new(token, after, if steps == 0 { today } else { date }, PERIOD));
    match unit {
        TimeUnit::Week => {
            let monday = plus_days(monday_of(today)?, 7 * steps)?;
            // 来週末: the end of a week is written without its first character.
            let weekend = scan.after(at, Sense::Weekend).or_else(|| (scan.text(after) == "末").then_some(after + 1));
            match (weekday_at(scan, at), weekend) {
                (Some((day, end)), _) => {
                    let offset = i64::from(day.to_monday_zero_offset());
                    Some(TokenReading::new(token, end, plus_days(monday, offset)?, Certainty::WrittenOut))
                }
                (None, Some(end)) => {
                    let saturday = plus_days(monday, 5)?;
                    Some(TokenReading::new(token, end, if steps == 0 { saturday.max(today) } else { saturday }, PERIOD))
                }
                (None, None) => alone(monday),
            }
        }
        TimeUnit::Month => {
            let first = today.first_of_month().checked_add(steps.months()).ok()?;
            match scan.cardinal(at).filter(|(_, end)| scan.text(*end) == "日") {
                Some((day, end)) => {
                    let value = date(i64::from(first.year()), i64::from(first.month()), day)?;
                    Some(TokenReading::new(token, end + 1, value, Certainty::WrittenOut))
                }
                // 来月末
                None if scan.text(after) == "末" => {
                    Some(TokenReading::new(token, after + 1, first.last_of_month(), PERIOD))
                }
                None => alone(first),
            }
        }
        _ => {
            let first = today.first_of_year().checked_add(steps.years()).ok()?;
            let within = kanji(scan, at, &reckoning.from(first))
                .filter(|found| found.certainty > VAGUE && found.value.year() == first.year());
            match within {
                Some(found) => Some(TokenReading { start: token, ..found }),
                None => alone(first),
            }
        }
    }
}

fn month_alone(reckoning: &Reckoning<'_>, month: i64, year: Option<i64>) -> Option<Dates> {
    match year {
        Some(year) => Some((date(year, month, 1)?, None)),
        None => reckoning.month(month),
    }
}

/// "the end of April", "Anfang Mai", "the middle of next month".
fn edge(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let (edge, after) = scan.pick(token, |sense| match sense {
        Sense::Edge(edge) => Some(edge),
        _ => None,
    })?;
    // "mid-August"
    let after = if scan.joins(after, "-") { after + 1 } else { after };
    let at = scan.skip(scan.skip(after, Sense::Of), Sense::The);
    let within = |first: Date, last: Date| match edge {
        PeriodPart::Start => Some(first),
        PeriodPart::Middle => Some(middle(first, last)),
        PeriodPart::End => Some(last),
    };
    if let Some((month, _, end)) = month_at(scan, at) {
        let (end, year) = year_at(scan, end).map_or((end, None), |(year, end)| (end, Some(year)));
        let (first, other) = month_alone(reckoning, month, year)?;
        let of_month = |first: Date| within(first, first.last_of_month());
        return Some(found(token, end, (of_month(first)?, other.and_then(of_month)), PERIOD));
    }
    let ((unit, which), end) =
        whole_at(scan, at).or_else(|| period_at(scan, at).map(|(unit, end)| ((unit, Which::This), end)))?;
    let first = first_of(reckoning.today(), unit, which)?;
    let last = match unit {
        TimeUnit::Week => plus_days(first, 6)?,
        TimeUnit::Month => first.last_of_month(),
        _ => first.last_of_year(),
    };
    Some(TokenReading::new(token, end, within(first, last)?, PERIOD))
}

fn middle(first: Date, last: Date) -> Date {
    let days = first.until(last).map_or(0, |span| i64::from(span.get_days()));
    plus_days(first, days / 2).unwrap_or(first)
}

/// "March 3rd, 2026", "March", "3 March", "the third of March 2026".
fn written(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let dated = |start: usize, end: usize, month: i64, day: i64| {
        Some(match year_at(scan, end) {
            Some((year, end)) if date(year, month, day).is_some() => {
                TokenReading::new(start, end, date(year, month, day)?, Certainty::WrittenOut)
            }
            _ => found(start, end, reckoning.yearly(month, day)?, YEAR_GUESSED),
        })
    };
    if let Some((month, weak, after)) = month_at(scan, token) {
        // `Dec/2`; but in `Dec/28`, 28 may be the year.
        let is_joined = ["-", "/"].into_iter().any(|mark| scan.joins(after, mark))
            && scan.digits(after + 1, 2).is_some_and(|day| day < i32::from(reckoning.today().year() % 100));
        let at = if is_joined { after + 1 } else { scan.skip(after, Sense::The) };
        if let Some((day, end)) = day_at(scan, at) {
            let is_clock = scan.joins(end, ":")
                || scan.has(end, Sense::OClock)
                || scan.pick(end, |s| matches!(s, Sense::Meridiem(_)).then_some(())).is_some();
            // People do not say "I may 3", but "march 2 miles" is possible.
            let counts = weak && scan.pick(end, |s| matches!(s, Sense::Unit(_)).then_some(())).is_some();
            let is_verb = weak && is_modal(scan, token);
            if !(is_clock || counts || is_verb) {
                return dated(token, end, month, day);
            }
        }
        // In "the 30th of February", "el 30 de febrero", "31 February", no part is a date.
        let is_of_a_day = token > 1
            && scan.has(token - 1, Sense::Of)
            && scan.numbers[token.saturating_sub(4)..token].iter().flatten().any(|number| number.end == token - 1);
        let day = if token > 1 && scan.is_symbol(token - 1, ".") { token - 2 } else { token.wrapping_sub(1) };
        let is_behind_a_day = scan.digits(day, 2).is_some_and(|day| (29..=31).contains(&day));
        if is_of_a_day || is_behind_a_day {
            return None;
        }
        if let Some((year, end)) = year_at(scan, after) {
            return Some(TokenReading::new(token, end, date(year, month, 1)?, VAGUE));
        }
        let introduced = token > 0
            && scan
                .pick(token - 1, |s| {
                    matches!(s, Sense::Until | Sense::This | Sense::Coming | Sense::Next | Sense::Last).then_some(())
                })
                .is_some();
        if weak && !introduced {
            return None;
        }
        return Some(found(token, after, month_alone(reckoning, month, None)?, VAGUE));
    }
    let at = scan.skip(token, Sense::The);
    let (day, after) = day_at(scan, at)?;
    // "3 to 7 May"
    if let Some(behind) = range_at(scan, after)
        && has_day_and_month(scan, scan.skip(behind, Sense::The))
        && let Some(until) = written(scan, behind, reckoning).filter(|until| until.certainty > VAGUE)
        && range_at(scan, until.end).is_none()
        && let Some(value) = range::day_before(until.value, day)
    {
        let other = until.other.and_then(|other| range::day_before(other, day));
        return Some(TokenReading::new(token, after, value, until.certainty).or(other));
    }
    let is_joined = ["-", "/"].into_iter().any(|mark| scan.joins(after, mark));
    let after = if is_joined { after + 1 } else { after };
    // "the 15th day of July"
    let is_rank = || scan.numbers.get(at).and_then(Option::as_ref).is_some_and(|number| number.ordinal);
    let after = scan.after(after, Sense::Unit(TimeUnit::Day)).filter(|_| is_rank()).unwrap_or(after);
    let (month, weak, end) = month_at(scan, scan.skip(after, Sense::Of))?;
    // "the 2 may come": a word like "may" right behind a bare number is not enough for a date.
    if weak && scan.text(end).is_empty() && scan.numbers.get(at)?.as_ref().is_none_or(|number| number.integer.is_none())
    {
        return None;
    }
    dated(token, end, month, day)
}

/// True of "7 May" and "May 7".
fn has_day_and_month(scan: &Scan<'_>, token: usize) -> bool {
    let is_month = |at: usize| month_at(scan, scan.skip(at, Sense::Of)).is_some();
    is_month(token) || day_at(scan, token).is_some_and(|(_, after)| is_month(after))
}

/// True if "may" or "march" before a number is a verb: "you may 2", "I march".
fn is_modal(scan: &Scan<'_>, token: usize) -> bool {
    token > 0
        && matches!(scan.text(token - 1), "i" | "you" | "we" | "they" | "he" | "she" | "it" | "that" | "which" | "who")
}

/// The day of a month alone: "the 7th", "the 7th of next month"; "on the second" if no word follows that it could rank.
fn day_of_month(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let at = scan.after(token, Sense::The)?;
    let number = scan.numbers.get(at)?.as_ref().filter(|number| number.ordinal)?;
    let day = number.integer.filter(|day| (1..=31).contains(day))?;
    // "the 5th to the 9th of March"
    if let Some(behind) = range_at(scan, number.end)
        && let Some(until) = written(scan, behind, reckoning).filter(|until| until.certainty > VAGUE)
        && let Some(value) = date(i64::from(until.value.year()), i64::from(until.value.month()), day)
    {
        return Some(TokenReading::new(token, number.end, value, until.certainty));
    }
    // A day that its month does not have is not a date: "the 30th of February".
    if (number.end..number.end + 2).any(|at| month_at(scan, at).is_some()) {
        return None;
    }
    let introduced =
        token > 0 && scan.pick(token - 1, |s| matches!(s, Sense::On | Sense::Until).then_some(())).is_some();
    let followed = scan.kind(number.end) == Some(TokenKind::Word)
        && !scan.has(number.end, Sense::Function)
        && !scan.has(number.end, Sense::At);
    let certainty = match (number.digits, introduced, followed) {
        (true, true, false) => INTRODUCED,
        (true, false, false) => DAY_ALONE,
        (true, _, true) => PERIOD,
        (false, true, false) => VAGUE,
        _ => return None,
    };
    // "the 1st to the 5th"
    let from = first_of_range(scan, token).and_then(|first| reckoning.monthly(first));
    let dates = match from {
        Some((first, _)) => {
            Reckoning::new(reckoning.now, crate::module::SlotReading::default()).from(first).monthly(day)?
        }
        None => reckoning.monthly(day)?,
    };
    Some(found(token, number.end, dates, certainty))
}

/// "am 25.", "den 25.", "el 14", "le 21": a day of the month in languages that write its number without an ending.
fn bare_day(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let (is_on, has_article) = (scan.has(token, Sense::On), scan.has(token, Sense::The));
    let at = token + 1;
    if scan.lexicon.english || !(is_on || has_article) || scan.kind(at) != Some(TokenKind::Digits) {
        return None;
    }
    let day = i64::from(scan.digits(at, 2).filter(|day| (1..=31).contains(day))?);
    let is_dotted = scan.is_symbol(at + 1, ".") && scan.is_glued(at + 1);
    // If only the article stands before a day, a dot does not belong to it.
    let needs_dot = !(is_on && has_article);
    let end = if needs_dot && is_dotted { at + 2 } else { at + 1 };
    let is_glued = end < scan.len() && scan.is_glued(end) && !matches!(scan.text(end), "." | "," | "?" | "!" | ";");
    let goes_on = is_dotted && scan.kind(at + 2) == Some(TokenKind::Digits) && scan.is_glued(at + 2);
    let has_month = month_at(scan, end).is_some() || month_at(scan, scan.skip(end, Sense::Of)).is_some();
    if needs_dot && !is_dotted || is_glued || goes_on || has_month {
        return None;
    }
    // "le 5 rue Haute", "am 3. Stock": the number counts a thing.
    let begins_with_capital = || {
        let next = scan.span(end, end + 1).map(|span| scan.utterance.slice(span));
        next.is_some_and(|word| word.starts_with(char::is_uppercase))
    };
    let is_followed = scan.kind(end) == Some(TokenKind::Word)
        && !scan.has(end, Sense::Function)
        && !scan.has(end, Sense::At)
        && (!needs_dot || begins_with_capital());
    if is_followed {
        return None;
    }
    let start = if has_article { token } else { at };
    let is_last = needs_dot || scan.kind(end) != Some(TokenKind::Word);
    let certainty = if is_on {
        INTRODUCED
    } else if is_last {
        DAY_ALONE
    } else {
        PERIOD
    };
    Some(found(start, end, reckoning.monthly(day)?, certainty))
}

/// A weekday, with a word that says which week, and a date behind it that takes precedence.
fn weekly(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let (which, at) = which_at(scan, token).map_or((None, token), |(which, at)| (Some(which), at));
    let ((day, weak), mut end) = scan.pick(at, |sense| match sense {
        Sense::Weekday { day, weak } => Some((day, weak)),
        _ => None,
    })?;
    let day = weekday(day)?;
    let offset = i64::from(day.to_monday_zero_offset());
    // "Tuesday, March 3rd"
    let next = if scan.is_symbol(end, ",") { end + 1 } else { end };
    for start in [scan.skip(next, Sense::The), next] {
        if let Some(found) = numeric(scan, start, reckoning)
            .or_else(|| kanji(scan, start, reckoning))
            .or_else(|| of_period(scan, start, reckoning))
            .or_else(|| written(scan, start, reckoning))
            && found.certainty > VAGUE
        {
            // Both agree; otherwise the value is in doubt: see `unread`.
            let agrees = found.value.weekday() == day;
            let certainty = if agrees { found.certainty.max(YEAR_GUESSED) } else { found.certainty };
            return Some(TokenReading { start: token, certainty, ..found });
        }
    }
    if let Some((day, end)) = day_behind(scan, next, (day, reckoning)) {
        return Some(found(token, end, day, YEAR_GUESSED));
    }
    if weak && which.is_none() {
        let introduced =
            token > 0 && scan.pick(token - 1, |s| matches!(s, Sense::On | Sense::Until).then_some(())).is_some();
        if !introduced || scan.has(token.saturating_sub(1), Sense::The) {
            return None;
        }
    }
    // "Friday week", "vendredi en huit", "Freitag in zwei Wochen"
    if let Some((weeks, end)) = weeks_behind(scan, end).filter(|_| which.is_none()) {
        let date = plus_days(reckoning.today().nth_weekday(1, day).ok()?, 7 * weeks)?;
        return Some(TokenReading::new(token, end, date, Certainty::WrittenOut));
    }
    let today = reckoning.today();
    let monday = monday_of(today)?;
    // "Tuesday next week", "el martes de la semana que viene"
    let behind = scan.skip(end, Sense::Of);
    if let Some(((TimeUnit::Week, week), end)) =
        whole_at(scan, behind).or_else(|| whole_at(scan, scan.after(behind, Sense::The)?))
    {
        let date = plus_days(monday, 7 * week.steps() + offset)?;
        return Some(TokenReading::new(token, end, date, Certainty::WrittenOut));
    }
    // "martes próximo", "mardi prochain"
    let mut which = which;
    if which.is_none()
        && let Some((behind, after)) = which_behind(scan, end)
    {
        (which, end) = (Some(behind), after);
    }
    let certainty = if weak { Certainty::Usual } else { Certainty::WrittenOut };
    let value = match which {
        Some(Which::Steps(weeks @ 1..)) => plus_days(monday, 7 * weeks + offset)?,
        Some(Which::Steps(weeks)) => today.nth_weekday(i32::try_from(weeks).ok()?, day).ok()?,
        Some(Which::This) if today.weekday() == day => today,
        Some(Which::This | Which::Coming) => today.nth_weekday(1, day).ok()?,
        None => return Some(found(token, end, reckoning.weekly(day)?, certainty)),
    };
    Some(TokenReading::new(token, end, value, certainty))
}

/// "Friday 11", "lunes 21", "Dienstag, den achten": the next day that is both, and the token after it. A bare number is
/// a day of this month or of one of the next two, unless it counts something.
fn day_behind(
    scan: &Scan<'_>,
    token: usize,
    (weekday, reckoning): (Weekday, &Reckoning<'_>),
) -> Option<(Dates, usize)> {
    const NEAR: i64 = 2;
    const FAR: i64 = 14;
    let at = scan.skip(token, Sense::The);
    let number = scan.numbers.get(at)?.as_ref();
    let (day, end) = day_at(scan, at)?;
    let is_rank = number.is_some_and(|number| number.ordinal) || at > token || scan.is_symbol(end - 1, ".");
    let is_clock = scan.joins(end, ":")
        || scan.joins(end, ".") && scan.kind(end + 1) == Some(TokenKind::Digits)
        || scan.has(end, Sense::OClock);
    let is_amount = |sense| {
        matches!(
            sense,
            Sense::Unit(_)
                | Sense::GluedUnit(_)
                | Sense::Measure(_)
                | Sense::Currency { .. }
                | Sense::Percent
                | Sense::Multiplier(_)
                | Sense::Meridiem(_)
                | Sense::Part(_)
                | Sense::Month { .. }
        )
        .then_some(())
    };
    let is_glued = scan.is_glued(end) && !matches!(scan.text(end), "." | "," | "?" | "!" | ";" | ")" | "。" | "、");
    // The day must exist in its month: "Friday the 31st of June" does not.
    let has_month = month_at(scan, scan.skip(end, Sense::Of)).is_some();
    let is_empty = |sense| {
        matches!(sense, Sense::Function | Sense::At | Sense::Around | Sense::On | Sense::Please | Sense::Clock(_))
            .then_some(())
    };
    let counts = !is_rank && scan.kind(end) == Some(TokenKind::Word) && scan.pick(end, is_empty).is_none();
    if is_clock || is_glued || has_month || counts || scan.pick(end, is_amount).is_some() {
        return None;
    }
    Some((reckoning.monthly_on(day, weekday, if is_rank { FAR } else { NEAR })?, end))
}

fn period_at(scan: &Scan<'_>, token: usize) -> Option<(TimeUnit, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::Unit(unit @ (TimeUnit::Week | TimeUnit::Month | TimeUnit::Year)) => Some(unit),
        _ => None,
    })
}

/// The first day of a week, month or year.
fn first_of(today: Date, unit: TimeUnit, which: Which) -> Option<Date> {
    let steps = which.steps();
    match unit {
        TimeUnit::Week => plus_days(monday_of(today)?, 7 * steps),
        TimeUnit::Month => today.first_of_month().checked_add(steps.months()).ok(),
        _ => today.first_of_year().checked_add(steps.years()).ok(),
    }
}

/// "Next weekend", "le week-end dernier", "the weekend".
fn weekend(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let led = which_at(scan, token).and_then(|(which, at)| Some((which, scan.after(at, Sense::Weekend)?)));
    let (which, end) = match led {
        Some(led) => led,
        None => {
            let at = scan.skip(token, Sense::The);
            let end = scan.after(at, Sense::Weekend)?;
            which_behind(scan, end).or_else(|| (at > token).then_some((Which::This, end)))?
        }
    };
    let today = reckoning.today();
    let this = saturday(today)?;
    let weeks = match which {
        Which::This => 0,
        // On a weekend, "coming" means the next one.
        Which::Coming => i64::from(matches!(today.weekday(), Weekday::Saturday | Weekday::Sunday)),
        Which::Steps(steps) => steps,
    };
    let value = if weeks == 0 { this } else { plus_days(monday_of(this)?, 5 + 7 * weeks)? };
    Some(TokenReading::new(token, end, value, PERIOD))
}

/// "Next week", "this month", "l'année dernière".
fn period(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let today = reckoning.today();
    let ((unit, which), end) = whole_at(scan, token)?;
    // "Next week Thursday"
    let behind = scan.skip(if scan.is_symbol(end, ",") { end + 1 } else { end }, Sense::On);
    if unit == TimeUnit::Week
        && let Some((day, end)) = weekday_at(scan, behind)
    {
        let monday = first_of(today, unit, which)?;
        let value = plus_days(monday, i64::from(day.to_monday_zero_offset()))?;
        return Some(TokenReading::new(token, end, value, Certainty::WrittenOut));
    }
    Some(match which {
        Which::This => TokenReading::new(token, end, today, VAGUE),
        Which::Coming | Which::Steps(_) => TokenReading::new(token, end, first_of(today, unit, which)?, PERIOD),
    })
}

/// The coming Saturday; today on a weekend.
fn saturday(today: Date) -> Option<Date> {
    if matches!(today.weekday(), Weekday::Saturday | Weekday::Sunday) {
        Some(today)
    } else {
        today.nth_weekday(1, Weekday::Saturday).ok()
    }
}

/// True if "since" stands right before `token`, or before its article or "about".
pub(super) fn is_since(scan: &Scan<'_>, token: usize) -> bool {
    is_led_by(scan, token, Sense::Since)
}

/// True if a sense stands right before `token`, or before its article or "about".
pub(super) fn is_led_by(scan: &Scan<'_>, token: usize, sense: Sense) -> bool {
    let is_behind = |at: usize| (at.saturating_sub(2)..at).any(|start| scan.after(start, sense) == Some(at));
    let between = |sense| matches!(sense, Sense::The | Sense::Around).then_some(());
    is_behind(token) || token > 0 && scan.pick(token - 1, between).is_some() && is_behind(token - 1)
}

/// The date that begins at `token`. "Any day next week" is not a date: no day of the week is preferred.
pub(super) fn date_at(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let is_open =
        |found: &TokenReading<Date>| found.certainty <= PERIOD && scan.mentions(|sense| sense == Sense::AnyDay);
    let read = |reckoning: &Reckoning<'_>| {
        of_which_year(scan, token, reckoning).or_else(|| one_date_at(scan, token, reckoning))
    };
    // 月曜日以来: "since" stands behind its day.
    let is_behind = |found: &TokenReading<Date>| scan.lexicon.kanji_numbers && scan.has(found.end, Sense::Since);
    let found = read(reckoning)?;
    let found = if is_behind(&found) { read(&reckoning.back())? } else { found };
    (!is_open(&found)).then(|| with_weekday(scan, found))
}

/// "Last May", "Noël dernier", "el 3 de mayo pasado": the last or the next of a day or a month without a year.
fn of_which_year(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let names = |sense| matches!(sense, Sense::Month { .. } | Sense::Fixed { .. }).then_some(());
    let read = |at: usize, reckoning: &Reckoning<'_>| {
        let found = fixed(scan, at, reckoning).or_else(|| written(scan, at, reckoning))?;
        let has_year = (found.start..found.end).any(|at| scan.text(at).len() == 4 && scan.digits(at, 4).is_some());
        (!has_year && (found.start..found.end).any(|at| scan.pick(at, names).is_some())).then_some(found)
    };
    let led = which_at(scan, token).filter(|(_, at)| scan.pick(*at, names).is_some());
    let (which, at, behind) = match led {
        Some((which, at)) => (which, at, None),
        None => {
            let (which, end) = which_behind(scan, read(token, reckoning)?.end)?;
            (which, token, Some(end))
        }
    };
    // It is not a day of the current month or year.
    let is_month = read(at, reckoning)?.certainty <= VAGUE;
    let today = reckoning.today();
    let sided = match which {
        Which::Steps(-1) if is_month => reckoning.back().from(today.first_of_month().yesterday().ok()?),
        Which::Steps(-1) => reckoning.back().from(today.yesterday().ok()?),
        Which::Coming | Which::Steps(1) if is_month => reckoning.ahead().from(today.last_of_month().tomorrow().ok()?),
        Which::Coming | Which::Steps(1) => reckoning.ahead().from(today.tomorrow().ok()?),
        Which::This | Which::Steps(_) => return None,
    };
    let found = read(at, &sided)?;
    Some(TokenReading { start: token, end: behind.unwrap_or(found.end), ..found })
}

fn one_date_at(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let back;
    let reckoning = if is_since(scan, token) {
        back = reckoning.back();
        &back
    } else {
        reckoning
    };
    let today = reckoning.today();
    if scan.kind(token) == Some(TokenKind::Digits)
        && let Some(found) = numeric(scan, token, reckoning)
    {
        return Some(found);
    }
    if scan.kind(token) == Some(TokenKind::Symbol) {
        return None;
    }
    if let Some(found) = beside(scan, token, reckoning).or_else(|| weeks_ahead(scan, token, reckoning)) {
        return Some(found);
    }
    if let Some(found) = counted(scan, token, reckoning.now.datetime())
        && !found.value.1
    {
        let other = found.other.map(|(moment, _)| moment.date());
        return Some(TokenReading::new(found.start, found.end, found.value.0.date(), found.certainty).or(other));
    }
    if let Some((days, end)) = scan.pick(token, |sense| match sense {
        Sense::Day(days) => Some(days),
        Sense::Tonight => Some(0),
        _ => None,
    }) {
        // "Freitag morgen" is the morning of that Friday.
        if days == 1 && !scan.lexicon.english && token > 0 && weekday_at(scan, token - 1).is_some() {
            return None;
        }
        // "heute in einer Woche"
        if let Some((weeks, end)) = weeks_behind(scan, end).filter(|_| !scan.has(token, Sense::Tonight)) {
            return Some(TokenReading::new(
                token,
                end,
                plus_days(today, i64::from(days) + 7 * weeks)?,
                Certainty::WrittenOut,
            ));
        }
        let is_tonight = scan.has(token, Sense::Tonight);
        let certainty = if is_tonight { Certainty::Usual } else { Certainty::WrittenOut };
        return Some(TokenReading::new(token, end, plus_days(today, i64::from(days))?, certainty));
    }
    fixed(scan, token, reckoning)
        .or_else(|| last_day(scan, token, reckoning))
        .or_else(|| nth_weekday(scan, token, reckoning))
        .or_else(|| weekend(scan, token, reckoning))
        .or_else(|| edge(scan, token, reckoning))
        .or_else(|| weekly(scan, token, reckoning))
        .or_else(|| of_period(scan, token, reckoning))
        .or_else(|| kanji(scan, token, reckoning))
        .or_else(|| written(scan, token, reckoning))
        .or_else(|| day_of_month(scan, token, reckoning))
        .or_else(|| bare_day(scan, token, reckoning))
        .or_else(|| range::bare_day(scan, token, reckoning))
        .or_else(|| shifted(scan, token, reckoning))
        .or_else(|| period(scan, token, reckoning))
}

/// "Christmas", "Noël 2027".
fn fixed(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let ((month, day), end) = scan.pick(token, |sense| match sense {
        Sense::Fixed { month, day } => Some((i64::from(month), i64::from(day))),
        _ => None,
    })?;
    Some(match year_at(scan, end) {
        Some((year, end)) => TokenReading::new(token, end, date(year, month, day)?, Certainty::WrittenOut),
        None => found(token, end, reckoning.yearly(month, day)?, YEAR_GUESSED),
    })
}

/// A day of the month as the whole utterance: "11". It may answer a question.
pub(super) fn all_of_it(scan: &Scan<'_>, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let (day, end) = day_at(scan, 0)?;
    let is_last = end >= scan.len() || end + 1 == scan.len() && matches!(scan.text(end), "." | "!");
    is_last.then(|| Some(found(0, end, reckoning.monthly(day)?, Certainty::Doubtful))).flatten()
}

pub(super) fn dates(scan: &Scan<'_>, reckoning: &Reckoning<'_>) -> Vec<TokenReading<Date>> {
    let mut dates = scan.find(|token| date_at(scan, token, reckoning));
    explain(scan, &mut dates);
    dates
}

/// "The 4th, that is the Saturday" is one date, said twice: the next 4th that is a Saturday.
fn explain(scan: &Scan<'_>, dates: &mut Vec<TokenReading<Date>>) {
    const BETWEEN: [&str; 15] =
        [",", "(", "that", "is", "'", "s", "i", "e", "which", "also", "das", "ist", "c", "est", "es"];
    let mut at = 1;
    while at < dates.len() {
        let (first, second) = (&dates[at - 1], &dates[at]);
        let gap = first.end..second.start;
        let is_explained = scan.is_symbol(gap.start, ",")
            && gap.len() <= 5
            && gap.clone().all(|token| BETWEEN.contains(&scan.text(token)) || scan.has(token, Sense::The))
            && is_weekday_alone(scan, second);
        if is_explained {
            let (day, weekday, end) = (first.value.day(), second.value.weekday(), second.end);
            let months = (0..=12).filter_map(|months| first.value.checked_add(months.months()).ok());
            let both = months.into_iter().find(|date| date.weekday() == weekday && date.day() == day);
            let is_bare = day_is_bare(scan, first);
            let first = &mut dates[at - 1];
            if let Some(both) = both.filter(|both| is_bare || *both == first.value) {
                (first.value, first.other, first.end, first.certainty) = (both, None, end, Certainty::WrittenOut);
            }
            dates.remove(at);
        } else {
            at += 1;
        }
    }
}

fn is_weekday_alone(scan: &Scan<'_>, found: &TokenReading<Date>) -> bool {
    let start = scan.skip(found.start, Sense::The);
    let weekday = |sense| matches!(sense, Sense::Weekday { .. }).then_some(());
    scan.pick(start, weekday).is_some_and(|((), end)| end == found.end)
}

/// True of "the 4th", which names no month.
fn day_is_bare(scan: &Scan<'_>, found: &TokenReading<Date>) -> bool {
    !(found.start..found.end).any(|token| month_at(scan, token).is_some())
}
