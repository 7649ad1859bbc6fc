//! The result of a turn, and everything that explains it.

use std::time::Instant;

use serde::Serialize;

use crate::{
    act::MadeCall,
    assist::{
        ledger::{Attempt, Ledger},
        strategy::DecidedBy,
    },
    decide::{
        analysis::{Analysis, UtterancePart},
        explanation::Explanation,
        outcome::{Alternative, Frame},
        situation::Situation,
    },
    dialogue::{
        beside::WeighedEffects,
        outcome::{Outcome, Question},
    },
    llm::Usage,
    recognize::{Mention, Negation},
    retrieve::Candidate,
    telemetry::milliseconds,
    text::Span,
};

/// A turn's answer with its whole explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub outcome: Outcome,
    /// Probability that the outcome is right, 0 to 1.
    pub confidence: f32,
    pub decided_by: DecidedBy,
    /// What is understood so far, complete or not: one per function that was asked for, in the order of the utterance.
    pub frames: Vec<Frame>,
    pub trace: Trace,
    pub usage: Usage,
    /// The question that follows a call or a cancellation, about a form that continues.
    pub pending: Option<Question>,
    /// What is said where nothing is asked.
    pub remark: Option<String>,
    /// The remark already answers the person with what was done, and must not be replaced.
    pub is_answered: bool,
    /// Calls that we made, and their results.
    pub deeds: Vec<MadeCall>,
}

impl Turn {
    /// The text that a chat shows; `None` for a call without a text.
    #[must_use]
    pub fn reply(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Ask(question) => Some(&question.text),
            Outcome::Done { text, .. } | Outcome::Cancelled { text, .. } | Outcome::Handoff { text, .. } => Some(text),
            Outcome::NoMatch => self.remark.as_deref(),
            Outcome::Call(_) => self.pending.as_ref().map(|question| question.text.as_str()).or(self.remark.as_deref()),
        }
    }

    /// Puts a text before everything else.
    pub(crate) fn preface(&mut self, words: &str) {
        let with = |text: &mut String| *text = format!("{words}\n{text}");
        match (&mut self.outcome, &mut self.pending) {
            (Outcome::Ask(question), _) => with(&mut question.text),
            (Outcome::Done { text, .. } | Outcome::Cancelled { text, .. } | Outcome::Handoff { text, .. }, _) => {
                with(text);
            }
            (Outcome::Call(_), Some(pending)) => with(&mut pending.text),
            (Outcome::Call(_) | Outcome::NoMatch, _) => match &mut self.remark {
                Some(remark) => with(remark),
                None => self.remark = Some(words.to_owned()),
            },
        }
    }

    /// Copies the request's expenses into the turn that answers it.
    pub(crate) fn settle(&mut self, started: Instant, ledger: Ledger) {
        self.usage = ledger.usage();
        self.trace.timings.llm = ledger.llm_ms();
        self.trace.timings.total = milliseconds(started);
        self.trace.attempts = ledger.into_attempts();
    }
}

/// What happened in the turn, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub mentions: Vec<Mention>,
    /// Parts of the utterance that rule something out.
    pub negations: Vec<Negation>,
    /// Best first, for the whole utterance; then those that only a part of it found.
    pub candidates: Vec<Candidate>,
    /// The parts that are requests of their own, in order; a single one, the whole, unless there are several.
    pub segments: Vec<Segment>,
    /// The clauses of the utterance, in order, with the candidates of each; empty unless there are several. A clause
    /// may be a request, a part of one, or mean nothing.
    pub clauses: Vec<Segment>,
    /// There may be more requests than `segments`: the evidence was not enough for a split.
    pub is_doubtful: bool,
    /// The alternatives that the local decision weighed, likeliest first.
    pub alternatives: Vec<Alternative>,
    /// What the utterance may do to the open form, if that was weighed.
    pub beside: Option<WeighedEffects>,
    /// The basis of the readings beyond their features, if the request wants it.
    pub explanations: Vec<Explanation>,
    /// Each answer of a model server, and what was wrong with it.
    pub attempts: Vec<Attempt>,
    /// Why `auto` decided as it did, in words; notes on anything dropped or repaired.
    pub notes: Vec<String>,
    pub timings: Timings,
}

impl Trace {
    /// The trace before a decision.
    pub(crate) fn new(situation: &Situation<'_>, took: Timings) -> Self {
        let Analysis { utterance, mentions, negations, clauses, is_crowded, .. } = situation.analysis;
        let crowded = is_crowded.then(|| "the utterance names more values than anybody says at once: none is read");
        let misspelt = utterance.misspelt().iter();
        let misspelt = misspelt.map(|word| format!("`{}` is read as `{}`", utterance.slice(word.span), word.word));
        Self {
            mentions: mentions.clone(),
            negations: negations.clone(),
            candidates: situation.found().into_iter().cloned().collect(),
            segments: situation.segments.iter().map(Segment::new).collect(),
            clauses: clauses.iter().map(Segment::new).collect(),
            is_doubtful: situation.is_doubtful,
            notes: crowded.into_iter().map(str::to_owned).chain(misspelt).collect(),
            timings: took,
            ..Self::default()
        }
    }
}

/// A part of the utterance that requests one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    pub span: Span,
    /// Best first.
    pub candidates: Vec<Candidate>,
}

impl Segment {
    fn new(part: &UtterancePart) -> Self {
        Self { span: part.span, candidates: part.candidates.clone() }
    }
}

/// Milliseconds per phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Timings {
    pub recognize: f64,
    pub embed: f64,
    pub retrieve: f64,
    pub decide: f64,
    pub llm: f64,
    pub total: f64,
}
