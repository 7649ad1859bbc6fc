//! Lists of `OpenAI` functions, of `OpenAI` tools, and of MCP tools; the three may even be mixed.

use serde_json::{Map, Value, json};

use super::{super::schema::Normaliser, Diagnostic, Findings, Limits, PointerChain, SourceFunction, kind_of};

/// Members that a function may have besides those that are read.
const MEMBERS: [&str; 14] = [
    "name",
    "description",
    "parameters",
    "strict",
    "type",
    "title",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "_meta",
    "icons",
    "input_schema",
    "returns",
];

pub(in crate::module) fn functions(
    file: &str,
    document: &Value,
    list: &[Value],
    place: PointerChain<'_>,
    limits: &Limits,
    findings: &mut Findings,
) -> Vec<SourceFunction> {
    if list.len() > limits.functions {
        let message = format!("{} functions are more than the limit `functions` = {}", list.len(), limits.functions);
        findings.push(Diagnostic::error("over-limit", file, place, message));
        return Vec::new();
    }
    let mut normaliser = Normaliser::new(file, document, limits);
    let mut functions = Vec::with_capacity(list.len());
    for (index, item) in list.iter().enumerate() {
        let at = place.index(index);
        let Value::Object(item) = item else {
            let message = format!("a function is an object, found {}", kind_of(item));
            findings.push(Diagnostic::error("bad-function", file, at, message));
            continue;
        };
        let inner = at.key("function");
        let function = match item.get("function") {
            Some(Value::Object(function)) => {
                let read = read(function, &inner, &mut normaliser, findings);
                // A client may put its annotations of the tool around the function.
                read.map(|function| SourceFunction { read_only: function.read_only.or(read_only(item)), ..function })
            }
            Some(other) => {
                let message = format!("`function` is an object, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-function", file, inner, message));
                continue;
            }
            None => read(item, &at, &mut normaliser, findings),
        };
        functions.extend(function);
    }
    functions
}

fn read(
    function: &Map<String, Value>,
    place: &PointerChain<'_>,
    normaliser: &mut Normaliser<'_>,
    findings: &mut Findings,
) -> Option<SourceFunction> {
    let file = normaliser.file;
    if let Some(kind) = function.get("type").and_then(Value::as_str).filter(|kind| *kind != "function") {
        let message = format!("a tool of type `{kind}` can't be called by name");
        findings.push(Diagnostic::error("bad-function", file, place, message).hint("tools are of type `function`"));
        return None;
    }
    for member in function.keys().filter(|member| !MEMBERS.contains(&member.as_str()) && !member.starts_with("x-")) {
        let message = format!("a function has no member `{member}`; it has no effect");
        let hint = findings.near(member, MEMBERS);
        findings.push(Diagnostic::warning("unknown-member", file, place.key(member), message).hint_if(hint));
    }
    let name = match function.get("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name.trim().to_owned(),
        Some(Value::String(_)) => {
            findings.push(Diagnostic::error("empty-name", file, place.key("name"), "the function's name is empty"));
            return None;
        }
        Some(other) => {
            let message = format!("a function's name is a string, found {}", kind_of(other));
            findings.push(Diagnostic::error("bad-function", file, place.key("name"), message));
            return None;
        }
        None => {
            findings.push(Diagnostic::error("empty-name", file, place, "the function has no `name`"));
            return None;
        }
    };
    let mut description = super::text_member(function, "description", file, place, findings);
    if description.is_empty() {
        // In MCP the description is optional, and the title has two places.
        let titles = [function.get("title"), function.get("annotations").and_then(|hints| hints.get("title"))];
        let title =
            titles.into_iter().flatten().filter_map(Value::as_str).map(str::trim).find(|title| !title.is_empty());
        description = title.unwrap_or_default().to_owned();
    }
    let schema = ["parameters", "inputSchema", "input_schema"]
        .into_iter()
        .find_map(|key| function.get(key).filter(|value| !value.is_null()).map(|value| (key, value)));
    let none = || json!({"type": "object", "properties": {}});
    let parameters = match schema {
        None => none(),
        Some((key, schema)) => {
            let at = place.key(key);
            normaliser.begin(at.to_string());
            let normalised = normaliser.normalised(schema, &at, 0, findings);
            let definitions = normaliser.definitions(findings);
            // The error is reported, but the function stays, so that its absence causes no other findings.
            super::as_parameters(normalised, definitions, file, &at, findings).unwrap_or_else(none)
        }
    };
    let (read_only, pointer) = (read_only(function), place.to_string());
    Some(SourceFunction { name, description, parameters, operation: None, request: None, read_only, pointer })
}

/// The read-only hint of the Model Context Protocol.
fn read_only(tool: &Map<String, Value>) -> Option<bool> {
    tool.get("annotations")?.get("readOnlyHint")?.as_bool()
}
