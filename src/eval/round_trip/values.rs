//! What a person may say for a slot, and its value: by the kind of the slot, in the language of the module.
//!
//! The value of a typed slot is known from an unambiguous writing, which its recognizer reads alone; the same value is
//! then said in other ways, and must be understood as the same.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    call::{CompileError, Validator},
    decide::{arguments as assemble, filling::SpannedValue},
    language::{
        Language,
        units::{Dimension, Unit},
    },
    module::{
        Builtin, FunctionId, Module, Recognizer, RecognizerId, RecognizerKind, Slot, SlotId, SlotKind,
        settings::Direction,
    },
    probability::EVEN,
    recognize::{Context, Mention, RecognizeError, Recognizers},
    sample::{kept, pattern},
    text::{Span, Utterance, fold, name_words, tokens::folded_tokens},
};

/// How often another value is tried if one does not fit the slot.
const TRIES: usize = 8;

/// Stocks of words: a problem, a fault of the thing just named, a message, a reason, a wish for one of several things,
/// a thing to buy, and anything.
const PROBLEM: &str = "problem";
const FAULT: &str = "fault";
const MESSAGE: &str = "message";
const CLAUSE: &str = "clause";
const WISH: &str = "wish";
const ARTICLE: &str = "article";
const THING: &str = "thing";
/// Most words before a value that the value may repeat: "à l'" before "à l'air".
const REPEATED: usize = 3;

/// Words for one slot, and their value.
#[derive(Debug, Clone)]
pub(super) struct SlotPhrase {
    pub slot: SlotId,
    pub text: String,
    pub value: Value,
    /// Its capitals are significant: a code is never put into lower case.
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

/// The words of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stock {
    /// Carrier phrases.
    pub before: Vec<String>,
    /// Phrases that only an imperative can follow.
    pub before_request: Vec<String>,
    pub after: Vec<String>,
    pub no_request: Vec<String>,
    /// A value that begins with one of these words never follows another value: "my the north wing" is not said.
    articles: Vec<String>,
    /// By kind.
    free: BTreeMap<String, Vec<String>>,
    /// By built-in, or by the dimension of a measure.
    typed: BTreeMap<String, Vec<Vec<String>>>,
}

/// Words that are the same in all languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Anywhere {
    free: BTreeMap<String, Vec<String>>,
    typed: BTreeMap<String, Vec<Vec<String>>>,
}

/// The slots that take words from a stock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StockRule {
    stock: String,
    /// The slot's name is exactly this word.
    #[serde(default)]
    alone: Vec<String>,
    /// Words of its name.
    #[serde(default)]
    named: Vec<String>,
    /// Words of its name or its description.
    #[serde(default)]
    said: Vec<String>,
    /// The beginning of its description. Elsewhere in one, "who" is not a question: "ce qui ne va pas".
    #[serde(default)]
    asked: Vec<String>,
    /// Words directly before it.
    #[serde(default)]
    led_by: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Stocks {
    any: Anywhere,
    kinds: Vec<StockRule>,
    #[serde(flatten)]
    languages: BTreeMap<String, Stock>,
}

/// The place of a value in a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueContext<'a> {
    /// The text before it.
    pub before: &'a str,
    /// The template's text after it, up to the next slot.
    pub behind: &'a str,
    /// The slot whose value directly precedes it.
    pub follows: Option<SlotId>,
    /// Another value directly follows it.
    pub precedes_value: bool,
}

impl ValueContext<'_> {
    fn last_word(self) -> String {
        name_words(self.before).pop().unwrap_or_default()
    }
}

fn stocks() -> &'static Stocks {
    static STOCKS: OnceLock<Stocks> = OnceLock::new();
    STOCKS
        .get_or_init(|| toml::from_str(include_str!("values.toml")).expect("the tests read the file that is built in"))
}

impl Stock {
    /// English if the language is not known.
    pub(super) fn of(language: &str) -> &'static Self {
        let primary = language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let stocks = stocks();
        stocks.languages.get(&primary).unwrap_or_else(|| &stocks.languages["en"])
    }
}

impl<'m> Values<'m> {
    /// # Errors
    /// If the module does not compile, which its checks refuse earlier.
    pub(super) fn new(module: &'m Module, context: Context) -> Result<Self, ValuesError> {
        Ok(Self {
            module,
            recognizers: Recognizers::compile(module)?,
            validator: Validator::compile(module)?,
            context,
            stock: Stock::of(module.language()),
        })
    }

    /// Words for a value of the slot. `None` if no known value fits the slot.
    pub(super) fn pick(
        &self,
        id: FunctionId,
        slot: SlotId,
        place: ValueContext<'_>,
        random: &mut fastrand::Rng,
    ) -> Option<SlotPhrase> {
        let known = self.module.function(id).slot(slot);
        (0..TRIES).find_map(|_| {
            let words = if known.recognizers.is_empty() {
                self.free(id, slot, place, random)
            } else {
                let recognizer = known.recognizers[self.preferred(known, random)];
                self.recognized(slot, recognizer, known, place, random)
            }?;
            (self.is_sayable(&words.text, place) && self.fits(id, &words)).then_some(words)
        })
    }

    /// The value is a sentence of its own, which would absorb any words after it: "because it leaks on Friday".
    pub(super) fn is_sentence(&self, id: FunctionId, slot: SlotId, before: &str) -> bool {
        let known = self.module.function(id).slot(slot);
        let place = ValueContext { before, behind: "", follows: None, precedes_value: false };
        known.recognizers.is_empty() && [CLAUSE, MESSAGE].contains(&self.kind_of(known, place))
    }

    /// Whatever is said for one could as well be said for the other.
    pub(super) fn are_alike(&self, id: FunctionId, one: SlotId, other: SlotId) -> bool {
        let [one, other] = [one, other].map(|slot| self.module.function(id).slot(slot));
        let place = ValueContext { before: "", behind: "", follows: None, precedes_value: false };
        match (one.recognizers.first(), other.recognizers.first()) {
            (None, None) => self.kind_of(one, place) == self.kind_of(other, place),
            (one, other) => one == other,
        }
    }

    /// A recognizer of the function reads something across the border of a value, so that its end is unclear: "Will May
    /// 14 March".
    pub(super) fn is_blurred(&self, id: FunctionId, text: &str, spans: &[Span]) -> bool {
        let function = self.module.function(id);
        let utterance = Utterance::new(text);
        let mentions = self.recognizers.recognize(&utterance, &self.context);
        let is_read = |mention: &Mention| {
            mention.score >= EVEN && function.slots.iter().any(|slot| slot.recognizers.contains(&mention.recognizer)) //
        };
        let crosses = |mention: &Mention| {
            let is_across = |span: &&Span| {
                overlap(**span, mention.span) && !span.contains(mention.span) && !mention.span.contains(**span) //
            };
            spans.iter().any(|span| is_across(&span))
        };
        mentions.iter().any(|mention| is_read(mention) && crosses(mention))
    }

    /// Of several built-in recognizers the first is the most typical; lists and patterns are equal.
    fn preferred(&self, slot: &Slot, random: &mut fastrand::Rng) -> usize {
        let is_builtin = |id: &RecognizerId| matches!(self.module.recognizer(*id).kind, RecognizerKind::Builtin(_));
        let own = slot.recognizers.iter().take_while(|id| !is_builtin(id)).count();
        if own == 0 { 0 } else { random.usize(..own) }
    }

    /// Whether the schema allows the value.
    fn fits(&self, id: FunctionId, words: &SlotPhrase) -> bool {
        let function = self.module.function(id);
        let said = [SpannedValue { slot: words.slot, span: Span::new(0, 1), value: words.value.clone() }];
        let (arguments, places) = assemble::arguments(function, &said);
        let checked = self.validator.check(function, id, arguments);
        let is_kept = places[0].as_ref().is_some_and(|place| {
            Value::Object(checked.arguments.clone()).pointer(place).is_some_and(|kept| !kept.is_null())
        });
        is_kept && checked.violations.iter().all(|violation| violation.found.is_none())
    }

    /// The arguments of these words, in the order in which they are said.
    pub(super) fn arguments(&self, id: FunctionId, words: &[(SlotPhrase, Span)]) -> Map<String, Value> {
        let function = self.module.function(id);
        let said: Vec<SpannedValue> = words
            .iter()
            .map(|(words, span)| SpannedValue { slot: words.slot, span: *span, value: words.value.clone() })
            .collect();
        let (arguments, _) = assemble::arguments(function, &said);
        self.validator.check(function, id, arguments).arguments
    }

    /// Values in the sentence outside `spans`, which an author may have left unmarked.
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
        place: ValueContext<'_>,
        random: &mut fastrand::Rng,
    ) -> Option<SlotPhrase> {
        let recognizer = self.module.recognizer(id);
        let (text, value, keeps_case) = match &recognizer.kind {
            RecognizerKind::List(list) => {
                let instance = list.instances.get(random.usize(..list.instances.len().max(1)))?;
                let label = match &instance.label {
                    Value::String(text) => text.replace('_', " "),
                    other => other.to_string(),
                };
                let text = instance.expressions.get(random.usize(..=instance.expressions.len())).unwrap_or(&label);
                // Words that two entries share mean neither.
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
                let (certain, text) = self.writing(*builtin, recognizer, place, random)?;
                let keeps_case = matches!(builtin, Builtin::Email | Builtin::Url);
                (text.to_owned(), self.read(id, certain).or_else(|| self.measure(id, certain))?, keeps_case)
            }
        };
        Some(SlotPhrase { slot, text, value: fit(value, known.kind), keeps_case })
    }

    /// The recognizer's reading of these words alone.
    fn read(&self, id: RecognizerId, text: &str) -> Option<Value> {
        let utterance = Utterance::new(text);
        let whole = utterance.span_of_bytes(0..text.len());
        let mentions = self.recognizers.recognize(&utterance, &self.context);
        let mention = mentions.into_iter().find(|mention| mention.recognizer == id && mention.span == whole)?;
        mention.others.is_empty().then_some(mention.value)
    }

    /// The recognizer's reading of a number before its unit, which is not part of the mention.
    fn measure(&self, id: RecognizerId, text: &str) -> Option<Value> {
        let is_measured = self.module.recognizer(id).reading.unit.is_some();
        let mentions = self.recognizers.recognize(&Utterance::new(text), &self.context);
        let mention = mentions.into_iter().find(|mention| mention.recognizer == id && mention.span.start == 0)?;
        (is_measured && self.says_unit(text.get(mention.text.len()..)?)).then_some(mention.value)
    }

    /// The unambiguous writing, and another one of the same value.
    fn writing(
        &self,
        builtin: Builtin,
        recognizer: &Recognizer,
        place: ValueContext<'_>,
        random: &mut fastrand::Rng,
    ) -> Option<(&'static str, &'static str)> {
        // "since Friday" looks back, whatever the slot's settings are.
        let last = place.last_word();
        let looks_back = recognizer.reading.direction == Direction::Past
            || ["since", "seit", "desde", "depuis"].contains(&last.as_str());
        let name = match builtin {
            Builtin::Integer | Builtin::Number if self.says_unit(place.behind) => "number",
            Builtin::Integer | Builtin::Number => match recognizer.reading.unit {
                Some(Unit::Minutes | Unit::Hours) => "duration",
                Some(unit) => measured(unit).unwrap_or("number"),
                None => "number",
            },
            Builtin::Date if looks_back => "past",
            other => other.name(),
        };
        let typed = &self.stock.typed;
        let values = typed.get(name).or_else(|| stocks().any.typed.get(name))?;
        let writings = values.get(random.usize(..values.len().max(1)))?;
        // Beside another value people do not write digits: "for 12 14 March".
        let is_beside = name == "number" && (place.follows.is_some() || place.precedes_value);
        let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        let in_words: Vec<&String> = writings.iter().filter(|text| is_beside && !has_digit(text)).collect();
        let said = if in_words.is_empty() { writings.iter().collect() } else { in_words };
        Some((writings.first()?, said.get(random.usize(..said.len().max(1)))?))
    }

    /// Free text: words that suit the slot's name and description, or that the author kept.
    fn free(
        &self,
        id: FunctionId,
        slot: SlotId,
        place: ValueContext<'_>,
        random: &mut fastrand::Rng,
    ) -> Option<SlotPhrase> {
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
        let stock = self.stock_of(known, id, place);
        let text = if !shown.is_empty() && random.bool() {
            &shown[random.usize(..shown.len())]
        } else {
            stock.get(random.usize(..stock.len().max(1)))?
        };
        Some(SlotPhrase { slot, text: text.clone(), value: Value::from(text.as_str()), keeps_case: false })
    }

    fn stock_of(&self, slot: &Slot, id: FunctionId, place: ValueContext<'_>) -> &'static [String] {
        let is_thing = |other: SlotId| {
            let other = self.module.function(id).slot(other);
            [THING, ARTICLE].contains(&self.kind_of(other, ValueContext { before: "", ..place }))
        };
        let stock = match self.kind_of(slot, place) {
            // "My kettle won't switch on."
            PROBLEM if place.follows.is_some_and(is_thing) => FAULT,
            // "Two tacos, extra spicy."
            MESSAGE if slot.path.is_repeated() => WISH,
            stock => stock,
        };
        self.stock.free.get(stock).or_else(|| stocks().any.free.get(stock)).map_or(&[], Vec::as_slice)
    }

    /// The stock that suits the words before the slot, its name, or else its description.
    fn kind_of(&self, slot: &Slot, place: ValueContext<'_>) -> &'static str {
        let label = name_words(slot.label());
        let mut description = name_words(&slot.description);
        if description.first().is_some_and(|first| self.stock.articles.contains(first)) {
            description.remove(0);
        }
        let last_word = place.last_word();
        let is_named = |kind: &&StockRule| {
            kind.led_by.contains(&last_word)
                || matches!(&label[..], [only] if kind.alone.contains(only))
                || label.iter().any(|word| kind.named.contains(word) || kind.said.contains(word))
        };
        let is_described = |kind: &&StockRule| {
            description.first().is_some_and(|word| kind.asked.contains(word))
                || description.iter().any(|word| kind.said.contains(word))
        };
        let kinds = &stocks().kinds;
        let found = kinds.iter().find(is_named).or_else(|| kinds.iter().find(is_described));
        found.map_or(THING, |kind| kind.stock.as_str())
    }

    /// False for an article after another one, and for a repeated word: "the basic plan plan".
    fn is_sayable(&self, text: &str, place: ValueContext<'_>) -> bool {
        let is_article = |word: &str| self.stock.articles.iter().any(|article| article == word);
        let first = name_words(text).into_iter().next().unwrap_or_default();
        let (text, before, behind) = (fold(text), fold(place.before), fold(place.behind));
        let next = name_words(&behind).into_iter().next().unwrap_or_default();
        let is_word = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count() > 1;
        let begins = |at: usize| !before[..at].ends_with(char::is_alphanumeric);
        let starts = before.char_indices().map(|(at, _)| at).filter(|at| begins(*at));
        let starts: Vec<usize> = starts.collect();
        let is_repeated = starts.iter().rev().take(REPEATED).any(|at| {
            let said = before[*at..].trim_end();
            is_word(said) && text.starts_with(said)
        });
        let is_after_article = is_article(&first) && is_article(&place.last_word());
        let is_before_itself = is_word(&next) && text.ends_with(&next);
        !is_after_article && !is_repeated && !is_before_itself
    }

    /// The template itself contains the unit of the number: "<minutes> minutes".
    fn says_unit(&self, behind: &str) -> bool {
        let tokens = folded_tokens(behind);
        let Some(word) = tokens.iter().find(|token| &***token != "-") else { return false };
        Language::or_english(self.module.language()).units(word).next().is_some()
    }
}

/// The stock for the dimension of a unit. Days have none: a slot may mean nights.
fn measured(unit: Unit) -> Option<&'static str> {
    match unit.dimension() {
        Dimension::Mass => Some("mass"),
        Dimension::Length => Some("length"),
        Dimension::Volume => Some("volume"),
        Dimension::Time | Dimension::Calendar | Dimension::Money => None,
    }
}

fn overlap(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

/// The plain amount of money for a slot that takes a number.
fn fit(value: Value, kind: SlotKind) -> Value {
    match (kind, value.get("amount")) {
        (SlotKind::Integer | SlotKind::Number, Some(amount)) => amount.clone(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, ModuleName, load};

    #[test]
    fn every_language_has_its_stock() {
        for language in ["en-GB", "de", "es", "fr_CA", "ja"] {
            let stock = Stock::of(language);
            assert!(!stock.before.is_empty() && !stock.typed.is_empty(), "{language}");
            assert!(stock.typed.values().flatten().all(|writings| !writings.is_empty()), "{language}");
        }
        assert_eq!(Stock::of("sw").free, Stock::of("en").free);
    }

    #[test]
    fn every_kind_has_its_stock_in_every_language() {
        let named = stocks().kinds.iter().map(|kind| kind.stock.as_str()).chain([PROBLEM, FAULT, MESSAGE, WISH, THING]);
        for stock in named {
            for (language, own) in &stocks().languages {
                let words = own.free.get(stock).or_else(|| stocks().any.free.get(stock));
                assert!(words.is_some_and(|words| !words.is_empty()), "{language} {stock}");
            }
        }
    }

    /// Values picked for the first slot of a module, many times. A second slot takes a product.
    fn picked(settings: &str, slot: &Value, place: ValueContext<'_>) -> Vec<(String, Value)> {
        let module = module(settings, slot);
        let values = values(&module);
        let mut random = fastrand::Rng::with_seed(1);
        let words = (0..60).filter_map(|_| values.pick(function(), SlotId::from_index(0), place, &mut random));
        words.map(|words| (words.text, words.value)).collect()
    }

    fn function() -> FunctionId {
        FunctionId::from_index(0)
    }

    fn module(settings: &str, slot: &Value) -> Module {
        let directory = tempfile::tempdir().expect("a directory");
        let (label, schema) = (&slot["name"], &slot["schema"]);
        let label = label.as_str().expect("a name");
        let parameters = json!({"type": "object", "properties": {label: schema, "zz_product": {"type": "string"}}});
        let functions = json!([{"name": "f", "description": "Do it", "parameters": parameters}]);
        std::fs::write(directory.path().join("schema.json"), functions.to_string()).expect("written");
        std::fs::write(directory.path().join("module.toml"), settings).expect("written");
        load(directory.path(), ModuleName::new("test").expect("a name"), &Limits::default()).expect("it loads")
    }

    fn values(module: &Module) -> Values<'_> {
        let now = "2026-03-02T09:00:00[UTC]".parse().expect("a moment");
        Values::new(module, Context { now }).expect("it compiles")
    }

    fn place<'a>(before: &'a str, behind: &'a str) -> ValueContext<'a> {
        ValueContext { before, behind, follows: None, precedes_value: false }
    }

    #[test]
    fn a_slot_is_filled_by_what_its_name_says() {
        for (language, name, stock) in [
            ("en", "symptom", "problem"),
            ("de", "schaden", "problem"),
            ("es", "ocasion", "event"),
            ("fr", "sujet", "topic"),
            ("es", "direccion", "address"),
            ("ja", "visitor_name", "person"),
            ("en", "venue", "place"),
            ("en", "job_number", "identifier"),
            ("en", "colour", "thing"),
        ] {
            let slot = json!({"name": name, "schema": {"type": "string"}});
            let settings = format!("language = \"{language}\"");
            let free = &Stock::of(language).free;
            let known = free.get(stock).unwrap_or_else(|| &stocks().any.free[stock]);
            let said = picked(&settings, &slot, place("", ""));
            assert!(
                !said.is_empty() && said.iter().all(|(text, _)| known.contains(text)),
                "{language} {name}: {said:?}"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_thing_follows_it() {
        let slot = json!({"name": "fault", "schema": {"type": "string"}});
        let behind = ValueContext { follows: Some(SlotId::from_index(1)), ..place("my kettle ", " again") };
        let said = picked("language = \"en\"", &slot, behind);
        assert!(said.iter().all(|(text, _)| Stock::of("en").free[FAULT].contains(text)), "{said:?}");
    }

    #[test]
    fn the_name_of_a_slot_says_more_than_its_description() {
        for (language, name, description, stock) in [
            ("de", "hinweis", "Was zu beachten ist, zum Beispiel wo die Sachen stehen", "message"),
            ("fr", "description", "Ce qui ne va pas", "thing"),
            ("en", "query", "What the customer looks for", "thing"),
            ("en", "to_whom", "The recipient of the parcel", "person"),
            ("de", "zweck", "Wofür die Urkunde gebraucht wird", "purpose"),
        ] {
            let slot = json!({"name": name, "schema": {"type": "string", "description": description}});
            let said = picked(&format!("language = \"{language}\""), &slot, place("", ""));
            let known = &Stock::of(language).free[stock];
            assert!(
                !said.is_empty() && said.iter().all(|(text, _)| known.contains(text)),
                "{language} {name}: {said:?}"
            );
        }
    }

    #[test]
    fn nobody_says_a_word_twice_or_two_numbers_side_by_side() {
        let slot = json!({"name": "plan", "schema": {"type": "string", "enum": ["basic plan", "team"]}});
        let said = picked("language = \"en\"", &slot, place("change to the ", " plan"));
        assert!(!said.is_empty() && said.iter().all(|(text, _)| text == "team"), "{said:?}");
        let slot = json!({"name": "guests", "schema": {"type": "integer"}});
        let said = picked("language = \"en\"", &slot, ValueContext { precedes_value: true, ..place("room for ", " ") });
        assert!(!said.is_empty() && said.iter().all(|(text, _)| !text.contains(char::is_numeric)), "{said:?}");
    }

    #[test]
    fn what_is_read_across_the_border_of_a_value_is_said_by_nobody() {
        let module =
            module("language = \"en\"", &json!({"name": "day", "schema": {"type": "string", "format": "date"}}));
        let values = values(&module);
        // "May 14" made of a name and a day.
        let is_blurred = |text: &str, name: usize| {
            let (end, length) = (name, text.chars().count());
            values.is_blurred(function(), text, &[Span::new(0, end), Span::new(end + 1, length)])
        };
        assert!(is_blurred("Will May 14 March", 8));
        assert!(!is_blurred("Will Hay 14 March", 8));
    }

    #[test]
    fn no_article_stands_before_another() {
        let slot = json!({"name": "ort_der_feier", "schema": {"type": "string", "description": "wo gefeiert wird"}});
        let said = picked("language = \"de\"", &slot, place("Feier am ", ""));
        let venue = json!({"name": "venue", "schema": {"type": "string"}});
        let behind_an_article = picked("language = \"de\"", &venue, place("Feier in der ", ""));
        assert!(!said.is_empty() && behind_an_article.iter().all(|(text, _)| !text.starts_with("der ")));
        assert!(
            picked("language = \"de\"", &venue, place("Ort: ", "")).iter().any(|(text, _)| text.starts_with("der "))
        );
    }

    #[test]
    fn a_measure_is_said_with_its_unit_once() {
        let grams = json!({"name": "weight_grams", "schema": {"type": "integer"}});
        for (language, behind) in [("en", " parcel"), ("ja", "の荷物")] {
            let said = picked(&format!("language = \"{language}\""), &grams, place("", behind));
            assert!(said.iter().any(|(text, value)| text.starts_with('2') && *value == 2000), "{said:?}");
            assert!(said.iter().any(|(text, value)| text.starts_with("500") && *value == 500), "{said:?}");
        }
        let said = picked("language = \"en\"", &grams, place("", " grams of rice"));
        assert!(said.iter().any(|(text, value)| text == "two" && *value == 2), "{said:?}");
        let minutes = json!({"name": "minutos", "schema": {"type": "integer"}});
        let said = picked("language = \"es\"", &minutes, place("riega durante ", ""));
        assert!(said.iter().any(|(text, value)| text == "hora y media" && *value == 90), "{said:?}");
    }
}
