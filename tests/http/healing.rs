//! A module that could not be built although its files are right: reported as such, and retried automatically.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use uptake::embed::{EmbedError, Embedder, Purpose, SharedEmbedder};

use crate::support::{Service, embedder};

/// Waiting this long for something fails the test.
const PATIENCE: Duration = Duration::from_secs(300);

/// An embedder that can be made unavailable.
struct Sometimes {
    inner: SharedEmbedder,
    is_away: AtomicBool,
    asked: AtomicUsize,
}

impl Sometimes {
    fn away() -> Arc<Self> {
        Arc::new(Self { inner: embedder(), is_away: AtomicBool::new(true), asked: AtomicUsize::new(0) })
    }

    fn comes_back(&self) {
        self.is_away.store(false, Ordering::SeqCst);
    }
}

impl Embedder for Sometimes {
    fn identity(&self) -> &str {
        self.inner.identity()
    }
    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }
    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }
    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.is_away.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(EmbedError::Remote("no route to secret-host".into()))));
        }
        self.inner.embed(texts, purpose)
    }
}

/// Waits until the service answers this path with this status.
async fn until(service: &Service, path: &str, status: u16) {
    let comes = async {
        while service.get(path).await.status != status {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, comes).await.unwrap_or_else(|_| panic!("{path} never answers {status}"));
}

#[tokio::test]
async fn what_may_pass_is_tried_again_without_an_edit() {
    let embedder = Sometimes::away();
    let service = Service::shipping(&["weather"], embedder.clone());
    for path in ["/v1/load/weather", "/v1/modules/weather"] {
        let answer = service.get(path).await;
        let (status, kind, code, _) = answer.error();
        assert_eq!((status, kind.as_str(), code.as_str()), (503, "server_error", "module_unavailable"), "{path}");
        assert_eq!(answer.headers["retry-after"], "1");
        assert!(!answer.text.contains("secret-host"), "{}", answer.text);
    }
    assert_eq!(service.get("/v1/modules").await.json()["data"][0]["state"], "unavailable");
    embedder.comes_back();
    until(&service, "/v1/load/weather", 200).await;
    assert_eq!(service.get("/v1/modules").await.json()["data"][0]["state"], "serving");
}

/// Many requests for the module do not cause many attempts.
#[tokio::test]
async fn tries_are_spaced() {
    let embedder = Sometimes::away();
    let service = Service::shipping(&["weather"], embedder.clone());
    for _ in 0..500 {
        assert_eq!(service.get("/v1/load/weather").await.status, 503);
    }
    let asked = embedder.asked.load(Ordering::SeqCst);
    assert!(asked < 50, "{asked} tries");
}

#[tokio::test]
async fn it_is_not_ready_while_nothing_serves() {
    let embedder = Sometimes::away();
    let service = Service::shipping(&["weather"], embedder.clone());
    service.app.warm_up().await;
    let (status, _, code, _) = service.get("/readyz").await.error();
    assert_eq!((status, code.as_str()), (503, "no_module"));
    let app = service.app.clone();
    let mending = tokio::spawn(async move { app.snapshots.mend().await });
    embedder.comes_back();
    // The module recovers without a request for it.
    until(&service, "/readyz", 200).await;
    mending.abort();
}

#[tokio::test]
async fn a_version_that_serves_goes_on_while_the_next_cannot_be_built() {
    let embedder = Sometimes::away();
    embedder.comes_back();
    let service = Service::shipping(&["weather"], embedder.clone());
    assert_eq!(service.get("/v1/load/weather").await.status, 200);
    embedder.is_away.store(true, Ordering::SeqCst);
    service.write("weather", "exemplars.json", r#"{"get_current_weather": ["zorgle the blarf"]}"#);
    let stale = service.get("/v1/load/weather").await;
    assert_eq!((stale.status, &stale.json()["state"]), (200, &"stale".into()));
    embedder.comes_back();
    let comes = async {
        while service.get("/v1/load/weather").await.json()["state"] != "serving" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, comes).await.expect("the edit is taken up");
}

/// An unmounted volume says nothing about the modules on it.
#[tokio::test]
async fn a_root_that_is_away_takes_nothing_with_it() {
    let service = Service::new(&["weather"]);
    assert_eq!(service.get("/v1/load/weather").await.status, 200);
    let away = service.root().with_extension("away");
    fs::rename(service.root(), &away).expect("a writable directory");
    assert_eq!(service.get("/v1/load/weather").await.status, 200);
    fs::rename(&away, service.root()).expect("a writable directory");
    fs::remove_dir_all(service.root().join("weather")).expect("a writable directory");
    assert_eq!(service.get("/v1/load/weather").await.status, 404);
}
