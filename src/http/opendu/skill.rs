//! `SKILL`: which functions an utterance triggers.
//!
//! - Each requested function is an element, in the order of the utterance, with the part that asks for it: the client
//!   sends that part back in later questions.
//! - Of functions that fit equally well, only the first is an element: the client acts on every element.
//! - An utterance that means nothing gives one element without an owner, never an empty list: the client then tries its
//!   expectations.
//! - The client drops an element that has a negative exemplar. So one is shown only where it was decisive: nothing was
//!   triggered, and it is the nearest exemplar of its function.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Ref, RefOr, Schema, schema::ArrayBuilder},
};

use super::{
    super::{ApiError, AppState},
    limits::{self, Candidates},
};
use crate::{
    answer::FunctionCall,
    conversation::Pending,
    module::{FunctionId, Module, ModuleName, OwnerMode},
    retrieve::{Candidate, DocumentSource, Evidence},
    shares::Owner,
    understand::{AskedItem, Expected, Frame, Outcome, Turn, TurnRequest},
};

/// Most retrieved functions that are shown where nothing was triggered.
const RETRIEVED: usize = 8;

/// The mode of these requests.
#[derive(Debug, Default, Deserialize, ToSchema)]
enum SkillMode {
    #[default]
    #[serde(rename = "SKILL")]
    Skill,
}

/// Which functions does the utterance trigger? Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct SkillRequest {
    #[serde(rename = "mode")]
    _mode: SkillMode,
    #[schema(required = true, value_type = String, min_length = 1, example = "i'd like to order some food")]
    utterance: Option<String>,
    /// Names of the functions that the client is just busy with.
    #[schema(example = json!(["me.test.FoodOrdering"]))]
    expected_frames: Option<Vec<String>>,
    /// The same of the older client, with the slots that it just asked for.
    expectations: Option<Vec<Expectation>>,
    /// What the client's own recognizers found: spans by slot label.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Vec<String>>>)]
    candidates: Option<Candidates>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Expectation {
    frame: Option<String>,
    slot: Option<String>,
}

/// Never empty: one element for each function, or one without an owner.
#[derive(Debug, Serialize)]
pub(in crate::http) struct SkillAnswer(Vec<SkillElement>);

/// Written by hand, because the attribute cannot set a minimum number of items.
impl PartialSchema for SkillAnswer {
    fn schema() -> RefOr<Schema> {
        let items = Ref::from_schema_name(SkillElement::name());
        let description = "Never empty: one element for each function, or one without an owner.";
        ArrayBuilder::new().items(items).min_items(Some(1)).description(Some(description)).build().into()
    }
}

impl ToSchema for SkillAnswer {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((SkillElement::name().into_owned(), SkillElement::schema()));
        SkillElement::schemas(schemas);
    }
}

/// A function that the utterance triggers, or none.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct SkillElement {
    /// The function's name; null if nothing was triggered.
    #[schema(required = true)]
    owner: Option<String>,
    /// The part of the utterance that asks for it; never empty.
    utterance: String,
    /// The exemplars that speak for it; where nothing was triggered, those that were nearest.
    evidence: Vec<SkillEvidence>,
    /// What is understood of the arguments so far; null if nothing was triggered.
    #[schema(required = true)]
    function_call: Option<FunctionCall>,
}

/// Each member in the spelling of either client.
#[derive(Debug, Serialize, ToSchema)]
struct SkillEvidence {
    /// `exemplar`, or `description` of a function that has none.
    #[serde(rename = "type")]
    kind: &'static str,
    owner: String,
    #[serde(rename = "ownerFrame")]
    owner_frame: String,
    /// As its author wrote it, with slot labels in `<...>`.
    template: String,
    /// `Negative` for a negative exemplar.
    #[schema(required = true)]
    label: Option<String>,
    #[schema(required = true)]
    context_frame: Option<String>,
    #[serde(rename = "contextFrame")]
    #[schema(required = true)]
    context_frame_camel: Option<String>,
    #[schema(required = true)]
    context_slot: Option<String>,
    #[serde(rename = "contextSlot")]
    #[schema(required = true)]
    context_slot_camel: Option<String>,
}

pub(super) async fn answer(
    app: &AppState,
    name: &ModuleName,
    request: SkillRequest,
    owner: Owner,
) -> Result<SkillAnswer, ApiError> {
    let utterance = super::utterance(request.utterance, app)?;
    let frames = request.expected_frames.unwrap_or_default();
    let expectations = request.expectations.unwrap_or_default();
    limits::count("expectedFrames", frames.len())?;
    limits::count("expectations", expectations.len())?;
    let mut asked: Vec<AskedItem> = frames.into_iter().map(|frame| AskedItem { frame, slot: None }).collect();
    asked
        .extend(expectations.into_iter().map(|one| AskedItem { frame: one.frame.unwrap_or_default(), slot: one.slot }));
    for one in &asked {
        limits::name("expectedFrames", &one.frame)?;
        limits::name("expectations", one.slot.as_deref().unwrap_or_default())?;
    }
    let hints = limits::hints(request.candidates)?;
    let snapshot = app.module(name).await?;
    let module = &snapshot.module;
    let expected = Expected::named(module, asked);
    let request = TurnRequest { utterance, expected, hints, owner, ..TurnRequest::default() };
    let turn = app.understander.turn(&snapshot, &request).await.map_err(|error| ApiError::of_turn(&error, false))?;
    app.metrics.turn(&module.name, &turn);
    Ok(SkillAnswer(elements(module, &request.utterance, &turn)))
}

fn elements(module: &Module, said: &str, turn: &Turn) -> Vec<SkillElement> {
    let tied = match &turn.outcome {
        Outcome::Ask(question) => matches!(question.about, Pending::Tie { .. }),
        Outcome::Call(_) => false,
        Outcome::NoMatch | Outcome::Done { .. } | Outcome::Cancelled { .. } | Outcome::Handoff { .. } => {
            return vec![nothing(module, said, turn)];
        }
    };
    let frames = if tied { &turn.frames[..turn.frames.len().min(1)] } else { &turn.frames[..] };
    let elements: Vec<SkillElement> = frames.iter().map(|frame| triggered(module, said, turn, frame)).collect();
    if elements.is_empty() { vec![nothing(module, said, turn)] } else { elements }
}

fn triggered(module: &Module, said: &str, turn: &Turn, frame: &Frame) -> SkillElement {
    let of_segment = turn.trace.segments.iter().filter(|segment| segment.span == frame.segment);
    let mut candidates = of_segment.flat_map(|segment| &segment.candidates).chain(&turn.trace.candidates);
    let candidate = candidates.find(|candidate| candidate.function == frame.function);
    let found = candidate.into_iter().flat_map(|candidate| &candidate.evidence).filter(|found| !is_negative(found));
    let segment: String = said.chars().skip(frame.segment.start).take(frame.segment.len()).collect();
    let segment = segment.trim();
    SkillElement {
        owner: Some(module.function(frame.function).name.clone()),
        utterance: if segment.is_empty() { said.to_owned() } else { segment.to_owned() },
        evidence: shown(module, found.map(|found| (frame.function, found))),
        function_call: Some(FunctionCall {
            name: module.function(frame.function).name.clone(),
            arguments: Value::Object(arguments(frame)).to_string(),
        }),
    }
}

fn nothing(module: &Module, said: &str, turn: &Turn) -> SkillElement {
    let mut found: Vec<(FunctionId, &Evidence)> = Vec::new();
    for candidate in &turn.trace.candidates {
        let evidence = candidate.evidence.iter().filter(|found| !is_negative(found) || decided(candidate, found));
        found.extend(evidence.map(|found| (candidate.function, found)));
    }
    found.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
    // It decided only if nothing else is nearer.
    if found.first().is_some_and(|(_, nearest)| !is_negative(nearest)) {
        found.retain(|(_, found)| !is_negative(found));
    }
    found.truncate(RETRIEVED);
    SkillElement {
        owner: None,
        utterance: said.to_owned(),
        evidence: shown(module, found.into_iter()),
        function_call: None,
    }
}

const fn is_negative(found: &Evidence) -> bool {
    matches!(found.source, DocumentSource::Exemplar { mode: OwnerMode::Negative, .. })
}

/// True if this negative exemplar reduced the score of its function to zero.
fn decided(candidate: &Candidate, found: &Evidence) -> bool {
    candidate.score <= 0.0 && candidate.evidence.first() == Some(found)
}

/// Exemplars in order; for functions that have none, their descriptions.
fn shown<'a>(module: &Module, found: impl Iterator<Item = (FunctionId, &'a Evidence)>) -> Vec<SkillEvidence> {
    let items = found.filter_map(|(id, found)| {
        let function = module.function(id);
        let name = function.name.clone();
        let item = |kind, template: &str, label, frame: &Option<String>, slot: &Option<String>| SkillEvidence {
            kind,
            owner: name.clone(),
            owner_frame: name.clone(),
            template: template.to_owned(),
            label,
            context_frame: frame.clone(),
            context_frame_camel: frame.clone(),
            context_slot: slot.clone(),
            context_slot_camel: slot.clone(),
        };
        match found.source {
            DocumentSource::Exemplar { id, mode } => {
                let exemplar = &function.exemplars[id.index()];
                let negative = (mode == OwnerMode::Negative).then(|| "Negative".to_owned());
                let label = negative.or_else(|| exemplar.label.clone());
                let (frame, slot) = (&exemplar.context_frame, &exemplar.context_slot);
                Some(item("exemplar", &exemplar.template, label, frame, slot))
            }
            DocumentSource::Description if function.exemplars.is_empty() => {
                Some(item("description", &function.description, None, &None, &None))
            }
            DocumentSource::Description => None,
        }
    });
    items.collect()
}

/// The values of a frame at their places, whether or not it is complete.
fn arguments(frame: &Frame) -> Map<String, Value> {
    let mut root = Value::Object(Map::new());
    for slot in &frame.slots {
        put(&mut root, &slot.pointer, slot.value.clone());
    }
    match root {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// Puts a value at a JSON pointer and creates missing parents; an index past the end appends an item.
fn put(root: &mut Value, pointer: &str, value: Value) {
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let mut place = root;
    for (at, step) in steps.iter().enumerate() {
        let is_index = |step: &String| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        let next = match place {
            Value::Array(items) => {
                let index = step.parse::<usize>().unwrap_or(items.len()).min(items.len());
                if index == items.len() {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            Value::Object(members) => members.entry(step.clone()).or_insert(Value::Null),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
        };
        if next.is_null() {
            *next = match steps.get(at + 1) {
                Some(below) if is_index(below) => Value::Array(Vec::new()),
                Some(_) => Value::Object(Map::new()),
                None => Value::Null,
            };
        }
        place = next;
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_find_their_places() {
        let mut root = json!({});
        for (pointer, value) in [
            ("/dishes/0/name", json!("pizza")),
            ("/dishes/1/name", json!("coke")),
            ("/dishes/0/extras/0", json!("olives")),
            ("/a~1b", json!(1)),
            ("/dishes/9/name", json!("far")),
            ("/a~1b/under", json!("lost")),
        ] {
            put(&mut root, pointer, value);
        }
        assert_eq!(
            root,
            json!({"a/b": 1, "dishes": [{"name": "pizza", "extras": ["olives"]}, {"name": "coke"}, {"name": "far"}]})
        );
    }
}
