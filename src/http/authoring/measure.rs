//! `POST /v1/modules/{module}/measure`: what a change does to the module's own cases and dialogues.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::{HeaderName, HeaderValue},
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::{ChangeBody, applied, change::beside, files_of, guarded, versions::version_of};
use crate::{
    eval::{self, Cases, EvalOptions, Evaluation, report::ReportOptions},
    http::{
        ApiError, AppState, Fault,
        caller::Caller,
        error::ErrorEnvelope,
        extract::{Admitted, ModuleSegment},
    },
    module::{
        ModuleName,
        directory::{CASES_FILES, Change, ModuleFiles},
        settings::StrategyName,
    },
    snapshot::Snapshot,
};

/// Interval of keep-alive events: proxies close idle connections.
const ALIVE: Duration = Duration::from_secs(10);
/// Most cases and dialogues that one measurement runs.
const MOST: usize = 10_000;
/// Longest list in a report, in lines.
const TOP: usize = 50;

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct MeasureRequest {
    /// What would be changed: the module is measured as it is, and as it would be.
    #[serde(default)]
    changes: Vec<ChangeBody>,
    /// Instead of that: the module is measured as it was in this version, and as it is.
    since: Option<u64>,
}

/// One event of a measurement.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents an event, which the framework writes")]
pub(in crate::http) struct MeasureEvent {
    /// `progress`, then `report` or `error`.
    event: String,
    /// Of `progress` `{"part": "before" or "after", "done", "all"}`, of `report` a `Measured` as JSON, of `error` an
    /// `ErrorEnvelope`.
    data: String,
}

/// What came of the cases and dialogues, before and after.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct Measured {
    /// As `uptake eval --json` tells it, without the single answers; null where nothing is compared.
    #[schema(required = true, value_type = Option<Object>)]
    before: Option<Value>,
    #[schema(value_type = Object)]
    after: Value,
    newly_right: Vec<Moved>,
    no_longer_right: Vec<Moved>,
    /// Right before and after, and neither before nor after.
    still_right: usize,
    still_wrong: usize,
}

/// A case or a dialogue that came to something else.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(in crate::http) struct Moved {
    /// `cases.jsonl:12`
    place: String,
    /// What was said; of a dialogue, the turn that is not right any more, or its first words.
    utterance: String,
    /// What it comes to where it is not right: what was expected, and what came.
    expected: Option<String>,
    got: Option<String>,
}

/// Measure a module
///
/// Runs its `cases.jsonl` and `dialogues.jsonl` by the local strategy (no model server is asked), before and after a
/// change, and tells what is newly right and what no longer is. Server-sent events: `progress`, then `report` or
/// `error`. It ends if the client leaves.
#[utoipa::path(
    post, path = "/v1/modules/{module}/measure", operation_id = "measure_module", tag = "modules",
    params(("module" = String, Path, description = "Name of a module")),
    request_body = MeasureRequest,
    responses(
        (status = 200, description = "How far it is, and what came of it", content((MeasureEvent = "text/event-stream"))),
        (status = 409, description = "The module has no cases", body = ErrorEnvelope),
    ),
)]
pub(in crate::http) async fn measure(
    State(app): State<AppState>,
    caller: Caller,
    ModuleSegment(name): ModuleSegment,
    Admitted { permit, body }: Admitted<MeasureRequest>,
) -> Result<Response, ApiError> {
    // A measurement takes long, so it must not hold a turn's permit.
    drop(permit);
    guarded(&app)?;
    let now = files_of(&app, &name).await?;
    let (before, after) = match body.since {
        Some(version) => (Some(version_of(&app, &name, &version.to_string()).await?.1), now),
        None if body.changes.is_empty() => (None, now),
        None => {
            let changes: Vec<Change> = body.changes.into_iter().map(Change::from).collect();
            let after = applied(&now, &changes)?;
            (Some(now), after)
        }
    };
    let leave = app.leave_to_watch(&caller)?;
    let (told, news) = mpsc::unbounded_channel();
    let task = tokio::spawn({
        let app = app.clone();
        async move {
            let _leave = (leave, app.leave_to_measure(&caller).await, app.leave_in_background(&caller).await);
            let event = match run(&app, &name, before, after, &told).await {
                Ok(measured) => event("report", &measured),
                Err(error) => event("error", &error.into_body().1),
            };
            drop(told.send(event));
        }
    });
    let running = MeasurementGuard(task);
    let events = stream::unfold((news, running), |(mut news, running)| async move {
        news.recv().await.map(|event| (event, (news, running)))
    });
    let events = events.take_until(app.stopping()).map(Ok::<_, Infallible>);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response();
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// The running measurement; dropping this, as when the client leaves, ends it.
struct MeasurementGuard(tokio::task::JoinHandle<()>);

impl Drop for MeasurementGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}

async fn run(
    app: &AppState,
    name: &ModuleName,
    before: Option<ModuleFiles>,
    after: ModuleFiles,
    told: &mpsc::UnboundedSender<Event>,
) -> Result<Measured, ApiError> {
    let cases = cases(&after);
    let all = cases.cases.len() + cases.dialogues.len();
    if all == 0 {
        let message = format!("`{name}` has no cases: write some into cases.jsonl");
        return Err(ApiError::fault(Fault::FileNotFound, message));
    }
    if all > MOST {
        let message = format!("`{name}` has {all} cases, more than {MOST}: `uptake eval` runs them");
        return Err(ApiError::fault(Fault::InvalidValue, message));
    }
    let first = match before {
        Some(files) => {
            let snapshot = beside(app, name, files).await?;
            Some(evaluated(app, &snapshot, cases.clone(), "before", told).await?)
        }
        None => None,
    };
    let snapshot = beside(app, name, after).await?;
    let second = evaluated(app, &snapshot, cases, "after", told).await?;
    Ok(measured(first.as_ref(), &second))
}

fn cases(files: &ModuleFiles) -> Cases {
    let mut cases = Cases::default();
    for file in CASES_FILES {
        if let Some(text) = files.text(file) {
            cases.extend(Cases::parse(file, text));
        }
    }
    cases
}

async fn evaluated(
    app: &AppState,
    snapshot: &Arc<Snapshot>,
    cases: Cases,
    part: &'static str,
    told: &mpsc::UnboundedSender<Event>,
) -> Result<Evaluation, ApiError> {
    let progress = |done: usize, all: usize| {
        drop(told.send(event("progress", &json!({"part": part, "done": done, "all": all}))));
    };
    let options = EvalOptions { strategy: Some(StrategyName::Local), ..EvalOptions::default() };
    let found = eval::evaluate(&app.understander, snapshot, cases, &options, &progress).await;
    found.map_err(|error| ApiError::of_turn(&error, false))
}

fn measured(before: Option<&Evaluation>, after: &Evaluation) -> Measured {
    let mut measured = Measured {
        before: before.map(told),
        after: told(after),
        newly_right: Vec::new(),
        no_longer_right: Vec::new(),
        still_right: 0,
        still_wrong: 0,
    };
    let Some(before) = before else {
        measured.still_right = after.answers.iter().filter(|one| one.right).count() + right(after);
        measured.still_wrong = after.wrong.len() + after.dialogues.wrong.len();
        return measured;
    };
    let wrong = |evaluation: &Evaluation| -> Vec<Moved> {
        let cases = evaluation.wrong.iter().map(|one| Moved {
            place: one.place.to_string(),
            utterance: one.utterance.clone(),
            expected: Some(one.expected.clone()),
            got: Some(one.error.clone().unwrap_or_else(|| one.got.clone())),
        });
        let dialogues = evaluation.dialogues.wrong.iter().map(|one| {
            let last = one.so_far.last();
            Moved {
                place: one.place.to_string(),
                utterance: last.map(|exchange| exchange.user.clone()).unwrap_or_default(),
                expected: Some(one.expected.to_string()),
                got: last.map(|exchange| exchange.answer.clone()),
            }
        });
        cases.chain(dialogues).collect()
    };
    let (was, is) = (wrong(before), wrong(after));
    let has = |list: &[Moved], place: &str| list.iter().any(|one| one.place == place);
    measured.newly_right = was.iter().filter(|one| !has(&is, &one.place)).cloned().collect();
    measured.no_longer_right = is.iter().filter(|one| !has(&was, &one.place)).cloned().collect();
    measured.still_wrong = is.len() - measured.no_longer_right.len();
    let all = after.answers.len() + after.dialogues.all();
    measured.still_right = all.saturating_sub(is.len() + measured.newly_right.len());
    measured
}

fn right(evaluation: &Evaluation) -> usize {
    evaluation.dialogues.plain.right + evaluation.dialogues.scripted.right
}

fn told(evaluation: &Evaluation) -> Value {
    let mut report = eval::report::json(evaluation, ReportOptions { top: TOP, errors: true });
    if let Some(members) = report.as_object_mut() {
        members.shift_remove("answers");
        for list in ["wrong", "wrong_dialogues"] {
            if let Some(items) = members.get_mut(list).and_then(Value::as_array_mut) {
                items.truncate(TOP);
            }
        }
    }
    report
}
