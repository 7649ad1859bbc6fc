//! Imports only point down. This test reads the sources, so that the table need not be remembered.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Which modules of the crate a module may use: those with a lower number. A layer is ten numbers; within one, a few
/// modules build on others of it, and those with the same number never import one another.
const LAYERS: [(&str, u8); 34] = [
    ("ablation", 0),
    ("files", 0),
    ("learned", 0),
    ("text", 0),
    ("telemetry", 0),
    ("linear", 0),
    ("shares", 0),
    ("probability", 0),
    ("language", 1),
    ("module", 2),
    ("recognize", 10),
    ("llm", 10),
    ("embed", 10),
    // Grounds what was said with the value readers.
    ("call", 11),
    ("exemplars", 12),
    ("retrieve", 20),
    ("conversation", 20),
    // Makes calls, and remembers them where sessions are kept.
    ("act", 25),
    ("decide", 30),
    ("snapshot", 40),
    ("dialogue", 50),
    ("assist", 50),
    ("understand", 60),
    ("answer", 70),
    ("sample", 70),
    ("http", 80),
    // The effect of a change on a module's cases is also reported over HTTP.
    ("eval", 75),
    ("mcp", 80),
    ("import", 80),
    ("export", 80),
    ("config", 90),
    ("cli", 100),
    ("lib", 100),
    ("main", 110),
];

/// Crates and macros that belong to one place, and that place.
const OWNERS: [(&str, &[&str]); 39] = [
    ("axum::", &["http/"]),
    ("tower::", &["http/"]),
    ("tower_http::", &["http/"]),
    ("regex_automata::", &["module/pattern.rs"]),
    ("regex_syntax::", &["recognize/pattern.rs", "sample/pattern.rs"]),
    ("jsonschema_regex::", &["module/pattern.rs"]),
    ("hyper::", &["http/connections.rs", "http/middleware/keys.rs", "http/middleware/limits.rs"]),
    ("hyper_util::", &["http/connections.rs"]),
    ("utoipa::", &["answer/", "http/", "mcp/"]),
    ("utoipa_axum::", &["http/"]),
    ("rmcp::", &["mcp/", "act/tool.rs"]),
    ("prometheus_client::", &["http/metrics.rs"]),
    ("reqwest::", &["llm/openai.rs", "embed/remote.rs", "act/"]),
    ("ipnet::", &["act/address.rs"]),
    ("rusqlite::", &["conversation/store/sqlite.rs"]),
    ("sqlx::", &["conversation/store/"]),
    ("chacha20poly1305::", &["conversation/store/cipher.rs"]),
    ("tantivy::", &["retrieve/"]),
    ("hnsw_rs::", &["retrieve/"]),
    ("fastembed::", &["embed/fast"]),
    ("jsonschema::", &["call/", "module/"]),
    ("clap::", &["cli/"]),
    ("toml_edit::", &["module/edit.rs"]),
    ("similar::", &["http/authoring/"]),
    ("clap_complete::", &["cli/completions.rs"]),
    ("clap_mangen::", &["cli/completions.rs"]),
    ("rustyline::", &["cli/repl.rs"]),
    ("indicatif::", &["cli/report.rs"]),
    ("figment::", &["config.rs"]),
    ("tracing_subscriber::", &["telemetry.rs"]),
    ("zip::", &["import/files.rs"]),
    ("text2num::", &["recognize/"]),
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

    /// The file's path in the crate: `["understand", "analysis"]`.
    fn name(&self) -> Vec<String> {
        let path = self.path.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').map(str::to_owned).collect()
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
    // Without the root of the crate, and without tests in files of their own.
    sources.retain(|source| source.path != "lib.rs" && !source.path.ends_with("/tests.rs"));
    sources
}

fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Every path after a `crate::` or a `super::` in the file `own`, with braces expanded: `a::{b::C, d}` is `a::b::C` and
/// `a::d`. A path that begins with an imported name continues there: after `use super::d`, `d::e()` is `d::e`.
fn imports(code: &str, own: &[String]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (at, start) in code.match_indices("crate::").filter(|(at, _)| begins_path(code, *at)) {
        tree(&code[at + start.len()..], &[], &mut found);
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| begins_path(code, *at) && !is_nested(code, *at)) {
        tree(&code[at..], own, &mut found);
    }
    for mut path in found.clone() {
        if path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let Some(name) = path.last().filter(|name| name.starts_with(|c: char| c.is_lowercase())) else { continue };
        for (at, start) in code.match_indices(&format!("{name}::")).filter(|(at, _)| begins_path(code, *at)) {
            tree(&code[at + start.len()..], &path, &mut found);
        }
    }
    found
}

fn begins_path(code: &str, at: usize) -> bool {
    !code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ':'))
}

/// Inside the braces of another import, where [`tree`] reads it.
fn is_nested(code: &str, at: usize) -> bool {
    let before = &code[..at];
    before.rfind("use ").is_some_and(|start| before[start..].contains('{') && !before[start..].contains(';'))
}

/// Reads one path, or a group of them, after `before`; returns the rest of the code.
fn tree<'a>(code: &'a str, before: &[String], found: &mut BTreeSet<Vec<String>>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = rest.trim_start();
            if let Some(behind) = rest.strip_prefix('}') {
                return behind;
            }
            if let Some(behind) = rest.strip_prefix(',') {
                rest = behind;
                continue;
            }
            let behind = tree(rest, before, found);
            if behind.len() == rest.len() {
                return rest;
            }
            rest = behind;
        }
    }
    let length = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*').unwrap_or(code.len());
    let (word, rest) = code.split_at(length);
    if word.is_empty() {
        return code;
    }
    let path = if word == "super" {
        before[..before.len().saturating_sub(1)].to_vec()
    } else {
        [before, &[word.to_owned()]].concat()
    };
    if let Some(behind) = rest.strip_prefix("::")
        && behind.trim_start().starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '{' | '*'))
    {
        return tree(behind, &path, found);
    }
    found.insert(path);
    // `x as y`
    rest.trim_start()
        .strip_prefix("as ")
        .map_or(rest, |alias| alias.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn imports_point_down() {
    let layers: BTreeMap<&str, u8> = LAYERS.into_iter().collect();
    let mut wrong = BTreeSet::new();
    for source in sources() {
        let module = source.module();
        let Some(own) = layers.get(module) else {
            wrong.insert(format!("{}: `{module}` has no layer yet: give it one in LAYERS", source.path));
            continue;
        };
        for import in imports(&source.code, &source.name()).into_iter().filter_map(|path| path.into_iter().next()) {
            match layers.get(import.as_str()) {
                // A re-export of lib.rs or a macro: none is planned.
                None => wrong.insert(format!("{}: `crate::{import}` is in no layer", source.path)),
                Some(_) if import == module => false,
                Some(layer) if layer < own => false,
                Some(_) => wrong.insert(format!("{} must not use `{import}`", source.path)),
            };
        }
    }
    assert!(wrong.is_empty(), "{}", Vec::from_iter(wrong).join("\n"));
}

/// Where re-exports of a file lead: `pub use child::Name` in `parent` leads to `parent::child::Name`.
fn given_away(sources: &[Source]) -> BTreeMap<(Vec<String>, String), Vec<String>> {
    let mut given = BTreeMap::new();
    for source in sources {
        for line in source.code.split(';').filter_map(|code| code.rsplit_once("\npub")) {
            let Some((_, path)) = line.1.split_once("use ").filter(|(scope, _)| !scope.contains(['{', '='])) else {
                continue;
            };
            let mut found = BTreeSet::new();
            tree(path, &[], &mut found);
            for path in found {
                let Some(name) = path.last().cloned() else { continue };
                let whole = match path.first().map(String::as_str) {
                    Some("crate") => path[1..].to_vec(),
                    _ => [source.name(), path].concat(),
                };
                given.insert((source.name(), name), whole);
            }
        }
    }
    given
}

/// Which files use which others; a parent and the files in its folder count as one, so that each may name the other.
/// Re-exports of a parent count as the file that defines them.
fn uses(sources: &[Source]) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let names: BTreeSet<Vec<String>> = sources.iter().map(Source::name).collect();
    let given = given_away(sources);
    let file = |path: Vec<String>| {
        let mut path = path;
        loop {
            let end = (1..=path.len()).rev().find(|end| names.contains(&path[..*end]))?;
            let (file, rest) = path.split_at(end);
            match rest.first().and_then(|name| given.get(&(file.to_vec(), name.clone()))) {
                Some(whole) if whole[..] != path[..=end] => path = [whole, &rest[1..]].concat(),
                _ => return Some(file.to_vec()),
            }
        }
    };
    let of = |source: &Source| {
        let own = source.name();
        let others = imports(&source.code, &own).into_iter().filter_map(file);
        let others = others.filter(|other| !own.starts_with(other) && !other.starts_with(&own)).collect();
        (source.name(), others)
    };
    sources.iter().map(of).collect()
}

/// All files that can be reached from each file by imports; the file itself only if there is a cycle.
fn reached(uses: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>, from: &[String]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Vec<String>> = uses.get(from).into_iter().flatten().collect();
    while let Some(name) = next.pop() {
        if found.insert(name.clone()) {
            next.extend(uses.get(name).into_iter().flatten());
        }
    }
    found
}

#[test]
fn files_form_no_circles() {
    let uses = uses(&sources());
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for name in uses.keys() {
        let reached_from = reached(&uses, name);
        if reached_from.contains(name) {
            let circle = reached_from.into_iter().filter(|other| reached(&uses, other).contains(name));
            circles.insert(circle.map(|other| other.join("/")).collect());
        }
    }
    let wrong: Vec<String> = circles.iter().map(|circle| format!("a circle: {}", circle.join(", "))).collect();
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

/// Guards against a reader that finds nothing.
#[test]
fn the_reader_reads() {
    assert!(sources().len() > 20);
    let code = "use crate::{\n    call::{Call, x::{Y, Z as W}},\n    module::Module,\n};\n\
                fn f() { crate::text::fold(\"\"); $crate::no; }";
    let code = &format!("{code} use super::{{d::D, e, super::{{g, h::H}}}}; super::super::f(); e::inner();");
    let own = ["a", "b", "c"].map(str::to_owned);
    let found: Vec<String> = imports(code, &own).into_iter().map(|path| path.join("::")).collect();
    let [crate_paths, super_paths] = [
        ["call::Call", "call::x::Y", "call::x::Z", "module::Module", "text::fold"].as_slice(),
        ["a::b::d::D", "a::b::e", "a::b::e::inner", "a::f", "a::g", "a::h::H"].as_slice(),
    ];
    assert_eq!(found, [super_paths, crate_paths].concat());
    let left_out = "x(); // crate::http\nmod tests { crate::cli }";
    assert!(imports(left_out, &own).len() == 2 && imports(&without_comments_and_tests(left_out), &own).is_empty());
    let source = |path: &str, code: &str| Source { path: path.to_owned(), code: code.to_owned() };
    let all = [
        source("a/mod.rs", "mod b;\npub use b::{B, E};\nuse crate::a::b::B;"),
        source("a/b.rs", "use crate::{a::A, c::{self, C}};"),
        source("a/d.rs", "use super::{A, E};"),
        source("c.rs", "use crate::a::b::B;"),
    ];
    let uses = uses(&all);
    let name = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    assert!(uses[&name("a")].is_empty(), "a parent and its child are one");
    assert!(reached(&uses, &name("a/b")).contains(&name("a/b")) && reached(&uses, &name("c")).contains(&name("c")));
    assert_eq!(uses[&name("a/d")], BTreeSet::from([name("a/b")]), "a parent gives away what its child holds");
}
