//! Keys: who may send requests, for what, and how many.
//!
//! A key is `uk_ID_SECRET`. The key file holds a hash of the secret; the secret is as random as the hash is long, so
//! that it cannot be guessed. The file is read again when it changes; while it cannot be read, the last keys stay
//! valid. Once there have been keys, requests without one are refused, even if the file is lost and after a restart:
//! the lock file beside it is the evidence. To open the service again, set `http.open` or remove both files.

use std::{
    collections::HashMap,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::{ApiError, Fault, HttpOptions};
use crate::{
    files::{self, Access, FileStamp},
    module::ModuleName,
};

const PREFIX: &str = "uk";
const CONTEXT: &str = "uptake 2026 hash of the secret of a key";

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Have utterances understood, in all protocols.
    Predict,
    /// Keep conversations here; read and delete its own.
    Sessions,
    /// Read about modules, and read the metrics.
    Inspect,
    /// Build and load modules.
    Edit,
    /// All of it.
    Admin,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Predict, Self::Sessions, Self::Inspect, Self::Edit, Self::Admin];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predict => "predict",
            Self::Sessions => "sessions",
            Self::Inspect => "inspect",
            Self::Edit => "edit",
            Self::Admin => "admin",
        }
    }
}

/// A key as it is stored: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    pub id: String,
    /// Name of its holder, for people.
    pub name: String,
    /// Hash of the secret, in hexadecimal digits.
    hash: String,
    pub scopes: Vec<Scope>,
    /// The only modules it may be used for; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleName>,
    /// Most requests per minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u32>,
    /// Most bytes of bodies per minute; a body that has begun is read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_minute: Option<u64>,
    /// Most turns at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Most sessions kept for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// When it was made, in RFC 3339.
    pub created: String,
}

impl Key {
    /// A new key, and the text that its holder sends; the text is shown once and not stored.
    #[must_use]
    pub fn make(name: &str, scopes: Vec<Scope>, modules: Vec<ModuleName>) -> (Self, String) {
        let id = Uuid::new_v4().simple().to_string()[..12].to_owned();
        let secret = BASE64.encode([*Uuid::new_v4().as_bytes(), *Uuid::new_v4().as_bytes()].as_flattened());
        let text = format!("{PREFIX}_{id}_{secret}");
        let hash = hash(&secret).to_hex().to_string();
        let created = Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default().to_string();
        let key = Self {
            id,
            name: name.to_owned(),
            hash,
            scopes,
            modules,
            per_minute: None,
            bytes_per_minute: None,
            turns: None,
            sessions: None,
            created,
        };
        (key, text)
    }

    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    #[must_use]
    pub fn may_use(&self, module: &ModuleName) -> bool {
        self.modules.is_empty() || self.modules.contains(module)
    }
}

fn hash(secret: &str) -> blake3::Hash {
    blake3::Hash::from_bytes(blake3::derive_key(CONTEXT, secret.as_bytes()))
}

/// The content of the key file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    keys: Vec<Key>,
}

/// Why the key file cannot be used. Does not reveal any key.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct KeysError {
    path: PathBuf,
    problem: String,
}

/// The keys in the file; none if there is no file.
///
/// # Errors
/// If the file cannot be read, or is not a key file.
pub fn read(path: &Path) -> Result<Vec<Key>, KeysError> {
    let failed = |problem: String| KeysError { path: path.to_owned(), problem };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error.to_string())),
    };
    // The parser's message could reveal the file's content.
    let kept: KeyFile = serde_json::from_str(&text)
        .map_err(|error| failed(format!("no file of keys: line {}, column {}", error.line(), error.column())))?;
    match kept.keys.iter().find(|key| blake3::Hash::from_hex(&key.hash).is_err()) {
        Some(key) => Err(failed(format!("the hash of `{}` is none", key.id))),
        None => Ok(kept.keys),
    }
}

/// True once there have been keys: from then on the service requires one.
#[must_use]
pub fn are_required(path: &Path) -> bool {
    path.exists() || lock_of(path).exists()
}

/// The file beside the key file that proves that keys existed. Its lock is held while keys are changed.
fn lock_of(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

fn locked(path: &Path) -> io::Result<fs::File> {
    let lock = lock_of(path);
    if let Some(directory) = lock.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir_all(directory)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(lock)
}

/// Changes the keys in the file; concurrent changes wait. Returns the result of `act`; if that is `None`, nothing is
/// changed.
///
/// # Errors
/// If the file cannot be read, locked or written.
pub fn change<T>(path: &Path, act: impl FnOnce(&mut Vec<Key>) -> Option<T>) -> Result<Option<T>, KeysError> {
    let failed = |error: io::Error| KeysError { path: path.to_owned(), problem: error.to_string() };
    let lock = locked(path).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut keys = read(path)?;
    let Some(given) = act(&mut keys) else { return Ok(None) };
    write(path, keys)?;
    // Closing the file releases the lock.
    Ok(Some(given))
}

/// Replaces the file with these keys; only its owner may read it.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, keys: Vec<Key>) -> Result<(), KeysError> {
    let put = || -> io::Result<()> {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = directory {
            fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec_pretty(&KeyFile { keys })?;
        files::replace(path, Access::Owner, |file| file.write_all(&text))
    };
    put().map_err(|error| KeysError { path: path.to_owned(), problem: error.to_string() })
}

/// A budget per minute: it refills steadily, up to one minute's amount.
#[derive(Debug)]
struct Allowance {
    a_minute: f64,
    /// The remaining amount, and when it was computed. Negative if more was taken than there was.
    left: Mutex<(f64, Instant)>,
}

impl Allowance {
    fn new(a_minute: f64) -> Self {
        Self { a_minute, left: Mutex::new((a_minute, Instant::now())) }
    }

    /// Takes `amount`; if less than `least` is left, takes nothing and returns false.
    fn take(&self, amount: f64, least: f64, now: Instant) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let grown = now.saturating_duration_since(left.1).as_secs_f64() / 60.0 * self.a_minute;
        *left = ((left.0 + grown).min(self.a_minute), now);
        let may = left.0 >= least;
        left.0 -= if may { amount } else { 0.0 };
        may
    }
}

/// A key in use.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) key: Key,
    hash: blake3::Hash,
    requests: Option<Allowance>,
    bytes: Option<Allowance>,
    /// Permits for the turns that it may run at once.
    pub(super) turns: Arc<Semaphore>,
}

impl Holder {
    fn new(key: Key, most_turns: usize) -> Self {
        let hash = blake3::Hash::from_hex(&key.hash).unwrap_or_else(|_| blake3::Hash::from_bytes([0; 32]));
        let turns =
            key.turns.map_or(most_turns, |turns| most_turns.min(turns as usize)).clamp(1, Semaphore::MAX_PERMITS);
        let requests = key.per_minute.map(|count| Allowance::new(f64::from(count)));
        #[expect(clippy::cast_precision_loss, reason = "nobody counts the bytes of petabytes")]
        let bytes = key.bytes_per_minute.map(|count| Allowance::new(count as f64));
        Self { key, hash, requests, bytes, turns: Arc::new(Semaphore::new(turns)) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// Which of its budgets is used up.
    fn spend(&self, now: Instant) -> Result<(), &'static str> {
        // The length of a body is known only at its end, so one may begin while any bytes are left.
        if self.bytes.as_ref().is_some_and(|bytes| !bytes.take(0.0, 1.0, now)) {
            return Err("bytes");
        }
        if self.requests.as_ref().is_some_and(|requests| !requests.take(1.0, 1.0, now)) {
            return Err("requests");
        }
        Ok(())
    }

    /// Counts received bytes of a body.
    pub(super) fn owe(&self, bytes: usize, now: Instant) {
        if let Some(left) = &self.bytes {
            #[expect(clippy::cast_precision_loss, reason = "a piece of a body is short")]
            left.take(bytes as f64, f64::NEG_INFINITY, now);
        }
    }
}

/// See [the module](self).
pub(super) struct Keys {
    path: PathBuf,
    /// Keys are not required.
    open: bool,
    most_turns: usize,
    loaded: Mutex<LoadedKeys>,
}

#[derive(Default)]
struct LoadedKeys {
    /// Of the file as last read.
    stamp: Option<FileStamp>,
    /// Whether it was checked if keys existed before this start.
    is_begun: bool,
    /// There have been keys.
    required: bool,
    holders: HashMap<String, Arc<Holder>>,
}

impl Keys {
    pub(super) fn new(options: &HttpOptions) -> Self {
        Self {
            path: options.keys.clone(),
            open: options.open,
            // One key leaves room for others.
            most_turns: options.max_in_flight.saturating_mul(3).div_ceil(4),
            loaded: Mutex::default(),
        }
    }

    /// The key of a request; `None` where keys are not required.
    ///
    /// # Errors
    /// 401 without a known key, and 429 if its budget is used up.
    pub(super) fn of(&self, headers: &HeaderMap) -> Result<Option<Arc<Holder>>, ApiError> {
        if self.open {
            return Ok(None);
        }
        let loaded = self.loaded();
        if !loaded.required {
            return Ok(None);
        }
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(text) =
            given.and_then(|value| value.split_once(' ')).filter(|(how, _)| how.eq_ignore_ascii_case("bearer"))
        else {
            let message = "a key is needed: send `Authorization: Bearer KEY`";
            return Err(ApiError::fault(Fault::NoKey, message));
        };
        let mut parts = text.1.trim().splitn(3, '_');
        let (prefix, id, secret) = (parts.next(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        // Hashes compare in constant time; a request with an unknown key id computes a hash too.
        let given = hash(secret);
        let holder = loaded.holders.get(id).filter(|holder| prefix == Some(PREFIX) && holder.hash == given).cloned();
        drop(loaded);
        let Some(holder) = holder else {
            return Err(ApiError::fault(Fault::NoKey, "the key is not known, or was revoked"));
        };
        holder.spend(Instant::now()).map_err(|what| {
            ApiError::too_many(format!("the key's {what} for this minute are used up; try again shortly"))
        })?;
        Ok(Some(holder))
    }

    /// Whether requests need a key.
    pub(super) fn are_asked_for(&self) -> bool {
        !self.open && self.loaded().required
    }

    /// Most sessions for the key with this id, where that is bounded.
    pub(super) fn sessions(&self, id: &str) -> Option<u64> {
        self.loaded().holders.get(id).and_then(|holder| holder.key.sessions)
    }

    /// Notes on disk that there are keys, so that the next start requires one too.
    fn remember(&self, loaded: &mut LoadedKeys, has_keys: bool) {
        if !has_keys {
            if loaded.required {
                let file = self.path.display();
                tracing::warn!(
                    "there are no keys in {file}, but there were: every request is refused until `uptake key add` makes \
                     one, or somebody says --open"
                );
            }
            return;
        }
        loaded.required = true;
        if let Err(error) = locked(&self.path) {
            tracing::warn!(%error, "it cannot be kept that there are keys: a file of keys that is deleted opens the next start");
        }
    }

    /// The keys that are in the file now.
    fn loaded(&self) -> MutexGuard<'_, LoadedKeys> {
        let stamp = fs::metadata(&self.path).ok().map(|file| FileStamp::of(&file));
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if !loaded.is_begun {
            loaded.is_begun = true;
            loaded.required = are_required(&self.path);
        }
        if loaded.stamp != stamp {
            match read(&self.path) {
                Ok(keys) => {
                    self.remember(&mut loaded, !keys.is_empty());
                    let before = std::mem::take(&mut loaded.holders);
                    let holder = |key: Key| match before.get(&key.id).filter(|holder| holder.key == key) {
                        // Budgets that are used up stay used up.
                        Some(holder) => Arc::clone(holder),
                        None => Arc::new(Holder::new(key, self.most_turns)),
                    };
                    loaded.holders = keys.into_iter().map(|key| (key.id.clone(), holder(key))).collect();
                }
                // A broken file must not open the service.
                Err(error) => {
                    loaded.required = true;
                    tracing::error!(%error, "the file of keys cannot be read: those of before hold");
                }
            }
            loaded.stamp = stamp;
        }
        loaded
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct TempKeys {
        directory: tempfile::TempDir,
        keys: Keys,
    }

    impl TempKeys {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let options = HttpOptions { keys: directory.path().join("kept/keys.json"), ..HttpOptions::default() };
            Self { keys: Keys::new(&options), directory }
        }

        fn put(&self, keys: &[&Key]) {
            write(&self.keys.path, keys.iter().copied().cloned().collect()).unwrap();
        }

        fn ask(&self, bearer: &str) -> Result<Option<String>, u16> {
            let mut headers = HeaderMap::new();
            if !bearer.is_empty() {
                headers.insert(AUTHORIZATION, format!("Bearer {bearer}").parse().unwrap());
            }
            let asked = self.keys.of(&headers).map(|holder| holder.map(|holder| holder.key.name.clone()));
            asked.map_err(|error| error.into_body().0.as_u16())
        }
    }

    /// `cp -p` and unpacked archives leave such a file.
    #[test]
    #[cfg(unix)]
    fn a_revoked_key_is_out_though_the_file_looks_the_same() {
        let place = TempKeys::new();
        let (one, text) = Key::make("one", vec![Scope::Predict], Vec::new());
        let two = Key { created: one.created.clone(), ..Key::make("two", vec![Scope::Predict], Vec::new()).0 };
        place.put(&[&one]);
        assert_eq!(place.ask(&text), Ok(Some("one".to_owned())));
        let before = fs::metadata(&place.keys.path).unwrap();
        place.put(&[&two]);
        fs::File::options()
            .write(true)
            .open(&place.keys.path)
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
        let after = fs::metadata(&place.keys.path).unwrap();
        assert_eq!((after.len(), after.modified().unwrap()), (before.len(), before.modified().unwrap()));
        assert_eq!(place.ask(&text), Err(401));
    }

    #[test]
    fn only_who_has_a_key_is_known() {
        let place = TempKeys::new();
        assert_eq!(place.ask(""), Ok(None), "without keys there is nothing to ask for");
        let (key, text) = Key::make("ours", vec![Scope::Predict], Vec::new());
        let (other, _) = Key::make("other", vec![Scope::Predict], Vec::new());
        place.put(&[&key, &other]);
        assert_eq!(place.ask(&text), Ok(Some("ours".to_owned())));
        let stranger = Key::make("stranger", Vec::new(), Vec::new()).1;
        let swapped = text.replace(&key.id, &other.id);
        for wrong in ["", "uk", "uk__", &text[1..], &text[..text.len() - 1], &stranger, &swapped, &key.hash] {
            assert_eq!(place.ask(wrong), Err(401), "{wrong}");
        }
        let kept = fs::read_to_string(&place.keys.path).unwrap();
        // The part after prefix and id; it may contain a `_` itself.
        let secret = text.splitn(3, '_').nth(2).unwrap();
        assert!(!kept.contains(secret), "the secret is in the file");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&place.keys.path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        // The key file and the lock file.
        assert_eq!(fs::read_dir(place.directory.path().join("kept")).unwrap().count(), 2);
    }

    #[test]
    fn a_revoked_key_is_out_and_nothing_opens_up() {
        let place = TempKeys::new();
        let (key, text) = Key::make("ours", vec![Scope::Predict], Vec::new());
        place.put(&[&key]);
        assert!(place.ask(&text).is_ok());
        place.put(&[]);
        assert_eq!((place.ask(&text), place.ask("")), (Err(401), Err(401)), "the last one was revoked");
        place.put(&[&key]);
        assert!(place.ask(&text).is_ok());
        fs::write(&place.keys.path, "{").unwrap();
        assert!(place.ask(&text).is_ok(), "a broken file takes no key away");
        assert_eq!(place.ask(""), Err(401));
        fs::remove_file(&place.keys.path).unwrap();
        assert_eq!((place.ask(&text), place.ask("")), (Err(401), Err(401)), "the file is gone");
        let broken = TempKeys::new();
        fs::create_dir_all(broken.keys.path.parent().unwrap()).unwrap();
        fs::write(&broken.keys.path, "{").unwrap();
        assert_eq!(broken.ask(""), Err(401), "nobody knows whether there are keys");
    }

    /// The next start requires a key whatever happened to the file.
    #[test]
    fn a_start_after_the_last_key_opens_nothing() {
        let again = |place: &TempKeys| {
            let options = HttpOptions { keys: place.keys.path.clone(), ..HttpOptions::default() };
            let headers = HeaderMap::new();
            let closed = Keys::new(&options).of(&headers).is_err();
            let open = Keys::new(&HttpOptions { open: true, ..options }).of(&headers).is_ok();
            assert!(open, "somebody says so");
            closed
        };
        let never = TempKeys::new();
        assert!(!again(&never) && !are_required(&never.keys.path));
        let place = TempKeys::new();
        let (key, text) = Key::make("ours", vec![Scope::Predict], Vec::new());
        place.put(&[&key]);
        assert!(place.ask(&text).is_ok() && again(&place));
        place.put(&[]);
        assert!(again(&place), "the last one was revoked");
        fs::remove_file(&place.keys.path).unwrap();
        assert!(again(&place), "the file is gone");
        fs::remove_file(lock_of(&place.keys.path)).unwrap();
        assert!(!again(&place), "somebody took away both");
    }

    #[test]
    fn keys_that_are_made_at_once_are_all_kept() {
        let place = TempKeys::new();
        let path = &place.keys.path;
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let (key, _) = Key::make("one of many", vec![Scope::Predict], Vec::new());
                    change(path, |keys| {
                        keys.push(key);
                        Some(())
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(read(path).unwrap().len(), 12);
        assert_eq!(
            change(path, |keys| {
                keys.clear();
                None::<()>
            })
            .unwrap(),
            None
        );
        assert_eq!(read(path).unwrap().len(), 12, "nothing was to be changed");
    }

    /// A body is read to its end; the excess must be waited for.
    #[test]
    fn bytes_a_minute_are_counted() {
        let (mut key, _) = Key::make("ours", Vec::new(), Vec::new());
        key.bytes_per_minute = Some(600);
        let (holder, begun) = (Holder::new(key, 8), Instant::now());
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        assert_eq!(holder.spend(at(0)), Ok(()));
        holder.owe(500, at(0));
        assert_eq!(holder.spend(at(0)), Ok(()), "there are some left");
        holder.owe(500, at(0));
        assert_eq!((holder.spend(at(0)), holder.spend(at(39))), (Err("bytes"), Err("bytes")));
        assert_eq!(holder.spend(at(42)), Ok(()));
    }

    #[test]
    fn requests_a_minute_are_counted() {
        let (mut key, _) = Key::make("ours", Vec::new(), Vec::new());
        key.per_minute = Some(3);
        let (holder, begun) = (Holder::new(key, 8), Instant::now());
        let spent = |seconds: u64| holder.spend(begun + Duration::from_secs(seconds)).is_ok();
        assert_eq!([0, 0, 0, 0, 19, 21, 22, 600, 600, 600, 600].map(spent), {
            [true, true, true, false, false, true, false, true, true, true, false]
        });
    }
}
