//! All files that an author writes for a module: read together, checked before anything is written, and written one by
//! one, each atomically.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};

use super::{
    Diagnostics, Limits, Module, ModuleName,
    edit::{self, EditError},
    findings::Findings,
    load::{assemble, file_names},
    source::SourceFile,
};
use crate::files::{self, Access, Draft};

/// Files with test cases: evaluation reads them, but understanding never does.
pub const CASES_FILES: [&str; 3] = ["cases.jsonl", "cases.json", "dialogues.jsonl"];

/// The files of a module, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleFiles(BTreeMap<String, Vec<u8>>);

/// A change to an author's files.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Replaces the whole file.
    Put {
        file: String,
        text: String,
    },
    Delete {
        file: String,
    },
    AddExemplar {
        function: String,
        template: String,
        members: serde_json::Map<String, serde_json::Value>,
    },
    RemoveExemplar {
        function: String,
        template: String,
    },
    AddExpression {
        recognizer: String,
        /// The slot that the list is bound to, if the list is new.
        slot: Option<String>,
        label: serde_json::Value,
        expression: String,
    },
    /// A case, or a dialogue if it has `turns`.
    AddCase {
        case: serde_json::Value,
    },
    /// A value in `module.toml`; `None` removes it.
    Set {
        path: Vec<String>,
        value: Option<serde_json::Value>,
    },
}

/// True if a module may have a file with this name. Files are named in no other way.
#[must_use]
pub fn is_authors(name: &str) -> bool {
    file_names().chain(CASES_FILES).any(|known| known == name)
}

impl ModuleFiles {
    /// Reads the files in the directory. Links to places outside of it, and files that are too long, are left out.
    ///
    /// # Errors
    /// If the directory or a file cannot be read.
    pub fn read(directory: &Path, limits: &Limits) -> io::Result<Self> {
        let root = fs::canonicalize(directory)?;
        let mut files = BTreeMap::new();
        for name in file_names().chain(CASES_FILES) {
            let target = match fs::canonicalize(root.join(name)) {
                Ok(target) => target,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let found = fs::metadata(&target)?;
            if !target.starts_with(&root) || !found.is_file() || found.len() > limits.file_bytes {
                continue;
            }
            let mut bytes = Vec::new();
            fs::File::open(&target)?.take(limits.file_bytes).read_to_end(&mut bytes)?;
            files.insert(name.to_owned(), bytes);
        }
        Ok(Self(files))
    }

    #[must_use]
    pub fn of_texts(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(texts.into_iter().filter(|(name, _)| is_authors(name)).map(|(name, text)| (name, text.into())).collect())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// `None` if there is no such file, or if it is not text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        str::from_utf8(self.0.get(name)?).ok()
    }

    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Identifies the content of all files together: equal tags mean equal files.
    #[must_use]
    pub fn tag(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in self.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes]) {
            hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().to_hex()[..24].to_owned()
    }

    /// The module that the files make, if they make one, and all findings about them.
    #[must_use]
    pub fn check(&self, name: ModuleName, limits: &Limits) -> (Option<Module>, Diagnostics) {
        // In the order in which a directory is read: the version depends on it.
        let read = file_names().filter_map(|name| {
            let bytes = self.0.get(name)?.clone();
            Some(SourceFile { name: name.to_owned(), bytes })
        });
        assemble(name, &read.collect::<Vec<_>>(), limits, Findings::new())
    }

    /// The files after these changes, which are made in order.
    ///
    /// # Errors
    /// If one of the changes is impossible; then none is made.
    pub fn changed(&self, changes: &[Change]) -> Result<Self, EditError> {
        let mut files = self.clone();
        for change in changes {
            files.change(change)?;
        }
        Ok(files)
    }

    fn change(&mut self, change: &Change) -> Result<(), EditError> {
        let (file, text) = match change {
            Change::Put { file, text } => (known(file)?, text.clone()),
            Change::Delete { file } => {
                let file = known(file)?;
                return match self.0.remove(file) {
                    Some(_) => Ok(()),
                    None => Err(EditError::Impossible(format!("there is no file `{file}`"))),
                };
            }
            Change::AddExemplar { function, template, members } => {
                let text = self.editable("exemplars.json")?;
                ("exemplars.json", edit::add_exemplar(text, function, template, members)?)
            }
            Change::RemoveExemplar { function, template } => {
                let text = self.editable("exemplars.json")?.unwrap_or("{}");
                ("exemplars.json", edit::remove_exemplar(text, function, template)?)
            }
            Change::AddExpression { recognizer, slot, label, expression } => {
                let text = self.editable("recognizers.json")?;
                ("recognizers.json", edit::add_expression(text, recognizer, slot.as_deref(), label, expression)?)
            }
            Change::AddCase { case } => {
                let file = if case.get("turns").is_some() { "dialogues.jsonl" } else { "cases.jsonl" };
                (file, edit::add_line(self.editable(file)?, case))
            }
            Change::Set { path, value } => {
                ("module.toml", edit::set(self.editable("module.toml")?, path, value.as_ref())?)
            }
        };
        self.0.insert(file.to_owned(), text.into());
        Ok(())
    }

    fn editable(&self, name: &str) -> Result<Option<&str>, EditError> {
        let Some(bytes) = self.0.get(name) else { return Ok(None) };
        let text = str::from_utf8(bytes);
        text.map(Some).map_err(|_| EditError::Impossible(format!("`{name}` is not UTF-8")))
    }

    /// Names of the files that differ.
    #[must_use]
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        names.into_iter().filter(|name| self.0.get(*name) != other.0.get(*name)).cloned().collect()
    }

    /// Writes the files that differ from `before`, the present content of the directory.
    ///
    /// All of them are written beside the old ones before any of these is replaced, so that a full disk changes
    /// nothing.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, directory: &Path, before: &Self) -> io::Result<()> {
        let root = fs::canonicalize(directory)?;
        let differing = self.differing(before);
        let written = differing.iter().filter_map(|name| Some((root.join(name), self.0.get(name)?)));
        let drafts: Vec<Draft> = written.map(|(path, bytes)| draft(&root, &path, bytes)).collect::<io::Result<_>>()?;
        drafts.into_iter().try_for_each(Draft::publish)?;
        differing
            .iter()
            .filter(|name| !self.0.contains_key(*name))
            .try_for_each(|name| fs::remove_file(root.join(name)))
    }
}

fn known(file: &str) -> Result<&str, EditError> {
    if is_authors(file) {
        return Ok(file);
    }
    let shown: String = file.chars().take(80).collect();
    Err(EditError::Impossible(format!("a module has no file `{shown}`")))
}

/// The new content of a file, whole, beside the old one.
fn draft(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<Draft> {
    let parent = path.parent().unwrap_or(root);
    if !parent.exists() {
        fs::create_dir(parent)?;
    }
    // The directory of prompts may be a link.
    if !fs::canonicalize(parent)?.starts_with(root) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it lies outside of the module's directory"));
    }
    let access = fs::metadata(path).map_or(Access::Usual, |before| Access::As(before.permissions()));
    files::draft(path, access, |file| file.write_all(bytes))
}

/// True if files of the directory seem to be writable, as far as that can be told without writing one.
#[must_use]
pub fn is_writable(directory: &Path) -> bool {
    let names = file_names().map(|name| directory.join(name)).find(|path| path.is_file());
    let may_write = fs::metadata(directory).is_ok_and(|found| !found.permissions().readonly());
    may_write && names.is_none_or(|path| fs::OpenOptions::new().append(true).open(path).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SCHEMA: &str = r#"[{"name": "set_light", "parameters": {"type": "object", "properties": {
        "room": {"type": "string", "enum": ["hall", "kitchen"]}}}}]"#;

    fn files() -> ModuleFiles {
        ModuleFiles::of_texts([("schema.json".to_owned(), SCHEMA.to_owned())])
    }

    #[test]
    fn a_change_is_checked_before_it_is_written() {
        let name = ModuleName::new("lamp").unwrap();
        let changes = [
            Change::AddExemplar {
                function: "set_light".into(),
                template: "light in the <room>".into(),
                members: serde_json::Map::new(),
            },
            Change::AddCase { case: json!({"utterance": "hall light", "function": "set_light"}) },
            Change::Set { path: vec!["language".into()], value: Some(json!("en")) },
        ];
        let changed = files().changed(&changes).unwrap();
        let (module, found) = changed.check(name.clone(), &Limits::default());
        assert_eq!(module.expect("it loads").functions[0].exemplars.len(), 1, "{found:?}");
        assert_eq!(files().differing(&changed), ["cases.jsonl", "exemplars.json", "module.toml"]);
        assert_ne!(files().tag(), changed.tag());
        let unknown =
            Change::AddExemplar { function: "sing".into(), template: "la".into(), members: serde_json::Map::new() };
        let (module, found) = files().changed(&[unknown]).unwrap().check(name, &Limits::default());
        assert!(module.is_none() && !found.0.is_empty());
    }

    /// Files read from the directory equal those that were written, and have the version that they would have there.
    #[test]
    fn files_are_written_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let (limits, name) = (Limits::default(), ModuleName::new("lamp").unwrap());
        let prompt = Change::Put { file: "prompts/system.jinja".into(), text: "Be brief.\n".into() };
        let first = files().changed(&[prompt]).unwrap();
        first.write(directory.path(), &ModuleFiles::default()).unwrap();
        assert_eq!(ModuleFiles::read(directory.path(), &limits).unwrap(), first);
        let version = first.check(name, &limits).0.unwrap().version;
        assert_eq!(version, super::super::content_version(directory.path()).unwrap());
        files().write(directory.path(), &first).unwrap();
        assert_eq!(ModuleFiles::read(directory.path(), &limits).unwrap(), files());
        let left: Vec<_> = fs::read_dir(directory.path().join("prompts")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn all_files_are_written_or_none() {
        let directory = tempfile::tempdir().unwrap();
        files().write(directory.path(), &ModuleFiles::default()).unwrap();
        fs::write(directory.path().join("prompts"), "a file where the directory should be").unwrap();
        let changes = ["exemplars.json", "prompts/system.jinja", "schema.json"];
        let changes = changes.map(|file| Change::Put { file: file.into(), text: "[]\n".into() });
        files().changed(&changes).unwrap().write(directory.path(), &files()).unwrap_err();
        fs::remove_file(directory.path().join("prompts")).unwrap();
        assert_eq!(ModuleFiles::read(directory.path(), &Limits::default()).unwrap(), files());
    }

    #[test]
    fn no_name_leads_outside() {
        for file in [
            "../schema.json",
            "/etc/passwd",
            "prompts/../../x",
            "schema.json/..",
            "prompts/evil.jinja",
            "",
            "keys.json",
            "a\0b",
        ] {
            let put = Change::Put { file: file.into(), text: "x".into() };
            assert!(files().changed(&[put]).is_err(), "{file:?}");
            let delete = Change::Delete { file: file.into() };
            assert!(files().changed(&[delete]).is_err(), "{file:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn no_link_leads_outside() {
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("secret"), "secret").unwrap();
        files().write(directory.path(), &ModuleFiles::default()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), directory.path().join("prompts")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join("secret"), directory.path().join("module.toml")).unwrap();
        let read = ModuleFiles::read(directory.path(), &Limits::default()).unwrap();
        assert_eq!(read, files());
        let put = |file: &str| read.changed(&[Change::Put { file: file.into(), text: "x".into() }]).unwrap();
        assert!(put("prompts/system.jinja").write(directory.path(), &read).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
        // The link is replaced, not what it leads to.
        put("module.toml").write(directory.path(), &read).unwrap();
        assert_eq!(fs::read_to_string(elsewhere.path().join("secret")).unwrap(), "secret");
    }
}
