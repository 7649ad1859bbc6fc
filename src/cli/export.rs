use std::{fs, io::Write as _, path::PathBuf};

use clap::{Args, ValueEnum, builder::PossibleValue};

use super::{CliError, End, prepare_failed, report, runtime, target};
use crate::{
    config::Config,
    embed,
    export::{self, ExportKind, ExportOptions},
    module,
    snapshot::PrepareError,
};

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// A name under the modules root, or a directory
    #[arg(value_name = "MODULE")]
    module: String,
    /// calls: conversations with function calls, for a model that generates. pairs: triplets of sentences, for a model
    /// that embeds
    #[arg(long, value_name = "FORMAT")]
    format: ExportKind,
    /// Where to write, JSON Lines [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The same seed gives the same records
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// For calls: wrong functions beside the right one. For pairs: negatives of each anchor
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(0..=100))]
    negatives: u64,
}

impl ValueEnum for ExportKind {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Calls, Self::Pairs]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

pub(super) fn run(args: &ExportArgs, mut config: Config) -> Result<End, CliError> {
    let name = target::resolve(&args.module, &mut config.modules)?;
    let directory = config.modules.root.join(name.as_str());
    if !directory.is_dir() {
        let snapshots = crate::snapshot::Snapshots::new(
            config.modules.clone(),
            config.retrieve.clone(),
            std::sync::Arc::new(embed::Hashed::new(&embed::HashedOptions::default())),
        );
        return Err(prepare_failed(PrepareError::Unknown(name), &snapshots, &config));
    }
    let module = module::load(&directory, name.clone(), &config.modules.limits).map_err(|error| match error {
        module::LoadError::Refused(diagnostics) => CliError::Refused { name: name.to_string(), diagnostics },
        module::LoadError::Io { path, source } => CliError::Io { what: path.display().to_string(), source },
    })?;
    let negatives = usize::try_from(args.negatives).unwrap_or(usize::MAX);
    let options = ExportOptions { kind: args.format, seed: args.seed, negatives };
    let exported = runtime()?.block_on(async {
        let embedder = embed::open(&config.embed).await?;
        export::export(&module, embedder.as_ref(), &options).await.map_err(CliError::from)
    })?;
    match &args.out {
        None => exported.records.iter().for_each(report::json_line),
        Some(path) => {
            let io = || CliError::io(path.display().to_string());
            let mut file = std::io::BufWriter::new(fs::File::create(path).map_err(io())?);
            for record in &exported.records {
                writeln!(file, "{record}").map_err(io())?;
            }
            file.flush().map_err(io())?;
        }
    }
    report::exported(exported.records.len(), exported.unsaid);
    Ok(End::Done)
}
