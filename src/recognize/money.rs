//! Amounts of money: a symbol, code or word on either side of a number, "five dollars and fifty cents", "50 cents".
//!
//! - `$` is the dollar of the language's region (`en-CA`: CAD), the US dollar by default; "cents" likewise in English,
//!   and those of the euro in German, French and Spanish. "pesos" without a country are Mexican in English.
//! - A bare number is an amount without a currency, with little confidence.

use serde_json::{Value, json};

use super::{
    certainty::Certainty,
    lexicon::{CurrencyNotation, Sense},
    number::{self, Number},
    scan::Scan,
    senses::TokenReading,
};
use crate::text::tokens::TokenKind;

/// An amount and its ISO 4217 code; `None` if the currency was not said.
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

fn currency(scan: &Scan<'_>, token: usize, before: bool) -> Option<((&'static str, CurrencyNotation), usize)> {
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

/// Behind an amount of money, "m" and "bn" are millions and billions.
fn magnitude(scan: &Scan<'_>, token: usize) -> Option<(f64, usize)> {
    let factor = match scan.text(token) {
        "m" | "mn" | "mm" | "mio" => 1e6,
        "b" | "bn" | "mrd" => 1e9,
        _ => return None,
    };
    scan.is_glued(token).then_some((factor, token + 1))
}

/// Rounds the amount: sums of cents would otherwise show float errors.
fn rounded(amount: f64) -> f64 {
    let rounded = (amount * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { amount }
}

fn cents(scan: &Scan<'_>, token: usize) -> Option<(f64, Option<&'static str>, usize)> {
    let number = number_at(scan, token)?;
    let is_glued = scan.is_glued(number.end) && !scan.is_glued(number.end + 1);
    let (code, end) = scan.pick(number.end, |sense| match sense {
        Sense::Cent(code) => Some(code),
        Sense::GluedCent(code) if is_glued => Some(Some(code)),
        _ => None,
    })?;
    Some((number.value / 100.0, code, end))
}

/// "A fiver", "three tenners", "einen Zwanziger": words for an amount, with a number or an article before them.
fn coins(scan: &Scan<'_>, token: usize) -> Option<TokenReading<Money>> {
    let (count, at) = match number_at(scan, token) {
        Some(number) => (number.value, number.end),
        None => (1.0, scan.after(token, Sense::A)?),
    };
    let ((hundredths, code), end) = scan.pick(at, |sense| match sense {
        Sense::Coin { hundredths, code } => Some((hundredths, code)),
        _ => None,
    })?;
    let money = Money { amount: rounded(count * f64::from(hundredths) / 100.0), currency: Some(code) };
    Some(TokenReading::new(token, end, money, Certainty::Likely))
}

/// "A dollar and a half", "un euro et demi": an added half, unless something follows that it could be half of.
fn half(scan: &Scan<'_>, token: usize) -> Option<usize> {
    let and = scan.after(token, Sense::And).map(|and| scan.skip(and, Sense::A));
    let end = scan.after(token, Sense::HalfBehind).or_else(|| scan.after(and?, Sense::Half))?;
    is_last(scan, end).then_some(end)
}

/// True if no word follows that could be counted.
fn is_last(scan: &Scan<'_>, end: usize) -> bool {
    scan.kind(end) != Some(TokenKind::Word) || scan.has(end, Sense::Function) || scan.has(end, Sense::Please)
}

/// "64 euros 90": two digits, or their words, that do not count something else.
fn bare_cents(scan: &Scan<'_>, token: usize) -> Option<(f64, usize)> {
    // "Dos euros con veinte"
    let with = if scan.lexicon.english { token } else { scan.skip(token, Sense::Having(true)) };
    let number =
        number_at(scan, scan.skip(with, Sense::And)).filter(|number| number.certainty == Certainty::WrittenOut)?;
    let cents = number.integer.filter(|cents| (10..100).contains(cents) || (scan.text(token).len() == 2))?;
    let is_two_digits = !number.digits || scan.text(token).len() == 2;
    (is_last(scan, number.end) && is_two_digits && (0..100).contains(&cents))
        .then_some((number.value / 100.0, number.end))
}

fn money_at(scan: &Scan<'_>, token: usize) -> Option<TokenReading<Money>> {
    let found = |start, end, amount, currency, certainty| {
        Some(TokenReading::new(start, end, Money { amount: rounded(amount), currency: Some(currency) }, certainty))
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
            && written != CurrencyNotation::Symbol
            && written != CurrencyNotation::Weak
        {
            // In "$5 CAD" the code says which dollar; "$5 USD 6" is two amounts.
            if number_at(scan, after).is_none() {
                (code, end) = (said, after);
            }
        }
        return found(token, end, amount, code, Certainty::WrittenOut);
    }
    // "50 cents"
    if let Some((amount, code, end)) = cents(scan, token) {
        let money = Money { amount: rounded(amount), currency: code };
        return Some(TokenReading::new(token, end, money, Certainty::Clear));
    }
    coins(scan, token).or_else(|| grand(scan, token)).or_else(|| counted(scan, token))
}

/// "Five grand": an amount without a currency.
fn grand(scan: &Scan<'_>, token: usize) -> Option<TokenReading<Money>> {
    let number = number_at(scan, token)?;
    let is_grand = |sense| matches!(sense, Sense::LastMultiplier(_)).then_some(());
    let says_so = number.end > token + 1 && scan.pick(number.end - 1, is_grand).is_some();
    let money = Money { amount: rounded(number.value), currency: None };
    let has_currency = currency(scan, scan.skip(number.end, Sense::Of), false).is_some();
    (says_so && !has_currency).then(|| TokenReading::new(token, number.end, money, Certainty::Likely))
}

/// "5 dollars", "five dollars and fifty cents", "a pound fifty", "euro y medio".
fn counted(scan: &Scan<'_>, token: usize) -> Option<TokenReading<Money>> {
    let (number, article) = (number_at(scan, token), scan.after(token, Sense::A));
    let (mut amount, mut end) = match number {
        Some(number) => (number.value, number.end),
        // "a dollar", "euro y medio"
        None => (1.0, article.unwrap_or(token)),
    };
    if let Some((factor, after)) = magnitude(scan, end)
        && currency(scan, after, false).is_some()
    {
        (amount, end) = (amount * factor, after);
    }
    let ((code, written), after) = currency(scan, scan.skip(end, Sense::Of), false)?;
    // The `$` of "5 $10" belongs to the ten.
    if written == CurrencyNotation::Symbol && !scan.is_glued(end) && number_at(scan, after).is_some() {
        return None;
    }
    // "Cinq balles de tennis" are things, not money.
    if written == CurrencyNotation::Weak && scan.has(after, Sense::Of) {
        return None;
    }
    end = after;
    let is_whole = amount.fract() == 0.0;
    let is_said = number.is_some() || article.is_some();
    let more = cents(scan, scan.skip(end, Sense::And)).map(|(more, _, after)| (more, after));
    let more = more.or_else(|| bare_cents(scan, end).filter(|_| is_whole)).filter(|_| is_said);
    let more = more.or_else(|| Some((0.5, half(scan, end).filter(|_| is_whole)?)));
    if let Some((more, after)) = more {
        (amount, end) = (amount + more, after);
    }
    // "A pound" weighs, "a pound fifty" costs.
    if number.is_none() && more.is_none() && (!is_said || written != CurrencyNotation::Word) {
        return None;
    }
    let is_likely = written == CurrencyNotation::Weak || number.is_none() && more.is_none();
    let certainty = if is_likely { Certainty::Likely } else { Certainty::WrittenOut };
    Some(TokenReading::new(token, end, Money { amount: rounded(amount), currency: Some(code) }, certainty))
}

/// Amounts with a currency.
pub(super) fn amounts(scan: &Scan<'_>) -> Vec<TokenReading<Money>> {
    scan.find(|token| money_at(scan, token))
}

/// How sure it is that a number is an amount if nothing says what it is.
pub(super) const BARE: Certainty = Certainty::Even;

/// Numbers that may be amounts, since nothing says otherwise; each has the certainty of the number.
pub(super) fn bare(scan: &Scan<'_>) -> Vec<TokenReading<Money>> {
    number::cardinals(&scan.numbers)
        .filter(|number| !number.code && number.value >= 0.0)
        .map(|number| {
            let money = Money { amount: rounded(number.value), currency: None };
            TokenReading::new(number.start, number.end, money, number.certainty)
        })
        .collect()
}
