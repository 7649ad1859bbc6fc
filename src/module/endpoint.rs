//! How a function is carried out: where its calls go. Written in `module.toml`, or in the `OpenAPI` document; checked
//! here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Diagnostic, Function, ModuleName, Settings,
    files::SETTINGS_FILE,
    findings::{Findings, Place},
    schema,
};

/// The header that carries the idempotency key, where the author names no other.
const KEY_HEADER: &str = "Idempotency-Key";
/// Headers that belong to the connection or the body.
const RESERVED: [&str; 7] =
    ["host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade"];

/// An endpoint as written: `"openapi"`, or a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Source")]
pub struct EndpointSettings {
    /// The operation of the `OpenAPI` document is the endpoint.
    pub openapi: bool,
    /// Instead of the document's own server.
    pub server: Option<String>,
    pub method: Option<Method>,
    /// With `{argument}` in its path and query.
    pub url: Option<String>,
    /// Address of a server of the Model Context Protocol.
    pub mcp: Option<String>,
    /// Its tool; the function's name if absent.
    pub tool: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// Headers with their values in files, each by its name in the directory of secrets.
    pub secrets: BTreeMap<String, String>,
    pub timeout_ms: Option<u64>,
    /// Times that a request is sent again that may have failed in passing; only where that does no harm.
    pub retries: Option<u32>,
    /// Sent twice with one key it is done once. If absent, what the method says.
    pub idempotent: Option<bool>,
    /// The header of the key.
    pub idempotency_header: Option<String>,
    /// JSON Schema of a good answer; `"openapi"`: that of the document.
    pub answer: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Word(String),
    Table(Box<Table>),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Table {
    openapi: bool,
    server: Option<String>,
    method: Option<Method>,
    url: Option<String>,
    mcp: Option<String>,
    tool: Option<String>,
    headers: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    retries: Option<u32>,
    idempotent: Option<bool>,
    idempotency_header: Option<String>,
    answer: Option<Value>,
}

impl From<Source> for EndpointSettings {
    fn from(source: Source) -> Self {
        match source {
            Source::Word(word) => Self { openapi: word == "openapi", ..Self::default() },
            Source::Table(table) => Self {
                openapi: table.openapi,
                server: table.server,
                method: table.method,
                url: table.url,
                mcp: table.mcp,
                tool: table.tool,
                headers: table.headers,
                secrets: table.secrets,
                timeout_ms: table.timeout_ms,
                retries: table.retries,
                idempotent: table.idempotent,
                idempotency_header: table.idempotency_header,
                answer: table.answer,
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    pub const NAMES: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// In whatever case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];
        all.into_iter().find(|method| method.name().eq_ignore_ascii_case(name))
    }

    /// Sent twice it does what it does once, by the definition of HTTP.
    #[must_use]
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Patch)
    }

    /// What is not in the address is in the body.
    const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// What a call of a function is as an HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub method: Method,
    /// Absolute; `None` where an `OpenAPI` document does not say it.
    pub server: Option<String>,
    /// Behind the server, with `{name}` in its path and query.
    pub path: String,
    /// Where the arguments go that are not in `path`, and under which name.
    pub parts: Vec<Part>,
    pub body: Body,
}

/// One argument in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Top-level name in the function's parameters.
    pub argument: String,
    /// As the service has it.
    pub name: String,
    pub place: PartPlace,
    pub style: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartPlace {
    Path,
    Query,
    Header,
    Cookie,
    /// A member of the body.
    Body,
    /// The body itself.
    Whole,
}

/// How lists and objects are written outside of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// `a=1&a=2`, and the members of an object each by itself.
    #[default]
    Exploded,
    /// `a=1,2`
    Joined,
    /// `a[b]=1`
    Deep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    Json,
    Form,
    /// Of a kind that no request of ours has.
    Other,
}

/// How a function is carried out, with nothing left to look up.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    pub target: Target,
    pub headers: Vec<(String, String)>,
    /// Header, and name of the file that holds its value.
    pub secrets: Vec<(String, String)>,
    pub timeout_ms: Option<u64>,
    pub retries: u32,
    pub is_idempotent: bool,
    /// Of the idempotency key.
    pub key_header: String,
    /// JSON Schema of a good answer.
    pub answer: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Http(Operation),
    Mcp { url: String, tool: String },
}

impl Endpoint {
    /// The address, up to the first place that an argument has in it.
    #[must_use]
    pub fn address(&self) -> String {
        match &self.target {
            Target::Http(operation) => operation.server.clone().unwrap_or_default(),
            Target::Mcp { url, .. } => url.clone(),
        }
    }
}

/// JSON Schema of the answer that the document describes, where one is wanted.
pub(super) type Known = Option<Value>;

/// Gives each function its endpoint. `known` is what the schema says of the one at this position.
pub(super) fn resolve_all(
    settings: &Settings,
    functions: &mut [Function],
    known: impl Fn(usize, &EndpointSettings) -> Known,
    findings: &mut Findings,
) {
    let functions_at = Place::ROOT.key("functions");
    for (index, function) in functions.iter_mut().enumerate() {
        let Some(own) = settings.functions.get(&function.name).and_then(|own| own.endpoint.as_ref()) else { continue };
        let at = functions_at.key(&function.name);
        function.endpoint = resolve(own, function, known(index, own), &at.key("endpoint"), findings);
    }
}

/// Makes of what is written what can be carried out; `None` after a finding.
fn resolve(
    own: &EndpointSettings,
    function: &Function,
    known: Known,
    place: &Place<'_>,
    findings: &mut Findings,
) -> Option<Endpoint> {
    let before = findings.errors();
    let mut bad = |at: &Place<'_>, message: String, hint: &str| {
        findings.push(Diagnostic::error("bad-endpoint", SETTINGS_FILE, at, message).hint(hint));
    };
    let target = match (own.openapi, &own.url, &own.mcp) {
        (true, None, None) => of_document(own, function, place, &mut bad),
        (false, Some(url), None) => of_url(own, url, function, &place.key("url"), &mut bad),
        (false, None, Some(url)) => {
            check_address(url, &place.key("mcp"), &mut bad);
            let tool = own.tool.clone().unwrap_or_else(|| function.name.clone());
            Some(Target::Mcp { url: url.clone(), tool })
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
        Target::Http(operation) => operation.method.is_idempotent(),
        Target::Mcp { .. } => false,
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

fn check_headers(own: &EndpointSettings, place: &Place<'_>, bad: &mut impl FnMut(&Place<'_>, String, &str)) {
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
    place: &Place<'_>,
    bad: &mut impl FnMut(&Place<'_>, String, &str),
) -> Option<Target> {
    let Some(mut operation) = function.request.clone() else {
        let message = format!("`{}` is not an operation of an OpenAPI document", function.name);
        bad(place, message, "write a table with `url`");
        return None;
    };
    if operation.body == Body::Other {
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
    Some(Target::Http(operation))
}

fn of_url(
    own: &EndpointSettings,
    url: &str,
    function: &Function,
    place: &Place<'_>,
    bad: &mut impl FnMut(&Place<'_>, String, &str),
) -> Option<Target> {
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
            Some(name) => parts.push(Part {
                argument: (*name).clone(),
                name: hole.to_owned(),
                place: PartPlace::Path,
                style: Style::Joined,
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
            parts.push(Part { argument: name.clone(), name: name.clone(), place: rest, style: Style::Exploded });
        }
    }
    let has_body = parts.iter().any(|part| part.place == PartPlace::Body);
    let body = if has_body { Body::Json } else { Body::None };
    Some(Target::Http(Operation { method, server: Some(server.to_owned()), path: path.to_owned(), parts, body }))
}

/// The names between braces.
pub fn holes(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

fn check_address(url: &str, place: &Place<'_>, bad: &mut impl FnMut(&Place<'_>, String, &str)) {
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
