//! The functions that an utterance may mean, as tools for another model. Pure.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{CandidateBody, TimingsBody, candidate};
use crate::{
    module::{Function, Module},
    understand::Trace,
};

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

impl From<&Function> for ToolBody {
    fn from(function: &Function) -> Self {
        let (name, description) = (function.wire_name.clone(), function.description.clone());
        Self { kind: "function", function: ToolFunction { name, description, parameters: function.parameters.clone() } }
    }
}

impl Retrieved {
    /// Most functions that may be requested: the limit of tools in the `OpenAI` API.
    pub const MOST: usize = 128;

    /// `trace` must come from a turn over `module`.
    #[must_use]
    pub fn new(module: &Module, trace: &Trace) -> Self {
        Self {
            object: "list",
            tools: trace.candidates.iter().map(|found| module.function(found.function).into()).collect(),
            uptake: RetrievedDetails {
                module_version: module.version.clone(),
                candidates: trace.candidates.iter().map(|found| candidate(module, found)).collect(),
                timings_ms: trace.timings.into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{module::FunctionId, module::fixture, retrieve::Candidate};

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
            learned: None,
            share: 0.0,
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
