//! A server that is killed in the middle of an index build, and how the next one deals with what it left.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::Shell;

/// A server that does nothing for this long fails the test; a build takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(10);

/// Time for the build of [`LARGE`] to reach its middle; it takes at least ten times as long.
const HEAD_START: Duration = Duration::from_millis(100);

/// Built first because of its name; [`LARGE`] is next.
const SMALL: &str = "a-small";
const LARGE: &str = "b-large";

/// Functions, and what people say for them.
const TASKS: [(&str, &str); 15] = [
    ("play_music", "play some music"),
    ("set_alarm", "set an alarm for the morning"),
    ("order_pizza", "order a pizza"),
    ("book_flight", "book a flight to the coast"),
    ("pay_invoice", "pay the open invoice"),
    ("call_taxi", "call a taxi"),
    ("water_plants", "water the plants"),
    ("lock_doors", "lock all the doors"),
    ("read_news", "read the news aloud"),
    ("track_parcel", "find out where the parcel is"),
    ("renew_passport", "renew the passport"),
    ("translate_letter", "translate the letter into French"),
    ("find_recipe", "look for a recipe with mushrooms"),
    ("check_balance", "check how much money is in the account"),
    ("see_dentist", "make an appointment with the dentist"),
];
const BEFORE: [&str; 5] = ["please", "could you", "I want you to", "it is time to", "hey,"];
const AFTER: [&str; 5] = [
    "for <person>",
    "as <person> asked",
    "because <person> is waiting",
    "instead of <person>",
    "like last week, for <person>",
];

const PEOPLE: [&str; 3] = ["Anna", "Bruno", "Carla"];

/// Writes a module of [`TASKS`] with every combination of the first `wordings` of [`BEFORE`] and [`AFTER`].
fn write_module(directory: &Path, wordings: usize) {
    let schema: Vec<Value> = TASKS
        .iter()
        .map(|(name, phrase)| {
            json!({"name": name, "description": format!("To {phrase}"), "parameters": {
                "type": "object", "required": ["person"],
                "properties": {"person": {"type": "string", "description": "Who it is for"}},
            }})
        })
        .collect();
    let exemplars: serde_json::Map<String, Value> = TASKS
        .iter()
        .map(|(name, phrase)| {
            let said = BEFORE.iter().take(wordings).flat_map(|before| {
                AFTER.iter().take(wordings).map(move |after| json!({"template": format!("{before} {phrase} {after}")}))
            });
            ((*name).to_owned(), said.collect())
        })
        .collect();
    let people: Vec<Value> = PEOPLE.iter().map(|name| json!({"label": name, "expressions": []})).collect();
    let recognizers = json!({
        "recognizers": {"person": {"rec_type": "list", "instances": people}},
        "slots": {"person": "person"},
    });
    fs::create_dir_all(directory).expect("a writable directory");
    for (file, content) in
        [("schema.json", json!(schema)), ("exemplars.json", json!(exemplars)), ("recognizers.json", recognizers)]
    {
        fs::write(directory.join(file), content.to_string()).expect("a writable directory");
    }
}

/// A server that is killed silently with the test.
pub(super) struct Server {
    process: Child,
    /// The socket address where it listens.
    address: String,
    /// Its log lines, read continuously, so that it never waits for a reader.
    log: Receiver<String>,
}

impl Server {
    /// Starts it with the bundled model, the modules of the shell's directory and the given index.
    fn start(shell: &Shell, index: &Path) -> Self {
        let mut command = shell.command(&["serve", "--port", "0", "--modules", "modules"]);
        Self::run(command.env("UPTAKE_EMBED__KIND", "bundled").env("UPTAKE_MODULES__INDEX", index))
    }

    /// Starts this command.
    pub(super) fn run(command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
        let lines = BufReader::new(process.stderr.take().expect("piped")).lines();
        let (heard, log) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| heard.send(line)));
        let mut server = Self { process, address: String::new(), log };
        let line = server.await_line("listening on http://");
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split(' ').next());
        address.expect("it was just found").clone_into(&mut server.address);
        server
    }

    /// The next line of the log that contains `part`.
    #[track_caller]
    fn await_line(&self, part: &str) -> String {
        let mut before = Vec::new();
        while let Ok(line) = self.log.recv_timeout(PATIENCE) {
            if line.contains(part) {
                return line;
            }
            before.push(line);
        }
        panic!("no `{part}` in what it logs: {before:#?}")
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The status and the body, or the reason why there is none.
    pub(super) fn send(&self, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.ok_or(io::ErrorKind::InvalidData)?, body.to_owned()))
    }

    /// The status of `/readyz`, which is 503 while modules are being built.
    fn readiness(&self) -> u16 {
        self.send("GET", "/readyz", "").expect("an answer").0
    }

    pub(super) fn await_ready(&self) {
        let until = Instant::now() + PATIENCE;
        while self.readiness() != 200 {
            assert!(Instant::now() < until, "not ready after {PATIENCE:?}");
            std::thread::sleep(PAUSE);
        }
    }

    /// The answer of [`LARGE`], without the parts that differ between any two answers.
    fn predict(&self, utterance: &str) -> Value {
        let body = json!({"utterance": utterance, "now": "2026-03-01T09:00:00+00:00[UTC]"}).to_string();
        let (status, answer) = self.send("POST", &format!("/v1/predict/{LARGE}"), &body).expect("an answer");
        assert_eq!(status, 200, "{answer}");
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
        for (holder, changing) in [
            ("", "id"),
            ("", "created"),
            ("/uptake", "timings_ms"),
            ("/uptake", "state"),
            ("/choices/0/message/tool_calls/0", "id"),
        ] {
            if let Some(holder) = answer.pointer_mut(holder) {
                assert!(holder.as_object_mut().expect("an object").remove(changing).is_some(), "{changing}");
            }
        }
        answer
    }

    /// Kills it as a crash or the kernel would, without warning. Returns the rest of the log.
    fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("it still runs");
        self.process.wait().expect("it ends");
        self.log.iter().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The person in the task with this number in [`answers`].
fn person(task: usize) -> &'static str {
    PEOPLE[task % PEOPLE.len()]
}

fn answers(server: &Server) -> Vec<Value> {
    let said =
        |(task, (_, phrase)): (usize, &(&str, &str))| format!("would you {phrase} for {}", person(task).to_lowercase());
    let off_topic = "the moon orbits the earth once a month".to_owned();
    TASKS.iter().enumerate().map(said).chain([off_topic]).map(|said| server.predict(&said)).collect()
}

#[track_caller]
fn assert_right(answers: &[Value]) {
    for (task, ((name, _), answer)) in TASKS.iter().zip(answers).enumerate() {
        let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
        let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap_or_default()).unwrap_or_default();
        assert_eq!(call["name"], *name, "{answer}");
        assert_eq!(arguments, json!({"person": person(task)}), "{answer}");
    }
    let off_topic = answers.last().expect("one per task and one more");
    assert_eq!(off_topic["uptake"]["outcome"], "no_match", "{off_topic}");
}

fn vectors(index: &Path, module: &str) -> PathBuf {
    index.join(format!("{module}.vectors"))
}

/// The content of the file, with every other sector zeroed.
fn without_sectors(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).expect("kept");
    bytes.chunks_mut(512).skip(1).step_by(2).for_each(|sector| sector.fill(0));
    bytes
}

#[test]
fn a_server_killed_in_the_middle_of_a_build_is_none_the_worse_at_the_next_start() {
    let shell = Shell::new();
    let root = shell.directory.path();
    write_module(&root.join("modules").join(SMALL), 1);
    write_module(&root.join("modules").join(LARGE), BEFORE.len());

    // The reference.
    let whole = root.join("whole");
    let never_killed = Server::start(&shell, &whole);
    never_killed.await_ready();
    let expected = answers(&never_killed);
    assert_right(&expected);
    never_killed.kill();

    let index = root.join("index");
    let killed_while_building = || {
        let server = Server::start(&shell, &index);
        server.await_line(SMALL);
        std::thread::sleep(HEAD_START);
        assert_eq!(server.readiness(), 503);
        let log = server.kill();
        assert!(log.iter().all(|line| !line.contains(LARGE)), "built before it could be interrupted: {log:?}");
    };
    let starts_well = || {
        let server = Server::start(&shell, &index);
        server.await_ready();
        let found = answers(&server);
        assert_right(&found);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        server.kill();
    };

    // At the first build, with no files yet; and then as if it had been killed while it wrote, into a temporary file
    // or, on a file system that renames too early, into this one.
    killed_while_building();
    assert!(!vectors(&index, LARGE).exists());
    let content = fs::read(vectors(&whole, LARGE)).expect("the other server kept them");
    let half = &content[..content.len() / 2];
    fs::write(index.join(format!("{LARGE}.vectors.{}.tmp", "5e".repeat(16))), half).expect("a writable index");
    fs::write(vectors(&index, LARGE), half).expect("a writable index");
    starts_well();
    assert_eq!(fs::read(vectors(&index, LARGE)).expect("kept"), content, "the same vectors, in the same order");

    // With files of the right length that lack sectors: half of the texts are there, with wrong vectors.
    for module in [SMALL, LARGE, "background"] {
        fs::write(vectors(&index, module), without_sectors(&vectors(&index, module))).expect("a writable index");
    }
    let torn = fs::read(vectors(&index, LARGE)).expect("just written");
    killed_while_building();
    assert_eq!(fs::read(vectors(&index, LARGE)).expect("not touched yet"), torn);
    starts_well();
    assert_eq!(fs::read(vectors(&index, LARGE)).expect("kept"), content);
}
