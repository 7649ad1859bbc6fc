//! What is refused, with the member's name, and what is accepted without effect.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SEATTLE, asking_weather, calls, complete, lights, read, tool, user, with};
use crate::support::Service;

#[tokio::test]
async fn what_is_wrong_is_named() {
    let service = Service::new(&["weather"]);
    let tools = |tools: Value| json!({"tools": tools, "uptake": {"tools": "replace"}});
    let schema = |schema: Value| tools(json!([tool("b", "B", &schema)]));
    let format = |format: Value| json!({ "response_format": format });
    let named = |name: &str| json!({"type": "function", "function": {"name": name}});
    let many = vec![lights(); 129];
    for (members, code, param) in [
        (json!({"model": null}), "missing_required_parameter", "model"),
        (json!({"model": 7}), "invalid_type", "model"),
        (json!({"messages": null}), "missing_required_parameter", "messages"),
        (json!({"messages": []}), "invalid_value", "messages"),
        (json!({"messages": "hi"}), "invalid_type", "messages"),
        (json!({"messages": [{"role": "system", "content": "x"}]}), "invalid_value", "messages"),
        (json!({"messages": [{"role": "robot", "content": "x"}]}), "invalid_value", "messages[0].role"),
        (json!({"messages": [{"role": "user", "content": " "}]}), "invalid_value", "messages[0].content"),
        (json!({"messages": user(&"x".repeat(9_000))}), "string_above_max_length", "messages[0].content"),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}),
            "unsupported_parameter",
            "messages[0].content",
        ),
        (json!({"n": 2}), "unsupported_parameter", "n"),
        (json!({"logprobs": true}), "unsupported_parameter", "logprobs"),
        (json!({"top_logprobs": 3}), "unsupported_parameter", "top_logprobs"),
        (json!({"logit_bias": {"50256": -100}}), "unsupported_parameter", "logit_bias"),
        (json!({"modalities": ["text", "audio"]}), "unsupported_parameter", "modalities"),
        (json!({"audio": {"voice": "x"}}), "unsupported_parameter", "audio"),
        (json!({"web_search_options": {}}), "unsupported_parameter", "web_search_options"),
        (json!({"stream": "yes"}), "invalid_type", "stream"),
        (tools(json!(many)), "invalid_value", "tools"),
        (tools(json!([7])), "invalid_type", "tools[0].type"),
        (tools(json!([{"type": "custom", "custom": {"name": "x"}}])), "unsupported_parameter", "tools[0].type"),
        (tools(json!([{"type": "function"}])), "missing_required_parameter", "tools[0].function"),
        (tools(json!([{"type": "function", "function": 7}])), "invalid_type", "tools[0].function"),
        (tools(json!([{"type": "function", "function": {}}])), "missing_required_parameter", "tools[0].function.name"),
        (tools(json!([tool("a b", "", &json!({}))])), "invalid_value", "tools[0].function.name"),
        (tools(json!([tool(&"a".repeat(65), "", &json!({}))])), "invalid_value", "tools[0].function.name"),
        (tools(json!([lights(), lights()])), "invalid_value", "tools[1].function.name"),
        (tools(json!([tool("a", "A", &json!([]))])), "invalid_type", "tools[0].function.parameters"),
        (schema(json!({"type": "array"})), "invalid_value", "tools[0].function.parameters"),
        (
            schema(json!({"type": "object", "properties": {"x": {"type": "strnig"}}})),
            "invalid_value",
            "tools[0].function.parameters",
        ),
        (
            schema(json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/none"}}})),
            "invalid_value",
            "tools[0].function.parameters",
        ),
        (
            schema(json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}})),
            "invalid_value",
            "tools[0].function.parameters",
        ),
        (json!({"tools": [lights()], "functions": []}), "invalid_value", "functions"),
        (json!({"functions": [{"description": "x"}]}), "missing_required_parameter", "functions[0].name"),
        (json!({"function_call": "sometimes"}), "invalid_value", "function_call"),
        (json!({"function_call": {"name": "sing"}}), "invalid_value", "function_call.name"),
        (json!({"tool_choice": "sometimes"}), "invalid_value", "tool_choice"),
        (json!({"tool_choice": {"type": "custom"}}), "invalid_value", "tool_choice"),
        (json!({"tool_choice": {"type": "function"}}), "missing_required_parameter", "tool_choice.function.name"),
        (json!({"tool_choice": named("sing")}), "invalid_value", "tool_choice.function.name"),
        (
            json!({"tools": [lights()], "uptake": {"tools": "replace"}, "tool_choice": named("get_current_weather")}),
            "invalid_value",
            "tool_choice.function.name",
        ),
        (
            json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named("sing")]}}}),
            "invalid_value",
            "tool_choice.allowed_tools.tools",
        ),
        (format(json!({"type": "xml"})), "unsupported_parameter", "response_format.type"),
        (format(json!({"type": "json_schema"})), "missing_required_parameter", "response_format.json_schema"),
        (
            format(json!({"type": "json_schema", "json_schema": {"name": "x"}})),
            "missing_required_parameter",
            "response_format.json_schema.schema",
        ),
        (
            format(json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}})),
            "invalid_value",
            "response_format.json_schema.schema",
        ),
        (json!({"uptake": {"strategy": "luck"}}), "invalid_type", "uptake.strategy"),
        (json!({"uptake": {"strategy": "tools"}}), "invalid_value", "uptake.strategy"),
        (json!({"uptake": {"now": "yesterday"}}), "invalid_value", "uptake.now"),
        (json!({"uptake": {"functions": ["sing"]}}), "invalid_value", "uptake.functions[0]"),
        (json!({"uptake": {"tools": "steal"}}), "invalid_type", "uptake.tools"),
        (json!({"uptake": {"mood": "good"}}), "invalid_type", "uptake.mood"),
    ] {
        let answer = complete(&service, &with(&asking_weather(SEATTLE), &members)).await;
        let expected = (400, "invalid_request_error".to_owned(), code.to_owned(), Some(param.to_owned()));
        assert_eq!(answer.error(), expected, "{members}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_words_of_a_schemas_fault_are_told() {
    let service = Service::new(&[]);
    let bad = tool("b", "B", &json!({"type": "object", "properties": {"x": {"type": "strnig"}}}));
    let answer = complete(&service, &json!({"model": "uptake", "messages": user("hi"), "tools": [bad]})).await;
    assert!(answer.text.contains("strnig") && answer.text.contains("/properties/x"), "{}", answer.text);
}

#[tokio::test]
async fn an_unknown_model_is_not_found() {
    let service = Service::new(&["weather"]);
    for model in ["wether", "gpt-4o", "../etc", "a/b", ""] {
        let answer = complete(&service, &with(&asking_weather("hi"), &json!({ "model": model }))).await;
        let expected = (404, "not_found_error".to_owned(), "model_not_found".to_owned(), Some("model".to_owned()));
        assert_eq!(answer.error(), expected, "{model}");
    }
    let near = complete(&service, &with(&asking_weather("hi"), &json!({"model": "wether"}))).await;
    assert!(near.text.contains("`weather`"), "{}", near.text);
    service.write("broken", "schema.json", "{ this is not JSON");
    let broken = complete(&service, &with(&asking_weather("hi"), &json!({"model": "broken"}))).await;
    assert_eq!((broken.error().0, broken.error().2.as_str()), (422, "module_refused"));
}

#[tokio::test]
async fn what_steers_how_a_model_writes_is_taken_without_effect() {
    let service = Service::new(&["weather"]);
    let members = json!({
        "temperature": 0.7, "top_p": 0.9, "seed": 7, "stop": ["\n"], "max_tokens": 1, "max_completion_tokens": 1,
        "frequency_penalty": 1, "presence_penalty": 1, "reasoning_effort": "high", "verbosity": "low",
        "service_tier": "flex", "user": "me", "safety_identifier": "me", "prompt_cache_key": "x", "metadata": {"a": "b"},
        "store": true, "prediction": {"type": "content", "content": "x"}, "n": 1, "logprobs": false, "top_logprobs": 0,
        "logit_bias": {}, "modalities": ["text"], "response_format": {"type": "text"}, "stream": false,
        "stream_options": null, "tool_choice": null, "tools": null, "functions": null, "audio": null, "nobody": "knows",
    });
    let completion = read(&complete(&service, &with(&asking_weather(SEATTLE), &members)).await);
    assert_eq!(calls(&completion).len(), 1, "{completion}");
}

#[tokio::test]
async fn members_of_our_own_count() {
    let service = Service::new(&["weather"]);
    let only = json!({"uptake": {"functions": ["get_current_weather"], "strategy": "local",
        "now": "2026-03-01T09:00:00Z", "budget": {"retries": 0}}});
    let completion = read(&complete(&service, &with(&asking_weather(SEATTLE), &only)).await);
    for candidate in completion["uptake"]["candidates"].as_array().expect("candidates") {
        assert_eq!(candidate["function"], "get_current_weather");
    }
    let named = json!({"type": "function", "function": {"name": "get_current_weather"}});
    let allowed =
        json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named]}}});
    let completion = read(&complete(&service, &with(&asking_weather(SEATTLE), &allowed)).await);
    for candidate in completion["uptake"]["candidates"].as_array().expect("candidates") {
        assert_eq!(candidate["function"], "get_current_weather");
    }
}

/// The pieces of requests, in all the wrong places.
fn any_value() -> impl Strategy<Value = Value> {
    let words = [
        "user",
        "assistant",
        "tool",
        "system",
        "weather",
        "uptake",
        "function",
        "text",
        "json_schema",
        "auto",
        "none",
        "required",
        "get_current_weather",
        "object",
        "string",
        "array",
        "how warm is it in seattle",
        "Where?",
        "",
        "\u{0}",
        "allowed_tools",
        "#/$defs/a",
        "(",
        "date",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..130).prop_map(Value::from),
        Just(json!(1e308)),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        Just(lights()),
        Just(json!({"role": "user", "content": "how warm is it in seattle"})),
        Just(json!({"type": "function", "function": {"name": "get_current_weather"}})),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let keys = [
            "role",
            "content",
            "type",
            "text",
            "function",
            "name",
            "description",
            "parameters",
            "properties",
            "items",
            "required",
            "enum",
            "anyOf",
            "$ref",
            "$defs",
            "json_schema",
            "schema",
            "tool_calls",
            "arguments",
            "mode",
            "tools",
            "allowed_tools",
            "pattern",
            "default",
            "strategy",
            "now",
            "functions",
            "budget",
            "tokens",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(keys.to_vec()), inner), 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

fn any_request() -> impl Strategy<Value = Value> {
    let members = [
        "model",
        "messages",
        "tools",
        "tool_choice",
        "functions",
        "function_call",
        "response_format",
        "stream",
        "stream_options",
        "n",
        "modalities",
        "logit_bias",
        "parallel_tool_calls",
        "uptake",
    ];
    prop::collection::vec((prop::sample::select(members.to_vec()), any_value()), 0..4).prop_map(|changes| {
        let mut body = asking_weather(SEATTLE);
        for (member, value) in changes {
            body[member] = value;
        }
        body
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_asked_is_answered_or_refused(bodies in prop::collection::vec(any_request(), 4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let service = Service::new(&["weather"]);
            for body in bodies {
                let answer = complete(&service, &body).await;
                prop_assert!([200, 400, 404].contains(&answer.status), "{body}: {}", answer.text);
                if answer.status != 200 {
                    answer.error();
                }
            }
            Ok(())
        })?;
    }
}
