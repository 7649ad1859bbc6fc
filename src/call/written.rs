//! Reads values as models write them, if there is only one way to, and converts them to the schema's formats.

use std::sync::LazyLock;

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};
use regex::Regex;
use serde_json::{Number, Value};

use crate::{recognize::ValueReader, text::fold};

/// A number as people write or say it, and the name of the coercion that converts it.
pub(super) fn read_number(text: &str, reader: &ValueReader) -> Option<(&'static str, f64)> {
    const SIGNS: [char; 4] = ['$', '€', '£', '¥'];
    let text = text.trim();
    let bare = text.strip_prefix(SIGNS).or_else(|| text.strip_suffix(SIGNS)).or_else(|| text.strip_suffix('%'));
    let number = bare.map_or(text, str::trim);
    let is_digits = number.trim_start_matches(['-', '+', '\u{2212}']).starts_with(|c: char| c.is_ascii_digit());
    let name = match bare {
        _ if !is_digits => "number-word",
        Some(_) => "number-unit",
        None => "number-text",
    };
    reader.number(number.strip_prefix('+').unwrap_or(number)).map(|value| (name, value))
}

/// A whole number in the range that every JSON reader keeps exactly.
pub(super) fn whole(number: f64) -> Option<Value> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    (number.fract() == 0.0 && number.abs() <= LARGEST).then(|| Value::from(number as i64))
}

pub(super) fn number_value(number: f64) -> Option<Value> {
    whole(number).or_else(|| Number::from_f64(number).map(Value::Number))
}

/// A boolean in YAML 1.1 notation, which models use too.
pub(super) fn read_boolean(text: &str) -> Option<bool> {
    match fold(text.trim()).as_str() {
        "true" | "yes" | "y" | "on" => Some(true),
        "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// `text` in one of the formats of JSON Schema, with the name of the coercion. A date-time without an offset is in
/// `zone`.
pub(super) fn formatted(
    text: &str,
    format: &str,
    reader: &ValueReader,
    zone: &TimeZone,
) -> Option<(&'static str, String)> {
    let text = text.trim();
    match format {
        "date" => read_date(text, reader).map(|date| ("date", date.to_string())),
        "time" if !is_time(text) => reader.time(text).map(|time| ("time", time.strftime("%H:%M:%S").to_string())),
        "date-time" => {
            let moment = read_moment(text)?.to_zoned(zone.clone()).ok()?;
            Some(("date-time", moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()))
        }
        _ => None,
    }
}

/// A date, possibly with a time of midnight. An ISO date stands for itself.
fn read_date(text: &str, reader: &ValueReader) -> Option<Date> {
    match text.strip_suffix('Z').unwrap_or(text).parse::<DateTime>() {
        Ok(moment) => (moment.time() == Time::midnight()).then(|| moment.date()),
        Err(_) => reader.date(text),
    }
}

/// A date and time without an offset.
fn read_moment(text: &str) -> Option<DateTime> {
    let has_offset = text.parse::<Timestamp>().is_ok();
    (text.contains(':') && !has_offset).then(|| text.parse().ok())?
}

/// `15:30:00`, with or without a fraction and an offset: what `format: time` accepts here. RFC 3339 requires an offset,
/// but a time that people say has none.
pub(super) fn is_time(text: &str) -> bool {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let clock = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)";
        Regex::new(&format!(r"^{clock}(\.\d{{1,9}})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?$").replace(r"\d", "[0-9]")).ok()
    });
    TIME.as_ref().is_some_and(|time| time.is_match(text))
}
