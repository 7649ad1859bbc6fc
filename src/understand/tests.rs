use std::{fs, path::Path, sync::Arc};

use crate::{
    assist::history::Said,
    conversation::State,
    embed::{Hashed, HashedOptions, SharedEmbedder},
    module::ModuleName,
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshot, Snapshots},
    text::work,
    understand::{cores::Cores, *},
};

/// A module in which every kind of recognizer reads, and every kind of question can be asked.
fn write(directory: &Path) {
    let schema = serde_json::json!([
        {"name": "order", "description": "Order food and drinks", "parameters": {
            "type": "object", "required": ["items", "name"], "properties": {
                "items": {"type": "array", "items": {"type": "object", "required": ["dish", "count"], "properties": {
                    "dish": {"type": "string"}, "count": {"type": "integer"}, "note": {"type": "string"}}}},
                "name": {"type": "string"}, "when": {"type": "string", "format": "date-time"}}}},
        {"name": "note", "description": "Write a note", "parameters": {
            "type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}},
        {"name": "book", "description": "Book a table for some people", "parameters": {
            "type": "object", "required": ["people", "day"], "properties": {
                "people": {"type": "integer"}, "day": {"type": "string", "format": "date"},
                "hour": {"type": "string", "format": "time"}, "phone": {"type": "string"},
                "mail": {"type": "string", "format": "email"}, "quiet": {"type": "boolean"},
                "length": {"type": "string", "format": "duration"}, "price": {"type": "number"}}}},
    ]);
    let recognizers = serde_json::json!({
        "recognizers": {
            "dish": {"rec_type": "list", "instances": [
                {"label": "pizza", "expressions": ["margherita", "x y z"]},
                {"label": "curry", "expressions": ["thai curry", "a"]},
                {"label": "電気", "expressions": ["ライト"]}]},
            "code": {"rec_type": "regex", "patterns": ["[a-z]+-[0-9]+", "x+;"]},
        },
        "slots": {"items[].dish": "dish", "price": "money", "phone": "phone"},
    });
    let exemplars = serde_json::json!({
        "order": [{"template": "I'd like <count> <dish>"}, {"template": "order <dish> and <dish>"}],
        "note": [{"template": "note that <text>"}, {"template": "write <text>"}],
        "book": [{"template": "book a table for <people> on <day> at <hour>"}, {"template": "a table for <people>"}],
    });
    let settings = "language = \"en\"\n[functions.book]\nconfirm = true\n";
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("schema.json"), schema.to_string()).unwrap();
    fs::write(directory.join("recognizers.json"), recognizers.to_string()).unwrap();
    fs::write(directory.join("exemplars.json"), exemplars.to_string()).unwrap();
    fs::write(directory.join("module.toml"), settings).unwrap();
}

async fn module() -> (Arc<Snapshot>, Understander) {
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("module"));
    let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
    let options =
        ModulesOptions { root: root.path().into(), index: root.path().join("index"), ..ModulesOptions::default() };
    let snapshots = Snapshots::new(options, RetrieveOptions::default(), embedder.clone());
    let snapshot =
        snapshots.fresh(&ModuleName::new("module").unwrap()).await.unwrap_or_else(|error| panic!("{error:?}"));
    (snapshot, Understander::new(UnderstandOptions::default(), embedder, Vec::new()))
}

/// Of each, so many repetitions that the text is as long as may be.
const KINDS: [&str; 23] = [
    "x;",
    "a. ",
    "one ",
    "1 ",
    "1/2/",
    "a@",
    "pizza ",
    "2 pizza and ",
    "pizza 2 ",
    "not pizza but ",
    "no ",
    "yes, ",
    "at 5 ",
    "the second one ",
    "from monday to ",
    "+1 555 123 ",
    "hundred ",
    "I mean ",
    "cancel ",
    "a table for 4 ",
    "て、",
    "電気それから",
    "じゃなくて",
];

/// Characters looked at, values compared and cells of lattices, for each character that was said.
const MOST_WORK: usize = 1_000;

/// Whatever is said, at the beginning of a conversation or in answer to a question: all stages of a turn together do
/// work in proportion to its length.
#[tokio::test]
async fn hostile_texts_take_work_in_proportion() {
    let (snapshot, understander) = module().await;
    let most = understander.options.max_utterance;
    for before in [None, Some("order"), Some("book a table for 4 on monday")] {
        let mut state = State::new(&snapshot.module.name);
        if let Some(utterance) = before {
            let request = TurnRequest { utterance: utterance.to_owned(), ..TurnRequest::default() };
            state = understander.converse(&snapshot, &state, &request).await.unwrap().state;
            assert!(state.expects.is_some(), "{utterance}");
        }
        for kind in KINDS {
            let utterance = kind.chars().cycle().take(most).collect();
            let request = TurnRequest { utterance, ..TurnRequest::default() };
            let done = work::done();
            let conversed = understander.converse(&snapshot, &state, &request).await.unwrap();
            let done = work::done() - done;
            assert!(done >= most && done <= most * MOST_WORK, "{before:?}, {kind:?}: {done}");
            assert!(conversed.turn.trace.mentions.len() <= 2_048, "{before:?}, {kind:?}");
        }
    }
}

/// The same of what was said before it: each message is as long as may be.
#[tokio::test]
async fn hostile_earlier_messages_take_work_in_proportion() {
    let (snapshot, understander) = module().await;
    let most = understander.options.max_utterance;
    for kind in KINDS {
        let said: String = kind.chars().cycle().take(most).collect();
        let history: Vec<Said> = (0..4).map(|_| Said::Person(said.clone())).collect();
        let count = history.len() + 1;
        let request = TurnRequest { utterance: said, history, ..TurnRequest::default() };
        let done = work::done();
        understander.turn(&snapshot, &request).await.unwrap();
        let done = work::done() - done;
        assert!(done >= most && done <= most * count * MOST_WORK, "{kind:?}: {done}");
    }
}

#[tokio::test]
async fn whoever_leaves_is_not_worked_for() {
    let (snapshot, understander) = module().await;
    let (state, request) =
        (State::new(&snapshot.module.name), TurnRequest { utterance: "order".into(), ..Default::default() });
    let stages = {
        let mut turn = Box::pin(understander.converse(&snapshot, &state, &request));
        let mut stages = 0;
        while futures::poll!(&mut turn).is_pending() {
            stages += 1;
        }
        stages
    };
    assert!(stages >= 4, "a turn that ends at none of its stages: {stages}");
    let done = work::done();
    let mut turn = Box::pin(understander.converse(&snapshot, &state, &request));
    assert!(futures::poll!(&mut turn).is_pending());
    drop(turn);
    assert_eq!(work::done(), done);
}

/// Whoever works has a core; the others wait, and not for ever.
#[tokio::test]
async fn as_many_work_as_there_are_cores() {
    let (cores, request) = (Cores::new(), TurnRequest::default());
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut working = Vec::new();
    for _ in 0..count {
        working.push(cores.free(&request).await);
    }
    let mut next = Box::pin(cores.free(&request));
    for _ in 0..3 {
        assert!(futures::poll!(&mut next).is_pending());
    }
    drop(working);
    next.await.run(|| ());
}
