//! `SLOT`: the values of the named slots, verbatim.
//!
//! It answers as far as possible. If the module does not have the frame, or the frame does not have the slot, the slot
//! is looked up by its label: first in the functions that have such a slot, then among the recognizers, and last in
//! what the client's own recognizers found. A client looks up each value in the text it sent, so values are always
//! words of the utterance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{ApiError, AppState},
    limits::{self, Candidates},
};
use crate::{
    call::SlotValue,
    module::{FunctionId, Module, ModuleName, RecognizerId, SlotPath, alike, squeeze},
    recognize::certainty::Certainty,
    shares::Owner,
    snapshot::Snapshot,
    text::Span,
    understand::{AskedItem, Expected, Hint, Trace, Turn, TurnRequest},
};

/// Minimum certainty of words that no recognizer found for a slot that was not asked for.
const LEAST: Certainty = Certainty::Possible;

/// The mode of these requests.
#[derive(Debug, Default, Deserialize, ToSchema)]
enum SlotMode {
    #[default]
    #[serde(rename = "SLOT")]
    Slot,
}

/// What are the values of these slots? Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct SlotRequest {
    #[serde(rename = "mode")]
    _mode: SlotMode,
    #[schema(required = true, value_type = String, min_length = 1, example = "order two pizzas")]
    utterance: Option<String>,
    /// The function whose slots they are; it need not be one of the module's.
    #[schema(example = "me.test.FoodOrdering")]
    target_frame: Option<String>,
    /// Labels, or of the older client `{"name": ..., "description": ...}`.
    slots: Option<Vec<SlotName>>,
    /// What the client's own recognizers found: spans by slot label.
    #[schema(value_type = Option<BTreeMap<String, Vec<String>>>)]
    candidates: Option<Candidates>,
    /// Labels of the slots that were just asked for.
    expected_slots: Option<Vec<SlotName>>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected the label of a slot, or {\"name\": ...}")]
enum SlotName {
    Label(String),
    Slot { name: String },
}

impl SlotName {
    fn label(self) -> String {
        match self {
            Self::Label(label) | Self::Slot { name: label } => label,
        }
    }
}

/// By the labels that were asked for; what was not said is absent.
#[derive(Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(in crate::http) struct SlotAnswer(BTreeMap<String, SlotValues>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(in crate::http) struct SlotValues {
    /// Words of the utterance, in its order; never empty.
    values: Vec<String>,
    operator: SlotOperator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
enum SlotOperator {
    #[serde(rename = "==")]
    Is,
    /// The values are ruled out: "no spice".
    #[serde(rename = "!=")]
    IsNot,
}

pub(super) async fn answer(
    app: &AppState,
    name: &ModuleName,
    request: SlotRequest,
    owner: Owner,
) -> Result<SlotAnswer, ApiError> {
    let utterance = super::utterance(request.utterance, app)?;
    let labels = labels("slots", request.slots)?;
    let expected = self::labels("expectedSlots", request.expected_slots)?;
    let frame = request.target_frame.unwrap_or_default();
    limits::name("targetFrame", &frame)?;
    let hints = limits::hints(request.candidates)?;
    let snapshot = app.module(name).await?;
    let module = &snapshot.module;
    let Some(function) = target(module, &frame, &labels) else {
        let trace = recognized(app, &snapshot, &utterance, owner).await?;
        let said = KnownUtterance { snapshot: &snapshot, utterance: &utterance, hints: &hints, trace: &trace };
        let found = labels.iter().filter_map(|label| Some((label.clone(), said.loose(label, &[])?)));
        return Ok(SlotAnswer(found.collect()));
    };
    let asked =
        expected.into_iter().map(|slot| AskedItem { frame: module.function(function).name.clone(), slot: Some(slot) });
    let expected = Expected::named(module, asked.collect());
    let request = TurnRequest { utterance, given: Some(function), expected, hints, owner, ..TurnRequest::default() };
    let turn = app.understander.turn(&snapshot, &request).await.map_err(|error| ApiError::of_turn(&error, false))?;
    app.metrics.turn(&module.name, &turn);
    let said = KnownUtterance {
        snapshot: &snapshot,
        utterance: &request.utterance,
        hints: &request.hints,
        trace: &turn.trace,
    };
    Ok(said.values(function, &labels, &request.expected, &turn))
}

fn labels(field: &str, named: Option<Vec<SlotName>>) -> Result<Vec<String>, ApiError> {
    let labels: Vec<String> = named.unwrap_or_default().into_iter().map(SlotName::label).collect();
    limits::count(field, labels.len())?;
    labels.iter().try_for_each(|label| limits::name(field, label))?;
    Ok(labels)
}

/// The function that the frame means; for an unknown frame, the only function that has all of the slots.
fn target(module: &Module, frame: &str, labels: &[String]) -> Option<FunctionId> {
    let has_all = |id: &FunctionId| {
        !labels.is_empty() && labels.iter().all(|label| module.function(*id).slot_labelled(label).is_some())
    };
    let mut fitting = module.function_ids().filter(has_all);
    module.function_alike(frame).or_else(|| fitting.next().filter(|_| fitting.next().is_none()))
}

/// What the recognizers find, without a decision.
async fn recognized(app: &AppState, snapshot: &Snapshot, utterance: &str, owner: Owner) -> Result<Trace, ApiError> {
    let request = TurnRequest { utterance: utterance.to_owned(), owner, ..TurnRequest::default() };
    let found = app.understander.retrieve(snapshot, &request, 1).await;
    found.map_err(|error| ApiError::of_turn(&error, false))
}

/// What is known of the utterance.
struct KnownUtterance<'a> {
    snapshot: &'a Snapshot,
    utterance: &'a str,
    hints: &'a [Hint],
    trace: &'a Trace,
}

impl KnownUtterance<'_> {
    fn values(&self, function: FunctionId, labels: &[String], expected: &Expected, turn: &Turn) -> SlotAnswer {
        let definition = self.snapshot.module.function(function);
        let frame = turn.frames.iter().find(|frame| frame.function == function);
        let mut answer = BTreeMap::new();
        let mut taken: Vec<Span> = Vec::new();
        let mut unknown: Vec<&String> = Vec::new();
        for label in labels {
            let Some(slot) = definition.slot_labelled(label) else {
                unknown.push(label);
                continue;
            };
            let path = &definition.slot(slot).path;
            let Some(frame) = frame else { continue };
            // A request for a single slot has asked for it.
            let is_expected = labels.len() == 1 || expected.slots_of(function).contains(&slot);
            let is_enough = |confidence: f32| is_expected || confidence >= LEAST.score();
            let is_clear = |value: &SlotValue| value.recognizer.is_some() || is_enough(value.confidence);
            let spans_of = |values: &[SlotValue]| -> Vec<Span> {
                let is_own = |value: &&SlotValue| definition.slot_of(&value.pointer) == Some(slot) && is_clear(value);
                let own = values.iter().filter(is_own);
                own.filter_map(|value| value.span).collect()
            };
            let mut spans = spans_of(&frame.slots);
            // An invalid value was still said.
            for violation in frame.invalid.iter().filter(|violation| is_at(path, &violation.path)) {
                let recognizers = &definition.slot(slot).recognizers;
                let found = self.trace.mentions.iter().find(|mention| {
                    let is_it = Some(&mention.value) == violation.found.as_ref();
                    // So was an ambiguous one, such as an hour without am or pm.
                    recognizers.contains(&mention.recognizer) && (is_it || violation.readings.contains(&mention.value))
                });
                spans.extend(found.map(|mention| mention.span));
            }
            let excluded = spans_of(&frame.excluded);
            taken.extend(spans.iter().chain(&excluded));
            let values = match (self.verbatim(spans), self.verbatim(excluded)) {
                (values, _) if !values.is_empty() => SlotValues { values, operator: SlotOperator::Is },
                (_, values) if !values.is_empty() => SlotValues { values, operator: SlotOperator::IsNot },
                _ => continue,
            };
            answer.insert(label.clone(), values);
        }
        for label in unknown {
            if let Some(values) = self.loose(label, &taken) {
                answer.insert(label.clone(), values);
            }
        }
        SlotAnswer(answer)
    }

    /// Values for a slot of which only the label is known, outside the spans already `taken`.
    fn loose(&self, label: &str, taken: &[Span]) -> Option<SlotValues> {
        let recognizers = self.recognizers(label);
        let mentioned = self
            .trace
            .mentions
            .iter()
            .filter(|mention| recognizers.contains(&mention.recognizer) && mention.is_likely())
            .map(|mention| mention.span);
        let mut spans: Vec<Span> = mentioned.collect();
        if spans.is_empty() {
            let utterance = crate::text::Utterance::new(self.utterance);
            let hints = self.hints.iter().filter(|hint| squeeze(&hint.label) == squeeze(label));
            spans = hints.flat_map(|hint| hint.spans(&utterance)).collect();
        }
        spans.retain(|span| !taken.iter().any(|other| other.overlaps(*span)));
        let is_ruled_out = |span: &Span| self.trace.negations.iter().any(|negation| negation.scope.contains(*span));
        let (excluded, meant): (Vec<Span>, Vec<Span>) = spans.into_iter().partition(is_ruled_out);
        let operator = if meant.is_empty() { SlotOperator::IsNot } else { SlotOperator::Is };
        let values = self.verbatim(if meant.is_empty() { excluded } else { meant });
        (!values.is_empty()).then_some(SlotValues { values, operator })
    }

    /// The recognizers of all slots with this label, or else the recognizer with this name.
    fn recognizers(&self, label: &str) -> Vec<RecognizerId> {
        let module = &self.snapshot.module;
        let slots = module.functions.iter().filter_map(|function| Some(function.slot(function.slot_labelled(label)?)));
        let mut found: Vec<RecognizerId> = slots.flat_map(|slot| slot.recognizers.iter().copied()).collect();
        if found.is_empty() {
            let named = module.recognizers.iter().position(|one| alike(&one.name, label));
            found.extend(named.map(RecognizerId::from_index));
        }
        found
    }

    /// The words at these spans as they were sent, in order, each span once.
    fn verbatim(&self, mut spans: Vec<Span>) -> Vec<String> {
        spans.sort_unstable();
        spans.dedup();
        let words = |span: Span| self.utterance.chars().skip(span.start).take(span.len()).collect::<String>();
        spans.into_iter().map(words).filter(|words| !words.trim().is_empty()).collect()
    }
}

/// True if a JSON pointer leads to a value of this slot.
fn is_at(path: &SlotPath, pointer: &str) -> bool {
    let keys = |text: &str| -> String {
        let steps = text.split(['/', '.']).filter(|step| !step.bytes().all(|byte| byte.is_ascii_digit()));
        steps.map(|step| step.trim_end_matches("[]")).collect::<Vec<_>>().join(".")
    };
    keys(&path.to_string()) == keys(pointer)
}
