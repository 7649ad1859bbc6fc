//! Modules by API: read, change, try and measure their files, and take every change back.
//!
//! The directory stays the source of truth: changes are written there in the author's formatting, and editing the files
//! by hand still works. A change names the state it was made for (`If-Match`), so that it cannot overwrite a concurrent
//! change.
//! | file | holds |
//! |---|---|
//! | `mod` | the module as its author wrote it, and who may change it |
//! | `files` | reads files, and replaces one |
//! | `change` | several changes at once, dry run or carried out |
//! | `versions` | what was changed, when, by whom and why; and the way back |
//! | `measure` | what a change does to the module's cases and dialogues |

pub(super) mod change;
pub(super) mod files;
pub(super) mod measure;
pub(super) mod versions;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{ApiError, AppState, Failure, Fault, error::DiagnosticBody, modules::BuildBody};
use crate::module::{
    Diagnostics, ModuleName,
    directory::{Change, ModuleFiles, is_authors},
    history::Version,
};

/// Most changes in one request.
const MOST_CHANGES: usize = 1_000;
/// Longest reason of a change, in characters.
const LONGEST_REASON: usize = 500;

/// One change to what an author wrote; everything else in the file stays as it is.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ChangeBody {
    /// The whole file, new or not.
    Put {
        file: String,
        text: String,
    },
    Delete {
        file: String,
    },
    /// An exemplar, behind those of its function.
    AddExemplar {
        function: String,
        /// What people say, with `<slot>` where a value stands.
        #[schema(example = "is there <style> in size <size>")]
        template: String,
        /// `normal` if absent, `extended`, or `negative`: this is not the function.
        mode: Option<Mode>,
        /// What else an exemplar may have: `label`, `context_frame`, `context_slot`, `utterance`, `arguments`.
        #[schema(value_type = Option<Object>)]
        members: Option<Map<String, Value>>,
    },
    RemoveExemplar {
        function: String,
        template: String,
    },
    /// What people say for an entry of a list. List and entry are made where they are not there.
    AddExpression {
        recognizer: String,
        /// The slot that the list is bound to, if the list is made: a name, a path or `function.slot`.
        slot: Option<String>,
        /// The value: a text, a number or a boolean.
        #[schema(value_type = String)]
        label: Value,
        expression: String,
    },
    /// A line of `cases.jsonl`, or of `dialogues.jsonl` if it has `turns`.
    AddCase {
        #[schema(value_type = Object)]
        case: Value,
    },
    /// A setting of `module.toml`; null takes it away.
    Set {
        /// `["functions", "order", "confirm"]`
        path: Vec<String>,
        #[schema(value_type = Option<Value>)]
        value: Option<Value>,
    },
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    Normal,
    Extended,
    Negative,
}

impl From<ChangeBody> for Change {
    fn from(body: ChangeBody) -> Self {
        match body {
            ChangeBody::Put { file, text } => Self::Put { file, text },
            ChangeBody::Delete { file } => Self::Delete { file },
            ChangeBody::AddExemplar { function, template, mode, members } => {
                let mode = match mode {
                    None | Some(Mode::Normal) => None,
                    Some(Mode::Extended) => Some("extended"),
                    Some(Mode::Negative) => Some("negative"),
                };
                let mode = mode.map(|mode| ("owner_mode".to_owned(), Value::from(mode)));
                Self::AddExemplar {
                    function,
                    template,
                    members: mode.into_iter().chain(members.into_iter().flatten()).collect(),
                }
            }
            ChangeBody::RemoveExemplar { function, template } => Self::RemoveExemplar { function, template },
            ChangeBody::AddExpression { recognizer, slot, label, expression } => {
                Self::AddExpression { recognizer, slot, label, expression }
            }
            ChangeBody::AddCase { case } => Self::AddCase { case },
            ChangeBody::Set { path, value } => Self::Set { path, value },
        }
    }
}

/// What became of a change.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChangedBody {
    module: String,
    /// Names the files after it, for `If-Match`; as in the header `etag`.
    tag: String,
    /// It was only tried: nothing was written.
    dry_run: bool,
    /// The module would be refused with these files; only of what was tried.
    refused: bool,
    /// What the checks find in the files after it.
    #[schema(value_type = Vec<DiagnosticBody>)]
    diagnostics: Diagnostics,
    /// Of each file that it changes.
    diff: Vec<DiffBody>,
    /// The version that it made; null of what was tried, and of what changes nothing.
    #[schema(required = true, value_type = Option<VersionBody>)]
    version: Option<Version>,
    /// What the build of it did; null of what was tried, and where something other than the files keeps it from being built
    /// now: it is tried again by itself.
    #[schema(required = true)]
    build: Option<BuildBody>,
}

/// One file before and after.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DiffBody {
    file: String,
    /// A unified diff with three lines around each change.
    text: String,
}

/// A version, as [`Version`] writes it. Only for the `OpenAPI` document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the JSON of `module::history::Version`, which knows nothing of HTTP")]
pub(super) struct VersionBody {
    /// From 1, in their order.
    id: u64,
    /// Names the content of the files.
    tag: String,
    /// RFC 3339.
    at: String,
    /// The name of the key; empty where there are no keys.
    author: String,
    reason: String,
    /// Names of files that differ from the version before.
    changed: Vec<String>,
}

/// Fails unless requests need a key or the service listens on this machine only.
fn guarded(app: &AppState) -> Result<(), ApiError> {
    if app.is_guarded() {
        return Ok(());
    }
    let message = "others reach this address and nobody is asked for a key, so modules are neither shown nor changed here: \
        `uptake key add NAME --scope edit` makes a key";
    Err(ApiError::fault(Fault::NotAllowed, message))
}

/// Reads the files from the directory as they are now.
async fn files_of(app: &AppState, name: &ModuleName) -> Result<ModuleFiles, ApiError> {
    let (directory, limits) = (app.snapshots.directory(name), app.snapshots.limits().clone());
    let read = tokio::task::spawn_blocking(move || ModuleFiles::read(&directory, &limits)).await;
    match read.map_err(|error| ApiError::logged(Failure::Internal, &error))? {
        Ok(files) => Ok(files),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ApiError::unknown_module(name.as_str(), &app.snapshots))
        }
        Err(error) => Err(ApiError::logged(Failure::ModuleUnavailable, &error)),
    }
}

/// The request's `If-Match`: the state of the files that the change was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Any,
    Tag(String),
}

impl Expected {
    /// # Errors
    /// 428 if there is no such header.
    fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        let Some(value) = headers.get(header::IF_MATCH) else {
            let message =
                "say which state the change was made for: send the `etag` that was read as `If-Match`, or `*`";
            return Err(ApiError::fault(Fault::NoPrecondition, message));
        };
        let value = value.to_str().unwrap_or_default().trim();
        let tag = value.strip_prefix("W/").unwrap_or(value).trim_matches('"');
        Ok(if value == "*" { Self::Any } else { Self::Tag(tag.to_owned()) })
    }

    /// # Errors
    /// 412 if the files have changed since.
    fn check(&self, files: &ModuleFiles) -> Result<(), ApiError> {
        match self {
            Self::Tag(tag) if *tag != files.tag() => {
                let message =
                    "the module's files are others by now: read them again, and see whether the change still fits";
                Err(ApiError::fault(Fault::ModuleChanged, message))
            }
            _ => Ok(()),
        }
    }
}

fn tagged(tag: &str) -> [(HeaderName, HeaderValue); 1] {
    let value = HeaderValue::from_str(&format!("\"{tag}\""));
    [(header::ETAG, value.unwrap_or_else(|_| HeaderValue::from_static("\"\"")))]
}

fn reason(text: Option<String>) -> Result<String, ApiError> {
    let text = text.unwrap_or_default();
    if text.chars().count() > LONGEST_REASON {
        let message = format!("a reason has {LONGEST_REASON} characters at most");
        return Err(ApiError::fault(Fault::InvalidValue, message).about("reason"));
    }
    Ok(text)
}

/// The files with the changes applied.
fn applied(files: &ModuleFiles, changes: &[Change]) -> Result<ModuleFiles, ApiError> {
    if changes.len() > MOST_CHANGES {
        let message = format!("{} changes are more than {MOST_CHANGES}", changes.len());
        return Err(ApiError::fault(Fault::InvalidValue, message).about("changes"));
    }
    let mut changed = files.clone();
    for (index, change) in changes.iter().enumerate() {
        changed = changed.changed(std::slice::from_ref(change)).map_err(|error| {
            ApiError::fault(Fault::InvalidValue, error.to_string()).about(format!("changes[{index}]"))
        })?;
    }
    Ok(changed)
}

fn diff(before: &ModuleFiles, after: &ModuleFiles) -> Vec<DiffBody> {
    let text = |files: &ModuleFiles, name: &str| files.text(name).unwrap_or_default().to_owned();
    let of = |name: String| {
        let (old, new) = (text(before, &name), text(after, &name));
        let text = similar::TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).to_string();
        DiffBody { file: name, text }
    };
    before.differing(after).into_iter().map(of).collect()
}

/// # Errors
/// 404 if this is not the name of a module file.
fn file_name(name: &str) -> Result<(), ApiError> {
    if is_authors(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(ApiError::fault(Fault::FileNotFound, format!("a module has no file `{shown}`")).about("file"))
}
