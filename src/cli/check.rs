use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{CliError, End, report, target};
use crate::{
    call::Validator,
    config::Config,
    module::{self, Diagnostic, Diagnostics, Limits, LoadError, Severity},
    recognize::Recognizers,
};

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Directories of modules
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What is found in one directory.
#[derive(Debug, Serialize)]
struct Checked {
    module: String,
    directory: String,
    ok: bool,
    errors: usize,
    warnings: usize,
    diagnostics: Diagnostics,
}

#[derive(Debug, Serialize)]
struct AllChecked {
    ok: bool,
    modules: Vec<Checked>,
}

pub(super) fn run(args: &CheckArgs, config: &Config) -> Result<End, CliError> {
    let mut modules = Vec::with_capacity(args.directories.len());
    for directory in &args.directories {
        modules.push(check(directory, &config.modules.limits)?);
    }
    let ok = modules.iter().all(|checked| checked.ok);
    if args.json {
        report::json(&AllChecked { ok, modules });
    } else {
        for checked in &modules {
            report::diagnostics(&checked.module, &checked.diagnostics);
        }
    }
    Ok(if ok { End::Done } else { End::Findings })
}

fn check(directory: &Path, limits: &Limits) -> Result<Checked, CliError> {
    if !directory.is_dir() {
        return Err(CliError::Usage(format!("{} is no directory", directory.display())));
    }
    let name = target::name_of(directory);
    let diagnostics = match module::load(directory, name.clone(), limits) {
        Ok(module) => {
            let mut found = module.warnings.clone();
            // The checks should have found these already; a module that cannot be compiled must never pass.
            if let Err(error) = Recognizers::compile(&module) {
                found.push(does_not_compile(&error.to_string()));
            }
            if let Err(error) = Validator::compile(&module) {
                found.push(does_not_compile(&error.to_string()));
            }
            Diagnostics(found)
        }
        Err(LoadError::Refused(diagnostics)) => diagnostics,
        Err(LoadError::Io { path, source }) => return Err(CliError::Io { what: path.display().to_string(), source }),
    };
    Ok(Checked {
        module: name.to_string(),
        directory: directory.display().to_string(),
        ok: !diagnostics.has_errors(),
        errors: diagnostics.errors().count(),
        warnings: diagnostics.warnings().count(),
        diagnostics,
    })
}

fn does_not_compile(message: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code: "does-not-compile",
        file: ".".to_owned(),
        pointer: String::new(),
        line: None,
        column: None,
        message: message.to_owned(),
        hint: None,
    }
}
