//! Times of day: "3pm", `15:30`, "half past three", "quarter to five", "8 o'clock", "noon", "午後3時半".
//!
//! Policy for an hour without am or pm:
//! - A part of the day that is said nearby decides: "8 in the evening", "tomorrow morning at 9", "tonight at 8".
//! - Hours from 13 on, 0, and hours with a leading zero (`07:30`) are on the 24-hour clock; 12 is noon. So is an hour
//!   with minutes in digits or with a word like "o'clock", in languages that count that way (all except English).
//! - Else the subject of the utterance decides ("dinner", "wake me"), then the slot (`part_of_day`).
//! - Else the hour may be in either half of the day. The likelier one is the value: 1 to 6 in the afternoon, 7 to 11 in
//!   the morning, or the hour as it was said in languages that count to 24. The other one is kept beside it, and the
//!   person is asked.
//!
//! An hour alone is a time only behind "at" ("at 5"), with a still lower score. The score is lowest behind "by" or
//! "around", or if nothing else is said.

use jiff::civil::Time;

use super::{
    certainty::Certainty,
    lexicon::{DayPart, Sense, TimeUnit},
    number,
    reckoning::Reckoning,
    scan::Scan,
    senses::TokenReading,
};
use crate::{module::settings::PartOfDay, text::tokens::TokenKind};

/// "Am" or "pm" is missing but would matter.
const HALF_OF_DAY_GUESSED: Certainty = Certainty::Usual;
/// An hour in words with its minutes: "three thirty", "ten to six".
const IN_WORDS: Certainty = Certainty::Likely;
const HOUR_ALONE: Certainty = Certainty::Guessed;
/// An hour alone before another word.
const HOUR_AND_MORE: Certainty = Certainty::Doubtful;

/// The half of the day of an hour, as far as it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Meridiem(bool),
    Part(DayPart),
    Unknown,
}

pub(super) fn part_at(scan: &Scan<'_>, token: usize) -> Option<(DayPart, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::Part(part) => Some(part),
        Sense::Tonight => Some(DayPart::Evening),
        _ => None,
    })
}

/// The part of the day that is said before `token` or, as "tonight", behind `end`.
fn part_around(scan: &Scan<'_>, token: usize, end: usize) -> Option<DayPart> {
    if let Some((part, _)) = part_at(scan, end) {
        return Some(part);
    }
    // "tomorrow morning at 9": look back over the preposition, at phrases that end right before it.
    let mut until = token;
    for _ in 0..2 {
        for start in until.saturating_sub(3)..until {
            if let Some((part, end)) = part_at(scan, start)
                && end == until
            {
                return Some(part);
            }
        }
        // "por la tarde a las siete": a preposition may have several words.
        let before = (until.saturating_sub(3)..until).find(|from| {
            let is_comma = from + 1 == until && scan.is_symbol(*from, ",");
            is_comma || preposition(scan, *from).is_some_and(|(_, end)| end == until)
        });
        until = before?;
    }
    None
}

/// How an hour is written, which decides whether it can be on the 24-hour clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HourStyle {
    /// `07:30`: on the 24-hour clock everywhere.
    LeadingZero,
    /// `7:30`, "7 Uhr": on the 24-hour clock in languages that count hours so.
    Full,
    /// "at 7", "half past seven": as in speech.
    Spoken,
}

/// An hour of the 24-hour clock.
struct Hour {
    hour: i32,
    /// The same hour in the other half of the day, if that may be meant as well.
    other: Option<i32>,
    certainty: Certainty,
}

fn resolve(scan: &Scan<'_>, hour: i32, half: Half, style: HourStyle, reckoning: &Reckoning<'_>) -> Option<Hour> {
    if !(0..=24).contains(&hour) {
        return None;
    }
    let sure = |hour: i32| Some(Hour { hour, other: None, certainty: Certainty::WrittenOut });
    let (am, pm) = (hour % 12, hour % 12 + 12);
    match half {
        Half::Meridiem(_) if !(1..=12).contains(&hour) => return None,
        Half::Meridiem(is_pm) => return sure(if is_pm { pm } else { am }),
        _ if hour > 12 || hour == 0 => return sure(hour % 24),
        Half::Part(DayPart::Morning) => return sure(am),
        Half::Part(DayPart::Afternoon | DayPart::Evening) => return sure(pm),
        Half::Part(DayPart::Night) if hour == 12 => return sure(0),
        Half::Part(DayPart::Night) => return sure(if hour < 6 { hour } else { pm }),
        Half::Unknown if style == HourStyle::LeadingZero => return sure(hour),
        Half::Unknown if hour == 12 => return Some(Hour { hour, other: None, certainty: HALF_OF_DAY_GUESSED }),
        Half::Unknown => {}
    }
    let counts_to_24 = !scan.lexicon.twelve_hours;
    let is_written = counts_to_24 && style == HourStyle::Full;
    let settled = match (scan.about, reckoning.part_of_day()) {
        _ if is_written => Some(hour),
        (Some(DayPart::Morning), _) => Some(am),
        (Some(DayPart::Evening | DayPart::Night), _) => Some(pm),
        // Lunch
        (Some(DayPart::Afternoon), _) => Some(if hour >= 10 { am } else { pm }),
        (None, PartOfDay::Morning) => Some(am),
        (None, PartOfDay::Afternoon) => Some(pm),
        (None, PartOfDay::Day) => (hour != 7).then_some(if hour < 7 { pm } else { am }),
        (None, PartOfDay::Nearest) => {
            let now = i32::from(reckoning.now.hour());
            Some(if (am..pm).contains(&now) { pm } else { am })
        }
        (None, PartOfDay::Ask) => None,
    };
    if let Some(hour) = settled {
        return Some(Hour { hour, other: None, certainty: Certainty::WrittenOut });
    }
    let (likely, other) = if hour < 7 && !counts_to_24 { (pm, am) } else { (am, pm) };
    Some(Hour { hour: likely, other: Some(other), certainty: HALF_OF_DAY_GUESSED })
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
    // "in the morning" is part of the time, and so is a bare "abends"; before another word, "morning" belongs to that
    // word.
    let stands_alone = end >= scan.len() || ends_clause(scan, end) || scan.has(end, Sense::Function);
    (end > token + 1 || stands_alone).then_some((Half::Part(part), end))
}

/// An hour in digits or words, before its half of the day is known.
fn hour_at(scan: &Scan<'_>, token: usize) -> Option<(i32, usize)> {
    if scan.kind(token) == Some(TokenKind::Digits) {
        let hour = scan.digits(token, 2).filter(|hour| *hour <= 24)?;
        return (!number::has_spaced_groups(scan, token)).then_some((hour, token + 1));
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

/// Makes a time of an hour and minutes: the half of the day behind or around it decides the rest.
fn finish(
    scan: &Scan<'_>,
    (start, end): (usize, usize),
    clock: (i32, i32, i32),
    style: HourStyle,
    certainty: Certainty,
    reckoning: &Reckoning<'_>,
) -> Option<TokenReading<Time>> {
    let (half, end) = match half_at(scan, end) {
        Some((half, end)) => (half, end),
        None => (part_around(scan, start, end).map_or(Half::Unknown, Half::Part), end),
    };
    let hour = resolve(scan, clock.0, half, style, reckoning)?;
    let certainty = if half == Half::Unknown { certainty.min(hour.certainty) } else { hour.certainty };
    let at = |hour: i32| time(hour, clock.1, clock.2);
    Some(TokenReading::new(start, end, at(hour.hour)?, certainty).or(hour.other.and_then(at)))
}

/// The half of the day in an answer: true for the later one. `None` if it names none or both.
pub(super) fn half_of_day(scan: &Scan<'_>) -> Option<bool> {
    let halves = scan.find(|token| {
        let (is_late, end) = scan.pick(token, |sense| match sense {
            Sense::Meridiem(is_pm) | Sense::MeridiemBefore(is_pm) => Some(is_pm),
            Sense::Part(part) | Sense::Suggests(part) => Some(part != DayPart::Morning),
            Sense::Tonight => Some(true),
            _ => None,
        })?;
        Some(TokenReading::new(token, end, is_late, Certainty::WrittenOut))
    });
    let first = halves.first()?.value;
    halves.iter().all(|half| half.value == first).then_some(first)
}

/// Minutes before or after an hour: "half past three", "quarter to five", "ten to six", "halb drei".
fn relative(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Time>> {
    if let Some(after) = scan.after(token, Sense::HalfTo) {
        return into_hour(scan, (token, after), 30, reckoning);
    }
    if let Some(found) = half_hour(scan, token, reckoning).or_else(|| quarters_into(scan, token, reckoning)) {
        return Some(found);
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
                scan.skip(end, Sense::Unit(TimeUnit::Minute)),
            )
        }
    };
    let is_quarter = fraction.is_some_and(|(minutes, _)| minutes == 15);
    let (is_past, after) = scan.pick(after, |sense| match sense {
        Sense::Past => Some(true),
        Sense::To => Some(false),
        Sense::QuarterTo if is_quarter => Some(false),
        _ => None,
    })?;
    // "fünf vor halb acht"
    if let Some(hour) = scan.after(after, Sense::HalfTo) {
        return into_hour(scan, (token, hour), if is_past { 30 + minutes } else { 30 - minutes }, reckoning);
    }
    let clock = scan.pick(after, |sense| match sense {
        Sense::Clock(hour) => Some(i32::from(hour)),
        _ => None,
    });
    let (hour, end) = clock.or_else(|| hour_at(scan, after))?;
    // "five to ten" may be a range, and "2 to 3" certainly is.
    let sure = fraction.is_some() || (minutes % 5 == 0 && minutes > 4 && (1..=12).contains(&hour));
    if !sure && scan.numbers.get(token)?.as_ref().is_some_and(|number| number.digits) {
        return None;
    }
    let certainty = if fraction.is_some() { Certainty::WrittenOut } else { IN_WORDS };
    if clock.is_some() {
        let minutes = if is_past { hour * 60 + minutes } else { (hour * 60 + 1_440 - minutes) % 1_440 };
        return Some(TokenReading::new(token, end, time(minutes / 60, minutes % 60, 0)?, certainty));
    }
    let found = finish(scan, (token, end), (hour, minutes, 0), HourStyle::Spoken, certainty, reckoning)?;
    if is_past { Some(found) } else { earlier(&found, minutes) }
}

/// "Halb drei", "fünf nach halb drei": minutes in the hour before the one at `after`.
fn into_hour(
    scan: &Scan<'_>,
    (token, after): (usize, usize),
    minutes: i32,
    reckoning: &Reckoning<'_>,
) -> Option<TokenReading<Time>> {
    let (hour, end) = hour_at(scan, after).filter(|_| (0..60).contains(&minutes))?;
    let hour = if hour == 1 { 12 } else { (hour + 23) % 24 };
    finish(scan, (token, end), (hour, minutes, 0), HourStyle::Spoken, Certainty::WrittenOut, reckoning)
}

/// "Viertel acht", "drei viertel acht", as said in much of Germany, if nothing follows that could be counted.
fn quarters_into(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Time>> {
    let (quarters, after) = scan.pick(token, |sense| match sense {
        Sense::QuartersInto(quarters) => Some(i32::from(quarters)),
        _ => None,
    })?;
    let (_, end) = hour_at(scan, after).filter(|(hour, _)| (1..=12).contains(hour))?;
    ends_time(scan, end).then(|| into_hour(scan, (token, after), 15 * quarters, reckoning)).flatten()
}

/// True if nothing follows that the number could count.
fn ends_time(scan: &Scan<'_>, end: usize) -> bool {
    let has_half = || half_at(scan, end).is_some() || part_at(scan, end).is_some();
    end >= scan.len() || ends_clause(scan, end) || has_half() || scan.has(end, Sense::Function)
}

/// The time that is this many minutes before the hour. Twelve is noon, so a quarter to one is 12:45.
fn earlier(found: &TokenReading<Time>, minutes: i32) -> Option<TokenReading<Time>> {
    let before = |hour: Time| {
        let minutes = (i32::from(hour.hour()) * 60 + 1_440 - minutes) % 1_440;
        time(minutes / 60, minutes % 60, 0)
    };
    Some(
        TokenReading::new(found.start, found.end, before(found.value)?, found.certainty)
            .or(found.other.and_then(before)),
    )
}

/// "Menos cuarto", "moins dix", "y veinte": the minutes that are subtracted from the hour before them, or added to it,
/// if nothing follows that they could count.
fn minutes_beside(scan: &Scan<'_>, token: usize, how: Sense) -> Option<(i32, usize)> {
    let after = scan.after(token, how).filter(|_| !scan.lexicon.english)?;
    let at = scan.skip(scan.skip(after, Sense::The), Sense::A);
    if let Some(after) = scan.after(at, Sense::Quarter) {
        return Some((15, after));
    }
    // "Moins dix" is also read as a number by itself.
    let number = scan.numbers.get(at)?.as_ref().filter(|number| !number.code && !number.ordinal)?;
    let minutes = number.integer.and_then(|minutes| i32::try_from(minutes.abs()).ok())?;
    let end = scan.skip(number.end, Sense::Unit(TimeUnit::Minute));
    ((1..60).contains(&minutes) && ends_time(scan, end)).then_some((minutes, end))
}

/// "half eight": half past eight in British English.
fn half_hour(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Time>> {
    let after = scan.after(token, Sense::Half).filter(|_| scan.lexicon.english)?;
    let (hour, end) = hour_at(scan, after).filter(|(hour, _)| (1..=12).contains(hour))?;
    let is_said = ends_time(scan, end) || scan.has(end, Sense::On);
    is_said
        .then(|| finish(scan, (token, end), (hour, 30, 0), HourStyle::Spoken, HALF_OF_DAY_GUESSED, reckoning))
        .flatten()
}

/// A time that begins at `token`, where a preposition may stand.
pub(super) fn time_at(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Time>> {
    let clock = |token: usize| {
        scan.pick(token, |sense| match sense {
            Sense::Clock(hour) => Some(i32::from(hour)),
            _ => None,
        })
        .map(|(hour, end)| (token, hour, end))
    };
    // "à midi", "al mediodía", "by noon"
    let led = preposition(scan, token).map_or(token + 1, |(_, after)| after);
    let is_led = led > token + 1 || preposition(scan, token).is_some() || scan.has(token, Sense::Function);
    if let Some((start, hour, end)) = clock(token).or_else(|| clock(led).filter(|_| is_led)) {
        return beside_clock(scan, (start, end), hour);
    }
    if let Some((pm, after)) = scan.pick(token, |sense| match sense {
        Sense::MeridiemBefore(pm) => Some(pm),
        _ => None,
    }) {
        let mut found = clock_at(scan, after, None, reckoning)?;
        (found.start, found.certainty, found.other) = (token, Certainty::WrittenOut, None);
        found.value = time(
            i32::from(found.value.hour()) % 12 + if pm { 12 } else { 0 },
            i32::from(found.value.minute()),
            i32::from(found.value.second()),
        )?;
        return Some(found);
    }
    if let Some(found) = relative(scan, token, reckoning) {
        return Some(found);
    }
    if let Some((alone, after)) = preposition(scan, token) {
        let (alone, after) = preposition(scan, after).unwrap_or((alone, after));
        return relative(scan, after, reckoning).or_else(|| clock_at(scan, after, Some(alone), reckoning));
    }
    clock_at(scan, token, None, reckoning)
}

/// "Noon", "midi et demi", "midi moins le quart".
fn beside_clock(scan: &Scan<'_>, (token, end): (usize, usize), hour: i32) -> Option<TokenReading<Time>> {
    let found =
        |end: usize, minute: i32| Some(TokenReading::new(token, end, time(hour, minute, 0)?, Certainty::WrittenOut));
    if let Some((minutes, after)) = minutes_beside(scan, end, Sense::Minus) {
        return earlier(&found(after, 0)?, minutes);
    }
    let half = scan.after(end, Sense::HalfBehind).map(|after| (30, after));
    match half.or_else(|| minutes_beside(scan, end, Sense::And)) {
        Some((minutes, after)) => found(after, minutes),
        None => found(end, 0),
    }
}

/// The preposition at `token` ("at", "around"): the highest certainty of an hour alone behind it, and the token after
/// it.
fn preposition(scan: &Scan<'_>, token: usize) -> Option<(Certainty, usize)> {
    scan.pick(token, |sense| match sense {
        Sense::At => Some(HOUR_ALONE),
        Sense::Around => Some(HOUR_AND_MORE),
        _ => None,
    })
}

/// `7:30`, `7.30`, `19h`, `7 h 30`: an hour in digits with a mark that makes it a time.
fn written(
    scan: &Scan<'_>,
    token: usize,
    alone: Option<Certainty>,
    reckoning: &Reckoning<'_>,
) -> Option<Option<TokenReading<Time>>> {
    let (hour, end) = hour_at(scan, token).filter(|_| scan.kind(token) == Some(TokenKind::Digits))?;
    let has_leading_zero = scan.text(token).len() == 2 && scan.text(token).starts_with('0');
    let style = if has_leading_zero { HourStyle::LeadingZero } else { HourStyle::Full };
    let found = |end: usize, minute: i32, second: i32, certainty: Certainty| {
        Some(finish(scan, (token, end), (hour, minute, second), style, certainty, reckoning))
    };
    let clock_word = |at: usize| {
        let hours = |sense| matches!(sense, Sense::GluedUnit(TimeUnit::Hour)).then_some(());
        scan.after(at, Sense::OClock).or_else(|| scan.pick(at, hours).map(|((), end)| end)).unwrap_or(at)
    };
    if scan.joins(end, ":") {
        let Some(minute) = two_digits(scan, end + 1) else { return Some(None) };
        if scan.joins(end + 2, ":") {
            let Some(second) = two_digits(scan, end + 3) else { return Some(None) };
            return found(clock_word(end + 4), minute, second, Certainty::WrittenOut);
        }
        return found(clock_word(end + 2), minute, 0, Certainty::WrittenOut);
    }
    // "3.30 pm", "15.30 Uhr", "at 10.15"
    if scan.joins(end, ".")
        && let Some(minute) = two_digits(scan, end + 1)
    {
        let after = end + 2;
        let goes_on = scan.joins(after, ".") || scan.is_symbol(after, "%");
        let is_said = matches!(half_at(scan, after), Some((Half::Meridiem(_), _))) || clock_word(after) > after;
        if is_said {
            return found(clock_word(after), minute, 0, Certainty::WrittenOut);
        }
        let is_amount = is_quantity(scan, after) || goes_on;
        let is_led = token > 0 && scan.has(token - 1, Sense::BeforeClock);
        return Some(
            alone
                .or_else(|| is_led.then_some(HOUR_ALONE))
                .filter(|_| !is_amount && !scan.is_symbol(after, "."))
                .and_then(|_| finish(scan, (token, after), (hour, minute, 0), style, HOUR_ALONE, reckoning)),
        );
    }
    // "19h", "14 h": such a large number of hours is not a length. A smaller one is a time only behind "at".
    let is_hour = |sense| matches!(sense, Sense::GluedUnit(TimeUnit::Hour)).then_some(());
    if let Some(((), after)) = scan.pick(end, is_hour)
        && (alone.is_some() || (13..24).contains(&hour))
    {
        if let Some((minute, after)) = minutes_behind(scan, after) {
            return found(after, minute, 0, Certainty::WrittenOut);
        }
        if scan.is_glued(after) && !ends_clause(scan, after) {
            return None;
        }
        let certainty = if alone.is_some() { Certainty::WrittenOut } else { HALF_OF_DAY_GUESSED };
        return found(after, 0, 0, certainty);
    }
    None
}

/// The `30` of `19h30` and `19 h 30`. A separate number that counts something else does not belong to the time: "à 19 h
/// 12 personnes".
fn minutes_behind(scan: &Scan<'_>, token: usize) -> Option<(i32, usize)> {
    let minute = two_digits(scan, token)?;
    let end = token + 1;
    let is_followed = scan.kind(end) == Some(TokenKind::Word) && !scan.has(end, Sense::Function);
    let is_round = minute % 5 == 0;
    let stands_alone = scan.is_glued(token) || !is_followed || is_round && !is_quantity(scan, end);
    let goes_on = scan.is_glued(end) && !ends_clause(scan, end);
    (stands_alone && !goes_on).then_some((minute, end))
}

/// An hour with a word or mark that makes it a time; or the hour alone, with the certainty that the preposition gives.
fn clock_at(
    scan: &Scan<'_>,
    token: usize,
    alone: Option<Certainty>,
    reckoning: &Reckoning<'_>,
) -> Option<TokenReading<Time>> {
    // `2026-03-04` and `10.0.0.1` do not begin with an hour.
    if token > 0
        && scan.is_glued(token)
        && matches!(scan.text(token - 1), ":" | "." | "-" | "/" | "," | "$" | "€" | "£")
    {
        return None;
    }
    if let Some(found) = written(scan, token, alone, reckoning) {
        return found;
    }
    let (hour, end) = hour_at(scan, token)?;
    let said = scan.skip(end, Sense::OClock);
    if let Some((minutes, after)) = minutes_beside(scan, said, Sense::Minus) {
        // "Huit heures moins le quart" is not on the 24-hour clock, nor is "et quart".
        let spoken = (hour, minutes, 0);
        let after = finish(scan, (token, after), spoken, HourStyle::Spoken, Certainty::WrittenOut, reckoning)?;
        return earlier(&after, minutes);
    }
    if let Some((minutes, after)) = minutes_beside(scan, said, Sense::And) {
        return finish(scan, (token, after), (hour, minutes, 0), HourStyle::Spoken, Certainty::WrittenOut, reckoning);
    }
    let is_digits = scan.kind(token) == Some(TokenKind::Digits);
    let has_leading_zero = is_digits && scan.text(token).len() == 2 && scan.text(token).starts_with('0');
    let style = if has_leading_zero { HourStyle::LeadingZero } else { HourStyle::Spoken };
    let full = if has_leading_zero { HourStyle::LeadingZero } else { HourStyle::Full };
    let found = |end: usize, minute: i32, style: HourStyle, certainty: Certainty| {
        finish(scan, (token, end), (hour, minute, 0), style, certainty, reckoning)
    };
    // 時 of 時間 is a length.
    let is_length = |after: usize| {
        scan.pick(end, |sense| matches!(sense, Sense::Unit(_)).then_some(())).is_some_and(|(_, unit)| unit > after)
    };
    if let Some(after) = scan.after(end, Sense::OClock).filter(|after| !is_length(*after)) {
        // "15h30", "8 Uhr 15", "3時半", "3時30分"
        if let Some(after) = scan.after(after, Sense::HalfBehind) {
            let style = if is_digits || scan.lexicon.kanji_numbers { full } else { HourStyle::Spoken };
            return found(after, 30, style, Certainty::WrittenOut);
        }
        if !scan.lexicon.english
            && let Some((minute, end)) = minutes_of_hour(scan, after)
        {
            // 8時5分前
            let before = scan.after(end, Sense::Ago).filter(|_| scan.lexicon.kanji_numbers);
            return match before {
                Some(end) => earlier(&found(end, 0, full, Certainty::WrittenOut)?, minute),
                None => found(end, minute, full, Certainty::WrittenOut),
            };
        }
        return found(after, 0, full, Certainty::WrittenOut);
    }
    if let Some(after) = scan.after(end, Sense::HalfBehind)
        && (alone.is_some() || half_at(scan, after).is_some() || token > 0 && scan.has(token - 1, Sense::The))
    {
        return found(after, 30, style, Certainty::WrittenOut);
    }
    // "three thirty pm", "at three thirty"
    if !is_digits
        && let Some((minute @ 10..=59, after)) = scan.cardinal(end)
        && scan.kind(end) == Some(TokenKind::Word)
        && (alone.is_some() || matches!(half_at(scan, after), Some((Half::Meridiem(_), _))))
    {
        let minute = i32::try_from(minute).ok()?;
        return found(after, minute, style, IN_WORDS);
    }
    // "two in the afternoon", but not "a table for two this evening".
    if half_at(scan, end).is_some() && (alone.is_some() || !scan.has(end, Sense::This)) {
        return found(end, 0, style, Certainty::WrittenOut);
    }
    if alone.is_none() || scan.is_glued(end) && !ends_clause(scan, end) {
        return None;
    }
    let is_last = end >= scan.len()
        || ends_clause(scan, end)
        || scan.has(end, Sense::Function)
        || scan
            .pick(end, |sense| {
                matches!(sense, Sense::Day(_) | Sense::Tonight | Sense::Weekday { .. } | Sense::On).then_some(())
            })
            .is_some();
    let certainty = if is_last { alone? } else { HOUR_AND_MORE };
    // "about one" and "from one" are rarely times.
    let weak = hour == 0 || scan.numbers.get(token)?.as_ref().is_some_and(|number| number.certainty < Certainty::Even);
    (!is_quantity(scan, end) && !weak).then(|| found(end, 0, style, certainty)).flatten()
}

/// The minutes behind an hour with a word like "Uhr": "8 Uhr 15", 3時30分, "huit heures vingt".
fn minutes_of_hour(scan: &Scan<'_>, token: usize) -> Option<(i32, usize)> {
    if let Some(minute) = scan.digits(token, 2).filter(|minute| *minute < 60) {
        return Some((minute, scan.skip(token + 1, Sense::Unit(TimeUnit::Minute))));
    }
    let (minutes, end) = scan.cardinal(token)?;
    let minutes = i32::try_from(minutes).ok().filter(|minutes| (1..60).contains(minutes))?;
    let behind = scan.skip(end, Sense::Unit(TimeUnit::Minute));
    (behind > end || ends_time(scan, end)).then_some((minutes, behind))
}

/// True if the words at `token` make the number before them an amount of something.
fn is_quantity(scan: &Scan<'_>, token: usize) -> bool {
    let is_amount = |sense| {
        matches!(
            sense,
            Sense::Unit(_)
                | Sense::Measure(_)
                | Sense::Currency { .. }
                | Sense::Cent(_)
                | Sense::Percent
                | Sense::Month { .. }
                | Sense::Multiplier(_)
        )
        .then_some(())
    };
    scan.pick(token, is_amount).is_some()
}

fn ends_clause(scan: &Scan<'_>, token: usize) -> bool {
    matches!(scan.text(token), "," | ";" | "?" | "!" | ")" | "。" | "、")
        || (scan.is_symbol(token, ".") && !scan.is_glued(token + 1))
}

pub(super) fn times(scan: &Scan<'_>, reckoning: &Reckoning<'_>) -> Vec<TokenReading<Time>> {
    let found = scan.find(|token| time_at(scan, token, reckoning));
    if found.is_empty() { all_of_it(scan, reckoning).into_iter().collect() } else { found }
}

/// "11", "10.15" as the whole utterance: it may answer a question for the time.
fn all_of_it(scan: &Scan<'_>, reckoning: &Reckoning<'_>) -> Option<TokenReading<Time>> {
    let found = clock_at(scan, 0, Some(HOUR_AND_MORE), reckoning)?;
    let is_all = found.end >= scan.len() || ends_clause(scan, found.end) && found.end + 1 == scan.len();
    is_all.then_some(TokenReading { certainty: HOUR_AND_MORE, ..found })
}
