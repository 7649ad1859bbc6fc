//! Values and answers as people say them: two addresses in one sentence, one of two values, lists, words that belong to
//! no value, remarks on one item, changes at a confirmation, and a no to an optional slot. Each class is tested in
//! several languages and with several modules: those of `tests/fixtures/values`, those of strangers, and the shipped
//! ones.

use std::{
    fs,
    path::{Path, PathBuf},
};

use uptake::{
    conversation::State,
    eval::{self, Cases, EvalOptions, Evaluation},
    module::settings::StrategyName,
    understand::{Outcome, TurnRequest, UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The root of the module for the dialogues in `directory`: there, or else among those of strangers, or else among the
/// shipped ones.
fn root_of(directory: &Path, module: &str) -> PathBuf {
    if directory.join("schema.json").is_file() {
        return fixtures().join("values");
    }
    let strangers = fixtures().join("strangers");
    if strangers.join(module).is_dir() { strangers } else { support::shipped() }
}

async fn evaluated(directory: &Path) -> Evaluation {
    let module = directory.file_name().and_then(|name| name.to_str()).expect("a name");
    let said = fs::read_to_string(directory.join("dialogues.jsonl")).expect("dialogues");
    let cases = Cases::parse("dialogues.jsonl", &said);
    let snapshot = support::snapshot(root_of(directory, module), module, embedder().await).await;
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    let options = EvalOptions { strategy: Some(StrategyName::Local), ..EvalOptions::default() };
    eval::evaluate(&understander, &snapshot, cases, &options, &|_, _| ()).await.expect("an evaluation")
}

#[tokio::test]
async fn values_are_read_exactly_or_asked_for() {
    let mut held = 0;
    for entry in fs::read_dir(fixtures().join("values")).expect("a directory") {
        let place = entry.expect("an entry").path();
        let found = evaluated(&place).await;
        support::only_missed(place.file_name().and_then(|name| name.to_str()).expect("a name"), &found);
        held += found.dialogues.plain.dialogues;
    }
    assert!(held >= 180, "{held} dialogues");
}

/// What an evasive person says in each language: a no, no idea, and noise.
const EVASIVE: [(&str, &str, [&str; 3]); 5] = [
    ("concierge", "I want to book the lounge", ["no", "no idea", "qwrt zzkp"]),
    ("empfang", "ich möchte den Salon buchen", ["nein", "keine Ahnung", "qwrt zzkp"]),
    ("accueil", "je voudrais réserver le salon", ["non", "aucune idée", "qwrt zzkp"]),
    ("conserjeria", "quiero reservar el salón", ["no", "ni idea", "qwrt zzkp"]),
    ("uketsuke", "ラウンジを予約したい", ["いいえ", "わかりません", "ふがほげ"]),
];

#[tokio::test]
async fn no_question_is_asked_again_in_the_same_words() {
    for (module, request, answers) in EVASIVE {
        for answer in answers {
            let snapshot = support::snapshot(fixtures().join("values"), module, embedder().await).await;
            let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
            let mut state = State::new(&snapshot.module.name);
            let mut asked: Vec<String> = Vec::new();
            for said in [request, answer, answer] {
                let request = TurnRequest {
                    utterance: said.to_owned(),
                    strategy: Some(StrategyName::Local),
                    ..TurnRequest::default()
                };
                let conversed = understander.converse(&snapshot, &state, &request).await.expect("a turn");
                state = conversed.state;
                if let Outcome::Ask(question) = &conversed.turn.outcome {
                    assert!(!asked.contains(&question.text), "{module}, {answer}: {asked:?}, {}", question.text);
                    asked.push(question.text.clone());
                }
            }
            assert!(asked.len() > 1, "{module}, {answer}: {asked:?}");
        }
    }
}
