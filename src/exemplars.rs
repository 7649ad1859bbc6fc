//! Exemplars as people say them: templates with values in their slots.
//!
//! Whatever an utterance is compared with is such a sentence. A template with the names of its slots in it is like
//! nothing that anybody says: filled, its nearest utterances are found nine times in a hundred more often.

pub(crate) mod typical;

use std::{collections::HashMap, ops::Range};

use serde_json::Value;

use crate::{
    module::{
        Builtin, Exemplar, ExemplarId, Function, FunctionId, Module, Piece, RecognizerKind, Slot, SlotId, SlotKind,
        squeeze,
    },
    text,
};

/// Sentences made of one template with slots, where a module is small.
const FILLINGS: usize = 4;
/// Sentences made of all templates of a module, at most. Each costs a pass of the encoder when it is first seen; a
/// module with more templates has exemplars enough to do with one sentence of each.
const MOST_FILLINGS: usize = 3_000;
/// Instances of a list that are put into templates, at most.
const MOST_INSTANCES: usize = 64;

/// A sentence, and the bytes of it that each slot's value takes, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    pub text: String,
    pub slots: Vec<(SlotId, Range<usize>)>,
}

/// The sentence that an exemplar was made from, its slots found between the literals of the template, one after the
/// other. `None` if the author kept none, or if it does not fit the template without doubt.
#[must_use]
pub fn kept(exemplar: &Exemplar) -> Option<Sentence> {
    let text = exemplar.utterance.as_deref()?.trim();
    let mut slots: Vec<(SlotId, Range<usize>)> = Vec::new();
    let mut at = 0;
    let mut waiting: Option<SlotId> = None;
    let mut take = |from: usize, to: usize, waiting: &mut Option<SlotId>| -> Option<()> {
        let between = &text[from..to];
        let said = between.trim();
        match waiting.take() {
            Some(_) if said.is_empty() => return None,
            Some(slot) => {
                let start = from + (between.len() - between.trim_start().len());
                slots.push((slot, start..start + said.len()));
            }
            None if !said.is_empty() => return None,
            None => {}
        }
        Some(())
    };
    for piece in &exemplar.pieces {
        match piece {
            Piece::Text(literal) => {
                let literal = literal.trim();
                if literal.is_empty() {
                    if waiting.is_some() {
                        return None;
                    }
                    continue;
                }
                let found = at + text[at..].find(literal)?;
                take(at, found, &mut waiting)?;
                at = found + literal.len();
            }
            Piece::Slot { .. } if waiting.is_some() => return None,
            Piece::Slot { slot, .. } => waiting = Some((*slot)?),
        }
    }
    take(at, text.len(), &mut waiting)?;
    Some(Sentence { text: text.to_owned(), slots })
}

/// The sentences of every exemplar of a module.
pub struct Sentences {
    /// By function and exemplar.
    sentences: Vec<Vec<Vec<Said>>>,
}

/// A sentence, and whether every slot that its exemplar shows is marked in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub sentence: Sentence,
    pub is_marked: bool,
}

impl Sentences {
    /// `typical`, by function and slot: what people say for slots like it. What is not there is not typical of
    /// anything.
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
            let said = |(turn, exemplar): (usize, &Exemplar)| said(exemplar, &values, fillings, turn);
            function.exemplars.iter().enumerate().map(said).collect()
        };
        Self { sentences: module.functions.iter().enumerate().map(of).collect() }
    }

    /// At least one for each exemplar, each once.
    pub(crate) fn of(&self, function: FunctionId, exemplar: ExemplarId) -> &[Said] {
        &self.sentences[function.index()][exemplar.index()]
    }
}

/// Whether a template shows a slot of which the module itself says no values.
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
        Piece::Slot { slot, .. } => *slot,
        Piece::Text(_) => None,
    })
}

fn shows_slots(exemplar: &Exemplar) -> bool {
    exemplar.pieces.iter().any(|piece| matches!(piece, Piece::Slot { .. }))
}

/// What authors wrote where a slot stands, by the slot's name.
pub(crate) fn shown(module: &Module) -> HashMap<String, Vec<String>> {
    let mut shown: HashMap<String, Vec<String>> = HashMap::new();
    for function in &module.functions {
        for sentence in function.exemplars.iter().filter_map(kept) {
            for (slot, bytes) in &sentence.slots {
                let values = shown.entry(squeeze(function.slot(*slot).label())).or_default();
                let value = &sentence.text[bytes.clone()];
                if !values.iter().any(|known| known == value) {
                    values.push(value.to_owned());
                }
            }
        }
    }
    shown
}

/// What the module itself says for a slot: in exemplars, in its lists and choices, and words for its built-ins.
fn own_values(module: &Module, shown: &HashMap<String, Vec<String>>, slot: &Slot) -> Vec<String> {
    let mut known = shown.get(&squeeze(slot.label())).cloned().unwrap_or_default();
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

/// The sentence that the author kept, then the template with values; each text once.
fn said(exemplar: &Exemplar, values: &[Vec<String>], fillings: usize, turn: usize) -> Vec<Said> {
    let text = exemplar.utterance.as_deref().map(str::trim).filter(|kept| !kept.is_empty());
    let own = text.map(|text| match kept(exemplar) {
        Some(sentence) => Said { sentence, is_marked: true },
        None => {
            Said { sentence: Sentence { text: text.to_owned(), slots: Vec::new() }, is_marked: !shows_slots(exemplar) }
        }
    });
    let mut all: Vec<Said> = own.into_iter().collect();
    let wanted = if shows_slots(exemplar) { fillings } else { 1 };
    for variant in all.len()..wanted {
        let filled = filled(exemplar, values, variant + turn);
        if all.iter().all(|known| known.sentence.text != filled.sentence.text) {
            all.push(filled);
        }
    }
    all
}

/// The template with values, others in each `turn`; the words of a slot's name where nobody says what a value is.
fn filled(exemplar: &Exemplar, values: &[Vec<String>], turn: usize) -> Said {
    let mut sentence = Sentence { text: String::with_capacity(exemplar.template.len()), slots: Vec::new() };
    let mut is_marked = true;
    for (at, piece) in exemplar.pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => sentence.text.push_str(text),
            Piece::Slot { label, slot } => {
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
    Said { sentence, is_marked }
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
