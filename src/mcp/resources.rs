//! Each module's functions as a resource: `uptake://modules/{name}`, an OpenAI `tools` array.

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};

use super::{refusal::Refusal, shared::McpState};
use crate::{answer::ToolBody, module::ModuleName};

const PREFIX: &str = "uptake://modules/";
const JSON: &str = "application/json";

fn about(name: &str) -> String {
    format!("The functions of the module {name}, as an OpenAI tools array")
}

pub(super) fn list(shared: &McpState) -> Vec<Resource> {
    let resource = |name: ModuleName| {
        Resource::new(format!("{PREFIX}{name}"), name.as_str())
            .with_description(about(&format!("`{name}`")))
            .with_mime_type(JSON)
    };
    shared.options.offer.names(&shared.snapshots).into_iter().map(resource).collect()
}

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{name}}"), "module")
        .with_title("Functions of a module")
        .with_description(about("of that name"))
        .with_mime_type(JSON)
}

pub(super) async fn read(shared: &McpState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = |why: String| ErrorData::resource_not_found(why, None);
    let Some(name) = uri.strip_prefix(PREFIX) else {
        return Err(missing(format!("there is no such resource: they are `{PREFIX}` and a module's name")));
    };
    let name = shared.options.offer.choose(Some(name), &shared.snapshots).map_err(|why| missing(why.to_string()))?;
    let snapshot = shared
        .snapshots
        .fresh(&name)
        .await
        .map_err(|error| ErrorData::internal_error(Refusal::of_prepare(&error).to_string(), None))?;
    let tools: Vec<ToolBody> = snapshot.module.functions.iter().map(Into::into).collect();
    let text = serde_json::to_string(&tools)
        .map_err(|_| ErrorData::internal_error("the functions could not be written as JSON", None))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}
