//! Who decides, and with what input: the local strategy if it is sure, or else a model server.

use std::{sync::OnceLock, time::Instant};

use crate::{
    assist::{
        ask::{self, Decided},
        brief::{Brief, Extent},
        history::PromptMessage,
        ledger::Ledger,
    },
    decide::{
        analysis::Analysis,
        local,
        situation::{Situation, Thresholds},
    },
    module::settings::StrategyName,
    snapshot::Snapshot,
    telemetry::milliseconds,
    text,
    understand::{DecidedBy, Demand, TurnError, TurnRequest, Understander},
};

impl Understander {
    /// The strategy of the request, or else of the module, or else of the server.
    pub(crate) fn strategy(&self, snapshot: &Snapshot, request: &TurnRequest) -> StrategyName {
        request.strategy.or(snapshot.module.settings.strategy).unwrap_or(self.options.strategy)
    }

    /// Decides by the named strategy; for `auto` locally if that is sure, or else by the strategy that the model server
    /// does best, or else locally after all.
    pub(crate) async fn decide(
        &self,
        named: StrategyName,
        request: &TurnRequest,
        brief: &Brief<'_>,
        ledger: &mut Ledger,
    ) -> Result<Decided, TurnError> {
        match named {
            StrategyName::Local => Ok(self.locally(request, brief).await),
            StrategyName::Auto => self.auto(request, brief, ledger).await,
            named => {
                let decided = ask::decide(&self.servers, Some(named), None, brief, ledger).await;
                decided.map_err(|error| TurnError::of_asking(error, named))
            }
        }
    }

    async fn auto(&self, request: &TurnRequest, brief: &Brief<'_>, ledger: &mut Ledger) -> Result<Decided, TurnError> {
        let mut local = self.locally(request, brief).await;
        let (confidence, sure) = (local.decision.confidence, brief.sure_of(&local.decision.frames));
        if confidence >= sure {
            local.decision.notes.push(format!("decided locally: confidence {confidence:.2} reaches {sure:.2}"));
            return Ok(local);
        }
        match ask::decide(&self.servers, None, Some(&local.decision), brief, ledger).await {
            Ok(mut decided) => {
                let why = format!("asked the model server: local confidence {confidence:.2} is under {sure:.2}");
                decided.decision.notes.insert(0, why);
                decided.decide_ms += local.decide_ms;
                Ok(decided)
            }
            Err(error) => match error.reason() {
                Some(why) => {
                    local.decision.notes.push(format!("decided locally: {why}"));
                    Ok(local)
                }
                // A prompt that does not render is the author's to fix; answering without it would hide the error.
                None => Err(TurnError::of_asking(error, StrategyName::Auto)),
            },
        }
    }

    /// Decides without a model server.
    pub(crate) async fn locally(&self, request: &TurnRequest, brief: &Brief<'_>) -> Decided {
        let core = self.cores.free(request).await;
        let clock = Instant::now();
        let decision = core.run(|| self.fuel.burn(|| local::decide(brief)));
        Decided { decision, by: DecidedBy::Local, decide_ms: milliseconds(clock) }
    }

    /// The utterance as one request.
    pub(crate) fn situation<'a>(
        &self,
        snapshot: &'a Snapshot,
        request: &'a TurnRequest,
        earlier: &'a [&'a str],
        analysis: &'a Analysis,
    ) -> Situation<'a> {
        let own = snapshot.module.settings.thresholds;
        Situation {
            knowledge: snapshot,
            analysis,
            segments: std::slice::from_ref(&analysis.whole),
            is_doubtful: false,
            thresholds: Thresholds {
                sure: own.sure.unwrap_or(self.options.sure),
                in_scope: own.in_scope.unwrap_or(self.options.in_scope),
            },
            earlier,
            is_meant: matches!(request.demand, Demand::Function(_)),
            is_demanded: request.demand != Demand::Auto,
            given: request.given,
            expected: &request.expected,
            hints: &request.hints,
        }
    }

    /// The information that a model server may get.
    pub(crate) fn brief<'a>(
        &self,
        snapshot: &'a Snapshot,
        request: &TurnRequest,
        situation: Situation<'a>,
        before: &'a [PromptMessage],
    ) -> Brief<'a> {
        let (own, options) = (&snapshot.module.settings, &self.options);
        let extent = Extent {
            candidates: own.llm.candidates.unwrap_or(options.candidates),
            shots: own.llm.shots.unwrap_or(options.shots),
            detect: own.staged.detect.unwrap_or(options.staged.detect),
            fill: own.staged.fill.unwrap_or(options.staged.fill),
        };
        let instructions = instructions(snapshot, request);
        Brief { situation, snapshot, before, instructions, extent, is_explained: OnceLock::new() }
    }
}

/// The module's instructions, then the client's.
fn instructions(snapshot: &Snapshot, request: &TurnRequest) -> Option<String> {
    let parts = [snapshot.module.settings.instructions.as_deref(), request.instructions.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !text::is_blank(part)).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}
