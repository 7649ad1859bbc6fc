use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::PossibleValue};

use super::{CliError, End, report};
use crate::{
    config::Config,
    import::{self, Format, ImportError, ImportOptions},
};

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// What the project was made with
    #[arg(value_name = "FORMAT")]
    format: Format,
    /// A directory, a .zip archive, or one file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The module's directory, which is made; its last part is the module's name
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Of a project in several languages, the one to take, such as en [default: the project's own]
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
    /// Percent of the examples to keep for cases.jsonl, where the project has no test set. With 0, the cases are the
    /// examples themselves
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=50))]
    hold_out: u8,
    /// Replace the module that is there, with everything in its directory
    #[arg(long)]
    force: bool,
    /// List everything that was kept, too
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl ImportArgs {
    /// Only with the required settings.
    pub(super) const fn plain(format: Format, path: PathBuf, into: PathBuf) -> Self {
        Self { format, path, into, language: None, hold_out: 0, force: false, all: false, json: false }
    }
}

pub(super) fn run(args: &ImportArgs, config: &Config) -> Result<End, CliError> {
    let options = ImportOptions {
        language: args.language.clone(),
        hold_out: args.hold_out,
        force: args.force,
        limits: config.modules.limits.clone(),
    };
    let made = import::import(args.format, &args.path, &args.into, &options).map_err(|error| match error {
        ImportError::Faults(diagnostics) => {
            CliError::Faults { what: ImportError::Faults(diagnostics.clone()).to_string(), diagnostics }
        }
        ImportError::DoesNotLoad(diagnostics) => {
            CliError::Faults { what: ImportError::DoesNotLoad(diagnostics.clone()).to_string(), diagnostics }
        }
        ImportError::Io { path, source } => CliError::Io { what: path.display().to_string(), source },
        other @ (ImportError::Empty { .. }
        | ImportError::Archive { .. }
        | ImportError::Exists { .. }
        | ImportError::NotAModule { .. }
        | ImportError::Name { .. }) => CliError::Usage(other.to_string()),
    })?;
    if args.json {
        report::json(&made);
    } else {
        report::imported(&made, args.all);
    }
    Ok(End::Done)
}
