//! Decides without a model server: the function by retrieval and by how well the utterance fills its slots, the
//! arguments by recognizers and by alignment with the exemplars.

use std::time::Instant;

use futures::{FutureExt as _, future::BoxFuture};

use super::{Decision, Situation, Strategy};
use crate::{
    call::Call,
    llm::Usage,
    module::FunctionId,
    understand::{DecidedBy, Frame, Outcome, TurnError, belief, milliseconds, question, reading::Reading},
};

/// Functions whose slots are filled before one is chosen, at most, and the share that makes one worth it.
const CONSIDERED: usize = 3;
const WORTH_READING: f32 = 0.1;
/// Score that a function gains for having all its required slots filled; in proportion for some of them.
const FILLED: f32 = 0.03;
/// Two functions tie if the second is at least this likely, measured against the first.
const TIE: f32 = 0.8;

/// See [the module](self).
#[derive(Debug, Clone, Copy)]
pub(in crate::understand) struct Local;

impl Strategy for Local {
    fn decide<'a>(&'a self, situation: &'a Situation<'a>) -> BoxFuture<'a, Result<Decision, TurnError>> {
        std::future::ready(Ok(decide(situation))).boxed()
    }
}

fn decide(situation: &Situation<'_>) -> Decision {
    let clock = Instant::now();
    let (outcome, confidence, frames) = read(situation);
    Decision {
        outcome,
        confidence,
        decided_by: DecidedBy::Local,
        frames,
        attempts: Vec::new(),
        notes: Vec::new(),
        usage: Usage::default(),
        decide_ms: milliseconds(clock),
        llm_ms: 0.0,
    }
}

fn read(situation: &Situation<'_>) -> (Outcome, f32, Vec<Frame>) {
    let module = &situation.snapshot.module;
    let scope = situation.scope();
    if situation.candidates.is_empty() || scope < situation.in_scope() {
        return (Outcome::NoMatch, 1.0 - scope, Vec::new());
    }
    let mut scores: Vec<f32> = situation.candidates.iter().map(|candidate| candidate.score).collect();
    let mut readings: Vec<Reading<'_>> = Vec::new();
    for (index, share) in belief::shares(&scores).into_iter().enumerate().take(CONSIDERED) {
        if share < WORTH_READING {
            break;
        }
        let reading = Reading::new(situation, situation.candidates[index].function);
        scores[index] += FILLED * reading.support();
        readings.push(reading);
    }
    let shares = belief::shares(&scores);
    let mut ranked: Vec<usize> = (0..readings.len()).collect();
    ranked.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let highest = ranked.first().map_or(0.0, |first| shares[*first]);
    ranked.retain(|index| shares[*index] >= TIE * highest);

    let mut frames: Vec<(Frame, Option<Call>)> =
        ranked.iter().map(|index| readings[*index].judged(situation, scope * shares[*index])).collect();
    if frames.len() > 1 {
        let tied: Vec<FunctionId> = frames.iter().map(|(frame, _)| frame.function).collect();
        let confidence = frames.iter().map(|(frame, _)| frame.confidence).sum();
        let frames = frames.into_iter().map(|(frame, _)| frame).collect();
        return (Outcome::Ask(question::about_tie(module, &tied)), confidence, frames);
    }
    let Some((frame, call)) = frames.pop() else { return (Outcome::NoMatch, 1.0 - scope, Vec::new()) };
    let confidence = frame.confidence * frame.slots.iter().map(|slot| slot.confidence).product::<f32>();
    let outcome = match (call, question::about_frame(module, &frame)) {
        (Some(call), _) => Outcome::Call(vec![call]),
        (None, Some(question)) => Outcome::Ask(question),
        // An invalid proposal always has a violation, and each violation a question.
        (None, None) => Outcome::NoMatch,
    };
    (outcome, confidence, vec![frame])
}
