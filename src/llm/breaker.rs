//! Leaves a server alone that fails again and again, so that nobody waits for what will not come and the server gets
//! its breath back.
//!
//! Goes around single tries. What counts is whether the server answers, not whether we like its answer: a refused
//! request or an unreadable reply is a sign of life.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use super::{ChatModel, ChatReply, ChatRequest, LlmError, options::BreakerOptions};

/// A timeout shorter than this does not count as a failure: a caller in a hurry must not open the breaker.
const FAIR: Duration = Duration::from_secs(1);

/// A model server with a circuit breaker: it is left alone after too many failures in a row, and for as long as it asks
/// for with `Retry-After`.
pub struct Breaker<M> {
    inner: M,
    options: BreakerOptions,
    state: Mutex<BreakerState>,
}

struct BreakerState {
    phase: BreakerPhase,
    /// Next pause after the breaker opens.
    cooldown: Duration,
    /// The server asked for no requests before this time.
    held_until: Option<Instant>,
    trials: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakerPhase {
    /// Requests pass; so many have failed in a row.
    Closed { failures: u32 },
    /// No request passes before this time; then one does.
    Open { until: Instant },
    /// The trial with this number is in progress, and no other request passes.
    Trying { trial: u64 },
}

/// What an attempt tells about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Alive,
    /// The server is up, but asked for a pause.
    Wait(Duration),
    Failed,
    Nothing,
}

impl<M: ChatModel> Breaker<M> {
    #[must_use]
    pub fn new(inner: M, options: BreakerOptions) -> Self {
        let state = BreakerState {
            phase: BreakerPhase::Closed { failures: 0 },
            cooldown: Duration::from_millis(options.cooldown_ms),
            held_until: None,
            trials: 0,
        };
        Self { inner, options, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, BreakerState> {
        // Every change to the state is one step, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the server may be asked, if it named a time and that is before the deadline.
    async fn admit(&self, deadline: Instant) -> Result<Pass<'_, M>, LlmError> {
        loop {
            let until = match self.enter() {
                Ok(pass) => return Ok(pass),
                Err(Closed::Asked(until)) if until < deadline => until,
                Err(Closed::Asked(until)) => {
                    return Err(LlmError::Unavailable(until.saturating_duration_since(Instant::now())));
                }
                Err(Closed::Failing(left)) => return Err(LlmError::Unavailable(left)),
            };
            sleep_until(until).await;
        }
    }

    fn enter(&self) -> Result<Pass<'_, M>, Closed> {
        let now = Instant::now();
        let mut state = self.state();
        let trial = match state.phase {
            BreakerPhase::Open { until } if now < until => return Err(Closed::Failing(until - now)),
            BreakerPhase::Trying { .. } => return Err(Closed::Failing(state.cooldown)),
            BreakerPhase::Open { .. } => true,
            BreakerPhase::Closed { .. } => false,
        };
        if let Some(until) = state.held_until.filter(|until| now < *until) {
            return Err(Closed::Asked(until));
        }
        state.held_until = None;
        if !trial {
            return Ok(Pass { breaker: self, trial: None });
        }
        state.trials += 1;
        let trial = state.trials;
        state.phase = BreakerPhase::Trying { trial };
        Ok(Pass { breaker: self, trial: Some(trial) })
    }

    fn learn(&self, trial: Option<u64>, sign: Sign, kind: &'static str) {
        let now = Instant::now();
        let longest = Duration::from_millis(self.options.longest_cooldown_ms);
        let mut state = self.state();
        if let Sign::Wait(asked) = sign {
            let until = now + asked.min(longest);
            state.held_until = Some(state.held_until.map_or(until, |held| held.max(until)));
        }
        match (sign, state.phase) {
            (Sign::Alive | Sign::Wait(_), before) => {
                state.phase = BreakerPhase::Closed { failures: 0 };
                state.cooldown = Duration::from_millis(self.options.cooldown_ms);
                if !matches!(before, BreakerPhase::Closed { .. }) {
                    tracing::info!(server = %self.inner.describe(), "the model server answers again");
                }
            }
            (Sign::Failed, BreakerPhase::Closed { failures }) => {
                let failures = failures.saturating_add(1);
                state.phase = BreakerPhase::Closed { failures };
                if self.options.failures > 0 && failures >= self.options.failures {
                    self.open(&mut state, now, kind);
                }
            }
            (Sign::Failed, BreakerPhase::Trying { trial: current }) if trial == Some(current) => {
                self.open(&mut state, now, kind);
            }
            // The trial told nothing about the server: the next request may try.
            (Sign::Nothing, BreakerPhase::Trying { trial: current }) if trial == Some(current) => {
                state.phase = BreakerPhase::Open { until: now };
            }
            // The request was sent before the breaker opened: it tells nothing new.
            (Sign::Failed, BreakerPhase::Open { .. } | BreakerPhase::Trying { .. }) | (Sign::Nothing, _) => {}
        }
    }

    fn open(&self, state: &mut BreakerState, now: Instant, kind: &'static str) {
        let cooldown = state.cooldown;
        state.phase = BreakerPhase::Open { until: now + cooldown };
        state.cooldown = cooldown.saturating_mul(2).min(Duration::from_millis(self.options.longest_cooldown_ms));
        tracing::warn!(
            server = %self.inner.describe(),
            kind,
            cooldown_ms = cooldown.as_millis(),
            "the model server fails and is left alone"
        );
    }
}

/// Why the server may not be asked now.
enum Closed {
    Failing(Duration),
    Asked(Instant),
}

/// Permission for one attempt. If it is dropped because its caller left, it says nothing about the server.
struct Pass<'a, M: ChatModel> {
    breaker: &'a Breaker<M>,
    trial: Option<u64>,
}

impl<M: ChatModel> Pass<'_, M> {
    fn learn(mut self, sign: Sign, kind: &'static str) {
        self.breaker.learn(self.trial.take(), sign, kind);
    }
}

impl<M: ChatModel> Drop for Pass<'_, M> {
    fn drop(&mut self) {
        if self.trial.is_some() {
            self.breaker.learn(self.trial, Sign::Nothing, "");
        }
    }
}

impl<M: ChatModel> ChatModel for Breaker<M> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            let pass = self.admit(request.deadline).await?;
            let began = Instant::now();
            let (is_test, is_hurried) = (request.is_test, request.is_hurried);
            let result = self.inner.complete(request).await;
            let sign = match &result {
                Err(LlmError::Status { status: 500.., retry_after: None, .. }) if is_test => Sign::Nothing,
                // Otherwise one client in a hurry would open the breaker for all.
                Err(LlmError::Timeout) if is_hurried => Sign::Nothing,
                other => sign(other, began.elapsed()),
            };
            pass.learn(sign, result.as_ref().err().map_or("", LlmError::kind));
            result
        })
    }
}

fn sign(result: &Result<ChatReply, LlmError>, took: Duration) -> Sign {
    match result {
        Ok(_) | Err(LlmError::Malformed(_)) => Sign::Alive,
        Err(LlmError::Connect(_)) => Sign::Failed,
        Err(LlmError::Timeout) if took >= FAIR => Sign::Failed,
        // Nothing was sent, or the server had no fair chance.
        Err(LlmError::Timeout | LlmError::Overloaded | LlmError::Unavailable(_)) => Sign::Nothing,
        Err(LlmError::Status { status: 429 | 503, retry_after: Some(asked), .. }) => Sign::Wait(*asked),
        Err(LlmError::Status { status: 408 | 429 | 500 | 502..=504 | 506..=599, .. }) => Sign::Failed,
        Err(LlmError::Status { .. }) => Sign::Alive,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::advance;

    use super::*;
    use crate::llm::{Message, retry::Policy, retry::Retrying, scripted::Scripted};

    const OPTIONS: BreakerOptions = BreakerOptions { failures: 3, cooldown_ms: 1_000, longest_cooldown_ms: 3_000 };

    fn request() -> ChatRequest {
        ChatRequest::new(vec![Message::User("hi".into())], Instant::now() + Duration::from_secs(20))
    }

    fn status(status: u16, retry_after: Option<u64>) -> LlmError {
        LlmError::Status { status, message: "x".into(), retry_after: retry_after.map(Duration::from_secs) }
    }

    fn reset() -> LlmError {
        LlmError::Connect("reset".into())
    }

    fn failing(times: usize) -> Scripted {
        (0..times).fold(Scripted::new(), |script, _| script.fail(reset()))
    }

    async fn kind(breaker: &Breaker<Scripted>) -> &'static str {
        breaker.complete(request()).await.map_or_else(|error| error.kind(), |_| "ok")
    }

    /// Fails with these errors in a row, and says whether the next request is still sent.
    async fn stays_closed_after(errors: Vec<LlmError>) -> bool {
        let script = errors.iter().cloned().fold(Scripted::new(), Scripted::fail).say("ok");
        let breaker = Breaker::new(script, OPTIONS);
        for error in errors {
            assert_eq!(breaker.complete(request()).await, Err(error));
        }
        kind(&breaker).await == "ok"
    }

    #[tokio::test(start_paused = true)]
    async fn what_counts_is_whether_the_server_answers() {
        for error in
            [reset(), status(500, None), status(503, None), status(429, None), status(408, None), status(529, None)]
        {
            assert!(!stays_closed_after(vec![error.clone(); 3]).await, "{error}");
            assert!(stays_closed_after(vec![error.clone(); 2]).await, "{error}");
            // Not in a row.
            let broken = vec![error.clone(), error.clone(), status(400, None), error.clone(), error.clone()];
            assert!(stays_closed_after(broken).await, "{error}");
        }
        for error in [
            status(400, None),
            status(401, None),
            status(404, None),
            status(422, None),
            status(501, None),
            LlmError::Malformed("x".into()),
            LlmError::Overloaded,
            LlmError::Timeout,
        ] {
            assert!(stays_closed_after(vec![error.clone(); 9]).await, "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_breaks_on_a_test_is_not_left_alone() {
        let script = (0..9).fold(Scripted::new(), |script, _| script.fail(status(500, None))).say("ok");
        let breaker = Breaker::new(script, OPTIONS);
        for _ in 0..9 {
            let test = ChatRequest { is_test: true, ..request() };
            assert_eq!(breaker.complete(test).await, Err(status(500, None)));
        }
        assert_eq!(kind(&breaker).await, "ok");
    }

    #[test]
    fn a_timeout_counts_if_the_server_had_a_fair_chance() {
        assert_eq!(sign(&Err(LlmError::Timeout), FAIR), Sign::Failed);
        assert_eq!(sign(&Err(LlmError::Timeout), FAIR / 2), Sign::Nothing);
    }

    /// Never answers in time.
    struct Late;

    impl ChatModel for Late {
        fn describe(&self) -> String {
            "late".to_owned()
        }

        fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
            Box::pin(async move {
                sleep_until(request.deadline).await;
                Err(LlmError::Timeout)
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_client_in_a_hurry_has_no_server_left_alone() {
        let breaker = Breaker::new(Late, OPTIONS);
        let kind = async |is_hurried| {
            let deadline = Instant::now() + 2 * FAIR;
            let asked = breaker.complete(ChatRequest { deadline, is_hurried, ..request() }).await;
            asked.expect_err("nothing comes").kind()
        };
        for _ in 0..9 {
            assert_eq!(kind(true).await, "timeout");
        }
        for expected in ["timeout", "timeout", "timeout", "unavailable"] {
            assert_eq!(kind(false).await, expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_tries_once_and_closes() {
        let model = failing(3).say("back");
        let breaker = Breaker::new(model.clone(), OPTIONS);
        for _ in 0..3 {
            assert_eq!(kind(&breaker).await, "connect");
        }
        assert_eq!(breaker.complete(request()).await, Err(LlmError::Unavailable(Duration::from_secs(1))));
        advance(Duration::from_millis(999)).await;
        assert_eq!(kind(&breaker).await, "unavailable");
        assert_eq!(model.requests().len(), 3);
        advance(Duration::from_millis(1)).await;
        assert_eq!(kind(&breaker).await, "ok");
        assert_eq!(breaker.state().phase, BreakerPhase::Closed { failures: 0 });
        assert_eq!(breaker.state().cooldown, Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn each_trial_that_fails_doubles_the_pause_to_a_maximum() {
        let model = failing(7);
        let breaker = Breaker::new(model.clone(), OPTIONS);
        for _ in 0..3 {
            assert_eq!(kind(&breaker).await, "connect");
        }
        for seconds in [1, 2, 3, 3] {
            assert_eq!(breaker.complete(request()).await, Err(LlmError::Unavailable(Duration::from_secs(seconds))));
            advance(Duration::from_secs(seconds)).await;
            assert_eq!(kind(&breaker).await, "connect");
        }
        assert_eq!(model.requests().len(), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn one_trial_at_a_time_and_one_that_leaves_makes_room() {
        let model = failing(3).hang().say("back");
        let breaker = Arc::new(Breaker::new(model.clone(), OPTIONS));
        for _ in 0..3 {
            assert_eq!(kind(&breaker).await, "connect");
        }
        advance(Duration::from_secs(1)).await;
        let trial = tokio::spawn({
            let breaker = Arc::clone(&breaker);
            async move { breaker.complete(request()).await }
        });
        tokio::task::yield_now().await;
        assert_eq!((kind(&breaker).await, model.requests().len()), ("unavailable", 4));
        trial.abort();
        let _ = trial.await;
        assert_eq!((kind(&breaker).await, model.requests().len()), ("ok", 5));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_before_it_opened_opens_nothing() {
        let breaker = Breaker::new(failing(3), OPTIONS);
        for _ in 0..3 {
            assert_eq!(kind(&breaker).await, "connect");
        }
        let before = breaker.state().phase;
        breaker.learn(None, Sign::Failed, "connect");
        assert_eq!(breaker.state().phase, before);
        assert_eq!(breaker.state().cooldown, Duration::from_secs(2));
        breaker.learn(None, Sign::Alive, "");
        assert_eq!(breaker.state().phase, BreakerPhase::Closed { failures: 0 });
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_says_when_it_may_be_asked_again() {
        let model = Scripted::new().fail(status(429, Some(2))).say("a").say("b");
        let breaker = Breaker::new(model.clone(), OPTIONS);
        assert_eq!(kind(&breaker).await, "status");
        let soon = ChatRequest { deadline: Instant::now() + Duration::from_secs(1), ..request() };
        assert_eq!(breaker.complete(soon).await, Err(LlmError::Unavailable(Duration::from_secs(2))));
        assert_eq!(model.requests().len(), 1);
        let began = Instant::now();
        assert_eq!(kind(&breaker).await, "ok");
        assert_eq!(began.elapsed().as_secs(), 2);
        assert_eq!(kind(&breaker).await, "ok");
        // No longer than the longest pause, even with the breaker off.
        let off = BreakerOptions { failures: 0, ..OPTIONS };
        let breaker = Breaker::new(Scripted::new().fail(status(503, Some(86_400))).say("a"), off);
        assert_eq!(kind(&breaker).await, "status");
        let began = Instant::now();
        assert_eq!(kind(&breaker).await, "ok");
        assert_eq!(began.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn turned_off_it_never_opens() {
        let model = failing(100).say("back");
        let breaker = Breaker::new(model, BreakerOptions { failures: 0, ..OPTIONS });
        for _ in 0..100 {
            assert_eq!(kind(&breaker).await, "connect");
        }
        assert_eq!(kind(&breaker).await, "ok");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_alone_is_not_asked_again() {
        let model = failing(9);
        let retrying = Retrying::new(Breaker::new(model.clone(), OPTIONS), Policy { retries: 9, ..Policy::default() });
        let error = retrying.complete(request()).await.expect_err("it fails");
        assert_eq!((error.kind(), model.requests().len()), ("unavailable", 3));
    }
}
