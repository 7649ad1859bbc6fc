//! What a person may say for a slot, and what that is: by the kind of the slot, in the language of the module.
//!
//! A typed value is known by a writing that leaves no doubt, which the recognizer reads by itself; the same value is then
//! said in other ways, and must come out as the same.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    call::{CompileError, Validator},
    decide::arguments::{self as assemble, Said},
    module::{
        Builtin, FunctionId, Module, Recognizer, RecognizerId, RecognizerKind, Slot, SlotId, SlotKind,
        settings::Direction,
    },
    recognize::{Context, RecognizeError, Recognizers},
    sample::{kept, pattern},
    text::{Span, Utterance, name_words},
};

/// How often another value is tried where one does not fit the slot.
const TRIES: usize = 8;

/// Words for one slot, and the value that they say.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub slot: SlotId,
    pub text: String,
    pub value: Value,
    /// Written in capitals by its own right: a code is never put into lower case.
    pub keeps_case: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    #[error(transparent)]
    Recognizers(#[from] RecognizeError),
    #[error(transparent)]
    Validator(#[from] CompileError),
}

/// The values of a module, compiled once.
pub(super) struct Values<'m> {
    module: &'m Module,
    recognizers: Recognizers,
    validator: Validator,
    context: Context,
    stock: &'static Stock,
}

/// What is said in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stock {
    first_name: Vec<String>,
    last_name: Vec<String>,
    person: Vec<String>,
    title: Vec<String>,
    address: Vec<String>,
    street: Vec<String>,
    city: Vec<String>,
    place: Vec<String>,
    clause: Vec<String>,
    message: Vec<String>,
    thing: Vec<String>,
    /// Carrier phrases.
    pub before: Vec<String>,
    /// Those that only a request in the imperative can follow.
    pub before_request: Vec<String>,
    pub after: Vec<String>,
    pub no_request: Vec<String>,
    typed: BTreeMap<String, Vec<Vec<String>>>,
}

/// What is said alike everywhere.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Anywhere {
    identifier: Vec<String>,
    code: Vec<String>,
    typed: BTreeMap<String, Vec<Vec<String>>>,
}

#[derive(Debug, Deserialize)]
struct Stocks {
    any: Anywhere,
    #[serde(flatten)]
    languages: BTreeMap<String, Stock>,
}

fn stocks() -> &'static Stocks {
    static STOCKS: OnceLock<Stocks> = OnceLock::new();
    STOCKS
        .get_or_init(|| toml::from_str(include_str!("values.toml")).expect("the tests read the file that is built in"))
}

impl Stock {
    /// English where the language is not known.
    pub(super) fn of(language: &str) -> &'static Self {
        let primary = language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let stocks = stocks();
        stocks.languages.get(&primary).unwrap_or_else(|| &stocks.languages["en"])
    }
}

impl<'m> Values<'m> {
    /// # Errors
    /// If the module does not compile, which its checks refuse before.
    pub(super) fn new(module: &'m Module, context: Context) -> Result<Self, ValuesError> {
        Ok(Self {
            module,
            recognizers: Recognizers::compile(module)?,
            validator: Validator::compile(module)?,
            context,
            stock: Stock::of(module.language()),
        })
    }

    /// Words for a value of the slot, behind the words `before`. `None` if nothing is known that fits the slot.
    pub(super) fn pick(&self, id: FunctionId, slot: SlotId, before: &str, random: &mut fastrand::Rng) -> Option<Words> {
        let known = self.module.function(id).slot(slot);
        (0..TRIES).find_map(|_| {
            let words = if known.recognizers.is_empty() {
                self.free(id, slot, before, random)
            } else {
                let recognizer = known.recognizers[self.preferred(known, random)];
                self.recognized(slot, recognizer, known, before, random)
            }?;
            self.fits(id, &words).then_some(words)
        })
    }

    /// Of several built-in ones the first is what is meant most; lists and patterns are each as good as the other.
    fn preferred(&self, slot: &Slot, random: &mut fastrand::Rng) -> usize {
        let is_builtin = |id: &RecognizerId| matches!(self.module.recognizer(*id).kind, RecognizerKind::Builtin(_));
        let own = slot.recognizers.iter().take_while(|id| !is_builtin(id)).count();
        if own == 0 { 0 } else { random.usize(..own) }
    }

    /// It is what the schema allows.
    fn fits(&self, id: FunctionId, words: &Words) -> bool {
        let function = self.module.function(id);
        let said = [Said { slot: words.slot, span: Span::new(0, 1), value: words.value.clone() }];
        let (arguments, places) = assemble::arguments(function, &said);
        let checked = self.validator.check(function, id, arguments);
        let is_kept = places[0].as_ref().is_some_and(|place| {
            Value::Object(checked.arguments.clone()).pointer(place).is_some_and(|kept| !kept.is_null())
        });
        is_kept && checked.violations.iter().all(|violation| violation.found.is_none())
    }

    /// The arguments that these words make up, in the order in which they are said.
    pub(super) fn arguments(&self, id: FunctionId, words: &[(Words, Span)]) -> Map<String, Value> {
        let function = self.module.function(id);
        let said: Vec<Said> = words
            .iter()
            .map(|(words, span)| Said { slot: words.slot, span: *span, value: words.value.clone() })
            .collect();
        let (arguments, _) = assemble::arguments(function, &said);
        self.validator.check(function, id, arguments).arguments
    }

    /// What else the sentence holds, beside the words of `spans`: an author may have left it unmarked.
    pub(super) fn unmarked(&self, id: FunctionId, text: &str, spans: &[Span]) -> Vec<(String, Value)> {
        let function = self.module.function(id);
        let utterance = Utterance::new(text);
        let mentions = self.recognizers.recognize(&utterance, &self.context);
        let mut found = Vec::new();
        for mention in mentions.iter().filter(|mention| spans.iter().all(|span| !overlap(*span, mention.span))) {
            for slot in function.slots.iter().filter(|slot| slot.recognizers.contains(&mention.recognizer)) {
                found.push((slot.path.to_string(), fit(mention.value.clone(), slot.kind)));
            }
        }
        found
    }

    fn recognized(
        &self,
        slot: SlotId,
        id: RecognizerId,
        known: &Slot,
        before: &str,
        random: &mut fastrand::Rng,
    ) -> Option<Words> {
        let recognizer = self.module.recognizer(id);
        let (text, value, keeps_case) = match &recognizer.kind {
            RecognizerKind::List(list) => {
                let instance = list.instances.get(random.usize(..list.instances.len().max(1)))?;
                let label = match &instance.label {
                    Value::String(text) => text.replace('_', " "),
                    other => other.to_string(),
                };
                let text = instance.expressions.get(random.usize(..=instance.expressions.len())).unwrap_or(&label);
                // What two entries have in common says neither.
                let says_it = |other: &RecognizerId| self.read(*other, text).is_none_or(|read| read == instance.label);
                let is_clear = self.read(id, text).is_some() && known.recognizers.iter().all(says_it);
                is_clear.then(|| (text.clone(), instance.label.clone(), false))?
            }
            RecognizerKind::Pattern(spec) => {
                let text = pattern::matching(&spec.patterns[random.usize(..spec.patterns.len())], random)?;
                let value = self.read(id, &text).unwrap_or_else(|| Value::from(text.as_str()));
                (text, value, true)
            }
            RecognizerKind::Builtin(builtin) => {
                let (certain, text) = self.writing(*builtin, recognizer, before, random)?;
                let keeps_case = matches!(builtin, Builtin::Email | Builtin::Url);
                (text.to_owned(), self.read(id, certain)?, keeps_case)
            }
        };
        Some(Words { slot, text, value: fit(value, known.kind), keeps_case })
    }

    /// What the recognizer makes of these words alone.
    fn read(&self, id: RecognizerId, text: &str) -> Option<Value> {
        let utterance = Utterance::new(text);
        let whole = utterance.span_of_bytes(0..text.len());
        let mentions = self.recognizers.recognize(&utterance, &self.context);
        let mention = mentions.into_iter().find(|mention| mention.recognizer == id && mention.span == whole)?;
        mention.others.is_empty().then_some(mention.value)
    }

    /// The writing that leaves no doubt, and another one of the same value.
    fn writing(
        &self,
        builtin: Builtin,
        recognizer: &Recognizer,
        before: &str,
        random: &mut fastrand::Rng,
    ) -> Option<(&'static str, &'static str)> {
        // "since Friday" looks back, whatever the slot says.
        let last = name_words(before).pop().unwrap_or_default();
        let looks_back = recognizer.reading.direction == Direction::Past
            || ["since", "seit", "desde", "depuis"].contains(&last.as_str());
        let name = match builtin {
            Builtin::Integer | Builtin::Number => "number",
            Builtin::Date if looks_back => "past",
            other => other.name(),
        };
        let typed = &self.stock.typed;
        let values = typed.get(name).or_else(|| stocks().any.typed.get(name))?;
        let writings = values.get(random.usize(..values.len().max(1)))?;
        Some((writings.first()?, writings.get(random.usize(..writings.len().max(1)))?))
    }

    /// Any words: such as the slot's name and description ask for, or such as the author kept.
    fn free(&self, id: FunctionId, slot: SlotId, before: &str, random: &mut fastrand::Rng) -> Option<Words> {
        let function = self.module.function(id);
        let known = function.slot(slot);
        if matches!(known.kind, SlotKind::Integer | SlotKind::Number | SlotKind::Boolean) {
            return None;
        }
        let shown: Vec<String> = function
            .exemplars
            .iter()
            .filter_map(kept)
            .flat_map(|sentence| {
                let said = sentence.slots.into_iter().filter(|(other, _)| *other == slot);
                said.map(|(_, span)| sentence.text[span].to_owned()).collect::<Vec<_>>()
            })
            .collect();
        let stock = self.stock_of(known, before);
        let text = if !shown.is_empty() && random.bool() {
            &shown[random.usize(..shown.len())]
        } else {
            stock.get(random.usize(..stock.len().max(1)))?
        };
        Some(Words { slot, text: text.clone(), value: Value::from(text.as_str()), keeps_case: false })
    }

    fn stock_of(&self, slot: &Slot, before: &str) -> &'static [String] {
        let stock = self.stock;
        let label = name_words(slot.label());
        let words: Vec<String> = label.iter().cloned().chain(name_words(&slot.description)).collect();
        let named = |wanted: &[&str]| label.iter().any(|word| wanted.contains(&word.as_str()));
        let said = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        let last_word = name_words(before).pop().unwrap_or_default();
        match () {
            () if named(&["first", "given", "forename", "vorname", "prénom", "名"]) => &stock.first_name,
            () if named(&["last", "family", "surname", "nachname", "apellido", "姓"]) => &stock.last_name,
            () if named(&["zip", "postal", "postcode", "plz"]) => &stocks().any.code,
            () if named(&["id", "code", "number", "ref", "reference", "branch", "sku", "plate", "tag", "version"]) => {
                &stocks().any.identifier
            }
            () if said(&["title", "book", "film", "movie", "song", "album", "titel", "título", "titre", "題名"]) => {
                &stock.title
            }
            () if named(&["street", "strasse", "straße", "calle", "rue"]) => &stock.street,
            () if named(&["address", "adresse", "dirección", "住所"]) => &stock.address,
            () if named(&["city", "stadt", "ort", "ciudad", "ville"]) => &stock.city,
            () if said(&["place", "location", "where", "area", "wo", "dónde", "lugar", "lieu", "場所"]) => {
                &stock.place
            }
            () if ["because", "weil", "porque", "parce", "que"].contains(&last_word.as_str()) => &stock.clause,
            () if named(&[
                "note",
                "notes",
                "message",
                "comment",
                "text",
                "instructions",
                "remark",
                "nota",
                "mensaje",
                "notiz",
            ]) =>
            {
                &stock.message
            }
            () if said(&[
                "person",
                "who",
                "whom",
                "recipient",
                "guest",
                "customer",
                "contact",
                "patient",
                "holder",
                "payee",
                "author",
                "wer",
                "quién",
                "qui",
            ]) || label == ["name"] =>
            {
                &stock.person
            }
            () => &stock.thing,
        }
    }
}

fn overlap(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

/// An amount of money for a slot that takes a number.
fn fit(value: Value, kind: SlotKind) -> Value {
    match (kind, value.get("amount")) {
        (SlotKind::Integer | SlotKind::Number, Some(amount)) => amount.clone(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_stock() {
        for language in ["en-GB", "de", "es", "fr_CA", "ja"] {
            let stock = Stock::of(language);
            assert!(!stock.before.is_empty() && !stock.typed.is_empty(), "{language}");
            assert!(stock.typed.values().flatten().all(|writings| !writings.is_empty()), "{language}");
        }
        assert_eq!(Stock::of("sw").title, Stock::of("en").title);
    }
}
