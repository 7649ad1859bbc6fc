//! The binary as an agent or an editor starts it.

use std::process::Stdio;

use rmcp::{ClientLifecycleMode, ClientServiceExt as _, ServiceExt as _, model::ProtocolVersion};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};

use super::{calling, forecast, soon, words};
use crate::support::fixture;

/// Started in an empty directory, with only our settings and the embedder that needs no model.
struct Started {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: ChildStderr,
    _directory: TempDir,
}

fn start(arguments: &[&str]) -> Started {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("UPTAKE_")) {
            command.env_remove(name);
        }
    }
    let mut process = command
        .arg("mcp")
        .args(arguments)
        .current_dir(directory.path())
        .env("UPTAKE_EMBED__KIND", "hashed")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary runs");
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let stderr = process.stderr.take().expect("piped");
    Started { process, stdin, stdout, stderr, _directory: directory }
}

impl Started {
    /// The exit code, the rest of stdout, and stderr.
    async fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        if let Some(mut stdout) = self.stdout.take() {
            soon(stdout.read_to_string(&mut out)).await.expect("UTF-8");
        }
        soon(self.stderr.read_to_string(&mut err)).await.expect("UTF-8");
        (soon(self.process.wait()).await.expect("it ends").code(), out, err)
    }

    async fn write(&mut self, lines: &[&str]) {
        let stdin = self.stdin.as_mut().expect("still open");
        for line in lines {
            stdin.write_all(format!("{line}\n").as_bytes()).await.expect("it reads");
        }
        stdin.flush().await.expect("it reads");
    }

    fn lines(&mut self) -> Lines<BufReader<ChildStdout>> {
        BufReader::new(self.stdout.take().expect("still ours")).lines()
    }

    #[cfg(unix)]
    fn signal(&self, name: &str) {
        let id = self.process.id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("there is a `kill`").success());
    }
}

async fn message(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let line = soon(lines.next_line()).await.expect("UTF-8").expect("another line");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: nothing but messages is on stdout: {line}"))
}

fn weather() -> String {
    fixture("modules/weather").to_string_lossy().into_owned()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[tokio::test]
async fn a_client_starts_it_asks_it_and_leaves() {
    for lifecycle in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ] {
        let mut started = start(&[&weather()]);
        let pipes = (started.stdout.take().expect("piped"), started.stdin.take().expect("piped"));
        let client = soon(().serve_with_lifecycle(pipes, lifecycle)).await.expect("the handshake");
        let tools = soon(client.list_all_tools()).await.expect("tools");
        assert_eq!(tools.len(), 3);
        let result = soon(client.call_tool(calling("understand", forecast()))).await.expect("a result");
        assert!(words(&result).contains("get_n_day_forecast"), "{result:?}");
        soon(client.cancel()).await.expect("it closes");
        assert_eq!(started.end().await, (Some(0), String::new(), String::new()));
    }
}

#[tokio::test]
async fn garbage_is_survived_and_stdout_holds_messages_only() {
    let mut started = start(&[&weather()]);
    let mut lines = started.lines();
    started.write(&["", "garbage", "{\"jsonrpc\":", INITIALIZE]).await;
    let first = message(&mut lines).await;
    assert_eq!((&first["id"], &first["result"]["protocolVersion"]), (&json!(1), &json!("2025-06-18")));
    assert_eq!(first["result"]["serverInfo"]["name"], "uptake");
    let long = "x".repeat(2 << 20);
    let understand = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call",
        "params": {"name": "understand", "arguments": forecast()}});
    started
        .write(&[
            INITIALIZED,
            "]]]",
            "\u{0}\u{1}",
            &long,
            r#"{"jsonrpc":"2.0","id":2,"method":"no/such/method"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
            &understand.to_string(),
        ])
        .await;
    let (one, other) = (message(&mut lines).await, message(&mut lines).await);
    let of = |id: Value| if one["id"] == id { &one } else { &other };
    assert_eq!(of(json!(2))["error"]["code"], -32601);
    assert_eq!(of(json!("a"))["result"]["structuredContent"]["uptake"]["outcome"], "call", "{one} {other}");
    drop(started.stdin.take());
    assert_eq!(soon(lines.next_line()).await.unwrap(), None);
    assert_eq!(started.end().await.0, Some(0));
}

/// Requests that arrive before the end of input are answered before the end.
#[tokio::test]
async fn the_end_of_input_ends_it() {
    let mut started = start(&[&weather()]);
    drop(started.stdin.take());
    assert_eq!(started.end().await, (Some(0), String::new(), String::new()));

    let mut started = start(&[&weather()]);
    started
        .write(&[INITIALIZE, r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_modules"}}"#])
        .await;
    drop(started.stdin.take());
    let (code, out, err) = started.end().await;
    assert_eq!((code, out.lines().count(), err.as_str()), (Some(0), 2, ""), "{out}");
}

#[cfg(unix)]
#[tokio::test]
async fn signals_end_it() {
    for name in ["TERM", "INT"] {
        let mut started = start(&[&weather()]);
        let mut lines = started.lines();
        started.write(&[INITIALIZE]).await;
        message(&mut lines).await;
        started.signal(name);
        // Its input is still open.
        assert_eq!(soon(started.process.wait()).await.unwrap().code(), Some(0), "{name}");
    }
}

#[tokio::test]
async fn what_cannot_work_is_told_at_once() {
    let (code, out, err) = start(&["nowhere"]).end().await;
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("there is no module `nowhere`"), "{err}");
    let (code, ..) = start(&["weather", "a b"]).end().await;
    assert_eq!(code, Some(2));
    let (code, ..) = start(&["--allow-host", "example.com"]).end().await;
    assert_eq!(code, Some(2));
    let (code, out, err) = start(&["--http", "nonsense"]).end().await;
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.contains("--http wants HOST:PORT"), "{err}");

    let mut started = start(&[&weather()]);
    started.write(&[INITIALIZED]).await;
    let (code, out, err) = started.end().await;
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.contains("the first request is `initialize`"), "{err}");
}

#[cfg(unix)]
#[tokio::test]
async fn it_listens_where_it_is_told() {
    let started = start(&["--modules", &fixture("modules").to_string_lossy(), "weather", "--http", "127.0.0.1:0"]);
    let Started { mut process, stderr, .. } = started;
    let mut lines = BufReader::new(stderr).lines();
    let url = loop {
        let line = soon(lines.next_line()).await.unwrap().expect("it says where it listens");
        if let Some((_, url)) = line.split_once("listening on ") {
            break url.split(' ').next().unwrap_or_default().to_owned();
        }
    };
    let transport = super::http::transport(&url);
    let client = soon(().serve(transport)).await.expect("the handshake");
    let result = soon(client.call_tool(calling("understand", forecast()))).await.expect("a result");
    assert!(words(&result).contains("get_n_day_forecast"), "{result:?}");
    drop(client);
    let id = process.id().expect("it runs").to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(soon(process.wait()).await.unwrap().code(), Some(0));
}
