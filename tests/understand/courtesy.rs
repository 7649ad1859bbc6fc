//! Courtesies, in any language: they are not values, they do not change a call, and the same reply never comes three
//! times in a row.

use std::fs;

use uptake::{
    conversation::{Expects, Form, State},
    eval::{self, Cases, EvalOptions},
    module::FunctionId,
    snapshot::Snapshot,
    understand::{Conversed, Outcome, TurnRequest, UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

const MODULES: [&str; 6] = ["shoes", "restaurant", "banking", "weather", "petstore", "delivery"];

/// Texts that are never meant as a value.
const COURTESIES: [&str; 62] = [
    "thanks",
    "thank you very much!",
    "hello",
    "good morning",
    "how are you?",
    "bye",
    "sorry",
    "one moment please",
    "wait",
    "hold on",
    "let me think",
    "hmm",
    "what?",
    "I don't understand",
    "why do you need that?",
    "are you a robot?",
    "can I talk to a human?",
    "help",
    "what can you do?",
    "please hurry",
    "Hallo",
    "Vielen Dank",
    "einen Moment bitte",
    "das verstehe ich nicht",
    "mit einem Menschen sprechen",
    "Hola",
    "muchas gracias",
    "un momento",
    "no entiendo",
    "quiero hablar con una persona",
    "Bonjour",
    "merci beaucoup",
    "un instant",
    "je ne comprends pas",
    "je voudrais parler à un humain",
    "こんにちは",
    "ありがとうございます",
    "ちょっと待ってください",
    "わかりません",
    "担当者と話したい",
    "you're welcome",
    "no problem",
    "gotcha",
    "ugh",
    "cheerio",
    "gimme a sec",
    "hold your horses",
    "say that again",
    "this is taking forever",
    "nice to talk to you",
    "dankeschön dir",
    "tschüssi",
    "gern geschehen",
    "kapier ich nicht",
    "hasta lueguito",
    "un ratito",
    "de nada",
    "coucou toi",
    "attends voir",
    "pas de souci",
    "お疲れ様",
    "どういたしまして",
];

/// Texts that may surround any utterance.
const ASIDES: [(&str, &str); 5] =
    [("Hallo, ", ""), ("", ", merci"), ("Thanks! ", ""), ("Hmm, ", ". Gracias"), ("", ". Bye")];

async fn understander() -> Understander {
    Understander::new(UnderstandOptions::default(), embedder().await, Vec::new())
}

async fn said(understander: &Understander, snapshot: &Snapshot, state: &State, utterance: &str) -> Conversed {
    let request = TurnRequest { utterance: utterance.to_owned(), ..TurnRequest::default() };
    understander.converse(snapshot, state, &request).await.expect("nothing but the words can be wrong")
}

/// Every question for free text that the module may ask.
fn questions(snapshot: &Snapshot) -> Vec<State> {
    let module = &snapshot.module;
    let functions = (0..module.functions.len()).map(FunctionId::from_index);
    let slots = functions.flat_map(|id| {
        let function = module.function(id);
        let free =
            function.slots.iter().filter(|slot| slot.required && slot.takes_any_words() && !slot.path.is_repeated());
        free.map(|slot| (function.name.clone(), slot.path.pointer()))
    });
    let asked = |(function, pointer): (String, String)| State {
        forms: vec![Form::new(&function, 0)],
        expects: Some(Expects::Slots { function, pointers: vec![pointer] }),
        ..State::new(&module.name)
    };
    slots.map(asked).collect()
}

#[tokio::test]
async fn no_courtesy_is_a_value() {
    let understander = understander().await;
    let mut asked = 0;
    for module in MODULES {
        let snapshot = support::snapshot(support::shipped(), module, embedder().await).await;
        for (at, state) in questions(&snapshot).iter().enumerate() {
            asked += 1;
            // Each question gets a part of them, so that all are used.
            for courtesy in COURTESIES.iter().skip(at % 4).step_by(4) {
                let after = said(&understander, &snapshot, state, courtesy).await;
                let values: Vec<_> = after.state.forms.iter().flat_map(|form| &form.slots).collect();
                assert!(values.is_empty(), "{module}: {courtesy} is {values:?}");
                assert_ne!(after.turn.outcome.name(), "call", "{module}: {courtesy}");
                assert_eq!(after.state.forms.len(), 1, "{module}: {courtesy}");
            }
        }
    }
    assert!(asked > 10, "{asked} questions");
}

#[tokio::test]
async fn courtesies_around_what_is_said_change_no_call() {
    let understander = understander().await;
    for module in MODULES {
        let snapshot = support::snapshot(support::shipped(), module, embedder().await).await;
        let text = fs::read_to_string(support::shipped().join(module).join("dialogues.jsonl")).unwrap_or_default();
        let mut cases = Cases::parse("dialogues.jsonl", &text);
        cases.dialogues.retain(|dialogue| !dialogue.is_scripted());
        for (at, turn) in cases.dialogues.iter_mut().flat_map(|dialogue| &mut dialogue.turns).enumerate() {
            let (before, behind) = ASIDES[at % ASIDES.len()];
            turn.user = format!("{before}{}{behind}", turn.user);
        }
        let found = eval::evaluate(&understander, &snapshot, cases, &EvalOptions::default(), &|_, _| ()).await;
        let wrong = found.expect("nothing but the dialogues can fail").dialogues.wrong;
        assert!(wrong.is_empty(), "{module}: {wrong:#?}");
    }
}

#[tokio::test]
async fn nobody_reads_the_same_three_times_in_a_row() {
    let understander = understander().await;
    let snapshot = support::snapshot(support::shipped(), "shoes", embedder().await).await;
    for (opening, utterance) in [
        ("I need some hiking boots", "thanks"),
        ("I need some hiking boots", "what?"),
        ("I need some hiking boots", "one moment"),
        ("hello", "hello"),
        ("hello", "the moon is made of cheese"),
        ("hello", "help"),
    ] {
        let mut state = said(&understander, &snapshot, &State::new(&snapshot.module.name), opening).await.state;
        let mut replies = Vec::new();
        for _ in 0..8 {
            let after = said(&understander, &snapshot, &state, utterance).await;
            replies.push(after.turn.reply().unwrap_or_default().to_owned());
            state = after.state;
        }
        assert!(
            replies.windows(3).all(|three| three[0] != three[1] || three[1] != three[2]),
            "{utterance}: {replies:#?}"
        );
    }
}

#[tokio::test]
async fn who_is_lost_is_offered_a_person() {
    let understander = understander().await;
    let snapshot = support::snapshot(support::shipped(), "shoes", embedder().await).await;
    let mut state =
        said(&understander, &snapshot, &State::new(&snapshot.module.name), "I need some hiking boots").await.state;
    let asked = state.expects.clone();
    for _ in 0..3 {
        state = said(&understander, &snapshot, &state, "I don't understand").await.state;
    }
    assert!(state.offers_person);
    let after = said(&understander, &snapshot, &state, "yes please").await;
    assert!(matches!(after.turn.outcome, Outcome::Handoff { .. }), "{:?}", after.turn.outcome);
    // The open form continues, with its question.
    assert_eq!((after.state.forms.len(), &after.state.expects), (1, &asked));
    let direct = said(&understander, &snapshot, &State::new(&snapshot.module.name), "can I talk to a human?").await;
    assert!(matches!(direct.turn.outcome, Outcome::Handoff { function: None, .. }), "{:?}", direct.turn.outcome);
    let single =
        TurnRequest { utterance: "kann ich mit einem Menschen sprechen?".to_owned(), ..TurnRequest::default() };
    let single = understander.turn(&snapshot, &single).await.expect("an answer");
    assert!(matches!(single.outcome, Outcome::Handoff { function: None, .. }), "{:?}", single.outcome);
}
