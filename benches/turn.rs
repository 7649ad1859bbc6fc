//! The cost of a whole turn compared with its embedding alone, in one run: for 1,000 functions with 10 exemplars each,
//! and for the shipped `weather` module. Then the cost of a state: the same turn at the beginning of a conversation,
//! with an echoed state, and in a session kept by SQLite. Needs the library of `scripts/get-onnxruntime`.
//!
//! Criterion measures one thing after the other, so that other load on a shared machine distorts a ratio. So this file
//! has its own loop: each utterance is embedded, understood with its vector precomputed, and understood, directly one
//! after the other, and medians of the raw samples are compared. Vectors of the generated module are kept under
//! `target/tmp`, so only the first run embeds its 11,000 texts.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use serde_json::Value;
use uptake::{
    conversation::{
        ConversationOptions, State, Tenant, Tokens,
        store::{SessionId, SessionOptions, Sessions, StoreUrl},
    },
    embed::{self, EmbedOptions, Purpose, SharedEmbedder},
    module::{ModuleName, settings::StrategyName},
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshot, Snapshots, unwatched},
    understand::{Outcome, Timings, TurnRequest, UnderstandOptions, Understander},
};

mod generated;
mod precomputed;

use precomputed::Precomputed;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each utterance is run; once if only the bench itself is tested (`cargo test --benches`).
const ROUNDS: usize = 40;

fn main() {
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    // As a task, since the server's turns are tasks too: waking one is part of the measurement.
    let measured = runtime.spawn(async move {
        let embedder = embed::open(&EmbedOptions::default()).await.expect("the bundled model loads");
        let generated = tempfile::tempdir().expect("a temporary directory");
        generated::write_module(&generated.path().join("generated"), 1_000).expect("the module can be written");
        measure("generated", generated.path(), &generated::utterances(), &embedder, rounds).await;
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("modules");
        let said = cases(&shipped.join("weather/cases.jsonl"));
        measure("weather", &shipped, &said, &embedder, rounds).await;
        measure_state("weather", &shipped, &said, &embedder, rounds).await;
    });
    runtime.block_on(measured).expect("nothing panics");
}

async fn measure(name: &str, root: &Path, utterances: &[String], embedder: &SharedEmbedder, rounds: usize) {
    let snapshot = load(name, root, embedder).await;
    let mut precomputed = Precomputed { embedder: Arc::clone(embedder), vectors: HashMap::new() };
    for utterance in utterances {
        let mut made = embedder.embed(vec![utterance.clone()], Purpose::Symmetric).await.expect("the model embeds");
        precomputed.vectors.insert(utterance.clone(), made.pop().expect("one vector for one text"));
    }
    let whole = Understander::new(UnderstandOptions::default(), Arc::clone(embedder), Vec::new());
    let without = Understander::new(UnderstandOptions::default(), Arc::new(precomputed), Vec::new());

    let mut samples = Samples::default();
    for round in 0..=rounds {
        for utterance in utterances {
            let request = TurnRequest {
                utterance: utterance.clone(),
                strategy: Some(StrategyName::Local),
                ..TurnRequest::default()
            };
            let texts = vec![utterance.clone()];
            let clock = Instant::now();
            let vectors = embedder.embed(texts, Purpose::Symmetric).await;
            let embedding = milliseconds(clock);
            vectors.expect("the model embeds");

            let clock = Instant::now();
            let turn = without.turn(&snapshot, &request).await;
            let rest = milliseconds(clock);
            drop(turn);

            let clock = Instant::now();
            let turn = whole.turn(&snapshot, &request).await;
            let answer = milliseconds(clock);
            let turn = turn.expect("the turn succeeds");
            // The first round warms up.
            if round > 0 {
                samples.embedding.push(embedding);
                samples.rest.push(rest);
                samples.answer.push(answer);
                samples.phases.push(turn.trace.timings);
                samples.calls += usize::from(matches!(turn.outcome, Outcome::Call(_)));
            }
        }
    }
    samples.report(name, &snapshot, utterances.len());
}

/// Turns before the measured one.
const TURNS_BEFORE: usize = 6;

/// The cost of a conversation's state in a turn: read and written as a client echoes it, and as SQLite keeps it.
async fn measure_state(name: &str, root: &Path, utterances: &[String], embedder: &SharedEmbedder, rounds: usize) {
    let snapshot = load(name, root, embedder).await;
    let understander = Understander::new(UnderstandOptions::default(), Arc::clone(embedder), Vec::new());
    let request = |utterance: &String| TurnRequest {
        utterance: utterance.clone(),
        strategy: Some(StrategyName::Local),
        ..TurnRequest::default()
    };
    let fresh = State::new(&snapshot.module.name);
    let mut before = fresh.clone();
    for utterance in utterances {
        let conversed =
            understander.converse(&snapshot, &before, &request(utterance)).await.expect("the turn succeeds");
        // Only with nothing open, so that the turn is the same with and without the state.
        if matches!(conversed.turn.outcome, Outcome::Call(_)) && conversed.state.is_idle() {
            before = conversed.state;
        }
        if before.turn as usize == TURNS_BEFORE {
            break;
        }
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = StoreUrl::new(format!("sqlite:{}", directory.path().join("sessions.db").display()));
    let sessions = Sessions::open(&SessionOptions { url, ..SessionOptions::default() }).expect("good options");
    let tokens = Tokens::open(&ConversationOptions::default(), sessions.clone()).expect("good options");
    let tokens = tokens.of(&Tenant::everybody());
    let token = tokens.write(&before).expect("a small state");
    let id = SessionId::new("bench").expect("an id");
    let kept = serde_json::to_vec(&before).expect("a state is JSON");

    let mut samples = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=rounds {
        for utterance in utterances {
            let request = request(utterance);
            let clock = Instant::now();
            let turn = understander.converse(&snapshot, &fresh, &request).await;
            let without = milliseconds(clock);
            turn.expect("the turn succeeds");

            let clock = Instant::now();
            let state = tokens.read(&token, &snapshot.module).expect("our own");
            let turn = understander.converse(&snapshot, &state, &request).await.expect("the turn succeeds");
            let written = tokens.write(&turn.state);
            let echoed = milliseconds(clock);
            written.expect("a small state");

            // Resets the state before each turn; not part of the measurement.
            sessions.begin(&id).await.expect("a session").commit(&kept).await.expect("it is kept");
            let clock = Instant::now();
            let session = sessions.begin(&id).await.expect("a session");
            let state: State = serde_json::from_slice(session.data.as_deref().unwrap_or_default()).expect("our own");
            let turn = understander.converse(&snapshot, &state, &request).await.expect("the turn succeeds");
            let bytes = serde_json::to_vec(&turn.state).expect("a state is JSON");
            session.commit(bytes).await.expect("it is kept");
            let in_session = milliseconds(clock);
            // The first round warms up.
            if round > 0 {
                for (samples, sample) in samples.iter_mut().zip([without, echoed, in_session]) {
                    samples.push(sample);
                }
            }
        }
    }
    report_state(name, kept.len(), &mut samples);
}

#[expect(clippy::print_stdout, reason = "a bench reports to whoever runs it")]
fn report_state(name: &str, bytes: usize, samples: &mut [Vec<f64>; 3]) {
    println!("\n{name}, state: {TURNS_BEFORE} turns before, {bytes} bytes; {} turns of each kind", samples[0].len());
    let [without, echoed, in_session] = samples.each_mut().map(|samples| percentiles(samples));
    for (what, (half, most)) in [("no state", without), ("echoed state", echoed), ("session in SQLite", in_session)] {
        let ratio = half / without.0;
        println!("  {what:<28} p50 {half:.3} ms   p99 {most:.3} ms   p50 / no state: {ratio:.3}");
    }
    let holds = echoed.0.max(in_session.0) <= 1.3 * without.0;
    println!("  at most 1.3 times (p50): {}", if holds { "yes" } else { "NO" });
}

async fn load(name: &str, root: &Path, embedder: &SharedEmbedder) -> Arc<Snapshot> {
    let options = ModulesOptions {
        root: root.to_owned(),
        index: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("turn"),
        ..ModulesOptions::default()
    };
    let snapshots = Snapshots::new(options, RetrieveOptions::default(), Arc::clone(embedder));
    let name = ModuleName::new(name).expect("a plain name");
    if let Err(error) = snapshots.build(&name, &unwatched).await {
        panic!("{name} does not load: {error:?}");
    }
    snapshots.get(&name).expect("it was built")
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// One phase of a turn, in milliseconds.
type Phase = fn(&Timings) -> f64;

/// Milliseconds, one entry per utterance and round.
#[derive(Default)]
struct Samples {
    embedding: Vec<f64>,
    rest: Vec<f64>,
    answer: Vec<f64>,
    phases: Vec<Timings>,
    calls: usize,
}

impl Samples {
    #[expect(clippy::print_stdout, reason = "a bench reports to whoever runs it")]
    fn report(mut self, name: &str, snapshot: &Snapshot, utterances: usize) {
        let functions = &snapshot.module.functions;
        let exemplars: usize = functions.iter().map(|function| function.exemplars.len()).sum();
        println!(
            "\n{name}: {} functions, {exemplars} exemplars; {utterances} utterances, {} turns, {} of them calls",
            functions.len(),
            self.answer.len(),
            self.calls,
        );
        let embedding = percentiles(&mut self.embedding);
        let rest = percentiles(&mut self.rest);
        let answer = percentiles(&mut self.answer);
        let row = |what: &str, (half, most): (f64, f64)| println!("  {what:<28} p50 {half:.3} ms   p99 {most:.3} ms");
        row("embedding alone", embedding);
        row("everything but the embedding", rest);
        row("whole local answer", answer);
        let phases: [(&str, Phase); 4] = [
            ("  of it recognize", |timings| timings.recognize),
            ("  of it embed", |timings| timings.embed),
            ("  of it retrieve", |timings| timings.retrieve),
            ("  of it decide", |timings| timings.decide),
        ];
        for (what, of) in phases {
            row(what, percentiles(&mut self.phases.iter().map(of).collect::<Vec<_>>()));
        }
        let verdict = |holds: bool| if holds { "yes" } else { "NO" };
        println!("  everything but the embedding under 0.5 ms (p50): {}", verdict(rest.0 < 0.5));
        let ratio = answer.0 / embedding.0;
        println!("  whole answer / embedding alone (p50): {ratio:.3}, at most 1.25: {}", verdict(ratio <= 1.25));
    }
}

/// The median and the 99th percentile.
fn percentiles(samples: &mut [f64]) -> (f64, f64) {
    samples.sort_by(f64::total_cmp);
    let at = |percent: usize| samples[(samples.len() * percent / 100).min(samples.len() - 1)];
    (at(50), at(99))
}

/// The utterances of a module's cases.
fn cases(path: &Path) -> Vec<String> {
    let lines = std::fs::read_to_string(path).expect("the module ships with cases");
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        case["utterance"].as_str().expect("a case has an utterance").to_owned()
    };
    lines.lines().filter(|line| !line.trim().is_empty()).map(case).collect()
}
