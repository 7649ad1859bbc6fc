//! Asks the model servers of the configuration in turn, the preferred one first, until one answers.

use std::time::Instant;

use crate::{
    assist::{
        brief::Brief,
        error::AskError,
        exchange::Exchange,
        ledger::Ledger,
        repair_loop,
        strategy::{self, DecidedBy, best_strategy},
        task::ModelTask,
        weigh::weigh,
    },
    decide::outcome::Decision,
    llm::{LlmError, Server},
    module::settings::StrategyName,
    telemetry::milliseconds,
};

/// A decision, and which party made it.
#[derive(Debug)]
pub(crate) struct Decided {
    pub decision: Decision,
    pub by: DecidedBy,
    /// Milliseconds that Uptake itself needed, without the waiting for model servers.
    pub decide_ms: f64,
}

/// Lets a model server decide, by the strategy `named` or else by the strategy that the server does best. Where there
/// is a local reading, the likelier of the two decisions is returned.
///
/// # Errors
/// The error of the last server that was asked.
pub(crate) async fn decide(
    servers: &[Server],
    named: Option<StrategyName>,
    local: Option<&Decision>,
    brief: &Brief<'_>,
    ledger: &mut Ledger,
) -> Result<Decided, AskError> {
    let mut failed = AskError::NoServer;
    for place in servers.iter().enumerate() {
        let (clock, waited) = (Instant::now(), ledger.llm_ms());
        let mut exchange = Exchange::new(brief, ledger, place);
        let name = match brief.given {
            // One function only: a small question is enough.
            Some(_) => StrategyName::Staged,
            None => named.unwrap_or_else(|| best_strategy(exchange.capabilities())),
        };
        let strategy = strategy::named(name);
        match strategy.decide(&mut exchange).await {
            Ok(decision) => {
                let (decision, is_local) = match local {
                    Some(local) => weigh(&exchange, local, decision),
                    None => (decision, false),
                };
                let by = if is_local { DecidedBy::Local } else { strategy.decided_by() };
                let decide_ms = (milliseconds(clock) - (ledger.llm_ms() - waited)).max(0.0);
                return Ok(Decided { decision, by, decide_ms });
            }
            Err(error) => {
                // A reply that cannot be read counts as a guess.
                if matches!(error, AskError::Llm(LlmError::Malformed(_))) {
                    exchange.learn(0.0, false);
                }
                failed = error;
            }
        }
        if !may_ask_next(place.1, &failed, ledger) {
            break;
        }
    }
    Err(failed)
}

/// Returns a model server's answer to one task.
///
/// # Errors
/// The error of the last server that was asked.
pub(crate) async fn answer<T: ModelTask>(
    servers: &[Server],
    task: &T,
    brief: &Brief<'_>,
    ledger: &mut Ledger,
) -> Result<T::Answer, AskError> {
    let mut failed = AskError::NoServer;
    for place in servers.iter().enumerate() {
        match repair_loop::run(&mut Exchange::new(brief, ledger, place), task).await {
            Ok(answer) => return Ok(answer),
            Err(error) => failed = error,
        }
        if !may_ask_next(place.1, &failed, ledger) {
            break;
        }
    }
    Err(failed)
}

/// True if the next server may be asked: another one may do what this one did not, unless Uptake caused the error or
/// the time is over.
fn may_ask_next(server: &Server, failed: &AskError, ledger: &Ledger) -> bool {
    let AskError::Llm(error) = failed else { return false };
    tracing::warn!(server = %server.describe(), %error, "the model server was no help");
    !ledger.is_over()
}
