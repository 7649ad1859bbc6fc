//! What holds for the SQLite store.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use rusqlite::Connection;
use uptake::{
    conversation::{
        Tenant,
        store::{SessionOptions, Sessions, StoreError, StoreUrl},
    },
    llm::Secret,
};

use super::id;

fn options(path: &Path) -> SessionOptions {
    SessionOptions { url: StoreUrl::new(format!("sqlite:{}", path.display())), ..SessionOptions::default() }
}

fn open(path: &Path) -> Sessions {
    Sessions::open(&options(path)).expect("options that make sense")
}

/// In the file, and in those that SQLite keeps beside it.
fn is_on_disk(path: &Path, text: &str) -> bool {
    let beside = |suffix: &str| fs::read(format!("{}{suffix}", path.display())).unwrap_or_default();
    ["", "-wal", "-shm", "-journal"].iter().any(|suffix| {
        let bytes = beside(suffix);
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[tokio::test]
async fn the_file_is_made_for_the_first_session_and_is_its_owners_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("not/there/yet.db");
    let sessions = open(&path);
    assert_eq!(sessions.sweep().await, Ok(0));
    assert!(!path.exists());
    sessions.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    for suffix in ["", "-wal"] {
        let mode = fs::metadata(format!("{}{suffix}", path.display())).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{suffix}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_an_error_until_it_can() {
    let directory = tempfile::tempdir().unwrap();
    let in_the_way = directory.path().join("data");
    fs::write(&in_the_way, "").unwrap();
    let sessions = open(&in_the_way.join("sessions.db"));
    for _ in 0..2 {
        let error = sessions.begin(&id("a")).await.err();
        assert!(matches!(&error, Some(StoreError::Unavailable(text)) if text.contains("sessions.db")), "{error:?}");
    }
    fs::remove_file(&in_the_way).unwrap();
    sessions.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
}

#[tokio::test]
async fn what_is_deleted_or_replaced_is_nowhere_on_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    let sessions = open(&path);
    // Within a page, and over many.
    for size in [1, 20_000] {
        sessions.begin(&id("a")).await.unwrap().commit("Jane Austin ".repeat(size)).await.unwrap();
        assert!(is_on_disk(&path, "Jane Austin"), "otherwise this shows nothing");
        sessions.begin(&id("a")).await.unwrap().commit("somebody else").await.unwrap();
        assert_eq!(sessions.delete(&id("a")).await, Ok(true));
        assert!(!is_on_disk(&path, "Austin") && !is_on_disk(&path, "somebody"), "{size}");
    }
    let short = Sessions::open(&SessionOptions { ttl_s: 1, ..options(&path) }).unwrap();
    short.begin(&id("b")).await.unwrap().commit("Jane Austin").await.unwrap();
    while short.sweep().await.unwrap() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(!is_on_disk(&path, "Austin"));
}

#[tokio::test]
async fn with_a_key_nothing_readable_reaches_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    let key = Some(Secret::new("0f".repeat(32)));
    let sessions = Sessions::open(&SessionOptions { encryption_key: key, ..options(&path) }).unwrap();
    for _ in 0..3 {
        sessions.begin(&id("named")).await.unwrap().commit("Jane Austin".repeat(1_000)).await.unwrap();
    }
    assert!(is_on_disk(&path, "named"), "otherwise this shows nothing");
    assert!(!is_on_disk(&path, "Jane") && !is_on_disk(&path, "Austin"));
}

#[tokio::test]
async fn the_file_of_a_newer_version_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    open(&path).begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let error = open(&path).begin(&id("a")).await.err();
    assert_eq!(error, Some(StoreError::Newer { place: path.display().to_string(), found: 2, known: 1 }));
}

#[tokio::test]
async fn the_file_of_something_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("photos.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE sessions (x)").unwrap();
    let text = directory.path().join("notes.txt");
    fs::write(&text, "no database at all, but long enough to be taken for one ".repeat(100)).unwrap();
    for path in [path, text] {
        let before = fs::read(&path).unwrap();
        let error = open(&path).begin(&id("a")).await.err();
        assert!(matches!(error, Some(StoreError::Unavailable(_))), "{error:?}");
        assert!(fs::read(&path).unwrap() == before || path.ends_with("photos.db"));
    }
}

/// Turns acknowledged into a deleted file would be lost.
#[tokio::test]
async fn a_deleted_file_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    let sessions = open(&path);
    sessions.begin(&id("a")).await.unwrap().commit("before").await.unwrap();
    let begun = sessions.begin(&id("a")).await.unwrap();
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(format!("{}{suffix}", path.display())).unwrap();
    }
    assert_eq!(begun.commit("lost").await, Err(StoreError::Conflict), "it is not there any more");
    assert_eq!(sessions.read(&id("a")).await, Ok(None));
    sessions.begin(&id("a")).await.unwrap().commit("after").await.unwrap();
    let other = open(&path).read(&id("a")).await.unwrap().expect("it is in the file that has the name");
    assert_eq!(other.data, b"after");
}

/// The first one waits, and later ones do not wait just as long one after the other.
#[tokio::test]
async fn a_locked_file_holds_nobody_up_but_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    let sessions = open(&path);
    sessions.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    let stranger = Connection::open(&path).unwrap();
    stranger.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let clock = std::time::Instant::now();
    for number in 0..12 {
        let error = sessions.begin(&id(&format!("{number}"))).await.unwrap().commit("y").await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    assert!(clock.elapsed() < std::time::Duration::from_secs(12), "{:?}: each waited by itself", clock.elapsed());
    stranger.execute_batch("COMMIT").unwrap();
    sessions.begin(&id("b")).await.unwrap().commit("y").await.unwrap();
}

/// An attacker who can write to the file but has no key.
#[tokio::test]
async fn a_row_without_encryption_is_refused_beside_those_with() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    open(&path).begin(&id("a")).await.unwrap().commit("planted").await.unwrap();
    let key = Some(Secret::new("ab".repeat(32)));
    let encrypted = SessionOptions { encryption_key: key, ..options(&path) };
    let refused = Sessions::open(&encrypted).unwrap().read(&id("a")).await;
    assert_eq!(refused, Err(StoreError::Plain));
    let lenient = Sessions::open(&SessionOptions { read_plain: true, ..encrypted }).unwrap();
    assert_eq!(lenient.read(&id("a")).await.unwrap().unwrap().data, b"planted");
}

#[tokio::test]
async fn sessions_that_rest_make_room() {
    for url in ["memory:", "sqlite:"] {
        let directory = tempfile::tempdir().unwrap();
        let url = if url == "memory:" {
            url.to_owned()
        } else {
            format!("sqlite:{}", directory.path().join("s.db").display())
        };
        let limits = |max_sessions, max_total_bytes| SessionOptions {
            url: StoreUrl::new(url.clone()),
            max_sessions,
            max_total_bytes,
            ..SessionOptions::default()
        };
        let sessions = Sessions::open(&limits(3, 1_000)).unwrap();
        for number in 0..6 {
            sessions.begin(&id(&number.to_string())).await.unwrap().commit("x".repeat(100)).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        }
        // Used again, so that the first one is not the longest unused.
        sessions.begin(&id("0")).await.unwrap().commit("x".repeat(100)).await.unwrap();
        assert_eq!(
            sessions.take_once(&Tenant::everybody(), "spent", std::time::Duration::from_secs(60)).await,
            Ok(true)
        );
        assert_eq!(sessions.sweep().await, Ok(3), "{url}");
        let mut left = Vec::new();
        for number in 0..6 {
            left.push(sessions.read(&id(&number.to_string())).await.unwrap().is_some());
        }
        assert_eq!(left, [true, false, false, false, true, true], "{url}");
        assert_eq!(
            sessions.take_once(&Tenant::everybody(), "spent", std::time::Duration::from_secs(60)).await,
            Ok(false),
            "it is no session"
        );
        for number in 6..10 {
            sessions.begin(&id(&number.to_string())).await.unwrap().commit("x".repeat(500)).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        }
        sessions.sweep().await.unwrap();
        assert!(sessions.read(&id("6")).await.unwrap().is_none(), "{url}");
    }
}
