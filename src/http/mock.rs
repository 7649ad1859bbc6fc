//! A stand-in for the services that a module calls, so that its author can try it: it accepts calls of all functions,
//! validates them against their schemas, and answers as the document describes. It does nothing else.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use super::{HttpOptions, connections};
use crate::{
    module::{
        Function, Module, ServiceAnswer,
        endpoint::{CallTarget, Method, Operation, PartPlace, holes},
        schema,
    },
    sample::value::plausible,
};

/// Most answers that are repeated for the same idempotency key.
const REMEMBERED: usize = 1_000;

/// Mock answers for one module's services.
#[derive(Clone)]
pub struct Mock(Arc<MockState>);

struct MockState {
    functions: Vec<Mocked>,
    longest: usize,
    given: Mutex<BTreeMap<String, (StatusCode, Value)>>,
}

/// A function as a service implements it.
struct Mocked {
    name: String,
    operation: Operation,
    /// Schema of all arguments.
    parameters: Value,
    answer: ServiceAnswer,
}

impl Mock {
    /// `answers` are the answers in the module's document, by function; where there is none, an endpoint's own schema
    /// applies.
    #[must_use]
    pub fn new(module: &Module, mut answers: BTreeMap<String, ServiceAnswer>, longest: usize) -> Self {
        let functions = module.functions.iter().map(|function| Mocked {
            name: function.name.clone(),
            operation: operation(function),
            parameters: function.parameters.clone(),
            answer: answers.remove(&function.name).unwrap_or_else(|| ServiceAnswer {
                example: None,
                schema: function.endpoint.as_ref().and_then(|endpoint| endpoint.answer.clone()),
            }),
        });
        Self(Arc::new(MockState { functions: functions.collect(), longest, given: Mutex::default() }))
    }

    /// One line for each function: its method, path and name.
    #[must_use]
    pub fn routes(&self) -> Vec<String> {
        let route = |mocked: &Mocked| {
            format!("{} {}  {}", mocked.operation.method.name(), path_of(&mocked.operation), mocked.name)
        };
        self.0.functions.iter().map(route).collect()
    }

    /// Accepts every path and method.
    pub fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone())
    }

    /// Serves on `listener` until `stop` completes.
    pub async fn serve(&self, listener: TcpListener, options: &HttpOptions, stop: impl Future<Output = ()> + Send) {
        connections::serve(listener, self.router(), options, stop).await;
    }

    /// The requested function, preferring the most literal path, and the values in its path.
    fn find(&self, method: &str, path: &str) -> Option<(&Mocked, Map<String, Value>)> {
        let fitting = self.0.functions.iter().filter(|mocked| mocked.operation.method.name() == method);
        let found = fitting.filter_map(|mocked| Some((mocked, in_path(&mocked.operation, path)?)));
        found.min_by_key(|(_, values)| values.len())
    }

    /// The answer to a call of a function.
    fn called(&self, mocked: &Mocked, arguments: &Map<String, Value>, key: Option<&str>) -> (StatusCode, Value) {
        let mut given = self.0.given.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key.map(|key| format!("{} {key}", mocked.name));
        if let Some(before) = key.as_ref().and_then(|key| given.get(key)) {
            return before.clone();
        }
        let made = match problem(&mocked.parameters, arguments) {
            Some(detail) => (StatusCode::UNPROCESSABLE_ENTITY, json!({ "detail": detail })),
            None => (StatusCode::OK, mocked.made(arguments)),
        };
        if let Some(key) = key.filter(|_| given.len() < REMEMBERED) {
            given.insert(key, made.clone());
        }
        made
    }
}

impl Mocked {
    /// An answer as the document describes it; without a description, the arguments and a number.
    fn made(&self, arguments: &Map<String, Value>) -> Value {
        let mut random = fastrand::Rng::new();
        match (&self.answer.example, &self.answer.schema) {
            (Some(example), _) => example.clone(),
            (None, Some(schema)) => plausible(schema, arguments, &mut random),
            (None, None) => {
                let mut all = Map::new();
                all.insert("id".to_owned(), format!("{}", random.u16(1_000..9_999)).into());
                all.insert("status".to_owned(), "accepted".into());
                all.extend(arguments.clone());
                Value::Object(all)
            }
        }
    }
}

/// The operation of a function: of its endpoint, or else of its document, or else made from its name.
fn operation(function: &Function) -> Operation {
    match function.endpoint.as_ref().map(|endpoint| &endpoint.target) {
        Some(CallTarget::Http(operation)) => operation.clone(),
        Some(CallTarget::Mcp { .. }) | None => function.request.clone().unwrap_or_else(|| Operation {
            method: Method::Post,
            server: None,
            path: format!("/{}", function.name),
            headers: Vec::new(),
            parts: Vec::new(),
            body: crate::module::endpoint::BodyKind::Json,
        }),
    }
}

/// The path without the query that its author wrote.
fn path_of(operation: &Operation) -> &str {
    operation.path.split('?').next().unwrap_or_default()
}

/// The values in a path, if it ends as the operation's path does: servers may have a path prefix.
fn in_path(operation: &Operation, path: &str) -> Option<Map<String, Value>> {
    let steps = |path: &'_ str| path.split('/').filter(|step| !step.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (wanted, asked) = (steps(path_of(operation)), steps(path));
    let asked = asked.get(asked.len().checked_sub(wanted.len())?..)?;
    let mut values = Map::new();
    for (wanted, asked) in wanted.iter().zip(asked) {
        match holes(wanted).next() {
            None if wanted == asked => {}
            None => return None,
            Some(hole) => {
                let part = operation.parts.iter().find(|part| part.place == PartPlace::Path && part.name == hole);
                let argument = part.map_or(hole, |part| &part.argument);
                values.insert(argument.to_owned(), decoded(asked).into());
            }
        }
    }
    Some(values)
}

async fn answer(State(mock): State<Mock>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let refused =
        |status: StatusCode, detail: String| (status, axum::Json(json!({ "detail": detail }))).into_response();
    let Ok(body) = to_bytes(body, mock.0.longest).await else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long".to_owned());
    };
    let Some((mocked, mut arguments)) = mock.find(head.method.as_str(), &path) else {
        return refused(StatusCode::NOT_FOUND, format!("no function is asked for by {} {path}", head.method));
    };
    take_query(&mocked.operation, head.uri.query().unwrap_or_default(), &mut arguments);
    if !body.is_empty() {
        let is_json = content_type(&head.headers).is_none_or(|kind| kind.contains("json"));
        let read = if is_json { serde_json::from_slice(&body).ok() } else { Some(form(&body)) };
        let Some(read) = read else { return refused(StatusCode::BAD_REQUEST, "the body is not JSON".to_owned()) };
        take_body(&mocked.operation, read, &mut arguments);
    }
    typed(&mocked.parameters, &mut arguments);
    let key = head.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
    let (status, answer) = mock.called(mocked, &arguments, key);
    let arguments = Value::Object(arguments).to_string();
    tracing::info!(function = mocked.name, status = status.as_u16(), arguments, "called");
    (status, axum::Json(answer)).into_response()
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get("content-type")?.to_str().ok()
}

fn take_query(operation: &Operation, query: &str, arguments: &mut Map<String, Value>) {
    for (name, value) in pairs(query) {
        let part = operation.parts.iter().find(|part| part.place == PartPlace::Query && part.name == name);
        let argument = part.map_or(name, |part| part.argument.clone());
        match arguments.get_mut(&argument) {
            Some(Value::Array(items)) => items.push(value.into()),
            Some(first) => *first = json!([first, value]),
            None => {
                arguments.insert(argument, value.into());
            }
        }
    }
}

fn take_body(operation: &Operation, body: Value, arguments: &mut Map<String, Value>) {
    if let Some(whole) = operation.parts.iter().find(|part| part.place == PartPlace::Whole) {
        arguments.insert(whole.argument.clone(), body);
        return;
    }
    let Value::Object(members) = body else { return };
    for (name, value) in members {
        let part = operation.parts.iter().find(|part| part.place == PartPlace::Body && part.name == name);
        arguments.insert(part.map_or(name, |part| part.argument.clone()), value);
    }
}

/// Converts text from an address to the type that the schema wants, where it has one.
fn typed(parameters: &Value, arguments: &mut Map<String, Value>) {
    let Some(properties) = parameters.get("properties").and_then(Value::as_object) else { return };
    for (name, value) in arguments {
        let wants = |kind: &str| match properties.get(name).and_then(|property| property.get("type")) {
            Some(Value::String(one)) => one == kind,
            Some(Value::Array(several)) => several.iter().any(|one| one == kind),
            _ => false,
        };
        match value {
            Value::String(text) if !wants("string") => {
                let read =
                    serde_json::from_str::<Value>(text).ok().filter(|read| read.is_number() || read.is_boolean());
                let listed = || wants("array").then(|| text.split(',').map(Value::from).collect());
                if let Some(read) =
                    read.filter(|_| wants("number") || wants("integer") || wants("boolean")).or_else(listed)
                {
                    *value = read;
                }
            }
            _ => {}
        }
    }
}

/// The error in the arguments, in the words of a service.
fn problem(parameters: &Value, arguments: &Map<String, Value>) -> Option<String> {
    let validator = schema::validator(parameters).ok()?;
    let value = Value::Object(arguments.clone());
    let error = validator.iter_errors(&value).next()?;
    Some(error.to_string())
}

fn form(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body);
    Value::Object(pairs(&text).map(|(name, value)| (name, value.into())).collect())
}

fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    text.split('&').filter(|pair| !pair.is_empty()).map(pair)
}

/// Decodes percent escapes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match byte {
            b'%' => {
                let mut ahead = rest.clone();
                let pair = ahead.next().and_then(hex).zip(ahead.next().and_then(hex));
                match pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
                    Some(byte) => {
                        bytes.push(byte);
                        rest = ahead;
                    }
                    None => bytes.push(b'%'),
                }
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
