//! The service's metrics.
//!
//! A turn is recorded in one place, [`Metrics::turn`], from its complete trace; an error where it leaves the service.
//! Labels are few and bounded: names of serving modules, configured servers, and fixed words. They contain nothing that
//! people said.

use std::time::Duration;

use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::{
    act::MadeCall,
    conversation::store::StoreError,
    llm::Usage,
    module::ModuleName,
    understand::{Attempt, Turn},
};

/// Upper bounds in seconds, from a tenth of a millisecond to half a minute.
const BUCKETS: [f64; 17] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TurnLabels {
    module: String,
    outcome: &'static str,
    decided_by: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabels {
    phase: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    server: String,
    stage: &'static str,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabels {
    module: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModeLabels {
    module: String,
    mode: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeepingLabels {
    kept_by: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabels {
    module: String,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreLabels {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreErrorLabels {
    operation: &'static str,
    error: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    code: &'static str,
}

/// All metrics of one service.
pub(super) struct Metrics {
    registry: Registry,
    turns: Family<TurnLabels, Counter>,
    seconds: Family<PhaseLabels, Histogram, fn() -> Histogram>,
    attempts: Family<AttemptLabels, Counter>,
    tokens: Family<TokenLabels, Counter>,
    modes: Family<ModeLabels, Counter>,
    keeping: Family<KeepingLabels, Counter>,
    action_seconds: Family<ActionLabels, Histogram, fn() -> Histogram>,
    store_seconds: Family<StoreLabels, Histogram, fn() -> Histogram>,
    store_errors: Family<StoreErrorLabels, Counter>,
    errors: Family<ErrorLabels, Counter>,
    in_flight: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("uptake"),
            turns: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            attempts: Family::default(),
            tokens: Family::default(),
            modes: Family::default(),
            keeping: Family::default(),
            action_seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            store_seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            store_errors: Family::default(),
            errors: Family::default(),
            in_flight: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("turns", "Utterances that were understood, or rightly not", metrics.turns.clone());
        registry.register("turn_seconds", "Where the time of a turn went", metrics.seconds.clone());
        registry.register(
            "llm_attempts",
            "Round trips to model servers and what came of them",
            metrics.attempts.clone(),
        );
        registry.register("llm_tokens", "Tokens as model servers counted them, else estimated", metrics.tokens.clone());
        registry.register("opendu", "Answers to clients of OpenDU, by mode", metrics.modes.clone());
        registry.register(
            "conversation_turns",
            "Turns of conversations, by who keeps the state: none (they begin), echo, session, messages, observed",
            metrics.keeping.clone(),
        );
        registry.register(
            "action_seconds",
            "Time of the calls that were made here, tries included, by what came of them",
            metrics.action_seconds.clone(),
        );
        registry.register(
            "session_seconds",
            "Time with the store of sessions, waiting for the turn before included",
            metrics.store_seconds.clone(),
        );
        registry.register(
            "session_errors",
            "What the store of sessions could not do, conflicts of turns among it",
            metrics.store_errors.clone(),
        );
        registry.register("errors", "Answers with an error, by its code", metrics.errors.clone());
        registry.register("requests_in_flight", "Requests that are being answered", metrics.in_flight.clone());
        metrics
    }

    /// Records a whole turn of a serving module.
    pub(super) fn turn(&self, module: &ModuleName, turn: &Turn) {
        let labels =
            TurnLabels { module: module.to_string(), outcome: turn.outcome.name(), decided_by: turn.decided_by.name() };
        self.turns.get_or_create(&labels).inc();
        let timings = &turn.trace.timings;
        let phases = [
            ("recognize", timings.recognize),
            ("embed", timings.embed),
            ("retrieve", timings.retrieve),
            ("decide", timings.decide),
            ("total", timings.total),
        ];
        // Skip the time of model servers when none was called.
        let waited = (!turn.trace.attempts.is_empty()).then_some(("llm", timings.llm));
        for (phase, milliseconds) in phases.into_iter().chain(waited) {
            self.seconds.get_or_create(&PhaseLabels { phase }).observe(milliseconds / 1e3);
        }
        self.spent(module, &turn.trace.attempts, turn.usage);
    }

    /// Records an answer in an `OpenDU` mode.
    pub(super) fn mode(&self, module: &ModuleName, mode: &'static str) {
        self.modes.get_or_create(&ModeLabels { module: module.to_string(), mode }).inc();
    }

    /// Records a turn of a conversation.
    pub(super) fn kept(&self, kept_by: &'static str) {
        self.keeping.get_or_create(&KeepingLabels { kept_by }).inc();
    }

    /// Records a call that was made here.
    pub(super) fn action(&self, module: &ModuleName, deed: &MadeCall) {
        let labels = ActionLabels { module: module.to_string(), status: deed.status.name() };
        self.action_seconds.get_or_create(&labels).observe(deed.took_ms / 1e3);
    }

    /// Records an operation of the session store.
    pub(super) fn stored(&self, operation: &'static str, took: Duration, error: Option<&StoreError>) {
        self.store_seconds.get_or_create(&StoreLabels { operation }).observe(took.as_secs_f64());
        let Some(error) = error else { return };
        let error = match error {
            StoreError::Conflict => "conflict",
            StoreError::Busy { .. } => "busy",
            StoreError::TooLarge { .. } => "too_large",
            StoreError::TooMany { .. } => "too_many",
            StoreError::Unavailable(_) => "unavailable",
            StoreError::Newer { .. } => "newer",
            StoreError::UnknownKey => "unknown_key",
            StoreError::Plain => "plain",
            StoreError::Damaged => "damaged",
        };
        self.store_errors.get_or_create(&StoreErrorLabels { operation, error }).inc();
    }

    /// Records attempts and tokens of model servers for a serving module.
    pub(super) fn spent(&self, module: &ModuleName, attempts: &[Attempt], usage: Usage) {
        for attempt in attempts {
            let labels =
                AttemptLabels { server: attempt.server.clone(), stage: attempt.stage, result: result(attempt) };
            self.attempts.get_or_create(&labels).inc();
        }
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            if tokens > 0 {
                self.tokens.get_or_create(&TokenLabels { module: module.to_string(), kind }).inc_by(tokens);
            }
        }
    }

    /// Records an error that ends an answer in the middle.
    pub(super) fn error(&self, code: &'static str) {
        self.errors.get_or_create(&ErrorLabels { code }).inc();
    }

    /// Counts a request until the returned guard is dropped.
    pub(super) fn in_flight(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// The metrics as text, limited to the visible modules.
    ///
    /// # Errors
    /// If a number cannot be encoded, which no input can cause.
    pub(super) fn text(&self, sees: impl Fn(&str) -> bool) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        text::encode(&mut text, &self.registry)?;
        // Module names contain no characters that need escaping.
        let module = |line: &str| Some(line.split_once("{module=\"")?.1.split_once('"')?.0.to_owned());
        Ok(text.split_inclusive('\n').filter(|line| module(line).is_none_or(|module| sees(&module))).collect())
    }
}

/// A request in progress.
pub(super) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The label of an attempt's result: why it failed, or else the worst finding in its answer.
fn result(attempt: &Attempt) -> &'static str {
    match attempt.failure {
        Some(failure) => failure,
        None if !attempt.violations.is_empty() => "violated",
        None if !attempt.repairs.is_empty() => "repaired",
        None => "ok",
    }
}
