//! Chat completion requests: messages, tools, formats, our own members.

use serde_json::{Value, json};

use super::{Mutator, Run, corpus};
use crate::support::Service;

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "role",
    "user",
    "assistant",
    "system",
    "tool",
    "developer",
    "function",
    "content",
    "tool_calls",
    "tool_call_id",
    "arguments",
    "tools",
    "tool_choice",
    "required",
    "auto",
    "none",
    "response_format",
    "json_schema",
    "json_object",
    "strict",
    "stream",
    "n",
    "model",
    "weather",
    "uptake",
    "state",
    "p1.e30",
    "text",
    "image_url",
    "parameters",
    "properties",
    "type",
    "object",
    "$ref",
    "enum",
    "pattern",
    "é",
    "日本",
    "\u{202e}",
];

/// Each is answered, or the wrong member is named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_answered_or_refused() {
    let mut run = Run::new("chat", 60);
    let mutator = Mutator::new(TOKENS, 32 << 10);
    let seeds = corpus("chat");
    let service = Service::new(&["weather", "tools"]);
    let (mut answered, mut refused) = (0_u64, 0_u64);
    while run.goes_on() {
        let random = &mut run.random;
        let seed = random.choice(&seeds).cloned().expect("a request");
        let input = if random.u8(0..5) == 0 {
            mutator.bytes(random, &seeds)
        } else {
            let mut request: Value = serde_json::from_slice(&seed).expect("JSON");
            mutator.json(random, &mut request);
            if request.is_object() && random.bool() {
                request["model"] = json!("weather");
            }
            request.to_string().into_bytes()
        };
        run.try_next(&input);
        let answer = service.post("/v1/chat/completions", input.clone()).await;
        let what = format!("{}: {}: {}", run.shown(), String::from_utf8_lossy(&input), answer.text);
        match answer.status {
            200 => answered += 1,
            400 | 404 | 413 | 422 => {
                assert!(!answer.error().2.is_empty(), "{what}");
                refused += 1;
            }
            other => panic!("{other}: {what}"),
        }
    }
    run.done(&format!("{answered} answered, {refused} refused"));
    assert!(answered > 0 && refused > 0, "{}: {answered} answered, {refused} refused", run.shown());
}
