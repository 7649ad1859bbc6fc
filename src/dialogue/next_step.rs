//! The answer of a conversation after a turn's acts.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;
use serde_json::{Map, Value};

use crate::{
    call::{Call, SlotValue, Source, Violation, ViolationKind},
    conversation::{
        Applied, Confirmation, End, Expects, Form, FormDecision, Manners, Next, Pending, Replied, State, Who,
        next::{completed, next},
        policy::verdict_on,
    },
    decide::{
        knowledge::Knowledge,
        outcome::{Frame, missing as missing_paths},
    },
    dialogue::{
        outcome::{HandoffReason, Outcome, Question},
        question::{self, LONG, Voice},
    },
    module::{FunctionId, Module, SlotPath},
    recognize::acts::{Courtesy, Moves},
    text::{Span, is_same_text},
};

/// After this many useless utterances in a row a human is offered: after the third, the sixth ...
const OFFER: u32 = 3;
/// How many times in a row a text is said in the same words.
const SAME_WORDS: u32 = 2;

/// The answer to a turn of a conversation.
pub(crate) struct TurnAnswer {
    pub outcome: Outcome,
    /// The question that follows a call or a cancellation.
    pub pending: Option<Question>,
    /// The remark if no function is meant.
    pub remark: Option<String>,
    /// The forms as they are now; those that are called come first.
    pub frames: Vec<Frame>,
    pub notes: Vec<String>,
    /// The forms of the calls, in their order.
    pub called: Vec<Form>,
    /// The remark reports what was done before.
    pub is_answered: bool,
}

/// What is known when the next step is looked for.
pub(crate) struct Turning<'a> {
    pub knowledge: &'a Knowledge,
    /// BCP 47 tag of the language that the request wants.
    pub language: Option<&'a str>,
    pub manners: Manners,
    pub now: &'a jiff::Zoned,
    pub utterance: &'a str,
    /// What the utterance does besides giving values.
    pub moves: &'a Moves,
    /// The state before the acts.
    pub before: &'a State,
    /// What the acts did.
    pub applied: &'a Applied,
    /// The functions among which the meant one is not clear.
    pub tied: &'a [FunctionId],
}

/// The result of the turn, as far as it is known.
#[derive(Default)]
struct Ending {
    /// The forms that are called, with their calls.
    called: Vec<(Form, Call)>,
    question: Option<Question>,
    handed_off: Option<(FunctionId, String, String)>,
    /// The answer reports what was already done, since there is nothing else to do.
    tells_done: bool,
}

impl Turning<'_> {
    fn module(&self) -> &Module {
        &self.knowledge.module
    }

    fn voice(&self) -> Voice<'_> {
        Voice::new(self.module(), self.language)
    }

    /// Moves `state`, which the acts have changed, to the next point where the person is to speak.
    pub(crate) fn next_step(&self, state: &mut State) -> TurnAnswer {
        let Self { before, applied, .. } = self;
        let module = self.module();
        state.note(Who::Person, redacted(module, state, self.utterance));
        if let Some(line) = state.lines.last_mut() {
            line.is_unheard = !applied.has_acts && self.tied.is_empty() && before.is_idle();
        }
        state.offers_person = false;
        if applied.is_handed_over {
            return self.handed_over(state);
        }
        state.helpless = self.helpless(state.helpless);
        let mut ending = if self.tied.is_empty() { self.ended(state) } else { self.choice(state) };
        let cancelled: Vec<FunctionId> =
            applied.cancelled.iter().filter_map(|name| module.function_named(name)).collect();
        let frames = frames(self.knowledge, &ending.called, state);
        let calls: Vec<Call> = ending.called.iter().map(|(_, call)| call.clone()).collect();
        let question = ending.question.take();
        let done = (applied.is_recounted || ending.tells_done).then(|| self.done(state)).flatten();
        let (outcome, pending) = match (ending.handed_off, question) {
            (Some((function, path, text)), pending) => {
                let (function, reason) = (Some(function), HandoffReason::Tries);
                (Outcome::Handoff { text, reason, function, path }, pending)
            }
            (None, pending) if !calls.is_empty() => (Outcome::Call(calls), pending),
            (None, pending) if !cancelled.is_empty() => {
                let mut text = match applied.is_left_as_done {
                    true => self.voice().left_as_done(),
                    false => self.voice().cancelled(&self.given_up(&cancelled)),
                };
                if let Some(pending) = &pending {
                    text.push(' ');
                    text.push_str(&pending.text);
                }
                (Outcome::Cancelled { text, functions: cancelled }, pending)
            }
            (None, Some(question)) => {
                let text = self.in_other_words(state, question.text, true);
                (Outcome::Ask(Question { text, ..question }), None)
            }
            (None, None) => (Outcome::NoMatch, None),
        };
        let is_answered = done.is_some();
        let remark = matches!(outcome, Outcome::NoMatch).then(|| done.unwrap_or_else(|| self.remark(state)));
        if !matches!(outcome, Outcome::Ask(_) | Outcome::NoMatch) {
            state.replied = None;
        }
        remember(module, state, &outcome, pending.as_ref(), &ending.called);
        let mut notes = applied.notes.clone();
        if is_answered {
            notes.push("what was called last is told, and not called again".to_owned());
        }
        if !applied.is_understood && !before.is_idle() && matches!(outcome, Outcome::Ask(_)) {
            notes.push("nothing in the reply answers what was asked".to_owned());
        }
        let called = ending.called.into_iter().map(|(form, _)| form).collect();
        TurnAnswer { outcome, pending, remark, is_answered, frames, notes, called }
    }

    /// The person asked for a human, who takes over. What is open stays open, except that no yes is waited for.
    fn handed_over(&self, state: &mut State) -> TurnAnswer {
        state.expects.clone_from(&self.before.expects);
        state.withdraw_consent();
        (state.helpless, state.replied) = (0, None);
        let function = state.active(self.module()).map(|(id, _)| id);
        let slots = function.map(|id| self.known(state, id)).unwrap_or_default();
        let path = state.forms.last().and_then(|form| state.asked(&form.function).first().cloned()).unwrap_or_default();
        let text = self.voice().hand_over(function, slots);
        let outcome = Outcome::Handoff { text, reason: HandoffReason::Asked, function, path };
        let frames = frames(self.knowledge, &[], state);
        remember(self.module(), state, &outcome, None, &[]);
        TurnAnswer {
            outcome,
            pending: None,
            remark: None,
            is_answered: false,
            frames,
            notes: self.applied.notes.clone(),
            called: Vec::new(),
        }
    }

    /// How many utterances in a row were useless, including this one, after `before` of them. Courtesies and requests
    /// to wait do not count.
    fn helpless(&self, before: u32) -> u32 {
        let is_new_choice = !self.tied.is_empty() && !matches!(self.before.expects, Some(Expects::Choice { .. }));
        match self.moves.courtesy {
            _ if self.is_helpless() && !is_new_choice => before.saturating_add(1),
            Some(_) if self.applied.is_polite || !self.applied.has_acts => before,
            _ => 0,
        }
    }

    /// True if the utterance was not understood, or the person did not understand the question.
    fn is_helpless(&self) -> bool {
        let is_courtesy = self.moves.courtesy.is_some_and(Courtesy::is_no_value);
        let is_lost = self.moves.courtesy.is_some_and(Courtesy::is_helpless);
        if is_courtesy && (self.applied.is_polite || !self.applied.has_acts) {
            is_lost
        } else {
            !self.applied.is_understood
        }
    }

    /// Whether it is time to offer a human.
    fn offers_person(&self, state: &State) -> bool {
        self.is_helpless() && state.helpless > 0 && state.helpless.is_multiple_of(OFFER)
    }

    /// The remark if no function is meant.
    fn remark(&self, state: &mut State) -> String {
        let voice = self.voice();
        if self.offers_person(state) {
            state.offers_person = true;
            return voice.words.offer().to_owned();
        }
        let text = voice.remark(self.moves, &voice.summary(&self.knowledge.validator, state), state.helpless);
        self.in_other_words(state, text, false)
    }

    /// The text, or another one if the person would read it for the third time in a row, or a long text for the second
    /// time. A person who asks to hear it again hears it unchanged.
    fn in_other_words(&self, state: &mut State, text: String, is_question: bool) -> String {
        #[expect(clippy::cast_possible_truncation, reason = "a number that stands for a text may be any")]
        let number = |text: &str| BuildHasherDefault::<FxHasher>::default().hash_one(text) as u32;
        let same = state.replied.filter(|before| before.text == number(&text)).map_or(0, |before| before.times);
        let is_long = text.chars().count() > LONG && !self.applied.is_repeat;
        let (text, times) = match same {
            0 => (text, 1),
            _ if is_long => (self.voice().shortened(&text, is_question), 1),
            _ if same < SAME_WORDS => (text, same + 1),
            _ => (self.voice().words.once_again(&text), 1),
        };
        state.replied = Some(Replied { text: number(&text), times });
        text
    }

    /// What was called last, in words.
    fn done(&self, state: &State) -> Option<String> {
        let last = state.last_call.as_ref()?;
        let known = completed(last, self.module(), &self.knowledge.validator)?;
        Some(self.voice().done_already(self.module().function_named(&last.function)?, &known.arguments))
    }

    /// These functions with the values that were known before.
    fn given_up(&self, functions: &[FunctionId]) -> Vec<(FunctionId, Map<String, Value>)> {
        functions.iter().map(|id| (*id, self.known(self.before, *id))).collect()
    }

    /// What `state` knows of a function.
    fn known(&self, state: &State, id: FunctionId) -> Map<String, Value> {
        let module = self.module();
        let form = state.form(&module.function(id).name);
        let known = form.and_then(|form| completed(form, module, &self.knowledge.validator));
        known.map(|completed| completed.arguments).unwrap_or_default()
    }

    /// Asks which of several functions was meant, a limited number of times.
    fn choice(&self, state: &mut State) -> Ending {
        let module = self.module();
        let (utterance, tries) = match &self.before.expects {
            Some(Expects::Choice { utterance, tries, .. }) => (utterance.clone(), *tries),
            _ => (redacted(module, state, self.utterance), 0),
        };
        let is_polite = self.applied.is_polite;
        if !is_polite && tries >= module.settings.conversation.tries.unwrap_or(self.manners.tries) {
            return Ending::default();
        }
        let functions = self.tied.iter().map(|id| module.function(*id).name.clone()).collect();
        state.expects =
            Some(Expects::Choice { functions, utterance, tries: if is_polite { tries } else { tries + 1 } });
        let about = Pending::Tie { functions: self.tied.to_vec() };
        let question = question::worded(module, self.language, about, &[]);
        let is_again = tries > 0 && !is_polite;
        let lead = is_again.then(|| self.voice().not_understood(state.helpless));
        let question = self.led(state, question, lead);
        Ending { question: Some(question), ..Ending::default() }
    }

    /// Calls complete forms, and asks about the rest.
    fn ended(&self, state: &mut State) -> Ending {
        let (module, applied) = (self.module(), self.applied);
        let mut ending = Ending::default();
        loop {
            match next(state, module, &self.knowledge.validator, self.manners, self.now) {
                Next::Nothing => return ending,
                Next::Done(place) => {
                    state.forms.remove(place);
                    ending.tells_done = true;
                }
                Next::Call(calls) => {
                    let places: Vec<usize> = calls.iter().map(|(place, _)| *place).collect();
                    for (at, (place, call)) in calls.into_iter().enumerate().rev() {
                        // The forms of later calls are removed already.
                        let gone = places[at + 1..].iter().filter(|other| **other < place).count();
                        if let Some(form) = state.finish(place - gone, End::Called) {
                            ending.called.insert(0, (form, call));
                        }
                    }
                }
                Next::HandOff(place, pending) if applied.is_repeat => {
                    ending.question = self.ask(state, place, pending, false);
                    return ending;
                }
                // A human need not take over a form that would only repeat what was done.
                Next::HandOff(place, _) if self.repeats_done(state, place) => {
                    state.forms.remove(place);
                    ending.tells_done = true;
                }
                Next::HandOff(place, pending) => {
                    let [function] = *pending.functions() else { return ending };
                    let slots = self.known(state, function);
                    if state.finish(place, End::HandedOff).is_none() {
                        return ending;
                    }
                    // After a call, the other forms go on.
                    if ending.called.is_empty() {
                        ending.handed_off = Some((function, pending.key(), self.voice().hand_off(function, slots)));
                        return ending;
                    }
                }
                Next::Ask(place, pending) => {
                    // A question that follows a call was not asked in vain before.
                    let counts = ending.called.is_empty() && applied.cancelled.is_empty() && !applied.is_repeat;
                    ending.question = self.ask(state, place, pending, counts);
                    return ending;
                }
            }
        }
    }

    /// True if the form at `place` would only repeat the last call.
    fn repeats_done(&self, state: &State, place: usize) -> bool {
        let verdict = verdict_on(&state.forms[place], state, self.module(), &self.knowledge.validator);
        verdict == FormDecision::AskWithDone
    }

    /// Asks about the form at `place`, and remembers what was asked.
    fn ask(&self, state: &mut State, place: usize, pending: Pending, counts: bool) -> Option<Question> {
        let (module, applied, voice) = (self.module(), self.applied, self.voice());
        let [id] = *pending.functions() else { return None };
        // The form that is asked about is filled next.
        let is_repeat = self.repeats_done(state, place);
        let mut form = state.forms.remove(place);
        let key = pending.key();
        let tries = form.tries.get(&key).copied().unwrap_or_default();
        let is_optional = pending.is_optional(module);
        let is_confirmation = matches!(pending, Pending::Confirm { .. });
        let has_own_lead =
            is_optional || is_confirmation || matches!(pending, Pending::Rule { .. } | Pending::Change { .. });
        // The earlier question was not in vain either, if something else was said and done.
        let repeated = if !counts || is_optional { 0 } else { tries };
        state.expects = pending.expects(module);
        let mut question = voice.question(&self.knowledge.validator, &form, pending, repeated);
        if let (true, Some(last)) = (is_confirmation && is_repeat, &state.last_call) {
            question.text = voice.repeat(&self.knowledge.validator, id, (last, &form));
        }
        // A long question is read out once, since nothing in it has changed.
        let is_put_again = tries > 0 && (!applied.is_understood || applied.is_polite) && !applied.is_repeat;
        if is_put_again && question.text.chars().count() > LONG {
            question.text = voice.shortened(&question.text, true);
        }
        if matches!(question.about, Pending::Missing { .. }) {
            self.acknowledge((id, state.turn), &form, &mut question);
        }
        // A question that is repeated in the same words says why.
        let is_lost = tries > 0 && !applied.is_understood && has_own_lead;
        // What led to the question, sent once more, waits for the yes.
        let is_sent_again = || is_same_text(self.before.said_before().next().unwrap_or_default(), self.utterance);
        let not_understood = || match is_confirmation && !is_repeat && tries == 1 && is_sent_again() {
            true => voice.not_done(),
            false => voice.not_understood(state.helpless),
        };
        let lead = if applied.is_restarted { Some(voice.restarted()) } else { is_lost.then(not_understood) };
        let question = self.led(state, question, lead);
        if counts {
            form.tries.retain(|other, _| *other == key);
            form.tries.insert(key, tries + 1);
        }
        form.confirmation = match form.confirmation {
            _ if is_confirmation => Confirmation::Asked,
            // A yes that did not lead to a call at once does not count later.
            Confirmation::Given => Confirmation::Open,
            other => other,
        };
        state.fill_next(form);
        Some(question)
    }
}

impl Turning<'_> {
    /// First confirms what the person has corrected, since the question does not read it out.
    fn acknowledge(&self, (id, turn): (FunctionId, u32), form: &Form, question: &mut Question) {
        let is_same = |before: &&Form| before.function == form.function && before.opened == form.opened;
        let before = self.before.forms.iter().find(is_same).map_or(&[][..], |before| before.slots.as_slice());
        let is_corrected = |now: &&SlotValue| {
            let known = before.iter().find(|known| known.pointer == now.pointer);
            now.turn == turn && known.is_some_and(|known| known.value != now.value)
        };
        let corrected = form.slots.iter().filter(is_corrected).map(|now| now.pointer.clone());
        let corrected: Vec<String> = corrected.collect();
        let Some(known) = completed(form, self.module(), &self.knowledge.validator) else { return };
        let voice = self.voice();
        let facts = voice.facts_at(self.module().function(id), &Value::Object(known.arguments), &corrected);
        if !corrected.is_empty() && !facts.is_empty() {
            question.text = voice.words.then(&voice.words.corrected(&facts), &question.text);
        }
    }

    /// The question behind `lead`, or behind the reply to a courtesy if that is all that was said. A person who does
    /// not understand first reads what the question is for, and is then offered a human.
    fn led(&self, state: &mut State, question: Question, lead: Option<String>) -> Question {
        let voice = self.voice();
        if self.offers_person(state) {
            state.offers_person = true;
            return Question { text: voice.words.offer().to_owned(), ..question };
        }
        let text = match (lead, self.moves.courtesy) {
            (Some(lead), _) => voice.words.then(&lead, &question.text),
            (None, Some(courtesy)) if self.applied.is_polite && courtesy.is_helpless() => voice.explained(&question),
            (None, _) if self.applied.is_polite => match voice.beside_question(self.moves) {
                word if word.is_empty() => return question,
                word => voice.words.then(&word, &question.text),
            },
            (None, _) => return question,
        };
        Question { text, ..question }
    }
}

/// Stores the answer for later turns and for model servers.
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
        Outcome::Done { text, .. } | Outcome::Cancelled { text, .. } | Outcome::Handoff { text, .. } => {
            state.note(Who::Assistant, text.clone());
        }
        Outcome::NoMatch => {}
    }
    for form in state.forms.iter_mut().chain(&mut state.last_call) {
        let function = form.function.clone();
        for filled in form.slots.iter_mut().chain(&mut form.excluded) {
            if is_sensitive(module, &function, &filled.pointer) {
                filled.text = None;
            }
        }
    }
}

/// The forms as frames: first the called ones, then the one that is being filled, then the waiting ones.
fn frames(knowledge: &Knowledge, called: &[(Form, Call)], state: &State) -> Vec<Frame> {
    let called = called.iter().filter_map(|(form, call)| {
        let mut frame = frame(knowledge, form, state.turn)?;
        let whole = Value::Object(call.arguments().clone());
        let mut leaves = Vec::new();
        scalars(&whole, &mut String::new(), &mut leaves);
        for (pointer, value) in leaves {
            if form.at(&pointer).is_none() {
                frame.slots.push(SlotValue::unsaid(pointer, value.clone(), Source::Default, 1.0));
            }
        }
        Some(frame)
    });
    let open = state.forms.iter().rev().filter_map(|form| frame(knowledge, form, state.turn));
    called.chain(open).collect()
}

/// A form as a frame; `turn` is the turn that is being answered.
pub(crate) fn frame(knowledge: &Knowledge, form: &Form, turn: u32) -> Option<Frame> {
    let module = &knowledge.module;
    let function = module.function_named(&form.function)?;
    let completed = completed(form, module, &knowledge.validator)?;
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
        slots: form.slots.iter().map(|filled| filled.known_in(turn)).collect(),
        excluded: form.excluded.iter().map(|filled| filled.known_in(turn)).collect(),
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
    module.settings.slot(function, &SlotPath::of_pointer(pointer).to_string()).is_some_and(|slot| slot.sensitive)
}
