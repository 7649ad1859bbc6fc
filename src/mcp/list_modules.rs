//! `list_modules`: the modules that can be used.

use rmcp::model::{CallToolResult, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    arguments,
    refusal::Refusal,
    shared::{McpState, answered, tool},
};
use crate::answer::json_schema;

pub(super) const NAME: &str = "list_modules";

/// Most modules that one answer describes. Further ones are only named, up to the limit of names, and not loaded.
const DESCRIBED: usize = 100;

const DESCRIPTION: &str = "\
List the modules, which are the groups of functions that can be found and understood here: each with what it is about \
and how many functions it has.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Debug, Serialize, ToSchema)]
struct Modules {
    modules: Vec<Listed>,
    /// How many more there are, which are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Listed {
    name: String,
    /// What it is about; may be empty.
    description: String,
    /// How many it has; 0 if it cannot be used.
    functions: usize,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(super) fn definition() -> Tool {
    let input = arguments::schema(Map::new(), std::iter::empty());
    tool(NAME, "List modules", DESCRIPTION, input, json_schema::<Modules>())
}

pub(super) async fn call(shared: &McpState, given: Option<Map<String, Value>>) -> Result<CallToolResult, Refusal> {
    let NoArguments {} = arguments::read(given)?;
    let offer = &shared.options.offer;
    let mut modules = Vec::new();
    let names = offer.names(&shared.snapshots);
    let more = names.len().checked_sub(DESCRIBED).filter(|more| *more > 0);
    for name in names.into_iter().take(DESCRIBED) {
        let found = arguments::module(offer, &shared.snapshots, Some(name.as_str())).await;
        modules.push(match found {
            Ok(snapshot) => Listed {
                name: name.to_string(),
                description: snapshot.module.settings.description.clone(),
                functions: snapshot.module.functions.len(),
                problem: None,
            },
            Err(refusal) => Listed {
                name: name.to_string(),
                description: String::new(),
                functions: 0,
                problem: Some(refusal.to_string()),
            },
        });
    }
    let lines = modules.iter().map(|module| match &module.problem {
        Some(problem) => format!("{}: {problem}", module.name),
        None if module.description.is_empty() => format!("{} ({} functions)", module.name, module.functions),
        None => format!("{} ({} functions): {}", module.name, module.functions, module.description),
    });
    let rest = more.map(|more| format!("and {more} more, which `module` names as well"));
    let lines = lines.chain(rest);
    let words =
        if modules.is_empty() { "There are no modules.".to_owned() } else { lines.collect::<Vec<_>>().join("\n") };
    answered(words, &Modules { modules, more })
}
