//! `OpenAPI` 3.0 and 3.1, and [Swagger 2.0](super::swagger): one function per operation. One that cannot be read is
//! left out, with a warning.
//!
//! **Arguments.** The parameters of path and query and the properties of a JSON body lie side by side in one object. Where
//! two have the same name, the first of path, query, body keeps it, and the others are called `<place>_<name>` (`body_id`),
//! with `_2` and so on where even that is taken. A body that is not an object with properties is one argument, `body`. A
//! body's required properties are required unless the document says `required: false`: leaving that out is far more often
//! an oversight than a wish for an empty body. Properties that are `readOnly` belong to answers and are left out. People
//! do not say headers, cookies and keys: these are left out with one warning, and a header to which the document gives a
//! value is sent with it.
//!
//! **Names.** The `operationId`; without one the method and the path, `get_pets_by_pet_id` for `GET /pets/{petId}`,
//! so that the name does not depend on what else the document has.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::{
    super::{
        endpoint::{BodyKind, Method, Operation, ParameterStyle, PartPlace, RequestPart},
        schema::Normaliser,
    },
    Diagnostic, Findings, Limits, PointerChain, SourceFunction, as_parameters, kind_of, text_member,
};
use crate::text::name_words;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const PLACES: [&str; 4] = ["path", "query", "header", "cookie"];
/// Headers that every request has: the document may name them, and means nothing by it.
const COMMON_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

fn is_version_3(file: &str, document: &Value, findings: &mut Findings) -> bool {
    let (place, message) = match document.get("openapi").and_then(Value::as_str) {
        Some(version) if version.starts_with("3.") => return true,
        Some(version) => (PointerChain::ROOT.key("openapi"), format!("OpenAPI `{version}` is not supported")),
        None => (PointerChain::ROOT, "the document does not say its version in `openapi`, as a string".to_owned()),
    };
    findings.push(Diagnostic::error("unknown-format", file, place, message).hint(VERSIONS));
    false
}

pub(in crate::module) fn functions(
    file: &str,
    document: &Value,
    limits: &Limits,
    findings: &mut Findings,
) -> Vec<SourceFunction> {
    if !is_version_3(file, document, findings) {
        return Vec::new();
    }
    let paths_at = PointerChain::ROOT.key("paths");
    let Some(Value::Object(paths)) = document.get("paths") else {
        let message = "the document has no object `paths`, so it describes no function";
        findings.push(Diagnostic::error("bad-function", file, paths_at, message));
        return Vec::new();
    };
    let mut reader = OperationReader {
        normaliser: Normaliser::new(file, document, limits),
        file,
        derived: HashSet::new(),
        added: Vec::new(),
        keys: keys(document),
        headers: Vec::new(),
        unsaid: BTreeMap::new(),
        findings,
    };
    reader.normaliser.request = true;
    let mut functions = Vec::new();
    for (path, item) in paths {
        let at = paths_at.key(path);
        let Some((item, item_at)) = reader.resolved(item, &at) else { continue };
        let item_at = PointerChain::Start(&item_at);
        let Value::Object(item) = item else {
            reader.bad(&item_at, format!("a path is an object, found {}", kind_of(item)));
            continue;
        };
        for (method, operation) in item {
            if !METHODS.contains(&method.as_str()) {
                reader.check_member(method, &item_at);
                continue;
            }
            if functions.len() >= limits.functions {
                let message = format!("there are more functions than the limit `functions` = {}", limits.functions);
                reader.findings.push(Diagnostic::error("over-limit", file, paths_at, message));
                return functions;
            }
            let at = item_at.key(method);
            let mark = reader.findings.mark();
            reader.added.clear();
            let read = match operation {
                Value::Object(operation) => match component_of_skill(document, path, operation) {
                    Some((name, schema)) => reader.skill(name, schema),
                    None => reader.operation(path, method, item, operation, &item_at, &at),
                },
                other => {
                    reader.bad(&at, format!("an operation is an object, found {}", kind_of(other)));
                    None
                }
            };
            match reader.findings.forgive(&mark) {
                None => functions.extend(read),
                Some(reason) => {
                    for name in std::mem::take(&mut reader.added) {
                        reader.derived.remove(&name);
                    }
                    let message = format!("`{} {path}` is left out: {reason}", method.to_ascii_uppercase());
                    reader.findings.push(Diagnostic::warning("skipped-operation", file, at, message));
                }
            }
        }
    }
    let unsaid: Vec<String> = reader.unsaid.iter().map(|(what, count)| format!("{what} ({count})")).collect();
    if !unsaid.is_empty() {
        let message = format!("people do not say these parameters, so they are left out: {}", unsaid.join(", "));
        let hint = "an endpoint's `headers` and `secrets` set the headers that its service needs";
        reader.findings.push(Diagnostic::warning("unsaid-parameters", file, paths_at, message).hint(hint));
    }
    functions
}

/// The names of query parameters that carry keys.
fn keys(document: &Value) -> HashSet<String> {
    let places = ["/components/securitySchemes", "/securityDefinitions"];
    let schemes = places.into_iter().filter_map(|place| document.pointer(place)?.as_object()).flatten();
    let in_query = schemes.filter(|(_, scheme)| scheme["type"] == "apiKey" && scheme["in"] == "query");
    in_query.filter_map(|(_, scheme)| scheme["name"].as_str().map(str::to_owned)).collect()
}

/// The value that a schema leaves no choice about, or falls back on.
fn fixed(schema: &Value) -> Option<String> {
    let only = schema["enum"].as_array().filter(|choices| choices.len() == 1).and_then(|choices| choices.first());
    let value = [schema.get("const"), only, schema.get("default")].into_iter().flatten().next()?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (!value.is_null() && !text.chars().any(char::is_control)).then_some(text)
}

const VERSIONS: &str = "write it as OpenAPI 3.0 or 3.1 (`openapi: 3.1.0`)";

/// Reads a form that `OpenDU` once used: a skill as a path `/skills` whose operation's description names a component
/// schema.
fn component_of_skill<'d>(
    document: &'d Value,
    path: &str,
    operation: &'d Map<String, Value>,
) -> Option<(&'d str, &'d Value)> {
    if path != "/skills" || operation.contains_key("operationId") || operation.contains_key("parameters") {
        return None;
    }
    let name = operation.get("description")?.as_str()?.trim();
    let schema = document.get("components")?.get("schemas")?.get(name)?;
    Some((name, schema))
}

struct OperationReader<'d> {
    normaliser: Normaliser<'d>,
    file: &'d str,
    /// Names so far; new ones must differ.
    derived: HashSet<String>,
    /// Names that the present operation added.
    added: Vec<String>,
    /// Query parameters that carry keys.
    keys: HashSet<String>,
    /// Headers of the present operation to which the document gives a value.
    headers: Vec<(String, String)>,
    /// Parameters that people do not say, with the number of operations that have them.
    unsaid: BTreeMap<String, usize>,
    findings: &'d mut Findings,
}

/// A parameter or a property of the body on its way into the arguments.
struct Argument {
    place: &'static str,
    name: String,
    schema: Value,
    required: bool,
    style: ParameterStyle,
}

impl<'d> OperationReader<'d> {
    fn bad(&mut self, place: &PointerChain<'_>, message: String) {
        self.findings.push(Diagnostic::error("bad-function", self.file, place, message));
    }

    fn check_member(&mut self, member: &str, place: &PointerChain<'_>) {
        let known = ["summary", "description", "servers", "parameters", "$ref"];
        if !known.contains(&member) && !member.starts_with("x-") {
            let hint = self.findings.near(member, METHODS.into_iter().chain(known));
            let message = format!("`{member}` is neither a method nor a member of a path; it has no effect");
            self.findings
                .push(Diagnostic::warning("unknown-member", self.file, place.key(member), message).hint_if(hint));
        }
    }

    /// Follows a chain of references; returns the target and its pointer.
    fn resolved(&mut self, value: &'d Value, place: &PointerChain<'_>) -> Option<(&'d Value, String)> {
        let (mut value, mut pointer) = (value, place.to_string());
        for _ in 0..16 {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Some((value, pointer)) };
            let at = PointerChain::Start(&pointer);
            let target = self.normaliser.resolve(reference, &at.key("$ref"), self.findings)?;
            value = self.normaliser.document.pointer(&target)?;
            pointer = target;
        }
        let message = "references lead to references, without an end";
        self.findings.push(Diagnostic::error("bad-reference", self.file, place, message));
        None
    }

    fn skill(&mut self, name: &str, schema: &Value) -> Option<SourceFunction> {
        let components = PointerChain::Start("/components/schemas");
        let at = components.key(name);
        self.normaliser.begin(String::new());
        let normalised = self.normaliser.normalised(schema, &at, 0, self.findings);
        let definitions = self.normaliser.definitions(self.findings);
        let description = normalised.get("description").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let parameters = as_parameters(normalised, definitions, self.file, &at, self.findings)?;
        Some(SourceFunction {
            name: name.to_owned(),
            description,
            parameters,
            operation: None,
            request: None,
            read_only: None,
            pointer: at.to_string(),
        })
    }

    fn operation(
        &mut self,
        path: &str,
        method: &str,
        item: &'d Map<String, Value>,
        operation: &'d Map<String, Value>,
        item_at: &PointerChain<'_>,
        at: &PointerChain<'_>,
    ) -> Option<SourceFunction> {
        let name = match operation.get("operationId") {
            Some(Value::String(id)) if !id.trim().is_empty() => match self.is_new(id.trim()) {
                true => id.trim().to_owned(),
                false => {
                    let name = self.derived_name(method, path);
                    let message = format!("another operation is called `{}`: this one is `{name}`", id.trim());
                    let place = at.key("operationId");
                    self.findings.push(Diagnostic::warning("duplicate-name", self.file, place, message));
                    name
                }
            },
            None | Some(Value::Null | Value::String(_)) => self.derived_name(method, path),
            Some(other) => {
                self.bad(&at.key("operationId"), format!("`operationId` is a string, found {}", kind_of(other)));
                return None;
            }
        };
        let own = text_member(operation, "description", self.file, at, self.findings);
        let summary = text_member(operation, "summary", self.file, at, self.findings);
        let description = describe(&summary, &own);
        // The path's description serves an operation that has none.
        let description = if description.is_empty() {
            let summary = text_member(item, "summary", self.file, item_at, self.findings);
            describe(&summary, &text_member(item, "description", self.file, item_at, self.findings))
        } else {
            description
        };

        self.normaliser.begin(String::new());
        self.headers.clear();
        let mut arguments = self.parameters(item, operation, item_at, at);
        let (mut closed, mut body) = (false, BodyKind::None);
        if let Some(described) = operation.get("requestBody") {
            (closed, body) = self.body(described, &at.key("requestBody"), &mut arguments);
        }
        let definitions = self.normaliser.definitions(self.findings);
        let (parameters, parts) = assemble(arguments, definitions, closed);
        let server = server(&[operation.get("servers"), item.get("servers"), self.normaliser.document.get("servers")]);
        let request = Method::named(method).map(|method| {
            let headers = std::mem::take(&mut self.headers);
            Operation { method, server, path: path.to_owned(), headers, parts, body }
        });
        Some(SourceFunction {
            name,
            description,
            parameters,
            operation: Some(format!("{} {path}", method.to_ascii_uppercase())),
            request,
            read_only: None,
            pointer: at.to_string(),
        })
    }

    /// True if no operation has had this name so far; records the name.
    fn is_new(&mut self, name: &str) -> bool {
        let is_new = self.derived.insert(name.to_owned());
        if is_new {
            self.added.push(name.to_owned());
        }
        is_new
    }

    fn derived_name(&mut self, method: &str, path: &str) -> String {
        let mut name = method.to_owned();
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            for (literal, variable) in pieces(segment) {
                push_words(&mut name, literal);
                if let Some(variable) = variable {
                    name.push_str("_by");
                    push_words(&mut name, variable);
                }
            }
        }
        if !self.is_new(&name) {
            name = (2..).map(|count| format!("{name}_{count}")).find(|name| self.is_new(name)).unwrap_or(name);
        }
        name
    }

    /// Parameters of the path and of the operation, which replace those of the same name and place.
    fn parameters(
        &mut self,
        item: &'d Map<String, Value>,
        operation: &'d Map<String, Value>,
        item_at: &PointerChain<'_>,
        at: &PointerChain<'_>,
    ) -> Vec<Argument> {
        let mut arguments: Vec<Argument> = Vec::new();
        for (owner, owner_at) in [(item, item_at), (operation, at)] {
            let list_at = owner_at.key("parameters");
            let parameters = match owner.get("parameters") {
                None | Some(Value::Null) => continue,
                Some(Value::Array(parameters)) => parameters,
                Some(other) => {
                    self.bad(&list_at, format!("`parameters` is a list, found {}", kind_of(other)));
                    continue;
                }
            };
            let from = arguments.len();
            for (index, parameter) in parameters.iter().enumerate() {
                let Some(argument) = self.parameter(parameter, &list_at.index(index)) else { continue };
                let same = |known: &Argument| known.name == argument.name && known.place == argument.place;
                match arguments.iter().position(same) {
                    Some(known) if known < from => arguments[known] = argument,
                    Some(_) => {
                        let message = format!("the {} parameter `{}` is listed twice", argument.place, argument.name);
                        let found = Diagnostic::warning("duplicate-name", self.file, list_at.index(index), message);
                        self.findings.push(found.hint("the first one counts"));
                    }
                    None => arguments.push(argument),
                }
            }
        }
        arguments.sort_by_key(|argument| PLACES.iter().position(|place| *place == argument.place));
        arguments
    }

    fn parameter(&mut self, parameter: &'d Value, place: &PointerChain<'_>) -> Option<Argument> {
        let (parameter, pointer) = self.resolved(parameter, place)?;
        let at = PointerChain::Start(&pointer);
        let Value::Object(parameter) = parameter else {
            self.bad(&at, format!("a parameter is an object, found {}", kind_of(parameter)));
            return None;
        };
        let Some(name) = parameter.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
            self.bad(&at, "the parameter has no `name`".to_owned());
            return None;
        };
        let written = parameter.get("in").and_then(Value::as_str).unwrap_or_default();
        let Some(in_place) = PLACES.into_iter().find(|place| *place == written) else {
            let hint = format!("places are {}", PLACES.join(", "));
            let hint = if written == "body" { "a body is written as `requestBody`".to_owned() } else { hint };
            let message = format!("the parameter `{name}` is in `{written}`, which is no place");
            self.findings.push(Diagnostic::error("bad-function", self.file, at.key("in"), message).hint(hint));
            return None;
        };
        if matches!(in_place, "header" | "cookie") || (in_place == "query" && self.keys.contains(name)) {
            let schema = parameter.get("schema").and_then(|schema| self.resolved(schema, &at.key("schema")));
            self.leave_unsaid(in_place, name, schema.map_or(&Value::Null, |(schema, _)| schema));
            return None;
        }
        let mut schema = if let Some(schema) = parameter.get("schema") {
            self.normaliser.normalised(schema, &at.key("schema"), 1, self.findings)
        } else if let Some((media, content)) =
            parameter.get("content").and_then(Value::as_object).and_then(|content| content.iter().next())
        {
            let content_at = at.key("content");
            let media_at = content_at.key(media);
            let schema = content.get("schema").unwrap_or(&Value::Bool(true));
            self.normaliser.normalised(schema, &media_at.key("schema"), 1, self.findings)
        } else {
            let found =
                Diagnostic::warning("no-schema", self.file, at, format!("the parameter `{name}` has no schema"));
            self.findings.push(found.hint("any value is accepted; say its `type`"));
            json!({})
        };
        if let (Value::Object(schema), Some(Value::String(description))) = (&mut schema, parameter.get("description")) {
            // The parameter's own description is about this use of the schema.
            schema.insert("description".to_owned(), Value::String(description.trim().to_owned()));
        }
        let required = in_place == "path" || parameter.get("required") == Some(&Value::Bool(true));
        Some(Argument { place: in_place, name: name.to_owned(), schema, required, style: style(parameter, in_place) })
    }

    /// Leaves out a parameter that people do not say.
    fn leave_unsaid(&mut self, place: &str, name: &str, schema: &Value) {
        if place == "header" && COMMON_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return;
        }
        *self.unsaid.entry(format!("{place} `{name}`")).or_default() += 1;
        if place == "header" {
            self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            self.headers.extend(fixed(schema).map(|value| (name.to_owned(), value)));
        }
    }

    /// Adds the body's properties, or the body as a whole. Returns true if the object of the body is closed, and what
    /// is sent.
    fn body(&mut self, body: &'d Value, place: &PointerChain<'_>, arguments: &mut Vec<Argument>) -> (bool, BodyKind) {
        let nothing = (false, BodyKind::None);
        let Some((body, pointer)) = self.resolved(body, place) else { return nothing };
        let at = PointerChain::Start(&pointer);
        let Some(Value::Object(content)) = body.get("content") else {
            self.bad(&at, "the request body has no `content`".to_owned());
            return nothing;
        };
        let Some((media, described)) = content.iter().min_by_key(|(media, _)| preference(media)) else {
            return nothing;
        };
        let sent = sent(media);
        let is_required = body.get("required") != Some(&Value::Bool(false));
        let content_at = at.key("content");
        let media_at = content_at.key(media);
        let Some(schema) = described.get("schema") else { return (false, sent) };
        let schema_at = media_at.key("schema");
        let normalised = self.normaliser.normalised(schema, &schema_at, 0, self.findings);
        let Value::Object(mut map) = normalised else { return (false, sent) };

        let mergeable = |key: &String| {
            matches!(
                key.as_str(),
                "type"
                    | "properties"
                    | "required"
                    | "title"
                    | "description"
                    | "examples"
                    | "default"
                    | "deprecated"
                    | "additionalProperties"
                    | "readOnly"
                    | "writeOnly"
            )
        };
        need_alternatives(&mut map);
        let has_properties = map.get("properties").and_then(Value::as_object).is_some_and(|inner| !inner.is_empty());
        if has_properties && map.keys().all(mergeable) && preference(media) < WHOLE {
            let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
            let required: HashSet<String> = match map.remove("required") {
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                _ => HashSet::new(),
            };
            if let Some(Value::Object(properties)) = map.remove("properties") {
                for (name, schema) in properties {
                    let required = is_required && required.contains(&name);
                    arguments.push(Argument { place: "body", name, schema, required, style: ParameterStyle::Exploded });
                }
            }
            (closed, sent)
        } else {
            if let Some(Value::String(description)) = body.get("description") {
                map.entry("description").or_insert_with(|| Value::String(description.trim().to_owned()));
            }
            let required = is_required && body.get("required").is_some();
            let schema = Value::Object(map);
            let name = "body".to_owned();
            arguments.push(Argument { place: WHOLE_BODY, name, schema, required, style: ParameterStyle::Exploded });
            (false, sent)
        }
    }
}

/// The place of a body that is one argument.
const WHOLE_BODY: &str = "whole body";

/// From this preference on, a body is text or bytes, not an object.
const WHOLE: usize = 4;

pub(super) fn preference(media: &str) -> usize {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media.as_str() {
        "application/json" => 0,
        json if json.ends_with("+json") => 1,
        "*/*" | "application/*" => 2,
        "application/x-www-form-urlencoded" | "multipart/form-data" => 3,
        _ => WHOLE,
    }
}

/// If an object must have one of several sets of members (`anyOf` over `required`), requires the smallest set: with it
/// the object is valid, whatever else is said.
fn need_alternatives(schema: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let names = |branch: &Value| -> Option<Vec<Value>> {
            let members = branch.as_object()?;
            let is_plain = members.iter().all(|(key, value)| key == "required" || (key == "type" && value == "object"));
            members.get("required")?.as_array().filter(|_| is_plain).cloned()
        };
        let Some(Value::Array(branches)) = schema.get(keyword) else { continue };
        let Some(lists) = branches.iter().map(names).collect::<Option<Vec<_>>>() else { continue };
        let shortest = lists.into_iter().min_by_key(Vec::len).unwrap_or_default();
        schema.shift_remove(keyword);
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(required) = required {
            required.extend(shortest.into_iter().filter(|name| !required.contains(name)).collect::<Vec<_>>());
        }
    }
}

/// How a body of this media type is written.
fn sent(media: &str) -> BodyKind {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match preference(&media) {
        0..=2 => BodyKind::Json,
        _ if media == "application/x-www-form-urlencoded" => BodyKind::Form,
        _ => BodyKind::Other,
    }
}

/// How lists and objects of a parameter are written.
fn style(parameter: &Map<String, Value>, place: &str) -> ParameterStyle {
    let named = parameter.get("style").and_then(Value::as_str).unwrap_or_default();
    let is_form = named == "form" || (named.is_empty() && place == "query");
    let explode = parameter.get("explode").and_then(Value::as_bool).unwrap_or(is_form);
    match named {
        "deepObject" => ParameterStyle::Deep,
        _ if explode && is_form => ParameterStyle::Exploded,
        _ => ParameterStyle::Joined,
    }
}

/// The first absolute server of the nearest list, with the defaults of its variables and without a trailing slash.
fn server(lists: &[Option<&Value>]) -> Option<String> {
    let list = lists.iter().flatten().find(|list| list.as_array().is_some_and(|list| !list.is_empty()))?;
    list.as_array()?.iter().find_map(|server| {
        let mut url = server.get("url")?.as_str()?.to_owned();
        for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
            url = url.replace(&format!("{{{name}}}"), variable.get("default")?.as_str()?);
        }
        let is_absolute = url.starts_with("http://") || url.starts_with("https://");
        is_absolute.then(|| url.trim_end_matches('/').to_owned())
    })
}

fn describe(summary: &str, description: &str) -> String {
    match (summary, description) {
        (one, "") | ("", one) => one.to_owned(),
        (summary, description) if description.starts_with(summary) => description.to_owned(),
        (summary, description) if summary.ends_with(['.', '!', '?', ':', '。']) => format!("{summary} {description}"),
        (summary, description) => format!("{summary}. {description}"),
    }
}

/// Splits `{a}-x{b}` into `("", a)` and `("-x", b)`.
fn pieces(segment: &str) -> Vec<(&str, Option<&str>)> {
    let mut pieces = Vec::new();
    let mut rest = segment;
    while let Some((literal, after)) = rest.split_once('{') {
        let (variable, behind) = after.split_once('}').unwrap_or((after, ""));
        pieces.push((literal, Some(variable)));
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push((rest, None));
    }
    pieces
}

/// Appends `_word` for each word of `text`, splitting camel case.
fn push_words(name: &mut String, text: &str) {
    for word in name_words(text) {
        name.push('_');
        name.push_str(&word);
    }
}

/// The parameters, and where each of them goes in a request.
fn assemble(arguments: Vec<Argument>, definitions: Map<String, Value>, closed: bool) -> (Value, Vec<RequestPart>) {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let mut parts = Vec::with_capacity(arguments.len());
    // A renamed argument never gets the unchanged name of another one.
    let written: HashSet<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
    for argument in arguments {
        let mut name = argument.name.clone();
        if properties.contains_key(&name) {
            let place = if argument.place == WHOLE_BODY { "body" } else { argument.place };
            let renamed = format!("{place}_{name}");
            let free = |name: &String| !properties.contains_key(name) && !written.contains(name);
            let numbered = (2..).map(|count| format!("{renamed}_{count}"));
            name = std::iter::once(renamed.clone()).chain(numbered).find(free).unwrap_or(renamed);
        }
        if argument.required {
            required.push(Value::String(name.clone()));
        }
        let place = match argument.place {
            "path" => PartPlace::Path,
            "query" => PartPlace::Query,
            WHOLE_BODY => PartPlace::Whole,
            _ => PartPlace::Body,
        };
        parts.push(RequestPart { argument: name.clone(), name: argument.name, place, style: argument.style });
        properties.insert(name, argument.schema);
    }
    let mut parameters = Map::new();
    parameters.insert("type".to_owned(), json!("object"));
    parameters.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        parameters.insert("required".to_owned(), Value::Array(required));
    }
    if closed {
        parameters.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if !definitions.is_empty() {
        parameters.insert("$defs".to_owned(), Value::Object(definitions));
    }
    (Value::Object(parameters), parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: &Value) -> (Vec<SourceFunction>, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let functions = functions("schema.json", document, &Limits::default(), &mut findings);
        (functions, findings.finish(&[]).0)
    }

    #[test]
    fn every_place_and_every_method() {
        let (functions, found) = read(&json!({
            "openapi": "3.0.3",
            "paths": {"/pets/{petId}": {
                "parameters": [{"$ref": "#/components/parameters/petId"}, {"name": "lang", "in": "header", "schema": {"type": "string"}}],
                "get": {"summary": "A pet", "description": "By its id.",
                        "parameters": [{"name": "lang", "in": "query", "schema": {"type": "string"}},
                                       {"name": "Api-Version", "in": "header", "schema": {"type": "string", "default": "2"}},
                                       {"name": "verbose", "in": "cookie", "schema": {"type": "boolean"}},
                                       {"name": "Accept", "in": "header", "schema": {"type": "string"}}]},
                "put": {"operationId": "replacePet", "deprecated": true,
                        "requestBody": {"$ref": "#/components/requestBodies/pet"}},
                "delete": {}
            }},
            "components": {
                "parameters": {"petId": {"name": "petId", "in": "path", "required": true, "description": "Which", "schema": {"type": "integer"}}},
                "requestBodies": {"pet": {"content": {"text/xml": {}, "application/json; charset=utf-8": {"schema": {"$ref": "#/components/schemas/pet"}}}}},
                "schemas": {"pet": {"type": "object", "required": ["id", "name", "petId"], "properties": {
                    "id": {"type": "integer", "readOnly": true}, "name": {"type": "string", "nullable": true}, "petId": {"type": "string"}}}}
            }
        }));
        let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        let unsaid = "header `Api-Version` (1), cookie `verbose` (1), header `lang` (3)";
        assert!(messages.len() == 1 && unsaid.split(", ").all(|one| messages[0].contains(one)), "{messages:?}");
        let headers = &functions[0].request.as_ref().expect("a request").headers;
        assert_eq!(*headers, [("Api-Version".to_owned(), "2".to_owned())]);
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["get_pets_by_pet_id", "replacePet", "delete_pets_by_pet_id"]);
        assert_eq!(functions[0].operation.as_deref(), Some("GET /pets/{petId}"));
        assert_eq!(functions[0].description, "A pet. By its id.");
        assert_eq!(
            functions[0].parameters,
            json!({"type": "object", "required": ["petId"], "properties": {
                "petId": {"type": "integer", "description": "Which"}, "lang": {"type": "string"}}})
        );
        assert_eq!(
            functions[1].parameters,
            json!({"type": "object", "required": ["petId", "name", "body_petId"], "properties": {
                "petId": {"type": "integer", "description": "Which"},
                "name": {"type": ["string", "null"]}, "body_petId": {"type": "string"}}})
        );
    }

    #[test]
    fn a_body_that_is_no_object_is_one_argument() {
        let (functions, found) = read(&json!({"openapi": "3.1.0", "paths": {"/tags": {"post": {"requestBody": {
            "required": true, "description": "All tags",
            "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}}}}}}}));
        assert_eq!(found, []);
        assert_eq!(
            functions[0].parameters,
            json!({"type": "object", "required": ["body"], "properties": {
                "body": {"type": "array", "items": {"type": "string"}, "description": "All tags"}}})
        );
    }

    #[test]
    fn derived_names_are_stable_and_unique() {
        let (functions, _) = read(&json!({"openapi": "3.1.0", "paths": {
            "/userGroups/{groupId}/users.{format}": {"get": {}}, "/a/{b}": {"get": {}}, "/a/by/b": {"get": {}}, "/": {"post": {}}}}));
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["get_user_groups_by_group_id_users_by_format", "get_a_by_b", "get_a_by_b_2", "post"]);
    }

    #[test]
    fn skills_of_the_older_dialect() {
        let (functions, found) = read(&json!({"openapi": "3.1.0",
            "paths": {"/skills": {"get": {"description": "FoodOrdering"}}},
            "components": {"schemas": {
                "FoodOrdering": {"type": "object", "description": "Food ordering", "properties": {
                    "dishes": {"type": "array", "items": {"$ref": "#/components/schemas/Dish"}}}},
                "Dish": {"type": "object", "properties": {"name": {"type": "string"}}}}}}));
        assert_eq!(found, []);
        assert_eq!((functions[0].name.as_str(), functions[0].description.as_str()), ("FoodOrdering", "Food ordering"));
        assert!(functions[0].parameters.pointer("/properties/dishes/items/properties/name").is_some());
    }

    #[test]
    fn an_operation_that_cannot_be_read_is_left_out() {
        let (functions, found) = read(&json!({"openapi": "3.1.0", "paths": {
            "/a": {"get": {"operationId": "a", "parameters": [{"$ref": "other.yaml#/p"}]}},
            "/b": {"get": {"operationId": "b"}, "post": 7},
            "/c": {"get": {"operationId": "c", "parameters": [{"$ref": "other.yaml#/p"}]}}}}));
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["b"]);
        assert!(found.iter().all(|found| found.severity == crate::module::Severity::Warning), "{found:?}");
        let skipped: Vec<&str> = found
            .iter()
            .filter(|found| found.code == "skipped-operation")
            .map(|found| found.message.as_str())
            .collect();
        assert_eq!(skipped.len(), 3, "{skipped:?}");
        assert!(skipped[0].starts_with("`GET /a` is left out: `other.yaml#/p` lies outside"), "{skipped:?}");
    }

    #[test]
    fn what_must_be_there_in_one_way_or_another_is_needed() {
        let body = |schema: Value| {
            let document = json!({"openapi": "3.1.0", "paths": {"/a": {"post": {
                "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}}}});
            read(&document).0[0].parameters.clone()
        };
        let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}});
        let found = body(json!({"type": "object", "properties": properties, "required": ["c"],
            "anyOf": [{"required": ["a", "b"]}, {"required": ["b"]}]}));
        assert_eq!(found, json!({"type": "object", "properties": properties, "required": ["b", "c"]}));
    }

    #[test]
    fn operations_of_one_name_are_told_apart() {
        let (functions, found) = read(&json!({"openapi": "3.1.0", "paths": {
            "/a": {"get": {"operationId": "list"}}, "/b": {"get": {"operationId": "list"}}}}));
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!((names, found[0].code), (vec!["list", "get_b"], "duplicate-name"));
    }

    #[test]
    fn the_second_version_is_read_as_the_third() {
        let modern = super::super::swagger::modernised(&json!({
            "swagger": "2.0", "host": "api.example.com", "basePath": "/v1", "schemes": ["http", "https"],
            "parameters": {"id": {"name": "id", "in": "path", "required": true, "type": "integer", "minimum": 1}},
            "paths": {"/pets/{id}": {
                "parameters": [{"$ref": "#/parameters/id"}],
                "put": {"operationId": "put_pet", "parameters": [
                    {"name": "body", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}},
                    {"name": "tags", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "csv"}],
                    "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"}}}},
                "post": {"operationId": "feed", "parameters": [{"name": "grams", "in": "formData", "required": true, "type": "integer"}]}}},
            "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}));
        let (functions, found) = read(&modern);
        assert_eq!(found, []);
        assert_eq!(
            functions[0].parameters,
            json!({"type": "object", "required": ["id", "name"], "properties": {
                "id": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "items": {"type": "string"}}, "name": {"type": "string"}}})
        );
        let request = functions[0].request.as_ref().expect("a request");
        assert_eq!(request.server.as_deref(), Some("https://api.example.com/v1"));
        assert_eq!(request.parts[1].style, ParameterStyle::Joined);
        let answer =
            super::super::answers::answer(&modern, &functions[0].pointer, &Limits::default()).expect("a schema");
        assert_eq!(answer["required"], json!(["name"]));
        assert_eq!(functions[1].request.as_ref().map(|request| request.body), Some(BodyKind::Form));
    }

    #[test]
    fn other_versions_are_refused() {
        assert_eq!(read(&json!({"openapi": "4.0", "paths": {}})).1[0].code, "unknown-format");
        assert_eq!(read(&json!({"openapi": 3.1, "paths": {}})).1[0].code, "unknown-format");
    }
}
