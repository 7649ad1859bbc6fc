//! `find_functions`: the functions that fit a request, for an agent with too many functions to show them all to its
//! model.

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
    answer::{Retrieved, json_schema},
    shares::Owner,
    understand::{TurnRequest, UnderstandOptions},
};

pub(super) const NAME: &str = "find_functions";

const DESCRIPTION: &str = "\
Find the functions of a module that fit a request, best first: each with its description, the JSON Schema of its \
parameters, a score from 0 to 1, and the examples that speak for it. Use it to pick the few tools that matter for a \
request when there are too many to look at. Nothing is decided and nothing is called.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    module: Option<String>,
    request: Option<String>,
    limit: Option<usize>,
}

pub(super) fn definition(options: &McpOptions, turns: &UnderstandOptions) -> Tool {
    let usual = turns.candidates;
    let properties = json!({
        "request": {"type": "string", "minLength": 1, "description": "What the person wants, in their own words"},
        "limit": {
            "type": "integer", "minimum": 1, "maximum": Retrieved::MOST,
            "description": format!("At most so many functions; {usual} if absent"),
        },
    });
    let required = ["request"];
    let input = arguments::schema_with_module(&options.offer, properties, &required);
    tool(NAME, "Find functions", DESCRIPTION, input, json_schema::<Retrieved>())
}

pub(super) async fn call(
    shared: &McpState,
    given: Option<Map<String, Value>>,
    owner: Owner,
) -> Result<CallToolResult, Refusal> {
    let Arguments { module, request, limit } = arguments::read(given)?;
    let utterance = arguments::required(request, "request")?;
    let limit = limit.unwrap_or(shared.turns.candidates);
    if !(1..=Retrieved::MOST).contains(&limit) {
        return Err(Refusal::new(format!("`limit` is {limit}; it must be 1 to {}", Retrieved::MOST)));
    }
    let snapshot = arguments::module(&shared.options.offer, &shared.snapshots, module.as_deref()).await?;
    let request = TurnRequest { utterance, owner, ..TurnRequest::default() };
    let found = shared.understander.retrieve(&snapshot, &request, limit).await;
    let trace = found.map_err(|error| Refusal::of_turn(&error, "request"))?;
    let found = Retrieved::new(&snapshot.module, &trace);
    answered(words(&found), &found)
}

/// The text for a model that does not see the structured answer.
fn words(found: &Retrieved) -> String {
    if found.tools.is_empty() {
        return "No function fits.".to_owned();
    }
    let mut text = String::new();
    for (index, (tool, candidate)) in found.tools.iter().zip(&found.uptake.candidates).enumerate() {
        let function = &tool.function;
        let separator = if function.description.is_empty() { "" } else { ": " };
        let _ = writeln!(
            text,
            "{}. {} (score {}){separator}{}\n   parameters: {}",
            index + 1,
            function.name,
            candidate.score,
            function.description,
            function.parameters
        );
    }
    text.truncate(text.trim_end().len());
    text
}
