//! Turns the calls that a model server chose into a decision, or into a question if they are not believed.

use crate::{
    assist::{
        brief::Brief,
        exchange::Exchange,
        guard,
        judge::{self, Judged},
        support::{self, Support},
    },
    call::Call,
    conversation::Pending,
    decide::{
        calibration as belief, local,
        outcome::{Decision, Frame, Outcome},
    },
    llm::standing,
    module::FunctionId,
};

/// If a model server names a function that retrieval finds this unlikely, and retrieval finds another one this likely,
/// the person is asked: at such a distance, the words misled one of the two.
const UNLIKELY: f32 = 0.02;
const LIKELY: f32 = 0.9;

/// A call if everything is valid and complete, else the next question; without any call, that nothing fits.
pub(crate) fn decision(exchange: &mut Exchange<'_>, judged: Vec<Judged>) -> Decision {
    let brief = exchange.brief;
    exchange.chosen = Some(judged.iter().map(|one| one.frame.function).collect());
    if judged.is_empty() {
        return nothing(brief);
    }
    let judged: Vec<(Support, Judged)> = judged.into_iter().map(|one| (support::of(brief, &one.frame), one)).collect();
    let is_put = judged.iter().any(|(support, _)| *support == Support::Put);
    let (judged, unsupported): (Vec<_>, Vec<_>) =
        judged.into_iter().partition(|(support, _)| *support != Support::Missing);
    if judged.is_empty() {
        return without(brief, &unsupported);
    }
    let judged = judged.into_iter().map(|(_, one)| one).collect();
    let judged = judge::in_order(brief, judged);
    let confidence = judged.iter().map(|one| one.frame.confidence).product();
    let doubted = judged.iter().find_map(|one| doubt(brief, &one.frame));
    let (frames, calls): (Vec<Frame>, Vec<Option<Call>>) = judged.into_iter().map(|one| (one.frame, one.call)).unzip();
    if let Some((functions, note)) = doubted {
        let outcome = Outcome::Ask(Pending::Tie { functions });
        return Decision { outcome, confidence, frames, notes: vec![note.to_owned()], alternatives: Vec::new() };
    }
    let refused = frames.iter().find_map(|frame| Some((frame.function, brief.refusal(frame.function)?)));
    if let Some((function, note)) = refused {
        let outcome = Outcome::Ask(Pending::Tie { functions: vec![function] });
        return Decision { outcome, confidence, frames, notes: vec![note], alternatives: Vec::new() };
    }
    let mut notes = Vec::new();
    let outcome = match calls.into_iter().collect::<Option<Vec<Call>>>() {
        Some(calls) if is_put && !calls.is_empty() => {
            notes.push("the words alone hardly say what the model server chose: it is put to the person".to_owned());
            Outcome::Ask(Pending::Confirm { function: calls[0].function() })
        }
        Some(calls) if !calls.is_empty() => Outcome::Call(calls),
        _ => match frames.iter().find_map(Frame::asks) {
            Some(about) => Outcome::Ask(about),
            // A proposal that is not a call always lacks something, and there is a question for that.
            None => Outcome::NoMatch,
        },
    };
    Decision { outcome, confidence, frames, notes, alternatives: Vec::new() }
}

/// The local reading, for a choice that no word of the person supports.
fn without(brief: &Brief<'_>, unsupported: &[(Support, Judged)]) -> Decision {
    let mut decision = local::decide(brief);
    for (_, one) in unsupported {
        let name = &brief.snapshot.module.function(one.frame.function).name;
        decision.notes.push(format!("the model server chose `{name}`, and no word speaks for it: decided locally"));
    }
    decision
}

/// The decision if no function was chosen.
fn nothing(brief: &Brief<'_>) -> Decision {
    if brief.is_demanded {
        let mut decision = local::decide(brief);
        let note = "the model server chose no function, and the client wants one: decided locally";
        decision.notes.push(note.to_owned());
        return decision;
    }
    let confidence = belief::confirmed(1.0 - brief.scope(), standing::USUAL);
    Decision { outcome: Outcome::NoMatch, confidence, frames: Vec::new(), notes: Vec::new(), alternatives: Vec::new() }
}

/// The functions to ask about, and why, if retrieval finds the model's choice very unlikely, or if a text that
/// addresses the model may have caused the choice.
fn doubt(brief: &Brief<'_>, frame: &Frame) -> Option<(Vec<FunctionId>, &'static str)> {
    let chosen = frame.function;
    let best = brief.candidates().first()?.function;
    let mut functions = vec![best, chosen];
    functions.dedup();
    if guard::distrusts(brief, chosen, brief.utterance().slice(frame.segment)) {
        return Some((functions, "a text speaks to the model, and retrieval alone does not choose the same"));
    }
    if brief.segments.len() > 1 || brief.retrieved(chosen) > UNLIKELY {
        return None;
    }
    let note = "the model server chose what retrieval finds very unlikely";
    (brief.retrieved(best) >= LIKELY).then_some((functions, note))
}
