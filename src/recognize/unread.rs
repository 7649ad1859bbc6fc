//! Unread words beside a value: they belong to the same kind of value, but no reading contains them.
//!
//! "Friday 32", "5 and seven eighths", "-3/" contain more than can be read. A value is taken for everything that was
//! said only if no word of its kind stands beside it: directly, or linked by a word or a sign ("and", "of", a hyphen, a
//! slash, a point). There is one mechanism for all built-ins and languages. Each kind has its own parts, and each
//! language the words of its pack.
//!
//! Words of another reading are not unread words of this value: the hour in "Friday 3pm" for a date, and the day for a
//! time. Nor is a number that counts the thing behind it ("Friday 2 tickets"). Whether another slot takes the words
//! beside a value is only known when slots are filled, and is decided there.

use std::{cell::OnceCell, ops::Range};

use jiff::{Zoned, civil::Date};
use serde::Serialize;
use text2num::LangInterpreter as _;

use super::{
    certainty::Certainty,
    date, duration,
    lexicon::{Sense, TimeUnit},
    money,
    reckoning::Reckoning,
    scan::Scan,
    senses::TokenReading,
    time,
};
use crate::{
    module::{Builtin, SlotReading},
    text::{Span, numeral, tokens::TokenKind},
};

/// The most words and signs that may link a value to the words beside it: "and a half".
const LINKS: usize = 2;
/// The most tokens of a phrase that is looked for before a value.
const LONGEST: usize = 4;
/// The shortest unit that is counted in calendars.
const SHORTEST_OF_CALENDAR: TimeUnit = TimeUnit::Day;

/// Words beside a value that belong to the same kind of value but were not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Unread {
    pub span: Span,
    /// It is a unit that a function may also name itself: "days" of "in 3 days".
    pub is_unit: bool,
}

/// The kind of a value, by the parts that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Day,
    Hour,
    /// A day with its hour.
    Moment,
    Length,
    Money,
    Number,
    Percent,
}

impl ValueKind {
    const fn of(builtin: Builtin) -> Option<Self> {
        Some(match builtin {
            Builtin::Date => Self::Day,
            Builtin::Time => Self::Hour,
            Builtin::DateTime => Self::Moment,
            Builtin::Duration => Self::Length,
            Builtin::Money => Self::Money,
            Builtin::Integer | Builtin::Number => Self::Number,
            Builtin::Percent => Self::Percent,
            Builtin::Ordinal | Builtin::Boolean | Builtin::Email | Builtin::Url | Builtin::Phone => return None,
        })
    }

    const fn has_day(self) -> bool {
        matches!(self, Self::Day | Self::Moment)
    }

    const fn is_amount(self) -> bool {
        matches!(self, Self::Length | Self::Money | Self::Number | Self::Percent)
    }
}

/// The meaning of words that may be a part of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ValuePart {
    Number,
    /// A number that counts the thing behind it.
    Count,
    Fraction,
    /// "million", "dozen".
    Scale,
    Month,
    Weekday(i8),
    /// "Christmas".
    Fixed,
    /// "next", "last".
    Next,
    Last,
    Time(TimeUnit),
    Measure,
    Currency,
    HalfOfDay,
    Clock,
    Minus,
    /// "every".
    Every,
    /// "half of", "double".
    Factor,
    /// "less", "and a bit".
    OtherAmount,
}

/// A value whose unread words are looked for.
pub(super) struct RecognizedValue<'v> {
    pub(super) builtin: Builtin,
    pub(super) tokens: Range<usize>,
    /// The slot that it was read for.
    pub(super) reading: SlotReading,
    pub(super) canonical: &'v serde_json::Value,
}

impl RecognizedValue<'_> {
    fn date(&self) -> Option<Date> {
        self.canonical.as_str()?.get(..10)?.parse().ok()
    }
}

/// The readings of an utterance, and the words that they leave unread.
pub(super) struct Borders<'s> {
    scan: &'s Scan<'s>,
    now: &'s Zoned,
    readings: OnceCell<Readings>,
}

/// For each token, the reading of each kind that contains it.
#[derive(Debug)]
struct Readings {
    days: Owners,
    hours: Owners,
    lengths: Owners,
    amounts: Owners,
}

/// For each token, the tokens of the reading that contains it.
#[derive(Debug)]
struct Owners(Vec<Option<(usize, usize)>>);

impl Owners {
    fn new<T>(length: usize, found: &[TokenReading<T>], least: Certainty) -> Self {
        let mut owners = vec![None; length];
        for one in found.iter().filter(|one| one.certainty > least) {
            owners[one.start..one.end].fill(Some((one.start, one.end)));
        }
        Self(owners)
    }

    /// True if a reading contains the token but none of `value`.
    fn has_beside(&self, token: usize, value: &Range<usize>) -> bool {
        let own = self.0.get(token).copied().flatten();
        own.is_some_and(|(start, end)| end <= value.start || value.end <= start)
    }

    fn has_any_of(&self, value: &Range<usize>) -> bool {
        self.0[value.clone()].iter().any(Option::is_some)
    }
}

impl<'s> Borders<'s> {
    pub(super) const fn new(scan: &'s Scan<'s>, now: &'s Zoned) -> Self {
        Self { scan, now, readings: OnceCell::new() }
    }

    fn readings(&self) -> &Readings {
        self.readings.get_or_init(|| {
            let (scan, reckoning) = (self.scan, Reckoning::new(self.now, SlotReading::default()));
            Readings {
                days: Owners::new(scan.len(), &date::dates(scan, &reckoning), Certainty::Even),
                hours: Owners::new(scan.len(), &time::times(scan, &reckoning), Certainty::Doubtful),
                lengths: Owners::new(scan.len(), &duration::durations(scan), Certainty::Doubtful),
                amounts: Owners::new(scan.len(), &money::amounts(scan), Certainty::Even),
            }
        })
    }

    /// The unread words before and behind a value.
    pub(super) fn unread(&self, value: &RecognizedValue<'_>) -> Vec<Unread> {
        let Some(kind) = ValueKind::of(value.builtin).filter(|_| !value.tokens.is_empty()) else { return Vec::new() };
        let around = [
            self.before(kind, value),
            self.behind(kind, value),
            self.day_elsewhere(kind, value),
            self.other_weekday(kind, value),
        ];
        around.into_iter().flatten().filter_map(|(part, tokens)| self.found(part, tokens)).collect()
    }

    fn found(&self, part: Option<ValuePart>, tokens: Range<usize>) -> Option<Unread> {
        let is_unit = matches!(part, Some(ValuePart::Time(_) | ValuePart::Measure | ValuePart::Currency));
        Some(Unread { span: self.scan.span(tokens.start, tokens.end)?, is_unit })
    }

    /// The words right before the value, or linked to it by words and signs.
    fn before(&self, kind: ValueKind, value: &RecognizedValue<'_>) -> Option<(Option<ValuePart>, Range<usize>)> {
        let start = value.tokens.start;
        if kind.is_amount() && self.is_sign_before(start) {
            return Some((None, start - 1..start));
        }
        if let Some(tokens) =
            self.digits_before(kind, start).filter(|own| !self.is_of_another(kind, own, &value.tokens))
        {
            return Some((None, tokens));
        }
        let (mut at, mut linked) = (start, None);
        for _ in 0..=LINKS {
            let parts = (at.saturating_sub(LONGEST)..at).filter_map(|from| {
                let (part, tokens) = self.part_at(from)?;
                (tokens.end == at).then_some((part, tokens))
            });
            for (part, tokens) in parts {
                if self.is_own_before(kind, part, value, linked) && !self.is_of_another(kind, &tokens, &value.tokens) {
                    return Some((Some(part), tokens));
                }
            }
            let (link, from) = self.link_before(kind, at)?;
            (at, linked) = (from, Some(link));
        }
        None
    }

    /// The words right behind the value, or linked to it by words and signs.
    fn behind(&self, kind: ValueKind, value: &RecognizedValue<'_>) -> Option<(Option<ValuePart>, Range<usize>)> {
        let end = value.tokens.end;
        if let Some(tokens) = self.letters_behind(kind, end).or_else(|| self.sign_behind(kind, end)) {
            return Some((None, tokens));
        }
        let (mut at, mut linked) = (end, None);
        for _ in 0..=LINKS {
            if let Some((part, tokens)) = self.part_at(at)
                && self.is_own_behind(kind, part, value, linked)
                && !self.is_of_another(kind, &tokens, &value.tokens)
            {
                return Some((Some(part), tokens));
            }
            let (link, behind) = self.link_behind(kind, at)?;
            (at, linked) = (behind, Some(link));
        }
        None
    }

    /// A day elsewhere in the utterance, for a moment without its own day: "Friday, if you can, at noon" does not mean
    /// noon today.
    fn day_elsewhere(&self, kind: ValueKind, value: &RecognizedValue<'_>) -> Option<(Option<ValuePart>, Range<usize>)> {
        if kind != ValueKind::Moment || self.readings().days.has_any_of(&value.tokens) {
            return None;
        }
        let (start, end) = self.readings().days.0.iter().flatten().find(|(start, end)| {
            let is_apart = *end <= value.tokens.start || value.tokens.end <= *start;
            is_apart && (*start..*end).any(|token| self.names_day(token))
        })?;
        Some((None, *start..*end))
    }

    /// The day of the week at the beginning of a value that does not agree with it: "Friday, December 8", which is a
    /// Tuesday.
    fn other_weekday(&self, kind: ValueKind, value: &RecognizedValue<'_>) -> Option<(Option<ValuePart>, Range<usize>)> {
        let which = |sense| {
            matches!(
                sense,
                Sense::This | Sense::Coming | Sense::Next | Sense::AfterNext | Sense::Last | Sense::BeforeLast
            )
            .then_some(())
        };
        let start = self.scan.skip(value.tokens.start, Sense::The);
        let start = self.scan.pick(start, which).map_or(start, |((), end)| end);
        let (day, end) = self.scan.pick(start, |sense| match sense {
            Sense::Weekday { day, .. } => Some(day),
            _ => None,
        })?;
        (kind.has_day() && value.date().is_some() && !is_weekday(value, day)).then_some((None, start..end))
    }

    /// True of a word that names a day by itself.
    fn names_day(&self, token: usize) -> bool {
        let names = |sense| {
            matches!(
                sense,
                Sense::Weekday { .. }
                    | Sense::Month { .. }
                    | Sense::Day(_)
                    | Sense::Fixed { .. }
                    | Sense::Shifted { .. }
            )
            .then_some(())
        };
        self.scan.pick(token, names).is_some() || self.scan.kind(token) == Some(TokenKind::Digits)
    }

    /// The part of a value that may begin with the token.
    fn part_at(&self, token: usize) -> Option<(ValuePart, Range<usize>)> {
        let scan = self.scan;
        // An article is not a number by itself, nor is a word that looks like one: the "ein" of "lagert ... ein".
        let is_article = |end: usize| end == token + 1 && self.is_article(token);
        if let Some(number) = scan.numbers.get(token)?.as_ref().filter(|number| !is_article(number.end)) {
            let part = if self.counts(number.end) { ValuePart::Count } else { ValuePart::Number };
            return Some((part, number.start.min(token)..number.end));
        }
        let is_glued = scan.is_glued(token);
        let (part, end) = scan.pick(token, |sense| {
            Some(match sense {
                Sense::Half | Sense::HalfBehind | Sense::Quarter | Sense::Quarters(_) | Sense::FractionOf => {
                    ValuePart::Fraction
                }
                Sense::Multiplier(_) | Sense::LastMultiplier(_) | Sense::Dozen => ValuePart::Scale,
                Sense::GluedMultiplier(_) if is_glued => ValuePart::Scale,
                Sense::Month { weak: false, .. } => ValuePart::Month,
                Sense::Weekday { weak: false, day } => ValuePart::Weekday(day),
                Sense::Fixed { .. } => ValuePart::Fixed,
                Sense::Next | Sense::AfterNext => ValuePart::Next,
                Sense::Last | Sense::BeforeLast | Sense::Final => ValuePart::Last,
                Sense::Unit(unit) | Sense::Length { unit, .. } => ValuePart::Time(unit),
                Sense::GluedUnit(unit) if is_glued => ValuePart::Time(unit),
                Sense::Measure(_) => ValuePart::Measure,
                Sense::Currency { .. } | Sense::Cent(_) => ValuePart::Currency,
                Sense::Meridiem(_) => ValuePart::HalfOfDay,
                Sense::Clock(_) => ValuePart::Clock,
                Sense::Minus => ValuePart::Minus,
                Sense::Every => ValuePart::Every,
                Sense::PartOf => ValuePart::Factor,
                Sense::OtherAmount => ValuePart::OtherAmount,
                _ => return None,
            })
        })?;
        Some((part, token..end))
    }

    /// True if a number counts the word behind it: "2 tickets", 2枚.
    fn counts(&self, end: usize) -> bool {
        const OF_TIME: [&str; 8] = ["年", "月", "日", "時", "分", "秒", "円", "週"];
        let scan = self.scan;
        if scan.kind(end) != Some(TokenKind::Word) {
            return false;
        }
        if scan.lexicon.kanji_numbers {
            return numeral::is_counter(scan.text(end), scan.text(end + 1)) && !OF_TIME.contains(&scan.text(end));
        }
        let is_empty = |sense| {
            matches!(
                sense,
                Sense::Function
                    | Sense::Please
                    | Sense::At
                    | Sense::Around
                    | Sense::On
                    | Sense::And
                    | Sense::Of
                    | Sense::In
                    | Sense::Meridiem(_)
                    | Sense::Part(_)
                    | Sense::OrdinalSuffix
            )
            .then_some(())
        };
        scan.pick(end, is_empty).is_none() && self.part_at_word(end).is_none()
    }

    fn is_article(&self, token: usize) -> bool {
        self.scan.kind(token) == Some(TokenKind::Word)
            && self.scan.pick(token, |sense| (sense == Sense::A).then_some(())).is_some()
    }

    fn part_at_word(&self, token: usize) -> Option<ValuePart> {
        if self.scan.numbers.get(token)?.is_some() {
            return Some(ValuePart::Number);
        }
        self.part_at(token).map(|(part, _)| part)
    }

    fn is_own_before(
        &self,
        kind: ValueKind,
        part: ValuePart,
        value: &RecognizedValue<'_>,
        linked: Option<Link>,
    ) -> bool {
        match part {
            ValuePart::Number if kind.has_day() && linked.is_none() => !self.is_relative_day(value.tokens.start),
            // "Ten to fifteen minutes": the unit applies to both numbers.
            ValuePart::Number if linked == Some(Link::To) => self.goes_up_to(kind, value, true),
            ValuePart::Number => true,
            ValuePart::Minus => kind.is_amount() && linked.is_none(),
            ValuePart::Factor => kind.is_amount() && matches!(linked, None | Some(Link::Joint)),
            ValuePart::Every => matches!(kind, ValueKind::Day | ValueKind::Moment) && linked.is_none(),
            ValuePart::Month | ValuePart::Fixed => kind.has_day(),
            ValuePart::Weekday(day) => kind.has_day() && linked != Some(Link::To) && !is_weekday(value, day),
            ValuePart::Next | ValuePart::Last => {
                let ahead = value.date().map(|date| date >= self.now.date());
                kind == ValueKind::Day
                    && linked.is_none()
                    && ahead.is_some_and(|ahead| ahead != (part == ValuePart::Next))
            }
            ValuePart::Time(unit) => {
                // "Two weeks before May 3", "the week of May 3".
                kind.has_day() && unit >= SHORTEST_OF_CALENDAR && matches!(linked, Some(Link::Beside | Link::Joint))
                    || kind == ValueKind::Length && linked.is_none()
            }
            ValuePart::Fraction | ValuePart::Scale => kind.is_amount() && linked.is_none_or(|link| link != Link::To),
            ValuePart::Currency => kind == ValueKind::Money && linked.is_none(),
            ValuePart::Count
            | ValuePart::Measure
            | ValuePart::HalfOfDay
            | ValuePart::Clock
            | ValuePart::OtherAmount => false,
        }
    }

    fn is_own_behind(
        &self,
        kind: ValueKind,
        part: ValuePart,
        value: &RecognizedValue<'_>,
        linked: Option<Link>,
    ) -> bool {
        match part {
            ValuePart::Number if linked == Some(Link::To) => {
                kind == ValueKind::Day && self.goes_up_to(kind, value, false)
            }
            ValuePart::Number => true,
            ValuePart::Fraction => linked != Some(Link::To),
            ValuePart::Scale => kind.is_amount() && linked.is_none(),
            ValuePart::Month | ValuePart::Fixed => kind.has_day(),
            ValuePart::Weekday(day) => kind.has_day() && linked != Some(Link::To) && !is_weekday(value, day),
            ValuePart::Next | ValuePart::Last => self.is_period_behind(kind, part, value, linked),
            ValuePart::Time(unit) => match kind {
                ValueKind::Day | ValueKind::Moment => unit >= SHORTEST_OF_CALENDAR && linked.is_none(),
                ValueKind::Hour => linked.is_none(),
                ValueKind::Length => true,
                // If the slot has a unit, the number was converted to it.
                ValueKind::Number => value.reading.unit.is_none() && is_direct(linked),
                ValueKind::Money | ValueKind::Percent => false,
            },
            ValuePart::Measure => kind == ValueKind::Number && value.reading.unit.is_none() && is_direct(linked),
            ValuePart::Currency => kind == ValueKind::Money && linked.is_none(),
            ValuePart::HalfOfDay => matches!(kind, ValueKind::Hour | ValueKind::Moment) && linked.is_none(),
            ValuePart::Clock => matches!(kind, ValueKind::Hour | ValueKind::Moment) && linked.is_none(),
            ValuePart::OtherAmount => kind.is_amount() && linked.is_none(),
            ValuePart::Count | ValuePart::Minus | ValuePart::Every | ValuePart::Factor => false,
        }
    }

    /// "Ten to fifteen minutes", "May 5 to 9": both numbers have one unit or month. The other side must not be a day
    /// ("from Friday to 9 May"), and a number before a day must begin a range ("from 5 to 9 May", not "order 5 to 9
    /// May").
    fn goes_up_to(&self, kind: ValueKind, value: &RecognizedValue<'_>, is_last: bool) -> bool {
        let is_day = |token: usize| self.readings().days.has_beside(token, &value.tokens);
        let begins = |token: usize| {
            let begins = |sense| matches!(sense, Sense::From | Sense::RangeFrom).then_some(());
            self.scan.pick(token, begins).is_some()
        };
        let start = value.tokens.start;
        match kind {
            ValueKind::Length | ValueKind::Money => true,
            ValueKind::Day if is_last && !(start.saturating_sub(LONGEST)..start).any(begins) => false,
            ValueKind::Day => !(0..self.scan.len()).any(is_day),
            _ => false,
        }
    }

    /// "5 July next year": the period of a day, unless it only repeats what the day means anyway.
    fn is_period_behind(
        &self,
        kind: ValueKind,
        part: ValuePart,
        value: &RecognizedValue<'_>,
        linked: Option<Link>,
    ) -> bool {
        let Some((_, tokens)) = self.part_at(value.tokens.end) else { return false };
        let is_period =
            |sense| matches!(sense, Sense::Unit(TimeUnit::Week | TimeUnit::Month | TimeUnit::Year)).then_some(());
        let has_period = self.scan.pick(tokens.end, is_period).is_some();
        // "Noël dernier": the word stands behind its noun.
        let is_behind_noun = !self.scan.lexicon.english && !self.scan.lexicon.kanji_numbers && {
            let ahead = value.date().map(|date| date >= self.now.date());
            ahead.is_some_and(|ahead| ahead != (part == ValuePart::Next))
        };
        kind.has_day() && linked.is_none() && (has_period || is_behind_noun)
    }

    /// "Tomorrow", "today": a number before such a day is not part of it.
    fn is_relative_day(&self, token: usize) -> bool {
        let is = |sense| matches!(sense, Sense::Day(_) | Sense::Tonight | Sense::Weekend | Sense::This).then_some(());
        self.scan.pick(token, is).is_some()
    }

    /// True if a reading of another kind contains these tokens.
    fn is_of_another(&self, kind: ValueKind, tokens: &Range<usize>, value: &Range<usize>) -> bool {
        let readings = self.readings();
        let has = |owners: &Owners| owners.has_beside(tokens.start, value) || owners.has_beside(tokens.end - 1, value);
        let of_amount = || has(&readings.amounts);
        match kind {
            ValueKind::Day => has(&readings.hours) || of_amount(),
            ValueKind::Hour => has(&readings.days) || has(&readings.lengths) || of_amount(),
            ValueKind::Moment => of_amount(),
            ValueKind::Length => has(&readings.days) || has(&readings.hours) || of_amount(),
            ValueKind::Money | ValueKind::Number | ValueKind::Percent => {
                has(&readings.days) || has(&readings.hours) || has(&readings.lengths)
            }
        }
    }

    /// A sign that changes the number behind it and does not belong to the text before it: the point of `.5`.
    fn is_sign_before(&self, start: usize) -> bool {
        let scan = self.scan;
        if start == 0 {
            return false;
        }
        let is_free = !scan.is_glued(start - 1) || scan.kind(start - 2) == Some(TokenKind::Symbol);
        let is_sign = scan.is_glued(start)
            && is_free
            && matches!(scan.text(start - 1), "." | "," | "-" | "/" | "*" | "^" | "<" | ">" | "±");
        // 東京-5: a word without spaces around it.
        let is_minus = scan.lexicon.kanji_numbers && scan.is_symbol(start - 1, "-") && scan.is_glued(start);
        is_sign || is_minus || self.is_decimal_word(start - 1)
    }

    /// "point" of "point five".
    fn is_decimal_word(&self, token: usize) -> bool {
        let language = self.scan.lexicon.number_words.as_ref();
        language.is_some_and(|language| language.check_decimal_separator(self.scan.text(token)).is_some())
    }

    /// Digits that are attached to a number by letters or a sign, and a digit of another script: `0x` of `0x10`, `1_` of
    /// `1_000`.
    fn digits_before(&self, kind: ValueKind, start: usize) -> Option<Range<usize>> {
        let scan = self.scan;
        if kind != ValueKind::Number || scan.kind(start) != Some(TokenKind::Digits) || !scan.is_glued(start) {
            return None;
        }
        let before = start.checked_sub(1)?;
        let is_symbol = scan.kind(before) == Some(TokenKind::Symbol);
        if is_symbol && scan.text(before).chars().any(char::is_numeric) {
            return Some(before..start);
        }
        let from = start.checked_sub(2)?;
        let is_joint =
            if is_symbol { matches!(scan.text(before), "'" | "’" | "_") } else { scan.text(before).is_ascii() };
        let is_attached = scan.is_glued(before) && scan.kind(from) == Some(TokenKind::Digits);
        (is_joint && is_attached && scan.kind(before) != Some(TokenKind::Digits)).then_some(from..start)
    }

    /// A sign that is attached only to the number before it, one that does not separate thousands, and a digit of
    /// another script: `9-`, `1,5` in English, `1_000`, `5٠`.
    fn sign_behind(&self, kind: ValueKind, end: usize) -> Option<Range<usize>> {
        let scan = self.scan;
        if kind.is_amount() && scan.is_glued(end) && scan.text(end).chars().any(char::is_numeric) {
            return (scan.kind(end) == Some(TokenKind::Symbol)).then_some(end..end + 1);
        }
        let is_number = kind == ValueKind::Number && end > 0 && scan.kind(end - 1) == Some(TokenKind::Digits);
        let is_sign = scan.is_glued(end) && matches!(scan.text(end), "-" | "/" | "*" | "^" | "<" | ">");
        let is_digits = scan.is_glued(end + 1) && scan.kind(end + 1) == Some(TokenKind::Digits);
        let is_comma = is_number && scan.is_glued(end) && matches!(scan.text(end), "," | "'" | "’" | "_") && is_digits;
        let is_free = is_number && is_sign && !scan.is_glued(end + 1);
        (is_free || is_comma).then_some(end..end + 1 + usize::from(is_comma))
    }

    /// Letters that are attached to a number: `10W`.
    fn letters_behind(&self, kind: ValueKind, end: usize) -> Option<Range<usize>> {
        let scan = self.scan;
        let is_of_digits = end > 0 && scan.kind(end - 1) == Some(TokenKind::Digits);
        let is_word = scan.kind(end) == Some(TokenKind::Word) && scan.is_glued(end) && scan.text(end).is_ascii();
        let is_known = || {
            let known = |sense| {
                matches!(
                    sense,
                    Sense::Unit(_)
                        | Sense::GluedUnit(_)
                        | Sense::Measure(_)
                        | Sense::Currency { .. }
                        | Sense::Cent(_)
                        | Sense::GluedCent(_)
                        | Sense::Percent
                        | Sense::By
                        | Sense::OrdinalSuffix
                )
                .then_some(())
            };
            scan.pick(end, known).is_some()
        };
        let is_number = matches!(kind, ValueKind::Number | ValueKind::Money | ValueKind::Percent);
        (is_number && is_of_digits && is_word && !is_known()).then_some(end..end + 1)
    }

    /// The link between a value and the words behind it, and the token after the link.
    fn link_behind(&self, kind: ValueKind, at: usize) -> Option<(Link, usize)> {
        let scan = self.scan;
        if matches!(scan.text(at), "-" | "/") || scan.joins(at, ".") || scan.is_symbol(at, "の") {
            return Some((Link::Direct, at + 1));
        }
        if kind.has_day() && scan.is_symbol(at, ",") {
            return Some((Link::Comma, at + 1));
        }
        if kind.is_amount() && self.is_decimal_word(at) {
            return Some((Link::Joint, at + 1));
        }
        scan.pick(at, |sense| link_of(kind, sense))
    }

    /// The link between a value and the words before it, and the token where the link begins.
    fn link_before(&self, kind: ValueKind, at: usize) -> Option<(Link, usize)> {
        let scan = self.scan;
        let before = at.checked_sub(1)?;
        if matches!(scan.text(before), "-" | "/") || scan.joins(before, ".") || scan.is_symbol(before, "の") {
            return Some((Link::Direct, before));
        }
        (at.saturating_sub(LONGEST)..at).find_map(|from| {
            let (link, end) = scan.pick(from, |sense| link_of(kind, sense))?;
            (end == at).then_some((link, from))
        })
    }
}

/// The link between a value and the words beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// A hyphen, a slash, a point.
    Direct,
    /// "and", "of", an article.
    Joint,
    Comma,
    /// "before", "after".
    Beside,
    To,
}

const fn is_direct(linked: Option<Link>) -> bool {
    matches!(linked, None | Some(Link::Direct))
}

fn link_of(kind: ValueKind, sense: Sense) -> Option<Link> {
    Some(match sense {
        Sense::And | Sense::Of | Sense::A | Sense::The => Link::Joint,
        Sense::In if kind.has_day() => Link::Joint,
        Sense::BeforeDay | Sense::AfterDay if kind.has_day() => Link::Beside,
        Sense::To | Sense::Either if matches!(kind, ValueKind::Length | ValueKind::Money) => Link::To,
        Sense::UpTo if matches!(kind, ValueKind::Day | ValueKind::Length | ValueKind::Money) => Link::To,
        Sense::MultipliedBy if kind.is_amount() => Link::Joint,
        // "60 by 40 cm" is read as lengths; "2 x 20 euros" is not read as 40.
        Sense::By if matches!(kind, ValueKind::Length | ValueKind::Money) => Link::Joint,
        // "Tuesday or Wednesday at 3pm": days without a time are separate alternatives.
        Sense::Either if kind == ValueKind::Moment => Link::Joint,
        _ => return None,
    })
}

fn is_weekday(value: &RecognizedValue<'_>, day: i8) -> bool {
    value.date().is_some_and(|date| date.weekday().to_monday_one_offset() == day)
}
