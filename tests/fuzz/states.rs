//! Echoed states that were modified.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use serde_json::{Value, json};

use super::{Mutator, Run, corpus};
use crate::support::{Service, embedder};

const SAID: [&str; 8] = [
    "I'd like to buy some black sneakers",
    "size 9",
    "yes",
    "no, the second one",
    "cancel that",
    "12 Elm Street, Springfield",
    "change the color to white",
    "what stores are near Springfield?",
];

const TOKENS: &[&str] = &[
    "p1.",
    "s1.",
    ".",
    "=",
    "A",
    "_",
    "/",
    "confirmation",
    "given",
    "asked",
    "order_shoes",
    "find_store",
    "no_such_function",
    "item.size",
    "/item/size",
    "/items/99",
    "from",
    "said",
    "value",
    "\u{202e}",
    "日本",
];

async fn turn(service: &Service, said: &str, state: &str) -> crate::support::Answer {
    let mut body = json!({"utterance": said, "strategy": "local", "now": "2026-03-02T09:00:00Z"});
    if !state.is_empty() {
        body["state"] = json!(state);
    }
    service.post("/v1/predict/shoes", body.to_string()).await
}

/// The states of a normal conversation.
async fn seeds(service: &Service) -> Vec<Vec<u8>> {
    let (mut state, mut all) = (String::new(), Vec::new());
    for said in SAID {
        let answer = turn(service, said, &state).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        state = answer.json()["uptake"]["state"].as_str().unwrap_or_default().to_owned();
        all.push(state.clone().into_bytes());
    }
    all.extend(corpus("states"));
    all
}

/// A modified state, which is still valid if possible.
fn changed(random: &mut fastrand::Rng, mutator: &Mutator, seeds: &[Vec<u8>]) -> String {
    let seed = random.choice(seeds).map_or_else(String::new, |seed| String::from_utf8_lossy(seed).into_owned());
    let inside = seed.strip_prefix("p1.").and_then(|text| BASE64.decode(text).ok());
    let inside = inside.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    match inside {
        Some(mut value) if random.u8(0..6) > 0 => {
            mutator.json(random, &mut value);
            format!("p1.{}", BASE64.encode(value.to_string()))
        }
        _ => mutator.text(random, seeds),
    }
}

/// A state is accepted or refused; and the state in the answer is accepted again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn states_are_gone_on_with_or_refused() {
    let mut run = Run::new("states", 600);
    let mutator = Mutator::new(TOKENS, 16 << 10);
    let service = Service::shipping(&["shoes"], embedder());
    let seeds = seeds(&service).await;
    let (mut taken, mut refused) = (0_u64, 0_u64);
    while run.goes_on() {
        let said = SAID[run.random.usize(0..SAID.len())];
        let state = changed(&mut run.random, &mutator, &seeds);
        run.try_next(state.as_bytes());
        let answer = turn(&service, said, &state).await;
        let what = format!("{}: {said}, {state}: {}", run.shown(), answer.text);
        match answer.status {
            200 => {
                taken += 1;
                if let Some(state) = answer.json()["uptake"]["state"].as_str() {
                    let next = turn(&service, "yes", state).await;
                    assert_eq!(next.status, 200, "{what}: {}", next.text);
                }
            }
            400 | 413 => {
                assert!(!answer.error().2.is_empty(), "{what}");
                refused += 1;
            }
            other => panic!("{other}: {what}"),
        }
    }
    run.done(&format!("{taken} gone on with, {refused} refused"));
    assert!(taken > 0 && refused > 0, "{}: {taken} gone on with, {refused} refused", run.shown());
}
