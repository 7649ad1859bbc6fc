use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use jiff::Zoned;

use super::{CliError, Core, End, predict, prepare_failed, report, runtime, target};
use crate::{
    config::Config,
    embed,
    eval::{
        self, CaseResult, Cases, Curve, EvalOptions, Evaluation, curve, features, html, leave_one_out, paired,
        report::{ReportOptions, json, text},
        round_trip::{self, RoundTripOptions},
    },
    module::{ModuleName, directory::CASES_FILES, settings::StrategyName},
    snapshot::{Snapshot, Snapshots},
    understand::Understander,
};

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// A name under the modules root, or a directory
    #[arg(value_name = "MODULE", required_unless_present = "compare")]
    module: Option<String>,
    /// Labelled utterances and dialogues, JSON Lines or a JSON list; may be repeated [default: the module's
    /// cases.jsonl, cases.json and dialogues.jsonl]
    #[arg(long, value_name = "FILE")]
    cases: Vec<PathBuf>,
    /// Who decides: auto, local, tools, structured or staged
    #[arg(long, value_name = "NAME", value_parser = predict::strategy)]
    strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read, such as 2026-03-01T09:00:00+01:00[Europe/Zurich]
    #[arg(long, value_name = "MOMENT")]
    now: Option<Zoned>,
    /// Choose among all functions of the module, also where a case names those that are `given`
    #[arg(long)]
    pooled: bool,
    /// Run each case locally and against a model that is always right, and show at each threshold of `sure` how often
    /// `auto` would ask and how good it would be; asks no model server
    #[arg(long, conflicts_with = "strategy")]
    curve: bool,
    /// Fill every template of the module with values of its slots, in several forms, and tell which are not understood
    /// as themselves; asks no model server and needs no cases
    #[arg(long, conflicts_with_all = ["strategy", "curve", "cases", "pooled", "now"])]
    round_trip: bool,
    /// Take the module's own exemplars, with values in their slots, as cases for a module that has not seen them; asks
    /// no model server
    #[arg(long, conflicts_with_all = ["strategy", "curve", "cases", "pooled", "now", "round_trip"])]
    leave_one_out: bool,
    /// Compare two reports that `--json` printed of the same cases, by a paired bootstrap; runs nothing
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], conflicts_with_all = ["round_trip", "leave_one_out", "curve"])]
    compare: Option<Vec<PathBuf>>,
    /// Write the report as a page with plots, which needs nothing but itself
    #[arg(long, value_name = "FILE", conflicts_with_all = ["round_trip", "compare"])]
    html: Option<PathBuf>,
    /// Other values for templates
    #[arg(long, value_name = "N", default_value_t = RoundTripOptions::default().seed)]
    seed: u64,
    /// How often the round trip fills each template in each form
    #[arg(long, value_name = "N", default_value_t = RoundTripOptions::default().fillings)]
    fillings: usize,
    /// List every answer that is not wholly right, with what came instead
    #[arg(long)]
    errors: bool,
    /// Write what each decision rested on, with what would have been right, to this file, a line of JSON for each case
    #[arg(long, value_name = "FILE", conflicts_with = "curve")]
    features: Option<PathBuf>,
    /// Most confusions, slots and problems to list
    #[arg(long, value_name = "N", default_value_t = ReportOptions::default().top)]
    top: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &EvalArgs, mut config: Config) -> Result<End, CliError> {
    if let Some(reports) = &args.compare {
        return compare(reports, args.json);
    }
    let name = target::resolve(args.module.as_deref().unwrap_or_default(), &mut config.modules)?;
    if args.round_trip {
        return round_trip(args, &config, &name);
    }
    let options = EvalOptions {
        strategy: args.strategy,
        now: args.now.clone(),
        pooled: args.pooled,
        features: args.features.is_some(),
    };
    if args.leave_one_out {
        let evaluation = runtime()?.block_on(left_out(&config, &name, (args.seed, options.features)))?;
        return told(args, &evaluation, None);
    }
    // Before the model is loaded: a wrong path should fail at once.
    let cases = read(&args.cases, &config.modules.root.join(name.as_str()))?;
    let (evaluation, curve) = runtime()?.block_on(async {
        if args.curve {
            let (evaluation, mut curve) = draw(&config, &name, cases, &options).await?;
            if !args.errors {
                curve.wrong.clear();
            }
            Ok::<_, CliError>((evaluation, Some(curve)))
        } else {
            Ok((evaluate(&config, &name, cases, &options).await?, None))
        }
    })?;
    told(args, &evaluation, curve.as_ref())
}

/// Prints the evaluation, and writes the page if requested.
fn told(args: &EvalArgs, evaluation: &Evaluation, curve: Option<&Curve>) -> Result<End, CliError> {
    let shown = ReportOptions { top: args.top, errors: args.errors };
    if let Some(path) = &args.features {
        let lines = std::iter::once(features::header()).chain(evaluation.features.iter().cloned());
        let text = lines.map(|line| line + "\n").collect::<String>();
        fs::write(path, text).map_err(CliError::io(path.display().to_string()))?;
    }
    if let Some(path) = &args.html {
        fs::write(path, html::page(evaluation)).map_err(CliError::io(path.display().to_string()))?;
    }
    if args.json {
        let mut report = json(evaluation, shown);
        if let (Some(curve), Some(members)) = (curve, report.as_object_mut()) {
            members.insert("curve".to_owned(), serde_json::json!(curve));
        }
        report::json(&report);
    } else {
        report::line(&text(evaluation, shown));
        if let Some(curve) = curve {
            report::line(&format!("\n{}", curve::text(curve)));
        }
    }
    Ok(if evaluation.problems.is_empty() { End::Done } else { End::Findings })
}

fn compare(reports: &[PathBuf], as_json: bool) -> Result<End, CliError> {
    let read = |path: &PathBuf| -> Result<Vec<CaseResult>, CliError> {
        let text = fs::read_to_string(path).map_err(CliError::io(path.display().to_string()))?;
        let report = serde_json::from_str(&text).ok();
        report.as_ref().and_then(paired::answers).ok_or_else(|| {
            CliError::Usage(format!("{} is no report that `uptake eval --json` printed", path.display()))
        })
    };
    let [first, second] = reports else {
        return Err(CliError::Usage("two reports are compared".to_owned()));
    };
    let comparison = paired::compare(&read(first)?, &read(second)?);
    if comparison.cases == 0 {
        return Err(CliError::Usage("the two reports have no case in common".to_owned()));
    }
    if as_json {
        report::json(&comparison);
    } else {
        report::line(&paired::text(&comparison));
    }
    Ok(End::Done)
}

async fn left_out(config: &Config, name: &ModuleName, drawn: (u64, bool)) -> Result<Evaluation, CliError> {
    let Bench { snapshots, snapshot, understander, progress } = Bench::open(config, name).await?;
    let report = |done, all| progress.at(done, all);
    let found = leave_one_out::leave_one_out(&snapshots, &understander, &snapshot, drawn, &report).await;
    progress.end();
    Ok(found?)
}

fn round_trip(args: &EvalArgs, config: &Config, name: &ModuleName) -> Result<End, CliError> {
    let options = RoundTripOptions { seed: args.seed, fillings: args.fillings };
    let shown = ReportOptions { top: args.top, errors: args.errors };
    let found = runtime()?.block_on(async {
        let Bench { snapshot, understander, progress, .. } = Bench::open(config, name).await?;
        let report = |done, all| progress.at(done, all);
        let found = round_trip::round_trip(&understander, &snapshot, options, &report).await;
        progress.end();
        Ok::<_, CliError>(found?)
    })?;
    if args.json {
        report::json(&found);
    } else {
        report::line(&round_trip::report::text(&found, shown));
    }
    Ok(End::Done)
}

/// A module that is measured without a model server.
struct Bench {
    snapshots: Snapshots,
    snapshot: Arc<Snapshot>,
    understander: Understander,
    progress: report::EmbeddingProgress,
}

impl Bench {
    async fn open(config: &Config, name: &ModuleName) -> Result<Self, CliError> {
        let embedder = embed::open(&config.embed).await?;
        let snapshots = Snapshots::new(config.modules.clone(), config.retrieve.clone(), embedder.clone());
        let understander = Understander::new(config.understand.clone(), embedder, Vec::new());
        let snapshot = prepare(&snapshots, name, config).await?;
        Ok(Self { snapshots, snapshot, understander, progress: report::EmbeddingProgress::start(name.as_str()) })
    }
}

async fn evaluate(
    config: &Config,
    name: &ModuleName,
    cases: Cases,
    options: &EvalOptions,
) -> Result<Evaluation, CliError> {
    let core = Core::calibrating(config).await?;
    let snapshot = prepare(&core.snapshots, name, config).await?;
    let progress = report::EmbeddingProgress::start(name.as_str());
    let report = |done, all| progress.at(done, all);
    let evaluated = eval::evaluate(&core.understander, &snapshot, cases, options, &report).await;
    progress.end();
    Ok(evaluated?)
}

/// The local evaluation and the curve. Does not even connect to a configured model server.
async fn draw(
    config: &Config,
    name: &ModuleName,
    cases: Cases,
    options: &EvalOptions,
) -> Result<(Evaluation, Curve), CliError> {
    let embedder = embed::open(&config.embed).await?;
    let snapshots = Snapshots::new(config.modules.clone(), config.retrieve.clone(), embedder.clone());
    if config.modules.calibrate {
        let local = Understander::new(config.understand.clone(), embedder.clone(), Vec::new());
        snapshots.calibrate_by(Arc::new(local));
    }
    let snapshot = prepare(&snapshots, name, config).await?;
    let progress = report::EmbeddingProgress::start(name.as_str());
    let report = |done, all| progress.at(done, all);
    let drawn = curve::curve(embedder, &config.understand, &snapshot, cases, options, &report).await;
    progress.end();
    Ok(drawn?)
}

/// Not `fresh`, which gives up on a build that takes longer than a request may.
async fn prepare(snapshots: &Snapshots, name: &ModuleName, config: &Config) -> Result<Arc<Snapshot>, CliError> {
    let progress = report::EmbeddingProgress::start(name.as_str());
    let prepared = snapshots.prepare(name, &|done, all| progress.at(done, all)).await;
    progress.end();
    let snapshot = prepared.map_err(|error| prepare_failed(error, snapshots, config))?.snapshot;
    snapshots.calibrated(&snapshot).await.map_err(CliError::Prepare)?;
    Ok(snapshot)
}

/// The named files, or else the module's own.
fn read(named: &[PathBuf], module: &Path) -> Result<Cases, CliError> {
    if named.is_empty() {
        let none = || format!("{} has no {}; name a file with --cases", module.display(), CASES_FILES.join(", "));
        let own = own_cases(module);
        let own = own.map_err(|(file, error)| CliError::io(module.join(file).display().to_string())(error))?;
        return own.ok_or_else(|| CliError::Usage(none()));
    }
    let mut cases = Cases::default();
    for path in named {
        let text = fs::read_to_string(path).map_err(CliError::io(path.display().to_string()))?;
        cases.extend(Cases::parse(&path.display().to_string(), &text));
    }
    Ok(cases)
}

/// The cases and dialogues in the directory of a module; `None` if it has no file of them.
///
/// # Errors
/// The name of the file that cannot be read, and why.
pub(super) fn own_cases(module: &Path) -> Result<Option<Cases>, (&'static str, io::Error)> {
    let mut own: Option<Cases> = None;
    for file in CASES_FILES {
        match fs::read_to_string(module.join(file)) {
            Ok(text) => own.get_or_insert_default().extend(Cases::parse(file, &text)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err((file, error)),
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_come_from_the_named_files_or_the_module() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert_eq!(read(&[], path).unwrap_err().exit_code(), 2);
        fs::write(path.join("cases.jsonl"), "{\"utterance\": \"a\", \"function\": null}\n{").unwrap();
        let own = read(&[], path).unwrap();
        assert_eq!((own.cases.len(), own.problems[0].to_string().starts_with("cases.jsonl:2: ")), (1, true));
        fs::write(path.join("more.json"), "[{\"utterance\": \"b\", \"function\": null}]").unwrap();
        let named = read(&[path.join("more.json"), path.join("more.json")], path).unwrap();
        assert_eq!(named.cases.len(), 2);
        assert_eq!(read(&[path.join("none")], path).unwrap_err().exit_code(), 3);
    }
}
