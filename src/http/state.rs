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
    middleware::{Edge, too_many_bytes},
};
use crate::{
    module::ModuleName,
    shares::{Owner, Share, Shares},
    snapshot::{Snapshot, Snapshots},
    understand::{Turn, UnderstandOptions, Understander},
};

/// What handlers share. Cheap to clone; clones share.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

pub struct Shared {
    pub snapshots: Snapshots,
    pub understander: Understander,
    pub options: Arc<HttpOptions>,
    pub(super) metrics: Arc<Metrics>,
    /// What a turn does where neither request nor module says otherwise.
    pub turns: UnderstandOptions,
    pub(super) conversations: Conversations,
    pub(super) builds: Builds,
    keys: Arc<Keys>,
    bodies: Shares,
    /// Turns that run.
    running: Shares,
    /// Turns that wait for one of these to end.
    queued: Shares,
    /// Turns that nobody waits for wait for one another, and take no place of those that somebody does.
    background: Shares,
    /// Streams of events that are open.
    watchers: Shares,
    phase: AtomicU8,
    stopping: watch::Sender<bool>,
}

/// Leave to run a turn, of all and of those that the caller's key may run.
#[derive(Debug)]
pub struct Leave {
    _of_all: Share,
    _own: Option<OwnedSemaphorePermit>,
}

/// Where the service is in its life; `/readyz` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Modules are being loaded for the first time.
    Starting,
    /// Each module was tried; those that failed are listed with their reasons.
    Ready,
    /// A signal to stop came; running requests finish.
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
        let Edge { options, metrics, keys, bodies } = Edge::new(options);
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
            options,
            keys,
            bodies,
            phase: AtomicU8::new(Phase::Starting as u8),
            stopping: watch::Sender::new(false),
        }))
    }

    /// What the layers around the routes share with them.
    pub(super) fn edge(&self) -> Edge {
        Edge {
            options: Arc::clone(&self.options),
            metrics: Arc::clone(&self.metrics),
            keys: Arc::clone(&self.0.keys),
            bodies: self.0.bodies.clone(),
        }
    }

    /// Whether what shows and changes how modules work is offered: to who has a key, or to this machine alone.
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

    /// Phases only go forward: loading that ends after a signal to stop doesn't make the service ready again.
    pub fn enter(&self, phase: Phase) {
        self.0.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.0.stopping.send_replace(self.phase() == Phase::Stopping);
    }

    /// Completes when the service begins to stop: for answers that would go on for ever.
    pub(super) fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.0.stopping.subscribe();
        async move {
            // An error says that the service is gone, which is a stop too.
            drop(stopping.wait_for(|is_stopping| *is_stopping).await);
        }
    }

    /// Completes when all that was taken on to be observed is read.
    pub async fn observed(&self) {
        self.conversations.hub.drained().await;
    }

    /// Leave to run a turn that nobody waits for. It counts among those that the caller's key may run.
    pub(super) async fn leave_in_background(&self, caller: &Caller) -> Option<Leave> {
        let own = match caller.turns() {
            // Nobody closes the semaphore.
            Some(own) => Some(own.acquire_owned().await.ok()?),
            None => None,
        };
        Some(Leave { _of_all: self.0.background.take(&caller.as_owner(), 1, 1).await, _own: own })
    }

    /// Room for bytes that a request has read, of this caller's share of what bodies may hold.
    ///
    /// # Errors
    /// 429 if there is none.
    pub(super) fn room(&self, caller: &Caller, bytes: usize) -> Result<Share, ApiError> {
        self.0.bodies.try_take(&caller.as_owner(), bytes as u64).ok_or_else(too_many_bytes)
    }

    /// Leave to watch a session.
    ///
    /// # Errors
    /// 429 if as many streams are open as may be, of this caller or of all.
    pub(super) fn leave_to_watch(&self, caller: &Caller) -> Result<Share, ApiError> {
        let full = || ApiError::too_many("as many streams of events as may be are open; try again shortly".to_owned());
        self.0.watchers.try_take(&caller.as_owner(), 1).ok_or_else(full)
    }

    /// Leave to run one turn, held until it is dropped.
    ///
    /// # Errors
    /// 429 if as many turns run as may, of this caller or of all, and none ends soon; or if many wait already.
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
            // A caller who has as many as may be had takes no place of another one.
            let own = match own {
                Some(own) => Some(own.acquire_owned().await.ok()?),
                None => None,
            };
            Some(Leave { _of_all: self.0.running.take(&owner, 1, 1).await, _own: own })
        };
        let waited = tokio::time::timeout(self.options.queue(), waiting).await.ok().flatten();
        waited.ok_or_else(ApiError::too_many_requests)
    }

    /// Leave to run one turn for whoever sent the request with these extensions, as the routes have it; `None` if there
    /// are too many.
    pub async fn leave(&self, extensions: &Extensions) -> Option<Leave> {
        let caller = extensions.get::<Caller>().cloned().unwrap_or_default();
        self.permit(&caller).await.ok()
    }

    /// Whoever sent the request with these extensions.
    #[must_use]
    pub fn owner(extensions: &Extensions) -> Owner {
        extensions.get::<Caller>().map(Caller::as_owner).unwrap_or_default()
    }

    /// What turns that run hold.
    #[must_use]
    pub fn running(&self) -> &Shares {
        &self.0.running
    }

    /// The module as it serves now, for the whole of one request.
    pub(super) async fn module(&self, name: &ModuleName) -> Result<Arc<Snapshot>, ApiError> {
        self.snapshots.fresh(name).await.map_err(|error| ApiError::of_prepare(&error, &self.snapshots))
    }

    /// Tells log and metrics of a turn.
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

    /// Loads every module on disk, one after the other, then is ready. A module that fails keeps none from serving.
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
