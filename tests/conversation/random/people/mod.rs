//! People in random dialogues: they thank, greet, wait, ask about what was done, repeat, correct, change their mind and
//! say goodbye, in five languages, to functions that act and to functions that read. Whatever they say, nothing is done
//! twice and nothing by mistake.
//!
//! Some dozens unless told otherwise; for more, or for one again:
//!
//! ```sh
//! DIALOGUES=20000 cargo test --locked people_in_dialogues -- --nocapture
//! DIALOGUES=1 SEED=417 cargo test --locked people_in_dialogues -- --nocapture
//! ```

mod checks;
mod domain;
mod language;
mod plan;
mod talk;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{Router, extract::State, http::Method, response::Json};
use fastrand::Rng;
use serde_json::{Value, json};
use uptake::{
    act::{ActionOptions, Actor},
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    embed::{self, EmbedOptions},
    http::Conversations,
};

use self::{
    checks::{CHECKS, Check, Trial},
    domain::{Domain, VARIANTS},
    language::languages,
    plan::Plan,
    talk::talk,
};
use super::number;
use crate::support::Service;

/// Dialogues of a normal run.
const DIALOGUES: u64 = 40;
/// Failures of a check that are minimised and shown.
const SHOWN: usize = 2;

struct People<'w> {
    service: Service,
    elsewhere: Elsewhere,
    domains: BTreeMap<(usize, u64), Domain<'w>>,
    written: BTreeSet<String>,
}

impl People<'_> {
    async fn trial(&self, domain: &Domain<'_>, plan: &Plan, by_session: bool) -> Trial {
        let before = self.elsewhere.done.load(Ordering::Relaxed);
        let held = talk(&self.service, domain, plan, by_session).await;
        if domain.is_acting {
            let done = self.elsewhere.done.load(Ordering::Relaxed) - before;
            let told = held.calls().into_iter().filter(|call| domain.acts(&call.function)).count();
            assert_eq!(done, told, "the service does what it tells, and nothing else:\n{}", held.transcript());
        }
        let plain = plan.plain();
        let plain = if plain.events.len() == plan.events.len() {
            held.clone()
        } else {
            talk(&self.service, domain, &plain, by_session).await
        };
        Trial { talk: held, plain }
    }

    /// The smallest dialogue that fails the same check.
    async fn smallest(&self, domain: &Domain<'_>, mut plan: Plan, by_session: bool, check: Check) -> (Plan, Trial) {
        let mut trial = self.trial(domain, &plan, by_session).await;
        'again: loop {
            for smaller in plan.smaller() {
                let tried = self.trial(domain, &smaller, by_session).await;
                if check(&tried, domain).is_some() {
                    (plan, trial) = (smaller, tried);
                    continue 'again;
                }
            }
            return (plan, trial);
        }
    }
}

#[tokio::test]
async fn people_in_dialogues() {
    let most: u64 = number("DIALOGUES").unwrap_or(DIALOGUES);
    let first: u64 = number("SEED").unwrap_or_default();
    let words = languages();
    let mut people = People {
        service: service().await,
        elsewhere: Elsewhere::new().await,
        domains: BTreeMap::new(),
        written: BTreeSet::new(),
    };
    let (mut turns, mut calls) = (0, 0);
    let mut failed: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let mut shown = String::new();
    for seed in first..first + most {
        let (place, variant) = ((seed % 5) as usize, seed / 50 % VARIANTS);
        let domain = people.domains.entry((place, variant)).or_insert_with(|| Domain::new(&words[place], variant));
        if people.written.insert(domain.module.clone()) {
            domain.write(&people.service, &people.elsewhere.url);
        }
        let people = &people;
        let domain = &people.domains[&(place, variant)];
        let plan = Plan::new(domain, &mut Rng::with_seed(seed));
        let by_session = seed / 5 % 2 == 0;
        let trial = people.trial(domain, &plan, by_session).await;
        turns += trial.talk.exchanges.len();
        calls += trial.talk.calls().len();
        for (name, check) in CHECKS {
            if check(&trial, domain).is_none() {
                continue;
            }
            let seeds = failed.entry(name).or_default();
            seeds.push(seed);
            if seeds.len() <= SHOWN {
                let (_, smallest) = people.smallest(domain, plan.clone(), by_session, check).await;
                let why = check(&smallest, domain).unwrap_or_default();
                shown +=
                    &format!("\n--- {name}, SEED={seed}, {}: {why}\n{}", domain.module, smallest.talk.transcript());
            }
        }
    }
    let told: String = CHECKS
        .iter()
        .map(|(name, _)| {
            let seeds = failed.get(name).map(Vec::as_slice).unwrap_or_default();
            format!("\n{:5} {name}: {:?}", seeds.len(), &seeds[..seeds.len().min(12)])
        })
        .collect();
    let told = format!("{most} dialogues, {turns} turns, {calls} calls; failed, and in which:{told}");
    println!("{told}");
    assert!(failed.is_empty(), "{told}{shown}");
}

/// The service with the bundled model, with sessions in memory, and allowed to call this machine.
async fn service() -> Service {
    let embedder = embed::open(&EmbedOptions::default())
        .await
        .expect("the bundled model needs the ONNX Runtime library: run scripts/get-onnxruntime once");
    let sessions = SessionOptions { url: StoreUrl::new("memory:"), ..SessionOptions::default() };
    let conversations = Conversations::open(&sessions, &ConversationOptions::default()).expect("good options");
    let actor = Actor::open(&ActionOptions {
        enabled: true,
        hosts: vec!["127.0.0.1".to_owned()],
        networks: vec!["127.0.0.1".to_owned()],
        timeout_ms: 20_000,
        ..ActionOptions::default()
    });
    Service::keeping(&[], embedder, conversations.acting(actor.expect("good options")))
}

/// A server that does what is requested, and counts acting calls.
struct Elsewhere {
    url: String,
    done: Arc<AtomicUsize>,
}

impl Elsewhere {
    async fn new() -> Self {
        let done = Arc::<AtomicUsize>::default();
        let router = Router::new().fallback(does).with_state(Arc::clone(&done));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("a bound port"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, done }
    }
}

async fn does(State(done): State<Arc<AtomicUsize>>, method: Method) -> Json<Value> {
    if method == Method::POST {
        done.fetch_add(1, Ordering::Relaxed);
    }
    Json(json!({"done": true}))
}
