//! Index builds off the request path. For each module at most one build runs and at most one waits: a request that
//! arrives during a build gets the waiting one, which reads the files after the request arrived.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{FutureExt as _, future::Shared};
use tokio::sync::oneshot;

use crate::{
    module::ModuleName,
    snapshot::{BuildReport, PrepareError, Snapshots, unwatched},
};

#[derive(Debug, thiserror::Error)]
pub(super) enum BuildError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The build panicked, or the runtime is shutting down.
    #[error("the build was cut off")]
    CutOff,
}

pub(super) type Built = Arc<Result<BuildReport, BuildError>>;

type Done = Shared<oneshot::Receiver<Built>>;

/// The build that starts when the running one is done.
struct Waiting {
    tell: oneshot::Sender<Built>,
    done: Done,
}

impl Waiting {
    fn new() -> Self {
        let (tell, done) = oneshot::channel();
        Self { tell, done: done.shared() }
    }
}

pub(super) struct Builds {
    snapshots: Snapshots,
    /// Has an entry for a module exactly while a build of it runs.
    running: Arc<Mutex<BTreeMap<ModuleName, Option<Waiting>>>>,
}

impl Builds {
    pub(super) fn new(snapshots: Snapshots) -> Self {
        Self { snapshots, running: Arc::default() }
    }

    /// Builds `name` from its files as they are now or later, and serves it. The build continues if the caller leaves.
    pub(super) async fn request(&self, name: &ModuleName) -> Built {
        self.enqueue(name).await.unwrap_or_else(|_| Arc::new(Err(BuildError::CutOff)))
    }

    fn enqueue(&self, name: &ModuleName) -> Done {
        let mut running = lock(&self.running);
        if let Some(next) = running.get_mut(name) {
            return next.get_or_insert_with(Waiting::new).done.clone();
        }
        running.insert(name.clone(), None);
        let first = Waiting::new();
        let done = first.done.clone();
        tokio::spawn(run(self.snapshots.clone(), Arc::clone(&self.running), name.clone(), first));
        done
    }
}

async fn run(
    snapshots: Snapshots,
    running: Arc<Mutex<BTreeMap<ModuleName, Option<Waiting>>>>,
    name: ModuleName,
    first: Waiting,
) {
    let mut current = Some(first);
    while let Some(build) = current {
        // A task of its own, so that a panic in it ends this build and not the queue.
        let result = tokio::spawn(build_once(snapshots.clone(), name.clone())).await;
        let built = Arc::new(result.unwrap_or(Err(BuildError::CutOff)));
        // All callers may have left; the build is served anyway.
        drop(build.tell.send(built));
        let mut running = lock(&running);
        current = running.get_mut(&name).and_then(Option::take);
        if current.is_none() {
            running.remove(&name);
        }
    }
}

async fn build_once(snapshots: Snapshots, name: ModuleName) -> Result<BuildReport, BuildError> {
    Ok(snapshots.build(&name, &unwatched).await?)
}

/// The map is consistent whenever the lock is released, so a poisoned lock is safe to use.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
