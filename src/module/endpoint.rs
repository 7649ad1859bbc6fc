//! How a function is carried out: where its calls go. Written in `module.toml`, or in the `OpenAPI` document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    #[must_use]
    pub const fn has_body(self) -> bool {
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

/// The names between braces.
pub fn holes(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}
