//! The HTTP client for any server that speaks `OpenAI`'s `/v1/chat/completions`. One request is one attempt, except
//! that fields which the server refuses are left out; see [`super::retry`] for retries.

use std::{
    error::Error as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures::future::BoxFuture;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};
use tokio::time::Instant;

use super::{
    ChatModel, ChatReply, ChatRequest, Listener, LlmError, LlmOptions, Secret, SetupError,
    dialect::{self, Complaint},
    said::without_said,
    stream::{self, BodyKind, Gathering, Next},
    wire,
    wording::Wording,
};
use crate::text::foreign::Foreign;

/// Most bytes that are read of an error response.
const MAX_ERROR_BODY: usize = 64 << 10;
/// How long to wait for what may follow a complete reply: token counts, and the end of the stream.
const LINGER: Duration = Duration::from_millis(500);

/// One server with its default model. Reuses its connections; cheap to share.
pub struct OpenAi {
    client: Client,
    endpoint: Url,
    wording: Arc<Wording>,
    /// The key and the header values, which are removed from everything that the server says.
    secrets: Vec<Secret>,
}

impl std::fmt::Debug for OpenAi {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("OpenAi").field(&self.describe()).finish()
    }
}

impl OpenAi {
    /// Prepares the client; sends nothing yet.
    ///
    /// # Errors
    /// If the address is not an http(s) URL, the key or a header cannot be read or sent, or TLS cannot be set up.
    pub fn new(options: &LlmOptions) -> Result<Self, SetupError> {
        let endpoint = endpoint(options.base_url.as_deref().ok_or(SetupError::NoAddress)?)?;
        let key = options.key()?;
        let headers = headers(options, key.as_ref())?;
        let mut builder = Client::builder()
            .user_agent(concat!("uptake/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(Duration::from_millis(options.connect_timeout_ms))
            // A redirect would send the key and the prompt to an address that is not configured.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false);
        // Fails if the process has its own provider; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if endpoint.scheme() == "http" {
            // Without redirects there is never TLS, so no CA certificates are needed.
            builder = builder.tls_certs_only(std::iter::empty());
        }
        let client = builder.build().map_err(|error| SetupError::Client(chain(&error)))?;
        let secrets = key.into_iter().chain(options.headers.values().cloned());
        let wording = Arc::new(Wording::new(options.clone()));
        Ok(Self { client, endpoint, wording, secrets: secrets.collect() })
    }

    /// How requests to this server are written.
    pub(super) fn wording(&self) -> Arc<Wording> {
        Arc::clone(&self.wording)
    }

    /// Sends the request, and sends it again at once without a field that the server refuses. Each field is left out
    /// only once, so this ends.
    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let wants_one = !request.parallel && !request.tools.is_empty();
        loop {
            let sent = self.wording.of(request);
            let (error, complaints) = match self.send(sent.body, wants_one, request.listener.as_ref()).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let error = without_said(error, request);
            let LlmError::Status { status, .. } = error else { return Err(error) };
            let Some(field) = dialect::refused(status, &complaints, sent.optional) else { return Err(error) };
            if self.wording.leave_out(request, field) {
                tracing::info!(
                    server = %self.describe(),
                    model = request.model,
                    field = field.name(),
                    "the model server does not take a field; it is left out from now on"
                );
            }
        }
    }

    /// Sends one request. An error comes with the server's complaints about the request.
    async fn send(
        &self,
        body: Vec<u8>,
        wants_one: bool,
        listener: Option<&Listener>,
    ) -> Result<ChatReply, (LlmError, Vec<Complaint>)> {
        let plain = |error| (error, Vec::new());
        let sent = self.client.post(self.endpoint.clone()).body(body).send().await;
        let response = sent.map_err(|error| plain(self.failure(error)))?;
        let status = response.status();
        if status.is_success() {
            return self.receive(response, wants_one, listener).await.map_err(|error| plain(self.hidden(error)));
        }
        let retry_after = retry_after(response.headers(), SystemTime::now());
        // The text is for the log; if it cannot be read, the status is enough.
        let body = match self.read(response, Vec::new(), MAX_ERROR_BODY).await {
            Ok(body) => body,
            Err(LlmError::Malformed(_) | LlmError::Connect(_)) => Vec::new(),
            Err(other) => return Err(plain(other)),
        };
        let said = wire::error_message(&body);
        let message = if said.as_str().is_empty() { reason(status).into() } else { said };
        let error = self.hidden(LlmError::Status { status: status.as_u16(), message, retry_after });
        Err((error, wire::complaints(&body)))
    }

    /// Reads the reply, in one piece or as a stream, whichever was requested.
    async fn receive(
        &self,
        mut response: Response,
        wants_one: bool,
        listener: Option<&Listener>,
    ) -> Result<ChatReply, LlmError> {
        let limit = self.wording.options().max_response_bytes;
        let mut body = Vec::new();
        let mut kind = BodyKind::Unknown;
        while kind == BodyKind::Unknown
            && body.len() <= limit
            && let Some(chunk) = response.chunk().await.map_err(|error| self.failure(error))?
        {
            body.extend_from_slice(&chunk);
            kind = stream::kind(&body);
        }
        if kind != BodyKind::Stream {
            return wire::reply(&self.read(response, body, limit).await?);
        }
        let mut gathering = Gathering::new(wants_one, limit);
        let mut next = gathering.push(&body)?;
        // In total: keep-alive bytes must not delay a complete reply.
        let mut until = None;
        while next != Next::Stop {
            if let Some(listener) = listener {
                listener.tell(gathering.text());
            }
            let chunk = if next == Next::Whole {
                let until = *until.get_or_insert_with(|| Instant::now() + LINGER);
                tokio::time::timeout_at(until, response.chunk()).await.ok().and_then(Result::ok).flatten()
            } else {
                response.chunk().await.map_err(|error| self.failure(error))?
            };
            let Some(chunk) = chunk else { break };
            next = gathering.push(&chunk)?;
        }
        if let Some(listener) = listener {
            listener.tell(gathering.text());
        }
        if gathering.is_done() {
            // The body must be read to its end, or the connection cannot be reused; no caller waits for it. If the
            // server has more to say, closing the connection also stops the server's work.
            tokio::spawn(async move { tokio::time::timeout(LINGER, response.chunk()).await.map(drop) });
        }
        gathering.end()
    }

    /// The rest of the body after the part already `read`; fails if all of it is longer than `limit`.
    async fn read(&self, mut response: Response, mut read: Vec<u8>, limit: usize) -> Result<Vec<u8>, LlmError> {
        let too_long = || LlmError::Malformed(Foreign::new(&format!("it is longer than {limit} bytes")));
        if read.len() > limit || response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_long());
        }
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure(error))? {
            if read.len() + chunk.len() > limit {
                return Err(too_long());
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read)
    }

    fn failure(&self, error: reqwest::Error) -> LlmError {
        if error.is_timeout() {
            return LlmError::Timeout;
        }
        self.hidden(LlmError::Connect(Foreign::new(&chain(&error.without_url()))))
    }

    /// The error without any key, or part of one, that the server may have repeated.
    fn hidden(&self, error: LlmError) -> LlmError {
        error.told(|text| text.without(self.secrets.iter().map(Secret::expose)))
    }
}

impl ChatModel for OpenAi {
    fn describe(&self) -> String {
        let model = self.wording.options().model.as_deref().unwrap_or("default");
        let host = self.endpoint.host_str().unwrap_or_default();
        match self.endpoint.port() {
            Some(port) => format!("{model} at {host}:{port}"),
            None => format!("{model} at {host}"),
        }
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            let own = Instant::now() + Duration::from_millis(self.wording.options().timeout_ms);
            match tokio::time::timeout_at(own.min(request.deadline), self.ask(&request)).await {
                Ok(result) => result,
                Err(_) => Err(LlmError::Timeout),
            }
        })
    }
}

/// The address of chat completions for a base that is written with or without `/v1`, or in full.
fn endpoint(base: &str) -> Result<Url, SetupError> {
    // The address is not repeated in errors: it may contain a password.
    let mut url = Url::parse(base.trim()).map_err(|error| SetupError::address(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(SetupError::address("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SetupError::address("a name and password don't belong in it; use `api_key`"));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let is_version =
        |segment: &str| segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let path = if path.ends_with("/chat/completions") {
        path
    } else if path.split('/').any(is_version) {
        format!("{path}/chat/completions")
    } else {
        format!("{path}/v1/chat/completions")
    };
    url.set_path(&path);
    Ok(url)
}

fn headers(options: &LlmOptions, key: Option<&Secret>) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accepted = if options.stream { "text/event-stream, application/json" } else { "application/json" };
    headers.insert(ACCEPT, HeaderValue::from_static(accepted));
    let refuse = |setting: &str| SetupError::Header { setting: setting.to_owned() };
    let sensitive = |setting: &str, text: &str| {
        let mut value = HeaderValue::from_str(text).map_err(|_| refuse(setting))?;
        value.set_sensitive(true);
        Ok(value)
    };
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, sensitive("api_key", &format!("Bearer {}", key.expose()))?);
    }
    for (name, value) in &options.headers {
        let setting = format!("headers.{name}");
        let parsed = HeaderName::try_from(name.as_str()).map_err(|_| refuse(&setting))?;
        headers.insert(parsed, sensitive(&setting, value.expose())?);
    }
    Ok(headers)
}

/// `Retry-After`, in seconds or as a date; `None` if it is invalid.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(SystemTime::from(at).duration_since(now).unwrap_or(Duration::ZERO))
}

fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("no reason given")
}

/// An error with its causes; reqwest's own message says too little.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::{Mutex, Notify},
    };

    use super::*;
    use crate::llm::{Message, Tool};

    /// What a test server does with a connection after it has read the request.
    #[derive(Clone)]
    enum Then {
        Send(Vec<u8>),
        /// Sends this and keeps the connection open.
        SendAndHang(Vec<u8>),
        Reset,
        /// Sends this over and over.
        Flood(Vec<u8>),
        /// Answers every request of the connection with this.
        KeepAlive(Vec<u8>),
        /// Chooses its answer by the request.
        Choose(fn(&Value) -> Vec<u8>),
    }

    struct FakeServer {
        base: String,
        /// The last request, as received.
        heard: Arc<Mutex<String>>,
        connections: Arc<AtomicUsize>,
        /// Notified when the client closed a connection that the server held open.
        gone: Arc<Notify>,
    }

    async fn serve(then: Then) -> FakeServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let heard = Arc::new(Mutex::new(String::new()));
        let server = FakeServer { base, heard, connections: Arc::default(), gone: Arc::default() };
        let (record, connections, gone) =
            (Arc::clone(&server.heard), Arc::clone(&server.connections), Arc::clone(&server.gone));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, then.clone(), Arc::clone(&record), Arc::clone(&gone)));
            }
        });
        server
    }

    /// Reads until the body is complete: the client sends its length first.
    async fn heard(stream: &mut TcpStream) -> Option<String> {
        let mut read = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let count = stream.read(&mut buffer).await.ok()?;
            read.extend_from_slice(&buffer[..count]);
            let text = String::from_utf8_lossy(&read).into_owned();
            let length = text
                .to_ascii_lowercase()
                .split("content-length: ")
                .nth(1)
                .and_then(|rest| rest.lines().next()?.parse::<usize>().ok());
            let whole = text.split_once("\r\n\r\n").is_some_and(|(_, body)| Some(body.len()) >= length);
            if whole || count == 0 {
                return whole.then_some(text);
            }
        }
    }

    async fn answer(mut stream: TcpStream, then: Then, record: Arc<Mutex<String>>, gone: Arc<Notify>) {
        let Some(text) = heard(&mut stream).await else { return };
        record.lock().await.clone_from(&text);
        match then {
            Then::Send(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
            Then::SendAndHang(bytes) => {
                let _ = stream.write_all(&bytes).await;
                while stream.read(&mut [0; 64]).await.is_ok_and(|count| count > 0) {}
                gone.notify_one();
            }
            Then::KeepAlive(bytes) => {
                let _ = stream.write_all(&bytes).await;
                while heard(&mut stream).await.is_some() {
                    let _ = stream.write_all(&bytes).await;
                }
            }
            Then::Choose(choose) => {
                let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
                let _ = stream.write_all(&choose(&serde_json::from_str(body).expect("JSON"))).await;
                let _ = stream.shutdown().await;
            }
            Then::Reset => {
                let _ = stream.set_zero_linger();
                drop(stream);
            }
            Then::Flood(bytes) => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                while stream.write_all(&bytes).await.is_ok() {}
            }
        }
    }

    fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
    }

    fn options(base: &str) -> LlmOptions {
        LlmOptions {
            base_url: Some(base.to_owned()),
            api_key: Some(Secret::new("sk-very-secret")),
            max_response_bytes: 10_000,
            ..LlmOptions::default()
        }
    }

    fn request(milliseconds: u64) -> ChatRequest {
        ChatRequest::new(vec![Message::User("hi".into())], Instant::now() + Duration::from_millis(milliseconds))
    }

    async fn ask(then: Then, milliseconds: u64) -> Result<ChatReply, LlmError> {
        let server = serve(then).await;
        let model = OpenAi::new(&options(&server.base)).expect("set up");
        model.complete(request(milliseconds)).await
    }

    #[tokio::test]
    async fn a_call_comes_through() {
        let body = json!({"choices": [{"message": {"tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}]}}]});
        let server = serve(Then::Send(http("200 OK", "content-type: text/plain\r\n", &body.to_string()))).await;
        let model = OpenAi::new(&options(&format!("{}/", server.base))).expect("set up");
        let reply = model.complete(request(5_000)).await.expect("a reply");
        assert_eq!(reply.tool_calls[0].name, "f");
        let heard = server.heard.lock().await.clone();
        assert!(heard.starts_with("POST /v1/chat/completions HTTP/1.1"), "{heard}");
        assert!(
            heard.contains("authorization: Bearer sk-very-secret") && heard.contains("user-agent: uptake/"),
            "{heard}"
        );
        assert!(!format!("{model:?}").contains("secret"));
        assert!(model.describe().starts_with("default at 127.0.0.1:"));
    }

    fn piece(delta: &Value, finish: Option<&str>) -> String {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    }

    fn begun(index: u64, name: &str) -> String {
        piece(
            &json!({"tool_calls": [{"index": index, "id": name, "function": {"name": name, "arguments": "{}"}}]}),
            None,
        )
    }

    /// A body without a length, which ends with the connection.
    fn open_ended(body: &str) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}").into_bytes()
    }

    fn with_tools() -> ChatRequest {
        let tool = Tool { name: "f".into(), description: String::new(), parameters: json!({}).into(), strict: true };
        ChatRequest { tools: [tool].into(), ..request(5_000) }
    }

    #[tokio::test]
    async fn a_stream_that_nobody_asked_for_is_read() {
        let body = format!("{}{}data: [DONE]\n\n", begun(0, "f"), piece(&json!({}), Some("tool_calls")));
        for bytes in [
            open_ended(&body),
            http("200 OK", "content-type: application/json\r\n", &body),
            // Without the final `[DONE]`.
            open_ended(body.trim_end_matches("data: [DONE]\n\n")),
        ] {
            let reply = ask(Then::Send(bytes), 5_000).await.expect("a reply");
            assert_eq!(reply.tool_calls[0].name, "f");
        }
        // The connection hangs after the complete reply.
        let whole = open_ended(body.trim_end_matches("data: [DONE]\n\n"));
        assert!(ask(Then::SendAndHang(whole), 5_000).await.is_ok());
        for cut in [open_ended(&begun(0, "f")), http("200 OK", "", &begun(0, "f"))] {
            assert_eq!(ask(Then::Send(cut), 5_000).await.expect_err("half a reply").kind(), "connect");
        }
        let flood = Then::Flood(b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_vec());
        assert_eq!(ask(flood, 5_000).await.expect_err("too long").kind(), "malformed");
        let flood = Then::Flood(piece(&json!({"content": "many words"}), None).into_bytes());
        assert_eq!(ask(flood, 5_000).await.expect_err("too long").kind(), "malformed");
    }

    #[tokio::test]
    async fn a_second_call_where_one_is_wanted_ends_the_connection() {
        let server = serve(Then::SendAndHang(open_ended(&format!("{}{}", begun(0, "f"), begun(1, "g"))))).await;
        let model = OpenAi::new(&LlmOptions { stream: true, ..options(&server.base) }).expect("set up");
        let reply = model.complete(with_tools()).await.expect("a reply");
        assert_eq!((reply.tool_calls.len(), reply.tool_calls[0].name.as_str()), (1, "f"));
        server.gone.notified().await;
        let heard = server.heard.lock().await.clone();
        assert!(heard.contains(r#""stream":true,"stream_options":{"include_usage":true}"#), "{heard}");
        assert!(heard.contains("accept: text/event-stream"), "{heard}");
    }

    #[tokio::test]
    async fn who_leaves_ends_the_connection() {
        for bytes in [Vec::new(), open_ended(&begun(0, "f"))] {
            let server = serve(Then::SendAndHang(bytes)).await;
            let mut servers = crate::llm::connect(&options(&server.base)).expect("set up");
            let chat = Arc::clone(servers.remove(0).chat());
            let asked = tokio::spawn(async move { chat.complete(request(60_000)).await });
            while server.heard.lock().await.is_empty() {
                tokio::task::yield_now().await;
            }
            asked.abort();
            server.gone.notified().await;
        }
    }

    #[tokio::test]
    async fn a_connection_is_used_again_after_a_stream() {
        let body = format!("{}data: [DONE]\n\n", piece(&json!({"content": "x"}), Some("stop")));
        let chunked =
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        let server = serve(Then::KeepAlive(chunked.into_bytes())).await;
        let model = OpenAi::new(&options(&server.base)).expect("set up");
        for _ in 0..3 {
            assert!(model.complete(request(5_000)).await.is_ok());
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_a_server_does_not_take_is_left_out_from_then_on() {
        let server = serve(Then::Choose(|body| {
            let refuse = |field: &str| {
                let message = format!("Unsupported parameter: '{field}' is not supported with this model.");
                http("400 Bad Request", "", &json!({"error": {"message": message, "param": field}}).to_string())
            };
            let field = ["max_tokens", "temperature", "parallel_tool_calls"];
            field.into_iter().find(|field| body.get(*field).is_some()).map_or_else(
                || http("200 OK", "", &json!({"choices": [{"message": {"content": "ok"}}]}).to_string()),
                refuse,
            )
        }))
        .await;
        let model = OpenAi::new(&options(&server.base)).expect("set up");
        for tries in [4, 5] {
            assert_eq!(model.complete(with_tools()).await.expect("a reply").content.as_deref(), Some("ok"));
            assert_eq!(server.connections.load(Ordering::SeqCst), tries);
        }
        let heard = server.heard.lock().await.clone();
        assert!(heard.contains(r#""max_completion_tokens":1024"#) && !heard.contains("temperature"), "{heard}");
        // Nothing is known about another model.
        let other = ChatRequest { model: Some("other".into()), ..with_tools() };
        assert!(model.complete(other).await.is_ok());
        assert_eq!(server.connections.load(Ordering::SeqCst), 9);
    }

    #[tokio::test]
    async fn a_server_that_refuses_whatever_is_sent_is_asked_a_few_times() {
        let server = serve(Then::Choose(|_| {
            let message = "max_tokens, max_completion_tokens, parallel_tool_calls and stream_options are not supported";
            http("400 Bad Request", "", &json!({"error": {"message": message}}).to_string())
        }))
        .await;
        let model = OpenAi::new(&options(&server.base)).expect("set up");
        assert_eq!(model.complete(with_tools()).await.expect_err("refused").kind(), "status");
        assert_eq!(server.connections.load(Ordering::SeqCst), 4);
    }

    #[tokio::test]
    async fn whatever_a_server_sends_is_a_typed_error() {
        for (bytes, kind) in [
            (http("200 OK", "", "garbage"), "malformed"),
            (http("200 OK", "", "{\"choices\": [{\"mess"), "malformed"),
            (http("200 OK", "content-type: text/html\r\n", "<html></html>"), "malformed"),
            (http("200 OK", "", ""), "malformed"),
            (http("200 OK", "", &"x".repeat(20_000)), "malformed"),
            (http("200 OK", "", "{\"error\": {\"message\": \"no\", \"code\": 400}}"), "status"),
            (http("302 Found", "location: http://127.0.0.1:1/\r\n", ""), "status"),
            (http("404 Not Found", "", "{\"detail\": \"Not Found\"}"), "status"),
            (http("500 Internal Server Error", "", "<h1>oh</h1>"), "status"),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"cho".to_vec(), "connect"),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(), "connect"),
            (b"SSH-2.0-OpenSSH".to_vec(), "connect"),
            (Vec::new(), "connect"),
        ] {
            let shown = String::from_utf8_lossy(&bytes).chars().take(60).collect::<String>();
            let error = ask(Then::Send(bytes), 5_000).await.expect_err("no reply");
            assert_eq!(error.kind(), kind, "{shown} {error}");
        }
        assert_eq!(ask(Then::Reset, 5_000).await.expect_err("reset").kind(), "connect");
        assert_eq!(ask(Then::Flood(vec![b' '; 1_000]), 5_000).await.expect_err("too long").kind(), "malformed");
    }

    #[tokio::test]
    async fn a_slow_server_is_a_timeout() {
        for bytes in [
            Vec::new(),
            b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec(),
            b"HTTP/1.1 503 Busy\r\ncontent-length: 100\r\n\r\n{".to_vec(),
        ] {
            assert_eq!(ask(Then::SendAndHang(bytes), 50).await, Err(LlmError::Timeout));
        }
        let server = serve(Then::SendAndHang(Vec::new())).await;
        let own = OpenAi::new(&LlmOptions { timeout_ms: 50, ..options(&server.base) }).expect("set up");
        assert_eq!(own.complete(request(60_000)).await, Err(LlmError::Timeout));
    }

    #[tokio::test]
    async fn nobody_listening_is_a_connect_error() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        drop(listener);
        let model = OpenAi::new(&options(&base)).expect("set up");
        assert_eq!(model.complete(request(5_000)).await.expect_err("nobody").kind(), "connect");
    }

    #[tokio::test]
    async fn an_error_says_when_to_come_back_and_hides_the_key() {
        let body = "{\"error\": {\"message\": \"sk-very-secret is over its limit\"}}";
        let error = ask(Then::Send(http("429 Too Many Requests", "retry-after: 3\r\n", body)), 5_000).await;
        let Err(LlmError::Status { status, message, retry_after }) = error else { unreachable!("{error:?}") };
        assert_eq!(
            (status, message.as_str(), retry_after),
            (429, "*** is over its limit", Some(Duration::from_secs(3)))
        );
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let parse = |text: &str| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_767);
            retry_after(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).expect("ASCII"))]), now)
        };
        assert_eq!(parse("7"), Some(Duration::from_secs(7)));
        assert_eq!(parse("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(parse("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for nonsense in ["-1", "soon", "NaN", "1e400", ""] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_base_address_is_written_in_many_ways() {
        for (base, expected) in [
            ("http://localhost:8080", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/", "http://localhost:8080/v1/chat/completions"),
            ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
            ("https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
            ("https://h/gateway", "https://h/gateway/v1/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/x/chat/completions?api-version=1", "https://h/x/chat/completions?api-version=1"),
        ] {
            assert_eq!(endpoint(base).expect("an address").as_str(), expected);
        }
        for base in ["", "localhost:8080", "ftp://h/", "http://", "http://me:secret@h/", "/v1"] {
            let error = endpoint(base).expect_err(base).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        let bad = LlmOptions { api_key: Some(Secret::new("sk\nx")), ..options("http://h") };
        assert_eq!(
            OpenAi::new(&bad).expect_err("bad").to_string(),
            "`llm.api_key` has characters that a header cannot carry"
        );
        let bad = LlmOptions { headers: [("a b".to_owned(), Secret::new("x"))].into(), ..options("http://h") };
        assert!(OpenAi::new(&bad).expect_err("bad").to_string().starts_with("`llm.headers.a b`"));
        assert!(matches!(OpenAi::new(&LlmOptions::default()), Err(SetupError::NoAddress)));
    }
}
