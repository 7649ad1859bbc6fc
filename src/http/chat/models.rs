//! `GET /v1/models`: each module is a model.

use std::{
    collections::BTreeSet,
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    Json,
    extract::{Path, State},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{ApiError, AppState, Fault, caller::Caller},
    module::ModuleName,
};

/// The model that knows only the request's own tools.
pub(super) const OWN: &str = "uptake";

/// When the service first read the clock: modules have no creation date.
static SINCE: LazyLock<u64> =
    LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()));

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct ModelList {
    #[schema(value_type = String, example = "list")]
    object: &'static str,
    data: Vec<Model>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct Model {
    /// What a request names.
    id: String,
    #[schema(value_type = String, example = "model")]
    object: &'static str,
    /// Seconds since 1970: when the service started.
    created: u64,
    #[schema(value_type = String, example = "uptake")]
    owned_by: &'static str,
}

impl Model {
    fn new(id: &str) -> Self {
        Self { id: id.to_owned(), object: "model", created: *SINCE, owned_by: "uptake" }
    }
}

/// List models
///
/// Every module that serves or can be loaded, and `uptake` for a request's own tools.
#[utoipa::path(
    get, path = "/v1/models", tag = "modules",
    responses((status = 200, description = "Names for `model`", body = ModelList)),
)]
pub(in crate::http) async fn list(State(app): State<AppState>, caller: Caller) -> Json<ModelList> {
    let sees = |name: &&String| ModuleName::new(name).is_ok_and(|name| caller.sees(&name));
    let data = names(&app).iter().filter(sees).map(|name| Model::new(name)).collect();
    Json(ModelList { object: "list", data })
}

/// Describe a model
#[utoipa::path(
    get, path = "/v1/models/{model}", tag = "modules",
    params(("model" = String, Path, description = "Name of a module, or `uptake`")),
    responses((status = 200, description = "There is such a model", body = Model)),
)]
pub(in crate::http) async fn describe(
    State(app): State<AppState>,
    caller: Caller,
    model: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<Json<Model>, ApiError> {
    let Path(model) = model.map_err(|_| unknown(&app, &caller, "�"))?;
    let is_seen = ModuleName::new(&model).is_ok_and(|name| caller.sees(&name)) && names(&app).contains(&model);
    if is_seen { Ok(Json(Model::new(&model))) } else { Err(unknown(&app, &caller, &model)) }
}

fn names(app: &AppState) -> BTreeSet<String> {
    let served: BTreeSet<String> =
        app.snapshots.all().iter().map(|snapshot| snapshot.module.name.to_string()).collect();
    let failed = app.snapshots.failures();
    let on_disk = app.snapshots.on_disk().into_iter().filter(|name| !failed.contains_key(name));
    let mut names: BTreeSet<String> = on_disk.map(|name| name.to_string()).chain(served).collect();
    names.insert(OWN.to_owned());
    names
}

/// A caller whose key is for some modules only gets no hint that others exist.
pub(super) fn unknown(app: &AppState, caller: &Caller, model: &str) -> ApiError {
    let near = app.snapshots.near(model).into_iter().filter(|near| caller.sees(near));
    let near: Vec<String> = near.map(|near| format!("`{near}`")).collect();
    let hint = if near.is_empty() {
        format!("; /v1/models lists them, and `{OWN}` understands the request's own tools")
    } else {
        format!("; did you mean {}?", near.join(" or "))
    };
    ApiError::fault(Fault::UnknownModel, format!("there is no model `{model}`{hint}")).about("model")
}
