//! The threat model names a test for each of its lines; these tests must exist.

use std::{fs, path::Path};

fn sources(directory: &Path, all: &mut String) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&fs::read_to_string(&path).expect("a source"));
        }
    }
}

#[test]
fn each_line_of_the_threat_model_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    sources(&root.join("src"), &mut all);
    sources(&root.join("tests"), &mut all);
    let model = fs::read_to_string(root.join("SECURITY.md")).expect("the threat model");
    let is_name =
        |text: &&str| text.contains('_') && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let named: Vec<&str> = model.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(all.contains(&format!("fn {name}(")), "SECURITY.md names `{name}`, which is no test");
    }
    let lines = model.split("\n- ").skip(1).map(|line| line.split("\n\n").next().unwrap_or_default());
    let unproven: Vec<&str> =
        lines.filter(|line| !line.split('`').skip(1).step_by(2).any(|text| is_name(&text))).collect();
    assert!(unproven.is_empty(), "lines of SECURITY.md without a test: {unproven:#?}");
}

/// All compiled dependencies come from one registry, with their hashes.
#[test]
fn every_dependency_is_of_the_registry() {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).expect("the lock file");
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let foreign: Vec<&&str> = packages
        .iter()
        .filter(|package| !package.contains("name = \"uptake\""))
        .filter(|package| {
            !package.contains("source = \"registry+https://github.com/rust-lang/crates.io-index\"")
                || !package.contains("checksum = ")
        })
        .collect();
    assert!(packages.len() > 100 && foreign.is_empty(), "{foreign:?}");
}
