//! How the state of a conversation travels that nobody but the client, or the messages, keep.

use std::{fs, io, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::llm::Secret;

/// Shorter secrets can be guessed.
const SHORTEST_KEY: usize = 16;

/// The section `[conversation]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationOptions {
    /// What echoed states are signed with. Unset: they are plain, and whoever echoes one may have changed it.
    pub key: Option<Secret>,
    /// A file that holds the key, for secrets that are mounted; `key` wins.
    pub key_file: Option<PathBuf>,
    /// Keys whose signatures are still believed.
    pub previous_keys: Vec<Secret>,
    /// Longest echoed state, in bytes, as it is sent.
    pub max_state_bytes: usize,
    /// States rebuilt from messages that are kept for the next request of the same conversation; 0: none.
    pub replay_entries: usize,
    /// Bytes of all of them together.
    pub replay_bytes: usize,
    /// Utterances of one session that wait to be observed, at most.
    pub max_pending: usize,
}

impl Default for ConversationOptions {
    fn default() -> Self {
        Self {
            key: None,
            key_file: None,
            previous_keys: Vec::new(),
            max_state_bytes: 64 << 10,
            replay_entries: 4_096,
            replay_bytes: 32 << 20,
            max_pending: 32,
        }
    }
}

/// Why states cannot be signed as configured. Names the setting, never a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("`conversation.{key}`: {problem}")]
    Setting { key: String, problem: String },
    #[error("`conversation.key_file` {} could not be read: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

impl ConversationOptions {
    /// A value that makes no sense, with its key below `conversation`. Reads no file.
    #[must_use]
    pub fn problem(&self) -> Option<(String, String)> {
        let of = |key: &str, problem: String| Some((key.to_owned(), problem));
        if self.max_state_bytes < 1_024 {
            return of("max_state_bytes", "must be at least 1024: a state has forms and the last messages".to_owned());
        }
        if self.max_pending == 0 {
            return of("max_pending", "must be at least 1, or nothing is observed".to_owned());
        }
        if let Some(problem) = self.key.as_ref().and_then(|key| weakness(key.expose())) {
            return of("key", problem);
        }
        self.previous_keys.iter().enumerate().find_map(|(index, key)| {
            let problem = weakness(key.expose())?;
            of(&format!("previous_keys[{index}]"), problem)
        })
    }

    /// The secret that is signed with, from its own setting or its file.
    pub(super) fn current_key(&self) -> Result<Option<Secret>, KeyError> {
        let (Some(path), None) = (&self.key_file, &self.key) else { return Ok(self.key.clone()) };
        let text = fs::read_to_string(path).map_err(|source| KeyError::File { path: path.clone(), source })?;
        let text = text.trim();
        match weakness(text) {
            Some(problem) => Err(KeyError::Setting { key: "key_file".to_owned(), problem }),
            None => Ok(Some(Secret::new(text))),
        }
    }
}

fn weakness(key: &str) -> Option<String> {
    let length = key.chars().count();
    (length < SHORTEST_KEY)
        .then(|| format!("has {length} characters; {SHORTEST_KEY} or more are needed (`openssl rand -base64 32`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_make_no_sense_are_named() {
        assert_eq!(ConversationOptions::default().problem(), None);
        for (json, key) in [
            (r#"{"key": "too short"}"#, "key"),
            (r#"{"previous_keys": ["sixteen letters!", "short"]}"#, "previous_keys[1]"),
            (r#"{"max_state_bytes": 1000}"#, "max_state_bytes"),
            (r#"{"max_pending": 0}"#, "max_pending"),
        ] {
            let options: ConversationOptions = serde_json::from_str(json).unwrap();
            let (named, problem) = options.problem().unwrap();
            assert_eq!(named, key);
            assert!(!problem.contains("too short"), "{problem}");
        }
    }

    #[test]
    fn a_key_comes_from_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let options = ConversationOptions { key_file: Some(path.clone()), ..ConversationOptions::default() };
        assert!(matches!(options.current_key(), Err(KeyError::File { .. })));
        fs::write(&path, "short\n").unwrap();
        assert!(matches!(options.current_key(), Err(KeyError::Setting { key, .. }) if key == "key_file"));
        fs::write(&path, "a secret that is long enough\n").unwrap();
        assert_eq!(options.current_key().unwrap(), Some(Secret::new("a secret that is long enough")));
    }
}
