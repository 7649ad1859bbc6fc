//! `POST /v1/retrieve/{module}`: the functions that an utterance may mean, as tools for somebody else's model.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    ApiError, AppState, Fault,
    completion::{CandidateBody, TimingsBody, candidate},
    extract::{self, ModuleSegment, Object, Permit},
};
use crate::{
    module::Module,
    understand::{Trace, TurnRequest},
};

/// Most candidates that may be asked for: the number of tools that the `OpenAI` API takes.
const MOST: usize = 128;

/// Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct RetrieveRequest {
    /// What the person said.
    #[schema(required = true, min_length = 1, value_type = String, example = "how cold will it be in Seattle?")]
    utterance: Option<String>,
    /// At most so many functions; `understand.candidates` if absent.
    #[schema(minimum = 1, maximum = 128)]
    limit: Option<usize>,
}

/// The functions that the utterance may mean, best first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Retrieved {
    #[schema(value_type = String, example = "list")]
    pub object: &'static str,
    /// Ready to be sent as `tools` to any server that speaks the `OpenAI` API.
    pub tools: Vec<ToolBody>,
    pub uptake: RetrievedDetails,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolBody {
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "function")]
    pub kind: &'static str,
    pub function: ToolFunction,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolFunction {
    /// Fits `[a-zA-Z0-9_-]{1,64}`: the function's own name where that does.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RetrievedDetails {
    pub module_version: String,
    /// In the order of `tools`, with the scores that put them there.
    pub candidates: Vec<CandidateBody>,
    pub timings_ms: TimingsBody,
}

impl Retrieved {
    /// `trace` must come from a turn over `module`.
    #[must_use]
    pub fn new(module: &Module, trace: &Trace) -> Self {
        let tools = trace.candidates.iter().map(|found| {
            let function = module.function(found.function);
            ToolBody {
                kind: "function",
                function: ToolFunction {
                    name: function.wire_name.clone(),
                    description: function.description.clone(),
                    parameters: function.parameters.clone(),
                },
            }
        });
        Self {
            object: "list",
            tools: tools.collect(),
            uptake: RetrievedDetails {
                module_version: module.version.clone(),
                candidates: trace.candidates.iter().map(|found| candidate(module, found)).collect(),
                timings_ms: trace.timings.into(),
            },
        }
    }
}

/// Find the functions that an utterance may mean
///
/// Nothing is decided: the best candidates come back as a `tools` array with their scores.
#[utoipa::path(
    post, path = "/v1/retrieve/{module}", tag = "understand",
    params(("module" = String, Path, description = "Name of a module")),
    request_body = RetrieveRequest,
    responses((status = 200, description = "The best candidates", body = Retrieved)),
)]
pub(super) async fn retrieve(
    _permit: Permit,
    State(app): State<AppState>,
    ModuleSegment(name): ModuleSegment,
    Object(request): Object<RetrieveRequest>,
) -> Result<Json<Retrieved>, ApiError> {
    let utterance = extract::utterance(request.utterance, app.turns.max_utterance)?;
    let limit = request.limit.unwrap_or(app.turns.candidates);
    if !(1..=MOST).contains(&limit) {
        let message = format!("`limit` is {limit}; it must be 1 to {MOST}");
        return Err(ApiError::fault(Fault::InvalidValue, message).about("limit"));
    }
    let snapshot = app.module(&name).await?;
    let request = TurnRequest { utterance, ..TurnRequest::default() };
    let trace = app
        .understander
        .retrieve(&snapshot, &request, limit)
        .await
        .map_err(|error| ApiError::of_turn(&error, false))?;
    Ok(Json(Retrieved::new(&snapshot.module, &trace)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{http::fixture, module::FunctionId, retrieve::Candidate};

    #[test]
    fn tools_are_what_a_model_server_takes() {
        let mut module = fixture::module();
        module.functions[0].name = "me.test.Weather".into();
        let function = FunctionId::from_index(0);
        let candidates = vec![Candidate {
            function,
            score: 0.5,
            exemplars: None,
            description: None,
            negative: None,
            evidence: Vec::new(),
        }];
        let trace = Trace { candidates, ..Trace::default() };
        let answer = serde_json::to_value(Retrieved::new(&module, &trace)).unwrap();
        assert_eq!(
            answer["tools"],
            json!([{"type": "function", "function": {
                "name": "get_current_weather",
                "description": "The weather now",
                "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
            }}])
        );
        assert_eq!(
            answer["uptake"]["candidates"],
            json!([{"function": "me.test.Weather", "score": 0.5, "evidence": []}])
        );
    }
}
