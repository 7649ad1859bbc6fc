//! Gives functions their endpoints: checks what is written and turns it into what can be carried out.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Diagnostic, Function, ModuleName, Settings,
    endpoint::{
        BodyKind, CallTarget, Endpoint, EndpointSettings, Method, Operation, ParameterStyle, PartPlace, RequestPart,
        holes,
    },
    files::SETTINGS_FILE,
    findings::{Findings, PointerChain},
    schema,
    settings::FunctionSettings,
    template,
};

/// The header that carries the idempotency key if the author names no other.
const KEY_HEADER: &str = "Idempotency-Key";
/// Headers that belong to the connection or to the body.
const RESERVED: [&str; 7] =
    ["host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade"];

/// JSON Schema of the answer that the document describes, if it is wanted.
pub(super) type AnswerSchema = Option<Value>;

/// Gives each function its endpoint. `known` returns what the schema says about the function at a position.
pub(super) fn resolve_all(
    settings: &Settings,
    functions: &mut [Function],
    known: impl Fn(usize, &EndpointSettings) -> AnswerSchema,
    findings: &mut Findings,
) {
    let functions_at = PointerChain::ROOT.key("functions");
    for (index, function) in functions.iter_mut().enumerate() {
        let Some(own) = settings.functions.get(&function.name).and_then(|own| own.endpoint.as_ref()) else { continue };
        let at = functions_at.key(&function.name);
        function.endpoint = resolve(own, function, known(index, own), &at.key("endpoint"), findings);
        if let (Some(endpoint), Some(own)) = (&function.endpoint, settings.functions.get(&function.name)) {
            check_replies(endpoint, own, &at.key("replies").key("done"), findings);
        }
    }
}

/// Reports members that the reply names and that the answer's schema does not have.
fn check_replies(endpoint: &Endpoint, own: &FunctionSettings, place: &PointerChain<'_>, findings: &mut Findings) {
    let (Some(answer), Some(done)) = (&endpoint.answer, &own.replies.done) else { return };
    let named: BTreeSet<String> = done.texts().flat_map(|(_, text)| template::members(text, "result")).collect();
    for member in named.iter().filter(|member| lacks(answer, member)) {
        let message = format!("the reply needs `result.{member}`, and `answer` has no such member");
        let found = Diagnostic::warning("unknown-result", SETTINGS_FILE, place, message);
        findings
            .push(found.hint("where it is absent, the result is told plainly instead: name a member that is there"));
    }
}

/// True if the schema lists the members of its value, and this one is not among them.
fn lacks(schema: &Value, member: &str) -> bool {
    let mut schema = schema;
    for key in member.split('.') {
        let Some(members) = schema.get("properties").and_then(Value::as_object).filter(|members| !members.is_empty())
        else {
            return false;
        };
        match members.get(key) {
            Some(inner) => schema = inner,
            None => return true,
        }
    }
    false
}

/// Turns what is written into what can be carried out; `None` after a finding.
fn resolve(
    own: &EndpointSettings,
    function: &Function,
    known: AnswerSchema,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) -> Option<Endpoint> {
    let before = findings.errors();
    let mut bad = |at: &PointerChain<'_>, message: String, hint: &str| {
        findings.push(Diagnostic::error("bad-endpoint", SETTINGS_FILE, at, message).hint(hint));
    };
    let target = match (own.openapi, &own.url, &own.mcp) {
        (true, None, None) => of_document(own, function, place, &mut bad),
        (false, Some(url), None) => of_url(own, url, function, &place.key("url"), &mut bad),
        (false, None, Some(url)) => {
            check_address(url, &place.key("mcp"), &mut bad);
            let tool = own.tool.clone().unwrap_or_else(|| function.name.clone());
            Some(CallTarget::Mcp { url: url.clone(), tool })
        }
        _ => {
            let message =
                format!("the endpoint of `{}` is none of an operation, an address, and a tool", function.name);
            bad(place, message, "write `\"openapi\"`, or a table with `url`, or one with `mcp`");
            None
        }
    };
    check_headers(own, place, &mut bad);
    let answer = match &own.answer {
        None => None,
        Some(Value::String(word)) if word == "openapi" && own.openapi => known,
        Some(written @ Value::Object(_)) => Some(written.clone()),
        Some(_) => {
            let hint = "write a table such as `{ type = \"object\", required = [\"id\"] }`, or \"openapi\"";
            bad(&place.key("answer"), "`answer` is no JSON Schema".to_owned(), hint);
            None
        }
    };
    if let Some(reason) = answer.as_ref().and_then(|answer| schema::validator(answer).err()) {
        bad(&place.key("answer"), format!("`answer` is no JSON Schema: {reason}"), "see json-schema.org");
    }
    let target = target?;
    let by_method = match &target {
        CallTarget::Http(operation) => operation.method.is_idempotent(),
        CallTarget::Mcp { .. } => false,
    };
    let is_idempotent = own.idempotent.unwrap_or(by_method);
    if own.retries.is_some_and(|retries| retries > 0) && !is_idempotent {
        let message = "`retries` has no effect: what is sent twice may be done twice";
        let found = Diagnostic::warning("no-effect", SETTINGS_FILE, place.key("retries"), message);
        findings.push(found.hint("`idempotent = true`, if the service does once what comes twice with one key"));
    }
    (findings.errors() == before).then(|| Endpoint {
        target,
        headers: own.headers.clone().into_iter().collect(),
        secrets: own.secrets.clone().into_iter().collect(),
        timeout_ms: own.timeout_ms,
        retries: own.retries.unwrap_or(if is_idempotent { 1 } else { 0 }),
        is_idempotent,
        key_header: own.idempotency_header.clone().unwrap_or_else(|| KEY_HEADER.to_owned()),
        answer,
    })
}

fn check_headers(
    own: &EndpointSettings,
    place: &PointerChain<'_>,
    bad: &mut impl FnMut(&PointerChain<'_>, String, &str),
) {
    let (headers_at, secrets_at) = (place.key("headers"), place.key("secrets"));
    let places =
        own.headers.keys().map(|name| (name, headers_at)).chain(own.secrets.keys().map(|name| (name, secrets_at)));
    for (name, at) in places {
        let is_token =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_token || RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            let message = format!("`{name}` is no header that an endpoint may set");
            bad(&at.key(name), message, "for example `Authorization`");
        }
    }
    for (name, value) in own.headers.iter().filter(|(_, value)| value.chars().any(char::is_control)) {
        bad(&headers_at.key(name), format!("`{value}` is not in one line"), "a header's value is one line");
    }
    for (name, file) in own.secrets.iter().filter(|(_, file)| ModuleName::new(file).is_err()) {
        let message = format!("`{file}` is not the name of a file");
        bad(&secrets_at.key(name), message, "name a file of the directory `actions.secrets`, without a path");
    }
}

fn of_document(
    own: &EndpointSettings,
    function: &Function,
    place: &PointerChain<'_>,
    bad: &mut impl FnMut(&PointerChain<'_>, String, &str),
) -> Option<CallTarget> {
    let Some(mut operation) = function.request.clone() else {
        let message = format!("`{}` is not an operation of an OpenAPI document", function.name);
        bad(place, message, "write a table with `url`");
        return None;
    };
    if operation.body == BodyKind::Other {
        let message = format!("the body of `{}` is neither JSON nor a form", function.name);
        bad(place, message, "write a table with `url`, or leave the endpoint out: the client makes the call then");
        return None;
    }
    operation.server = own.server.clone().or(operation.server);
    let Some(server) = &operation.server else {
        let message = "the document names no absolute server".to_owned();
        bad(place, message, "write `endpoint = { openapi = true, server = \"https://api.example.com\" }`");
        return None;
    };
    check_address(server, &place.key("server"), bad);
    Some(CallTarget::Http(operation))
}

fn of_url(
    own: &EndpointSettings,
    url: &str,
    function: &Function,
    place: &PointerChain<'_>,
    bad: &mut impl FnMut(&PointerChain<'_>, String, &str),
) -> Option<CallTarget> {
    let method = own.method.unwrap_or(Method::Post);
    check_address(url, place, bad);
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url[authority..].find(['/', '?', '#']).map_or(url.len(), |at| authority + at);
    let (server, path) = url.split_at(end);
    if server.contains(['{', '}']) {
        let message = "an argument cannot say which server is asked".to_owned();
        bad(place, message, "arguments belong behind the host, as in `https://api.example.com/orders/{id}`");
        return None;
    }
    let properties = function.parameters.get("properties").and_then(Value::as_object);
    let names: Vec<&String> = properties.into_iter().flat_map(|properties| properties.keys()).collect();
    let mut parts = Vec::new();
    for hole in holes(path) {
        match names.iter().find(|name| **name == hole) {
            Some(name) => parts.push(RequestPart {
                argument: (*name).clone(),
                name: hole.to_owned(),
                place: PartPlace::Path,
                style: ParameterStyle::Joined,
            }),
            None => {
                let listed = names.iter().map(|name| format!("`{{{name}}}`")).collect::<Vec<_>>().join(", ");
                bad(place, format!("`{}` has no argument `{hole}`", function.name), &format!("there are {listed}"));
            }
        }
    }
    let rest = if method.has_body() { PartPlace::Body } else { PartPlace::Query };
    for name in names {
        if !parts.iter().any(|part| part.argument == *name) {
            parts.push(RequestPart {
                argument: name.clone(),
                name: name.clone(),
                place: rest,
                style: ParameterStyle::Exploded,
            });
        }
    }
    let has_body = parts.iter().any(|part| part.place == PartPlace::Body);
    let body = if has_body { BodyKind::Json } else { BodyKind::None };
    Some(CallTarget::Http(Operation {
        method,
        server: Some(server.to_owned()),
        path: path.to_owned(),
        headers: Vec::new(),
        parts,
        body,
    }))
}

fn check_address(url: &str, place: &PointerChain<'_>, bad: &mut impl FnMut(&PointerChain<'_>, String, &str)) {
    let rest = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let authority = rest.map_or("", |rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_plain = !url.chars().any(|character| character.is_whitespace() || character.is_control());
    if authority.is_empty() || !is_plain {
        let message = format!("`{url}` is no address of a service");
        bad(place, message, "for example `https://api.example.com/orders/{id}`");
    } else if authority.contains('@') {
        let message = "an address holds no name and password".to_owned();
        bad(place, message, "put what proves who is asking into a file, and name it in `secrets`");
    }
}
