//! Connections: their number, the time limit for request heads, and how they end.
//!
//! A connection waits either for the service or for its client. One that waits for its client (for a head, for more of
//! a body, for the client to read an answer) is dropped when a new connection needs its place or the service stops. One
//! that waits for the service is finished. No key may use so many that others find no room.

use std::{
    cmp::Reverse,
    collections::hash_map::RandomState,
    convert::Infallible,
    hash::BuildHasher as _,
    io,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
};
use futures::FutureExt as _;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustc_hash::FxHashMap;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf},
    net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs, lookup_host},
    sync::{Notify, watch},
    task::JoinSet,
};
use tower::ServiceExt as _;

use super::{HttpOptions, caller::Peer};
use crate::{
    shares::{Owner, Share, Shares},
    text::fuel::Presence,
};

/// Read buffer in bytes: a request head and the start of its body.
const READ_BYTES: usize = 64 << 10;
/// How long an idle connection stays open after the service began to stop.
const GRACE: Duration = Duration::from_millis(250);
/// How long the listener pauses after a failed accept, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a client may take for the next piece of a head, a body or an answer before a new connection may take its
/// place.
const PATIENCE: Duration = Duration::from_millis(250);
/// Connections that are dropped at once when the system runs out of file descriptors.
const DROPPED_AT_ONCE: usize = 16;

/// Length of the queue of connections to accept. The system may allow fewer; a client that finds it full retries after
/// a second.
const BACKLOG: u32 = 1_024;

/// Listens at the first of the addresses that allows it.
///
/// # Errors
/// The system's error for the last address.
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
    // On Windows this would let two processes share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves on `listener` until `stop` completes, then lets running requests finish, for `http.shutdown_ms` at most.
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
            let connection = connections.admit(peer.ip()).await;
            running.spawn(run(stream, peer.ip(), router.clone(), http.clone(), connection, stopped.clone()));
            // Removes finished tasks.
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
                // Small answers must not wait for the client to acknowledge the previous one.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY could not be set");
                }
                return (stream, peer);
            }
            // The client left again at once; this is not our error.
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
                connections.drop_some();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection until it ends. Everything it does is for its client.
async fn run(
    stream: TcpStream,
    peer: IpAddr,
    router: Router,
    http: http1::Builder,
    connection: Admitted,
    stopped: watch::Receiver<bool>,
) {
    let stream = Arc::new(Mutex::new(stream));
    let watched = Arc::clone(&stream);
    let presence = Presence::new(move || is_there(&watched));
    presence.clone().waits_for(answer(stream, presence, peer, router, http, connection, stopped)).await;
}

async fn answer(
    stream: Arc<Mutex<TcpStream>>,
    presence: Presence,
    peer: IpAddr,
    router: Router,
    http: http1::Builder,
    connection: Admitted,
    mut stopped: watch::Receiver<bool>,
) {
    let state = Arc::clone(&connection.state);
    let service = service_fn(|mut request: Request<Incoming>| {
        let running = Arc::new(RunningRequest::new(&connection));
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(Asking(Arc::downgrade(&running)));
        // For handlers that answer on a task of their own.
        request.extensions_mut().insert(presence.clone());
        let state = Arc::clone(&running.state);
        let answer = router.clone().oneshot(request.map(|body| Body::new(Coming { body, state })));
        async move { Ok::<_, Infallible>(answer.await?.map(|body| TrackedBody { body, _running: running })) }
    });
    let io = TokioIo::new(Watched { stream, state: Arc::clone(&state) });
    let mut serving = pin!(http.serve_connection(io, service));
    tokio::select! {
        ended = serving.as_mut() => return told(ended),
        // A new connection has taken its place.
        () = state.end.notified() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    serving.as_mut().graceful_shutdown();
    loop {
        tokio::select! {
            ended = serving.as_mut() => return told(ended),
            // The head of a request may be on its way; wait for it only briefly.
            () = tokio::time::sleep(GRACE) => if state.is_idle() { return },
        }
    }
}

fn told(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// The open connections. When the limit is reached, a new connection at once replaces one that waits for its client.
pub(super) struct Connections {
    most: usize,
    open: Mutex<Vec<Arc<ConnectionState>>>,
    /// Requests that run, by who asks.
    running: Shares,
    /// Hashes owners to numbers, which are compared for each connection when one must be dropped.
    hasher: RandomState,
    begun: Instant,
    /// Signalled when a connection ends.
    changed: Notify,
}

struct ConnectionState {
    /// The address until a request names a key, as a number of [`Connections::number`].
    owner: AtomicU64,
    /// Running requests: at most one, plus one between the end of an answer and the end of its body.
    running: AtomicUsize,
    /// Whether it has sent a complete request head before.
    is_known: AtomicBool,
    /// Since when it waits for its client, in milliseconds since `Connections::begun`; [`NEVER`] if it does not wait.
    waits_since: AtomicU64,
    begun: Instant,
    /// Signalled when a new connection takes its place.
    end: Notify,
}

const NEVER: u64 = u64::MAX;

/// Order in which connections are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It has sent no complete head in time.
    Stranger,
    /// Between two requests, or within one while the client neither sends nor reads.
    Waiting,
    /// Its head may still be on the way.
    Young,
}

impl ConnectionState {
    fn is_idle(&self) -> bool {
        self.running.load(Ordering::Acquire) == 0
    }

    fn owner(&self) -> u64 {
        self.owner.load(Ordering::Relaxed)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(NEVER - 1)
    }

    fn waits(&self) {
        // If it waits already, it keeps its start time.
        let _ = self.waits_since.compare_exchange(NEVER, self.now(), Ordering::AcqRel, Ordering::Acquire);
    }

    fn goes_on(&self) {
        self.waits_since.store(NEVER, Ordering::Release);
    }

    /// Whether a new connection may take its place, and since when it waits for its client.
    fn rank(&self) -> Option<(Rank, u64)> {
        let since = self.waits_since.load(Ordering::Acquire);
        if since == NEVER {
            return None;
        }
        let is_young = self.now().saturating_sub(since) < u64::try_from(PATIENCE.as_millis()).unwrap_or_default();
        let rank = match (self.is_idle(), is_young) {
            (true, true) => Rank::Young,
            (false, true) => return None,
            (true, false) if !self.is_known.load(Ordering::Acquire) => Rank::Stranger,
            (_, false) => Rank::Waiting,
        };
        Some((rank, since))
    }
}

impl Connections {
    fn new(most: usize) -> Self {
        Self {
            most,
            open: Mutex::default(),
            running: Shares::new(most as u64),
            hasher: RandomState::new(),
            begun: Instant::now(),
            changed: Notify::new(),
        }
    }

    /// Waits until there is room for one more connection from this address. If there is none, another one is dropped;
    /// if none can be dropped, the next one that ends or begins to wait for its client makes room.
    async fn admit(self: &Arc<Self>, address: IpAddr) -> Admitted {
        loop {
            let changed = self.changed.notified();
            if let Some(admitted) = self.try_admit(address) {
                return admitted;
            }
            let _ = tokio::time::timeout(PATIENCE / 4, changed).await;
        }
    }

    fn try_admit(self: &Arc<Self>, address: IpAddr) -> Option<Admitted> {
        let mut open = self.list();
        if open.len() >= self.most && !drop_one(&mut open, |_| true) {
            return None;
        }
        let state = Arc::new(ConnectionState {
            owner: AtomicU64::new(self.number(&Owner::of_address(address))),
            running: AtomicUsize::new(0),
            is_known: AtomicBool::new(false),
            waits_since: AtomicU64::new(NEVER),
            begun: self.begun,
            end: Notify::new(),
        });
        state.waits();
        open.push(Arc::clone(&state));
        Some(Admitted { connections: Arc::clone(self), state })
    }

    /// Drops some connections that wait for their clients.
    fn drop_some(&self) {
        let mut open = self.list();
        for _ in 0..DROPPED_AT_ONCE {
            if !drop_one(&mut open, |_| true) {
                return;
            }
        }
    }

    /// A number that is the same for the same owner.
    fn number(&self, owner: &Owner) -> u64 {
        self.hasher.hash_one(owner)
    }

    fn open(&self) -> usize {
        self.list().len()
    }

    /// The list is consistent whenever the lock is released, so a poisoned lock is safe to use.
    fn list(&self) -> MutexGuard<'_, Vec<Arc<ConnectionState>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the first connection by rank; within a rank, one of the owner that has most, and of these the one that has
/// waited longest for its client. Its place is free at once.
fn drop_one(open: &mut Vec<Arc<ConnectionState>>, of: impl Fn(u64) -> bool) -> bool {
    let mut counts: FxHashMap<u64, usize> = FxHashMap::default();
    open.iter().for_each(|state| *counts.entry(state.owner()).or_default() += 1);
    let ranked = open.iter().enumerate().filter(|(_, state)| of(state.owner()));
    let ranked = ranked.filter_map(|(index, state)| {
        let (rank, since) = state.rank()?;
        Some((rank, Reverse(counts.get(&state.owner()).copied()), since, index))
    });
    let Some((_, _, _, index)) = ranked.min() else { return false };
    open.swap_remove(index).end.notify_one();
    true
}

/// A connection that counts as open until this is dropped or its place is taken.
struct Admitted {
    connections: Arc<Connections>,
    state: Arc<ConnectionState>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.connections.list().retain(|other| !Arc::ptr_eq(other, &self.state));
        self.connections.changed.notify_one();
    }
}

/// A request, from its head to the end of its answer's body.
struct RunningRequest {
    connections: Arc<Connections>,
    state: Arc<ConnectionState>,
    /// The share of its owner that the request uses.
    share: Mutex<Option<Share>>,
}

impl RunningRequest {
    fn new(connection: &Admitted) -> Self {
        let state = Arc::clone(&connection.state);
        state.running.fetch_add(1, Ordering::AcqRel);
        state.is_known.store(true, Ordering::Release);
        state.goes_on();
        Self { connections: Arc::clone(&connection.connections), state, share: Mutex::default() }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        if self.state.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.state.waits();
        }
        self.connections.changed.notify_one();
    }
}

/// The request's connection, stored among its extensions.
#[derive(Clone)]
pub(super) struct Asking(Weak<RunningRequest>);

impl Asking {
    /// Counts the request as this owner's until its answer is sent; false if the owner has reached its limit. An
    /// address without a key may stand for several people: there, the connection whose client has been idle longest is
    /// dropped instead.
    pub(super) fn is_of(&self, owner: &Owner) -> bool {
        let Some(running) = self.0.upgrade() else { return true };
        let connections = &running.connections;
        let number = connections.number(owner);
        running.state.owner.store(number, Ordering::Relaxed);
        let mut share = connections.running.try_take(owner, 1);
        if share.is_none() && matches!(owner, Owner::Address(_)) && drop_one(&mut connections.list(), |of| of == number)
        {
            // The dropped connection returns its share when it ends, in a moment.
            return true;
        }
        let may = share.is_some();
        *running.share.lock().unwrap_or_else(PoisonError::into_inner) = share.take();
        may
    }
}

/// A request's body that marks its connection as waiting or active while it arrives.
struct Coming {
    body: Incoming,
    state: Arc<ConnectionState>,
}

impl HttpBody for Coming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self { body, state } = self.get_mut();
        let polled = Pin::new(body).poll_frame(context);
        if polled.is_pending() {
            state.waits();
        } else {
            state.goes_on();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that keeps its connection from counting as idle.
struct TrackedBody {
    body: Body,
    _running: Arc<RunningRequest>,
}

impl HttpBody for TrackedBody {
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

/// The connection's stream. If its client does not read, the connection waits for it.
struct Watched {
    /// Elsewhere the lock is held only briefly, to check the stream.
    stream: Arc<Mutex<TcpStream>>,
    state: Arc<ConnectionState>,
}

/// Whether the client has not closed its end, as far as the system has noticed, even while unread data remains.
fn is_there(stream: &Mutex<TcpStream>) -> bool {
    let stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
    let ready = stream.ready(Interest::READABLE).now_or_never();
    !matches!(ready, Some(Ok(ready)) if ready.is_read_closed())
}

impl Watched {
    fn with<T>(&self, act: impl FnOnce(Pin<&mut TcpStream>) -> T) -> T {
        act(Pin::new(&mut *self.stream.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn wrote(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if polled.is_pending() {
            self.state.waits();
        } else if !self.state.is_idle() {
            self.state.goes_on();
        }
        polled
    }
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.wrote(self.with(|stream| stream.poll_write(context, bytes)))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.wrote(self.with(|stream| stream.poll_write_vectored(context, bytes)))
    }

    fn is_write_vectored(&self) -> bool {
        self.with(|stream| stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Makes this a connection that has waited for its client for `ms`; `is_known` says whether it sent a request
    /// before.
    fn waited(connection: &Admitted, ms: u64, is_known: bool) {
        connection.state.is_known.store(is_known, Ordering::Release);
        connection.state.waits_since.store(connection.state.now().saturating_sub(ms), Ordering::Release);
    }

    fn is_dropped(connection: &Admitted) -> bool {
        connection.state.end.notified().now_or_never().is_some()
    }

    fn old(most: usize) -> Arc<Connections> {
        let begun = Instant::now().checked_sub(Duration::from_secs(60)).expect("the machine has run for a minute");
        Arc::new(Connections { begun, ..Connections::new(most) })
    }

    /// Opens more connections than the default backlog allows while none is accepted.
    #[tokio::test]
    async fn many_connections_at_once_wait_to_be_accepted() {
        let listener = listener("localhost:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let all = futures::future::join_all((0..300).map(|_| TcpStream::connect(address)));
        let all = tokio::time::timeout(Duration::from_secs(60), all).await.expect("a place for each of them");
        assert!(all.iter().all(Result::is_ok), "{all:?}");
    }

    /// Work without awaits, and data that the client sent behind its request, keep the connection from noticing that
    /// the client has left. The work must end all the same.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_leaves_in_the_middle_is_not_worked_for() {
        let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
        let (ended, mut ends) = tokio::sync::mpsc::unbounded_channel();
        let work = move || {
            let (begun, ended) = (begun.clone(), ended.clone());
            async move {
                tokio::task::block_in_place(|| {
                    begun.send(()).expect("the test waits");
                    while Presence::of_task().expect("a client").is_there() {
                        std::thread::yield_now();
                    }
                    ended.send(()).expect("the test waits");
                });
                "done"
            }
        };
        let listener = listener("localhost:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let router = Router::new().route("/", axum::routing::get(work));
        let serving = tokio::spawn(async move {
            let stop = async { drop(stopped.await) };
            serve(listener, router, &HttpOptions::default(), stop).await;
        });
        for (behind, is_half_closed) in [("", false), ("", true), ("GET / HTTP/1.1\r\nhost: x\r\n\r\n", false)] {
            let mut client = TcpStream::connect(address).await.unwrap();
            let head = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
            client.write_all(format!("{head}{behind}").as_bytes()).await.unwrap();
            begins.recv().await.expect("the work");
            assert!(ends.try_recv().is_err(), "the client is there");
            client.shutdown().await.unwrap();
            let client = is_half_closed.then_some(client);
            tokio::time::timeout(Duration::from_secs(60), ends.recv()).await.expect("the work ends");
            drop(client);
        }
        drop(stop);
        serving.await.unwrap();
    }

    /// However many connections send no head, each new one is admitted at once and has time to send its own.
    #[tokio::test]
    async fn what_brings_no_head_makes_room_at_once() {
        let connections = old(8);
        let home = address("127.0.0.1");
        let half: Vec<_> = (0..8).filter_map(|_| connections.admit(home).now_or_never()).collect();
        half.iter().for_each(|one| waited(one, 1_000, false));
        let mut all = Vec::new();
        for _ in 0..8 {
            let polite = connections.admit(home).now_or_never().expect("it waits for nobody");
            assert!(!is_dropped(&polite));
            all.push(polite);
        }
        assert_eq!(half.iter().filter(|one| is_dropped(one)).count(), 8);
        assert!(connections.open() <= 8);
    }

    #[tokio::test]
    async fn who_has_least_claim_makes_room_first() {
        let connections = old(5);
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(address);
        let pooled = connections.admit(one).await;
        let half = connections.admit(other).await;
        let (first, second) = (connections.admit(other).await, connections.admit(other).await);
        let third = connections.admit(other).await;
        // The client of the first connection neither sends nor reads.
        let requests = [RunningRequest::new(&first), RunningRequest::new(&second), RunningRequest::new(&third)];
        waited(&pooled, 20_000, true);
        waited(&half, 500, false);
        waited(&first, 600, true);
        let mut held = vec![connections.admit(one).await];
        assert!(is_dropped(&half), "no head came");
        held.push(connections.admit(one).await);
        assert!(is_dropped(&first), "its address has most, and its client does not read");
        held.push(connections.admit(one).await);
        assert!(is_dropped(&pooled) && !is_dropped(&second), "between two requests");
        held.iter().for_each(|new| new.state.goes_on());
        assert!(connections.admit(one).now_or_never().is_none(), "all work");
        drop(requests);
        waited(&second, 300, true);
        assert!(connections.admit(one).now_or_never().is_some());
    }

    #[tokio::test]
    async fn whoever_waits_for_room_gets_it() {
        let connections = Arc::new(Connections::new(1));
        let only = connections.admit(address("127.0.0.1")).await;
        let request = RunningRequest::new(&only);
        let waiting = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { drop(connections.admit(address("127.0.0.1")).await) }
        });
        tokio::task::yield_now().await;
        drop(request);
        only.state.end.notified().await;
        drop(only);
        waiting.await.expect("it was admitted");
        assert_eq!(connections.open(), 0);
    }

    /// An owner of many connections leaves room for another owner, whatever they all wait for.
    #[tokio::test]
    async fn one_key_does_not_have_all_connections() {
        let connections = old(8);
        let [greedy, polite] = ["greedy", "polite"].map(|name| Owner::Key(name.into()));
        let mut held = Vec::new();
        let mut ask = |owner: &Owner| {
            let connection = connections.admit(address("127.0.0.1")).now_or_never()?;
            let running = Arc::new(RunningRequest::new(&connection));
            let may = Asking(Arc::downgrade(&running)).is_of(owner);
            held.push((connection, running));
            Some(may)
        };
        let answers: Vec<_> = (0..7).map(|_| ask(&greedy)).collect();
        assert_eq!(answers.iter().filter(|may| **may == Some(true)).count(), 6);
        assert_eq!(answers[6], Some(false), "it is refused and not let wait");
        assert_eq!(ask(&polite), Some(true));
    }
}
