//! Weighs a model server's decision against the local reading: under `auto`, the likelier one stands.

use crate::{
    assist::{
        exchange::Exchange,
        support::{self, Support},
    },
    conversation::Pending,
    decide::{
        calibration,
        outcome::{Decision, Outcome},
    },
    llm::standing::is_trusted,
    module::FunctionId,
    probability::EVEN,
};

/// The decision that stands, and true if it is the local reading.
pub(crate) fn weigh(exchange: &Exchange<'_>, local: &Decision, mut proposed: Decision) -> (Decision, bool) {
    let brief = exchange.brief;
    let is_settled = |function: &FunctionId| support::is_settled(brief, *function);
    let read: Vec<FunctionId> = local.frames.iter().map(|frame| frame.function).collect();
    // The server made no choice if it found several functions equally likely, or if the function was already settled.
    let Some(chosen) = exchange.chosen.as_ref().filter(|chosen| !chosen.iter().any(is_settled)) else {
        return (proposed, false);
    };
    let standing = exchange.standing();
    let values = proposed.frames.iter().map(|frame| support::said(&frame.slots)).sum();
    let gain = match chosen.is_empty() {
        true => calibration::by_nothing(exchange.habit(), standing),
        false => calibration::by_choice(values, standing),
    };
    let (own, other) = (likely(exchange, local, &read), likely(exchange, local, chosen));
    // The odds that the server's answer is informed rather than guessed.
    let informed = other * (gain - 1.0);
    let sound = if exchange.has_faults() { EVEN } else { 1.0 };
    exchange.learn(sound * informed / (1.0 + informed), chosen.is_empty());

    let names = names(exchange, chosen);
    if !is_trusted(standing) {
        let note = format!("the model server chose {names}, and is no better than a guess: decided locally");
        return (noted(local, note), true);
    }
    let is_same = chosen.iter().all(|function| read.contains(function)) && read.iter().all(|one| chosen.contains(one));
    let other = other * gain;
    if !is_same && other < own {
        let note = format!("the model server chose {names}, which is less likely than what is read locally");
        let mut decision = noted(local, note);
        decision.confidence *= own / (own + other);
        decision.doubt();
        return (decision, true);
    }
    lower(exchange, &mut proposed, standing * sound);
    (proposed, false)
}

/// How likely it is, before the server is asked, that exactly these functions are meant, or nothing if there are none.
/// For a tie, that one of them is meant.
fn likely(exchange: &Exchange<'_>, local: &Decision, functions: &[FunctionId]) -> f32 {
    let brief = exchange.brief;
    if functions.is_empty() {
        return 1.0 - brief.scope();
    }
    let meant = |function: &FunctionId| {
        let weighed = local.alternatives.iter().filter(|one| one.function == *function).map(|one| one.meant);
        let read = local.frames.iter().filter(|frame| frame.function == *function).map(|frame| frame.confidence);
        weighed.chain(read).reduce(f32::max).unwrap_or_else(|| brief.retrieved(*function))
    };
    let all = functions.iter().map(meant);
    if local.outcome.is_tie() {
        return all.fold(0.0, f32::max);
    }
    // If several things may be asked for, the other functions of the local reading must not be meant.
    let beside = local.frames.iter().filter(|frame| brief.may_be_several() && !functions.contains(&frame.function));
    all.chain(beside.map(|frame| 1.0 - frame.confidence)).fold(1.0, f32::min)
}

/// Limits the proposal's confidence to what the server's standing allows.
fn lower(exchange: &Exchange<'_>, proposed: &mut Decision, standing: f32) {
    let brief = exchange.brief;
    if proposed.frames.is_empty() {
        if proposed.outcome == Outcome::NoMatch {
            proposed.confidence = calibration::confirmed(1.0 - brief.scope(), standing);
        }
        return;
    }
    let before: f32 = proposed.frames.iter().map(|frame| frame.confidence).product();
    for frame in &mut proposed.frames {
        let confidence = support::confidence(brief, frame.function, &frame.slots, standing);
        frame.confidence = frame.confidence.min(confidence);
    }
    let after: f32 = proposed.frames.iter().map(|frame| frame.confidence).product();
    if after >= before {
        return;
    }
    proposed.confidence = proposed.confidence.min(after);
    let hardly = proposed.frames.iter().find(|frame| support::of(brief, frame) != Support::Called);
    if let (Outcome::Call(_), Some(frame)) = (&proposed.outcome, hardly) {
        proposed.outcome = Outcome::Ask(Pending::Confirm { function: frame.function });
        proposed.notes.push("the model server is often wrong: what it chose is put to the person".to_owned());
    }
}

fn noted(local: &Decision, note: String) -> Decision {
    let mut decision = local.clone();
    decision.notes.push(note);
    decision
}

fn names(exchange: &Exchange<'_>, chosen: &[FunctionId]) -> String {
    let module = &exchange.brief.snapshot.module;
    let names: Vec<String> = chosen.iter().map(|id| format!("`{}`", module.function(*id).name)).collect();
    if names.is_empty() { "no function".to_owned() } else { names.join(", ") }
}
