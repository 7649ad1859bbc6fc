//! Puts the answer's words into the form that the request wants: an object, or the argument of the function that ends a
//! task.

use serde_json::{Map, Value, json};

use super::framework::ENDINGS;
use crate::{
    answer::{ChatCompletion, FunctionCall, ToolCall},
    http::AppState,
    module::{FunctionId, ModuleName},
    shares::Owner,
    understand::CallResult,
};

/// The form of a message that has no calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MessageForm {
    Text,
    /// Any JSON object.
    Json,
    /// An object that matches this function's parameters, where calls are wanted too.
    Object(Value),
}

/// The function that ends a task, for agents that must call a function in every step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ending {
    /// With `name`, `description` and `parameters`.
    function: Value,
}

impl Ending {
    /// Takes the ending out of these functions, if there is one: no utterance asks for it.
    pub(super) fn take(functions: &mut Vec<Value>) -> Option<Self> {
        let place = functions.iter().position(|function| ENDINGS.contains(&name_of(function)))?;
        let takes_something = properties(&functions[place]).is_some_and(|properties| !properties.is_empty());
        takes_something.then(|| Self { function: functions.remove(place) })
    }

    /// Puts the text into a call of the function. Text that does not fit stays as it is.
    pub(super) async fn call(
        &self,
        (app, owner): (&AppState, &Owner),
        results: &[CallResult],
        completion: &mut ChatCompletion,
        id: String,
    ) {
        for choice in &mut completion.choices {
            let message = &mut choice.message;
            let Some(text) = message.content.clone().filter(|_| message.tool_calls.is_none()) else { continue };
            let arguments = match self.text() {
                Some(argument) => Some(Map::from_iter([(argument.to_owned(), text.into())])),
                None => filled((app, owner), &self.function, results, &text).await,
            };
            let Some(arguments) = arguments else { continue };
            let function = FunctionCall {
                name: name_of(&self.function).to_owned(),
                arguments: Value::Object(arguments).to_string(),
            };
            message.content = None;
            message.tool_calls = Some(vec![ToolCall { id: id.clone(), kind: "function", function }]);
            choice.finish_reason = "tool_calls";
        }
    }

    /// The name of the function's only argument, if that is a text.
    fn text(&self) -> Option<&str> {
        let properties = properties(&self.function).filter(|properties| properties.len() == 1)?;
        let (argument, schema) = properties.iter().next()?;
        let kind = schema.get("type").and_then(Value::as_str);
        kind.is_none_or(|kind| matches!(kind, "string" | "any")).then_some(argument)
    }
}

fn name_of(function: &Value) -> &str {
    function.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn properties(function: &Value) -> Option<&Map<String, Value>> {
    function.pointer("/parameters/properties").and_then(Value::as_object)
}

/// Puts the text into the requested object. Where that is impossible, the answer is a refusal: no value is invented.
pub(super) async fn shape(
    at: (&AppState, &Owner),
    words: &MessageForm,
    results: &[CallResult],
    completion: &mut ChatCompletion,
) {
    for choice in &mut completion.choices {
        let message = &mut choice.message;
        let Some(text) = message.content.take() else { continue };
        match words {
            MessageForm::Text => message.content = Some(text),
            MessageForm::Json => message.content = Some(json!({ "reply": text }).to_string()),
            MessageForm::Object(function) => match filled(at, function, results, &text).await {
                Some(object) => message.content = Some(Value::Object(object).to_string()),
                None => message.refusal = Some(text),
            },
        }
    }
}

/// The object, filled with matching members of the results; one missing text member gets the answer's text. `None` if
/// the object is not valid.
async fn filled(
    (app, owner): (&AppState, &Owner),
    function: &Value,
    results: &[CallResult],
    text: &str,
) -> Option<Map<String, Value>> {
    let schema = function.get("parameters")?;
    let properties = properties(function)?;
    let values: Vec<Value> =
        results.iter().filter(|result| result.failure().is_none()).map(CallResult::value).collect();
    let found = |key: &String| values.iter().rev().find_map(|value| value.get(key)).cloned();
    let mut object: Map<String, Value> = properties.keys().filter_map(|key| Some((key.clone(), found(key)?))).collect();
    let required = schema.get("required").and_then(Value::as_array)?;
    let mut missing = required.iter().filter_map(Value::as_str).filter(|key| !object.contains_key(*key));
    if let (Some(key), None) = (missing.next(), missing.next()) {
        object.insert(key.to_owned(), text.into());
    }
    let name = ModuleName::new(name_of(function)).ok()?;
    let snapshot = app.snapshots.ad_hoc(owner, &name, std::slice::from_ref(function), None, None).await.ok()?;
    let id = FunctionId::from_index(0);
    let checked = snapshot.validator.check(snapshot.module.function(id), id, object);
    checked.violations.is_empty().then_some(checked.arguments)
}
