//! What became of each part of a project.

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
pub struct Entry {
    pub fate: Fate,
    /// Relative to the project's root.
    pub file: String,
    /// JSON pointer into the file; empty for all of it.
    pub pointer: String,
    /// From 1, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The part: "example `book a room`".
    pub what: String,
    /// What became of it and why; the same words for the same reason.
    pub why: String,
}

impl Entry {
    pub(super) fn new(fate: Fate, place: &Place, what: impl Into<String>, why: impl Into<String>) -> Self {
        let Place { file, pointer, line, below: _ } = place.clone();
        Self { fate, file, pointer, line, what: what.into(), why: why.into() }
    }
}

/// What was written, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    pub functions: usize,
    pub slots: usize,
    pub exemplars: usize,
    pub recognizers: usize,
    pub cases: usize,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub format: &'static str,
    pub module: String,
    pub written: Written,
    /// By fate, then in the order of files and places.
    pub entries: Vec<Entry>,
    /// What `uptake check` says of the module.
    pub warnings: usize,
}

impl Report {
    pub fn with(&self, fate: Fate) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.fate == fate)
    }
}
