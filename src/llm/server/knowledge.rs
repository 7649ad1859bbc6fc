//! What is known of a server, for each model: measured by probes, and discarded when a different model answers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use tokio::{sync::OwnedMutexGuard, time::Instant};

use crate::llm::{
    Capabilities, ChatReply, ChatRequest, LlmError, Support,
    probe::{Identity, ProbeReport},
    standing::Standing,
};

/// Older knowledge is measured again.
const AGE: Duration = Duration::from_secs(3_600);
/// Pause between successful probes, however often the server changes.
const BETWEEN: Duration = Duration::from_secs(60);
/// Pause after the first failed probe; it doubles with each further failure.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Answers in a row that violate an ability before it counts as absent: a single one may be a refusal.
const BREACHES: u8 = 3;
/// Most servers behind one address that are told apart.
const MAX_KNOWN: usize = 8;

/// Knowledge of one server, by model name; the configured model has an empty name.
#[derive(Default)]
pub(super) struct ServerKnowledge {
    slots: Mutex<HashMap<String, Arc<ModelKnowledge>>>,
}

impl ServerKnowledge {
    /// The slot of a model; made if there is none.
    pub(super) fn slot(&self, model: Option<&str>) -> Arc<ModelKnowledge> {
        let mut slots = lock(&self.slots);
        let name = model.unwrap_or_default();
        match slots.get(name) {
            Some(slot) => Arc::clone(slot),
            None => Arc::clone(slots.entry(name.to_owned()).or_default()),
        }
    }

    pub(super) fn existing(&self, model: Option<&str>) -> Option<Arc<ModelKnowledge>> {
        lock(&self.slots).get(model.unwrap_or_default()).cloned()
    }
}

/// One model of one server.
#[derive(Default)]
pub(super) struct ModelKnowledge {
    /// Held during a probe.
    turn: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<ProbeState>,
    pub(super) standing: Standing,
}

#[derive(Default)]
struct ProbeState {
    /// The one that answered last is first.
    known: Vec<ProbeResult>,
    /// The one that answered last, if it was never probed.
    stranger: Option<Identity>,
    /// No probe before this time.
    not_before: Option<Instant>,
    failures: u32,
}

/// The result of one probe, and the identities it applies to.
struct ProbeResult {
    identities: Vec<Identity>,
    report: ProbeReport,
    at: Instant,
    /// Answers in a row that violated the ability.
    schema_breaches: u8,
    strict_breaches: u8,
}

impl ProbeResult {
    fn is_of(&self, identity: &Identity) -> bool {
        let by_model = self.changes_fingerprints();
        self.identities.iter().any(|own| {
            agree(&own.model, &identity.model) && (by_model || agree(&own.fingerprint, &identity.fingerprint))
        })
    }

    /// True if one probe saw one model under several fingerprints: such a server may show a new one with each answer,
    /// and would be probed forever.
    fn changes_fingerprints(&self) -> bool {
        let seen = &self.report.identities;
        let differs =
            |one: &Identity, other: &Identity| one.model == other.model && !agree(&one.fingerprint, &other.fingerprint);
        seen.iter().any(|one| seen.iter().any(|other| differs(one, other)))
    }

    fn capabilities(&self) -> Capabilities {
        let mut found = self.report.capabilities();
        for (support, breaches) in
            [(&mut found.json_schema, self.schema_breaches), (&mut found.strict, self.strict_breaches)]
        {
            if breaches >= BREACHES && *support == Support::Kept {
                *support = Support::Ignored;
            }
        }
        found
    }
}

/// What a request required of its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputConstraints {
    schema: bool,
    strict: bool,
}

impl OutputConstraints {
    pub(super) fn of(request: &ChatRequest) -> Self {
        let schema = request.response_schema.is_some();
        Self { schema, strict: !schema && !request.tools.is_empty() && request.tools.iter().all(|tool| tool.strict) }
    }
}

impl ModelKnowledge {
    /// The right to probe, once no other task has it.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    pub(super) fn try_turn(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.turn).try_lock_owned().ok()
    }

    /// The abilities of the one that answered last, and whether a new probe is due.
    pub(super) fn look(&self, now: Instant) -> (Option<Capabilities>, bool) {
        let state = lock(&self.state);
        let current = state.current();
        let is_due = !current.is_some_and(|known| known.is_fresh(now));
        let may = state.not_before.is_none_or(|moment| moment <= now);
        (current.map(ProbeResult::capabilities), is_due && may)
    }

    /// The report on the one that answered last, unless it is old.
    pub(super) fn fresh(&self, now: Instant) -> Option<ProbeReport> {
        lock(&self.state).current().filter(|known| known.is_fresh(now)).map(|known| known.report.clone())
    }

    /// Stores the result of a probe; after a failure, waits longer each time.
    pub(super) fn settle(&self, result: &Result<ProbeReport, LlmError>, now: Instant) {
        let mut state = lock(&self.state);
        match result {
            Ok(report) => {
                let mut identities = report.identities.clone();
                // The stranger caused this probe, so the result applies to it too, whichever server answered.
                identities.extend(state.stranger.take());
                state.known.retain(|known| !identities.iter().any(|identity| known.is_of(identity)));
                // Servers that never identify themselves count as one.
                state.known.retain(|known| !known.identities.is_empty());
                state.known.insert(
                    0,
                    ProbeResult { identities, report: report.clone(), at: now, schema_breaches: 0, strict_breaches: 0 },
                );
                state.known.truncate(MAX_KNOWN);
                state.failures = 0;
                state.not_before = Some(now + BETWEEN);
            }
            Err(error) => {
                let pause = PAUSE.saturating_mul(2_u32.saturating_pow(state.failures)).min(LONGEST_PAUSE);
                let told = match error {
                    LlmError::Unavailable(left) => *left,
                    LlmError::Status { retry_after: Some(asked), .. } => (*asked).min(LONGEST_PAUSE),
                    _ => Duration::ZERO,
                };
                state.failures = state.failures.saturating_add(1);
                state.not_before = Some(now + pause.max(told));
            }
        }
    }

    /// Records who answered, and whether the answer kept to its requirements.
    pub(super) fn observe(&self, asked: OutputConstraints, reply: &ChatReply) {
        let identity = Identity::of(reply);
        let mut state = lock(&self.state);
        if state.known.is_empty() {
            return;
        }
        if !identity.is_silent() {
            let place = state.known.iter().position(|known| known.is_of(&identity));
            let Some(place) = place else {
                state.stranger = Some(identity);
                return;
            };
            state.stranger = None;
            state.known[..=place].rotate_right(1);
        }
        // A cut answer is not a violation.
        if state.stranger.is_some() || reply.cut {
            return;
        }
        let Some(known) = state.known.first_mut() else { return };
        let count = |breaches: &mut u8, is_kept: bool| *breaches = if is_kept { 0 } else { breaches.saturating_add(1) };
        if asked.schema {
            let content = reply.content.as_deref().unwrap_or_default();
            count(&mut known.schema_breaches, serde_json::from_str::<IgnoredAny>(content).is_ok());
        }
        if let Some(call) = reply.tool_calls.first().filter(|_| asked.strict) {
            let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
            count(&mut known.strict_breaches, is_object);
        }
    }
}

impl ProbeState {
    fn current(&self) -> Option<&ProbeResult> {
        if self.stranger.is_some() { None } else { self.known.first() }
    }
}

impl ProbeResult {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) < AGE
    }
}

/// True unless the two differ; a missing value agrees with anything.
fn agree(one: &Option<String>, other: &Option<String>) -> bool {
    one.is_none() || other.is_none() || one == other
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The lock's users change the value without calling other code, so a poisoned lock is safe to use.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
