//! Sends identical requests once: always while the first is in progress, and later too where answers are kept.
//!
//! This is the outermost layer, around retries. Two requests are identical if they have the same owner and agree in
//! everything that the answer depends on: their scope, such as the version of a module, and the exact bytes to be sent,
//! including the model's name.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use futures::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

use super::{
    ChatModel, ChatReply, ChatRequest, LlmError, Usage,
    coalesce::Flights,
    keep::{ReplyCache, RequestHash},
    options::CacheOptions,
    wording::Wording,
};

/// A model server that is asked once for identical requests.
pub(super) struct Cached<M> {
    inner: Arc<M>,
    wording: Arc<Wording>,
    flights: Flights<RequestHash, Landed>,
    kept: Arc<Mutex<ReplyCache>>,
}

/// The one result that all waiting callers share.
#[derive(Clone)]
struct Landed {
    result: Result<ChatReply, LlmError>,
    /// The deadline of the request that started it.
    deadline: Instant,
    /// Whether one of the callers has been charged for the tokens.
    billed: Arc<AtomicBool>,
}

impl<M: ChatModel> Cached<M> {
    /// `wording` belongs to the server behind `inner`.
    pub(super) fn new(inner: M, wording: Arc<Wording>, options: CacheOptions) -> Self {
        let kept = Arc::new(Mutex::new(ReplyCache::new(options)));
        Self { inner: Arc::new(inner), wording, flights: Flights::new(), kept }
    }

    /// Joins an identical request in progress, or sends a new one.
    async fn fly(&self, key: RequestHash, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        loop {
            let work = self.flights.join(key, || {
                let (inner, wording, kept) =
                    (Arc::clone(&self.inner), Arc::clone(&self.wording), Arc::clone(&self.kept));
                let request = request.clone();
                async move {
                    let deadline = request.deadline;
                    let result = inner.complete(request.clone()).await;
                    // The request may have been changed meanwhile because the server refused a field.
                    if let Ok(reply) = &result
                        && lock(&kept).is_on()
                        && identity(&wording, &request) == (key, true)
                    {
                        lock(&kept).insert(&request.owner, key, again(reply.clone()));
                    }
                    Landed { result, deadline, billed: Arc::default() }
                }
            });
            let Ok(landed) = timeout_at(request.deadline, work).await else { return Err(LlmError::Timeout) };
            // Another caller's shorter deadline is not ours.
            let gave_up = landed.result == Err(LlmError::Timeout) && landed.deadline <= Instant::now();
            if gave_up && landed.deadline < request.deadline {
                continue;
            }
            return match landed.result {
                Ok(reply) if landed.billed.swap(true, Ordering::AcqRel) => Ok(again(reply)),
                result => result,
            };
        }
    }
}

impl<M: ChatModel> ChatModel for Cached<M> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            // A reply that is streamed to a listener cannot be shared.
            if request.listener.is_some() {
                return self.inner.complete(request).await;
            }
            let (key, is_kept) = identity(&self.wording, &request);
            if is_kept && let Some(reply) = lock(&self.kept).get(&request.owner, &key) {
                return Ok(reply);
            }
            self.fly(key, &request).await
        })
    }
}

/// The identity of the request, and whether its answer may be kept: only if the server would give the same answer again
/// and the request's scope is known.
fn identity(wording: &Wording, request: &ChatRequest) -> (RequestHash, bool) {
    let sent = wording.of(request);
    let mut hasher = blake3::Hasher::new();
    // Lengths keep the parts apart. Whether only one call is wanted decides how much of a stream is read.
    let scope = request.scope.as_deref().map(str::as_bytes);
    hasher.update(&scope.map_or(u64::MAX, |scope| scope.len() as u64).to_le_bytes());
    hasher.update(scope.unwrap_or_default());
    let owner = request.owner.name();
    hasher.update(&(owner.len() as u64).to_le_bytes());
    hasher.update(owner.as_bytes());
    hasher.update(&[u8::from(request.parallel)]);
    hasher.update(&sent.body);
    let is_kept = sent.temperature == Some(0.0) && request.scope.is_some();
    (*hasher.finalize().as_bytes(), is_kept)
}

/// The reply for a caller that did not cause it: its tokens are already paid for.
fn again(reply: ChatReply) -> ChatReply {
    ChatReply { usage: Usage::default(), cached: true, ..reply }
}

fn lock(kept: &Mutex<ReplyCache>) -> MutexGuard<'_, ReplyCache> {
    // A panic can only have lost entries, so a poisoned lock is safe to use.
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicUsize, time::Duration};

    use serde_json::Value;
    use tokio::{task::JoinHandle, time::sleep};

    use super::*;
    use crate::{
        llm::{LlmOptions, Message, dialect::Field, scripted::Scripted},
        shares::Owner,
    };

    const KEEP: CacheOptions = CacheOptions { entries: 9, ttl_ms: 60_000, max_bytes: 1 << 20 };
    const KEEP_NONE: CacheOptions = CacheOptions { entries: 0, ..KEEP };
    const USAGE: Usage = Usage { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

    /// Answers after a second; counts requests that began and those that were dropped before their end.
    #[derive(Clone, Default)]
    struct Slow {
        /// Returned in place of an answer.
        error: Option<LlmError>,
        began: Arc<AtomicUsize>,
        dropped: Arc<AtomicUsize>,
    }

    struct Dropped(Arc<AtomicUsize>, bool);

    impl Drop for Dropped {
        fn drop(&mut self) {
            if !self.1 {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    impl ChatModel for Slow {
        fn describe(&self) -> String {
            "slow".to_owned()
        }

        fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
            Box::pin(async move {
                self.began.fetch_add(1, Ordering::SeqCst);
                let mut guard = Dropped(Arc::clone(&self.dropped), false);
                let result = match timeout_at(request.deadline, sleep(Duration::from_secs(1))).await {
                    Ok(()) => self.error.clone().map_or_else(
                        || Ok(ChatReply { content: Some("ok".into()), usage: USAGE, ..ChatReply::default() }),
                        Err,
                    ),
                    Err(_) => Err(LlmError::Timeout),
                };
                guard.1 = true;
                result
            })
        }
    }

    type PendingReply = JoinHandle<Result<ChatReply, LlmError>>;

    struct Bench {
        slow: Slow,
        cached: Arc<Cached<Slow>>,
    }

    impl Bench {
        fn new(options: CacheOptions) -> Self {
            let slow = Slow::default();
            let wording = Arc::new(Wording::new(LlmOptions::default()));
            Self { cached: Arc::new(Cached::new(slow.clone(), wording, options)), slow }
        }

        /// Sends the request and runs until it waits.
        async fn ask(&self, request: ChatRequest) -> PendingReply {
            let cached = Arc::clone(&self.cached);
            let asked = tokio::spawn(async move { cached.complete(request).await });
            tokio::task::yield_now().await;
            asked
        }

        /// Numbers of requests that began, and of those that were dropped.
        fn counts(&self) -> (usize, usize) {
            (self.slow.began.load(Ordering::SeqCst), self.slow.dropped.load(Ordering::SeqCst))
        }
    }

    fn request(milliseconds: u64) -> ChatRequest {
        let deadline = Instant::now() + Duration::from_millis(milliseconds);
        ChatRequest { scope: Some("v1".into()), ..ChatRequest::new(vec![Message::User("hi".into())], deadline) }
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_at_the_same_time_is_asked_once_and_paid_once() {
        let bench = Bench::new(KEEP_NONE);
        let (first, second, third) =
            (bench.ask(request(9_000)).await, bench.ask(request(8_000)).await, bench.ask(request(7_000)).await);
        let mut paid = Usage::default();
        let mut cached = 0;
        for asked in [first, second, third] {
            let reply = asked.await.expect("runs").expect("a reply");
            assert_eq!(reply.content.as_deref(), Some("ok"));
            paid += reply.usage;
            cached += usize::from(reply.cached);
        }
        assert_eq!((bench.counts(), paid, cached), ((1, 0), USAGE, 2));
        assert_eq!(bench.cached.flights.len(), 0);
        // Nothing is kept.
        assert!(!bench.ask(request(9_000)).await.await.expect("runs").expect("a reply").cached);
        assert_eq!(bench.counts(), (2, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn what_differs_is_asked_for_itself() {
        let bench = Bench::new(KEEP);
        let base = request(9_000);
        let requests = [
            base.clone(),
            ChatRequest { scope: Some("v2".into()), ..base.clone() },
            ChatRequest { scope: None, ..base.clone() },
            ChatRequest { owner: Owner::Key("other".into()), ..base.clone() },
            ChatRequest { model: Some("m".into()), ..base.clone() },
            ChatRequest { temperature: Some(0.5), ..base.clone() },
            ChatRequest { max_tokens: Some(3), ..base.clone() },
            ChatRequest { parallel: true, ..base.clone() },
            ChatRequest { messages: [Message::System("hi".into())].into(), ..base.clone() },
            ChatRequest { response_schema: Some(("r".into(), Value::Bool(true).into())), ..base },
        ];
        let mut asked = Vec::new();
        for request in &requests {
            asked.push(bench.ask(request.clone()).await);
        }
        assert_eq!(bench.counts().0, requests.len());
        for one in asked {
            assert!(!one.await.expect("runs").expect("a reply").cached);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_goes_on_while_one_waits_and_ends_with_the_last() {
        let bench = Bench::new(KEEP_NONE);
        let (first, second) = (bench.ask(request(9_000)).await, bench.ask(request(9_000)).await);
        first.abort();
        let _ = first.await;
        assert_eq!(bench.counts(), (1, 0));
        let reply = second.await.expect("runs").expect("a reply");
        // The remaining caller pays.
        assert_eq!((reply.usage, reply.cached, bench.counts()), (USAGE, false, (1, 0)));

        let (first, second) = (bench.ask(request(9_000)).await, bench.ask(request(9_000)).await);
        for asked in [second, first] {
            assert_eq!(bench.counts(), (2, 0));
            asked.abort();
            let _ = asked.await;
        }
        assert_eq!((bench.counts(), bench.cached.flights.len()), ((2, 1), 0));
        assert!(bench.ask(request(9_000)).await.await.expect("runs").is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_has_a_deadline_of_their_own() {
        let bench = Bench::new(KEEP_NONE);
        // A caller with a short deadline leaves alone.
        let (patient, hurried) = (bench.ask(request(9_000)).await, bench.ask(request(300)).await);
        let began = Instant::now();
        assert_eq!(hurried.await.expect("runs"), Err(LlmError::Timeout));
        assert_eq!(began.elapsed().as_millis(), 300);
        assert!(patient.await.expect("runs").is_ok());
        assert_eq!(bench.counts(), (1, 0));
        // A caller with a short deadline that came first does not take the others along.
        let hurried = bench.ask(request(300)).await;
        let patient = [bench.ask(request(9_000)).await, bench.ask(request(8_000)).await];
        assert_eq!(hurried.await.expect("runs"), Err(LlmError::Timeout));
        for asked in patient {
            assert!(asked.await.expect("runs").is_ok());
        }
        assert_eq!((bench.counts(), bench.cached.flights.len()), ((3, 0), 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_too_slow_is_too_slow_for_all() {
        let model = Slow { error: Some(LlmError::Timeout), ..Slow::default() };
        let cached = Cached::new(model.clone(), Arc::new(Wording::new(LlmOptions::default())), KEEP_NONE);
        let (first, second) = futures::join!(cached.complete(request(5_000)), cached.complete(request(9_000)));
        assert_eq!((first, second), (Err(LlmError::Timeout), Err(LlmError::Timeout)));
        assert_eq!(model.began.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_is_kept_where_it_would_be_the_same_again() {
        let bench = Bench::new(KEEP);
        let ask = async |request| bench.ask(request).await.await.expect("runs").expect("a reply");
        assert!(!ask(request(9_000)).await.cached);
        let kept = ask(request(8_000)).await;
        assert_eq!((kept.content.as_deref(), kept.cached, kept.usage), (Some("ok"), true, Usage::default()));
        assert_eq!(bench.counts().0, 1);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(!ask(request(9_000)).await.cached);
        for unkept in
            [ChatRequest { temperature: Some(0.1), ..request(60_000) }, ChatRequest { scope: None, ..request(60_000) }]
        {
            assert!(!ask(unkept.clone()).await.cached && !ask(unkept).await.cached);
        }
        // A server that does not accept a temperature may answer differently each time.
        bench.cached.wording.leave_out(&request(1), Field::Temperature);
        assert!(!ask(request(9_000)).await.cached && !ask(request(9_000)).await.cached);
    }

    #[tokio::test(start_paused = true)]
    async fn errors_are_not_kept() {
        let model = Scripted::new().fail(LlmError::Connect("reset".into())).say("ok");
        let cached = Cached::new(model, Arc::new(Wording::new(LlmOptions::default())), KEEP);
        assert!(cached.complete(request(9_000)).await.is_err());
        assert_eq!(cached.complete(request(9_000)).await.map(|reply| reply.cached), Ok(false));
        assert_eq!(cached.complete(request(9_000)).await.map(|reply| reply.cached), Ok(true));
    }
}
