//! Days of a week that is counted from the current one: "Friday week", "two weeks on Monday".

use jiff::civil::Date;

use super::{plus_days, weekday_at};
use crate::{
    recognize::{
        certainty::Certainty,
        duration::{self, Duration},
        lexicon::Sense,
        reckoning::Reckoning,
        scan::Scan,
        senses::TokenReading,
    },
    text::tokens::TokenKind,
};

/// By how many weeks these words move the day of the week before them.
pub(super) fn weeks_behind(scan: &Scan<'_>, token: usize) -> Option<(i64, usize)> {
    let later = scan.pick(token, |sense| if let Sense::WeeksLater(weeks) = sense { Some(weeks) } else { None });
    // "Friday week 12" is a week of the year.
    let later = later.filter(|(_, end)| scan.kind(*end) != Some(TokenKind::Digits));
    later.or_else(|| whole_weeks(scan, scan.after(token, Sense::In)?))
}

/// A length of whole weeks.
fn whole_weeks(scan: &Scan<'_>, token: usize) -> Option<(i64, usize)> {
    let length = duration::duration_at(scan, token)?;
    let length = match said_in_days(scan, length.value) {
        Some(weeks) => TokenReading { value: weeks, ..length },
        None => length,
    };
    let Duration { weeks, .. } = length.value;
    (length.value == Duration { weeks, ..Duration::default() }).then_some((weeks, length.end))
}

/// The whole weeks that a length in days means if today is counted: "acht Tage", "quinze jours".
pub(super) fn said_in_days(scan: &Scan<'_>, length: Duration) -> Option<Duration> {
    let Duration { days, .. } = length;
    let is_idiom = length == Duration { days, ..Duration::default() } && scan.lexicon.days_of_weeks.contains(&days);
    is_idiom.then(|| Duration { weeks: days / 7, ..Duration::default() })
}

/// "A week on Thursday", "two weeks from Monday", "a fortnight today".
pub(super) fn weeks_ahead(scan: &Scan<'_>, token: usize, reckoning: &Reckoning<'_>) -> Option<TokenReading<Date>> {
    let fortnight = |sense| if let Sense::WeeksLater(weeks @ 2..) = sense { Some(weeks) } else { None };
    let (weeks, end) = whole_weeks(scan, token).or_else(|| scan.pick(scan.after(token, Sense::A)?, fortnight))?;
    let day = |sense| if let Sense::Day(days) = sense { Some(i64::from(days)) } else { None };
    if let Some((days, end)) = scan.pick(end, day) {
        return Some(TokenReading::new(
            token,
            end,
            plus_days(reckoning.today(), days + 7 * weeks)?,
            Certainty::WrittenOut,
        ));
    }
    let at = scan.after(end, Sense::On).or_else(|| scan.after(end, Sense::From))?;
    let (day, end) = weekday_at(scan, at)?;
    let date = plus_days(reckoning.today().nth_weekday(1, day).ok()?, 7 * weeks)?;
    Some(TokenReading::new(token, end, date, Certainty::WrittenOut))
}
