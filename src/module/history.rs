//! The versions of a module's files that were made here, with their authors and reasons, for looking back and for going
//! back. The module's directory stays authoritative; a change by hand is noticed at the next change here.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::directory::ModuleFiles;
use crate::files::{self, Access};

/// Greatest number and greatest size in bytes of the versions of one module; the oldest are deleted first.
const MOST: usize = 200;
const MOST_BYTES: u64 = 64 << 20;

/// One state of a module's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Counted from 1.
    pub id: u64,
    /// Identifies the content.
    pub tag: String,
    /// When it was made, or first seen, in RFC 3339.
    pub at: String,
    /// Name of the key that was used; empty without keys.
    pub author: String,
    pub reason: String,
    /// Names of the files that differ from the version before.
    pub changed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredVersion {
    #[serde(flatten)]
    version: Version,
    files: BTreeMap<String, String>,
}

/// The versions of one module.
#[derive(Debug, Clone)]
pub struct History(PathBuf);

impl History {
    /// The versions that are kept in this directory, which need not exist yet.
    #[must_use]
    pub const fn at(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// All versions, newest first.
    ///
    /// # Errors
    /// If the directory cannot be read; a version that cannot be read is left out.
    pub fn list(&self) -> io::Result<Vec<Version>> {
        let mut versions: Vec<Version> =
            self.ids()?.into_iter().filter_map(|id| Some(self.kept(id)?.version)).collect();
        versions.reverse();
        Ok(versions)
    }

    /// A version with its files.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<(Version, ModuleFiles)> {
        let StoredVersion { version, files } = self.kept(id)?;
        Some((version, ModuleFiles::of_texts(files)))
    }

    /// Keeps `after` as a version, and `before` too unless it is already the newest one. Call this before anything is
    /// changed, so that there is a way back.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(&self, before: &ModuleFiles, after: &ModuleFiles, author: &str, reason: &str) -> io::Result<Version> {
        fs::create_dir_all(&self.0)?;
        let ids = self.ids()?;
        let mut next = ids.last().copied().unwrap_or_default() + 1;
        let newest = ids.last().and_then(|id| self.get(*id));
        if newest.as_ref().is_none_or(|(version, _)| version.tag != before.tag()) {
            let earlier = newest.map(|(_, files)| files).unwrap_or_default();
            let why = if earlier.is_empty() { "as it was found" } else { "changed outside of this service" };
            self.put(next, &earlier, before, "", why)?;
            next += 1;
        }
        let version = self.put(next, before, after, author, reason)?;
        self.forget();
        Ok(version)
    }

    /// Deletes a version whose change was not made.
    pub fn take_back(&self, id: u64) {
        let _ = fs::remove_file(self.path(id));
    }

    fn put(
        &self,
        id: u64,
        before: &ModuleFiles,
        after: &ModuleFiles,
        author: &str,
        reason: &str,
    ) -> io::Result<Version> {
        let at = Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default().to_string();
        let (author, reason) = (author.to_owned(), reason.to_owned());
        let version = Version { id, tag: after.tag(), at, author, reason, changed: before.differing(after) };
        // A file that is not text is left out.
        let files =
            after.iter().filter_map(|(name, bytes)| Some((name.to_owned(), str::from_utf8(bytes).ok()?.to_owned())));
        let kept = StoredVersion { version, files: files.collect() };
        let text = serde_json::to_vec(&kept)?;
        files::replace(&self.path(id), Access::Usual, |file| file.write_all(&text))?;
        Ok(kept.version)
    }

    fn forget(&self) {
        let ids = self.ids().unwrap_or_default();
        let mut bytes = 0;
        for (count, id) in ids.iter().rev().enumerate() {
            bytes += fs::metadata(self.path(*id)).map_or(0, |found| found.len());
            // The newest version and the one before it always stay.
            if count >= 2 && (count >= MOST || bytes > MOST_BYTES) {
                self.take_back(*id);
            }
        }
    }

    fn kept(&self, id: u64) -> Option<StoredVersion> {
        serde_json::from_slice(&fs::read(self.path(id)).ok()?).ok()
    }

    fn path(&self, id: u64) -> PathBuf {
        self.0.join(format!("{id:08}.json"))
    }

    /// The numbers of the versions, in order.
    fn ids(&self) -> io::Result<Vec<u64>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut ids: Vec<u64> =
            names.filter_map(|name| Path::new(&name).to_str()?.strip_suffix(".json")?.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> ModuleFiles {
        ModuleFiles::of_texts([("schema.json".to_owned(), text.to_owned())])
    }

    #[test]
    fn every_state_can_be_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let history = History::at(directory.path().join("lamp"));
        assert!(history.list().unwrap().is_empty());
        let kept = history.keep(&files("a"), &files("b"), "ann", "better").unwrap();
        assert_eq!((kept.id, kept.changed.as_slice()), (2, ["schema.json".to_owned()].as_slice()));
        assert_eq!(history.keep(&files("b"), &files("c"), "ben", "").unwrap().id, 3);
        // The file was edited by hand in the meantime.
        assert_eq!(history.keep(&files("x"), &files("y"), "ann", "").unwrap().id, 5);
        let told: Vec<(u64, String)> = history.list().unwrap().into_iter().map(|one| (one.id, one.author)).collect();
        assert_eq!(
            told.iter().map(|(id, who)| (*id, who.as_str())).collect::<Vec<_>>(),
            [(5, "ann"), (4, ""), (3, "ben"), (2, "ann"), (1, "")]
        );
        let texts = [(1, "a"), (2, "b"), (3, "c"), (4, "x"), (5, "y")];
        assert!(texts.iter().all(|(id, text)| history.get(*id).unwrap().1 == files(text)));
        assert!(history.get(6).is_none());
        history.take_back(5);
        assert_eq!(history.list().unwrap()[0].id, 4);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let history = History::at(directory.path().to_owned());
        for step in 0..MOST + 5 {
            history.keep(&files(&step.to_string()), &files(&(step + 1).to_string()), "", "").unwrap();
        }
        let versions = history.list().unwrap();
        assert_eq!((versions.len(), versions[0].id), (MOST, MOST as u64 + 6));
    }
}
