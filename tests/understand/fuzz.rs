//! Bytes of all kinds through the reader of replies and on to a call: mutations of good and bad replies, spliced, cut,
//! with the pieces of syntax that such replies are made of. Some hundreds with the other tests; `crate::fuzz` says how
//! to run it for longer.

use serde_json::{Value, json};
use uptake::llm::{self, Server, scripted::Scripted};

use super::{
    adversary::{UTTERANCE, assert_right, bad_answers, bad_replies, weather},
    matrix::{SHAPES, right},
    ways::WAYS,
};
use crate::{
    fuzz::{Mutator, Run},
    support::model_server::{called, said},
};

/// Longest input, in bytes: what is read of longer ones is no different.
const LONGEST: usize = 4_000;

/// Inputs of the usual run.
const INPUTS: u64 = 500;

/// What replies are made of.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\\"",
    ":",
    ",",
    "null",
    "true",
    "1e999",
    "-",
    "\\u0000",
    "\\ud800",
    "'",
    "//",
    "/*",
    "```json",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "<function=",
    ">",
    "data: ",
    "\n\n",
    "[DONE]",
    "NONE",
    "\"call\":",
    "\"calls\":",
    "\"function\":",
    "\"name\":",
    "\"arguments\":",
    "\"tool_calls\":",
    "\"choices\":",
    "\"message\":",
    "\"delta\":",
    "\"content\":",
    "\"answer\":",
    "\"value\":",
    "\"error\":",
    "get_n_day_weather_forecast",
    "delete_all",
    "\"location\":",
    "\"num_days\":",
    "\"Seattle\"",
    "\"Oslo\"",
    "9",
    "3",
    "é",
    "\u{feff}",
    "\u{202e}",
    "日本",
];

/// The inputs that mutation starts from, as bodies of successful answers.
fn seeds() -> Vec<Vec<u8>> {
    let forms = [None, Some("calls"), Some("choice"), Some("answer"), Some("arguments"), Some("value")];
    let asked = forms.map(|form| match form {
        None => json!({"tools": []}),
        Some(name) => {
            json!({"response_format": {"json_schema": {"name": name}}, "messages": [{"content": "Slot: num_days"}]})
        }
    });
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for shape in &SHAPES {
        seeds.extend(asked.iter().map(|body| (shape.write)(right().answer(body), body).2));
    }
    seeds.extend(bad_replies().into_iter().chain(bad_answers()).map(|(_, reply)| reply.2));
    seeds.iter_mut().for_each(|seed| seed.truncate(LONGEST));
    seeds
}

/// What stands inside of the seeds: contents and arguments, where most of what can be wrong is still a readable reply.
fn inner(seeds: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let text = |body: &Value, pointer: &str| body.pointer(pointer)?.as_str().map(|text| text.as_bytes().to_vec());
    seeds
        .iter()
        .filter_map(|seed| serde_json::from_slice::<Value>(seed).ok())
        .flat_map(|body| {
            let message = "/choices/0/message";
            [
                text(&body, &format!("{message}/content")),
                text(&body, &format!("{message}/tool_calls/0/function/arguments")),
            ]
        })
        .flatten()
        .collect()
}

#[tokio::test]
async fn no_bytes_become_a_wrong_call_or_a_panic() {
    let mut run = Run::new("replies", INPUTS);
    let mutator = Mutator::new(TOKENS, LONGEST);
    let snapshot = weather().await;
    let seeds = seeds();
    let inner = inner(&seeds);
    let (mut read, mut calls) = (0_u64, 0_u64);
    while run.goes_on() {
        let kind = run.random.u8(0..4);
        let input = match seeds.get(usize::try_from(run.tried()).unwrap_or(usize::MAX)) {
            // As they are, so that what is right is among the inputs however few there are.
            Some(seed) => seed.clone(),
            None if kind == 0 => mutator.bytes(&mut run.random, &seeds),
            None if kind == 1 => called(right().function, &mutator.text(&mut run.random, &inner)).2,
            None => said(&mutator.text(&mut run.random, &inner)).2,
        };
        run.try_next(&input);
        let Ok(reply) = llm::read_reply(&input) else { continue };
        read += 1;
        // The same reply to every question: retries and stages hear it too.
        let chat = Scripted::new().answer(move |_| Ok(reply.clone()));
        for way in &WAYS {
            let understander = way.understander(vec![Server::new(std::sync::Arc::new(chat.clone()))]);
            if let Ok(turn) = understander.turn(&snapshot, &way.request(UTTERANCE)).await {
                calls += u64::from(turn.outcome.name() == "call");
                let shown = String::from_utf8_lossy(&input);
                assert_right(&snapshot, &turn.outcome, &format!("{}, {}, {shown}", run.shown(), way.name));
            }
        }
    }
    run.done(&format!("{read} could be read, {calls} right calls came of them"));
    assert!(read > 0 && calls > 0, "mutations that never reach a call test nothing");
}
