//! Streamable HTTP, on a real listener.

use std::net::SocketAddr;

use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient,
    model::ProtocolVersion,
    transport::{
        StreamableHttpClientTransport, Transport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};
use uptake::{
    http::{self, HttpOptions, Mounted},
    mcp::{self, McpServer},
    shares::Owner,
};

use super::{Silent, asking, call, calling, forecast, options, server, soon};
use crate::support::Service;

/// The client's transport; the library needs a TLS provider even without TLS.
pub(super) fn transport(url: &str) -> impl Transport<RoleClient> + use<> {
    rustls::crypto::ring::default_provider().install_default().ok();
    StreamableHttpClientTransport::with_client(
        reqwest::Client::new(),
        StreamableHttpClientTransportConfig::with_uri(url.to_owned()),
    )
}

struct Listening {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

async fn listen(server: McpServer, options: HttpOptions) -> Listening {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        let mounted = Mounted::at(mcp::PATH, mcp::http_service(server, options.body_bytes));
        let stopped = async move {
            stopped.await.ok();
        };
        http::serve_alone(listener, mounted, &options, stopped).await;
    });
    Listening { address, stop, serving }
}

fn limits() -> HttpOptions {
    HttpOptions { body_bytes: 1 << 16, ..HttpOptions::default() }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn understand(extra: &Value) -> String {
    let mut arguments = forecast();
    for (name, value) in extra.as_object().expect("more arguments") {
        arguments[name] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "understand", "arguments": arguments}})
    .to_string()
}

fn post(headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         connection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

/// The status, and everything after it.
async fn ask(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.expect("it answers");
    (answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), answer)
}

#[tokio::test]
async fn two_clients_at_once_in_either_protocol() {
    let service = Service::new(&["weather"]);
    let listening = listen(server(&service, options(&["weather"])), limits()).await;
    let url = format!("http://{}/mcp", listening.address);
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let (old, new) = tokio::join!(
        soon(().serve_with_lifecycle(transport(&url), ClientLifecycleMode::Initialize)),
        soon(().serve_with_lifecycle(transport(&url), discover)),
    );
    let (old, new) = (old.expect("the handshake"), new.expect("the discovery"));
    for client in [&old, &new] {
        assert_eq!(soon(client.list_all_tools()).await.unwrap().len(), 3);
    }
    let (one, other) =
        tokio::join!(soon(call(&old, "understand", forecast())), soon(call(&new, "understand", forecast())));
    for result in [one, other] {
        assert_eq!(result.structured_content.expect("an answer")["uptake"]["outcome"], "call");
    }
    let wrong = soon(call(&new, "understand", json!({"utterance": ""}))).await;
    assert_eq!(wrong.is_error, Some(true));
    assert!(soon(old.call_tool(calling("sing", json!({})))).await.is_err());
    drop((old, new));
    listening.stop.send(()).unwrap();
    soon(listening.serving).await.unwrap();
}

/// The tools are also at the service's own address, behind the same layers and limits.
#[tokio::test]
async fn the_service_has_the_tools_beside_its_routes() {
    let service = Service::with(&["weather"], HttpOptions { max_in_flight: 1, ..limits() });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    let mounted = Mounted::at(mcp::PATH, mcp::http_service(server(&service, options(&[])), 1 << 16));
    let serving = tokio::spawn(http::serve(listener, None, service.app.clone(), Some(mounted), std::future::pending()));
    let about = json!({"module": "weather"});
    let (status, answer) = ask(address, &post("host: localhost\r\nx-request-id: mine\r\n", &understand(&about))).await;
    assert!(status == 200 && answer.contains("get_n_day_forecast"), "{answer}");
    assert!(answer.contains("x-request-id: mine"), "{answer}");
    assert_eq!(ask(address, &post("host: evil.example\r\n", PING)).await.0, 403);
    assert_eq!(ask(address, "GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.0, 200);
    let _only = service.app.running().try_take(&Owner::Process, 1).expect("the only one");
    let (_, busy) = ask(address, &post("host: localhost\r\n", &understand(&about))).await;
    assert!(busy.contains("as many calls as the server allows are running"), "{busy}");
    serving.abort();
}

/// A foreign page in a browser must not reach a server on the same machine.
#[tokio::test]
async fn pages_of_others_are_kept_out() {
    let service = Service::new(&["weather"]);
    let allowed = HttpOptions {
        allowed_hosts: vec!["tools.example".to_owned()],
        cors_origins: vec!["https://chat.example".to_owned()],
        ..limits()
    };
    let listening = listen(server(&service, options(&["weather"])), allowed).await;
    let strict = listen(server(&service, options(&["weather"])), limits()).await;
    for (address, headers, status) in [
        (listening.address, "host: localhost\r\n", 200),
        (listening.address, "host: 127.0.0.1:3002\r\n", 200),
        (listening.address, "host: [::1]:3002\r\n", 200),
        (listening.address, "host: tools.example\r\n", 200),
        (listening.address, "host: evil.example\r\n", 403),
        (listening.address, "host: localhost.evil.example\r\n", 403),
        (listening.address, "host: localhost\r\norigin: https://chat.example\r\n", 200),
        (listening.address, "host: localhost\r\norigin: https://chat.example:444\r\n", 403),
        (listening.address, "host: localhost\r\norigin: http://chat.example\r\n", 403),
        (listening.address, "host: localhost\r\norigin: https://evil.example\r\n", 403),
        (listening.address, "host: localhost\r\norigin: null\r\n", 403),
        (strict.address, "host: localhost\r\n", 200),
        (strict.address, "host: tools.example\r\n", 403),
        (strict.address, "host: localhost\r\norigin: https://chat.example\r\n", 403),
        (strict.address, "host: localhost\r\norigin: http://localhost:3000\r\n", 403),
        (strict.address, "host: localhost\r\norigin: http://localhost\r\n", 200),
    ] {
        let (found, answer) = ask(address, &post(headers, PING)).await;
        assert_eq!(found, status, "{headers} {answer}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let service = Service::new(&["weather"]);
    let listening = listen(server(&service, options(&["weather"])), limits()).await;
    let address = listening.address;
    let host = "host: localhost\r\n";
    let close = "connection: close\r\n\r\n";
    let long = "x".repeat(1 << 17);
    for (request, status) in [
        (format!("GET /mcp HTTP/1.1\r\n{host}accept: text/event-stream\r\n{close}"), 405),
        (format!("DELETE /mcp HTTP/1.1\r\n{host}{close}"), 405),
        (format!("GET / HTTP/1.1\r\n{host}{close}"), 404),
        (format!("POST /v1/predict/weather HTTP/1.1\r\n{host}content-length: 0\r\n{close}"), 404),
        (post(host, "garbage"), 415),
        (post(host, &long), 413),
        (post(&format!("{host}mcp-protocol-version: 1999-01-01\r\n"), PING), 400),
        (post(host, PING).replace("text/event-stream", "text/html"), 406),
        (post(host, PING).replace("content-type: application/json", "content-type: text/plain"), 415),
        (post(host, PING), 200),
    ] {
        let (found, answer) = ask(address, &request).await;
        assert_eq!(found, status, "{}: {answer}", &request[..request.len().min(200)]);
    }
    // Requests without a handshake are answered too: no request depends on an earlier one.
    let (status, answer) = ask(address, &post(host, &understand(&json!({})))).await;
    assert!(status == 200 && answer.contains("get_n_day_forecast"), "{answer}");
}

#[tokio::test]
async fn a_client_that_leaves_stops_its_call() {
    let Silent { servers, heard, left } = Silent::start().await;
    let service = asking(&["weather"], servers);
    let listening = listen(server(&service, options(&["weather"])), limits()).await;
    let mut stream = TcpStream::connect(listening.address).await.unwrap();
    let request = post("host: localhost\r\n", &understand(&json!({"strategy": "tools"})));
    stream.write_all(request.as_bytes()).await.unwrap();
    soon(heard).await.unwrap();
    drop(stream);
    soon(left).await.unwrap();
}

#[tokio::test]
async fn a_running_call_is_answered_after_a_signal_to_stop() {
    let service = Service::new(&["weather"]);
    let listening = listen(server(&service, options(&["weather"])), limits()).await;
    let request = post("host: localhost\r\n", &understand(&json!({})));
    let (begun, rest) = request.split_at(request.len() - 5);
    let mut stream = TcpStream::connect(listening.address).await.unwrap();
    stream.write_all(begun.as_bytes()).await.unwrap();
    // After answering this request the server has also read the sent part of the other one.
    ask(listening.address, &post("host: localhost\r\n", PING)).await;
    listening.stop.send(()).unwrap();
    while TcpStream::connect(listening.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("get_n_day_forecast"), "{answer}");
    soon(listening.serving).await.unwrap();
}
