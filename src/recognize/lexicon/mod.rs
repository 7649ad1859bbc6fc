//! What words mean, as data: one table per language, read by grammars that know no language.
//!
//! A language without a table still has digits, ISO forms and symbols; where `text2num` knows the language, number
//! words too. To add a language: a file with one table, and a line in [`Lexicon::for_language`].

use std::{collections::HashMap, fmt};

use text2num::Language;

use crate::{
    module::{reading::Unit as Measure, settings::DateOrder},
    text::{tag, tokens::folded_tokens},
};

mod de;
mod en;
mod es;
mod fr;
mod ja;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// A part of the day, for hours that are said without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// A part of a month, a week or a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    Middle,
    End,
}

/// How a currency is written, which says on which side of the amount it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// `$`, `US$`: before or after.
    Symbol,
    /// `USD`: before or after.
    Code,
    /// "dollars": after.
    Word,
    /// "won": after, and it may well mean something else.
    Weak,
}

impl Written {
    pub(super) const fn stands_before(self) -> bool {
        matches!(self, Self::Symbol | Self::Code)
    }
}

/// One thing that a word or phrase may mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sense {
    /// `weak`: the word is a common one too ("may", "sat").
    Month {
        month: i8,
        weak: bool,
    },
    /// 1 is Monday.
    Weekday {
        day: i8,
        weak: bool,
    },
    /// Days from today.
    Day(i32),
    /// Today, in the evening.
    Tonight,
    Now,
    /// "Christmas": a day of every year.
    Fixed {
        month: i8,
        day: i8,
    },
    Weekend,
    Part(Part),
    /// "noon": this hour.
    Clock(i8),
    /// After the hour: true for pm.
    Meridiem(bool),
    /// Anywhere: what is done at that part of the day ("dinner", "wake me").
    Suggests(Part),
    /// Before the hour ("午後"): true for pm.
    MeridiemBefore(bool),
    OClock,
    /// "half" of "half past": of anything, too.
    Half,
    /// German "halb drei": half an hour before the hour.
    HalfTo,
    /// "y media", "半": half an hour after the hour, said behind it.
    HalfBehind,
    Quarter,
    Past,
    To,
    Unit(Unit),
    /// "h": a unit only where it is glued to the digits.
    GluedUnit(Unit),
    /// "kg": a unit of anything but time.
    Measure(Measure),
    /// Between two dimensions: "60 by 40 cm".
    By,
    This,
    Next,
    Last,
    /// "来月": so many of a unit from the one that is now.
    Shifted {
        unit: Unit,
        steps: i64,
    },
    /// "令和": its first year less one.
    Era(i64),
    In,
    Ago,
    /// "from now", "later".
    Hence,
    /// "from tomorrow": the start of what is counted from.
    From,
    The,
    Of,
    And,
    A,
    /// Before a date that lies behind.
    Since,
    /// "the end of April".
    Edge(Edge),
    /// Before a time of day, even a bare hour.
    At,
    /// Before a time of day, among other things: "by", "around".
    Around,
    On,
    /// Words before a month or a day of the month ("by March", "until the third").
    Until,
    /// After the digits of a day or rank: "th".
    OrdinalSuffix,
    /// "last" as a rank.
    Final,
    Currency {
        code: &'static str,
        written: Written,
    },
    /// A hundredth of a currency.
    Cent(Option<&'static str>),
    Percent,
    /// "million", in digits with words.
    Multiplier(i64),
    /// "k": a multiplier only where it is glued to the digits.
    GluedMultiplier(i64),
    Dozen,
    Couple,
    /// "anderthalb": so many halves.
    Halves(i8),
    /// "ひとつ": this many of something.
    Count(i64),
    Minus,
    /// Said before a pronoun: "this one", "which one".
    Determiner,
    /// A word that no noun begins with, so that a number before it stands alone.
    Function,
    Yes,
    No,
    /// "true", "false".
    Truth(bool),
    /// "on", "off".
    Switch(bool),
    /// "with", "without".
    Having(bool),
    Please,
}

/// The words after the first, and what all of them mean.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) rest: Box<[Box<str>]>,
    pub(super) sense: Sense,
}

pub(super) struct Lexicon {
    phrases: HashMap<Box<str>, Vec<Phrase>>,
    pub(super) number_words: Option<Language>,
    pub(super) english: bool,
    /// Which of day and month comes first in `3/4/2026`.
    pub(super) order: DateOrder,
    /// True where hours are counted to 12: "at 3" may be the afternoon.
    pub(super) twelve_hours: bool,
    /// True where `1.000,5` is written for what English writes `1,000.5`.
    pub(super) comma_decimal: bool,
    /// True where kanji numerals are numbers wherever they stand.
    pub(super) kanji_numbers: bool,
    /// ISO 3166 code of the country whose phone numbers and dollars are meant.
    pub(super) region: String,
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Lexicon")
            .field("phrases", &self.phrases.len())
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

/// One line of a language's table: words and phrases, apart by `|`, and what they mean.
type Line = (&'static str, Sense);

impl Lexicon {
    /// The lexicon of a BCP 47 tag: `en`, `en-GB`, `pt_BR`. An unknown language has digits only. Dates in digits are in
    /// this order if one is given, else in the region's.
    pub(super) fn for_language(tag: &str, order: Option<DateOrder>) -> Self {
        let language = tag::language(tag);
        let language = language.as_str();
        let region = tag::region(tag).unwrap_or_else(|| default_region(language).to_owned());
        let tables: &[&[Line]] = match language {
            "en" => &[COMMON, en::WORDS],
            "de" => &[COMMON, de::WORDS],
            "es" => &[COMMON, es::WORDS],
            "fr" => &[COMMON, fr::WORDS],
            "ja" => &[COMMON, ja::WORDS],
            _ => &[COMMON],
        };
        let english = language == "en";
        let month_first = english && matches!(region.as_str(), "US" | "PH" | "");
        let mut lexicon = Self {
            phrases: HashMap::new(),
            number_words: number_words(language),
            english,
            order: order.unwrap_or(if month_first { DateOrder::MonthFirst } else { DateOrder::DayFirst }),
            twelve_hours: english,
            comma_decimal: matches!(
                language,
                "de" | "es"
                    | "fr"
                    | "it"
                    | "nl"
                    | "pt"
                    | "da"
                    | "sv"
                    | "nb"
                    | "no"
                    | "fi"
                    | "pl"
                    | "cs"
                    | "ru"
                    | "uk"
                    | "tr"
                    | "el"
                    | "id"
            ) && !matches!(region.as_str(), "MX" | "CH" | "LI"),
            kanji_numbers: matches!(language, "ja" | "zh"),
            region,
        };
        for (words, sense) in tables.iter().flat_map(|table| table.iter()) {
            for phrase in words.split('|') {
                lexicon.insert(phrase, lexicon.localized(*sense));
            }
        }
        lexicon
    }

    /// `$` is the dollar of the region.
    fn localized(&self, sense: Sense) -> Sense {
        match (sense, self.region.as_str()) {
            (Sense::Currency { code: "$", written }, region) => {
                let code = match region {
                    "CA" => "CAD",
                    "AU" => "AUD",
                    "NZ" => "NZD",
                    "SG" => "SGD",
                    "HK" => "HKD",
                    "MX" => "MXN",
                    "AR" => "ARS",
                    "CL" => "CLP",
                    "CO" => "COP",
                    _ => "USD",
                };
                Sense::Currency { code, written }
            }
            (Sense::Currency { code: "JPY", written: Written::Symbol }, "CN") => {
                Sense::Currency { code: "CNY", written: Written::Symbol }
            }
            (sense, _) => sense,
        }
    }

    fn insert(&mut self, phrase: &str, sense: Sense) {
        let mut words = folded_tokens(phrase).into_iter();
        if let Some(first) = words.next() {
            let rest: Box<[Box<str>]> = words.collect();
            self.phrases.entry(first).or_default().push(Phrase { rest, sense });
        }
    }

    /// What begins with this word.
    pub(super) fn phrases(&self, first: &str) -> &[Phrase] {
        self.phrases.get(first).map_or(&[], Vec::as_slice)
    }
}

fn number_words(language: &str) -> Option<Language> {
    match language {
        "en" => Some(Language::english()),
        "de" => Some(Language::german()),
        "es" => Some(Language::spanish()),
        "fr" => Some(Language::french()),
        "it" => Some(Language::italian()),
        "nl" => Some(Language::dutch()),
        "pt" => Some(Language::portugese()),
        "da" => Some(Language::danish()),
        _ => None,
    }
}

fn default_region(language: &str) -> &'static str {
    match language {
        "de" => "DE",
        "es" => "ES",
        "fr" => "FR",
        "it" => "IT",
        "nl" => "NL",
        "pt" => "PT",
        "da" => "DK",
        "sv" => "SE",
        "ja" => "JP",
        "ko" => "KR",
        "zh" => "CN",
        "pl" => "PL",
        "ru" => "RU",
        "tr" => "TR",
        "hi" => "IN",
        _ => "US",
    }
}

const fn symbol(code: &'static str) -> Sense {
    Sense::Currency { code, written: Written::Symbol }
}

const fn code(code: &'static str) -> Sense {
    Sense::Currency { code, written: Written::Code }
}

const fn currency(code: &'static str) -> Sense {
    Sense::Currency { code, written: Written::Word }
}

const fn weak_currency(code: &'static str) -> Sense {
    Sense::Currency { code, written: Written::Weak }
}

const fn month(month: i8) -> Sense {
    Sense::Month { month, weak: false }
}

const fn weekday(day: i8) -> Sense {
    Sense::Weekday { day, weak: false }
}

/// What is written alike in every language. Codes that are English words (`TRY`, `ALL`) are left out.
const COMMON: &[Line] = &[
    ("$", symbol("$")),
    ("us$|u$s", symbol("USD")),
    ("c$|ca$", symbol("CAD")),
    ("a$|au$", symbol("AUD")),
    ("hk$", symbol("HKD")),
    ("r$", symbol("BRL")),
    ("€", symbol("EUR")),
    ("£", symbol("GBP")),
    ("¥", symbol("JPY")),
    ("₹", symbol("INR")),
    ("₩", symbol("KRW")),
    ("₽", symbol("RUB")),
    ("₺", symbol("TRY")),
    ("₫", symbol("VND")),
    ("₪", symbol("ILS")),
    ("₴", symbol("UAH")),
    ("₦", symbol("NGN")),
    ("₱", symbol("PHP")),
    ("฿", symbol("THB")),
    ("₿", symbol("BTC")),
    ("元", currency("CNY")),
    ("円", currency("JPY")),
    ("원", currency("KRW")),
    ("usd", code("USD")),
    ("eur", code("EUR")),
    ("gbp", code("GBP")),
    ("jpy", code("JPY")),
    ("chf", code("CHF")),
    ("cad", code("CAD")),
    ("aud", code("AUD")),
    ("nzd", code("NZD")),
    ("cny|rmb", code("CNY")),
    ("inr", code("INR")),
    ("krw", code("KRW")),
    ("brl", code("BRL")),
    ("mxn", code("MXN")),
    ("sek", code("SEK")),
    ("nok", code("NOK")),
    ("dkk", code("DKK")),
    ("pln", code("PLN")),
    ("czk", code("CZK")),
    ("huf", code("HUF")),
    ("rub", code("RUB")),
    ("zar", code("ZAR")),
    ("sgd", code("SGD")),
    ("hkd", code("HKD")),
    ("thb", code("THB")),
    ("idr", code("IDR")),
    ("php", code("PHP")),
    ("myr", code("MYR")),
    ("vnd", code("VND")),
    ("ils", code("ILS")),
    ("aed", code("AED")),
    ("uah", code("UAH")),
    ("twd", code("TWD")),
    ("btc", code("BTC")),
    ("%|٪|‰", Sense::Percent),
    ("@", Sense::At),
    ("am|a.m", Sense::Meridiem(false)),
    ("pm|p.m", Sense::Meridiem(true)),
    ("k", Sense::GluedMultiplier(1_000)),
    ("h", Sense::GluedUnit(Unit::Hour)),
    ("m", Sense::GluedUnit(Unit::Minute)),
    ("s", Sense::GluedUnit(Unit::Second)),
    ("d", Sense::GluedUnit(Unit::Day)),
    ("min", Sense::Unit(Unit::Minute)),
    ("mg", Sense::Measure(Measure::Milligrams)),
    ("g|gr", Sense::Measure(Measure::Grams)),
    ("kg|kgs|㎏", Sense::Measure(Measure::Kilograms)),
    ("oz", Sense::Measure(Measure::Ounces)),
    ("lb|lbs", Sense::Measure(Measure::Pounds)),
    ("mm", Sense::Measure(Measure::Millimetres)),
    ("cm", Sense::Measure(Measure::Centimetres)),
    ("m", Sense::Measure(Measure::Metres)),
    ("km", Sense::Measure(Measure::Kilometres)),
    ("ft", Sense::Measure(Measure::Feet)),
    ("ml", Sense::Measure(Measure::Millilitres)),
    ("cl", Sense::Measure(Measure::Centilitres)),
    ("l", Sense::Measure(Measure::Litres)),
    ("x|×", Sense::By),
    ("true", Sense::Truth(true)),
    ("false", Sense::Truth(false)),
];
