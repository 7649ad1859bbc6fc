//! A model server on a port of this machine that sends prepared answers.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, body::Body, extract::State, http::StatusCode, response::Response, routing::post};
use serde_json::{Value, json};
use uptake::llm::LlmOptions;

/// An answer: a status, a content type, and bytes.
pub(crate) type Reply = (u16, &'static str, Vec<u8>);

#[derive(Clone)]
pub(crate) struct ModelServer {
    pub(crate) base_url: String,
    shared: Arc<Shared>,
}

/// Maps the number of a request and its body to its answer.
type Answer = Box<dyn Fn(usize, &Value) -> Reply + Send + Sync>;

struct Shared {
    answer: Answer,
    served: AtomicUsize,
    heard: Mutex<Vec<Value>>,
}

impl ModelServer {
    /// Gives these replies in order, the last one repeatedly.
    pub(crate) async fn replying(replies: Vec<Reply>) -> Self {
        let last = replies.len() - 1;
        Self::answering(move |turn, _| replies[turn.min(last)].clone()).await
    }

    /// Answers with `answer(number of the request from 0, its body)`.
    pub(crate) async fn answering(answer: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let shared = Shared { answer: Box::new(answer), served: AtomicUsize::new(0), heard: Mutex::default() };
        let shared = Arc::new(shared);
        let router = Router::new().route("/v1/chat/completions", post(serve)).with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("a bound port"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base_url, shared }
    }

    pub(crate) fn options(&self) -> LlmOptions {
        LlmOptions {
            base_url: Some(self.base_url.clone()),
            retries: 0,
            timeout_ms: 2_000,
            // Only the requests of turns are counted.
            probe: false,
            ..LlmOptions::default()
        }
    }

    pub(crate) fn served(&self) -> usize {
        self.shared.served.load(Ordering::SeqCst)
    }

    /// The bodies of the requests so far.
    pub(crate) fn heard(&self) -> Vec<Value> {
        self.shared.heard.lock().expect("no panic while it was held").clone()
    }
}

async fn serve(State(server): State<Arc<Shared>>, axum::Json(body): axum::Json<Value>) -> Response {
    let turn = server.served.fetch_add(1, Ordering::SeqCst);
    let (status, content_type, bytes) = (server.answer)(turn, &body);
    server.heard.lock().expect("no panic while it was held").push(body);
    Response::builder()
        .status(StatusCode::from_u16(status).expect("a status of the table"))
        .header("content-type", content_type)
        .body(Body::from(bytes))
        .expect("a response of the table")
}

pub(crate) fn completion(message: &Value, finish_reason: &str) -> Reply {
    let body = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": message, "finish_reason": finish_reason}]});
    (200, "application/json", body.to_string().into_bytes())
}

#[expect(clippy::needless_pass_by_value, reason = "made on the spot, in a table")]
pub(crate) fn message(message: Value) -> Reply {
    completion(&message, "stop")
}

pub(crate) fn called(name: &str, arguments: &str) -> Reply {
    message(json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}]}))
}

pub(crate) fn said(content: &str) -> Reply {
    message(json!({"role": "assistant", "content": content}))
}

pub(crate) fn raw(body: &str) -> Reply {
    (200, "application/json", body.as_bytes().to_vec())
}

/// The answers of a model that understands everything, for any form of question.
#[derive(Debug, Clone)]
pub(crate) struct Right {
    pub(crate) function: &'static str,
    pub(crate) arguments: Value,
}

/// An answer, before a server puts it into its own form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meant {
    Call(&'static str, Value),
    /// JSON, as requested.
    Json(Value),
}

impl Right {
    /// The right answer to this request.
    pub(crate) fn answer(&self, body: &Value) -> Meant {
        let system = body["messages"][0]["content"].as_str().unwrap_or_default();
        let line = |key: &str| system.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        Meant::Json(match body["response_format"]["json_schema"]["name"].as_str() {
            Some("calls") => json!({"call": {"function": self.function, "arguments": self.arguments}}),
            Some("choice") => json!({"function": self.function}),
            Some("answer") => match (line("Function:"), line("Example:")) {
                (Some(function), _) => json!({"answer": function == self.function}),
                // For the examples here it is enough that forecasts mention days.
                (None, Some(example)) => json!({"answer": example.contains("days")}),
                (None, None) => json!({"answer": false}),
            },
            Some("arguments") => self.arguments.clone(),
            Some("value") => json!({"value": self.arguments[line("Slot:").unwrap_or_default()]}),
            Some(other) => panic!("an unknown form: {other}"),
            None => return Meant::Call(self.function, self.arguments.clone()),
        })
    }
}
