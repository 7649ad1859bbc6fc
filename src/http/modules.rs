//! Modules as resources: build, load, list, describe.

use std::collections::BTreeSet;

use axum::{Json, extract::State, http::HeaderMap};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    ApiError, AppState, Fault,
    builds::BuildError,
    caller::Caller,
    error::{self, DiagnosticBody, ErrorEnvelope},
    extract::{ModuleSegment, expect_json_if_any},
};
use crate::{
    module::{
        Diagnostic, Diagnostics, Function, Module, ModuleName, Recognizer, RecognizerKind, Slot, SlotKind,
        settings::StrategyName,
    },
    snapshot::{BuildReport, ModuleFailure},
};

/// What a build did.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BuildBody {
    module: String,
    version: String,
    /// The version that was served before; null at the first build.
    #[schema(required = true)]
    previous: Option<String>,
    functions: usize,
    exemplars: usize,
    recognizers: usize,
    /// Texts that were embedded now.
    embedded: usize,
    /// Texts whose vectors were kept from before.
    reused: usize,
    /// Names of functions that came since the version before.
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
    #[schema(value_type = Vec<DiagnosticBody>)]
    warnings: Diagnostics,
    took_ms: f64,
}

impl From<&BuildReport> for BuildBody {
    fn from(report: &BuildReport) -> Self {
        Self {
            module: report.module.clone(),
            version: report.version.clone(),
            previous: report.previous.clone(),
            functions: report.functions,
            exemplars: report.exemplars,
            recognizers: report.recognizers,
            embedded: report.embedded,
            reused: report.reused,
            added: report.added.clone(),
            removed: report.removed.clone(),
            changed: report.changed.clone(),
            warnings: report.warnings.clone(),
            took_ms: report.took_ms,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModuleList {
    #[schema(value_type = String, example = "list")]
    object: &'static str,
    data: Vec<ModuleSummary>,
}

/// How a module stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ModuleState {
    /// Its newest files serve.
    Serving,
    /// Its newest files do not serve; the version before does.
    Stale,
    /// Its files have errors and nothing serves.
    Refused,
    /// It cannot be built at the moment, and nothing serves; it is tried again by itself.
    Unavailable,
    /// On disk and not yet asked for.
    NotLoaded,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModuleSummary {
    name: String,
    #[schema(value_type = String, example = "module")]
    object: &'static str,
    state: ModuleState,
    /// What serves; null if nothing does.
    #[schema(required = true)]
    version: Option<String>,
    description: String,
    counts: Counts,
    /// Why the newest files do not serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<DiagnosticBody>>)]
    failure: Option<Diagnostics>,
}

/// Zeros if nothing serves.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct Counts {
    functions: usize,
    exemplars: usize,
    recognizers: usize,
    warnings: usize,
}

impl Counts {
    fn of(module: &Module) -> Self {
        Self {
            functions: module.functions.len(),
            exemplars: module.functions.iter().map(|function| function.exemplars.len()).sum(),
            recognizers: module.recognizers.len(),
            warnings: module.warnings.len(),
        }
    }
}

impl ModuleSummary {
    fn new(name: &ModuleName, module: Option<&Module>, failure: Option<ModuleFailure>) -> Self {
        let state = match (module, &failure) {
            (Some(_), None) => ModuleState::Serving,
            (Some(_), Some(_)) => ModuleState::Stale,
            (None, Some(ModuleFailure { may_pass: true, .. })) => ModuleState::Unavailable,
            (None, Some(_)) => ModuleState::Refused,
            (None, None) => ModuleState::NotLoaded,
        };
        Self {
            name: name.to_string(),
            object: "module",
            state,
            version: module.map(|module| module.version.clone()),
            description: module.map(|module| module.settings.description.clone()).unwrap_or_default(),
            counts: module.map(Counts::of).unwrap_or_default(),
            failure: failure.map(|failure| failure.diagnostics),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModuleDetails {
    #[serde(flatten)]
    summary: ModuleSummary,
    settings: SettingsBody,
    functions: Vec<FunctionBody>,
    recognizers: Vec<RecognizerBody>,
    #[schema(value_type = Vec<DiagnosticBody>)]
    warnings: Vec<Diagnostic>,
}

/// What the module says for itself; null where the service's configuration counts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingsBody {
    #[schema(required = true)]
    language: Option<String>,
    #[schema(required = true)]
    time_zone: Option<String>,
    #[schema(required = true, value_type = Option<String>)]
    strategy: Option<StrategyName>,
    /// From this confidence on, `auto` decides locally.
    #[schema(required = true)]
    sure: Option<f32>,
    /// Below this confidence the answer is `no_match`.
    #[schema(required = true)]
    in_scope: Option<f32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FunctionBody {
    name: String,
    /// What model servers see; differs from `name` where that does not fit `[a-zA-Z0-9_-]{1,64}`.
    wire_name: String,
    description: String,
    /// `GET /pets/{petId}`, for a function of an `OpenAPI` document.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    /// How many there are.
    exemplars: usize,
    slots: Vec<SlotDetails>,
    /// JSON Schema of the arguments.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    parameters: Value,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SlotDetails {
    /// `format`, `shipping_address.city`, `dishes[].name`.
    path: String,
    #[schema(value_type = String, example = "string")]
    kind: SlotKind,
    required: bool,
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    /// Names of what may find its values; none for free text.
    recognizers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecognizerBody {
    name: String,
    /// `list`, `pattern` or `builtin`.
    #[schema(value_type = String, example = "list")]
    kind: &'static str,
    /// Entries of a list, expressions of a pattern; null for a built-in.
    #[schema(required = true)]
    size: Option<usize>,
}

impl ModuleDetails {
    fn new(module: &Module, failure: Option<ModuleFailure>) -> Self {
        Self {
            summary: ModuleSummary::new(&module.name, Some(module), failure),
            settings: SettingsBody {
                language: module.settings.language.clone(),
                time_zone: module.settings.time_zone.clone(),
                strategy: module.settings.strategy,
                sure: module.settings.thresholds.sure,
                in_scope: module.settings.thresholds.in_scope,
            },
            functions: module.functions.iter().map(|function| function_body(module, function)).collect(),
            recognizers: module.recognizers.iter().map(recognizer_body).collect(),
            warnings: module.warnings.clone(),
        }
    }
}

fn function_body(module: &Module, function: &Function) -> FunctionBody {
    FunctionBody {
        name: function.name.clone(),
        wire_name: function.wire_name.clone(),
        description: function.description.clone(),
        operation: function.operation.clone(),
        exemplars: function.exemplars.len(),
        slots: function.slots.iter().map(|slot| slot_details(module, slot)).collect(),
        parameters: function.parameters.clone(),
    }
}

fn slot_details(module: &Module, slot: &Slot) -> SlotDetails {
    SlotDetails {
        path: slot.path.to_string(),
        kind: slot.kind,
        required: slot.required,
        description: slot.description.clone(),
        choices: slot.choices.clone(),
        default: slot.default.clone(),
        recognizers: slot.recognizers.iter().map(|id| module.recognizer(*id).name.clone()).collect(),
        question: slot.question.as_ref().and_then(|own| own.in_language(module.language())).map(str::to_owned),
    }
}

fn recognizer_body(recognizer: &Recognizer) -> RecognizerBody {
    let (kind, size) = match &recognizer.kind {
        RecognizerKind::List(list) => ("list", Some(list.instances.len())),
        RecognizerKind::Pattern(pattern) => ("pattern", Some(pattern.patterns.len())),
        RecognizerKind::Builtin(_) => ("builtin", None),
    };
    RecognizerBody { name: recognizer.name.clone(), kind, size }
}

/// Build a module's index and serve it
///
/// Reads the files anew, off the request path, and swaps the result in. If that fails, the version before goes on
/// serving and the answer (422) says why. Builds of one module never run beside each other.
#[utoipa::path(
    post, path = "/v1/index/{module}", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    responses(
        (status = 200, description = "What the build did", body = BuildBody),
        (status = 415, description = "There is a body, and it is not JSON", body = ErrorEnvelope),
    ),
)]
pub(super) async fn index(
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
    headers: HeaderMap,
) -> Result<Json<BuildBody>, ApiError> {
    expect_json_if_any(&headers)?;
    build(&app, &name).await
}

async fn build(app: &AppState, name: &ModuleName) -> Result<Json<BuildBody>, ApiError> {
    match &*app.builds.request(name).await {
        Ok(report) => Ok(Json(report.into())),
        Err(BuildError::Prepare(error)) => Err(ApiError::of_prepare(error, &app.snapshots)),
        Err(cut_off @ BuildError::CutOff) => Err(ApiError::logged(error::Failure::Internal, cut_off)),
    }
}

/// Build a module's index by GET
///
/// For clients of `OpenDU`, which index so. Only for callers that `http.index_by_get` lets do it, by default those on
/// the same machine, and for no web page.
#[utoipa::path(
    get, path = "/v1/index/{module}", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    responses((status = 200, description = "What the build did", body = BuildBody)),
)]
pub(super) async fn index_by_get(
    State(app): State<AppState>,
    caller: Caller,
    ModuleSegment(name): ModuleSegment,
) -> Result<Json<BuildBody>, ApiError> {
    if !caller.may_index_by_get(app.options.index_by_get) {
        let message = "this caller may not build an index by GET (http.index_by_get); POST does the same";
        return Err(ApiError::fault(Fault::NotAllowed, message));
    }
    build(&app, &name).await
}

/// Load a module if it is not
///
/// Also takes up changed files, if `modules.reload` is on.
#[utoipa::path(
    get, path = "/v1/load/{module}", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    responses((status = 200, description = "The module serves", body = ModuleSummary)),
)]
pub(super) async fn load(
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
) -> Result<Json<ModuleSummary>, ApiError> {
    let snapshot = app.module(&name).await?;
    let failure = app.snapshots.failures().remove(&name);
    Ok(Json(ModuleSummary::new(&name, Some(&snapshot.module), failure)))
}

/// List modules
#[utoipa::path(
    get, path = "/v1/modules", tag = "modules",
    responses((status = 200, description = "Every module that serves, failed, or lies on disk", body = ModuleList)),
)]
pub(super) async fn list(State(app): State<AppState>, caller: Caller) -> Json<ModuleList> {
    let mut failures = app.snapshots.failures();
    let served = app.snapshots.all();
    let names: BTreeSet<ModuleName> = served
        .iter()
        .map(|snapshot| snapshot.module.name.clone())
        .chain(failures.keys().cloned())
        .chain(app.snapshots.on_disk())
        .filter(|name| caller.sees(name))
        .collect();
    let data = names.iter().map(|name| {
        let module = served.iter().map(|snapshot| &snapshot.module).find(|module| module.name == *name);
        ModuleSummary::new(name, module, failures.remove(name))
    });
    Json(ModuleList { object: "list", data: data.collect() })
}

/// Describe a module
///
/// Its functions with their slots, its recognizers, and what its checks warned of.
#[utoipa::path(
    get, path = "/v1/modules/{module}", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    responses((status = 200, description = "The module as it serves", body = ModuleDetails)),
)]
pub(super) async fn describe(
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
) -> Result<Json<ModuleDetails>, ApiError> {
    let snapshot = app.module(&name).await?;
    let failure = app.snapshots.failures().remove(&name);
    Ok(Json(ModuleDetails::new(&snapshot.module, failure)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::fixture;

    #[test]
    fn a_module_is_described_whole() {
        let details = serde_json::to_value(ModuleDetails::new(&fixture::module(), None)).unwrap();
        assert_eq!(details["state"], "serving");
        assert_eq!((&details["counts"]["functions"], &details["counts"]["exemplars"]), (&json!(1), &json!(1)));
        assert_eq!(
            details["functions"][0]["slots"][0],
            json!({"path": "location", "kind": "string", "required": true, "description": "", "recognizers": ["city"]})
        );
        assert_eq!(details["recognizers"], json!([{"name": "city", "kind": "list", "size": 1}]));
    }

    #[test]
    fn the_state_follows_from_what_serves_and_what_failed() {
        let module = fixture::module();
        let state = |module, failure| ModuleSummary::new(&fixture::module().name, module, failure).state;
        assert_eq!(state(Some(&module), None), ModuleState::Serving);
        let failure = |may_pass| Some(ModuleFailure { diagnostics: Diagnostics::default(), may_pass });
        assert_eq!(state(Some(&module), failure(false)), ModuleState::Stale);
        assert_eq!(state(Some(&module), failure(true)), ModuleState::Stale);
        assert_eq!(state(None, failure(false)), ModuleState::Refused);
        assert_eq!(state(None, failure(true)), ModuleState::Unavailable);
        assert_eq!(state(None, None), ModuleState::NotLoaded);
    }
}
