//! Acknowledged turns survive `kill -9` under load. A short run by default; `UPTAKE_CRASH_ROUNDS=100 cargo test
//! --locked crash -- --nocapture` is a longer one.

use std::{
    collections::HashMap,
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use uptake::conversation::store::{SessionOptions, Sessions, StoreUrl};

use super::id;
use crate::support::postgres::Cluster;

const SESSIONS: u64 = 64;
const TASKS: u64 = 16;

/// Tells the process to be killed where to keep its sessions.
const PLACE: &str = "UPTAKE_CRASH_URL";

fn rounds() -> u64 {
    env::var("UPTAKE_CRASH_ROUNDS").ok().map_or(3, |rounds| rounds.parse().expect("UPTAKE_CRASH_ROUNDS is a number"))
}

fn open(url: &str) -> Sessions {
    let options = SessionOptions { url: StoreUrl::new(url), wait_ms: 30_000, ..SessionOptions::default() };
    Sessions::open(&options).expect("options that make sense")
}

/// Turns in each session, as far as the killed processes acknowledged them.
type Acknowledged = HashMap<u64, u64>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_loses_no_acknowledged_turn() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite:{}", directory.path().join("sessions.db").display());
    println!("SQLite: {}", kill_and_look(&url).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_loses_no_acknowledged_turn() {
    let Some(cluster) = Cluster::shared("postgres_loses_no_acknowledged_turn") else { return };
    println!("PostgreSQL: {}", kill_and_look(&cluster.new_address().await).await);
}

/// A summary in words.
async fn kill_and_look(url: &str) -> String {
    let mut acknowledged = Acknowledged::new();
    let mut turns = 0;
    for round in 0..rounds() {
        let told = run_and_kill(url, Duration::from_millis(fastrand::u64(20..300)));
        assert!(!told.is_empty(), "round {round}: nothing was acknowledged");
        turns += told.len();
        for (session, count) in told {
            let before = acknowledged.insert(session, count);
            assert!(before.is_none_or(|before| before < count), "session {session}: {before:?}, then {count}");
        }
        compare(url, &acknowledged).await;
    }
    let kills = rounds();
    format!("{kills} kills, {turns} acknowledged turns of {} sessions, none lost", acknowledged.len())
}

/// The turns that a process acknowledged, in order, until it was killed this long after its first one.
fn run_and_kill(url: &str, after: Duration) -> Vec<(u64, u64)> {
    let mut process = Command::new(env::current_exe().expect("this executable"))
        .args(["--exact", "sessions::crash::the_process_that_is_killed", "--ignored", "--nocapture"])
        .env(PLACE, url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this executable runs");
    let mut output = BufReader::new(process.stdout.take().expect("piped"));
    let mut told = Vec::new();
    let mut killer = None;
    let mut line = String::new();
    while output.read_line(&mut line).is_ok_and(|length| length > 0) {
        // A line that was cut off was not completely acknowledged.
        if let Some(turn) = line.strip_suffix('\n').and_then(acknowledgement) {
            told.push(turn);
            killer.get_or_insert_with(|| kill_later(process.id(), after));
        }
        line.clear();
    }
    if let Some(killer) = killer {
        killer.join().expect("no panic there");
    }
    process.wait().expect("our own process");
    told
}

fn acknowledgement(line: &str) -> Option<(u64, u64)> {
    // The test runner may have written the beginning of the line.
    let (session, count) = line.split_once("turn ")?.1.split_once(' ')?;
    Some((session.parse().ok()?, count.parse().ok()?))
}

fn kill_later(process: u32, after: Duration) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        thread::sleep(after);
        let killed = Command::new("kill").args(["-KILL", &process.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "the process ended by itself");
    })
}

/// At most the one turn in progress may be there in addition.
async fn compare(url: &str, acknowledged: &Acknowledged) {
    let sessions = open(url);
    for (&session, &count) in acknowledged {
        let kept = sessions.read(&name(session)).await.expect("readable").map(|stored| stored.data);
        let kept = kept.unwrap_or_else(|| panic!("session {session} is lost, turn {count} was acknowledged"));
        let found = turns_in(&kept);
        assert!(found == count || found == count + 1, "session {session}: {found} turns, {count} acknowledged");
    }
}

fn name(session: u64) -> uptake::conversation::store::SessionId {
    id(&format!("session-{session}"))
}

/// A state that grows, and in which every byte tells which turn wrote it.
fn state(turns: u64) -> Vec<u8> {
    format!("{turns};").repeat(usize::try_from(50 + turns % 1_000).expect("small")).into_bytes()
}

fn turns_in(data: &[u8]) -> u64 {
    let text = std::str::from_utf8(data).expect("UTF-8");
    let turns = text.split(';').next().and_then(|first| first.parse().ok()).expect("a number");
    assert!(state(turns) == data, "a torn state");
    turns
}

/// Not a test: the process that the tests above run and kill. It does turns until then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is run, and killed, by others"]
async fn the_process_that_is_killed() {
    let Ok(url) = env::var(PLACE) else { return };
    let sessions = open(&url);
    let tasks = (0..TASKS).map(|task| {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            loop {
                let session = task + TASKS * fastrand::u64(0..SESSIONS / TASKS);
                let turn = sessions.begin(&name(session)).await.expect("begins");
                let count = turn.data.as_deref().map_or(0, turns_in) + 1;
                turn.commit(state(count)).await.expect("is kept");
                let line = format!("\nturn {session} {count}\n");
                std::io::stdout().lock().write_all(line.as_bytes()).expect("somebody listens");
            }
        })
    });
    futures::future::join_all(tasks).await;
}
