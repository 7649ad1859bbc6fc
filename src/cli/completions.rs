use std::{fs, path::PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use super::{CliError, End, report};

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell that is to complete the commands
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Write a page for each command into this directory
    #[arg(value_name = "DIR")]
    into: PathBuf,
}

pub(super) fn complete(args: &CompletionsArgs, mut command: Command) -> Result<End, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "uptake", &mut script);
    report::line(String::from_utf8_lossy(&script).trim_end());
    Ok(End::Done)
}

pub(super) fn manual(args: &ManArgs, command: Command) -> Result<End, CliError> {
    fs::create_dir_all(&args.into).map_err(CliError::io(args.into.display().to_string()))?;
    clap_mangen::generate_to(command, &args.into).map_err(CliError::io(args.into.display().to_string()))?;
    Ok(End::Done)
}
