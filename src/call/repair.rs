//! Reads what a model wrote as arguments and an existing function. Pure, idempotent, and without effect on valid input.
//! Each repair has a name, which appears in the trace.

use serde_json::{Map, Value};

use crate::{
    llm::written::lenient::{self, Repairs},
    module::{Function, FunctionId, Module, squeeze},
};

/// The repair of a text that ended inside its arguments, and of one that only lacks brackets.
pub(crate) use lenient::name::{MISSING_BRACKET, TRUNCATED};

/// Longer text is not read.
pub const MAX_TEXT: usize = 1 << 20;
/// Members that wrap the arguments if a model repeats the whole call.
const WRAPPERS: [&str; 7] = ["arguments", "parameters", "args", "input", "kwargs", "function_call", "function"];
/// Members that may stand beside a wrapper.
const BESIDE: [&str; 8] = ["name", "tool", "tool_name", "function_name", "type", "id", "recipient_name", "description"];

/// Arguments that could be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repaired {
    pub arguments: Map<String, Value>,
    /// Names of the repairs, without repetition; empty if the text was valid.
    pub repairs: Vec<&'static str>,
}

/// Text without recognisable arguments. `Display` can be sent back to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments must be one JSON object, but {0}")]
pub struct Unreadable(&'static str);

/// Reads the arguments of a call of `function`.
///
/// Valid JSON that matches the function's properties is used unchanged. A member that the text ends inside is dropped,
/// never completed.
///
/// # Errors
/// If `text` is neither an object nor something that can safely be read as one.
pub fn arguments(text: &str, function: &Function) -> Result<Repaired, Unreadable> {
    let mut read = object(text)?;
    let mut repairs = Repairs(read.repairs);
    read.arguments = unwrap(read.arguments, function, &mut repairs);
    Ok(Repaired { arguments: read.arguments, repairs: repairs.0 })
}

/// Reads one JSON object with any members.
///
/// # Errors
/// As [`arguments`].
pub fn object(text: &str) -> Result<Repaired, Unreadable> {
    if text.len() > MAX_TEXT {
        return Err(Unreadable("they are too long"));
    }
    let mut repairs = Repairs::default();
    let arguments = read_object(text, &mut repairs)?;
    Ok(Repaired { arguments, repairs: repairs.0 })
}

fn read_object(text: &str, repairs: &mut Repairs) -> Result<Map<String, Value>, Unreadable> {
    // JSON within a JSON string gets shorter at each step, so this ends.
    let mut text = std::borrow::Cow::Borrowed(text.trim());
    loop {
        if text.is_empty() {
            repairs.note("empty");
            return Ok(Map::new());
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(object)) => return Ok(object),
            Ok(Value::String(inner)) if inner.trim_start().starts_with(['{', '[', '"', '`']) => {
                repairs.note("double-encoded");
                text = inner.trim().to_owned().into();
            }
            Ok(Value::Array(mut items)) if items.len() == 1 && items[0].is_object() => {
                repairs.note("array-of-one");
                return match items.pop() {
                    Some(Value::Object(object)) => Ok(object),
                    _ => Err(Unreadable("an array was found")),
                };
            }
            Ok(Value::Null) => {
                repairs.note("null");
                return Ok(Map::new());
            }
            Ok(other) => {
                return Err(Unreadable(match other {
                    Value::Array(_) => "an array was found",
                    Value::String(_) => "a string was found",
                    Value::Number(_) => "a number was found",
                    _ => "a boolean was found",
                }));
            }
            Err(_) => {
                let (object, found) = lenient::first_object(&text).ok_or(Unreadable("no JSON object was found"))?;
                found.0.into_iter().for_each(|repair| repairs.note(repair));
                return Ok(object);
            }
        }
    }
}

/// Unwraps `{"name": ..., "arguments": {...}}` and `{"get_weather": {...}}`, unless the function has a property of that
/// name.
fn unwrap(mut object: Map<String, Value>, function: &Function, repairs: &mut Repairs) -> Map<String, Value> {
    let declared = |key: &str| function.parameters.pointer("/properties").and_then(|of| of.get(key)).is_some();
    loop {
        if object.is_empty() || object.keys().any(|key| declared(key)) {
            return object;
        }
        let is_own_name = |key: &str| key == function.name || key == function.wire_name;
        let wrapper = object.keys().find(|key| WRAPPERS.contains(&key.as_str()) || is_own_name(key)).cloned();
        let Some(wrapper) = wrapper else { return object };
        if object.keys().any(|key| *key != wrapper && !BESIDE.contains(&key.as_str())) {
            return object;
        }
        let inner = match object.get(&wrapper) {
            Some(Value::Object(inner)) => inner.clone(),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(inner)) => inner,
                _ => return object,
            },
            _ => return object,
        };
        let fits = inner.is_empty()
            || inner.keys().any(|key| declared(key) || WRAPPERS.contains(&key.as_str()) || is_own_name(key));
        if !fits {
            return object;
        }
        repairs.note("unwrapped");
        object = inner;
    }
}

/// The function that a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadName {
    pub function: FunctionId,
    /// The repair that was needed; `None` if the name was right.
    pub repair: Option<&'static str>,
}

/// The function among `among` that a model means by `said`: by its name, or else ignoring case and separators, or else
/// with a missing or extra prefix (`functions.get_weather`, `default_api:get_weather`). `None` if there is none, or if
/// several fit equally well.
#[must_use]
pub fn read_name(said: &str, module: &Module, among: &[FunctionId]) -> Option<ReadName> {
    let names = |id: FunctionId| {
        let function = module.function(id);
        [function.wire_name.as_str(), function.name.as_str()]
    };
    let only = |fits: &dyn Fn(&str) -> bool, repair| {
        let mut found = among.iter().copied().filter(|id| names(*id).into_iter().any(fits));
        let first = found.next()?;
        found.all(|other| other == first).then_some(ReadName { function: first, repair })
    };
    if said.len() > 1_024 {
        return None;
    }
    // A wire name is unique in its module; a name as written may be shared by overloads, whose wire names differ.
    if let Some(id) = among.iter().find(|id| module.function(**id).wire_name == said) {
        return Some(ReadName { function: *id, repair: None });
    }
    if let Some(found) = only(&|name| name == said, None) {
        return Some(found);
    }
    let trimmed = said.trim().trim_matches(['`', '"', '\'', '*', '<', '>']);
    let trimmed = trimmed.strip_suffix("()").unwrap_or(trimmed);
    let squeezed = squeeze(trimmed);
    if squeezed.is_empty() {
        return None;
    }
    if let Some(found) = only(&|name| squeeze(name) == squeezed, Some("name-spelling")) {
        return Some(found);
    }
    let last = |name: &str| squeeze(name.rsplit(['.', ':', '/', ' ']).next().unwrap_or(name));
    let tail = last(trimmed);
    if tail.is_empty() {
        return None;
    }
    only(&|name| squeeze(name) == tail, Some("name-prefix"))
        .or_else(|| only(&|name| last(name) == tail, Some("name-prefix")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::call::testing::{function, json_value, module};

    fn weather() -> Function {
        function(
            "get_weather",
            json!({"type": "object", "properties": {
            "location": {"type": "string"}, "days": {"type": "integer"}, "a": {}, "b": {}, "c": {}, "d": {}, "e": {}}}),
        )
    }

    fn read(text: &str) -> (Value, Vec<&'static str>) {
        let read = arguments(text, &weather()).expect("readable");
        (Value::Object(read.arguments), read.repairs)
    }

    #[test]
    fn what_models_write_is_read() {
        let cases: &[(&str, Value, &[&str])] = &[
            ("{\"a\": 1}", json!({"a": 1}), &[]),
            ("", json!({}), &["empty"]),
            ("null", json!({}), &["null"]),
            ("```json\n{\"a\": 1}\n```", json!({"a": 1}), &["code-fence"]),
            ("Sure: {\"a\": 1} as you wish", json!({"a": 1}), &["surrounding-text"]),
            ("{x} {\"a\": 1}", json!({"a": 1}), &["surrounding-text"]),
            ("{\"a\": 1}}", json!({"a": 1}), &["surrounding-text"]),
            ("{'a': 'it\\'s', b: \"x\"}", json!({"a": "it's", "b": "x"}), &["quotes", "escape", "unquoted-key"]),
            ("{'a': 'it's fine'}", json!({"a": "it's fine"}), &["quotes", "inner-quote"]),
            ("{“a”: “b”}", json!({"a": "b"}), &["quotes"]),
            ("{\"a\": [1, 2,],}", json!({"a": [1, 2]}), &["trailing-comma"]),
            ("{\"a\": 1, // one\n/* two */ \"b\": 2 # three\n}", json!({"a": 1, "b": 2}), &["comment"]),
            ("{\"a\": \"http://x//y\", }", json!({"a": "http://x//y"}), &["trailing-comma"]),
            ("{\"a\": None, \"b\": True, \"c\": False}", json!({"a": null, "b": true, "c": false}), &["literal"]),
            ("{\"a\": 1 \"b\": 2}", json!({"a": 1, "b": 2}), &["missing-comma"]),
            ("{\"a\": \"say \"hi\" to me\"}", json!({"a": "say \"hi\" to me"}), &["inner-quote"]),
            ("{\"a\": \"x\ny\"}", json!({"a": "x\ny"}), &["control-character"]),
            (
                "{\"a\": .5, \"b\": +3, \"c\": 2., \"d\": 007}",
                json!({"a": 0.5, "b": 3, "c": 2, "d": "007"}),
                &["number", "unquoted-value"],
            ),
            (
                "{location: New York, a: 1}",
                json!({"location": "New York", "a": 1}),
                &["unquoted-key", "unquoted-value"],
            ),
            ("{\"a\": [1, 2, \"b\": 3}", json!({"a": [1, 2]}), &["inner-quote", "truncated"]),
            ("{\"a\": [1, 2}", json!({"a": [1, 2]}), &["missing-bracket"]),
            ("{\"a\": {\"b\": [{\"c\": 1]}}", json!({"a": {"b": [{"c": 1}]}}), &["missing-bracket"]),
            ("\"{\\\"a\\\": 1}\"", json!({"a": 1}), &["double-encoded"]),
            ("[{\"a\": 1}]", json!({"a": 1}), &["array-of-one"]),
            ("{\"name\": \"get_weather\", \"arguments\": {\"a\": 1}}", json!({"a": 1}), &["unwrapped"]),
            ("{\"get_weather\": {\"a\": 1}}", json!({"a": 1}), &["unwrapped"]),
            ("{\"parameters\": \"{\\\"a\\\": 1}\"}", json!({"a": 1}), &["unwrapped"]),
            ("{\"parameters\": {\"z\": 1}}", json!({"parameters": {"z": 1}}), &[]),
        ];
        for (text, value, repairs) in cases {
            assert_eq!(read(text), (value.clone(), repairs.to_vec()), "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_is_dropped_and_never_completed() {
        for (text, value) in [
            ("{", json!({})),
            ("{\"a\": 1, \"b\": \"kit", json!({"a": 1})),
            ("{\"a\": 1, \"b", json!({"a": 1})),
            ("{\"a\": 1, \"b\":", json!({"a": 1})),
            ("{\"a\": 1, \"days\": 12", json!({"a": 1})),
            ("{\"a\": tr", json!({})),
            ("{\"a\": {\"b\": [1, {\"c\": 2, \"d\": \"x", json!({"a": {"b": [1, {"c": 2}]}})),
            ("{\"a\": 1, \"b\": {\"c\": [", json!({"a": 1})),
        ] {
            assert_eq!(read(text), (value, vec!["truncated"]), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["42", "true", "\"Seattle\"", "hello there", "[1, 2]", "{{{{", "{: 1}", "{\"a\" 1}"] {
            assert!(arguments(text, &weather()).is_err() || read(text).0 == json!({}), "{text}");
        }
        assert_eq!(
            arguments("42", &weather()).expect_err("a number").to_string(),
            "the arguments must be one JSON object, but a number was found"
        );
    }

    #[test]
    fn a_property_that_is_called_arguments_is_not_a_wrapper() {
        let run = function("run", json!({"type": "object", "properties": {"arguments": {"type": "object"}}}));
        let text = "{\"arguments\": {\"arguments\": {\"x\": 1}}}";
        let read = arguments(text, &run).expect("valid JSON");
        assert_eq!((Value::Object(read.arguments).to_string(), read.repairs), (text.replace(' ', ""), vec![]));
    }

    #[test]
    fn deep_and_long_garbage_is_bounded() {
        for text in
            ["{\"a\":".repeat(100_000), "[".repeat(500_000), "\"'".repeat(200_000), "{a b ' \" , : }".repeat(50_000)]
        {
            let _ = arguments(&text, &weather());
        }
        assert!(arguments(&" ".repeat(MAX_TEXT + 1), &weather()).is_err());
    }

    #[test]
    fn names_are_read_where_only_one_fits() {
        let module = module(vec![
            function("get_weather", json!({"type": "object"})),
            function("getWeather2", json!({"type": "object"})),
            function("me.test.OrderFood", json!({"type": "object"})),
            function("a.list", json!({"type": "object"})),
            function("b.list", json!({"type": "object"})),
        ]);
        let all: Vec<_> = module.function_ids().collect();
        let read = |said: &str| read_name(said, &module, &all).map(|found| (found.function.index(), found.repair));
        assert_eq!(read("get_weather"), Some((0, None)));
        assert_eq!(read("GetWeather"), Some((0, Some("name-spelling"))));
        assert_eq!(read("`get-weather()`"), Some((0, Some("name-spelling"))));
        assert_eq!(read("functions.get_weather"), Some((0, Some("name-prefix"))));
        assert_eq!(read("default_api:get_weather"), Some((0, Some("name-prefix"))));
        assert_eq!(read("order_food"), Some((2, Some("name-prefix"))));
        assert_eq!(read("list"), None);
        assert_eq!(read("a.list"), Some((3, None)));
        assert_eq!(read("get_forecast"), None);
        assert_eq!(read(""), None);
        assert_eq!(read_name("get_weather", &module, &all[1..]), None);
    }

    proptest! {
        #[test]
        fn valid_objects_are_left_alone(value in json_value(3)) {
            let object = json!({"a": value});
            prop_assert_eq!(read(&object.to_string()), (object, vec![]));
        }

        #[test]
        fn the_lenient_reader_agrees_with_the_strict_one(value in json_value(3)) {
            let object = json!({"a": value});
            let (read, repairs) = lenient::first_object(&object.to_string()).expect("valid");
            prop_assert_eq!((Value::Object(read), repairs.0), (object, Vec::<&str>::new()));
        }

        #[test]
        fn repairs_are_idempotent(text in "[\\[\\]{}\"',:/#` \\\\nabtrue01.-]{0,40}", cut in 0..60_usize) {
            let source = format!("{{\"a\": {{\"b\": [1, {text}], 'c': \"it\"}}");
            let source: String = source.chars().take(cut).collect();
            if let Ok(first) = arguments(&source, &weather()) {
                let again = arguments(&Value::Object(first.arguments.clone()).to_string(), &weather()).expect("an object");
                prop_assert_eq!((again.arguments, again.repairs), (first.arguments, vec![]));
            }
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,60}") {
            let _ = arguments(&text, &weather());
        }
    }
}
