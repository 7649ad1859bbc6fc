//! Integers, numbers, ordinals and percentages.
//!
//! - Digits, with the thousands and decimal separators of the language (`1,000.5` in English, `1.000,5` in German; two
//!   or more groups of three are thousands in any; so are groups with spaces between them: "1 250,50"), a minus before
//!   them, fractions (`1/2`, `½`), bare decimals (`.5`), "k" and "M" glued on, and "million" and its like behind them.
//! - Number words by `text2num` in the languages that it knows, with or without their accents; "a dozen", "a couple",
//!   "two and a half", "three quarters", "point five". "A few" is not a number.
//! - Kanji numerals in Japanese and Chinese.
//!
//! Ambiguous numbers score less: "one" if it may be a pronoun ("the white one"), digits that are glued to letters
//! (`B12`), `1.2.3`. The digits of an identifier (`TR-2026-0193`) are not numbers at all.

use text2num::{LangInterpreter as _, Language, digit_string::DigitString, error::Error};

use super::{
    certainty::Certainty,
    identifier,
    lexicon::Sense,
    senses::{Senses, TokenReading},
};
use crate::text::{numeral, tokens::TokenKind};

/// The most number words of one number; a longer run is read as several numbers.
const MOST_WORDS: usize = 20;
/// A run of more digits is a code and not a quantity.
const MOST_DIGITS: usize = 18;
/// Multiples that number words have no word for: a dozen, a lakh, a crore.
const UNKNOWN_TO_WORDS: [i64; 3] = [12, 100_000, 10_000_000];

/// A number in the utterance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    /// Its first token: the one under which it is stored, or the minus before that.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: f64,
    /// `None` if it was said with decimals or as a fraction.
    pub(super) integer: Option<i64>,
    pub(super) ordinal: bool,
    /// Written in digits.
    pub(super) digits: bool,
    /// Part of something that is not a quantity: `B12`, `1.2.3`, twenty digits.
    pub(super) code: bool,
    pub(super) certainty: Certainty,
}

impl Number {
    fn whole(start: usize, end: usize, value: i64, digits: bool) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "the exact value is kept in `integer`")]
        let approximate = value as f64;
        Self { integer: Some(value), digits, ..Self::with_value(start, end, approximate) }
    }

    /// Multiplies by a whole number: "5 million", "two dozen".
    fn times(&mut self, factor: i64, end: usize) {
        #[expect(clippy::cast_precision_loss, reason = "factors are powers of ten below 2^53")]
        let product = self.value * factor as f64;
        self.value = product;
        self.integer = match self.integer {
            Some(integer) => integer.checked_mul(factor),
            None => exact_integer(product),
        };
        self.end = end;
    }
}

/// The integer with the value of a float, if floats represent it exactly.
pub(super) fn exact_integer(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
    (value.fract() == 0.0 && value.abs() < LIMIT).then_some(value as i64)
}

/// True if the float equals this integer, within the precision of floats.
pub(super) fn is_near(integer: i64, value: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "the loss is what is compared")]
    let approximate = integer as f64;
    approximate == value
}

/// The JSON number of a value: an integer if it is whole.
pub(super) fn json(value: f64) -> Option<serde_json::Value> {
    exact_integer(value).map(Into::into).or_else(|| serde_json::Number::from_f64(value).map(Into::into))
}

/// Every number of the utterance, at the token where it begins.
pub(super) fn numbers(scan: &Senses<'_>) -> Vec<Option<Number>> {
    let mut numbers = vec![None; scan.len()];
    let mut token = 0;
    let mut last_end = 0;
    while token < scan.len() {
        let Some(number) = number_at(scan, token) else {
            token += 1;
            continue;
        };
        let number = signed(scan, token, last_end, number);
        let filed = token;
        (token, last_end) = (number.end.max(token + 1), number.end);
        numbers[filed] = Some(number);
    }
    numbers
}

/// The number with the minus before it, if there is one: `-5` and "minus five", but not `3-5` or `route-66`.
fn signed(scan: &Senses<'_>, token: usize, last_end: usize, mut number: Number) -> Number {
    if number.ordinal || number.code || token == 0 || token - 1 < last_end {
        return number;
    }
    if let Some(sign) = minus_before(scan, token, &number).filter(|sign| *sign >= last_end) {
        number.start = sign;
        number.value = -number.value;
        number.integer = number.integer.map(|integer| -integer);
    }
    number
}

/// The token of the minus before the number at `token`.
fn minus_before(scan: &Senses<'_>, token: usize, number: &Number) -> Option<usize> {
    const LONGEST_WORD: usize = 4;
    let before = token.checked_sub(1)?;
    // `b=-3` and `(-3)`, but not `3-5` and `route-66`. Without spaces, also behind a particle, but not 東京-5.
    let stands_free = !scan.is_glued(before)
        || matches!(scan.text(before - 1), "=" | "(" | "[" | "{" | "," | ":" | "<" | ">" | "*")
        || scan.lexicon.kanji_numbers && scan.text(before - 1).chars().all(is_hiragana);
    if number.digits && scan.is_symbol(before, "-") && scan.is_glued(token) && stands_free {
        return Some(before);
    }
    let is_minus = |from: &usize| scan.after(*from, Sense::Minus) == Some(token);
    let word = (token.saturating_sub(LONGEST_WORD)..token).find(is_minus)?;
    let is_denied = word.checked_sub(1).is_some_and(|lead| scan.has(lead, Sense::NoMinus));
    (scan.kind(word) == Some(TokenKind::Word) && !is_denied).then_some(word)
}

fn number_at(scan: &Senses<'_>, token: usize) -> Option<Number> {
    let mut number = match scan.kind(token)? {
        TokenKind::Digits => kanji(scan, token).or_else(|| indian(scan, token)).or_else(|| digits(scan, token))?,
        TokenKind::Word if scan.has(token, Sense::Vague) => return None,
        TokenKind::Word => dozens(scan, token)
            .or_else(|| kanji(scan, token))
            .or_else(|| counted(scan, token))
            .or_else(|| quarters(scan, token))
            .or_else(|| scan.lexicon.number_words.as_ref().and_then(|language| words(scan, language, token)))?,
        TokenKind::Symbol => bare_decimals(scan, token)?,
    };
    if number.code || number.ordinal {
        return Some(number);
    }
    if let Some(factor) = scaled(scan, &mut number) {
        parts_below(scan, &mut number, factor);
    }
    if let Some(end) = scan.after(number.end, Sense::Dozen) {
        number.times(12, end);
    }
    // "five grand", but not "two grand pianos".
    let is_last = |end: usize| scan.kind(end) != Some(TokenKind::Word) || scan.has(end, Sense::Function);
    if let Some((factor, end)) = scan.pick(number.end, |sense| match sense {
        Sense::LastMultiplier(factor) => Some(factor),
        _ => None,
    }) && is_last(end)
    {
        number.times(factor, end);
    }
    and_a_fraction(scan, &mut number);
    Some(number)
}

/// Multiplies the number by a word or letter behind it, and returns the factor of a word.
fn scaled(scan: &Senses<'_>, number: &mut Number) -> Option<i64> {
    let glued = |sense| match sense {
        Sense::GluedMultiplier(factor) => Some(factor),
        _ => None,
    };
    let free = |sense| match sense {
        Sense::Multiplier(factor) => Some(factor),
        _ => None,
    };
    let is_written_to = |end: usize| scan.is_glued(number.end) && !scan.is_glued(end);
    let glued =
        scan.pick(number.end, glued).or_else(|| millions(scan, number.end)).filter(|(_, end)| is_written_to(*end));
    match (glued, scan.pick(number.end, free)) {
        (Some((factor, end)), _) if number.digits => {
            number.times(factor, end);
            number.certainty = Certainty::Clear;
            None
        }
        // Number words know their own powers of ten.
        (_, Some((factor, end))) if number.digits || UNKNOWN_TO_WORDS.contains(&factor) => {
            number.times(factor, end);
            Some(factor)
        }
        _ => None,
    }
}

/// `10M`, but not `10m`.
fn millions(scan: &Senses<'_>, token: usize) -> Option<(i64, usize)> {
    let is_capital = || scan.span(token, token + 1).is_some_and(|span| scan.utterance.slice(span) == "M");
    (scan.is_symbol(token, "m") && is_capital()).then_some((1_000_000, token + 1))
}

/// "3 hundred and 21", "2 thousand 5 hundred": adds the parts of a number below the power of ten before them.
fn parts_below(scan: &Senses<'_>, number: &mut Number, mut factor: i64) {
    const MOST: usize = 4;
    for _ in 0..MOST {
        let at = scan.skip(number.end, Sense::And);
        let is_joined = at > number.end;
        if scan.kind(at) != Some(TokenKind::Digits) || scan.is_glued(at) {
            return;
        }
        let Some(mut part) = digits(scan, at).filter(|part| !part.code && !part.ordinal) else { return };
        let scale = scan.pick(part.end, |sense| match sense {
            Sense::Multiplier(factor) => Some(factor),
            _ => None,
        });
        let next = scale.map_or(1, |(scale, _)| scale);
        if let Some((scale, end)) = scale {
            part.times(scale, end);
        }
        let sum = number.integer.zip(part.integer.filter(|part| *part < factor));
        let Some(sum) = sum.and_then(|(whole, part)| whole.checked_add(part)) else { return };
        if scale.is_none() && !is_joined {
            return;
        }
        *number = Number { end: part.end, ..Number::whole(number.start, part.end, sum, number.digits) };
        factor = next;
    }
}

/// "Two and a half", "1 and 1/2", "3 million and a half", but not "two and a half-price ticket". "Las tres y media" is
/// half past three, and "tres y cuarto" is a time as well.
fn and_a_fraction(scan: &Senses<'_>, number: &mut Number) {
    if number.integer.is_none() || scan.has(number.end, Sense::HalfBehind) {
        return;
    }
    let Some(and) = scan.after(number.end, Sense::And) else { return };
    let at = scan.skip(and, Sense::A);
    let has_article = at > and;
    let word = scan.pick(at, |sense| match sense {
        Sense::Half => Some(0.5),
        Sense::Quarter if has_article => Some(0.25),
        Sense::Quarters(quarters) => Some(f64::from(quarters) / 4.0),
        _ => None,
    });
    let word = word.filter(|(_, end)| {
        let is_clock = scan.has(*end, Sense::Past) || scan.has(*end, Sense::To);
        !is_clock && !scan.has(*end, Sense::A) && !scan.is_glued(*end)
    });
    let Some((part, end)) = word.or_else(|| fraction_at(scan, at)) else { return };
    // It is half a million, not an added half.
    let scale = scan.pick(number.end - 1, |sense| match sense {
        Sense::Multiplier(factor @ 1_000..) | Sense::LastMultiplier(factor) => Some(factor),
        _ => None,
    });
    #[expect(clippy::cast_precision_loss, reason = "factors are powers of ten below 2^53")]
    let scale = scale.map_or(1.0, |(factor, _)| factor as f64);
    number.value += part * scale;
    (number.integer, number.end) = (exact_integer(number.value), end);
}

/// `.5`, and `,5` in languages that write decimals so. Nothing may stand before the point that it could end or divide.
fn bare_decimals(scan: &Senses<'_>, token: usize) -> Option<Number> {
    let is_point = scan.is_symbol(token, ".") || scan.lexicon.comma_decimal && scan.is_symbol(token, ",");
    let is_free = !scan.is_glued(token)
        || token > 0
            && (scan.is_currency(token - 1)
                || matches!(scan.text(token - 1), "(" | "[" | "{" | "\"" | "'" | "=" | "-" | "+" | "<" | ">" | "~"));
    let fraction = token + 1;
    let goes_on = scan.joins(token + 2, ".") || scan.joins(token + 2, ",");
    let is_decimal = is_point && is_free && scan.is_glued(fraction) && scan.kind(fraction) == Some(TokenKind::Digits);
    if !is_decimal || goes_on || scan.text(fraction).len() > MOST_DIGITS {
        return None;
    }
    let value = format!("0.{}", scan.text(fraction)).parse().ok()?;
    Some(Number { integer: None, ..Number::with_value(token, token + 2, value) })
}

/// "Three quarters", if no unit follows: "of an hour" makes it a length, and "drei viertel acht" is a time.
fn quarters(scan: &Senses<'_>, token: usize) -> Option<Number> {
    let (quarters, end) = scan.pick(token, |sense| match sense {
        Sense::Quarters(quarters) => Some(f64::from(quarters)),
        _ => None,
    })?;
    let is_alone =
        scan.kind(end) != Some(TokenKind::Word) || scan.has(end, Sense::Function) || scan.has(end, Sense::Please);
    let is_of_something = scan.has(end, Sense::Of) || scan.has(end, Sense::Past) || scan.has(end, Sense::To);
    let value = Number { integer: None, digits: false, ..Number::with_value(token, end, quarters / 4.0) };
    (is_alone && !is_of_something).then_some(value)
}

/// "a dozen", "half a dozen", "a couple of", "half a million".
fn dozens(scan: &Senses<'_>, token: usize) -> Option<Number> {
    if let Some(half) = scan.after(scan.skip(token, Sense::A), Sense::Half) {
        let at = scan.skip(if scan.joins(half, "-") { half + 1 } else { half }, Sense::A);
        if let Some(end) = scan.after(at, Sense::Dozen) {
            return Some(Number::whole(token, end, 6, false));
        }
        if let Some((factor @ 1_000.., end)) = scan.pick(at, |sense| match sense {
            Sense::Multiplier(factor) => Some(factor),
            _ => None,
        }) {
            return Some(Number::whole(token, end, factor / 2, false));
        }
    }
    let counted = scan.skip(token, Sense::A);
    if let Some(end) = scan.after(counted, Sense::Dozen) {
        return Some(Number::whole(token, end, 12, false));
    }
    let couple = |end| Number { certainty: Certainty::Likely, ..Number::whole(token, end, 2, false) };
    scan.after(counted, Sense::Couple).map(couple)
}

/// ひとつ, ふたり.
fn counted(scan: &Senses<'_>, token: usize) -> Option<Number> {
    // "anderthalb"
    if let Some((halves, end)) = scan.pick(token, |sense| match sense {
        Sense::Halves(halves) => Some(halves),
        _ => None,
    }) {
        return Some(Number { digits: false, ..Number::with_value(token, end, f64::from(halves) / 2.0) });
    }
    let (count, end) = scan.pick(token, |sense| match sense {
        Sense::Count(count) => Some(count),
        _ => None,
    })?;
    Some(Number { certainty: Certainty::Clear, ..Number::whole(token, end, count, false) })
}

/// `1,00,000`: groups of two digits behind the first group, and one of three at the end.
fn indian(scan: &Senses<'_>, token: usize) -> Option<Number> {
    const MOST_PAIRS: usize = 6;
    let is_group = |comma: usize, digits: usize| {
        let group = comma + 1;
        scan.joins(comma, ",") && scan.kind(group) == Some(TokenKind::Digits) && scan.text(group).len() == digits
    };
    let pairs = (0..MOST_PAIRS).take_while(|pair| is_group(token + 1 + 2 * pair, 2)).count();
    let last = token + 1 + 2 * pairs;
    let is_indian = pairs > 0 && scan.text(token).len() <= 2 && is_group(last, 3) && !scan.lexicon.comma_decimal;
    let written = is_indian.then(|| (token..=last + 1).step_by(2).map(|group| scan.text(group)).collect::<String>())?;
    Some(Number::whole(token, last + 2, written.parse().ok()?, true))
}

fn digits(scan: &Senses<'_>, token: usize) -> Option<Number> {
    let (mut thousands, mut decimal) = if scan.lexicon.comma_decimal { (".", ",") } else { (",", ".") };
    let first = scan.text(token);
    let mut written = first.to_owned();
    let mut end = token + 1;
    // A group of exactly three digits behind a separator.
    let group = |end: usize, separator: &str| {
        (scan.joins(end, separator) && scan.kind(end + 1) == Some(TokenKind::Digits) && scan.text(end + 1).len() == 3)
            .then(|| scan.text(end + 1))
    };
    let spaced = spaced_groups(scan, token);
    let is_fraction = |at: usize| {
        scan.joins(at, thousands) && scan.kind(at + 1) == Some(TokenKind::Digits) && scan.text(at + 1).len() <= 2
    };
    // Two digits behind the last comma are not a group of thousands: "17,80". In "12,17,80" they are one of several
    // numbers.
    let are_cents = |at: usize| {
        thousands == ","
            && is_fraction(at)
            && scan.text(at + 1).len() == 2
            && !scan.joins(at + 2, thousands)
            && !(scan.is_glued(token) && token > 0 && scan.text(token - 1) == thousands)
    };
    // "1.250,50" and "1 250,50" show which mark is the decimal sign.
    let is_foreign = match spaced {
        Some((_, after)) => is_fraction(after),
        None => are_cents(end) || first.len() <= 3 && group(end, decimal).is_some() && is_fraction(end + 2),
    };
    if is_foreign {
        (thousands, decimal) = (decimal, thousands);
    }
    let mut separator = thousands;
    if let Some((groups, after)) = spaced {
        (written, end) = (groups, after);
    } else if first.len() <= 3 && !first.starts_with('0') {
        if group(end, decimal).is_some() && group(end + 2, decimal).is_some() {
            separator = decimal;
        }
        while written.len() <= MOST_DIGITS
            && let Some(group) = group(end, separator)
        {
            written.push_str(group);
            end += 2;
        }
    }
    let mut is_whole = true;
    let decimals = |end: usize| {
        (separator == thousands && scan.joins(end, decimal) && scan.kind(end + 1) == Some(TokenKind::Digits))
            .then(|| scan.text(end + 1))
    };
    let mut code = written.len() > MOST_DIGITS;
    if !code && let Some(fraction) = decimals(end) {
        if decimals(end + 2).is_some() {
            // `1.2.3`, `10.0.0.1`: a version or an address.
            code = true;
        } else if fraction.len() <= MOST_DIGITS {
            written.push('.');
            written.push_str(fraction);
            is_whole = false;
            end += 2;
        }
    }
    code |= is_of_letters(scan, token, end) || is_after_dot(scan, token) || identifier::is_part_of_one(scan, token);
    let mut number = if code {
        let Ok(value) = first.parse::<i64>() else { return None };
        Number { code: true, certainty: Certainty::Possible, ..Number::whole(token, token + 1, value, true) }
    } else if is_whole {
        Number::whole(token, end, written.parse().ok()?, true)
    } else {
        Number { integer: None, ..Number::with_value(token, end, written.parse().ok()?) }
    };
    if !number.code
        && is_whole
        && let Some((suffix, ())) =
            scan.pick(end, |sense| (sense == Sense::OrdinalSuffix).then_some(())).map(|(unit, end)| (end, unit))
        && scan.is_glued(end)
        && !scan.is_glued_word(suffix)
    {
        number.ordinal = true;
        number.end = suffix;
        return Some(number);
    }
    if !number.code && is_whole {
        fraction(scan, &mut number);
    }
    Some(number)
}

/// True if letters are written together with the digits from `token` to `end`: `4b7f`. In `2h30`, both are numbers.
fn is_of_letters(scan: &Senses<'_>, token: usize, end: usize) -> bool {
    let joins_numbers = |letters: usize| {
        letters > 0
            && scan.kind(letters - 1) == Some(TokenKind::Digits)
            && (scan.is_symbol(letters, "x") || scan.pick(letters, |_| Some(())).is_some())
    };
    let is_word = |at: usize| scan.kind(at) == Some(TokenKind::Word) && scan.text(at).is_ascii();
    // "Gate x2": a multiplication sign.
    let is_times = |at: usize| scan.text(at) == "x" && !scan.is_glued(at);
    let is_joined = scan.is_glued(token) && token > 0 && is_word(token - 1);
    let follows = is_joined && !joins_numbers(token - 1) && !is_times(token - 1);
    let goes_on = || scan.is_glued(end + 1) && scan.kind(end + 1) == Some(TokenKind::Digits);
    let is_unit =
        || scan.pick(end, |sense| matches!(sense, Sense::Unit(_) | Sense::GluedUnit(_)).then_some(())).is_some();
    let leads = scan.is_glued(end) && is_word(end) && (scan.text(end).len() > 3 || goes_on()) && !is_unit();
    follows || leads
}

/// The digits of "1 250": the first group has one to three of them, each other exactly three. A no-break space
/// separates groups in every language, a plain one only in languages that write numbers so. `2 250g` are two numbers.
fn spaced_groups(scan: &Senses<'_>, token: usize) -> Option<(String, usize)> {
    let is_digits = |at: usize| scan.kind(at) == Some(TokenKind::Digits);
    // "1 250,50" is one number everywhere.
    let has_cents = scan.joins(token + 2, ",") && is_digits(token + 3) && scan.text(token + 3).len() == 2;
    let parts = |at: usize| match scan.gap(at) {
        " " => scan.lexicon.space_groups || has_cents,
        gap => matches!(gap, "\u{A0}" | "\u{202F}" | "\u{2009}"),
    };
    let first = scan.text(token);
    let goes_on = token > 0
        && if scan.is_glued(token) {
            scan.kind(token - 1) == Some(TokenKind::Word) || matches!(scan.text(token - 1), "+" | "/" | "." | ",")
        } else {
            is_digits(token - 1)
        };
    if first.len() > 3 || first.starts_with('0') || goes_on {
        return None;
    }
    let (mut written, mut end) = (first.to_owned(), token + 1);
    while is_digits(end) && parts(end) {
        if scan.text(end).len() != 3 || written.len() > MOST_DIGITS {
            return None;
        }
        written.push_str(scan.text(end));
        end += 1;
    }
    let is_of_a_word = scan.is_glued(end) && scan.kind(end) == Some(TokenKind::Word) || scan.joins(end, "-");
    (end > token + 1 && !is_of_a_word).then_some((written, end))
}

/// True if a number of several groups with spaces between them begins at `token`.
pub(super) fn has_spaced_groups(scan: &Senses<'_>, token: usize) -> bool {
    spaced_groups(scan, token).is_some()
}

/// True if the digits at `token` continue a chain, as the `3` of `1.2.3`.
fn is_after_dot(scan: &Senses<'_>, token: usize) -> bool {
    token >= 2
        && scan.joins(token - 1, ".")
        && scan.kind(token - 2) == Some(TokenKind::Digits)
        && scan.is_symbol(token - 1, ".")
}

impl Number {
    fn with_value(start: usize, end: usize, value: f64) -> Self {
        Self {
            start,
            end,
            value,
            integer: exact_integer(value),
            ordinal: false,
            digits: true,
            code: false,
            certainty: Certainty::WrittenOut,
        }
    }
}

const fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{309F}')
}

impl Senses<'_> {
    /// A currency sign that stands before its amount.
    fn is_currency(&self, token: usize) -> bool {
        let before = |sense| matches!(sense, Sense::Currency { written, .. } if written.stands_before()).then_some(());
        self.pick(token, before).is_some()
    }

    fn is_glued_word(&self, token: usize) -> bool {
        self.is_glued(token) && self.kind(token) == Some(TokenKind::Word) && self.text(token).is_ascii()
    }
}

/// `1/2` and `½`: the value of the fraction at `top`, and the token after it.
fn fraction_at(scan: &Senses<'_>, top: usize) -> Option<(f64, usize)> {
    let slash = top + 1;
    let is_fraction_sign = scan.is_symbol(slash, "\u{2044}");
    if !is_fraction_sign && !scan.joins(slash, "/") {
        return None;
    }
    let (above, below) = (scan.digits(top, 2)?, scan.digits(slash + 1, 2)?);
    let likely = is_fraction_sign || matches!(below, 2..=6 | 8 | 10 | 12 | 16);
    let chain = scan.joins(slash + 2, "/") || (top >= 1 && scan.joins(top - 1, "/"));
    (likely && above < below && !chain).then(|| (f64::from(above) / f64::from(below), slash + 2))
}

/// A fraction, alone or behind a whole number: `1½`, `1 1/2`.
fn fraction(scan: &Senses<'_>, number: &mut Number) {
    if let Some((value, end)) = fraction_at(scan, number.start) {
        (number.value, number.integer, number.end) = (value, None, end);
        let has_slash = scan.is_symbol(number.start + 1, "/");
        number.certainty = if has_slash { Certainty::Likely } else { Certainty::WrittenOut };
    } else if let Some((value, end)) = fraction_at(scan, number.end) {
        (number.value, number.integer, number.end) = (number.value + value, None, end);
    }
}

/// The word as said, in lower case: number words keep their accents ("fünf").
fn lowered<'s>(scan: &'s Senses<'_>, token: usize, buffer: &'s mut String) -> Option<&'s str> {
    let folded = scan.text(token);
    if folded.len() > 60 {
        return None;
    }
    let raw = scan.utterance.slice(scan.span(token, token + 1)?);
    if raw.is_ascii() {
        return Some(folded);
    }
    buffer.clear();
    buffer.extend(raw.chars().flat_map(char::to_lowercase));
    Some(buffer)
}

fn words(scan: &Senses<'_>, language: &Language, first: usize) -> Option<Number> {
    let english = scan.lexicon.english;
    let first_word = scan.text(first);
    // A single letter is not a number; nor are "ones" and "hundreds of".
    if first_word.len() == 1 || (english && first_word.ends_with('s')) {
        return None;
    }
    if let Some(number) = point(scan, language, first).or_else(|| with_half(scan, language, first)) {
        return Some(number);
    }
    let mut buffer = String::new();
    let mut built = DigitString::new();
    let mut best: Option<(i64, usize)> = None;
    let mut token = first;
    for count in 0..MOST_WORDS {
        if count > 0 && scan.joins(token, "-") {
            token += 1;
        }
        if scan.kind(token) != Some(TokenKind::Word) {
            break;
        }
        let Some(word) = lowered(scan, token, &mut buffer) else { break };
        if english && matches!(word, "o" | "point") {
            break;
        }
        match apply(scan, language, word, &mut built) {
            Ok(()) => {
                let Some(value) = value_of(&built) else { break };
                best = Some((value, token + 1));
            }
            // A linking word belongs to the number if more of the number follows.
            Err(Error::Incomplete) if count > 0 => {}
            Err(_) => break,
        }
        token += 1;
    }
    let (value, end) = best?;
    let last_word = scan.text(end - 1);
    if built.marker.is_ordinal() && !(english && last_word.ends_with('s')) {
        return Some(Number { ordinal: true, ..Number::whole(first, end, value, false) });
    }
    if !built.marker.is_none() || (english && end == first + 1 && last_word.ends_with('s')) {
        return None;
    }
    let mut number = Number::whole(first, end, value, false);
    decimals(scan, language, &mut number);
    if end == first + 1 && value == 1 {
        number.certainty = single_one(scan, first);
    }
    Some(number)
}

/// Adds a number word, which may be written without its accent or umlaut: "veintitres", "fuenf".
fn apply(scan: &Senses<'_>, language: &Language, word: &str, built: &mut DigitString) -> Result<(), Error> {
    let result = language.apply(word, built);
    if scan.lexicon.english || !word.is_ascii() || matches!(result, Ok(()) | Err(Error::Incomplete)) {
        return result;
    }
    let umlauts = word.replace("ue", "ü").replace("oe", "ö");
    let is_written = (umlauts != word && language.apply(&umlauts, built).is_ok())
        || accented(word).is_some_and(|accented| language.apply(&accented, built).is_ok());
    if is_written { Ok(()) } else { result }
}

/// The word with an accent on its last vowel.
fn accented(word: &str) -> Option<String> {
    const VOWELS: [(char, char); 5] = [('a', 'á'), ('e', 'é'), ('i', 'í'), ('o', 'ó'), ('u', 'ú')];
    let last = word.rfind(|letter| VOWELS.iter().any(|(plain, _)| *plain == letter))?;
    let plain = word[last..].chars().next()?;
    let (_, accent) = VOWELS.into_iter().find(|(vowel, _)| *vowel == plain)?;
    Some(format!("{}{accent}{}", &word[..last], &word[last + 1..]))
}

/// "Point five": decimals without a whole number, by the word that the language has for its sign.
fn point(scan: &Senses<'_>, language: &Language, token: usize) -> Option<Number> {
    let sign = language.check_decimal_separator(scan.text(token))?;
    let mut number = Number::whole(token, token, 0, false);
    decimals(scan, language, &mut number);
    let ends = scan.kind(number.end) != Some(TokenKind::Word)
        || scan.has(number.end, Sense::Function)
        || scan.has(number.end, Sense::Please)
        || scan.pick(number.end, Sense::unit).is_some();
    // "Punkt fünf" is five o'clock sharp.
    let is_own = (sign == ',') == scan.lexicon.comma_decimal;
    (is_own && ends && number.end > token).then_some(number)
}

/// "Fünfeinhalb".
fn with_half(scan: &Senses<'_>, language: &Language, token: usize) -> Option<Number> {
    let mut buffer = String::new();
    let word = lowered(scan, token, &mut buffer)?;
    let stem = scan.lexicon.half_endings.iter().find_map(|ending| word.strip_suffix(ending))?;
    let mut built = DigitString::new();
    apply(scan, language, stem, &mut built).ok()?;
    let whole = Number::whole(token, token + 1, value_of(&built)?, false);
    Some(Number { value: whole.value + 0.5, integer: None, ..whole })
}

fn value_of(digits: &DigitString) -> Option<i64> {
    digits
        .iter()
        .try_fold(0_i64, |value, digit| value.checked_mul(10)?.checked_add(i64::from(digit.checked_sub(b'0')?)))
}

/// "three point one four".
fn decimals(scan: &Senses<'_>, language: &Language, number: &mut Number) {
    let mut buffer = String::new();
    let Some(word) = lowered(scan, number.end, &mut buffer) else { return };
    if scan.kind(number.end) != Some(TokenKind::Word) || language.check_decimal_separator(word).is_none() {
        return;
    }
    let mut written = format!("{}.", number.value);
    let mut token = number.end + 1;
    while token < number.end + 12 && scan.kind(token) == Some(TokenKind::Word) {
        let mut digit = DigitString::new();
        let Some(word) = lowered(scan, token, &mut buffer) else { break };
        if language.apply_decimal(word, &mut digit).is_err() {
            break;
        }
        written.push_str(&digit.to_string());
        token += 1;
    }
    if token > number.end + 1
        && let Ok(value) = written.parse()
    {
        (number.value, number.integer, number.end) = (value, None, token);
    }
}

/// How sure it is that the word "one" is the number: it is before a noun, it is not in "the white one" or "one of
/// them".
fn single_one(scan: &Senses<'_>, token: usize) -> Certainty {
    if scan.len() == 1 {
        return Certainty::WrittenOut;
    }
    if !scan.lexicon.english {
        return if scan.has(token, Sense::A) { Certainty::Doubtful } else { Certainty::Usual };
    }
    if token > 0 && scan.has(token - 1, Sense::Determiner) {
        return Certainty::Possible;
    }
    // "One moment, please."
    if scan.text(token + 1) == "moment" {
        return Certainty::Possible;
    }
    let next_is_noun = scan.kind(token + 1) == Some(TokenKind::Word) && !scan.has(token + 1, Sense::Function);
    if next_is_noun { Certainty::WrittenOut } else { Certainty::Guessed }
}

/// Kanji numerals, where the language has them or a counter follows; also mixed with digits (3万5千).
fn kanji(scan: &Senses<'_>, first: usize) -> Option<Number> {
    let glued = (first..scan.len()).take_while(|token| *token == first || scan.is_glued(*token));
    let numeral = numeral::read(glued.map(|token| scan.text(token))).filter(|numeral| numeral.has_kanji)?;
    let end = first + numeral.pieces;
    // Within a word (一般, 三菱) a numeral is not a number, and 一度 means "for a moment".
    let is_once = scan.text(first) == "一" && scan.text(end) == "度";
    let is_measured = scan.pick(end, Sense::unit).is_some();
    let is_counted = is_measured || numeral::is_counter(scan.text(end), scan.text(end + 1));
    let is_alone = scan.lexicon.kanji_numbers && (numeral.pieces > 1 || scan.kind(end) != Some(TokenKind::Word));
    let is_number = !is_once && (is_counted || is_alone);
    let stands_free = first == 0 || scan.kind(first - 1) != Some(TokenKind::Digits) || !scan.is_glued(first);
    let number = || Number { certainty: Certainty::Clear, ..Number::whole(first, end, numeral.value, false) };
    (is_number && stands_free).then(number)
}

/// "half" alone: a number with little confidence, if it is not part of one of `found`.
pub(super) fn halves(scan: &Senses<'_>, found: &[TokenReading<f64>]) -> Vec<TokenReading<f64>> {
    scan.find(|token| {
        let end = scan.after(token, Sense::Half)?;
        let counts = !scan.has(end, Sense::Past) && !scan.has(scan.skip(end, Sense::A), Sense::Dozen);
        let inside = found.partition_point(|number| number.end <= token);
        let free = found.get(inside).is_none_or(|number| number.start >= end);
        (counts && free).then(|| TokenReading::new(token, end, 0.5, Certainty::Even))
    })
}

pub(super) fn cardinals(numbers: &[Option<Number>]) -> impl Iterator<Item = &Number> {
    numbers.iter().flatten().filter(|number| !number.ordinal)
}

/// Ranks: "2nd", "second", "twenty-first"; "last" is -1. "second" behind a number is a unit of time.
pub(super) fn ordinals(scan: &Senses<'_>, numbers: &[Option<Number>]) -> Vec<TokenReading<i64>> {
    scan.find(|token| {
        if let Some(number) = numbers.get(token)?.as_ref().filter(|number| number.ordinal) {
            let is_unit = token > 0
                && scan.pick(token, |sense| matches!(sense, Sense::Unit(_)).then_some(())).is_some()
                && (matches!(scan.kind(token - 1), Some(TokenKind::Digits))
                    || scan.has(token - 1, Sense::A)
                    || (scan.is_symbol(token - 1, "-") && scan.is_glued(token)));
            let certainty = if is_unit { Certainty::Possible } else { Certainty::WrittenOut };
            return number.integer.map(|value| TokenReading::new(token, number.end, value, certainty));
        }
        let end = scan.after(token, Sense::Final)?;
        let is_period = scan
            .pick(end, |sense| {
                matches!(
                    sense,
                    Sense::Unit(_) | Sense::Weekday { .. } | Sense::Month { .. } | Sense::Weekend | Sense::Part(_)
                )
                .then_some(())
            })
            .is_some();
        (!is_period).then(|| TokenReading::new(token, end, -1, Certainty::Guessed))
    })
}

/// "5%", "five percent".
pub(super) fn percentages(scan: &Senses<'_>, numbers: &[Option<Number>]) -> Vec<TokenReading<serde_json::Value>> {
    cardinals(numbers)
        .filter(|number| !number.code)
        .filter_map(|number| {
            let end = scan.after(number.end, Sense::Percent)?;
            let value = number.integer.map(Into::into).or_else(|| json(number.value))?;
            Some(TokenReading::new(number.start, end, value, Certainty::WrittenOut))
        })
        .collect()
}
