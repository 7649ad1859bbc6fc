//! The meanings of words in a module's language and region.
//!
//! In a language without a pack, digits, ISO forms and symbols are still read, and number words if `text2num` knows the
//! language.

use std::fmt;

use crate::{
    language::{
        Language,
        facts::{self, Facts},
        phrases::{Phrase, Phrases},
        values,
    },
    module::settings::DateOrder,
    text::tag,
};

pub(super) use crate::language::values::{CurrencyNotation, DayPart, PeriodPart, Sense, TimeUnit};

pub(super) struct Lexicon {
    own: Option<&'static Phrases<Sense>>,
    /// Words of the calendar that may be misspelt.
    calendar: Vec<(&'static str, &'static Phrase<Sense>)>,
    pub(super) number_words: Option<text2num::Language>,
    /// Endings of number words that add a half.
    pub(super) half_endings: Vec<&'static str>,
    pub(super) english: bool,
    /// Whether the day or the month comes first in `3/4/2026`.
    pub(super) order: DateOrder,
    /// True if hours are counted to 12: "at 3" may be the afternoon.
    pub(super) twelve_hours: bool,
    /// True if `1.000,5` means what English writes `1,000.5`.
    pub(super) comma_decimal: bool,
    /// True if a plain space separates groups of digits: "1 250 euros".
    pub(super) space_groups: bool,
    /// Lengths in days that mean whole weeks, today counted.
    pub(super) days_of_weeks: &'static [i64],
    /// True if kanji numerals are numbers in any position.
    pub(super) kanji_numbers: bool,
    /// ISO 3166 code of the country whose phone numbers and dollars are meant.
    pub(super) region: String,
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lexicon").field("region", &self.region).finish_non_exhaustive()
    }
}

impl Lexicon {
    /// The lexicon of a BCP 47 tag: `en`, `en-GB`, `pt_BR`. An unknown language has digits only. Dates in digits are in
    /// this order if one is given, else in the region's.
    pub(super) fn for_language(tag: &str, order: Option<DateOrder>) -> Self {
        let (code, facts) = (tag::language(tag), Facts::of(tag));
        let region = facts.region(tag);
        let own = Language::of(tag).map(|language| &language.values);
        let usual = if facts.is_month_first(&region) { DateOrder::MonthFirst } else { DateOrder::DayFirst };
        Self {
            own,
            calendar: own.map_or_else(Vec::new, |own| own.of_one_word().filter(is_forgiven).collect()),
            number_words: text2num::get_interpreter_for(&code),
            half_endings: own.map_or_else(Vec::new, |own| {
                let endings = own.of_one_word().filter(|(_, phrase)| phrase.meaning == Sense::HalfEnding);
                endings.map(|(word, _)| word).collect()
            }),
            english: code == Language::english().code,
            order: order.unwrap_or(usual),
            twelve_hours: facts.twelve_hours,
            comma_decimal: facts.has_decimal_comma(&region),
            space_groups: facts.decimal_comma,
            days_of_weeks: &facts.days_of_weeks,
            kanji_numbers: facts.kanji_numbers,
            region,
        }
    }

    /// The phrases that begin with this word.
    pub(super) fn phrases(&self, first: &str) -> impl Iterator<Item = &'static Phrase<Sense>> {
        let own = self.own.map_or(&[][..], |own| own.beginning_with(first));
        values::common().beginning_with(first).iter().chain(own)
    }

    /// The day, month or part of the day that is one edit away from a word without another meaning ("thrusday"). The
    /// first letter is seldom wrong, and distinguishes "right" from "night".
    pub(super) fn misspelt(&self, word: &str) -> Option<&'static Phrase<Sense>> {
        let is_near = |known: &str| {
            known.len().abs_diff(word.len()) <= 1
                && known.chars().next() == word.chars().next()
                && strsim::osa_distance(known, word) == 1
        };
        let mut near = self.calendar.iter().filter(|(known, _)| is_near(known)).map(|(_, phrase)| *phrase);
        near.next().filter(|first| near.all(|other| other.meaning == first.meaning))
    }

    /// A symbol has the meaning of the region, and so does `$`, in symbol or word.
    pub(super) fn localized(&self, sense: Sense) -> Sense {
        match sense {
            Sense::Currency { code, written } if written == CurrencyNotation::Symbol || code == facts::DOLLAR => {
                Sense::Currency { code: facts::regional(code, &self.region), written }
            }
            Sense::Cent(Some(code)) => Sense::Cent(Some(facts::regional(code, &self.region))),
            // A hundredth of the region's currency.
            Sense::Cent(None) => Sense::Cent(facts::own(facts::DOLLAR, &self.region)),
            Sense::Coin { hundredths, code } => Sense::Coin { hundredths, code: facts::regional(code, &self.region) },
            sense => sense,
        }
    }
}

/// True of a word that is long enough to be distinct, and not a common word as well ("march").
fn is_forgiven((word, phrase): &(&str, &Phrase<Sense>)) -> bool {
    const LETTERS: usize = 6;
    let is_of_calendar = matches!(
        phrase.meaning,
        Sense::Month { weak: false, .. }
            | Sense::Weekday { weak: false, .. }
            | Sense::Day(_)
            | Sense::Tonight
            | Sense::Weekend
            | Sense::Part(_)
    );
    is_of_calendar && word.chars().count() >= LETTERS
}
