//! Arbitrary bytes through the reader of replies and on to a call: mutated good and bad replies, spliced, cut, with
//! pieces of their syntax. Some hundreds in a normal run; `crate::fuzz` says how to run it for longer.

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

/// Longest input, in bytes: longer ones are read no differently.
const LONGEST: usize = 4_000;

/// Inputs of a normal run.
const INPUTS: u64 = 500;

/// The pieces of replies.
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

/// The seeds of mutation, as bodies of successful answers.
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

/// The contents and arguments within the seeds: most errors there still leave a readable reply.
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
            // Unchanged, so that right replies are among the inputs even of a short run.
            Some(seed) => seed.clone(),
            None if kind == 0 => mutator.bytes(&mut run.random, &seeds),
            None if kind == 1 => called(right().function, &mutator.text(&mut run.random, &inner)).2,
            None => said(&mutator.text(&mut run.random, &inner)).2,
        };
        run.try_next(&input);
        let Ok(reply) = llm::read_reply(&input) else { continue };
        read += 1;
        // The same reply to every question, so that retries and stages get it too.
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
