use std::{
    io,
    path::{Path, PathBuf},
};

use clap::Args;
use serde::Serialize;

use super::{
    CliError, End,
    eval::own_cases,
    report::{self, EffectReport, Guessed},
    target,
};
use crate::{
    act::{ActionOptions, Actor},
    call::Validator,
    config::Config,
    embed::EmbedderKind,
    eval::Usable,
    module::{
        self, Diagnostic, Diagnostics, Function, KnownEffect, LoadError, Module, Severity, SlotReading,
        settings::SlotSettings,
    },
    recognize::Recognizers,
    text::tag,
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

/// The findings in one directory.
#[derive(Debug, Serialize)]
struct Checked {
    module: String,
    directory: String,
    ok: bool,
    errors: usize,
    warnings: usize,
    diagnostics: Diagnostics,
    /// Readings of slots that have no explicit settings.
    guessed: Vec<Guessed>,
    /// The effect of each function.
    effects: Vec<EffectReport>,
    /// What `uptake eval` can use of `cases.jsonl` and `dialogues.jsonl`. A bad line is no error of the module.
    #[serde(skip_serializing_if = "Option::is_none")]
    usable: Option<Usable>,
}

#[derive(Debug, Serialize)]
struct AllChecked {
    ok: bool,
    modules: Vec<Checked>,
}

pub(super) fn run(args: &CheckArgs, config: &Config) -> Result<End, CliError> {
    let mut modules = Vec::with_capacity(args.directories.len());
    for directory in &args.directories {
        modules.push(check(directory, config)?);
    }
    let ok = modules.iter().all(|checked| checked.ok);
    if args.json {
        report::json(&AllChecked { ok, modules });
    } else {
        for checked in &modules {
            report::diagnostics(&checked.module, &checked.diagnostics);
            report::effects(&checked.effects);
            report::guessed(&checked.guessed);
            checked.usable.iter().for_each(report::usable);
        }
    }
    Ok(if ok { End::Done } else { End::Findings })
}

fn check(directory: &Path, config: &Config) -> Result<Checked, CliError> {
    if !directory.is_dir() {
        return Err(CliError::Usage(format!("{} is no directory", directory.display())));
    }
    let name = target::name_of(directory);
    let (mut guessed, mut effects, mut usable) = (Vec::new(), Vec::new(), None);
    let diagnostics = match module::load(directory, name.clone(), &config.modules.limits) {
        Ok(module) => {
            let mut found = module.warnings.clone();
            guessed = guesses(&module);
            effects = effects_of(&module);
            match own_cases(directory) {
                Ok(cases) => usable = cases.map(|cases| Usable::of(&module, cases)),
                Err((file, error)) => found.push(unreadable_cases(file, &error)),
            }
            found.extend(unspoken(&module, config.embed.kind));
            found.extend(obstacles(&module, &config.actions)?);
            // The checks should have found these errors already; a module that does not compile must never pass.
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
        guessed,
        effects,
        usable,
    })
}

fn unreadable_cases(file: &str, error: &io::Error) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        code: "unreadable-cases",
        file: file.to_owned(),
        pointer: String::new(),
        line: None,
        column: None,
        message: format!("the file cannot be read: {error}"),
        hint: Some("save it as UTF-8, readable by this user".to_owned()),
    }
}

/// Readings that are derived from the schema's texts, and not from settings.
fn guesses(module: &Module) -> Vec<Guessed> {
    let none = SlotSettings::default();
    let mut guessed = Vec::new();
    for function in &module.functions {
        for slot in &function.slots {
            let path = slot.path.to_string();
            let set = module.settings.slot(&function.name, &path).unwrap_or(&none);
            let readings = slot.recognizers.iter().map(|id| module.recognizer(*id).reading);
            let mut settings: Vec<String> = readings.flat_map(SlotReading::described).collect();
            settings.retain(|setting| match setting.split(' ').next() {
                Some("part_of_day") => set.part_of_day.is_none(),
                Some("direction") => set.direction.is_none(),
                _ => set.unit.is_none(),
            });
            settings.sort();
            settings.dedup();
            if !settings.is_empty() {
                guessed.push(Guessed { slot: format!("{}.{path}", function.name), settings });
            }
        }
    }
    guessed
}

fn effects_of(module: &Module) -> Vec<EffectReport> {
    let of = |function: &Function| {
        let KnownEffect { effect, from } = function.effect;
        EffectReport { function: function.name.clone(), effect, from }
    };
    module.functions.iter().map(of).collect()
}

/// What would keep calls from being made with this configuration; empty if the client makes them.
fn obstacles(module: &Module, options: &ActionOptions) -> Result<Vec<Diagnostic>, CliError> {
    let actor = Actor::open(options).map_err(|error| CliError::Setting(error.to_string()))?;
    let Some(actor) = actor else { return Ok(Vec::new()) };
    let endpoints = module.functions.iter().filter_map(|function| Some((function, function.endpoint.as_ref()?)));
    let found = endpoints.flat_map(|(function, endpoint)| {
        actor.obstacles(endpoint).into_iter().map(|message| Diagnostic {
            severity: Severity::Error,
            code: "unusable-endpoint",
            file: "module.toml".to_owned(),
            pointer: format!("/functions/{}/endpoint", function.name),
            line: None,
            column: None,
            message: format!("calls of `{}` would not be made: {message}", function.name),
            hint: Some("see [actions] of the configuration".to_owned()),
        })
    });
    Ok(found.collect())
}

/// The languages that the bundled model was trained on.
const TRAINED: [&str; 5] = ["en", "de", "es", "fr", "ja"];

fn unspoken(module: &Module, kind: EmbedderKind) -> Option<Diagnostic> {
    let language = module.language();
    let is_spoken = kind != EmbedderKind::Bundled || TRAINED.contains(&tag::language(language).as_str());
    let hint = "give each function more exemplars, or set `[embed]` in the server's configuration to a model that \
                knows it";
    (!is_spoken).then(|| Diagnostic {
        severity: Severity::Warning,
        code: "unspoken-language",
        file: "module.toml".to_owned(),
        pointer: "/language".to_owned(),
        line: None,
        column: None,
        message: format!("the bundled embedding model was not trained on `{language}`: measure with `uptake eval`"),
        hint: Some(hint.to_owned()),
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
