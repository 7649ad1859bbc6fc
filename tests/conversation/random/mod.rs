//! Random conversations: random functions, and a person who gives values in any order, corrects, errs, digresses and
//! says what means nothing. Whatever happens, no call is wrong, nothing is lost or made up, and every conversation
//! ends.
//!
//! Some hundreds unless told otherwise; for more, or for one again:
//!
//! ```sh
//! DIALOGUES=10000 cargo test --locked random_dialogues -- --nocapture
//! DIALOGUES=1 SEED=417 cargo test --locked random_dialogues -- --nocapture
//! ```

mod people;
mod person;
mod watch;
mod words;
mod world;

use std::{collections::BTreeMap, fmt::Write as _, str::FromStr, sync::Arc};

use fastrand::Rng;
use uptake::{
    conversation::{End, State},
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{Outcome, TurnRequest, UnderstandOptions, Understander},
};

use self::{
    person::{Person, Utterance},
    watch::Watch,
    world::World,
};
use crate::support::{embedder, snapshot};

/// Conversations of a normal run.
const DIALOGUES: u64 = 300;
/// Conversations with one module.
const PER_WORLD: u64 = 10;
/// A conversation ends within this many turns.
const TURNS: usize = 60;
/// Failures that are shown.
const SHOWN: usize = 5;

/// A conversation that went wrong.
struct Failure {
    seed: u64,
    reason: String,
    transcript: String,
}

#[derive(Default)]
struct Tally {
    dialogues: u64,
    turns: u64,
    /// How conversations ended, by name.
    ends: BTreeMap<&'static str, u64>,
    calls: u64,
    failures: Vec<Failure>,
}

fn number<T: FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}

#[tokio::test]
async fn random_dialogues() {
    let most: u64 = number("DIALOGUES").unwrap_or(DIALOGUES);
    let first: u64 = number("SEED").unwrap_or_default();
    let understander = Understander::new(UnderstandOptions::default(), embedder(), Vec::new());
    let mut tally = Tally::default();
    let mut made: Option<(u64, World, Arc<Snapshot>)> = None;
    for seed in first..first + most {
        let of = seed / PER_WORLD;
        if made.as_ref().is_none_or(|(known, ..)| *known != of) {
            let world = World::new(&mut Rng::with_seed(of));
            let compiled = snapshot(world.root.path().to_owned(), "random", embedder()).await;
            made = Some((of, world, compiled));
        }
        let Some((_, world, compiled)) = &made else { continue };
        dialogue(&understander, world, compiled, seed, &mut tally).await;
    }
    let Tally { dialogues, turns, ends, calls, failures } = tally;
    let told =
        format!("{dialogues} dialogues, {turns} turns, {calls} calls; ended: {ends:?}; wrong: {}", failures.len());
    println!("{told}");
    let shown = failures
        .iter()
        .take(SHOWN)
        .map(|Failure { seed, reason, transcript }| format!("\n--- SEED={seed}: {reason}\n{transcript}"));
    let reasons: Vec<String> =
        failures.iter().map(|failure| format!("\n{}: {}", failure.seed, failure.reason)).collect();
    assert!(failures.is_empty(), "{told}{}{}", reasons.concat(), shown.collect::<String>());
}

async fn dialogue(understander: &Understander, world: &World, snapshot: &Snapshot, seed: u64, tally: &mut Tally) {
    let module = &snapshot.module;
    let mut person = Person::new(world, Rng::with_seed(seed ^ 0x5eed_0000_0000));
    let mut watch = Watch::new(world);
    let mut state = State::new(&module.name);
    let mut transcript = String::new();
    tally.dialogues += 1;
    let mut said = person.opens();
    let mut is_followed = false;
    for _ in 0..TURNS {
        tally.turns += 1;
        let after = understander.converse(snapshot, &state, &request(&said)).await;
        let checked = match &after {
            Ok(after) => {
                tell(&mut transcript, &said, &after.turn.outcome, &after.state);
                watch.turn(module, &state, &said, after)
            }
            Err(error) => Err(error.to_string()),
        };
        let (Ok(after), Ok(())) = (&after, &checked) else {
            let reason = format!("{:?} {:?}: {}", said.means, said.text, checked.err().unwrap_or_default());
            tally.failures.push(Failure { seed, reason, transcript });
            return;
        };
        if let Outcome::Call(calls) = &after.turn.outcome {
            tally.calls += calls.len() as u64;
        }
        state = after.state.clone();
        if let (true, Some(last)) = (state.is_idle(), state.finished.last()) {
            let end = match last.end {
                End::Called => "call",
                End::Cancelled => "cancelled",
                End::HandedOff => "handoff",
            };
            let again = (last.end == End::Called && !is_followed).then(|| person.follows_up(&last.function)).flatten();
            if let Some(again) = again {
                is_followed = true;
                said = again;
                continue;
            }
            *tally.ends.entry(end).or_default() += 1;
            return;
        }
        said = person.replies(&after.turn, &state, module);
    }
    let reason = format!("no end in {TURNS} turns");
    tally.failures.push(Failure { seed, reason, transcript });
}

fn request(said: &Utterance) -> TurnRequest {
    TurnRequest {
        utterance: said.text.clone(),
        strategy: Some(StrategyName::Local),
        now: Some("2026-03-01T09:00:00+00:00[UTC]".parse().expect("a moment")),
        ..TurnRequest::default()
    }
}

/// Describes a turn for people who look for an error.
fn tell(transcript: &mut String, said: &Utterance, outcome: &Outcome, state: &State) {
    let answer = match outcome {
        Outcome::Ask(question) => format!("{:?} {}", question.about, question.text),
        Outcome::Call(calls) => {
            calls.iter().map(|call| serde_json::Value::Object(call.arguments().clone()).to_string()).collect()
        }
        other => other.name().to_owned(),
    };
    let forms = state.forms.iter().map(|form| {
        let slots = form.slots.iter().map(|filled| format!("{}={}", filled.pointer, filled.value));
        let aside = form.aside.iter().map(|aside| format!("!{}={:?}", aside.pointer, aside.found));
        format!("{}{{{}}}", form.function, slots.chain(aside).collect::<Vec<_>>().join(" "))
    });
    let forms: Vec<String> = forms.collect();
    _ = writeln!(transcript, "> {} ({:?})\n  {answer}\n  {}", said.text, said.means, forms.join(" | "));
}
