//! What each strategy sends, and how it handles right answers.

use std::sync::Arc;

use serde_json::{Value, json};
use uptake::{
    conversation::Pending,
    llm::{self, Capabilities, LlmError, Message, Server, Support, scripted::Scripted},
    module::settings::StrategyName,
    snapshot::Snapshot,
    understand::{BudgetOverrides, Outcome, TurnError, TurnRequest, UnderstandOptions, Understander},
};

use super::ways::WAYS;
use crate::support::{
    self, embedder,
    model_server::{Meant, ModelServer, Right, called, said},
};

const UTTERANCE: &str = "how cold will it be in Seattle in the next three days, in celsius?";
const FORECAST: &str = "get_n_day_weather_forecast";

async fn weather() -> Arc<Snapshot> {
    support::snapshot(support::shipped(), "weather", embedder()).await
}

fn right() -> Right {
    Right { function: FORECAST, arguments: json!({"location": "Seattle", "format": "celsius", "num_days": 3}) }
}

/// A server that is always right, in `OpenAI`'s format.
async fn right_server(right: Right) -> ModelServer {
    ModelServer::answering(move |_, body| match right.answer(body) {
        Meant::Call(name, arguments) => called(name, &arguments.to_string()),
        Meant::Json(answer) => said(&answer.to_string()),
    })
    .await
}

#[tokio::test]
async fn every_way_comes_to_the_same_call() {
    let snapshot = weather().await;
    for (way, requests) in WAYS.iter().zip([1, 1, 2, 4, 6, 7, 9]) {
        let server = right_server(right()).await;
        let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
        let turn = understander.turn(&snapshot, &way.request(UTTERANCE)).await.expect("an answer");
        let Outcome::Call(calls) = &turn.outcome else { panic!("{}: {:?}", way.name, turn.outcome) };
        assert_eq!(snapshot.module.function(calls[0].function()).name, FORECAST, "{}", way.name);
        assert_eq!(Value::Object(calls[0].arguments().clone()), right().arguments, "{}", way.name);
        assert_eq!(turn.decided_by.name(), way.strategy.name());
        assert_eq!((server.served(), turn.trace.attempts.len()), (requests, requests), "{}", way.name);
        assert!(turn.usage.prompt_tokens > 0, "tokens are estimated where a server does not count");
    }
}

#[tokio::test]
async fn nothing_fits_is_an_answer_in_every_form() {
    let snapshot = weather().await;
    for way in WAYS {
        let server = ModelServer::answering(|_, body| match body["response_format"]["json_schema"]["name"].as_str() {
            Some("calls") => said("{\"call\": {\"function\": \"NONE\"}}"),
            Some("choice") => said("{\"function\": \"NONE\"}"),
            Some("answer") => said("{\"answer\": false}"),
            _ => said("NONE"),
        })
        .await;
        let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
        let turn = understander.turn(&snapshot, &way.request(UTTERANCE)).await.expect("an answer");
        assert_eq!(turn.outcome, Outcome::NoMatch, "{}", way.name);
        assert!(turn.frames.is_empty());
    }
}

#[tokio::test]
async fn what_was_not_said_is_asked_in_every_form() {
    let snapshot = weather().await;
    for way in WAYS {
        // The model makes up a number of days, which is required.
        let server =
            right_server(Right { function: FORECAST, arguments: json!({"location": "Seattle", "num_days": 5}) }).await;
        let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
        let turn =
            understander.turn(&snapshot, &way.request("how cold will it get in Seattle in the next days?")).await;
        let turn = turn.expect("an answer");
        let Outcome::Ask(question) = &turn.outcome else { panic!("{}: {:?}", way.name, turn.outcome) };
        assert_eq!(question.text, "For how many days?", "{}", way.name);
        assert!(matches!(question.about, Pending::Missing { .. }));
        assert_eq!(turn.frames[0].slots.len(), 1, "{}: the city is kept", way.name);
    }
}

#[tokio::test]
async fn a_wrong_value_is_put_right_in_every_form() {
    let snapshot = weather().await;
    for way in WAYS {
        let right = right();
        let server = ModelServer::answering(move |_, body| {
            let messages = body["messages"].as_array().expect("messages");
            let is_retry = messages
                .last()
                .is_some_and(|last| last["content"].as_str().unwrap_or_default().contains("not accepted"));
            let mut model = right.clone();
            if !is_retry {
                model.arguments["num_days"] = json!("many");
            }
            match model.answer(body) {
                Meant::Call(name, arguments) => called(name, &arguments.to_string()),
                Meant::Json(answer) => said(&answer.to_string()),
            }
        })
        .await;
        let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
        let turn = understander.turn(&snapshot, &way.request(UTTERANCE)).await.expect("an answer");
        let Outcome::Call(calls) = &turn.outcome else { panic!("{}: {:?}", way.name, turn.outcome) };
        assert_eq!(calls[0].arguments()["num_days"], json!(3), "{}", way.name);
        let wrong: Vec<&str> =
            turn.trace.attempts.iter().flat_map(|one| &one.violations).map(|one| one.path.as_str()).collect();
        assert_eq!(wrong, ["/num_days"], "{}", way.name);
        // Only the wrong part is asked again.
        let complaints =
            server.heard().iter().filter(|body| body["messages"].to_string().contains("not accepted")).count();
        assert_eq!(complaints, 1, "{}", way.name);
    }
}

/// Right, except for its answer to the first question with this name.
async fn all_but_one(name: &'static str, instead: (u16, &'static str, Vec<u8>)) -> ModelServer {
    let (right, spoilt) = (right(), std::sync::atomic::AtomicBool::new(false));
    ModelServer::answering(move |_, body| {
        let is_asked = body["response_format"]["json_schema"]["name"] == name;
        if is_asked && !spoilt.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return instead.clone();
        }
        match right.answer(body) {
            Meant::Call(name, arguments) => called(name, &arguments.to_string()),
            Meant::Json(answer) => said(&answer.to_string()),
        }
    })
    .await
}

#[tokio::test]
async fn nothing_is_decided_on_half_of_the_answers() {
    let snapshot = weather().await;
    let broken = || (500, "application/json", Vec::new());
    for (way, name) in
        [("staged: choice, slots", "value"), ("staged: each, whole", "answer"), ("staged: vote, slots", "answer")]
    {
        let way = WAYS.iter().find(|known| known.name == way).expect("a way");
        let server = all_but_one(name, broken()).await;
        let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
        let error = understander.turn(&snapshot, &way.request(UTTERANCE)).await.expect_err("one is not answered");
        assert!(matches!(error, TurnError::Llm(LlmError::Status { status: 500, .. })), "{error}");
    }
    // An unreadable answer is asked for again.
    let way = WAYS.iter().find(|way| way.name == "staged: choice, slots").expect("a way");
    let server = all_but_one("value", said("I am not sure.")).await;
    let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
    let turn = understander.turn(&snapshot, &way.request(UTTERANCE)).await.expect("an answer");
    let Outcome::Call(calls) = &turn.outcome else { panic!("{:?}", turn.outcome) };
    assert_eq!(Value::Object(calls[0].arguments().clone()), right().arguments);
    assert_eq!(server.served(), 5);
}

#[tokio::test]
async fn what_was_spent_before_the_budget_ended_is_told() {
    let snapshot = weather().await;
    let way = WAYS.iter().find(|way| way.name == "staged: choice, whole").expect("a way");
    let server = right_server(right()).await;
    let mut turns = Vec::new();
    for tokens in [u64::MAX, 1_000] {
        let known = Capabilities {
            tools: Support::Ignored,
            strict: Support::Ignored,
            named_choice: Support::Ignored,
            json_schema: Support::Ignored,
        };
        let chat = Arc::clone(llm::connect(&server.options()).expect("valid options")[0].chat());
        let options = UnderstandOptions { sure: 1.0, tokens, ..UnderstandOptions::default() };
        let understander = Understander::new(options, embedder(), vec![Server::known(chat, known)]);
        let request = TurnRequest { strategy: Some(StrategyName::Auto), ..way.request(UTTERANCE) };
        let turn = understander.turn(&snapshot, &request).await.expect("an answer");
        turns.push((turn.decided_by.name(), turn.trace.attempts.len(), turn.usage.total_tokens));
    }
    let [(_, 2, all), ("local", 1, first)] = turns[..] else { panic!("{turns:?}") };
    assert!(first > 0 && first < all, "{turns:?}");
}

#[tokio::test]
async fn several_yeses_are_a_tie_unless_one_is_far_ahead() {
    let root = tempfile::tempdir().expect("a directory");
    let module = root.path().join("twins");
    std::fs::create_dir(&module).expect("a directory");
    let schema = json!([
        {"name": "ride_x", "description": "Order a car to drive you", "parameters": {"type": "object"}},
        {"name": "ride_y", "description": "Order a car to drive you", "parameters": {"type": "object"}},
        {"name": "play_music", "description": "Play a song", "parameters": {"type": "object"}}]);
    std::fs::write(module.join("schema.json"), schema.to_string()).expect("a schema");
    let snapshot = support::snapshot(root.path().to_owned(), "twins", embedder()).await;
    let way = WAYS.iter().find(|way| way.name == "staged: each, whole").expect("a way");
    let server = ModelServer::replying(vec![said("{\"answer\": true}")]).await;
    let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
    let turn = understander.turn(&snapshot, &way.request("order a car to drive me home")).await.expect("an answer");
    let Outcome::Ask(question) = &turn.outcome else { panic!("{:?}", turn.outcome) };
    assert!(matches!(&question.about, Pending::Tie { functions } if functions.len() == 2), "{question:?}");
    assert_eq!(server.served(), 3, "the arguments of neither are asked for");
}

fn known(tools: Support, strict: Support, json_schema: Support) -> Capabilities {
    Capabilities { tools, strict, named_choice: Support::Kept, json_schema }
}

#[tokio::test]
async fn auto_asks_as_the_server_can_do_best() {
    use Support::{Ignored, Kept, Refused};
    let snapshot = weather().await;
    for (capabilities, decided_by) in [
        (Some(known(Kept, Kept, Kept)), "tools"),
        (Some(known(Kept, Ignored, Kept)), "structured"),
        (Some(known(Refused, Refused, Kept)), "structured"),
        (Some(known(Kept, Ignored, Ignored)), "tools"),
        (Some(known(Ignored, Ignored, Refused)), "staged"),
        (None, "tools"),
    ] {
        let server = right_server(right()).await;
        let chat = Arc::clone(llm::connect(&server.options()).expect("valid options")[0].chat());
        let server = capabilities
            .map_or_else(|| Server::new(Arc::clone(&chat)), |known| Server::known(Arc::clone(&chat), known));
        let options = UnderstandOptions { sure: 1.0, ..UnderstandOptions::default() };
        let understander = Understander::new(options, embedder(), vec![server]);
        let request = TurnRequest {
            utterance: UTTERANCE.to_owned(),
            strategy: Some(StrategyName::Auto),
            ..TurnRequest::default()
        };
        let turn = understander.turn(&snapshot, &request).await.expect("an answer");
        assert_eq!(turn.decided_by.name(), decided_by, "{capabilities:?}");
        assert!(turn.trace.notes[0].starts_with("asked the model server: local confidence"), "{:?}", turn.trace.notes);
    }
}

#[tokio::test]
async fn the_next_server_is_asked_where_one_fails() {
    let snapshot = weather().await;
    let broken = Scripted::new().fail(LlmError::Timeout).fail(LlmError::Connect("refused".into()));
    let good = Scripted::new().call(FORECAST, "{\"location\":\"Seattle\",\"num_days\":3}");
    let servers = vec![Server::new(Arc::new(broken.clone())), Server::new(Arc::new(good.clone()))];
    let understander = Understander::new(UnderstandOptions::default(), embedder(), servers);
    let request =
        TurnRequest { utterance: UTTERANCE.to_owned(), strategy: Some(StrategyName::Tools), ..TurnRequest::default() };
    let turn = understander.turn(&snapshot, &request).await.expect("an answer");
    assert!(matches!(turn.outcome, Outcome::Call(_)), "{:?}", turn.outcome);
    let failures: Vec<Option<&str>> = turn.trace.attempts.iter().map(|attempt| attempt.failure).collect();
    assert_eq!(failures, [Some("timeout"), None], "what was tried is told");
    // With no server left, `auto` answers by itself and says why; a named strategy fails with the last error.
    let error = understander.turn(&snapshot, &request).await.expect_err("nobody is left");
    assert!(matches!(error, TurnError::Llm(LlmError::Malformed(_))), "{error}");
    let auto = TurnRequest { strategy: Some(StrategyName::Auto), ..request };
    let options = UnderstandOptions { sure: 1.0, ..UnderstandOptions::default() };
    let server = Server::new(Arc::new(Scripted::new().fail(LlmError::Timeout)));
    let turn =
        Understander::new(options, embedder(), vec![server]).turn(&snapshot, &auto).await.expect("a local answer");
    assert_eq!(turn.decided_by.name(), "local");
    assert_eq!(turn.trace.notes, ["decided locally: the model server failed (timeout)"]);
    assert_eq!(turn.trace.attempts.len(), 1);
}

#[tokio::test]
async fn a_budget_bounds_retries_time_and_tokens() {
    let snapshot = weather().await;
    let ask = async |budget: BudgetOverrides, chat: Scripted| {
        let server = Server::new(Arc::new(chat.clone()));
        let understander = Understander::new(UnderstandOptions::default(), embedder(), vec![server]);
        let request = TurnRequest {
            utterance: UTTERANCE.to_owned(),
            strategy: Some(StrategyName::Tools),
            budget,
            ..TurnRequest::default()
        };
        let turn = understander.turn(&snapshot, &request).await;
        (turn, chat.requests())
    };
    let wrong = || {
        let wrong = "{\"location\":\"Seattle\",\"num_days\":\"many\"}";
        Scripted::new().call(FORECAST, wrong).call(FORECAST, wrong).call(FORECAST, wrong).call(FORECAST, wrong)
    };
    for (retries, requests) in [(Some(0), 1), (Some(1), 2), (None, 3), (Some(99), 3)] {
        let (turn, asked) = ask(BudgetOverrides { retries, ..BudgetOverrides::default() }, wrong()).await;
        assert_eq!(asked.len(), requests, "{retries:?}");
        // The best valid understanding wins: right values are kept, invalid ones are asked for.
        let turn = turn.expect("an answer");
        let Outcome::Ask(question) = &turn.outcome else { panic!("{:?}", turn.outcome) };
        assert!(
            matches!(&question.about, Pending::Invalid { aside, .. } if aside.pointer == "/num_days"),
            "{question:?}"
        );
        assert_eq!(turn.frames[0].slots[0].value, "Seattle");
    }
    // Enough for one question and not for its repetition.
    let (_, asked) = ask(BudgetOverrides { retries: Some(0), ..BudgetOverrides::default() }, wrong()).await;
    let size = u64::try_from(format!("{asked:?}").len()).expect("a length") / 4;
    let (turn, asked) = ask(BudgetOverrides { tokens: Some(size), ..BudgetOverrides::default() }, wrong()).await;
    assert_eq!((turn.is_ok(), asked.len()), (true, 1));
    let (turn, asked) = ask(BudgetOverrides { tokens: Some(10), ..BudgetOverrides::default() }, wrong()).await;
    assert!(matches!(turn, Err(TurnError::OverBudget { allowed: 10, .. })), "{turn:?}");
    assert!(asked.is_empty());
    let (turn, _) = ask(BudgetOverrides { deadline_ms: Some(0), ..BudgetOverrides::default() }, wrong()).await;
    assert!(turn.is_ok() || matches!(turn, Err(TurnError::Llm(LlmError::Timeout))), "{turn:?}");
}

#[tokio::test]
async fn every_call_of_a_wrong_reply_gets_its_answer() {
    let snapshot = weather().await;
    let call = |id: &str| llm::ToolCall {
        id: id.to_owned(),
        name: FORECAST.to_owned(),
        arguments: "{\"num_days\": \"x\"".into(),
    };
    let reply = llm::ChatReply { tool_calls: vec![call(""), call("b")], ..llm::ChatReply::default() };
    let chat = Scripted::new().reply(reply).say("NONE");
    let understander =
        Understander::new(UnderstandOptions::default(), embedder(), vec![Server::new(Arc::new(chat.clone()))]);
    let request =
        TurnRequest { utterance: UTTERANCE.to_owned(), strategy: Some(StrategyName::Tools), ..TurnRequest::default() };
    understander.turn(&snapshot, &request).await.expect("an answer");
    let requests = chat.requests();
    let [_, second] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    let [.., Message::Assistant { tool_calls, .. }, Message::Tool { id: first, .. }, Message::Tool { id: last, .. }] =
        &second.messages[..]
    else {
        panic!("{:?}", second.messages)
    };
    assert_eq!((tool_calls[0].id.as_str(), tool_calls[1].id.as_str()), (first.as_str(), last.as_str()));
    assert!(!first.is_empty() && tool_calls.iter().all(|call| serde_json::from_str::<Value>(&call.arguments).is_ok()));
}
