//! What a turn does to a conversation. Pure.

use super::{
    merge::{Said, merged},
    next::completed,
    pending::Pending,
    policy::{Verdict, verdict_on},
    state::{Carried, Confirmation, End, Expects, Form, Origin, State},
};
use crate::{
    call::{SlotValue, Source, Validator},
    module::{FunctionId, Module, RecognizerKind, Slot, SlotId, SlotPath},
};

/// One thing that an utterance does.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Says something of a function, and opens its form if there is none. `another`: it is a further request, however
    /// many of this function are open.
    Inform { function: FunctionId, said: Said, another: bool },
    /// What was called last, once more, but for what is said now.
    Again { said: Said },
    /// What was called last is to be told.
    Recount,
    /// Yes to what will be done.
    Yes,
    /// No to it, with no word on what would be right.
    No,
    /// Nothing is to be said of these places.
    Leave { pointers: Vec<String> },
    /// The form that is being filled is given up.
    Cancel,
    /// None of these functions was meant, of which one seemed to be.
    Forget { functions: Vec<String> },
    /// The form that is being filled begins anew.
    Restart,
    /// Of a value only the place was named ("change the address"): it is asked for.
    Clear { place: String },
    /// What is known, or what was asked, is to be said again.
    Recall,
    /// The form that waits under the one that is being filled goes on.
    Resume,
    /// Nothing but a courtesy ("thanks", "one moment", "why?"), which is no try to answer.
    Polite,
    /// A person is asked for. What is open stays as it is.
    HandOver,
}

/// What came of a turn's acts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Applied {
    /// There was any act.
    pub has_acts: bool,
    /// The turn brought something: a value, an answer, an end.
    pub is_understood: bool,
    /// A form is another one than before.
    pub is_changed: bool,
    /// What was asked is to be asked again, not in vain.
    pub is_repeat: bool,
    /// The same, after a word to what was polite.
    pub is_polite: bool,
    /// A person takes over who was asked for.
    pub is_handed_over: bool,
    /// Functions that were cancelled.
    pub cancelled: Vec<String>,
    /// What was cancelled, or refused, would only have repeated or changed what was done: that stays as it is.
    pub is_left_as_done: bool,
    /// The person is told what was done.
    pub is_recounted: bool,
    /// The form was begun anew.
    pub is_restarted: bool,
    /// Slots that are needed, and that the person would leave out.
    pub needed: Vec<String>,
    /// What explains the turn beside its values.
    pub notes: Vec<String>,
}

/// Does what `acts` say, in their order. Nothing is expected afterwards. `carry`: values may be taken over from one
/// function to another.
pub fn apply(state: &mut State, module: &Module, validator: &Validator, acts: &[Act], carry: bool) -> Applied {
    let expected = state.expects.take();
    // Values of forms that are open, or were up to now, may be taken over as those of calls are.
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
                    // What was read out and agreed to is in no doubt any more.
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
                    let said = Said { turn: state.turn, removed, ..Said::default() };
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

/// Opens the form of what was called last anew, with what is said in place of what was.
fn again(state: &mut State, module: &Module, said: &Said, applied: &mut Applied) {
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

/// Times that a slot is asked for which nobody has to give: once, and once more in other words.
const OPTIONAL_TRIES: u32 = 2;

/// Leaves out what was asked for twice, in vain, and nobody has to give.
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
        // It was never asked for by itself: what was called stays the last thing that was done.
        applied.cancelled.extend(state.forms.pop().map(|form| form.function));
        applied.is_left_as_done = true;
        applied.is_understood = true;
    } else if let Some(form) = state.finish(state.forms.len().wrapping_sub(1), End::Cancelled) {
        applied.cancelled.push(form.function);
        applied.is_understood = true;
    }
}

/// The form that is being filled would only repeat or change what was done.
fn repeats_done(state: &State, module: &Module, validator: &Validator) -> bool {
    let verdict = state.forms.last().map(|form| verdict_on(form, state, module, validator));
    matches!(verdict, Some(Verdict::AskWithDone | Verdict::TellDone))
        || state.forms.last().is_some_and(|form| form.origin == Origin::Change)
}

/// What is refused is changed before it is put again; what was doubtful anyway was not meant.
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
    said: &Said,
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
    // Who says once more what was refused wants it put again.
    if merged.is_changed || has_said && merged.form.confirmation == Confirmation::Refused {
        merged.form.confirmation = Confirmation::Open;
    }
    if merged.is_changed {
        merged.form.tries.clear();
    }
    // What was said before and is taken up now is heard.
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

/// How many forms this turn has opened.
fn opened_now(state: &State) -> u32 {
    let of_turn = state.forms.iter().filter(|form| form.opened == state.turn);
    of_turn.map(|form| form.after + 1).max().unwrap_or_default()
}

/// Optional slots are left out; a required one stays, and is asked for again.
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

/// Values of other functions of this conversation for required slots that are empty: of a slot that is declared to be
/// shared, or that a recognizer of the module's own finds under the same name.
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
        let mut same = known.iter().rev().filter(|one| holds_the_same(module, (id, slot), one));
        let latest = same.next()?;
        let pointer = function.slot(slot).path.pointer();
        // A value that something was called with is right, whatever else was cancelled.
        let is_withdrawn = |one: &Carried| one.filled.from == Source::Withdrawn;
        let is_agreed = |one: &Carried| !is_withdrawn(one) && one.filled.value == latest.filled.value;
        let is_doubtful = is_withdrawn(latest) && !same.any(|one| is_agreed(one));
        let from = if is_doubtful { Source::Withdrawn } else { Source::Carried };
        Some(SlotValue { pointer, from, turn, span: None, ..latest.filled.clone() })
    };
    open.filter_map(take).collect()
}

fn holds_the_same(module: &Module, (id, slot): (FunctionId, SlotId), carried: &Carried) -> bool {
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
    // What changes a call is about the same things as that.
    let own = module.settings.functions.get(&module.function(id).name);
    let changes = own.is_some_and(|own| own.changes.as_deref() == Some(carried.function.as_str()));
    (is_same || changes) && slot.label() == from.label()
}

impl State {
    /// The places that were asked for, of this function.
    #[must_use]
    pub fn asked(&self, function: &str) -> &[String] {
        match &self.expects {
            Some(Expects::Slots { function: asked, pointers }) if asked == function => pointers,
            _ => &[],
        }
    }
}
