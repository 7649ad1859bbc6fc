//! The HTTP client of any server that speaks `OpenAI`'s `/v1/chat/completions`. One request is one try; see
//! [`super::retry`] for more.

use std::{
    error::Error as _,
    time::{Duration, SystemTime},
};

use futures::future::BoxFuture;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};
use tokio::time::Instant;

use super::{ChatModel, ChatReply, ChatRequest, LlmError, LlmOptions, Secret, SetupError, wire};

/// Bytes that are read of an answer that is an error.
const MAX_ERROR_BODY: usize = 64 << 10;

/// One server and the model that is asked by default. Reuses its connections; cheap to share.
pub struct OpenAi {
    client: Client,
    endpoint: Url,
    options: LlmOptions,
    /// The key and the values of headers, to be taken out of whatever the server says.
    secrets: Vec<Secret>,
}

impl std::fmt::Debug for OpenAi {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("OpenAi").field(&self.describe()).finish()
    }
}

impl OpenAi {
    /// Prepares the client; nothing is sent yet.
    ///
    /// # Errors
    /// If the address is no http(s) URL, the key or a header cannot be read or sent, or TLS cannot be set up.
    pub fn new(options: &LlmOptions) -> Result<Self, SetupError> {
        let endpoint = endpoint(options.base_url.as_deref().ok_or(SetupError::NoAddress)?)?;
        let key = options.key()?;
        let headers = headers(options, key.as_ref())?;
        let mut builder = Client::builder()
            .user_agent(concat!("uptake/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(Duration::from_millis(options.connect_timeout_ms))
            // A redirect would carry the key and what was said to an address that nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false);
        // The process may have its own provider already; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if endpoint.scheme() == "http" {
            // Without redirects no TLS is ever spoken, so that no CA certificates need be there.
            builder = builder.tls_certs_only(std::iter::empty());
        }
        let client = builder.build().map_err(|error| SetupError::Client(chain(&error)))?;
        let secrets =
            key.into_iter().chain(options.headers.values().cloned()).filter(|secret| secret.expose().len() >= 6);
        Ok(Self { client, endpoint, options: options.clone(), secrets: secrets.collect() })
    }

    async fn send(&self, body: Vec<u8>) -> Result<ChatReply, LlmError> {
        let sent = self.client.post(self.endpoint.clone()).body(body).send().await;
        let response = sent.map_err(|error| self.failure(error))?;
        let status = response.status();
        if status.is_success() {
            let body = self.read(response, self.options.max_response_bytes).await?;
            return wire::reply(&body).map_err(|error| self.hidden(error));
        }
        let retry_after = retry_after(response.headers(), SystemTime::now());
        // What the server says is for the log; if it can't be read, its status says enough.
        let body = match self.read(response, MAX_ERROR_BODY).await {
            Ok(body) => body,
            Err(LlmError::Malformed(_) | LlmError::Connect(_)) => Vec::new(),
            Err(other) => return Err(other),
        };
        let said = wire::error_message(&body);
        let message = if said.is_empty() { reason(status).to_owned() } else { said };
        Err(self.hidden(LlmError::Status { status: status.as_u16(), message, retry_after }))
    }

    /// The body, unless it is longer than `limit`.
    async fn read(&self, mut response: Response, limit: usize) -> Result<Vec<u8>, LlmError> {
        let too_long = || LlmError::Malformed(format!("it is longer than {limit} bytes"));
        if response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_long());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure(error))? {
            if body.len() + chunk.len() > limit {
                return Err(too_long());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn failure(&self, error: reqwest::Error) -> LlmError {
        if error.is_timeout() {
            return LlmError::Timeout;
        }
        self.hidden(LlmError::Connect(chain(&error.without_url())))
    }

    /// The error without a key that the server may have repeated.
    fn hidden(&self, error: LlmError) -> LlmError {
        let hide = |text: String| self.secrets.iter().fold(text, |text, secret| text.replace(secret.expose(), "***"));
        match error {
            LlmError::Connect(text) => LlmError::Connect(hide(text)),
            LlmError::Malformed(text) => LlmError::Malformed(hide(text)),
            LlmError::Status { status, message, retry_after } => {
                LlmError::Status { status, message: hide(message), retry_after }
            }
            other @ (LlmError::Timeout | LlmError::Overloaded) => other,
        }
    }
}

impl ChatModel for OpenAi {
    fn describe(&self) -> String {
        let model = self.options.model.as_deref().unwrap_or("default");
        let host = self.endpoint.host_str().unwrap_or_default();
        match self.endpoint.port() {
            Some(port) => format!("{model} at {host}:{port}"),
            None => format!("{model} at {host}"),
        }
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            let own = Instant::now() + Duration::from_millis(self.options.timeout_ms);
            let body = wire::body(&request, &self.options);
            match tokio::time::timeout_at(own.min(request.deadline), self.send(body)).await {
                Ok(result) => result,
                Err(_) => Err(LlmError::Timeout),
            }
        })
    }
}

/// The address of chat completions under a base that is written with or without `/v1`, or in full.
fn endpoint(base: &str) -> Result<Url, SetupError> {
    let refuse = |why: &str| SetupError::Address(why.to_owned());
    // The address itself is not repeated: it may carry a password.
    let mut url = Url::parse(base.trim()).map_err(|error| SetupError::Address(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(refuse("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("a name and password don't belong in it; use `llm.api_key`"));
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
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let sensitive = |name: &str, text: &str| {
        let mut value = HeaderValue::from_str(text).map_err(|_| SetupError::Header(name.to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    };
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, sensitive("`llm.api_key`", &format!("Bearer {}", key.expose()))?);
    }
    for (name, value) in &options.headers {
        let shown = format!("`llm.headers.{name}`");
        let parsed = HeaderName::try_from(name.as_str()).map_err(|_| SetupError::Header(shown.clone()))?;
        headers.insert(parsed, sensitive(&shown, value.expose())?);
    }
    Ok(headers)
}

/// `Retry-After`, in seconds or as a date; none if it makes no sense.
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

/// An error with what caused it; reqwest's own words alone say too little.
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
    use std::sync::Arc;

    use serde_json::json;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::Mutex,
    };

    use super::*;
    use crate::llm::{Message, ToolChoice};

    /// What a server does with a connection once it has read the request.
    #[derive(Clone)]
    enum Then {
        Send(Vec<u8>),
        /// Sends and goes on holding the connection.
        SendAndHang(Vec<u8>),
        Reset,
        /// Sends this over and over.
        Flood(Vec<u8>),
    }

    struct Server {
        base: String,
        /// The last request, as it came.
        heard: Arc<Mutex<String>>,
    }

    async fn serve(then: Then) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let heard = Arc::new(Mutex::new(String::new()));
        let record = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, then.clone(), Arc::clone(&record)));
            }
        });
        Server { base, heard }
    }

    async fn answer(mut stream: TcpStream, then: Then, record: Arc<Mutex<String>>) {
        let mut read = Vec::new();
        let mut buffer = [0; 4096];
        // Until the body is whole: the client writes its length first.
        loop {
            let Ok(count) = stream.read(&mut buffer).await else { return };
            read.extend_from_slice(&buffer[..count]);
            let text = String::from_utf8_lossy(&read).into_owned();
            let length = text
                .to_ascii_lowercase()
                .split("content-length: ")
                .nth(1)
                .and_then(|rest| rest.lines().next()?.parse::<usize>().ok());
            let whole = text.split_once("\r\n\r\n").is_some_and(|(_, body)| Some(body.len()) >= length);
            if whole || count == 0 {
                *record.lock().await = text;
                break;
            }
        }
        match then {
            Then::Send(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
            Then::SendAndHang(bytes) => {
                let _ = stream.write_all(&bytes).await;
                std::future::pending::<()>().await;
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
        ChatRequest {
            model: None,
            messages: vec![Message::User("hi".into())],
            tools: vec![],
            tool_choice: ToolChoice::Auto,
            response_schema: None,
            temperature: None,
            max_tokens: None,
            deadline: Instant::now() + Duration::from_millis(milliseconds),
        }
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
