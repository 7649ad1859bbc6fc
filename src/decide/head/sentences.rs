//! What a head learns from: each function's exemplars with values in their slots, and its name with its description.

use serde_json::Value;

use super::values;
use crate::{
    module::{
        Exemplar, ExemplarId, Function, FunctionId, Module, OwnerMode, Piece, RecognizerKind, Slot, SlotId, SlotKind,
    },
    retrieve::name_words,
};

/// Sentences made of one template with slots, where a module is small.
const FILLINGS: usize = 4;
/// Sentences made of all templates with slots together, at most. Each costs the embedding of a sentence when it is first
/// seen; a module with more such templates has exemplars enough to do without.
const MOST_FILLINGS: usize = 3_000;

/// A sentence that means a function, or says what does not mean it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentence {
    /// `None`: it means no function of the module.
    pub(crate) function: Option<FunctionId>,
    /// What it was made from; `None` for a description.
    pub(crate) exemplar: Option<(FunctionId, ExemplarId)>,
    pub(crate) text: String,
}

/// Every sentence of a module, in its order; none if it has no exemplars, as descriptions alone are found as well without.
pub(crate) fn sentences(module: &Module) -> Vec<Sentence> {
    let exemplars = || module.functions.iter().flat_map(|function| &function.exemplars);
    if exemplars().next().is_none() {
        return Vec::new();
    }
    let templates = exemplars().filter(|exemplar| has_slots(exemplar)).count();
    let fillings = (MOST_FILLINGS / templates.max(1)).clamp(1, FILLINGS);
    let mut sentences = Vec::new();
    for id in module.function_ids() {
        let function = module.function(id);
        sentences.push(Sentence { function: Some(id), exemplar: None, text: described(function) });
        // What speaks only in a context says nothing where nothing was asked.
        let speaks = |exemplar: &Exemplar| exemplar.context_frame.is_none() && exemplar.context_slot.is_none();
        for (index, exemplar) in function.exemplars.iter().enumerate().filter(|(_, exemplar)| speaks(exemplar)) {
            let of = (exemplar.mode != OwnerMode::Negative).then_some(id);
            let texts = texts(module, function, exemplar, fillings, index);
            let from = (id, ExemplarId::from_index(index));
            sentences.extend(texts.into_iter().map(|text| Sentence { function: of, exemplar: Some(from), text }));
        }
    }
    sentences
}

fn has_slots(exemplar: &Exemplar) -> bool {
    exemplar.pieces.iter().any(|piece| matches!(piece, Piece::Slot { .. }))
}

fn described(function: &Function) -> String {
    let (name, description) = (name_words(&function.name), function.description.trim());
    if description.is_empty() { name } else { format!("{name}: {description}") }
}

/// The sentence that the author kept, then the template with values; each text once.
fn texts(module: &Module, function: &Function, exemplar: &Exemplar, fillings: usize, turn: usize) -> Vec<String> {
    let kept = exemplar.utterance.as_deref().map(str::trim).filter(|kept| !kept.is_empty());
    let mut texts: Vec<String> = kept.map(str::to_owned).into_iter().collect();
    let wanted = if has_slots(exemplar) { fillings } else { 1 };
    for variant in texts.len()..wanted {
        let mut filled = String::with_capacity(exemplar.template.len());
        for (at, piece) in exemplar.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot { label, slot } => {
                    filled.push_str(&value(module, function, label, *slot, variant + at + turn));
                }
            }
        }
        if !texts.contains(&filled) {
            texts.push(filled);
        }
    }
    texts
}

/// Words for a value of the slot, other ones in each `turn`; the words of its name where nobody says what a value is.
fn value(module: &Module, function: &Function, label: &str, slot: Option<SlotId>, turn: usize) -> String {
    let Some(slot) = slot.map(|slot| function.slot(slot)) else { return name_words(label) };
    let known = known(module, slot, turn);
    known.unwrap_or_else(|| name_words(label))
}

fn known(module: &Module, slot: &Slot, turn: usize) -> Option<String> {
    for recognizer in &slot.recognizers {
        match &module.recognizer(*recognizer).kind {
            RecognizerKind::List(list) if !list.instances.is_empty() => {
                let instance = &list.instances[turn % list.instances.len()];
                let at = (turn / list.instances.len()) % (instance.expressions.len() + 1);
                return Some(instance.expressions.get(at).cloned().unwrap_or_else(|| shown(&instance.label)));
            }
            RecognizerKind::Builtin(builtin) => {
                let words = values::words(*builtin);
                return Some(words[turn % words.len()].to_owned());
            }
            RecognizerKind::List(_) | RecognizerKind::Pattern(_) => {}
        }
    }
    if let Some(choice) = slot.choices.get(turn % slot.choices.len().max(1)) {
        return Some(shown(choice));
    }
    let numbers = values::words(crate::module::Builtin::Integer);
    matches!(slot.kind, SlotKind::Integer | SlotKind::Number).then(|| numbers[turn % numbers.len()].to_owned())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace(['_', '-'], " "))
}
