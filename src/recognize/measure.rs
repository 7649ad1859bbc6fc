//! Numbers with their units, converted to the slot's unit: "three weeks" are 21 days, "1.5 kg" are 1500 grams.
//!
//! A number with a unit of another kind is not a value of the slot ("two weeks" are neither minutes of a meeting nor
//! people). A bare number counts in the slot's own unit. For a slot that has no unit and counts no things, the number
//! alone is read, as it stands.

use std::ops::Range;

use super::{
    certainty::Certainty,
    duration::{self, Duration},
    lexicon::Sense,
    money,
    number::{self, Number},
    scan::Scan,
    senses::TokenReading,
};
use crate::{
    language::units::{Dimension, Unit},
    module::SlotReading,
    text::tokens::TokenKind,
};

/// The certainty that an article behind a number means one.
pub(crate) const ARTICLE: Certainty = Certainty::Possible;
/// The most numbers that may stand before the one with the unit: "60 by 40 by 15 cm".
const DIMENSIONS: usize = 3;

/// The numbers of the utterance as `reading` wants them.
pub(super) fn numbers(scan: &Scan<'_>, reading: SlotReading) -> Vec<TokenReading<f64>> {
    let mut found = match reading.unit.map(|unit| (unit, unit.dimension())) {
        Some((unit, Dimension::Time | Dimension::Calendar)) => lengths_of_time(scan, unit),
        Some((unit, Dimension::Money)) => sums(scan, unit),
        Some((unit, Dimension::Mass | Dimension::Length | Dimension::Volume)) => {
            let mut found = without_parts(bare_or(scan, |number| measured(scan, number, unit)));
            found.extend(halves(scan, unit));
            found
        }
        None if reading.counts_things => bare_or(scan, |_| None),
        None => number::cardinals(&scan.numbers).map(plain).collect(),
    };
    if reading.counts_things || reading.unit.is_some() {
        found.retain(|number| !is_house_number(scan, number));
    }
    if reading.unit.is_none() && found.iter().any(|one| one.certainty >= Certainty::Even) {
        let is_new = |one: &TokenReading<f64>| found.iter().all(|known| known.start != one.start);
        let ones: Vec<TokenReading<f64>> = articles(scan).filter(is_new).collect();
        found.extend(ones);
    }
    found.extend(ranks(scan, reading));
    found.sort_by_key(|one| one.start);
    found
}

/// The same numbers, if they are whole.
pub(super) fn integers(scan: &Scan<'_>, reading: SlotReading) -> Vec<TokenReading<i64>> {
    let exact = |found: &TokenReading<f64>| {
        // A number with a minus is stored under its digits.
        let filed = (found.start..=found.start + 1).filter_map(|token| scan.numbers.get(token)?.as_ref());
        let said = filed
            .filter(|number| number.start == found.start && number.end == found.end)
            .find_map(|number| number.integer);
        // Large numbers are exact only in the form in which they were said.
        said.filter(|said| number::is_near(*said, found.value)).or_else(|| number::exact_integer(found.value))
    };
    let whole =
        |found: TokenReading<f64>| Some(TokenReading::new(found.start, found.end, exact(&found)?, found.certainty));
    numbers(scan, reading).into_iter().filter_map(whole).collect()
}

fn plain(number: &Number) -> TokenReading<f64> {
    TokenReading::new(number.start, number.end, number.value, number.certainty)
}

/// "Two pies and a coffee": beside a count, an article may mean one.
fn articles<'s>(scan: &'s Scan<'_>) -> impl Iterator<Item = TokenReading<f64>> + 's {
    let is_before_word = |token: &usize| scan.kind(token + 1) == Some(TokenKind::Word);
    let article = move |token: usize| scan.after(token, Sense::A).filter(|after| *after == token + 1);
    (0..scan.len())
        .filter(is_before_word)
        .filter_map(move |token| Some(TokenReading::new(token, article(token)?, 1.0, ARTICLE)))
}

/// Numbers without a unit, and those with a unit that `read` accepts.
fn bare_or(scan: &Scan<'_>, read: impl Fn(&Number) -> Option<TokenReading<f64>>) -> Vec<TokenReading<f64>> {
    number::cardinals(&scan.numbers)
        .filter_map(|number| read(number).or_else(|| (!has_unit(scan, number)).then(|| plain(number))))
        .collect()
}

/// Removes numbers inside an earlier one: the 20 of "1 Meter 20". The numbers are sorted by place.
fn without_parts(mut found: Vec<TokenReading<f64>>) -> Vec<TokenReading<f64>> {
    let mut reach = 0;
    found.retain(|one| {
        let is_part = one.end <= reach;
        reach = reach.max(one.end);
        !is_part
    });
    found
}

/// True for a house number, which counts nothing: "Flat 3, 7 Mill Lane, York", "12 rue de la Paix". In English it
/// stands behind a comma, with at most two words between it and the word for the street.
fn is_house_number(scan: &Scan<'_>, number: &TokenReading<f64>) -> bool {
    let is_street = |at: usize| scan.has(at, Sense::Street);
    if !scan.lexicon.english {
        // "7 bis avenue"
        let behind = if matches!(scan.text(number.end), "bis" | "ter") { number.end + 1 } else { number.end };
        return is_street(behind);
    }
    let follows_comma = number.start > 0 && scan.is_symbol(number.start - 1, ",");
    let words = (number.end..number.end + 3).take_while(|at| scan.kind(*at) == Some(TokenKind::Word));
    let street = words.skip(1).find(|at| is_street(*at));
    let ends = |street: usize| scan.kind(street + 1) != Some(TokenKind::Word) || scan.has(street + 1, Sense::Function);
    follows_comma && street.is_some_and(ends)
}

/// "The 20th": a number, if a number is asked for. If the slot does not take ranks, "first" says when rather than how
/// many, and ranks do not count things.
fn ranks<'s>(scan: &'s Scan<'_>, reading: SlotReading) -> impl Iterator<Item = TokenReading<f64>> + 's {
    let is_unit = |number: &Number| {
        let is_time = |sense| matches!(sense, Sense::Unit(_)).then_some(());
        !number.digits && scan.pick(number.end - 1, is_time).is_some()
    };
    let ranks = scan.numbers.iter().flatten().filter(|number| number.ordinal && !number.code);
    ranks.filter(move |number| !is_unit(number) || reading.is_rank).map(move |number| {
        let certainty = match (reading.is_rank, number.digits) {
            (true, true) => Certainty::Clear,
            (true, false) => Certainty::Likely,
            (false, true) if !reading.counts_things => Certainty::Doubtful,
            (false, _) => Certainty::Possible,
        };
        TokenReading { certainty, ..plain(number) }
    })
}

/// A number in `unit`, converted from the unit of the same kind in which it was said.
fn measured(scan: &Scan<'_>, number: &Number, unit: Unit) -> Option<TokenReading<f64>> {
    let (said, after) =
        units_at(scan, unit_place(scan, number)).find(|(said, _)| said.dimension() == unit.dimension())?;
    let is_own = number.end == unit_start(scan, number);
    if is_own && let Some((centimetres, end)) = centimetres_behind(scan, said, after) {
        let value = said.convert(number.value, unit)? + Unit::Centimetres.convert(centimetres, unit)?;
        return Some(TokenReading::new(number.start, end, value, number.certainty));
    }
    let end = if said == unit || !is_own { number.end } else { after };
    Some(TokenReading::new(number.start, end, said.convert(number.value, unit)?, number.certainty))
}

/// "Ein Meter zwanzig": the two digits right behind whole metres, without a unit of their own.
fn centimetres_behind(scan: &Scan<'_>, said: Unit, at: usize) -> Option<(f64, usize)> {
    let number =
        scan.numbers.get(at)?.as_ref().filter(|number| number.start == at && !number.ordinal && !number.code)?;
    let centimetres = number.integer.filter(|own| said == Unit::Metres && (10..100).contains(own))?;
    let is_alone = units_at(scan, unit_start(scan, number)).next().is_none();
    is_alone.then_some((f64::from(i8::try_from(centimetres).ok()?), number.end))
}

/// The token where the unit of a number would stand: behind it, or behind the numbers that share it.
fn unit_place(scan: &Scan<'_>, number: &Number) -> usize {
    let mut end = unit_start(scan, number);
    for _ in 1..DIMENSIONS {
        if units_at(scan, end).next().is_some() {
            break;
        }
        let Some(next) = scan.after(end, Sense::By) else { break };
        let Some(Some(other)) = scan.numbers.get(next) else { break };
        end = other.end;
    }
    end
}

/// The token behind a number and the hyphen of "three-week".
fn unit_start(scan: &Scan<'_>, number: &Number) -> usize {
    if scan.joins(number.end, "-") { number.end + 1 } else { number.end }
}

/// "Half a mile", "ein halber Meter", in `unit`.
fn halves(scan: &Scan<'_>, unit: Unit) -> Vec<TokenReading<f64>> {
    scan.find(|token| {
        let at = scan.skip(scan.after(token, Sense::Half)?, Sense::A);
        let (said, end) = units_at(scan, at).find(|(said, _)| said.dimension() == unit.dimension())?;
        Some(TokenReading::new(token, end, said.convert(0.5, unit)?, Certainty::WrittenOut))
    })
}

/// The units that the words at `token` may mean, each with the token after them. "m" are metres and minutes.
fn units_at<'s>(scan: &'s Scan<'_>, token: usize) -> impl Iterator<Item = (Unit, usize)> + 's {
    let is_glued = scan.is_glued(token);
    let one = move |dimension: &dyn Fn(Unit) -> bool| {
        scan.pick(token, |sense| {
            let unit = match sense {
                Sense::GluedUnit(unit) if is_glued => unit.into(),
                sense => sense.unit()?,
            };
            dimension(unit).then_some(unit)
        })
    };
    let is_time = |unit: Unit| matches!(unit.dimension(), Dimension::Time | Dimension::Calendar);
    [one(&|unit| is_time(unit)), one(&|unit| !is_time(unit))].into_iter().flatten()
}

/// True if the number has a unit or a currency, or is a percentage.
fn has_unit(scan: &Scan<'_>, number: &Number) -> bool {
    let place = unit_place(scan, number);
    let is_sum = |sense| matches!(sense, Sense::Currency { .. } | Sense::Cent(_) | Sense::Percent).then_some(());
    let before = |sense| matches!(sense, Sense::Currency { written, .. } if written.stands_before()).then_some(());
    units_at(scan, place).next().is_some()
        || scan.pick(place, is_sum).is_some()
        || number.start > 0 && scan.pick(number.start - 1, before).is_some()
}

/// The tokens inside longer readings.
struct Within(Vec<bool>);

impl Within {
    fn new(scan: &Scan<'_>, readings: impl Iterator<Item = Range<usize>>) -> Self {
        let mut tokens = vec![false; scan.len()];
        readings.flatten().for_each(|token| tokens[token] = true);
        Self(tokens)
    }

    fn has(&self, number: &Number) -> bool {
        self.0.get(number.start) == Some(&true)
    }
}

fn lengths_of_time(scan: &Scan<'_>, unit: Unit) -> Vec<TokenReading<f64>> {
    let durations = duration::durations(scan);
    let mut found: Vec<TokenReading<f64>> = durations
        .iter()
        .filter_map(|length| {
            let value = in_unit(length.value, unit)?;
            // "3 days" for a slot of days: only the number, since templates have the word behind their slot.
            let first = scan.numbers.get(length.start).and_then(Option::as_ref);
            let alone =
                first.filter(|number| units_at(scan, unit_start(scan, number)).next() == Some((unit, length.end)));
            let end = alone.map_or(length.end, |number| number.end);
            Some(TokenReading::new(length.start, end, value, length.certainty))
        })
        .collect();
    let within = Within::new(scan, durations.iter().map(|length| length.start..length.end));
    found.extend(
        number::cardinals(&scan.numbers).filter(|number| !within.has(number) && !has_unit(scan, number)).map(plain),
    );
    found
}

#[expect(clippy::cast_precision_loss, reason = "lengths that people say are far below 2^52")]
fn in_unit(length: Duration, unit: Unit) -> Option<f64> {
    let fixed_days = length.weeks * 7 + length.days;
    match unit.dimension() {
        Dimension::Calendar if fixed_days == 0 && length.milliseconds == 0 => {
            Unit::Months.convert(length.months as f64, unit)
        }
        Dimension::Time if length.months == 0 => {
            let seconds = fixed_days as f64 * Unit::Days.size() + length.milliseconds as f64 / 1_000.0;
            Unit::Seconds.convert(seconds, unit)
        }
        _ => None,
    }
}

/// Amounts of money in cents; a bare number counts cents.
fn sums(scan: &Scan<'_>, unit: Unit) -> Vec<TokenReading<f64>> {
    let amounts = money::amounts(scan);
    let within = Within::new(scan, amounts.iter().map(|amount| amount.start..amount.end));
    let mut found: Vec<TokenReading<f64>> = amounts
        .iter()
        .filter_map(|sum| {
            let cents = (sum.value.amount * 100.0 * 1e6).round() / 1e6;
            Some(TokenReading::new(sum.start, sum.end, Unit::Cents.convert(cents, unit)?, sum.certainty))
        })
        .collect();
    found.extend(
        number::cardinals(&scan.numbers).filter(|number| !within.has(number) && !has_unit(scan, number)).map(plain),
    );
    found
}
