use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use axum::http::Extensions;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::{
    ApiError, Conversations, HttpOptions,
    builds::Builds,
    caller::Caller,
    keys::Keys,
    metrics::Metrics,
    middleware::{LayerState, too_many_bytes},
};
use crate::{
    module::ModuleName,
    shares::{Owner, Share, Shares},
    snapshot::{Snapshot, Snapshots},
    understand::{Turn, UnderstandOptions, Understander},
};

/// Measurements at once, of all callers; one caller alone may have two thirds of them.
const MEASUREMENTS: u64 = 3;

/// State that the handlers share. Clones are cheap and share it.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

pub struct Shared {
    pub snapshots: Snapshots,
    pub understander: Understander,
    pub options: Arc<HttpOptions>,
    pub(super) metrics: Arc<Metrics>,
    /// Defaults for turns where neither the request nor the module sets a value.
    pub turns: UnderstandOptions,
    pub(super) conversations: Conversations,
    pub(super) builds: Builds,
    keys: Arc<Keys>,
    bodies: Shares,
    /// Running turns.
    running: Shares,
    /// Turns that wait for a running one to end.
    queued: Shares,
    /// Background turns, which no client waits for: they queue among themselves and take no place of other turns.
    background: Shares,
    /// Open event streams.
    watchers: Shares,
    /// Measurements that run: each has modules of its own in memory.
    measurements: Shares,
    phase: AtomicU8,
    stopping: watch::Sender<bool>,
}

/// Permission to run a turn, counted in total and for the caller's key.
#[derive(Debug)]
pub struct Leave {
    _of_all: Share,
    _own: Option<OwnedSemaphorePermit>,
}

/// Phase of the service's life, as `/readyz` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Modules are being loaded for the first time.
    Starting,
    /// Each module was tried; failed ones are listed with their reasons.
    Ready,
    /// A stop signal came; running requests finish.
    Stopping,
}

impl AppState {
    #[must_use]
    pub fn new(
        snapshots: Snapshots,
        understander: Understander,
        options: HttpOptions,
        turns: UnderstandOptions,
        conversations: Conversations,
    ) -> Self {
        let builds = Builds::new(snapshots.clone());
        let LayerState { options, metrics, keys, bodies } = LayerState::new(options);
        Self(Arc::new(Shared {
            snapshots,
            understander,
            metrics,
            turns,
            conversations,
            builds,
            running: options.turns(),
            queued: Shares::new(options.max_queued as u64),
            background: options.turns(),
            watchers: Shares::new((options.max_connections as u64).div_ceil(2)),
            measurements: Shares::new(MEASUREMENTS),
            options,
            keys,
            bodies,
            phase: AtomicU8::new(Phase::Starting as u8),
            stopping: watch::Sender::new(false),
        }))
    }

    /// The state that the layers share with the routes.
    pub(super) fn edge(&self) -> LayerState {
        LayerState {
            options: Arc::clone(&self.options),
            metrics: Arc::clone(&self.metrics),
            keys: Arc::clone(&self.0.keys),
            bodies: self.0.bodies.clone(),
        }
    }

    /// Whether routes that show or change how modules work are available: requests need a key, or only this machine can
    /// send them.
    pub(super) fn is_guarded(&self) -> bool {
        self.0.keys.are_asked_for() || self.options.is_private()
    }

    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Acquire) {
            0 => Phase::Starting,
            1 => Phase::Ready,
            _ => Phase::Stopping,
        }
    }

    /// Phases only go forward: loading that ends after a stop signal does not make the service ready again.
    pub fn enter(&self, phase: Phase) {
        self.0.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.0.stopping.send_replace(self.phase() == Phase::Stopping);
    }

    /// Completes when the service begins to stop, for answers that would never end by themselves.
    pub(super) fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.0.stopping.subscribe();
        async move {
            // An error means that the service is gone, which is a stop too.
            drop(stopping.wait_for(|is_stopping| *is_stopping).await);
        }
    }

    /// Completes when all observed utterances are read.
    pub async fn observed(&self) {
        self.conversations.hub.drained().await;
    }

    /// Waits for permission to run a background turn. It counts against the turns of the caller's key.
    pub(super) async fn leave_in_background(&self, caller: &Caller) -> Option<Leave> {
        let own = match caller.turns() {
            // The semaphore is never closed.
            Some(own) => Some(own.acquire_owned().await.ok()?),
            None => None,
        };
        Some(Leave { _of_all: self.0.background.take(&caller.as_owner(), 1, 1).await, _own: own })
    }

    /// Takes room for bytes that a request has read, from the caller's share of the memory for bodies.
    ///
    /// # Errors
    /// 429 if there is none.
    pub(super) fn room(&self, caller: &Caller, bytes: usize) -> Result<Share, ApiError> {
        self.0.bodies.try_take(&caller.as_owner(), bytes as u64).ok_or_else(too_many_bytes)
    }

    /// Waits for permission to measure a module.
    pub(super) async fn leave_to_measure(&self, caller: &Caller) -> Share {
        self.0.measurements.take(&caller.as_owner(), 1, 1).await
    }

    /// Permission to watch a session.
    ///
    /// # Errors
    /// 429 if too many streams are open, of this caller or in total.
    pub(super) fn leave_to_watch(&self, caller: &Caller) -> Result<Share, ApiError> {
        let full = || ApiError::too_many("as many streams of events as may be are open; try again shortly".to_owned());
        self.0.watchers.try_take(&caller.as_owner(), 1).ok_or_else(full)
    }

    /// Permission to run one turn, held until it is dropped.
    ///
    /// # Errors
    /// 429 if too many turns run, of this caller or in total, and none ends soon; or if too many wait already.
    pub(super) async fn permit(&self, caller: &Caller) -> Result<Leave, ApiError> {
        let (own, owner) = (caller.turns(), caller.as_owner());
        let at_once = || {
            let own = own.clone().map(Semaphore::try_acquire_owned).transpose().ok()?;
            Some(Leave { _of_all: self.0.running.try_take(&owner, 1)?, _own: own })
        };
        if let Some(leave) = at_once() {
            return Ok(leave);
        }
        let _place = self.0.queued.try_take(&owner, 1).ok_or_else(ApiError::too_many_requests)?;
        let waiting = async {
            // A caller at its own limit must not take a place that another caller could use.
            let own = match own {
                Some(own) => Some(own.acquire_owned().await.ok()?),
                None => None,
            };
            Some(Leave { _of_all: self.0.running.take(&owner, 1, 1).await, _own: own })
        };
        let waited = tokio::time::timeout(self.options.queue(), waiting).await.ok().flatten();
        waited.ok_or_else(ApiError::too_many_requests)
    }

    /// Permission to run one turn for the sender of the request with these extensions; `None` if there are too many
    /// turns.
    pub async fn leave(&self, extensions: &Extensions) -> Option<Leave> {
        let caller = extensions.get::<Caller>().cloned().unwrap_or_default();
        self.permit(&caller).await.ok()
    }

    /// The sender of the request with these extensions.
    #[must_use]
    pub fn owner(extensions: &Extensions) -> Owner {
        extensions.get::<Caller>().map(Caller::as_owner).unwrap_or_default()
    }

    /// The shares of running turns.
    #[must_use]
    pub fn running(&self) -> &Shares {
        &self.0.running
    }

    /// The module as it serves now, for the whole of one request.
    pub(super) async fn module(&self, name: &ModuleName) -> Result<Arc<Snapshot>, ApiError> {
        self.snapshots.fresh(name).await.map_err(|error| ApiError::of_prepare(&error, &self.snapshots))
    }

    /// Logs a turn and records it in the metrics.
    pub(super) fn record(&self, module: &ModuleName, turn: &Turn) {
        tracing::info!(
            module = %module,
            outcome = turn.outcome.name(),
            decided_by = turn.decided_by.name(),
            confidence = turn.confidence,
            total_ms = turn.trace.timings.total,
            "turn"
        );
        self.metrics.turn(module, turn);
    }

    /// Loads every module on disk, one after the other, then sets the phase to ready. A failing module does not stop
    /// others.
    pub async fn warm_up(&self) {
        let started = std::time::Instant::now();
        for name in self.snapshots.on_disk() {
            match &*self.builds.request(&name).await {
                Ok(report) => tracing::info!(
                    module = %name,
                    functions = report.functions,
                    exemplars = report.exemplars,
                    embedded = report.embedded,
                    reused = report.reused,
                    warnings = report.warnings.0.len(),
                    took_ms = report.took_ms,
                    "module serves"
                ),
                Err(error) => tracing::error!(module = %name, cause = %error, "module does not serve"),
            }
        }
        self.enter(Phase::Ready);
        let served = self.snapshots.all().len();
        tracing::info!(modules = served, took_ms = started.elapsed().as_secs_f64() * 1e3, "ready");
    }
}

impl Deref for AppState {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}
