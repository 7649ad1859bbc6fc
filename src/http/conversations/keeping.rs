//! A turn of a conversation, wherever its state is kept.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    acting::Under,
    record::Record,
    spoken::Spoken,
    store::{conflict, of_store},
};
use crate::{
    act::Plan,
    answer::StateAfterTurn,
    conversation::{
        ConsentError, State, Tenant,
        store::{SessionId, StoreError},
    },
    http::{ApiError, AppState, Fault, caller::Caller},
    snapshot::Snapshot,
    understand::{self, Conversed, Outcome, Turn, TurnRequest},
};

/// How often a turn is repeated after another replica changed the session meanwhile.
const REDONE: usize = 2;

/// Where the conversation that a request continues is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum Keeping {
    /// Nowhere: it begins.
    New,
    /// By the client, which echoes the state of the last answer.
    Echo(String),
    /// In the messages, which are read again each time.
    Messages,
    /// In a session. `revision`: only if the session is still at this one.
    Session { id: SessionId, revision: Option<u64> },
}

impl Keeping {
    /// `otherwise` applies if the request names no place.
    ///
    /// # Errors
    /// 400 with the wrong member.
    pub(in crate::http) fn read(
        state: Option<String>,
        session_id: Option<String>,
        revision: Option<u64>,
        caller: &Caller,
        otherwise: Self,
    ) -> Result<Self, ApiError> {
        let invalid = |message: String| ApiError::fault(Fault::InvalidValue, message);
        match (state, session_id, revision) {
            (Some(_), Some(_), _) => {
                let message = "`state` and `session_id` exclude each other: either the client keeps the conversation \
                               or the service does";
                Err(invalid(message.to_owned()).about("state"))
            }
            (_, None, Some(_)) => {
                Err(invalid("`revision` is that of a session: send `session_id` too".to_owned()).about("revision"))
            }
            (Some(state), None, None) => Ok(Self::Echo(state)),
            (None, Some(id), revision) => Ok(Self::Session { id: caller.session(&id)?, revision }),
            (None, None, None) => Ok(otherwise),
        }
    }

    /// Label for the metrics.
    const fn name(&self) -> &'static str {
        match self {
            Self::New => "none",
            Self::Echo(_) => "echo",
            Self::Messages => "messages",
            Self::Session { .. } => "session",
        }
    }
}

/// A turn, and the state of the conversation after it.
#[derive(Debug)]
pub(in crate::http) struct ConversedTurn {
    pub turn: Turn,
    pub kept: StateAfterTurn,
}

impl AppState {
    /// Runs one turn of a conversation, and makes its calls if they are to be made here. If it fails, the session is
    /// unchanged.
    pub(in crate::http) async fn converse(
        &self,
        snapshot: &Arc<Snapshot>,
        keeping: &Keeping,
        spoken: &Spoken<'_>,
    ) -> Result<ConversedTurn, ApiError> {
        let (request, is_named, since) = (spoken.request, spoken.is_named, Instant::now());
        let told = match keeping {
            Keeping::New => {
                let conversed = self.step(snapshot, State::new(&snapshot.module.name), request, is_named).await?;
                let conversed = self.acted(snapshot, spoken, Under::Request, conversed, since).await?;
                self.echoed(snapshot, conversed, (&spoken.repeat.owner, request), false)
            }
            Keeping::Echo(text) => {
                let tokens = self.conversations.tokens.of(&spoken.repeat.owner);
                let mut state = tokens.read(text, &snapshot.module).map_err(|error| {
                    let message = format!("{error}: begin a new conversation, without `state`");
                    ApiError::fault(Fault::InvalidState, message).about("state")
                })?;
                understand::catch_up(&snapshot.module, &mut state, spoken.meanwhile);
                let awaits_consent = state.awaits_consent();
                let conversed = self.step(snapshot, state, request, is_named).await?;
                // Our own calls are idempotent per state: a repeated request gets their results.
                let is_ours = self.acts(snapshot, spoken, &conversed, since).is_some();
                if awaits_consent && !is_ours && matches!(conversed.turn.outcome, Outcome::Call(_)) {
                    let clock = Instant::now();
                    let taken = tokens.take_consent(text).await;
                    let trouble = taken.as_ref().err().and_then(ConsentError::of_store);
                    self.metrics.stored("consent", clock.elapsed(), trouble);
                    taken.map_err(|error| of_consent(&error))?;
                }
                let conversed = self.acted(snapshot, spoken, Under::State(text), conversed, since).await?;
                self.echoed(snapshot, conversed, (&spoken.repeat.owner, request), true)
            }
            Keeping::Messages => {
                let replays = &self.conversations.replays;
                let owner = &spoken.repeat.owner;
                let conversed = replays.converse(owner, &self.understander, snapshot, request).await;
                let conversed = conversed.map_err(|error| ApiError::of_turn(&error, is_named))?;
                let conversed = self.acted(snapshot, spoken, Under::Request, conversed, since).await?;
                if !conversed.turn.deeds.is_empty() {
                    replays.amend(owner, &self.understander, snapshot, request, &conversed.state);
                }
                self.echoed(snapshot, conversed, (&spoken.repeat.owner, request), false)
            }
            Keeping::Session { id, revision } => self.in_session(snapshot, id, *revision, spoken, since).await,
        }?;
        self.metrics.kept(keeping.name());
        Ok(told)
    }

    async fn step(
        &self,
        snapshot: &Snapshot,
        state: State,
        request: &TurnRequest,
        is_named: bool,
    ) -> Result<Conversed, ApiError> {
        let conversed = self.understander.converse(snapshot, &state, request).await;
        conversed.map_err(|error| ApiError::of_turn(&error, is_named))
    }

    /// `must`: the client depends on the state, so failing to write it is an error.
    fn echoed(
        &self,
        snapshot: &Snapshot,
        conversed: Conversed,
        (owner, request): (&Tenant, &TurnRequest),
        must: bool,
    ) -> Result<ConversedTurn, ApiError> {
        let Conversed { mut turn, state, .. } = conversed;
        let summary = understand::summary(snapshot, request.language.as_deref(), &state);
        let written = match self.conversations.tokens.of(owner).write(&state) {
            Ok(text) => Some(text),
            Err(error) if must => return Err(ApiError::fault(Fault::StateTooLarge, error.to_string()).about("state")),
            Err(error) => {
                turn.trace.notes.push(format!("there is no `state`: {error}"));
                None
            }
        };
        Ok(ConversedTurn { turn, kept: StateAfterTurn { state: written, session: None, turn: state.turn, summary } })
    }

    async fn in_session(
        &self,
        snapshot: &Arc<Snapshot>,
        id: &SessionId,
        wanted: Option<u64>,
        spoken: &Spoken<'_>,
        since: Instant,
    ) -> Result<ConversedTurn, ApiError> {
        let language = spoken.request.language.as_deref();
        for again in 0..=REDONE {
            let mut session = self.begin(id).await.map_err(|error| of_store(&error))?;
            if let Some(wanted) = wanted
                && session.revision != Some(wanted)
            {
                return Err(conflict("the session is at another revision").about("revision"));
            }
            let mut record = Record::of(session.data.as_deref(), &snapshot.module)?;
            let now = self.conversations.sessions.now();
            if record.plan.as_ref().is_some_and(|plan| plan.is_running(now)) {
                return Err(conflict("a call of the session is being made just now").about("session_id"));
            }
            let cut_off = record.plan.take().map(Plan::ended).unwrap_or_default();
            if session.age > self.conversations.tokens.confirm() {
                record.state.withdraw_consent();
            }
            understand::catch_up(&snapshot.module, &mut record.state, spoken.meanwhile);
            let mut conversed = self.step(snapshot, record.state, spoken.request, spoken.is_named).await?;
            let acts = self.acts(snapshot, spoken, &conversed, since);
            record.state = conversed.state.clone();
            record.plan = acts.as_ref().map(|(acts, deeds)| acts.plan(deeds.clone()));
            // The planned calls are stored before they are made.
            let kept = match acts {
                None => self.commit(session, &record, snapshot).await,
                Some((acts, _)) => match session.keep(record.bytes()).await {
                    Ok(_) => {
                        let carried_out = acts.in_session(session, record, conversed, spoken).await?;
                        (conversed, record) = (carried_out.conversed, carried_out.record);
                        carried_out.kept
                    }
                    Err(error) => Err(error),
                },
            };
            match kept {
                // Only without a revision: with one, the client named the state that it means.
                Err(StoreError::Conflict) if again < REDONE && wanted.is_none() && conversed.turn.deeds.is_empty() => {}
                Err(error) => return Err(of_store(&error)),
                Ok(session) => {
                    let mut turn = conversed.turn;
                    understand::interrupted(snapshot, language, &mut turn, cut_off);
                    let summary = understand::summary(snapshot, language, &record.state);
                    let turns = record.state.turn;
                    return Ok(ConversedTurn {
                        turn,
                        kept: StateAfterTurn { state: None, session: Some(session), turn: turns, summary },
                    });
                }
            }
        }
        Err(of_store(&StoreError::Conflict))
    }
}

fn of_consent(error: &ConsentError) -> ApiError {
    match error {
        ConsentError::Taken => {
            let message = format!("{error}, and counts once: begin a new conversation, without `state`");
            ApiError::fault(Fault::InvalidState, message).about("state")
        }
        ConsentError::Store(error) => of_store(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_keeps_the_conversation() {
        let read = |state: Option<&str>, id: Option<&str>, revision| {
            Keeping::read(state.map(str::to_owned), id.map(str::to_owned), revision, &Caller::default(), Keeping::New)
        };
        assert_eq!(read(None, None, None), Ok(Keeping::New));
        assert_eq!(read(Some("p1.x"), None, None), Ok(Keeping::Echo("p1.x".into())));
        let id = SessionId::new("a").unwrap();
        assert_eq!(read(None, Some("a"), Some(7)), Ok(Keeping::Session { id, revision: Some(7) }));
        for (state, id, revision) in
            [(Some(""), Some("a"), None), (None, None, Some(1)), (None, Some("a/b"), None), (Some(""), None, Some(1))]
        {
            assert!(read(state, id, revision).is_err(), "{state:?} {id:?} {revision:?}");
        }
    }
}
