//! Ways to decide what was meant, given what was observed.

use futures::future::BoxFuture;

mod local;
mod tools;

pub(super) use local::Local;
pub(super) use tools::Tools;

use super::{Attempt, DecidedBy, Frame, Outcome, TurnError, UnderstandOptions, belief};
use crate::{
    call::{Evidence, Sighting},
    llm::Usage,
    module::FunctionId,
    recognize::Mention,
    retrieve::Candidate,
    snapshot::Snapshot,
    text::Utterance,
};

/// Everything that is known of a turn before anything is decided.
pub(super) struct Situation<'a> {
    pub snapshot: &'a Snapshot,
    pub utterance: &'a Utterance,
    pub now: &'a jiff::Zoned,
    pub mentions: &'a [Mention],
    /// Best first.
    pub candidates: &'a [Candidate],
    pub options: &'a UnderstandOptions,
    /// By when a model server must have answered.
    pub deadline: tokio::time::Instant,
}

impl Situation<'_> {
    /// From this confidence on, no model server is asked.
    pub(super) fn sure(&self) -> f32 {
        self.snapshot.module.settings.thresholds.sure.unwrap_or(self.options.sure)
    }

    /// Below this confidence, nothing was meant.
    pub(super) fn in_scope(&self) -> f32 {
        self.snapshot.module.settings.thresholds.in_scope.unwrap_or(self.options.in_scope)
    }

    /// The probability that any function was meant, before anything but the words is looked at.
    pub(super) fn scope(&self) -> f32 {
        self.candidates.first().map_or(0.0, |best| belief::in_scope(best.score, self.snapshot.usual_score))
    }

    /// The probability that this candidate was meant, as retrieval has it.
    pub(super) fn retrieved(&self, function: FunctionId) -> f32 {
        let scores: Vec<f32> = self.candidates.iter().map(|candidate| candidate.score).collect();
        let position = self.candidates.iter().position(|candidate| candidate.function == function);
        position.map_or(0.0, |position| self.scope() * belief::shares(&scores)[position])
    }

    /// The mentions, as the grounding of a call takes them.
    pub(super) fn sightings(&self) -> Vec<Sighting> {
        self.mentions
            .iter()
            .map(|mention| Sighting {
                span: mention.span,
                text: mention.text.clone(),
                value: mention.value.clone(),
                recognizer: self.snapshot.module.recognizer(mention.recognizer).name.clone(),
                score: mention.score,
            })
            .collect()
    }

    pub(super) fn evidence<'b>(&'b self, sightings: &'b [Sighting]) -> Evidence<'b> {
        Evidence { utterance: self.utterance, earlier: &[], sightings }
    }
}

/// What a strategy came to.
#[derive(Debug)]
pub(super) struct Decision {
    pub outcome: Outcome,
    /// Probability that the outcome is right, 0 to 1.
    pub confidence: f32,
    pub decided_by: DecidedBy,
    pub frames: Vec<Frame>,
    pub attempts: Vec<Attempt>,
    pub notes: Vec<String>,
    pub usage: Usage,
    /// Milliseconds of our own work, and of waiting for the model server.
    pub decide_ms: f64,
    pub llm_ms: f64,
}

/// Decides. Implementations share candidates, mentions and the validator; each is one file.
pub(super) trait Strategy {
    fn decide<'a>(&'a self, situation: &'a Situation<'a>) -> BoxFuture<'a, Result<Decision, TurnError>>;
}
