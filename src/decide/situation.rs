//! The input of a decision: an analysed utterance, what is known about the module, and what was asked for.

use std::{borrow::Cow, sync::Arc};

use crate::{
    call::{Evidence, RuledOut},
    decide::{
        analysis::{Analysis, UtterancePart},
        bars::bars,
        expected::{Expected, Hint},
        knowledge::Knowledge,
        outcome::Frame,
        reader::SpanScores,
    },
    embed::{ActOdds, TurnOdds},
    language::facts::is_unspaced_language,
    module::{FunctionId, SlotId},
    recognize::{Mention, Negation},
    retrieve::Candidate,
    text::{Span, Utterance},
};

/// See [the module](self). Cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub knowledge: &'a Knowledge,
    pub analysis: &'a Analysis,
    /// The parts that are separate requests, in order; never empty.
    pub segments: &'a [UtterancePart],
    /// The evidence was not enough for a split, but there may be more requests than `segments`.
    pub is_doubtful: bool,
    pub thresholds: Thresholds,
    /// Earlier texts of the person, from which values may come; the latest is last.
    pub earlier: &'a [&'a str],
    /// One of the functions that may be chosen is meant, whatever retrieval says: the client names it, or the utterance
    /// is a reply to a question about it.
    pub is_meant: bool,
    /// The client wants a call: if no function seems to be meant, the person is asked.
    pub is_demanded: bool,
    /// The only function that is asked for, if it is known.
    pub given: Option<FunctionId>,
    pub expected: &'a Expected,
    pub hints: &'a [Hint],
}

/// Which parts of an utterance are requests.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    /// The parts in order; a single part, the whole, unless there are several.
    pub parts: Vec<UtterancePart>,
    /// There may be more requests than `parts`, but the evidence was not enough for a split.
    pub is_doubtful: bool,
}

impl Requests {
    /// The whole utterance asks for one thing.
    pub(crate) fn one(analysis: &Analysis) -> Self {
        Self { parts: vec![analysis.whole.clone()], is_doubtful: false }
    }
}

/// The thresholds of deciding, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Thresholds {
    /// From this confidence on, no model server is asked, and a call is made without asking the person.
    pub sure: f32,
    /// Below this confidence, nothing was meant.
    pub in_scope: f32,
}

impl<'a> Situation<'a> {
    /// What kind of speech act the utterance is, by a learned model; `None` if the embedder has no reader.
    pub(crate) fn speech_act(&self) -> Option<ActOdds> {
        let acts = self.knowledge.slots.as_ref()?.reader.acts()?;
        Some(acts.odds(&self.meant(), &self.analysis.whole.vectors.symmetric))
    }

    /// What the utterance does while a form is open, by a learned model.
    pub(crate) fn turn_act(&self) -> Option<TurnOdds> {
        let turns = self.knowledge.slots.as_ref()?.reader.turns()?;
        Some(turns.turn_odds(&self.meant(), &self.analysis.whole.vectors.symmetric))
    }

    /// Whether the utterance agrees to what was read out and says nothing else, by a learned model: if so, people who
    /// agree also say each word of the parts `left`, which nothing else explains.
    pub(crate) fn is_heard_as_consent(&self, left: &[Span]) -> bool {
        let consents = self.knowledge.slots.as_ref().and_then(|slots| slots.reader.consents());
        consents.is_some_and(|consents| {
            let utterance = self.utterance();
            let quantities = self.knowledge.validator.reader().quantities(utterance);
            let values =
                self.mentions().iter().map(|mention| mention.span).chain(quantities.iter().map(|one| one.span));
            let is_value = |part: &Span| values.clone().any(|value| value.overlaps(*part));
            left.iter().all(|part| !is_value(part) && consents.know(utterance.slice(*part)))
                && consents.odds(utterance.text(), &self.analysis.whole.vectors.symmetric) >= bars().consents
        })
    }

    /// The utterance with its misspelt words corrected.
    fn meant(&self) -> Cow<'a, str> {
        self.utterance().meant(Span::new(0, self.utterance().len()))
    }

    pub(crate) fn utterance(&self) -> &'a Utterance {
        &self.analysis.utterance
    }

    /// The utterance, and the code of its language.
    pub(crate) fn said(&self) -> (&'a Utterance, &'a str) {
        (self.utterance(), self.knowledge.module.language())
    }

    pub(crate) fn mentions(&self) -> &'a [Mention] {
        &self.analysis.mentions
    }

    pub(crate) fn negations(&self) -> &'a [Negation] {
        &self.analysis.negations
    }

    /// The candidates of the whole utterance, best first.
    pub(crate) fn candidates(&self) -> &'a [Candidate] {
        &self.analysis.whole.candidates
    }

    /// The turn as if only one part of the utterance had been said; `part` is [`Analysis::within`] that part.
    pub(crate) fn within<'b>(&self, part: &'b Analysis) -> Situation<'b>
    where
        'a: 'b,
    {
        Situation { analysis: part, segments: std::slice::from_ref(&part.whole), is_doubtful: false, ..*self }
    }

    /// The same situation with these requests as its segments.
    pub(crate) fn with<'b>(&self, requests: &'b Requests) -> Situation<'b>
    where
        'a: 'b,
    {
        Situation { segments: &requests.parts, is_doubtful: requests.is_doubtful, ..*self }
    }

    /// Whether the utterance asks for several things, or may do so.
    pub(crate) fn may_be_several(&self) -> bool {
        self.segments.len() > 1 || self.is_doubtful
    }

    /// The parts that may each be a request: the clauses, if there is doubt.
    pub(crate) fn parts(&self) -> &'a [UtterancePart] {
        if self.is_doubtful { &self.analysis.clauses } else { self.segments }
    }

    /// The most calls that a model server's answer may have.
    pub(crate) fn most_calls(&self) -> usize {
        if self.may_be_several() { self.analysis.clauses.len().max(self.segments.len()) } else { 1 }
    }

    /// The candidates, best first; then candidates that were found only in one of several parts; if there is doubt, the
    /// best of each clause.
    pub(crate) fn found(&self) -> Vec<&'a Candidate> {
        let mut found: Vec<&Candidate> = self.candidates().iter().collect();
        let parts = if self.may_be_several() { self.parts() } else { &[] };
        let most = if self.is_doubtful { 1 } else { usize::MAX };
        for candidate in parts.iter().flat_map(|part| part.candidates.iter().take(most)) {
            if found.iter().all(|known| known.function != candidate.function) {
                found.push(candidate);
            }
        }
        found
    }

    /// From this confidence on, a function is called without asking.
    pub(crate) fn sure(&self, function: FunctionId) -> f32 {
        let module = &self.knowledge.module;
        let own = module.settings.functions.get(&module.function(function).name);
        own.and_then(|settings| settings.sure).unwrap_or(self.thresholds.sure)
    }

    /// The confidence from which on an answer about these functions stands; without functions, from which on "nothing
    /// is meant" stands.
    pub(crate) fn sure_of(&self, frames: &[Frame]) -> f32 {
        let sure = frames.iter().map(|frame| self.sure(frame.function)).reduce(f32::max);
        let nothing =
            if self.thresholds.sure > 0.0 { 1.0 - self.thresholds.in_scope * bars().surely_nothing } else { 0.0 };
        sure.unwrap_or(self.thresholds.sure.max(nothing))
    }

    /// How well each run of words fills each slot of a function; `asked` are the slots that were just asked for. `None`
    /// without a reader, and in a language without spaces, for which slots were fitted without it.
    pub(crate) fn span_scores(&self, function: FunctionId, asked: &[SlotId]) -> Option<Arc<SpanScores>> {
        if is_unspaced_language(self.knowledge.module.language()) {
            return None;
        }
        let words = self.analysis.whole.vectors.words.as_ref()?;
        self.knowledge.slots.as_ref()?.read(function, words, asked)
    }

    pub(crate) fn evidence<'b>(&'b self, negated: &'b [RuledOut]) -> Evidence<'b> {
        Evidence { utterance: self.utterance(), earlier: self.earlier, mentions: self.mentions(), negated }
    }
}
