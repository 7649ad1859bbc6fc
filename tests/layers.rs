//! Imports point down only. This test reads the sources, so that nobody has to remember the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Which modules of the crate a module may use: those of a lower layer. Siblings never import one another.
const LAYERS: [(&str, u8); 25] = [
    ("text", 0),
    ("telemetry", 0),
    ("language", 1),
    ("module", 2),
    ("recognize", 3),
    ("llm", 3),
    ("embed", 3),
    ("call", 4),
    ("retrieve", 5),
    ("conversation", 5),
    ("decide", 6),
    ("snapshot", 7),
    ("dialogue", 8),
    ("assist", 8),
    ("understand", 9),
    ("answer", 10),
    ("sample", 10),
    ("http", 11),
    ("eval", 11),
    ("mcp", 11),
    ("import", 11),
    ("export", 11),
    ("config", 12),
    ("cli", 13),
    ("main", 14),
];

/// Crates and macros that belong to one place, and that place.
const OWNERS: [(&str, &[&str]); 33] = [
    ("axum::", &["http/"]),
    ("tower::", &["http/"]),
    ("tower_http::", &["http/"]),
    ("regex_automata::", &["module/pattern.rs"]),
    ("jsonschema_regex::", &["module/pattern.rs"]),
    ("hyper::", &["http/connections.rs"]),
    ("hyper_util::", &["http/connections.rs"]),
    ("utoipa::", &["answer/", "http/", "mcp/"]),
    ("utoipa_axum::", &["http/"]),
    ("rmcp::", &["mcp/"]),
    ("prometheus_client::", &["http/metrics.rs"]),
    ("reqwest::", &["llm/openai.rs", "embed/remote.rs"]),
    ("rusqlite::", &["conversation/store/sqlite.rs"]),
    ("sqlx::", &["conversation/store/"]),
    ("chacha20poly1305::", &["conversation/store/cipher.rs"]),
    ("tantivy::", &["retrieve/"]),
    ("hnsw_rs::", &["retrieve/"]),
    ("fastembed::", &["embed/fast.rs"]),
    ("jsonschema::", &["call/", "module/"]),
    ("clap::", &["cli/"]),
    ("rustyline::", &["cli/repl.rs"]),
    ("indicatif::", &["cli/report.rs"]),
    ("figment::", &["config.rs"]),
    ("tracing_subscriber::", &["telemetry.rs"]),
    ("zip::", &["import/files.rs"]),
    ("text2num::", &["recognize/", "call/"]),
    ("phonenumber::", &["recognize/"]),
    ("linkify::", &["recognize/"]),
    ("println!", &["cli/report.rs"]),
    ("print!", &["cli/report.rs"]),
    ("dbg!", &[]),
    ("stdout()", &["cli/report.rs"]),
    ("todo!", &[]),
];

struct Source {
    /// Relative to `src`, with `/`.
    path: String,
    /// Without comments and without the tests at its end.
    code: String,
}

impl Source {
    /// The crate's top-level module that the file belongs to.
    fn module(&self) -> &str {
        self.path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut directories = vec![root.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of sources") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                let relative = path.strip_prefix(&root).expect("below src");
                let path = relative.to_string_lossy().replace('\\', "/");
                sources.push(Source { path, code: without_comments_and_tests(&text) });
            }
        }
    }
    // The map of the crate, and tests that have a file of their own.
    sources.retain(|source| source.path != "lib.rs" && !source.path.ends_with("/tests.rs"));
    sources
}

fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Every top-level module `x` of a `crate::x` or `crate::{x, y::z}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => {
                found.insert(first_word(rest));
            }
            Some(group) => {
                let (mut depth, mut expects_name) = (1, true);
                for (index, character) in group.char_indices() {
                    match character {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 1 => expects_name = true,
                        _ if depth == 1 && expects_name && character.is_alphabetic() => {
                            found.insert(first_word(&group[index..]));
                            expects_name = false;
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
        }
    }
    found
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn imports_point_down() {
    let layers: BTreeMap<&str, u8> = LAYERS.into_iter().collect();
    let mut wrong = Vec::new();
    for source in sources() {
        let module = source.module();
        let Some(own) = layers.get(module) else {
            wrong.push(format!("src/{}: `{module}` has no layer yet: give it one in LAYERS", source.path));
            continue;
        };
        for import in imports(&source.code) {
            match layers.get(import.as_str()) {
                // A name that lib.rs re-exports or a macro: none is planned.
                None => wrong.push(format!("src/{}: `crate::{import}` is in no layer", source.path)),
                Some(_) if import == module => {}
                Some(layer) if layer < own => {}
                Some(layer) => {
                    wrong.push(format!("src/{}: `{module}` ({own}) must not use `{import}` ({layer})", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_stay_with_their_owners() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (name, owners) in OWNERS {
            let used = source.code.match_indices(name).any(|(at, _)| {
                let before = source.code[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
            });
            if used && !owners.iter().any(|owner| source.path.starts_with(owner)) {
                wrong.push(format!("src/{} uses `{name}`, which belongs to {owners:?}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A test that reads nothing holds nothing.
#[test]
fn the_reader_reads() {
    assert!(sources().len() > 20);
    let code = "use crate::{\n    call::{Call, x::Y},\n    module::Module,\n};\nfn f() { crate::text::fold(\"\"); $crate::no; }";
    assert_eq!(imports(code).into_iter().collect::<Vec<_>>(), ["call", "module", "text"]);
    let left_out = "x(); // crate::http\nmod tests { crate::cli }";
    assert!(imports(left_out).len() == 2 && imports(&without_comments_and_tests(left_out)).is_empty());
}
