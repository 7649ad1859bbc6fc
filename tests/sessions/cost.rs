//! The cost of a turn's read and commit: `cargo test --locked sessions::cost -- --ignored --nocapture`.

use std::time::Instant;

use uptake::{conversation::store::SessionOptions, llm::Secret};

use super::{Place, id};

const TURNS: u32 = 3_000;
const STATE_BYTES: usize = 2_048;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures, and so wants the machine for itself"]
async fn a_turn_costs_little() {
    println!("memory, {}", measure(Place::memory()).await);
    println!("SQLite, {}", measure(Place::sqlite()).await);
    if let Some(place) = Place::postgres("a_turn_costs_little").await {
        println!("PostgreSQL, {}", measure(place).await);
    }
}

async fn measure(place: Place) -> String {
    let mut measured = Vec::new();
    let key = Some(Secret::new("0f".repeat(32)));
    for (how, encryption_key) in [("plain", None), ("encrypted", key)] {
        let sessions = place.sessions(&SessionOptions { encryption_key, ..SessionOptions::default() });
        let (mut begin, mut commit) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let name = id(&format!("{how}-{}", turn % 100));
            let start = Instant::now();
            let session = sessions.begin(&name).await.expect("begins");
            begin.push(start.elapsed());
            let start = Instant::now();
            session.commit(vec![7; STATE_BYTES]).await.expect("is kept");
            commit.push(start.elapsed());
        }
        begin.sort();
        commit.sort();
        let (middle, late) = (begin.len() / 2, begin.len() * 99 / 100);
        measured.push(format!(
            "{how}, {STATE_BYTES} bytes: begin {:?} (99 %: {:?}), commit {:?} (99 %: {:?})",
            begin[middle], begin[late], commit[middle], commit[late]
        ));
    }
    measured.join("; ")
}
