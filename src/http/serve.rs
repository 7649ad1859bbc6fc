use std::{io, pin::pin, time::Duration};

use axum::{Router, serve::ListenerExt as _};
use tokio::{net::TcpListener, sync::oneshot};

use super::{AppState, Phase, router};

/// Serves on `listener` until `stop` comes, then lets running requests finish, for `http.shutdown_ms` at most.
///
/// Modules are loaded beside; `/readyz` tells when each was tried.
///
/// # Errors
/// If the listener breaks.
pub async fn serve(
    listener: TcpListener,
    app: AppState,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let warming = tokio::spawn({
        let app = app.clone();
        async move { app.warm_up().await }
    });
    let signal = {
        let app = app.clone();
        async move {
            stop.await;
            app.enter(Phase::Stopping);
        }
    };
    let ended = drained(listener, router(app.clone()), signal, app.options.drain()).await;
    warming.abort();
    // Taken on is promised: what waits to be observed is read before the end.
    if tokio::time::timeout(app.options.drain(), app.observed()).await.is_err() {
        tracing::warn!("observed utterances that were not read in time are lost");
    }
    ended
}

/// Serves on `listener` until `stop` comes, then lets running requests finish, for `drain` at most.
///
/// # Errors
/// If the listener breaks.
pub(super) async fn drained(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
    drain: Duration,
) -> io::Result<()> {
    // Small answers must not wait for the client's acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let (stopping, stopped) = oneshot::channel();
    let signal = async move {
        stop.await;
        tracing::info!("stopping: running requests finish");
        stopping.send(()).ok();
    };
    let mut serving = pin!(axum::serve(listener, router).with_graceful_shutdown(signal).into_future());
    let drained = tokio::select! {
        ended = &mut serving => return ended,
        Ok(()) = stopped => tokio::time::timeout(drain, serving).await,
    };
    drained.unwrap_or_else(|_| {
        tracing::warn!(after = ?drain, "requests that did not finish were cut off");
        Ok(())
    })
}
