//! Ways to be asked: stdio, any other pair of streams, and a service that an HTTP server mounts.

use std::sync::Arc;

use rmcp::{
    service::{ServerInitializeError, serve_server},
    transport::{
        async_rw::AsyncRwTransport,
        stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
        },
    },
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::McpServer;

/// Why serving ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client did not begin as the Model Context Protocol says: the first request is `initialize`")]
    Handshake,
    #[error("the client's end of the connection broke")]
    Connection,
}

/// Speaks with one client over standard input and output until it closes its end or `stop` comes. Nothing else may
/// write to standard output meanwhile. A message is at most `longest` bytes; a longer one is dropped.
///
/// # Errors
/// If the client does not begin with the protocol, or leaves in the middle of it.
pub async fn serve_stdio(
    server: McpServer,
    longest: usize,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let (read, write) = stdio_pipes();
    serve(server, read, write, longest, stop).await
}

/// [`serve_stdio`] over any pair of streams.
///
/// # Errors
/// As there.
pub async fn serve(
    server: McpServer,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
    longest: usize,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(longest);
    let served = async {
        match serve_server(server, transport).await {
            Ok(running) => {
                // A task that panicked has told the log; whatever ended the conversation, it is over.
                drop(running.waiting().await);
                Ok(())
            }
            // Started and left alone: some clients only look whether the program runs.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(ServerInitializeError::TransportError { .. }) => Err(ServeError::Connection),
            // What it holds is what the client sent, which is nothing for the terminal.
            Err(_) => Err(ServeError::Handshake),
        }
    };
    tokio::select! {
        ended = served => ended,
        // Dropping the conversation cancels its calls.
        () = stop => Ok(()),
    }
}

/// What an HTTP transport lets in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpLimits {
    /// Longest request, in bytes.
    pub body_bytes: usize,
    /// Names, with a port or for any, that `Host` may have beside those of the loopback: a page that makes a browser
    /// reach this machine under a name of its own is refused.
    pub hosts: Vec<String>,
    /// Origins whose pages may ask (`https://chat.example.com[:port]`, or `*`). Empty: none may.
    pub origins: Vec<String>,
}

/// Streamable HTTP as a tower service.
pub type HttpService = StreamableHttpService<McpServer, NeverSessionManager>;

/// Streamable HTTP without sessions, so that there are none to bound, to steal, or to lose when the server starts
/// again: every request stands alone, its answer is one JSON document, and a client that leaves stops its call.
#[must_use]
pub fn http_service(server: McpServer, limits: HttpLimits) -> HttpService {
    let defaults = StreamableHttpServerConfig::default();
    let hosts: Vec<String> = defaults.allowed_hosts.iter().cloned().chain(limits.hosts).collect();
    let config = defaults
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limits.body_bytes)
        .with_allowed_hosts(hosts);
    let config = if limits.origins.iter().any(|origin| origin == "*") {
        config.disable_allowed_origins()
    } else {
        config.with_allowed_origins(limits.origins.iter().map(|origin| with_port(origin))).enforce_origin_validation()
    };
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// An origin with its port: without one, the library would let every port pass.
fn with_port(origin: &str) -> String {
    let (scheme, authority) = origin.split_once("://").unwrap_or(("http", origin));
    let host_end = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    if authority[host_end..].contains(':') {
        return origin.to_owned();
    }
    let port = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    format!("{origin}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_one_port() {
        for (origin, expected) in [
            ("https://a.example", "https://a.example:443"),
            ("http://a.example", "http://a.example:80"),
            ("http://a.example:8080", "http://a.example:8080"),
            ("http://[::1]", "http://[::1]:80"),
            ("http://[::1]:3000", "http://[::1]:3000"),
        ] {
            assert_eq!(with_port(origin), expected);
        }
    }
}
