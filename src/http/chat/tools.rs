//! Which functions may be called, and how: `tools`, `tool_choice`, `response_format` and their older forms.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    form::{Ending, MessageForm},
    request::ChatRequest,
};
use crate::{
    http::{ApiError, Fault},
    module::{Diagnostics, FunctionId, Module},
};

/// The limit of the `OpenAI` API.
const MOST_TOOLS: usize = 128;

/// What the client asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChatTask {
    /// The only functions that may be called, each with `name`, `description` and `parameters`; `None` means the
    /// module's.
    pub functions: Option<Vec<Value>>,
    /// Where the request listed the functions, for errors.
    pub origin: FunctionsField,
    pub choice: Choice,
    /// The form of a message without calls.
    pub words: MessageForm,
    /// The function that ends a task.
    pub ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionsField {
    Tools,
    /// The older form.
    Functions,
    ResponseFormat,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Auto,
    None,
    Required,
    /// `param` is the member that holds the name.
    Named {
        name: String,
        param: &'static str,
    },
    /// Only these functions.
    Allowed {
        names: Vec<String>,
        required: bool,
    },
}

impl ChatTask {
    /// # Errors
    /// 400 with the wrong member.
    pub(super) fn read(request: &mut ChatRequest) -> Result<Self, ApiError> {
        let format = response_format(request.response_format.as_ref())?;
        let is_older = request.functions.is_some() || request.function_call.is_some();
        if is_older && (request.tools.is_some() || request.tool_choice.is_some()) {
            let message =
                "`functions` and `function_call` are the older form of `tools` and `tool_choice`: send one form";
            let param = if request.functions.is_some() { "functions" } else { "function_call" };
            return Err(ApiError::fault(Fault::InvalidValue, message).about(param));
        }
        let (origin, choice) = if is_older {
            (FunctionsField::Functions, function_call(request.function_call.as_ref())?)
        } else {
            (FunctionsField::Tools, tool_choice(request.tool_choice.as_ref())?)
        };
        let written = if is_older { request.functions.take() } else { request.tools.take() };
        // Frameworks send an empty list to mean none.
        let written = written.filter(|written| !written.is_empty());
        let mut functions = written.map(|written| functions(&written, origin)).transpose()?;
        let ending = functions.as_mut().and_then(Ending::take);
        Ok(match format {
            RequestedFormat::Text => Self { functions, origin, choice, words: MessageForm::Text, ending },
            RequestedFormat::Json => Self { functions, origin, choice, words: MessageForm::Json, ending },
            RequestedFormat::Object { function, .. } if functions.is_some() && choice != Choice::None => {
                Self { functions, origin, choice, words: MessageForm::Object(function), ending }
            }
            RequestedFormat::Object { name, function } => Self {
                functions: Some(vec![function]),
                origin: FunctionsField::ResponseFormat,
                choice: Choice::Named { name, param: "response_format.json_schema.name" },
                words: MessageForm::Text,
                ending: None,
            },
        })
    }

    /// The errors in the functions, located where the client wrote them.
    pub(super) fn refused(&self, found: &Diagnostics) -> ApiError {
        let Some(first) = found.errors().next() else {
            return ApiError::fault(Fault::InvalidValue, "the functions do not make a module");
        };
        let mut steps = first.pointer.split('/').skip(1);
        let place = steps.next().and_then(|index| index.parse().ok());
        let within = if steps.next() == Some("parameters") { "parameters" } else { "" };
        let param = match (self.origin, place) {
            (FunctionsField::ResponseFormat, _) => "response_format.json_schema.schema".to_owned(),
            (origin, None) => origin.list().to_owned(),
            (origin, Some(index)) if within.is_empty() => origin.function(index),
            (origin, Some(index)) => format!("{}.{within}", origin.function(index)),
        };
        let rest = first.pointer.splitn(4, '/').nth(3).map(|rest| format!(" (at /{rest})")).unwrap_or_default();
        let hint = first.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        ApiError::fault(Fault::InvalidValue, format!("{}{rest}{hint}", first.message)).about(param)
    }

    /// The error for functions that passed every check but do not compile.
    pub(super) fn uncompilable(&self, reason: &str) -> ApiError {
        let param = match self.origin {
            FunctionsField::ResponseFormat => "response_format.json_schema.schema",
            FunctionsField::Tools | FunctionsField::Functions => self.origin.list(),
        };
        ApiError::fault(Fault::InvalidValue, format!("the functions could not be compiled: {reason}")).about(param)
    }

    /// Resolves a function name from `choice` against `module`.
    /// # Errors
    /// 400 if the module has no such function.
    pub(super) fn named(&self, module: &Module, name: &str, param: &'static str) -> Result<FunctionId, ApiError> {
        module.function_named(name).ok_or_else(|| {
            let message = format!("there is no function `{name}` to be called");
            ApiError::fault(Fault::InvalidValue, message).about(param)
        })
    }
}

impl FunctionsField {
    const fn list(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Functions => "functions",
            Self::ResponseFormat => "response_format",
        }
    }

    fn function(self, index: usize) -> String {
        match self {
            Self::Tools => format!("tools[{index}].function"),
            Self::Functions => format!("functions[{index}]"),
            Self::ResponseFormat => "response_format.json_schema".to_owned(),
        }
    }
}

fn functions(written: &[Value], origin: FunctionsField) -> Result<Vec<Value>, ApiError> {
    let list = origin.list();
    if written.len() > MOST_TOOLS {
        let message = format!("`{list}` has {} functions; it has at most {MOST_TOOLS}", written.len());
        return Err(ApiError::fault(Fault::InvalidValue, message).about(list));
    }
    let mut names = BTreeSet::new();
    let mut functions = Vec::with_capacity(written.len());
    for (index, tool) in written.iter().enumerate() {
        let at = origin.function(index);
        let function = match origin {
            FunctionsField::Tools => inner(tool, index)?,
            FunctionsField::Functions | FunctionsField::ResponseFormat => tool,
        };
        let Value::Object(function) = function else {
            return Err(ApiError::fault(Fault::InvalidType, "a function is an object").about(at));
        };
        let function = read(function, &at)?;
        let name = function["name"].as_str().unwrap_or_default();
        if !names.insert(name.to_owned()) {
            let message = format!("there are two functions `{name}`");
            return Err(ApiError::fault(Fault::InvalidValue, message).about(format!("{at}.name")));
        }
        functions.push(function);
    }
    Ok(functions)
}

/// The `function` member of a tool.
fn inner(tool: &Value, index: usize) -> Result<&Value, ApiError> {
    let at = format!("tools[{index}]");
    match tool.get("type").map(Value::as_str) {
        Some(Some("function")) => {}
        Some(Some(other)) => {
            let message = format!("tools of type `{other}` are not served: only `function` is");
            return Err(ApiError::fault(Fault::UnsupportedParameter, message).about(format!("{at}.type")));
        }
        Some(None) | None => {
            let message = "a tool is an object with `\"type\": \"function\"`";
            return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.type")));
        }
    }
    tool.get("function").ok_or_else(|| {
        ApiError::fault(Fault::MissingParameter, "a tool needs `function`").about(format!("{at}.function"))
    })
}

/// Reads name, description and parameters of a function. Other members, such as `strict`, are ignored: arguments always
/// match the schema.
fn read(function: &Map<String, Value>, at: &str) -> Result<Value, ApiError> {
    let name = name(function.get("name"), &format!("{at}.name"))?;
    let description = match function.get("description") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(_) => {
            let message = "`description` is a string";
            return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.description")));
        }
    };
    let mut read = json!({"name": name, "description": description});
    match function.get("parameters") {
        None | Some(Value::Null) => {}
        Some(parameters @ Value::Object(_)) => read["parameters"] = parameters.clone(),
        Some(_) => {
            let message = "`parameters` is a JSON Schema of an object";
            return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{at}.parameters")));
        }
    }
    Ok(read)
}

fn name<'a>(name: Option<&'a Value>, at: &str) -> Result<&'a str, ApiError> {
    let Some(name) = name.filter(|name| !name.is_null()) else {
        return Err(ApiError::fault(Fault::MissingParameter, "a function needs a `name`").about(at.to_owned()));
    };
    let Some(name) = name.as_str() else {
        return Err(ApiError::fault(Fault::InvalidType, "`name` is a string").about(at.to_owned()));
    };
    // OpenAI does not allow dots and slashes, but MCP servers use them in tool names.
    let fits =
        (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./:".contains(&b));
    if fits {
        return Ok(name);
    }
    let message = "a function's name has 1 to 64 letters (a to z), digits, or of `_-./:`";
    Err(ApiError::fault(Fault::InvalidValue, message).about(at.to_owned()))
}

fn tool_choice(choice: Option<&Value>) -> Result<Choice, ApiError> {
    const AT: &str = "tool_choice";
    let bad = |message: String| ApiError::fault(Fault::InvalidValue, message).about(AT);
    match choice {
        None | Some(Value::Null) => Ok(Choice::Auto),
        Some(Value::String(word)) => match word.as_str() {
            "auto" => Ok(Choice::Auto),
            "none" => Ok(Choice::None),
            // Some servers and their libraries write `any`.
            "required" | "any" => Ok(Choice::Required),
            other => Err(bad(format!("`{other}` is no choice: use `auto`, `none`, `required` or one function"))),
        },
        Some(choice) => match choice.get("type").and_then(Value::as_str) {
            Some("function") => {
                let name = choice.pointer("/function/name").and_then(Value::as_str).ok_or_else(|| {
                    let message = "name the function: {\"type\": \"function\", \"function\": {\"name\": \"...\"}}";
                    ApiError::fault(Fault::MissingParameter, message).about("tool_choice.function.name")
                })?;
                Ok(Choice::Named { name: name.to_owned(), param: "tool_choice.function.name" })
            }
            Some("allowed_tools") => allowed(choice.get("allowed_tools").unwrap_or(choice)),
            Some(other) => Err(bad(format!("choices of type `{other}` are not served: only `function` is"))),
            None => Err(bad("it is a string or an object with a `type`".to_owned())),
        },
    }
}

fn allowed(choice: &Value) -> Result<Choice, ApiError> {
    const AT: &str = "tool_choice.allowed_tools.tools";
    let required = match choice.get("mode").and_then(Value::as_str) {
        Some("required") => true,
        Some("auto") | None => false,
        Some(other) => {
            let message = format!("`{other}` is no mode: use `auto` or `required`");
            return Err(ApiError::fault(Fault::InvalidValue, message).about("tool_choice.allowed_tools.mode"));
        }
    };
    let tools = choice.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |tool: &Value| tool.pointer("/function/name").and_then(Value::as_str).map(str::to_owned);
    match tools.iter().map(name).collect::<Option<Vec<String>>>() {
        Some(names) if !names.is_empty() => Ok(Choice::Allowed { names, required }),
        _ => {
            let message = "it is a list of {\"type\": \"function\", \"function\": {\"name\": \"...\"}}, one at least";
            Err(ApiError::fault(Fault::InvalidValue, message).about(AT))
        }
    }
}

fn function_call(choice: Option<&Value>) -> Result<Choice, ApiError> {
    match choice {
        None | Some(Value::Null) => Ok(Choice::Auto),
        Some(Value::String(word)) if word == "auto" => Ok(Choice::Auto),
        Some(Value::String(word)) if word == "none" => Ok(Choice::None),
        Some(choice) => match choice.get("name").and_then(Value::as_str) {
            Some(name) => Ok(Choice::Named { name: name.to_owned(), param: "function_call.name" }),
            None => {
                let message = "use `auto`, `none` or {\"name\": \"...\"}";
                Err(ApiError::fault(Fault::InvalidValue, message).about("function_call"))
            }
        },
    }
}

/// The requested `response_format`.
enum RequestedFormat {
    Text,
    Json,
    /// An object, as a function whose parameters it matches.
    Object {
        name: String,
        function: Value,
    },
}

fn response_format(format: Option<&Value>) -> Result<RequestedFormat, ApiError> {
    const AT: &str = "response_format";
    let Some(format) = format.filter(|format| !format.is_null()) else { return Ok(RequestedFormat::Text) };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => return Ok(RequestedFormat::Text),
        Some("json_object") => return Ok(RequestedFormat::Json),
        Some("json_schema") => {}
        Some(other) => {
            let message = format!("`{other}` is not served: use `text`, `json_object` or `json_schema`");
            return Err(ApiError::fault(Fault::UnsupportedParameter, message).about(format!("{AT}.type")));
        }
        None => {
            let message = "it is an object with a `type`: `text`, `json_object` or `json_schema`";
            return Err(ApiError::fault(Fault::InvalidType, message).about(format!("{AT}.type")));
        }
    }
    let Some(Value::Object(object)) = format.get("json_schema") else {
        let message = "`json_schema` needs `name` and `schema`";
        return Err(ApiError::fault(Fault::MissingParameter, message).about(format!("{AT}.json_schema")));
    };
    let at = format!("{AT}.json_schema");
    let name = name(object.get("name"), &format!("{at}.name"))?;
    let Some(schema @ Value::Object(_)) = object.get("schema") else {
        let message = "`schema` is a JSON Schema of an object";
        return Err(ApiError::fault(Fault::MissingParameter, message).about(format!("{at}.schema")));
    };
    let description = object.get("description").and_then(Value::as_str).unwrap_or_default();
    let function = json!({"name": name, "description": description, "parameters": schema});
    Ok(RequestedFormat::Object { name: name.to_owned(), function })
}
