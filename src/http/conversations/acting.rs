//! Calls that the service makes itself: each once, even if a request is repeated, and whether or not its client is
//! still waiting.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    record::Record,
    spoken::Spoken,
    store::{conflict, of_store},
};
use crate::{
    act::{Actor, Begun, MadeCall, Plan},
    answer::SessionBody,
    conversation::store::{Session, StoreError},
    http::{ApiError, AppState, Failure, Fault},
    shares::Owner,
    snapshot::Snapshot,
    understand::{self, Conversed},
};

/// Part of a request's time that is reserved for everything after a call.
const MARGIN: Duration = Duration::from_millis(500);

/// Where the calls of a turn are remembered when no session does so.
pub(super) enum Under<'a> {
    /// Under the state that a client echoed: it leads to calls once.
    State(&'a str),
    /// Under the request itself.
    Request,
}

/// Calls to be made.
pub(super) struct Acts {
    app: AppState,
    actor: Actor,
    snapshot: Arc<Snapshot>,
    owner: Owner,
    until: Instant,
}

impl AppState {
    /// The calls of a turn that are to be made here, with their executor; `None` if there are none.
    pub(super) fn acts(
        &self,
        snapshot: &Arc<Snapshot>,
        spoken: &Spoken<'_>,
        conversed: &Conversed,
        since: Instant,
    ) -> Option<(Acts, Vec<MadeCall>)> {
        let actor = self.conversations.actor.clone()?;
        let deeds = understand::own_calls(snapshot, &conversed.turn, spoken.theirs?);
        let until = since + self.options.timeout().saturating_sub(MARGIN);
        let owner = spoken.request.owner.clone();
        let acts = Acts { app: self.clone(), actor, snapshot: Arc::clone(snapshot), owner, until };
        (!deeds.is_empty()).then_some((acts, deeds))
    }

    /// The turn after its calls were made, for a conversation without a session.
    pub(super) async fn acted(
        &self,
        snapshot: &Arc<Snapshot>,
        spoken: &Spoken<'_>,
        under: Under<'_>,
        conversed: Conversed,
        since: Instant,
    ) -> Result<Conversed, ApiError> {
        let Some((acts, deeds)) = self.acts(snapshot, spoken, &conversed, since) else { return Ok(conversed) };
        let (name, may_repeat) = match under {
            Under::State(text) => {
                let tokens = self.conversations.tokens.of(&spoken.repeat.owner);
                let number = tokens.number(text).unwrap_or_else(|| text.to_owned());
                (format!("state {number}"), false)
            }
            Under::Request => spoken.repeat.remembered(snapshot, spoken.request),
        };
        let within = acts.within(deeds.len());
        let clock = Instant::now();
        let once = &self.conversations.once;
        let begun = once.begin(&spoken.repeat.owner, &name, deeds.clone(), within, may_repeat).await;
        self.metrics.stored("remember", clock.elapsed(), begun.as_ref().err());
        let done = match begun.map_err(|error| of_store(&error))? {
            Begun::Running => return Err(conflict("the same call is being made just now")),
            Begun::Before(before) => {
                let same = |(one, other): (&MadeCall, &MadeCall)| {
                    one.function == other.function && one.arguments == other.arguments
                };
                if before.len() != deeds.len() || !before.iter().zip(&deeds).all(same) {
                    let message = "the state led to another call already: begin a new conversation, without `state`";
                    return Err(ApiError::fault(Fault::InvalidState, message).about("state"));
                }
                before
            }
            Begun::First(mut remembered) => {
                let work = async move {
                    for index in 0..remembered.plan.deeds.len() {
                        acts.one(&mut remembered.plan, index).await;
                        let clock = Instant::now();
                        let kept = remembered.keep().await;
                        acts.app.metrics.stored("remember", clock.elapsed(), kept.as_ref().err());
                        if let Err(error) = kept {
                            tracing::error!(%error, "it could not be kept what a call came to");
                        }
                    }
                    remembered.plan.deeds
                };
                finished(work).await?
            }
        };
        let language = spoken.request.language.as_deref();
        Ok(understand::acted(snapshot, language, conversed, done, spoken.theirs.unwrap_or_default()))
    }
}

/// A session's turn whose calls were made.
pub(super) struct CarriedOut {
    pub conversed: Conversed,
    pub record: Record,
    pub kept: Result<SessionBody, StoreError>,
}

impl Acts {
    /// A plan for making these calls.
    pub(super) fn plan(&self, deeds: Vec<MadeCall>) -> Plan {
        let within = self.within(deeds.len());
        Plan::new(None, deeds, self.app.conversations.sessions.now(), within)
    }

    /// Most time that this many calls may take.
    fn within(&self, count: usize) -> Duration {
        let own = self.actor.longest().saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        own.min(self.until.saturating_duration_since(Instant::now())) + MARGIN
    }

    /// Makes the calls that the session's record plans, and stores their results there.
    pub(super) async fn in_session(
        self,
        mut session: Session,
        mut record: Record,
        conversed: Conversed,
        spoken: &Spoken<'_>,
    ) -> Result<CarriedOut, ApiError> {
        let language = spoken.request.language.clone();
        let theirs = spoken.theirs.unwrap_or_default().to_vec();
        finished(async move {
            let mut plan = record.plan.take().unwrap_or_else(|| self.plan(Vec::new()));
            let count = plan.deeds.len();
            for index in 0..count {
                self.one(&mut plan, index).await;
                if index + 1 < count {
                    record.plan = Some(plan.clone());
                    if let Err(error) = session.keep(record.bytes()).await {
                        tracing::error!(%error, "it could not be kept what a call came to");
                    }
                }
            }
            record.plan = None;
            let conversed = understand::acted(&self.snapshot, language.as_deref(), conversed, plan.deeds, &theirs);
            record.state = conversed.state.clone();
            let kept = self.app.commit(session, &record, &self.snapshot).await;
            CarriedOut { conversed, record, kept }
        })
        .await
    }

    /// Makes one call of the plan, and notes its result there.
    pub(super) async fn one(&self, plan: &mut Plan, index: usize) {
        let (key, deed) = (plan.key(index), plan.deeds[index].clone());
        let module = &self.snapshot.module;
        let endpoint = module.function_named(&deed.function).and_then(|id| module.function(id).endpoint.as_ref());
        let Some(endpoint) = endpoint else { return };
        let done = self.actor.act(&self.owner, endpoint, deed, &key, self.until).await;
        self.app.metrics.action(&module.name, &done);
        plan.deeds[index] = done;
    }
}

/// The result of the work. It continues even if the client leaves: calls that have begun are finished.
async fn finished<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, ApiError> {
    tokio::spawn(work).await.map_err(|error| ApiError::logged(Failure::Internal, &error))
}
