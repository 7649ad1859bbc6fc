//! Shared by the readers of all formats: documents by path, members by type, and a record of what happened to each
//! part.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    files::SourceFiles,
    project::Place,
    report::{Fate, ReportEntry},
};
use crate::module::{Diagnostic, Diagnostics, document::Document, kind_of};

pub(super) struct ProjectReader {
    files: SourceFiles,
    documents: BTreeMap<String, Document>,
    /// Each with its number of lines below the line of its pointer.
    entries: Vec<(ReportEntry, usize)>,
    faults: Vec<(Diagnostic, usize)>,
    is_refused: bool,
    /// Quoted values may go on at any indentation.
    unfolds: bool,
}

impl ProjectReader {
    pub(super) fn new(files: SourceFiles) -> Self {
        Self {
            files,
            documents: BTreeMap::new(),
            entries: Vec::new(),
            faults: Vec::new(),
            is_refused: false,
            unfolds: false,
        }
    }

    /// Reads YAML as other tools do, which let a quoted value go on at any indentation.
    pub(super) fn unfolding(self) -> Self {
        Self { unfolds: true, ..self }
    }

    /// The paths that `test` accepts, in order.
    pub(super) fn paths(&self, test: impl Fn(&str) -> bool) -> Vec<String> {
        self.files.keys().filter(|path| test(path)).cloned().collect()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// True if the file has these characters somewhere.
    pub(super) fn contains(&self, path: &str, text: &str) -> bool {
        self.files.get(path).is_some_and(|bytes| String::from_utf8_lossy(bytes).contains(text))
    }

    /// A file's text without a byte order mark; a fault if it is not UTF-8.
    pub(super) fn text(&mut self, path: &str) -> Option<String> {
        let bytes = self.files.get(path)?;
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match String::from_utf8(bytes.to_vec()) {
            Ok(text) => Some(text),
            Err(_) => {
                self.fault(&Place::new(path, ""), "not-utf-8", "the file is not UTF-8", "save it as UTF-8");
                None
            }
        }
    }

    /// The value of a JSON or YAML file; a fault if it cannot be read.
    pub(super) fn document(&mut self, path: &str) -> Option<Value> {
        let bytes = self.files.get(path)?.clone();
        self.parse(path, bytes)
    }

    /// The same for a part of a file; earlier lines are replaced by empty ones, so that line numbers stay right.
    pub(super) fn parse(&mut self, path: &str, bytes: Vec<u8>) -> Option<Value> {
        let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
        let text = if self.unfolds && is_yaml { String::from_utf8(bytes.clone()).ok() } else { None };
        let parsed = Document::parse(path, bytes).or_else(|found| match text {
            Some(text) => Document::parse(path, unfold(&text).into_bytes()),
            None => Err(found),
        });
        match parsed {
            Ok(document) => {
                for warning in &document.warnings {
                    let place = Place { line: warning.line, ..Place::new(path, warning.pointer.as_str()) };
                    self.changed(&place, "a key that is written twice", "the last one counts, as for most readers");
                }
                let value = document.value.clone();
                self.documents.insert(path.to_owned(), document);
                Some(value)
            }
            Err(Diagnostics(found)) => {
                self.faults.extend(found.into_iter().map(|found| (found, 0)));
                None
            }
        }
    }

    fn tell(&mut self, fate: Fate, place: &Place, what: impl Into<String>, why: impl Into<String>) {
        self.entries.push((ReportEntry::new(fate, place, what, why), place.below));
    }

    pub(super) fn kept(&mut self, place: &Place, what: impl Into<String>, why: impl Into<String>) {
        self.tell(Fate::Kept, place, what, why);
    }

    pub(super) fn changed(&mut self, place: &Place, what: impl Into<String>, why: impl Into<String>) {
        self.tell(Fate::Changed, place, what, why);
    }

    pub(super) fn dropped(&mut self, place: &Place, what: impl Into<String>, why: impl Into<String>) {
        self.tell(Fate::Dropped, place, what, why);
    }

    /// Reports a part that cannot be read. It is left out of the module; the import goes on.
    pub(super) fn fault(&mut self, place: &Place, code: &'static str, message: impl Into<String>, hint: &str) {
        let mut found = Diagnostic::error(code, &place.file, &place.pointer, message);
        found.line = place.line;
        let found = if hint.is_empty() { found } else { found.hint(hint) };
        self.faults.push((found, place.below));
    }

    /// Reports a problem for which there is no module: the import is refused, with all faults that were found.
    pub(super) fn refuse(&mut self, place: &Place, code: &'static str, message: impl Into<String>, hint: &str) {
        self.fault(place, code, message, hint);
        self.is_refused = true;
    }

    /// Refuses a source of which nothing can be read: for the faults that were found, or for this.
    pub(super) fn refuse_as_empty(&mut self, code: &'static str, message: impl Into<String>, hint: &str) {
        if self.faults.is_empty() {
            self.fault(&Place::default(), code, message, hint);
        }
        self.is_refused = true;
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// A member that should be an object; a fault if it has another type, `None` if it is absent.
    pub(super) fn object<'v>(&mut self, value: &'v Value, key: &str, place: &Place) -> Option<&'v Map<String, Value>> {
        match value.get(key)? {
            Value::Null => None,
            Value::Object(map) => Some(map),
            other => {
                self.fault(
                    &place.key(key),
                    "bad-member",
                    format!("`{key}` is an object, found {}", kind_of(other)),
                    "",
                );
                None
            }
        }
    }

    /// The same for a list; empty if it is absent.
    pub(super) fn list<'v>(&mut self, value: &'v Value, key: &str, place: &Place) -> &'v [Value] {
        match value.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.fault(&place.key(key), "bad-member", format!("`{key}` is a list, found {}", kind_of(other)), "");
                &[]
            }
        }
    }

    /// A required name.
    pub(super) fn name<'v>(&mut self, value: &'v Value, key: &str, place: &Place) -> Option<&'v str> {
        match value.get(key) {
            Some(Value::String(name)) if !name.trim().is_empty() => Some(name.trim()),
            found => {
                let found = found.map_or("nothing", kind_of);
                self.fault(place, "bad-member", format!("`{key}` is a text that is not empty, found {found}"), "");
                None
            }
        }
    }

    /// All entries, with line numbers.
    pub(super) fn finish(self) -> Result<Vec<ReportEntry>, Diagnostics> {
        let Self { documents, mut entries, faults, is_refused, .. } = self;
        let locate = |found: &mut Vec<Diagnostic>, below: &[usize]| {
            let known: Vec<bool> = found.iter().map(|found| found.line.is_some()).collect();
            documents.values().for_each(|document| document.locate(found));
            for ((found, below), known) in found.iter_mut().zip(below).zip(known) {
                if !known {
                    found.line = found.line.map(|line| line + below);
                }
                whole_file(&mut found.file);
            }
        };
        if is_refused {
            let (mut found, below): (Vec<Diagnostic>, Vec<usize>) = faults.into_iter().unzip();
            locate(&mut found, &below);
            found.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
            return Err(Diagnostics(found));
        }
        entries.extend(faults.into_iter().map(|(found, below)| (left_out(found), below)));
        let (mut entries, below): (Vec<ReportEntry>, Vec<usize>) = entries.into_iter().unzip();
        let mut found: Vec<Diagnostic> = entries
            .iter()
            .map(|entry| {
                let mut found = Diagnostic::warning("", &entry.file, &entry.pointer, "");
                found.line = entry.line;
                found
            })
            .collect();
        locate(&mut found, &below);
        for (entry, found) in entries.iter_mut().zip(found) {
            (entry.line, entry.file) = (found.line, found.file);
        }
        entries.sort_by(|a, b| (a.fate, &a.file, a.line).cmp(&(b.fate, &b.file, b.line)));
        Ok(entries)
    }
}

/// What becomes of a part that cannot be read.
fn left_out(found: Diagnostic) -> ReportEntry {
    let hint = found.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    let place = Place { line: found.line, ..Place::new(&found.file, found.pointer) };
    ReportEntry::new(Fate::Dropped, &place, found.message, format!("it cannot be read and is left out{hint}"))
}

/// The text with each quoted value on the line where it begins, and empty lines in place of those that it went on in.
///
/// Readers of other tools let such a value go on at any indentation, ours does not.
fn unfold(text: &str) -> String {
    let mut unfolded = String::with_capacity(text.len());
    // The quotation mark of the value that goes on, and the lines that it took.
    let mut open: Option<(char, usize)> = None;
    // The indentation of a key whose value is a block of lines, in which quotation marks mean nothing.
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let content = line.trim_start();
        let indentation = line.len() - content.len();
        let rest = if let Some((mark, taken)) = open {
            match (mark, unfolded.ends_with('\\')) {
                // An empty line is a line break, and a backslash at the end of a line takes its break away.
                ('"', _) if content.is_empty() => unfolded.push_str("\\n"),
                ('"', true) => drop(unfolded.pop()),
                _ if unfolded.ends_with("\\n") => {}
                _ => unfolded.push(' '),
            }
            unfolded.push_str(content);
            open = Some((mark, taken + 1));
            Some((mark, content))
        } else {
            unfolded.push_str(line);
            block = block.filter(|outer| content.is_empty() || indentation > *outer);
            if block.is_none() && begins_block(content) {
                block = Some(indentation);
            }
            block.is_none().then(|| quoted(content)).flatten()
        };
        if let Some((mark, rest)) = rest {
            let taken = open.map_or(0, |(_, taken)| taken);
            open = (!closes(rest, mark)).then_some((mark, taken));
            if open.is_none() {
                unfolded.push_str(&"\n".repeat(taken));
            }
        }
        if open.is_none() {
            unfolded.push('\n');
        }
    }
    unfolded
}

/// True of a line such as `key: |2-  # a comment`.
fn begins_block(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    line.trim_end_matches(|c: char| c == '+' || c == '-' || c.is_ascii_digit()).ends_with(['|', '>'])
}

/// The mark of a quoted value and what follows it, of a line such as `- key: "value`, `- 'value` or `"key": "value`.
fn quoted(line: &str) -> Option<(char, &str)> {
    let mark_of = |value: &str| value.chars().next().filter(|mark| matches!(mark, '"' | '\''));
    let value = line.trim_start_matches(['-', ' ']);
    if value.starts_with('#') {
        return None;
    }
    let value = match mark_of(value).map(|mark| format!("{mark}: ")) {
        Some(end_of_key) => value[1..].split_once(&end_of_key).map_or(value, |(_, value)| value),
        None => value.split_once(": ")?.1,
    };
    let value = value.trim_start();
    Some((mark_of(value)?, &value[1..]))
}

/// True if the quotation ends in this text. A mark that is doubled or escaped does not end it.
fn closes(text: &str, mark: char) -> bool {
    let mut characters = text.chars().peekable();
    while let Some(one) = characters.next() {
        if mark == '"' && one == '\\' || mark == '\'' && one == mark && characters.peek() == Some(&mark) {
            characters.next();
        } else if one == mark {
            return true;
        }
    }
    false
}

/// Separates a file's path from the number of a document in it; each document has its own pointers.
pub(super) const PART: &str = "#part";

fn whole_file(file: &mut String) {
    if let Some(at) = file.find(PART) {
        file.truncate(at);
    }
}

/// A text member, trimmed; empty if absent or of another type.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default().trim()
}

/// A boolean as the formats write it, including "yes" and "no", which YAML 1.2 keeps as texts.
pub(super) fn flag(value: &Value, key: &str) -> Option<bool> {
    match value.get(key)? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "yes" | "true" | "on" => Some(true),
            "no" | "false" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A scalar as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_value_goes_on_at_any_indentation() {
        for (text, unfolded) in [
            ("a: \"We open\n  at nine.\"\nb: 1\n", "a: \"We open at nine.\"\n\nb: 1\n"),
            ("- \"one\n\n  two\"\n", "- \"one\\ntwo\"\n\n\n"),
            ("- \"Wel\\\n  come\"\n", "- \"Welcome\"\n\n"),
            ("\"a\": \"On \\\"Sunday\\\"\n  never\"\n", "\"a\": \"On \\\"Sunday\\\" never\"\n\n"),
            ("- 'it''s\n  one'\n", "- 'it''s one'\n\n"),
        ] {
            assert_eq!(unfold(text), unfolded, "{text}");
        }
        for same in
            ["b: |2- # lines\n  - say \"x\n  - y\nc: don't\n", "# todo: \"fix\na: 1\n", "a: \"b\"\n", "'a': 1\n"]
        {
            assert_eq!(unfold(same), same);
        }
    }
}
