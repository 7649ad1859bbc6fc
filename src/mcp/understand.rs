//! `understand`: an utterance as validated calls, as a question, or as outside the module's scope.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, Tool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    arguments,
    refusal::Refusal,
    shared::{McpOptions, McpState, answered, tool},
};
use crate::{
    answer::{StateAfterTurn, Understanding, json_schema},
    conversation::{self, State},
    module::settings::StrategyName,
    shares::Owner,
    understand::{self, Conversed, Outcome, TurnRequest, request},
};

pub(super) const NAME: &str = "understand";

const DESCRIPTION: &str = "\
Turn what a person said into validated calls of a module's functions. There are five outcomes. `call`: names of \
functions with complete and valid arguments, one for each thing that was asked for, ready for you to carry out. `ask`: \
a question to put to the person, because something required was not said, is to be confirmed, or several functions fit. \
`no_match`: none of the module's functions is meant. `cancelled`: the person took back what was open. `handoff`: a \
person should take over, since the person asked for one or the same was asked too often in vain. To go on with a conversation, pass the state of the answer before as `state` with the person's reply: \
the short one that its text ends with, or `uptake.state`. No argument is invented: each comes from the utterance, from the schema's choices, \
or from a default. Nothing is called by this tool. Pass the person's own words, not a paraphrase.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    module: Option<String>,
    utterance: Option<String>,
    now: Option<String>,
    functions: Option<Vec<String>>,
    strategy: Option<StrategyName>,
    state: Option<String>,
}

pub(super) fn definition(options: &McpOptions) -> Tool {
    let mut properties = json!({
        "utterance": {"type": "string", "minLength": 1, "description": "What the person said, in their own words"},
        "now": {
            "type": "string",
            "description": "The moment in which words like \"tomorrow\" are read, such as \
                2026-03-01T09:00:00-08:00[America/Los_Angeles]; now if absent",
        },
        "functions": {
            "type": "array", "items": {"type": "string"}, "minItems": 1,
            "description": "Names of the only functions that may be chosen; all of the module if absent",
        },
        "state": {
            "type": "string",
            "description": "The short state that the text of the answer before ends with, or its `uptake.state`, \
                unchanged: then the utterance goes on with that conversation. Without it one begins",
        },
    });
    if !options.local {
        properties["strategy"] = json!({
            "type": "string", "enum": StrategyName::NAMES,
            "description": "Who decides; best left out. `local` never asks a model server, `auto` does where it is not \
                sure, the others always do",
        });
    }
    let required = ["utterance"];
    let input = arguments::schema_with_module(&options.offer, properties, &required);
    tool(NAME, "Understand an utterance", DESCRIPTION, input, json_schema::<Understanding>())
}

pub(super) async fn call(
    shared: &McpState,
    given: Option<Map<String, Value>>,
    (kept_for, owner): (&conversation::Tenant, Owner),
) -> Result<CallToolResult, Refusal> {
    let Arguments { module, utterance, now, functions, strategy, state } = arguments::read(given)?;
    let utterance = arguments::required(utterance, "utterance")?;
    let snapshot = arguments::module(&shared.options.offer, &shared.snapshots, module.as_deref()).await?;
    let module = &snapshot.module;
    let home = request::time_zone(module, &shared.turns.time_zone);
    let turn_request = TurnRequest {
        utterance,
        strategy: strategy_of(strategy, shared.options.local)?,
        now: now.map(|now| request::moment(&now, &home)).transpose()?,
        among: functions.map(|names| request::functions(module, &names)).transpose()?,
        owner,
        ..TurnRequest::default()
    };
    let refused = |why: String| Refusal::new(format!("`state`: {why}; leave it out to begin a new conversation"));
    let state = state.map(|text| shared.handles.state(kept_for, text)).transpose();
    let state = state.map_err(|why| refused(why.to_owned()))?;
    let (echoed, tokens) = (state.clone(), shared.tokens.of(kept_for));
    let state = match state {
        Some(text) => tokens.read(&text, module).map_err(|error| refused(error.to_string()))?,
        None => State::new(&module.name),
    };
    let awaits_consent = state.awaits_consent();
    let Conversed { turn, state, .. } = shared
        .understander
        .converse(&snapshot, &state, &turn_request)
        .await
        .map_err(|error| Refusal::of_turn(&error, "utterance"))?;
    if let Some(text) = echoed.filter(|_| awaits_consent && matches!(turn.outcome, Outcome::Call(_))) {
        let taken = tokens.take_consent(&text).await;
        taken.map_err(|error| refused(error.to_string()))?;
    }
    tracing::info!(
        module = %module.name,
        outcome = turn.outcome.name(),
        decided_by = turn.decided_by.name(),
        confidence = turn.confidence,
        total_ms = turn.trace.timings.total,
        "turn"
    );
    let mut understood = Understanding::new(module, &turn);
    let written = tokens.write(&state).map_err(|error| Refusal::new(error.to_string()))?;
    let summary = understand::summary(&snapshot, None, &state);
    let handle = shared.handles.keep(kept_for, &written);
    understood.uptake.keep(StateAfterTurn { state: Some(written), session: None, turn: state.turn, summary });
    answered(words(&understood, &handle), &understood)
}

/// A server started as local asks no model server, whatever the module or the caller wants.
fn strategy_of(asked: Option<StrategyName>, local: bool) -> Result<Option<StrategyName>, Refusal> {
    match asked {
        _ if !local => Ok(asked),
        Some(asked) if asked.always_asks() => Err(Refusal::new(format!(
            "strategy `{}` asks a model server, and this server asks none: leave it out",
            asked.name()
        ))),
        None | Some(_) => Ok(Some(StrategyName::Local)),
    }
}

/// The text for a model that does not see the structured answer. `handle` is the short name of the state.
fn words(understood: &Understanding, handle: &str) -> String {
    let uptake = &understood.uptake;
    let how = format!("confidence {}, decided by {}", uptake.confidence, uptake.decided_by);
    let mut text = match (&understood.calls[..], &uptake.question) {
        ([], question) if matches!(uptake.outcome, "cancelled" | "handoff") => {
            let asked = question.as_ref().map(|question| format!(": {}", question.text)).unwrap_or_default();
            format!("{} ({how}){asked}", uptake.outcome)
        }
        ([], Some(question)) => format!("ask ({how}): {}", question.text),
        ([], None) => {
            let said = uptake.reply.as_ref().map(|reply| format!("; to be said: {reply}")).unwrap_or_default();
            format!("no_match ({how}): none of the functions of `{}` is meant{said}", understood.module)
        }
        (calls, _) => {
            let mut text = format!("call ({how}):");
            for call in calls {
                let arguments = Value::Object(call.arguments.clone());
                let _ = write!(text, "\n{} {arguments}", call.name);
            }
            // What is asked beside the calls.
            if let Some(question) = &uptake.question {
                let _ = write!(text, "\nask: {}", question.text);
            }
            text
        }
    };
    if understood.calls.is_empty() {
        for begun in &uptake.calls {
            if !begun.missing.is_empty() {
                let _ = write!(text, "\n{} still needs {}", begun.function, begun.missing.join(", "));
            }
        }
    }
    // For clients that read only the text: without the state the next utterance would begin a new conversation.
    let _ = write!(text, "\nstate for what is said next: {handle}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_server_asks_nobody() {
        use StrategyName::{Auto, Local, Tools};
        assert_eq!(strategy_of(None, true), Ok(Some(Local)));
        assert_eq!(strategy_of(Some(Auto), true), Ok(Some(Local)));
        assert!(strategy_of(Some(Tools), true).is_err());
        assert_eq!(strategy_of(Some(Tools), false), Ok(Some(Tools)));
        assert_eq!(strategy_of(None, false), Ok(None));
    }
}
