//! The threads that run copies of one model.

use std::{
    any::Any,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use tokio::sync::oneshot;

use super::{
    super::{EmbedError, EmbedOptions, Embedded, queue::Queue},
    ModelSpec,
};

/// Threads with one copy of the model each. The first exists from the start. Another one is loaded when texts wait
/// while all are busy; one at a time, since loading needs more memory than keeping.
pub(super) struct Workers {
    pub(super) model: Arc<ModelSpec>,
    runtime: Option<PathBuf>,
    /// Threads for one text.
    threads: usize,
    pub(super) most: usize,
    pub(super) queue: Arc<Queue<EmbedJob>>,
    running: Mutex<Vec<JoinHandle<()>>>,
    /// A copy is being loaded, or loading failed.
    is_loading: Arc<AtomicBool>,
}

impl Workers {
    pub(super) fn new(model: ModelSpec, options: &EmbedOptions) -> Self {
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            model: Arc::new(model),
            runtime: options.runtime.clone(),
            threads: options.threads.max(1),
            most: if options.workers == 0 { cores() } else { options.workers },
            queue: Arc::new(Queue::new(options.queue)),
            running: Mutex::default(),
            is_loading: Arc::default(),
        }
    }

    /// Starts one more worker; `told` receives the result.
    pub(super) fn start(
        &self,
        told: impl FnOnce(Result<Facts, EmbedError>) + Send + 'static,
    ) -> Result<(), EmbedError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (model, queue, runtime) = (Arc::clone(&self.model), Arc::clone(&self.queue), self.runtime.clone());
        let threads = self.threads;
        let thread = thread::Builder::new()
            .name(format!("embed-{}", running.len()))
            .spawn(move || work(&model, runtime.as_deref(), threads, &queue, told))
            .map_err(|error| EmbedError::Load(format!("no thread for the model: {error}")))?;
        running.push(thread);
        Ok(())
    }

    /// Called when texts wait and all workers are busy. If loading fails, it is not tried again, and the existing
    /// workers continue.
    pub(super) fn call_for_help(&self) {
        let count = self.running.lock().unwrap_or_else(PoisonError::into_inner).len();
        if count >= self.most || self.is_loading.swap(true, Ordering::AcqRel) {
            return;
        }
        let is_loading = Arc::clone(&self.is_loading);
        let failed = |error: EmbedError| tracing::warn!(%error, "there is no further copy of the embedding model");
        let started = self.start(move |loaded| match loaded {
            Ok(_) => is_loading.store(false, Ordering::Release),
            Err(error) => failed(error),
        });
        started.unwrap_or_else(failed);
    }
}

impl Drop for Workers {
    /// Waits for the text in progress: the library must not be running while the process shuts down.
    fn drop(&mut self) {
        self.queue.close();
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
        for worker in running.drain(..) {
            let _ = worker.join();
        }
    }
}

pub(super) struct EmbedJob {
    pub(super) texts: Vec<String>,
    pub(super) prefix: String,
    pub(super) wants_words: bool,
    pub(super) reply: oneshot::Sender<Result<Vec<Embedded>, EmbedError>>,
}

/// Facts that are known once a model is loaded.
pub(super) struct Facts {
    pub(super) identity: String,
    pub(super) dimensions: usize,
    pub(super) alone: bool,
}

/// The main function of a worker thread.
fn work(
    model: &ModelSpec,
    runtime: Option<&Path>,
    threads: usize,
    queue: &Queue<EmbedJob>,
    told: impl FnOnce(Result<Facts, EmbedError>),
) {
    // A shared thread pool must not delay an utterance, and one text offers nothing to share out.
    tokenizers::utils::parallelism::set_parallelism(false);
    let loaded = catch_unwind(AssertUnwindSafe(|| model.load(runtime, threads)))
        .unwrap_or_else(|panic| Err(EmbedError::Load(reason(panic.as_ref()))));
    let mut running = match loaded {
        Ok((running, facts)) => {
            told(Ok(facts));
            running
        }
        Err(error) => return told(Err(error)),
    };
    while let Some(EmbedJob { texts, prefix, wants_words, reply }) = queue.pop() {
        if reply.is_closed() {
            continue;
        }
        let result = catch_unwind(AssertUnwindSafe(|| running.embed(&texts, &prefix, wants_words)))
            .unwrap_or_else(|panic| Err(EmbedError::Inference(reason(panic.as_ref()))));
        let _ = reply.send(result);
    }
}

fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("the library panicked: {}", text.unwrap_or("without a word"))
}
