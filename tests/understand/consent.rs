//! A proposed call is made only after a plain yes, whatever else people say with it.

use std::fs;

use uptake::{
    conversation::{Expects, State},
    eval::Cases,
    snapshot::Snapshot,
    understand::{Conversed, TurnRequest, UnderstandOptions, Understander, request},
};

use super::local::embedder;
use crate::support;

/// Words that agree, with additions. Each says more than a yes.
const BESIDE: [&str; 14] = [
    "yes, wait",
    "ok, but double it",
    "yes unless it costs something",
    "yes, once Mallory has called",
    "hold on, yes",
    "yes Mallory Turtleneck",
    "go ahead if the weather holds",
    "sure, somewhat less",
    "yes, undo it",
    "yes but not that",
    "yes?",
    "no\nyes",
    "I doubt it, yes",
    "yes, flibbertigibbet",
];
const AGREES: [&str; 4] = ["yes please", "sure, go ahead", "perfect, thanks", "yep, that's right"];

async fn said(
    understander: &Understander,
    snapshot: &Snapshot,
    state: &State,
    text: &str,
    now: Option<&str>,
) -> Conversed {
    let home = request::time_zone(&snapshot.module, "UTC");
    let now = now.and_then(|now| request::moment(now, &home).ok());
    let request = TurnRequest { utterance: text.to_owned(), now, ..TurnRequest::default() };
    understander.converse(snapshot, state, &request).await.expect("no model server is asked")
}

/// Every confirmation of the shipped dialogues.
#[tokio::test]
async fn only_a_mere_yes_calls_what_is_put() {
    let (mut confirmations, mut wrong) = (0, Vec::new());
    for module in ["shoes", "restaurant", "banking", "petstore"] {
        let snapshot = support::snapshot(support::shipped(), module, embedder().await).await;
        let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
        let text = fs::read_to_string(support::shipped().join(module).join("dialogues.jsonl")).expect("a file");
        let cases = Cases::parse("dialogues.jsonl", &text);
        for dialogue in cases.dialogues.iter().filter(|dialogue| !dialogue.is_scripted()) {
            let (mut state, now) = (State::new(&snapshot.module.name), dialogue.now.as_deref());
            for turn in &dialogue.turns {
                state = said(&understander, &snapshot, &state, &turn.user, now).await.state;
                let Some(Expects::Yes { function }) = &state.expects else { continue };
                confirmations += 1;
                for (text, is_yes) in
                    BESIDE.iter().map(|text| (*text, false)).chain(AGREES.iter().map(|text| (*text, true)))
                {
                    let after = said(&understander, &snapshot, &state, text, now).await;
                    if after.called.iter().any(|form| form.function == *function) != is_yes {
                        wrong.push(format!("{module} {function}: {text:?}"));
                    }
                }
                break;
            }
        }
    }
    assert!(confirmations >= 20, "{confirmations}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
