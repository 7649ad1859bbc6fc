//! The effect of an utterance on a conversation, as a value, and the input from which it is found.

use crate::{
    conversation::{Act, Form, State},
    decide::{
        analysis::{Analysis, Pool},
        expected::Expected,
        outcome::{Alternative, Decision, Frame},
        situation::{Requests, Situation},
    },
    dialogue::{beside::WeighedEffects, open_form::OpenForm},
    module::{FunctionId, Module},
    probability::EVEN,
    recognize::reply::Reply,
};

/// An utterance, and the conversation in which it is said.
#[derive(Clone, Copy)]
pub(crate) struct Dialogue<'a> {
    /// The utterance as one request, with what the open form waits for.
    pub situation: Situation<'a>,
    /// The conversation before the utterance, except that the turn is counted already.
    pub state: &'a State,
    /// Functions that may be chosen; all if `None`.
    pub among: Option<&'a [FunctionId]>,
    /// The most candidates that are looked for.
    pub candidates: usize,
    pub assistance: Assistance,
    pub told: &'a ServerReading,
}

/// When a model server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assistance {
    Never,
    /// If the local reading is not sure.
    InDoubt,
    Always,
}

/// What model servers have said of the utterance so far.
#[derive(Debug, Default)]
pub(crate) struct ServerReading {
    pub reply: Option<Reply>,
    pub decision: Option<Decision>,
}

/// A question to a model server about the utterance.
pub(crate) enum ServerQuestion {
    /// How the utterance answers this yes-or-no question.
    Reply { question: String },
    /// What the utterance asks for, with which values. `part` is the rest of the utterance, beside an act that ends an
    /// earlier request.
    Requests { part: Option<Box<Analysis>>, requests: Requests },
}

/// The effect of an utterance.
#[derive(Default)]
pub(crate) struct Interpretation {
    pub acts: Vec<Act>,
    /// The functions among which the meant one is not clear; empty otherwise.
    pub tied: Vec<FunctionId>,
    /// Probability that this is right, 0 to 1.
    pub confidence: f32,
    /// Probability that the functions that it opens are meant, whatever their values, 0 to 1.
    pub meant: f32,
    /// The question for a model server. Its answer goes into [`ServerReading`] for another interpretation; without an answer,
    /// this interpretation stands.
    pub task: Option<ServerQuestion>,
    /// The parts that are separate requests, if they were looked for.
    pub requests: Option<Requests>,
    /// The alternatives for a separate request, likeliest first.
    pub alternatives: Vec<Alternative>,
    /// The weighing for an utterance while a form is open.
    pub beside: Option<WeighedEffects>,
    pub notes: Vec<String>,
}

impl Interpretation {
    pub(crate) fn of(acts: Vec<Act>, confidence: f32) -> Self {
        Self { acts, confidence, ..Self::default() }
    }
}

impl Interpretation {
    /// Keeps only the acts that open a form, and marks them as doubtful, so that the person is asked before a call. The
    /// utterance was not read whole, and the unread part may take back or change the rest.
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

    /// Whether to ask a model server if the local reading is this sure.
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

    /// The utterance as something that is said about this form.
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
