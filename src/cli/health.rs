//! Asks a running server whether it is alive: for containers, which contain no other client.

use std::{
    io::{self, Read as _, Write as _},
    net::{TcpStream, ToSocketAddrs as _},
    time::{Duration, Instant},
};

use clap::Args;

use super::{CliError, End, report};
use crate::http::HttpOptions;

/// Time limit for connecting, asking and the answer together.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    /// What to ask; /healthz of the configured address if absent
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
}

/// The address of a server with these options, as seen from the same machine.
pub(super) fn url_of(options: &HttpOptions) -> String {
    if let Some(admin) = &options.admin {
        let local = admin.replacen("0.0.0.0:", "127.0.0.1:", 1).replacen("[::]:", "[::1]:", 1);
        return format!("http://{local}/healthz");
    }
    let host = match options.host.trim_matches(['[', ']']) {
        "0.0.0.0" => "127.0.0.1".to_owned(),
        "::" => "[::1]".to_owned(),
        address if address.contains(':') => format!("[{address}]"),
        name => name.to_owned(),
    };
    format!("http://{host}:{}/healthz", options.port)
}

pub(super) fn ask(url: &str) -> Result<End, CliError> {
    let (authority, path) =
        parts(url).ok_or_else(|| CliError::Usage(format!("`{url}` is no address: write http://HOST:PORT/PATH")))?;
    match status(&authority, path) {
        Ok(200) => {
            report::line("healthy");
            Ok(End::Done)
        }
        Ok(status) => {
            report::line(&format!("not healthy: {url} answered {status}"));
            Ok(End::Findings)
        }
        Err(error) => {
            report::line(&format!("not healthy: {url}: {error}"));
            Ok(End::Findings)
        }
    }
}

/// Host with port, and path.
fn parts(url: &str) -> Option<(String, &str)> {
    let rest = url.strip_prefix("http://")?;
    let (authority, path) = rest.find('/').map_or((rest, "/healthz"), |slash| rest.split_at(slash));
    let clean = |text: &str| text.chars().all(|c| c.is_ascii_graphic());
    if authority.is_empty() || authority.contains('@') || !clean(authority) || !clean(path) {
        return None;
    }
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    let authority = if after_host.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    Some((authority, path))
}

/// One request in plain HTTP/1.1; this crate's full client is for model servers.
fn status(authority: &str, path: &str) -> io::Result<u16> {
    let deadline = Instant::now() + PATIENCE;
    let left = || deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let mut stream = Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in authority.to_socket_addrs()? {
        stream = TcpStream::connect_timeout(&address, left());
        if stream.is_ok() {
            break;
        }
    }
    let mut stream = stream?;
    stream.set_write_timeout(Some(left()))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n").as_bytes())?;
    let mut head = Vec::new();
    let mut piece = [0; 64];
    while head.len() < 12 {
        stream.set_read_timeout(Some(left()))?;
        match stream.read(&mut piece)? {
            0 => break,
            read => head.extend_from_slice(&piece[..read]),
        }
    }
    let line = String::from_utf8_lossy(&head);
    let code = line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).and_then(|code| code.parse().ok());
    code.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        assert_eq!(parts("http://localhost:3001/readyz"), Some(("localhost:3001".into(), "/readyz")));
        assert_eq!(parts("http://localhost"), Some(("localhost:80".into(), "/healthz")));
        assert_eq!(parts("http://[::1]/x"), Some(("[::1]:80".into(), "/x")));
        assert_eq!(parts("http://[::1]:5/x"), Some(("[::1]:5".into(), "/x")));
        for bad in ["https://localhost", "localhost:3001", "http://", "http://a b/", "http://a/\r\nx: y", "http://u@h/"]
        {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn any_address_is_asked_on_the_loopback() {
        let at = |host: &str| url_of(&HttpOptions { host: host.into(), port: 9, ..HttpOptions::default() });
        assert_eq!(at("0.0.0.0"), "http://127.0.0.1:9/healthz");
        assert_eq!(at("::"), "http://[::1]:9/healthz");
        assert_eq!(at("fe80::1"), "http://[fe80::1]:9/healthz");
        assert_eq!(at("example.com"), "http://example.com:9/healthz");
        let admin = |address: &str| url_of(&HttpOptions { admin: Some(address.into()), ..HttpOptions::default() });
        assert_eq!(admin("0.0.0.0:9"), "http://127.0.0.1:9/healthz");
        assert_eq!(admin("[::]:9"), "http://[::1]:9/healthz");
        assert_eq!(admin("10.0.0.1:9"), "http://10.0.0.1:9/healthz");
    }

    #[test]
    fn a_server_that_says_otherwise_is_not_healthy() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            for answer in ["HTTP/1.1 503 Service Unavailable\r\n\r\n", "SSH-2.0-OpenSSH_9\r\n\r\n", ""] {
                let (mut stream, _) = listener.accept().unwrap();
                assert!(stream.read(&mut [0; 256]).unwrap() > 0);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        assert_eq!(status(&address, "/healthz").unwrap(), 503);
        assert!(status(&address, "/healthz").is_err());
        assert!(status(&address, "/healthz").is_err());
        server.join().unwrap();
        assert!(status(&address, "/healthz").is_err(), "nobody listens");
    }
}
