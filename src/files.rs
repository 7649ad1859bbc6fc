//! Detects whether a file is still the one that was read.

use std::{fs::Metadata, time::SystemTime};

/// What a file system tells of a file without reading it: equal stamps mean, as far as file systems tell, equal
/// contents. Modification time and length can be the same for different contents (`cp -p`, `touch -r`, an unpacked
/// archive); change time and file identity cannot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    identity: Identity,
}

/// Device, inode, and change time in seconds and nanoseconds.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);

/// Creation time.
#[cfg(not(unix))]
type Identity = Option<SystemTime>;

impl FileStamp {
    #[must_use]
    pub(crate) fn of(file: &Metadata) -> Self {
        Self { modified: file.modified().ok(), length: file.len(), identity: identity(file) }
    }
}

#[cfg(unix)]
fn identity(file: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino(), file.ctime(), file.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(file: &Metadata) -> Identity {
    file.created().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, path::Path, time::Duration};

    use super::*;

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
