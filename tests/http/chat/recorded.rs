//! Requests recorded from real frontends in a real browser (`scripts/browser`), sent again: each gets the same answer
//! as then.

use std::{fs, sync::Arc};

use regex::Regex;
use serde_json::Value;
use uptake::{
    act::{ActionOptions, Actor},
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    http::{Conversations, HttpOptions, Mock},
    llm::{Server, scripted::Scripted},
    module::{self, Limits, ModuleName},
    understand::UnderstandOptions,
};

use crate::{
    support::{Service, fixture, json_request, shipped},
    understand::local::embedder,
};

/// A stand-in for the shop, on its own port.
async fn shop() -> String {
    let directory = shipped().join("shoes");
    let name = ModuleName::new("shoes").expect("a name");
    let module = module::load(&directory, name, &Limits::default()).expect("a module that ships");
    let router = Mock::new(&module, std::collections::BTreeMap::new(), 1 << 20).router();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("a bound port"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// The service with these model servers, if there are any.
async fn service(servers: Vec<Server>) -> Service {
    let options = ActionOptions {
        enabled: true,
        hosts: vec!["127.0.0.1".to_owned()],
        networks: vec!["127.0.0.1".to_owned()],
        ..ActionOptions::default()
    };
    let sessions = SessionOptions { url: StoreUrl::new("memory:"), ..SessionOptions::default() };
    let conversations = Conversations::open(&sessions, &ConversationOptions::default()).expect("good options");
    let conversations = conversations.acting(Actor::open(&options).expect("good options"));
    let (mut http, mut turns) = (HttpOptions::default(), UnderstandOptions::default());
    http.chat.front = !servers.is_empty();
    if http.chat.front {
        turns.sure = 0.0;
    }
    let service = Service::made(&shipped(), &["shoes"], embedder().await, http, turns, servers, conversations);
    let settings = fs::read_to_string(shipped().join("shoes/module.toml")).expect("a file");
    service.write("shoes", "module.toml", &settings.replace("http://localhost:3002", &shop().await));
    service
}

/// The text of an answer, streamed or not.
fn said(answer: &str) -> String {
    let words =
        |chunk: &Value, member: &str| chunk["choices"][0][member]["content"].as_str().unwrap_or_default().to_owned();
    if !answer.starts_with("data:") {
        return words(&serde_json::from_str(answer).expect("JSON"), "message");
    }
    let chunks = answer.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|chunk| chunk.starts_with('{'));
    chunks.map(|chunk| words(&serde_json::from_str(chunk).expect("JSON"), "delta")).collect()
}

/// Sends the exchanges of a file again; returns their number.
async fn replayed(service: &Service, file: &str) -> usize {
    let number = Regex::new("[A-Z]{2}[0-9]{4,6}|[0-9]+ pairs").expect("a pattern");
    let text = fs::read_to_string(fixture("frontends").join(file)).expect("a file");
    let mut tools = Value::Null;
    for line in text.lines() {
        let exchange: Value = serde_json::from_str(line).expect("JSON");
        let mut body = exchange["body"].clone();
        // Tools that come with every message are recorded once.
        match body.get("tools") {
            Some(Value::String(_)) => body["tools"] = tools.clone(),
            Some(own) => tools = own.clone(),
            None => {}
        }
        let mut request = json_request("/v1/chat/completions");
        for (name, value) in exchange["headers"].as_object().into_iter().flatten() {
            if name != "content-type" {
                request = request.header(name.as_str(), value.as_str().expect("a text"));
            }
        }
        let answer = service.send(request.body(body.to_string().into()).expect("a request")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let (came, was) = (said(&answer.text), exchange["said"].as_str().unwrap_or_default());
        if let Some(decider) = exchange["decided_by"].as_str() {
            assert!(answer.text.contains(&format!("\"decided_by\":\"{decider}\"")), "{line}: {}", answer.text);
        }
        let without = |text: &str| number.replace_all(text, "#").into_owned();
        assert_eq!(
            without(&came),
            without(was),
            "to {}",
            body["messages"].as_array().and_then(|all| all.last()).unwrap_or(&Value::Null)
        );
        assert!(!came.trim().is_empty(), "{line}");
    }
    text.lines().count()
}

#[tokio::test]
async fn frontends_are_answered_as_in_the_browser() {
    let service = service(Vec::new()).await;
    for (file, least) in [("gradio.jsonl", 4), ("chainlit.jsonl", 4), ("open-webui.jsonl", 15)] {
        assert!(replayed(&service, file).await >= least, "{file}");
    }
}

/// The model server repeats its recorded texts, and says nothing else.
#[tokio::test]
async fn in_front_of_a_model_server_as_well() {
    let file = "open-webui-front.jsonl";
    let text = fs::read_to_string(fixture("frontends").join(file)).expect("a file");
    let exchanges = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let spoken = exchanges.filter(|exchange| exchange["decided_by"] == "front");
    let said: Vec<String> = spoken.map(|exchange| exchange["said"].as_str().unwrap_or_default().to_owned()).collect();
    assert!(said.len() >= 3, "{said:?}");
    let chat = said.iter().fold(Scripted::new(), |chat, words| {
        // The pending question follows the words, on a line of its own.
        chat.say(words.split('\n').next().unwrap_or_default())
    });
    let service = service(vec![Server::new(Arc::new(chat.clone()))]).await;
    assert!(replayed(&service, file).await >= 6);
    assert_eq!(chat.requests().len(), said.len());
}
