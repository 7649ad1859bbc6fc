//! Reads values as people write and say them, in any text, without a module's recognizers. Arguments are converted with
//! it, and compared with what was said.

use jiff::{
    Zoned,
    civil::{Date, Time, Weekday},
    tz::TimeZone,
};

use super::{
    certainty::Certainty,
    date,
    duration::{self, Duration},
    lexicon::{Lexicon, Sense},
    reckoning::Reckoning,
    scan::Scan,
    senses::TokenReading,
    time,
};
use crate::{
    language::Language,
    module::{SlotReading, settings::DateOrder},
    text::{Span, Utterance, tokens::TokenKind},
};

/// From this certainty on, another reading is hardly possible.
const HARDLY_ANOTHER: Certainty = Certainty::Usual;
/// From this certainty on, a number word means a number, unlike the "one" of "the white one".
const RATHER_A_NUMBER: Certainty = Certainty::Even;
/// The most bytes of a text that is one value.
const LONGEST: usize = 100;

/// The most digits of a number that is not a code.
const EXACT_DIGITS: usize = 18;

/// Reads the values of one language.
#[derive(Debug)]
pub struct ValueReader {
    lexicon: Lexicon,
    languages: [&'static Language; 2],
}

/// A number in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    pub span: Span,
    pub value: f64,
    /// "5%": it may also mean a twentieth.
    pub is_percent: bool,
    /// "3rd".
    pub is_rank: bool,
    /// It is more than a guess; numbers do not overlap.
    pub is_number: bool,
}

/// The days, times of day and lengths of time in a text.
#[derive(Debug, Default)]
pub struct Moments {
    days: Vec<Day>,
    times: Vec<TokenReading<Time>>,
    durations: Vec<(Span, Duration)>,
}

/// The part of a day that does not depend on when it is said: "the 3rd of March", "Sunday". For "tomorrow" there is
/// none.
#[derive(Debug)]
struct Day {
    span: Span,
    year: Option<i16>,
    /// The month and the day.
    month: Option<(i8, i8)>,
    weekday: Option<Weekday>,
    /// `3/4/2026`: month and day may be swapped.
    is_ambiguous: bool,
}

impl ValueReader {
    /// A reader for the language of a BCP 47 tag. Dates in digits are in the given order, or in the region's if none is
    /// given.
    #[must_use]
    pub fn new(tag: &str, order: Option<DateOrder>) -> Self {
        Self { lexicon: Lexicon::for_language(tag, order), languages: Language::and_english(tag) }
    }

    /// The language, and English, since names everywhere are written in English.
    #[must_use]
    pub const fn languages(&self) -> [&'static Language; 2] {
        self.languages
    }

    /// The count that the whole of `text` says: a whole number, in digits or in words.
    #[must_use]
    pub fn count(&self, text: &str) -> Option<u64> {
        let utterance = (text.len() <= LONGEST).then(|| Utterance::new(text.trim()))?;
        let all = Span::new(0, utterance.len());
        let quantities = self.quantities(&utterance);
        let whole = quantities.iter().find(|quantity| quantity.span == all && !quantity.is_rank)?;
        whole.value.to_string().parse().ok()
    }

    /// The number that the whole of `text` says.
    #[must_use]
    pub fn number(&self, text: &str) -> Option<f64> {
        if text.len() > LONGEST || self.lexicon.comma_decimal && is_one_group(text) {
            return None;
        }
        // The form that programs write, in any language.
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
        if text.len() <= EXACT_DIGITS
            && is_plain
            && let Ok(number) = text.parse()
        {
            return Some(number);
        }
        let utterance = Utterance::new(text);
        let scan = Scan::new(&utterance, &self.lexicon);
        let number =
            scan.numbers.iter().flatten().next().filter(|number| (number.start, number.end) == (0, scan.len()))?;
        let is_quantity = !number.ordinal && !number.code && number.certainty >= HARDLY_ANOTHER;
        is_quantity.then_some(number.value)
    }

    /// The date that the whole of `text` says, with its year, if it is clear which number is the day.
    #[must_use]
    pub fn date(&self, text: &str) -> Option<Date> {
        let days = self.day_that_is(text)?;
        let [Day { year: Some(year), month: Some((month, day)), weekday, is_ambiguous: false, .. }] = days[..] else {
            return None;
        };
        let date = Date::new(year, month, day).ok()?;
        weekday.is_none_or(|named| date.weekday() == named).then_some(date)
    }

    /// The days that are said, if one reading covers the whole of `text`.
    fn day_that_is(&self, text: &str) -> Option<Vec<Day>> {
        let utterance = Utterance::new(text);
        let days = (text.len() <= LONGEST).then(|| days(&Scan::new(&utterance, &self.lexicon)))?;
        days.first().is_some_and(|day| day.span == Span::new(0, utterance.len())).then_some(days)
    }

    /// The time of day that the whole of `text` says. In digits with a colon, an ambiguous hour is read on the 24-hour
    /// clock.
    #[must_use]
    pub fn time(&self, text: &str) -> Option<Time> {
        let utterance = Utterance::new(text.trim_end_matches('.'));
        let scan = (text.len() <= LONGEST).then(|| Scan::new(&utterance, &self.lexicon))?;
        let found = time::time_at(&scan, 0, &Reckoning::new(&some_day(2000, 1, 1), SlotReading::default()))?;
        let is_all = (found.start, found.end) == (0, scan.len()) && found.certainty >= HARDLY_ANOTHER;
        match found.other.filter(|_| is_all) {
            Some(other) => text.contains(':').then(|| other.min(found.value)),
            None => is_all.then_some(found.value),
        }
    }

    /// Every number in a text: in digits, in words, or as a word that counts.
    #[must_use]
    pub fn quantities(&self, utterance: &Utterance) -> Vec<Quantity> {
        let scan = Scan::new(utterance, &self.lexicon);
        let quantity = |start: usize, end: usize, value: f64| {
            let is_percent = scan.has(end, Sense::Percent);
            Some(Quantity { span: scan.span(start, end)?, value, is_percent, is_rank: false, is_number: false })
        };
        let numbers = scan.numbers.iter().flatten().filter(|number| !number.code);
        let numbers = numbers.filter_map(|number| {
            let is_number = !number.ordinal && number.certainty >= RATHER_A_NUMBER;
            let found = quantity(number.start, number.end, number.value)?;
            Some(Quantity { is_rank: number.ordinal, is_number, ..found })
        });
        let counts = scan.find(|token| {
            let (value, end) = scan.pick(token, |sense| match sense {
                Sense::Times(times) => Some(f64::from(times)),
                Sense::Half => Some(0.5),
                Sense::Quarter => Some(0.25),
                _ => None,
            })?;
            Some(TokenReading::new(token, end, value, Certainty::WrittenOut))
        });
        numbers.chain(counts.iter().filter_map(|found| quantity(found.start, found.end, found.value))).collect()
    }

    /// Every day, time of day and length of time in a text.
    #[must_use]
    pub fn moments(&self, utterance: &Utterance) -> Moments {
        let scan = Scan::new(utterance, &self.lexicon);
        let times = time::times(&scan, &Reckoning::new(&some_day(2000, 1, 1), SlotReading::default()));
        let durations = duration::durations(&scan);
        let durations =
            durations.into_iter().filter_map(|found| Some((scan.span(found.start, found.end)?, found.value)));
        Moments { days: days(&scan), times, durations: durations.collect() }
    }

    /// Where a text names a day other than today, or a time of day, with more certainty than a guess: "tomorrow", "next
    /// week", "at 6 pm".
    #[must_use]
    pub fn moments_said(&self, utterance: &Utterance) -> Vec<Span> {
        let scan = Scan::new(utterance, &self.lexicon);
        let now = some_day(2000, 1, 1);
        let reckoning = Reckoning::new(&now, SlotReading::default());
        let is_said = |found: &&TokenReading<Date>| found.certainty >= date::PERIOD && found.value != now.date();
        let dates = date::dates(&scan, &reckoning);
        let times = time::times(&scan, &reckoning);
        let days = dates.iter().filter(is_said).map(|found| (found.start, found.end));
        let clocks = times.iter().filter(|found| found.certainty >= HARDLY_ANOTHER);
        let all = days.chain(clocks.map(|found| (found.start, found.end)));
        all.filter_map(|(start, end)| scan.span(start, end)).collect()
    }

    /// Where a text names this length of time, given in ISO 8601.
    #[must_use]
    pub fn find_duration(&self, moments: &Moments, iso: &str) -> Option<Span> {
        let wanted = iso.starts_with('P').then(|| self.moments(&Utterance::new(iso)))?;
        let [(_, wanted)] = wanted.durations[..] else { return None };
        moments.durations.iter().find(|(_, said)| said.is_as_long_as(wanted)).map(|(span, _)| *span)
    }
}

impl Moments {
    /// Where this day is named: by day and month, or by its weekday.
    #[must_use]
    pub fn find_day(&self, date: Date) -> Option<Span> {
        self.days.iter().find(|said| said.is(date)).map(|said| said.span)
    }

    /// True if this time of day is named, perhaps without the half of the day.
    #[must_use]
    pub fn says_time(&self, time: Time) -> bool {
        self.times.iter().any(|said| said.value == time || said.other == Some(time))
    }
}

impl Day {
    fn is(&self, date: Date) -> bool {
        let is_month = |(month, day): (i8, i8)| {
            (date.month(), date.day()) == (month, day)
                || self.is_ambiguous && (date.day(), date.month()) == (month, day)
        };
        self.year.is_none_or(|year| date.year() == year)
            && self.month.is_none_or(is_month)
            && self.weekday.is_none_or(|weekday| date.weekday() == weekday)
    }
}

/// The days that are named, as far as they do not depend on when it is said.
fn days(scan: &Scan<'_>) -> Vec<Day> {
    let dates = |now: &Zoned| date::dates(scan, &Reckoning::new(now, SlotReading::default()));
    let (dates, at_another_time) = (dates(&some_day(2000, 1, 1)), dates(&some_day(2001, 7, 20)));
    let day = |found: &TokenReading<Date>| {
        let another = at_another_time.iter().find(|one| (one.start, one.end) == (found.start, found.end))?.value;
        let month = |date: Date| (date.month(), date.day());
        let is_named = found.certainty > date::PERIOD && month(found.value) == month(another);
        let weekday = |sense: Sense| match sense {
            Sense::Weekday { day, .. } => Weekday::from_monday_one_offset(day).ok(),
            _ => None,
        };
        let mut tokens = found.start..found.end;
        let is_in_digits = tokens.clone().all(|token| scan.kind(token) != Some(TokenKind::Word));
        let said = Day {
            span: scan.span(found.start, found.end)?,
            year: (is_named && found.value.year() == another.year()).then_some(found.value.year()),
            month: is_named.then_some(month(found.value)),
            weekday: tokens.find_map(|token| scan.pick(token, weekday)).map(|(weekday, _)| weekday),
            is_ambiguous: is_in_digits && found.certainty < Certainty::WrittenOut,
        };
        (said.month.is_some() || said.weekday.is_some()).then_some(said)
    };
    dates.iter().filter_map(day).collect()
}

fn some_day(year: i16, month: i8, day: i8) -> Zoned {
    jiff::civil::date(year, month, day).to_zoned(TimeZone::UTC).unwrap_or_default()
}

/// True of `1.000` and `1,000`: a thousand in some languages, and one in others.
fn is_one_group(text: &str) -> bool {
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    text.trim_start_matches(['-', '+']).split_once(['.', ',']).is_some_and(|(whole, group)| {
        (1..=3).contains(&whole.len()) && group.len() == 3 && is_digits(whole) && is_digits(group)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reader(tag: &str) -> ValueReader {
        ValueReader::new(tag, None)
    }

    #[test]
    fn a_count_is_read_in_the_readers_language() {
        for (tag, text, count) in [
            ("en", "one", Some(1)),
            ("en", " ten ", Some(10)),
            ("en", "3", Some(3)),
            ("de", "zwei", Some(2)),
            ("fr", "trois", Some(3)),
            ("ja", "二", Some(2)),
            ("en", "second", None),
            ("en", "2.5", None),
            ("en", "two or three", None),
            ("en", "", None),
        ] {
            assert_eq!(reader(tag).count(text), count, "{tag} {text}");
        }
    }

    #[test]
    fn a_text_that_is_one_number_is_read() {
        for (tag, text, value) in [
            ("en", "twenty-one", Some(21.0)),
            ("en", "1,234,567.5", Some(1_234_567.5)),
            ("en", "-5", Some(-5.0)),
            ("en", "5k", Some(5_000.0)),
            ("en", "1,00,000", Some(100_000.0)),
            ("en", "one two", None),
            ("en", "second", None),
            ("en", "3kg", None),
            ("en", "1,5", None),
            ("de", "2,5", Some(2.5)),
            ("de", "1.000", None),
            ("de", "1,000", None),
            ("de", "1.000.000", Some(1_000_000.0)),
            ("de", "fünfundzwanzig", Some(25.0)),
            ("fr", "quatre-vingt-dix", Some(90.0)),
            ("ja", "三百", Some(300.0)),
        ] {
            assert_eq!(reader(tag).number(text), value, "{tag} {text}");
        }
    }

    #[test]
    fn what_is_said_of_when_is_found() {
        for (tag, text, said) in [
            ("en", "send 25 to Omar tomorrow", &["tomorrow"][..]),
            ("en", "order it for next week", &["next week"][..]),
            ("en", "a taxi at 6pm, please", &["6pm"][..]),
            ("en", "send it today", &[][..]),
            ("en", "you may march on", &[][..]),
            ("de", "überweise 20 Euro am Freitag", &["Freitag"][..]),
            ("fr", "envoie 45 euros demain", &["demain"][..]),
            ("es", "manda 20 euros mañana", &["mañana"][..]),
            ("ja", "明日3000円送って", &["明日"][..]),
        ] {
            let utterance = Utterance::new(text);
            let found = reader(tag).moments_said(&utterance);
            let found: Vec<&str> = found.iter().map(|span| utterance.slice(*span)).collect();
            let is_found = found.len() == said.len() && found.iter().zip(said).all(|(one, own)| one.contains(own));
            assert!(is_found, "{tag} {text}: {found:?}");
        }
    }

    #[test]
    fn a_text_that_is_one_date_or_time_is_read() {
        let date = |tag: &str, text: &str| reader(tag).date(text).map(|date| date.to_string());
        for (tag, text, expected) in [
            ("en", "Sunday, 1 Mar 2026", Some("2026-03-01")),
            ("en", "Monday, March 1, 2026", None),
            ("en", "25/12/2026", Some("2026-12-25")),
            ("en", "03/04/2026", None),
            ("en", "March 1", None),
            ("en", "tomorrow", None),
            ("en", "in 2026 days", None),
            ("de", "1. März 2026", Some("2026-03-01")),
            ("ja", "2026年3月1日", Some("2026-03-01")),
        ] {
            assert_eq!(date(tag, text).as_deref(), expected, "{tag} {text}");
        }
        let time = |text: &str| json!(reader("en").time(text).map(|time| time.to_string()));
        for (text, expected) in [
            ("3pm", json!("15:00:00")),
            ("3:30 p.m.", json!("15:30:00")),
            ("9:30", json!("09:30:00")),
            ("half past nine", json!(null)),
            ("at 9", json!(null)),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
    }

    #[test]
    fn days_are_said_by_what_does_not_change_with_the_moment() {
        let day = jiff::civil::date(2026, 3, 1);
        for (tag, text, said) in [
            ("en", "on march 1st", Some("march 1st")),
            ("en", "3/1/2026", Some("3/1/2026")),
            ("en", "1/3/2026", Some("1/3/2026")),
            ("en", "next sunday", Some("next sunday")),
            ("de", "am 1. März", Some("1. März")),
            ("ja", "3月1日に", Some("3月1日")),
            ("en", "march 1st, 2025", None),
            ("en", "sunday, march 2nd", None),
            ("en", "today", None),
            ("en", "the 1st", None),
            ("en", "next month", None),
            ("en", "next year", None),
            ("en", "3 seats in march", None),
        ] {
            let utterance = Utterance::new(text);
            let found = reader(tag).moments(&utterance).find_day(day);
            assert_eq!(found.map(|span| utterance.slice(span)), said, "{tag} {text}");
        }
    }

    #[test]
    fn lengths_of_time_are_the_same_in_any_unit_that_fits() {
        let english = reader("en");
        for (text, iso, said) in [
            ("for 90 minutes", "PT1H30M", Some("90 minutes")),
            ("two weeks", "P14D", Some("two weeks")),
            ("in 30 days", "PT30M", None),
            ("a week", "week", None),
        ] {
            let utterance = Utterance::new(text);
            let found = english.find_duration(&english.moments(&utterance), iso);
            assert_eq!(found.map(|span| utterance.slice(span)), said, "{text} {iso}");
        }
    }
}
