//! One turn, from utterance to outcome: the recipe that every route and command shares.
//!
//! Leaves never call each other; what one finds passes through here as a value, so that the [`Trace`] is complete by
//! construction.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

mod assemble;
mod belief;
pub mod outcome;
mod prompt;
mod question;
mod reading;
mod strategy;

pub use outcome::{About, Attempt, DecidedBy, Frame, Outcome, Question, Timings, Trace, Turn};

use crate::{
    embed::{EmbedError, Purpose, SharedEmbedder},
    llm::{LlmError, SharedChatModel},
    module::{FunctionId, settings::StrategyName},
    recognize::Context,
    retrieve::Query,
    snapshot::Snapshot,
    text::{self, Utterance},
};
use strategy::{Decision, Local, Situation, Strategy, Tools};

/// How the server understands where a module does not say otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnderstandOptions {
    pub strategy: StrategyName,
    /// From this confidence on, `auto` decides without the model server (0 to 1).
    pub sure: f32,
    /// Below this confidence an utterance is out of scope (0 to 1).
    pub in_scope: f32,
    /// Candidates that are considered, and shown to a model server.
    pub candidates: usize,
    /// Exemplars that a model server is shown as few-shot turns.
    pub shots: usize,
    /// Longest utterance, in characters.
    pub max_utterance: usize,
    /// IANA name; `UTC` unless set.
    pub time_zone: String,
    /// Times that a wrong answer of the model server is sent back with what was wrong.
    pub retries: u32,
    /// Milliseconds that one turn may take with a model server, retries included.
    pub deadline_ms: u64,
}

impl Default for UnderstandOptions {
    fn default() -> Self {
        Self {
            strategy: StrategyName::Auto,
            sure: 0.75,
            in_scope: 0.35,
            candidates: 8,
            shots: 6,
            max_utterance: 8_000,
            time_zone: "UTC".to_owned(),
            retries: 2,
            deadline_ms: 20_000,
        }
    }
}

/// One utterance to understand.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    pub utterance: String,
    pub strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read; now, in the module's time zone, if absent.
    pub now: Option<jiff::Zoned>,
    /// Only these functions may be chosen; all if `None`.
    pub among: Option<Vec<FunctionId>>,
}

/// A failure of ours or of the model server. What a person said is never the cause, except for its length.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error("the utterance is empty")]
    EmptyUtterance,
    #[error("the utterance has {length} characters; the limit is {limit}")]
    LongUtterance { length: usize, limit: usize },
    #[error("strategy `{0}` needs a model server, and none is configured")]
    NoModelServer(&'static str),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A template of the module does not render.
    #[error("{0}")]
    Prompt(String),
    #[error("the model server failed and nothing local could answer: {0}")]
    Llm(#[from] LlmError),
}

/// Holds what turns share; cheap to clone.
#[derive(Clone)]
pub struct Understander {
    options: Arc<UnderstandOptions>,
    embedder: SharedEmbedder,
    local: Local,
    tools: Option<Tools>,
}

impl Understander {
    #[must_use]
    pub fn new(options: UnderstandOptions, embedder: SharedEmbedder, chat: Option<SharedChatModel>) -> Self {
        Self { options: options.into(), embedder, local: Local, tools: chat.map(Tools::new) }
    }

    /// Understands one utterance.
    ///
    /// # Errors
    /// See [`TurnError`]; an utterance that means no function is an [`Outcome`], not an error.
    pub async fn turn(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Turn, TurnError> {
        let started = Instant::now();
        let mut trace = Trace::default();
        let utterance = self.read(request)?;
        let now = self.now(snapshot, request);
        self.observe(snapshot, request, &utterance, &now, self.options.candidates, &mut trace).await?;
        let situation = Situation {
            snapshot,
            utterance: &utterance,
            now: &now,
            mentions: &trace.mentions,
            candidates: &trace.candidates,
            options: &self.options,
            deadline: (started + Duration::from_millis(self.options.deadline_ms)).into(),
        };
        let named = request.strategy.or(snapshot.module.settings.strategy).unwrap_or(self.options.strategy);
        let mut decision = self.decide(named, &situation).await?;
        trace.timings.decide = decision.decide_ms;
        trace.timings.llm = decision.llm_ms;
        trace.timings.total = milliseconds(started);
        trace.attempts = std::mem::take(&mut decision.attempts);
        trace.notes = std::mem::take(&mut decision.notes);
        let Decision { outcome, confidence, decided_by, frames, usage, .. } = decision;
        Ok(Turn { outcome, confidence, decided_by, frames, trace, usage })
    }

    /// The functions that the utterance may mean, best first, at most `limit`; nothing is decided.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub async fn retrieve(&self, snapshot: &Snapshot, request: &TurnRequest, limit: usize) -> Result<Trace, TurnError> {
        let started = Instant::now();
        let mut trace = Trace::default();
        let utterance = self.read(request)?;
        let now = self.now(snapshot, request);
        self.observe(snapshot, request, &utterance, &now, limit, &mut trace).await?;
        trace.timings.total = milliseconds(started);
        Ok(trace)
    }

    /// Who decides: the named strategy; for `auto` the local one if it is sure, else the model server, else the local one.
    async fn decide(&self, strategy: StrategyName, situation: &Situation<'_>) -> Result<Decision, TurnError> {
        match (strategy, &self.tools) {
            (StrategyName::Local, _) => self.local.decide(situation).await,
            (StrategyName::Tools, Some(tools)) => tools.decide(situation).await,
            (StrategyName::Tools, None) => Err(TurnError::NoModelServer("tools")),
            (StrategyName::Auto, None) => {
                let mut local = self.local.decide(situation).await?;
                local.notes.push("decided locally: no model server is configured".to_owned());
                Ok(local)
            }
            (StrategyName::Auto, Some(tools)) => {
                let mut local = self.local.decide(situation).await?;
                let sure = situation.sure();
                if local.confidence >= sure {
                    local.notes.push(format!("decided locally: confidence {:.2} reaches {sure:.2}", local.confidence));
                    return Ok(local);
                }
                match tools.decide(situation).await {
                    Ok(mut decision) => {
                        decision.notes.insert(
                            0,
                            format!(
                                "asked the model server: local confidence {:.2} is under {sure:.2}",
                                local.confidence
                            ),
                        );
                        decision.decide_ms += local.decide_ms;
                        Ok(decision)
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the model server failed; answering locally");
                        local.notes.push("decided locally: the model server failed".to_owned());
                        Ok(local)
                    }
                }
            }
        }
    }

    fn read(&self, request: &TurnRequest) -> Result<Utterance, TurnError> {
        // Counted on what came, so that spans stay those of the client's own string.
        let length = request.utterance.chars().count();
        if length > self.options.max_utterance {
            return Err(TurnError::LongUtterance { length, limit: self.options.max_utterance });
        }
        // Control characters separate words as spaces do, one for one, so that spans stay.
        let text: String = request.utterance.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text::is_blank(&text) {
            return Err(TurnError::EmptyUtterance);
        }
        Ok(Utterance::new(&text))
    }

    fn now(&self, snapshot: &Snapshot, request: &TurnRequest) -> jiff::Zoned {
        request.now.clone().unwrap_or_else(|| {
            let zone = snapshot.module.settings.time_zone.as_deref().unwrap_or(&self.options.time_zone);
            let now = jiff::Timestamp::now();
            // Zone names are checked when the configuration and the module are loaded.
            now.in_tz(zone).unwrap_or_else(|_| now.to_zoned(jiff::tz::TimeZone::UTC))
        })
    }

    /// Recognizes, embeds and retrieves.
    async fn observe(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        utterance: &Utterance,
        now: &jiff::Zoned,
        limit: usize,
        trace: &mut Trace,
    ) -> Result<(), TurnError> {
        let clock = Instant::now();
        trace.mentions = snapshot.recognizers.recognize(utterance, &Context { now: now.clone() });
        trace.timings.recognize = milliseconds(clock);

        let clock = Instant::now();
        let symmetric = self.embed(utterance.text(), Purpose::Symmetric).await?;
        let asymmetric =
            if self.embedder.is_symmetric() { None } else { Some(self.embed(utterance.text(), Purpose::Query).await?) };
        trace.timings.embed = milliseconds(clock);

        let clock = Instant::now();
        let query = Query {
            text: utterance.text(),
            asymmetric: asymmetric.as_deref().unwrap_or(&symmetric),
            symmetric: &symmetric,
        };
        trace.candidates = snapshot.index.search(&query, limit, request.among.as_deref());
        trace.timings.retrieve = milliseconds(clock);
        Ok(())
    }

    async fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embedder.embed(vec![text.to_owned()], purpose).await?;
        vectors.pop().ok_or_else(|| EmbedError::Inference("no vector came back for one text".to_owned()))
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
