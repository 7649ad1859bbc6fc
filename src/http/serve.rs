use tokio::net::TcpListener;

use super::{AppState, HttpOptions, Mounted, Phase, connections, router};

/// Serves on `listener` until `stop` comes, then lets running requests finish, for `http.shutdown_ms` at most.
///
/// Modules are loaded beside; `/readyz` tells when each was tried. What is `mounted` is asked at the same address.
pub async fn serve(
    listener: TcpListener,
    app: AppState,
    mounted: Option<Mounted>,
    stop: impl Future<Output = ()> + Send,
) {
    let warming = tokio::spawn({
        let app = app.clone();
        async move {
            app.warm_up().await;
            app.snapshots.mend().await;
        }
    });
    let signal = {
        let app = app.clone();
        async move {
            stop.await;
            app.enter(Phase::Stopping);
        }
    };
    connections::serve(listener, router(app.clone(), mounted), &app.options, signal).await;
    warming.abort();
    // Taken on is promised: what waits to be observed is read before the end.
    if tokio::time::timeout(app.options.drain(), app.observed()).await.is_err() {
        tracing::warn!("observed utterances that were not read in time are lost");
    }
}

/// [`serve`] for a service that is mounted, and nothing else.
pub async fn serve_alone(
    listener: TcpListener,
    mounted: Mounted,
    options: &HttpOptions,
    stop: impl Future<Output = ()> + Send,
) {
    connections::serve(listener, mounted.alone(options.clone()), options, stop).await;
}
