use tokio::net::TcpListener;

use super::{AppState, HttpOptions, Mounted, Phase, admin_router, connections, router};

/// Serves on `listener` until `stop` comes, then lets running requests finish, for `http.shutdown_ms` at most.
///
/// Modules are loaded beside; `/readyz` tells when each was tried. What is `mounted` is asked at the same address; what
/// is for operators, on the listener `admin` where there is one, whose connections are counted by themselves.
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
