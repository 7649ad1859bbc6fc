//! What is wrong with a module, where it is, and what would fix it.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The module is refused.
    Error,
    /// The module is served, but something in it has no effect or is probably not intended.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One finding. `code` is stable and meant for programs, `message` and `hint` for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Kebab-case: `unknown-function`, `duplicate-name`, `unsupported-keyword` ...
    pub code: &'static str,
    /// Relative to the module's directory.
    pub file: String,
    /// JSON pointer into the file (`""`: the whole file); for TOML a pointer over its tables.
    pub pointer: String,
    /// Counted from 1, if the parser gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    #[must_use]
    pub fn error(code: &'static str, file: &str, pointer: impl fmt::Display, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, file, pointer, message)
    }

    #[must_use]
    pub fn warning(code: &'static str, file: &str, pointer: impl fmt::Display, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, file, pointer, message)
    }

    fn new(
        severity: Severity,
        code: &'static str,
        file: &str,
        pointer: impl fmt::Display,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            code,
            file: file.to_owned(),
            pointer: pointer.to_string(),
            line: None,
            column: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Sets the hint: what would fix it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// [`Self::hint`] if there is a hint.
    #[must_use]
    pub fn hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Sets line and column, both counted from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }
}

impl fmt::Display for Diagnostic {
    /// `schema.json:3:7 /0/name: error[duplicate-name]: ...`, the hint on a second line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
            if let Some(column) = self.column {
                write!(formatter, ":{column}")?;
            }
        }
        if !self.pointer.is_empty() {
            write!(formatter, " {}", self.pointer)?;
        }
        write!(formatter, ": {}[{}]: {}", self.severity, self.code, self.message)?;
        if let Some(hint) = &self.hint {
            write!(formatter, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// All findings about one module, in the order of files and places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|found| found.severity == Severity::Error)
    }

    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|found| found.severity == Severity::Warning)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, found) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            found.fmt(formatter)?;
        }
        Ok(())
    }
}
