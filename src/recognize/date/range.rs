//! Days of the month that are the ends of a range: "the 1st to the 5th", "vom 28. bis zum 3.", "du 28 au 3".

use jiff::{ToSpan as _, civil::Date};

use super::{DAY_ALONE, found, month_at};
use crate::{
    module::SlotReading,
    recognize::{
        lexicon::Sense,
        reckoning::{Reckoning, date},
        scan::Scan,
        senses::TokenReading,
    },
    text::tokens::TokenKind,
};

/// The most tokens from the beginning of a range to its second day: "vom 28. bis zum 3."
const FURTHEST: usize = 8;

/// The token after the "to" or dash of a range.
pub(in crate::recognize) fn range_at(scan: &Scan<'_>, token: usize) -> Option<usize> {
    const WORDS: [&str; 10] = ["-", "–", "through", "until", "bis", "hasta", "al", "au", "jusqu", "〜"];
    scan.after(token, Sense::To).or_else(|| WORDS.contains(&scan.text(token)).then(|| scan.skip(token + 1, Sense::On)))
}

/// The first day of a range whose end begins at `token`: "the 1st to", also without a month.
pub(super) fn first_of_range(scan: &Scan<'_>, token: usize) -> Option<i64> {
    let first = scan.numbers[..token].iter().rev().flatten().next().filter(|number| number.ordinal)?;
    let is_range = range_at(scan, first.end) == Some(token) && first.start > 0 && scan.has(first.start - 1, Sense::The);
    first.integer.filter(|day| is_range && (1..=31).contains(day))
}

/// The latest such day of a month before `until`: "the 28th to 3 April".
pub(super) fn day_before(until: Date, day: i64) -> Option<Date> {
    let first = until.first_of_month();
    let of_month = |months: i64| {
        let month = first.checked_sub(months.months()).ok()?;
        date(i64::from(month.year()), i64::from(month.month()), day).filter(|date| *date < until)
    };
    (0..=2).find_map(of_month)
}

/// A day of the month in digits, without the month, and the token after it.
fn plain_day(scan: &Scan<'_>, token: usize) -> Option<(i64, usize)> {
    let day = i64::from(scan.digits(token, 2).filter(|day| (1..=31).contains(day))?);
    let is_dotted = scan.lexicon.comma_decimal && scan.is_symbol(token + 1, ".") && scan.is_glued(token + 1);
    let end = if is_dotted { token + 2 } else { token + 1 };
    let goes_on = scan.kind(end) == Some(TokenKind::Digits) || month_at(scan, scan.skip(end, Sense::Of)).is_some();
    (!goes_on).then_some((day, end))
}

/// The two days of a range without a month: each with the token before and behind it.
fn days(scan: &Scan<'_>, token: usize) -> Option<[(i64, usize, usize); 2]> {
    let at = scan.after(token, Sense::RangeFrom)?;
    let (first, end) = plain_day(scan, at)?;
    let until = range_at(scan, end)?;
    let until = scan.skip(scan.skip(until, Sense::On), Sense::The);
    let (last, behind) = plain_day(scan, until)?;
    // "du 5 au 7 rue Haute": the number counts a thing. Behind a dot only a name can follow: "bis zum 3. Stock".
    let is_dotted = behind > until + 1;
    let is_capital =
        scan.span(behind, behind + 1).is_some_and(|span| scan.utterance.slice(span).starts_with(char::is_uppercase));
    let is_followed = scan.kind(behind) == Some(TokenKind::Word)
        && !scan.has(behind, Sense::Function)
        && !scan.has(behind, Sense::At);
    (!is_followed || is_dotted && !is_capital).then_some([(first, at, end), (last, until, behind)])
}

/// "Vom 28. bis zum 3.": either of two days without their month.
pub(super) fn bare_day(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    if scan.has(token, Sense::RangeFrom) {
        let [(day, start, end), _] = days(scan, token)?;
        return Some(found(start, end, reckoning.monthly(day)?, DAY_ALONE));
    }
    scan.digits(token, 2)?;
    let [(first, ..), (last, start, end)] =
        (token.saturating_sub(FURTHEST)..token).find_map(|from| days(scan, from).filter(|days| days[1].1 == token))?;
    let (from, _) = reckoning.monthly(first)?;
    let after = Reckoning::new(reckoning.now, SlotReading::default()).from(from).monthly(last)?;
    Some(found(start, end, after, DAY_ALONE))
}
