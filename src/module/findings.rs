//! Collects diagnostics: each place once, at most a fixed number, and hints with similar names at a limited cost.

use std::{collections::HashSet, fmt};

use super::{Diagnostic, Diagnostics, Severity, squeeze};

/// Greatest number of findings that are kept; more are only counted.
const MAX_FINDINGS: usize = 1_000;

/// Greatest number of name comparisons for hints in one load, so that a thousand typos among ten thousand names stay
/// cheap.
const MAX_COMPARISONS: usize = 200_000;

#[derive(Debug)]
pub(super) struct Findings {
    list: Vec<Diagnostic>,
    seen: HashSet<(String, String, &'static str, String)>,
    dropped_errors: usize,
    dropped_warnings: usize,
    comparisons_left: usize,
    errors: usize,
}

/// A point in time: what was found up to it.
pub(super) struct Mark {
    found: usize,
    errors: usize,
    dropped: usize,
}

impl Findings {
    pub(super) fn new() -> Self {
        Self {
            list: Vec::new(),
            seen: HashSet::new(),
            dropped_errors: 0,
            dropped_warnings: 0,
            comparisons_left: MAX_COMPARISONS,
            errors: 0,
        }
    }

    /// Adds a finding. The same finding at the same place is kept once (a referenced schema is walked once per
    /// reference).
    pub(super) fn push(&mut self, found: Diagnostic) {
        if found.severity == Severity::Error {
            self.errors += 1;
        }
        if self.list.len() >= MAX_FINDINGS {
            match found.severity {
                Severity::Error => self.dropped_errors += 1,
                Severity::Warning => self.dropped_warnings += 1,
            }
            return;
        }
        let key = (found.file.clone(), found.pointer.clone(), found.code, found.message.clone());
        if self.seen.insert(key) {
            self.list.push(found);
        }
    }

    /// Marks the present state, for [`Self::forgive`].
    pub(super) fn mark(&self) -> Mark {
        Mark { found: self.list.len(), errors: self.errors, dropped: self.dropped_errors }
    }

    /// Turns the errors since `mark` into warnings and returns the first one's message; `None` if there were none.
    pub(super) fn forgive(&mut self, mark: &Mark) -> Option<String> {
        if self.errors == mark.errors {
            return None;
        }
        self.errors = mark.errors;
        self.dropped_warnings += self.dropped_errors - mark.dropped;
        self.dropped_errors = mark.dropped;
        let since = self.list.get_mut(mark.found..).unwrap_or_default();
        let mut errors = since.iter_mut().filter(|found| found.severity == Severity::Error);
        let first = errors.next().map(|found| {
            found.severity = Severity::Warning;
            found.message.clone()
        });
        errors.for_each(|found| found.severity = Severity::Warning);
        // The same error was already found in another operation.
        Some(first.unwrap_or_else(|| "what it refers to cannot be read".to_owned()))
    }

    /// Number of errors so far, repeated ones included.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// "did you mean `x`?", if a candidate is similar enough to what was written.
    pub(super) fn near<'a>(&mut self, written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
        let wanted = squeeze(written);
        let mut best: Option<(f64, &str)> = None;
        for candidate in candidates {
            let Some(left) = self.comparisons_left.checked_sub(1) else { break };
            self.comparisons_left = left;
            // Names are short; a long text is not a typo of a name.
            if candidate.len() > 256 || wanted.len() > 256 {
                continue;
            }
            let score = strsim::normalized_damerau_levenshtein(&wanted, &squeeze(candidate));
            if score >= 0.6 && best.is_none_or(|(high, _)| score > high) {
                best = Some((score, candidate));
            }
        }
        best.map(|(_, name)| format!("did you mean `{name}`?"))
    }

    /// All findings, by file (in the order of `files`), each file's in the order in which they were found.
    pub(super) fn finish(self, files: &[&str]) -> Diagnostics {
        let Self { mut list, dropped_errors, dropped_warnings, .. } = self;
        let rank = |file: &str| files.iter().position(|name| *name == file).unwrap_or(files.len());
        list.sort_by_key(|found| (rank(&found.file), found.line.unwrap_or(0)));
        if dropped_errors + dropped_warnings > 0 {
            let message = format!("{dropped_errors} more errors and {dropped_warnings} more warnings are not shown");
            list.push(if dropped_errors > 0 {
                Diagnostic::error("too-many-findings", "", "", message)
            } else {
                Diagnostic::warning("too-many-findings", "", "", message)
            });
        }
        Diagnostics(list)
    }

    pub(super) fn list_mut(&mut self) -> &mut [Diagnostic] {
        &mut self.list
    }
}

/// A JSON pointer that costs nothing until it is shown: a chain of borrowed steps on the stack.
#[derive(Debug, Clone, Copy)]
pub(super) enum PointerChain<'a> {
    /// An encoded pointer that others extend; `""` is the whole file.
    Start(&'a str),
    Key(&'a PointerChain<'a>, &'a str),
    Index(&'a PointerChain<'a>, usize),
}

impl<'a> PointerChain<'a> {
    pub(super) const ROOT: PointerChain<'static> = PointerChain::Start("");

    pub(super) const fn key(&'a self, key: &'a str) -> PointerChain<'a> {
        PointerChain::Key(self, key)
    }

    pub(super) const fn index(&'a self, index: usize) -> PointerChain<'a> {
        PointerChain::Index(self, index)
    }
}

impl fmt::Display for PointerChain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(pointer) => formatter.write_str(pointer),
            Self::Key(parent, key) => {
                parent.fmt(formatter)?;
                formatter.write_str("/")?;
                for character in key.chars() {
                    match character {
                        '~' => formatter.write_str("~0")?,
                        '/' => formatter.write_str("~1")?,
                        other => fmt::Write::write_char(formatter, other)?,
                    }
                }
                Ok(())
            }
            Self::Index(parent, index) => {
                parent.fmt(formatter)?;
                write!(formatter, "/{index}")
            }
        }
    }
}

/// What a JSON value is, for "expected ..., found ...".
pub(crate) const fn kind_of(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_escape_their_keys() {
        let paths = PointerChain::ROOT.key("paths");
        let path = paths.key("/pets/{id}~x");
        assert_eq!(path.index(3).to_string(), "/paths/~1pets~1{id}~0x/3");
    }

    #[test]
    fn near_names_are_found_across_case_and_separators() {
        let mut findings = Findings::new();
        let names = ["get_weather", "get_forecast"];
        assert_eq!(findings.near("GetWeahter", names), Some("did you mean `get_weather`?".to_owned()));
        assert_eq!(findings.near("zzz", names), None);
    }

    #[test]
    fn an_error_past_the_limit_is_still_an_error() {
        let mut findings = Findings::new();
        for index in 0..MAX_FINDINGS {
            findings.push(Diagnostic::warning("w", "a.json", PointerChain::ROOT.index(index), "w"));
        }
        findings.push(Diagnostic::error("e", "a.json", "", "e"));
        assert!(findings.finish(&["a.json"]).has_errors());
    }
}
