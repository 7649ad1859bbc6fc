//! Decides without a model server: the function by retrieval and by how well the utterance fills its slots, the
//! arguments by recognizers and by alignment with the exemplars.

use crate::{
    call::Call,
    decide::{
        calibration as belief, expected, near_duplicates as overloads,
        outcome::{About, Decision, Frame, Outcome},
        reading::Reading,
        situation::Situation,
    },
    module::FunctionId,
};

/// Functions whose slots are filled before one is chosen, at most, and the share that makes one worth it.
const CONSIDERED: usize = 3;
const WORTH_READING: f32 = 0.1;
/// Score that a function gains for having all its required slots filled; in proportion for some of them.
const FILLED: f32 = 0.03;
/// Two functions tie if the second is at least this likely, measured against the first.
const TIE: f32 = 0.8;
/// How sure it is that nothing is to be called where what is best understood is refused ("don't cancel my order").
const REFUSED: f32 = 0.7;
/// How sure it is that what says nothing but a value that was asked for is the answer.
const ANSWERED: f32 = 0.92;
/// What is left of the confidence in the slots of a function where one is empty and not every word is accounted for.
const LACKING: f32 = 0.7;
/// How much of the confidence is left where the utterance may ask for more than one thing: the share of doubtful ones
/// that ask for one. Where one utterance in twenty asks for two things, 33 % (the module restaurant) to 46 % (shoes) of
/// the doubtful ones do.
const SINGLE: f32 = 0.6;
/// The same where a slot is empty that nothing could have found here: whether it was said is for a model server to say.
const UNSEEN: f32 = 0.6;

/// Functions that are offered to choose from where nothing speaks for any.
const OFFERED: usize = 3;

/// See [the module](self).
pub(crate) fn decide(situation: &Situation<'_>) -> Decision {
    if let Some(decision) = as_written(situation) {
        return decision;
    }
    let mut decision = match situation.segments {
        [_, _, ..] => read_each(situation),
        _ => read_one(situation),
    };
    if situation.is_doubtful {
        decision.confidence *= SINGLE;
    }
    decision
}

/// What says a template word for word is what its author meant, also where that looks like a refusal or like two requests.
fn as_written(situation: &Situation<'_>) -> Option<Decision> {
    let (reading, sure) = Reading::as_written(situation).filter(|_| situation.given.is_none())?;
    let (outcome, confidence, frames) = concluded(reading.judged(situation, sure), sure);
    Some(Decision { outcome, confidence, frames, notes: Vec::new() })
}

/// Each part by itself, with no value from another one: calls if all of them are, else the first question that one of
/// them leaves. A part that means nothing, or refuses what it names, takes nothing from the others.
fn read_each(situation: &Situation<'_>) -> Decision {
    let (mut calls, mut question, mut frames) = (Vec::new(), None, Vec::new());
    let (mut confidence, mut notes) = (1.0, Vec::new());
    for segment in situation.segments {
        let alone = situation.analysis.within(segment);
        let mut part = read_one(&situation.within(&alone));
        notes.append(&mut part.notes);
        match part.outcome {
            Outcome::Call(found) => calls.extend(found),
            Outcome::Ask(next) => question = question.or(Some(next)),
            Outcome::NoMatch => {
                let text = situation.utterance().slice(segment.span);
                notes.push(format!("nothing is asked of any function by `{}`", text.trim()));
                continue;
            }
        }
        part.frames.iter_mut().for_each(|frame| frame.segment = segment.span);
        frames.append(&mut part.frames);
        confidence *= part.confidence;
    }
    let (outcome, confidence) = match question {
        Some(question) => (Outcome::Ask(question), confidence),
        None if calls.is_empty() => (Outcome::NoMatch, 1.0 - situation.scope()),
        None => (Outcome::Call(calls), confidence),
    };
    Decision { outcome, confidence, frames, notes }
}

/// What is best understood, unless the person refuses just that.
fn read_one(situation: &Situation<'_>) -> Decision {
    let (outcome, confidence, frames) = read(situation);
    // What is known to be meant is not refused: "I don't want olives" still says which.
    let chosen = frames.first().filter(|_| situation.given.is_none());
    match chosen.and_then(|frame| situation.refusal(frame.function)) {
        Some(note) => {
            Decision { outcome: Outcome::NoMatch, confidence: REFUSED, frames: Vec::new(), notes: vec![note] }
        }
        None => Decision { outcome, confidence, frames, notes: Vec::new() },
    }
}

fn read(situation: &Situation<'_>) -> (Outcome, f32, Vec<Frame>) {
    if let Some(function) = situation.given {
        return read_given(situation, function);
    }
    if let Some(reading) = expected::answered(situation) {
        return concluded(reading.judged(situation, ANSWERED), situation.scope());
    }
    let scope = situation.scope();
    if situation.candidates().is_empty() || scope < situation.thresholds.in_scope {
        let outcome = if situation.is_demanded { which(situation) } else { Outcome::NoMatch };
        return (outcome, 1.0 - scope, Vec::new());
    }
    let mut scores: Vec<f32> = situation.candidates().iter().map(|candidate| candidate.score).collect();
    let considered = considered(situation, &scores);
    let readings: Vec<Reading<'_>> =
        considered.iter().map(|index| Reading::new(situation, situation.candidates()[*index].function)).collect();
    let changes = overloads::changes(situation, &readings, &considered.iter().map(|i| scores[*i]).collect::<Vec<_>>());
    for ((index, reading), change) in considered.iter().zip(&readings).zip(changes) {
        scores[*index] += FILLED * reading.support() + change;
    }
    let shares = belief::shares(&scores);
    let share = |of: usize| shares[considered[of]];
    let mut ranked: Vec<usize> = (0..readings.len()).collect();
    ranked.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
    let highest = ranked.first().map_or(0.0, |first| share(*first));
    ranked.retain(|index| share(*index) >= TIE * highest);

    let mut frames: Vec<(Frame, Option<Call>)> =
        ranked.iter().map(|index| readings[*index].judged(situation, scope * share(*index))).collect();
    if frames.len() > 1 {
        let tied: Vec<FunctionId> = frames.iter().map(|(frame, _)| frame.function).collect();
        let confidence = frames.iter().map(|(frame, _)| frame.confidence).sum();
        let frames = frames.into_iter().map(|(frame, _)| frame).collect();
        return (Outcome::Ask(About::Tie { functions: tied }), confidence, frames);
    }
    let Some(judged) = frames.pop() else { return (Outcome::NoMatch, 1.0 - scope, Vec::new()) };
    let may_lack = ranked.first().is_some_and(|best| readings[*best].may_lack(&judged.0));
    let (outcome, confidence, frames) = concluded(judged, scope);
    (outcome, if may_lack { confidence * UNSEEN } else { confidence }, frames)
}

/// The slots of the only function that is asked for. There is less confidence where words are left that could be a value
/// and a slot that was asked for, or that is required, has none.
fn read_given(situation: &Situation<'_>, function: FunctionId) -> (Outcome, f32, Vec<Frame>) {
    let reading = Reading::new(situation, function);
    let (outcome, confidence, frames) = concluded(reading.judged(situation, 1.0), 1.0);
    let lacks = expected::leaves_words(situation, &reading) && expected::lacks_values(situation, &reading);
    (outcome, if lacks { confidence * LACKING } else { confidence }, frames)
}

/// One frame, as a call or as the question that it leaves.
fn concluded((frame, call): (Frame, Option<Call>), scope: f32) -> (Outcome, f32, Vec<Frame>) {
    let confidence = frame.confidence * frame.slots.iter().map(|slot| slot.confidence).product::<f32>();
    let outcome = match (call, frame.asks()) {
        (Some(call), _) => Outcome::Call(vec![call]),
        (None, Some(about)) => Outcome::Ask(about),
        (None, None) => return (Outcome::NoMatch, 1.0 - scope, Vec::new()),
    };
    (outcome, confidence, vec![frame])
}

/// Which of the functions is meant, where nothing says so: of a few, the likeliest.
fn which(situation: &Situation<'_>) -> Outcome {
    let likely = situation.candidates().iter().take(OFFERED).map(|candidate| candidate.function);
    let functions: Vec<FunctionId> = likely.collect();
    if functions.is_empty() { Outcome::NoMatch } else { Outcome::Ask(About::Tie { functions }) }
}

/// The candidates whose slots are worth filling: the likely ones, and what goes by the same name as the likeliest.
fn considered(situation: &Situation<'_>, scores: &[f32]) -> Vec<usize> {
    let shares = belief::shares(scores);
    let is_rival = |index: usize| {
        let [best, other] = [0, index].map(|index| situation.candidates()[index].function);
        scores[0] - scores[index] <= overloads::BLUR && overloads::alike(situation, best, other)
    };
    (0..scores.len()).filter(|index| shares[*index] >= WORTH_READING || is_rival(*index)).take(CONSIDERED).collect()
}
