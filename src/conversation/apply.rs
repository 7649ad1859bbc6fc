//! Applies the acts of a turn to a conversation. Pure.

use serde_json::Value;

use super::{
    merge::{FormUpdate, merged},
    next::completed,
    pending::Pending,
    policy::{FormDecision, verdict_on},
    state::{Carried, Confirmation, End, Expects, Form, Origin, State},
};
use crate::{
    call::{SlotValue, Source, Validator},
    module::{FunctionId, Module, RecognizerKind, Slot, SlotId, SlotKind, SlotPath, schema::validator},
};

/// One thing that an utterance does.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Gives values for a function, and opens its form if there is none. `another`: this is a further request, even if
    /// forms of this function are open.
    Inform { function: FunctionId, said: FormUpdate, another: bool },
    /// Repeats the last call with the values given now.
    Again { said: FormUpdate },
    /// Asks what was called last.
    Recount,
    /// Confirms what is about to be done.
    Yes,
    /// Rejects it, without saying what would be right.
    No,
    /// Declines to give values for these places.
    Leave { pointers: Vec<String> },
    /// Gives up the active form.
    Cancel,
    /// One of these functions seemed to be meant, but none was.
    Forget { functions: Vec<String> },
    /// Starts the active form again.
    Restart,
    /// Names only the place of a value ("change the address"): the value is asked for.
    Clear { place: String },
    /// Asks to hear again what is known or what was asked.
    Recall,
    /// Continues the form that waits under the active one.
    Resume,
    /// A mere courtesy ("thanks", "one moment", "why?"), which does not count as an attempt to answer.
    Polite,
    /// Asks for a human. What is open stays as it is.
    HandOver,
}

/// The effect of a turn's acts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Applied {
    /// The turn had at least one act.
    pub has_acts: bool,
    /// The turn brought something: a value, an answer, an end.
    pub is_understood: bool,
    /// A form has changed.
    pub is_changed: bool,
    /// The question is to be asked again, without counting a failed try.
    pub is_repeat: bool,
    /// The same, after a reply to a courtesy.
    pub is_polite: bool,
    /// A human takes over, as requested.
    pub is_handed_over: bool,
    /// Functions that were cancelled.
    pub cancelled: Vec<String>,
    /// A form was cancelled or refused that would only have repeated or changed what was done: the last call stays as
    /// it is.
    pub is_left_as_done: bool,
    /// The person is told what was done.
    pub is_recounted: bool,
    /// The form was started again.
    pub is_restarted: bool,
    /// Required slots that the person wanted to leave out.
    pub needed: Vec<String>,
    /// Explanations of the turn, beside its values.
    pub notes: Vec<String>,
}

/// Applies `acts` in order. Afterwards no question is pending. `carry`: values may be carried over from one function to
/// another.
pub fn apply(state: &mut State, module: &Module, validator: &Validator, acts: &[Act], carry: bool) -> Applied {
    let expected = state.expects.take();
    // Values of forms that are open, or were until now, may be carried over like those of calls.
    let open: Option<Vec<Carried>> = carry.then(|| state.forms.iter().flat_map(Form::carried).collect());
    let mut applied = Applied { has_acts: !acts.is_empty(), ..Applied::default() };
    for act in acts {
        match act {
            Act::Inform { function, said, another } => {
                inform(state, module, *function, said, (*another, open.as_deref()), &mut applied);
            }
            Act::Again { said } => again(state, module, said, &mut applied),
            Act::Recount => {
                applied.is_understood = true;
                applied.is_recounted = true;
            }
            Act::Yes => {
                if let Some(form) = state.forms.last_mut() {
                    form.confirmation = Confirmation::Given;
                    // Values that were read out and confirmed are no longer in doubt.
                    form.slots.iter_mut().for_each(|slot| slot.unread = None);
                    applied.is_understood = true;
                }
            }
            Act::No => refuse(state, (module, validator), &mut applied),
            Act::Leave { pointers } => leave(state, module, validator, pointers, &mut applied),
            Act::Cancel => cancel(state, (module, validator), &mut applied),
            Act::Forget { functions } => {
                applied.cancelled.extend_from_slice(functions);
                applied.is_understood = true;
            }
            Act::Restart => {
                let turn = state.turn;
                if let Some(form) = state.forms.last_mut() {
                    *form = Form { opened: form.opened, after: form.after, ..Form::new(&form.function, turn) };
                    applied.is_understood = true;
                    applied.is_restarted = true;
                }
            }
            Act::Clear { place } => {
                if let Some(form) = state.forms.last_mut() {
                    let removed = vec![super::merge::Removal::Place(place.clone())];
                    let said = FormUpdate { turn: state.turn, removed, ..FormUpdate::default() };
                    if let Some(id) = module.function_named(&form.function) {
                        *form = merged(module.function(id), form, &said).form;
                        form.confirmation = Confirmation::Open;
                    }
                    applied.is_understood = true;
                }
            }
            Act::Recall => {
                applied.is_understood = true;
                applied.is_repeat = true;
            }
            Act::Polite => {
                applied.is_understood = true;
                applied.is_repeat = true;
                applied.is_polite = true;
            }
            Act::HandOver => {
                applied.is_understood = true;
                applied.is_handed_over = true;
            }
            Act::Resume => {
                let open = state.forms.len();
                if open > 1 {
                    state.forms.swap(open - 1, open - 2);
                }
                applied.is_understood = true;
                applied.is_repeat = true;
            }
        }
    }
    if let (true, Some(Expects::Slots { pointers, .. })) = (acts.is_empty(), &expected) {
        leave_unanswered(state, module, pointers);
    }
    applied
}

/// Reopens the form of the last call, with what is said now in place of its values.
fn again(state: &mut State, module: &Module, said: &FormUpdate, applied: &mut Applied) {
    let Some(called) = &state.last_call else { return };
    let Some(id) = module.function_named(&called.function) else { return };
    let slots = called.slots.clone();
    let form = Form { slots, confidence: called.confidence, ..Form::new(&called.function, state.turn) };
    let merged = merged(module.function(id), &form, said);
    let (is_doubtful, origin) = (said.is_doubtful, said.origin);
    state.forms.push(Form { confirmation: Confirmation::Open, is_doubtful, origin, ..merged.form });
    state.lines.iter_mut().for_each(|line| line.is_unheard = false);
    applied.is_changed = true;
    applied.is_understood = true;
}

/// How often an optional slot is asked for: once, and once more in other words.
const OPTIONAL_TRIES: u32 = 2;

/// Skips optional slots that were asked for twice without an answer.
fn leave_unanswered(state: &mut State, module: &Module, pointers: &[String]) {
    let Some(form) = state.forms.last_mut() else { return };
    let Some(id) = module.function_named(&form.function) else { return };
    let pending = Pending::Missing { function: id, pointers: pointers.to_vec() };
    let tries = form.tries.get(&pending.key()).copied().unwrap_or_default();
    if tries >= OPTIONAL_TRIES && pending.is_optional(module) {
        form.skipped.extend(pointers.iter().map(|pointer| SlotPath::of_pointer(pointer).to_string()));
    }
}

fn cancel(state: &mut State, (module, validator): (&Module, &Validator), applied: &mut Applied) {
    if repeats_done(state, module, validator) {
        // The form was never requested by itself, so the last call stays the last thing that was done.
        applied.cancelled.extend(state.forms.pop().map(|form| form.function));
        applied.is_left_as_done = true;
        applied.is_understood = true;
    } else if let Some(form) = state.finish(state.forms.len().wrapping_sub(1), End::Cancelled) {
        applied.cancelled.push(form.function);
        applied.is_understood = true;
    }
}

/// Whether the active form would only repeat or change what was done.
fn repeats_done(state: &State, module: &Module, validator: &Validator) -> bool {
    let verdict = state.forms.last().map(|form| verdict_on(form, state, module, validator));
    matches!(verdict, Some(FormDecision::AskWithDone | FormDecision::TellDone))
        || state.forms.last().is_some_and(|form| form.origin == Origin::Change)
}

/// After a no, a form is changed before it is proposed again; a doubtful form is dropped.
fn refuse(state: &mut State, knowledge: (&Module, &Validator), applied: &mut Applied) {
    let is_doubtful = state.forms.last().is_some_and(|form| form.is_doubtful);
    if is_doubtful || repeats_done(state, knowledge.0, knowledge.1) {
        cancel(state, knowledge, applied);
    } else if let Some(form) = state.forms.last_mut() {
        form.confirmation = Confirmation::Refused;
        applied.is_understood = true;
    }
}

fn inform(
    state: &mut State,
    module: &Module,
    id: FunctionId,
    said: &FormUpdate,
    (another, carry): (bool, Option<&[Carried]>),
    applied: &mut Applied,
) {
    let function = module.function(id);
    let place = state.forms.iter().rposition(|form| form.function == function.name).filter(|_| !another);
    let is_new = place.is_none();
    let form = match place {
        Some(place) => state.forms.remove(place),
        None => Form { after: opened_now(state), ..Form::new(&function.name, state.turn) },
    };
    let mut merged = merged(function, &form, said);
    if let Some(open) = carry.filter(|_| is_new) {
        let known: Vec<&Carried> = state.carried.iter().chain(open).collect();
        let taken = carried_over(module, id, &merged.form, &known, state.turn);
        for filled in taken {
            applied
                .notes
                .push(format!("`{}` was said before and is taken over", SlotPath::of_pointer(&filled.pointer)));
            merged.form.slots.push(filled);
        }
    }
    for declined in &merged.declined {
        let path = SlotPath::of_pointer(&declined.pointer);
        applied.notes.push(format!("`{path}` stays as it is: {} is not sure enough", declined.value));
    }
    let has_said = !said.invalid.is_empty() || !said.excluded.is_empty() || !said.values.is_empty();
    // Repeating what was refused asks to propose it again.
    if merged.is_changed || has_said && merged.form.confirmation == Confirmation::Refused {
        merged.form.confirmation = Confirmation::Open;
    }
    if merged.is_changed {
        merged.form.tries.clear();
    }
    // Earlier lines count as heard once a form takes them up.
    if is_new {
        state.lines.iter_mut().for_each(|line| line.is_unheard = false);
    }
    if is_new {
        merged.form.origin = said.origin;
    }
    merged.form.confidence = merged.form.confidence.max(said.confidence);
    merged.form.is_doubtful = said.is_doubtful;
    applied.is_changed |= is_new || merged.is_changed;
    applied.is_understood |= is_new || merged.is_changed || has_said;
    state.forms.push(merged.form);
}

/// The number of forms that this turn has opened.
fn opened_now(state: &State) -> u32 {
    let of_turn = state.forms.iter().filter(|form| form.opened == state.turn);
    of_turn.map(|form| form.after + 1).max().unwrap_or_default()
}

/// Skips optional slots; a required one stays, and is asked for again.
fn leave(state: &mut State, module: &Module, validator: &Validator, pointers: &[String], applied: &mut Applied) {
    let Some(form) = state.forms.last_mut() else { return };
    let lacking = completed(form, module, validator).and_then(|completed| completed.call.err()).unwrap_or_default();
    let missing: Vec<String> = lacking.into_iter().map(|violation| violation.path).collect();
    for pointer in pointers {
        let path = SlotPath::of_pointer(pointer);
        form.aside.retain(|aside| aside.pointer != *pointer);
        if missing.contains(pointer) {
            applied.needed.push(path.to_string());
        } else {
            form.skipped.push(path.to_string());
            applied.is_understood = true;
            applied.is_changed = true;
        }
    }
}

/// Values from other functions of this conversation for required slots that are empty: slots that are declared shared, of
/// calls or of their results, or slots of the same name that one of the module's own recognizers fills.
fn carried_over(module: &Module, id: FunctionId, form: &Form, known: &[&Carried], turn: u32) -> Vec<SlotValue> {
    let function = module.function(id);
    let is_empty = |slot: &Slot| !form.has(&slot.path);
    let open = function.slot_ids().filter(|slot| {
        let slot = function.slot(*slot);
        let own = module.settings.slot(&function.name, &slot.path.to_string());
        let is_shared = own.is_some_and(|slot| slot.shared.is_some());
        (slot.required || is_shared) && !slot.path.is_repeated() && is_empty(slot)
    });
    let take = |slot: SlotId| {
        let same = known.iter().rev().filter(|one| holds_the_same(module, (id, slot), one));
        let mut fitting = same.filter_map(|one| Some((*one, fitting(function.slot(slot), &one.filled.value)?)));
        let (latest, value) = fitting.next()?;
        let pointer = function.slot(slot).path.pointer();
        // A value that was used in a call is right, even if another form with it was cancelled.
        let is_withdrawn = |one: &Carried| one.filled.from == Source::Withdrawn;
        let is_agreed = |one: &Carried| !is_withdrawn(one) && one.filled.value == latest.filled.value;
        let is_doubtful = is_withdrawn(latest) && !fitting.any(|(one, _)| is_agreed(one));
        let from = if is_doubtful { Source::Withdrawn } else { Source::Carried };
        Some(SlotValue { pointer, value, from, turn, span: None, ..latest.filled.clone() })
    };
    open.filter_map(take).collect()
}

/// The value in the slot's type, if the slot's schema takes it. Services tell numbers as texts, and the other way round.
fn fitting(slot: &Slot, value: &Value) -> Option<Value> {
    let value = match (slot.kind, value) {
        (SlotKind::String, Value::Number(number)) => Value::from(number.to_string()),
        (SlotKind::Integer | SlotKind::Number, Value::String(text)) => serde_json::from_str(text).ok()?,
        _ => value.clone(),
    };
    validator(&slot.schema).is_ok_and(|schema| schema.is_valid(&value)).then_some(value)
}

fn holds_the_same(module: &Module, (id, slot): (FunctionId, SlotId), carried: &Carried) -> bool {
    if let Some(shared) = &carried.shared {
        let function = module.function(id);
        let own = module.settings.slot(&function.name, &function.slot(slot).path.to_string());
        return carried.function != function.name && own.is_some_and(|own| own.shared.as_ref() == Some(shared));
    }
    let Some(other) = module.function_named(&carried.function).filter(|other| *other != id) else { return false };
    let slot = module.function(id).slot(slot);
    let Some(from) = module.function(other).slots.iter().find(|slot| slot.path.to_string() == carried.slot) else {
        return false;
    };
    let shared = |of: FunctionId, slot: &Slot| {
        module.settings.slot(&module.function(of).name, &slot.path.to_string()).and_then(|slot| slot.shared.clone())
    };
    if let (Some(one), Some(same)) = (shared(id, slot), shared(other, from)) {
        return one == same;
    }
    let is_own = |slot: &Slot| {
        let first = slot.recognizers.first().map(|id| (*id, &module.recognizer(*id).kind));
        first.filter(|(_, kind)| !matches!(kind, RecognizerKind::Builtin(_))).map(|(id, _)| id)
    };
    let is_same = is_own(slot).is_some() && is_own(slot) == is_own(from) && slot.choices.is_empty();
    // A function that changes a call is about the same things as the call.
    let own = module.settings.functions.get(&module.function(id).name);
    let changes = own.is_some_and(|own| own.changes.as_deref() == Some(carried.function.as_str()));
    (is_same || changes) && slot.label() == from.label()
}

impl State {
    /// The places of this function that were asked for.
    #[must_use]
    pub fn asked(&self, function: &str) -> &[String] {
        match &self.expects {
            Some(Expects::Slots { function: asked, pointers }) if asked == function => pointers,
            _ => &[],
        }
    }
}
