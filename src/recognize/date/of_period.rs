//! Days of a month or a year that is named with them: "the last day of July", "the 28th of this month", "the first
//! Monday in May".

use jiff::civil::Date;

use super::{Which, day_at, first_of, found, month_alone, month_at, period_at, weekday_at, whole_at, year_at};
use crate::recognize::{
    certainty::Certainty,
    lexicon::{Sense, TimeUnit},
    reckoning::{Reckoning, date},
    scan::Scan,
    senses::TokenReading,
};

/// The most words between a day and its period: "de este".
const LINKS: usize = 2;

/// The possible first tokens behind words that link a day to its period; first the one without such words.
fn behind_links<'s>(scan: &'s Scan<'_>, token: usize) -> impl Iterator<Item = usize> + 's {
    let link = |at: &usize| {
        scan.pick(*at, |sense| {
            matches!(sense, Sense::Of | Sense::In | Sense::The | Sense::Until | Sense::Function).then_some(())
        })
        .map(|((), end)| end)
    };
    std::iter::successors(Some(token), link).take(LINKS + 1)
}

/// The first day of a period relative to now: "this month", "mois prochain", "the month".
fn period_behind(scan: &Scan<'_>, token: usize, today: Date) -> Option<(TimeUnit, Date, usize)> {
    behind_links(scan, token).find_map(|at| {
        let this = || period_at(scan, at).map(|(unit, end)| ((unit, Which::This), end));
        let ((unit, which), end) = whole_at(scan, at).or_else(this).filter(|((unit, _), _)| *unit != TimeUnit::Week)?;
        Some((unit, first_of(today, unit, which)?, end))
    })
}

/// "The last day of July", "am letzten Tag im Juli", "el último día del mes".
pub(super) fn last_day(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let at = scan.skip(token, Sense::The);
    let is_last = |sense| matches!(sense, Sense::Final | Sense::Last).then_some(());
    // The longest phrase may have the article: "the last".
    let (_, after) = scan.pick(at, is_last).or_else(|| scan.pick(token, is_last))?;
    let after = scan.after(after, Sense::Unit(TimeUnit::Day))?;
    let month = behind_links(scan, after).find_map(|at| month_at(scan, at));
    if let Some((month, _, end)) = month {
        let (end, year) = year_at(scan, end).map_or((end, None), |(year, end)| (end, Some(year)));
        let (first, other) = month_alone(reckoning, month, year)?;
        let last = (first.last_of_month(), other.map(Date::last_of_month));
        return Some(found(token, end, last, Certainty::Clear));
    }
    let (unit, first, end) = period_behind(scan, after, reckoning.today())?;
    let last = if unit == TimeUnit::Month { first.last_of_month() } else { first.last_of_year() };
    Some(TokenReading::new(token, end, last, Certainty::Clear))
}

/// "The 28th of this month", "el día 28 de este mes", "the 15th day of next month", "am 3. dieses Monats".
pub(super) fn of_period(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let at = scan.skip(scan.skip(token, Sense::The), Sense::Unit(TimeUnit::Day));
    let is_led = at > token;
    let is_rank = scan.numbers.get(at)?.as_ref().is_some_and(|number| number.ordinal);
    let (day, end) = day_at(scan, at).filter(|_| is_led || is_rank)?;
    let after = scan.after(end, Sense::Unit(TimeUnit::Day)).filter(|_| is_rank).unwrap_or(end);
    let (_, first, behind) =
        period_behind(scan, after, reckoning.today()).filter(|(unit, ..)| *unit == TimeUnit::Month)?;
    let value = date(i64::from(first.year()), i64::from(first.month()), day)?;
    Some(TokenReading::new(token, behind, value, Certainty::WrittenOut))
}

/// "The first Monday in May", "le dernier vendredi du mois prochain".
pub(super) fn nth_weekday(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    const MOST: i64 = 5;
    let at = scan.skip(token, Sense::The);
    let is_last = |sense| matches!(sense, Sense::Final | Sense::Last).then_some(-1_i8);
    let rank = scan.numbers.get(at)?.as_ref().filter(|number| number.ordinal);
    let rank = rank.and_then(|number| Some((number.integer.filter(|rank| (1..=MOST).contains(rank))?, number.end)));
    let (nth, after) = match rank {
        Some((rank, end)) => (i8::try_from(rank).ok()?, end),
        None => scan.pick(at, is_last).or_else(|| scan.pick(token, is_last))?,
    };
    let (weekday, end) = weekday_at(scan, after)?;
    if let Some((month, _, end)) = behind_links(scan, end).skip(1).find_map(|at| month_at(scan, at)) {
        return match year_at(scan, end) {
            Some((year, end)) => {
                let date = date(year, month, 1)?.nth_weekday_of_month(nth, weekday).ok()?;
                Some(TokenReading::new(token, end, date, Certainty::WrittenOut))
            }
            None => Some(found(token, end, reckoning.nth_of_month(nth, weekday, month)?, Certainty::Clear)),
        };
    }
    let (unit, first, end) = period_behind(scan, end, reckoning.today())?;
    let date = first.nth_weekday_of_month(nth, weekday).ok().filter(|_| unit == TimeUnit::Month)?;
    Some(TokenReading::new(token, end, date, Certainty::WrittenOut))
}
