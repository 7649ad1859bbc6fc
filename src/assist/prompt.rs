//! What a model server is told: messages from Jinja templates, each of which a module may replace.
//!
//! # For authors of templates
//!
//! `prompts/NAME.jinja` of a module replaces the embedded template of that name (`config/prompts/`), and only that one;
//! `{% include "NAME" %}` puts the embedded one in. `uptake check` reports one that does not parse; one that fails when
//! it is rendered, or that runs or writes without end, is an error of the turn. What is not there prints as nothing.
//!
//! | template | of the strategy | what it may use |
//! |---|---|---|
//! | `system` | `tools` | the common variables |
//! | `structured` | `structured` | `functions` |
//! | `choice` | `staged`, to detect in one question | `functions` |
//! | `each` | `staged`, to detect by a question for each candidate | `function` |
//! | `vote` | `staged`, to detect by exemplars | `example`: an exemplar, slots as `<label>` |
//! | `fill` | `staged`, to fill in one answer | `function` |
//! | `slot` | `staged`, to fill slot by slot | `function`; `slot`, with `path`, `description` and `schema` |
//! | `yes_no` | none: for replies to yes-or-no questions | `question` |
//! | `wording` | none: for other words of a question (`conversation.wording = "model"`) | `question` |
//! | `user` | all | `utterance`; `asked`: what was just asked for, in words, if anything was; `hints`, each with `text`, `value` (JSON), `recognizer` and `ruled_out`; `history`: what was said before, oldest first, each with `who` and `text` |
//! | `retry` | all | `violations`, each with `path`, `expected`, `kind` and, if there was one, `found` |
//!
//! A function has `name`, `description`, `parameters` (a JSON Schema) and `examples` (the few exemplars that are
//! nearest to the utterance). All but `retry` also know the common variables: `instructions` (of `module.toml`, then of
//! the request), `today` (`Friday, 2026-11-20`), `time_zone`, `several`: whether the utterance may ask for several
//! things, and `doubtful`: whether it may as well ask for one.
//!
//! What others rely on, and an own template must keep: the shape of the answer that it asks for; the utterance on the
//! first line of `user`.
//!
//! Servers cache the beginning of a prompt that they saw before. So a template says first what is the same for all
//! utterances of a module, then the day, then the candidates (in the order of the schema), then what depends on the
//! utterance; exemplars as turns follow, and the utterance comes last.

use std::borrow::Cow;

use minijinja::{Value, context, value::Serde};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::{
    assist::{
        brief::Brief,
        control_tokens::neutral,
        schema,
        template::{PromptError, render},
    },
    call::{Violation, ViolationKind},
    llm::{Message, ToolCall},
    module::{Exemplar, ExemplarId, Function, FunctionId, Module, OwnerMode, RecognizerKind, Slot, TemplatePiece},
    retrieve::{Candidate, DocumentSource},
};

/// Number of exemplars that describe a function where they are not turns of the conversation.
const EXAMPLES: usize = 3;

/// What a template can say about a function.
#[derive(Serialize)]
struct PromptFunction<'a> {
    name: &'a str,
    description: Cow<'a, str>,
    parameters: Cow<'a, Json>,
    /// The exemplars nearest to the utterance.
    examples: Vec<String>,
}

impl<'a> PromptFunction<'a> {
    fn new(brief: &Brief<'a>, id: FunctionId) -> Self {
        let function = brief.knowledge.module.function(id);
        let candidate = brief.found().into_iter().find(|candidate| candidate.function == id);
        let examples = candidate.into_iter().flat_map(exemplars).take(EXAMPLES);
        Self {
            name: &function.wire_name,
            description: schema::description(&function.description),
            parameters: schema::fitted(&function.parameters),
            examples: examples.map(|(_, exemplar)| function.exemplars[exemplar.index()].template.clone()).collect(),
        }
    }
}

/// The positive exemplars that support a candidate, best first, with their scores.
fn exemplars(candidate: &Candidate) -> impl Iterator<Item = (f32, ExemplarId)> + '_ {
    candidate.evidence.iter().filter_map(|evidence| match evidence.source {
        DocumentSource::Exemplar { id, mode: OwnerMode::Normal | OwnerMode::Extended } => Some((evidence.score, id)),
        DocumentSource::Exemplar { mode: OwnerMode::Negative, .. } | DocumentSource::Description => None,
    })
}

/// The common variables of all templates, and `more`.
fn common(brief: &Brief<'_>, more: Value) -> Value {
    context! {
        instructions => brief.instructions.as_deref(),
        today => brief.analysis.now.strftime("%A, %Y-%m-%d").to_string(),
        time_zone => brief.analysis.now.time_zone().iana_name().unwrap_or("UTC"),
        several => brief.may_be_several(),
        doubtful => brief.is_doubtful,
        ..more
    }
}

fn system(brief: &Brief<'_>, name: &'static str, more: Value) -> Result<Message, PromptError> {
    render(&brief.snapshot.module, name, common(brief, more)).map(Message::System)
}

/// Messages for native function calling: the rules, the nearest exemplars as turns, the utterance.
pub(crate) fn calling(brief: &Brief<'_>) -> Result<Vec<Message>, PromptError> {
    let shots = shots(brief).into_iter().enumerate().flat_map(|(index, (said, name, arguments))| {
        let id = format!("call_{index}");
        let arguments = neutral(&Json::Object(arguments).to_string()).into_owned();
        let call = ToolCall { id: id.clone(), name: name.to_owned(), arguments };
        [
            Message::User(said),
            Message::Assistant { content: None, tool_calls: vec![call] },
            Message::Tool { id, content: "ok".to_owned() },
        ]
    });
    let mut messages = vec![system(brief, "system", Value::UNDEFINED)?];
    messages.extend(shots);
    messages.push(user(brief)?);
    Ok(messages)
}

/// Messages for an answer in JSON: the rules with the functions, the nearest exemplars as turns, the utterance.
pub(crate) fn structured(brief: &Brief<'_>) -> Result<Vec<Message>, PromptError> {
    let several = brief.may_be_several();
    let shots = shots(brief).into_iter().flat_map(|(said, name, arguments)| {
        let call = json!({ (schema::FUNCTION): name, (schema::ARGUMENTS): arguments });
        let answer = if several { json!({"calls": [call]}) } else { json!({ "call": call }) };
        let answer = neutral(&answer.to_string()).into_owned();
        [Message::User(said), Message::Assistant { content: Some(answer), tool_calls: Vec::new() }]
    });
    let functions: Vec<PromptFunction<'_>> =
        brief.shown().into_iter().map(|id| PromptFunction::new(brief, id)).collect();
    let functions = context! { functions => Value::from(Serde(&functions)) };
    let mut messages = vec![system(brief, "structured", functions)?];
    messages.extend(shots);
    messages.push(user(brief)?);
    Ok(messages)
}

/// Messages that ask which of the candidates is meant.
pub(crate) fn choice(brief: &Brief<'_>) -> Result<Vec<Message>, PromptError> {
    let functions: Vec<PromptFunction<'_>> =
        brief.shown().into_iter().map(|id| PromptFunction::new(brief, id)).collect();
    let functions = context! { functions => Value::from(Serde(&functions)) };
    Ok(vec![system(brief, "choice", functions)?, user(brief)?])
}

/// Messages that ask whether this function is meant.
pub(crate) fn each(brief: &Brief<'_>, function: FunctionId) -> Result<Vec<Message>, PromptError> {
    let shown = context! { function => Value::from(Serde(&PromptFunction::new(brief, function))) };
    Ok(vec![system(brief, "each", shown)?, user(brief)?])
}

/// Messages that ask whether this exemplar means the same.
pub(crate) fn vote(brief: &Brief<'_>, exemplar: &Exemplar) -> Result<Vec<Message>, PromptError> {
    let example = context! { example => exemplar.template.as_str() };
    Ok(vec![system(brief, "vote", example)?, user(brief)?])
}

/// Messages that ask for the arguments of this function.
pub(crate) fn fill(brief: &Brief<'_>, function: FunctionId) -> Result<Vec<Message>, PromptError> {
    let shown = context! { function => Value::from(Serde(&PromptFunction::new(brief, function))) };
    Ok(vec![system(brief, "fill", shown)?, user(brief)?])
}

/// Messages that ask for the value of this slot.
pub(crate) fn slot(brief: &Brief<'_>, function: FunctionId, slot: &Slot) -> Result<Vec<Message>, PromptError> {
    let shown = context! {
        function => Value::from(Serde(&PromptFunction::new(brief, function))),
        slot => context! {
            path => slot.path.to_string(),
            description => slot.description.as_str(),
            schema => Value::from(Serde(&slot.schema)),
        },
    };
    Ok(vec![system(brief, "slot", shown)?, user(brief)?])
}

/// Messages that ask what a reply says to this question. The reply is the utterance.
pub(crate) fn yes_no(brief: &Brief<'_>, question: &str) -> Result<Vec<Message>, PromptError> {
    let asked = context! { question => question };
    Ok(vec![system(brief, "yes_no", asked)?, user(brief)?])
}

/// Messages that ask for other words for one of Uptake's questions, after the utterance.
pub(crate) fn wording(brief: &Brief<'_>, question: &str) -> Result<Vec<Message>, PromptError> {
    let asked = context! { question => question };
    Ok(vec![system(brief, "wording", asked)?, user(brief)?])
}

#[derive(Serialize)]
struct Hint<'a> {
    text: &'a str,
    value: String,
    recognizer: &'a str,
    /// The person ruled this value out.
    ruled_out: bool,
}

fn user(brief: &Brief<'_>) -> Result<Message, PromptError> {
    let module = &brief.snapshot.module;
    let mut hints: Vec<Hint<'_>> = Vec::new();
    for mention in brief.mentions().iter().filter(|mention| mention.is_likely()) {
        let hint = Hint {
            text: &mention.text,
            value: mention.value.to_string(),
            recognizer: &module.recognizer(mention.recognizer).name,
            ruled_out: brief.negations().iter().any(|negation| negation.scope.contains(mention.span)),
        };
        if !hints.iter().any(|other| other.text == hint.text && other.value == hint.value) {
            hints.push(hint);
        }
    }
    let said = context! {
        utterance => brief.utterance().text(),
        asked => brief.expected.in_words(module),
        hints => Value::from(Serde(&hints)),
        history => Value::from(Serde(&brief.before)),
    };
    render(module, "user", common(brief, said)).map(Message::User)
}

/// The message that says what was wrong with an answer.
pub(crate) fn retry(module: &Module, violations: &[Violation]) -> Result<String, PromptError> {
    // A value that is wrong is also missing once it is removed: the model is told only the first.
    let is_wrong = |path: &str| violations.iter().any(|one| one.path == path && one.kind != ViolationKind::Missing);
    let told: Vec<&Violation> =
        violations.iter().filter(|one| one.kind != ViolationKind::Missing || !is_wrong(&one.path)).collect();
    render(module, "retry", context! { violations => Value::from(Serde(&told)) })
}

/// Exemplars as what a person said and the call that it meant: utterance, name and arguments. The nearest comes last,
/// since models heed the last one most.
fn shots<'a>(brief: &Brief<'a>) -> Vec<(String, &'a str, Map<String, Json>)> {
    let module = &brief.snapshot.module;
    let limit = brief.extent.shots;
    let mut shots = Vec::new();
    for (_, id, exemplar) in nearest(brief) {
        if shots.len() == limit {
            break;
        }
        let function = module.function(id);
        if let Some((said, arguments)) = exemplify(module, function, &function.exemplars[exemplar.index()]) {
            shots.push((neutral(&said).into_owned(), function.wire_name.as_str(), arguments));
        }
    }
    shots.reverse();
    shots
}

/// The exemplars of all candidates, nearest first, with their scores.
pub(crate) fn nearest(brief: &Brief<'_>) -> Vec<(f32, FunctionId, ExemplarId)> {
    let mut nearest: Vec<(f32, FunctionId, ExemplarId)> = brief
        .found()
        .into_iter()
        .flat_map(|candidate| exemplars(candidate).map(|(score, id)| (score, candidate.function, id)))
        .collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    nearest
}

/// An utterance and its arguments for an exemplar: those that the author gives, else its template with an example value
/// in each slot. `None` if a slot has no example: a placeholder in a call would teach the model to write placeholders.
fn exemplify(module: &Module, function: &Function, exemplar: &Exemplar) -> Option<(String, Map<String, Json>)> {
    if let (Some(utterance), Some(Json::Object(arguments))) = (&exemplar.utterance, &exemplar.arguments) {
        return Some((utterance.clone(), arguments.clone()));
    }
    let mut arguments = Map::new();
    let mut text = String::new();
    for piece in &exemplar.pieces {
        match piece {
            TemplatePiece::Text(literal) => text.push_str(literal),
            TemplatePiece::Slot { slot, .. } => {
                let slot = function.slot((*slot)?);
                let [crate::module::PathStep::Key(key)] = slot.path.0.as_slice() else { return None };
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
