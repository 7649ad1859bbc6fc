//! How a built-in recognizer reads ambiguous words for a slot: which half of the day "at 8" lies in, whether "on 3
//! November" is in the future or the past, and what "two weeks" mean in a slot of days.
//!
//! `module.toml` says so (`part_of_day`, `direction`, `unit` of a slot). If it does not, the words of the schema
//! decide: a name, a description, a function about alarms or dinners. `uptake check` shows what was guessed.

use super::{
    Builtin, Counting, Slot,
    settings::{Direction, PartOfDay, SlotSettings},
    squeeze,
};
use crate::{
    language::{
        Language,
        slots::OfSlots,
        units::Unit,
        values::{self, Sense},
    },
    text::{fold, name_words, names::singular},
};

/// The languages in which names are written: the module's, and English.
type Languages = [&'static Language; 2];

/// How a slot wants built-in recognizers to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SlotReading {
    pub part_of_day: PartOfDay,
    pub direction: Direction,
    /// The unit of a number.
    pub unit: Option<Unit>,
    /// The number counts things, so that a measure ("two weeks") is not one.
    pub counts_things: bool,
    /// The number is a rank, so that "the 20th" is one.
    pub is_rank: bool,
}

impl SlotReading {
    /// The author's settings for the slot, else what the words of the schema say in these languages.
    pub(super) fn new(set: Option<&SlotSettings>, languages: Languages, function: (&str, &str), slot: &Slot) -> Self {
        let own = SchemaWords::new(&[slot.label(), &slot.description], languages);
        let all = SchemaWords::new(&[slot.label(), &slot.description, function.0, function.1], languages);
        let is_number = slot.kind.is_number();
        let guessed = if is_number { unit(slot, languages) } else { None };
        let unit = set.and_then(|set| set.unit).or(guessed);
        Self {
            part_of_day: set.and_then(|set| set.part_of_day).unwrap_or_else(|| match own.part_of_day() {
                PartOfDay::Ask => all.part_of_day(),
                known => known,
            }),
            direction: set.and_then(|set| set.direction).unwrap_or_else(|| direction(&own, &all)),
            unit,
            counts_things: is_number && unit.is_none() && counts_things(slot.label(), languages),
            is_rank: is_number && is_rank(slot.label(), languages),
        }
    }

    /// The part of the reading that matters to `builtin`.
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

    /// A description for authors; empty if nothing is special.
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
struct SchemaWords {
    words: Vec<String>,
    languages: Languages,
}

impl SchemaWords {
    fn new(texts: &[&str], languages: Languages) -> Self {
        let words = texts.iter().flat_map(|text| name_words(text)).map(|word| singular(&fold(&word)).into_owned());
        Self { words: words.collect(), languages }
    }

    fn any(&self, list: fn(&OfSlots) -> &Vec<String>) -> bool {
        // German compounds nouns, and Japanese joins all words.
        let is_joined = |word: &str, part: &str| (part.len() > 5 || !part.is_ascii()) && word.contains(part);
        let mut wanted = self.languages.iter().flat_map(|language| list(&language.words.slots));
        wanted.any(|one| self.words.iter().any(|word| word == one || is_joined(word, one)))
    }

    fn part_of_day(&self) -> PartOfDay {
        if self.any(|slots| &slots.morning) {
            PartOfDay::Morning
        } else if self.any(|slots| &slots.afternoon) {
            PartOfDay::Afternoon
        } else if self.any(|slots| &slots.working_hours) {
            PartOfDay::Day
        } else {
            PartOfDay::Ask
        }
    }
}

fn direction(own: &SchemaWords, all: &SchemaWords) -> Direction {
    let tells_of_past = all.any(|slots| &slots.past_matters) && !own.any(|slots| &slots.ahead);
    if own.any(|slots| &slots.past) || tells_of_past { Direction::Past } else { Direction::Future }
}

/// The folded words of a name or a text.
fn words(text: &str) -> Vec<String> {
    name_words(text).iter().map(|word| fold(word)).collect()
}

/// True if a list of one of the languages contains the folded word.
fn is_among(word: &str, languages: Languages, list: fn(&OfSlots) -> &Vec<String>) -> bool {
    languages.iter().any(|language| list(&language.words.slots).iter().any(|known| *known == *word))
}

/// The unit that a folded word of a schema names. A single letter could mean several units.
fn unit_named(word: &str, languages: Languages) -> Option<Unit> {
    let own = languages.iter().find_map(|language| {
        let mut units = language.words.slots.units.iter();
        units.find(|(_, words)| words.iter().any(|known| *known == singular(word))).map(|(unit, _)| *unit)
    });
    let said = languages.iter().map(|language| &language.values).chain([values::common()]);
    own.or_else(|| {
        let mut senses = said.flat_map(|said| said.beginning_with(word)).filter(|phrase| phrase.rest.is_empty());
        senses.find_map(|phrase| match phrase.meaning {
            Sense::Cent(_) => Some(Unit::Cents),
            sense => sense.unit().filter(|_| word.len() > 1),
        })
    })
}

/// The unit that the name says, else the one that the description says, if any.
fn unit(slot: &Slot, languages: Languages) -> Option<Unit> {
    let label = words(slot.label());
    let is = |word: &str, list: fn(&OfSlots) -> &Vec<String>| is_among(word, languages, list);
    if label.iter().any(|word| is(word, |slots| &slots.ages)) {
        return Some(Unit::Years);
    }
    // `month` alone is a month of the year, `day` one of the month; the `min` of `min_price` is not a minute.
    let counts = |word: &str| {
        (label.len() > 1 || singular(word) != word) && (word != label[0] || !is(word, |slots| &slots.bounds))
    };
    let is_sum = SchemaWords::new(&[slot.label(), &slot.description], languages).any(|slots| &slots.sums);
    // Nor is the `min` of `prix_min`; and pounds of money are not a weight.
    let fits = |unit: &Unit| !(is_sum && matches!(unit, Unit::Pounds | Unit::Minutes));
    let named: Vec<Unit> =
        label.iter().filter(|word| counts(word)).filter_map(|word| unit_named(word, languages)).filter(fits).collect();
    let joins_several = label.iter().any(|word| is(word, |slots| &slots.relations));
    if let [unit] = named[..]
        && (!joins_several || is(&label[0], |slots| &slots.numbers))
    {
        return Some(unit);
    }
    // "the day of the month" is not a length of time.
    let description = words(&slot.description);
    let introduced = description
        .windows(2)
        .filter(|pair| is(&pair[0], |slots| &slots.measured) && !is(&pair[1], |slots| &slots.periods));
    let mut said: Vec<Unit> = introduced.filter_map(|pair| unit_named(&pair[1], languages)).filter(fits).collect();
    said.dedup();
    if let [unit] = said[..] { Some(unit) } else { None }
}

/// True if a name says how many there are: `guests`, `num_tickets`, `party_size`.
fn counts_things(label: &str, languages: Languages) -> bool {
    let words = words(label);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let says_so = words.iter().any(|word| is_among(word, languages, |slots| &slots.numbers));
    let is_plural = singular(last) != last && last.len() > 3;
    (says_so && words.len() > 1) || is_plural || is_among(&singular(last), languages, |slots| &slots.people)
}

impl Counting {
    /// What a name and a description say about counting, in these languages.
    #[must_use]
    pub(crate) fn new(label: &str, description: &str, languages: Languages) -> Self {
        let (name, description) = (squeeze(&fold(label)), fold(description));
        let is = |test: &dyn Fn(&OfSlots) -> bool| languages.iter().any(|language| test(&language.words.slots));
        let begins = |slots: &OfSlots| slots.count_beginnings.iter().any(|beginning| name.starts_with(beginning));
        if is(&|slots| slots.counts.contains(&name) || begins(slots)) {
            Self::Named
        } else if is(&|slots| slots.counting.iter().any(|words| description.contains(words))) {
            Self::Described
        } else {
            Self::No
        }
    }
}

/// True if a name means a rank: `floor`, `payment_day`, `row`.
fn is_rank(label: &str, languages: Languages) -> bool {
    words(label).last().is_some_and(|last| is_among(&singular(last), languages, |slots| &slots.ranks))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, findings::Findings, slots};

    /// What is read for a slot with this name, type and description, of a function with this name.
    fn read(tag: &str, function: &str, name: &str, kind: &str, description: &str) -> String {
        let parameters = json!({"type": "object", "properties": {name: {"type": kind, "description": description}}});
        let slots = slots::flatten(&parameters, "", (function, ""), &Limits::default(), &mut Findings::new());
        SlotReading::new(None, Language::and_english(tag), (function, ""), &slots[0]).described().join(", ")
    }

    #[test]
    fn words_of_the_schema_say_how_a_slot_is_read() {
        for (tag, function, name, kind, description, expected) in [
            ("en", "set_alarm", "time", "string", "", "part_of_day = \"morning\""),
            ("en", "reserve", "time", "string", "When dinner is", "part_of_day = \"afternoon\""),
            ("en", "book_appointment", "time", "string", "", "part_of_day = \"day\""),
            ("fr", "reserver", "heure", "string", "Heure du dîner", "part_of_day = \"afternoon\""),
            ("en", "call_back", "time", "string", "", ""),
            ("en", "register", "date_of_birth", "string", "", "direction = \"past\""),
            ("en", "report_accident", "day", "string", "", "direction = \"past\""),
            ("de", "anmelden", "geburtsdatum", "string", "", "direction = \"past\""),
            ("en", "book", "start_date", "string", "", ""),
            ("en", "forecast", "num_days", "integer", "", "unit = \"days\""),
            ("en", "apply", "term", "integer", "Term in months", "unit = \"months\""),
            ("en", "post", "weight_kg", "number", "", "unit = \"kilograms\""),
            ("de", "buchen", "dauer", "integer", "Anzahl in Minuten", "unit = \"minutes\""),
            ("en", "insure", "age", "integer", "", "unit = \"years\""),
            ("en", "search", "min_price", "number", "Lowest price in pounds", ""),
            ("en", "plan", "month", "integer", "", ""),
            ("en", "order", "quantity", "integer", "", ""),
            ("de", "buchen", "anzahl_nächte", "integer", "", "unit = \"days\""),
            ("es", "pedir", "peso", "number", "Peso en gramos", "unit = \"grams\""),
            ("ja", "集計", "泊数_合計", "integer", "", "unit = \"days\""),
            ("en", "anmelden", "geburtsdatum", "string", "", ""),
        ] {
            assert_eq!(read(tag, function, name, kind, description), expected, "{function} {name}");
        }
    }

    #[test]
    fn names_say_what_counts_things() {
        let counted: Vec<&str> = ["guests", "num_tickets", "party_size", "quantity", "value", "address"]
            .into_iter()
            .filter(|name| counts_things(name, Language::and_english("en")))
            .collect();
        assert_eq!(counted, ["guests", "num_tickets", "party_size"]);
    }

    #[test]
    fn names_and_descriptions_say_what_is_a_count() {
        for (tag, label, description, expected) in [
            ("en", "howMany", "", Counting::Named),
            ("en", "num_of_bags", "", Counting::Named),
            ("en", "size", "How many fit", Counting::Described),
            ("en", "size", "US size", Counting::No),
            ("en", "menge", "", Counting::No),
            ("de", "menge", "", Counting::Named),
            ("fr", "pieces", "Nombre de pièces", Counting::Named),
            ("fr", "taille", "Nombre de pièces", Counting::Described),
            ("ja", "数量", "", Counting::Named),
        ] {
            assert_eq!(Counting::new(label, description, Language::and_english(tag)), expected, "{tag} {label}");
        }
    }

    #[test]
    fn units_of_one_kind_convert() {
        assert_eq!(Unit::Years.convert(3.0, Unit::Months), Some(36.0));
        assert_eq!(Unit::Weeks.convert(3.0, Unit::Days), Some(21.0));
        assert_eq!(Unit::Grams.convert(750.0, Unit::Kilograms), Some(0.75));
        assert_eq!(Unit::Months.convert(2.0, Unit::Days), None);
    }
}
