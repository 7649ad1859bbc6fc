//! The command line: one verb, one file, one `run`. Only `report` prints.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::{
    config::{Config, ConfigError, Sources},
    embed::{self, EmbedError},
    eval::{leave_one_out::LeaveOneOutError, lint::LintError, round_trip::RoundTripError},
    export::ExportError,
    llm::{self, SetupError},
    mcp::ServeError,
    module::Diagnostics,
    snapshot::{PrepareError, Snapshots},
    telemetry::{self, TelemetryError},
    understand::{TurnError, Understander},
};

mod check;
mod completions;
mod config;
mod eval;
mod export;
mod health;
mod import;
mod index;
mod key;
mod lint;
mod mcp;
mod mock;
mod new;
mod predict;
mod probe;
mod repl;
mod report;
mod serve;
mod target;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for predict: a valid call
  1  no success: errors found (check), something found (lint), a module refused or unknown, no call (predict),
     unusable cases (eval), a project with faults (import), not healthy, a model server that
     could not be probed
  2  the command line or the configuration is wrong
  3  a failure: files, network, model, model server

Settings come from built-in defaults, config/*.toml (or --config FILE), the environment and flags;
UPTAKE_LLM__BASE_URL is base_url of [llm]. `uptake config` prints what they come to.";

/// Turns what a person says into a validated, OpenAI-compatible function call
#[derive(Debug, Parser)]
#[command(name = "uptake", version, after_help = EXIT_CODES, max_term_width = 100)]
struct CommandLine {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
struct Global {
    /// Read settings from this file instead of config/*.toml
    #[arg(long, global = true, value_name = "FILE", env = "UPTAKE_CONFIG")]
    config: Option<PathBuf>,
    /// The directory whose sub-directories are modules
    #[arg(long, global = true, value_name = "DIR")]
    modules: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve over HTTP
    Serve(serve::ServeArgs),
    /// Offer modules as tools to agents and editors, by the Model Context Protocol
    Mcp(mcp::McpArgs),
    /// Build the indexes of modules, so that a server starts at once
    Index(index::IndexArgs),
    /// Check the files of modules and tell everything that is wrong with them
    Check(check::CheckArgs),
    /// Understand one utterance
    Predict(predict::PredictArgs),
    /// Understand utterances as you type them
    Repl(repl::ReplArgs),
    /// Measure how well a module is understood, over labelled utterances
    Eval(eval::EvalArgs),
    /// Tell what of a module will be mistaken for something else, and how to mend it
    Lint(lint::LintArgs),
    /// Make a module that works, to be changed into one's own
    New(new::NewArgs),
    /// Make a module of another tool's project
    Import(import::ImportArgs),
    /// Make training records of a module
    Export(export::ExportArgs),
    /// Stand in for the services that a module calls, so that it can be tried
    Mock(mock::MockArgs),
    /// Find out what the configured model servers really do
    Probe(probe::ProbeArgs),
    /// Print the settings that count, secrets hidden
    Config(config::ConfigArgs),
    /// Make, list and revoke the keys of a service that others reach
    Key(key::KeyArgs),
    /// Ask a running server whether it is alive
    Health(health::HealthArgs),
    /// Print what makes a shell complete these commands
    Completions(completions::CompletionsArgs),
    /// Write manual pages
    Man(completions::ManArgs),
}

/// How a command ended, if it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    /// It did its work, and found problems.
    Findings,
}

/// Why a command failed. `Display` is for the person at the terminal.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("settings: {0}")]
    Setting(String),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error("{0}")]
    Usage(String),
    #[error("there is no module `{name}` under {}{hint}", root.display())]
    UnknownModule { name: String, root: PathBuf, hint: String },
    #[error("module `{name}` is refused")]
    Refused { name: String, diagnostics: Diagnostics },
    #[error("{what}")]
    Faults { what: String, diagnostics: Diagnostics },
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    Prepare(PrepareError),
    #[error(transparent)]
    Turn(#[from] TurnError),
    #[error(transparent)]
    RoundTrip(#[from] RoundTripError),
    #[error(transparent)]
    LeaveOneOut(#[from] LeaveOneOutError),
    #[error(transparent)]
    Lint(#[from] LintError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Llm(#[from] SetupError),
    #[error(transparent)]
    Mcp(#[from] ServeError),
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl CliError {
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    const fn exit_code(&self) -> u8 {
        match self {
            Self::Refused { .. }
            | Self::UnknownModule { .. }
            | Self::Faults { .. }
            | Self::Export(ExportError::NoExemplars) => 1,
            Self::Config(_)
            | Self::Setting(_)
            | Self::Telemetry(_)
            | Self::Usage(_)
            | Self::Llm(_)
            | Self::Turn(TurnError::EmptyUtterance | TurnError::LongUtterance { .. } | TurnError::NoModelServer(_)) => {
                2
            }
            Self::Prepare(_)
            | Self::Export(_)
            | Self::Turn(_)
            | Self::RoundTrip(_)
            | Self::LeaveOneOut(_)
            | Self::Lint(_)
            | Self::Embed(_)
            | Self::Mcp(_)
            | Self::Io { .. } => 3,
        }
    }
}

/// Parses the command line, runs the verb, and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    // Prints help or the usage error, and exits with 0 or 2 by itself.
    let CommandLine { global, verb } = CommandLine::parse();
    match run(global, verb) {
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::Findings) => ExitCode::from(1),
        Err(error) => {
            report::failure(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(global: Global, verb: Verb) -> Result<End, CliError> {
    // With an explicit address it needs no configuration, and it is run every few seconds.
    if let Verb::Health(health::HealthArgs { url: Some(url) }) = &verb {
        return health::ask(url);
    }
    // Verbs about the command line itself need no configuration.
    match &verb {
        Verb::Completions(args) => return completions::complete(args, CommandLine::command()),
        Verb::Man(args) => return completions::manual(args, CommandLine::command()),
        _ => {}
    }
    let loaded = Config::load(&Sources::of_process(global.config))?;
    let mut config = loaded.config;
    if let Some(root) = global.modules {
        config.modules.root = root;
    }
    // Only servers log their normal operation; beside a single answer that would be noise.
    if config.telemetry.level == "info" {
        let level = match &verb {
            Verb::Serve(_) => "info",
            // The library logs every message.
            Verb::Mcp(args) if args.listens() => "info,rmcp=warn",
            _ => "warn",
        };
        level.clone_into(&mut config.telemetry.level);
    }
    if matches!(verb, Verb::Predict(_)) {
        // The command ends with its one answer, before a probe could be of use.
        config.llm.probe = false;
    }
    telemetry::start(&config.telemetry)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    match verb {
        Verb::Serve(args) => serve::run(args, config),
        Verb::Mcp(args) => mcp::run(args, config),
        Verb::Index(args) => index::run(&args, config),
        Verb::Check(args) => check::run(&args, &config),
        Verb::Predict(args) => predict::run(args, config),
        Verb::Repl(args) => repl::run(&args, config),
        Verb::Eval(args) => eval::run(&args, config),
        Verb::Lint(args) => lint::run(&args, &config),
        Verb::New(args) => new::run(args, &config),
        Verb::Import(args) => import::run(&args, &config),
        Verb::Export(args) => export::run(&args, config),
        Verb::Mock(args) => mock::run(&args, config),
        Verb::Probe(args) => probe::run(&args, &config),
        Verb::Config(args) => config::run(&args, &config, &loaded.read),
        Verb::Key(args) => key::run(args, &config),
        Verb::Health(_) => health::ask(&health::url_of(&config.http)),
        Verb::Completions(_) | Verb::Man(_) => Ok(End::Done),
    }
}

/// Shared by every verb that understands utterances.
struct Core {
    snapshots: Snapshots,
    understander: Understander,
}

impl Core {
    /// Loads the embedding model; modules are loaded on demand.
    async fn open(config: &Config) -> Result<Self, CliError> {
        let embedder = embed::open(&config.embed).await?;
        let servers = llm::connect(&config.llm)?;
        let snapshots = Snapshots::new(config.modules.clone(), config.retrieve.clone(), embedder.clone());
        let understander = Understander::new(config.understand.clone(), embedder, servers);
        Ok(Self { snapshots, understander })
    }

    /// The same for a verb that runs long enough to calibrate modules, or waits for it.
    async fn calibrating(config: &Config) -> Result<Self, CliError> {
        let core = Self::open(config).await?;
        if config.modules.calibrate {
            core.snapshots.calibrate_by(Arc::new(core.understander.with_servers(Vec::new())));
        }
        Ok(core)
    }
}

/// The error for the terminal: refusals keep their diagnostics, an unknown name gets similar ones.
fn prepare_failed(error: PrepareError, snapshots: &Snapshots, config: &Config) -> CliError {
    match error {
        PrepareError::Unknown(name) => {
            let near = snapshots.near(name.as_str());
            let hint = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            CliError::UnknownModule { name: name.to_string(), root: config.modules.root.clone(), hint }
        }
        PrepareError::Refused { name, diagnostics }
        | PrepareError::Load { name, source: crate::module::LoadError::Refused(diagnostics) } => {
            CliError::Refused { name: name.to_string(), diagnostics }
        }
        other @ (PrepareError::Load { .. }
        | PrepareError::Embed { .. }
        | PrepareError::Index { .. }
        | PrepareError::Compile { .. }
        | PrepareError::Interrupted(_)
        | PrepareError::Stopped(_)
        | PrepareError::Slow { .. }
        | PrepareError::Unavailable { .. }) => CliError::Prepare(other),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::io("the runtime could not be started"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        CommandLine::command().debug_assert();
    }
}
