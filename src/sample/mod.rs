//! A module's exemplars as sentences with arguments: read from the sentence that an author kept, or filled with values
//! of the recognizers. The recognizers decide what a value is; the validator decides what a call is.

use std::{collections::HashMap, ops::Range};

use jiff::{Zoned, civil::datetime, tz::TimeZone};
use serde_json::{Map, Value};

use crate::{
    call::{CompileError, Evidence, Proposal, Validator, Verdict},
    decide::{arguments as assemble, filling::SpannedValue},
    module::{Exemplar, Function, FunctionId, Module, RecognizerKind, SlotId, SlotKind, TemplatePiece},
    recognize::{Context, Mention, RecognizeError, Recognizers},
    text::Utterance,
};

pub mod pattern;
pub mod value;

pub use crate::exemplars::{Sentence, kept};

/// Number of attempts to fill an exemplar, each with other values.
const TRIES: usize = 6;

#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error(transparent)]
    Recognizers(#[from] RecognizeError),
    #[error(transparent)]
    Validator(#[from] CompileError),
}

/// Makes sentences for a module; compiled once.
pub struct Sampler<'m> {
    module: &'m Module,
    recognizers: Recognizers,
    validator: Validator,
    /// What authors wrote in place of a slot, by function and slot.
    shown: HashMap<(FunctionId, SlotId), Vec<String>>,
    /// Two moments: a value that differs between them depends on the moment.
    moments: [Context; 2],
}

impl<'m> Sampler<'m> {
    /// # Errors
    /// If the module does not compile, which its checks rule out.
    pub fn new(module: &'m Module) -> Result<Self, SampleError> {
        let zone = module.settings.time_zone.as_deref().and_then(|name| TimeZone::get(name).ok());
        let zone = zone.unwrap_or(TimeZone::UTC);
        let moment = |year, month, day| {
            let now: Zoned = datetime(year, month, day, 9, 0, 0, 0)
                .to_zoned(zone.clone())
                .unwrap_or_else(|_| jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC));
            Context { now }
        };
        let mut shown: HashMap<(FunctionId, SlotId), Vec<String>> = HashMap::new();
        for id in module.function_ids() {
            for exemplar in &module.function(id).exemplars {
                let Some(sentence) = kept(exemplar) else { continue };
                for (slot, span) in &sentence.slots {
                    let values = shown.entry((id, *slot)).or_default();
                    let value = &sentence.text[span.clone()];
                    if !values.iter().any(|known| known == value) {
                        values.push(value.to_owned());
                    }
                }
            }
        }
        Ok(Self {
            module,
            recognizers: Recognizers::compile(module)?,
            validator: Validator::compile(module)?,
            shown,
            moments: [moment(2026, 3, 2), moment(2026, 9, 17)],
        })
    }

    /// The exemplar as a sentence: the one that its author kept, or, for a `variant` above 0 or without such a
    /// sentence, one with values that the generator picks. `None` if a slot has no values, or none that is found again.
    pub fn say(
        &self,
        id: FunctionId,
        exemplar: &Exemplar,
        variant: usize,
        random: &mut fastrand::Rng,
    ) -> Option<(Sentence, Map<String, Value>)> {
        if variant == 0
            && let Some(sentence) = kept(exemplar)
            && let Some(arguments) = self.arguments(id, &sentence)
        {
            return Some((sentence, arguments));
        }
        let is_fixed = !exemplar.pieces.iter().any(|piece| matches!(piece, TemplatePiece::Slot { .. }));
        if is_fixed {
            let sentence = Sentence { text: exemplar.template.clone(), slots: Vec::new() };
            return (variant == 0).then_some((sentence, Map::new()));
        }
        (0..TRIES).find_map(|_| {
            let sentence = self.with_values(id, exemplar, random)?;
            let arguments = self.arguments(id, &sentence)?;
            Some((sentence, arguments))
        })
    }

    fn with_values(&self, id: FunctionId, exemplar: &Exemplar, random: &mut fastrand::Rng) -> Option<Sentence> {
        let mut sentence = Sentence { text: String::new(), slots: Vec::new() };
        for piece in &exemplar.pieces {
            match piece {
                TemplatePiece::Text(text) => sentence.text.push_str(text),
                TemplatePiece::Slot { slot, .. } => {
                    let slot = (*slot)?;
                    let words = self.words(id, slot, random)?;
                    let start = sentence.text.len();
                    sentence.text.push_str(&words);
                    sentence.slots.push((slot, start..sentence.text.len()));
                }
            }
        }
        Some(sentence)
    }

    /// Words for a value of the slot.
    fn words(&self, id: FunctionId, slot: SlotId, random: &mut fastrand::Rng) -> Option<String> {
        let mut options: Vec<String> = self.shown.get(&(id, slot)).cloned().unwrap_or_default();
        let mut has_builtin = false;
        for recognizer in &self.module.function(id).slot(slot).recognizers {
            match &self.module.recognizer(*recognizer).kind {
                RecognizerKind::List(list) if !list.instances.is_empty() => {
                    let instance = &list.instances[random.usize(..list.instances.len())];
                    let label = match &instance.label {
                        Value::String(text) => text.replace(['_'], " "),
                        other => other.to_string(),
                    };
                    let pick = random.usize(..=instance.expressions.len());
                    options.push(instance.expressions.get(pick).cloned().unwrap_or(label));
                }
                // Only the first built-in recognizer, the most usual meaning: a number may also be a price, but is
                // seldom said so.
                RecognizerKind::Builtin(_) if has_builtin => {}
                RecognizerKind::Builtin(builtin) => {
                    has_builtin = true;
                    let words = builtin.typical_words();
                    options.push(words[random.usize(..words.len())].to_owned());
                }
                RecognizerKind::List(_) | RecognizerKind::Pattern(_) => {}
            }
        }
        if options.is_empty() { None } else { Some(options.swap_remove(random.usize(..options.len()))) }
    }

    /// The arguments that a sentence says. `None` if a slot has recognizers and none of them finds its words, or if a
    /// value depends on the moment ("tomorrow") or does not fit the schema. Missing arguments are left out.
    #[must_use]
    pub fn arguments(&self, id: FunctionId, sentence: &Sentence) -> Option<Map<String, Value>> {
        let function = self.module.function(id);
        let utterance = Utterance::new(&sentence.text);
        let [mentions, later] = self.moments.each_ref().map(|moment| self.recognizers.recognize(&utterance, moment));
        let mut said = Vec::with_capacity(sentence.slots.len());
        for (slot, bytes) in &sentence.slots {
            let span = utterance.span_of_bytes(bytes.clone());
            let of = |mentions: &[Mention]| {
                let recognizers = &function.slot(*slot).recognizers;
                recognizers.iter().find_map(|id| {
                    mentions
                        .iter()
                        .find(|mention| mention.recognizer == *id && mention.span == span)
                        .map(|one| one.value.clone())
                })
            };
            let value = if function.slot(*slot).recognizers.is_empty() {
                Value::from(utterance.slice(span))
            } else {
                of(&mentions).filter(|value| of(&later).as_ref() == Some(value))?
            };
            said.push(SpannedValue { slot: *slot, span, value: fit(value, function.slot(*slot).kind) });
        }
        let (arguments, _) = assemble::arguments(function, &said);
        let checked = self.validator.check(function, id, arguments.clone());
        let is_whole = checked.violations.iter().all(|violation| violation.found.is_none());
        (is_whole && is_kept(&arguments, &checked.arguments)).then_some(checked.arguments)
    }

    /// The validator's verdict on these arguments for this sentence: a call, or what is missing or wrong.
    #[must_use]
    pub fn judge(&self, id: FunctionId, text: &str, arguments: Map<String, Value>) -> Verdict {
        let utterance = Utterance::new(text);
        let mentions = self.recognizers.recognize(&utterance, &self.moments[0]);
        let evidence = Evidence { utterance: &utterance, earlier: &[], mentions: &mentions, negated: &[] };
        self.validator.validate(self.module.function(id), Proposal { function: id, arguments }, &evidence)
    }
}

/// True if nothing that was said was removed.
fn is_kept(said: &Map<String, Value>, checked: &Map<String, Value>) -> bool {
    said.keys().all(|key| checked.contains_key(key))
}

/// Converts an amount of money for a slot that takes a number.
fn fit(value: Value, kind: SlotKind) -> Value {
    match (kind, value.get("amount")) {
        (SlotKind::Integer | SlotKind::Number, Some(amount)) => amount.clone(),
        _ => value,
    }
}

/// The sentence with its slots looked up by name, as the importer writes them.
#[must_use]
pub fn sentence(function: &Function, text: String, spans: &[(String, Range<usize>)]) -> Option<Sentence> {
    let slots = spans
        .iter()
        .map(|(name, span)| Some((function.slot_labelled(name)?, span.clone())))
        .collect::<Option<Vec<_>>>()?;
    Some(Sentence { text, slots })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, ModuleName, load};

    fn shop() -> Module {
        let directory = tempfile::tempdir().expect("a directory");
        let write =
            |name: &str, value: Value| std::fs::write(directory.path().join(name), value.to_string()).expect("a file");
        write(
            "schema.json",
            json!([{"name": "buy", "description": "Buy", "parameters": {"type": "object", "required": ["what"], "properties": {
            "what": {"type": "string"}, "when": {"type": "string", "format": "date"}, "price": {"type": "number"}, "note": {"type": "string"},
            "sizes": {"type": "array", "items": {"type": "string", "enum": ["small", "large"]}}}}}]),
        );
        write(
            "exemplars.json",
            json!({"buy": [
            {"template": "buy <what> on <when>", "utterance": "buy apples on 2027-03-14"},
            {"template": "buy <what> tomorrow", "utterance": "buy no fruit"},
            {"template": "<sizes> and <sizes> <what> for <price>"},
            {"template": "remember <note>", "utterance": "remember the milk"},
            "shopping please"]}),
        );
        write(
            "recognizers.json",
            json!({"recognizers": {"fruit": {"rec_type": "list", "instances": [
            {"label": "apple", "expressions": ["apples"]}, {"label": "red_pear", "expressions": []}]}}, "slots": {"what": "fruit"}}),
        );
        load(directory.path(), ModuleName::new("shop").expect("a name"), &Limits::default()).expect("it loads")
    }

    #[test]
    fn kept_sentences_are_read_and_others_said() {
        let module = shop();
        let sampler = Sampler::new(&module).expect("it compiles");
        let id = FunctionId::from_index(0);
        let exemplars = &module.function(id).exemplars;
        let mut random = fastrand::Rng::with_seed(1);
        let (sentence, arguments) = sampler.say(id, &exemplars[0], 0, &mut random).expect("it is kept");
        assert_eq!(sentence.text, "buy apples on 2027-03-14");
        assert_eq!(Value::Object(arguments), json!({"what": "apple", "when": "2027-03-14"}));
        assert_eq!(kept(&exemplars[1]), None);
        let (sentence, arguments) = sampler.say(id, &exemplars[3], 0, &mut random).expect("it is kept");
        assert_eq!((sentence.slots.len(), Value::Object(arguments)), (1, json!({"note": "the milk"})));
        assert!(sampler.say(id, &exemplars[4], 1, &mut random).is_none(), "it has no other form");
        for variant in 0..20 {
            let (sentence, arguments) = sampler.say(id, &exemplars[2], variant, &mut random).expect("it is said");
            assert_eq!(arguments["sizes"].as_array().map(Vec::len), Some(2));
            assert!(matches!(sampler.judge(id, &sentence.text, arguments), Verdict::Valid { .. }), "{}", sentence.text);
        }
    }

    #[test]
    fn what_depends_on_the_moment_is_no_argument() {
        let module = shop();
        let sampler = Sampler::new(&module).expect("it compiles");
        let id = FunctionId::from_index(0);
        let function = module.function(id);
        let said = |text: &str, slots: &[(&str, Range<usize>)]| {
            let spans: Vec<_> = slots.iter().map(|(name, span)| ((*name).to_owned(), span.clone())).collect();
            sampler.arguments(id, &sentence(function, text.to_owned(), &spans).expect("slots"))
        };
        assert_eq!(said("apple on tomorrow", &[("what", 0..5), ("when", 9..17)]), None);
        assert!(said("apple on 2027-01-02", &[("what", 0..5), ("when", 9..19)]).is_some());
        assert_eq!(said("cars", &[("what", 0..4)]), None);
    }
}
