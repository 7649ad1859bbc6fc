//! The answer that a conversation calls for after a turn's acts.

use serde_json::Value;

use crate::{
    call::{Call, Grounded, Origin, Violation, ViolationKind},
    conversation::{
        Applied, Asking, End, Expects, Form, Next, State, Who,
        next::{completed, next},
    },
    decide::outcome::missing as missing_paths,
    dialogue::{
        acts::Taken,
        converse::Conversed,
        question::{self, Voice},
    },
    module::{FunctionId, Module, SlotPath},
    snapshot::Snapshot,
    text::Span,
    understand::{About, Frame, Outcome, Question, Turn, TurnRequest, Understander, view},
};

/// What the turn comes to, while it is found out.
#[derive(Default)]
struct Ending {
    /// The forms that are called, with their calls.
    called: Vec<(Form, Call)>,
    question: Option<Question>,
    handed_off: Option<(FunctionId, String, String)>,
}

impl Understander {
    /// `before` is the state before the acts.
    pub(crate) fn conclude(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        taken: Taken,
        before: &State,
        mut state: State,
        applied: Applied,
    ) -> Conversed {
        let module = &snapshot.module;
        let voice = Voice::new(module, request.language.as_deref());
        let now = self.now(snapshot, request);
        let Taken { tie, mut trace, confidence, decided_by, usage, acts } = taken;
        let is_unheard = acts.is_empty() && tie.is_none() && before.is_idle();
        let text = redacted(module, &state, &request.utterance);
        state.note(Who::Person, text);
        if let Some(line) = state.lines.last_mut() {
            line.is_unheard = is_unheard;
        }
        let mut ending = match tie {
            Some(tied) => self.tied(snapshot, request, &tied, before, &mut state),
            None => self.ended(snapshot, &applied, &mut state, voice, &now),
        };
        let cancelled: Vec<FunctionId> =
            applied.cancelled.iter().filter_map(|name| module.function_named(name)).collect();
        let frames = frames(snapshot, &ending.called, &state);
        let calls: Vec<Call> = ending.called.iter().map(|(_, call)| call.clone()).collect();
        let question = ending.question.take();
        let (outcome, pending) = match (ending.handed_off, question) {
            (Some((function, path, text)), pending) => (Outcome::Handoff { text, function, path }, pending),
            (None, pending) if !calls.is_empty() => (Outcome::Call(calls), pending),
            (None, pending) if !cancelled.is_empty() => {
                let mut text = voice.cancelled(&cancelled);
                if let Some(pending) = &pending {
                    text.push(' ');
                    text.push_str(&pending.text);
                }
                (Outcome::Cancelled { text, functions: cancelled }, pending)
            }
            (None, Some(question)) => (Outcome::Ask(question), None),
            (None, None) => (Outcome::NoMatch, None),
        };
        remember(module, &mut state, &outcome, pending.as_ref(), &ending.called);
        trace.notes.extend(applied.notes);
        if !applied.is_understood && !before.is_idle() && matches!(outcome, Outcome::Ask(_)) {
            trace.notes.push("nothing in the reply answers what was asked".to_owned());
        }
        Conversed { turn: Turn { outcome, confidence, decided_by, frames, trace, usage, pending }, state }
    }

    /// Which of several functions was meant is asked, for some time.
    fn tied(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        tied: &[FunctionId],
        before: &State,
        state: &mut State,
    ) -> Ending {
        let module = &snapshot.module;
        let (utterance, tries) = match &before.expects {
            Some(Expects::Choice { utterance, tries, .. }) => (utterance.clone(), *tries),
            _ => (redacted(module, state, &request.utterance), 0),
        };
        if tries >= module.settings.conversation.tries.unwrap_or(self.options.tries) {
            return Ending::default();
        }
        let functions = tied.iter().map(|id| module.function(*id).name.clone()).collect();
        state.expects = Some(Expects::Choice { functions, utterance, tries: tries + 1 });
        let about = About::Tie { functions: tied.to_vec() };
        let question = question::worded(module, request.language.as_deref(), about, &[]);
        Ending { question: Some(question), ..Ending::default() }
    }

    /// Calls what is complete, and asks for the rest.
    fn ended(
        &self,
        snapshot: &Snapshot,
        applied: &Applied,
        state: &mut State,
        voice: Voice<'_>,
        now: &jiff::Zoned,
    ) -> Ending {
        let module = &snapshot.module;
        let mut ending = Ending::default();
        loop {
            match next(state, module, &snapshot.validator, self.manners(), now) {
                Next::Nothing => return ending,
                Next::Call(calls) => {
                    // From the last place on, so that the places before it stay.
                    for (place, call) in calls.into_iter().rev() {
                        if let Some(form) = state.finish(place, End::Called) {
                            ending.called.insert(0, (form, call));
                        }
                    }
                }
                Next::HandOff { asking, .. } if applied.is_repeat => {
                    ending.question = ask(snapshot, voice, state, applied, &asking, false);
                    return ending;
                }
                Next::HandOff { function, asking } => {
                    let is_beside = !ending.called.is_empty();
                    let place = state.forms.iter().rposition(|form| form.function == module.function(function).name);
                    let path = asking.key();
                    if let Some(form) = place.and_then(|place| state.finish(place, End::HandedOff)) {
                        let text = voice.hand_off();
                        if !is_beside {
                            ending.handed_off = Some((function, path, text));
                        }
                        drop(form);
                    } else {
                        return ending;
                    }
                    if ending.handed_off.is_some() {
                        return ending;
                    }
                }
                Next::Ask(asking) => {
                    // What goes on after a call was not asked in vain.
                    let counts = ending.called.is_empty() && applied.cancelled.is_empty() && !applied.is_repeat;
                    ending.question = ask(snapshot, voice, state, applied, &asking, counts);
                    return ending;
                }
            }
        }
    }
}

/// Asks, and remembers what was asked.
fn ask(
    snapshot: &Snapshot,
    voice: Voice<'_>,
    state: &mut State,
    applied: &Applied,
    asking: &Asking,
    counts: bool,
) -> Option<Question> {
    let module = &snapshot.module;
    let id = asking.function();
    let name = module.function(id).name.clone();
    let place = state.forms.iter().rposition(|form| form.function == name)?;
    // What is asked about is what is filled next.
    let mut form = state.forms.remove(place);
    let key = asking.key();
    let tries = form.tries.get(&key).copied().unwrap_or_default();
    let is_optional = matches!(asking, Asking::Missing { pointers, .. } if pointers.iter().all(|pointer| {
        let path = SlotPath::of_pointer(pointer);
        module.function(id).slots.iter().any(|slot| slot.path == path && !slot.required && !path.is_repeated())
    }));
    let is_change = applied.is_refused && matches!(asking, Asking::Confirm { .. });
    let question = if is_change {
        voice.about_change(id)
    } else {
        voice.about_asking(&snapshot.validator, &form, asking, if applied.is_repeat || is_optional { 0 } else { tries })
    };
    // What is asked in the same words again says why.
    let is_lost = tries > 0 && !applied.is_understood && matches!(asking, Asking::Confirm { .. } | Asking::Rule { .. });
    let lead = if applied.is_restarted { Some(voice.restarted()) } else { is_lost.then(|| voice.not_understood()) };
    let question = match lead {
        Some(lead) => Question { text: format!("{lead} {}", question.text), ..question },
        None => question,
    };
    if counts {
        form.tries.retain(|other, _| *other == key);
        form.tries.insert(key, tries + 1);
    }
    if matches!(asking, Asking::Confirm { .. }) {
        form.confirmation = crate::conversation::Confirmation::Asked;
    }
    state.expects = Some(match asking {
        _ if is_change => Expects::Change { function: name },
        Asking::Missing { pointers, .. } => Expects::Slots { function: name, pointers: pointers.clone() },
        Asking::Invalid { aside, .. } => Expects::Slots { function: name, pointers: vec![aside.pointer.clone()] },
        Asking::Rule { broken, .. } => {
            Expects::Slots { function: name, pointers: broken.slots.iter().map(SlotPath::pointer).collect() }
        }
        Asking::Confirm { .. } => Expects::Yes { function: name },
    });
    state.forms.push(form);
    Some(question)
}

/// What was answered, as later turns and model servers see it.
fn remember(
    module: &Module,
    state: &mut State,
    outcome: &Outcome,
    pending: Option<&Question>,
    called: &[(Form, Call)],
) {
    match outcome {
        Outcome::Call(_) => {
            for (form, call) in called {
                let shown: Vec<String> = form
                    .slots
                    .iter()
                    .filter(|filled| !is_sensitive(module, &form.function, &filled.pointer))
                    .map(|filled| format!("{}={}", SlotPath::of_pointer(&filled.pointer), filled.value))
                    .collect();
                state.note(Who::Called, format!("{}({})", module.function(call.function()).name, shown.join(", ")));
            }
            if let Some(pending) = pending {
                state.note(Who::Assistant, pending.text.clone());
            }
        }
        Outcome::Ask(question) => state.note(Who::Assistant, question.text.clone()),
        Outcome::Cancelled { text, .. } | Outcome::Handoff { text, .. } => state.note(Who::Assistant, text.clone()),
        Outcome::NoMatch => {}
    }
    for form in &mut state.forms {
        let function = form.function.clone();
        for filled in form.slots.iter_mut().chain(&mut form.excluded) {
            if is_sensitive(module, &function, &filled.pointer) {
                filled.text = None;
            }
        }
    }
}

/// The forms as frames: what is called, then what is being filled, then what waits.
fn frames(snapshot: &Snapshot, called: &[(Form, Call)], state: &State) -> Vec<Frame> {
    let called = called.iter().filter_map(|(form, call)| {
        let mut frame = frame(snapshot, form, state.turn)?;
        let whole = Value::Object(call.arguments().clone());
        let mut leaves = Vec::new();
        scalars(&whole, &mut String::new(), &mut leaves);
        for (pointer, value) in leaves {
            if form.at(&pointer).is_none() {
                let path = SlotPath::of_pointer(&pointer);
                frame.slots.push(Grounded {
                    path,
                    pointer,
                    value: value.clone(),
                    origin: Origin::Default,
                    confidence: 1.0,
                });
            }
        }
        Some(frame)
    });
    let open = state.forms.iter().rev().filter_map(|form| frame(snapshot, form, state.turn));
    called.chain(open).collect()
}

/// A form as it is; `turn` is the one that is being answered.
pub(crate) fn frame(snapshot: &Snapshot, form: &Form, turn: u32) -> Option<Frame> {
    let module = &snapshot.module;
    let function = module.function_named(&form.function)?;
    let completed = completed(form, module, &snapshot.validator)?;
    let violations = completed.call.err().unwrap_or_default();
    let (missing, wrong): (Vec<Violation>, Vec<Violation>) =
        violations.into_iter().partition(|violation| violation.kind == ViolationKind::Missing);
    let asides = form.aside.iter().map(|aside| Violation {
        kind: aside.kind,
        path: aside.pointer.clone(),
        found: aside.found.clone(),
        expected: aside.expected.clone(),
        readings: aside.readings.clone(),
    });
    let spans = form.slots.iter().filter(|filled| filled.turn == turn).filter_map(|filled| filled.span);
    Some(Frame {
        function,
        confidence: form.confidence,
        segment: spans.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end))).unwrap_or(Span::new(0, 0)),
        slots: form.slots.iter().map(|filled| filled.grounded(turn)).collect(),
        excluded: form.excluded.iter().map(|filled| filled.grounded(turn)).collect(),
        missing: missing_paths(module.function(function), missing.iter()),
        invalid: asides.chain(wrong).collect(),
    })
}

/// Every scalar with its JSON pointer.
fn scalars<'a>(value: &'a Value, at: &mut String, found: &mut Vec<(String, &'a Value)>) {
    let mut below = |key: &str, value: &'a Value| {
        let length = at.len();
        at.push('/');
        at.push_str(key);
        scalars(value, at, found);
        at.truncate(length);
    };
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                below(&key.replace('~', "~0").replace('/', "~1"), value);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                below(&index.to_string(), value);
            }
        }
        _ => found.push((at.clone(), value)),
    }
}

/// The utterance with the names of sensitive slots in place of their values.
fn redacted(module: &Module, state: &State, utterance: &str) -> String {
    let mut spans: Vec<(Span, String)> = Vec::new();
    for form in &state.forms {
        for filled in form.slots.iter().chain(&form.excluded).filter(|filled| filled.turn == state.turn) {
            if let Some(span) = filled.span.filter(|_| is_sensitive(module, &form.function, &filled.pointer)) {
                spans.push((span, SlotPath::of_pointer(&filled.pointer).to_string()));
            }
        }
    }
    if spans.is_empty() {
        return utterance.to_owned();
    }
    spans.sort_by_key(|(span, _)| std::cmp::Reverse(*span));
    let mut characters: Vec<char> = utterance.chars().collect();
    for (span, name) in spans {
        if span.end <= characters.len() && span.start < span.end {
            characters.splice(span.start..span.end, format!("[{name}]").chars());
        }
    }
    characters.into_iter().collect()
}

fn is_sensitive(module: &Module, function: &str, pointer: &str) -> bool {
    view::is_sensitive(module, function, &SlotPath::of_pointer(pointer).to_string())
}
