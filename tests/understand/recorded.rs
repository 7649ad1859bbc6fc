//! Reads recorded replies of real servers (`tests/fixtures/replies`).

use std::{collections::BTreeMap, fs};

use serde_json::Value;
use uptake::llm::{self, LlmError};

use crate::support::fixture;

/// The reading of a recorded reply, in a line.
fn read(reply: &Value) -> String {
    let body = serde_json::to_vec(&reply["body"]).expect("JSON");
    match llm::read_reply(&body) {
        Ok(read) => {
            let calls: Vec<String> =
                read.tool_calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
            let cut = if read.cut { ", cut" } else { "" };
            format!("content {:?}, calls {calls:?}{cut}", read.content.unwrap_or_default())
        }
        Err(LlmError::Status { status, message, .. }) => format!("error {status}: {message}"),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn recorded_replies_are_read() {
    let mut lines = BTreeMap::new();
    for server in fs::read_dir(fixture("replies")).expect("a directory") {
        for file in fs::read_dir(server.expect("an entry").path()).expect("a server's directory") {
            let path = file.expect("an entry").path();
            let reply: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
            let is_error = reply["status"].as_u64().is_none_or(|status| status >= 400);
            let name = path.strip_prefix(fixture("replies")).expect("below it").with_extension("");
            let read = read(&reply);
            // A server's error is never taken for an answer.
            assert!(!is_error || read.starts_with("error"), "{}: {read}", name.display());
            lines.insert(name.display().to_string(), read);
        }
    }
    assert!(lines.len() >= 20);
    let text: String = lines.iter().map(|(name, read)| format!("{name}: {read}\n")).collect();
    crate::support::golden("tests/fixtures/replies.txt", &text);
}
