//! The next step, from what is known. Pure: the same state always has the same next step.

use super::{
    pending::Pending,
    policy::{FormDecision, verdict_on},
    rules,
    state::{Form, InvalidValue, State},
};
use crate::{
    call::{Call, Completed, Validator, Violation, ViolationKind},
    module::{
        Function, Module, Slot, SlotId, SlotPath,
        settings::{Ask, FunctionSettings},
    },
};

/// How the service asks, for modules that do not set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manners {
    pub ask: Ask,
    /// Questions in a row about the same thing that may bring nothing valid.
    pub tries: u32,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Valid, complete and confirmed calls in the order of the requests, each with the index of its form in
    /// [`State::forms`]; never empty. Requests of one utterance wait for one another, but not beyond a yes: confirmed
    /// calls are made in the turn of the yes, together with all other ready ones. So no later turn has to remember
    /// them.
    Call(Vec<(usize, Call)>),
    /// The form at this index in [`State::forms`] asks for something that was already done.
    Done(usize),
    /// A question about the form at this index in [`State::forms`].
    Ask(usize, Pending),
    /// The same, after this was asked too often.
    HandOff(usize, Pending),
    /// Nothing is open.
    Nothing,
}

/// See [the module](self). `now` is the moment of the turn, in the module's time zone.
#[must_use]
pub fn next(state: &State, module: &Module, validator: &Validator, manners: Manners, now: &jiff::Zoned) -> Next {
    let Some(active) = state.forms.last() else { return Next::Nothing };
    // Requests of one utterance are called together.
    let mut together: Vec<(usize, &Form)> =
        state.forms.iter().enumerate().filter(|(_, form)| form.opened == active.opened).collect();
    together.sort_by_key(|(_, form)| form.after);
    let mut calls = Vec::new();
    let mut is_agreed = false;
    let mut pending = None;
    for (place, form) in together {
        match step(form, state, (module, validator), manners, now) {
            Some(FormProgress::Ready(call)) => {
                is_agreed |= form.is_confirmed();
                calls.push((place, call));
            }
            Some(FormProgress::Done) => return Next::Done(place),
            Some(FormProgress::Ask(next))
                if pending.is_none() || std::ptr::eq(form, active) && is_filled(form, &next, state) =>
            {
                pending = Some((place, form, next));
            }
            Some(FormProgress::Ask(_)) | None => {}
        }
    }
    match pending {
        Some(_) if is_agreed => Next::Call(calls),
        Some((place, form, pending)) => {
            let limit = module.settings.conversation.tries.unwrap_or(manners.tries);
            let tries = form.tries.get(&pending.key()).copied().unwrap_or_default();
            if tries >= limit.max(1) { Next::HandOff(place, pending) } else { Next::Ask(place, pending) }
        }
        None if calls.is_empty() => Next::Nothing,
        None => Next::Call(calls),
    }
}

/// The active form goes first. If it only needs confirmation and was just requested, no form is being filled yet, and
/// the forms keep their order.
fn is_filled(active: &Form, next: &Pending, state: &State) -> bool {
    active.opened != state.turn || !matches!(next, Pending::Confirm { .. })
}

/// The values of a form as they would be called, or what prevents that.
#[must_use]
pub fn completed(form: &Form, module: &Module, validator: &Validator) -> Option<Completed> {
    form.completed(module, validator)
}

enum FormProgress {
    Ready(Call),
    Done,
    Ask(Pending),
}

/// `None` if the module no longer has the function.
fn step(
    form: &Form,
    state: &State,
    (module, validator): (&Module, &Validator),
    manners: Manners,
    now: &jiff::Zoned,
) -> Option<FormProgress> {
    let id = module.function_named(&form.function)?;
    let function = module.function(id);
    let none = FunctionSettings::default();
    let settings = module.settings.functions.get(&function.name).unwrap_or(&none);
    let completed = completed(form, module, validator)?;
    // Values that the person believes to be settled come first.
    if let Some(aside) = form.aside.first() {
        return Some(FormProgress::Ask(Pending::Invalid { function: id, aside: aside.clone() }));
    }
    let lacking = completed.call.as_ref().err().map_or(&[][..], Vec::as_slice);
    if let Some(wrong) = lacking.iter().find(|violation| violation.kind != ViolationKind::Missing) {
        return Some(FormProgress::Ask(Pending::Invalid {
            function: id,
            aside: InvalidValue::new(wrong, form.opened),
        }));
    }
    if let Some(broken) = rules::broken(&settings.rules, &completed.arguments, now).into_iter().next() {
        return Some(FormProgress::Ask(Pending::Rule { function: id, broken }));
    }
    let mut wanted: Vec<String> = lacking.iter().map(|violation| place_to_ask(function, &violation.path)).collect();
    wanted.extend(optional(form, function, settings));
    if !wanted.is_empty() {
        let ask = settings.ask.or(module.settings.conversation.ask).unwrap_or(manners.ask);
        let pointers = together(in_order(function, settings, wanted), ask);
        return Some(FormProgress::Ask(Pending::Missing { function: id, pointers }));
    }
    // Unreachable: a call that fails names a reason.
    let call = completed.call.ok()?;
    match verdict_on(form, state, module, validator) {
        FormDecision::TellDone => Some(FormProgress::Done),
        _ if form.is_refused() => Some(FormProgress::Ask(Pending::Change { function: id })),
        FormDecision::Call => Some(FormProgress::Ready(call)),
        FormDecision::Ask | FormDecision::AskWithDone if form.is_confirmed() => Some(FormProgress::Ready(call)),
        FormDecision::Ask | FormDecision::AskWithDone => Some(FormProgress::Ask(Pending::Confirm { function: id })),
    }
}

/// The place to ask for when something is missing: for a whole list or object, the slot that names it.
fn place_to_ask(function: &Function, pointer: &str) -> String {
    let path = SlotPath::of_pointer(pointer);
    let is_slot = function.slot_at(&path).is_some();
    let mut below =
        function.slots.iter().filter(|slot| slot.path.0.len() > path.0.len() && slot.path.0.starts_with(&path.0));
    let first = below.clone().find(|slot| slot.required).or_else(|| below.next());
    match first {
        Some(slot) if !is_slot => {
            let rest = SlotPath(slot.path.0[path.0.len()..].to_vec());
            format!("{pointer}{}", rest.pointer())
        }
        _ => pointer.to_owned(),
    }
}

/// The optional slots that the module asks for.
fn optional(form: &Form, function: &Function, settings: &FunctionSettings) -> Vec<String> {
    let is_open = |slot: &&Slot| {
        let path = slot.path.to_string();
        settings.slots.get(&path).is_some_and(|slot| slot.ask)
            && !slot.path.is_repeated()
            && !form.skipped.contains(&path)
            && !form.has(&slot.path)
    };
    function.slots.iter().filter(is_open).map(|slot| slot.path.pointer()).collect()
}

/// Sorts by priority, then in the order of the schema, then item by item.
fn in_order(function: &Function, settings: &FunctionSettings, mut wanted: Vec<String>) -> Vec<String> {
    wanted.sort_by_cached_key(|pointer| {
        let path = SlotPath::of_pointer(pointer);
        let place = function.slot_at(&path).map_or(function.slots.len(), SlotId::index);
        let priority = settings.slots.get(&path.to_string()).map_or(0, |slot| slot.priority);
        let items: Vec<usize> = pointer.split('/').filter_map(|step| step.parse().ok()).collect();
        (std::cmp::Reverse(priority), items, place)
    });
    wanted.dedup();
    wanted
}

/// The first alone, or with the others in the same object.
fn together(mut wanted: Vec<String>, ask: Ask) -> Vec<String> {
    let object = |pointer: &str| pointer.rfind('/').map(|at| pointer[..at].to_owned());
    match ask {
        Ask::One => wanted.truncate(1),
        Ask::Group => {
            let first = wanted.first().and_then(|first| object(first));
            wanted.retain(|pointer| object(pointer) == first);
        }
    }
    wanted
}

impl InvalidValue {
    #[must_use]
    pub fn new(violation: &Violation, turn: u32) -> Self {
        Self {
            pointer: violation.path.clone(),
            kind: violation.kind,
            found: violation.found.clone(),
            expected: violation.expected.clone(),
            readings: violation.readings.clone(),
            turn,
        }
    }
}
