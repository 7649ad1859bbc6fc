//! What the service adds to a request to a model server that answers at once, at 100 requests a second: the same request
//! is made to the model server directly and through `POST /v1/predict`, in turns, and the two are subtracted pair by pair.
//!
//! The load has one core, service and model server share another, where there are two; what the bench prints first says so.
//! So either request goes from one core to the other and back once: waking a core that sleeps costs more than what is
//! measured here, and is no work of the service's. The load is open-loop: requests have a time at which they are due,
//! whatever became of those before, and latency counts from then. Once every vector is at hand, once the bundled model
//! makes them: it is most of an answer, and needs the library of `scripts/get-onnxruntime`.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use core_affinity::CoreId;
use serde_json::{Value, json};
use uptake::{
    conversation::{ConversationOptions, store::SessionOptions},
    embed::{self, EmbedOptions, Purpose},
    http::{AppState, Conversations, HttpOptions, serve},
    llm::{self, LlmOptions},
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshots},
    understand::{UnderstandOptions, Understander},
};

mod precomputed;

use precomputed::Precomputed;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Interval between two requests of a kind: a hundred a second of each.
const PERIOD: Duration = Duration::from_millis(10);
/// Measured pairs; few if only the bench itself is tested (`cargo test --benches`).
const PAIRS: usize = 3_000;
const FEW_PAIRS: usize = 10;
/// Pairs before the measurement, which are not counted.
const WARM_UP: usize = 10;
/// A request sent this long after it was due had to wait for something.
const LATE_MS: f64 = 1.0;
/// The load stops sleeping this long before a request is due, because timers may fire late.
const WAKE: Duration = Duration::from_micros(200);

const UTTERANCE: &str = "how cold will it be in Seattle in the next three days, in celsius?";
const CALL: &str = r#"{"location": "Seattle", "format": "celsius", "num_days": 3}"#;
const FUNCTION: &str = "get_n_day_weather_forecast";

fn main() {
    let pairs = if std::env::args().any(|argument| argument == "--bench") { PAIRS } else { FEW_PAIRS };
    let cores = Cores::find();
    say(&cores.describe());
    let stub = Stub::start(cores.service);
    for (name, vectors) in [("every vector at hand", Vectors::AtHand), ("the bundled model", Vectors::Made)] {
        let service = start_service(cores.service, stub.address, vectors);
        let samples = on_core(cores.load, {
            let sent = Arc::clone(&stub.sent);
            let model_server = stub.address;
            move || load(service, model_server, &sent, pairs)
        });
        samples.join().expect("the load does not panic").report(name);
    }
}

#[derive(Clone, Copy)]
struct Cores {
    load: Option<CoreId>,
    service: Option<CoreId>,
}

impl Cores {
    fn find() -> Self {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        match cores.as_slice() {
            [first, .., last] => Self { load: Some(*first), service: Some(*last) },
            _ => Self { load: None, service: None },
        }
    }

    fn describe(self) -> String {
        match (self.load, self.service) {
            (Some(load), Some(service)) => format!(
                "load on core {}, model server and service with its embedding threads on core {}; {} requests a second to each, \
                 latency from when a request is due",
                load.id,
                service.id,
                1_000 / PERIOD.as_millis()
            ),
            _ => "load, model server and service share what cores there are: no second one could be had".to_owned(),
        }
    }
}

/// Starts a thread pinned to a core; the threads that it starts inherit this.
fn on_core<T: Send + 'static>(core: Option<CoreId>, act: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::spawn(move || {
        if let Some(core) = core
            && !core_affinity::set_for_current(core)
        {
            say("a thread could not be kept to its core");
        }
        act()
    })
}

/// A model server that gives the same answer to everything, at once.
struct Stub {
    address: SocketAddr,
    /// The first body that was received.
    sent: Arc<OnceLock<Vec<u8>>>,
}

impl Stub {
    fn start(core: Option<CoreId>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let sent = Arc::new(OnceLock::new());
        let answer: Arc<str> = {
            let call = json!({"id": "call_1", "type": "function", "function": {"name": FUNCTION, "arguments": CALL}});
            let body = json!({
                "id": "chatcmpl-1", "object": "chat.completion", "model": "stub",
                "choices": [{"index": 0, "finish_reason": "tool_calls",
                    "message": {"role": "assistant", "content": null, "tool_calls": [call]}}],
                "usage": {"prompt_tokens": 500, "completion_tokens": 30, "total_tokens": 530},
            })
            .to_string();
            let length = body.len();
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
                .into()
        };
        let keep = Arc::clone(&sent);
        // One thread for each of the two connections, so that only the system schedules.
        on_core(core, move || {
            for connection in listener.incoming() {
                let (stream, keep, answer) =
                    (connection.expect("a connection"), Arc::clone(&keep), Arc::clone(&answer));
                thread::spawn(move || {
                    stream.set_nodelay(true).expect("a socket's option");
                    let mut writer = stream.try_clone().expect("a second handle");
                    let mut reader = BufReader::new(stream);
                    while let Some((_, body)) = read_message(&mut reader) {
                        keep.get_or_init(|| body);
                        if writer.write_all(answer.as_bytes()).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        Self { address, sent }
    }
}

/// The first line and the body of a request or a response; `None` at the end of the connection.
fn read_message(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut first = String::new();
    if reader.read_line(&mut first).ok()? == 0 {
        return None;
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, body))
}

/// The source of the service's vectors.
#[derive(Clone, Copy, PartialEq)]
enum Vectors {
    AtHand,
    Made,
}

/// Starts the whole service on its own port and runtime, until the process ends.
fn start_service(core: Option<CoreId>, model_server: SocketAddr, vectors: Vectors) -> SocketAddr {
    let (tell, told) = mpsc::channel();
    on_core(core, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let mut embedder = embed::open(&EmbedOptions::default()).await.expect("the bundled model loads");
            if vectors == Vectors::AtHand {
                let texts = vec![UTTERANCE.to_owned()];
                let made = embedder.embed(texts.clone(), Purpose::Symmetric).await.expect("the model embeds");
                embedder = Arc::new(Precomputed { embedder, vectors: texts.into_iter().zip(made).collect() });
            }
            let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("modules");
            let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("overhead");
            copy(&shipped.join("weather"), &root.join("modules/weather"));
            let places =
                ModulesOptions { root: root.join("modules"), index: root.join("index"), ..ModulesOptions::default() };
            // A probe, which is sent once an hour, would coincide with the first request.
            let base_url = Some(format!("http://{model_server}/v1"));
            let reached = LlmOptions { base_url, probe: false, ..LlmOptions::default() };
            let servers = llm::connect(&reached).expect("an address");
            let turns = UnderstandOptions::default();
            let understander = Understander::new(turns.clone(), Arc::clone(&embedder), servers);
            let snapshots = Snapshots::new(places, RetrieveOptions::default(), embedder);
            let conversations =
                Conversations::open(&SessionOptions::default(), &ConversationOptions::default()).expect("good options");
            let app = AppState::new(snapshots, understander, HttpOptions::default(), turns, conversations);
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            tell.send(listener.local_addr().expect("it is bound")).expect("the bench waits");
            serve(listener, None, app, None, std::future::pending()).await;
        });
    });
    told.recv().expect("the service starts")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("the module ships") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a file of a module");
    }
}

/// One connection that is kept open.
struct Client {
    writer: TcpStream,
    reader: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr, path: &str, body: &[u8]) -> Self {
        let writer = TcpStream::connect(address).expect("a connection");
        writer.set_nodelay(true).expect("a socket's option");
        let reader = BufReader::new(writer.try_clone().expect("a second handle"));
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Self { writer, reader, request: [head.as_bytes(), body].concat() }
    }

    /// Milliseconds from the due time until the answer and until sending, and the answer.
    fn ask(&mut self, due: Instant) -> (f64, f64, Vec<u8>) {
        if let Some(left) = due.checked_duration_since(Instant::now() + WAKE) {
            thread::sleep(left);
        }
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        let late = milliseconds(due);
        self.writer.write_all(&self.request).expect("it is sent");
        let (status, body) = read_message(&mut self.reader).expect("an answer");
        let took = milliseconds(due);
        assert!(status.contains(" 200 "), "{status}{}", String::from_utf8_lossy(&body));
        (took, late, body)
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

fn load(service: SocketAddr, model_server: SocketAddr, sent: &OnceLock<Vec<u8>>, pairs: usize) -> Samples {
    let body = json!({"utterance": UTTERANCE, "strategy": "tools"}).to_string();
    let mut through = Client::connect(service, "/v1/predict/weather", body.as_bytes());
    through.ask(Instant::now());
    // Exactly the bytes that the service itself sends.
    let body = sent.get().expect("the service asked the model server");
    let mut direct = Client::connect(model_server, "/v1/chat/completions", body);
    let mut samples = Samples { bytes: body.len(), ..Samples::default() };
    let start = Instant::now() + PERIOD;
    let mut due = start;
    for pair in 0..WARM_UP + pairs {
        let (a, late, _) = direct.ask(due);
        let (b, later, answer) = through.ask(due + PERIOD / 2);
        due += PERIOD;
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        let uptake = &answer["uptake"];
        let attempts = uptake["attempts"].as_array().map_or(0, Vec::len);
        assert!(uptake["outcome"] == "call" && uptake["decided_by"] == "tools" && attempts == 1, "{answer}");
        if pair >= WARM_UP {
            samples.add(a, b, &uptake["timings_ms"]);
            samples.late += usize::from(late.max(later) > LATE_MS);
        }
    }
    samples
}

const PHASES: [&str; 5] = ["recognize", "embed", "retrieve", "decide", "llm"];

/// Milliseconds, one entry per pair.
#[derive(Default)]
struct Samples {
    /// Length of the body sent to the model server.
    bytes: usize,
    direct: Vec<f64>,
    through: Vec<f64>,
    added: Vec<f64>,
    added_but_embedding: Vec<f64>,
    phases: [Vec<f64>; PHASES.len()],
    around: Vec<f64>,
    /// Pairs sent more than [`LATE_MS`] late: earlier answers took too long, or the load had no core.
    late: usize,
}

impl Samples {
    fn add(&mut self, direct: f64, through: f64, timings: &Value) {
        let of = |phase: &str| timings[phase].as_f64().expect("a time for each phase");
        self.direct.push(direct);
        self.through.push(through);
        self.added.push(through - direct);
        self.added_but_embedding.push(through - direct - of("embed"));
        for (samples, phase) in self.phases.iter_mut().zip(PHASES) {
            samples.push(of(phase));
        }
        self.around.push(through - of("total"));
    }

    fn report(mut self, name: &str) {
        say(&format!(
            "\n{name}: {} pairs, {} bytes to the model server\n  {:<34}{:>9}{:>9}{:>9}",
            self.direct.len(),
            self.bytes,
            "ms",
            "p50",
            "p90",
            "p99"
        ));
        row("directly to the model server", &mut self.direct);
        row("through the service", &mut self.through);
        let added = row("added, pair by pair", &mut self.added);
        let but_embedding = row("added, embedding left out", &mut self.added_but_embedding);
        for (samples, phase) in self.phases.iter_mut().zip(PHASES) {
            row(&format!("  {phase}"), samples);
        }
        row("  around the turn", &mut self.around);
        say(&format!(
            "  pairs sent over {LATE_MS} ms late: {}; with more than a few the machine was too busy to measure anything",
            self.late
        ));
        if let Ok(averages) = std::fs::read_to_string("/proc/loadavg") {
            let averages: Vec<&str> = averages.split(' ').take(3).collect();
            say(&format!("  load average of the last 1, 5 and 15 minutes: {}", averages.join(", ")));
        }
        let verdict = |holds: bool| if holds { "yes" } else { "NO" };
        say(&format!(
            "  added p99 under 1 ms: {}; embedding left out: {}",
            verdict(added < 1.0),
            verdict(but_embedding < 1.0)
        ));
    }
}

/// Returns the 99th percentile.
fn row(what: &str, samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    let at = |percent: usize| samples[(samples.len() * percent / 100).min(samples.len() - 1)];
    say(&format!("  {what:<34}{:>9.3}{:>9.3}{:>9.3}", at(50), at(90), at(99)));
    at(99)
}

#[expect(clippy::print_stdout, reason = "a bench reports to whoever runs it")]
fn say(text: &str) {
    println!("{text}");
}
