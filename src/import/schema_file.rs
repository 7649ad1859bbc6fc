//! Formats that can be a module's schema unchanged: an OpenAPI document, a list of MCP tools. Loading the module checks
//! them, including references.

use serde_json::{Value, json};

use super::{Format, project::Place, reader::ProjectReader};
use crate::module::{Limits, ModuleName, directory};

/// A schema file, and the file that it was made from.
pub(super) struct SchemaFile {
    pub(super) source: String,
    pub(super) name: String,
    pub(super) text: String,
}

/// `None` after a fault.
pub(super) fn read(format: Format, limits: &Limits, reader: &mut ProjectReader) -> Option<SchemaFile> {
    let is_document = |path: &str| [".json", ".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let mut found: Vec<(String, Value)> = Vec::new();
    for path in reader.paths(is_document) {
        let Some(document) = reader.document(&path) else { continue };
        let is_wanted = match format {
            Format::Mcp => tools(&document).1.is_some(),
            _ => {
                document.get("openapi").is_some()
                    || document.get("paths").is_some()
                    || document.get("swagger").is_some()
            }
        };
        if is_wanted {
            found.push((path, document));
        }
    }
    match found.as_slice() {
        [] => {
            let message = format!("there is no {} document", format.name());
            let hint = match format {
                Format::Mcp => "an answer to tools/list: {\"tools\": [...]}",
                _ => "a document with `openapi` and `paths`",
            };
            reader.refuse_as_empty("unknown-format", message, hint);
            None
        }
        [(path, document)] if format == Format::Mcp => mcp(path, document, limits, reader),
        [(path, document)] => openapi(path, document, reader),
        [_, (path, _), ..] => {
            let place = Place::new(path, "");
            reader.refuse(
                &place,
                "several-documents",
                "there is more than one document",
                "name the file, not its directory",
            );
            None
        }
    }
}

/// The pointer to the list of tools, and the list.
fn tools(document: &Value) -> (&'static str, Option<&Vec<Value>>) {
    let found = ["/tools", "/result/tools"].into_iter().find(|pointer| document.pointer(pointer).is_some());
    let pointer = found.unwrap_or_default();
    (pointer, document.pointer(pointer).and_then(Value::as_array))
}

/// True if the tool makes a module by itself. What is wrong with it is told.
fn is_usable(tool: &Value, place: &Place, limits: &Limits, reader: &mut ProjectReader) -> bool {
    let schema = json!({"tools": [tool]}).to_string();
    let files = directory::ModuleFiles::of_texts([("schema.json".to_owned(), schema)]);
    let name = ModuleName::new("tools").expect("a name of letters");
    let (module, found) = files.check(name, limits);
    if module.is_none() {
        let named = tool.get("name").and_then(Value::as_str).map(|name| format!("the tool `{name}`: "));
        let named = named.unwrap_or_default();
        let first = found.errors().next();
        let message = first.map_or_else(|| "it does not load".to_owned(), |first| first.message.clone());
        let hint = first.and_then(|first| first.hint.clone()).unwrap_or_default();
        reader.fault(place, "unusable-tool", format!("{named}{message}"), &hint);
    }
    module.is_some()
}

fn openapi(path: &str, document: &Value, reader: &mut ProjectReader) -> Option<SchemaFile> {
    let place = Place::new(path, "");
    for (key, why) in [
        ("webhooks", "they are calls that the service makes"),
        ("security", "who may call is not part of what was meant"),
        ("servers", "where to call is not part of what was meant"),
    ] {
        if document.get(key).is_some() {
            reader.dropped(&place.key(key), key, why);
        }
    }
    let text = reader.text(path)?;
    let ending = if path.ends_with(".json") { "json" } else { "yaml" };
    Some(SchemaFile { source: path.to_owned(), name: format!("schema.{ending}"), text })
}

fn mcp(path: &str, document: &Value, limits: &Limits, reader: &mut ProjectReader) -> Option<SchemaFile> {
    let (pointer, tools) = tools(document);
    let place = Place::new(path, pointer);
    let cursor = document.get("nextCursor").or_else(|| document.pointer("/result/nextCursor"));
    if cursor.is_some_and(|cursor| !cursor.is_null()) {
        let message = "the list goes on at `nextCursor`: this is one page of it";
        reader.refuse(&place, "incomplete-list", message, "ask for the rest and join the pages");
        return None;
    }
    let mut list: Vec<Value> = Vec::new();
    for (index, tool) in tools.into_iter().flatten().enumerate() {
        let at = place.index(index);
        let mut tool = tool.clone();
        let name = tool.get("name").and_then(Value::as_str).unwrap_or("?").to_owned();
        let without = tool.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
        if let Some(members) = tool.as_object_mut() {
            for (key, why) in [
                ("outputSchema", "what comes back is not part of what was meant"),
                ("annotations", "hints about side effects are not part of what was meant"),
                ("icons", "nothing here shows them"),
                ("_meta", "nothing here reads it"),
                ("execution", "how a tool runs is not part of what was meant"),
            ] {
                if members.shift_remove(key).is_some() {
                    reader.dropped(&at.key(key), format!("`{key}` of `{name}`"), why);
                }
            }
            if let (true, Some(title)) = (without, members.get("title").cloned()) {
                reader.changed(&at, format!("title of `{name}`"), "it is the description, which is missing");
                members.insert("description".to_owned(), title);
            }
        }
        if list.iter().any(|other| other.get("name") == tool.get("name")) {
            reader.dropped(&at, format!("a second tool `{name}`"), "the first one of a name counts");
        } else if is_usable(&tool, &at, limits, reader) {
            list.push(tool);
        }
    }
    if list.is_empty() {
        reader.refuse_as_empty("no-functions", "the list has no tools", "an answer to tools/list: {\"tools\": [...]}");
        return None;
    }
    let text = format!("{:#}\n", json!({"tools": list}));
    Some(SchemaFile { source: path.to_owned(), name: "schema.json".to_owned(), text })
}
