//! Everything that a model server is sent: golden files of every form, and what must hold for all of them.

use std::{fmt::Write as _, fs, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use uptake::{
    embed::{Hashed, HashedOptions, SharedEmbedder},
    llm::{ChatReply, ChatRequest, Message, Server, ToolCall, scripted::Scripted},
    module::{
        self, Limits, ModuleName,
        settings::{Detect, Fill, StrategyName},
    },
    snapshot::Snapshot,
    understand::{Outcome, StagedOptions, TurnError, TurnRequest, UnderstandOptions, Understander},
};

use crate::support::{self, copy, fixture, golden};

const UTTERANCE: &str = "how cold will it be in Seattle in the next three days?";
/// Clearly two requests.
const SEVERAL: &str = "how cold will it be in Seattle in the next three days and then what is it like in SF right now";
const FORECAST: &str = "get_n_day_forecast";

fn embedder() -> SharedEmbedder {
    Arc::new(Hashed::new(&HashedOptions::default()))
}

/// The fixture `weather`, with the test's own files added or replaced.
async fn weather(files: &[(&str, &str)]) -> (TempDir, Arc<Snapshot>) {
    let root = tempfile::tempdir().expect("a directory");
    let module = root.path().join("weather");
    copy(&fixture("modules").join("weather"), &module);
    for (name, text) in files {
        let path = module.join(name);
        fs::create_dir_all(path.parent().expect("a directory of the module")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let snapshot = support::snapshot(root.path().to_owned(), "weather", embedder()).await;
    (root, snapshot)
}

fn understander(chat: &Scripted, options: UnderstandOptions) -> Understander {
    Understander::new(options, embedder(), vec![Server::new(Arc::new(chat.clone()))])
}

fn request(utterance: &str, strategy: StrategyName) -> TurnRequest {
    TurnRequest {
        utterance: utterance.to_owned(),
        strategy: Some(strategy),
        now: Some("2026-11-20T09:00:00[UTC]".parse().expect("a moment")),
        ..TurnRequest::default()
    }
}

/// Every request of one turn, with a model that answers each form rightly.
async fn sent(snapshot: &Snapshot, utterance: &str, strategy: StrategyName, staged: StagedOptions) -> Vec<ChatRequest> {
    let chat = Scripted::new().answer(right);
    let options = UnderstandOptions { staged, ..UnderstandOptions::default() };
    understander(&chat, options).turn(snapshot, &request(utterance, strategy)).await.expect("an answer");
    chat.requests()
}

#[expect(clippy::unnecessary_wraps, reason = "a script may fail")]
fn right(request: &ChatRequest) -> Result<ChatReply, uptake::llm::LlmError> {
    let arguments = json!({"location": "Seattle, WA", "num_days": 3});
    if !request.tools.is_empty() {
        let call = ToolCall { id: "call_9".into(), name: FORECAST.into(), arguments: arguments.to_string() };
        return Ok(ChatReply { tool_calls: vec![call], ..ChatReply::default() });
    }
    let system = system_of(request);
    let several = system.contains("several things.");
    let said = match request.response_schema.as_ref().map(|(name, _)| name.as_str()) {
        Some("calls") if several => json!({"calls": [{"function": FORECAST, "arguments": arguments}]}),
        Some("choice") if several => json!({"functions": [FORECAST]}),
        Some("calls") => json!({"call": {"function": FORECAST, "arguments": arguments}}),
        Some("choice") => json!({"function": FORECAST}),
        Some("answer") => json!({"answer": !system.contains("Function: get_current_weather")}),
        Some("arguments") => arguments,
        _ if system.contains("Slot: location") => json!({"value": "Seattle, WA"}),
        _ if system.contains("Slot: num_days") => json!({"value": 3}),
        _ => json!({"value": null}),
    };
    Ok(ChatReply { content: Some(said.to_string()), ..ChatReply::default() })
}

fn system_of(request: &ChatRequest) -> &str {
    match request.messages.first() {
        Some(Message::System(text)) => text,
        other => panic!("the system message comes first: {other:?}"),
    }
}

/// A request in readable form.
fn written(request: &ChatRequest) -> String {
    let mut text = String::new();
    for message in request.messages.iter() {
        let (role, content) = match message {
            Message::System(content) => ("system".to_owned(), content.clone()),
            Message::User(content) => ("user".to_owned(), content.clone()),
            Message::Assistant { content, tool_calls } => {
                let calls = tool_calls.iter().map(|call| format!("{}: {} {}", call.id, call.name, call.arguments));
                let said: Vec<String> = content.iter().cloned().chain(calls).collect();
                ("assistant".to_owned(), said.join("\n"))
            }
            Message::Tool { id, content } => (format!("tool {id}"), content.clone()),
        };
        writeln!(text, "=== {role}\n{content}\n").expect("a string");
    }
    for tool in request.tools.iter() {
        let strict = if tool.strict { " (strict)" } else { "" };
        let parameters = serde_json::to_string_pretty(&tool.parameters).expect("JSON");
        writeln!(text, "=== function {}{strict}\n{}\n{parameters}\n", tool.name, tool.description).expect("a string");
    }
    if let Some((name, schema)) = &request.response_schema {
        let schema = serde_json::to_string_pretty(schema).expect("JSON");
        writeln!(text, "=== answer `{name}`\n{schema}\n").expect("a string");
    }
    text
}

#[tokio::test]
async fn every_form_is_what_the_golden_file_shows() {
    let instructions = "instructions = \"Answer for the weather desk.\"\n";
    let (_root, snapshot) = weather(&[("module.toml", instructions)]).await;
    let staged = |detect, fill| StagedOptions { detect, fill };
    let choice = staged(Detect::Choice, Fill::Whole);
    for (name, utterance, strategy, options) in [
        ("tools", UTTERANCE, StrategyName::Tools, StagedOptions::default()),
        ("structured", UTTERANCE, StrategyName::Structured, StagedOptions::default()),
        ("staged-choice-whole", UTTERANCE, StrategyName::Staged, choice),
        ("staged-each-slots", UTTERANCE, StrategyName::Staged, staged(Detect::Each, Fill::Slots)),
        ("staged-vote", UTTERANCE, StrategyName::Staged, staged(Detect::Vote, Fill::Whole)),
        ("several-tools", SEVERAL, StrategyName::Tools, StagedOptions::default()),
        ("several-structured", SEVERAL, StrategyName::Structured, StagedOptions::default()),
        ("several-staged", SEVERAL, StrategyName::Staged, choice),
    ] {
        let requests = sent(&snapshot, utterance, strategy, options).await;
        let all: Vec<String> = requests.iter().map(written).collect();
        golden(&format!("tests/fixtures/prompts/{name}.txt"), &all.join("################\n\n"));
    }
}

#[tokio::test]
async fn a_retry_says_what_was_wrong() {
    let (_root, snapshot) = weather(&[]).await;
    let wrong = r#"{"location": "Seattle, WA", "num_days": "many"}"#;
    for (name, strategy, chat) in [
        ("retry-tools", StrategyName::Tools, Scripted::new().call(FORECAST, wrong)),
        (
            "retry-structured",
            StrategyName::Structured,
            Scripted::new().say(format!("{{\"call\": {{\"function\": \"{FORECAST}\", \"arguments\": {wrong}}}}}")),
        ),
    ] {
        let chat = chat.answer(right);
        let turn = understander(&chat, UnderstandOptions::default())
            .turn(&snapshot, &request(UTTERANCE, strategy))
            .await
            .expect("an answer");
        assert!(matches!(turn.outcome, Outcome::Call(_)), "{turn:?}");
        let requests = chat.requests();
        assert_eq!(requests.len(), 2);
        let before = requests[0].messages.len();
        assert_eq!(requests[1].messages[..before], *requests[0].messages, "what was sent before stays as it was");
        let added = ChatRequest { tools: [].into(), response_schema: None, ..requests[1].clone() };
        let added = ChatRequest { messages: added.messages[before..].into(), ..added };
        golden(&format!("tests/fixtures/prompts/{name}.txt"), &written(&added));
    }
}

/// Two utterances with the same candidates share everything up to the exemplars.
#[tokio::test]
async fn the_prefix_is_stable() {
    let (_root, snapshot) = weather(&[]).await;
    let others = ["will it be warm in sf this week, and windy?", "what is the weather like right now"];
    for strategy in [StrategyName::Tools, StrategyName::Structured, StrategyName::Staged] {
        let first = sent(&snapshot, UTTERANCE, strategy, StagedOptions::default()).await;
        for other in others {
            let second = sent(&snapshot, other, strategy, StagedOptions::default()).await;
            let (first, second) = (&first[0], &second[0]);
            if strategy == StrategyName::Staged {
                // Its exemplars are in the system message: the text before them is shared.
                let end = system_of(first).find("for example").expect("exemplars");
                assert_eq!(system_of(first)[..end], system_of(second)[..end]);
            } else {
                assert_eq!(system_of(first), system_of(second), "{strategy:?} {other}");
            }
            let names = |request: &ChatRequest| request.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(first), names(second));
            let Some(Message::User(said)) = second.messages.last() else { panic!("the utterance comes last") };
            assert_eq!(said.lines().next(), Some(other));
        }
    }
}

#[tokio::test]
async fn only_candidates_are_sent() {
    let functions: Vec<Value> = (0..40)
        .map(|index| {
            json!({"name": format!("paint_{index}"), "description": format!("Paint wall number {index}"),
                "parameters": {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}})
        })
        .collect();
    let exemplars = json!({"paint_7": [{"template": "paint wall seven in <colour>"}]});
    let (_root, snapshot) = weather(&[
        ("schema.json", &Value::from(functions).to_string()),
        ("exemplars.json", &exemplars.to_string()),
        ("recognizers.json", "{\"recognizers\": {}, \"slots\": {}}"),
        ("module.toml", "[llm]\ncandidates = 3\n"),
    ])
    .await;
    for strategy in [StrategyName::Tools, StrategyName::Structured, StrategyName::Staged] {
        let chat = Scripted::new().answer(|_| Ok(ChatReply { content: Some("NONE".into()), ..ChatReply::default() }));
        let request = request("paint wall seven in green", strategy);
        let _ = understander(&chat, UnderstandOptions::default()).turn(&snapshot, &request).await;
        let text = written(&chat.requests()[0]);
        let named = (0..40).filter(|index| {
            let name = format!("paint_{index}");
            text.match_indices(&name).any(|(at, _)| !text[at + name.len()..].starts_with(|c: char| c.is_ascii_digit()))
        });
        let named: Vec<usize> = named.collect();
        assert!(named.len() == 3 && named.contains(&7), "{strategy:?}: {named:?}");
    }
}

#[tokio::test]
async fn an_override_replaces_one_template() {
    let own = "Do {{ \"it\" | upper }} for {{ functions | length }}. {% include \"vote\" %}";
    let (_root, snapshot) = weather(&[("prompts/structured.jinja", own)]).await;
    let (_plain_root, plain) = weather(&[]).await;
    let replaced = sent(&snapshot, UTTERANCE, StrategyName::Structured, StagedOptions::default()).await;
    assert!(system_of(&replaced[0]).starts_with("Do IT for 2. You find out whether"), "{}", system_of(&replaced[0]));
    for strategy in [StrategyName::Tools, StrategyName::Staged] {
        let one = sent(&snapshot, UTTERANCE, strategy, StagedOptions::default()).await;
        let other = sent(&plain, UTTERANCE, strategy, StagedOptions::default()).await;
        assert_eq!(one.iter().map(written).collect::<Vec<_>>(), other.iter().map(written).collect::<Vec<_>>());
    }
}

#[test]
fn a_template_that_does_not_parse_keeps_the_module_from_loading() {
    let root = tempfile::tempdir().expect("a directory");
    copy(&fixture("modules").join("weather"), root.path());
    fs::create_dir(root.path().join("prompts")).expect("a directory");
    fs::write(root.path().join("prompts/each.jinja"), "one\n{% if two %}").expect("a file");
    let name = ModuleName::new("weather").expect("a name");
    let (module, diagnostics) = module::check(root.path(), name, &Limits::default());
    assert!(module.is_none());
    let found: Vec<_> = diagnostics.0.iter().map(|one| (one.code, one.file.as_str(), one.line)).collect();
    assert_eq!(found, [("bad-template", "prompts/each.jinja", Some(2))]);
}

#[tokio::test]
async fn a_template_that_fails_or_never_ends_is_an_error_of_the_turn() {
    let repeated = |times: usize, text: &str| {
        format!(
            "{}{text}{}",
            "{% for a in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] %}".repeat(times),
            "{% endfor %}".repeat(times)
        )
    };
    for own in [
        "{{ 1 / 0 }} secret".to_owned(),
        repeated(6, ""),
        repeated(4, &"0123456789".repeat(9)),
        "{% include \"system.jinja\" %}".to_owned(),
    ] {
        let (_root, snapshot) = weather(&[("prompts/system.jinja", &own)]).await;
        // `auto` must not hide an error that the author has to fix.
        for strategy in [StrategyName::Tools, StrategyName::Auto] {
            let chat = Scripted::new().answer(right);
            let options = UnderstandOptions { sure: 1.1, ..UnderstandOptions::default() };
            let turn = understander(&chat, options).turn(&snapshot, &request(UTTERANCE, strategy)).await;
            let error = turn.expect_err("an error of the turn");
            assert!(matches!(&error, TurnError::Prompt(_)), "{own}: {error}");
            assert!(error.to_string().starts_with("prompt `system`: "), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
            assert!(chat.requests().is_empty());
        }
    }
}

#[tokio::test]
async fn a_label_in_play_is_all_that_the_model_may_choose() {
    let (_root, snapshot) = weather(&[]).await;
    let location = |request: &ChatRequest| {
        let tool = request.tools.iter().find(|tool| tool.name == FORECAST).expect("a candidate");
        tool.parameters["properties"]["location"].clone()
    };
    for (utterance, labels) in [
        // Every word is known: nothing else can be meant.
        (UTTERANCE, Some(json!(["Seattle, WA", null]))),
        ("what will the weather be in sf for the next 3 days", Some(json!(["San Francisco, CA", null]))),
        // "Smallville" may be the place.
        ("what will the weather be in smallville, not far from seattle, for the next 3 days", None),
        ("what will the weather be in the next 3 days", None),
    ] {
        let requests = sent(&snapshot, utterance, StrategyName::Tools, StagedOptions::default()).await;
        assert_eq!(location(&requests[0]).get("enum").cloned(), labels, "{utterance}");
    }
}
