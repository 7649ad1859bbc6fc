//! Projects with faults. What cannot be read is left out and told with its place; where nothing is left, all faults are told
//! and nothing is written.

use std::fs;

use super::*;

/// Imports `files`; returns the faults as they are shown.
fn refused(format: Format, files: &[(&str, &str)]) -> String {
    let root = tempfile::tempdir().expect("a directory");
    let from = root.path().join("project");
    for (name, text) in files {
        let path = from.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let into = root.path().join("module");
    let error = import_to(format, &from, &into).expect_err("it has faults");
    let left: Vec<_> =
        fs::read_dir(root.path()).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["project"], "nothing is written");
    match error {
        ImportError::Faults(found) => found.to_string(),
        other => other.to_string(),
    }
}

/// Imports `files`; returns what could not be read or is missing, as `file:line message`.
fn left_out(format: Format, files: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = root.path().join("project").join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let report = import_to(format, &root.path().join("project"), &root.path().join("module"));
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let unread =
        report.entries.iter().filter(|entry| entry.why.contains("left out") || entry.why.contains("cannot be read"));
    unread.map(|entry| format!("{}:{} {}", entry.file, entry.line.unwrap_or_default(), entry.what)).collect()
}

fn clu(entities: &str, utterances: &str) -> String {
    format!(
        "{{\"stringIndexType\": \"Utf16CodeUnit\", \"metadata\": {{\"projectKind\": \"Conversation\", \"language\": \"en\"}},\n\
         \"assets\": {{\"intents\": [{{\"category\": \"Go\"}}],\n\"entities\": [{entities}],\n\"utterances\": [\n{utterances}]}}}}"
    )
}

#[test]
fn truncated_files_say_where_they_end() {
    let whole = fs::read_to_string(source(Format::Clu).join("project.json")).expect("a fixture");
    let half = &whole[..whole.len() / 2];
    let found = refused(Format::Clu, &[("project.json", half)]);
    assert!(found.starts_with("project.json:") && found.contains("this is not JSON: EOF while parsing"), "{found}");
    let found = refused(Format::Rasa, &[("nlu.yml", "nlu:\n- intent: a\n  examples: |\n    - b\n  x: [")]);
    assert!(found.starts_with("nlu.yml:") && found.contains("this is not YAML"), "{found}");
    let found = left_out(
        Format::DialogflowEs,
        &[("intents/a.json", "{\"name\": \"a\"}"), ("intents/a_usersays_en.json", "[{\"data\": [")],
    );
    assert!(found[0].starts_with("intents/a_usersays_en.json:1 this is not JSON"), "{found:?}");
}

#[test]
fn wrong_offsets_and_unknown_names_come_together_with_their_lines() {
    let utterances = "{\"text\": \"go 😀 home\", \"intent\": \"Go\", \"entities\": [{\"category\": \"Where\", \"offset\": 4, \"length\": 2}]},\n\
        {\"text\": \"go home\", \"intent\": \"Go\", \"entities\": [{\"category\": \"Where\", \"offset\": 3, \"length\": 40}]},\n\
        {\"text\": \"go home\", \"intent\": \"Go\", \"entities\": [{\"category\": \"Whither\", \"offset\": 3, \"length\": 4}]},\n\
        {\"text\": \"go home\", \"intent\": \"Leave\", \"entities\": []},\n\
        {\"text\": \"go home\", \"intent\": \"Go\", \"entities\": [{\"category\": \"Where\", \"offset\": -1, \"length\": 4}]}";
    let found = left_out(Format::Clu, &[("p.json", &clu("{\"category\": \"Where\"}", utterances))]);
    let expected = [
        ("p.json:5 ", "offset 4 and length 2 are no part of `go 😀 home`"),
        ("p.json:6 ", "offset 3 and length 40"),
        ("p.json:7 ", "no entity `Whither`"),
        ("p.json:8 ", "no intent `Leave`"),
        ("p.json:9 ", "offset -1"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (line, (place, message)) in found.iter().zip(expected) {
        assert!(line.starts_with(place) && line.contains(message), "{line}");
    }
}

#[test]
fn what_is_named_and_not_there_is_told() {
    let intent = "{\"name\": \"a\", \"responses\": [{\"parameters\": [{\"name\": \"x\", \"dataType\": \"@gone\", \"value\": \"$x\"}]}]}";
    let found = left_out(Format::DialogflowEs, &[("intents/a.json", intent), ("agent.json", "{}")]);
    assert!(found[0].contains("intents/a.json:1") && found[0].contains("`@gone` of `x`"), "{found:?}");
    let phrases = "{\"trainingPhrases\": [{\"parts\": [{\"text\": \"x\", \"parameterId\": \"gone\"}]}]}";
    let found = left_out(
        Format::DialogflowCx,
        &[
            ("agent.json", "{}"),
            ("intents/a/a.json", "{\"displayName\": \"a\"}"),
            ("intents/a/trainingPhrases/en.json", phrases),
        ],
    );
    assert!(found[0].contains("`a` has no parameter `gone`"), "{found:?}");
    let intent = "{\"name\": \"Buy\", \"sampleUtterances\": [{\"utterance\": \"buy {Thing}\"}]}";
    let found = left_out(Format::Lex, &[("Bot.json", "{}"), ("BotLocales/en_US/Intents/Buy/Intent.json", intent)]);
    assert!(found[0].contains("the slot `Thing`, which `Buy` does not have"), "{found:?}");
    let dataset = "{\"intents\": {\"a\": {\"utterances\": [{\"data\": [{\"text\": \"x\", \"entity\": \"gone\", \"slot_name\": \"s\"}]}]}}, \"entities\": {}}";
    let found = left_out(Format::Snips, &[("d.json", dataset)]);
    assert!(found[0].contains("the dataset has no entity `gone`"), "{found:?}");
    let found = left_out(
        Format::Rasa,
        &[("nlu.yml", "nlu:\n- intent: a\n  examples: |\n    - stay\n    - go [home]{\"entity\": \n")],
    );
    assert!(found[0].contains("nlu.yml:5") && found[0].contains("the annotation of `home`"), "{found:?}");
}

#[test]
fn the_wrong_format_is_told_as_such() {
    for format in Format::ALL {
        let found = refused(format, &[("a.json", "{\"hello\": 1}"), ("b.yaml", "hello: 1\n")]);
        assert!(found.contains("error["), "{}: {found}", format.name());
    }
    let found = refused(
        Format::Openapi,
        &[("a.yaml", "openapi: 3.0.0\npaths:\n  /x:\n    $ref: 'https://example.org/x.yaml'\n")],
    );
    assert!(found.contains("does not load"), "{found}");
    let found = refused(Format::Mcp, &[("a.json", "{\"tools\": [], \"nextCursor\": \"2\"}")]);
    assert!(found.contains("the list goes on"), "{found}");
}

#[test]
fn an_archive_cannot_lead_outside() {
    let root = tempfile::tempdir().expect("a directory");
    let archive = root.path().join("evil.zip");
    zip(&[("../../evil.json".to_owned(), b"{}".to_vec()), ("agent.json".to_owned(), b"{}".to_vec())], &archive);
    let error = import_to(Format::DialogflowEs, &archive, &root.path().join("m")).expect_err("it is refused");
    assert!(error.to_string().contains("leads out of the archive"), "{error}");
    assert!(!root.path().join("m").exists());
}

#[test]
fn positions_that_count_words_are_not_taken_for_characters() {
    let app = r#"{"luis_schema_version": "1.3.0", "intents": [{"name": "define"}], "utterances": []}"#;
    assert!(refused(Format::Clu, &[("app.json", app)]).contains("schema version 1.3.0 counts words"));
    let old = refused(Format::Rasa, &[("data.json", "{\"rasa_nlu_data\": {}}")]);
    assert!(old.contains("data.json") && old.contains("rasa data convert"), "{old}");
}

/// Whatever a file contains, reading it ends in a module or in faults.
#[test]
fn no_file_panics() {
    let shapes =
        ["null", "[]", "{}", "3", "\"x\"", "[[]]", "{\"a\": {}}", "[{\"name\": 1}]", "{\"name\": {}}", "[null]"];
    let names = [
        "agent.json",
        "intents/a.json",
        "intents/a_usersays_en.json",
        "entities/a.json",
        "entities/a_entries_en.json",
        "intents/a/a.json",
        "intents/a/trainingPhrases/en.json",
        "entityTypes/a/a.json",
        "flows/a/a.json",
        "Bot.json",
        "BotLocales/en_US/Intents/A/Intent.json",
        "BotLocales/en_US/Intents/A/Slots/B/Slot.json",
        "BotLocales/en_US/SlotTypes/B/SlotType.json",
        "nlu.yml",
    ];
    for shape in shapes {
        let root = tempfile::tempdir().expect("a directory");
        let from = root.path().join("project");
        for name in names {
            fs::create_dir_all(from.join(name).parent().expect("a parent")).expect("a directory");
            fs::write(from.join(name), shape).expect("a file");
        }
        for format in Format::ALL {
            let _ = import_to(format, &from, &root.path().join(format!("m-{}", format.name())));
        }
        // The members of the real formats, each replaced by this value.
        for (format, file) in [(Format::Clu, "project.json"), (Format::Snips, "more.json"), (Format::Mcp, "tools.json")]
        {
            let text = fs::read_to_string(source(format).join(file)).expect("a fixture");
            let whole: Value = serde_json::from_str(&text).expect("JSON");
            let other: Value = serde_json::from_str(shape).expect("JSON");
            for (number, broken) in replaced(&whole, &other).into_iter().enumerate().step_by(3) {
                let path = root.path().join("one.json");
                fs::write(&path, broken.to_string()).expect("a file");
                let _ = import_to(format, &path, &root.path().join(format!("{}-{number}", format.name())));
            }
        }
    }
}

/// `value` with each member or item replaced in turn; only the first items of lists.
fn replaced(value: &Value, other: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let put = |new: Value| {
                    let mut copy = map.clone();
                    copy.insert(key.clone(), new);
                    Value::Object(copy)
                };
                all.push(put(other.clone()));
                all.extend(replaced(inner, other).into_iter().map(put));
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate().take(2) {
                let put = |new: Value| {
                    let mut copy = list.clone();
                    copy[index] = new;
                    Value::Array(copy)
                };
                all.push(put(other.clone()));
                all.extend(replaced(inner, other).into_iter().map(put));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}
