//! What a probe finds out about model servers that behave, over HTTP, as real ones were observed to.

use std::sync::Arc;

use axum::{Json, Router, http::StatusCode, routing::post};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};
use uptake::{
    llm::{
        self, LlmError, LlmOptions, Support,
        Support::{Ignored, Kept, Refused},
        probe::{ProbeReport, probe},
        scripted::Scripted,
    },
    module::settings::StrategyName,
    understand::best_strategy,
};

type Reply = (u16, Value);

/// Probes a server with these answers, over HTTP.
async fn probed(answer: fn(&Value) -> Reply) -> Result<ProbeReport, LlmError> {
    let route = post(move |Json(body): Json<Value>| async move {
        let (status, reply) = answer(&body);
        (StatusCode::from_u16(status).expect("a status"), Json(reply))
    });
    let app = Router::new().route("/v1/chat/completions", route);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base_url = Some(format!("http://{}", listener.local_addr().expect("bound")));
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    let servers = llm::connect(&LlmOptions { base_url, retries: 0, ..LlmOptions::default() }).expect("an address");
    let report = servers[0].probed(None, Instant::now() + Duration::from_secs(30)).await;
    serving.abort();
    report
}

fn strategy(report: &ProbeReport) -> StrategyName {
    best_strategy(Some(report.capabilities()))
}

/// tools, strict, named `tool_choice`, `json_schema`.
fn abilities(report: &ProbeReport) -> [Support; 4] {
    let found = report.capabilities();
    [found.tools, found.strict, found.named_choice, found.json_schema]
}

// The parts of the fake servers.

fn said(body: &Value) -> &str {
    body["messages"].as_array().and_then(|all| all.last()?["content"].as_str()).unwrap_or_default()
}

/// What a grammar produces: the first choice of every property.
fn forced(schema: &Value) -> String {
    let members: serde_json::Map<String, Value> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, of)| (name.clone(), of["enum"].get(0).cloned().unwrap_or(true.into())))
        .collect();
    Value::Object(members).to_string()
}

fn tools(body: &Value) -> impl Iterator<Item = &Value> {
    body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"])
}

/// The tools that the conversation names.
fn wanted(body: &Value) -> Vec<&Value> {
    tools(body).filter(|tool| tool["name"].as_str().is_some_and(|name| said(body).contains(name))).collect()
}

fn named(body: &Value) -> Option<&Value> {
    let name = body["tool_choice"]["function"]["name"].as_str()?;
    tools(body).find(|tool| tool["name"] == name)
}

/// The output of a model that follows the conversation.
fn obedient(tool: &Value) -> String {
    let argument = if tool["name"] == "note_colour" { "blue".into() } else { json!(true) };
    let member = tool["parameters"]["properties"].as_object().and_then(|all| all.keys().next().cloned());
    json!({ (member.unwrap_or_default()): argument }).to_string()
}

fn call(index: usize, tool: &Value, arguments: &str) -> Value {
    json!({"id": format!("call_{index}"), "type": "function",
        "function": {"name": tool["name"], "arguments": arguments}})
}

fn message(finish: &str, content: impl Into<Value>, calls: impl Into<Value>) -> Reply {
    let message = json!({"role": "assistant", "content": content.into(), "tool_calls": calls.into()});
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    (
        200,
        json!({"id": "x", "object": "chat.completion", "model": "tiny", "system_fingerprint": "b1-abc",
        "choices": [choice], "usage": usage}),
    )
}

fn prose(body: &Value) -> Reply {
    let is_short = body["max_tokens"].as_u64().is_some_and(|tokens| tokens < 10) && said(body).starts_with("Count");
    message(if is_short { "length" } else { "stop" }, "One, two, the sea is blue.", Value::Null)
}

fn error(status: u16, message: &str) -> Reply {
    (status, json!({"error": {"message": message, "type": "invalid_request_error", "code": status}}))
}

// The servers.

/// Enforces the schema; arguments of a call follow theirs; a named tool is a tool like any other.
fn llama_server(body: &Value) -> Reply {
    if let Some(format) = body.get("response_format") {
        return message("stop", forced(&format["json_schema"]["schema"]), Value::Null);
    }
    match wanted(body).first() {
        Some(tool) => {
            let arguments = forced(&tool["parameters"]);
            message("tool_calls", "", json!([call(0, tool, &arguments)]))
        }
        None => prose(body),
    }
}

/// The same with a weak model: endless white space, no unforced calls, and words before a call.
fn llama_server_with_a_bad_model(body: &Value) -> Reply {
    if let Some(format) = body.get("response_format") {
        let text = forced(&format["json_schema"]["schema"]);
        let cut = format!("{}\n\n\n", text.replacen(':', " : ", 1).trim_end_matches('}'));
        return message("length", cut, Value::Null);
    }
    match tools(body).next() {
        Some(tool) if body["tool_choice"] == "required" => {
            message("tool_calls", "NONE", json!([call(0, tool, &forced(&tool["parameters"]))]))
        }
        _ => message("stop", "NONE", Value::Null),
    }
}

/// With an even weaker model, even a required call drowns in words.
fn llama_server_with_a_worse_model(body: &Value) -> Reply {
    match body["tool_choice"].as_str() {
        Some("required") => message("length", "NONE]} inininin", Value::Null),
        _ => llama_server_with_a_bad_model(body),
    }
}

/// Calls are text, so that a call is in the content.
fn llama_server_without_its_template(body: &Value) -> Reply {
    match wanted(body).first() {
        Some(tool) if body.get("response_format").is_none() => {
            let written = json!({"name": tool["name"], "arguments": {"now": true}});
            message("stop", format!("<tool_call>\n{written}\n</tool_call>"), Value::Null)
        }
        _ => llama_server(body),
    }
}

/// Finishes with `stop`; an unforced strict tool is called over and over, until the answer is cut and says nothing.
fn vllm(body: &Value) -> Reply {
    if let Some(format) = body.get("response_format") {
        return message("stop", forced(&format["json_schema"]["schema"]), json!([]));
    }
    if let Some(tool) = named(body) {
        let mut reply = message("stop", "", json!([call(0, tool, &forced(&tool["parameters"]))]));
        reply.1["system_fingerprint"] = Value::Null;
        return reply;
    }
    match wanted(body).first() {
        Some(tool) if tool["strict"] == true => message("length", Value::Null, Value::Null),
        // Not strict: valid JSON, but not an object.
        Some(tool) => message("tool_calls", "", json!([call(0, tool, "42")])),
        None => prose(body),
    }
}

/// Started without a parser of tool calls.
fn vllm_without_auto_choice(body: &Value) -> Reply {
    if body["tool_choice"] == "auto" {
        return error(400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set");
    }
    vllm(body)
}

/// Everything as documented.
fn openai(body: &Value) -> Reply {
    if body.get("response_format").is_some() {
        return llama_server(body);
    }
    let several = body["parallel_tool_calls"] == true;
    let mut chosen: Vec<&Value> = named(body).map_or_else(|| wanted(body), |tool| vec![tool]);
    chosen.truncate(if several { usize::MAX } else { 1 });
    if chosen.is_empty() {
        return prose(body);
    }
    let calls: Vec<Value> = chosen
        .into_iter()
        .enumerate()
        .map(|(index, tool)| {
            let arguments = if tool["strict"] == true { forced(&tool["parameters"]) } else { obedient(tool) };
            call(index, tool, &arguments)
        })
        .collect();
    message("tool_calls", Value::Null, calls)
}

/// Accepts everything and does what the conversation says.
fn ignores_everything(body: &Value) -> Reply {
    (
        200,
        json!({"choices": [{"message": {"role": "assistant", "content": prose(body).1["choices"][0]["message"]["content"]}}]}),
    )
}

/// Supports tools, but none of their options.
fn calls_freely(body: &Value) -> Reply {
    let calls: Vec<Value> =
        wanted(body).into_iter().enumerate().map(|(index, tool)| call(index, tool, &obedient(tool))).collect();
    if calls.is_empty() { prose(body) } else { message("tool_calls", Value::Null, calls) }
}

/// Shows the schema to the model, which then matches it sometimes.
fn fits_now_and_then(body: &Value) -> Reply {
    match body.get("response_format") {
        Some(format) if said(body).contains("sea") => {
            message("stop", forced(&format["json_schema"]["schema"]), Value::Null)
        }
        Some(_) => message("stop", "hello", Value::Null),
        None => calls_freely(body),
    }
}

fn refuses_response_format(body: &Value) -> Reply {
    if body.get("response_format").is_some() {
        return error(400, "response_format is not supported");
    }
    openai(body)
}

/// Fails with an error of its own for every schema; the rest works.
fn breaks_on_json_schema(body: &Value) -> Reply {
    if body.get("response_format").is_some() {
        return (500, json!({"error": {"message": "'json_schema'", "type": "internal_server_error", "code": null}}));
    }
    openai(body)
}

fn refuses_strict(body: &Value) -> Reply {
    if tools(body).any(|tool| tool.get("strict").is_some()) {
        return error(400, "tools.0.function.strict: Extra inputs are not permitted");
    }
    openai(body)
}

/// A gateway to models without tools.
fn has_no_tools(body: &Value) -> Reply {
    if body.get("tools").is_some() {
        return error(404, "No endpoints found that support tool use");
    }
    llama_server(body)
}

/// Not strict for tools that the model chooses itself.
fn forces_named_tools_alone(body: &Value) -> Reply {
    match named(body) {
        Some(tool) => message("stop", "", json!([call(0, tool, &forced(&tool["parameters"]))])),
        None => calls_freely(body),
    }
}

/// Thinks before it answers, for longer than a short answer allows.
fn thinks(body: &Value) -> Reply {
    if body["max_tokens"].as_u64().is_some_and(|tokens| tokens < 500) {
        return message("length", Value::Null, Value::Null);
    }
    let mut reply = openai(body);
    let content = &mut reply.1["choices"][0]["message"]["content"];
    if let Some(text) = content.as_str() {
        *content = format!("<think>Hm, {{}}.</think>\n{text}").into();
    }
    reply
}

#[tokio::test]
async fn servers_are_found_to_do_what_they_do() {
    use StrategyName::{Staged, Structured, Tools};

    type Case = (&'static str, fn(&Value) -> Reply, [Support; 4], StrategyName);
    let cases: [Case; 15] = [
        ("llama-server", llama_server, [Kept, Kept, Ignored, Kept], Tools),
        ("llama-server, a bad model", llama_server_with_a_bad_model, [Ignored, Kept, Ignored, Kept], Structured),
        ("llama-server, a worse model", llama_server_with_a_worse_model, [Ignored, Ignored, Ignored, Kept], Structured),
        ("llama-server, no template", llama_server_without_its_template, [Kept, Ignored, Ignored, Kept], Structured),
        ("vLLM", vllm, [Kept, Ignored, Kept, Kept], Structured),
        ("vLLM without auto", vllm_without_auto_choice, [Refused, Kept, Kept, Kept], Structured),
        ("OpenAI", openai, [Kept, Kept, Kept, Kept], Tools),
        ("ignores everything", ignores_everything, [Ignored, Ignored, Ignored, Ignored], Staged),
        ("fits now and then", fits_now_and_then, [Kept, Ignored, Ignored, Ignored], Tools),
        ("refuses response_format", refuses_response_format, [Kept, Kept, Kept, Refused], Tools),
        ("breaks on json_schema", breaks_on_json_schema, [Kept, Kept, Kept, Refused], Tools),
        // The client leaves out a refused field, and then nothing is enforced.
        ("refuses strict", refuses_strict, [Kept, Ignored, Kept, Kept], Structured),
        ("has no tools", has_no_tools, [Refused, Refused, Refused, Kept], Structured),
        ("forces named tools alone", forces_named_tools_alone, [Kept, Ignored, Kept, Ignored], Tools),
        ("thinks", thinks, [Kept, Kept, Kept, Kept], Tools),
    ];
    for (name, answer, expected, uses) in cases {
        let report = probed(answer).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((abilities(&report), strategy(&report)), (expected, uses), "{name}: {report:#?}");
        assert!(report.requests <= 25, "{name}: {report:#?}");
    }
}

#[tokio::test]
async fn the_rest_of_a_report_is_measured() {
    let report = probed(openai).await.expect("a report");
    assert!(report.counts_tokens && report.tells_cut == Some(true) && report.plain_ms > 0.0, "{report:#?}");
    assert_eq!((report.extra_calls, report.requests, report.usage.total_tokens), (Some(false), 9, 9 * 25));
    let [identity] = report.identities.as_slice() else { panic!("{report:#?}") };
    assert_eq!((identity.model.as_deref(), identity.fingerprint.as_deref()), (Some("tiny"), Some("b1-abc")));

    let report = probed(calls_freely).await.expect("a report");
    assert_eq!(report.extra_calls, Some(true));
    let report = probed(ignores_everything).await.expect("a report");
    assert!(!report.counts_tokens && report.tells_cut.is_none() && report.identities.is_empty(), "{report:#?}");
    assert_eq!(report.extra_calls, None);
    let never_cut = |_: &Value| message("stop", "One, two, three, ".repeat(9), Value::Null);
    assert_eq!(probed(never_cut).await.map(|report| report.tells_cut), Ok(Some(false)));
    let report = probed(refuses_strict).await.expect("a report");
    assert_eq!(report.strict.seen, "arguments do not fit the schema (tool_choice: named)");
}

#[tokio::test]
async fn a_server_that_does_not_work_has_no_abilities_and_no_report() {
    type Case = (&'static str, fn(&Value) -> Reply, &'static str);
    let cases: [Case; 5] = [
        ("lets nobody in", |_| error(401, "Incorrect API key provided"), "status"),
        ("is busy", |body| if body.get("tools").is_some() { error(429, "slow down") } else { prose(body) }, "status"),
        ("does not know the model", |_| error(404, "The model `default` does not exist"), "status"),
        ("breaks on everything", |_| error(500, "oh"), "status"),
        ("is no such server", |_| (200, json!("<html>")), "malformed"),
    ];
    for (name, answer, kind) in cases {
        assert_eq!(probed(answer).await.map_err(|error| error.kind()), Err(kind), "{name}");
    }
    let options = LlmOptions { base_url: Some("http://127.0.0.1:1".into()), retries: 0, ..LlmOptions::default() };
    let down = llm::connect(&options).expect("an address");
    let report = down[0].probed(None, Instant::now() + Duration::from_secs(30)).await;
    assert_eq!(report.map_err(|error| error.kind()), Err("connect"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_away_or_hangs_in_the_middle_is_an_error() {
    let answers = || Scripted::new().say("One, two").say("Hello").call("open_door", "{}");
    for (chat, kind) in [
        (answers().hang(), "timeout"),
        (Scripted::new().hang(), "timeout"),
        (answers().fail(LlmError::Connect("reset".into())), "connect"),
        (answers().fail(LlmError::Unavailable(Duration::from_secs(9))), "unavailable"),
    ] {
        let chat: llm::SharedChatModel = Arc::new(chat);
        let began = Instant::now();
        let report = probe(chat.as_ref(), None, began + Duration::from_secs(20)).await;
        assert_eq!(report.map_err(|error| error.kind()), Err(kind));
        assert!(began.elapsed() <= Duration::from_secs(21));
    }
}

#[tokio::test]
async fn garbage_about_one_ability_is_that_ability_ignored() {
    // Two plain answers come first, then the questions in this order.
    let chat = Scripted::new()
        .say("One, two")
        .say("Hello")
        .call("open_door", "{}")
        .call("ring_bell", "{}")
        .call("note_colour", "\u{0}")
        .fail(LlmError::Malformed("it is not JSON".into()))
        .say("fine");
    let report = probe(&chat, Some("big"), Instant::now() + Duration::from_secs(20)).await.expect("a report");
    assert_eq!(abilities(&report), [Kept, Ignored, Kept, Ignored]);
    assert!(chat.requests().iter().all(|request| request.model.as_deref() == Some("big")));
}
