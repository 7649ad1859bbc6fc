//! Shared parts of cases with one or several turns: where they were written, and the functions that they expect.

use std::{fmt, sync::Arc};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::module::kind_of;

/// Where a case was written. Shown as `cases.jsonl:12`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseLocation {
    pub file: Arc<str>,
    /// From 1: the first line of the case.
    pub line: usize,
}

impl fmt::Display for CaseLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

impl Serialize for CaseLocation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A case, or a part of one, that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub place: CaseLocation,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedFunction {
    pub name: String,
    /// `None` means that the arguments are not checked.
    pub arguments: Option<Map<String, Value>>,
}

pub(super) fn expected_function(value: Value) -> Result<ExpectedFunction, String> {
    match value {
        Value::String(name) => Ok(ExpectedFunction { name, arguments: None }),
        Value::Object(mut members) => match members.shift_remove("name") {
            Some(Value::String(name)) => {
                Ok(ExpectedFunction { name, arguments: arguments(members.shift_remove("arguments"))? })
            }
            _ => Err("each of `functions` has a `name`".to_owned()),
        },
        other => Err(format!("each of `functions` is an object with a `name`, found {}", kind_of(&other))),
    }
}

pub(super) fn arguments(value: Option<Value>) -> Result<Option<Map<String, Value>>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(arguments)) => Ok(Some(arguments)),
        Some(other) => Err(format!("`arguments` is an object, found {}", kind_of(&other))),
    }
}
