//! What an answer without a value does to a form: it leaves out what was asked for, keeps things as they are, or names
//! something that is to be changed.

use crate::{
    ablation,
    conversation::{Act, Expects},
    decide::situation::Situation,
    dialogue::{open_form::OpenForm, slot_reference::SlotReference},
    module::SlotId,
    recognize::{
        acts::{ACTS, Move, MoveKind, Pick},
        reply::{YesNo, declines_offer},
    },
    text::Span,
};

impl OpenForm<'_> {
    /// True if everything that was asked is optional.
    pub(crate) fn is_optional(&self) -> bool {
        let is_optional = |slot: &SlotId| !self.function.slot(*slot).required;
        !self.asked.is_empty() && self.asked_slots().iter().all(is_optional)
    }

    /// What the words do to the form without a value: they name a known value that is to be changed, or nothing is to
    /// be done.
    pub(crate) fn done_without_value(&self, free: &Situation<'_>) -> Option<Act> {
        let named = |span: Span| {
            let slot =
                SlotReference { utterance: free.utterance(), mentions: free.mentions(), span }.slot(self.function)?;
            let path = &self.function.slot(slot).path;
            self.form.of_slot(path).next()
        };
        let changed = self.acts().find_map(|one| match one.kind {
            MoveKind::Change { what, to: None } => named(what),
            _ => None,
        });
        let is_about_change = matches!(self.state.expects, Some(Expects::Change { .. }));
        let whole = || is_about_change.then(|| named(Span::new(0, free.utterance().len()))).flatten();
        if let Some(filled) = changed.or_else(whole) {
            return Some(Act::Clear { place: filled.pointer.clone() });
        }
        // "Leave it" does not answer a question for a required value: it means that nothing is to be done.
        let is_needed = |slot: &SlotId| self.function.slot(*slot).required;
        let keeps = self.acts().any(|one| one.kind == MoveKind::Keep);
        let asked = self.asked_slots();
        let is_left = keeps && !asked.is_empty() && asked.iter().all(is_needed);
        is_left.then_some(Act::Cancel)
    }

    /// The words say that a value is unknown, unwanted or stays as it is, whatever else is said: "no idea, whatever
    /// fits". If the question is optional, a no may come with a reason: "no, I fetch it myself".
    pub(crate) fn passes(&self, free: &Situation<'_>) -> bool {
        let reply = free.analysis.reply;
        let is_pass = |one: &Move| match one.kind {
            MoveKind::Unknown | MoveKind::Skip => true,
            MoveKind::Pick(Pick::None | Pick::Either) | MoveKind::Keep => one.confidence >= ACTS,
            _ => false,
        };
        reply.rest.is_none() && matches!(reply.answer, YesNo::Negative | YesNo::Indifferent)
            || ablation::holds("decline.no_to_optional", reply.answer == YesNo::Negative && self.is_optional())
            || self.is_enough(free)
            || self.acts.moves.iter().any(is_pass)
    }

    /// "That's all" to a question for an optional value, which is an offer however it is worded.
    pub(crate) fn is_enough(&self, free: &Situation<'_>) -> bool {
        let declines = || declines_offer(self.module.language(), free.utterance().text());
        ablation::holds("decline.enough", self.is_optional() && declines())
    }

    /// Leaves out what was asked for.
    pub(crate) fn leave(&self) -> Act {
        Act::Leave { pointers: self.asked.to_vec() }
    }
}
