//! What a model server is told: Jinja templates, embedded, each of which a module may replace.

use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::strategy::Situation;
use crate::{
    llm::{Message, ToolCall},
    module::{Exemplar, ExemplarId, Function, FunctionId, Module, OwnerMode, Piece, RecognizerKind, Slot},
    retrieve::Source,
};

/// The rules, first in the conversation and the same for every utterance of a module, so that servers can cache it.
const SYSTEM: &str = include_str!("../../config/prompts/system.jinja");
/// The utterance with what we recognized in it.
const USER: &str = include_str!("../../config/prompts/user.jinja");
/// What was wrong with a call.
const RETRY: &str = include_str!("../../config/prompts/retry.jinja");

#[derive(Debug, thiserror::Error)]
#[error("prompt `{name}`: {source}")]
pub(super) struct PromptError {
    name: &'static str,
    source: minijinja::Error,
}

fn render(module: &Module, name: &'static str, embedded: &str, context: Value) -> Result<String, PromptError> {
    let template = module.prompts.get(name).map_or(embedded, String::as_str);
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    // A template of a module's author must not keep us busy for ever.
    environment.set_recursion_limit(32);
    environment
        .render_str(template, context)
        .map(|text| text.trim().to_owned())
        .map_err(|source| PromptError { name, source })
}

pub(super) fn system(situation: &Situation<'_>) -> Result<String, PromptError> {
    let module = &situation.snapshot.module;
    render(
        module,
        "system",
        SYSTEM,
        context! {
            instructions => module.settings.instructions.as_deref(),
            today => situation.now.strftime("%A, %Y-%m-%d").to_string(),
            time_zone => situation.now.time_zone().iana_name().unwrap_or("UTC"),
        },
    )
}

#[derive(Serialize)]
struct Hint<'a> {
    text: &'a str,
    value: String,
    recognizer: &'a str,
}

pub(super) fn user(situation: &Situation<'_>) -> Result<String, PromptError> {
    let module = &situation.snapshot.module;
    let mut hints: Vec<Hint<'_>> = Vec::new();
    for mention in situation.mentions.iter().filter(|mention| mention.score >= 0.5) {
        let hint = Hint {
            text: &mention.text,
            value: mention.value.to_string(),
            recognizer: &module.recognizer(mention.recognizer).name,
        };
        if !hints.iter().any(|other| other.text == hint.text && other.value == hint.value) {
            hints.push(hint);
        }
    }
    render(
        module,
        "user",
        USER,
        context! { utterance => situation.utterance.text(), hints => Value::from(Serde(&hints)) },
    )
}

pub(super) fn retry(module: &Module, violations: &[crate::call::Violation]) -> Result<String, PromptError> {
    render(module, "retry", RETRY, context! { violations => Value::from(Serde(violations)) })
}

/// Exemplars as conversations: what a person said, and the call that it meant. The nearest exemplar comes last, where
/// models heed it most.
pub(super) fn shots(situation: &Situation<'_>, limit: usize) -> Vec<Message> {
    let module = &situation.snapshot.module;
    let mut nearest: Vec<(f32, FunctionId, ExemplarId)> = situation
        .candidates
        .iter()
        .flat_map(|candidate| {
            candidate.evidence.iter().filter_map(|evidence| match evidence.source {
                Source::Exemplar { id, mode: OwnerMode::Normal | OwnerMode::Extended } => {
                    Some((evidence.score, candidate.function, id))
                }
                Source::Exemplar { mode: OwnerMode::Negative, .. } | Source::Description => None,
            })
        })
        .collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let mut shots: Vec<(String, ToolCall)> = Vec::new();
    for (_, id, exemplar) in nearest {
        if shots.len() == limit {
            break;
        }
        let function = module.function(id);
        if let Some((said, arguments)) = exemplify(module, function, &function.exemplars[exemplar.index()]) {
            let call = ToolCall {
                id: format!("call_{}", shots.len()),
                name: function.wire_name.clone(),
                arguments: Json::Object(arguments).to_string(),
            };
            shots.push((said, call));
        }
    }
    shots.reverse();
    shots
        .into_iter()
        .flat_map(|(said, call)| {
            let id = call.id.clone();
            [
                Message::User(said),
                Message::Assistant { content: None, tool_calls: vec![call] },
                Message::Tool { id, content: "ok".to_owned() },
            ]
        })
        .collect()
}

/// An utterance and its arguments for an exemplar: the author's own where they are given, else its template with an
/// example value in each slot. `None` if a slot has no example: a placeholder in a call would teach the model to make one.
fn exemplify(module: &Module, function: &Function, exemplar: &Exemplar) -> Option<(String, Map<String, Json>)> {
    if let (Some(utterance), Some(Json::Object(arguments))) = (&exemplar.utterance, &exemplar.arguments) {
        return Some((utterance.clone(), arguments.clone()));
    }
    let mut arguments = Map::new();
    let mut text = String::new();
    for piece in &exemplar.pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Slot { slot, .. } => {
                let slot = function.slot((*slot)?);
                let [crate::module::Step::Key(key)] = slot.path.0.as_slice() else { return None };
                let (said, value) = example(module, slot)?;
                text.push_str(&said);
                arguments.insert(key.to_string(), value);
            }
        }
    }
    Some((text, arguments))
}

fn example(module: &Module, slot: &Slot) -> Option<(String, Json)> {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(choice) = slot.choices.first() {
        return Some((text(choice), choice.clone()));
    }
    slot.recognizers.iter().find_map(|id| match &module.recognizer(*id).kind {
        RecognizerKind::List(list) => {
            let instance = list.instances.first()?;
            let said = instance.expressions.first().cloned().unwrap_or_else(|| text(&instance.label));
            Some((said, instance.label.clone()))
        }
        RecognizerKind::Builtin(crate::module::Builtin::Integer | crate::module::Builtin::Number) => {
            Some(("3".to_owned(), 3.into()))
        }
        RecognizerKind::Builtin(_) | RecognizerKind::Pattern(_) => None,
    })
}
