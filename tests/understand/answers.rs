//! Finding the values in answers: dialogues of two modules that nothing is tuned for, as people hold them.

use std::{fs, path::PathBuf};

use uptake::{
    eval::{self, Cases, EvalOptions},
    understand::{UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

#[tokio::test]
async fn values_of_answers_are_read_to_their_ends() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/conversations");
    for module in ["depot", "bauhof"] {
        let snapshot = support::snapshot(root.clone(), module, embedder().await).await;
        let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
        let said = fs::read_to_string(root.join(module).join("dialogues.jsonl")).expect("dialogues");
        let cases = Cases::parse("dialogues.jsonl", &said);
        let evaluation = eval::evaluate(&understander, &snapshot, cases, &EvalOptions::default(), &|_, _| ())
            .await
            .expect("it runs");
        support::only_missed(module, &evaluation);
    }
}
