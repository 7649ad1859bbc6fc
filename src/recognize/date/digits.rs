//! Dates in digits: `2026-03-04`, `3/4`, `3月1日`.

use jiff::civil::Date;

use super::{DAY_ALONE, PERIOD, VAGUE, YEAR_GUESSED, found, month_alone, short_year};
use crate::{
    module::settings::DateOrder,
    recognize::{
        certainty::Certainty,
        lexicon::Sense,
        reckoning::{Reckoning, date},
        scan::Scan,
        senses::TokenReading,
    },
    text::tokens::TokenKind,
};

/// `2026-03-04`, `3/4/2026`, `4.3.2026`, `3/4`.
pub(super) fn numeric(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    if scan.kind(token) != Some(TokenKind::Digits)
        || (token > 0 && scan.is_glued(token) && matches!(scan.text(token - 1), "/" | "-" | "." | ":" | "$"))
    {
        return None;
    }
    let separator = ["-", "/", "."].into_iter().find(|separator| scan.joins(token + 1, separator))?;
    let first = i64::from(scan.digits(token, 4)?);
    let second = i64::from(scan.digits(token + 2, 2)?);
    let third = scan.joins(token + 3, separator).then(|| scan.digits(token + 4, 4)).flatten().map(i64::from);
    let goes_on = |token: usize| scan.joins(token, separator) && scan.kind(token + 1) == Some(TokenKind::Digits);
    if scan.text(token).len() == 4 {
        let day = third.filter(|_| scan.text(token + 4).len() <= 2 && !goes_on(token + 5))?;
        return Some(TokenReading::new(token, token + 5, date(first, second, day)?, Certainty::WrittenOut));
    }
    let ordered = |year: i64| {
        let (month_first, day_first) = (date(year, first, second), date(year, second, first));
        let ambiguous = month_first.is_some() && day_first.is_some() && first != second;
        let date = match scan.lexicon.order {
            DateOrder::MonthFirst if separator != "." => month_first.or(day_first),
            DateOrder::MonthFirst | DateOrder::DayFirst => day_first.or(month_first),
        };
        date.map(|date| (date, if ambiguous { Certainty::Clear } else { Certainty::WrittenOut }))
    };
    if let Some(year) = third {
        let year = match scan.text(token + 4).len() {
            4 => year,
            2 => short_year(year),
            _ => return None,
        };
        let (date, certainty) = ordered(year)?;
        return (!goes_on(token + 5)).then_some(TokenReading::new(token, token + 5, date, certainty));
    }
    if scan.text(token).len() > 2 {
        return None;
    }
    // Without a year: only `3/4`, and `3.4.` in languages that write dates so.
    let end = match separator {
        "/" => token + 3,
        "." if scan.lexicon.comma_decimal && scan.is_symbol(token + 3, ".") && scan.is_glued(token + 3) => token + 4,
        // "zum 1.4"
        "." if scan.lexicon.comma_decimal
            && !goes_on(token + 3)
            && date(2024, second, first).is_some()
            && token > 0
            && scan.pick(token - 1, |s| matches!(s, Sense::On | Sense::The | Sense::Until).then_some(())).is_some() =>
        {
            token + 3
        }
        _ => return None,
    };
    let (this_year, _) = ordered(i64::from(reckoning.today().year())).or_else(|| ordered(2024))?;
    let dates = reckoning.yearly(i64::from(this_year.month()), i64::from(this_year.day()))?;
    Some(found(token, end, dates, PERIOD))
}

/// `2026年3月1日`, `令和8年3月1日`, `3月1日`, `三月一日`, `1日`.
pub(super) fn kanji(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let (year, month_at) = match kanji_year(scan, token) {
        Some((year, end)) => (Some(year), scan.skip(end, Sense::On)),
        None => (None, token),
    };
    let Some((month, at)) = scan.cardinal(month_at).filter(|(_, end)| scan.text(*end) == "月") else {
        return if year.is_none() { kanji_day(scan, token, reckoning) } else { None };
    };
    let (day, end) = match scan.cardinal(at + 1) {
        Some((day, end)) if scan.text(end) == "日" => (day, end + 1),
        // 7月末
        _ if scan.text(at + 1) == "末" => {
            let (first, other) = month_alone(reckoning, month, year)?;
            let last = (first.last_of_month(), other.map(Date::last_of_month));
            return Some(found(token, at + 2, last, PERIOD));
        }
        _ => return Some(found(token, at + 1, month_alone(reckoning, month, year)?, VAGUE)),
    };
    match year {
        Some(year) => Some(TokenReading::new(token, end, date(year, month, day)?, Certainty::WrittenOut)),
        None => Some(found(token, end, reckoning.yearly(month, day)?, YEAR_GUESSED)),
    }
}

/// `2026年`, `令和8年`, `来年`, and the token behind it.
fn kanji_year(scan: &Scan<'_>, token: usize) -> Option<(i64, usize)> {
    let era = scan.pick(token, |sense| match sense {
        Sense::Era(before) => Some(before),
        _ => None,
    });
    let (before, at) = era.unwrap_or((0, token));
    let (year, end) = match scan.cardinal(at) {
        Some(found) => found,
        None if era.is_some() && scan.text(at) == "元" => (1, at + 1),
        None => return None,
    };
    (scan.text(end) == "年").then_some((before.checked_add(year)?, end + 1))
}

/// A day of this month or the next: `15日`, but not `15日間` or `三日月`.
fn kanji_day(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let (day, end) = scan.cardinal(token).filter(|(day, end)| (1..=31).contains(day) && scan.text(*end) == "日")?;
    let goes_on =
        matches!(scan.text(end + 1), "間" | "後" | "前" | "目" | "以" | "分" | "本" | "月" | "中" | "程" | "ほ");
    (!goes_on).then_some(found(token, end + 1, reckoning.monthly(day)?, DAY_ALONE))
}
