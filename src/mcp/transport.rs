//! Transports: stdio, any other pair of streams, and a service that an HTTP server mounts.

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

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client did not begin as the Model Context Protocol says: the first request is `initialize`")]
    Handshake,
    #[error("the client's end of the connection broke")]
    Connection,
}

/// Serves one client over standard input and output until it closes its end or `stop` completes. Nothing else may write
/// to standard output meanwhile. Messages longer than `longest` bytes are dropped.
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
                // A panicked task has already logged it; in any case the conversation is over.
                drop(running.waiting().await);
                Ok(())
            }
            // The client closed at once: some only check whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(ServerInitializeError::TransportError { .. }) => Err(ServeError::Connection),
            // The error contains what the client sent, which must not reach the terminal.
            Err(_) => Err(ServeError::Handshake),
        }
    };
    tokio::select! {
        ended = served => ended,
        // Dropping the conversation cancels its calls.
        () = stop => Ok(()),
    }
}

/// Path where HTTP clients expect the protocol.
pub const PATH: &str = "/mcp";

/// Streamable HTTP as a tower service.
pub type HttpService = StreamableHttpService<McpServer, NeverSessionManager>;

/// Streamable HTTP without sessions, so that there are none to limit, to steal, or to lose at a restart: every request
/// is independent, its answer is one JSON document, and a client that leaves stops its call.
///
/// A request is at most `body_bytes` long. The HTTP server that mounts the service checks hosts and origins.
#[must_use]
pub fn http_service(server: McpServer, body_bytes: usize) -> HttpService {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
}
