//! What a turn comes to, and everything that explains it.

use serde::Serialize;

use crate::{
    call::Violation,
    decide::{
        analysis::{Analysis, Part},
        situation::Situation,
    },
    llm::Usage,
    recognize::{Mention, Negation},
    retrieve::Candidate,
    text::Span,
};

pub use crate::{
    decide::outcome::{About, Alternative, Frame},
    dialogue::outcome::{Outcome, Question},
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
    /// What is asked next beside a call or a cancellation: of a form that goes on.
    pub pending: Option<Question>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Local,
    /// The model server, with native function calling.
    Tools,
    /// The model server, with an answer that fits a JSON Schema.
    Structured,
    /// The model server, first for the function and then for its arguments.
    Staged,
}

impl DecidedBy {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Tools => "tools",
            Self::Structured => "structured",
            Self::Staged => "staged",
        }
    }
}

/// How the turn went, in the order in which it went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub mentions: Vec<Mention>,
    /// Parts of the utterance that rule out what they name.
    pub negations: Vec<Negation>,
    /// Best first, for the whole utterance; then what only a part of it found.
    pub candidates: Vec<Candidate>,
    /// The parts that each ask for something of their own, in order; one, the whole, unless there are several.
    pub segments: Vec<Segment>,
    /// The clauses into which the utterance falls, in order, with what each finds by itself; empty unless there are
    /// several. One may be a request, a part of one, or mean nothing.
    pub clauses: Vec<Segment>,
    /// There may be more to ask for than `segments` say: the evidence fell short of a split.
    pub is_doubtful: bool,
    /// What the local decision weighed against each other, likeliest first.
    pub alternatives: Vec<Alternative>,
    /// Each answer of the model server and what was wrong with it.
    pub attempts: Vec<Attempt>,
    /// Why `auto` decided as it did, in words; notes on anything dropped or repaired.
    pub notes: Vec<String>,
    pub timings: Timings,
}

impl Trace {
    /// What was found out before anything was decided.
    pub(crate) fn new(situation: &Situation<'_>, took: Timings) -> Self {
        let Analysis { mentions, negations, clauses, .. } = situation.analysis;
        Self {
            mentions: mentions.clone(),
            negations: negations.clone(),
            candidates: situation.found().into_iter().cloned().collect(),
            segments: situation.segments.iter().map(Segment::new).collect(),
            clauses: clauses.iter().map(Segment::new).collect(),
            is_doubtful: situation.is_doubtful,
            timings: took,
            ..Self::default()
        }
    }
}

/// A part of the utterance that asks for one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    pub span: Span,
    /// Best first.
    pub candidates: Vec<Candidate>,
}

impl Segment {
    fn new(part: &Part) -> Self {
        Self { span: part.span, candidates: part.candidates.clone() }
    }
}

/// One round trip to the model server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// The model and the server's host.
    pub server: String,
    /// What was asked for: `call`, `detect`, `fill`, `yes_no` or `wording`.
    pub stage: &'static str,
    /// As the server counted; where it does not count, estimated from the length of the text.
    pub usage: Usage,
    /// The answer was kept, or came to another turn that asked the same: it cost nothing, and `usage` is zero.
    pub cached: bool,
    /// Named repairs that its answer needed.
    pub repairs: Vec<&'static str>,
    pub violations: Vec<Violation>,
    /// Why the attempt gave nothing, if so: `timeout`, `connect` ...; never the server's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<&'static str>,
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
