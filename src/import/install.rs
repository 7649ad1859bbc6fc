//! Writes a module beside its place, and moves it there as a whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::ImportError;

/// Refuses an occupied place.
pub(super) fn check_place(into: &Path, force: bool) -> Result<(), ImportError> {
    if fs::symlink_metadata(into).is_err() {
        return Ok(());
    }
    if !force {
        return Err(ImportError::Exists { path: into.to_owned() });
    }
    // A mistyped directory must not lose its contents.
    let is_module = fs::read_dir(into).is_ok_and(|entries| {
        let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).peekable();
        names.peek().is_none() || names.any(|name| name.starts_with("schema"))
    });
    if is_module { Ok(()) } else { Err(ImportError::NotAModule { path: into.to_owned() }) }
}

/// A temporary directory, removed unless it is installed.
pub(super) struct Staged {
    pub(super) path: PathBuf,
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Staged {
    /// Writes beside `into`, under a name that no module can have.
    pub(super) fn write(into: &Path, files: &[(String, String)]) -> Result<Self, ImportError> {
        let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| ImportError::Io { path, source }
        };
        fs::create_dir_all(parent).map_err(io(parent))?;
        let hidden = format!(".importing-{}", uuid::Uuid::new_v4().simple());
        let staged = Self { path: parent.join(hidden) };
        fs::create_dir(&staged.path).map_err(io(&staged.path))?;
        for (name, text) in files {
            let path = staged.path.join(name);
            fs::write(&path, text).map_err(io(&path))?;
        }
        Ok(staged)
    }

    /// Moves an existing module aside first, and restores it if the new one cannot be installed.
    pub(super) fn install(self, into: &Path) -> Result<(), ImportError> {
        let io = |source: io::Error| ImportError::Io { path: into.to_owned(), source };
        let aside = self.path.with_extension("before");
        let had_one = match fs::rename(into, &aside) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(io(error)),
        };
        if let Err(error) = fs::rename(&self.path, into) {
            if had_one {
                let _ = fs::rename(&aside, into);
            }
            return Err(io(error));
        }
        if had_one {
            let _ = fs::remove_dir_all(&aside);
        }
        Ok(())
    }
}
