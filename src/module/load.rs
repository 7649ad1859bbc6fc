//! Makes a [`Module`] from a directory. Files are read only here; everything after that is pure.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    num::NonZero,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    Counting, Diagnostic, Diagnostics, Function, KnownEffect, Limits, Module, ModuleName, Recognizer, Settings, SlotId,
    SlotReading, advice,
    bind::Binder,
    check as rules,
    endpoint::EndpointSettings,
    files::{EXEMPLARS_FILE, PROMPT_FILES, PROMPTS, RECOGNIZERS_FILE, SCHEMA_FILES, SETTINGS_FILE},
    findings::Findings,
    resolve, schema, slots,
    source::{self, SourceFile, SourceFunction, locate},
    template,
};
use crate::{files::FileStamp, language::Language};

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{path} could not be read: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("the module has errors")]
    Refused(Diagnostics),
}

/// Loads the module in `directory` under `name`.
///
/// # Errors
/// [`LoadError::Refused`] with every finding if one of them is an error.
pub fn load(directory: &Path, name: ModuleName, limits: &Limits) -> Result<Module, LoadError> {
    let mut findings = Findings::new();
    let files =
        read_files(directory, limits, &mut findings).map_err(|(path, source)| LoadError::Io { path, source })?;
    let (module, diagnostics) = assemble(name, &files, limits, findings);
    module.ok_or(LoadError::Refused(diagnostics))
}

/// All findings about `directory`, for authors of modules, and the module if it would load.
///
/// A directory or file that can't be read is a finding here.
#[must_use]
pub fn check(directory: &Path, name: ModuleName, limits: &Limits) -> (Option<Module>, Diagnostics) {
    let mut findings = Findings::new();
    match read_files(directory, limits, &mut findings) {
        Ok(files) => assemble(name, &files, limits, findings),
        Err((path, error)) => {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let message = format!("it could not be read: {error}");
            findings.push(Diagnostic::error("unreadable", &file, "", message));
            (None, findings.finish(&[]))
        }
    }
}

/// The hex BLAKE3 of the content of the module's files, [`Module::version`], without parsing them.
///
/// Files that [`load`] would refuse to read (links that lead outside, longer than the default limit) don't count.
///
/// # Errors
/// If the directory or a file can't be read.
pub fn content_version(directory: &Path) -> io::Result<String> {
    let files = read_files(directory, &Limits::default(), &mut Findings::new()).map_err(|(_, error)| error)?;
    Ok(version(&files))
}

/// What the file system says about a module's files: equal stamps mean equal files, as far as a file system can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ModuleStamp(Vec<(&'static str, FileStamp)>);

/// The stamp of a module's files; reads none of them.
///
/// # Errors
/// If metadata of the directory or of a file can't be read; a file that doesn't exist is not an error.
pub fn stamp(directory: &Path) -> io::Result<ModuleStamp> {
    fs::metadata(directory)?;
    let mut stamp = Vec::new();
    // Most modules have no prompts of their own: this needs one look-up instead of one for each.
    let has_prompts = metadata(&directory.join(PROMPTS))?.is_some();
    for name in file_names().filter(|name| has_prompts || !name.starts_with(PROMPTS)) {
        if let Some(found) = metadata(&directory.join(name))? {
            stamp.push((name, FileStamp::of(&found)));
        }
    }
    Ok(ModuleStamp(stamp))
}

/// `None` if nothing has this name.
fn metadata(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn file_names() -> impl Iterator<Item = &'static str> {
    SCHEMA_FILES.into_iter().chain(other_files())
}

/// All files except the schema.
fn other_files() -> impl Iterator<Item = &'static str> {
    let prompts = PROMPT_FILES.into_iter().map(|(_, file)| file);
    [EXEMPLARS_FILE, RECOGNIZERS_FILE, SETTINGS_FILE].into_iter().chain(prompts)
}

fn version(files: &[SourceFile]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        for part in [file.name.as_bytes(), &file.bytes] {
            hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Reads the files of a module, in a fixed order. Symbolic links may point anywhere inside the directory, never
/// outside.
fn read_files(
    directory: &Path,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<Vec<SourceFile>, (PathBuf, io::Error)> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| (path, error)
    };
    let root = fs::canonicalize(directory).map_err(at(directory))?;
    let mut entries = Vec::new();
    for entry in fs::read_dir(&root).map_err(at(directory))? {
        entries.push(entry.map_err(at(directory))?.file_name().to_string_lossy().into_owned());
    }
    entries.sort_unstable();
    check_entries(&entries, findings);

    let mut files = Vec::new();
    for name in file_names() {
        let path = root.join(name);
        // A dangling link is present too, and gets an error.
        if fs::symlink_metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            continue;
        }
        let target = fs::canonicalize(&path).map_err(at(&path))?;
        if !target.starts_with(&root) {
            let message = "it is a link to somewhere outside of the module's directory";
            findings.push(Diagnostic::error("outside", name, "", message).hint("put the file itself there"));
            continue;
        }
        // Checked before the file is opened: reading a pipe would never end.
        if !fs::metadata(&target).map_err(at(&path))?.is_file() {
            findings.push(Diagnostic::error("not-a-file", name, "", "it is not a regular file"));
            continue;
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&target).map_err(at(&path))?;
        // A file whose length exceeds the limit is not read. It may still grow meanwhile.
        let is_long = file.metadata().map_err(at(&path))?.len() > limits.file_bytes;
        if !is_long {
            file.take(limits.file_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(at(&path))?;
        }
        if is_long || u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limits.file_bytes {
            let message = format!("the file is longer than the limit `file_bytes` = {}", limits.file_bytes);
            findings.push(Diagnostic::error("over-limit", name, "", message));
            continue;
        }
        files.push(SourceFile { name: name.to_owned(), bytes });
    }
    Ok(files)
}

/// Other files are left to the author, unless their names look like a typo.
fn check_entries(entries: &[String], findings: &mut Findings) {
    let known: Vec<&str> = file_names().chain(["cases.json", "cases.jsonl", "dialogues.jsonl"]).collect();
    for entry in entries {
        let is_known = known.contains(&entry.as_str()) || (entry.starts_with("cases") && entry.contains(".json"));
        if is_known || entry.starts_with('.') || entry.ends_with('~') {
            continue;
        }
        let lower = entry.to_ascii_lowercase();
        let near = known.iter().find(|name| strsim::damerau_levenshtein(name, &lower) <= 2 || same_stem(name, &lower));
        if let Some(near) = near {
            let message = format!("the file is not read: its name is not `{near}`");
            findings
                .push(Diagnostic::warning("ignored-file", entry, "", message).hint(format!("rename it to `{near}`")));
        }
    }
}

/// `exemplars.yaml` for `exemplars.json`, `module.tml` for `module.toml`.
fn same_stem(name: &str, written: &str) -> bool {
    let stem = |name: &str| name.rsplit_once('.').map(|(stem, kind)| (stem.to_owned(), kind.len()));
    match (stem(name), stem(written)) {
        (Some((known, _)), Some((own, kind))) => {
            known == own && kind <= 5 && ["json", "yaml", "yml", "toml"].iter().any(|kind| written.ends_with(kind))
        }
        _ => false,
    }
}

/// The pure middle part: from the content of the files to the module.
pub(super) fn assemble(
    name: ModuleName,
    files: &[SourceFile],
    limits: &Limits,
    mut findings: Findings,
) -> (Option<Module>, Diagnostics) {
    let file = |wanted: &str| files.iter().find(|file| file.name == wanted);
    let schema = read_schema(files, limits, &mut findings);
    let mut order = vec![schema.file.clone()];
    let exemplars = file(EXEMPLARS_FILE)
        .and_then(|file| source::parse(file, &mut findings))
        .map(|document| source::exemplars::read(EXEMPLARS_FILE, &document, limits, &mut findings))
        .unwrap_or_default();
    let recognizers = file(RECOGNIZERS_FILE)
        .and_then(|file| source::parse(file, &mut findings))
        .map(|document| source::recognizers::read(RECOGNIZERS_FILE, &document, limits, &mut findings))
        .unwrap_or_default();
    let prompts = read_prompts(files, &mut findings);
    let mut settings = file(SETTINGS_FILE)
        .and_then(|file| file.text(&mut findings))
        .and_then(|text| source::settings::read(text, &mut findings))
        .unwrap_or_default();

    // Without functions every name in the other files would be reported; one finding is enough.
    let (functions, recognizers) = if schema.functions.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        linked(schema, exemplars, recognizers, &mut settings, limits, &mut findings)
    };

    for file in files {
        if let Ok(text) = std::str::from_utf8(&file.bytes) {
            // Columns are counted without the byte order mark, as editors do.
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            locate::complete(findings.list_mut(), &file.name, text);
        }
    }
    let refused = findings.errors() > 0;
    order.extend(other_files().map(str::to_owned));
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    let diagnostics = findings.finish(&order);
    if refused {
        return (None, diagnostics);
    }
    let warnings = diagnostics.0.clone();
    let module = Module { name, version: version(files), functions, recognizers, settings, prompts, warnings };
    (Some(module), diagnostics)
}

/// The functions with what the other files say about them, and the recognizers that their slots use.
fn linked(
    Schema { file, functions, document }: Schema,
    exemplars: Vec<source::exemplars::Group>,
    recognizers: source::recognizers::SourceRecognizers,
    settings: &mut Settings,
    limits: &Limits,
    findings: &mut Findings,
) -> (Vec<Function>, Vec<Recognizer>) {
    let (mut functions, pointers_of_functions) = make_functions(&file, functions, limits, findings);
    let names = rules::FunctionNames::new(&functions);
    rules::exemplars(exemplars, &mut functions, &names, findings);
    let (defined, pointers): (Vec<_>, Vec<_>) =
        recognizers.defined.into_iter().map(|defined| (defined.recognizer, defined.pointer)).unzip();
    let mut binder = Binder::new(defined);
    let overrides = rules::settings(settings, &mut functions, &names, &mut binder, findings);
    let answer = |index: usize, own: &EndpointSettings| {
        own.answer.as_ref().filter(|answer| answer.is_string())?;
        source::answers::answer(document.as_ref()?, pointers_of_functions.get(index)?, limits)
    };
    resolve::resolve_all(settings, &mut functions, answer, findings);
    for function in &mut functions {
        let own = settings.functions.get(&function.name).and_then(|own| own.effect);
        function.effect = KnownEffect::settled(function, own);
    }
    let mut bindings = rules::Bindings::new(recognizers.slots, &binder, &names, findings);
    let languages = Language::and_english(settings.language());
    for (index, function) in functions.iter_mut().enumerate() {
        let function_id = super::FunctionId::from_index(index);
        let about = (function.name.as_str(), function.description.as_str());
        for (slot_index, slot) in function.slots.iter_mut().enumerate() {
            let listed = bindings.of(function_id, slot, &mut binder);
            let set = settings.slot(about.0, &slot.path.to_string());
            slot.counting = Counting::new(slot.label(), &slot.description, languages);
            let reading = SlotReading::new(set, languages, about, slot);
            match overrides.get(&(function_id, SlotId::from_index(slot_index))) {
                Some(&recognizer) => binder.bind(slot, &[recognizer], reading),
                None => binder.bind(slot, &listed, reading),
            }
        }
    }
    bindings.report_unused(&functions, findings);
    let (recognizers, used) = binder.finish();
    for (index, pointer) in pointers.iter().enumerate().filter(|(index, _)| !used[*index]) {
        let message = format!("no slot uses the recognizer `{}`", recognizers[index].name);
        let found = Diagnostic::warning("unused-recognizer", RECOGNIZERS_FILE, pointer, message);
        findings.push(found.hint("bind it in `slots`, or give it the name of a slot"));
    }
    compile(&file, &functions, &pointers_of_functions, findings);
    advice::give((&file, &pointers_of_functions), &functions, &recognizers, settings, findings);
    (functions, recognizers)
}

/// The prompts that the module replaces; templates that do not parse are findings.
fn read_prompts(files: &[SourceFile], findings: &mut Findings) -> BTreeMap<&'static str, String> {
    let mut prompts = BTreeMap::new();
    for (name, path) in PROMPT_FILES {
        let Some(text) = files.iter().find(|file| file.name == path).and_then(|file| file.text(findings)) else {
            continue;
        };
        match template::check(text) {
            Ok(()) => {
                prompts.insert(name, text.to_owned());
            }
            Err(error) => {
                let finding = Diagnostic::error("bad-template", path, "", error.to_string());
                findings.push(finding.at(error.line().unwrap_or(1), 1).hint("prompts are Jinja templates"));
            }
        }
    }
    prompts
}

/// Content of the schema file.
struct Schema {
    file: String,
    functions: Vec<SourceFunction>,
    document: Option<Value>,
}

fn read_schema(files: &[SourceFile], limits: &Limits, findings: &mut Findings) -> Schema {
    let nothing = |file: &str| Schema { file: file.to_owned(), functions: Vec::new(), document: None };
    let schemas: Vec<&SourceFile> = files.iter().filter(|file| SCHEMA_FILES.contains(&file.name.as_str())).collect();
    let file = match schemas.as_slice() {
        [] => {
            // A file that exists but was not accepted has its own finding.
            if findings.errors() == 0 {
                let message = "the module has no schema: nobody could ask for anything";
                let hint = format!("add one of {}", SCHEMA_FILES.join(", "));
                findings.push(Diagnostic::error("no-schema-file", SCHEMA_FILES[0], "", message).hint(hint));
            }
            return nothing(SCHEMA_FILES[0]);
        }
        [file] => *file,
        [file, other, ..] => {
            let message = format!("the module has two schemas, `{}` and `{}`", file.name, other.name);
            findings.push(Diagnostic::error("two-schema-files", &other.name, "", message).hint("keep one of them"));
            file
        }
    };
    let before = findings.errors();
    let Some(document) = source::parse(file, findings) else { return nothing(&file.name) };
    let document = source::modernised(document);
    let functions = source::functions(&file.name, &document, limits, findings);
    if functions.is_empty() && findings.errors() == before {
        let message = "the schema describes no function";
        findings.push(Diagnostic::error("no-functions", &file.name, "", message));
    }
    Schema { file: file.name.clone(), functions, document: Some(document) }
}

/// What the service behind a function answers on success, as an `OpenAPI` document describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServiceAnswer {
    pub example: Option<Value>,
    pub schema: Option<Value>,
}

/// The answers that the document of the module in `directory` describes, by function; empty if it is not an `OpenAPI`
/// document.
///
/// # Errors
/// If the directory or its files cannot be read.
pub fn service_answers(directory: &Path, limits: &Limits) -> Result<BTreeMap<String, ServiceAnswer>, LoadError> {
    let mut findings = Findings::new();
    let files =
        read_files(directory, limits, &mut findings).map_err(|(path, source)| LoadError::Io { path, source })?;
    let Schema { functions, document, .. } = read_schema(&files, limits, &mut findings);
    let Some(document) = document else { return Ok(BTreeMap::new()) };
    let described = functions.into_iter().filter(|function| function.request.is_some()).map(|function| {
        let example = source::answers::example(&document, &function.pointer);
        let schema = source::answers::answer(&document, &function.pointer, limits);
        (function.name, ServiceAnswer { example, schema })
    });
    Ok(described.collect())
}

/// The functions, still without exemplars and recognizers, and the place of each.
fn make_functions(
    file: &str,
    sources: Vec<SourceFunction>,
    limits: &Limits,
    findings: &mut Findings,
) -> (Vec<Function>, Vec<String>) {
    let wire_names = rules::wire_names(file, &sources, findings);
    let (mut functions, mut pointers) = (Vec::with_capacity(sources.len()), Vec::with_capacity(sources.len()));
    for (source, wire_name) in sources.into_iter().zip(wire_names) {
        if source.description.is_empty() {
            let message =
                format!("the function `{}` has no description: only its name and exemplars find it", source.name);
            let found = Diagnostic::warning("empty-description", file, &source.pointer, message);
            findings.push(found.hint("say in one sentence what it does"));
        }
        let slots = slots::flatten(&source.parameters, file, (&source.name, &source.pointer), limits, findings);
        let method = source.request.as_ref().map(|request| request.method);
        let effect = KnownEffect::of_schema(&source.name, &source.description, method, source.read_only);
        functions.push(Function {
            name: source.name,
            wire_name,
            description: source.description,
            parameters: source.parameters,
            slots,
            exemplars: Vec::new(),
            operation: source.operation,
            request: source.request,
            endpoint: None,
            effect,
        });
        pointers.push(source.pointer);
    }
    (functions, pointers)
}

/// Functions per thread from which on starting threads is worthwhile.
const COMPILED_PER_THREAD: usize = 256;

/// Lets the validator compile every function's parameters, so that nothing can fail later.
fn compile(file: &str, functions: &[Function], pointers: &[String], findings: &mut Findings) {
    let first_fault = |(function, pointer): (&Function, &String)| {
        let reason = schema::validator(&function.parameters).err()?;
        let message = format!("the parameters of `{}` are not a valid JSON Schema: {reason}", function.name);
        Some(Diagnostic::error("bad-schema", file, pointer, message))
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.min(functions.len() / COMPILED_PER_THREAD).max(1);
    let size = functions.len().div_ceil(threads).max(1);
    let faults: Vec<Diagnostic> = if threads == 1 {
        functions.iter().zip(pointers).filter_map(first_fault).collect()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = functions
                .chunks(size)
                .zip(pointers.chunks(size))
                .map(|(functions, pointers)| {
                    scope.spawn(move || functions.iter().zip(pointers).filter_map(first_fault).collect::<Vec<_>>())
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        })
    };
    for fault in faults {
        findings.push(fault);
    }
}

/// Makes a module from texts, without a directory.
#[cfg(test)]
pub(super) fn from_texts(files: &[(&str, &str)], limits: &Limits) -> (Option<Module>, Diagnostics) {
    let files: Vec<SourceFile> = files
        .iter()
        .map(|(name, text)| SourceFile { name: (*name).to_owned(), bytes: text.as_bytes().to_vec() })
        .collect();
    let name = ModuleName::new("test").expect("a good name");
    assemble(name, &files, limits, Findings::new())
}
