//! A turn's answer, in the terms of the metrics.

use serde_json::{Map, Value};

use super::{OutcomeKind, Understood};
use crate::{
    call::{SlotValue, Source},
    conversation::Pending,
    module::{FunctionId, PathStep},
    understand::{Outcome, Turn},
};

/// Most array items that understood slots may name; far more than a call has.
const MOST_ITEMS: usize = 4_096;

/// A turn's answer, in the terms of the metrics.
#[derive(Debug)]
pub(super) struct Prediction {
    pub outcome: OutcomeKind,
    /// The decided functions, with their understood arguments; empty for no match, a tie, a failure.
    pub functions: Vec<(FunctionId, Understood)>,
    /// The most likely function, decided or not.
    pub leader: Option<FunctionId>,
    pub confidence: Option<f64>,
    pub in_scope_belief: Option<f64>,
    /// A call was made, or a confirmation was asked for.
    pub is_proposed: bool,
}

impl Default for Prediction {
    /// The answer of a failed turn.
    fn default() -> Self {
        Self {
            outcome: OutcomeKind::Failed,
            functions: Vec::new(),
            leader: None,
            confidence: None,
            in_scope_belief: None,
            is_proposed: false,
        }
    }
}

impl Prediction {
    pub(super) fn of(turn: &Turn) -> Self {
        let functions = match &turn.outcome {
            Outcome::Call(calls) => calls
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    let slots = turn
                        .frames
                        .get(index)
                        .filter(|frame| frame.function == call.function())
                        .map_or(&[][..], |frame| &frame.slots);
                    let mut understood = understood(slots);
                    understood.arguments = call.arguments().clone();
                    (call.function(), understood)
                })
                .collect(),
            Outcome::Ask(question) => match &question.about {
                Pending::Tie { .. } => Vec::new(),
                _ => turn.frames.iter().map(|frame| (frame.function, understood(&frame.slots))).collect(),
            },
            Outcome::NoMatch | Outcome::Done { .. } | Outcome::Cancelled { .. } | Outcome::Handoff { .. } => Vec::new(),
        };
        let confidence = f64::from(turn.confidence).clamp(0.0, 1.0);
        // An answer's confidence falls with each doubtful slot, a frame's is that of the function alone. In a tie each
        // frame's is low, while their sum, the confidence, is not.
        let in_scope_belief = match &turn.outcome {
            Outcome::NoMatch => 1.0 - confidence,
            Outcome::Call(_)
            | Outcome::Done { .. }
            | Outcome::Ask(_)
            | Outcome::Cancelled { .. }
            | Outcome::Handoff { .. } => {
                turn.frames.iter().map(|frame| f64::from(frame.confidence)).fold(confidence, f64::max)
            }
        };
        let is_proposed = match &turn.outcome {
            Outcome::Call(_) => true,
            Outcome::Ask(question) => matches!(question.about, Pending::Confirm { .. }),
            Outcome::NoMatch | Outcome::Done { .. } | Outcome::Cancelled { .. } | Outcome::Handoff { .. } => false,
        };
        Self {
            outcome: OutcomeKind::of(&turn.outcome),
            is_proposed,
            leader: turn.frames.first().map(|frame| frame.function),
            functions,
            confidence: Some(confidence),
            in_scope_belief: Some(in_scope_belief),
        }
    }
}

/// The nested arguments made of grounded values.
pub(super) fn understood(slots: &[SlotValue]) -> Understood {
    let mut root = Value::Object(Map::new());
    let mut result = Understood::default();
    for slot in slots {
        let mut place = Some(&mut root);
        for (step, token) in slot.path().0.iter().zip(slot.pointer.split('/').skip(1)) {
            place = place.and_then(|place| below(place, step, token));
        }
        if let Some(place) = place {
            *place = slot.value.clone();
        }
        if let Some(text) = &slot.text {
            result.texts.insert(slot.pointer.clone(), text.clone());
        }
        if slot.from == Source::Default {
            result.defaults.insert(slot.pointer.clone());
        }
    }
    if let Value::Object(arguments) = root {
        result.arguments = arguments;
    }
    result
}

fn below<'v>(place: &'v mut Value, step: &PathStep, token: &str) -> Option<&'v mut Value> {
    match step {
        PathStep::Key(key) => {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            Some(place.as_object_mut()?.entry(&**key).or_insert(Value::Null))
        }
        PathStep::Each => {
            let index: usize = token.parse().ok().filter(|index| *index < MOST_ITEMS)?;
            if place.is_null() {
                *place = Value::Array(Vec::new());
            }
            let items = place.as_array_mut()?;
            if items.len() <= index {
                items.resize(index + 1, Value::Null);
            }
            items.get_mut(index)
        }
    }
}
