//! Exemplars as people say them: templates with values in their slots.
//!
//! Utterances are compared with such sentences. A template that shows the names of its slots resembles no real
//! utterance: with values filled in, the right exemplar is the nearest in nine percentage points more cases.

pub(crate) mod typical;

use std::{collections::HashMap, ops::Range};

use serde_json::Value;

use crate::{
    module::{
        Builtin, Exemplar, ExemplarId, Function, FunctionId, Module, RecognizerKind, Slot, SlotId, SlotKind,
        TemplatePiece, squeeze,
    },
    text,
};

/// Sentences made of each template with slots, in small modules.
const FILLINGS: usize = 4;
/// Most sentences made of all templates of a module. Each costs a pass of the encoder when it is first seen; a module
/// with more templates has enough exemplars to do with one sentence each.
const MOST_FILLINGS: usize = 3_000;
/// Most instances of a list that are put into templates.
const MOST_INSTANCES: usize = 64;

/// A sentence, and the byte ranges of its slot values, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    pub text: String,
    pub slots: Vec<(SlotId, Range<usize>)>,
}

/// The sentence that an exemplar was made from, with its slots located between the literals of the template. `None` if
/// the author kept none, or if it does not match the template unambiguously.
#[must_use]
pub fn kept(exemplar: &Exemplar) -> Option<Sentence> {
    kept_by(exemplar, &|_, _| false)
}

/// The same with known values, which tell where one of two adjacent slots ends.
fn kept_by(exemplar: &Exemplar, is_known: &IsValue<'_>) -> Option<Sentence> {
    let text = exemplar.utterance.as_deref()?.trim();
    let mut slots: Vec<(SlotId, Range<usize>)> = Vec::new();
    let mut at = 0;
    let mut waiting: Vec<SlotId> = Vec::new();
    let mut take = |from: usize, to: usize, waiting: &mut Vec<SlotId>| -> Option<()> {
        let between = &text[from..to];
        let said = between.trim();
        if waiting.is_empty() != said.is_empty() {
            return None;
        }
        let start = from + (between.len() - between.trim_start().len());
        for (slot, part) in parted(said, waiting, is_known)? {
            slots.push((slot, start + part.start..start + part.end));
        }
        waiting.clear();
        Some(())
    };
    for piece in &exemplar.pieces {
        match piece {
            TemplatePiece::Text(literal) => {
                let literal = literal.trim();
                if literal.is_empty() {
                    continue;
                }
                let found = at + text[at..].find(literal)?;
                take(at, found, &mut waiting)?;
                at = found + literal.len();
            }
            TemplatePiece::Slot { slot, .. } => waiting.push((*slot)?),
        }
    }
    take(at, text.len(), &mut waiting)?;
    Some(Sentence { text: text.to_owned(), slots })
}

/// Whether these words are known as a value of the slot.
type IsValue<'a> = dyn Fn(SlotId, &str) -> bool + 'a;

/// The byte range of each slot. Two adjacent slots are split at the only word boundary next to a known value; if there
/// are as many words as slots, each gets one.
fn parted(text: &str, slots: &[SlotId], is_known: &IsValue<'_>) -> Option<Vec<(SlotId, Range<usize>)>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for word in text.split_whitespace() {
        let from = words.last().map_or(0, |before| before.end);
        let start = from + text[from..].find(word)?;
        words.push(start..start + word.len());
    }
    match slots {
        [] => Some(Vec::new()),
        [slot] => Some(vec![(*slot, 0..text.len())]),
        _ if words.len() == slots.len() => Some(slots.iter().copied().zip(words).collect()),
        [one, other] => {
            let places = words.windows(2).map(|pair| (pair[0].end, pair[1].start));
            let known = |(end, start): (usize, usize)| {
                usize::from(is_known(*one, &text[..end])) + usize::from(is_known(*other, &text[start..]))
            };
            let mut places: Vec<(usize, (usize, usize))> = places.map(|place| (known(place), place)).collect();
            places.sort_by_key(|(known, _)| std::cmp::Reverse(*known));
            let &(most, (end, start)) = places.first()?;
            let is_tied = places.get(1).is_some_and(|(known, _)| *known == most);
            (most > 0 && !is_tied).then(|| vec![(*one, 0..end), (*other, start..text.len())])
        }
        _ => None,
    }
}

/// The sentences of every exemplar of a module.
pub struct Sentences {
    /// By function and exemplar.
    sentences: Vec<Vec<Vec<SampleSentence>>>,
}

/// A sentence, and whether every slot that its exemplar shows is marked in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampleSentence {
    pub sentence: Sentence,
    pub is_marked: bool,
}

impl Sentences {
    /// `typical`, by function and slot: values that people use for similar slots. Missing entries mean no such values.
    #[must_use]
    pub fn new(module: &Module, typical: &[Vec<Vec<&str>>]) -> Self {
        let shown = shown(module);
        let templates = module.functions.iter().flat_map(|function| &function.exemplars);
        let templates = templates.filter(|exemplar| shows_slots(exemplar)).count();
        let fillings = (MOST_FILLINGS / templates.max(1)).clamp(1, FILLINGS);
        let of = |(index, function): (usize, &Function)| {
            let values = |(slot, definition): (usize, &Slot)| {
                let mut values = own_values(module, &shown, definition);
                if values.is_empty() {
                    let like = typical.get(index).and_then(|slots| slots.get(slot));
                    values.extend(like.into_iter().flatten().map(|value| (*value).to_owned()));
                }
                values
            };
            let values: Vec<Vec<String>> = function.slots.iter().enumerate().map(values).collect();
            let is_shown = is_shown(&shown, function);
            let said = |(turn, exemplar): (usize, &Exemplar)| said(exemplar, &values, &is_shown, (fillings, turn));
            function.exemplars.iter().enumerate().map(said).collect()
        };
        Self { sentences: module.functions.iter().enumerate().map(of).collect() }
    }

    /// The first one of an exemplar, if every slot that it shows is marked in it.
    pub(crate) fn first(&self, function: FunctionId, exemplar: ExemplarId) -> Option<&Sentence> {
        self.of(function, exemplar).first().filter(|said| said.is_marked).map(|said| &said.sentence)
    }

    /// At least one for each exemplar, without duplicates.
    pub(crate) fn of(&self, function: FunctionId, exemplar: ExemplarId) -> &[SampleSentence] {
        &self.sentences[function.index()][exemplar.index()]
    }
}

/// Whether a template shows a slot for which the module itself gives no values.
#[must_use]
pub fn lack_values(module: &Module) -> bool {
    let shown = shown(module);
    module.functions.iter().any(|function| {
        let mut slots = function.exemplars.iter().flat_map(shown_slots);
        slots.any(|slot| own_values(module, &shown, function.slot(slot)).is_empty())
    })
}

fn shown_slots(exemplar: &Exemplar) -> impl Iterator<Item = SlotId> {
    exemplar.pieces.iter().filter_map(|piece| match piece {
        TemplatePiece::Slot { slot, .. } => *slot,
        TemplatePiece::Text(_) => None,
    })
}

fn shows_slots(exemplar: &Exemplar) -> bool {
    exemplar.pieces.iter().any(|piece| matches!(piece, TemplatePiece::Slot { .. }))
}

/// The texts that authors wrote for a slot, in order of appearance, each with its count.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownValues {
    values: Vec<(String, usize)>,
    places: HashMap<String, usize>,
}

impl ShownValues {
    fn add(&mut self, value: &str) {
        if let Some(place) = self.places.get(value) {
            self.values[*place].1 += 1;
        } else {
            self.places.insert(value.to_owned(), self.values.len());
            self.values.push((value.to_owned(), 1));
        }
    }

    /// Each text once, with its count.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&str, usize)> {
        self.values.iter().map(|(value, count)| (value.as_str(), *count))
    }
}

/// The texts that authors wrote for slots, by slot name.
pub(crate) fn shown(module: &Module) -> HashMap<String, ShownValues> {
    let mut shown: HashMap<String, ShownValues> = HashMap::new();
    let add = |function: &Function, sentence: &Sentence, shown: &mut HashMap<String, ShownValues>| {
        for (slot, bytes) in &sentence.slots {
            let values = shown.entry(squeeze(function.slot(*slot).label())).or_default();
            values.add(&sentence.text[bytes.clone()]);
        }
    };
    let mut parted = Vec::new();
    for function in &module.functions {
        for exemplar in &function.exemplars {
            match kept(exemplar) {
                Some(sentence) => add(function, &sentence, &mut shown),
                None => parted.push((function, exemplar)),
            }
        }
    }
    let known: Vec<(&Function, Sentence)> = parted
        .into_iter()
        .filter_map(|(function, exemplar)| Some((function, kept_by(exemplar, &is_shown(&shown, function))?)))
        .collect();
    known.iter().for_each(|(function, sentence)| add(function, sentence, &mut shown));
    shown
}

/// Whether exemplars show these words for a slot of the function.
fn is_shown<'a>(shown: &'a HashMap<String, ShownValues>, function: &'a Function) -> impl Fn(SlotId, &str) -> bool + 'a {
    |slot, words| {
        shown.get(&squeeze(function.slot(slot).label())).is_some_and(|shown| shown.places.contains_key(words)) //
    }
}

/// The module's own values for a slot: from exemplars, its lists and choices, and typical words of its built-ins.
fn own_values(module: &Module, shown: &HashMap<String, ShownValues>, slot: &Slot) -> Vec<String> {
    let shown = shown.get(&squeeze(slot.label())).into_iter().flat_map(ShownValues::values);
    let mut known: Vec<String> = shown.map(|(value, _)| value.to_owned()).collect();
    let builtin = |builtin: Builtin| builtin.typical_words().iter().map(|words| (*words).to_owned());
    for recognizer in &slot.recognizers {
        match &module.recognizer(*recognizer).kind {
            RecognizerKind::List(list) => {
                let instances = || list.instances.iter().take(MOST_INSTANCES);
                known.extend(
                    instances()
                        .map(|one| one.expressions.first().map_or_else(|| shown_value(&one.label), Clone::clone)),
                );
                known.extend(instances().flat_map(|one| one.expressions.iter().skip(1).cloned()));
            }
            RecognizerKind::Builtin(kind) => {
                known.extend(builtin(*kind));
                break;
            }
            RecognizerKind::Pattern(_) => {}
        }
    }
    if known.is_empty() {
        known.extend(slot.choices.iter().map(shown_value));
    }
    if known.is_empty() {
        match slot.kind {
            SlotKind::Integer | SlotKind::Number => known.extend(builtin(Builtin::Integer)),
            SlotKind::Boolean => known.push(text::in_words(slot.label())),
            _ => {}
        }
    }
    known
}

/// The sentence that the author kept, then the template with values; without duplicates.
fn said(
    exemplar: &Exemplar,
    values: &[Vec<String>],
    is_shown: &IsValue<'_>,
    (fillings, turn): (usize, usize),
) -> Vec<SampleSentence> {
    let text = exemplar.utterance.as_deref().map(str::trim).filter(|kept| !kept.is_empty());
    let own = text.map(|text| match kept_by(exemplar, is_shown) {
        Some(sentence) => SampleSentence { sentence, is_marked: true },
        None => SampleSentence {
            sentence: Sentence { text: text.to_owned(), slots: Vec::new() },
            is_marked: !shows_slots(exemplar),
        },
    });
    let mut all: Vec<SampleSentence> = own.into_iter().collect();
    let wanted = if shows_slots(exemplar) { fillings } else { 1 };
    for variant in all.len()..wanted {
        let filled = filled(exemplar, values, variant + turn);
        if all.iter().all(|known| known.sentence.text != filled.sentence.text) {
            all.push(filled);
        }
    }
    all
}

/// The template with values, different ones in each `turn`; the words of the slot's name if no value is known.
fn filled(exemplar: &Exemplar, values: &[Vec<String>], turn: usize) -> SampleSentence {
    let mut sentence = Sentence { text: String::with_capacity(exemplar.template.len()), slots: Vec::new() };
    let mut is_marked = true;
    for (at, piece) in exemplar.pieces.iter().enumerate() {
        match piece {
            TemplatePiece::Text(text) => sentence.text.push_str(text),
            TemplatePiece::Slot { label, slot } => {
                let known =
                    slot.and_then(|slot| Some((slot, values.get(slot.index()).filter(|values| !values.is_empty())?)));
                let Some((slot, values)) = known else {
                    is_marked = false;
                    sentence.text.push_str(&text::in_words(label));
                    continue;
                };
                let start = sentence.text.len();
                sentence.text.push_str(&values[(turn + at) % values.len()]);
                sentence.slots.push((slot, start..sentence.text.len()));
            }
        }
    }
    SampleSentence { sentence, is_marked }
}

fn shown_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace(['_', '-'], " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, ModuleName, load};

    fn module(schema: &Value, exemplars: &Value, recognizers: &Value) -> Module {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, content) in [("schema", schema), ("exemplars", exemplars), ("recognizers", recognizers)] {
            std::fs::write(directory.path().join(format!("{name}.json")), content.to_string()).expect("written");
        }
        load(directory.path(), ModuleName::new("test").expect("a name"), &Limits::default()).expect("it loads")
    }

    fn texts(sentences: &Sentences, exemplar: usize) -> Vec<&str> {
        let said = sentences.of(FunctionId::from_index(0), ExemplarId::from_index(exemplar));
        said.iter().map(|one| one.sentence.text.as_str()).collect()
    }

    #[test]
    fn templates_hold_values_that_the_module_says_or_that_are_typical() {
        let parameters = json!({"type": "object", "properties": {
            "title": {"type": "string"}, "size": {"type": "string"}, "count": {"type": "integer"},
        }});
        let module = module(
            &json!([{"name": "order", "description": "Order a book", "parameters": parameters}]),
            &json!({"order": [
                {"template": "I want <title>"},
                {"template": "<count> of <size>"},
                {"template": "send <title>", "utterance": "send Never Let Me Go"},
                {"template": "order a book"},
            ]}),
            &json!({"recognizers": {"size": {"rec_type": "list", "instances": [
                {"label": "small", "expressions": []}, {"label": "large", "expressions": ["big"]},
            ]}}}),
        );
        assert!(!lack_values(&module), "an author wrote a title");
        let sentences = Sentences::new(&module, &[]);
        assert_eq!(texts(&sentences, 0), ["I want Never Let Me Go"]);
        assert_eq!(texts(&sentences, 1), ["3 of big", "4 of small", "6 of big", "12 of small"]);
        assert_eq!(texts(&sentences, 2), ["send Never Let Me Go"]);
        assert_eq!(texts(&sentences, 3), ["order a book"]);
        let said = &sentences.of(FunctionId::from_index(0), ExemplarId::from_index(2))[0];
        assert!(said.is_marked && said.sentence.slots == [(SlotId::from_index(0), 5..20)]);
    }

    #[test]
    fn slots_side_by_side_are_parted_where_a_known_value_stands() {
        let text = json!({"type": "string"});
        let parameters = json!({"type": "object", "properties": {"owner": text, "list": text}});
        let module = module(
            &json!([{"name": "add", "description": "Add to a list", "parameters": parameters}]),
            &json!({"add": [
                {"template": "add it to <owner> list", "utterance": "add it to my list"},
                {"template": "add it to <owner> <list>", "utterance": "add it to my Sunday morning"},
                {"template": "add it to <owner> <list>", "utterance": "add it to Ann's jazz"},
                {"template": "put it on <owner> <list>", "utterance": "put it on our late night tunes"},
            ]}),
            &json!({"recognizers": {}}),
        );
        let shown = shown(&module);
        let values = |slot: &str| shown[slot].values().map(|(value, _)| value.to_owned()).collect::<Vec<_>>();
        assert_eq!(values("list"), ["jazz", "Sunday morning"], "nobody knows where \"our late night tunes\" is parted");
        assert_eq!(shown["owner"].values().collect::<Vec<_>>(), [("my", 2), ("Ann's", 1)]);
        // A sentence alone knows no values.
        assert_eq!(kept(&module.functions[0].exemplars[1]), None);
        let sentences = Sentences::new(&module, &[]);
        let said = &sentences.of(FunctionId::from_index(0), ExemplarId::from_index(1))[0];
        assert!(said.is_marked && said.sentence.slots.len() == 2);
    }

    #[test]
    fn what_nobody_says_is_typical_or_its_name() {
        let parameters = json!({"type": "object", "properties": {"bookTitle": {"type": "string"}}});
        let module = module(
            &json!([{"name": "order", "description": "Order a book", "parameters": parameters}]),
            &json!({"order": [{"template": "I want <bookTitle>"}]}),
            &json!({"recognizers": {}}),
        );
        assert!(lack_values(&module));
        let typical = vec![vec![vec!["Emma", "The Trial"]]];
        assert_eq!(texts(&Sentences::new(&module, &typical), 0), ["I want The Trial", "I want Emma"]);
        let unknown = Sentences::new(&module, &[]);
        assert_eq!(texts(&unknown, 0), ["I want book title"]);
        assert!(!unknown.of(FunctionId::from_index(0), ExemplarId::from_index(0))[0].is_marked);
    }
}
