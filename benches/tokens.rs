//! Tokens sent to a model server for an utterance, compared with all functions of the module in the prompt.
//!
//! Counted with the vocabulary `o200k_base` over what a server puts before the model: the messages, and functions and
//! answer schemas as JSON. Servers write both in templates of their own, so the numbers are comparable but do not
//! predict a bill.

use std::{path::PathBuf, sync::Arc};

use serde_json::json;
use tiktoken_rs::CoreBPE;
use uptake::{
    embed::{Hashed, HashedOptions, SharedEmbedder},
    llm::{ChatReply, ChatRequest, Message, Server, scripted::Scripted},
    module::{ModuleName, settings::StrategyName},
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshot, Snapshots},
    understand::{TurnRequest, UnderstandOptions, Understander},
};

mod generated;

/// Tokens for the roles of a message.
const ROLE: usize = 4;

#[expect(clippy::print_stdout, reason = "a bench reports to whoever runs it")]
fn main() {
    // If only the bench itself is tested (`cargo test --benches`), little is enough.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (sizes, utterances): (&[usize], usize) = if is_bench { (&[10, 100, 1_000], 44) } else { (&[10], 3) };
    let tokenizer = tiktoken_rs::o200k_base().expect("the vocabulary is compiled in");
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    println!("tokens of a request, mean over {utterances} utterances");
    println!("| functions | tools | structured (messages + answer schema) | staged, both stages | all functions |");
    println!("|---:|---:|---:|---:|---:|");
    for size in sizes {
        let (snapshot, embedder) = runtime.block_on(load(*size));
        let said: Vec<String> = generated::utterances().into_iter().take(utterances).collect();
        let mean = |strategy| {
            let counts = said.iter().map(|utterance| {
                let requests = runtime.block_on(sent(&snapshot, &embedder, utterance, strategy));
                requests.iter().map(|request| count(&tokenizer, request)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
            });
            let (messages, schemas) = counts.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            (messages / said.len(), schemas / said.len())
        };
        let (tools, schema_of_tools) = mean(StrategyName::Tools);
        let (structured, answer) = mean(StrategyName::Structured);
        let (staged, answers) = mean(StrategyName::Staged);
        let all = everything(&tokenizer, &snapshot, &said);
        println!("| {size} | {} | {structured} + {answer} | {staged} + {answers} | {all} |", tools + schema_of_tools);
    }
}

async fn load(size: usize) -> (Arc<Snapshot>, SharedEmbedder) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    generated::write_module(&directory.path().join("generated"), size).expect("the module can be written");
    let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
    let index: PathBuf = directory.path().join("index");
    let options = ModulesOptions { root: directory.path().to_owned(), index, ..ModulesOptions::default() };
    let snapshots = Snapshots::new(options, RetrieveOptions::default(), Arc::clone(&embedder));
    let snapshot = snapshots.fresh(&ModuleName::new("generated").expect("a name")).await.expect("the module loads");
    (snapshot, embedder)
}

/// The requests of one turn, with a model that chooses the first candidate and finds no argument.
async fn sent(
    snapshot: &Snapshot,
    embedder: &SharedEmbedder,
    utterance: &str,
    strategy: StrategyName,
) -> Vec<ChatRequest> {
    let chat = Scripted::new().answer(|request| {
        let names =
            request.response_schema.as_ref().and_then(|(_, schema)| schema.pointer("/properties/function/enum"));
        let said = match names.and_then(|names| names.get(0)) {
            Some(first) => json!({ "function": first }).to_string(),
            None => "NONE".to_owned(),
        };
        Ok(ChatReply { content: Some(said), ..ChatReply::default() })
    });
    let options = UnderstandOptions { retries: 0, ..UnderstandOptions::default() };
    let servers = vec![Server::new(Arc::new(chat.clone()))];
    let request = TurnRequest { utterance: utterance.to_owned(), strategy: Some(strategy), ..TurnRequest::default() };
    // The answer does not matter here.
    let _ = Understander::new(options, Arc::clone(embedder), servers).turn(snapshot, &request).await;
    chat.requests()
}

/// Tokens of the messages, and of the functions and the answer's schema.
fn count(tokenizer: &CoreBPE, request: &ChatRequest) -> (usize, usize) {
    let of = |text: &str| tokenizer.encode_ordinary(text).len();
    let message = |message: &Message| match message {
        Message::System(text) | Message::User(text) | Message::Tool { content: text, .. } => of(text),
        Message::Assistant { content, tool_calls } => {
            let calls = tool_calls.iter().map(|call| of(&json!([call.name, call.arguments]).to_string()));
            content.as_deref().map_or(0, of) + calls.sum::<usize>()
        }
    };
    let messages = request.messages.iter().map(|one| message(one) + ROLE).sum();
    let tool = |tool: &uptake::llm::Tool| {
        let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        of(&json!({"type": "function", "function": function}).to_string())
    };
    let tools: usize = request.tools.iter().map(tool).sum();
    let answer = request.response_schema.as_ref().map_or(0, |(_, schema)| of(&schema.to_string()));
    (messages, tools + answer)
}

/// The mean over the utterances of: every function as a tool, a line of instructions and the utterance.
fn everything(tokenizer: &CoreBPE, snapshot: &Snapshot, utterances: &[String]) -> usize {
    let of = |text: &str| tokenizer.encode_ordinary(text).len();
    let functions: usize = snapshot
        .module
        .functions
        .iter()
        .map(|function| {
            let function =
                json!({"name": function.wire_name, "description": function.description, "parameters": function.parameters});
            of(&json!({"type": "function", "function": function}).to_string())
        })
        .sum();
    let said = utterances.iter().map(|utterance| of(utterance) + ROLE).sum::<usize>() / utterances.len();
    functions + said + of("You turn what a person says into a function call.") + ROLE
}
