//! Which functions may be called, and what is known of them: the module's, the request's, or both.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    models::{self, OWN},
    tools::{ChatTask, Choice, FunctionsField},
};
use crate::{
    http::{ApiError, AppState, Fault, caller::Caller},
    language::{Language, spoken},
    module::{Function, FunctionId, Module, ModuleName, own_function, settings::ForeignTools},
    snapshot::{PrepareError, Snapshot},
};

/// What may be called.
pub(super) struct Offer {
    pub snapshot: Arc<Snapshot>,
    /// Functions with priority: the others are used only if none of these is meant.
    pub first: Option<Vec<FunctionId>>,
    /// Functions that the client calls itself.
    pub theirs: Vec<String>,
    pub notes: Vec<String>,
}

impl Offer {
    /// `functions` are the client's.
    fn of(snapshot: Arc<Snapshot>, functions: &[Value]) -> Self {
        let theirs = functions.iter().map(|function| name_of(function).to_owned()).collect();
        Self { snapshot, first: None, theirs, notes: Vec::new() }
    }
}

/// The functions that the request may call. `wanted` is the request's own setting for tools that are not the module's,
/// and `spoken` gives the language that the request names or that the person speaks.
pub(super) async fn offer(
    app: &AppState,
    caller: &Caller,
    model: Option<&str>,
    task: &ChatTask,
    wanted: Option<ForeignTools>,
    spoken: impl FnOnce() -> Option<&'static Language>,
) -> Result<Offer, ApiError> {
    let Some(model) = model else {
        let message = "`model` is required: the name of a module, or `uptake` for the request's own tools";
        return Err(ApiError::fault(Fault::MissingParameter, message).about("model"));
    };
    let name = ModuleName::new(model).map_err(|_| models::unknown(app, caller, model))?;
    // Only callers who may use the module learn whether it exists.
    caller.may_use(&name).map_err(|error| error.renamed(|_| "model".to_owned()))?;
    let functions = task.functions.as_deref().unwrap_or_default();
    if model == OWN {
        let language = spoken().or_else(|| spoken::spoken(functions.iter().flat_map(descriptions)));
        let usable = usable((app, caller), &name, functions, (None, language), task).await?;
        return Ok(usable.into());
    }
    let known = named(app, caller, &name).await?;
    if functions.is_empty() {
        return Ok(Offer::of(known, functions));
    }
    let own = known.module.settings.chat.tools.unwrap_or(app.options.chat.tools);
    match wanted.unwrap_or(own) {
        _ if task.origin == FunctionsField::ResponseFormat => {}
        // A client that requires a function by name really means it.
        _ if demands_foreign(task, functions, &known.module) => {}
        ForeignTools::Replace => {}
        ForeignTools::Ignore => return without_foreign((app, caller), &name, functions, known, task).await,
        ForeignTools::Add => return with_foreign((app, caller), &name, functions, known, task).await,
    }
    usable((app, caller), &name, functions, (Some(&known), None), task).await.map(Offer::from)
}

/// The module's own functions: those that the client offers, or all if it offers none.
async fn without_foreign(
    at: (&AppState, &Caller),
    name: &ModuleName,
    functions: &[Value],
    known: Arc<Snapshot>,
    task: &ChatTask,
) -> Result<Offer, ApiError> {
    let (own, foreign) = split(&known.module, functions);
    let note = (!foreign.is_empty()).then(|| {
        format!("{} tools of the request are not the module's own and are left out (`chat.tools`)", foreign.len())
    });
    let mut offer = if own.is_empty() {
        Offer::of(known, &[])
    } else {
        usable(at, name, &own, (Some(&known), None), task).await?.into()
    };
    offer.notes.extend(note);
    Ok(offer)
}

/// All functions of the module, under the client's names for them, followed by the client's other tools.
async fn with_foreign(
    at: (&AppState, &Caller),
    name: &ModuleName,
    functions: &[Value],
    known: Arc<Snapshot>,
    task: &ChatTask,
) -> Result<Offer, ApiError> {
    let module = &known.module;
    let (own, foreign) = split(module, functions);
    let offered: Vec<FunctionId> = own.iter().filter_map(|function| owned(module, function)).collect();
    let others = module.function_ids().filter(|id| !offered.contains(id)).map(|id| written(module.function(id)));
    // A foreign tool with the name of a module function is dropped: the two could not be told apart.
    let foreign: Vec<Value> =
        foreign.into_iter().filter(|function| module.function_named(name_of(function)).is_none()).collect();
    let names = |functions: &[Value]| functions.iter().map(|function| name_of(function).to_owned()).collect::<Vec<_>>();
    let last = names(&foreign);
    let theirs = [names(&own), last.clone()].concat();
    let all: Vec<Value> = own.into_iter().chain(others).chain(foreign).collect();
    let Usable { snapshot, functions, notes } = usable(at, name, &all, (Some(&known), None), task).await?;
    let is_first = |place: &usize| !last.iter().any(|name| name == name_of(&functions[*place]));
    let first = Some((0..functions.len()).filter(is_first).map(FunctionId::from_index).collect());
    Ok(Offer { snapshot, first, theirs, notes })
}

/// True where `tool_choice` names a tool that is not the module's own.
fn demands_foreign(task: &ChatTask, functions: &[Value], module: &Module) -> bool {
    let named = demanded(task);
    let is_named = |function: &&Value| named.iter().any(|name| name == name_of(function));
    functions.iter().filter(is_named).any(|function| owned(module, function).is_none())
}

/// The names in `tool_choice`.
fn demanded(task: &ChatTask) -> &[String] {
    match &task.choice {
        Choice::Named { name, .. } => std::slice::from_ref(name),
        Choice::Allowed { names, .. } => names,
        Choice::Auto | Choice::None | Choice::Required => &[],
    }
}

/// Splits the functions into the module's own and others.
fn split(module: &Module, functions: &[Value]) -> (Vec<Value>, Vec<Value>) {
    functions.iter().cloned().partition(|function| owned(module, function).is_some())
}

fn owned(module: &Module, function: &Value) -> Option<FunctionId> {
    own_function(module, name_of(function), function.get("parameters"))
}

fn name_of(function: &Value) -> &str {
    function.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn written(function: &Function) -> Value {
    json!({"name": function.name, "description": function.description, "parameters": function.parameters})
}

/// Descriptions of a function and its parameters.
fn descriptions(function: &Value) -> impl Iterator<Item = &str> {
    let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
    let all = std::iter::once(function).chain(properties.into_iter().flat_map(|own| own.values()));
    all.filter_map(|value| value.get("description").and_then(Value::as_str))
}

/// A module of functions that can be used.
struct Usable {
    snapshot: Arc<Snapshot>,
    functions: Vec<Value>,
    /// What was left out, and why.
    notes: Vec<String>,
}

impl From<Usable> for Offer {
    fn from(usable: Usable) -> Self {
        Self { notes: usable.notes, ..Self::of(usable.snapshot, &usable.functions) }
    }
}

/// The module compiled from these functions, with what the known module knows of them or in the given language. A function
/// that cannot be used is left out with a note: one odd tool must not take all others with it.
async fn usable(
    (app, caller): (&AppState, &Caller),
    name: &ModuleName,
    functions: &[Value],
    (known, language): (Option<&Arc<Snapshot>>, Option<&'static Language>),
    task: &ChatTask,
) -> Result<Usable, ApiError> {
    let (owner, code) = (caller.as_owner(), language.map(|language| language.code));
    let mut functions = functions.to_vec();
    let error = match app.snapshots.ad_hoc(&owner, name, &functions, known, code).await {
        Ok(snapshot) => return Ok(Usable { snapshot, functions, notes: Vec::new() }),
        Err(error) => error,
    };
    let refused = refused(app, &error, task);
    let Some(unusable) = unusable(&error, &functions, task) else { return Err(refused) };
    let mut notes = Vec::with_capacity(unusable.len());
    for (place, why) in unusable.into_iter().rev() {
        let function = functions.remove(place);
        notes.push(format!("the tool `{}` cannot be used and is left out: {why}", name_of(&function)));
    }
    // Once: all faults of single functions are found together, and a second set of them is compiled at the client's cost.
    let snapshot = app.snapshots.ad_hoc(&owner, name, &functions, known, code).await.map_err(|_| refused)?;
    Ok(Usable { snapshot, functions, notes })
}

/// The places of the functions that are at fault, with what is wrong. `None` where the request cannot do without them: if
/// all are at fault, or one that must be called, or if there is too much of them, for which the last one is not to blame.
fn unusable(error: &PrepareError, functions: &[Value], task: &ChatTask) -> Option<BTreeMap<usize, String>> {
    let PrepareError::Refused { diagnostics, .. } = error else { return None };
    let mut found = BTreeMap::new();
    for one in diagnostics.errors() {
        let place: usize = one.pointer.split('/').nth(1)?.parse().ok().filter(|_| one.code != "over-limit")?;
        found.entry(place).or_insert_with(|| one.message.clone());
    }
    let is_demanded = |place: &usize| demanded(task).iter().any(|name| name == name_of(&functions[*place]));
    let is_needed = task.origin == FunctionsField::ResponseFormat
        || found.len() == functions.len()
        || found.keys().any(|place| *place >= functions.len() || is_demanded(place));
    (!found.is_empty() && !is_needed).then_some(found)
}

fn refused(app: &AppState, error: &PrepareError, task: &ChatTask) -> ApiError {
    match error {
        PrepareError::Refused { diagnostics, .. } => task.refused(diagnostics),
        PrepareError::Compile { reason, .. } => task.uncompilable(reason),
        // The service does not retry; the client may.
        PrepareError::Embed { source, .. } => ApiError::of_embed(source),
        _ => ApiError::of_prepare(error, &app.snapshots),
    }
}

async fn named(app: &AppState, caller: &Caller, name: &ModuleName) -> Result<Arc<Snapshot>, ApiError> {
    app.snapshots.fresh(name).await.map_err(|error| match &error {
        PrepareError::Unknown(name) => models::unknown(app, caller, name.as_str()),
        _ => ApiError::of_prepare(&error, &app.snapshots),
    })
}
