//! What holds for every store; each case runs with all of them.
#![expect(clippy::unwrap_used, reason = "these are tests, though only the macro says so")]

use std::{sync::Arc, time::Duration};

use uptake::{
    conversation::{
        Tenant,
        store::{Partition, SessionOptions, Store, StoreError, Stored},
    },
    llm::Secret,
};

use super::{Place, hours, id, now};

macro_rules! for_every_store {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::Place::memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::Place::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                if let Some(place) = super::Place::postgres(stringify!($case)).await {
                    super::$case(place).await;
                }
            })*
        }
    };
}

for_every_store!(
    what_is_saved_is_read_by_everybody,
    only_the_expected_revision_is_replaced,
    writers_at_once_lose_nothing,
    an_expired_session_is_absent,
    what_is_deleted_stays_deleted,
    a_sweep_removes_what_is_expired_and_nothing_else,
    any_bytes_come_back,
    turns_of_one_session_follow_each_other,
    a_turn_that_takes_too_long_makes_the_next_one_busy,
    of_two_replicas_the_slower_turn_conflicts,
    a_turn_that_is_dropped_changes_nothing,
    each_turn_renews_the_expiry,
    a_state_that_is_too_large_is_refused,
    sessions_of_an_owner_are_counted,
    an_owner_loses_no_session_to_another,
    a_greedy_owner_pushes_out_no_memory_of_another,
    keys_can_be_changed_and_are_needed,
    stored_text_cannot_be_moved_to_another_session,
);

async fn what_is_saved_is_read_by_everybody(place: Place) {
    let (one, other) = (place.open(), place.open());
    let (name, expires) = (id("a"), now() + hours(1));
    assert_eq!(one.load(&name, now()).await, Ok(None));
    let first = one.save(&name, None, b"first".to_vec(), expires, now()).await.unwrap();
    let stored = Stored { data: b"first".to_vec(), revision: first, expires };
    assert_eq!(other.load(&name, now()).await, Ok(Some(stored)));
    let (second, expires) = (b"second".to_vec(), now() + hours(2));
    let revision = other.save(&name, Some(first), second.clone(), expires, now()).await.unwrap();
    assert_ne!(revision, first);
    drop((one, other));
    let stored = Stored { data: second, revision, expires };
    assert_eq!(place.open().load(&name, now()).await, Ok(Some(stored)));
    assert_eq!(place.open().load(&id("A"), now()).await, Ok(None));
}

async fn only_the_expected_revision_is_replaced(place: Place) {
    let (store, name, expires) = (place.open(), id("a"), now() + hours(1));
    let save = |expected| store.save(&name, expected, b"new".to_vec(), expires, now());
    for absent in [0, 1, u64::MAX] {
        assert_eq!(save(Some(absent)).await, Err(StoreError::Conflict));
    }
    assert_eq!(store.load(&name, now()).await, Ok(None));
    let first = store.save(&name, None, b"first".to_vec(), expires, now()).await.unwrap();
    for wrong in [None, Some(0), Some(first - 1), Some(first + 1), Some(u64::MAX)] {
        assert_eq!(save(wrong).await, Err(StoreError::Conflict), "{wrong:?}");
    }
    let kept = store.load(&name, now()).await.unwrap().unwrap();
    assert_eq!((kept.data.as_slice(), kept.revision), (&b"first"[..], first));
    save(Some(first)).await.unwrap();
    assert_eq!(save(Some(first)).await, Err(StoreError::Conflict), "a revision came again");
}

async fn writers_at_once_lose_nothing(place: Place) {
    const WRITERS: u64 = 12;
    const TURNS: u64 = 15;
    let stores = [place.open(), place.open(), place.open()];
    let writers = (0..WRITERS).map(|writer| tokio::spawn(count_up(stores[writer as usize % 3].clone(), TURNS)));
    let conflicts: u64 = futures::future::join_all(writers).await.into_iter().map(Result::unwrap).sum();
    let stored = place.open().load(&id("counter"), now()).await.unwrap().unwrap();
    assert_eq!(stored.data, (WRITERS * TURNS).to_string().into_bytes(), "after {conflicts} conflicts");
}

/// Adds one this many times, retrying after conflicts; returns the number of conflicts.
async fn count_up(store: Arc<dyn Store>, turns: u64) -> u64 {
    let (name, mut done, mut conflicts) = (id("counter"), 0, 0);
    while done < turns {
        let stored = store.load(&name, now()).await.unwrap();
        let (count, revision) = stored.map_or((0, None), |stored| (number(&stored.data), Some(stored.revision)));
        tokio::task::yield_now().await;
        let next = (count + 1).to_string().into_bytes();
        match store.save(&name, revision, next, now() + hours(1), now()).await {
            Ok(_) => done += 1,
            Err(StoreError::Conflict) => conflicts += 1,
            Err(error) => panic!("{error}"),
        }
    }
    conflicts
}

fn number(data: &[u8]) -> u64 {
    std::str::from_utf8(data).unwrap().parse().unwrap()
}

async fn an_expired_session_is_absent(place: Place) {
    let (store, name, start) = (place.open(), id("a"), now());
    let expires = start + hours(1);
    let first = store.save(&name, None, b"old".to_vec(), expires, start).await.unwrap();
    let before = expires - Duration::from_millis(1);
    assert!(store.load(&name, before).await.unwrap().is_some());
    assert_eq!(store.load(&name, expires).await, Ok(None));
    assert_eq!(store.save(&name, Some(first), vec![], expires + hours(1), expires).await, Err(StoreError::Conflict));
    assert_eq!(store.delete(&name, expires).await, Ok(false));
    store.save(&name, None, b"old".to_vec(), expires, start).await.unwrap();
    let new = store.save(&name, None, b"new".to_vec(), expires + hours(1), expires).await.unwrap();
    assert_eq!(store.load(&name, expires).await.unwrap().unwrap().revision, new);
    assert_ne!(new, first + 1);
}

async fn what_is_deleted_stays_deleted(place: Place) {
    let (store, replica, name, expires) = (place.open(), place.open(), id("a"), now() + hours(1));
    assert_eq!(store.delete(&name, now()).await, Ok(false));
    let revision = store.save(&name, None, b"x".to_vec(), expires, now()).await.unwrap();
    assert_eq!(replica.delete(&name, now()).await, Ok(true));
    assert_eq!(store.save(&name, Some(revision), b"y".to_vec(), expires, now()).await, Err(StoreError::Conflict));
    assert_eq!(store.load(&name, now()).await, Ok(None));
    // A turn that began earlier must not match the next session of that name either.
    let next = replica.save(&name, None, b"z".to_vec(), expires, now()).await.unwrap();
    assert_ne!(next, revision);
    assert_eq!(store.save(&name, Some(revision), b"y".to_vec(), expires, now()).await, Err(StoreError::Conflict));
    assert_eq!(store.load(&name, now()).await.unwrap().unwrap().data, b"z");
}

async fn a_sweep_removes_what_is_expired_and_nothing_else(place: Place) {
    const EXPIRED: usize = 1_200;
    let (store, start) = (place.open(), now());
    assert_eq!(store.sweep(start).await, Ok(0));
    let saved = (0..EXPIRED + 7).map(|index| {
        let store = &store;
        async move {
            let expires = start + hours(if index < EXPIRED { 1 } else { 2 });
            store.save(&id(&format!("s{index}")), None, vec![1; 64], expires, start).await.unwrap();
        }
    });
    futures::future::join_all(saved).await;
    let (later, replica) = (start + hours(1), place.open());
    let (one, other) = tokio::join!(store.sweep(later), replica.sweep(later));
    assert_eq!(one.unwrap() + other.unwrap(), EXPIRED as u64);
    assert_eq!(store.sweep(later).await, Ok(0));
    // Read as of the start: deleted sessions are really gone, and not only expired.
    assert_eq!(store.load(&id("s0"), start).await, Ok(None));
    for index in EXPIRED..EXPIRED + 7 {
        assert!(store.load(&id(&format!("s{index}")), later).await.unwrap().is_some());
    }
}

async fn any_bytes_come_back(place: Place) {
    let (store, expires) = (place.open(), now() + hours(1));
    let name = id(&"x".repeat(128));
    let mut revision = None;
    for data in [vec![], (0..=255).collect(), vec![0; 3], b"'; DROP TABLE sessions; --".to_vec(), vec![0xA5; 5 << 20]] {
        revision = Some(store.save(&name, revision, data.clone(), expires, now()).await.unwrap());
        assert!(store.load(&name, now()).await.unwrap().unwrap().data == data, "{} bytes changed", data.len());
    }
}

async fn turns_of_one_session_follow_each_other(place: Place) {
    let sessions = place.sessions(&SessionOptions { wait_ms: 20_000, ..SessionOptions::default() });
    let turns = (0..20).map(|_| {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            let session = sessions.begin(&id("a")).await.unwrap();
            let count = session.data.as_deref().map_or(0, number);
            tokio::time::sleep(Duration::from_millis(2)).await;
            session.commit((count + 1).to_string()).await.unwrap();
        })
    });
    for turn in futures::future::join_all(turns).await {
        turn.unwrap();
    }
    assert_eq!(number(&sessions.read(&id("a")).await.unwrap().unwrap().data), 20);
}

async fn a_turn_that_takes_too_long_makes_the_next_one_busy(place: Place) {
    let sessions = place.sessions(&SessionOptions { wait_ms: 50, ..SessionOptions::default() });
    let long = place.sessions(&SessionOptions::default());
    // Making the tables may take longer than this turn waits.
    long.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    let held = sessions.begin(&id("a")).await.unwrap();
    assert_eq!(sessions.begin(&id("a")).await.err(), Some(StoreError::Busy { waited_ms: 50 }));
    assert_eq!(sessions.delete(&id("a")).await, Err(StoreError::Busy { waited_ms: 50 }));
    assert!(sessions.read(&id("a")).await.unwrap().is_some(), "reading waits for nobody");
    drop(held);
    assert_eq!(sessions.delete(&id("a")).await, Ok(true));
}

async fn of_two_replicas_the_slower_turn_conflicts(place: Place) {
    let options = SessionOptions::default();
    let (one, other) = (place.sessions(&options), place.sessions(&options));
    // First without a session, then with one.
    for _ in 0..2 {
        let (fast, slow) = (one.begin(&id("a")).await.unwrap(), other.begin(&id("a")).await.unwrap());
        assert_eq!(fast.revision, slow.revision);
        let revision = fast.commit("fast").await.unwrap();
        assert_eq!(slow.commit("slow").await, Err(StoreError::Conflict));
        let kept = other.read(&id("a")).await.unwrap().unwrap();
        assert_eq!((kept.data.as_slice(), kept.revision), (&b"fast"[..], revision));
    }
    let slow = other.begin(&id("a")).await.unwrap();
    assert_eq!(one.delete(&id("a")).await, Ok(true));
    assert_eq!(slow.commit("slow").await, Err(StoreError::Conflict));
    assert_eq!(one.read(&id("a")).await, Ok(None));
}

async fn a_turn_that_is_dropped_changes_nothing(place: Place) {
    let sessions = place.sessions(&SessionOptions::default());
    drop(sessions.begin(&id("a")).await.unwrap());
    assert_eq!(sessions.read(&id("a")).await, Ok(None));
    sessions.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    let before = sessions.read(&id("a")).await.unwrap();
    drop(sessions.begin(&id("a")).await.unwrap());
    assert_eq!(sessions.read(&id("a")).await.unwrap(), before);
}

async fn sessions_of_an_owner_are_counted(place: Place) {
    let store = place.open();
    for (name, owner) in [("x", "b"), ("y", "b"), ("x", "bb"), ("x", "a"), ("z", "b0")] {
        store.save(&id(name).of(owner), None, vec![1], now() + hours(1), now()).await.unwrap();
    }
    store.save(&id("b"), None, vec![1], now() + hours(1), now()).await.unwrap();
    store.save(&id("old").of("b"), None, vec![1], now() - hours(1), now() - hours(2)).await.unwrap();
    let mut counts = Vec::new();
    for owner in ["b", "bb", "b0", "a", "c", "%", ""] {
        counts.push(store.count(owner, now()).await.unwrap());
    }
    assert_eq!(counts, [2, 1, 1, 1, 0, 0, 0]);
}

/// Neither by number nor by bytes, however many sessions another owner begins later.
async fn an_owner_loses_no_session_to_another(place: Place) {
    let store = place.open();
    let save = async |name: &str, owner: &str, bytes: usize, hour| {
        let id = if owner.is_empty() { id(name) } else { id(name).of(owner) };
        store.save(&id, None, vec![1; bytes], now() + hours(hour), now()).await.unwrap();
    };
    save("first", "polite", 4, 1).await;
    save("first", "", 4, 2).await;
    for number in 0..30 {
        save(&number.to_string(), "greedy", 10, 3 + number).await;
    }
    assert_eq!(store.shed(Partition::Sessions, 10, 1_000).await, Ok(22));
    assert_eq!(store.count("greedy", now()).await, Ok(8));
    assert_eq!(store.shed(Partition::Sessions, 10, 40).await, Ok(5));
    assert_eq!((store.count("polite", now()).await, store.count("greedy", now()).await), (Ok(1), Ok(3)));
    assert!(store.load(&id("first"), now()).await.unwrap().is_some());
    assert!(store.load(&id("29").of("greedy"), now()).await.unwrap().is_some(), "its oldest have gone");
}

/// Memories of consents and calls: neither by number nor by bytes, and no session is evicted either.
async fn a_greedy_owner_pushes_out_no_memory_of_another(place: Place) {
    let (polite, everybody, greedy) = (Tenant::of_key("polite"), Tenant::everybody(), Tenant::of_key("greedy"));
    let with = |max_memories, max_memory_bytes| {
        place.sessions(&SessionOptions { max_memories, max_memory_bytes, ..SessionOptions::default() })
    };
    let sessions = with(10, 1_000_000);
    let remember = async |owner: &Tenant, name: &str, bytes: usize, seconds| {
        sessions.remember(owner, name, None, &vec![1; bytes], Duration::from_secs(seconds)).await.unwrap();
    };
    sessions.begin(&id("a").of("greedy")).await.unwrap().commit("x").await.unwrap();
    remember(&polite, "call", 400, 100).await;
    remember(&everybody, "call", 400, 101).await;
    assert_eq!(sessions.take_once(&polite, "consent", Duration::from_secs(102)).await, Ok(true));
    for number in 0..30 {
        remember(&greedy, &number.to_string(), 1_000, 1_000 + number).await;
    }
    assert_eq!(sessions.sweep().await, Ok(23), "by number");
    let sessions = with(1_000, 4_000);
    assert_eq!(sessions.sweep().await, Ok(4), "by bytes");
    for owner in [&polite, &everybody] {
        assert!(sessions.recall(owner, "call").await.unwrap().is_some());
    }
    assert_eq!(sessions.take_once(&polite, "consent", Duration::from_secs(9)).await, Ok(false));
    assert!(sessions.recall(&greedy, "26").await.unwrap().is_none(), "its oldest have gone");
    assert!(sessions.recall(&greedy, "29").await.unwrap().is_some());
    assert_eq!(sessions.recall(&polite, "29").await, Ok(None), "what is remembered is its owner's");
    assert_eq!(sessions.count("greedy").await, Ok(1), "no memory is a session");
}

async fn each_turn_renews_the_expiry(place: Place) {
    let sessions = place.sessions(&SessionOptions { ttl_s: 3_600, ..SessionOptions::default() });
    let start = now();
    sessions.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    let first = sessions.read(&id("a")).await.unwrap().unwrap().expires;
    assert!(first >= start + hours(1) && first <= now() + hours(1));
    tokio::time::sleep(Duration::from_millis(5)).await;
    sessions.begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    assert!(sessions.read(&id("a")).await.unwrap().unwrap().expires > first);
}

async fn a_state_that_is_too_large_is_refused(place: Place) {
    let sessions = place.sessions(&SessionOptions { max_bytes: 10, ..SessionOptions::default() });
    sessions.begin(&id("a")).await.unwrap().commit(vec![1; 10]).await.unwrap();
    let refused = sessions.begin(&id("a")).await.unwrap().commit(vec![2; 11]).await;
    assert_eq!(refused, Err(StoreError::TooLarge { bytes: 11, limit: 10 }));
    assert_eq!(sessions.read(&id("a")).await.unwrap().unwrap().data, vec![1; 10]);
}

fn with_keys(current: Option<&str>, previous: &[&str]) -> SessionOptions {
    let secret = |digits: &str| Secret::new(digits.repeat(32));
    SessionOptions {
        encryption_key: current.map(secret),
        previous_keys: previous.iter().map(|digits| secret(digits)).collect(),
        ..SessionOptions::default()
    }
}

async fn keys_can_be_changed_and_are_needed(place: Place) {
    let plain = place.sessions(&with_keys(None, &[]));
    plain.begin(&id("a")).await.unwrap().commit("before any key").await.unwrap();
    let old = place.sessions(&with_keys(Some("01"), &[]));
    assert_eq!(old.read(&id("a")).await, Err(StoreError::Plain));
    let old = place.sessions(&SessionOptions { read_plain: true, ..with_keys(Some("01"), &[]) });
    assert_eq!(old.read(&id("a")).await.unwrap().unwrap().data, b"before any key");
    old.begin(&id("a")).await.unwrap().commit("Jane Austin").await.unwrap();
    let in_store = place.open().load(&id("a"), now()).await.unwrap().unwrap().data;
    assert!(!in_store.windows(4).any(|part| part == b"Jane"), "{in_store:?}");
    let rotated = place.sessions(&with_keys(Some("02"), &["01"]));
    assert_eq!(rotated.read(&id("a")).await.unwrap().unwrap().data, b"Jane Austin");
    rotated.begin(&id("a")).await.unwrap().commit("Jane Eyre").await.unwrap();
    assert_eq!(old.read(&id("a")).await, Err(StoreError::UnknownKey));
    assert_eq!(plain.begin(&id("a")).await.err(), Some(StoreError::UnknownKey));
    // Deleting needs no key.
    assert_eq!(plain.delete(&id("a")).await, Ok(true));
}

async fn stored_text_cannot_be_moved_to_another_session(place: Place) {
    let sessions = place.sessions(&with_keys(Some("01"), &[]));
    sessions.begin(&id("a")).await.unwrap().commit("Jane's address").await.unwrap();
    let store = place.open();
    let mut stolen = store.load(&id("a"), now()).await.unwrap().unwrap().data;
    store.save(&id("b"), None, stolen.clone(), now() + hours(1), now()).await.unwrap();
    assert_eq!(sessions.read(&id("b")).await, Err(StoreError::Damaged));
    *stolen.last_mut().unwrap() ^= 1;
    store.save(&id("c"), None, stolen, now() + hours(1), now()).await.unwrap();
    assert_eq!(sessions.begin(&id("c")).await.err(), Some(StoreError::Damaged));
}
