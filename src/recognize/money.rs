//! Amounts of money: a symbol, code or word on either side of a number, "five dollars and fifty cents", "50 cents".
//!
//! - `$` is the dollar of the language's region (`en-CA`: CAD), the US dollar by default; "cents" likewise in English,
//!   and those of the euro in German, French and Spanish. "pesos" without a country are Mexican in English.
//! - A bare number is an amount without a currency, with little confidence.

use serde_json::{Value, json};

use super::{
    certainty::Certainty,
    lexicon::{Sense, Written},
    number::{self, Number},
    scan::Scan,
    senses::Found,
};
use crate::text::tokens::TokenKind;

/// An amount and its ISO 4217 code; `None` if it was not said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Money {
    pub(super) amount: f64,
    pub(super) currency: Option<&'static str>,
}

impl Money {
    pub(super) fn to_json(self) -> Option<Value> {
        Some(json!({"amount": number::json(self.amount)?, "currency": self.currency}))
    }
}

fn currency(scan: &Scan<'_>, token: usize, before: bool) -> Option<((&'static str, Written), usize)> {
    scan.pick(token, |sense| match sense {
        Sense::Currency { code, written } => {
            let fits = !before || written.stands_before();
            fits.then_some((code, written))
        }
        _ => None,
    })
}

fn number_at<'s>(scan: &'s Scan<'_>, token: usize) -> Option<&'s Number> {
    scan.numbers.get(token)?.as_ref().filter(|number| !number.ordinal && !number.code && number.start == token)
}

/// "m", "bn" behind an amount of money are millions and billions.
fn magnitude(scan: &Scan<'_>, token: usize) -> Option<(f64, usize)> {
    let factor = match scan.text(token) {
        "m" | "mn" | "mm" | "mio" => 1e6,
        "b" | "bn" | "mrd" => 1e9,
        _ => return None,
    };
    scan.is_glued(token).then_some((factor, token + 1))
}

/// Hundredths, exactly: sums of cents would otherwise show the float.
fn rounded(amount: f64) -> f64 {
    let rounded = (amount * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { amount }
}

fn cents(scan: &Scan<'_>, token: usize) -> Option<(f64, Option<&'static str>, usize)> {
    let number = number_at(scan, token)?;
    let (code, end) = scan.pick(number.end, |sense| match sense {
        Sense::Cent(code) => Some(code),
        _ => None,
    })?;
    Some((number.value / 100.0, code, end))
}

/// "64 euros 90": two digits, or their words, that count nothing else.
fn bare_cents(scan: &Scan<'_>, token: usize) -> Option<(f64, usize)> {
    let number =
        number_at(scan, scan.skip(token, Sense::And)).filter(|number| number.certainty == Certainty::WrittenOut)?;
    let cents = number.integer.filter(|cents| (10..100).contains(cents) || (scan.text(token).len() == 2))?;
    let is_last = number.end >= scan.len() || scan.kind(number.end) != Some(TokenKind::Word);
    let is_free = is_last || scan.has(number.end, Sense::Function) || scan.has(number.end, Sense::Please);
    let is_two_digits = !number.digits || scan.text(token).len() == 2;
    (is_free && is_two_digits && (0..100).contains(&cents)).then_some((number.value / 100.0, number.end))
}

fn money_at(scan: &Scan<'_>, token: usize) -> Option<Found<Money>> {
    let found = |start, end, amount, currency, certainty| {
        Some(Found::new(start, end, Money { amount: rounded(amount), currency: Some(currency) }, certainty))
    };
    // "$5", "USD 5"
    if let Some(((code, _), after)) = currency(scan, token, true)
        && let Some(number) = number_at(scan, after)
    {
        let (mut amount, mut end) = (number.value, number.end);
        if let Some((factor, after)) = magnitude(scan, end) {
            (amount, end) = (amount * factor, after);
        }
        let mut code = code;
        if let Some(((said, written), after)) = currency(scan, end, false)
            && written != Written::Symbol
            && written != Written::Weak
        {
            // "$5 CAD" says which dollar; "$5 USD 6" is two amounts.
            if number_at(scan, after).is_none() {
                (code, end) = (said, after);
            }
        }
        return found(token, end, amount, code, Certainty::WrittenOut);
    }
    // "50 cents"
    if let Some((amount, code, end)) = cents(scan, token) {
        let money = Money { amount: rounded(amount), currency: code };
        return Some(Found::new(token, end, money, Certainty::Clear));
    }
    // "5 dollars", "five dollars and fifty cents"
    if let Some(number) = number_at(scan, token) {
        let (mut amount, mut end) = (number.value, number.end);
        if let Some((factor, after)) = magnitude(scan, end)
            && currency(scan, after, false).is_some()
        {
            (amount, end) = (amount * factor, after);
        }
        let ((code, written), after) = currency(scan, scan.skip(end, Sense::Of), false)?;
        // The `$` of "5 $10" belongs to the ten.
        if written == Written::Symbol && !scan.is_glued(end) && number_at(scan, after).is_some() {
            return None;
        }
        end = after;
        if let Some((more, _, after)) = cents(scan, scan.skip(end, Sense::And)) {
            amount += more;
            end = after;
        } else if let Some((more, after)) = bare_cents(scan, end).filter(|_| amount.fract() == 0.0) {
            amount += more;
            end = after;
        }
        let certainty = if written == Written::Weak { Certainty::Likely } else { Certainty::WrittenOut };
        return found(token, end, amount, code, certainty);
    }
    // "a dollar"
    let after = scan.after(token, Sense::A)?;
    let ((code, written), end) = currency(scan, after, false)?;
    (written == Written::Word).then(|| found(token, end, 1.0, code, Certainty::Likely)).flatten()
}

/// Amounts with a currency.
pub(super) fn amounts(scan: &Scan<'_>) -> Vec<Found<Money>> {
    scan.find(|token| money_at(scan, token))
}

/// How sure it is that a number is an amount where nothing says what it is.
pub(super) const BARE: Certainty = Certainty::Even;

/// Numbers that may be amounts, as nothing says what else they are; each is as sure as the number is one.
pub(super) fn bare(scan: &Scan<'_>) -> Vec<Found<Money>> {
    number::cardinals(&scan.numbers)
        .filter(|number| !number.code && number.value >= 0.0)
        .map(|number| {
            let money = Money { amount: rounded(number.value), currency: None };
            Found::new(number.start, number.end, money, number.certainty)
        })
        .collect()
}
