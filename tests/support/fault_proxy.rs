//! A proxy that breaks connections as networks and servers do; the fault can be changed while it runs.
//!
//! A proxy of our own, since the available libraries cannot reset a connection, which is what a killed server looks
//! like.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// Everything passes.
    None,
    /// No answer: the connection stays open, and no byte comes back.
    Stall,
    /// The connection is reset after the request, as by a killed server.
    Reset,
    /// The answer ends in the middle.
    Cut,
    /// The answer comes a few bytes at a time, too slowly.
    Drip,
    /// Every fourth byte of the answer's body is changed.
    Garble,
}

impl Fault {
    pub(crate) const ALL: [Self; 6] = [Self::None, Self::Stall, Self::Reset, Self::Cut, Self::Drip, Self::Garble];
}

#[derive(Debug, Clone)]
pub(crate) struct FaultProxy {
    pub(crate) base_url: String,
    switch: Arc<Switch>,
}

#[derive(Debug)]
struct Switch {
    fault: AtomicU8,
    /// Number of requests that arrived and get no answer.
    stalled: watch::Sender<usize>,
}

impl FaultProxy {
    /// In front of `target`, `http://HOST:PORT`.
    pub(crate) async fn before(target: &str) -> Self {
        let target: SocketAddr = target.trim_start_matches("http://").parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("a bound port"));
        let switch = Arc::new(Switch { fault: AtomicU8::new(Fault::None as u8), stalled: watch::Sender::new(0) });
        let shared = Arc::clone(&switch);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, target, Arc::clone(&shared)));
            }
        });
        Self { base_url, switch }
    }

    /// Applies to requests from now on.
    pub(crate) fn set(&self, fault: Fault) {
        self.switch.fault.store(fault as u8, Ordering::SeqCst);
    }

    /// Waits until this many requests have arrived that get no answer.
    pub(crate) async fn stalls(&self, count: usize) {
        let mut stalled = self.switch.stalled.subscribe();
        stalled.wait_for(|stalled| *stalled >= count).await.expect("the proxy is there");
    }
}

/// One connection: passes on each request, and returns its answer with the current fault.
async fn pass(mut client: TcpStream, target: SocketAddr, switch: Arc<Switch>) -> Option<()> {
    loop {
        let request = message(&mut client).await?;
        let fault = Fault::ALL[usize::from(switch.fault.load(Ordering::SeqCst))];
        match fault {
            Fault::Stall => {
                switch.stalled.send_modify(|stalled| *stalled += 1);
                std::future::pending::<()>().await;
            }
            Fault::Reset => {
                // Not an orderly end: unsent data is discarded, and the other side gets a reset.
                client.set_zero_linger().ok()?;
                return None;
            }
            Fault::None | Fault::Cut | Fault::Drip | Fault::Garble => {}
        }
        let mut server = TcpStream::connect(target).await.ok()?;
        server.write_all(&request).await.ok()?;
        let mut answer = message(&mut server).await?;
        let body = answer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        match fault {
            Fault::Cut => {
                answer.truncate(body + (answer.len() - body) / 2);
                client.write_all(&answer).await.ok()?;
                return None;
            }
            Fault::Garble => {
                for byte in answer[body..].iter_mut().step_by(4) {
                    *byte ^= 0x15;
                }
                client.write_all(&answer).await.ok()?;
            }
            Fault::Drip => {
                for byte in answer.chunks(3) {
                    client.write_all(byte).await.ok()?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            Fault::None | Fault::Stall | Fault::Reset => client.write_all(&answer).await.ok()?,
        }
    }
}

/// One HTTP message with a `content-length`.
async fn message(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        if let Some(head) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&read[..head]).to_lowercase();
            let length =
                text.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse::<usize>().ok()?;
            if read.len() >= head + 4 + length {
                return Some(read);
            }
        }
        let count = from.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&buffer[..count]);
    }
}
