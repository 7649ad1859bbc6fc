//! Dates with a time.
//!
//! # Policies
//!
//! - A date with a time is a date and a time side by side ("tomorrow at 3pm", "noon on Friday", "tomorrow morning at
//!   9"). A time alone is its next occurrence, with a score of 0.6. Behind "since" it is the latest one. Behind a word
//!   for both "since" and "from" (desde, から) it may be either, if the hour is past today. A date alone is not read:
//!   its time would be invented. A written offset (`2026-03-01T15:30:00Z`) is converted to the time zone of the turn.

use jiff::{
    Timestamp, ToSpan as _, Zoned,
    civil::{Date, DateTime, Time},
};

use super::{
    certainty::Certainty,
    date::{PERIOD, counted, date_at, is_led_by, plus_days, range_at},
    lexicon::{DayPart, Sense},
    reckoning::Reckoning,
    scan::Scan,
    senses::TokenReading,
    time,
};
use crate::text::tokens::TokenKind;

/// The most words between the two ends of a range: "until about".
const JOINT: usize = 3;

/// `2026-03-01T15:30:00`, with or without an offset.
fn iso(scan: &Scan<'_>, token: usize, now: &Zoned) -> Option<TokenReading<DateTime>> {
    if scan.text(token).len() != 4
        || !scan.joins(token + 1, "-")
        || scan.text(token + 5) != "t"
        || scan.kind(token + 6) != Some(TokenKind::Digits)
    {
        return None;
    }
    let (text, tokens) = scan.chunk(token, 48)?;
    let value = match text.parse::<Timestamp>() {
        Ok(instant) => instant.to_zoned(now.time_zone().clone()).datetime(),
        Err(_) => text.parse::<DateTime>().ok()?,
    };
    Some(TokenReading::new(tokens.start, tokens.end, value, Certainty::WrittenOut))
}

fn datetime_at(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<DateTime>> {
    let now = reckoning.now;
    if let Some(found) = iso(scan, token, now) {
        return Some(found);
    }
    if let Some(end) = scan.after(token, Sense::Now) {
        // "Okay, now can you ..." is a filler, "from now" the end of something else.
        let is_end = token > 0 && (scan.has(token - 1, Sense::From) || scan.has(token - 1, Sense::Hence));
        return (!is_end).then_some(TokenReading::new(token, end, to_second(now.datetime())?, PERIOD));
    }
    if let Some(found) = counted(scan, token, now.datetime())
        && found.value.1
    {
        return Some(TokenReading::new(found.start, found.end, to_second(found.value.0)?, found.certainty));
    }
    if let Some(day) = date_at(scan, token, reckoning) {
        // "tomorrow", then perhaps "morning", a comma, "at"; "on", "de", "の" between a date and its time.
        let mut at = day.end;
        // 明日の夜
        let part = |sense| matches!(sense, Sense::Part(_)).then_some(());
        if let Some((_, end)) = scan.pick(at, part).or_else(|| scan.pick(scan.skip(at, Sense::On), part)) {
            at = end;
        }
        if scan.is_symbol(at, ",") {
            at += 1;
        }
        at = scan.skip(scan.skip(at, Sense::On), Sense::From);
        if let Some(clock) = time::time_at(scan, at, reckoning) {
            let moment = |date: Date, clock: Time| night(scan, day.end, date.to_datetime(clock), clock);
            let other = other(&day, &clock, moment);
            let value = moment(day.value, clock.value)?;
            return Some(TokenReading::new(day.start, clock.end, value, day.certainty.min(clock.certainty)).or(other));
        }
        return None;
    }
    let clock = time::time_at(scan, token, reckoning)?;
    let mut at = if scan.is_symbol(clock.end, ",") { clock.end + 1 } else { clock.end };
    at = scan.skip(at, Sense::On);
    let moment = |date: Date, clock: Time| Some(date.to_datetime(clock));
    if let Some(day) = date_at(scan, at, reckoning) {
        let other = other(&day, &clock, moment);
        let value = moment(day.value, clock.value)?;
        return Some(TokenReading::new(clock.start, day.end, value, day.certainty.min(clock.certainty)).or(other));
    }
    // 8時以来: "since" stands behind its time.
    let leads = |sense: Sense| {
        if scan.lexicon.kanji_numbers { scan.has(clock.end, sense) } else { is_led_by(scan, clock.start, sense) }
    };
    let is_past = reckoning.is_past() || leads(Sense::Since);
    let is_today = (clock.start..clock.end).any(|token| scan.has(token, Sense::This));
    let on_its_day = |clock: Time| {
        let days: i64 = match (is_past, clock > now.time()) {
            _ if is_today => 0,
            (false, false) => 1,
            (true, true) => -1,
            (false, true) | (true, false) => 0,
        };
        Some(plus_days(now.date(), days)?.to_datetime(clock))
    };
    let value = on_its_day(clock.value)?;
    // "Desde las 8" at ten o'clock: since 8 today, or from 8 tomorrow on. With an end it lies ahead.
    let has_end = || (clock.end..=clock.end + JOINT).any(|at| time::time_at(scan, at, reckoning).is_some());
    let today = now.date().to_datetime(clock.value);
    let is_of_either_side = value > today && leads(Sense::SinceOrFrom) && !has_end();
    let other = clock.other.and_then(on_its_day).or(is_of_either_side.then_some(today));
    Some(TokenReading::new(clock.start, clock.end, value, PERIOD.min(clock.certainty)).or(other))
}

/// The other moment that a day and a time may mean.
fn other(
    day: &TokenReading<Date>,
    clock: &TokenReading<Time>,
    moment: impl Fn(Date, Time) -> Option<DateTime>,
) -> Option<DateTime> {
    match (day.other, clock.other) {
        (_, Some(time)) => moment(day.value, time),
        (Some(date), None) => moment(date, clock.value),
        (None, None) => None,
    }
}

/// "tonight at 12" is the midnight that ends the day.
fn night(scan: &Scan<'_>, day_end: usize, value: DateTime, clock: Time) -> Option<DateTime> {
    let is_night = day_end > 0
        && (scan.has(day_end - 1, Sense::Tonight)
            || matches!(time::part_at(scan, day_end), Some((DayPart::Night | DayPart::Evening, _))));
    if is_night && clock.hour() < 6 { value.checked_add(1.day()).ok() } else { Some(value) }
}

fn to_second(moment: DateTime) -> Option<DateTime> {
    moment.with().subsec_nanosecond(0).build().ok()
}

pub(super) fn datetimes(scan: &Scan<'_>, reckoning: &Reckoning<'_>) -> Vec<TokenReading<DateTime>> {
    let mut found = scan.find(|token| datetime_at(scan, token, reckoning));
    for index in 1..found.len() {
        let (begin, end) = (&found[index - 1], &found[index]);
        if let Some(value) = end_of_range(scan, begin, end, reckoning) {
            let end = &mut found[index];
            (end.value, end.other, end.certainty) = (value, None, end.certainty.max(Certainty::Usual));
        }
    }
    found
}

/// "Tomorrow from 10pm to 2am": the end of a range is on the day of its beginning, or in the night after it.
fn end_of_range(
    scan: &Scan<'_>,
    begin: &TokenReading<DateTime>,
    end: &TokenReading<DateTime>,
    reckoning: &Reckoning<'_>,
) -> Option<DateTime> {
    let joint = (begin.end..end.start).find(|at| range_at(scan, *at).is_some_and(|after| after <= end.start))?;
    let is_joined = end.start - begin.end <= JOINT && joint <= begin.end + 1;
    let has_day = (end.start..end.end).any(|token| date_at(scan, token, reckoning).is_some());
    if !is_joined || has_day || begin.other.is_some() || end.other.is_some() {
        return None;
    }
    let same_day = begin.value.date().to_datetime(end.value.time());
    if same_day > begin.value { Some(same_day) } else { same_day.checked_add(1.day()).ok() }
}
