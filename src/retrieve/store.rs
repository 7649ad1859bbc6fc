//! Stores vectors and graphs between starts.
//!
//! A file is used only if it is complete, ours and of this version; otherwise it is ignored and rewritten: its checksum
//! covers every byte before it. Writers write beside the file and rename, so that readers and other writers see one
//! complete version or another. If the place cannot be written, only the next start takes longer.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    embed::Purpose,
    files::{self, Access},
};

/// The kind of file; changes with the layout.
const VECTORS: [u8; 8] = *b"UPTKVEC1";
const GRAPH: [u8; 8] = *b"UPTKGRF1";

/// After this time, a temporary file counts as abandoned.
const ABANDONED: std::time::Duration = std::time::Duration::from_secs(3600);

const KEY: usize = blake3::OUT_LEN;
/// Kind, fingerprint, length of the payload.
const HEADER: usize = 8 + KEY + 8;

/// The key of a vector: its text and purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VectorKey([u8; KEY]);

impl VectorKey {
    #[must_use]
    pub(super) fn new(purpose: Purpose, text: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(match purpose {
            Purpose::Query => b"q",
            Purpose::Passage => b"p",
            Purpose::Symmetric => b"s",
        });
        hasher.update(text.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    #[must_use]
    pub(super) const fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }
}

/// The file of one module's vectors; the graph lies beside it.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    fingerprint: [u8; KEY],
    dimensions: usize,
}

impl Store {
    /// `identity` is the embedder's: vectors of another one are not used.
    #[must_use]
    pub(super) fn new(path: &Path, identity: &str, dimensions: usize) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(dimensions as u64).to_le_bytes());
        hasher.update(identity.as_bytes());
        Self { path: path.to_owned(), fingerprint: *hasher.finalize().as_bytes(), dimensions }
    }

    /// The stored vectors; none if there is no file, or if it is damaged, or of another embedder or version.
    #[must_use]
    pub(super) fn load(&self) -> HashMap<VectorKey, Vec<f32>> {
        let Some(payload) = read(&self.path, VECTORS, &self.fingerprint) else { return HashMap::new() };
        let entries = payload.chunks_exact(KEY + 4 * self.dimensions);
        if !entries.remainder().is_empty() {
            return HashMap::new();
        }
        let entry = |bytes: &[u8]| {
            let (key, vector) = bytes.split_first_chunk::<KEY>().expect("an entry is longer than its key");
            let (values, _) = vector.as_chunks::<4>();
            (VectorKey(*key), values.iter().map(|&value| f32::from_le_bytes(value)).collect())
        };
        entries.map(entry).collect()
    }

    /// Replaces the stored vectors. A failure is only logged.
    pub(super) fn save(&self, vectors: &HashMap<VectorKey, Vec<f32>>) {
        let mut entries: Vec<(&VectorKey, &Vec<f32>)> = vectors.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| **key);
        let mut payload = Vec::with_capacity(entries.len() * (KEY + 4 * self.dimensions));
        for (key, vector) in entries {
            payload.extend_from_slice(&key.0);
            payload.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        }
        write(&self.path, VECTORS, &self.fingerprint, &payload);
    }

    /// The stored graph for exactly the rows behind the hash `content`.
    #[must_use]
    pub(super) fn load_graph(&self, content: &[u8; KEY]) -> Option<Vec<u8>> {
        read(&self.graph_path(), GRAPH, content)
    }

    /// As [`Self::save`].
    pub(super) fn save_graph(&self, content: &[u8; KEY], graph: &[u8]) {
        write(&self.graph_path(), GRAPH, content, graph);
    }

    /// Removes a graph that is no longer used.
    pub(super) fn forget_graph(&self) {
        if let Err(error) = fs::remove_file(self.graph_path())
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(path = %self.graph_path().display(), %error, "an old graph could not be removed");
        }
    }

    fn graph_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".graph");
        name.into()
    }
}

/// The payload of the file, if it is complete and has this kind and fingerprint.
fn read(path: &Path, kind: [u8; 8], fingerprint: &[u8; KEY]) -> Option<Vec<u8>> {
    let mut bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "a kept index could not be read; it is made anew");
            return None;
        }
    };
    match payload(&bytes, kind, fingerprint) {
        Ok(found) => {
            let end = found.end;
            bytes.truncate(end);
            bytes.drain(..HEADER);
            Some(bytes)
        }
        Err(reason) => {
            tracing::info!(path = %path.display(), reason, "a kept index is not used; it is made anew");
            None
        }
    }
}

fn payload(bytes: &[u8], kind: [u8; 8], fingerprint: &[u8; KEY]) -> Result<std::ops::Range<usize>, &'static str> {
    let (found_kind, rest) = bytes.split_first_chunk::<8>().ok_or("it is torn")?;
    if *found_kind != kind {
        return Err("it is not a file of this version");
    }
    let (sealed, checksum) = bytes.split_last_chunk::<KEY>().ok_or("it is torn")?;
    // Constant time is not needed: this guards against accidents, not against attackers who can write here.
    if blake3::hash(sealed).as_bytes() != checksum {
        return Err("it is torn");
    }
    let (found_fingerprint, rest) = rest.split_first_chunk::<KEY>().ok_or("it is torn")?;
    if found_fingerprint != fingerprint {
        return Err("it belongs to another model or content");
    }
    let (length, _) = rest.split_first_chunk::<8>().ok_or("it is torn")?;
    if sealed.len() < HEADER || u64::from_le_bytes(*length) != (sealed.len() - HEADER) as u64 {
        return Err("it is torn");
    }
    Ok(HEADER..sealed.len())
}

fn write(path: &Path, kind: [u8; 8], fingerprint: &[u8; KEY], payload: &[u8]) {
    if let Err(error) = try_write(path, kind, fingerprint, payload) {
        tracing::warn!(
            path = %path.display(), %error,
            "the index could not be kept; it works, and the next start makes it anew"
        );
    }
}

fn try_write(path: &Path, kind: [u8; 8], fingerprint: &[u8; KEY], payload: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    files::replace(path, Access::Usual, |file| {
        let mut hasher = blake3::Hasher::new();
        let length = (payload.len() as u64).to_le_bytes();
        for part in [&kind[..], fingerprint, &length, payload] {
            hasher.update(part);
            file.write_all(part)?;
        }
        file.write_all(hasher.finalize().as_bytes())
    })?;
    sweep(path, directory);
    // The rename is durable once its directory is on disk; if a directory cannot be synced, the old file may come back.
    File::open(directory).and_then(|directory| directory.sync_all()).or(Ok(()))
}

/// Removes files left behind by killed writers of `path`.
fn sweep(path: &Path, directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        // A living writer finishes long before that.
        let old = || entry.metadata().and_then(|about| about.modified()).ok()?.elapsed().ok();
        let is_draft = files::is_draft(&entry.file_name().to_string_lossy(), path);
        if is_draft && old().is_some_and(|age| age > ABANDONED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors() -> HashMap<VectorKey, Vec<f32>> {
        [("one", [1.0, 0.0]), ("two", [0.0, 1.0]), ("three", [0.6, 0.8])]
            .into_iter()
            .map(|(text, vector)| (VectorKey::new(Purpose::Symmetric, text), vector.to_vec()))
            .collect()
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("deep/er/module.vectors");
        let store = Store::new(&path, "model", 2);
        assert!(store.load().is_empty());
        store.save(&vectors());
        assert_eq!(store.load(), vectors());
        let left = fs::read_dir(path.parent().expect("a parent")).expect("listed").count();
        assert_eq!(left, 1, "no temporary file is left");
    }

    #[test]
    fn only_what_was_abandoned_is_swept() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("module.vectors");
        let id = uuid::Uuid::new_v4().simple();
        let place = |name: String| directory.path().join(name);
        let abandoned = place(format!("module.vectors.{id}.tmp"));
        let others = [place(format!("other.vectors.{id}.tmp")), place("module.vectors.notes.tmp".to_owned())];
        let long_ago = std::time::SystemTime::now() - 2 * ABANDONED;
        for file in others.iter().chain([&abandoned]) {
            File::create(file).and_then(|file| file.set_modified(long_ago)).expect("written");
        }
        let alive = place(format!("module.vectors.{}.tmp", uuid::Uuid::new_v4().simple()));
        fs::write(&alive, "").expect("written");
        Store::new(&path, "model", 2).save(&vectors());
        assert!(!abandoned.exists() && alive.exists() && others.iter().all(|file| file.exists()));
    }

    #[test]
    fn another_model_or_dimension_is_foreign() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("module.vectors");
        Store::new(&path, "model", 2).save(&vectors());
        assert!(Store::new(&path, "other", 2).load().is_empty());
        assert!(Store::new(&path, "model", 1).load().is_empty());
    }

    #[test]
    fn the_purpose_is_part_of_the_key() {
        assert_ne!(VectorKey::new(Purpose::Symmetric, "text"), VectorKey::new(Purpose::Passage, "text"));
    }

    #[test]
    fn a_graph_belongs_to_its_content() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::new(&directory.path().join("module.vectors"), "model", 2);
        store.save_graph(&[1; KEY], b"links");
        assert_eq!(store.load_graph(&[1; KEY]).as_deref(), Some(&b"links"[..]));
        assert_eq!(store.load_graph(&[2; KEY]), None);
        store.forget_graph();
        store.forget_graph();
        assert_eq!(store.load_graph(&[1; KEY]), None);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_no_failure() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("file");
        fs::write(&file, "in the way").expect("written");
        let store = Store::new(&file.join("module.vectors"), "model", 2);
        store.save(&vectors());
        assert!(store.load().is_empty());
        let store = Store::new(directory.path(), "model", 2);
        store.save(&vectors());
        assert!(store.load().is_empty());
    }

    #[test]
    fn writers_at_once_leave_one_whole_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("module.vectors");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let store = Store::new(&path, "model", 2);
                    for _ in 0..8 {
                        store.save(&vectors());
                        assert_eq!(store.load(), vectors());
                    }
                });
            }
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_damage_is_noticed(at in any::<prop::sample::Index>(), bit in 0_u32..8, cut in any::<bool>()) {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("module.vectors");
            let store = Store::new(&path, "model", 2);
            store.save(&vectors());
            let mut bytes = fs::read(&path).expect("read");
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << bit;
            }
            fs::write(&path, &bytes).expect("written");
            prop_assert!(store.load().is_empty());
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("module.vectors");
            fs::write(&path, &bytes).expect("written");
            prop_assert!(Store::new(&path, "model", 2).load().is_empty());
        }
    }
}
