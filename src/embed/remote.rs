//! Vectors from a server that speaks OpenAI's `/v1/embeddings`. Its answers are always checked.

use std::{
    fmt,
    hash::{BuildHasher, Hasher},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use reqwest::{
    Client, StatusCode, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER},
    redirect,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::{sync::Semaphore, time};

use super::{EmbedError, Embedder, Prefixes, Purpose, RemoteOptions, causes, unit};
use crate::text::foreign::Foreign;

/// Most bytes of an answer, per text and for the rest of it: 16,384 dimensions written out in full.
const MOST_BYTES_PER_TEXT: usize = 512 * 1024;
const MOST_BYTES_AROUND: usize = 64 * 1024;
const MOST_DIMENSIONS: usize = 16_384;

/// Pauses between attempts double from the first to the last of these, unless the server asks for something in between.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Most bytes of a text that are sent. No embedding model reads more.
const LONGEST_TEXT: usize = 32 * 1024;

/// Requests one vector if `options` do not give the dimensions; otherwise sends nothing yet.
pub(super) async fn open(options: &RemoteOptions, queue: usize) -> Result<Remote, EmbedError> {
    let mut remote = Remote::new(options, queue)?;
    if remote.dimensions == 0 {
        let vectors = remote.request(&["dimensions"]).await?;
        remote.dimensions = vectors.first().map_or(0, Vec::len);
        remote.identity = remote.identify();
    }
    tracing::info!(identity = remote.identity, dimensions = remote.dimensions, "embedding server ready");
    Ok(remote)
}

/// A client of one server and one model.
pub(super) struct Remote {
    client: Client,
    url: Url,
    key: Option<SecretString>,
    model: String,
    /// 0 while unknown.
    dimensions: usize,
    shorten: bool,
    base64: bool,
    batch: usize,
    timeout: Duration,
    attempts: u32,
    prefixes: Prefixes,
    permits: Semaphore,
    identity: String,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct EmbeddingsRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

/// A failed attempt.
struct Fault {
    what: Foreign,
    /// `None` if another attempt would fail the same way.
    again: Option<Again>,
}

/// How long to wait before the next attempt; `None` if the server does not say.
type Again = Option<Duration>;

impl Remote {
    fn new(options: &RemoteOptions, queue: usize) -> Result<Self, EmbedError> {
        let wrong = |member: &str, what: &str| EmbedError::Load(format!("embed.remote.{member} {what}"));
        if options.model.is_empty() {
            return Err(wrong("model", "is not set"));
        }
        let url = Url::parse(&format!("{}/embeddings", options.base_url.trim_end_matches('/')))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| wrong("base_url", "is not a URL. hint: http://localhost:8080/v1"))?;
        if options.dimensions.is_some_and(|dimensions| !(1..=MOST_DIMENSIONS).contains(&dimensions)) {
            return Err(wrong("dimensions", &format!("is not from 1 to {MOST_DIMENSIONS}")));
        }
        if options.shorten && options.dimensions.is_none() {
            return Err(wrong("dimensions", "is not set, but embed.remote.shorten is"));
        }
        let key = options.api_key.clone().filter(|key| !key.expose_secret().trim().is_empty());
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret().trim()))
                .map_err(|_| wrong("api_key", "has characters that no header can carry"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let timeout = Duration::from_millis(options.timeout_ms.max(1));
        // Fails if the process has its own TLS provider; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .default_headers(headers)
            .connect_timeout(timeout.min(Duration::from_secs(5)))
            // A redirect would send the texts, and perhaps the key, to an address that is not configured.
            .redirect(redirect::Policy::none());
        if url.scheme() == "http" {
            // Without redirects there is never TLS, so no CA certificates are needed.
            client = client.tls_certs_only(std::iter::empty());
        }
        let client =
            client.build().map_err(|error| EmbedError::Load(format!("no HTTP client: {}", error.without_url())))?;
        let mut remote = Self {
            client,
            url,
            key,
            model: options.model.clone(),
            dimensions: options.dimensions.unwrap_or(0),
            shorten: options.shorten,
            base64: options.base64,
            batch: options.batch.max(1),
            timeout,
            attempts: options.attempts.max(1),
            prefixes: options.prefixes.clone(),
            permits: Semaphore::new(queue.clamp(1, Semaphore::MAX_PERMITS)),
            identity: String::new(),
        };
        remote.identity = remote.identify();
        Ok(remote)
    }

    /// The server cannot be asked which weights it has: if they change under the same name, the indexes must be
    /// rebuilt.
    fn identify(&self) -> String {
        let Prefixes { query, passage, symmetric } = &self.prefixes;
        let mut hasher = blake3::Hasher::new();
        for part in [self.url.as_str(), &self.model, query, passage, symmetric] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.update(&[u8::from(self.shorten)]);
        format!("remote-{}-{}-{}", self.model, self.dimensions, &hasher.finalize().to_hex()[..16])
    }

    /// One request with retries where they may help, all within the timeout.
    async fn request(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let tries = async {
            let mut wait = FIRST_WAIT;
            let mut number = 1;
            loop {
                let fault = match self.attempt(texts).await {
                    Ok(vectors) => return Ok(vectors),
                    Err(fault) => fault,
                };
                let Some(asked) = fault.again.filter(|_| number < self.attempts) else {
                    return Err(EmbedError::Remote(fault.what));
                };
                tracing::debug!(what = %fault.what, number, "the embedding server failed; trying again");
                time::sleep(asked.unwrap_or_else(|| jitter(wait)).min(LONGEST_WAIT)).await;
                wait = (wait * 2).min(LONGEST_WAIT);
                number += 1;
            }
        };
        time::timeout(self.timeout, tries).await.unwrap_or_else(|_| {
            let what = format!("no answer within {} ms", self.timeout.as_millis());
            Err(EmbedError::Remote(Foreign::new(&what)))
        })
    }

    async fn attempt(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Fault> {
        let request = EmbeddingsRequest {
            model: &self.model,
            input: texts,
            encoding_format: if self.base64 { "base64" } else { "float" },
            dimensions: self.shorten.then_some(self.dimensions),
        };
        // The address may contain a password.
        let lost =
            |error: reqwest::Error| Fault { what: Foreign::new(&causes(&error.without_url())), again: Some(None) };
        let mut response = self.client.post(self.url.clone()).json(&request).send().await.map_err(lost)?;
        let most = MOST_BYTES_AROUND + texts.len() * MOST_BYTES_PER_TEXT;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            if body.len() + chunk.len() > most {
                let what = Foreign::new(&format!("an answer of more than {most} bytes"));
                return Err(Fault { what, again: None });
            }
            body.extend_from_slice(&chunk);
        }
        let status = response.status();
        if !status.is_success() {
            return Err(Fault { what: self.complaint(status, &body), again: again(status, response.headers()) });
        }
        let dimensions = Some(self.dimensions).filter(|&dimensions| dimensions > 0);
        read_vectors(&body, texts.len(), dimensions).map_err(|what| Fault { what: Foreign::new(&what), again: None })
    }

    /// For the log: the status and the beginning of the server's message, without the key.
    fn complaint(&self, status: StatusCode, body: &[u8]) -> Foreign {
        #[derive(Deserialize)]
        struct RemoteErrorBody {
            error: Complaint,
        }
        #[derive(Deserialize)]
        struct Complaint {
            message: String,
        }
        let said = serde_json::from_slice::<RemoteErrorBody>(body)
            .map_or_else(|_| String::from_utf8_lossy(body).into_owned(), |body| body.error.message);
        let key = self.key.as_ref().map(|key| key.expose_secret().trim());
        Foreign::new(&format!("status {}: {said}", status.as_u16())).without(key)
    }
}

impl Embedder for Remote {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_symmetric(&self) -> bool {
        self.prefixes.is_symmetric()
    }

    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let _permit = self.permits.try_acquire().map_err(|_| EmbedError::Busy)?;
            let prefix = self.prefixes.of(purpose);
            let texts: Vec<String> = texts
                .iter()
                .map(|text| &text[..text.floor_char_boundary(LONGEST_TEXT)])
                // Servers refuse an empty text.
                .map(|text| if text.trim().is_empty() { format!("{prefix}-") } else { format!("{prefix}{text}") })
                .collect();
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(self.batch) {
                let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
                vectors.extend(self.request(&batch).await.map_err(|error| match error {
                    EmbedError::Remote(what) => EmbedError::Remote(what.unless_said(batch.iter().copied())),
                    other => other,
                })?);
            }
            Ok(vectors)
        })
    }
}

fn again(status: StatusCode, headers: &HeaderMap) -> Option<Again> {
    let worth_it = matches!(status.as_u16(), 408 | 409 | 429 | 500..=599) && status != StatusCode::NOT_IMPLEMENTED;
    let seconds = || headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs);
    worth_it.then(seconds)
}

/// Between half of `wait` and all of it, so that clients that failed together do not retry together.
fn jitter(wait: Duration) -> Duration {
    let random = std::hash::RandomState::new().build_hasher().finish() % 1000;
    let share = u32::try_from(random).unwrap_or_default();
    wait / 2 + wait / 2 * share / 1000
}

/// The `count` unit vectors of an answer, in the order of the texts; with the given `dimensions`, or at least all
/// equal.
fn read_vectors(body: &[u8], count: usize, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>, String> {
    #[derive(Deserialize)]
    struct EmbeddingsResponse {
        data: Vec<EmbeddingItem>,
    }
    #[derive(Deserialize)]
    struct EmbeddingItem {
        index: Option<usize>,
        embedding: EncodedVector,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum EncodedVector {
        Numbers(Vec<f32>),
        Base64(String),
    }

    let answer: EmbeddingsResponse =
        serde_json::from_slice(body).map_err(|error| format!("an answer that is not a list of vectors: {error}"))?;
    if answer.data.len() != count {
        return Err(format!("{} vectors for {count} texts", answer.data.len()));
    }
    let mut vectors = vec![Vec::new(); count];
    let mut dimensions = dimensions;
    for (position, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(position);
        let vector = match item.embedding {
            EncodedVector::Numbers(numbers) => numbers,
            EncodedVector::Base64(text) => from_base64(&text)?,
        };
        let wanted = *dimensions.get_or_insert(vector.len());
        if vector.len() != wanted || wanted > MOST_DIMENSIONS {
            return Err(format!("a vector of {} dimensions instead of {wanted}", vector.len()));
        }
        let vector = unit(vector).ok_or("a vector without a direction")?;
        let place = vectors.get_mut(index).filter(|place| place.is_empty());
        *place.ok_or_else(|| format!("index {index} is out of range or there twice"))? = vector;
    }
    Ok(vectors)
}

/// Decodes little-endian 32-bit floats.
fn from_base64(text: &str) -> Result<Vec<f32>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("a vector that is not base64: {error}"))?;
    let (numbers, []) = bytes.as_chunks::<4>() else {
        return Err(format!("a vector of {} bytes", bytes.len()));
    };
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use proptest::prelude::*;
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// A server that passes each request to `answer` and sends what it returns: a status, more headers, and a body.
    struct ScriptedServer {
        base_url: String,
        requests: Arc<Mutex<Vec<(String, Value)>>>,
    }

    type ScriptedReply = (u16, &'static str, String);

    async fn serve(answer: impl Fn(usize, &Value) -> ScriptedReply + Send + 'static) -> ScriptedServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut bytes = Vec::new();
                let (head, body) = loop {
                    let mut chunk = [0; 65_536];
                    let read = stream.read(&mut chunk).await.unwrap();
                    bytes.extend_from_slice(&chunk[..read]);
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head.to_lowercase().split("content-length: ").nth(1).unwrap().to_owned();
                    let length: usize = length.lines().next().unwrap().parse().unwrap();
                    if body.len() >= length {
                        break (head.to_owned(), body.to_owned());
                    }
                };
                let body: Value = serde_json::from_str(&body).unwrap();
                let number = seen.lock().unwrap().len();
                let (status, headers, reply) = answer(number, &body);
                seen.lock().unwrap().push((head, body));
                let length = reply.len();
                let text = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{reply}"
                );
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        ScriptedServer { base_url, requests }
    }

    /// `[length, 1]` for each text, in reverse order.
    fn vectors(_: usize, body: &Value) -> ScriptedReply {
        let texts = body["input"].as_array().unwrap();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .rev()
            .map(|(index, text)| json!({"index": index, "embedding": [text.as_str().unwrap().len(), 1]}))
            .collect();
        (200, "", json!({"object": "list", "data": data}).to_string())
    }

    fn options(server: &ScriptedServer) -> RemoteOptions {
        RemoteOptions {
            base_url: server.base_url.clone(),
            model: "m".into(),
            api_key: Some("sk-secret".into()),
            batch: 2,
            ..RemoteOptions::default()
        }
    }

    #[tokio::test]
    async fn texts_go_out_in_batches_with_prefix_and_key_and_vectors_come_back_in_order() {
        let server = serve(vectors).await;
        let prefixes = Prefixes { query: "q: ".into(), ..Prefixes::default() };
        let remote = open(&RemoteOptions { prefixes, ..options(&server) }, 4).await.unwrap();
        assert_eq!((remote.dimensions(), remote.is_symmetric()), (2, false));
        let got = remote.embed(vec!["a".into(), "bb".into(), String::new()], Purpose::Query).await.unwrap();
        let slopes: Vec<f32> = got.iter().map(|v| (v[0] / v[1]).round()).collect();
        assert_eq!(slopes, [4.0, 5.0, 4.0]);

        let requests = server.requests.lock().unwrap();
        let inputs: Vec<_> = requests.iter().map(|(_, body)| body["input"].clone()).collect();
        assert_eq!(inputs, [json!(["dimensions"]), json!(["q: a", "q: bb"]), json!(["q: -"])]);
        let head = &requests[0].0;
        assert!(head.starts_with("POST /v1/embeddings ") && head.contains("Bearer sk-secret"), "{head}");
        assert_eq!(requests[1].1["model"], "m");
        assert_eq!(requests[1].1["encoding_format"], "float");
    }

    #[tokio::test]
    async fn known_dimensions_need_no_request() {
        let remote =
            RemoteOptions { base_url: "http://127.0.0.1:9/v1".into(), model: "m".into(), ..RemoteOptions::default() };
        assert!(matches!(open(&remote, 1).await, Err(EmbedError::Remote(_))));
        assert!(open(&RemoteOptions { dimensions: Some(3), ..remote }, 1).await.is_ok());
    }

    #[tokio::test]
    async fn faults_that_pass_are_tried_again() {
        let server = serve(|number, body| match number {
            0 => (503, "retry-after: 0\r\n", "busy".into()),
            1 => (429, "retry-after: 0\r\n", String::new()),
            _ => vectors(number, body),
        })
        .await;
        assert_eq!(open(&options(&server), 1).await.unwrap().dimensions(), 2);
        assert_eq!(server.requests.lock().unwrap().len(), 3);
    }

    #[tokio::test]
    async fn other_faults_are_not_and_the_key_stays_hidden() {
        let server = serve(|_, _| {
            (401, "", json!({"error": {"message": "bad key sk-secret\nsk-secret", "type": "x"}}).to_string())
        })
        .await;
        let error = open(&options(&server), 1).await.unwrap_err().to_string();
        assert_eq!(error, "the embedding server failed: status 401: bad key *** ***");
        assert_eq!(server.requests.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn what_was_said_is_in_no_error() {
        for body in [
            json!({"error": {"message": "cannot embed: send it to Zürich"}}).to_string(),
            json!({"data": "send it to Zürich"}).to_string(),
        ] {
            let status = if body.contains("error") { 400 } else { 200 };
            let server = serve(move |_, _| (status, "", body.clone())).await;
            let remote = open(&RemoteOptions { dimensions: Some(3), ..options(&server) }, 1).await.unwrap();
            let error = remote.embed(vec!["send it to Zürich".into()], Purpose::Query).await.unwrap_err().to_string();
            assert!(!error.contains("Zürich"), "{error}");
        }
    }

    #[tokio::test]
    async fn tries_end() {
        let tries = Arc::new(AtomicUsize::new(0));
        let server = serve({
            let tries = Arc::clone(&tries);
            move |_, _| {
                tries.fetch_add(1, Ordering::Relaxed);
                (500, "retry-after: 0\r\n", String::new())
            }
        })
        .await;
        assert!(open(&options(&server), 1).await.is_err());
        assert_eq!(tries.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_silent_server_is_left_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let remote = RemoteOptions { base_url, model: "m".into(), timeout_ms: 50, ..RemoteOptions::default() };
        let error = open(&remote, 1).await.unwrap_err().to_string();
        assert!(error.contains("within 50 ms"), "{error}");
    }

    #[tokio::test]
    async fn an_endless_answer_is_cut_off() {
        let server = serve(|_, _| (200, "", " ".repeat(MOST_BYTES_AROUND + MOST_BYTES_PER_TEXT + 1))).await;
        let error = open(&options(&server), 1).await.unwrap_err().to_string();
        assert!(error.contains("more than"), "{error}");
    }

    #[tokio::test]
    async fn calls_beyond_the_bound_are_refused() {
        let server = serve(vectors).await;
        let remote = open(&RemoteOptions { dimensions: Some(2), ..options(&server) }, 1).await.unwrap();
        let calls = (0..3).map(|_| remote.embed(vec!["a".into()], Purpose::Query));
        let results = futures::future::join_all(calls).await;
        assert_eq!(results.iter().filter(|result| matches!(result, Err(EmbedError::Busy))).count(), 2);
    }

    #[test]
    fn options_that_cannot_work_say_which() {
        let good = RemoteOptions { base_url: "http://h/v1/".into(), model: "m".into(), ..RemoteOptions::default() };
        assert_eq!(Remote::new(&good, 1).unwrap().url.as_str(), "http://h/v1/embeddings");
        for (member, options) in [
            ("model", RemoteOptions { model: String::new(), ..good.clone() }),
            ("base_url", RemoteOptions { base_url: "h/v1".into(), ..good.clone() }),
            ("base_url", RemoteOptions { base_url: "file:///etc".into(), ..good.clone() }),
            ("dimensions", RemoteOptions { dimensions: Some(0), ..good.clone() }),
            ("dimensions", RemoteOptions { shorten: true, ..good.clone() }),
            ("api_key", RemoteOptions { api_key: Some("a\nb".into()), ..good.clone() }),
        ] {
            let error = Remote::new(&options, 1).unwrap_err().to_string();
            assert!(error.contains(&format!("embed.remote.{member}")), "{error}");
        }
    }

    #[test]
    fn both_ways_to_write_a_vector_are_read() {
        let numbers: Vec<u8> = [3.0f32, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let body = json!({"data": [{"embedding": [3, 4]}, {"embedding": STANDARD.encode(numbers)}]}).to_string();
        assert_eq!(read_vectors(body.as_bytes(), 2, None).unwrap(), [[0.6, 0.8], [0.6, 0.8]]);
    }

    #[test]
    fn answers_that_do_not_fit_are_refused() {
        let refused = |data: Value, count, dimensions| {
            read_vectors(json!({"data": data}).to_string().as_bytes(), count, dimensions).unwrap_err()
        };
        let item = |index: usize| json!({"index": index, "embedding": [1, 0]});
        refused(json!([item(0)]), 2, None);
        refused(json!([item(0), item(0)]), 2, None);
        refused(json!([item(2), item(0)]), 2, None);
        refused(json!([item(0)]), 1, Some(3));
        refused(json!([item(0), {"index": 1, "embedding": [1]}]), 2, None);
        refused(json!([{"embedding": [0, 0]}]), 1, None);
        refused(json!([{"embedding": []}]), 1, None);
        refused(json!([{"embedding": [1e39, 0]}]), 1, None);
        refused(json!([{"embedding": "AAA="}]), 1, None);
        refused(json!([{"embedding": "!"}]), 1, None);
        refused(json!([{"embedding": null}]), 1, None);
        assert!(read_vectors(b"", 0, None).is_err());
    }

    proptest! {
        #[test]
        fn no_answer_panics(body in proptest::collection::vec(any::<u8>(), 0..200), count in 0usize..3) {
            let _ = read_vectors(&body, count, None);
        }

        #[test]
        fn the_order_of_an_answer_does_not_matter(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle()) {
            let data: Vec<_> = order.iter().map(|&i| json!({"index": i, "embedding": [1, i]})).collect();
            let got = read_vectors(json!({"data": data}).to_string().as_bytes(), 6, Some(2)).unwrap();
            for (index, vector) in got.iter().enumerate() {
                prop_assert!((vector[1] / vector[0] - index as f32).abs() < 1e-4);
            }
        }
    }
}
