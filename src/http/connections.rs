//! Connections: how many there are, how long a head may take, and how they end.
//!
//! A connection on which no request runs gives way: to a new one where there are as many as there may be, and to the
//! end of the service. What runs is finished.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs, lookup_host},
    sync::{Notify, watch},
    task::JoinSet,
};
use tower::ServiceExt as _;

use super::{HttpOptions, caller::Peer};

/// A head and what of a body comes with it, in bytes.
const READ_BYTES: usize = 64 << 10;
/// How long a connection on which no request runs is still heard after it was asked to close.
const GRACE: Duration = Duration::from_millis(250);
/// How long nothing is accepted after that failed, for want of a file descriptor for example.
const PAUSE: Duration = Duration::from_millis(500);

/// Connections that wait to be accepted. The system may allow fewer; who finds no place is heard a second later.
const BACKLOG: u32 = 1_024;

/// Listens at the first of the addresses where that can be.
///
/// # Errors
/// What the system says of the last of them.
pub async fn listener(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut result = Err(io::Error::new(io::ErrorKind::InvalidInput, "no address has this name"));
    for address in lookup_host(address).await? {
        result = listen(address);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On Windows it would let two processes share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves on `listener` until `stop` comes, then lets running requests finish, for `http.shutdown_ms` at most.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    options: &HttpOptions,
    stop: impl Future<Output = ()> + Send,
) {
    let connections = Arc::new(Connections::new(options.max_connections));
    let (stopping, stopped) = watch::channel(false);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(options.head()).max_buf_size(READ_BYTES);
    let mut running = JoinSet::new();
    let accepting = async {
        loop {
            let (stream, peer) = accept(&listener, &connections).await;
            let connection = connections.admit().await;
            running.spawn(run(stream, peer.ip(), router.clone(), http.clone(), connection, stopped.clone()));
            // What has ended is taken out.
            while running.try_join_next().is_some() {}
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop => {}
    }
    tracing::info!("stopping: running requests finish");
    drop(listener);
    stopping.send_replace(true);
    let drained = tokio::time::timeout(options.drain(), async { while running.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::warn!(after = ?options.drain(), "requests that did not finish were cut off");
    }
}

async fn accept(listener: &TcpListener, connections: &Connections) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Small answers must not wait for the client's acknowledgement of the one before.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY could not be set");
                }
                return (stream, peer);
            }
            // The client's affair: it left again at once.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted
                        | io::ErrorKind::ConnectionReset
                        | io::ErrorKind::ConnectionRefused
                        | io::ErrorKind::Interrupted
                ) =>
            {
                tracing::debug!(%error, "a connection ended before it was accepted");
            }
            Err(error) => {
                tracing::error!(%error, open = connections.open(), "no connection can be accepted");
                connections.close_idle();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Answers on one connection until it ends.
async fn run(
    stream: TcpStream,
    peer: IpAddr,
    router: Router,
    http: http1::Builder,
    connection: Admitted,
    mut stopped: watch::Receiver<bool>,
) {
    let state = Arc::clone(&connection.state);
    let service = service_fn(|mut request: Request<Incoming>| {
        let running = Running::new(&connection);
        request.extensions_mut().insert(Peer(peer));
        let answer = router.clone().oneshot(request.map(Body::new));
        async move { Ok::<_, Infallible>(answer.await?.map(|body| Answer { body, _running: running })) }
    });
    let mut serving = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = serving.as_mut() => return told(ended),
        () = state.close.notified() => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    serving.as_mut().graceful_shutdown();
    loop {
        tokio::select! {
            ended = serving.as_mut() => return told(ended),
            // The head of a request may be on its way, but nobody waits for it for long.
            () = tokio::time::sleep(GRACE) => if state.is_idle() { return },
        }
    }
}

fn told(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Those that are open.
struct Connections {
    most: usize,
    open: Mutex<Vec<Weak<State>>>,
    /// Orders what the connections did last.
    clock: AtomicU64,
    /// One ended or became idle.
    changed: Notify,
}

struct State {
    /// Requests that run: at most one, and one more between the end of an answer and its body's.
    running: AtomicUsize,
    /// By `Connections::clock`, when the last one ended.
    idle_since: AtomicU64,
    /// It is asked to close.
    close: Notify,
}

impl State {
    fn is_idle(&self) -> bool {
        self.running.load(Ordering::Acquire) == 0
    }
}

impl Connections {
    fn new(most: usize) -> Self {
        Self { most, open: Mutex::default(), clock: AtomicU64::new(0), changed: Notify::new() }
    }

    /// Waits until there is room for one more. Where there is none, the connection that was idle for longest is closed.
    async fn admit(self: &Arc<Self>) -> Admitted {
        loop {
            let changed = self.changed.notified();
            if let Some(admitted) = self.try_admit() {
                return admitted;
            }
            self.close_idle();
            changed.await;
        }
    }

    fn try_admit(self: &Arc<Self>) -> Option<Admitted> {
        let mut open = self.list();
        if open.len() >= self.most {
            return None;
        }
        let idle_since = AtomicU64::new(self.tick());
        let state = Arc::new(State { running: AtomicUsize::new(0), idle_since, close: Notify::new() });
        open.push(Arc::downgrade(&state));
        Some(Admitted { connections: Arc::clone(self), state })
    }

    /// Asks the connection that was idle for longest to close.
    fn close_idle(&self) {
        let open = self.list();
        let idle = open.iter().filter_map(Weak::upgrade).filter(|state| state.is_idle());
        if let Some(state) = idle.min_by_key(|state| state.idle_since.load(Ordering::Relaxed)) {
            state.close.notify_one();
        }
    }

    fn open(&self) -> usize {
        self.list().len()
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// No step leaves the list half changed.
    fn list(&self) -> MutexGuard<'_, Vec<Weak<State>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that counts as open until this is dropped.
struct Admitted {
    connections: Arc<Connections>,
    state: Arc<State>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.connections.list().retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(&self.state)));
        self.connections.changed.notify_one();
    }
}

/// A request from its head to the end of its answer's body.
struct Running {
    connections: Arc<Connections>,
    state: Arc<State>,
}

impl Running {
    fn new(connection: &Admitted) -> Self {
        connection.state.running.fetch_add(1, Ordering::AcqRel);
        Self { connections: Arc::clone(&connection.connections), state: Arc::clone(&connection.state) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.state.idle_since.store(self.connections.tick(), Ordering::Relaxed);
        self.state.running.fetch_sub(1, Ordering::AcqRel);
        self.connections.changed.notify_one();
    }
}

/// A body that keeps its connection from being idle.
struct Answer {
    body: Body,
    _running: Running,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// More at once than are usually let wait, while nothing is accepted.
    #[tokio::test]
    async fn many_connections_at_once_wait_to_be_accepted() {
        let listener = listener("localhost:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let all = futures::future::join_all((0..300).map(|_| TcpStream::connect(address)));
        let all = tokio::time::timeout(Duration::from_secs(60), all).await.expect("a place for each of them");
        assert!(all.iter().all(Result::is_ok), "{all:?}");
    }

    #[tokio::test]
    async fn what_was_idle_for_longest_makes_room() {
        let connections = Arc::new(Connections::new(2));
        let (first, second) = (connections.admit().await, connections.admit().await);
        let request = Running::new(&first);
        assert!(connections.admit().now_or_never().is_none());
        assert!(second.state.close.notified().now_or_never().is_some(), "the only one on which nothing runs");
        drop(request);
        let request = Running::new(&second);
        assert!(connections.admit().now_or_never().is_none());
        assert!(first.state.close.notified().now_or_never().is_some());
        drop((request, first));
        assert!(connections.admit().now_or_never().is_some());
    }

    #[tokio::test]
    async fn whoever_waits_for_room_gets_it() {
        let connections = Arc::new(Connections::new(1));
        let only = connections.admit().await;
        let request = Running::new(&only);
        let waiting = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { drop(connections.admit().await) }
        });
        tokio::task::yield_now().await;
        drop(request);
        only.state.close.notified().await;
        drop(only);
        waiting.await.expect("it was admitted");
        assert_eq!(connections.open(), 0);
    }
}
