//! Modules, utterances and conversations by people who had seen the documents and nothing else. Three of the modules
//! (`camping`, `ordination`, `removals`) nobody had looked at before they were measured for the first time.
//!
//! They are understood as well as is said here, or better; what is wrong in them is mended by what it has in common with
//! other wrong answers, never for its own sake.

use std::{fs, path::PathBuf};

use uptake::{
    eval::{self, Cases, EvalOptions, Evaluation},
    module::settings::StrategyName,
    understand::{UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

/// Each with its time zone.
const MODULES: [(&str, &str); 9] = [
    ("bestattung", "Europe/Berlin"),
    ("camping", "Europe/Brussels"),
    ("filmlab", "America/Chicago"),
    ("marina", "Europe/London"),
    ("movers", "America/Chicago"),
    ("ordination", "Europe/Vienna"),
    ("plongee", "Europe/Paris"),
    ("removals", "Australia/Melbourne"),
    ("vivero", "Europe/Madrid"),
];

async fn evaluated(module: &str, zone: &str) -> Evaluation {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/strangers");
    let mut cases = Cases::default();
    for file in ["cases.jsonl", "dialogues.jsonl"] {
        cases.extend(Cases::parse(file, &fs::read_to_string(root.join(module).join(file)).expect("cases")));
    }
    let snapshot = support::snapshot(root, module, embedder().await).await;
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    let now = format!("2026-03-04T10:00:00[{zone}]").parse().expect("a moment");
    let options = EvalOptions { strategy: Some(StrategyName::Local), now: Some(now), ..EvalOptions::default() };
    eval::evaluate(&understander, &snapshot, cases, &options, &|_, _| ()).await.expect("an evaluation")
}

#[tokio::test]
async fn strangers_are_understood() {
    let (mut cases, mut right, mut in_scope, mut guessed) = (0.0, 0.0, 0.0, 0.0);
    let (mut calls, mut wrong, mut conversations) = (0, 0, 0);
    for (module, zone) in MODULES {
        let found = evaluated(module, zone).await;
        assert_eq!(found.problems, [], "{module}");
        let scores = &found.scores;
        cases += scores.cases as f64;
        right += scores.right.unwrap_or_default() * scores.cases as f64;
        in_scope += scores.in_scope as f64;
        guessed += scores.function.best_guess.unwrap_or_default() * scores.in_scope as f64;
        calls += scores.calls.made;
        wrong += scores.calls.wrong;
        conversations += found.dialogues.plain.right;
    }
    assert!(guessed / in_scope >= 0.96, "the right function is the best guess for {guessed} of {in_scope}");
    assert!(right / cases >= 0.72, "{right} of {cases} are wholly right");
    assert!(wrong * 100 <= calls * 6, "{wrong} of {calls} calls are wrong");
    assert!(conversations >= 38, "{conversations} of 72 conversations are right to the end");
}
