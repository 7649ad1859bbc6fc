//! The meanings of words in dates, times, numbers and amounts.

use std::{collections::BTreeMap, str::FromStr, sync::LazyLock};

use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};

use super::{PackError, facts, phrases::Phrases, units::Unit as Measure};
use crate::text::tokens::folded_tokens;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl From<TimeUnit> for Measure {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Second => Self::Seconds,
            TimeUnit::Minute => Self::Minutes,
            TimeUnit::Hour => Self::Hours,
            TimeUnit::Day => Self::Days,
            TimeUnit::Week => Self::Weeks,
            TimeUnit::Month => Self::Months,
            TimeUnit::Year => Self::Years,
        }
    }
}

/// A part of the day, which decides an hour without am or pm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayPart {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// A part of a month, a week or a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodPart {
    Start,
    Middle,
    End,
}

/// How a currency is written, which decides on which side of the amount it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurrencyNotation {
    /// `$`, `US$`: before or after.
    Symbol,
    /// `USD`: before or after.
    Code,
    /// "dollars": after.
    Word,
    /// "won": after, and it may also mean something else.
    Weak,
}

impl CurrencyNotation {
    #[must_use]
    pub const fn stands_before(self) -> bool {
        matches!(self, Self::Symbol | Self::Code)
    }
}

/// The ISO 4217 code of a currency, or [`facts::DOLLAR`].
pub type Code = &'static str;

/// A possible meaning of a word or phrase. Packs write senses without a value by their name alone.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// `weak`: the word is also a common word ("may", "sat").
    #[serde(skip)]
    Month {
        month: i8,
        weak: bool,
    },
    /// 1 is Monday.
    #[serde(skip)]
    Weekday {
        day: i8,
        weak: bool,
    },
    /// Days from today.
    #[serde(skip)]
    Day(i32),
    /// Today, in the evening.
    Tonight,
    Now,
    /// "Christmas": a fixed day of every year.
    #[serde(skip)]
    Fixed {
        month: i8,
        day: i8,
    },
    Weekend,
    #[serde(skip)]
    Part(DayPart),
    /// "noon": this hour.
    #[serde(skip)]
    Clock(i8),
    /// After the hour: true for pm.
    #[serde(skip)]
    Meridiem(bool),
    /// In any position: something that is done at that part of the day ("dinner", "wake me").
    #[serde(skip)]
    Suggests(DayPart),
    /// Before the hour ("午後"): true for pm.
    #[serde(skip)]
    MeridiemBefore(bool),
    OClock,
    /// "half" of "half past"; also half of any other thing.
    Half,
    /// German "halb drei": half an hour before the hour.
    HalfTo,
    /// "y media", "半": half an hour after the hour, said behind it.
    HalfBehind,
    Quarter,
    /// "three quarters".
    #[serde(skip)]
    Quarters(i8),
    /// German "drei viertel acht": this many quarters of the hour before the named one are over.
    #[serde(skip)]
    QuartersInto(i8),
    Past,
    To,
    /// The same behind a quarter alone: "a quarter of eight".
    QuarterTo,
    #[serde(skip)]
    Unit(TimeUnit),
    /// "fortnight": a number of units in one word.
    #[serde(skip)]
    Length {
        unit: TimeUnit,
        count: i32,
    },
    /// "h": a unit only if it is glued to the digits.
    #[serde(skip)]
    GluedUnit(TimeUnit),
    /// "kg": a unit of anything except time.
    #[serde(skip)]
    Measure(Measure),
    /// Between two dimensions: "60 by 40 cm".
    By,
    This,
    Next,
    Last,
    /// "kommende": the nearest weekday, and the next period.
    Coming,
    /// "übernächste": one further than the next one; one further than the last one.
    AfterNext,
    BeforeLast,
    /// This many weeks after the day of the week before it: "Friday week".
    #[serde(skip)]
    WeeksLater(i64),
    /// "来月": a unit, by its distance from the current one.
    #[serde(skip)]
    Shifted {
        unit: TimeUnit,
        steps: i64,
    },
    /// "令和": the year before its first year.
    #[serde(skip)]
    Era(i64),
    In,
    Ago,
    /// The same before a length: German "vor".
    AgoBefore,
    /// "from now", "later".
    Hence,
    /// "from tomorrow": the start from which something is counted.
    From,
    /// "before", "after" a day from which others are counted: "two weeks before Christmas".
    BeforeDay,
    AfterDay,
    /// "surlendemain de": this many days after the day behind it.
    #[serde(skip)]
    DayFrom(i32),
    The,
    Of,
    And,
    A,
    /// Before a date in the past.
    Since,
    /// The same, but as often before a date in the future: Spanish "desde".
    SinceOrFrom,
    /// "any day": no day of the week is preferred.
    AnyDay,
    /// "the end of April".
    #[serde(skip)]
    Edge(PeriodPart),
    /// Before a time of day, even a bare hour.
    At,
    /// Before a time of day, among other things: "by", "around".
    Around,
    /// Before a time of day in digits with minutes, and before many other things: Spanish "a".
    BeforeClock,
    On,
    /// Before the first day of a range, but not before a single day: French "du".
    RangeFrom,
    /// Words before a month or a day of the month ("by March", "until the third").
    Until,
    /// After the digits of a day or rank: "th".
    OrdinalSuffix,
    /// "last" as a rank.
    Final,
    #[serde(skip)]
    Currency {
        code: Code,
        written: CurrencyNotation,
    },
    /// A hundredth of a currency.
    #[serde(skip)]
    Cent(Option<Code>),
    /// "p": the same, but only if it is glued to the digits.
    #[serde(skip)]
    GluedCent(Code),
    /// "fiver": a coin or a note, with its value in hundredths.
    #[serde(skip)]
    Coin {
        hundredths: i32,
        code: Code,
    },
    Percent,
    /// "million", which may follow digits.
    #[serde(skip)]
    Multiplier(i64),
    /// "k": a multiplier only if it is glued to the digits.
    #[serde(skip)]
    GluedMultiplier(i64),
    /// "grand": a multiplier only if no counted thing follows.
    #[serde(skip)]
    LastMultiplier(i64),
    Dozen,
    Couple,
    /// "thirds": the number before it says how many of these parts of a whole.
    FractionOf,
    /// "a few", "unas": more than one, but not a number.
    Vague,
    /// "einhalb": an ending of a number word that adds a half.
    HalfEnding,
    /// "anderthalb": this many halves.
    #[serde(skip)]
    Halves(i8),
    /// "ひとつ": this many of something.
    #[serde(skip)]
    Count(i64),
    /// "twice", "both": a count if one is looked for.
    #[serde(skip)]
    Times(i8),
    Minus,
    /// Before "menos" or "moins" that is not a minus: "al menos", "au moins".
    NoMinus,
    /// Said before a pronoun: "this one", "which one".
    Determiner,
    /// "every": all days or hours, rather than one.
    Every,
    /// "half of", "double": changes the amount behind it.
    PartOf,
    /// "times" between two amounts.
    MultipliedBy,
    /// "less", "and a bit" behind an amount: changes the amount.
    OtherAmount,
    /// "or" between two values of which one is meant.
    Either,
    /// "to" between two amounts: "ten to fifteen minutes".
    UpTo,
    /// A word with which no noun begins, so that a number before it counts nothing.
    Function,
    /// Part of an address behind a house number: "Lane", and in French, where it follows directly, "rue".
    Street,
    Yes,
    No,
    /// "true", "false".
    #[serde(skip)]
    Truth(bool),
    /// "on", "off".
    #[serde(skip)]
    Switch(bool),
    /// "with", "without".
    #[serde(skip)]
    Having(bool),
    Please,
}

impl Sense {
    /// The unit that the sense means, of time or of anything else.
    #[must_use]
    pub fn unit(self) -> Option<Measure> {
        match self {
            Self::Unit(unit) => Some(unit.into()),
            Self::Measure(unit) => Some(unit),
            _ => None,
        }
    }
}

/// The words of a sense, or the words of each value of a sense.
#[derive(Deserialize)]
#[serde(untagged)]
enum SenseWords {
    Words(Vec<String>),
    ByValue(BTreeMap<String, Vec<String>>),
}

/// What is written alike in every language. Codes that are also English words (`TRY`, `ALL`) are left out.
#[must_use]
pub fn common() -> &'static Phrases<Sense> {
    static COMMON: LazyLock<Phrases<Sense>> =
        LazyLock::new(|| parse(include_str!("values.toml")).expect("the tests read it"));
    &COMMON
}

pub(super) fn parse(text: &str) -> Result<Phrases<Sense>, PackError> {
    let entries: BTreeMap<String, SenseWords> = toml::from_str(text)?;
    let mut phrases = Phrases::default();
    for (kind, entry) in &entries {
        let by_value = match entry {
            SenseWords::Words(words) => vec![(None, words)],
            SenseWords::ByValue(values) => values.iter().map(|(value, words)| (Some(value.as_str()), words)).collect(),
        };
        for (value, words) in by_value {
            let sense = value.map_or_else(|| named(kind), |value| valued(kind, value));
            let unknown = || PackError::Sense(format!("{kind} {}", value.unwrap_or_default()));
            let sense = sense.ok_or_else(unknown)?;
            words.iter().for_each(|phrase| phrases.insert(folded_tokens(phrase), sense));
        }
    }
    Ok(phrases)
}

/// The sense that a pack writes as `[kind]` and `value`.
fn valued(kind: &str, value: &str) -> Option<Sense> {
    let flag = |yes: &str, no: &str| (value == yes).then_some(true).or((value == no).then_some(false));
    let currency = |written| facts::currency(value).map(|code| Sense::Currency { code, written });
    Some(match kind {
        "month" | "weak_month" => Sense::Month { month: number(value)?, weak: kind == "weak_month" },
        "weekday" | "weak_weekday" => Sense::Weekday { day: number(value)?, weak: kind == "weak_weekday" },
        "day" => Sense::Day(number(value)?),
        "day_from" => Sense::DayFrom(number(value)?),
        "fixed" => {
            let (month, day) = value.split_once('-')?;
            Sense::Fixed { month: number(month)?, day: number(day)? }
        }
        "part" => Sense::Part(named(value)?),
        "suggests" => Sense::Suggests(named(value)?),
        "clock" => Sense::Clock(number(value)?),
        "meridiem" => Sense::Meridiem(flag("pm", "am")?),
        "meridiem_before" => Sense::MeridiemBefore(flag("pm", "am")?),
        "weeks_later" => Sense::WeeksLater(number(value)?),
        "shifted" => {
            let (steps, unit) = value.split_once(' ')?;
            Sense::Shifted { unit: named(unit)?, steps: number(steps)? }
        }
        "era" => Sense::Era(number(value)?),
        "edge" => Sense::Edge(named(value)?),
        "unit" => Sense::Unit(named(value)?),
        "length" => {
            let (count, unit) = value.split_once(' ')?;
            Sense::Length { unit: named(unit)?, count: number(count)? }
        }
        "quarters" => Sense::Quarters(number(value)?),
        "quarters_into" => Sense::QuartersInto(number(value)?),
        "glued_unit" => Sense::GluedUnit(named(value)?),
        "measure" => Sense::Measure(named(value)?),
        "multiplier" => Sense::Multiplier(number(value)?),
        "glued_multiplier" => Sense::GluedMultiplier(number(value)?),
        "last_multiplier" => Sense::LastMultiplier(number(value)?),
        "halves" => Sense::Halves(number(value)?),
        "count" => Sense::Count(number(value)?),
        "times" => Sense::Times(number(value)?),
        "symbol" => currency(CurrencyNotation::Symbol)?,
        "code" => currency(CurrencyNotation::Code)?,
        "currency" => currency(CurrencyNotation::Word)?,
        "weak_currency" => currency(CurrencyNotation::Weak)?,
        "cent" if value == "any" => Sense::Cent(None),
        "cent" => Sense::Cent(Some(facts::currency(value)?)),
        "glued_cent" => Sense::GluedCent(facts::currency(value)?),
        "coin" => {
            let (hundredths, code) = value.split_once(' ')?;
            Sense::Coin { hundredths: number(hundredths)?, code: facts::currency(code)? }
        }
        "truth" => Sense::Truth(flag("true", "false")?),
        "switch" => Sense::Switch(flag("true", "false")?),
        "having" => Sense::Having(flag("true", "false")?),
        _ => return None,
    })
}

fn named<'n, T: Deserialize<'n>>(name: &'n str) -> Option<T> {
    let named: Result<T, Error> = T::deserialize(name.into_deserializer());
    named.ok()
}

fn number<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}
