//! Conversations from the first word to the call.

mod policy;
mod random;
mod results;
mod several;

use std::{fs, sync::Arc};

use serde_json::Value;
use uptake::{module::settings::StrategyName, snapshot::Snapshot, understand::TurnRequest};

use crate::support::{embedder, snapshot};

/// A module with these files, and their directory.
async fn written(
    name: &str,
    [schema, exemplars, recognizers]: [Value; 3],
    settings: &str,
) -> (Arc<Snapshot>, tempfile::TempDir) {
    let files = tempfile::tempdir().expect("a directory");
    let directory = files.path().join(name);
    fs::create_dir(&directory).expect("a directory");
    for (file, text) in [
        ("schema.json", schema.to_string()),
        ("exemplars.json", exemplars.to_string()),
        ("recognizers.json", recognizers.to_string()),
        ("module.toml", settings.to_owned()),
    ] {
        fs::write(directory.join(file), text).expect("a file of the module");
    }
    (snapshot(files.path().to_owned(), name, embedder()).await, files)
}

/// What a person says on the first of March, for the local strategy.
fn said(text: &str) -> TurnRequest {
    TurnRequest {
        utterance: text.to_owned(),
        strategy: Some(StrategyName::Local),
        now: Some("2026-03-01T09:00:00+00:00[UTC]".parse().expect("a moment")),
        ..TurnRequest::default()
    }
}
