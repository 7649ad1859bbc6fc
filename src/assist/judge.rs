//! Checks what a model says against the schema and against what the person said.

use std::cmp::Reverse;

use serde_json::{Map, Value};

use crate::{
    assist::{brief::Brief, control_tokens as neutral, support, task::Parsed},
    call::{Call, Proposal, SlotValue, Verdict, Violation, ViolationKind},
    decide::outcome::{self, Frame},
    llm::standing,
    module::{Function, FunctionId},
    text::{Span, fold},
};

/// One call, judged.
#[derive(Debug)]
pub(crate) struct Judged {
    pub frame: Frame,
    /// `None` unless it is valid and complete.
    pub call: Option<Call>,
    /// What prevents it from being a call.
    pub violations: Vec<Violation>,
}

/// A call in the model's words, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spoken {
    pub function: FunctionId,
    pub arguments: Map<String, Value>,
    /// Names of the repairs that reading it needed.
    pub repairs: Vec<&'static str>,
}

/// Judges each call. A repeated call counts once, and no more calls remain than the utterance may mean. No calls at all
/// mean that no function fits.
pub(crate) fn all(brief: &Brief<'_>, calls: Vec<Spoken>) -> Parsed<Vec<Judged>> {
    let mut different: Vec<Spoken> = Vec::with_capacity(calls.len());
    let mut repairs = Vec::new();
    for call in calls {
        repairs.extend(call.repairs.iter().copied());
        if !different.iter().any(|other| other.function == call.function && other.arguments == call.arguments) {
            different.push(call);
        }
    }
    let (mut judged, mut found) = (Vec::new(), Vec::new());
    for call in different {
        let (one, dropped) = one(brief, call);
        found.extend(dropped.into_iter().chain(one.violations.iter().cloned()));
        judged.push(one);
    }
    let judged = kept(brief, judged);
    let mut complaints: Vec<Violation> = judged.iter().flat_map(|one| one.violations.iter().cloned()).collect();
    // A model cannot know what the person did not say: that needs a question, not a retry.
    if complaints.iter().all(|one| matches!(one.kind, ViolationKind::Missing | ViolationKind::Ambiguous)) {
        complaints.clear();
    }
    Parsed { answer: Some(judged), complaints, found, repairs }
}

/// Of calls that cannot all be meant, keeps those that the person's words support best.
///
/// Models that may call several functions also repeat themselves, with a guess first and its correction after it; and
/// they make calls that the person did not ask for.
fn kept(brief: &Brief<'_>, judged: Vec<Judged>) -> Vec<Judged> {
    let is_best = |function: FunctionId| {
        let mut best = brief.parts().iter().filter_map(|part| part.candidates.first());
        best.any(|best| best.function == function)
    };
    let is_asked_for = |one: &Judged| is_best(one.frame.function) || said(&one.frame.slots).next().is_some();
    let rank = |one: &Judged| {
        let function = one.frame.function;
        (one.call.is_some(), is_asked_for(one), is_best(function), said(&one.frame.slots).count())
    };
    let mut ranked: Vec<(usize, Judged)> = judged.into_iter().enumerate().collect();
    ranked.sort_by_key(|(_, one)| Reverse(rank(one)));
    let mut kept: Vec<(usize, Judged)> = Vec::with_capacity(ranked.len());
    for (place, one) in ranked {
        let is_again = |other: &Judged| other.frame.function == one.frame.function && !differ(&other.frame, &one.frame);
        let is_noise = one.call.is_none() && !is_asked_for(&one) && !kept.is_empty();
        if kept.len() < brief.most_calls() && !is_noise && !kept.iter().any(|(_, other)| is_again(other)) {
            kept.push((place, one));
        }
    }
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, one)| one).collect()
}

/// True if the person gave two different values for one slot, each in separate words.
fn differ(one: &Frame, other: &Frame) -> bool {
    said(&one.slots).any(|(slot, at)| {
        said(&other.slots)
            .any(|(rival, there)| slot.path() == rival.path() && slot.value != rival.value && !at.overlaps(there))
    })
}

/// The values that stand in the utterance, with their spans.
fn said(slots: &[SlotValue]) -> impl Iterator<Item = (&SlotValue, Span)> {
    slots.iter().filter_map(|slot| Some((slot, slot.span?)))
}

/// Sorts the calls in the order in which the utterance asks for them. A call that remains alone covers the whole
/// utterance.
pub(crate) fn in_order(brief: &Brief<'_>, mut judged: Vec<Judged>) -> Vec<Judged> {
    if let ([one], [_]) = (judged.as_mut_slice(), brief.segments) {
        one.frame.segment = Span::new(0, brief.utterance().len());
    }
    judged.sort_by_key(|one| one.frame.segment.start);
    judged
}

/// More complete calls come first, then more values.
pub(crate) fn worth(judged: &[Judged]) -> (usize, usize) {
    let calls = judged.iter().filter(|one| one.call.is_some()).count();
    (calls, judged.iter().map(|one| one.frame.slots.len()).sum())
}

/// Judges one call. Also returns the violations of values that were dropped because the person did not say them.
fn one(brief: &Brief<'_>, spoken: Spoken) -> (Judged, Vec<Violation>) {
    let Spoken { function: id, arguments, .. } = spoken;
    let function = brief.snapshot.module.function(id);
    let validator = &brief.snapshot.validator;
    let ruled_out = brief.ruled_out(id);
    let evidence = brief.evidence(&ruled_out);
    let frame = |slots: Vec<SlotValue>, mut excluded, missing, invalid| {
        brief.add_excluded(id, &slots, &mut excluded);
        Frame {
            function: id,
            confidence: support::confidence(brief, id, &slots, standing::USUAL),
            segment: segment(brief, id, &slots),
            slots,
            excluded,
            missing,
            invalid: as_said(brief, invalid),
        }
    };
    let mut arguments = in_schema_order(function, arguments);
    neutral::restore(brief.utterance().text(), &mut arguments);
    let (arguments, violations, excluded) =
        match validator.validate(function, Proposal { function: id, arguments }, &evidence) {
            Verdict::Valid { call, grounded, dropped, excluded, .. } => {
                let frame = frame(grounded, excluded, Vec::new(), Vec::new());
                return (Judged { frame, call: Some(call), violations: Vec::new() }, dropped);
            }
            Verdict::Invalid { arguments, violations, excluded, .. } => (arguments, violations, excluded),
        };
    // Values that were invented, ruled out or are no argument at all are dropped at once: a retry cannot change what
    // the person said.
    let (dropped, wrong): (Vec<Violation>, Vec<Violation>) =
        violations.into_iter().filter(|violation| violation.kind != ViolationKind::Missing).partition(|violation| {
            matches!(violation.kind, ViolationKind::Ungrounded | ViolationKind::Negated | ViolationKind::Unknown)
        });
    // The rest is judged again: it may be a call by itself, or lack what was dropped.
    let judged = match validator.validate(function, Proposal { function: id, arguments }, &evidence) {
        Verdict::Valid { call, grounded, .. } => {
            let call = wrong.is_empty().then_some(call);
            Judged { frame: frame(grounded, excluded, Vec::new(), wrong.clone()), call, violations: wrong }
        }
        Verdict::Invalid { grounded, mut violations, .. } => {
            // A value that was removed for being wrong does not also count as missing.
            violations.retain(|violation| !wrong.iter().any(|other| other.path == violation.path));
            // A default that was ruled out has come back: the person must choose a value, and the model is not at
            // fault.
            for violation in violations.iter_mut().filter(|violation| violation.kind == ViolationKind::Negated) {
                violation.kind = ViolationKind::Missing;
            }
            let is_missing = |violation: &&Violation| violation.kind == ViolationKind::Missing;
            let missing = outcome::missing(function, violations.iter().filter(is_missing));
            let frame = frame(grounded, excluded, missing, wrong.clone());
            let violations = wrong.into_iter().chain(violations).collect();
            Judged { frame, call: None, violations }
        }
    };
    (judged, dropped)
}

/// Violations as a person may read them. A value that a model wrote and the person did not say is hidden: it could be
/// anything, even what the model was told.
fn as_said(brief: &Brief<'_>, mut violations: Vec<Violation>) -> Vec<Violation> {
    for violation in &mut violations {
        let is_said = match &violation.found {
            Some(Value::String(found)) => brief.utterance().folded().contains(&fold(found.trim_end_matches('…'))),
            Some(Value::Array(_) | Value::Object(_)) => false,
            Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => true,
        };
        if !is_said {
            violation.found = None;
        }
    }
    violations
}

/// The part of the utterance that asks for the function: the part in which its values were said, else the part that
/// matches it best.
fn segment(brief: &Brief<'_>, function: FunctionId, slots: &[SlotValue]) -> Span {
    let whole = Span::new(0, brief.utterance().len());
    let parts @ [_, _, ..] = brief.parts() else { return whole };
    let score = |index: usize| {
        let found = parts[index].candidates.iter().find(|candidate| candidate.function == function);
        found.map_or(0.0, |candidate| candidate.score)
    };
    (0..parts.len())
        .max_by(|a, b| {
            let values = |index: &usize| said(slots).filter(|(_, at)| parts[*index].span.overlaps(*at)).count();
            values(a).cmp(&values(b)).then(score(*a).total_cmp(&score(*b))).then(b.cmp(a))
        })
        .map_or(whole, |index| parts[index].span)
}

/// Puts the members in the order of the schema, whatever order the model used.
fn in_schema_order(function: &Function, mut arguments: Map<String, Value>) -> Map<String, Value> {
    let Some(properties) = function.parameters.get("properties").and_then(Value::as_object) else { return arguments };
    let mut ordered = Map::new();
    for key in properties.keys() {
        if let Some((key, value)) = arguments.shift_remove_entry(key) {
            ordered.insert(key, value);
        }
    }
    ordered.extend(arguments);
    ordered
}
