//! How a conversation's state travels if only the client, or the messages, keep it.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::store::SessionOptions;
use crate::llm::Secret;

/// File beside the sessions, used if no key is configured.
const KEY_FILE: &str = "state.key";

/// Shorter secrets can be guessed.
const SHORTEST_KEY: usize = 16;

/// The section `[conversation]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationOptions {
    /// Signs echoed states. Unset means a key that is made once and kept beside the sessions.
    pub key: Option<Secret>,
    /// A file with the key, for mounted secrets; `key` wins.
    pub key_file: Option<PathBuf>,
    /// Keys whose signatures are still accepted.
    pub previous_keys: Vec<Secret>,
    /// Seconds for which a yes to what was asked counts as one; after that it is asked again.
    pub confirm_s: u64,
    /// Longest echoed state, in bytes, as it is sent.
    pub max_state_bytes: usize,
    /// States rebuilt from messages that are kept for the next request of the same conversation; 0 means none.
    pub replay_entries: usize,
    /// Bytes of all these states together.
    pub replay_bytes: usize,
    /// Most utterances of one session that wait to be observed.
    pub max_pending: usize,
}

impl Default for ConversationOptions {
    fn default() -> Self {
        Self {
            key: None,
            key_file: None,
            previous_keys: Vec::new(),
            confirm_s: 900,
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
    /// The first invalid value: its key below `conversation`, and the problem. Reads no file.
    #[must_use]
    pub fn problem(&self) -> Option<(String, String)> {
        let of = |key: &str, problem: String| Some((key.to_owned(), problem));
        if self.max_state_bytes < 1_024 {
            return of("max_state_bytes", "must be at least 1024: a state has forms and the last messages".to_owned());
        }
        if self.confirm_s == 0 {
            return of("confirm_s", "must be at least 1, or nothing is ever confirmed".to_owned());
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

    pub(super) const fn confirm(&self) -> Duration {
        Duration::from_secs(self.confirm_s)
    }

    /// The same options, always with a key: if none is configured, the one beside the sessions, which the first start
    /// makes. If that fails, a key of this process alone, whose states end with it.
    #[must_use]
    pub fn signing(&self, sessions: &SessionOptions) -> Self {
        if self.key.is_some() || self.key_file.is_some() {
            return self.clone();
        }
        let kept = sessions.directory().map(|directory| made_once(&directory));
        let key = match kept {
            Some(Ok(key)) => key,
            Some(Err(error)) => {
                tracing::warn!(%error, "no key can be kept beside the sessions: echoed states end with this process");
                random_key()
            }
            None => {
                tracing::warn!(
                    "conversation.key is not set: echoed states end with this process, and are no replica's"
                );
                random_key()
            }
        };
        Self { key: Some(Secret::new(key)), ..self.clone() }
    }

    /// The signing secret, from its own setting or its file.
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

/// 32 random bytes, in base64.
fn random_key() -> String {
    BASE64_STANDARD.encode([*Uuid::new_v4().as_bytes(), *Uuid::new_v4().as_bytes()].as_flattened())
}

/// The key in this directory. Of several processes that start at once, only one makes it.
fn made_once(directory: &Path) -> io::Result<String> {
    let path = directory.join(KEY_FILE);
    if !path.exists() {
        if !directory.as_os_str().is_empty() {
            fs::create_dir_all(directory)?;
        }
        // Atomic: the key is written under another name, and the link is only made if there is none.
        let draft = directory.join(format!("{KEY_FILE}.{}", Uuid::new_v4().simple()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let made = options.open(&draft).and_then(|mut file| {
            file.write_all(random_key().as_bytes())?;
            file.sync_all()?;
            fs::hard_link(&draft, &path)
        });
        fs::remove_file(&draft)?;
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
    }
    let key = fs::read_to_string(&path)?;
    match weakness(key.trim()) {
        None => Ok(key.trim().to_owned()),
        Some(problem) => Err(io::Error::other(format!("the key in {} {problem}", path.display()))),
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
            (r#"{"confirm_s": 0}"#, "confirm_s"),
        ] {
            let options: ConversationOptions = serde_json::from_str(json).unwrap();
            let (named, problem) = options.problem().unwrap();
            assert_eq!(named, key);
            assert!(!problem.contains("too short"), "{problem}");
        }
    }

    #[test]
    fn a_key_is_made_once_and_is_its_owners_alone() {
        let directory = tempfile::tempdir().unwrap();
        let kept = |name: &str| SessionOptions {
            url: crate::conversation::store::StoreUrl::new(format!("sqlite:{}", directory.path().join(name).display())),
            ..SessionOptions::default()
        };
        let options = ConversationOptions::default();
        let starts: Vec<_> = std::thread::scope(|scope| {
            let started = || scope.spawn(|| options.signing(&kept("data/sessions.db")).key);
            let threads: Vec<_> = (0..8).map(|_| started()).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(starts[0].is_some() && starts.iter().all(|key| *key == starts[0]), "several keys");
        let files: Vec<_> = fs::read_dir(directory.path().join("data")).unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&files[0].metadata().unwrap().permissions()) & 0o777, 0o600);
        assert_ne!(options.signing(&kept("other/sessions.db")).key, starts[0]);

        let own = ConversationOptions { key: Some(Secret::new("a secret that is long enough")), ..options.clone() };
        assert_eq!(own.signing(&kept("third/sessions.db")), own);
        assert!(!directory.path().join("third").exists());
        // An unwritable disk neither stops the service nor leaves states unsigned.
        fs::write(directory.path().join("file"), "").unwrap();
        assert!(options.signing(&kept("file/sessions.db")).key.is_some());
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
