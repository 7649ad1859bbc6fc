mod proportion;

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    conversation::{State, Tenant},
    embed::{Hashed, HashedOptions, SharedEmbedder},
    module::ModuleName,
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshot, Snapshots},
    text::fuel::{Fuel, Presence},
    understand::{cores::CoreShares, *},
};

/// A module in which every kind of recognizer is used, and every kind of question can be asked.
fn write(directory: &Path, language: &str, further: usize) {
    let mut schema = serde_json::json!([
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
    let mut exemplars = serde_json::json!({
        "order": [{"template": "I'd like <count> <dish>"}, {"template": "order <dish> and <dish>"}],
        "note": [{"template": "note that <text>"}, {"template": "write <text>"}],
        "book": [{"template": "book a table for <people> on <day> at <hour>"}, {"template": "a table for <people>"}],
    });
    for number in 0..further {
        let name = format!("cancel_thing_{number}");
        let function = serde_json::json!({"name": name, "description": "Cancel something", "parameters": {
            "type": "object", "required": ["code"], "properties": {"code": {"type": "string"}}}});
        schema.as_array_mut().unwrap().push(function);
        let said = ["cancel", "remove", "take away", "no longer", "without"].map(|verb| {
            serde_json::json!({"template": format!("{verb} the thing of kind {number} with <code>")}) //
        });
        exemplars[name] = said.to_vec().into();
    }
    let settings = format!("language = \"{language}\"\n[functions.book]\nconfirm = true\n");
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("schema.json"), schema.to_string()).unwrap();
    fs::write(directory.join("recognizers.json"), recognizers.to_string()).unwrap();
    fs::write(directory.join("exemplars.json"), exemplars.to_string()).unwrap();
    fs::write(directory.join("module.toml"), settings).unwrap();
}

pub(super) async fn module() -> (Arc<Snapshot>, Understander) {
    module_of("en", 0).await
}

/// The same in another language, with `further` additional functions.
async fn module_of(language: &str, further: usize) -> (Arc<Snapshot>, Understander) {
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("module"), language, further);
    let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
    let options =
        ModulesOptions { root: root.path().into(), index: root.path().join("index"), ..ModulesOptions::default() };
    let snapshots = Snapshots::new(options, RetrieveOptions::default(), embedder.clone());
    let snapshot =
        snapshots.fresh(&ModuleName::new("module").unwrap()).await.unwrap_or_else(|error| panic!("{error:?}"));
    (snapshot, Understander::new(UnderstandOptions::default(), embedder, Vec::new()))
}

/// An understander that counts the steps of all it does.
fn counting(understander: &Understander) -> Understander {
    Understander { fuel: Fuel::new(u64::MAX - 1, None), ..understander.clone() }
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
    let counted = counting(&understander);
    let mut turn = Box::pin(counted.converse(&snapshot, &state, &request));
    assert!(futures::poll!(&mut turn).is_pending());
    drop(turn);
    assert_eq!(counted.fuel.spent(), 0);
}

/// A client that leaves in the middle of a stage, while the task is blocked, ends the stage; and nothing is kept of an
/// unfinished turn.
#[tokio::test]
async fn whoever_leaves_ends_the_stage_that_works() {
    let (snapshot, understander) = module().await;
    let state = State::new(&snapshot.module.name);
    let request = TurnRequest { utterance: "2 pizza and ".repeat(300), ..TurnRequest::default() };
    let leaves_after = |looks: u64| {
        let count = AtomicU64::new(0);
        Presence::new(move || count.fetch_add(1, Ordering::Relaxed) < looks)
    };
    let whole = Presence::new(|| true).waits_for(understander.converse(&snapshot, &state, &request)).await;
    assert!(whole.is_ok());
    for looks in [0, 1, 5, 40] {
        let left = leaves_after(looks).waits_for(understander.converse(&snapshot, &state, &request)).await;
        assert!(matches!(left, Err(TurnError::Left)), "after {looks}");
        let replays = Replays::new(9, 1 << 20);
        let owner = Tenant::everybody();
        let left = leaves_after(looks).waits_for(replays.converse(&owner, &understander, &snapshot, &request)).await;
        assert!(matches!(left, Err(TurnError::Left)), "after {looks}");
    }
}

/// Every working stage has a core; the others wait, but not forever.
#[tokio::test]
async fn as_many_work_as_there_are_cores() {
    let (cores, request) = (CoreShares::new(), TurnRequest::default());
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
