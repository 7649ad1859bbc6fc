use tokio::net::TcpListener;

use super::{AppState, HttpOptions, Mounted, Phase, admin_router, connections, router};

/// Serves on `listener` until `stop` completes, then lets running requests finish, for `http.shutdown_ms` at most.
///
/// Modules are loaded in the background; `/readyz` tells when each was tried. The `mounted` service is at the same
/// address; the operators' routes are on the listener `admin` if there is one, which counts its connections separately.
pub async fn serve(
    listener: TcpListener,
    admin: Option<TcpListener>,
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
    let signal = async {
        stop.await;
        app.enter(Phase::Stopping);
    };
    let clients = connections::serve(listener, router(app.clone(), mounted), &app.options, app.stopping());
    let operators = async {
        if let Some(admin) = admin {
            connections::serve(admin, admin_router(app.clone()), &app.options, app.stopping()).await;
        }
    };
    tokio::join!(signal, clients, operators);
    warming.abort();
    // Accepted utterances are a promise: read those that wait before stopping.
    if tokio::time::timeout(app.options.drain(), app.observed()).await.is_err() {
        tracing::warn!("observed utterances that were not read in time are lost");
    }
}

/// [`serve`] for a mounted service alone.
pub async fn serve_alone(
    listener: TcpListener,
    mounted: Mounted,
    options: &HttpOptions,
    stop: impl Future<Output = ()> + Send,
) {
    connections::serve(listener, mounted.alone(options.clone()), options, stop).await;
}
