use clap::Args;
use serde_json::json;

use super::{CliError, Core, End, prepare_failed, report, runtime, target};
use crate::{
    config::Config,
    module::ModuleName,
    snapshot::{BuildReport, PrepareError},
};

#[derive(Debug, Args)]
pub(super) struct IndexArgs {
    /// Names of modules; every module under the root if none is given
    #[arg(value_name = "MODULE")]
    names: Vec<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &IndexArgs, mut config: Config) -> Result<End, CliError> {
    let chosen = match &args.names[..] {
        // Only a single argument may be a directory: its parent becomes the root.
        [one] => vec![target::resolve(one, &mut config.modules)?],
        several => several
            .iter()
            .map(|name| ModuleName::new(name).map_err(|error| CliError::Usage(format!("`{name}`: {error}"))))
            .collect::<Result<_, _>>()?,
    };
    let runtime = runtime()?;
    let core = runtime.block_on(Core::calibrating(&config))?;
    let names = if chosen.is_empty() { core.snapshots.on_disk() } else { chosen };
    if names.is_empty() {
        return Err(CliError::Usage(format!("there are no modules under {}", config.modules.root.display())));
    }
    let mut end = End::Done;
    for name in names {
        let progress = report::EmbeddingProgress::start(name.as_str());
        let built = runtime.block_on(build(&core, &name, &progress));
        progress.end();
        match built {
            Ok(built) if args.json => {
                let mut line = json!({ "ok": true });
                merge(&mut line, serde_json::to_value(&built).unwrap_or_default());
                report::json_line(&line);
            }
            Ok(built) => report::built(&built),
            Err(error) => match prepare_failed(error, &core.snapshots, &config) {
                CliError::Refused { name, diagnostics } => {
                    end = End::Findings;
                    if args.json {
                        report::json_line(&json!({ "ok": false, "module": name, "diagnostics": diagnostics }));
                    } else {
                        report::diagnostics(&name, &diagnostics);
                    }
                }
                other => return Err(other),
            },
        }
    }
    Ok(end)
}

/// Builds a module, and waits for its calibration.
async fn build(
    core: &Core,
    name: &ModuleName,
    progress: &report::EmbeddingProgress,
) -> Result<BuildReport, PrepareError> {
    let built = core.snapshots.build(name, &|done, all| progress.at(done, all)).await?;
    if let Some(snapshot) = core.snapshots.get(name) {
        core.snapshots.calibrated(&snapshot).await?;
    }
    Ok(built)
}

fn merge(into: &mut serde_json::Value, from: serde_json::Value) {
    if let (Some(into), serde_json::Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
