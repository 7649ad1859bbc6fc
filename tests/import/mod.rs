//! Projects of other tools: imported, compared with what is committed, and evaluated without editing a file.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde_json::Value;
use uptake::import::{Format, ImportError, ImportOptions, ImportReport, import};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::support::{embedder, fixture, golden, snapshot};

mod broken;
mod export;
mod wild;

fn source(format: Format) -> PathBuf {
    fixture("import").join(format.name())
}

fn import_to(format: Format, from: &Path, into: &Path) -> Result<ImportReport, ImportError> {
    import(format, from, into, &ImportOptions::default())
}

/// Every file below `directory`, with `prefix` before its path.
fn files_of(directory: &Path, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            files.extend(files_of(&path, &format!("{name}/")));
        } else {
            files.push((name, fs::read(&path).expect("a file")));
        }
    }
    files.sort();
    files
}

fn zip(files: &[(String, Vec<u8>)], to: &Path) {
    let mut writer = ZipWriter::new(fs::File::create(to).expect("a file"));
    for (name, bytes) in files {
        writer.start_file(name.as_str(), SimpleFileOptions::default()).expect("an entry");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive");
}

/// The report, then the module's files.
fn shown(report: &ImportReport, module: &Path) -> String {
    let written = report.written;
    let mut text = format!(
        "{} functions, {} slots, {} exemplars, {} recognizers, {} cases, {} warnings\n",
        written.functions, written.slots, written.exemplars, written.recognizers, written.cases, report.warnings
    );
    for entry in &report.entries {
        let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (fate, file, pointer) = (entry.fate.name(), &entry.file, &entry.pointer);
        text.push_str(&format!("{fate} {file}{line} {pointer}: {}: {}\n", entry.what, entry.why));
    }
    for (name, bytes) in files_of(module, "") {
        text.push_str(&format!("\n=== {name}\n{}", String::from_utf8(bytes).expect("UTF-8")));
    }
    text
}

#[test]
fn every_project_becomes_the_module_that_is_committed() {
    let root = tempfile::tempdir().expect("a directory");
    for format in Format::ALL {
        let into = root.path().join(format.name());
        let report =
            import_to(format, &source(format), &into).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        golden(&format!("tests/fixtures/import/golden/{}.txt", format.name()), &shown(&report, &into));
    }
}

#[test]
fn an_archive_is_what_its_directory_is() {
    let root = tempfile::tempdir().expect("a directory");
    for format in Format::ALL {
        let archive = root.path().join(format!("{}.zip", format.name()));
        zip(&files_of(&source(format), "exported bot/"), &archive);
        let (plain, packed) =
            (root.path().join("plain").join(format.name()), root.path().join("packed").join(format.name()));
        let from_directory = import_to(format, &source(format), &plain).expect("the directory is read");
        let from_archive = import_to(format, &archive, &packed).expect("the archive is read");
        assert_eq!(from_directory, from_archive, "{}", format.name());
        assert_eq!(files_of(&plain, ""), files_of(&packed, ""), "{}", format.name());
    }
}

/// With the embedder that knows only words: the numbers hold without the model.
#[tokio::test]
async fn every_project_is_evaluated_without_editing_a_file() {
    use uptake::{
        eval::{Cases, EvalOptions, evaluate},
        understand::{UnderstandOptions, Understander},
    };

    let root = tempfile::tempdir().expect("a directory");
    for (format, functions, slots) in [
        (Format::Rasa, 1.0, 1.0),
        (Format::DialogflowEs, 1.0, 1.0),
        (Format::Clu, 1.0, 1.0),
        (Format::DialogflowCx, 1.0, 1.0),
        // Its examples have no words for their slots, which this embedder needs.
        (Format::Lex, 1.0, 0.0),
        (Format::Snips, 1.0, 1.0),
    ] {
        import_to(format, &source(format), &root.path().join(format.name())).expect("it is imported");
        let cases = fs::read_to_string(root.path().join(format.name()).join("cases.jsonl")).expect("it has cases");
        let snapshot = snapshot(root.path().to_owned(), format.name(), embedder()).await;
        // This embedder knows too little about meaning for a threshold to make sense.
        let turns = UnderstandOptions { in_scope: 0.5, ..UnderstandOptions::default() };
        let understander = Understander::new(turns, embedder(), Vec::new());
        let cases = Cases::parse("cases.jsonl", &cases);
        let options = EvalOptions::default();
        let evaluation = evaluate(&understander, &snapshot, cases, &options, &|_, _| {}).await.expect("it runs");
        assert!(evaluation.problems.is_empty(), "{}: {:?}", format.name(), evaluation.problems);
        let (best, f1) = (evaluation.scores.function.best_guess, evaluation.scores.slots.f1);
        assert!(best.is_some_and(|best| best >= functions), "{}: best guess {best:?}", format.name());
        assert!(f1.is_some_and(|f1| f1 >= slots), "{}: slots {f1:?} {:?}", format.name(), evaluation.wrong);
    }
}

#[test]
fn examples_can_be_held_out() {
    let root = tempfile::tempdir().expect("a directory");
    let into = root.path().join("pizza");
    let options = ImportOptions { hold_out: 34, ..ImportOptions::default() };
    let report = import(Format::DialogflowEs, &source(Format::DialogflowEs), &into, &options).expect("it is imported");
    let cases = fs::read_to_string(into.join("cases.jsonl")).expect("cases");
    let exemplars: Value =
        serde_json::from_str(&fs::read_to_string(into.join("exemplars.json")).expect("exemplars")).expect("JSON");
    let all: Vec<&str> = exemplars
        .as_object()
        .into_iter()
        .flat_map(|lists| lists.values())
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|one| one["utterance"].as_str().or(one["template"].as_str()))
        .collect();
    assert_eq!((report.written.cases, cases.lines().count()), (5, 5));
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).expect("JSON");
        assert!(!all.contains(&case["utterance"].as_str().expect("a text")), "{case}");
    }
}

#[test]
fn another_language_of_a_project_is_taken_on_demand() {
    let root = tempfile::tempdir().expect("a directory");
    let options = ImportOptions { language: Some("de".into()), ..ImportOptions::default() };
    for (format, expected) in [(Format::Lex, "Bestellen"), (Format::Clu, "lies mir meine Post vor")] {
        let into = root.path().join(format.name());
        import(format, &source(format), &into, &options).expect("it is imported");
        let text = fs::read_to_string(into.join("exemplars.json")).expect("exemplars");
        assert!(text.contains(expected) && !text.contains("send a mail"), "{text}");
        assert!(fs::read_to_string(into.join("module.toml")).expect("settings").contains("language = \"de"));
    }
}

#[test]
fn what_is_there_is_replaced_whole_and_only_on_demand() {
    let root = tempfile::tempdir().expect("a directory");
    let into = root.path().join("shop");
    import_to(Format::Mcp, &source(Format::Mcp), &into).expect("it is imported");
    let error = import_to(Format::Snips, &source(Format::Snips), &into).expect_err("it is there");
    assert!(matches!(error, ImportError::Exists { .. }), "{error}");
    let before = files_of(&into, "");
    let force = ImportOptions { force: true, ..ImportOptions::default() };
    import(Format::Clu, &source(Format::Rasa), &into, &force).expect_err("it is another format");
    assert_eq!(files_of(&into, ""), before, "a failure changes nothing");
    import(Format::Snips, &source(Format::Snips), &into, &force).expect("it is replaced");
    assert!(into.join("exemplars.json").is_file());
    let names: Vec<_> =
        fs::read_dir(root.path()).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["shop"], "nothing is left beside it");
    let other = root.path().join("photos");
    fs::create_dir(&other).expect("a directory");
    fs::write(other.join("cat.jpg"), "meow").expect("a file");
    let error = import(Format::Snips, &source(Format::Snips), &other, &force).expect_err("it is no module");
    assert!(matches!(error, ImportError::NotAModule { .. }) && other.join("cat.jpg").is_file(), "{error}");
    let error = import_to(Format::Mcp, &source(Format::Mcp), &root.path().join("a b")).expect_err("it is no name");
    assert!(matches!(error, ImportError::Name { .. }), "{error}");
}
