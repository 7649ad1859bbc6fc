//! Repeats failed requests. (A wrong *answer* is sent back by `understand` with what was wrong.)
//!
//! Also limits concurrent requests and the queue of waiting ones; both are shared out among owners.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use super::{ChatModel, ChatReply, ChatRequest, Listener, LlmError, LlmOptions};
use crate::shares::{Owner, Share, Shares};

/// How often and how soon to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Attempts after the first.
    pub retries: u32,
    /// Whether to retry after a timeout, which takes long.
    pub after_timeout: bool,
    /// Longest pause before the first retry; it doubles with each. The actual pause is drawn evenly from zero to this
    /// limit, so that clients that failed together do not retry together.
    pub pause: Duration,
    /// Upper limit of the doubling.
    pub longest_pause: Duration,
    /// Most concurrent requests; 0 counts as 1.
    pub max_concurrency: usize,
    /// Most requests that wait for their turn.
    pub max_queue: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self::from(&LlmOptions::default())
    }
}

impl From<&LlmOptions> for Policy {
    fn from(options: &LlmOptions) -> Self {
        Self {
            retries: options.retries,
            after_timeout: true,
            pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(5),
            max_concurrency: options.max_concurrency,
            max_queue: options.max_queue,
        }
    }
}

/// A model server with retries, where they may help; never past a request's deadline.
#[derive(Debug)]
pub struct Retrying<M> {
    inner: M,
    policy: Policy,
    turns: Shares,
    waiting: Shares,
}

impl<M: ChatModel> Retrying<M> {
    #[must_use]
    pub fn new(inner: M, policy: Policy) -> Self {
        let turns = Shares::new(policy.max_concurrency.max(1) as u64);
        Self { inner, policy, turns, waiting: Shares::new(policy.max_queue as u64) }
    }

    /// Waits for a turn in a bounded queue.
    async fn turn(&self, owner: &Owner, deadline: Instant) -> Result<Share, LlmError> {
        if let Some(turn) = self.turns.try_take(owner, 1) {
            return Ok(turn);
        }
        let _place = self.waiting.try_take(owner, 1).ok_or(LlmError::Overloaded)?;
        timeout_at(deadline, self.turns.take(owner, 1, 1)).await.map_err(|_| LlmError::Timeout)
    }

    /// Makes one attempt, and gives its turn back at the end.
    async fn attempt(&self, request: ChatRequest) -> Result<ChatReply, LlmError> {
        let deadline = request.deadline;
        let _turn = self.turn(&request.owner, deadline).await?;
        timeout_at(deadline, self.inner.complete(request)).await.unwrap_or(Err(LlmError::Timeout))
    }

    /// How long to wait before the next attempt; `None` if it could not succeed.
    fn pause(&self, error: &LlmError, tried: u32, deadline: Instant) -> Option<Duration> {
        let is_in_vain = *error == LlmError::Timeout && !self.policy.after_timeout;
        if !may_pass(error) || is_in_vain || tried >= self.policy.retries {
            return None;
        }
        let ceiling = self.policy.pause.saturating_mul(2_u32.saturating_pow(tried)).min(self.policy.longest_pause);
        let pause = match error {
            LlmError::Status { retry_after: Some(asked), .. } => *asked,
            _ => ceiling.mul_f64(fastrand::f64()),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        (pause < left).then_some(pause)
    }
}

impl<M: ChatModel> ChatModel for Retrying<M> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            let deadline = request.deadline;
            let mut tried = 0;
            loop {
                let error = match self.attempt(request.clone()).await {
                    Ok(reply) => return Ok(reply),
                    Err(error) => error,
                };
                // Words that the listener has received cannot be taken back.
                if request.listener.as_ref().is_some_and(Listener::has_heard) {
                    return Err(error);
                }
                let Some(pause) = self.pause(&error, tried, deadline) else { return Err(error) };
                tracing::debug!(
                    kind = error.kind(),
                    tried,
                    pause_ms = pause.as_millis(),
                    "the model server is asked again"
                );
                sleep(pause).await;
                tried += 1;
            }
        })
    }
}

/// Failures that may be temporary.
fn may_pass(error: &LlmError) -> bool {
    match error {
        LlmError::Connect(_) | LlmError::Timeout => true,
        LlmError::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 506..=599),
        LlmError::Malformed(_) | LlmError::Overloaded | LlmError::Unavailable(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::llm::{Message, scripted::Scripted};

    fn request(seconds: u64) -> ChatRequest {
        ChatRequest::new(vec![Message::User("hi".into())], Instant::now() + Duration::from_secs(seconds))
    }

    fn status(status: u16, retry_after: Option<u64>) -> LlmError {
        LlmError::Status { status, message: "x".into(), retry_after: retry_after.map(Duration::from_secs) }
    }

    async fn run(model: Scripted, seconds: u64) -> (Result<Option<String>, LlmError>, usize, Duration) {
        let began = Instant::now();
        let retrying = Retrying::new(model.clone(), Policy::default());
        let result = retrying.complete(request(seconds)).await.map(|reply| reply.content);
        (result, model.requests().len(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_pass_is_tried_again() {
        for error in [
            LlmError::Connect("reset".into()),
            LlmError::Timeout,
            status(408, None),
            status(429, None),
            status(500, None),
            status(503, None),
        ] {
            let (result, requests, _) = run(Scripted::new().fail(error.clone()).say("ok"), 60).await;
            assert_eq!((result, requests), (Ok(Some("ok".into())), 2), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_will_not_pass_is_not() {
        for error in [
            LlmError::Malformed("x".into()),
            status(400, None),
            status(401, None),
            status(404, None),
            status(501, None),
            status(302, None),
        ] {
            let (result, requests, _) = run(Scripted::new().fail(error.clone()).say("ok"), 60).await;
            assert_eq!((result, requests), (Err(error), 1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_took_all_its_time_is_not_tried_again_where_another_server_stands_by() {
        let policy = Policy { after_timeout: false, ..Policy::default() };
        for (error, requests) in [(LlmError::Timeout, 1), (status(503, None), 2)] {
            let model = Scripted::new().fail(error).say("late");
            let _ = Retrying::new(model.clone(), policy).complete(request(60)).await;
            assert_eq!(model.requests().len(), requests);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end_and_the_last_error_is_told() {
        let model = Scripted::new().fail(status(500, None)).fail(status(502, None)).fail(status(503, None)).say("late");
        let (result, requests, took) = run(model, 60).await;
        assert_eq!((result, requests), (Err(status(503, None)), 3));
        assert!(took <= Duration::from_millis(600), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_says_when_unless_that_is_too_late() {
        let (result, _, took) = run(Scripted::new().fail(status(429, Some(7))).say("ok"), 60).await;
        assert_eq!((result, took.as_secs()), (Ok(Some("ok".into())), 7));
        let (result, requests, took) = run(Scripted::new().fail(status(429, Some(70))).say("ok"), 60).await;
        assert_eq!((result, requests, took.as_secs()), (Err(status(429, Some(70))), 1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_holds_over_a_server_that_hangs() {
        let (result, requests, took) = run(Scripted::new().hang(), 5).await;
        assert_eq!((result, requests, took.as_secs()), (Err(LlmError::Timeout), 1, 5));
    }

    #[tokio::test(start_paused = true)]
    async fn turns_and_places_are_bounded_and_given_back() {
        let policy = Policy { max_concurrency: 1, max_queue: 1, retries: 0, ..Policy::default() };
        let model = Arc::new(Retrying::new(Scripted::new().hang().say("ok"), policy));
        let ask = |seconds| {
            let model = Arc::clone(&model);
            tokio::spawn(async move { model.complete(request(seconds)).await })
        };
        let (first, second) = (ask(10), ask(20));
        tokio::task::yield_now().await;
        let third = model.complete(request(20)).await;
        assert_eq!(third, Err(LlmError::Overloaded));
        assert_eq!(first.await.expect("runs"), Err(LlmError::Timeout));
        assert_eq!(second.await.expect("runs").map(|reply| reply.content), Ok(Some("ok".into())));
        // A caller that leaves gives back its turn and its place in the queue.
        let held = Arc::new(Retrying::new(Scripted::new().hang().hang().say("ok"), policy));
        for _ in 0..2 {
            let gone = tokio::spawn({
                let held = Arc::clone(&held);
                async move { held.complete(request(60)).await }
            });
            tokio::task::yield_now().await;
            gone.abort();
            let _ = gone.await;
        }
        assert!(held.complete(request(60)).await.is_ok());
        assert_eq!((held.waiting.in_use(), held.turns.in_use()), (0, 0));
    }

    /// However many requests one owner sends to a server that does not answer, another owner gets its turn.
    #[tokio::test(start_paused = true)]
    async fn one_owner_leaves_room_at_a_slow_model_server() {
        let policy = Policy { max_concurrency: 8, max_queue: 8, retries: 0, ..Policy::default() };
        let hung = (0..6).fold(Scripted::new(), |script, _| script.hang());
        let model = Arc::new(Retrying::new(hung.say("ok"), policy));
        let ask = |owner: &str| {
            let (model, owner) = (Arc::clone(&model), Owner::Key(owner.into()));
            tokio::spawn(async move { model.complete(ChatRequest { owner, ..request(60) }).await })
        };
        let mut greedy = Vec::new();
        for _ in 0..30 {
            greedy.push(ask("greedy"));
            tokio::task::yield_now().await;
        }
        let polite = ask("polite");
        let clock = Instant::now();
        assert_eq!(polite.await.expect("runs").map(|reply| reply.content), Ok(Some("ok".into())));
        assert_eq!(clock.elapsed(), Duration::ZERO);
        let refused = greedy.iter().filter(|one| one.is_finished()).count();
        assert_eq!(refused, 30 - 6 - 6, "those that wait leave room, too");
        greedy.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
