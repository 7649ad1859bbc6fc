//! Model servers behind TLS: the operator of the machine decides which certificates are trusted.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use super::{Shell, ends, text, weather};
use crate::support::{fixture, model_server::called};

/// Answers each request with a call, until the process ends; returns the port, and a counter of requests.
fn serve(certificate: &str) -> (u16, Arc<AtomicUsize>) {
    let chain = vec![CertificateDer::from_pem_file(fixture("tls").join(certificate)).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(fixture("tls/server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a pair");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    let (config, heard) = (Arc::new(config), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            // A client that does not trust the certificate leaves.
            if answer(StreamOwned::new(connection, stream), &counted).is_err() {
                thread::yield_now();
            }
        }
    });
    (port, heard)
}

fn answer(stream: StreamOwned<ServerConnection, TcpStream>, heard: &AtomicUsize) -> io::Result<()> {
    stream.sock.set_read_timeout(Some(Duration::from_secs(60)))?;
    let (mut reader, mut length) = (BufReader::new(stream), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    heard.fetch_add(1, Ordering::SeqCst);
    reader.read_exact(&mut vec![0; length])?;
    let (_, _, body) = called("get_current_weather", r#"{"location": "Seattle, WA", "format": "celsius"}"#);
    let stream = reader.get_mut();
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n", body.len())?;
    stream.write_all(&body)?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn predicted(port: u16, authority: &str) -> Output {
    Shell::new()
        .command(&["predict", &weather(), "how warm is it in seattle in celsius", "--strategy", "tools"])
        .env("UPTAKE_LLM__BASE_URL", format!("https://localhost:{port}/v1"))
        .env("UPTAKE_LLM__API_KEY", "sk-not-for-strangers")
        .env("UPTAKE_LLM__RETRIES", "0")
        .env("UPTAKE_LLM__PROBE", "false")
        .env("SSL_CERT_FILE", fixture(authority))
        .env_remove("SSL_CERT_DIR")
        .output()
        .expect("the binary runs")
}

#[test]
fn only_a_model_server_with_a_certificate_that_holds_is_asked() {
    let (port, heard) = serve("good.crt");
    let out = ends(&predicted(port, "tls/ca.crt"), 0);
    assert!(out.contains("get_current_weather"), "{out}");
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    for (certificate, authority, why) in [
        ("good.crt", "tls/other.crt", "UnknownIssuer"),
        ("other.crt", "tls/ca.crt", "not valid for name"),
        ("expired.crt", "tls/ca.crt", "expired"),
    ] {
        let (port, heard) = serve(certificate);
        let output = predicted(port, authority);
        let told = text(&output.stderr);
        assert!(!output.status.success(), "{certificate}: {}", text(&output.stdout));
        assert!(told.contains("certificate") && told.contains(why), "{certificate}: {told}");
        assert!(!told.contains("sk-not"), "{told}");
        assert_eq!(heard.load(Ordering::SeqCst), 0, "{certificate}: neither a key nor a word was sent");
    }
}
