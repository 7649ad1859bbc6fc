use clap::Args;

use super::{CliError, End, report};
use crate::config::Config;

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// Print JSON instead of TOML
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ConfigArgs, config: &Config, read: &[String]) -> Result<End, CliError> {
    if args.json {
        report::json(config);
        return Ok(End::Done);
    }
    let mut tree = toml::Value::try_from(config).map_err(|error| CliError::Setting(error.to_string()))?;
    shorten_floats(&mut tree);
    let text = toml::to_string_pretty(&tree).map_err(|error| CliError::Setting(error.to_string()))?;
    let sources = std::iter::once("built-in defaults").chain(read.iter().map(String::as_str));
    report::line(&format!("# From {}\n\n{}", sources.collect::<Vec<_>>().join(", "), text.trim_end()));
    Ok(End::Done)
}

/// Otherwise an `f32` of 0.35 would be printed as 0.3499999940395355.
fn shorten_floats(value: &mut toml::Value) {
    match value {
        toml::Value::Float(float) => *float = (*float * 1e6).round() / 1e6,
        toml::Value::Array(items) => items.iter_mut().for_each(shorten_floats),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| shorten_floats(value)),
        toml::Value::String(_) | toml::Value::Integer(_) | toml::Value::Boolean(_) | toml::Value::Datetime(_) => {}
    }
}
