//! Where in the utterance a function's slots are: a small probabilistic model of how its exemplars are built.
//!
//! The templates of a function are sequences of words and slots. Counted as a bigram model (backed off to the function's
//! and then the module's words), they say how likely each word or slot follows another; the values that exemplars show
//! say what a slot's words look like. An utterance is then cut into plain words and slot values in the most probable
//! way (`lattice`), where a span that a recognizer found (an [`Anchor`]) is worth more than the words it is made of,
//! and a slot without a recognizer may be any few words. The posterior probability of a segment is its confidence.
//!
//! There is no training step: counting a module takes milliseconds. The constants were chosen on one development set
//! (SNIPS, 10 exemplars a function) and rounded; halving or doubling those that were tried moves slot F1 there by about
//! one point.

mod lattice;
mod model;
mod said;
mod template;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use crate::{
    decide::carrier,
    module::{FunctionId, Module, SlotId},
    text::{Span, Utterance},
};

pub use model::Aligner;
use model::Token;
pub(crate) use said::Said;

/// A span that could be the value of a slot, because one of the slot's recognizers found it there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    pub slot: SlotId,
    pub span: Span,
    /// 0 to 1, as the recognizer scored it.
    pub score: f32,
}

/// A slot and the span that fills it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filling {
    pub slot: SlotId,
    pub span: Span,
    /// Which of the anchors it is; `None` for free text.
    pub anchor: Option<usize>,
    /// Posterior probability of exactly this slot at exactly this span, 0 to 1.
    pub confidence: f32,
}

impl Aligner {
    /// Counts the exemplars of every function.
    #[must_use]
    pub fn compile(module: &Module) -> Self {
        model::compile(module)
    }

    /// The most probable reading of `utterance` as a request for `function`, in the order of the utterance. A slot that
    /// is not repeated comes once at most. Linear in the length of the utterance.
    #[must_use]
    pub fn align(&self, function: FunctionId, utterance: &Utterance, anchors: &[Anchor]) -> Vec<Filling> {
        self.align_answer(function, utterance, anchors, &[])
    }

    /// The same of what may be an answer: values of the `expected` slots are likelier than their words make them.
    #[must_use]
    pub fn align_answer(
        &self,
        function: FunctionId,
        utterance: &Utterance,
        anchors: &[Anchor],
        expected: &[SlotId],
    ) -> Vec<Filling> {
        let words = self.read(utterance);
        let compared = said::Compared::new(self, utterance, &words, anchors);
        let said = compared.and_then(|compared| self.said(function, &compared));
        if let Some(said) = said.filter(Said::is_certain) {
            return self.settled(function, said.fillings, anchors);
        }
        let mut fillings = lattice::decode(self, function, utterance, &words, anchors, expected).best;
        for filling in fillings.iter_mut().filter(|filling| filling.anchor.is_none()) {
            filling.span = self.without_frame(utterance, &words, filling.span);
        }
        self.settled(function, fillings, anchors)
    }

    /// The template of the function that the utterance says, if it says one.
    pub(crate) fn said_of(&self, function: FunctionId, utterance: &Utterance, anchors: &[Anchor]) -> Option<Said> {
        let words = self.read(utterance);
        self.said(function, &said::Compared::new(self, utterance, &words, anchors)?)
    }

    /// Free text without what only leads to it or thanks for it: "called ...", "..., please". All of it if nothing is left.
    fn without_frame(&self, utterance: &Utterance, words: &[Token], span: Span) -> Span {
        let spans = utterance.words();
        let mut from = spans.partition_point(|word| word.end <= span.start);
        let mut to = spans.partition_point(|word| word.start < span.end);
        while from + 1 < to && self.language.words.naming.contains(&words[from].folded) {
            from += 1;
        }
        if to == spans.len() {
            let around = carrier::around(self.language, utterance);
            to = around.ends.into_iter().filter(|end| *end > from).min().unwrap_or(to);
        }
        if from < to { Span::new(spans[from].start.max(span.start), spans[to - 1].end.min(span.end)) } else { span }
    }

    fn settled(&self, function: FunctionId, mut fillings: Vec<Filling>, anchors: &[Anchor]) -> Vec<Filling> {
        for filling in &mut fillings {
            // To the letter: "$5" is more than the word in it.
            filling.span = filling.anchor.map_or(filling.span, |index| anchors[index].span);
        }
        self.spread(function, &mut fillings, anchors);
        self.keep_single_values(function, &mut fillings);
        fillings
    }

    /// Every value that is at least so `likely`, with its posterior; an answer for an `expected` slot is likelier.
    #[must_use]
    pub fn posteriors(
        &self,
        function: FunctionId,
        utterance: &Utterance,
        anchors: &[Anchor],
        expected: &[SlotId],
        likely: f32,
    ) -> Vec<Filling> {
        let words = self.read(utterance);
        let mut fillings = lattice::decode(self, function, utterance, &words, anchors, expected).all;
        fillings.retain(|filling| filling.confidence >= likely);
        for filling in &mut fillings {
            filling.span = filling.anchor.map_or(filling.span, |index| anchors[index].span);
        }
        fillings
    }
}
