//! A function's exemplars as sentences in which the values of slots are marked.

use std::{collections::HashMap, ops::Range};

use serde_json::Value;

use crate::{
    decide::head::values,
    module::{Exemplar, Function, Module, OwnerMode, Piece, RecognizerKind, Slot, SlotId, squeeze},
};

/// Sentences made of one template, and of all templates of a function, at most. Each costs a pass of the encoder when
/// it is first seen.
const FILLINGS: usize = 4;
const MOST: usize = 64;

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

/// What authors wrote where a slot stands, by the slot's name.
pub(crate) struct Shown(HashMap<String, Vec<String>>);

impl Shown {
    pub(crate) fn new(module: &Module) -> Self {
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
        Self(shown)
    }

    /// What the module itself says for a slot: in exemplars, in its lists and choices, and words for its built-ins.
    fn values(&self, module: &Module, slot: &Slot) -> Vec<String> {
        let mut known = self.0.get(&squeeze(slot.label())).cloned().unwrap_or_default();
        for recognizer in &slot.recognizers {
            match &module.recognizer(*recognizer).kind {
                RecognizerKind::List(list) => {
                    for instance in list.instances.iter().take(MOST) {
                        known.extend(instance.expressions.first().cloned().or_else(|| Some(in_words(&instance.label))));
                    }
                }
                RecognizerKind::Builtin(builtin) => {
                    known.extend(values::words(*builtin).iter().map(|words| (*words).to_owned()));
                    break;
                }
                RecognizerKind::Pattern(_) => {}
            }
        }
        if known.is_empty() {
            known.extend(slot.choices.iter().map(in_words));
        }
        known
    }
}

/// Values to put where templates have slots.
pub(crate) struct Fillings<'a> {
    function: &'a Function,
    /// Of each slot, by its index.
    values: Vec<Vec<String>>,
}

impl<'a> Fillings<'a> {
    /// `typical`, of each slot: what people say for slots like it.
    pub(crate) fn new(module: &Module, shown: &Shown, function: &'a Function, typical: &[Vec<&str>]) -> Self {
        let of = |(index, slot): (usize, &Slot)| {
            let mut values = shown.values(module, slot);
            if values.is_empty() {
                values.extend(typical.get(index).into_iter().flatten().map(|value| (*value).to_owned()));
            }
            values
        };
        let values = function.slots.iter().enumerate().map(of).collect();
        Self { function, values }
    }

    /// Every exemplar that means the function, as the author said it and with other values, slots marked; none if no
    /// exemplar shows a slot.
    pub(crate) fn sentences(&self) -> Vec<Sentence> {
        let shows = |exemplar: &Exemplar| exemplar.pieces.iter().any(|piece| matches!(piece, Piece::Slot { .. }));
        let positive = || self.function.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative);
        let templates = positive().filter(|exemplar| shows(exemplar)).count();
        if templates == 0 {
            return Vec::new();
        }
        let fillings = (MOST / templates).clamp(1, FILLINGS);
        let mut sentences: Vec<Sentence> = Vec::new();
        for variant in 0..fillings {
            for (turn, exemplar) in positive().enumerate() {
                let own = (variant == 0).then(|| kept(exemplar)).flatten();
                let is_new = shows(exemplar) || variant == 0;
                let said = own.or_else(|| self.filled(exemplar, variant + turn).filter(|_| is_new));
                sentences.extend(said.filter(|said| sentences.len() < MOST && !sentences.contains(said)));
            }
        }
        sentences
    }

    /// The template with values; `None` if a slot of it has none.
    fn filled(&self, exemplar: &Exemplar, turn: usize) -> Option<Sentence> {
        let mut sentence = Sentence { text: String::with_capacity(exemplar.template.len()), slots: Vec::new() };
        for (at, piece) in exemplar.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => sentence.text.push_str(text),
                Piece::Slot { slot, .. } => {
                    let slot = (*slot)?;
                    let values = self.values.get(slot.index()).filter(|values| !values.is_empty())?;
                    let start = sentence.text.len();
                    sentence.text.push_str(&values[(turn + at) % values.len()]);
                    sentence.slots.push((slot, start..sentence.text.len()));
                }
            }
        }
        Some(sentence)
    }
}

fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace('_', " "))
}
