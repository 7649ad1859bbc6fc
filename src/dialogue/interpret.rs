//! What an utterance does to a conversation.
//!
//! It is read as the first of these that it may be: an act of the whole conversation (cancel, begin anew), the reply to
//! the question that was asked, something said of the open form, a request of its own.

use crate::{
    call::{Origin, ViolationKind},
    conversation::{Act, Aside, Expects, Filled, Form, Said, State, Who},
    decide::{
        analysis::{Analysis, Pool},
        expected::{Asked, Expected},
        outcome::{Decision, Frame},
        situation::{Requests, Situation},
    },
    dialogue::{
        choice_reply::choice_reply, confirmation_reply::confirmation_reply, follow_up::follow_up,
        form_reading::OpenForm, form_reply::form_reply, new_request::new_request,
    },
    module::{FunctionId, Module, SlotPath},
    recognize::{
        acts::{ACTS, Kind, Move, Pick},
        reply::{self, Reply, YesNo},
    },
    text::Span,
};

/// An utterance, and the conversation in which it is said.
#[derive(Clone, Copy)]
pub(crate) struct Dialogue<'a> {
    /// The utterance as one request, with what the open form waits for.
    pub situation: Situation<'a>,
    /// The conversation before the utterance, but that the turn counts already.
    pub state: &'a State,
    /// Functions that may be chosen; all if `None`.
    pub among: Option<&'a [FunctionId]>,
    /// Candidates that are looked for at most.
    pub candidates: usize,
    pub assistance: Assistance,
    pub told: &'a Told,
}

/// When a model server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assistance {
    Never,
    /// Where the local reading is not sure.
    InDoubt,
    Always,
}

/// What model servers have said of the utterance so far.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub reply: Option<Reply>,
    pub decision: Option<Decision>,
}

/// What a model server should say of the utterance.
pub(crate) enum Task {
    /// What it says to this question, which wants a yes or a no.
    Reply { question: String },
    /// What it asks for, with which values. `part`: what is left of it beside an act that ends what was asked before.
    Requests { part: Option<Box<Analysis>>, requests: Requests },
}

/// What an utterance does.
#[derive(Default)]
pub(crate) struct Interpretation {
    pub acts: Vec<Act>,
    /// The functions of which one is meant, where nothing says which; empty otherwise.
    pub tied: Vec<FunctionId>,
    /// Probability that this is right, 0 to 1.
    pub confidence: f32,
    /// Probability that the functions which it opens are meant, whatever their values, 0 to 1.
    pub meant: f32,
    /// To be answered in [`Told`], for another interpretation; this one stands where no model server answers.
    pub task: Option<Task>,
    /// The parts that each ask for something of their own, where they were looked for.
    pub requests: Option<Requests>,
    pub notes: Vec<String>,
}

impl Interpretation {
    pub(crate) fn of(acts: Vec<Act>, confidence: f32) -> Self {
        Self { acts, confidence, ..Self::default() }
    }
}

impl<'a> Dialogue<'a> {
    pub(crate) fn module(&self) -> &'a Module {
        &self.situation.knowledge.module
    }

    /// From this confidence on, no model server is asked about a request for these functions.
    pub(crate) fn sure_of(&self, frames: &[Frame]) -> f32 {
        match self.assistance {
            Assistance::Never => 0.0,
            Assistance::InDoubt => self.situation.sure_of(frames),
            Assistance::Always => f32::INFINITY,
        }
    }

    /// Whether a model server is to be asked where the local reading is this sure.
    pub(crate) fn asks_at(&self, confidence: f32) -> bool {
        match self.assistance {
            Assistance::Never => false,
            Assistance::InDoubt => confidence < self.situation.thresholds.sure,
            Assistance::Always => true,
        }
    }

    /// The form that is being filled, if its function may be chosen.
    fn open_form(&self) -> Option<OpenForm<'a>> {
        let (id, form) = self.state.active(self.module())?;
        self.among.is_none_or(|among| among.contains(&id)).then(|| self.reading(id, form))
    }

    /// The utterance as something that is said of this form.
    pub(crate) fn reading(&self, id: FunctionId, form: &'a Form) -> OpenForm<'a> {
        OpenForm {
            module: self.module(),
            function: self.module().function(id),
            id,
            form,
            asked: self.state.asked(&form.function),
            state: self.state,
            acts: &self.situation.analysis.acts,
            corrects: false,
        }
    }

    pub(crate) fn pool<'b>(&self, among: Option<&'b [FunctionId]>, expected: &'b Expected) -> Pool<'b>
    where
        'a: 'b,
    {
        Pool { among: among.or(self.among), expected, limit: self.candidates }
    }
}

/// What the open form waits for; `None` if there is none.
pub(crate) fn expected(module: &Module, state: &State) -> Option<Expected> {
    let (_, form) = state.active(module).filter(|_| !matches!(state.expects, Some(Expects::Choice { .. })))?;
    let ask = |slot: Option<String>| Asked { frame: form.function.clone(), slot };
    let mut asked: Vec<Asked> =
        state.asked(&form.function).iter().map(|at| ask(Some(SlotPath::of_pointer(at).to_string()))).collect();
    if asked.is_empty() {
        asked.push(ask(None));
    }
    Some(Expected::new(module, asked))
}

/// See [the module](self).
pub(crate) fn interpret(dialogue: &Dialogue<'_>) -> Interpretation {
    if let Some(found) = conversation_act(dialogue) {
        return found;
    }
    match (&dialogue.state.expects, dialogue.open_form()) {
        (Some(Expects::Choice { functions, utterance, .. }), _) => choice_reply(dialogue, functions, utterance),
        (_, None) => {
            let request = new_request(dialogue, &dialogue.situation, &dialogue.state.forms);
            follow_up(dialogue, request)
        }
        (Some(Expects::Change { .. }), Some(_)) if changes_nothing(dialogue) => {
            Interpretation::of(vec![Act::Cancel], ACTS)
        }
        (Some(Expects::Yes { .. }), Some(form)) => confirmation_reply(dialogue, &form),
        (_, Some(form)) => form_reply(dialogue, &form),
    }
}

/// An act of the whole conversation. What is said beside it is read without the form that it ends.
fn conversation_act(dialogue: &Dialogue<'_>) -> Option<Interpretation> {
    let Dialogue { situation, state, .. } = dialogue;
    // What a choice is cancelled of is no form.
    if state.is_idle() || matches!(state.expects, Some(Expects::Choice { .. })) {
        return None;
    }
    let analysis = situation.analysis;
    let agrees = |cue: Span| {
        let before: String = analysis.utterance.text().chars().take(cue.start).collect();
        matches!(state.expects, Some(Expects::Yes { .. }))
            && reply::read(dialogue.module().language(), None, &before).answer == YesNo::Affirmative
    };
    let of_conversation = |one: &Move| {
        let act = match one.kind {
            // "Yes, cancel it", where just that was asked.
            Kind::Cancel if agrees(one.cue) => Act::Yes,
            Kind::Cancel => Act::Cancel,
            Kind::Restart => Act::Restart,
            Kind::Recall => Act::Recall,
            Kind::Resume => Act::Resume,
            _ => return None,
        };
        (one.confidence >= ACTS).then_some((act, one.confidence))
    };
    let (act, confidence) = analysis.acts.moves.iter().find_map(of_conversation)?;
    if analysis.acts.rest.is_none() {
        return Some(Interpretation::of(vec![act], confidence));
    }
    // With values beside it, the values count.
    let rest = analysis.rest.as_ref().filter(|_| act == Act::Cancel)?;
    let nothing = Expected::default();
    let alone = analysis.within(rest).among(situation.knowledge, dialogue.pool(None, &nothing));
    let beside = Situation { expected: &nothing, ..situation.within(&alone) };
    let left = &state.forms[..state.forms.len().saturating_sub(1)];
    let mut found = new_request(dialogue, &beside, left);
    if let Some(Task::Requests { part, .. }) = &mut found.task {
        *part = Some(Box::new(alone));
    }
    found.acts.insert(0, act);
    found.confidence = found.confidence.max(confidence);
    Some(found)
}

/// No, nothing is to be changed after all.
fn changes_nothing(dialogue: &Dialogue<'_>) -> bool {
    let Analysis { acts, reply, .. } = dialogue.situation.analysis;
    let is_no = reply.answer == YesNo::Negative && reply.rest.is_none();
    let keeps = |one: &Move| matches!(one.kind, Kind::Pick(Pick::None) | Kind::Skip | Kind::Keep);
    is_no || acts.rest.is_none() && acts.moves.iter().any(keeps)
}

/// What a frame of this turn says. Of a value that was said in an earlier turn the form knows better, if it has one.
pub(crate) fn said(frame: &Frame, turn: u32, form: Option<&Form>) -> Said {
    let is_known = |path: &SlotPath| form.is_some_and(|form| form.has(path));
    let is_new = |origin: &Origin, path: &SlotPath| match origin {
        Origin::Utterance { .. } => true,
        Origin::Earlier { .. } | Origin::Choice | Origin::Generated => !is_known(path),
        Origin::Default => false,
    };
    let values = frame.slots.iter().filter(|value| is_new(&value.origin, &value.path));
    let is_fault = |kind: ViolationKind| {
        !matches!(
            kind,
            ViolationKind::Missing | ViolationKind::Unknown | ViolationKind::Ungrounded | ViolationKind::Negated
        )
    };
    let faults = frame.invalid.iter().filter(|violation| is_fault(violation.kind) && violation.found.is_some());
    let excluded = frame.excluded.iter().filter(|value| matches!(value.origin, Origin::Utterance { .. }));
    Said {
        turn,
        confidence: frame.confidence,
        values: values.map(|value| Filled::new(value, turn)).collect(),
        invalid: faults.map(|violation| Aside::new(violation, turn)).collect(),
        excluded: excluded.map(|value| Filled::new(value, turn)).collect(),
        ..Said::default()
    }
}

/// What was asked last, as it was worded.
pub(crate) fn last_question(state: &State) -> Option<&str> {
    state.lines.iter().rev().find(|line| line.who == Who::Assistant).map(|line| line.text.as_str())
}
