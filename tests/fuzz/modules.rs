//! Files from an author, or from anyone who can write to the modules directory.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Mutator, Run, corpus};
use crate::support::{Service, fixture};

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "<",
    ">",
    "<city>",
    "$ref",
    "#/definitions/a",
    "#",
    "allOf",
    "oneOf",
    "anyOf",
    "enum",
    "const",
    "pattern",
    "^(a+)+$",
    r"\p{L}{1,999}",
    "(?i)",
    "format",
    "date-time",
    "required",
    "properties",
    "type",
    "object",
    "array",
    "items",
    "minimum",
    "default",
    "rec_type",
    "list",
    "instances",
    "regex",
    "builtin",
    "slots",
    "template",
    "strategy",
    "confirm",
    "sensitive",
    "[functions.a]",
    "= true",
    "'''",
    "!!",
    "&a",
    "*a",
    "é",
    "日本",
    "\u{202e}",
    "\u{0}",
];

/// Modules with their files, as starting points.
fn seeds() -> Vec<Vec<(String, Vec<u8>)>> {
    let files = |directory: PathBuf| {
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(directory)
            .expect("a module")
            .flatten()
            .filter(|entry| entry.path().is_file() && entry.file_name() != "expected.txt")
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
            .collect();
        files.sort();
        files
    };
    let mut names: Vec<PathBuf> =
        fs::read_dir(fixture("modules")).expect("fixtures").flatten().map(|entry| entry.path()).collect();
    names.sort();
    names.into_iter().map(files).collect()
}

fn changed(random: &mut fastrand::Rng, mutator: &Mutator, file: &[u8], all: &[Vec<u8>]) -> Vec<u8> {
    match serde_json::from_slice::<Value>(file) {
        Ok(mut value) if random.u8(0..4) > 0 => {
            mutator.json(random, &mut value);
            value.to_string().into_bytes()
        }
        _ => {
            let mut seeds = vec![file.to_vec(); 4];
            seeds.extend(random.choice(all).cloned());
            mutator.bytes(random, &seeds)
        }
    }
}

/// The module serves, or the error is reported as its author's; never as ours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_a_module_serve_or_are_refused() {
    let mut run = Run::new("modules", 25);
    let mutator = Mutator::new(TOKENS, 64 << 10);
    let (seeds, hostile) = (seeds(), corpus("modules"));
    let service = Service::new(&[]);
    let (mut served, mut refused) = (0_u64, 0_u64);
    while run.goes_on() {
        let random = &mut run.random;
        let mut files = random.choice(&seeds).cloned().expect("a fixture");
        // Hardly any damage is harmless: some modules get none, so that serving is tested whatever the seed.
        let damages = if random.u8(0..4) == 0 { 0 } else { random.usize(1..=2) };
        for _ in 0..damages {
            let at = random.usize(0..files.len());
            files[at].1 = changed(random, &mutator, &files[at].1, &hostile);
        }
        let shown: Vec<u8> =
            files.iter().flat_map(|(name, text)| [name.as_bytes(), b"\n", text.as_slice(), b"\n"].concat()).collect();
        run.try_next(&shown);
        let directory = service.root().join("fuzzed");
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).expect("a directory");
        for (name, text) in &files {
            fs::write(directory.join(name), text).expect("a file");
        }
        let answer = service.get("/v1/load/fuzzed").await;
        let what = format!("{}: {}", run.shown(), answer.text);
        match answer.status {
            200 if answer.json()["state"] == "serving" => {
                served += 1;
                let said = json!({"utterance": "how cold will it be in Seattle in 3 days?", "strategy": "local"});
                let answer = service.post("/v1/predict/fuzzed", said.to_string()).await;
                assert!([200, 422].contains(&answer.status), "{what}: {}", answer.text);
            }
            // The previous version continues to serve.
            200 | 404 | 422 => refused += 1,
            other => panic!("{other}: {what}"),
        }
    }
    run.done(&format!("{served} served, {refused} refused"));
    assert!(served > 0 && refused > 0, "{}: {served} served, {refused} refused", run.shown());
}
