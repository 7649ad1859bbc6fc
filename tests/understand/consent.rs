//! A proposed call is made only after a plain yes, whatever else people say with it.

use std::{collections::BTreeMap, fs};

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

/// The request in each language, after which it is put to the person.
const REQUESTS: [(&str, &str); 5] = [
    ("en", "send 50 euros to Anna"),
    ("de", "überweise 50 Euro an Anna"),
    ("es", "envía 50 euros a Anna"),
    ("fr", "envoie 50 euros à Anna"),
    ("ja", "Annaさんに50ユーロ送金して"),
];

/// Real replies, in five languages: of those who agree, and of those who say more or less than that. The first ones cannot all
/// be heard; none of the others may be.
#[tokio::test]
async fn people_agree_in_words_of_their_own() {
    let root = support::fixture("consent");
    let read = |file: &str| fs::read_to_string(root.join(file)).expect("a file");
    let open = read("open.tsv").replace('\t', "\telse\t");
    let replies = read("replies.tsv") + &open;
    let (mut heard, mut wrong) = (BTreeMap::new(), Vec::new());
    for (language, request) in REQUESTS {
        let snapshot = support::snapshot(root.clone(), language, embedder().await).await;
        let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
        let state = said(&understander, &snapshot, &State::new(&snapshot.module.name), request, None).await.state;
        assert!(matches!(state.expects, Some(Expects::Yes { .. })), "{language}: {:?}", state.expects);
        for line in replies.lines() {
            let [of, kind, text] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            if of == language {
                let text = text.replace("\\n", "\n");
                let is_called = !said(&understander, &snapshot, &state, &text, None).await.called.is_empty();
                *heard.entry(language).or_insert(0) += usize::from(is_called && kind == "yes");
                wrong.extend((is_called && kind != "yes").then_some(line));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Of 40 in each language.
    assert!(heard.values().all(|count| *count >= 18) && heard.values().sum::<usize>() >= 120, "{heard:?}");
}
