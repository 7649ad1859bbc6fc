//! A conversation's spending on model servers: everything is counted once, and limited for the whole of a request.

use std::sync::Arc;

use serde_json::json;
use uptake::{
    conversation::State,
    llm::{Capabilities, ChatReply, ChatRequest, LlmError, Server, Support, ToolCall, Usage, scripted::Scripted},
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{BudgetOverrides, Turn, TurnError, TurnRequest, UnderstandOptions, Understander},
};

use crate::support::{self, embedder};

/// A room is requested, in two requests that look like one, then the length of stay, then a confirmation.
const SAID: [&str; 5] =
    ["I need a room in Oslo and then book me a room", "three nights", "hm, well, whatever", "it should be four", "yes"];

/// A module that asks a model server in every turn, also for the wording of its questions.
async fn rooms(root: &std::path::Path) -> Arc<Snapshot> {
    let directory = root.join("rooms");
    std::fs::create_dir(&directory).expect("a directory");
    let schema = json!([{"name": "book_room", "description": "Book a room in Oslo", "parameters": {
        "type": "object", "required": ["nights"], "properties": {"nights": {"type": "integer"}}}}]);
    let exemplars = json!({"book_room": ["I need a room in Oslo", "book me a room", "I stay <nights> nights"]});
    let settings = "[thresholds]\nsure = 1.0\nin_scope = 0.0\n[conversation]\nwording = 'model'\n\
                    [functions.book_room]\nconfirm = true\n";
    for (file, text) in [
        ("schema.json", schema.to_string()),
        ("exemplars.json", exemplars.to_string()),
        ("module.toml", settings.into()),
    ] {
        std::fs::write(directory.join(file), text).expect("a file");
    }
    support::snapshot(root.to_owned(), "rooms", embedder()).await
}

/// Answers each kind of question, and calls with what was said.
fn answer(request: &ChatRequest, usage: Usage) -> ChatReply {
    let asked = request.response_schema.as_ref().map(|(name, _)| name.as_str());
    let content = match asked {
        Some("wording") => json!({"text": "So for how many nights shall I book Oslo?"}),
        Some("answer") => json!({"answer": "Irrelevant"}),
        Some("choice") => json!({"functions": ["book_room"], "function": "book_room"}),
        Some("calls") => json!({"calls": [{"function": "book_room", "arguments": {"nights": 3}}]}),
        Some(_) => json!({"nights": 3}),
        None => {
            let call = ToolCall { id: "call_0".into(), name: "book_room".into(), arguments: "{\"nights\": 3}".into() };
            return ChatReply { tool_calls: vec![call], usage, ..ChatReply::default() };
        }
    };
    ChatReply { content: Some(content.to_string()), usage, ..ChatReply::default() }
}

fn understander(scripted: &Scripted) -> Understander {
    let kept = Support::Kept;
    let capabilities = Capabilities { tools: kept, strict: kept, named_choice: kept, json_schema: kept };
    let server = Server::known(Arc::new(scripted.clone()), capabilities);
    Understander::new(UnderstandOptions::default(), embedder(), vec![server])
}

/// The turns of the conversation, with the number of requests to the server in each.
async fn converse(scripted: &Scripted, strategy: StrategyName, budget: BudgetOverrides) -> Vec<(Turn, usize)> {
    let root = tempfile::tempdir().expect("a directory");
    let snapshot = rooms(root.path()).await;
    let understander = understander(scripted);
    let mut state = State::new(&snapshot.module.name);
    let mut turns = Vec::new();
    for said in SAID {
        let before = scripted.requests().len();
        let request =
            TurnRequest { utterance: said.to_owned(), strategy: Some(strategy), budget, ..TurnRequest::default() };
        match understander.converse(&snapshot, &state, &request).await {
            Ok(conversed) => {
                state = conversed.state;
                turns.push((conversed.turn, scripted.requests().len() - before));
            }
            Err(error) => assert!(matches!(error, TurnError::OverBudget { .. }), "{error}"),
        }
    }
    turns
}

#[tokio::test]
async fn a_conversation_tells_everything_that_it_spent() {
    for strategy in [StrategyName::Auto, StrategyName::Tools, StrategyName::Structured, StrategyName::Staged] {
        let usage = Usage { prompt_tokens: 60, completion_tokens: 7, total_tokens: 67 };
        let scripted = Scripted::new().answer(move |request| Ok(answer(request, usage)));
        let turns = converse(&scripted, strategy, BudgetOverrides::default()).await;
        assert_eq!(turns.len(), SAID.len());
        for (turn, asked) in &turns {
            assert_eq!(turn.trace.attempts.len(), *asked, "{strategy:?}: {:?}", turn.trace.attempts);
            assert_eq!(turn.usage.total_tokens, 67 * *asked as u64, "{strategy:?}");
        }
        let asked: usize = turns.iter().map(|(_, asked)| asked).sum();
        assert!(asked == scripted.requests().len() && asked >= SAID.len(), "{strategy:?}: {asked}");
    }
}

#[tokio::test]
async fn the_tokens_of_a_request_are_those_of_all_its_questions() {
    for tokens in [0, 200, 400, 600, 900, 1_500] {
        // The server reports no tokens, so that they are estimated.
        let scripted = Scripted::new().answer(|request| Ok(answer(request, Usage::default())));
        let budget = BudgetOverrides { tokens: Some(tokens), ..BudgetOverrides::default() };
        for (turn, asked) in converse(&scripted, StrategyName::Auto, budget).await {
            let answers = turn.usage.completion_tokens;
            assert!(turn.usage.total_tokens - answers <= tokens, "{tokens}: {:?} in {asked}", turn.usage);
        }
    }
}

/// A wrong answer is sent back as often as the request allows in total, however many questions it takes.
#[tokio::test]
async fn the_retries_of_a_request_are_those_of_all_its_questions() {
    for retries in [0, 1, 3] {
        let scripted = Scripted::new().answer(|_| Ok(ChatReply { content: Some("?".into()), ..ChatReply::default() }));
        let budget = BudgetOverrides { retries: Some(retries), ..BudgetOverrides::default() };
        for (turn, asked) in converse(&scripted, StrategyName::Auto, budget).await {
            let mut stages: Vec<&str> = turn.trace.attempts.iter().map(|attempt| attempt.stage).collect();
            stages.dedup();
            // Each question is asked once, and repeated only by retries.
            assert!(asked <= stages.len().max(3) + retries as usize, "{retries}: {asked} times, {stages:?}");
        }
    }
}

/// The time is over for all questions of a request at once.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_request_is_that_of_all_its_questions() {
    let scripted = Scripted::new().answer(|_| Err(LlmError::Timeout));
    let hanging = (0..SAID.len() * 8).fold(scripted, |script, _| script.hang());
    let root = tempfile::tempdir().expect("a directory");
    let snapshot = rooms(root.path()).await;
    let understander = understander(&hanging);
    let budget = BudgetOverrides { deadline_ms: Some(500), ..BudgetOverrides::default() };
    let mut state = State::new(&snapshot.module.name);
    for said in SAID {
        let request = TurnRequest { utterance: said.to_owned(), budget, ..TurnRequest::default() };
        let started = tokio::time::Instant::now();
        let conversed = understander.converse(&snapshot, &state, &request);
        let conversed = tokio::time::timeout(std::time::Duration::from_secs(60), conversed).await;
        if let Ok(Ok(conversed)) = conversed {
            state = conversed.state;
        }
        assert!(started.elapsed().as_millis() <= 600, "{said}: {:?}", started.elapsed());
    }
}
