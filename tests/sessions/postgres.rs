//! What holds for the PostgreSQL store.

use std::time::Duration;

use uptake::conversation::store::{SessionOptions, Sessions, StoreError, StoreUrl};

use super::id;
use crate::support::postgres::Cluster;

fn open(url: &StoreUrl) -> Sessions {
    // A restarting server may take its time on a busy machine.
    let options = SessionOptions { url: url.clone(), wait_ms: 30_000, ..SessionOptions::default() };
    Sessions::open(&options).expect("options that make sense")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_that_start_at_once_make_the_tables_once() {
    let Some(cluster) = Cluster::shared("replicas_that_start_at_once_make_the_tables_once") else { return };
    for _ in 0..3 {
        let url = cluster.database().await;
        let turns = (0..8).map(|replica| {
            let sessions = open(&url);
            tokio::spawn(async move { sessions.begin(&id(&format!("s{replica}"))).await?.commit("x").await })
        });
        for turn in futures::future::join_all(turns).await {
            turn.unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_server_is_survived() {
    let Some(cluster) = Cluster::start("a_restart_of_the_server_is_survived") else { return };
    let sessions = open(&cluster.database().await);
    let mut revision = sessions.begin(&id("a")).await.unwrap().commit("0").await.unwrap();
    for (turn, end) in [Cluster::stop, Cluster::crash].into_iter().enumerate() {
        // Several connections, all of which die.
        let warm = (0..6).map(|index| {
            let sessions = sessions.clone();
            async move { sessions.read(&id(&format!("w{index}"))).await }
        });
        assert!(futures::future::join_all(warm).await.iter().all(Result::is_ok));
        // In the middle of a turn, and while others want to begin.
        let session = sessions.begin(&id("a")).await.unwrap();
        assert_eq!(session.revision, Some(revision));
        end(&cluster);
        let waiting = tokio::spawn({
            let sessions = sessions.clone();
            async move { sessions.begin(&id("b")).await?.commit("b").await }
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        cluster.start_again();
        revision = session.commit(turn.to_string()).await.unwrap();
        waiting.await.unwrap().unwrap();
        let kept = sessions.read(&id("a")).await.unwrap().unwrap();
        assert_eq!((kept.data, kept.revision), (turn.to_string().into_bytes(), revision));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_is_an_error_until_it_is_back() {
    let Some(cluster) = Cluster::start("a_server_that_is_away_is_an_error_until_it_is_back") else { return };
    let url = cluster.database().await;
    cluster.stop();
    let options = SessionOptions { url: url.clone(), wait_ms: 300, ..SessionOptions::default() };
    let sessions = Sessions::open(&options).unwrap();
    let error = sessions.begin(&id("a")).await.err();
    assert!(matches!(error, Some(StoreError::Unavailable(_))), "{error:?}");
    cluster.start_again();
    // The tables are ready once this is answered.
    open(&url).read(&id("a")).await.unwrap();
    for _ in 0..50 {
        if sessions.begin(&id("a")).await.is_ok() {
            return;
        }
    }
    panic!("the server is back, but was not asked again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_url_may_ask_for_tls_and_for_its_certificate_to_be_checked() {
    let test = "a_url_may_ask_for_tls_and_for_its_certificate_to_be_checked";
    let Some(cluster) = Cluster::start_with_tls(test, "good.crt") else { return };
    let address = cluster.new_address().await;
    open(&StoreUrl::new(&address)).begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    let mut connection = cluster.connect_to_last().await;
    let encrypted =
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname LIKE 'd%' AND ssl";
    assert!(sqlx::query_scalar::<_, i64>(encrypted).fetch_one(&mut connection).await.unwrap() > 0);
    let (without_authority, _) = address.split_once("&sslrootcert").unwrap();
    // A name that is not in the certificate, and an authority that is not trusted here.
    for wrong in [address.replace("@localhost", "@127.0.0.1"), without_authority.to_owned()] {
        assert_is_not_believed(&wrong).await;
    }
    let Some(expired) = Cluster::start_with_tls(test, "expired.crt") else { return };
    assert_is_not_believed(&expired.address("postgres")).await;
}

/// Fails at once, and with the reason.
async fn assert_is_not_believed(address: &str) {
    let options = SessionOptions { url: StoreUrl::new(address), wait_ms: 30_000, ..SessionOptions::default() };
    let error = Sessions::open(&options).expect("an address").begin(&id("a")).await.err();
    assert!(
        matches!(&error, Some(StoreError::Unavailable(text)) if text.contains("certificate")),
        "{address}: {error:?}"
    );
}

#[tokio::test]
async fn tables_of_a_newer_version_are_left_alone() {
    let Some(cluster) = Cluster::start("tables_of_a_newer_version_are_left_alone") else { return };
    let url = cluster.database().await;
    open(&url).begin(&id("a")).await.unwrap().commit("x").await.unwrap();
    let mut connection = cluster.connect_to_last().await;
    sqlx::query("INSERT INTO uptake_sessions_format VALUES (2)").execute(&mut connection).await.unwrap();
    let error = open(&url).begin(&id("a")).await.err();
    assert!(matches!(error, Some(StoreError::Newer { found: 2, known: 1, .. })), "{error:?}");
}

/// No server listens there; the error names the host and not the password.
#[tokio::test]
async fn passwords_are_in_no_error() {
    let url = StoreUrl::new("postgres://jane:pa55word@127.0.0.1:1/uptake");
    let sessions = Sessions::open(&SessionOptions { url, wait_ms: 200, ..SessionOptions::default() }).unwrap();
    let error = sessions.begin(&id("a")).await.err().map(|error| format!("{error} {error:?}")).unwrap_or_default();
    assert!(error.contains("127.0.0.1:1") && !error.contains("pa55word"), "{error}");
}
