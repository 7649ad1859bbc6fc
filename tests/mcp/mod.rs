//! The tools as clients reach them: with the SDK's own client where it can send the request, with raw bytes where it
//! cannot.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::oneshot,
};
use uptake::{
    http::HttpOptions,
    llm::{self, LlmOptions, Server},
    mcp::{self, McpOptions, McpServer, Offer},
    module::ModuleName,
    understand::UnderstandOptions,
};

use crate::support::Service;

mod http;
mod stdio;
mod tools;

/// Waiting this long for something fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

type Client = RunningService<RoleClient, ()>;

/// Offers these fixtures by name, or everything under the root if none is named.
pub(crate) fn options(named: &[&str]) -> McpOptions {
    let names = named.iter().map(|name| ModuleName::new(name).expect("a name")).collect();
    McpOptions { offer: Offer::of(names), local: false }
}

pub(crate) fn server(service: &Service, options: McpOptions) -> McpServer {
    let app = &service.app;
    let tokens = crate::support::in_memory().tokens();
    let (snapshots, understander) = (app.snapshots.clone(), app.understander.clone());
    McpServer::new(snapshots, understander, app.turns.clone(), tokens, options, Arc::new(app.running().clone()))
}

/// The modules, with a service that asks these model servers.
fn asking(modules: &[&str], servers: Vec<Server>) -> Service {
    Service::asking(modules, HttpOptions::default(), UnderstandOptions::default(), servers)
}

/// A client in this process, after the handshake.
async fn client(server: McpServer) -> Client {
    let (theirs, ours) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(ours);
    tokio::spawn(mcp::serve(server, read, write, 1 << 20, std::future::pending()));
    ().serve(theirs).await.expect("the handshake")
}

fn calling(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

async fn call(client: &Client, tool: &str, arguments: Value) -> CallToolResult {
    client.call_tool(calling(tool, arguments)).await.expect("a result")
}

/// The text of a result, which has one block.
#[track_caller]
fn words(result: &CallToolResult) -> &str {
    assert_eq!(result.content.len(), 1, "{result:?}");
    &result.content[0].as_text().expect("text").text
}

/// The text of an unsuccessful call.
#[track_caller]
fn refusal(result: &CallToolResult) -> &str {
    assert_eq!((result.is_error, &result.structured_content), (Some(true), &None), "{result:?}");
    words(result)
}

fn forecast() -> Value {
    json!({"utterance": "how cold will it be in seattle in the next 3 days, in celsius?",
           "now": "2026-03-01T09:00:00+00:00[UTC]"})
}

/// A model server that receives a question and never answers; signals when it arrives, and when the client leaves.
struct Silent {
    servers: Vec<Server>,
    heard: oneshot::Receiver<()>,
    left: oneshot::Receiver<()>,
}

impl Silent {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = Some(format!("http://{}", listener.local_addr().expect("a bound port")));
        let (hear, heard) = oneshot::channel();
        let (leave, left) = oneshot::channel();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut buffer = [0; 1 << 16];
            let _ = stream.read(&mut buffer).await;
            hear.send(()).ok();
            // Reads until the other end is closed.
            while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
            leave.send(()).ok();
            stream.shutdown().await.ok();
        });
        let options = LlmOptions { base_url, retries: 0, timeout_ms: 600_000, probe: false, ..LlmOptions::default() };
        Self { servers: llm::connect(&options).expect("a server"), heard, left }
    }
}

async fn soon<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, event).await.expect("it happens")
}
