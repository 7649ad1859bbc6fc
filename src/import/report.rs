//! Tells what happened to each part of a project.

use serde::Serialize;

use super::project::Place;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    Kept,
    Changed,
    Dropped,
}

impl Fate {
    pub const ALL: [Self; 3] = [Self::Kept, Self::Changed, Self::Dropped];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
        }
    }
}

/// One part of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportEntry {
    pub fate: Fate,
    /// Relative to the project's root.
    pub file: String,
    /// JSON pointer into the file; empty for the whole file.
    pub pointer: String,
    /// From 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The part: "example `book a room`".
    pub what: String,
    /// What happened to it and why; equal reasons have equal texts.
    pub why: String,
}

impl ReportEntry {
    pub(super) fn new(fate: Fate, place: &Place, what: impl Into<String>, why: impl Into<String>) -> Self {
        let Place { file, pointer, line, below: _ } = place.clone();
        Self { fate, file, pointer, line, what: what.into(), why: why.into() }
    }
}

/// Numbers of what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    pub functions: usize,
    pub slots: usize,
    pub exemplars: usize,
    pub recognizers: usize,
    pub cases: usize,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    pub format: &'static str,
    pub module: String,
    pub written: ImportCounts,
    /// By fate, then by file and place.
    pub entries: Vec<ReportEntry>,
    /// Number of warnings of `uptake check`.
    pub warnings: usize,
}

impl ImportReport {
    pub fn with(&self, fate: Fate) -> impl Iterator<Item = &ReportEntry> {
        self.entries.iter().filter(move |entry| entry.fate == fate)
    }
}
