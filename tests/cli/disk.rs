//! A disk that accepts no more writes while the service runs, and then accepts them again.
//!
//! A test cannot fill or remount a disk everywhere; but the system can refuse a process writes beyond a limit on file
//! sizes, which can be changed from outside.

use std::{process::Command, time::Duration};

use serde_json::{Value, json};

use super::{Shell, crash::Server};
use crate::support::{copy, fixture};

/// Limits the size of the files that a process writes, in bytes.
fn bound(process: u32, most: &str) -> bool {
    let bounded = Command::new("prlimit").args(["--pid", &process.to_string(), &format!("--fsize={most}:")]).status();
    bounded.is_ok_and(|status| status.success())
}

fn say(server: &Server, session: &str, utterance: &str) -> (u16, Value) {
    let body = json!({"utterance": utterance, "session_id": session}).to_string();
    let (status, answer) = server.send("POST", "/v1/predict/weather", &body).expect("an answer");
    (status, serde_json::from_str(&answer).expect("JSON"))
}

#[test]
fn a_full_disk_stops_sessions_and_nothing_else() {
    let shell = Shell::new();
    copy(&fixture("modules").join("weather"), &shell.directory.path().join("modules/weather"));
    // Writes beyond the limit fail, as on a full disk, and do not end the process.
    let mut process = Command::new("sh");
    process.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]);
    let serve = shell.command(&["serve", "--port", "0", "--modules", "modules"]);
    process.arg(serve.get_program()).args(serve.get_args()).current_dir(shell.directory.path());
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => process.env(name, value),
            None => process.env_remove(name),
        };
    }
    process.env("UPTAKE_SESSIONS__URL", "sqlite:sessions.db");
    let server = Server::run(&mut process);
    server.await_ready();
    let (status, begun) = say(&server, "kept", "how warm is it in celsius");
    assert_eq!((status, begun["uptake"]["outcome"].as_str()), (200, Some("ask")), "{begun}");
    if !bound(server.id(), "0") {
        // `prlimit` is not available.
        return;
    }
    for _ in 0..3 {
        for session in ["kept", "new"] {
            let (status, refused) = say(&server, session, "in Seattle");
            assert_eq!((status, refused["error"]["code"].as_str()), (503, Some("sessions_unavailable")), "{refused}");
        }
        let body = json!({"utterance": "how warm is it in seattle in celsius"}).to_string();
        assert_eq!(
            server.send("POST", "/v1/predict/weather", &body).expect("an answer").0,
            200,
            "nothing is kept of it"
        );
        assert_eq!(server.send("GET", "/healthz", "").expect("an answer").0, 200);
    }
    assert!(bound(server.id(), "unlimited"));
    // The store may need a moment before it retries.
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let answer = loop {
        let (status, answer) = say(&server, "kept", "in Seattle");
        if status == 200 {
            break answer;
        }
        assert!(std::time::Instant::now() < until, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "get_current_weather", "the turn before is not lost: {answer}");
    assert_eq!(say(&server, "new", "how warm is it in celsius").0, 200);
}
