//! Conditions between the values of a form, such as `end_date > start_date`, declared in `module.toml`.
//!
//! A rule applies only if every slot in it has a value and the two sides can be compared: numbers as numbers, dates and
//! times as such (beside a date, a date with a time counts as its date), other texts as texts. Slots in an array are
//! compared item by item.

use std::cmp::Ordering;

use jiff::{
    Span, Zoned,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};
use serde_json::{Map, Number, Value};

use crate::module::{
    PathStep, SlotPath,
    rule::{Base, Operand, Rule, Shift, ShiftUnit, Temporal},
    settings::RuleSettings,
};

/// A violated rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Index among the function's rules.
    pub rule: usize,
    /// As its author wrote it.
    pub check: String,
    /// The slots in the rule, in its order.
    pub slots: Vec<SlotPath>,
    /// JSON pointers of their values in the arguments, `/dishes/1/size`; in an array, those of the violating item.
    pub pointers: Vec<String>,
}

/// The rules that `arguments` violate, in order, once for each violating item. `now` is the moment of the turn, in the
/// module's time zone.
#[must_use]
pub fn broken(rules: &[RuleSettings], arguments: &Map<String, Value>, now: &Zoned) -> Vec<Broken> {
    let checked = rules.iter().enumerate().filter_map(|(index, own)| Some((index, own, own.rule.as_ref()?)));
    checked
        .flat_map(|(index, own, rule)| {
            let mut items = Vec::new();
            items_of(arguments, rule.array(), &mut Vec::new(), &mut items);
            let breaking = items.into_iter().filter(|item| holds(rule, arguments, item, now) == Some(false));
            breaking.map(move |item| Broken {
                rule: index,
                check: own.check.clone(),
                slots: rule.slots().cloned().collect(),
                pointers: rule.slots().map(|path| pointer(path, &item)).collect(),
            })
        })
        .collect()
}

/// Whether the rule holds for one item; `None` if it does not apply.
fn holds(rule: &Rule, arguments: &Map<String, Value>, item: &[usize], now: &Zoned) -> Option<bool> {
    let left = evaluated(&rule.left, arguments, item, now)?;
    let right = evaluated(&rule.right, arguments, item, now)?;
    Some(rule.comparison.holds(left.order_to(&right)?))
}

/// The indices of every item of the array at `path`; one empty row if there is no array.
fn items_of(arguments: &Map<String, Value>, path: &[PathStep], indices: &mut Vec<usize>, items: &mut Vec<Vec<usize>>) {
    let depth = path.iter().filter(|step| **step == PathStep::Each).count();
    if indices.len() == depth {
        items.push(indices.clone());
        return;
    }
    let each = path.iter().enumerate().filter(|(_, step)| **step == PathStep::Each).nth(indices.len());
    let Some((end, _)) = each else { return };
    let length = value_at(arguments, &path[..end], indices).and_then(Value::as_array).map_or(0, Vec::len);
    for index in 0..length {
        indices.push(index);
        items_of(arguments, path, indices, items);
        indices.pop();
    }
}

/// The value at `path`, with `indices` for its arrays.
fn value_at<'a>(arguments: &'a Map<String, Value>, path: &[PathStep], indices: &[usize]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let PathStep::Key(key) = first else { return None };
    let mut place = arguments.get(&**key)?;
    let mut indices = indices.iter();
    for step in rest {
        place = match step {
            PathStep::Key(key) => place.get(&**key)?,
            PathStep::Each => place.get(*indices.next()?)?,
        };
    }
    Some(place)
}

fn pointer(path: &SlotPath, item: &[usize]) -> String {
    let mut indices = item.iter();
    path.pointer()
        .split('/')
        .skip(1)
        .zip(&path.0)
        .map(|(text, step)| match (step, text) {
            (PathStep::Key(_), key) => format!("/{key}"),
            (PathStep::Each, _) => indices.next().map_or_else(|| "/-".to_owned(), |index| format!("/{index}")),
        })
        .collect()
}

/// One side of a rule with its value.
#[derive(Debug, Clone)]
struct Evaluated<'a> {
    quantity: Quantity<'a>,
    /// As written, if it is a text.
    text: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
enum Quantity<'a> {
    Number(&'a Number),
    Truth(bool),
    Date(Date),
    DateTime(DateTime),
    /// The moment of the turn, shifted or not.
    Now(DateTime),
    Time(Time),
    Length(Span),
    /// None of these; compared as written.
    Text,
}

fn evaluated<'a>(
    side: &'a Operand,
    arguments: &'a Map<String, Value>,
    item: &[usize],
    now: &Zoned,
) -> Option<Evaluated<'a>> {
    let value = |value: &'a Value| {
        let quantity = Quantity::of(value, now.time_zone())?;
        Some(Evaluated { quantity, text: value.as_str() })
    };
    let plain = match &side.base {
        Base::Slot(path) => value(value_at(arguments, &path.0, item)?)?,
        Base::Constant(constant) => value(constant)?,
        Base::Today => Evaluated { quantity: Quantity::Date(now.date()), text: None },
        Base::Now => Evaluated { quantity: Quantity::Now(now.datetime()), text: None },
    };
    match side.shift {
        None => Some(plain),
        Some(shift) => Some(Evaluated { quantity: plain.quantity.moved(shift)?, text: None }),
    }
}

impl<'a> Quantity<'a> {
    /// `None` for values without an order (lists, objects), for null, and for blank texts.
    fn of(value: &'a Value, zone: &TimeZone) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number)),
            Value::Bool(truth) => Some(Self::Truth(*truth)),
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(text) => Some(match Temporal::parse(text) {
                Some(Temporal::Date(date)) => Self::Date(date),
                Some(Temporal::DateTime(moment)) => Self::DateTime(moment),
                Some(Temporal::Instant(instant)) => Self::DateTime(instant.to_zoned(zone.clone()).datetime()),
                Some(Temporal::Time(time)) => Self::Time(time),
                Some(Temporal::Length(length)) => Self::Length(length),
                None => Self::Text,
            }),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// `None` if it is not a moment, or beyond the calendar.
    fn moved(self, shift: Shift) -> Option<Self> {
        let span = span(shift)?;
        match self {
            Self::Date(date) => date.checked_add(span).ok().map(Self::Date),
            Self::DateTime(moment) => moment.checked_add(span).ok().map(Self::DateTime),
            Self::Now(moment) => moment.checked_add(span).ok().map(Self::Now),
            Self::Time(time) => time.checked_add(span).ok().map(Self::Time),
            Self::Number(_) | Self::Truth(_) | Self::Length(_) | Self::Text => None,
        }
    }
}

fn span(shift: Shift) -> Option<Span> {
    let (span, amount) = (Span::new(), shift.amount);
    let span = match shift.unit {
        ShiftUnit::Minute => span.try_minutes(amount),
        ShiftUnit::Hour => span.try_hours(amount),
        ShiftUnit::Day => span.try_days(amount),
        ShiftUnit::Week => span.try_weeks(amount),
        ShiftUnit::Month => span.try_months(amount),
        ShiftUnit::Year => span.try_years(amount),
    };
    span.ok()
}

impl Evaluated<'_> {
    /// `None` if the two cannot be compared.
    fn order_to(&self, other: &Self) -> Option<Ordering> {
        use Quantity::{Date, DateTime, Length, Now, Number, Time, Truth};
        match (self.quantity, other.quantity) {
            (Number(one), Number(other)) => order_of_numbers(one, other),
            (Truth(one), Truth(other)) => Some(one.cmp(&other)),
            (Date(one), Date(other)) => Some(one.cmp(&other)),
            (DateTime(one) | Now(one), DateTime(other) | Now(other)) => Some(one.cmp(&other)),
            (Date(one), DateTime(other) | Now(other)) => Some(one.cmp(&other.date())),
            (DateTime(one) | Now(one), Date(other)) => Some(one.date().cmp(&other)),
            (Time(one), Time(other)) => Some(one.cmp(&other)),
            (Time(one), Now(other)) => Some(one.cmp(&other.time())),
            (Now(one), Time(other)) => Some(one.time().cmp(&other)),
            // Which of two months is longer depends on where they begin.
            (Length(one), Length(other)) => one.compare((other, jiff::civil::date(2000, 1, 1))).ok(),
            _ => Some(self.text?.cmp(other.text?)),
        }
    }
}

fn order_of_numbers(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

#[cfg(test)]
mod tests;
