//! How a built-in recognizer reads words that leave room, as the slot wants it: which half of the day "at 8" lies in,
//! whether "on 3 November" is ahead or behind, and what "two weeks" come to in a slot of days.
//!
//! `module.toml` says so (`part_of_day`, `direction`, `unit` of a slot). Where it says nothing, the words of the schema
//! do: a name, a description, a function about alarms or dinners. `uptake check` shows what was guessed.

use super::{
    Builtin, Slot, SlotKind,
    settings::{Direction, PartOfDay, SlotSettings},
};
use crate::{
    language::units::Unit,
    text::{name_words, names::singular},
};

/// What a slot wants of its built-in recognizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SlotReading {
    pub part_of_day: PartOfDay,
    pub direction: Direction,
    /// The unit in which a number counts.
    pub unit: Option<Unit>,
    /// The number counts things, so that a measure ("two weeks") is none.
    pub counts_things: bool,
    /// The number is a place in a row, so that "the 20th" is one.
    pub is_rank: bool,
}

impl Unit {
    /// The unit that a word of a schema names, in the languages that Uptake speaks; singular and plural are one.
    fn named(word: &str) -> Option<Self> {
        Some(match singular(word).as_ref() {
            "second" | "sec" | "sekunde" | "sekunden" | "segundo" | "seconde" | "秒" | "秒数" => Self::Seconds,
            "minute" | "min" | "minuten" | "minuto" | "分" | "分数" => Self::Minutes,
            "hour" | "hr" | "stunde" | "stunden" | "hora" | "heure" | "時間" | "時間数" => Self::Hours,
            "day" | "night" | "tag" | "tage" | "nacht" | "nächte" | "día" | "dia" | "noche" | "jour" | "nuit"
            | "日数" | "泊数" => Self::Days,
            "week" | "woche" | "wochen" | "semana" | "semaine" | "週" | "週数" | "週間" => Self::Weeks,
            "month" | "monat" | "monate" | "mes" | "mese" | "meses" | "mois" | "moi" | "か月" | "ヶ月" | "月数" => {
                Self::Months
            }
            "year" | "jahr" | "jahre" | "año" | "anno" | "an" | "ans" | "année" | "年数" => Self::Years,
            "milligram" | "mg" => Self::Milligrams,
            "gram" | "gramme" | "gramm" | "gramo" => Self::Grams,
            "kilogram" | "kilogramme" | "kilogramm" | "kilogramo" | "kilo" | "kg" => Self::Kilograms,
            "tonne" => Self::Tonnes,
            "ounce" | "oz" => Self::Ounces,
            "pound" | "lb" => Self::Pounds,
            "millimetre" | "millimeter" | "mm" => Self::Millimetres,
            "centimetre" | "centimeter" | "zentimeter" | "centímetro" | "centimètre" | "cm" => Self::Centimetres,
            "metre" | "meter" | "metro" | "mètre" => Self::Metres,
            "kilometre" | "kilometer" | "kilómetro" | "kilomètre" | "km" => Self::Kilometres,
            "inch" | "inche" => Self::Inches,
            "foot" | "feet" => Self::Feet,
            "yard" => Self::Yards,
            "mile" => Self::Miles,
            "millilitre" | "milliliter" | "ml" => Self::Millilitres,
            "centilitre" | "centiliter" | "cl" => Self::Centilitres,
            "litre" | "liter" | "litro" => Self::Litres,
            "cent" => Self::Cents,
            _ => return None,
        })
    }
}

impl SlotReading {
    /// What the author set for the slot, else what the words of the schema say.
    pub(super) fn new(set: Option<&SlotSettings>, function: (&str, &str), slot: &Slot) -> Self {
        let own = Said::new(&[slot.label(), &slot.description]);
        let all = Said::new(&[slot.label(), &slot.description, function.0, function.1]);
        let is_number = matches!(slot.kind, SlotKind::Integer | SlotKind::Number);
        let guessed = if is_number { unit(slot) } else { None };
        let unit = set.and_then(|set| set.unit).or(guessed);
        Self {
            part_of_day: set.and_then(|set| set.part_of_day).unwrap_or_else(|| part_of_day(&own, &all)),
            direction: set.and_then(|set| set.direction).unwrap_or_else(|| direction(&own, &all)),
            unit,
            counts_things: is_number && unit.is_none() && counts_things(slot.label()),
            is_rank: is_number && is_rank(slot.label()),
        }
    }

    /// The part of it that matters to `builtin`.
    #[must_use]
    pub(super) fn of(self, builtin: Builtin) -> Self {
        let none = Self::default();
        match builtin {
            Builtin::Date => Self { direction: self.direction, ..none },
            Builtin::Time => Self { part_of_day: self.part_of_day, ..none },
            Builtin::DateTime => Self { part_of_day: self.part_of_day, direction: self.direction, ..none },
            Builtin::Integer | Builtin::Number => {
                Self { unit: self.unit, counts_things: self.counts_things, is_rank: self.is_rank, ..none }
            }
            Builtin::Money => Self { unit: self.unit.filter(|unit| *unit == Unit::Cents), ..none },
            Builtin::Ordinal
            | Builtin::Percent
            | Builtin::Duration
            | Builtin::Email
            | Builtin::Phone
            | Builtin::Url
            | Builtin::Boolean => none,
        }
    }

    /// In words for an author; empty if nothing is special.
    #[must_use]
    pub fn described(self) -> Vec<String> {
        let part_of_day = match self.part_of_day {
            PartOfDay::Ask => None,
            PartOfDay::Morning => Some("part_of_day = \"morning\""),
            PartOfDay::Afternoon => Some("part_of_day = \"afternoon\""),
            PartOfDay::Day => Some("part_of_day = \"day\""),
            PartOfDay::Nearest => Some("part_of_day = \"nearest\""),
        };
        let direction = match self.direction {
            Direction::Future => None,
            Direction::Past => Some("direction = \"past\""),
            Direction::Any => Some("direction = \"any\""),
        };
        let unit = self.unit.map(|unit| format!("unit = \"{}\"", unit.name()));
        part_of_day.into_iter().chain(direction).map(str::to_owned).chain(unit).collect()
    }
}

/// The words of a schema's texts.
struct Said(Vec<String>);

impl Said {
    fn new(texts: &[&str]) -> Self {
        Self(texts.iter().flat_map(|text| name_words(text)).map(|word| singular(&word).into_owned()).collect())
    }

    fn any(&self, wanted: &[&str]) -> bool {
        // German joins its nouns, and Japanese all words.
        let is_joined = |word: &str, part: &str| (part.len() > 5 || !part.is_ascii()) && word.contains(part);
        self.0.iter().any(|word| wanted.iter().any(|one| word == one || is_joined(word, one)))
    }
}

fn part_of_day(own: &Said, all: &Said) -> PartOfDay {
    let guess = |said: &Said| {
        if said.any(&["alarm", "wake", "breakfast", "wecker", "frühstück", "despertador", "desayuno", "réveil", "朝食"])
        {
            PartOfDay::Morning
        } else if said.any(&[
            "dinner",
            "supper",
            "restaurant",
            "concert",
            "cinema",
            "movie",
            "theatre",
            "theater",
            "abendessen",
            "konzert",
            "cena",
            "dîner",
            "夕食",
            "レストラン",
        ]) {
            PartOfDay::Afternoon
        } else if said.any(&[
            "visit",
            "repair",
            "inspection",
            "installation",
            "delivery",
            "pickup",
            "collection",
            "meeting",
            "appointment",
            "office",
            "viewing",
            "doctor",
            "dentist",
            "haircut",
            "technician",
            "lunch",
            "termin",
            "besprechung",
            "cita",
            "reunión",
            "réunion",
            "会議",
            "予約",
        ]) {
            PartOfDay::Day
        } else {
            PartOfDay::Ask
        }
    };
    match guess(own) {
        PartOfDay::Ask => guess(all),
        known => known,
    }
}

fn direction(own: &Said, all: &Said) -> Direction {
    let is_past = own.any(&[
        "birth",
        "birthdate",
        "birthday",
        "dob",
        "born",
        "incident",
        "accident",
        "purchase",
        "purchased",
        "bought",
        "since",
        "happened",
        "occurred",
        "issued",
        "hired",
        "lost",
        "damaged",
        "transaction",
        "completed",
        "geburt",
        "unfall",
        "gekauft",
        "schaden",
        "nacimiento",
        "accidente",
        "naissance",
        "achat",
        "生年月日",
        "購入",
    ]);
    let tells_of_past = all.any(&["history", "incident", "accident", "expense", "claim", "transaction", "happened"]);
    let is_ahead = own.any(&["due", "deadline", "until", "expiry", "appointment", "delivery", "next", "until"]);
    if is_past || tells_of_past && !is_ahead { Direction::Past } else { Direction::Future }
}

/// The unit that the name says, else the one that the description says, if it is one.
fn unit(slot: &Slot) -> Option<Unit> {
    let label = name_words(slot.label());
    if label.iter().any(|word| word == "age") {
        return Some(Unit::Years);
    }
    // `month` alone is a month of the year, `day` one of the month; the `min` of `min_price` is no minute.
    let counts = |word: &str| (label.len() > 1 || singular(word) != word) && (word != "min" || label[0] != "min");
    const SUMS: [&str; 10] =
        ["price", "amount", "cost", "fee", "budget", "payment", "deposit", "salary", "balance", "rent"];
    let is_sum = Said::new(&[slot.label(), &slot.description]).any(&SUMS);
    let fits = |unit: &Unit| !(is_sum && *unit == Unit::Pounds);
    let named: Vec<Unit> =
        label.iter().filter(|word| counts(word)).filter_map(|word| Unit::named(word)).filter(fits).collect();
    let joins_several = label.iter().any(|word| matches!(word.as_str(), "per" | "of" | "start" | "end"));
    if let [unit] = named[..]
        && (!joins_several || label.first().is_some_and(|word| word == "number"))
    {
        return Some(unit);
    }
    // "the day of the month" is no length.
    const ONE: [&str; 16] = [
        "second", "minute", "hour", "day", "night", "week", "month", "year", "tag", "monat", "jahr", "mes", "día",
        "jour", "semana", "semaine",
    ];
    let description = name_words(&slot.description);
    let introduced = description.windows(2).filter(|pair| {
        !ONE.contains(&pair[1].as_str())
            && matches!(pair[0].as_str(), "in" | "of" | "many" | "en" | "de" | "cuántos" | "cuántas" | "combien")
    });
    let mut said: Vec<Unit> = introduced.filter_map(|pair| Unit::named(&pair[1])).filter(fits).collect();
    said.dedup();
    if let [unit] = said[..] { Some(unit) } else { None }
}

/// True of a name for how many there are: `guests`, `num_tickets`, `party_size`.
fn counts_things(label: &str) -> bool {
    let words = name_words(label);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let says_so = words.iter().any(|word| matches!(word.as_str(), "num" | "number" | "count" | "party" | "no"));
    let is_plural = singular(last) != last && last.len() > 3;
    (says_so && words.len() > 1) || is_plural || matches!(last, "people" | "adults" | "children" | "guests" | "persons")
}

/// True of a name for a place in a row: `floor`, `payment_day`, `row`.
fn is_rank(label: &str) -> bool {
    let words = name_words(label);
    let last = words.last().map(String::as_str);
    matches!(
        last,
        Some(
            "day"
                | "floor"
                | "row"
                | "rank"
                | "position"
                | "place"
                | "step"
                | "chapter"
                | "grade"
                | "level"
                | "tag"
                | "stock"
                | "etage"
                | "stockwerk"
                | "día"
                | "dia"
                | "piso"
                | "planta"
                | "jour"
                | "étage"
                | "階"
        )
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, findings::Findings, slots};

    /// What is read of a slot with this name, type and description, of a function with this name.
    fn read(function: &str, name: &str, kind: &str, description: &str) -> String {
        let parameters = json!({"type": "object", "properties": {name: {"type": kind, "description": description}}});
        let slots = slots::flatten(&parameters, "", (function, ""), &Limits::default(), &mut Findings::new());
        SlotReading::new(None, (function, ""), &slots[0]).described().join(", ")
    }

    #[test]
    fn words_of_the_schema_say_how_a_slot_is_read() {
        for (function, name, kind, description, expected) in [
            ("set_alarm", "time", "string", "", "part_of_day = \"morning\""),
            ("reserve", "time", "string", "When dinner is", "part_of_day = \"afternoon\""),
            ("book_appointment", "time", "string", "", "part_of_day = \"day\""),
            ("reserver", "heure", "string", "Heure du dîner", "part_of_day = \"afternoon\""),
            ("call_back", "time", "string", "", ""),
            ("register", "date_of_birth", "string", "", "direction = \"past\""),
            ("report_accident", "day", "string", "", "direction = \"past\""),
            ("anmelden", "geburtsdatum", "string", "", "direction = \"past\""),
            ("book", "start_date", "string", "", ""),
            ("forecast", "num_days", "integer", "", "unit = \"days\""),
            ("apply", "term", "integer", "Term in months", "unit = \"months\""),
            ("post", "weight_kg", "number", "", "unit = \"kilograms\""),
            ("buchen", "dauer", "integer", "Anzahl in Minuten", "unit = \"minutes\""),
            ("insure", "age", "integer", "", "unit = \"years\""),
            ("search", "min_price", "number", "Lowest price in pounds", ""),
            ("plan", "month", "integer", "", ""),
            ("order", "quantity", "integer", "", ""),
        ] {
            assert_eq!(read(function, name, kind, description), expected, "{function} {name}");
        }
    }

    #[test]
    fn names_say_what_counts_things() {
        let counted: Vec<&str> = ["guests", "num_tickets", "party_size", "quantity", "value", "address"]
            .into_iter()
            .filter(|name| counts_things(name))
            .collect();
        assert_eq!(counted, ["guests", "num_tickets", "party_size"]);
    }

    #[test]
    fn units_of_one_kind_convert() {
        assert_eq!(Unit::Years.convert(3.0, Unit::Months), Some(36.0));
        assert_eq!(Unit::Weeks.convert(3.0, Unit::Days), Some(21.0));
        assert_eq!(Unit::Grams.convert(750.0, Unit::Kilograms), Some(0.75));
        assert_eq!(Unit::Months.convert(2.0, Unit::Days), None);
    }
}
