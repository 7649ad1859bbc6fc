use clap::Args;
use jiff::Zoned;

use super::{CliError, Core, End, prepare_failed, report, runtime, target};
use crate::{
    answer::{ChatCompletion, Stamp},
    config::Config,
    conversation::State,
    module::settings::StrategyName,
    understand::{Outcome, TurnRequest},
};

#[derive(Debug, Args)]
pub(super) struct PredictArgs {
    /// A name under the modules root, or a directory
    #[arg(value_name = "MODULE")]
    module: String,
    /// What the person said
    #[arg(value_name = "UTTERANCE")]
    utterance: String,
    /// Who decides: auto, local, tools, structured or staged
    #[arg(long, value_name = "NAME", value_parser = strategy)]
    strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read, such as 2026-03-01T09:00:00+01:00[Europe/Zurich]
    #[arg(long, value_name = "MOMENT")]
    now: Option<Zoned>,
    /// Print the answer that the server would give, but for the state that it hands out
    #[arg(long)]
    json: bool,
}

/// Uses the same names as requests and files, so that there is only one list of them.
pub(super) fn strategy(name: &str) -> Result<StrategyName, String> {
    serde_json::from_value(name.into()).map_err(|error| error.to_string())
}

pub(super) fn run(args: PredictArgs, mut config: Config) -> Result<End, CliError> {
    let name = target::resolve(&args.module, &mut config.modules)?;
    runtime()?.block_on(async {
        let core = Core::open(&config).await?;
        let snapshot =
            core.snapshots.fresh(&name).await.map_err(|error| prepare_failed(error, &core.snapshots, &config))?;
        let request =
            TurnRequest { utterance: args.utterance, strategy: args.strategy, now: args.now, ..TurnRequest::default() };
        // Like the server at the beginning of a conversation: confirmations and rules apply.
        let state = State::new(&snapshot.module.name);
        let turn = core.understander.converse(&snapshot, &state, &request).await?.turn;
        let completion = ChatCompletion::new(&snapshot.module, &turn, Stamp::now());
        if args.json {
            report::json(&completion);
        } else {
            report::answer(&completion);
        }
        Ok(match turn.outcome {
            Outcome::Call(_) => End::Done,
            Outcome::Ask(_)
            | Outcome::Done { .. }
            | Outcome::NoMatch
            | Outcome::Cancelled { .. }
            | Outcome::Handoff { .. } => End::Findings,
        })
    })
}
