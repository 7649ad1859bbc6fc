//! A JSON or YAML file of any format, read as carefully as a module's own files: with places, duplicate keys and
//! limits.

use serde_json::Value;

use super::{
    Diagnostic, Diagnostics,
    findings::Findings,
    source::{self, SourceFile, locate},
};

/// A parsed file with its text, so that places in it can be reported.
#[derive(Debug, Clone)]
pub struct Document {
    pub file: String,
    pub value: Value,
    /// Warnings of keys that occur twice; the last one counts.
    pub warnings: Vec<Diagnostic>,
    text: String,
}

impl Document {
    /// Parses `bytes`: as YAML if the name `file` ends so, else as JSON. Findings carry the name `file`.
    ///
    /// # Errors
    /// The finding that prevents the file from being read, with line and column.
    pub fn parse(file: &str, bytes: Vec<u8>) -> Result<Self, Diagnostics> {
        let mut findings = Findings::new();
        let source = SourceFile { name: file.to_owned(), bytes };
        let value = source::parse(&source, &mut findings);
        let found = findings.finish(&[]);
        let text = String::from_utf8(source.bytes).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        match value {
            Some(value) if !found.has_errors() => {
                let mut document = Self { file: file.to_owned(), value, warnings: Vec::new(), text };
                let mut warnings = found.0;
                document.locate(&mut warnings);
                document.warnings = warnings;
                Ok(document)
            }
            _ => Err(found),
        }
    }

    /// Adds line and column to findings about this file that have only a pointer.
    pub fn locate(&self, findings: &mut [Diagnostic]) {
        locate::complete(findings, &self.file, &self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_any_document() {
        let document = Document::parse("a/b.json", b"{\"x\": [1,\n {\"y\": 2}]}".to_vec()).expect("JSON");
        let mut found = [Diagnostic::error("e", "a/b.json", "/x/1/y", "wrong")];
        document.locate(&mut found);
        assert_eq!((found[0].line, found[0].column), (Some(2), Some(3)));
        let refused = Document::parse("b.yml", b"a: [1".to_vec()).expect_err("not YAML");
        assert!(refused.has_errors() && refused.to_string().contains("this is not YAML"), "{refused}");
        assert!(Document::parse("b.json", b"\xff".to_vec()).is_err());
    }
}
