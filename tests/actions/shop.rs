//! A shop on a port of this machine, and a module whose calls go there.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    response::Response,
};
use serde_json::{Value, json};
use uptake::{
    act::{ActionOptions, Actor},
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    http::Conversations,
};

use crate::support::{Answer, Service, embedder};

/// The shop's answer to one request.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) after: Duration,
}

pub(super) fn reply(status: u16, body: &Value) -> Reply {
    Reply { status, body: body.to_string(), headers: vec![("content-type", "application/json")], after: Duration::ZERO }
}

/// A request to the shop.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) line: String,
    pub(super) key: Option<String>,
    pub(super) token: Option<String>,
    pub(super) body: Value,
}

#[derive(Clone)]
pub(crate) struct Shop {
    pub(super) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    /// In order, the last one repeated.
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
}

impl Shop {
    pub(super) async fn replying(replies: Vec<Reply>) -> Self {
        let shared = Arc::new(Shared { replies: Mutex::new(replies.into()), asked: Mutex::default() });
        let router = Router::new().fallback(serve).with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("a bound port"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    pub(crate) async fn good() -> Self {
        Self::replying(vec![reply(201, &json!({"id": "S-17", "state": "packed"}))]).await
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("no panic while it was held").clone()
    }

    /// Waits until `count` requests have arrived.
    pub(super) async fn heard(&self, count: usize) {
        for _ in 0..2_000 {
            if self.asked().len() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the shop heard {} requests, not {count}", self.asked().len());
    }
}

async fn serve(State(shop): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.expect("a whole body");
    let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let asked = Asked {
        line: format!("{} {}", head.method, head.uri),
        key: text("idempotency-key"),
        token: text("authorization"),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    shop.asked.lock().expect("no panic while it was held").push(asked);
    let reply = {
        let mut replies = shop.replies.lock().expect("no panic while it was held");
        if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }.expect("a reply")
    };
    tokio::time::sleep(reply.after).await;
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body)).expect("a response of the table")
}

pub(super) const SCHEMA: &str = r#"[
    {"name": "order_shoes", "description": "Order a pair of shoes", "parameters": {"type": "object",
        "properties": {"size": {"type": "integer", "minimum": 30, "maximum": 50}, "color": {"enum": ["red", "black"]}},
        "required": ["size", "color"]}},
    {"name": "track_order", "description": "Tell where an order is", "parameters": {"type": "object",
        "properties": {"number": {"type": "integer"}}, "required": ["number"]}}]"#;

const EXEMPLARS: &str = r#"{
    "order_shoes": ["order <color> shoes in size <size>", "I want to order shoes", "buy <color> shoes"],
    "track_order": ["where is my order <number>", "track order <number>"]}"#;

/// The module's settings; `more` is added to the endpoint of `order_shoes`.
pub(super) fn settings(url: &str, more: &str) -> String {
    format!(
        "[functions.order_shoes]\nconfirm = true\nreplies.done = \"Order {{{{ result.id }}}} is on its way.\"\n\
         endpoint = {{ url = \"{url}/orders\" {more} }}\n\
         [functions.track_order]\nendpoint = {{ method = \"GET\", url = \"{url}/orders/{{number}}\" }}\n"
    )
}

pub(crate) fn options() -> ActionOptions {
    ActionOptions {
        enabled: true,
        hosts: vec!["127.0.0.1".to_owned()],
        networks: vec!["127.0.0.1".to_owned()],
        timeout_ms: 20_000,
        ..ActionOptions::default()
    }
}

/// A service with the module, which keeps its sessions in memory.
pub(crate) fn service(shop: &Shop, more: &str, options: &ActionOptions) -> Service {
    service_at(shop, more, options, "memory:")
}

pub(super) fn service_at(shop: &Shop, more: &str, options: &ActionOptions, store: &str) -> Service {
    let sessions = SessionOptions { url: StoreUrl::new(store), ..SessionOptions::default() };
    let conversations = Conversations::open(&sessions, &ConversationOptions::default()).expect("good options");
    let actor = Actor::open(options).expect("good options");
    let service = Service::keeping(&[], embedder(), conversations.acting(actor));
    service.write("shop", "schema.json", SCHEMA);
    service.write("shop", "exemplars.json", EXEMPLARS);
    service.write("shop", "module.toml", &settings(&shop.url, more));
    service
}

/// A turn of a session.
pub(crate) async fn say(service: &Service, session: &str, utterance: &str) -> Value {
    let answer = predict(service, &json!({"utterance": utterance, "session_id": session})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

pub(super) async fn predict(service: &Service, body: &Value) -> Answer {
    service.post("/v1/predict/shop", body.to_string()).await
}

/// `outcome`, `reply`, and the status of each call.
pub(super) fn told(answer: &Value) -> (String, String, Vec<String>) {
    let uptake = &answer["uptake"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let actions = uptake["actions"].as_array().cloned().unwrap_or_default();
    let statuses = actions.iter().map(|action| text(&action["status"])).collect();
    (text(&uptake["outcome"]), text(&uptake["reply"]), statuses)
}
