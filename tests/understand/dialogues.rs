//! The dialogues of the shipped modules, as `uptake eval` runs them: with the bundled model, and no model server except
//! the answers that some of them contain.

use std::{collections::BTreeSet, fs};

use uptake::{
    eval::{
        self, Cases, EvalOptions, Evaluation,
        report::{ReportOptions, text},
    },
    understand::{UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

const MODULES: [&str; 6] = ["shoes", "restaurant", "banking", "weather", "petstore", "delivery"];

/// The dialogues of a module, from both files that may contain some.
fn dialogues(module: &str) -> Cases {
    let mut cases = Cases::default();
    for file in ["cases.jsonl", "dialogues.jsonl"] {
        if let Ok(text) = fs::read_to_string(support::shipped().join(module).join(file)) {
            cases.extend(Cases::parse(file, &text));
        }
    }
    cases.cases.clear();
    cases
}

async fn evaluated(module: &str) -> Evaluation {
    let snapshot = support::snapshot(support::shipped(), module, embedder().await).await;
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    eval::evaluate(&understander, &snapshot, dialogues(module), &EvalOptions::default(), &|_, _| ())
        .await
        .expect("nothing but the dialogues can fail")
}

#[tokio::test]
async fn the_shipped_dialogues_are_right() {
    for module in MODULES {
        let evaluation = evaluated(module).await;
        let report = || text(&evaluation, ReportOptions { top: 10, errors: true });
        assert!(evaluation.dialogues.wrong.is_empty(), "{}", report());
        assert_eq!(evaluation.problems, []);
    }
}

#[test]
fn the_shipped_dialogues_are_many_and_no_two_alike() {
    let all: Vec<Cases> = MODULES.map(dialogues).into();
    let all: Vec<_> = all.iter().flat_map(|cases| &cases.dialogues).collect();
    let scripted = all.iter().filter(|dialogue| dialogue.is_scripted()).count();
    assert!(all.len() >= 90 && scripted >= 5, "{} dialogues, {scripted} scripted", all.len());
    let said = |dialogue: &eval::Dialogue| dialogue.turns.iter().map(|turn| turn.user.clone()).collect::<Vec<_>>();
    assert_eq!(all.iter().map(|dialogue| said(dialogue)).collect::<BTreeSet<_>>().len(), all.len());
    for dialogue in all {
        let checks =
            dialogue.turns.iter().filter(|turn| turn.written.as_object().is_some_and(|expect| !expect.is_empty()));
        assert_eq!(checks.count(), dialogue.turns.len(), "{}: every turn is checked", dialogue.place);
    }
}
