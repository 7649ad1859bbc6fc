//! Formats that can be a module's schema unchanged: an OpenAPI document, a list of MCP tools. Loading the module checks
//! them, including references.

use serde_json::{Value, json};

use super::{Format, project::Place, reader::Reader};

/// A schema file, and the file that it was made from.
pub(super) struct SchemaFile {
    pub(super) source: String,
    pub(super) name: String,
    pub(super) text: String,
}

/// `None` after a fault.
pub(super) fn read(format: Format, reader: &mut Reader) -> Option<SchemaFile> {
    let is_document = |path: &str| [".json", ".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let mut found: Vec<(String, Value)> = Vec::new();
    for path in reader.paths(is_document) {
        let Some(document) = reader.document(&path) else { continue };
        let is_wanted = match format {
            Format::Mcp => tools(&document).is_some(),
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
    if reader.has_faults() {
        return None;
    }
    match found.as_slice() {
        [] => {
            let message = format!("there is no {} document", format.name());
            let hint = match format {
                Format::Mcp => "an answer to tools/list: {\"tools\": [...]}",
                _ => "a document with `openapi` and `paths`",
            };
            reader.fault(&Place::default(), "unknown-format", message, hint);
            None
        }
        [(path, document)] if format == Format::Mcp => mcp(path, document, reader),
        [(path, document)] => openapi(path, document, reader),
        [_, (path, _), ..] => {
            let place = Place::new(path, "");
            reader.fault(
                &place,
                "several-documents",
                "there is more than one document",
                "name the file, not its directory",
            );
            None
        }
    }
}

fn tools(document: &Value) -> Option<&Vec<Value>> {
    document.get("tools").or_else(|| document.pointer("/result/tools")).unwrap_or(document).as_array()
}

fn openapi(path: &str, document: &Value, reader: &mut Reader) -> Option<SchemaFile> {
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

fn mcp(path: &str, document: &Value, reader: &mut Reader) -> Option<SchemaFile> {
    let place = Place::new(path, "");
    let cursor = document.get("nextCursor").or_else(|| document.pointer("/result/nextCursor"));
    if cursor.is_some_and(|cursor| !cursor.is_null()) {
        let message = "the list goes on at `nextCursor`: this is one page of it";
        reader.fault(&place, "incomplete-list", message, "ask for the rest and join the pages");
        return None;
    }
    let mut list = Vec::new();
    for (index, tool) in tools(document).into_iter().flatten().enumerate() {
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
        list.push(tool);
    }
    let text = format!("{:#}\n", json!({"tools": list}));
    Some(SchemaFile { source: path.to_owned(), name: "schema.json".to_owned(), text })
}
