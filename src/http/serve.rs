use std::{io, pin::pin};

use axum::serve::ListenerExt as _;
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
    // Small answers must not wait for the client's acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let (stopping, stopped) = oneshot::channel();
    let signal = {
        let app = app.clone();
        async move {
            stop.await;
            app.enter(Phase::Stopping);
            tracing::info!("stopping: running requests finish");
            stopping.send(()).ok();
        }
    };
    let mut serving = pin!(axum::serve(listener, router(app.clone())).with_graceful_shutdown(signal).into_future());
    let drained = tokio::select! {
        ended = &mut serving => return ended,
        Ok(()) = stopped => tokio::time::timeout(app.options.drain(), serving).await,
    };
    warming.abort();
    drained.unwrap_or_else(|_| {
        tracing::warn!(after_ms = app.options.shutdown_ms, "requests that did not finish were cut off");
        Ok(())
    })
}
