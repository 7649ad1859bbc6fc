//! Projects of other tools as modules.
//!
//! A format's reader turns files into a `project::Project`, which all formats share; `settle` adapts it, `write` makes
//! the files of a module. They are checked beside their final place, and moved there only if they load. The [`ImportReport`]
//! tells what happened to each part of the source.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use self::{
    files::{Most, SourceFiles},
    install::{Staged, check_place},
    project::{Place, Project},
    reader::ProjectReader,
    report::{Fate, ImportCounts},
};
use crate::{
    module::{self, Diagnostics, Limits, ModuleName},
    sample::Sampler,
};

mod builtins;
mod cases;
mod clu;
mod dialogflow;
mod dialogflow_cx;
mod dialogflow_es;
mod files;
mod install;
mod lex;
mod names;
mod project;
mod rasa;
mod reader;
pub mod report;
mod schema_file;
mod settle;
mod snips;
mod write;

pub use report::{ImportReport, ReportEntry};

/// The supported formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Rasa,
    DialogflowEs,
    DialogflowCx,
    Clu,
    Lex,
    Snips,
    Openapi,
    Mcp,
}

impl Format {
    pub const ALL: [Self; 8] = [
        Self::Rasa,
        Self::DialogflowEs,
        Self::DialogflowCx,
        Self::Clu,
        Self::Lex,
        Self::Snips,
        Self::Openapi,
        Self::Mcp,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rasa => "rasa",
            Self::DialogflowEs => "dialogflow-es",
            Self::DialogflowCx => "dialogflow-cx",
            Self::Clu => "clu",
            Self::Lex => "lex",
            Self::Snips => "snips",
            Self::Openapi => "openapi",
            Self::Mcp => "mcp",
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Of a project in several languages, the one to take: a tag. If absent, the project's own default.
    pub language: Option<String>,
    /// Percentage of the examples that become cases instead, if the source has no test set. With 0 every example stays,
    /// and the cases are the examples themselves.
    pub hold_out: u8,
    /// Replace an existing module.
    pub force: bool,
    pub limits: Limits,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} holds no file that an import reads (.json, .yml, .yaml, .md)", path.display())]
    Empty { path: PathBuf },
    /// The source as a whole is not safe to read.
    #[error("{} is refused: {}{reason}", path.display(), named(entry))]
    Archive { path: PathBuf, entry: String, reason: String },
    #[error("the project has faults; nothing was written")]
    Faults(Diagnostics),
    #[error("{} is there already; --force replaces a module", path.display())]
    Exists { path: PathBuf },
    #[error("{} is no module, and is not replaced", path.display())]
    NotAModule { path: PathBuf },
    #[error("{}: {source}; rename it", path.display())]
    Name { path: PathBuf, source: module::BadModuleName },
    #[error("what was made of the project does not load; nothing was written")]
    DoesNotLoad(Diagnostics),
}

fn named(entry: &str) -> String {
    if entry.is_empty() { String::new() } else { format!("`{}`: ", entry.escape_debug()) }
}

/// Reads the project at `from` and writes the module `into`, completely or not at all.
///
/// # Errors
/// If the source cannot be read, has faults, or makes no loadable module; if the place is occupied.
pub fn import(format: Format, from: &Path, into: &Path, options: &ImportOptions) -> Result<ImportReport, ImportError> {
    let name = into.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = ModuleName::new(&name).map_err(|source| ImportError::Name { path: into.to_owned(), source })?;
    check_place(into, options.force)?;
    let files = files::read(from, Most::default())?;
    let mut made = match format {
        Format::Openapi | Format::Mcp => schema_module(format, files, &options.limits)?,
        Format::Rasa | Format::DialogflowEs | Format::DialogflowCx | Format::Clu | Format::Lex | Format::Snips => {
            project_module(format, files, options, &name, into)?
        }
    };
    let staged = Staged::write(into, &made.files)?;
    let (module, found) = module::check(&staged.path, name.clone(), &options.limits);
    let Some(module) = module else { return Err(ImportError::DoesNotLoad(found)) };
    if let Some(source) = &made.copied {
        for function in &module.functions {
            let what = format!("function `{}` with {} slots", function.name, function.slots.len());
            made.entries.push(ReportEntry::new(
                Fate::Kept,
                &Place::new(source, ""),
                what,
                "a function, as it is written",
            ));
        }
    }
    made.entries.sort_by_key(|entry| entry.fate);
    let written = ImportCounts {
        functions: module.functions.len(),
        slots: module.functions.iter().map(|function| function.slots.len()).sum(),
        exemplars: module.functions.iter().map(|function| function.exemplars.len()).sum(),
        recognizers: module.recognizers.len(),
        cases: made.cases,
    };
    staged.install(into)?;
    Ok(ImportReport {
        format: format.name(),
        module: name.to_string(),
        written,
        entries: made.entries,
        warnings: found.warnings().count(),
    })
}

/// The result of converting a source.
struct Made {
    /// Name and text.
    files: Vec<(String, String)>,
    entries: Vec<ReportEntry>,
    cases: usize,
    /// The file that the schema was copied from.
    copied: Option<String>,
}

fn schema_module(format: Format, files: SourceFiles, limits: &Limits) -> Result<Made, ImportError> {
    let mut reader = ProjectReader::new(files);
    let made = schema_file::read(format, limits, &mut reader);
    let entries = reader.finish().map_err(ImportError::Faults)?;
    let copied = made.as_ref().map(|made| made.source.clone());
    let files = made.into_iter().map(|made| (made.name, made.text)).collect();
    Ok(Made { files, entries, cases: 0, copied })
}

fn project_module(
    format: Format,
    files: SourceFiles,
    options: &ImportOptions,
    name: &ModuleName,
    into: &Path,
) -> Result<Made, ImportError> {
    let mut reader = ProjectReader::new(files).unfolding();
    let language = options.language.as_deref();
    let project = match format {
        Format::Rasa => rasa::read(&mut reader),
        Format::DialogflowEs => dialogflow_es::read(&mut reader, language),
        Format::DialogflowCx => dialogflow_cx::read(&mut reader, language),
        Format::Clu => clu::read(&mut reader, language),
        Format::Lex => lex::read(&mut reader, language),
        Format::Snips => snips::read(&mut reader),
        Format::Openapi | Format::Mcp => Project::default(),
    };
    let mut project = settle::settle(project, &mut reader);
    if reader.is_refused() {
        return Err(reader
            .finish()
            .map(|_| Diagnostics::default())
            .map_or_else(ImportError::Faults, ImportError::Faults));
    }
    tell_kept(&project, &mut reader);
    let held_out = cases::hold_out(&mut project, options.hold_out, &mut reader);
    // First without arguments, so that the module itself can find the values in its sentences.
    let plain = module_files(&project, &write::exemplars(&project, |_, _| None));
    let staged = Staged::write(into, &plain)?;
    let (module, found) = module::check(&staged.path, name.clone(), &options.limits);
    drop(staged);
    let Some(module) = module else { return Err(ImportError::DoesNotLoad(found)) };
    let Ok(sampler) = Sampler::new(&module) else { return Err(ImportError::DoesNotLoad(found)) };
    let exemplars =
        write::exemplars(&project, |function, example| cases::arguments(&sampler, &module, function, example));
    let mut made = module_files(&project, &exemplars);
    let cases = cases::cases(&project, &held_out, &module, &sampler, &mut reader);
    if !cases.is_empty() {
        let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
        made.push(("cases.jsonl".to_owned(), lines));
    }
    let entries = reader.finish().map_err(ImportError::Faults)?;
    Ok(Made { files: made, entries, cases: cases.len(), copied: None })
}

fn module_files(project: &Project, exemplars: &Value) -> Vec<(String, String)> {
    let mut made = vec![("schema.json".to_owned(), pretty(&write::schema(project)))];
    if exemplars.as_object().is_some_and(|lists| !lists.is_empty()) {
        made.push(("exemplars.json".to_owned(), by_line(exemplars)));
    }
    if let Some(recognizers) = write::recognizers(project) {
        made.push(("recognizers.json".to_owned(), pretty(&recognizers)));
    }
    let settings = write::settings(project);
    if !settings.is_empty() {
        made.push(("module.toml".to_owned(), settings));
    }
    made
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// One line per exemplar, since people edit these.
fn by_line(lists: &Value) -> String {
    let lists = lists.as_object().into_iter().flatten().map(|(function, list)| {
        let lines: Vec<String> = list.as_array().into_iter().flatten().map(|one| format!("    {one}")).collect();
        format!("  {}: [\n{}\n  ]", Value::from(function.as_str()), lines.join(",\n"))
    });
    format!("{{\n{}\n}}\n", lists.collect::<Vec<_>>().join(",\n"))
}

fn tell_kept(project: &Project, reader: &mut ProjectReader) {
    for function in &project.functions {
        let (slots, examples) = (function.slots.len(), function.examples.len());
        let what = format!("function `{}` with {slots} slots and {examples} examples", function.name);
        reader.kept(&function.place, what, "a function");
    }
    for entity in &project.entities {
        let mut parts = Vec::new();
        if !entity.values.is_empty() {
            let synonyms: usize = entity.values.iter().map(|listed| listed.expressions.len()).sum();
            parts.push(format!("{} values and {synonyms} synonyms", entity.values.len()));
        }
        if !entity.patterns.is_empty() {
            parts.push(format!("{} patterns", entity.patterns.len()));
        }
        if parts.is_empty() {
            continue;
        }
        let what = format!("entity `{}` with {}", entity.name, parts.join(" and "));
        if project.uses(entity) {
            reader.kept(&entity.place, what, "a recognizer");
        } else {
            reader.dropped(&entity.place, what, "no slot takes its values");
        }
    }
}
