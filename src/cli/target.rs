use std::path::{Path, PathBuf};

use super::CliError;
use crate::{module::ModuleName, snapshot::ModulesOptions};

/// What `MODULE` means: a name under the modules root, or a directory.
///
/// With a separator, or as `.` or `..`, it is a directory. Otherwise it is a name if the root has it, or else a
/// directory if there is one, or else an (unknown) name. A directory's parent becomes the root.
pub(super) fn resolve(argument: &str, options: &mut ModulesOptions) -> Result<ModuleName, CliError> {
    let is_path = argument == "." || argument == ".." || argument.contains(std::path::is_separator);
    if !is_path {
        let name = ModuleName::new(argument).map_err(|error| CliError::Usage(format!("`{argument}`: {error}")))?;
        if options.root.join(name.as_str()).is_dir() || !Path::new(argument).is_dir() {
            return Ok(name);
        }
    }
    let directory =
        Path::new(argument).canonicalize().map_err(|source| CliError::Io { what: argument.to_owned(), source })?;
    let (Some(parent), Some(last)) = (directory.parent(), directory.file_name()) else {
        return Err(CliError::Usage(format!("`{argument}` is no module's directory")));
    };
    let last = last.to_string_lossy();
    let name = ModuleName::new(&last).map_err(|error| {
        CliError::Usage(format!("`{argument}`: the directory's name is the module's name: {error}; rename it"))
    })?;
    options.root = PathBuf::from(parent);
    Ok(name)
}

/// The name under which a directory is checked: its own, with invalid characters replaced by `_`.
pub(super) fn name_of(directory: &Path) -> ModuleName {
    let full = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let last = full.file_name().map(|last| last.to_string_lossy().into_owned()).unwrap_or_default();
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let clean: String = last.chars().map(|c| if keeps(c) { c } else { '_' }).take(32).collect();
    ModuleName::new(clean.trim_start_matches('.'))
        .or_else(|_| ModuleName::new("module"))
        .expect("`module` is a good name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_becomes_root_and_name() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("shop")).unwrap();
        let mut options = ModulesOptions::default();
        let argument = root.path().join("shop").join(".");
        let name = resolve(&argument.to_string_lossy(), &mut options).unwrap();
        assert_eq!(name.as_str(), "shop");
        assert_eq!(options.root, root.path().canonicalize().unwrap());
    }

    #[test]
    fn a_name_stays_a_name() {
        let mut options = ModulesOptions::default();
        assert_eq!(resolve("no-such-module", &mut options).unwrap().as_str(), "no-such-module");
        assert_eq!(options, ModulesOptions::default());
        assert_eq!(resolve("a b", &mut options).unwrap_err().exit_code(), 2);
        assert_eq!(resolve("no/such/directory", &mut options).unwrap_err().exit_code(), 3);
        assert_eq!(resolve("/", &mut options).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn any_directory_can_be_checked() {
        assert_eq!(name_of(Path::new("/tmp/there is/my module!")).as_str(), "my_module_");
        assert_eq!(name_of(Path::new("/")).as_str(), "module");
        assert_eq!(name_of(&PathBuf::from("/x").join("é".repeat(300))).as_str(), "é".repeat(32));
    }
}
