//! What is refused, with the member's name in this API.

use serde_json::{Value, json};

use super::{SEATTLE, after, asking, lights, read, respond, with};
use crate::support::Service;

#[tokio::test]
async fn what_is_wrong_is_named() {
    let service = Service::new(&["weather"]);
    let input = |input: Value| json!({ "input": input });
    let item = |item: Value| json!({"input": [{"role": "user", "content": "hi"}, item]});
    let tools = |tools: Value| json!({"tools": tools, "uptake": {"tools": "replace"}});
    let format = |format: Value| json!({"text": {"format": format}});
    let named = |name: &str| json!({"type": "function", "name": name});
    let call = |member: &str, value: Value| {
        item(with(
            &json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}),
            &json!({member: value}),
        ))
    };
    for (members, code, param) in [
        (json!({"model": null}), "missing_required_parameter", "model"),
        (json!({"model": 7}), "invalid_type", "model"),
        (input(json!(null)), "missing_required_parameter", "input"),
        (input(json!(7)), "invalid_type", "input"),
        (input(json!({})), "invalid_type", "input"),
        (input(json!(" ")), "invalid_value", "input"),
        (input(json!("x".repeat(9_000))), "string_above_max_length", "input"),
        (input(json!([])), "invalid_value", "input"),
        (input(json!([7])), "invalid_type", "input[0]"),
        (input(json!([{"content": "hi"}])), "missing_required_parameter", "input[0].type"),
        (input(json!([{"role": "robot", "content": "x"}])), "invalid_value", "input[0].role"),
        (input(json!([{"role": "user"}])), "missing_required_parameter", "input[0].content"),
        (input(json!([{"role": "user", "content": 7}])), "invalid_type", "input[0].content"),
        (
            item(json!({"role": "user", "content": [{"type": "input_text"}]})),
            "invalid_type",
            "input[1].content[0].text",
        ),
        (
            item(json!({"role": "user", "content": [{"type": "input_image"}]})),
            "unsupported_parameter",
            "input[1].content",
        ),
        (call("call_id", json!(null)), "missing_required_parameter", "input[1].call_id"),
        (call("name", json!(7)), "invalid_type", "input[1].name"),
        (call("arguments", json!({})), "invalid_type", "input[1].arguments"),
        (
            item(json!({"type": "function_call_output", "output": "x"})),
            "missing_required_parameter",
            "input[1].call_id",
        ),
        (
            item(json!({"type": "function_call_output", "call_id": "c"})),
            "missing_required_parameter",
            "input[1].output",
        ),
        (item(json!({"type": "function_call_output", "call_id": "c", "output": 7})), "invalid_type", "input[1].output"),
        (json!({"instructions": 7}), "invalid_type", "instructions"),
        (json!({"instructions": "x".repeat(100_001)}), "string_above_max_length", "instructions"),
        (json!({"previous_response_id": 7}), "invalid_type", "previous_response_id"),
        (json!({"background": true}), "unsupported_parameter", "background"),
        (json!({"conversation": "conv_1"}), "unsupported_parameter", "conversation"),
        (json!({"prompt": {"id": "pmpt_1"}}), "unsupported_parameter", "prompt"),
        (json!({"top_logprobs": 3}), "unsupported_parameter", "top_logprobs"),
        (json!({"metadata": {"a": 1}}), "invalid_type", "metadata.a"),
        (
            json!({"metadata": (0..17).map(|n| (n.to_string(), json!("x"))).collect::<Value>()}),
            "invalid_value",
            "metadata",
        ),
        (json!({"stream": "yes"}), "invalid_type", "stream"),
        (json!({"store": "no"}), "invalid_type", "store"),
        (tools(json!([7])), "invalid_type", "tools[0].type"),
        (tools(json!(vec![lights(); 129])), "invalid_value", "tools"),
        (tools(json!([{"type": "mcp"}, {"type": "function"}])), "missing_required_parameter", "tools[1].name"),
        (tools(json!([lights(), {"type": "custom"}, lights()])), "invalid_value", "tools[2].name"),
        (tools(json!([{"type": "function", "name": "a", "parameters": []}])), "invalid_type", "tools[0].parameters"),
        (
            tools(json!([{"type": "mcp"}, {"type": "function", "name": "a", "parameters": {"type": "array"}}])),
            "invalid_value",
            "tools[1].parameters",
        ),
        (json!({"tool_choice": "sometimes"}), "invalid_value", "tool_choice"),
        (json!({"tool_choice": {"type": "web_search_preview"}}), "invalid_value", "tool_choice"),
        (json!({"tool_choice": {"type": "function"}}), "missing_required_parameter", "tool_choice.name"),
        (json!({"tool_choice": named("sing")}), "invalid_value", "tool_choice.name"),
        (json!({"tool_choice": {"type": "allowed_tools", "mode": "auto"}}), "invalid_value", "tool_choice.tools"),
        (
            json!({"tool_choice": {"type": "allowed_tools", "mode": "maybe", "tools": [named("get_current_weather")]}}),
            "invalid_value",
            "tool_choice.mode",
        ),
        (
            json!({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [named("sing")]}}),
            "invalid_value",
            "tool_choice.tools",
        ),
        (json!({"text": 7}), "invalid_type", "text"),
        (format(json!({"type": "xml"})), "unsupported_parameter", "text.format.type"),
        (format(json!({"type": "json_schema"})), "missing_required_parameter", "text.format.name"),
        (format(json!({"type": "json_schema", "name": "x"})), "missing_required_parameter", "text.format.schema"),
        (
            format(json!({"type": "json_schema", "name": "x", "schema": {"type": "array"}})),
            "invalid_value",
            "text.format.schema",
        ),
        (json!({"uptake": {"now": "yesterday"}}), "invalid_value", "uptake.now"),
        (json!({"uptake": {"mood": "good"}}), "invalid_type", "uptake.mood"),
    ] {
        let answer = respond(&service, &with(&asking(&json!(SEATTLE)), &members)).await;
        let expected = (400, "invalid_request_error".to_owned(), code.to_owned(), Some(param.to_owned()));
        assert_eq!(answer.error(), expected, "{members}: {}", answer.text);
    }
    let unknown = respond(&service, &with(&asking(&json!("hi")), &json!({"model": "wether"}))).await;
    assert_eq!((unknown.error().0, unknown.error().2.as_str()), (404, "model_not_found"));
}

/// Faults in the earlier conversation are attributed to the continued response.
#[tokio::test]
async fn faults_of_what_came_before_name_the_response() {
    let service = Service::new(&["weather"]);
    let image = json!([{"role": "user", "content": SEATTLE}, {"role": "assistant", "content": "Cold."}]);
    let first = read(&respond(&service, &asking(&image)).await);
    let answer = respond(&service, &after(&first, &json!([{"role": "user", "content": ""}]))).await;
    assert_eq!(answer.error().3.as_deref(), Some("input[0].content"));
}
