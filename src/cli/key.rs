//! Manages keys, for a service that others can reach.

use clap::{Args, Subcommand, ValueEnum};

use super::{CliError, End, report};
use crate::{
    config::Config,
    http::keys::{self, Key, KeysError, Scope},
    module::ModuleName,
};

#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a key, and print it: it is told once
    Add(AddArgs),
    /// List keys, without their secrets
    List,
    /// Take a key away; a running server knows at once
    Revoke {
        /// As `list` shows it
        id: String,
    },
}

#[derive(Debug, Args)]
struct AddArgs {
    /// Whose it is
    name: String,
    /// What it may be used for; may be repeated
    #[arg(long, value_enum, value_name = "SCOPE", default_values = ["predict", "sessions"])]
    scope: Vec<Scope>,
    /// A module that it may be used for; may be repeated; all if none is given
    #[arg(long, value_name = "MODULE")]
    module: Vec<String>,
    /// Requests a minute, at most
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    per_minute: Option<u32>,
    /// Bytes of bodies a minute, at most
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    bytes_per_minute: Option<u64>,
    /// Turns at once, at most
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    turns: Option<u32>,
    /// Sessions that are kept for it, at most
    #[arg(long, value_name = "COUNT")]
    sessions: Option<u64>,
}

impl ValueEnum for Scope {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()))
    }
}

pub(super) fn run(args: KeyArgs, config: &Config) -> Result<End, CliError> {
    let failed = |error: KeysError| CliError::Setting(error.to_string());
    let path = &config.http.keys;
    match args.what {
        What::Add(AddArgs { name, scope, module, per_minute, bytes_per_minute, turns, sessions }) => {
            let named =
                |name: &String| ModuleName::new(name).map_err(|error| CliError::Usage(format!("`{name}`: {error}")));
            let modules = module.iter().map(named).collect::<Result<_, _>>()?;
            let (mut key, text) = Key::make(&name, scope, modules);
            (key.per_minute, key.bytes_per_minute) = (per_minute, bytes_per_minute);
            (key.turns, key.sessions) = (turns, sessions);
            keys::change(path, |all| {
                all.push(key);
                Some(())
            })
            .map_err(failed)?;
            report::line(&text);
        }
        What::List => keys::read(path).map_err(failed)?.iter().for_each(|key| report::line(&shown(key))),
        What::Revoke { id } => {
            let without = |all: &mut Vec<Key>| {
                let before = all.len();
                all.retain(|key| key.id != id);
                (all.len() < before).then_some(all.len())
            };
            let Some(left) = keys::change(path, without).map_err(failed)? else {
                report::line(&format!("there is no key `{id}`"));
                return Ok(End::Findings);
            };
            report::line(&format!("`{id}` is revoked"));
            if left == 0 {
                report::line("no key is left: the service refuses every request until there is one, or --open is said");
            }
        }
    }
    Ok(End::Done)
}

fn shown(key: &Key) -> String {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.name()).collect();
    let modules: Vec<String> = key.modules.iter().map(ToString::to_string).collect();
    let modules = if modules.is_empty() { "all modules".to_owned() } else { modules.join(",") };
    let mut line = format!("{}  {}  {}  {}  {modules}", key.id, key.created, key.name, scopes.join(","));
    if let Some(count) = key.per_minute {
        line += &format!("  {count} a minute");
    }
    if let Some(count) = key.bytes_per_minute {
        line += &format!("  {count} bytes a minute");
    }
    if let Some(count) = key.turns {
        line += &format!("  {count} turns at once");
    }
    if let Some(count) = key.sessions {
        line += &format!("  {count} sessions");
    }
    line
}
