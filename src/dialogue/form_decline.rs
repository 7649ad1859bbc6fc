//! What an answer without a value does to a form: it leaves out what was asked for, keeps things as they are, or names
//! something that is to be changed.

use crate::{
    ablation,
    conversation::{Act, Expects},
    decide::situation::Situation,
    dialogue::{open_form::OpenForm, slot_reference::Named},
    module::SlotId,
    recognize::{
        acts::{ACTS, Kind, Move, Pick},
        reply::{Reply, YesNo},
    },
    text::Span,
};

/// With log-odds against a request from here on, words that could be a value decline to give one.
const DECLINED: f32 = 2.5;
/// The most characters that may stand beside "I don't know" without being a request.
const SHORT_REST: usize = 16;

impl OpenForm<'_> {
    /// The person says in a few words that they cannot answer: "I don't know its number".
    pub(crate) fn declines(&self, reply: Reply) -> bool {
        if reply.is_bare_no() {
            return true;
        }
        let is_declined = self.acts().any(|one| matches!(one.kind, Kind::Unknown | Kind::Skip | Kind::Keep));
        let is_short = self.acts.rest.is_none_or(|rest| rest.len() <= SHORT_REST);
        ablation::holds("decline.declined", is_declined && is_short)
    }

    /// True if everything that was asked is optional.
    pub(crate) fn is_optional(&self) -> bool {
        let is_optional = |slot: &SlotId| !self.function.slot(*slot).required;
        !self.asked.is_empty() && self.asked_slots().iter().all(is_optional)
    }

    /// True if the words probably decline to give an optional value, by what the encoder has learned: this is likelier
    /// than an answer, if the slot takes any words.
    pub(crate) fn sounds_declined(&self, free: &Situation<'_>) -> bool {
        let Some(odds) = free.speech_act() else { return false };
        let may_be_value = self.asked_slots().iter().any(|slot| self.function.slot(*slot).takes_any_words());
        let least = if may_be_value { odds.reply.max(DECLINED) } else { DECLINED };
        ablation::holds("decline.sounds_declined", self.is_optional() && !self.has_acts() && odds.decline >= least)
    }

    /// "No notes": the slot that was asked for is named only to be ruled out.
    fn denies_asked(&self, free: &Situation<'_>) -> bool {
        let asked = self.asked_slots();
        let names = |span: Span| {
            let named = Named { utterance: free.utterance(), mentions: free.mentions(), span };
            named.slot(self.function).is_some_and(|slot| asked.contains(&slot))
        };
        free.negations().iter().any(|negation| names(negation.scope))
    }

    /// What the words do to the form without a value: they name a known value that is to be changed, or nothing is to
    /// be done.
    pub(crate) fn done_without_value(&self, free: &Situation<'_>) -> Option<Act> {
        let named = |span: Span| {
            let slot = Named { utterance: free.utterance(), mentions: free.mentions(), span }.slot(self.function)?;
            let path = &self.function.slot(slot).path;
            self.form.of_slot(path).next()
        };
        let changed = self.acts().find_map(|one| match one.kind {
            Kind::Change { what, to: None } => named(what),
            _ => None,
        });
        let is_about_change = matches!(self.state.expects, Some(Expects::Change { .. }));
        let whole = || is_about_change.then(|| named(Span::new(0, free.utterance().len()))).flatten();
        let whole = || ablation::found("decline.named_for_change", whole());
        if let Some(filled) = ablation::found("decline.changed", changed).or_else(whole) {
            return Some(Act::Clear { place: filled.pointer.clone() });
        }
        // "Leave it" does not answer a question for a required value: it means that nothing is to be done.
        let is_needed = |slot: &SlotId| self.function.slot(*slot).required;
        let keeps = self.acts().any(|one| one.kind == Kind::Keep);
        let asked = self.asked_slots();
        let is_left = keeps && !asked.is_empty() && asked.iter().all(is_needed);
        ablation::holds("decline.keeps", is_left).then_some(Act::Cancel)
    }

    /// The words say that a value is unknown, unwanted or stays as it is, whatever else is said: "no idea, whatever
    /// fits". If the question is optional, a no may come with a reason: "no, I fetch it myself".
    pub(crate) fn passes(&self, free: &Situation<'_>) -> bool {
        let reply = free.analysis.reply;
        let is_pass = |one: &Move| match one.kind {
            Kind::Unknown | Kind::Skip => true,
            Kind::Pick(Pick::None | Pick::Either) | Kind::Keep => one.confidence >= ACTS,
            _ => false,
        };
        reply.rest.is_none() && matches!(reply.answer, YesNo::Negative | YesNo::Indifferent)
            || ablation::holds("decline.no_to_optional", reply.answer == YesNo::Negative && self.is_optional())
            || self.acts.moves.iter().any(is_pass)
            || ablation::holds("decline.denies_asked", self.denies_asked(free))
    }

    /// Leaves out what was asked for.
    pub(crate) fn leave(&self) -> Act {
        Act::Leave { pointers: self.asked.to_vec() }
    }
}
