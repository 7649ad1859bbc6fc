//! Files that are replaced as a whole, and how to tell that one was.

use std::{
    fs::{self, File, Metadata, Permissions},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use uuid::Uuid;

/// Who may read a file that is written.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// As for any new file of this process.
    Usual,
    /// Its owner alone.
    Owner,
    /// The same as before.
    As(Permissions),
}

/// Replaces the file, whose directory exists: readers see the old or the new content, whole, and so they do after a crash. Of
/// several writers at once, the last one wins.
///
/// # Errors
/// If `write` fails, or the file system does; then nothing is changed.
pub(crate) fn replace(path: &Path, access: Access, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    draft(path, access, write)?.publish()
}

/// What [`replace`] does, up to the moment at which readers see the new content.
///
/// # Errors
/// If `write` fails, or the file system does.
pub(crate) fn draft(path: &Path, access: Access, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Draft> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", Uuid::new_v4().simple()));
    let draft = Draft { written: path.with_file_name(name), path: path.to_owned() };
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if matches!(access, Access::Owner) {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(&draft.written)?;
    if let Access::As(permissions) = access {
        file.set_permissions(permissions)?;
    }
    write(&mut file)?;
    file.sync_all()?;
    Ok(draft)
}

/// True of a file that a writer of `path` made and may still be at work on.
pub(crate) fn is_draft(name: &str, path: &Path) -> bool {
    let own = path.file_name().unwrap_or_default().to_string_lossy();
    let id = name.strip_prefix(&*own).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".tmp"));
    id.is_some_and(|id| Uuid::try_parse(id).is_ok())
}

/// The new content of a file, written beside it; deleted on drop, unless it was renamed.
pub(crate) struct Draft {
    written: PathBuf,
    path: PathBuf,
}

impl Draft {
    /// Puts the new content in the place of the old.
    ///
    /// # Errors
    /// If the file system does not allow it.
    pub(crate) fn publish(self) -> io::Result<()> {
        fs::rename(&self.written, &self.path)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.written);
    }
}

/// What a file system tells of a file without reading it: equal stamps mean, as far as file systems tell, equal
/// contents. Modification time and length can be the same for different contents (`cp -p`, `touch -r`, an unpacked
/// archive); change time and file identity cannot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    identity: FileIdentity,
}

/// Device, inode, and change time in seconds and nanoseconds.
#[cfg(unix)]
type FileIdentity = (u64, u64, i64, i64);

/// Creation time.
#[cfg(not(unix))]
type FileIdentity = Option<SystemTime>;

impl FileStamp {
    #[must_use]
    pub(crate) fn of(file: &Metadata) -> Self {
        Self { modified: file.modified().ok(), length: file.len(), identity: identity(file) }
    }
}

#[cfg(unix)]
fn identity(file: &Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino(), file.ctime(), file.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(file: &Metadata) -> FileIdentity {
    file.created().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::{io::Write as _, os::unix::fs::PermissionsExt as _, time::Duration};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.json");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace(&path, Access::Owner, |file| file.write_all(b"one")).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("one", 0o600));
        replace(&path, Access::As(Permissions::from_mode(0o640)), |file| file.write_all(b"two")).unwrap();
        assert_eq!(mode(), 0o640);
        let failed = replace(&path, Access::Usual, |file| {
            file.write_all(b"thr")?;
            let names = fs::read_dir(directory.path())?.flatten().map(|entry| entry.file_name());
            let drafts = names.filter(|name| is_draft(&name.to_string_lossy(), &path)).count();
            Err(io::Error::other(format!("{drafts} at work")))
        });
        assert_eq!(failed.unwrap_err().to_string(), "1 at work");
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("two", 0o640));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "the draft is gone");
    }

    /// Once replaced, and once overwritten.
    #[test]
    fn a_content_of_the_same_size_and_time_is_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let (file, other) = (directory.path().join("a"), directory.path().join("b"));
        let stamp = |path: &Path| FileStamp::of(&fs::metadata(path).unwrap());
        let dated = |path: &Path, time| fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        fs::write(&file, "one").unwrap();
        let (first, time) = (stamp(&file), fs::metadata(&file).unwrap().modified().unwrap());
        assert_eq!(stamp(&file), first);
        fs::write(&other, "two").unwrap();
        dated(&other, time);
        fs::rename(&other, &file).unwrap();
        let second = stamp(&file);
        assert_eq!((second.modified, second.length), (first.modified, first.length));
        assert_ne!(second, first);
        // Longer than a tick of the file system's clock.
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&file, "six").unwrap();
        dated(&file, time);
        let third = stamp(&file);
        assert_eq!((third.modified, third.length), (first.modified, first.length));
        assert_ne!(third, second);
    }
}
