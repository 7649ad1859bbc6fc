//! Arbitrary utterances through the whole local path: single ones, and in conversations.

use serde_json::{Value, json};

use super::{Mutator, Run, corpus};
use crate::support::{Service, embedder};

const MODULES: [&str; 5] = ["banking", "delivery", "restaurant", "shoes", "weather"];

const TOKENS: &[&str] = &[
    " ",
    ".",
    ",",
    ";",
    "?",
    "!",
    "'",
    "\"",
    "and ",
    "or ",
    "not ",
    "but ",
    "no, ",
    "yes",
    "cancel",
    "I mean ",
    "the second one",
    "instead of ",
    "change ",
    "remove ",
    "all ",
    "tomorrow ",
    "at 5 ",
    "in 3 days ",
    "one ",
    "one hundred ",
    "half past ",
    "1/2/",
    "31.02.",
    "$5 ",
    "1e9",
    "000",
    "-",
    "12 pm",
    "a@b.de",
    "+49 30 1234",
    "https://x.y",
    "Seattle ",
    "size 9 ",
    "black ",
    "<city>",
    "{",
    "}",
    "\\",
    "\n",
    "\t",
    "\u{0}",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "é",
    "e\u{301}",
    "ß",
    "İ",
    "ﬁ",
    "😀",
    "👨‍👩‍👧",
    "日本",
    "て、",
    "１２",
    "٣",
    "ไทย",
];

/// Texts of the modules' own exemplars and cases, and hostile ones.
fn seeds() -> Vec<Vec<u8>> {
    fn texts(value: &Value, all: &mut Vec<Vec<u8>>) {
        match value {
            Value::String(text) => all.push(text.clone().into_bytes()),
            Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
            Value::Object(members) => members.values().for_each(|member| texts(member, all)),
            _ => {}
        }
    }
    let mut all = corpus("utterances");
    for module in MODULES {
        let file = crate::support::shipped().join(module).join("exemplars.json");
        let text = std::fs::read_to_string(file).expect("exemplars");
        texts(&serde_json::from_str(&text).expect("JSON"), &mut all);
    }
    all
}

/// Understood or not, it is answered, and its confidence is a probability.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_said_is_answered() {
    let mut run = Run::new("utterances", 60);
    let mutator = Mutator::new(TOKENS, 2_000);
    let seeds = seeds();
    let service = Service::shipping(&MODULES, embedder());
    let (mut calls, mut talks) = (0_u64, 0_u64);
    while run.goes_on() {
        let module = MODULES[run.random.usize(0..MODULES.len())];
        // A conversation continues for some turns, then another one begins.
        let session = (run.random.u8(0..2) == 0).then(|| format!("talk-{}-{}", module, run.tried() / 20));
        let utterance = mutator.text(&mut run.random, &seeds);
        run.try_next(utterance.as_bytes());
        let mut body = json!({"utterance": utterance, "strategy": "local", "now": "2026-03-01T09:00:00Z"});
        if let Some(session) = session {
            body["session_id"] = json!(session);
            talks += 1;
        }
        let answer = service.post(&format!("/v1/predict/{module}"), body.to_string()).await;
        let what = format!("{}: {body}: {}", run.shown(), answer.text);
        if answer.status == 400 {
            let is_silence = !utterance.chars().any(char::is_alphanumeric);
            assert!(is_silence && answer.error().3.as_deref() == Some("utterance"), "{what}");
            continue;
        }
        assert_eq!(answer.status, 200, "{what}");
        assert!(answer.text.len() < 64_000 + 64 * utterance.len(), "{} bytes: {what}", answer.text.len());
        let answer = answer.json();
        let confidence = answer["uptake"]["confidence"].as_f64().unwrap_or(-1.0);
        assert!((0.0..=1.0).contains(&confidence), "{what}");
        calls += u64::from(answer["uptake"]["outcome"] == "call");
    }
    run.done(&format!("{talks} in conversations, {calls} calls"));
    assert!(talks > 0, "{}", run.shown());
}
