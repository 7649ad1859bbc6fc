//! A real listener: start, answer, stop; and clients that only occupy connections.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::oneshot,
    task::JoinHandle,
};
use uptake::{
    http::{HttpOptions, listener, serve},
    shares::Owner,
};

use crate::support::Service;

/// Waiting this long for something fails the test.
const PATIENCE: Duration = Duration::from_secs(300);

const HELLO: &str = "GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

struct Listening {
    address: SocketAddr,
    admin: Option<SocketAddr>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Listening {
    async fn start(service: &Service) -> Self {
        Self::start_at(service, "127.0.0.1:0").await
    }

    async fn start_at(service: &Service, address: &str) -> Self {
        let bound = async || {
            let listener = listener(address).await.expect("a free port");
            let address = listener.local_addr().expect("a bound port");
            (listener, address)
        };
        let (listener, address) = bound().await;
        let (second, admin) = if service.app.options.admin.is_some() { Some(bound().await) } else { None }.unzip();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(serve(listener, second, service.app.clone(), None, async move {
            stopped.await.ok();
        }));
        Self { address, admin, stop, running }
    }

    /// The status of the answer to a GET, at the operators' address or at the main one.
    async fn status(&self, for_operators: bool, path: &str) -> String {
        let address = if for_operators { self.admin.expect("an address for operators") } else { self.address };
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        soon(stream.read_to_string(&mut answer)).await.expect("it answers");
        answer.split(' ').nth(1).expect("a status").to_owned()
    }

    /// A connection on which this was sent.
    async fn open(&self, said: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        stream.write_all(said.as_bytes()).await.expect("it reads");
        stream
    }

    async fn ask(&self, request: &str) -> String {
        let mut stream = self.open(request).await;
        let mut answer = String::new();
        soon(stream.read_to_string(&mut answer)).await.expect("it answers");
        answer
    }

    async fn stop(self) {
        self.stop.send(()).expect("it runs");
        soon(self.running).await.expect("it ends");
    }
}

async fn soon<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, event).await.expect("it happens")
}

/// The head of a request for a turn, and the sent part of its body.
fn begun(body_length: usize, sent: &str) -> String {
    format!(
        "POST /v1/predict/nowhere HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {body_length}\r\n\r\n{sent}"
    )
}

/// Whether the other end closed the connection without an answer.
async fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(soon(stream.read(&mut [0; 64])).await, Ok(0) | Err(_))
}

#[tokio::test]
async fn running_requests_finish_after_a_signal_to_stop() {
    let service = Service::new(&[]);
    let listening = Listening::start(&service).await;
    let hello = listening.ask(HELLO).await;
    assert!(hello.starts_with("HTTP/1.1 200 OK\r\n") && hello.ends_with("\r\n\r\nOk"), "{hello}");

    // The body of a request is still arriving when the signal comes.
    let body = r#"{"utterance":"hi"}"#;
    let mut slow = listening.open(&begun(body.len(), &body[..5])).await;
    // A request is running once its handler waits for the body: the server has then read everything that was sent.
    listening.ask(HELLO).await;
    let Listening { address, stop, running, .. } = listening;
    stop.send(()).unwrap();
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    slow.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    soon(running).await.unwrap();
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_keep_the_service_from_stopping() {
    let service = Service::with(&[], HttpOptions { shutdown_ms: 50, ..HttpOptions::default() });
    let listening = Listening::start(&service).await;
    let _stuck = listening.open(&begun(100, "{")).await;
    listening.ask(HELLO).await;
    listening.stop().await;
}

/// `http.shutdown_ms` is for running requests. Idle connections are not waited for.
#[tokio::test]
async fn idle_connections_do_not_keep_the_service_from_stopping() {
    let service = Service::with(&[], HttpOptions { shutdown_ms: 600_000, ..HttpOptions::default() });
    let listening = Listening::start(&service).await;
    let _silent = listening.open("").await;
    let _begun = listening.open("GET /hello HTTP/1.1\r\nho").await;
    let mut kept = listening.open("GET /hello HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(soon(kept.read(&mut [0; 64])).await.is_ok_and(|read| read > 0));
    listening.stop().await;
}

/// A client that sends its body slowly, or not at all, holds no permit.
#[tokio::test]
async fn slow_clients_deny_nobody_a_turn() {
    let options = HttpOptions { max_in_flight: 1, body_ms: 400, ..HttpOptions::default() };
    let service = Service::with(&[], options);
    let listening = Listening::start(&service).await;
    let mut slow = Vec::new();
    for _ in 0..8 {
        slow.push(listening.open(&begun(100, "{")).await);
    }
    listening.ask(HELLO).await;
    let body = r#"{"utterance":"hi"}"#;
    let answer = listening.ask(&begun(body.len(), body).replace("host: x", "host: x\r\nconnection: close")).await;
    assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("module_not_found"), "{answer}");
    for stream in &mut slow {
        let mut answer = [0; 64];
        let read = soon(stream.read(&mut answer)).await.expect("it answers");
        assert!(answer[..read].starts_with(b"HTTP/1.1 408 "), "{:?}", &answer[..read]);
    }
    listening.stop().await;
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_its_connection() {
    let service = Service::with(&[], HttpOptions { head_ms: 50, ..HttpOptions::default() });
    let listening = Listening::start(&service).await;
    for said in ["", "GET /hello HTTP/1.1\r\nhost: x\r\n"] {
        assert!(is_closed(&mut listening.open(said).await).await, "{said:?}");
    }
    listening.stop().await;
}

#[tokio::test]
async fn connections_that_only_wait_make_room_for_new_ones() {
    let service = Service::with(&[], HttpOptions { max_connections: 2, ..HttpOptions::default() });
    let listening = Listening::start(&service).await;
    let mut idle = listening.open("").await;
    let _other = listening.open("GET /hello HTTP/1.1\r\nhost: x\r\n").await;
    for _ in 0..8 {
        assert!(listening.ask(HELLO).await.starts_with("HTTP/1.1 200 "));
    }
    assert!(is_closed(&mut idle).await);
    listening.stop().await;
}

/// After a refusal the connection is as usable as after an answer.
#[tokio::test]
async fn after_a_refusal_the_connection_goes_on() {
    let service = Service::with(&[], HttpOptions { max_in_flight: 1, ..HttpOptions::default() });
    let _permit = service.app.running().try_take(&Owner::Process, 1).expect("the only one");
    let listening = Listening::start(&service).await;
    let body = format!(r#"{{"utterance":"{}"}}"#, "x".repeat(300_000));
    let mut stream = listening.open(&begun(body.len(), &body)).await;
    stream.write_all(HELLO.as_bytes()).await.expect("it reads");
    let mut answers = String::new();
    soon(stream.read_to_string(&mut answers)).await.expect("it answers");
    assert!(answers.starts_with("HTTP/1.1 429 ") && answers.ends_with("\r\n\r\nOk"), "{answers}");
    listening.stop().await;
}

/// Operators have an address of their own, which clients need not reach and cannot exhaust.
#[tokio::test]
async fn what_is_for_operators_has_an_address_of_its_own() {
    let admin = Some("127.0.0.1:0".to_owned());
    let options = HttpOptions { admin, max_connections: 1, shutdown_ms: 50, ..HttpOptions::default() };
    let service = Service::with(&["weather"], options);
    let listening = Listening::start(&service).await;
    for path in ["/metrics", "/healthz", "/openapi.json", "/v1/modules", "/v1/modules/weather", "/v1/load/weather"] {
        assert_eq!(listening.status(false, path).await, "404", "{path}");
        assert_eq!(listening.status(true, path).await, "200", "{path}");
    }
    for path in ["/hello", "/v1/models"] {
        assert_eq!(listening.status(false, path).await, "200", "{path}");
        assert_eq!(listening.status(true, path).await, "404", "{path}");
    }
    let _stuck = listening.open(&begun(100, "{")).await;
    assert_eq!(listening.status(true, "/healthz").await, "200", "clients have the only connection of theirs");
    listening.stop().await;
}

/// At an IPv6 address, and at all addresses of both kinds, the caller's address is known.
#[tokio::test]
async fn it_listens_at_addresses_of_both_kinds() {
    if listener("[::1]:0").await.is_err() {
        // This machine has no IPv6.
        return;
    }
    for (address, from) in [("[::1]:0", &["[::1]"][..]), ("[::]:0", &["[::1]", "127.0.0.1"])] {
        let service = Service::new(&["weather"]);
        let listening = Listening::start_at(&service, address).await;
        for host in from {
            let place = format!("{host}:{}", listening.address.port());
            let request = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: {place}\r\nconnection: close\r\n\r\n");
            for (path, status) in [("/hello", "200"), ("/v1/index/weather", "200")] {
                let mut stream = TcpStream::connect(&place).await.expect("it listens");
                stream.write_all(request(path).as_bytes()).await.expect("it reads");
                let mut answer = String::new();
                soon(stream.read_to_string(&mut answer)).await.expect("it answers");
                // Rebuilding by GET is allowed from this machine, in any notation of its address.
                assert_eq!(answer.split(' ').nth(1), Some(status), "{place}{path}: {answer}");
            }
        }
        listening.stop().await;
    }
}
