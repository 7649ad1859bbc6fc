use clap::Args;
use serde::Serialize;

use super::{CliError, End, report, runtime, target};
use crate::{
    config::Config,
    embed,
    eval::lint::{self, Lint},
    module::{self, LoadError},
    snapshot::PrepareError,
};

#[derive(Debug, Args)]
pub(super) struct LintArgs {
    /// Names under the modules root, or directories
    #[arg(value_name = "MODULE", required = true)]
    names: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Linted {
    module: String,
    findings: Vec<Lint>,
}

pub(super) fn run(args: &LintArgs, config: &Config) -> Result<End, CliError> {
    let linted: Vec<Linted> = runtime()?.block_on(async {
        let embedder = embed::open(&config.embed).await?;
        let mut linted = Vec::with_capacity(args.names.len());
        for argument in &args.names {
            let mut options = config.modules.clone();
            let name = target::resolve(argument, &mut options)?;
            let module =
                module::load(&options.root.join(name.as_str()), name.clone(), &options.limits).map_err(|error| {
                    match error {
                        LoadError::Refused(diagnostics) => CliError::Refused { name: name.to_string(), diagnostics },
                        source @ LoadError::Io { .. } => {
                            CliError::Prepare(PrepareError::Load { name: name.clone(), source })
                        }
                    }
                })?;
            linted.push(Linted { module: name.to_string(), findings: lint::lint(&module, &embedder).await? });
        }
        Ok::<_, CliError>(linted)
    })?;
    let is_clean = linted.iter().all(|one| one.findings.is_empty());
    if args.json {
        report::json(&linted);
    } else {
        for one in &linted {
            for finding in &one.findings {
                report::line(&format!("{}: {}\n    {}", one.module, finding.message, finding.mend));
            }
            report::line(&format!("{}: {} found", one.module, one.findings.len()));
        }
    }
    Ok(if is_clean { End::Done } else { End::Findings })
}
