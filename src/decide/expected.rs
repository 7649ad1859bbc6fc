//! What the utterance may answer: what was just asked for, and what the caller's own recognizers found in it.
//!
//! An expectation has three effects. An exemplar with a context counts only where its context is expected. An expected
//! function is preferred if the words alone hardly distinguish it from another. And a short utterance with only a value
//! of an expected slot ("two", "the margherita please") is an answer, whatever else its words resemble.

use crate::{
    decide::bars::bars,
    module::{Exemplar, ExemplarId, FunctionId, Module, SlotId, alike, squeeze},
    retrieve::{Candidate, DocumentSource},
    text::{Span, Utterance, fold},
};

/// One thing that was asked for, under the names that the asking program uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedItem {
    /// A function's name, or the name of a frame that the module does not have.
    pub frame: String,
    /// A slot's label; `None` if anything of the frame may be answered.
    pub slot: Option<String>,
}

/// Everything that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    functions: Vec<FunctionId>,
    slots: Vec<(FunctionId, SlotId)>,
    /// Functions of which any slot may be answered.
    open: Vec<FunctionId>,
    /// Frames and slots that the module does not have: the contexts of its exemplars may still name them.
    unknown: Vec<AskedItem>,
}

/// A value that the caller's recognizer found; it may be wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// The label of the slot that it may be a value of.
    pub label: String,
    /// Words of the utterance; the hint has no effect if they do not stand there.
    pub text: String,
}

impl Expected {
    /// These slots of a function; if there are none, anything of the function.
    pub(crate) fn of(function: FunctionId, slots: &[SlotId]) -> Self {
        Self {
            functions: vec![function],
            slots: slots.iter().map(|slot| (function, *slot)).collect(),
            open: if slots.is_empty() { vec![function] } else { Vec::new() },
            unknown: Vec::new(),
        }
    }

    /// What a caller asked for under its own names.
    #[must_use]
    pub fn named(module: &Module, asked: Vec<AskedItem>) -> Self {
        let mut expected = Self::default();
        for one in asked {
            let Some(function) = module.function_alike(&one.frame) else {
                expected.unknown.push(one);
                continue;
            };
            if !expected.functions.contains(&function) {
                expected.functions.push(function);
            }
            match one.slot.as_deref().map(|label| module.function(function).slot_labelled(label)) {
                Some(Some(slot)) => expected.slots.push((function, slot)),
                Some(None) => expected.unknown.push(one),
                None => expected.open.push(function),
            }
        }
        expected
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.unknown.is_empty()
    }

    #[must_use]
    pub fn functions(&self) -> &[FunctionId] {
        &self.functions
    }

    pub(crate) fn slots_of(&self, function: FunctionId) -> Vec<SlotId> {
        self.slots.iter().filter(|(of, _)| *of == function).map(|(_, slot)| *slot).collect()
    }

    /// The slots that were asked for, as their authors describe them; `None` if none was.
    pub(crate) fn in_words(&self, module: &Module) -> Option<String> {
        let described = self.slots.iter().map(|(function, slot)| {
            let slot = module.function(*function).slot(*slot);
            let description = slot.description.trim();
            let path = slot.path.to_string();
            if description.is_empty() { path } else { format!("{path} ({description})") }
        });
        let described: Vec<String> = described.collect();
        (!described.is_empty()).then(|| described.join(", "))
    }

    /// The exemplars whose context does not hold.
    pub(crate) fn silent(&self, module: &Module) -> Vec<(FunctionId, ExemplarId)> {
        let silent = module.contextual().filter(|(.., exemplar)| !self.holds(module, exemplar));
        silent.map(|(function, id, _)| (function, id)).collect()
    }

    /// Whether the context of an exemplar holds.
    fn holds(&self, module: &Module, exemplar: &Exemplar) -> bool {
        let (frame, slot) = (exemplar.context_frame.as_deref(), exemplar.context_slot.as_deref());
        let is_frame = |name: &str| frame.is_none_or(|frame| alike(frame, name));
        let is_function = |function: FunctionId| is_frame(&module.function(function).name);
        let is_slot = |of: FunctionId, asked: SlotId| {
            slot.is_none_or(|label| module.function(of).slot_labelled(label) == Some(asked))
        };
        let is_named = |asked: &AskedItem| match (slot, &asked.slot) {
            (None, _) => true,
            (Some(context), Some(slot)) => squeeze(context) == squeeze(slot),
            (Some(_), None) => frame.is_some(),
        };
        self.slots.iter().any(|(function, asked)| is_function(*function) && is_slot(*function, *asked))
            // Any slot of the frame may be answered.
            || self.open.iter().any(|function| is_function(*function) && (slot.is_none() || frame.is_some()))
            || self.unknown.iter().any(|asked| is_frame(&asked.frame) && is_named(asked))
    }

    /// Expected functions that are not among the candidates and may be chosen.
    pub(crate) fn unseen(&self, candidates: &[Candidate], among: Option<&[FunctionId]>) -> Vec<FunctionId> {
        let is_seen = |function: &FunctionId| candidates.iter().any(|candidate| candidate.function == *function);
        let may_be = |function: &FunctionId| among.is_none_or(|among| among.contains(function));
        self.functions.iter().filter(|function| !is_seen(function) && may_be(function)).copied().collect()
    }

    /// Gives the candidates the scores and the order that this expectation implies.
    pub(crate) fn prefer(&self, module: &Module, candidates: &mut [Candidate]) {
        if self.is_empty() {
            return;
        }
        for candidate in candidates.iter_mut().filter(|candidate| candidate.score > 0.0) {
            let speaks_here = candidate.evidence.first().filter(|best| match best.source {
                DocumentSource::Exemplar { id, .. } => {
                    let exemplar = &module.function(candidate.function).exemplars[id.index()];
                    exemplar.context_frame.is_some() || exemplar.context_slot.is_some()
                }
                DocumentSource::Description => false,
            });
            // The bonus is proportional to the similarity of exemplar and utterance.
            candidate.score += speaks_here.map_or(0.0, |best| bars().in_context * best.score);
            if self.functions.contains(&candidate.function) {
                candidate.score += bars().expected;
            }
            candidate.score = candidate.score.min(1.0);
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.function.cmp(&b.function)));
    }
}

impl Hint {
    /// Where its words stand in the utterance, as whole words; case and accents do not count.
    #[must_use]
    pub fn spans(&self, utterance: &Utterance) -> Vec<Span> {
        let wanted = fold(self.text.trim());
        if wanted.is_empty() {
            return Vec::new();
        }
        let utterance = utterance.to_the_letter();
        let words = utterance.words();
        let found = utterance.folded().match_indices(&wanted).map(|(at, _)| {
            let span = utterance.span_of_folded(at..at + wanted.len());
            let cuts = words.iter().any(|word| word.overlaps(span) && !span.contains(*word));
            (!cuts).then_some(span)
        });
        found.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{decide::expected::*, module};

    #[test]
    fn a_context_names_a_slot_by_its_label() {
        let restaurant = Path::new(env!("CARGO_MANIFEST_DIR")).join("modules/restaurant");
        let name = module::ModuleName::new("restaurant").expect("a name");
        let module = module::load(&restaurant, name, &module::Limits::default()).expect("it loads");
        let id = module.function_named("order_food").expect("a function");
        let slot = module.function(id).slot_labelled("dishes[].quantity").expect("a slot");
        let exemplar = |slot: &str| Exemplar {
            context_frame: Some("order_food".to_owned()),
            context_slot: Some(slot.to_owned()),
            ..module.function(id).exemplars[0].clone()
        };
        let asked = AskedItem { frame: "OrderFood".to_owned(), slot: Some("quantity".to_owned()) };
        for expected in [Expected::of(id, &[slot]), Expected::named(&module, vec![asked])] {
            assert_eq!(expected.slots_of(id), [slot]);
            assert!(expected.holds(&module, &exemplar("quantity")));
            assert!(expected.holds(&module, &exemplar("dishes[].quantity")));
            assert!(!expected.holds(&module, &exemplar("name")));
        }
        assert!(Expected::of(id, &[]).holds(&module, &exemplar("name")), "anything of it may be answered");
    }
}
