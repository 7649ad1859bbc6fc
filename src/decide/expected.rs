//! What the utterance may be an answer to: what was just asked for, and what somebody else's recognizers found in it.
//!
//! Three things follow from an expectation. An exemplar with a context speaks only where that is expected. An expected
//! function is preferred where the words alone leave little between it and another. And a short utterance that says
//! nothing but a value of an expected slot ("two", "the margherita please") is an answer, whatever else its words
//! resemble.

use crate::{
    module::{Exemplar, ExemplarId, FunctionId, Module, SlotId, alike, squeeze},
    retrieve::{Candidate, Source},
    text::{Span, Utterance, fold},
};

/// Score that a function gains for being expected, and for an exemplar that speaks in just this context. The odds of two
/// functions double with every 0.03.
const PREFERRED: f32 = 0.04;
const IN_CONTEXT: f32 = 0.06;

/// One thing that was asked for, as whoever asked calls it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// A function's name, or one of a frame that the module does not have.
    pub frame: String,
    /// A slot's label; `None` if anything of the frame may be answered.
    pub slot: Option<String>,
}

/// Everything that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    asked: Vec<Asked>,
    functions: Vec<FunctionId>,
    slots: Vec<(FunctionId, SlotId)>,
}

/// What somebody else's recognizer found; it need not be right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// Of the slot that it may be a value of.
    pub label: String,
    /// Words of the utterance; without effect if they do not stand there.
    pub text: String,
}

impl Expected {
    /// Names that the module does not have still hold as contexts of its exemplars.
    #[must_use]
    pub fn new(module: &Module, asked: Vec<Asked>) -> Self {
        let mut expected = Self::default();
        for one in &asked {
            let Some(function) = module.function_alike(&one.frame) else { continue };
            if !expected.functions.contains(&function) {
                expected.functions.push(function);
            }
            let slot = one.slot.as_deref().and_then(|label| module.function(function).slot_labelled(label));
            expected.slots.extend(slot.map(|slot| (function, slot)));
        }
        Self { asked, ..expected }
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.asked.is_empty()
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
        let silent = module.contextual().filter(|(.., exemplar)| !self.holds(exemplar));
        silent.map(|(function, id, _)| (function, id)).collect()
    }

    /// Whether the context of an exemplar holds; true of one without a context.
    fn holds(&self, exemplar: &Exemplar) -> bool {
        if exemplar.context_frame.is_none() && exemplar.context_slot.is_none() {
            return true;
        }
        let is_frame = |asked: &Asked| exemplar.context_frame.as_deref().is_none_or(|frame| alike(frame, &asked.frame));
        let is_slot = |asked: &Asked| match (&exemplar.context_slot, &asked.slot) {
            (None, _) => true,
            (Some(context), Some(slot)) => squeeze(context) == squeeze(slot),
            // Anything of the frame may be answered.
            (Some(_), None) => exemplar.context_frame.is_some(),
        };
        self.asked.iter().any(|asked| is_frame(asked) && is_slot(asked))
    }

    /// Expected functions that are not among the candidates and may be chosen.
    pub(crate) fn unseen(&self, candidates: &[Candidate], among: Option<&[FunctionId]>) -> Vec<FunctionId> {
        let is_seen = |function: &FunctionId| candidates.iter().any(|candidate| candidate.function == *function);
        let may_be = |function: &FunctionId| among.is_none_or(|among| among.contains(function));
        self.functions.iter().filter(|function| !is_seen(function) && may_be(function)).copied().collect()
    }

    /// Gives the candidates the scores and the order that they have where this is expected.
    pub(crate) fn prefer(&self, module: &Module, candidates: &mut [Candidate]) {
        if self.is_empty() {
            return;
        }
        for candidate in candidates.iter_mut().filter(|candidate| candidate.score > 0.0) {
            let speaks_here = candidate.evidence.first().filter(|best| match best.source {
                Source::Exemplar { id, .. } => {
                    let exemplar = &module.function(candidate.function).exemplars[id.index()];
                    exemplar.context_frame.is_some() || exemplar.context_slot.is_some()
                }
                Source::Description => false,
            });
            // As much as it is like what was said.
            candidate.score += speaks_here.map_or(0.0, |best| IN_CONTEXT * best.score);
            if self.functions.contains(&candidate.function) {
                candidate.score += PREFERRED;
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
        let words = utterance.words();
        let found = utterance.folded().match_indices(&wanted).map(|(at, _)| {
            let span = utterance.span_of_folded(at..at + wanted.len());
            let cuts = words.iter().any(|word| word.overlaps(span) && !span.contains(*word));
            (!cuts).then_some(span)
        });
        found.flatten().collect()
    }
}
