//! `POST /v1/predict/{module}`: what a person said, as a validated function call.

use axum::{Json, extract::State};
use jiff::{Timestamp, Zoned, fmt::temporal::Pieces, tz::TimeZone};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    ApiError, AppState, ChatCompletion, Fault, Stamp,
    extract::{self, ModuleSegment, Object, Permit},
};
use crate::{
    module::{FunctionId, Module, settings::StrategyName},
    understand::TurnRequest,
};

/// Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct PredictRequest {
    /// What the person said.
    #[schema(
        required = true,
        min_length = 1,
        example = "how cold will it be in Seattle in the next three days, in celsius?"
    )]
    #[schema(value_type = String)]
    utterance: Option<String>,
    /// Who decides: `auto`, `local` (never a model server) or `tools` (always one). The module's choice if absent.
    #[schema(value_type = Option<String>, example = "auto")]
    strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read, in RFC 9557 or RFC 3339: `2026-03-01T09:00:00-08:00[America/Los_Angeles]`.
    /// Now if absent. With `Z` it is read in the module's time zone.
    #[schema(example = "2026-03-01T09:00:00-08:00[America/Los_Angeles]")]
    now: Option<String>,
    /// Names of the only functions that may be chosen. All if absent.
    functions: Option<Vec<String>>,
    /// Reserved: leave it out.
    #[schema(ignore)]
    mode: Option<Value>,
}

/// Understand an utterance
///
/// Answers with a chat completion: a valid and complete call, a question about what is missing, or neither if the
/// utterance is out of scope. All three are answers (200).
#[utoipa::path(
    post, path = "/v1/predict/{module}", tag = "understand",
    params(("module" = String, Path, description = "Name of a module")),
    request_body = PredictRequest,
    responses((status = 200, description = "What was understood", body = ChatCompletion)),
)]
pub(super) async fn predict(
    _permit: Permit,
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
    Object(request): Object<PredictRequest>,
) -> Result<Json<ChatCompletion>, ApiError> {
    if request.mode.is_some() {
        let message = "`mode` is not served: leave it out to get a function call";
        return Err(ApiError::fault(Fault::UnsupportedParameter, message).about("mode"));
    }
    let utterance = extract::utterance(request.utterance, app.turns.max_utterance)?;
    let snapshot = app.module(&name).await?;
    let module = &snapshot.module;
    let turn_request = TurnRequest {
        utterance,
        strategy: request.strategy,
        now: request.now.as_deref().map(|now| moment(now, &time_zone(module, &app))).transpose()?,
        among: request.functions.as_deref().map(|names| functions(module, names)).transpose()?,
    };
    let turn = app
        .understander
        .turn(&snapshot, &turn_request)
        .await
        .map_err(|error| ApiError::of_turn(&error, request.strategy.is_some()))?;
    tracing::info!(
        module = %module.name,
        outcome = turn.outcome.name(),
        decided_by = turn.decided_by.name(),
        confidence = turn.confidence,
        total_ms = turn.trace.timings.total,
        "turn"
    );
    Ok(Json(ChatCompletion::new(module, &turn, Stamp::now())))
}

/// The zone in which a moment without one is read. Names were checked when the module and the configuration were.
pub(super) fn time_zone(module: &Module, app: &AppState) -> TimeZone {
    let name = module.settings.time_zone.as_deref().unwrap_or(&app.turns.time_zone);
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

/// Reads RFC 9557 (`...[Europe/Zurich]`), else RFC 3339; `Z` says the instant but not the place, so `home` is the place.
pub(super) fn moment(text: &str, home: &TimeZone) -> Result<Zoned, ApiError> {
    let zoned = || -> Result<Zoned, jiff::Error> {
        let pieces = Pieces::parse(text)?;
        if pieces.time_zone_annotation().is_some() {
            return text.parse();
        }
        let instant: Timestamp = text.parse()?;
        let place = match pieces.to_numeric_offset() {
            Some(offset) if !text.trim_end().ends_with(['Z', 'z']) => TimeZone::fixed(offset),
            _ => home.clone(),
        };
        Ok(instant.to_zoned(place))
    };
    zoned().map_err(|error| {
        let message =
            format!("`now` is no moment in time ({error}): write `2026-03-01T09:00:00-08:00[America/Los_Angeles]`");
        ApiError::fault(Fault::InvalidValue, message).about("now")
    })
}

fn functions(module: &Module, names: &[String]) -> Result<Vec<FunctionId>, ApiError> {
    if names.is_empty() {
        let message = "`functions` is empty, so nothing could be chosen: leave it out to choose among all";
        return Err(ApiError::fault(Fault::InvalidValue, message).about("functions"));
    }
    let mut ids = Vec::with_capacity(names.len().min(module.functions.len()));
    let mut seen = vec![false; module.functions.len()];
    for (index, name) in names.iter().enumerate() {
        let Some(id) = module.function_named(name) else {
            let message = format!("module `{}` has no function `{name}`", module.name);
            return Err(ApiError::fault(Fault::InvalidValue, message).about(format!("functions[{index}]")));
        };
        if !std::mem::replace(&mut seen[id.index()], true) {
            ids.push(id);
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fixture;

    #[test]
    fn a_moment_with_z_is_read_at_home() {
        let home = TimeZone::get("Asia/Tokyo").expect("bundled");
        let read = |text: &str| moment(text, &home).map(|moment| moment.to_string());
        assert_eq!(read("2026-03-01T09:00:00Z").unwrap(), "2026-03-01T18:00:00+09:00[Asia/Tokyo]");
        assert_eq!(read("2026-03-01T09:00:00.5+02:00").unwrap(), "2026-03-01T09:00:00.5+02:00[+02:00]");
        let zurich = "2026-03-01T09:00:00+01:00[Europe/Zurich]";
        assert_eq!(read(zurich).unwrap(), zurich);
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        let long = "9".repeat(10_000);
        for text in ["", "tomorrow", "2026-03-01", "2026-03-01T09:00:00", "2026-13-01T00:00:00Z", "\u{0}", &long] {
            assert!(moment(text, &TimeZone::UTC).is_err(), "{text:?}");
        }
    }

    #[test]
    fn functions_are_found_by_name_once() {
        let module = fixture::module();
        let names = |names: &[&str]| functions(&module, &names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names(&["get_current_weather"; 3]).unwrap(), [FunctionId::from_index(0)]);
        assert!(names(&[]).is_err());
        let unknown = names(&["get_current_weather", "sing"]).unwrap_err();
        let message = "module `weather` has no function `sing`";
        assert_eq!(unknown, ApiError::fault(Fault::InvalidValue, message).about("functions[1]"));
    }
}
