//! Projects of other tools that contain errors.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use uptake::{
    import::{Format, ImportError, ImportOptions, import},
    module::{self, Limits, ModuleName},
};

use super::{Mutator, Run, corpus};
use crate::support::fixture;

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    ":",
    ",",
    "- ",
    "|",
    "\n",
    "\n  ",
    "null",
    "@",
    "@sys.any",
    "$",
    "<",
    ">",
    "[a](b)",
    "{\"entity\": \"a\"}",
    "nlu:",
    "- intent: ",
    "examples: |",
    "## intent:",
    "offset",
    "length",
    "name",
    "../",
    "\u{0}",
    "é",
    "😀",
    "\u{202e}",
    "&a",
    "*a",
    "!!python/object",
    "%",
    "#/components/schemas/A",
    "$ref",
];

fn files(directory: &Path, below: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).expect("a project").flatten() {
        let (path, name) = (entry.path(), below.join(entry.file_name()));
        if path.is_dir() {
            files(&path, &name, all);
        } else {
            all.push((name, fs::read(path).expect("a file")));
        }
    }
}

fn project(format: Format) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    files(&fixture("import").join(format.name()), Path::new(""), &mut all);
    all.sort();
    all
}

/// Each becomes a loadable module, or its faults are reported and nothing is written.
#[test]
fn projects_become_modules_or_are_refused() {
    let mut run = Run::new("importers", 60);
    let mutator = Mutator::new(TOKENS, 64 << 10);
    let projects: Vec<_> = Format::ALL.into_iter().map(|format| (format, project(format))).collect();
    let hostile = corpus("importers");
    let (mut imported, mut refused) = (0_u64, 0_u64);
    while run.goes_on() {
        let random = &mut run.random;
        let (format, mut files) = random.choice(&projects).cloned().expect("a project");
        for _ in 0..random.usize(1..=2) {
            let at = random.usize(0..files.len());
            let file = &mut files[at].1;
            *file = match serde_json::from_slice::<Value>(file) {
                Ok(mut value) if random.u8(0..4) > 0 => {
                    mutator.json(random, &mut value);
                    value.to_string().into_bytes()
                }
                _ => {
                    let mut seeds = vec![file.clone(); 4];
                    seeds.extend(random.choice(&hostile).cloned());
                    mutator.bytes(random, &seeds)
                }
            };
        }
        let shown: Vec<u8> = files
            .iter()
            .flat_map(|(name, text)| [name.to_string_lossy().as_bytes(), b"\n", text.as_slice(), b"\n"].concat())
            .collect();
        run.try_next(&shown);
        let root = tempfile::tempdir().expect("a directory");
        for (name, text) in &files {
            let path = root.path().join("project").join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let into = root.path().join("module");
        match import(format, &root.path().join("project"), &into, &ImportOptions::default()) {
            Ok(_) => {
                imported += 1;
                let name = ModuleName::new("module").expect("a name");
                let loaded = module::load(&into, name, &Limits::default());
                assert!(loaded.is_ok(), "{}: {:?}: it does not load: {:?}", run.shown(), format, loaded.err());
            }
            Err(error) => {
                refused += 1;
                assert!(!into.exists(), "{}: something is written", run.shown());
                let told = match &error {
                    ImportError::Faults(found) => found.to_string(),
                    other => other.to_string(),
                };
                assert!(!told.is_empty() && told.len() < 1 << 20, "{}: {} bytes", run.shown(), told.len());
            }
        }
    }
    run.done(&format!("{imported} imported, {refused} refused"));
    assert!(imported > 0 && refused > 0, "{}: {imported} imported, {refused} refused", run.shown());
}
