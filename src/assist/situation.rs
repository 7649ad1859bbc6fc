//! Ways to decide what was meant, given what was observed.
//!
//! Each is one file: [`Local`] needs nothing else; [`Tools`], [`Structured`] and [`Staged`] say in an [`Exchange`] with a
//! model server what to ask and how to read the answer, while asking, judging and asking again are the same for all.

use std::sync::OnceLock;

use crate::{
    assist::history::Heard,
    call::{Evidence, RuledOut, Sighting},
    decide::calibration as belief,
    llm::Usage,
    module::FunctionId,
    recognize::{Mention, Negation},
    retrieve::Candidate,
    snapshot::Snapshot,
    text::Utterance,
    understand::{Attempt, DecidedBy, Expected, Frame, Hint, Outcome, Segment, UnderstandOptions, ledger::Budget},
};

/// What a turn is asked for beside the utterance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brief<'a> {
    pub heard: &'a Heard<'a>,
    /// In which questions are worded; the module's if `None`.
    pub language: Option<&'a str>,
    /// One of the functions that may be chosen is meant, whatever retrieval says: the client names it, or the utterance is
    /// a reply to a question about it.
    pub is_meant: bool,
    /// The client wants a call: that nothing is meant is a question.
    pub is_demanded: bool,
    /// The module's and the client's.
    pub instructions: Option<&'a str>,
}

/// Everything that is known of a turn before anything is decided.
pub(crate) struct Situation<'a> {
    pub snapshot: &'a Snapshot,
    pub utterance: &'a Utterance,
    pub brief: Brief<'a>,
    pub now: &'a jiff::Zoned,
    pub mentions: &'a [Mention],
    pub negations: &'a [Negation],
    /// Best first.
    pub candidates: &'a [Candidate],
    /// The parts that each ask for something of their own, in order; never empty.
    pub segments: &'a [Segment],
    /// The clauses, with what each finds by itself; empty unless there are several.
    pub clauses: &'a [Segment],
    /// The evidence fell short of a split, and there may be more to ask for than `segments` say.
    pub is_doubtful: bool,
    pub options: &'a UnderstandOptions,
    pub budget: Budget,
    /// Whether each word is accounted for; looked up once, where it is asked for (`schema::labels`).
    pub is_explained: OnceLock<bool>,
    /// The only function that is asked for, if it is known.
    pub given: Option<FunctionId>,
    pub expected: &'a Expected,
    pub hints: &'a [Hint],
}

impl<'a> Situation<'a> {
    /// BCP 47 language in which the request wants to be asked.
    pub(crate) fn language(&self) -> Option<&'a str> {
        self.brief.language
    }

    /// Whether the utterance asks for several things, or may do so.
    pub(crate) fn may_be_several(&self) -> bool {
        self.segments.len() > 1 || self.is_doubtful
    }

    /// The parts that may each ask for something: in doubt the clauses.
    pub(crate) fn parts(&self) -> &'a [Segment] {
        if self.is_doubtful { self.clauses } else { self.segments }
    }

    /// Calls that a model server's answer may have.
    pub(crate) fn most_calls(&self) -> usize {
        if self.may_be_several() { self.clauses.len().max(self.segments.len()) } else { 1 }
    }

    /// The candidates, best first; then, in doubt, what a clause finds best and the whole does not find.
    pub(crate) fn found(&self) -> impl Iterator<Item = &'a Candidate> + use<'a> {
        let whole = self.candidates;
        let clauses = if self.is_doubtful { self.clauses } else { &[] };
        let is_new = move |best: &&Candidate| whole.iter().all(|known| known.function != best.function);
        whole.iter().chain(clauses.iter().filter_map(|clause| clause.candidates.first()).filter(is_new))
    }

    /// From this confidence on, no model server is asked.
    pub(crate) fn sure(&self) -> f32 {
        self.snapshot.module.settings.thresholds.sure.unwrap_or(self.options.sure)
    }

    /// Below this confidence, nothing was meant.
    pub(crate) fn in_scope(&self) -> f32 {
        self.snapshot.module.settings.thresholds.in_scope.unwrap_or(self.options.in_scope)
    }

    /// The probability that any function was meant, before anything but the words is looked at.
    pub(crate) fn scope(&self) -> f32 {
        if self.brief.is_meant {
            return 1.0;
        }
        self.candidates.first().map_or(0.0, |best| belief::in_scope(best.score, self.snapshot.usual_score))
    }

    /// The probability that this candidate was meant, as retrieval has it: of several parts, by the one that it fits best.
    pub(crate) fn retrieved(&self, function: FunctionId) -> f32 {
        let within = |candidates: &[Candidate]| {
            let scores: Vec<f32> = candidates.iter().map(|candidate| candidate.score).collect();
            let position = candidates.iter().position(|candidate| candidate.function == function)?;
            let scope = if self.brief.is_meant { 1.0 } else { belief::in_scope(scores[0], self.snapshot.usual_score) };
            Some(scope * belief::shares(&scores)[position])
        };
        // Several segments stand in place of the whole; clauses that may be requests stand beside it.
        let whole = if self.segments.len() > 1 { None } else { within(self.candidates) };
        let parts = self.parts().iter().filter_map(|part| within(&part.candidates));
        whole.into_iter().chain(parts).fold(0.0, f32::max)
    }

    /// The mentions, as the grounding of a call takes them.
    pub(crate) fn sightings(&self) -> Vec<Sighting> {
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

    pub(crate) fn evidence<'b>(&'b self, sightings: &'b [Sighting], negated: &'b [RuledOut]) -> Evidence<'b> {
        Evidence { utterance: self.utterance, earlier: &self.brief.heard.earlier, sightings, negated }
    }

    /// The functions that a model server is shown. In the order of the schema, not of their scores: the same few
    /// candidates give the same bytes, which servers that cache prompts need.
    pub(crate) fn shown(&self) -> Vec<FunctionId> {
        let limit = self.snapshot.module.settings.llm.candidates.unwrap_or(self.options.candidates);
        let mut shown: Vec<FunctionId> =
            self.candidates.iter().take(limit).map(|candidate| candidate.function).collect();
        // What only a part of the utterance asks for must not be crowded out.
        for best in self.parts().iter().filter_map(|part| part.candidates.first()) {
            if !shown.contains(&best.function) {
                shown.push(best.function);
            }
        }
        shown.sort_unstable();
        shown
    }
}

/// What a strategy came to.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub outcome: Outcome,
    /// Probability that the outcome is right, 0 to 1.
    pub confidence: f32,
    pub frames: Vec<Frame>,
    pub notes: Vec<String>,
}

/// A verdict, with who gave it and what it cost.
#[derive(Debug)]
pub(crate) struct Decision {
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
