//! A real listener: start, answer, stop.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use uptake::http::{HttpOptions, serve};

use crate::support::Service;

async fn ask(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

#[tokio::test]
async fn running_requests_finish_after_a_signal_to_stop() {
    let service = Service::new(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(serve(listener, service.app.clone(), async move {
        stopped.await.ok();
    }));
    let hello = ask(address, "GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(hello.starts_with("HTTP/1.1 200 OK\r\n") && hello.ends_with("\r\n\r\nOk"), "{hello}");

    // A request whose body is still coming when the signal comes.
    let mut slow = TcpStream::connect(address).await.unwrap();
    let body = r#"{"utterance":"hi"}"#;
    let head = format!("POST /v1/predict/nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body.as_bytes()[..5]).await.unwrap();
    // A request is running once its handler waits for the body: the server has then read what there is of it.
    ask(address, "GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    stop.send(()).unwrap();
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    slow.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_keep_the_service_from_stopping() {
    let service = Service::with(&[], HttpOptions { shutdown_ms: 50, ..HttpOptions::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(serve(listener, service.app.clone(), async move {
        stopped.await.ok();
    }));
    let mut stuck = TcpStream::connect(address).await.unwrap();
    stuck.write_all(b"POST /v1/predict/weather HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{").await.unwrap();
    ask(address, "GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}
