//! A rule between the values of one call, as its author writes it: `end_date > start_date`, `date <= today + 30 days`.
//!
//! Two sides with a comparison between them. A side is a slot (`stay.end`), a number, a text in quotes, `true` or
//! `false`, a date (`2026-01-31`), a time (`18:00`), a date with a time (`2026-01-31T18:00`), `today`, `now`, or a
//! length of time (`2 weeks`); a moment may be moved by a length of time (`+ 3 days`).
//!
//! Slots in arrays are compared item by item, so all of them have to lie in one array, or in arrays within its items.

use std::{cmp::Ordering, fmt};

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
};
use serde_json::{Number, Value};

use super::{Function, PathStep, Slot, SlotId, SlotKind, SlotPath};

/// A rule whose slots are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub left: Operand,
    pub comparison: Comparison,
    pub right: Operand,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    pub base: Base,
    pub shift: Option<Shift>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    Slot(SlotPath),
    /// As arguments would hold it: a number, a boolean, or a text (dates, times and durations in ISO 8601).
    Constant(Value),
    Today,
    Now,
}

/// The length of time by which a moment is moved; backwards if negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    pub amount: i64,
    pub unit: ShiftUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShiftUnit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    Greater,
}

/// Why a text is not a rule of a function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("it compares nothing: write one of `<`, `<=`, `=`, `!=`, `>=`, `>` between two values")]
    NoComparison,
    #[error("it has more than one comparison: make it several rules")]
    SeveralComparisons,
    #[error("there is nothing on one side of the comparison")]
    EmptySide,
    #[error("`{0}` is neither a slot nor a constant")]
    NotASide(String),
    #[error("there is no slot `{0}`")]
    UnknownSlot(String),
    #[error("it names no slot, so it says nothing about a call")]
    NoSlot,
    #[error("it compares {0} with {1}")]
    Incomparable(OperandKind, OperandKind),
    #[error("true and false are the same or not, and never more or less")]
    NoOrder,
    #[error("only a date or a time can be moved by a length of time")]
    NotAMoment,
    #[error("its slots lie in different arrays: items are compared only within one array")]
    DifferentArrays,
}

impl Rule {
    /// Reads a rule about the slots of `function`; `find` resolves the name of a slot.
    ///
    /// # Errors
    /// Why the text is not a rule.
    pub fn parse(text: &str, function: &Function, find: &dyn Fn(&str) -> Option<SlotId>) -> Result<Self, RuleError> {
        let (left, comparison, right) = divided(text)?;
        let (left, left_kind) = Operand::parse(left, function, find)?;
        let (right, right_kind) = Operand::parse(right, function, find)?;
        if !left_kind.compares_with(right_kind) {
            return Err(RuleError::Incomparable(left_kind, right_kind));
        }
        let is_truth = left_kind == OperandKind::Truth || right_kind == OperandKind::Truth;
        if is_truth && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return Err(RuleError::NoOrder);
        }
        let rule = Self { left, comparison, right };
        let mut arrays: Vec<&[PathStep]> = rule.slots().map(array_of).collect();
        arrays.sort_by_key(|array| array.len());
        match arrays.as_slice() {
            [] => Err(RuleError::NoSlot),
            [outer, inner] if !inner.starts_with(outer) => Err(RuleError::DifferentArrays),
            _ => Ok(rule),
        }
    }

    /// The slots that it names, in their order in the rule.
    pub fn slots(&self) -> impl Iterator<Item = &SlotPath> {
        [&self.left, &self.right].into_iter().filter_map(|side| match &side.base {
            Base::Slot(path) => Some(path),
            _ => None,
        })
    }

    /// The innermost array whose items it compares, `dishes[]`; empty if it involves no array.
    #[must_use]
    pub fn array(&self) -> &[PathStep] {
        self.slots().map(array_of).max_by_key(|array| array.len()).unwrap_or_default()
    }
}

/// The path up to and including the last array in it.
fn array_of(path: &SlotPath) -> &[PathStep] {
    let end = path.0.iter().rposition(|step| *step == PathStep::Each).map_or(0, |at| at + 1);
    &path.0[..end]
}

impl Operand {
    fn parse(
        text: &str,
        function: &Function,
        find: &dyn Fn(&str) -> Option<SlotId>,
    ) -> Result<(Self, OperandKind), RuleError> {
        if let Some(quoted) = quoted(text) {
            let kind = OperandKind::of_text(quoted).unwrap_or(OperandKind::Words);
            return Ok((Self { base: Base::Constant(quoted.into()), shift: None }, kind));
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let (words, shift) = match words.as_slice() {
            [base @ .., sign @ ("+" | "-"), amount, unit] => {
                let length = length(amount, unit).ok_or_else(|| RuleError::NotASide(format!("{amount} {unit}")))?;
                let sign = if *sign == "-" { -1 } else { 1 };
                (base, Some(Shift { amount: length.amount * sign, unit: length.unit }))
            }
            all => (all, None),
        };
        let (base, kind) = match words {
            [] => return Err(RuleError::EmptySide),
            [amount, unit] => match length(amount, unit) {
                Some(length) => (Base::Constant(length.iso().into()), OperandKind::Length),
                None => return Err(RuleError::NotASide(text.to_owned())),
            },
            ["today"] => (Base::Today, OperandKind::Date),
            ["now"] => (Base::Now, OperandKind::Now),
            [word] => Base::parse(word, function, find)?,
            _ => return Err(RuleError::NotASide(text.to_owned())),
        };
        if shift.is_some() && !kind.is_moment() {
            return Err(RuleError::NotAMoment);
        }
        Ok((Self { base, shift }, kind))
    }
}

impl Base {
    fn parse(
        word: &str,
        function: &Function,
        find: &dyn Fn(&str) -> Option<SlotId>,
    ) -> Result<(Self, OperandKind), RuleError> {
        if let Ok(truth) = word.parse::<bool>() {
            return Ok((Self::Constant(truth.into()), OperandKind::Truth));
        }
        let number = word.parse::<i64>().map(Number::from).ok();
        let fraction = || word.parse::<f64>().ok().and_then(Number::from_f64);
        let is_number = word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
        if let Some(number) = number.or_else(fraction).filter(|_| is_number) {
            return Ok((Self::Constant(number.into()), OperandKind::Number));
        }
        if let Some(kind) = OperandKind::of_text(word) {
            return Ok((Self::Constant(word.into()), kind));
        }
        if !word.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            return Err(RuleError::NotASide(word.to_owned()));
        }
        let slot = find(word).ok_or_else(|| RuleError::UnknownSlot(word.to_owned()))?;
        let slot = function.slot(slot);
        Ok((Self::Slot(slot.path.clone()), OperandKind::of_slot(slot)))
    }
}

/// The comparison, and the texts before and after it.
fn divided(text: &str) -> Result<(&str, Comparison, &str), RuleError> {
    let mut quote = None;
    let mut found: Option<(usize, usize, Comparison)> = None;
    for (at, character) in text.char_indices() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if character == '"' || character == '\'' => quote = Some(character),
            None => {
                if found.is_some_and(|(start, length, _)| at < start + length) {
                    continue;
                }
                if let Some((sign, comparison)) = Comparison::at(&text[at..]) {
                    if found.is_some() {
                        return Err(RuleError::SeveralComparisons);
                    }
                    found = Some((at, sign.len(), comparison));
                }
            }
        }
    }
    let (at, length, comparison) = found.ok_or(RuleError::NoComparison)?;
    let (left, right) = (text[..at].trim(), text[at + length..].trim());
    if left.is_empty() || right.is_empty() {
        return Err(RuleError::EmptySide);
    }
    Ok((left, comparison, right))
}

fn quoted(text: &str) -> Option<&str> {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inside| !inside.contains(quote));
    inside('"').or_else(|| inside('\''))
}

fn length(amount: &str, unit: &str) -> Option<Shift> {
    let amount = amount.parse::<u32>().ok()?;
    Some(Shift { amount: i64::from(amount), unit: ShiftUnit::named(unit)? })
}

impl ShiftUnit {
    fn named(name: &str) -> Option<Self> {
        match name.strip_suffix('s').unwrap_or(name) {
            "minute" => Some(Self::Minute),
            "hour" => Some(Self::Hour),
            "day" => Some(Self::Day),
            "week" => Some(Self::Week),
            "month" => Some(Self::Month),
            "year" => Some(Self::Year),
            _ => None,
        }
    }
}

impl Shift {
    /// The length of time in ISO 8601: `P2W`, `PT90M`.
    fn iso(self) -> String {
        let amount = self.amount;
        match self.unit {
            ShiftUnit::Minute => format!("PT{amount}M"),
            ShiftUnit::Hour => format!("PT{amount}H"),
            ShiftUnit::Day => format!("P{amount}D"),
            ShiftUnit::Week => format!("P{amount}W"),
            ShiftUnit::Month => format!("P{amount}M"),
            ShiftUnit::Year => format!("P{amount}Y"),
        }
    }
}

impl Comparison {
    /// The comparison that `text` begins with, and how it is written.
    fn at(text: &str) -> Option<(&'static str, Self)> {
        // The longer ones come first.
        [
            ("<=", Self::AtMost),
            (">=", Self::AtLeast),
            ("!=", Self::NotEqual),
            ("==", Self::Equal),
            ("<", Self::Less),
            (">", Self::Greater),
            ("=", Self::Equal),
        ]
        .into_iter()
        .find(|(sign, _)| text.starts_with(sign))
    }

    /// The comparison with its sides exchanged: `a < b` is `b > a`.
    #[must_use]
    pub const fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::AtLeast => Self::AtMost,
            Self::Greater => Self::Less,
            Self::Equal | Self::NotEqual => self,
        }
    }

    /// True if it holds between two values, given the order of the first to the second.
    #[must_use]
    pub const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::AtLeast => order.is_ge(),
            Self::Greater => order.is_gt(),
        }
    }
}

/// What kind of value an operand holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    Number,
    Truth,
    Date,
    DateTime,
    Time,
    /// The moment of the turn: a date, a time or both, depending on what it is compared with.
    Now,
    /// A length of time.
    Length,
    /// A text of none of these kinds.
    Words,
    /// A text of any of these kinds: its schema names no format.
    Text,
    Any,
}

impl OperandKind {
    fn of_slot(slot: &Slot) -> Self {
        match slot.kind {
            SlotKind::Integer | SlotKind::Number => Self::Number,
            SlotKind::Boolean => Self::Truth,
            SlotKind::Any => Self::Any,
            SlotKind::String => match slot.schema.get("format").and_then(Value::as_str) {
                Some("date") => Self::Date,
                Some("date-time") => Self::DateTime,
                Some("time") => Self::Time,
                Some("duration") => Self::Length,
                Some(_) => Self::Words,
                None => Self::Text,
            },
        }
    }

    /// The kind of a text in ISO 8601; `None` if it is not ISO 8601.
    fn of_text(text: &str) -> Option<Self> {
        match Temporal::parse(text)? {
            Temporal::Date(_) => Some(Self::Date),
            Temporal::DateTime(_) | Temporal::Instant(_) => Some(Self::DateTime),
            Temporal::Time(_) => Some(Self::Time),
            Temporal::Length(_) => Some(Self::Length),
        }
    }

    const fn is_moment(self) -> bool {
        matches!(self, Self::Date | Self::DateTime | Self::Time | Self::Now | Self::Text | Self::Any)
    }

    /// `false` if a rule could never apply, or would compare values that only look alike.
    fn compares_with(self, other: Self) -> bool {
        let is_text = |kind: Self| !matches!(kind, Self::Number | Self::Truth);
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Text, kind) | (kind, Self::Text) => is_text(kind),
            (Self::Date, Self::DateTime) | (Self::DateTime, Self::Date) => true,
            (Self::Now, kind) | (kind, Self::Now) => {
                matches!(kind, Self::Date | Self::DateTime | Self::Time | Self::Now)
            }
            (one, other) => one == other,
        }
    }
}

impl fmt::Display for OperandKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Number => "a number",
            Self::Truth => "true or false",
            Self::Date => "a date",
            Self::DateTime => "a date with a time",
            Self::Time => "a time",
            Self::Now => "a moment",
            Self::Length => "a length of time",
            Self::Words | Self::Text => "a text",
            Self::Any => "anything",
        })
    }
}

/// A text of ISO 8601, in the forms that arguments hold.
#[derive(Debug, Clone, Copy)]
pub enum Temporal {
    Date(Date),
    DateTime(DateTime),
    /// A date and time with its offset from UTC.
    Instant(Timestamp),
    Time(Time),
    Length(jiff::Span),
}

impl Temporal {
    /// `None` for everything else. Digits alone are a number, never a date.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let has = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
        if has(4, b'-') && has(7, b'-') {
            return match bytes.get(10) {
                None => text.parse().ok().map(Self::Date),
                Some(b'T' | b't' | b' ') => {
                    let instant = text.parse().ok().map(Self::Instant);
                    instant.or_else(|| text.parse().ok().map(Self::DateTime))
                }
                Some(_) => None,
            };
        }
        if has(2, b':') {
            return text.parse().ok().map(Self::Time);
        }
        let is_length =
            text.strip_prefix('P').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == 'T'));
        if is_length { text.parse().ok().map(Self::Length) } else { None }
    }
}
