//! Days that are given relative to another day: "two weeks before Christmas", "le surlendemain de Noël",
//! クリスマスの2週間前. Also the day of the week behind a date.

use jiff::{
    ToSpan as _,
    civil::{Date, Weekday},
};

use super::{VAGUE, YEAR_GUESSED, fixed, numeric, of_period, plus_days, weekday_at, weekly, written};
use crate::recognize::{
    certainty::Certainty,
    date::digits::kanji,
    duration::{self, Duration},
    lexicon::{Sense, TimeUnit},
    reckoning::Reckoning,
    scan::Scan,
    senses::TokenReading,
};

/// How far a day lies from another one.
#[derive(Debug, Clone, Copy)]
enum Distance {
    Length(Duration),
    /// The nearest such day of the week.
    Weekday(Weekday),
}

/// A day that is counted from the day beside it.
pub(super) fn beside(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    if let Some((days, at)) = scan.pick(token, |sense| match sense {
        Sense::DayFrom(days) => Some(i64::from(days)),
        _ => None,
    }) {
        let day = anchor(scan, at, reckoning)?;
        return Some(TokenReading::new(token, day.end, plus_days(day.value, days)?, Certainty::Clear));
    }
    if scan.lexicon.kanji_numbers {
        return behind(scan, token, reckoning);
    }
    let (distance, at) = distance(scan, token)?;
    let (is_before, at) = scan.pick(at, |sense| match sense {
        Sense::BeforeDay => Some(true),
        Sense::AfterDay => Some(false),
        _ => None,
    })?;
    let day = anchor(scan, at, reckoning)?;
    let value = match distance {
        Distance::Length(length) => length.from(day.value.to_datetime(jiff::civil::Time::MIN), !is_before)?.date(),
        Distance::Weekday(weekday) => day.value.nth_weekday(if is_before { -1 } else { 1 }, weekday).ok()?,
    };
    Some(TokenReading::new(token, day.end, value, Certainty::Clear))
}

/// "Two weeks", "the day", "the Friday", and the token after it.
fn distance(scan: &Scan<'_>, token: usize) -> Option<(Distance, usize)> {
    if let Some(length) = duration::duration_at(scan, token).filter(|length| !length.value.has_time()) {
        return Some((Distance::Length(length.value), length.end));
    }
    let at = scan.skip(token, Sense::The);
    if let Some((weekday, end)) = weekday_at(scan, at) {
        return Some((Distance::Weekday(weekday), end));
    }
    let end = scan.after(at, Sense::Unit(TimeUnit::Day)).filter(|_| at > token)?;
    Some((Distance::Length(Duration { days: 1, ..Duration::default() }), end))
}

/// クリスマスの2週間前: the length stands behind the day.
fn behind(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let day = anchor(scan, token, reckoning)?;
    let length =
        duration::duration_at(scan, scan.skip(day.end, Sense::On)).filter(|length| !length.value.has_time())?;
    let (is_before, end) = scan.pick(length.end, |sense| match sense {
        Sense::Ago => Some(true),
        Sense::Hence => Some(false),
        _ => None,
    })?;
    let value = length.value.from(day.value.to_datetime(jiff::civil::Time::MIN), !is_before)?.date();
    Some(TokenReading::new(token, end, value, Certainty::Clear))
}

/// A day from which others are counted; it must not be counted from another day itself.
fn anchor(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let relative = |at: usize| {
        let (days, end) = scan.pick(at, |sense| match sense {
            Sense::Day(days) => Some(i64::from(days)),
            _ => None,
        })?;
        let date = reckoning.today().checked_add(days.days()).ok()?;
        Some(TokenReading::new(at, end, date, Certainty::WrittenOut))
    };
    let read = |at: usize| {
        fixed(scan, at, reckoning)
            .or_else(|| relative(at))
            .or_else(|| kanji(scan, at, reckoning))
            .or_else(|| numeric(scan, at, reckoning))
            .or_else(|| of_period(scan, at, reckoning))
            .or_else(|| written(scan, at, reckoning))
            .or_else(|| weekly(scan, at, reckoning))
    };
    let is_day = |found: &TokenReading<Date>| found.certainty > VAGUE && found.other.is_none();
    read(token).or_else(|| read(scan.after(token, Sense::The)?)).filter(is_day)
}

/// A date extended by the day of the week behind it, if they agree: 12月8日(火), "3 March, Tuesday".
pub(super) fn with_weekday(scan: &Scan<'_>, found: TokenReading<Date>) -> TokenReading<Date> {
    let is_named = |sense| matches!(sense, Sense::Weekday { .. }).then_some(());
    let has_own = (found.start..found.end).any(|token| scan.pick(token, is_named).is_some());
    if has_own || found.certainty <= VAGUE || found.other.is_some() {
        return found;
    }
    let opens = matches!(scan.text(found.end), "(" | "（");
    let at = if opens || scan.is_symbol(found.end, ",") { found.end + 1 } else { found.end };
    let Some((weekday, end)) = weekday_at(scan, at).or_else(|| opens.then(|| short(scan, at)).flatten()) else {
        return found;
    };
    let closes = matches!(scan.text(end), ")" | "）");
    if weekday != found.value.weekday() || opens != closes {
        return found;
    }
    let certainty = found.certainty.max(YEAR_GUESSED);
    TokenReading { end: if closes { end + 1 } else { end }, certainty, ..found }
}

/// 火 in brackets.
fn short(scan: &Scan<'_>, token: usize) -> Option<(Weekday, usize)> {
    const DAYS: [&str; 7] = ["月", "火", "水", "木", "金", "土", "日"];
    let offset = DAYS.into_iter().position(|day| scan.is_symbol(token, day))?;
    Some((Weekday::from_monday_zero_offset(i8::try_from(offset).ok()?).ok()?, token + 1))
}
