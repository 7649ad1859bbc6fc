//! Runs a dialogue as a conversation, turn by turn. Its state passes through JSON, as it does between a client's
//! requests.

use std::sync::Arc;

use serde_json::Value;

use super::{
    super::{EvalOptions, function_named},
    Dialogue, DialogueCounts, DialogueTurn, Dialogues, Difference, ScriptedReply, TranscriptTurn, WrongDialogue,
    check::{CheckedTurn, differences, summary, unknown},
};
use crate::{
    conversation::State,
    llm::{Capabilities, Server, Support, scripted::Scripted},
    module::{Module, settings::StrategyName},
    snapshot::Snapshot,
    understand::{TurnError, TurnRequest, Understander, request},
};

/// What prevents a dialogue from being run, and oddities in it: names that the module does not have, an invalid moment.
pub(in crate::eval) fn known(module: &Module, dialogue: &Dialogue) -> (Option<String>, Vec<String>) {
    let mut odd = Vec::new();
    for (index, turn) in dialogue.turns.iter().enumerate() {
        let (functions, slots) = unknown(module, &turn.expect);
        if let Some(name) = functions.first() {
            let problem = format!("turn {}: the module has no function `{name}`; the dialogue is not run", index + 1);
            return (Some(problem), odd);
        }
        odd.extend(slots.iter().map(|slot| format!("turn {}: no function has a slot `{slot}`", index + 1)));
    }
    let home = request::time_zone(module, "UTC");
    let moment = dialogue.now.as_deref().map(|now| request::moment(now, &home));
    (moment.and_then(Result::err).map(|error| format!("{error}; the dialogue is not run")), odd)
}

/// Runs a dialogue to its end, even after a wrong turn, and counts it.
///
/// A dialogue that contains the answers of a model server is run with these alone: turns with a reply use the strategy
/// `auto`, others run locally. A failing turn leaves the conversation unchanged.
///
/// # Errors
/// As [`super::super::evaluate`].
pub(in crate::eval) async fn run(
    understander: &Understander,
    snapshot: &Snapshot,
    dialogue: &Dialogue,
    options: &EvalOptions,
    into: &mut Dialogues,
) -> Result<(), TurnError> {
    let module = &snapshot.module;
    let mut state = State::new(&module.name);
    let mut so_far = Vec::new();
    let mut wrong = None;
    let mut counted = DialogueCounts { dialogues: 1, ..DialogueCounts::default() };
    for (index, turn) in dialogue.turns.iter().enumerate() {
        let request = request_for(module, dialogue, turn, options);
        let scripted = script(module, &turn.replies);
        let (answer, mut found) = if dialogue.is_scripted() {
            let alone = understander.with_servers(vec![server(&scripted)]);
            step(&alone, snapshot, &mut state, &request, turn).await?
        } else {
            step(understander, snapshot, &mut state, &request, turn).await?
        };
        let (asked, replies) = (scripted.requests().len(), turn.replies.len());
        if dialogue.is_scripted() && asked != replies {
            found.push(Difference::new("reply: times that the model server was asked", replies, asked));
        }
        so_far.push(TranscriptTurn { user: turn.user.clone(), answer });
        counted.turns += 1;
        counted.turns_right += usize::from(found.is_empty());
        if wrong.is_none() && !found.is_empty() {
            wrong = Some(WrongDialogue {
                place: dialogue.place.clone(),
                id: dialogue.id.clone(),
                is_scripted: dialogue.is_scripted(),
                turn: index + 1,
                expected: turn.written.clone(),
                differences: found,
                so_far: so_far.clone(),
            });
        }
    }
    counted.right = usize::from(wrong.is_none());
    into.wrong.extend(wrong);
    let of_its_kind = if dialogue.is_scripted() { &mut into.scripted } else { &mut into.plain };
    of_its_kind.add(counted);
    Ok(())
}

impl DialogueCounts {
    const fn add(&mut self, other: Self) {
        self.dialogues += other.dialogues;
        self.right += other.right;
        self.turns += other.turns;
        self.turns_right += other.turns_right;
    }
}

/// The dialogue's moment overrides that of the options, because its expectations depend on it.
fn request_for(module: &Module, dialogue: &Dialogue, turn: &DialogueTurn, options: &EvalOptions) -> TurnRequest {
    let home = request::time_zone(module, "UTC");
    let moment = dialogue.now.as_deref().and_then(|now| request::moment(now, &home).ok());
    let strategy = match (dialogue.is_scripted(), turn.replies.is_empty()) {
        (false, _) => options.strategy,
        (true, true) => Some(StrategyName::Local),
        (true, false) => Some(StrategyName::Auto),
    };
    TurnRequest {
        utterance: turn.user.clone(),
        strategy,
        now: moment.or_else(|| options.now.clone()),
        language: dialogue.language.clone(),
        ..TurnRequest::default()
    }
}

/// Runs one turn; returns the answer in a line, and what is wrong with it.
async fn step(
    understander: &Understander,
    snapshot: &Snapshot,
    state: &mut State,
    request: &TurnRequest,
    turn: &DialogueTurn,
) -> Result<(String, Vec<Difference>), TurnError> {
    let module = &snapshot.module;
    let conversed = match understander.converse(snapshot, state, request).await {
        Ok(conversed) => conversed,
        Err(error @ (TurnError::NoModelServer(_) | TurnError::Embed(_) | TurnError::Prompt(_) | TurnError::Left)) => {
            return Err(error);
        }
        Err(
            error @ (TurnError::EmptyUtterance
            | TurnError::LongUtterance { .. }
            | TurnError::Llm(_)
            | TurnError::OverBudget { .. }),
        ) => {
            let failed = error.to_string();
            return Ok((failed.clone(), vec![Difference::new("outcome", Value::Null, failed)]));
        }
    };
    let came = CheckedTurn { module, turn: &conversed.turn, state: &conversed.state };
    let mut found = differences(&turn.expect, came);
    let answer = summary(came);
    *state = match echoed(&conversed.state, module) {
        Ok(echoed) if echoed == conversed.state => echoed,
        other => {
            let problem = other.err().unwrap_or_else(|| "another state".to_owned());
            found.push(Difference::new("state", "the same after a round trip through JSON", problem));
            conversed.state
        }
    };
    Ok((answer, found))
}

/// The state as a client sends it back.
fn echoed(state: &State, module: &Module) -> Result<State, String> {
    let text = serde_json::to_string(state).map_err(|error| error.to_string())?;
    let read: State = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    read.adopted(module).map_err(|error| error.to_string())
}

fn script(module: &Module, replies: &[ScriptedReply]) -> Scripted {
    replies.iter().fold(Scripted::new(), |script, reply| match reply {
        ScriptedReply::Text(text) => script.say(text),
        ScriptedReply::Call { name, arguments } => {
            let known = function_named(module, name).map(|id| module.function(id).wire_name.as_str());
            script.call(known.unwrap_or(name), &Value::Object(arguments.clone()).to_string())
        }
    })
}

/// Its abilities are given, so that it is not probed.
fn server(script: &Scripted) -> Server {
    let kept = Support::Kept;
    let capabilities = Capabilities { tools: kept, strict: kept, named_choice: kept, json_schema: Support::Refused };
    Server::known(Arc::new(script.clone()), capabilities)
}
