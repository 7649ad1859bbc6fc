//! Modules, utterances and conversations by people who had seen the documents and nothing else. Six of the modules
//! (`camping`, `ordination`, `removals`; `coworking`, `printshop`, `theaterkasse`) nobody had looked at before they
//! were measured for the first time.
//!
//! They are understood as well as is said here, or better; what is wrong in them is mended by what it has in common
//! with other wrong answers, never for its own sake.

use std::{fs, path::PathBuf};

use uptake::{
    eval::{self, Cases, EvalOptions, Evaluation},
    module::settings::StrategyName,
    understand::{UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

/// Each with its time zone.
const MODULES: [(&str, &str); 12] = [
    ("bestattung", "Europe/Berlin"),
    ("camping", "Europe/Brussels"),
    ("coworking", "UTC"),
    ("filmlab", "America/Chicago"),
    ("marina", "Europe/London"),
    ("movers", "America/Chicago"),
    ("ordination", "Europe/Vienna"),
    ("plongee", "Europe/Paris"),
    ("printshop", "UTC"),
    ("removals", "Australia/Melbourne"),
    ("theaterkasse", "UTC"),
    ("vivero", "Europe/Madrid"),
];

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/strangers")
}

/// The results of cases and conversations with a module of `root`.
async fn evaluated(root: PathBuf, (module, zone): (&str, &str), cases: Cases) -> Evaluation {
    let snapshot = support::snapshot(root, module, embedder().await).await;
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    let now = format!("2026-03-04T10:00:00[{zone}]").parse().expect("a moment");
    let options = EvalOptions { strategy: Some(StrategyName::Local), now: Some(now), ..EvalOptions::default() };
    eval::evaluate(&understander, &snapshot, cases, &options, &|_, _| ()).await.expect("an evaluation")
}

/// The module's own cases, from these of its files.
fn own_cases(module: &str, files: &[&str]) -> Cases {
    let mut cases = Cases::default();
    for file in files {
        cases.extend(Cases::parse(file, &fs::read_to_string(fixtures().join(module).join(file)).expect("cases")));
    }
    cases
}

#[tokio::test]
async fn strangers_are_understood() {
    let (mut cases, mut right, mut in_scope, mut guessed) = (0.0, 0.0, 0.0, 0.0);
    let (mut calls, mut wrong, mut conversations) = (0, 0, 0);
    for (module, zone) in MODULES {
        let cases_of = own_cases(module, &["cases.jsonl", "dialogues.jsonl"]);
        let found = evaluated(fixtures(), (module, zone), cases_of).await;
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
    assert!(conversations >= 38, "{conversations} of 96 conversations are right to the end");
}

/// An exemplar that an author adds to a function after an utterance was not understood.
struct Taught {
    module: (&'static str, &'static str),
    function: &'static str,
    exemplar: &'static str,
    /// An utterance that was not understood, and a later one of another person. Neither contains a value.
    said: &'static str,
    later: &'static str,
}

const TAUGHT: [Taught; 4] = [
    Taught {
        module: ("theaterkasse", "UTC"),
        function: "reserve_tickets",
        exemplar: "ich würde gern Karten reservieren",
        said: "ich würde gern Karten reservieren",
        later: "wir möchten gern Karten reservieren",
    },
    Taught {
        module: ("ordination", "Europe/Vienna"),
        function: "rueckruf_erbitten",
        exemplar: "ich möchte mit jemandem telefonieren",
        said: "ich möchte mit jemandem telefonieren",
        later: "ich würde gern mit jemandem telefonieren",
    },
    Taught {
        module: ("printshop", "UTC"),
        function: "request_changes",
        exemplar: "there's a mistake on my proof",
        said: "theres a mistake on my proof",
        later: "there is a mistake on our proof",
    },
    Taught {
        module: ("coworking", "UTC"),
        function: "book_room",
        exemplar: "打ち合わせの場所を確保したい",
        said: "打ち合わせの場所を確保したいんですけど",
        later: "打ち合わせの場所の確保をお願いします",
    },
];

#[tokio::test]
async fn one_exemplar_mends_what_was_wrong_and_harms_no_neighbour() {
    for Taught { module, function, exemplar, said, later } in TAUGHT {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (root, place) = (directory.path().to_owned(), directory.path().join(module.0));
        support::copy(&fixtures().join(module.0), &place);
        let case = |utterance: &str| {
            format!("{{\"utterance\": \"{utterance}\", \"function\": \"{function}\", \"arguments\": {{}}}}\n")
        };
        let one = Cases::parse("said", &case(said));
        let both = Cases::parse("said", &(case(said) + &case(later)));
        let neighbours = || own_cases(module.0, &["cases.jsonl"]);
        let right = |found: &Evaluation| found.scores.right.unwrap_or_default() * found.scores.cases as f64;
        let before = evaluated(root.clone(), module, neighbours()).await;
        assert_eq!(right(&evaluated(root.clone(), module, one).await), 0.0, "`{said}` is understood without it");

        let path = place.join("exemplars.json");
        let text = fs::read_to_string(&path).expect("exemplars");
        let mut exemplars: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        exemplars[function].as_array_mut().expect("exemplars of the function").push(exemplar.into());
        fs::write(&path, exemplars.to_string()).expect("a writable directory");
        let taught = evaluated(root.clone(), module, both).await;
        assert_eq!(right(&taught), 2.0, "`{said}` or `{later}` is not understood with `{exemplar}`");
        let after = evaluated(root, module, neighbours()).await;
        assert!(right(&after) >= right(&before), "of its neighbours {} are right: {}", right(&before), right(&after));
    }
}
