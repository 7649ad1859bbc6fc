//! A real model server, with a model of our own that is often wrong, and with a real one: what it enforces, and that
//! nothing wrong gets through, whichever way it is asked.

use std::{fmt::Write as _, sync::Arc};

use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::time::{Duration, Instant};
use uptake::{
    call::Source,
    llm::{self, Capabilities, Server, Support},
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{Outcome, Turn, TurnError, TurnRequest, UnderstandOptions, Understander, best_strategy},
};

use super::{local, ways::WAYS};
use crate::support::{self, fixture, golden_block, llama_server::LlamaServer};

/// An utterance, and its meaning.
struct Case {
    module: String,
    text: String,
    function: Option<String>,
    arguments: Value,
}

/// Utterances with one request or none.
fn cases(limit: usize) -> Vec<Case> {
    let text = std::fs::read_to_string(fixture("llama/held-out.jsonl")).expect("a fixture");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let of = |line: Value| {
        let calls = line["calls"].as_array().expect("calls").clone();
        (calls.len() <= 1).then(|| Case {
            module: line["module"].as_str().expect("a name").to_owned(),
            text: line["text"].as_str().expect("a text").to_owned(),
            function: calls.first().and_then(|call| call["function"].as_str()).map(str::to_owned),
            arguments: calls.first().map(|call| said(&call["arguments"])).unwrap_or_default(),
        })
    };
    lines.filter_map(of).take(limit).collect()
}

/// Without values that were not said.
fn said(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), said(value)))
            .collect(),
        Value::Array(items) => items.iter().map(said).collect(),
        other => other.clone(),
    }
}

#[derive(Default)]
struct Tally {
    /// The right function, and the right arguments too.
    function: usize,
    whole: usize,
    calls: usize,
    questions: usize,
    requests: usize,
}

impl Tally {
    fn count(&mut self, snapshot: &Snapshot, case: &Case, turn: &Turn, what: &str) {
        self.requests += turn.trace.attempts.len();
        let meant = turn.frames.first().map(|frame| &snapshot.module.function(frame.function).name);
        self.function += usize::from(meant == case.function.as_ref());
        match &turn.outcome {
            Outcome::Call(calls) => {
                self.calls += 1;
                for call in calls {
                    let schema = &snapshot.module.function(call.function()).parameters;
                    let arguments = Value::Object(call.arguments().clone());
                    assert!(jsonschema::is_valid(schema, &arguments), "{what}: {arguments}");
                }
                // Each value comes from the utterance, or from the schema: this model may not write any itself.
                for slot in turn.frames.iter().flat_map(|frame| &frame.slots) {
                    let is_sound = slot.span.is_some() || matches!(slot.from, Source::Choice | Source::Default);
                    assert!(is_sound, "{what}: {slot:?}");
                }
                let right = calls.len() == 1 && Value::Object(calls[0].arguments().clone()) == case.arguments;
                self.whole += usize::from(right && meant == case.function.as_ref());
            }
            Outcome::Ask(_) => self.questions += 1,
            Outcome::NoMatch => self.whole += usize::from(case.function.is_none()),
            other @ (Outcome::Done { .. } | Outcome::Cancelled { .. } | Outcome::Handoff { .. }) => {
                panic!("{what}: {other:?} of one turn")
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_finds_what_it_enforces() {
    let Some(server) = LlamaServer::start("a_probe_finds_what_it_enforces").await else { return };
    let servers = llm::connect(&server.options()).expect("valid options");
    let report = servers[0].probed(None, Instant::now() + Duration::from_secs(60)).await.expect("a report");
    // A grammar enforces the schema; calling a tool depends on the model, which need not be that good.
    assert_eq!(report.json_schema.support, Support::Kept, "{report:#?}");
    assert!(report.counts_tokens && report.tells_cut != Some(false), "{report:#?}");
    let identity = report.identities.first().expect("it says who it is");
    assert!(identity.fingerprint.is_some(), "{report:#?}");
    assert_ne!(best_strategy(Some(report.capabilities())).name(), "staged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_wrong_gets_through_however_it_is_asked() {
    let Some(server) = LlamaServer::start("nothing_wrong_gets_through_however_it_is_asked").await else { return };
    let blesses = std::env::var_os("UPTAKE_BLESS").is_some();
    let cases = cases(if blesses { 150 } else { 24 });
    let embedder = local::embedder().await;
    let mut snapshots = Map::new();
    let mut modules: Vec<Arc<Snapshot>> = Vec::new();
    for name in ["weather", "restaurant"] {
        snapshots.insert(name.to_owned(), modules.len().into());
        modules.push(support::snapshot(support::shipped(), name, Arc::clone(&embedder)).await);
    }
    let snapshot = |module: &str| {
        let index = snapshots[module].as_u64().and_then(|index| usize::try_from(index).ok()).expect("a module");
        &modules[index]
    };
    let mut table =
        format!("| {} utterances | right function | right in all | calls | questions | requests each |\n", cases.len());
    table.push_str("|---|---|---|---|---|---|\n");
    let mut called = 0;
    for way in &WAYS {
        let servers = llm::connect(&server.options()).expect("valid options");
        let understander = way.understander_with(Arc::clone(&embedder), servers);
        let mut tally = Tally::default();
        for some in cases.chunks(4) {
            let turns = join_all(some.iter().map(|case| {
                let request = way.request(&case.text);
                let (understander, snapshot) = (&understander, snapshot(&case.module));
                async move { understander.turn(snapshot, &request).await }
            }));
            for (case, turn) in some.iter().zip(turns.await) {
                let what = format!("{}: {}", way.name, case.text);
                match turn {
                    Ok(turn) => tally.count(snapshot(&case.module), case, &turn, &what),
                    // A weak model may never say anything usable; a running server never fails in another way.
                    Err(TurnError::Llm(llm::LlmError::Malformed(_))) => tally.requests += 1,
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
        // If nothing is right, nothing was tested. Some ways may call nothing: a weak model's choices need
        // confirmation.
        assert!(tally.function > 0, "{}", way.name);
        called += tally.calls;
        let percent = |count: usize| format!("{:.0} %", 100.0 * share(count, cases.len()));
        writeln!(
            table,
            "| {} | {} | {} | {} | {} | {:.1} |",
            way.name,
            percent(tally.function),
            percent(tally.whole),
            tally.calls,
            tally.questions,
            share(tally.requests, cases.len()),
        )
        .expect("a string takes everything");
    }
    assert!(called > 0);
    // The figures depend on the model, and on a machine's rounding: they are shown, not checked.
    if blesses {
        golden_block("docs/model-servers.md", "llama-server", &table);
    }
}

#[expect(clippy::cast_precision_loss, reason = "some hundreds")]
fn share(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_cut_is_no_call() {
    let Some(server) = LlamaServer::start("an_answer_that_is_cut_is_no_call").await else { return };
    let snapshot = support::snapshot(support::shipped(), "weather", local::embedder().await).await;
    for max_tokens in [1, 4, 8, 16] {
        let options = llm::LlmOptions { max_tokens: Some(max_tokens), ..server.options() };
        for way in &WAYS {
            let servers = llm::connect(&options).expect("valid options");
            let understander = way.understander_with(local::embedder().await, servers);
            let turn = understander.turn(&snapshot, &way.request("how bad is the smog in Copenhagen")).await;
            if let Ok(Turn { outcome: Outcome::Call(calls), .. }) = &turn {
                let arguments = calls[0].arguments();
                assert_eq!(arguments["location"], "Copenhagen", "{}, {max_tokens}", way.name);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_model_calls_nothing_that_the_words_contradict() {
    let Some(server) = LlamaServer::start_real("a_real_model_calls_nothing_that_the_words_contradict").await else {
        return;
    };
    let snapshot = support::snapshot(support::shipped(), "restaurant", local::embedder().await).await;
    let patient = llm::LlmOptions { timeout_ms: 110_000, ..server.options() };
    let chat = Arc::clone(llm::connect(&patient).expect("valid options")[0].chat());
    // As a probe measures it: this model's template has no tools, and the server enforces a schema.
    let (absent, json_schema) = (Support::Ignored, Support::Kept);
    let known = Capabilities { tools: absent, strict: absent, named_choice: absent, json_schema };
    // From 1 on nothing is sure enough, so that the server is asked.
    let options = UnderstandOptions { sure: 1.0, deadline_ms: 120_000, ..UnderstandOptions::default() };
    let understander = Understander::new(options, local::embedder().await, vec![Server::known(chat, known)]);
    let turn = async |strategy| {
        let utterance = "do you have a table for four people tomorrow evening".to_owned();
        let request = TurnRequest { utterance, strategy: Some(strategy), ..TurnRequest::default() };
        understander.turn(&snapshot, &request).await.expect("an answer")
    };
    let (alone, asked) = (turn(StrategyName::Local).await, turn(StrategyName::Auto).await);
    assert!(!asked.trace.attempts.is_empty() && asked.usage.total_tokens > 0, "{asked:?}");
    assert!(!asked.trace.notes.is_empty() && asked.frames.iter().all(|frame| frame.confidence <= 1.0), "{asked:?}");
    if let Outcome::Call(calls) = &asked.outcome {
        for call in calls {
            let schema = &snapshot.module.function(call.function()).parameters;
            let arguments = Value::Object(call.arguments().clone());
            assert!(jsonschema::is_valid(schema, &arguments), "{arguments}");
            assert!(alone.frames.iter().any(|frame| frame.function == call.function()), "{:?}", asked.trace.notes);
        }
    }
}
