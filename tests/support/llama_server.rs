//! The real `llama-server`, with the small model of `tests/fixtures/llama` or a real one, if available.

use std::{
    env,
    io::Write as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use uptake::llm::LlmOptions;

use super::fixture;

/// Stopped when dropped.
pub(crate) struct LlamaServer {
    process: Child,
    port: u16,
}

impl LlamaServer {
    /// `None`, with a message that no test runner hides, if there is no server. With `UPTAKE_NEEDS_LLAMA_SERVER` set
    /// (as in CI) that is a failure.
    pub(crate) async fn start(test: &str) -> Option<Self> {
        Self::start_with(test, fixture("llama/model.gguf"), 4).await
    }

    /// The same with a real instruction-tuned model, and `UPTAKE_NEEDS_MODEL`.
    pub(crate) async fn start_real(test: &str) -> Option<Self> {
        let model = target("models/smollm2-135m-instruct-q4_1.gguf");
        if !model.is_file() {
            skip(test, "model", "UPTAKE_NEEDS_MODEL", "scripts/get-model");
            return None;
        }
        Self::start_with(test, model, 1).await
    }

    async fn start_with(test: &str, model: PathBuf, parallel: usize) -> Option<Self> {
        let Some(program) = program() else {
            skip(test, "llama-server", "UPTAKE_NEEDS_LLAMA_SERVER", "scripts/get-llama-server");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let process = Command::new(&program)
            .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--threads", "1", "--ctx-size", "4096"])
            .args(["--parallel", &parallel.to_string(), "--jinja", "--model"])
            .arg(model)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut server = Self { process, port };
        for _ in 0..600 {
            if server.is_ready().await {
                return Some(server);
            }
            let ended = server.process.try_wait().expect("our own process");
            assert!(ended.is_none(), "{} ended: {ended:?}", program.display());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{} was not ready in half a minute", program.display());
    }

    async fn is_ready(&self) -> bool {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await else { return false };
        let request = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).await.is_ok()
            && stream.read_to_string(&mut answer).await.is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }

    pub(crate) fn options(&self) -> LlmOptions {
        LlmOptions {
            base_url: Some(format!("http://127.0.0.1:{}", self.port)),
            // The small model never says anything useful after this many tokens.
            max_tokens: Some(160),
            probe: false,
            ..LlmOptions::default()
        }
    }
}

impl Drop for LlamaServer {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Fails if the test must run, or else reports that it is skipped.
fn skip(test: &str, what: &str, must: &str, fetch: &str) {
    assert!(env::var_os(must).is_none(), "{test} needs a {what}: {fetch} fetches it");
    // Written straight to the terminal: the test runner shows captured output of failures only.
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: {test}: there is no {what} here; {fetch} fetches it ***\n");
}

fn target(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(path)
}

fn program() -> Option<PathBuf> {
    let fetched = target("llama-server/llama-server");
    env::var_os("LLAMA_SERVER").map(PathBuf::from).or(Some(fetched)).filter(|program| program.is_file())
}
