//! Which parts of an utterance are separate requests, and what a turn looks like from within one part.

use crate::{
    ablation,
    call::SlotValue,
    decide::{
        analysis::UtterancePart,
        bars::bars,
        clauses::Strength,
        local,
        outcome::{Frame, Outcome},
        scope::is_meant_by_score,
        situation::{Requests, Situation},
    },
    module::{Builtin, FunctionId, RecognizerKind},
    probability::EVEN,
    recognize::Mention,
    retrieve::Candidate,
    text::Span,
};

impl Requests {
    /// Finds the requests; `whole` is the utterance as one request.
    pub(crate) fn find(whole: &Situation<'_>) -> Self {
        let parts = several(whole);
        match parts.len() {
            0 => Self { is_doubtful: is_doubtful(whole), ..Self::one(whole.analysis) },
            _ => Self { parts, is_doubtful: false },
        }
    }
}

/// Whether an utterance that was not split may still ask for several things: one of its clauses is in scope by itself,
/// and means another function than the whole does.
///
/// If the functions are much alike or a clause says little, the evidence of [`several`] is not enough. A single clause
/// is weak evidence too, so a model server has to decide.
fn is_doubtful(whole: &Situation<'_>) -> bool {
    let Some(meant) = whole.candidates().first() else { return false };
    whole.analysis.clauses.iter().any(|clause| {
        clause.candidates.first().is_some_and(|best| {
            best.function != meant.function
                && means_something(whole, clause)
                && lead(&clause.candidates, meant.function) >= bars().doubtful
                && ablation::holds("segments.doubtful", true)
        })
    })
}

/// How much higher the best function scores than `other`; a function that was not found counts as the last one found.
fn lead(found: &[Candidate], other: FunctionId) -> f32 {
    let rival = found.iter().find(|candidate| candidate.function == other).or(found.last());
    found.first().zip(rival).map_or(0.0, |(best, rival)| best.score - rival.score)
}

/// The parts that are separate requests, in order, with the words that belong to them; empty unless there are several.
/// `whole` is the utterance as one request.
///
/// A part is a separate request if it is in scope by itself and asks for another function than its neighbours, by its
/// score or its values. It may also ask for the same function, if each part is a whole call by itself and they differ
/// in a value that a call has only once. All other parts belong to the request before them, or to the first one. If
/// only the functions differ, the requests must also be better evidence than the whole.
fn several(whole: &Situation<'_>) -> Vec<UtterancePart> {
    let mut requests: Vec<UtterancePart> = Vec::new();
    let mut start = None;
    // Whether two neighbours differ only in their functions, and not in their values.
    let mut by_function = false;
    for clause in &whole.analysis.clauses {
        let (span, score) = (clause.span, best(clause));
        if !means_something(whole, clause) {
            match requests.last_mut() {
                Some(before) => before.span.end = span.end,
                None => start = start.or(Some(span.start)),
            }
            continue;
        }
        let part = UtterancePart { span: Span::new(start.take().unwrap_or(span.start), span.end), ..clause.clone() };
        match requests.last_mut() {
            Some(before) if ablation::holds("segments.other_values", take_other_values(whole, before, &part)) => {}
            Some(before) if ablation::holds("segments.apart", are_apart(&before.candidates, &part.candidates)) => {
                by_function |= !differ_in_values(whole, before, &part);
            }
            Some(before) if !ablation::holds("segments.differ_in_values", differ_in_values(whole, before, &part)) => {
                before.span.end = span.end;
                if score > best(before) {
                    before.candidates = part.candidates;
                    before.vectors = part.vectors;
                }
                continue;
            }
            _ => {}
        }
        requests.push(part);
    }
    if requests.len() < 2 || ablation::holds("segments.outweighed", by_function && !outweigh(whole, &requests)) {
        return Vec::new();
    }
    requests
}

/// A part is in scope by itself, judged by its best score only: the model was fitted on whole utterances.
fn means_something(whole: &Situation<'_>, part: &UtterancePart) -> bool {
    is_meant_by_score(whole.knowledge, best(part))
}

fn best(part: &UtterancePart) -> f32 {
    part.candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max)
}

/// Each scores its own best function clearly higher than the other's.
fn are_apart(one: &[Candidate], other: &[Candidate]) -> bool {
    let (Some(first), Some(second)) = (one.first(), other.first()) else { return false };
    let apart = bars().apart;
    first.function != second.function && lead(one, second.function) >= apart && lead(other, first.function) >= apart
}

/// Each part means another function, and has a value that no slot of the other's function takes: "extend RC414 by a
/// month and send me two rosins".
fn take_other_values(whole: &Situation<'_>, one: &UtterancePart, other: &UtterancePart) -> bool {
    let module = &whole.knowledge.module;
    let (Some(first), Some(second)) = (one.candidates.first(), other.candidates.first()) else { return false };
    // Numbers do not count: many a sentence contains one.
    let tells = |mention: &&Mention| {
        use Builtin::{Boolean, Integer, Number, Ordinal};
        let kind = &module.recognizer(mention.recognizer).kind;
        !matches!(kind, RecognizerKind::Builtin(Boolean | Integer | Number | Ordinal)) && mention.score >= EVEN
    };
    let takes = |function: FunctionId, mention: &Mention| {
        module.function(function).slots.iter().any(|slot| slot.recognizers.contains(&mention.recognizer)) //
    };
    let has_own = |part: &UtterancePart, own: FunctionId, others: FunctionId| {
        let found = || whole.mentions().iter().filter(tells).filter(|one| part.span.contains(one.span));
        let is_others = |mention: &Mention| {
            found().any(|one| one.span.overlaps(mention.span) && takes(others, one)) //
        };
        found().any(|mention| takes(own, mention) && !is_others(mention))
    };
    first.function != second.function
        && has_own(one, first.function, second.function)
        && has_own(other, second.function, first.function)
}

/// Each part is a call by itself, of a function that needs a value, and they differ in a value that one call cannot
/// have twice.
fn differ_in_values(whole: &Situation<'_>, one: &UtterancePart, other: &UtterancePart) -> bool {
    let read = |part: &UtterancePart| {
        let alone = whole.analysis.within(part);
        let decision = local::decide(&whole.within(&alone));
        let needs_values =
            |frame: &Frame| whole.knowledge.module.function(frame.function).slots.iter().any(|s| s.required);
        let is_call = matches!(decision.outcome, Outcome::Call(_)) && decision.frames.iter().all(needs_values);
        is_call.then_some(decision.frames)
    };
    let (Some(one), Some(other)) = (read(one), read(other)) else { return false };
    let single = |frames: &[Frame]| -> Vec<SlotValue> {
        let slots = frames.iter().flat_map(|frame| frame.slots.iter());
        slots.filter(|slot| slot.span.is_some() && !slot.path().is_repeated()).cloned().collect()
    };
    let other = single(&other);
    single(&one).iter().any(|a| other.iter().any(|b| a.path() == b.path() && a.value != b.value))
}

/// The requests together are better evidence than the utterance as one request.
#[expect(clippy::cast_precision_loss, reason = "there are a few requests")]
fn outweigh(whole: &Situation<'_>, requests: &[UtterancePart]) -> bool {
    let mean = requests.iter().map(best).sum::<f32>() / requests.len() as f32;
    let best = best(&whole.analysis.whole);
    let in_sequence = requests[1..].iter().all(|request| request.joined == Some(Strength::Sequence));
    mean >= best + if in_sequence { bars().above_whole_in_sequence } else { bars().above_whole }
}
