//! A service in this process, used without a network; modules in temporary directories; golden files.

pub(crate) mod fault_proxy;
pub(crate) mod llama_server;
pub(crate) mod log;
pub(crate) mod model_server;
pub(crate) mod postgres;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, request::Builder},
    response::Response,
};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;
use uptake::{
    conversation::{
        ConversationOptions,
        store::{SessionOptions, StoreUrl},
    },
    embed::{Hashed, HashedOptions, SharedEmbedder},
    eval::{
        Evaluation,
        dialogue::WrongDialogue,
        report::{ReportOptions, text},
    },
    http::{AppState, ChatOptions, Conversations, HttpOptions, Peer, router},
    llm::Server,
    module::ModuleName,
    module::settings::ChatCalls,
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshot, Snapshots},
    understand::{UnderstandOptions, Understander},
};

/// Longer than anything takes, however slow the machine is.
const SLOW_MS: u64 = 600_000;

/// A fixture's file in the repository.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// Panics if other dialogues of the module are wrong than those of `tests/fixtures/missed.toml`.
pub(crate) fn only_missed(module: &str, found: &Evaluation) {
    static MISSED: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        toml::from_str(&fs::read_to_string(fixture("missed.toml")).expect("a file")).expect("reasons by dialogue") //
    });
    let named = |wrong: &WrongDialogue| format!("{module}/{}", wrong.id.as_deref().unwrap_or_default());
    let wrong: BTreeSet<String> = found.dialogues.wrong.iter().map(named).collect();
    let of_module = |name: &&String| name.split('/').next() == Some(module);
    let missed: BTreeSet<String> = MISSED.keys().filter(of_module).cloned().collect();
    let report = || text(found, ReportOptions { top: 20, errors: true });
    assert!(wrong == missed, "{wrong:?} are wrong instead of {missed:?}\n{}", report());
    assert_eq!(found.problems, []);
}

/// A modules root and a service with it, with the embedder that needs no model.
pub(crate) struct Service {
    pub(crate) app: AppState,
    router: Router,
    /// Removed when the test ends.
    directory: TempDir,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }

    /// (status, `error.type`, `error.code`, `error.param`); fails if the body is not our envelope.
    #[track_caller]
    pub(crate) fn error(&self) -> (u16, String, String, Option<String>) {
        let body = self.json();
        let error = body["error"].as_object().unwrap_or_else(|| panic!("no envelope: {body}"));
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
        assert!(error.contains_key("param"), "{body}");
        assert!(self.headers.contains_key("x-request-id"), "{:?}", self.headers);
        assert_eq!(self.headers["content-type"], "application/json");
        let member = |name: &str| error[name].as_str().map(str::to_owned);
        (self.status, member("type").expect("a type"), member("code").expect("a code"), member("param"))
    }
}

impl Service {
    /// With the named fixtures as modules.
    pub(crate) fn new(modules: &[&str]) -> Self {
        Self::with(modules, HttpOptions::default())
    }

    pub(crate) fn with(modules: &[&str], options: HttpOptions) -> Self {
        Self::asking(modules, options, UnderstandOptions::default(), Vec::new())
    }

    /// With model servers.
    pub(crate) fn asking(
        modules: &[&str],
        options: HttpOptions,
        turns: UnderstandOptions,
        servers: Vec<Server>,
    ) -> Self {
        Self::over(&fixture("modules"), modules, embedder(), options, turns, servers)
    }

    /// With the named shipped modules, and this embedder.
    pub(crate) fn shipping(modules: &[&str], embedder: SharedEmbedder) -> Self {
        let (options, turns) = (HttpOptions::default(), UnderstandOptions::default());
        Self::over(&shipped(), modules, embedder, options, turns, Vec::new())
    }

    /// With the named shipped modules, and these conversations.
    pub(crate) fn keeping(modules: &[&str], embedder: SharedEmbedder, conversations: Conversations) -> Self {
        let (options, turns) = (HttpOptions::default(), UnderstandOptions::default());
        Self::made(&shipped(), modules, embedder, options, turns, Vec::new(), conversations)
    }

    fn over(
        from: &Path,
        modules: &[&str],
        embedder: SharedEmbedder,
        options: HttpOptions,
        turns: UnderstandOptions,
        servers: Vec<Server>,
    ) -> Self {
        Self::made(from, modules, embedder, options, turns, servers, in_memory())
    }

    /// With the named modules of a directory, and everything else as given.
    pub(crate) fn made(
        from: &Path,
        modules: &[&str],
        embedder: SharedEmbedder,
        options: HttpOptions,
        turns: UnderstandOptions,
        servers: Vec<Server>,
        conversations: Conversations,
    ) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("modules");
        fs::create_dir(&root).expect("an empty directory");
        for module in modules {
            copy(&from.join(module), &root.join(module));
        }
        let (index, history) = (index_for(&embedder, directory.path()), directory.path().join("history"));
        let (options, turns) = patient(options, turns);
        let places = ModulesOptions {
            root,
            index,
            history,
            retry_ms: 20,
            reload_wait_ms: SLOW_MS,
            ad_hoc_ms: SLOW_MS,
            ..ModulesOptions::default()
        };
        let understander = Understander::new(turns.clone(), embedder.clone(), servers);
        let snapshots = Snapshots::new(places, RetrieveOptions::default(), embedder);
        let app = AppState::new(snapshots, understander, options, turns, conversations);
        Self { router: router(app.clone(), None), app, directory }
    }

    /// Writes a file of a module, replacing an existing one.
    pub(crate) fn write(&self, module: &str, file: &str, text: &str) {
        let directory = self.root().join(module);
        fs::create_dir_all(&directory).expect("a module's directory");
        fs::write(directory.join(file), text).expect("a module's file");
    }

    /// Its modules directory.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("modules")
    }

    /// The response with its body unread. The caller is on this machine unless the request says otherwise.
    pub(crate) async fn open(&self, mut request: Request<Body>) -> Response {
        if request.extensions().get::<Peer>().is_none() {
            request.extensions_mut().insert(Peer(Ipv4Addr::LOCALHOST.into()));
        }
        self.router.clone().oneshot(request).await.expect("a router never fails")
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.open(request).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = to_bytes(response.into_body(), 16 << 20).await.expect("a whole body");
        Answer { status, headers, text: String::from_utf8(body.to_vec()).expect("UTF-8") }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.send(json_request(path).body(body.into()).expect("a request")).await
    }

    pub(crate) async fn say(&self, module: &str, utterance: &str) -> Answer {
        let body = serde_json::json!({ "utterance": utterance, "now": "2026-03-01T09:00:00+00:00[UTC]" });
        self.post(&format!("/v1/predict/{module}"), body.to_string()).await
    }
}

/// Raises time limits that the test did not set, for slow and busy machines.
fn patient(options: HttpOptions, turns: UnderstandOptions) -> (HttpOptions, UnderstandOptions) {
    let or_slow = |given: u64, default: u64| if given == default { SLOW_MS } else { given };
    let (usual, usual_turns) = (HttpOptions::default(), UnderstandOptions::default());
    let timeout_ms = or_slow(options.timeout_ms, usual.timeout_ms);
    let body_ms = or_slow(options.body_ms, usual.body_ms);
    let shutdown_ms = or_slow(options.shutdown_ms, usual.shutdown_ms);
    let deadline_ms = or_slow(turns.deadline_ms, usual_turns.deadline_ms);
    // Most tests look at the returned call, whatever tools the request offers.
    let chat = ChatOptions { calls: ChatCalls::Always, ..options.chat };
    (HttpOptions { timeout_ms, body_ms, shutdown_ms, chat, ..options }, UnderstandOptions { deadline_ms, ..turns })
}

pub(crate) fn json_request(path: &str) -> Builder {
    Request::post(path).header("content-type", "application/json")
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a fixture") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a file of a fixture");
    }
}

/// Compares with a committed file; with `UPTAKE_BLESS=1` writes it instead.
#[track_caller]
pub(crate) fn golden(path: &str, actual: &str) {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPTAKE_BLESS").is_some() {
        fs::write(&full, actual).expect("a writable checkout");
        return;
    }
    let committed = fs::read_to_string(&full).unwrap_or_default();
    let first = committed.lines().zip(actual.lines()).position(|(old, new)| old != new);
    let line = first.unwrap_or_else(|| committed.lines().count().min(actual.lines().count())) + 1;
    assert!(
        committed == actual,
        "{path} is out of date from line {line} on; look at the change with `UPTAKE_BLESS=1 cargo test` and `git diff`"
    );
}

/// [`golden`] for a part of a file, between `<!-- NAME -->` and `<!-- /NAME -->`.
#[track_caller]
pub(crate) fn golden_block(path: &str, name: &str, actual: &str) {
    // Tests of one file must write one after the other.
    static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let file = fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = file.split_once(&open).unwrap_or_else(|| panic!("{path} has no {open}"));
    let (_, after) = rest.split_once(&close).unwrap_or_else(|| panic!("{path} has no {close}"));
    golden(path, &format!("{before}{open}{actual}{close}{after}"));
}

/// A module of `root`, compiled with this embedder.
pub(crate) async fn snapshot(root: PathBuf, module: &str, embedder: SharedEmbedder) -> Arc<Snapshot> {
    let directory = tempfile::tempdir().expect("a directory for the index");
    let index = index_for(&embedder, directory.path());
    let options = ModulesOptions { root, index, ..ModulesOptions::default() };
    let snapshots = Snapshots::new(options, RetrieveOptions::default(), embedder);
    snapshots.fresh(&ModuleName::new(module).expect("a name")).await.expect("the module loads")
}

/// Where vectors are kept. The model takes most of the time of the tests that need it, so they share what it made, as
/// starts of the service do; with an embedder that takes no time, each has its own place in `directory`.
fn index_for(embedder: &SharedEmbedder, directory: &Path) -> PathBuf {
    // Empty at first: what an earlier build learned from the same texts must not stand in for what this one learns.
    static SHARED: LazyLock<PathBuf> = LazyLock::new(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("index");
        let _ = fs::remove_dir_all(&place);
        place
    });
    if embedder.reader().is_some() { SHARED.clone() } else { directory.join("index") }
}

/// Conversations kept in memory.
pub(crate) fn in_memory() -> Conversations {
    let sessions = SessionOptions { url: StoreUrl::new("memory:"), ..SessionOptions::default() };
    Conversations::open(&sessions, &ConversationOptions::default()).expect("good options")
}

/// The embedder that needs no model.
pub(crate) fn embedder() -> SharedEmbedder {
    Arc::new(Hashed::new(&HashedOptions::default()))
}

/// The directory of the shipped modules.
pub(crate) fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("modules")
}
