//! How a function is carried out: where its calls are sent. Written in `module.toml`, or in the `OpenAPI` document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An endpoint as written: `"openapi"`, or a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenEndpoint")]
pub struct EndpointSettings {
    /// The operation of the `OpenAPI` document is the endpoint.
    pub openapi: bool,
    /// Replaces the document's own server.
    pub server: Option<String>,
    pub method: Option<Method>,
    /// Contains `{argument}` in its path and query.
    pub url: Option<String>,
    /// Address of an MCP server (Model Context Protocol).
    pub mcp: Option<String>,
    /// Name of the tool; the function's name if absent.
    pub tool: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// Headers whose values are in files: the name of each one's file in the directory of secrets.
    pub secrets: BTreeMap<String, String>,
    pub timeout_ms: Option<u64>,
    /// How often a request is sent again after a failure that may be temporary; only where that does no harm.
    pub retries: Option<u32>,
    /// True if a request that is sent twice with one key is carried out once. If absent, the method decides.
    pub idempotent: Option<bool>,
    /// Name of the header that carries the key.
    pub idempotency_header: Option<String>,
    /// JSON Schema of a successful answer; `"openapi"`: the document's schema.
    pub answer: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenEndpoint {
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

impl From<WrittenEndpoint> for EndpointSettings {
    fn from(source: WrittenEndpoint) -> Self {
        match source {
            WrittenEndpoint::Word(word) => Self { openapi: word == "openapi", ..Self::default() },
            WrittenEndpoint::Table(table) => Self {
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

    /// The method with this name, in any case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];
        all.into_iter().find(|method| method.name().eq_ignore_ascii_case(name))
    }

    /// True if HTTP defines that the request, sent twice, has the same effect as sent once.
    #[must_use]
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Patch)
    }

    /// True if arguments that are not in the address are sent in the body.
    #[must_use]
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// A call of a function as an HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub method: Method,
    /// Absolute; `None` if an `OpenAPI` document does not say it.
    pub server: Option<String>,
    /// Follows the server; contains `{name}` in its path and query.
    pub path: String,
    /// Headers with the values that an `OpenAPI` document gives them.
    pub headers: Vec<(String, String)>,
    /// Places and names of the arguments that are not in `path`.
    pub parts: Vec<RequestPart>,
    pub body: BodyKind,
}

/// One argument in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPart {
    /// Name of a top-level member of the function's parameters.
    pub argument: String,
    /// The name that the service uses.
    pub name: String,
    pub place: PartPlace,
    pub style: ParameterStyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartPlace {
    Path,
    Query,
    /// A member of the body.
    Body,
    /// The whole body.
    Whole,
}

/// How lists and objects are written outside of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParameterStyle {
    /// `a=1&a=2`; each member of an object is written separately.
    #[default]
    Exploded,
    /// `a=1,2`
    Joined,
    /// `a[b]=1`
    Deep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    None,
    Json,
    Form,
    /// A kind of body that Uptake cannot send.
    Other,
}

/// How a function is carried out, fully resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    pub target: CallTarget,
    pub headers: Vec<(String, String)>,
    /// Each header with the name of the file that holds its value.
    pub secrets: Vec<(String, String)>,
    pub timeout_ms: Option<u64>,
    pub retries: u32,
    pub is_idempotent: bool,
    /// Name of the header that carries the idempotency key.
    pub key_header: String,
    /// JSON Schema of a successful answer.
    pub answer: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallTarget {
    Http(Operation),
    Mcp { url: String, tool: String },
}

impl Endpoint {
    /// The address, up to the first argument in it.
    #[must_use]
    pub fn address(&self) -> String {
        match &self.target {
            CallTarget::Http(operation) => operation.server.clone().unwrap_or_default(),
            CallTarget::Mcp { url, .. } => url.clone(),
        }
    }
}

/// The names between braces.
pub fn holes(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}
