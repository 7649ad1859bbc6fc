//! What an utterance does to a conversation, as a value, and what it is found from.

use crate::{
    conversation::{Act, Form, State},
    decide::{
        analysis::{Analysis, Pool},
        expected::Expected,
        outcome::{Alternative, Decision, Frame},
        situation::{Requests, Situation},
    },
    dialogue::{beside::Weighed, open_form::OpenForm},
    module::{FunctionId, Module},
    probability::EVEN,
    recognize::reply::Reply,
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
    /// What was weighed where it was read as a request of its own, likeliest first.
    pub alternatives: Vec<Alternative>,
    /// What was weighed where it was read beside an open form.
    pub beside: Option<Weighed>,
    pub notes: Vec<String>,
}

impl Interpretation {
    pub(crate) fn of(acts: Vec<Act>, confidence: f32) -> Self {
        Self { acts, confidence, ..Self::default() }
    }
}

impl Interpretation {
    /// Leaves of it what opens a form, which is asked about before it is called: the utterance was not read whole, and
    /// what was not read may take back or change what was.
    pub(crate) fn doubt(&mut self, module: &Module, before: &State) {
        let is_open = |id: FunctionId| before.forms.iter().any(|form| form.function == module.function(id).name);
        self.acts.retain_mut(|act| match act {
            Act::Inform { function, said, another } if *another || !is_open(*function) => {
                said.is_doubtful = true;
                true
            }
            _ => false,
        });
        self.confidence = self.confidence.min(EVEN);
        self.task = None;
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
    pub(crate) fn open_form(&self) -> Option<OpenForm<'a>> {
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
