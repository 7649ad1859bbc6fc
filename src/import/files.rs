//! The files of a project, from a directory, a zip archive or one file, with limits: foreign files may be broken or
//! hostile.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _, Seek},
    path::{Component, Path, PathBuf},
};

use zip::ZipArchive;

use super::ImportError;

/// Endings of files that some format uses; others are not read.
const ENDINGS: [&str; 6] = ["json", "yml", "yaml", "md", "txt", "jsonl"];

/// Limits on a project.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    files: usize,
    /// Per file, unpacked.
    file_bytes: u64,
    /// All files together, unpacked.
    bytes: u64,
    /// Depth of nested directories.
    depth: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self { files: 50_000, file_bytes: 64 << 20, bytes: 512 << 20, depth: 16 }
    }
}

/// Content by path below the project's root, with `/`.
pub(super) type SourceFiles = BTreeMap<String, Vec<u8>>;

/// Reads a project. A single directory around everything (common in archives) is not part of the paths.
pub(super) fn read(path: &Path, most: Most) -> Result<SourceFiles, ImportError> {
    let io = |source| ImportError::Io { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(io)?;
    let mut reading = DirectoryReader { most, files: SourceFiles::new(), bytes: 0, origin: path };
    if metadata.is_dir() {
        reading.directory(path, "", 0)?;
    } else {
        let mut file = fs::File::open(path).map_err(io)?;
        let mut magic = [0; 4];
        let is_archive = file.read_exact(&mut magic).is_ok() && magic == *b"PK\x03\x04";
        file.rewind().map_err(io)?;
        if is_archive {
            reading.archive(file)?;
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            reading.add(name, file)?;
        }
    }
    if reading.files.is_empty() {
        return Err(ImportError::Empty { path: path.to_owned() });
    }
    Ok(without_common_root(reading.files))
}

struct DirectoryReader<'a> {
    most: Most,
    files: SourceFiles,
    bytes: u64,
    origin: &'a Path,
}

impl DirectoryReader<'_> {
    /// Skips links, which may lead anywhere.
    fn directory(&mut self, directory: &Path, below: &str, depth: usize) -> Result<(), ImportError> {
        if depth > self.most.depth {
            return Err(self.refuse(below, format!("it lies more than {} directories deep", self.most.depth)));
        }
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| ImportError::Io { path, source }
        };
        for entry in fs::read_dir(directory).map_err(io(directory))? {
            let entry = entry.map_err(io(directory))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(io(&entry.path()))?);
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let relative = if below.is_empty() { name } else { format!("{below}/{name}") };
            if kind.is_dir() {
                self.directory(&path, &relative, depth + 1)?;
            } else if kind.is_file() && is_wanted(&relative) {
                self.add(relative, fs::File::open(&path).map_err(io(&path))?)?;
            }
        }
        Ok(())
    }

    fn archive(&mut self, file: fs::File) -> Result<(), ImportError> {
        let broken = |error: &dyn std::fmt::Display, origin: &Path| ImportError::Archive {
            path: origin.to_owned(),
            entry: String::new(),
            reason: format!("it is not a whole zip archive: {error}"),
        };
        let mut archive = ZipArchive::new(file).map_err(|error| broken(&error, self.origin))?;
        if archive.len() > self.most.files {
            return Err(self.refuse("", format!("it has more than {} entries", self.most.files)));
        }
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(|error| broken(&error, self.origin))?;
            let name = entry.name().map_err(|error| broken(&error, self.origin))?.replace('\\', "/");
            // Nothing is written to an entry's path, but such a path shows bad intent.
            if !is_below(&name) {
                return Err(self.refuse(&name, "it leads out of the archive".to_owned()));
            }
            if entry.is_dir() || !is_wanted(&name) || name.split('/').any(|part| part.starts_with('.')) {
                continue;
            }
            if entry.is_symlink() {
                return Err(self.refuse(&name, "it is a link".to_owned()));
            }
            self.add(name, &mut entry)?;
        }
        Ok(())
    }

    /// Counts the bytes actually read, whatever sizes an archive claims.
    fn add(&mut self, name: String, reader: impl io::Read) -> Result<(), ImportError> {
        if self.files.len() >= self.most.files {
            return Err(self.refuse(&name, format!("there are more than {} files", self.most.files)));
        }
        let left = self.most.file_bytes.min(self.most.bytes.saturating_sub(self.bytes));
        let mut bytes = Vec::new();
        if let Err(error) = reader.take(left + 1).read_to_end(&mut bytes) {
            return Err(self.refuse(&name, format!("it could not be read: {error}")));
        }
        let length = bytes.len() as u64;
        if length > left {
            let (one, all) = (self.most.file_bytes >> 20, self.most.bytes >> 20);
            return Err(self.refuse(&name, format!("it is too large: {one} MiB a file, {all} MiB together")));
        }
        self.bytes += length;
        if self.files.contains_key(&name) {
            return Err(self.refuse(&name, "it is there twice".to_owned()));
        }
        self.files.insert(name, bytes);
        Ok(())
    }

    fn refuse(&self, entry: &str, reason: String) -> ImportError {
        ImportError::Archive { path: self.origin.to_owned(), entry: entry.to_owned(), reason }
    }
}

fn is_wanted(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) && !name.starts_with("__MACOSX/")
}

/// True for a relative path that never leaves its directory.
fn is_below(name: &str) -> bool {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    !name.contains('\0')
        && !has_drive
        && PathBuf::from(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn without_common_root(mut files: SourceFiles) -> SourceFiles {
    loop {
        let root = files.keys().next().and_then(|name| Some(format!("{}/", name.split_once('/')?.0)));
        let Some(root) = root.filter(|root| files.keys().all(|name| name.starts_with(root))) else { return files };
        // Keeps a directory whose name a format looks for.
        if ["intents/", "entities/", "entityTypes/", "data/", "Intents/"].contains(&root.as_str()) {
            return files;
        }
        files = files.into_iter().map(|(name, bytes)| (name[root.len()..].to_owned(), bytes)).collect();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            writer.start_file(*name, SimpleFileOptions::default()).expect("an entry");
            writer.write_all(bytes).expect("its bytes");
        }
        writer.finish().expect("an archive").into_inner()
    }

    fn read_bytes(bytes: &[u8], most: Most) -> Result<SourceFiles, ImportError> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("project.zip");
        fs::write(&path, bytes).expect("a file");
        read(&path, most)
    }

    #[test]
    fn an_archive_is_read_without_its_outer_directory() {
        let bytes = archive(&[("bot/agent.json", b"{}"), ("bot/intents/a.json", b"[]"), ("bot/logo.png", b"x")]);
        let files = read_bytes(&bytes, Most::default()).expect("it is read");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["agent.json", "intents/a.json"]);
    }

    #[test]
    fn an_archive_that_leads_outside_or_swells_is_refused() {
        for name in ["../evil.json", "/etc/evil.json", "a/../../evil.json", "C:evil.json", "..\\evil.json"] {
            let error = read_bytes(&archive(&[(name, b"{}")]), Most::default()).expect_err("refused");
            assert!(error.to_string().contains("leads out of the archive"), "{name}: {error}");
        }
        let few = Most { file_bytes: 1 << 20, bytes: 2 << 20, ..Most::default() };
        let bomb = archive(&[("a.json", &vec![b' '; 3 << 20])]);
        assert!(bomb.len() < 1 << 17);
        assert!(read_bytes(&bomb, few).expect_err("refused").to_string().contains("too large"));
        let several: Vec<(String, Vec<u8>)> = (0..3).map(|n| (format!("{n}.json"), vec![b' '; 1 << 20])).collect();
        let several: Vec<(&str, &[u8])> = several.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        assert!(read_bytes(&archive(&several), few).is_err());
        assert!(read_bytes(&archive(&several), Most { files: 2, ..Most::default() }).is_err());
    }

    #[test]
    fn a_torn_archive_and_an_empty_one_are_told_apart() {
        let bytes = archive(&[("a.json", b"{}")]);
        let error = read_bytes(&bytes[..bytes.len() - 10], Most::default()).expect_err("torn");
        assert!(error.to_string().contains("not a whole zip archive"), "{error}");
        let error = read_bytes(&archive(&[("a.png", b"x")]), Most::default()).expect_err("empty");
        assert!(matches!(error, ImportError::Empty { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_directory_are_passed_over() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("a.json"), "{}").expect("a file");
        std::os::unix::fs::symlink("/etc/hostname", directory.path().join("b.txt")).expect("a link");
        std::os::unix::fs::symlink(directory.path(), directory.path().join("loop")).expect("a link");
        let files = read(directory.path(), Most::default()).expect("it is read");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a.json"]);
    }
}
