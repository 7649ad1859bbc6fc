//! How likely it is that anything is meant, and which function, before its slots are read.

use crate::{
    decide::{bars::bars, features::measure, knowledge::Knowledge, model::DecisionModel, situation::Situation},
    module::FunctionId,
    retrieve::Candidate,
};

/// The probability that a candidate is meant while something was asked, by its score alone: the rest of the decision
/// model was fitted on utterances that stand alone.
pub(crate) fn by_score(situation: &Situation<'_>, candidate: &Candidate) -> f32 {
    let scope = scope_of_score(situation.knowledge, candidate.score);
    if scope < bars().in_scope_beside { 0.0 } else { scope * candidate.share }
}

/// The probability that anything is meant while something was asked, by the best score.
pub(crate) fn scope_by_score(situation: &Situation<'_>) -> f32 {
    let best = situation.candidates().iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    scope_of_score(situation.knowledge, best)
}

/// The same by any score.
fn scope_of_score(knowledge: &Knowledge, score: f32) -> f32 {
    DecisionModel::bundled().scope_by_score(score - knowledge.usual_score)
}

/// True if what scores so much, a clause or a candidate, means something by itself, as far as its score tells.
pub(crate) fn is_meant_by_score(knowledge: &Knowledge, score: f32) -> bool {
    scope_of_score(knowledge, score) >= bars().in_scope_beside
}

impl Situation<'_> {
    /// The probability that any function was meant, judged by the words alone.
    pub(crate) fn scope(&self) -> f32 {
        if self.is_meant {
            return 1.0;
        }
        if self.candidates().is_empty() {
            return 0.0;
        }
        DecisionModel::bundled().scope(&measure::of_candidates(self, self.speech_act(), self.candidates(), 0))
    }

    /// The probability that this candidate was meant, by retrieval. If there are several parts, the part that it fits
    /// best counts.
    pub(crate) fn retrieved(&self, function: FunctionId) -> f32 {
        let within = |part: &Situation<'_>| {
            let found = part.candidates().iter().find(|candidate| candidate.function == function)?;
            Some(part.scope() * found.share)
        };
        // Several segments replace the whole; clauses that may be requests are added to it.
        let whole = if self.segments.len() > 1 { None } else { within(self) };
        let parts = self.parts().iter().filter_map(|part| within(&self.within(&self.analysis.within(part))));
        whole.into_iter().chain(parts).fold(0.0, f32::max)
    }
}
