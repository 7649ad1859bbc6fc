//! The day from which dates and times are computed, and what a slot wants where words are ambiguous.

use jiff::{
    ToSpan as _, Zoned,
    civil::{Date, Weekday},
};

use crate::module::{
    SlotReading,
    settings::{Direction, PartOfDay},
};

/// How many years are searched for a leap day.
const YEARS: i64 = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct Reckoning<'n> {
    pub(super) now: &'n Zoned,
    reading: SlotReading,
    today: Date,
}

/// A date, and another that the same words may mean.
pub(super) type Dates = (Date, Option<Date>);

impl<'n> Reckoning<'n> {
    pub(super) fn new(now: &'n Zoned, reading: SlotReading) -> Self {
        Self { now, reading, today: now.date() }
    }

    pub(super) const fn today(&self) -> Date {
        self.today
    }

    pub(super) const fn part_of_day(&self) -> PartOfDay {
        self.reading.part_of_day
    }

    pub(super) fn is_past(&self) -> bool {
        self.reading.direction == Direction::Past
    }

    /// The same, looking back: "since Monday".
    pub(super) fn back(self) -> Self {
        Self { reading: SlotReading { direction: Direction::Past, ..self.reading }, ..self }
    }

    /// The same, looking ahead: "next May".
    pub(super) fn ahead(self) -> Self {
        Self { reading: SlotReading { direction: Direction::Future, ..self.reading }, ..self }
    }

    /// The same, computed from another day.
    pub(super) const fn from(self, today: Date) -> Self {
        Self { today, ..self }
    }

    fn directed(&self, ahead: Option<Date>, behind: Option<Date>) -> Option<Dates> {
        match self.reading.direction {
            Direction::Future => Some((ahead?, None)),
            Direction::Past => Some((behind?, None)),
            Direction::Any if ahead == behind => Some((ahead?, None)),
            Direction::Any => Some((ahead.or(behind)?, behind.filter(|_| ahead.is_some()))),
        }
    }

    /// The date of a day and month without a year. Today counts either way.
    pub(super) fn yearly(&self, month: i64, day: i64) -> Option<Dates> {
        let year = i64::from(self.today.year());
        let ahead = (0..=YEARS).filter_map(|years| date(year + years, month, day)).find(|date| *date >= self.today);
        let behind = (0..=YEARS).filter_map(|years| date(year - years, month, day)).find(|date| *date <= self.today);
        self.directed(ahead, behind)
    }

    /// The first day of a month without a year. The current month counts either way.
    pub(super) fn month(&self, month: i64) -> Option<Dates> {
        self.from(self.today.first_of_month()).yearly(month, 1)
    }

    /// A day of a month that is not said. Today counts either way.
    pub(super) fn monthly(&self, day: i64) -> Option<Dates> {
        let first = self.today.first_of_month();
        let of_month = |months: i64| {
            let month = first.checked_add(months.months()).ok()?;
            date(i64::from(month.year()), i64::from(month.month()), day)
        };
        let ahead = (0..=12).filter_map(of_month).find(|date| *date >= self.today);
        let behind = (0..=12).filter_map(|months| of_month(-months)).find(|date| *date <= self.today);
        self.directed(ahead, behind)
    }

    /// A day of the month that is also this day of the week, in one of the next `months` months.
    pub(super) fn monthly_on(&self, day: i64, weekday: Weekday, months: i64) -> Option<Dates> {
        let first = self.today.first_of_month();
        let of_month = |months: i64| {
            let month = first.checked_add(months.months()).ok()?;
            let date = date(i64::from(month.year()), i64::from(month.month()), day)?;
            (date.weekday() == weekday).then_some(date)
        };
        let ahead = (0..=months).filter_map(of_month).find(|date| *date >= self.today);
        let behind = (0..=months).filter_map(|months| of_month(-months)).find(|date| *date <= self.today);
        self.directed(ahead, behind)
    }

    /// The last, or the first to fifth, such day of the week in a month without a year.
    pub(super) fn nth_of_month(&self, nth: i8, weekday: Weekday, month: i64) -> Option<Dates> {
        let year = i64::from(self.today.year());
        let of_year = |year: i64| date(year, month, 1)?.nth_weekday_of_month(nth, weekday).ok();
        let ahead = (0..=1).filter_map(|years| of_year(year + years)).find(|date| *date >= self.today);
        let behind = (0..=1).filter_map(|years| of_year(year - years)).find(|date| *date <= self.today);
        self.directed(ahead, behind)
    }

    /// A weekday without a week: never today.
    pub(super) fn weekly(&self, day: Weekday) -> Option<Dates> {
        self.directed(self.today.nth_weekday(1, day).ok(), self.today.nth_weekday(-1, day).ok())
    }
}

pub(super) fn date(year: i64, month: i64, day: i64) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}
