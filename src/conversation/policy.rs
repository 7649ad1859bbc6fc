//! What happens with a complete form. This is the only place that decides what may be called, repeated, asked or
//! confirmed.
//!
//! | how the form came about | the function reads | the function acts | it acts, and may repeat |
//! |---|---|---|---|
//! | a request by itself | call | call | call |
//! | a request with the values of the last call, put together over several turns | call | ask, with what was done | ask, with what was done |
//! | a follow-up, a correction or an addition to the last call, with other values | call | ask, with what was done | call |
//! | the same with the values of the last call | call | tell what was done | tell what was done |
//! | a change of the last call by a function that is declared to change it | ask | ask | ask |
//! | a proposal of a model server that the words alone do not suggest | ask | ask | ask |
//!
//! Even where the table says "call", the person is asked if the function needs confirmation or the form is in doubt;
//! and, for functions that act, if the form is likelier not meant, however its values came together. After a yes to any
//! of these questions, the call is made once, in that turn. After a no, a yes alone does not make the call until
//! something else is said of the form.

use std::collections::HashMap;

use super::state::{Confirmation, Form, Origin, State};
use crate::{
    call::{SlotValue, Source, Validator},
    module::{Function, FunctionEffect, Module, settings::FunctionSettings},
    probability::EVEN,
};

/// What happens with a complete form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormDecision {
    Call,
    /// The person is asked to confirm it.
    Ask,
    /// The person is asked to confirm it, and told what was already done.
    AskWithDone,
    /// Nothing is called; the person is told what was done.
    TellDone,
}

/// The input of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyInput {
    pub origin: Origin,
    pub effect: FunctionEffect,
    /// The author allows follow-ups to call it with other values.
    pub repeats: bool,
    /// The last call was of this function with exactly these values.
    pub is_done: bool,
    /// One utterance requested it with all of its values.
    pub is_by_itself: bool,
    /// The author requires a yes, or it is in doubt.
    pub is_put: bool,
}

/// See [the module](self).
#[must_use]
pub const fn verdict(case: PolicyInput) -> FormDecision {
    let PolicyInput { origin, effect, repeats, is_done, is_by_itself, is_put } = case;
    let plain = if is_put { FormDecision::Ask } else { FormDecision::Call };
    match (origin, effect) {
        (Origin::Proposed | Origin::Change, _) => FormDecision::Ask,
        (_, FunctionEffect::Reads) => plain,
        (Origin::Request, FunctionEffect::Acts) if is_done && !is_by_itself => FormDecision::AskWithDone,
        (Origin::Request, FunctionEffect::Acts) => plain,
        (_, FunctionEffect::Acts) if is_done => FormDecision::TellDone,
        (_, FunctionEffect::Acts) if repeats => plain,
        (_, FunctionEffect::Acts) => FormDecision::AskWithDone,
    }
}

/// The verdict on a form that would be called now, regardless of confirmation.
#[must_use]
pub fn verdict_on(form: &Form, state: &State, module: &Module, validator: &Validator) -> FormDecision {
    let Some(id) = module.function_named(&form.function) else { return FormDecision::Ask };
    let function = module.function(id);
    let none = FunctionSettings::default();
    let settings = module.settings.functions.get(&function.name).unwrap_or(&none);
    verdict(PolicyInput {
        origin: form.origin,
        effect: function.effect.effect,
        repeats: settings.repeats,
        is_done: is_done(form, state, module, validator),
        is_by_itself: form.is_by_itself(),
        is_put: settings.confirm
            || form.is_doubtful
            || form.is_of_cancelled()
            || form.has_unread()
            || function.effect.effect == FunctionEffect::Acts && form.has_guess()
            || function.effect.effect == FunctionEffect::Acts && form.confidence < EVEN,
    })
}

/// The last call was of this function, with the values of the form.
fn is_done(form: &Form, state: &State, module: &Module, validator: &Validator) -> bool {
    let Some(last) = state.last_call.as_ref().filter(|last| last.function == form.function) else { return false };
    let arguments = |form: &Form| form.completed(module, validator).map(|completed| completed.arguments);
    arguments(last) == arguments(form)
}

/// The function that changes calls of `called`, if the author declared one.
#[must_use]
pub fn changing<'a>(called: &Function, module: &'a Module) -> Option<&'a str> {
    let mut functions = module.settings.functions.iter();
    let found = functions.find(|(_, own)| own.changes.as_deref() == Some(called.name.as_str()));
    found.map(|(name, _)| name.as_str())
}

/// The place of the list that a value is an item of.
fn list_of(item: &SlotValue) -> Option<&str> {
    let (list, index) = item.pointer.rsplit_once('/')?;
    index.parse::<usize>().is_ok().then_some(list)
}

impl Form {
    /// A value may not be all of what was said.
    fn has_unread(&self) -> bool {
        self.slots.iter().any(|slot| slot.unread.is_some())
    }

    /// A text value is likelier wrong than right. List items are no guess: the separators between them confirm them.
    fn has_guess(&self) -> bool {
        let mut items: HashMap<&str, usize> = HashMap::new();
        self.slots.iter().filter_map(list_of).for_each(|list| *items.entry(list).or_default() += 1);
        let is_one_of_several = |slot: &SlotValue| list_of(slot).is_some_and(|list| items[list] > 1);
        let is_guess = |slot: &SlotValue| {
            slot.from == Source::Said
                && slot.recognizer.is_none()
                && slot.value.is_string()
                && slot.confidence < EVEN
                && !is_one_of_several(slot)
        };
        self.slots.iter().any(is_guess)
    }

    /// The utterance that requested it gave all of its values.
    fn is_by_itself(&self) -> bool {
        let is_own =
            |turn: u32, from: Source| turn == self.opened && !matches!(from, Source::Carried | Source::Withdrawn);
        self.slots.iter().all(|filled| is_own(filled.turn, filled.from))
    }

    /// The yes came, and nothing has changed since.
    pub(super) fn is_confirmed(&self) -> bool {
        self.confirmation == Confirmation::Given
    }

    /// A no came, and nothing was said of the form since.
    pub(super) fn is_refused(&self) -> bool {
        self.confirmation == Confirmation::Refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINS: [Origin; 6] =
        [Origin::Request, Origin::FollowUp, Origin::Correction, Origin::Addition, Origin::Change, Origin::Proposed];

    fn cases() -> impl Iterator<Item = PolicyInput> {
        ORIGINS.into_iter().flat_map(|origin| {
            (0..32_u8).map(move |bits| {
                let bit = |at: u8| bits & (1 << at) != 0;
                let effect = if bit(0) { FunctionEffect::Reads } else { FunctionEffect::Acts };
                let (repeats, is_done, is_by_itself, is_put) = (bit(1), bit(2), bit(3), bit(4));
                PolicyInput { origin, effect, repeats, is_done, is_by_itself, is_put }
            })
        })
    }

    #[test]
    fn what_acts_is_never_called_again_but_by_a_request_or_where_its_author_allows_it() {
        for case in cases().filter(|case| case.effect == FunctionEffect::Acts) {
            if verdict(case) == FormDecision::Call {
                let is_request = case.origin == Origin::Request && (!case.is_done || case.is_by_itself);
                let is_allowed = case.origin.is_of_last_call() && case.repeats && !case.is_done;
                assert!(is_request || is_allowed, "{case:?}");
            }
        }
    }

    #[test]
    fn what_reads_is_repeated_at_once() {
        for case in cases().filter(|case| case.effect == FunctionEffect::Reads && !case.is_put) {
            let is_open = matches!(case.origin, Origin::Proposed | Origin::Change);
            assert_eq!(verdict(case) == FormDecision::Call, !is_open, "{case:?}");
        }
    }

    #[test]
    fn what_is_to_be_confirmed_is_never_called_unasked() {
        for case in cases().filter(|case| case.is_put) {
            assert_ne!(verdict(case), FormDecision::Call, "{case:?}");
        }
    }
}
