//! What an answer does to a form that gives no value: it leaves out what was asked for, keeps things as they are, names
//! what is to be another way.

use crate::{
    conversation::{Act, Expects},
    decide::situation::Situation,
    dialogue::{open_form::OpenForm, slot_reference::Named},
    module::SlotId,
    recognize::{
        acts::{Kind, Move, Pick},
        reply::{Reply, YesNo},
    },
    text::Span,
};

/// Log-odds against a request from which on an utterance declines to give a value.
const DECLINED: f32 = 2.5;
/// How sure it must be that a value is not known, or not wanted, where no value was said.
const PASSES: f32 = 0.65;
/// Characters of what may stand beside "I don't know" without being a request.
const SHORT_REST: usize = 16;

impl OpenForm<'_> {
    /// Nothing can be said of what was asked, in a few words: "I don't know its number".
    pub(crate) fn declines(&self, reply: Reply) -> bool {
        if reply.is_bare_no() {
            return true;
        }
        let is_declined = self.acts().any(|one| matches!(one.kind, Kind::Unknown | Kind::Skip | Kind::Keep));
        is_declined && self.acts.rest.is_none_or(|rest| rest.len() <= SHORT_REST)
    }

    /// True if nobody has to answer what was asked.
    fn is_optional(&self) -> bool {
        let is_optional = |slot: &SlotId| !self.function.slot(*slot).required;
        !self.asked.is_empty() && self.asked_slots().iter().all(is_optional)
    }

    /// Its words decline to give what was asked for, as far as the encoder has learned what that sounds like. Where any
    /// words may be the value, this must be likelier than an answer.
    pub(crate) fn sounds_declined(&self, free: &Situation<'_>) -> bool {
        let Some(odds) = free.speech_act() else { return false };
        let may_be_value = self.asked_slots().iter().any(|slot| self.function.slot(*slot).takes_any_words());
        self.is_optional()
            && !self.has_acts()
            && odds.decline >= if may_be_value { odds.reply.max(DECLINED) } else { DECLINED }
    }

    /// "No idea, whatever fits": a value is not known or not wanted, whatever is said beside that.
    fn passes(&self) -> bool {
        let is_pass = |one: &&Move| matches!(one.kind, Kind::Unknown | Kind::Skip);
        self.acts.moves.iter().filter(is_pass).any(|one| one.confidence >= PASSES)
    }

    /// "No notes": what was asked for is named only to be ruled out.
    fn denies_asked(&self, free: &Situation<'_>) -> bool {
        let asked = self.asked_slots();
        let names = |span: Span| {
            let named = Named { utterance: free.utterance(), mentions: free.mentions(), span };
            named.slot(self.function).is_some_and(|slot| asked.contains(&slot))
        };
        free.negations().iter().any(|negation| names(negation.scope))
    }

    /// What is done where no value was said.
    pub(crate) fn silent(&self, free: &Situation<'_>) -> Option<Act> {
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
        if let Some(filled) = changed.or_else(whole) {
            return Some(Act::Clear { place: filled.pointer.clone() });
        }
        let reply = free.analysis.reply;
        let leaves = reply.rest.is_none() && matches!(reply.answer, YesNo::Negative | YesNo::Indifferent)
            || self.acts().any(|one| matches!(one.kind, Kind::Pick(Pick::None | Pick::Either) | Kind::Keep))
            // "No, I fetch it myself": the reason for the no is nobody's value.
            || reply.answer == YesNo::Negative && self.is_optional()
            || self.passes()
            || self.denies_asked(free)
            || self.sounds_declined(free);
        // "Leave it" says nothing of a value that is needed: nothing is to be done.
        let is_needed = |slot: &SlotId| self.function.slot(*slot).required;
        let keeps = self.acts().any(|one| one.kind == Kind::Keep);
        if keeps && !self.asked.is_empty() && self.asked_slots().iter().all(is_needed) {
            return Some(Act::Cancel);
        }
        if leaves && !self.asked.is_empty() {
            return Some(Act::Leave { pointers: self.asked.to_vec() });
        }
        None
    }
}
