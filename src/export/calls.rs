//! Conversations in the format of function calling: what the person says, the functions on offer, and the correct call,
//! question or refusal.

use serde_json::{Map, Value, json};

use super::{TrainingSentence, near::SentenceVectors};
use crate::{
    call::{Verdict, Violation, ViolationKind},
    module::{FunctionId, Module, OwnerMode, SlotId},
    sample::Sampler,
};

/// One in this many sentences is also written without the right function on offer.
const WITHOUT: usize = 5;

const SYSTEM: &str = "You turn what a person says into a function call. Call the one function that was asked for, with \
                      only what was said. Ask for what is required and missing. If no function fits, say so.";
const NONE_FITS: &str = "None of the available functions does that.";

pub(super) fn records(
    module: &Module,
    sampler: &Sampler<'_>,
    lines: &[TrainingSentence],
    near: &SentenceVectors,
    negatives: usize,
    random: &mut fastrand::Rng,
) -> Vec<Value> {
    let mut records = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let others: Vec<FunctionId> = near.functions(index, line.function).into_iter().take(negatives).collect();
        if line.is_negative {
            let offered = offered(&others, Some(line.function), random);
            records.push(record(module, &line.text, &offered, &none_fits()));
            continue;
        }
        if let Some(answer) = answer(module, sampler, line) {
            let offered = offered(&others, Some(line.function), random);
            records.push(record(module, &line.text, &offered, &answer));
        }
        // The same words without the right function: a model must learn that the right one may be missing.
        if index % WITHOUT == WITHOUT - 1 && !others.is_empty() && !means_another(module, line) {
            let offered = offered(&others, None, random);
            records.push(record(module, &line.text, &offered, &none_fits()));
        }
    }
    records
}

/// True if another function has exactly this sentence as an exemplar.
fn means_another(module: &Module, line: &TrainingSentence) -> bool {
    module.function_ids().filter(|id| *id != line.function).any(|id| {
        let mut exemplars = module.function(id).exemplars.iter();
        exemplars.any(|exemplar| exemplar.mode != OwnerMode::Negative && exemplar.template == line.text)
    })
}

/// The functions on offer, in random order.
fn offered(others: &[FunctionId], right: Option<FunctionId>, random: &mut fastrand::Rng) -> Vec<FunctionId> {
    let mut offered: Vec<FunctionId> = others.iter().copied().chain(right).collect();
    random.shuffle(&mut offered);
    offered
}

/// The call, or the question for a missing value. `None` if the validator finds anything else wrong.
fn answer(module: &Module, sampler: &Sampler<'_>, line: &TrainingSentence) -> Option<Value> {
    match sampler.judge(line.function, &line.text, line.arguments.clone()) {
        Verdict::Valid { call, .. } => {
            let name = &module.function(line.function).wire_name;
            Some(called(name, call.arguments()))
        }
        Verdict::Invalid { violations, .. } => {
            let is_question = violations.iter().all(|violation| violation.kind == ViolationKind::Missing);
            let question = question(module, line.function, violations.first()?);
            is_question.then(|| json!({"role": "assistant", "content": question}))
        }
    }
}

fn called(name: &str, arguments: &Map<String, Value>) -> Value {
    let arguments = Value::Object(arguments.clone()).to_string();
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}]})
}

fn none_fits() -> Value {
    json!({"role": "assistant", "content": NONE_FITS})
}

/// The author's question for the slot, else the slot's description or name.
fn question(module: &Module, id: FunctionId, missing: &Violation) -> String {
    let function = module.function(id);
    let path = missing.path.trim_start_matches('/').replace('/', ".");
    let slot: Option<SlotId> =
        function.slot_ids().find(|id| function.slot(*id).path.to_string().replace("[]", "") == path);
    let slot = slot.map(|id| function.slot(id));
    if let Some(question) = slot.and_then(|slot| slot.question.as_ref()?.in_language(module.language())) {
        return question.to_owned();
    }
    let named =
        slot.map(|slot| slot.description.as_str()).filter(|text| !text.is_empty()).map_or(path.clone(), str::to_owned);
    format!("I need one more thing: {}", named.replace('_', " "))
}

fn record(module: &Module, said: &str, offered: &[FunctionId], answer: &Value) -> Value {
    let tools: Vec<Value> = offered
        .iter()
        .map(|id| {
            let function = module.function(*id);
            json!({"type": "function", "function": {
                "name": function.wire_name, "description": function.description, "parameters": function.parameters}})
        })
        .collect();
    let mut system = SYSTEM.to_owned();
    if let Some(instructions) = &module.settings.instructions {
        system.push('\n');
        system.push_str(instructions.trim());
    }
    json!({"messages": [{"role": "system", "content": system}, {"role": "user", "content": said}, answer], "tools": tools})
}
